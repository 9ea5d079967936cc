#!/bin/bash
# SPDX-License-Identifier: MIT
# Hosts that give less than wished: no io_uring, little memory; and a death that leaves nobody behind.
. "$(dirname "$0")/lib.sh"

mkdir defs
export PTS_DEF_PATH=$W/defs
cat >defs/l.pts <<'END'
test small "T4 Q32" clause X
	run rnd-4k-r threads 4 qd 32 for 200ms
end
test huge "T32 Q32 of 1 MiB" clause X
	run rnd rw 0/100 bs 1024k threads 32 qd 32 for 200ms
end
test long "Long" clause X
	run rnd-4k-w threads 4 qd 8 for 60s
end
END

# denied ERRNO WORD...: pts where io_uring_setup fails so
denied() {
	run python3 "$ROOT/tests/rigs/deny.py" "$1" "$PTS" "${@:2}"
	[ "$RC" != 77 ] || skip 'no seccomp here'
}

# A database may have been made by then, but no run in it.
no_run() { sql_is no.db 'SELECT count(*) FROM v_run' 0; }

t 'U30: no io_uring in the kernel: said so, exit 3'
denied ENOSYS run small --dut 'file:f?size=16m' --db no.db
if [ "$RC" != 77 ]; then
	exit_is 3
	err_has 'this kernel has no io_uring (ENOSYS)'
	err_lines 1
	no_run
fi

t 'U30: io_uring forbidden by seccomp: said so, exit 2'
denied EPERM run small --dut 'file:f?size=16m' --db no.db
if [ "$RC" != 77 ]; then
	exit_is 2
	err_has 'io_uring is forbidden here (EPERM)'
	err_has seccomp
	no_run
fi

t 'U30: io_uring switched off by its sysctl: the sysctl is named'
echo 2 >two
# For these processes alone another file is in the place of the sysctl, and the kernel answers as if.
switched_off() {
	run unshare -m sh -c 'mount --bind "$1" /proc/sys/kernel/io_uring_disabled && shift && exec "$@"' x "$W/two" "$@"
}
switched_off true
if [ "$RC" != 0 ]; then
	skip 'no mount namespace, or no such sysctl here'
else
	switched_off python3 "$ROOT/tests/rigs/deny.py" EPERM "$PTS" run small --dut 'file:f?size=16m' --db no.db
	exit_is 2
	err_has 'sysctl kernel.io_uring_disabled=2'
	no_run
	switched_off python3 "$ROOT/tests/rigs/deny.py" EPERM "$PTS" doctor --json
	exit_is 1
	json_is '[c["advice"] for c in d["checks"] if c["check"] == "io_uring"]' "['sysctl kernel.io_uring_disabled=0']"
fi

t 'U31: little lockable memory and no rights: it runs, with unregistered buffers and a note'
if [ "$(id -u)" = 0 ]; then
	chmod 755 "$W" defs && mkdir -m 777 user && cp "$PTS" pts-copy && chmod 755 pts-copy
	# A user of its own: what is locked counts for all processes of a user.
	user=$((70000 + $$ % 100000))
	(cd user && ulimit -l 64 && run setpriv --reuid $user --regid $user --clear-groups "$W/pts-copy" run small -q \
		--dut 'file:f?size=16m' --db u.db && exit "$RC")
	RC=$?
else
	mkdir user
	(cd user && ulimit -l 64 && pts run small -q --dut 'file:f?size=16m' --db u.db && exit "$RC")
	RC=$?
fi
exit_is 0
sql_is user/u.db "SELECT note LIKE '%buffers not registered%', errors, ios > 0, threads_seen FROM v_cell" '1|0|1|4'

t 'U35: not enough memory for depth x size: the bytes are said, no crash'
if nm "$PTS" 2>/dev/null | grep -q '__asan_init\|__tsan_init'; then
	skip 'sanitizers need address space'
else
	(ulimit -v 600000 && pts run huge --dut 'file:f?size=16m' --db v.db && exit "$RC")
	RC=$?
	exit_is 3
	err_match '[0-9]{9,} bytes'
	run "$PTS" db check --db v.db
	exit_is 0
fi

need_root
t 'U37: nothing writes on after kill -9'
if loop_new 32M; then
	start kill.db long -q --dut "$LOOP" --destroy "$LOOP"
	wait_for kill.db 'SELECT count(*) FROM v_section' 1
	counts() { cat "/sys/block/${LOOP#/dev/}/stat"; }
	begin=$(counts)
	moving() { [ "$(counts)" != "$begin" ]; }
	wait_until moving
	stop KILL
	sleep 1
	a=$(counts)
	sleep 0.5
	same "$(counts)" "$a" "the device's counts"
	moving || fail 'there was no IO to begin with'
fi
