#!/bin/bash
# SPDX-License-Identifier: MIT
# Signals, kill -9 and a full disk while a run is on; pts resume afterwards. KILLS (5) random kills; check-long takes 50.
. "$(dirname "$0")/lib.sh"
KILLS=${KILLS:-5}

mkdir defs
cat >defs/t.pts <<'END'
test slow "Slow test" clause X
  purge
  fill seq-128k-w 2x threads 1 qd 8
  loop rounds 6 until steady
    foreach mix in 100/0 65/35 0/100
      run rnd rw $mix bs 4k threads 2 qd 4 for 100ms
    end
    track iops of rw 0/100 bs 4k
  end
  run rnd-4k-w threads 1 qd 1 for 800ms every 100ms as histogram
end
test first "First test" clause X
  purge
  run rnd-4k-w threads 1 qd 1 for 200ms
end
test long "Long cell" clause X
  purge
  run rnd-4k-w threads 2 qd 4 for 60s
end
END
export PTS_DEF_PATH=$W/defs

for sig in INT TERM; do
	t "SIG$sig stops the cell, keeps it as partial, exit 4; resume ends the run"
	start $sig.db first slow --dut "file:f-$sig?size=32m"
	wait_cells $sig.db 6
	stop $sig
	exit_is 4
	out_has "pts resume 1 --db $sig.db"
	sql_is $sig.db "SELECT state FROM v_run" interrupted
	sql_is $sig.db "SELECT sum(partial) <= 1 FROM v_cell" 1
	pts status --db $sig.db --json
	json_is 'd["state"]' interrupted
	pts db check --db $sig.db
	exit_is 0
	pts resume --db $sig.db
	true_that test $RC -le 1
	sql_is $sig.db "SELECT state FROM v_run" done
	sql_is $sig.db "SELECT count(*) FROM v_test WHERE test = 'first'" 1
	sql_is $sig.db "SELECT group_concat(attempt || ':' || void) FROM (SELECT * FROM v_test WHERE test = 'slow' ORDER BY attempt)" '1:1,2:0'
	sql_is $sig.db "SELECT count(*) FROM v_cell WHERE test = 'slow' AND void = 0 AND partial = 0 AND phase = 'histogram'" 8
	sql_is $sig.db "SELECT count(*) FROM v_event WHERE kind = 'resume'" 1
	pts db check --db $sig.db
	exit_is 0
	pts resume --db $sig.db
	exit_is 2
	err_has 'no interrupted run'
done

t 'a stop is heard in the midst of a long cell'
start long.db long --dut 'file:f-long?size=32m'
rate_shown() {
	"$PTS" status --db long.db --json >status.json 2>/dev/null
	grep -q '"iops":[1-9]' status.json
}
wait_until rate_shown
pts status --db long.db --json
json_is 'd["state"], d["now"]["test"]' "('running', 'long')"
stop INT
exit_is 4
sql_is long.db "SELECT partial, ios > 0 FROM v_cell WHERE phase = 'step'" '1|1'

t "U15: kill -9 at $KILLS random moments: no committed cell lost, the file sound, resume ends the run"
start k.db first slow --dut 'file:f-k?size=32m'
for ((k = 0; k < KILLS; k++)); do
	sleep "$((RANDOM % 2)).$((RANDOM % 10))"
	before=$(ask k.db 'SELECT count(*) FROM v_cell')
	stop KILL
	[ -e k.db ] && [ "$(ask k.db 'SELECT count(*) FROM v_run')" = 1 ] || {
		start k.db first slow --dut 'file:f-k?size=32m'
		continue
	}
	after=$(ask k.db 'SELECT count(*) FROM v_cell')
	[ "$after" -ge "$before" ] || fail "cells lost: $before, then $after"
	pts db check --db k.db
	exit_is 0
	[ "$(ask k.db 'SELECT state FROM v_run')" = running ] || break
	pts status --db k.db --json
	json_is 'd["state"]' interrupted
	"$PTS" resume --db k.db >"$OUT" 2>"$ERR" &
	PID=$!
done
wait $PID
[ "$(ask k.db 'SELECT state FROM v_run')" = done ] || { pts resume --db k.db; true_that test $RC -le 1; }
sql_is k.db "SELECT state FROM v_run" done
sql_is k.db "SELECT count(*) FROM v_test WHERE void = 0 AND verdict <> 'failed'" 2
pts db check --db k.db
exit_is 0

t 'U37: no thread goes on writing after kill -9'
start orphan.db long --dut 'file:f-o?size=32m'
wait_for orphan.db 'SELECT count(*) FROM v_section' 1
wait_until compgen -G 'orphan.db-*.progress' >/dev/null
sleep 0.3
stop KILL
true_that test ! -e "/proc/$PID"
a=$(stat -c %Y.%Z f-o; sha256sum f-o)
sleep 0.3
same "$(stat -c %Y.%Z f-o; sha256sum f-o)" "$a" 'the file'

t 'a simulated run killed at random moments and resumed ends in the same verdicts and values'
pts run iops tp lat --dut 'sim:ent-nvme?seed=5' --db whole.db -q
exit_is 0
start cut.db iops tp lat --dut 'sim:ent-nvme?seed=5' -q
for k in 1 2 3; do
	sleep 0.$((RANDOM % 8 + 1))
	stop KILL
	[ "$(ask cut.db "SELECT count(*) FROM v_run WHERE state = 'running'")" = 1 ] || break
	"$PTS" resume --db cut.db -q >"$OUT" 2>"$ERR" &
	PID=$!
done
wait $PID
if [ "$(ask cut.db "SELECT count(*) FROM v_run")" != 1 ]; then
	pts run iops tp lat --dut 'sim:ent-nvme?seed=5' --db cut.db -q
elif [ "$(ask cut.db 'SELECT state FROM v_run')" != done ]; then
	pts resume --db cut.db -q
	exit_is 0
fi
want=$(ask whole.db "SELECT test, steady, window_first, window_last, rounds, verdict FROM v_test")
same "$(ask cut.db "SELECT test, steady, window_first, window_last, rounds, verdict FROM v_test WHERE void = 0")" "$want" verdicts
q="SELECT test, round, access, threads, qd, ios, art_ns, lat_p99999_ns, start_ns FROM v_cell WHERE void = 0 AND partial = 0"
same "$(ask cut.db "$q" | sha256sum)" "$(ask whole.db "$q" | sha256sum)" cells

t 'continue inside: the same cells as a run without an interruption, and a deviation'
start in.db iops --dut 'sim:ent-nvme?seed=5' -q
wait_cells in.db 60
stop INT
if [ $RC = 4 ]; then
	pts resume --db in.db -q --continue-inside
	exit_is 0
	sql_is in.db "SELECT count(*) FROM v_test" 1
	sql_is in.db "SELECT count(*) FROM v_deviation WHERE text LIKE '%continued inside%'" 1
fi
q="SELECT round, access, ios, art_ns, host_bytes_written FROM v_cell WHERE test = 'iops' AND partial = 0 ORDER BY round, step"
same "$(ask in.db "$q" | sha256sum)" "$(ask whole.db "$q" | sha256sum)" cells
pts db check --db in.db
exit_is 0

t 'continue inside on a real target goes on behind the last cell'
start inr.db slow --dut 'file:f-in?size=32m'
wait_cells inr.db 6
stop INT
n=$(ask inr.db "SELECT count(*) FROM v_cell WHERE partial = 0")
pts resume --db inr.db --continue-inside
true_that test $RC -le 1
sql_is inr.db "SELECT count(*) FROM v_test" 1
sql_is inr.db "SELECT count(*) FROM v_cell WHERE phase = 'wipc'" 1
sql_is inr.db "SELECT count(*) = 3 * max(round) FROM v_cell WHERE phase = 'round' AND partial = 0" 1
true_that test "$n" -ge 6
pts db check --db inr.db
exit_is 0

t 'resume refuses another target, other definitions'
start id.db slow --dut 'file:f-id?size=32m'
wait_cells id.db 2
stop KILL
rm f-id f-id.pts-scratch
truncate -s 16m f-id
cp f-id f-id.was
pts resume --db id.db
exit_is 2
true_that cmp -s f-id f-id.was
rm f-id
start def.db slow --dut 'file:f-def?size=32m'
wait_cells def.db 2
stop KILL
sed -i 's/for 100ms/for 90ms/' defs/t.pts
pts resume --db def.db
exit_is 2
err_has definition
sed -i 's/for 90ms/for 100ms/' defs/t.pts

t 'resume goes to the very file of the run, from any folder; never to another one, never makes one'
start where.db slow --dut 'file:f-where?size=32m'
wait_cells where.db 2
stop KILL
pts list runs --db where.db
out_has interrupted
mkdir -p elsewhere
cd elsewhere || exit 1
pts resume --db ../where.db
true_that test $RC -le 1
file_absent f-where
cd ..
start gone.db slow --dut 'file:f-gone?size=32m'
wait_cells gone.db 2
stop KILL
mv f-gone f-moved
pts resume --db gone.db
exit_is 2
file_absent f-gone
cp f-moved f-gone
cp f-moved.pts-scratch f-gone.pts-scratch 2>/dev/null
pts resume --db gone.db
exit_is 2

t 'resume refuses a loop device that carries another file, and a run whose rows were changed'
if [ "$(id -u)" != 0 ] || ! loop_new 32M; then
	skip 'needs root and loop devices'
else
	start loop.db slow --dut "$LOOP" --destroy "$LOOP"
	wait_cells loop.db 2
	stop KILL
	sleep 0.3
	losetup -d "$LOOP"
	truncate -s 32M other.img
	if losetup "$LOOP" other.img 2>/dev/null; then
		pts resume --db loop.db
		exit_is 2
		err_has 'not the target of the run'
		same "$(tr -d '\0' <other.img | wc -c)" 0 'bytes in the other file'
		losetup -d "$LOOP"
		losetup "$LOOP" "$LOOPFILE"
		sqlite3 loop.db '.backup changed.db'
		sqlite3 changed.db "$(sqlite3 changed.db "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_master WHERE type = 'trigger'") UPDATE run_arg SET value = 'file:stolen?size=32m' WHERE key = 'dut'"
		pts resume --db changed.db
		exit_is 2
		file_absent stolen
		pts resume --db loop.db
		true_that test $RC -le 1
	fi
fi

t 'two processes never work on one run'
start two.db long --dut 'file:f-two?size=32m'
wait_for two.db 'SELECT count(*) FROM v_section' 1
pts resume 1 --db two.db
true_that test $RC -ge 2
pts run long --dut 'file:f-two' --db two.db
true_that test $RC -ge 2
true_that kill -0 $PID
stop INT

t 'a full disk under the database: exit 3, what was committed is there, resume after making room'
if [ "$(id -u)" != 0 ] || ! mkdir small || ! mount -t tmpfs -o size=16m tmpfs small 2>/dev/null; then
	skip 'needs root and tmpfs'
else
	at_exit umount -l "$W/small"
	start small/f.db slow --dut 'file:f-full?size=32m'
	wait_cells small/f.db 1
	dd if=/dev/zero of=small/ballast bs=4k count=10000 2>/dev/null
	wait $PID
	RC=$?
	exit_is 3
	err_has small/f.db
	rm small/ballast
	pts db check --db small/f.db
	exit_is 0
	pts resume --db small/f.db
	true_that test $RC -le 1
	sql_is small/f.db "SELECT state FROM v_run" done
fi

t 'a full file system under the target: exit 3, a message, the database sound'
if [ "$(id -u)" != 0 ] || ! mkdir tiny || ! truncate -s 24m tiny.img || ! mkfs.ext4 -q tiny.img 2>/dev/null ||
	! mount -o loop tiny.img tiny 2>/dev/null; then
	skip 'needs root, mkfs.ext4 and loop devices'
else
	at_exit umount "$W/tiny"
	pts run slow --dut 'file:tiny/f?size=64m' --db t.db
	exit_is 3
	err_has ENOSPC
	sql_is t.db "SELECT state FROM v_run" failed
	pts db check --db t.db
	exit_is 0
fi
