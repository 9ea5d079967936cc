#!/bin/bash
# SPDX-License-Identifier: MIT
# U03: the drive of a run is the drive of that run: re-sized or taken away while it runs, under another name when it is resumed.
. "$(dirname "$0")/lib.sh"

mkdir defs
export PTS_DEF_PATH=$W/defs XDG_STATE_HOME=$W/state
for name in one two; do
	printf 'test %s "T" clause X\n\tpurge\n\trun rnd-4k-w threads 1 qd 1 for 700ms\nend\n' $name >defs/$name.pts
done
printf 'test long "L" clause X\n\tpurge\n\trepeat 100\n\t\trun rnd-4k-w threads 1 qd 1 for 100ms\n\tend\nend\n' >defs/long.pts

t 'a file that is another one now'
start file.db one two --dut 'file:f?size=256k'
wait_for file.db "SELECT count(*) FROM v_event WHERE kind = 'purge'" 1
mv f g
cp g f
wait $PID
RC=$?
exit_is 3
err_has 'is another file now'
sql_is file.db 'SELECT state FROM v_run' failed
sql_is file.db 'SELECT test, verdict FROM v_test' 'one|failed'

need_root

t 'a drive that is re-sized while it runs: no test goes on, none is begun'
if loop_new 1M; then
	start size.db one two --dut "$LOOP" --destroy "$LOOP"
	wait_for size.db "SELECT count(*) FROM v_event WHERE kind = 'purge'" 1
	truncate -s 2M "$LOOPFILE"
	losetup -c "$LOOP"
	wait $PID
	RC=$?
	exit_is 3
	err_has 'is not what it was when the run began: capacity was 1048576, is 2097152'
	sql_is size.db 'SELECT state FROM v_run' failed
	sql_is size.db 'SELECT test, verdict FROM v_test' 'one|failed'

	t 'resume then tells both sizes'
	pts resume 1 --db size.db
	exit_is 2
	err_has 'was 1048576 bytes in blocks of 512, is 2097152'
	truncate -s 1M "$LOOPFILE"
	losetup -c "$LOOP"
	pts resume 1 --db size.db
	exit_is 0
	sql_is size.db 'SELECT state FROM v_run' 'done'
fi

# A device is let go of some time after who had it open is gone.
detached() { [ ! -e "/sys/block/${1#/dev/}/loop/backing_file" ]; }
detach() {
	losetup -d "$1"
	wait_until detached "$1"
}

# Two loop devices; the run is on the first, and dies; then each has the other's file.
t 'U03 after a reboot the names are swapped: the run follows its drive, the other is not touched'
if loop_new 1M; then
	a=$LOOP fa=$LOOPFILE
	if loop_new 1M; then
		b=$LOOP fb=$LOOPFILE
		tr '\0' x <"$fb" >"$fb.new" && cat "$fb.new" >"$fb"
		sum=$(sha256sum <"$fb")
		start swap.db long --dut "$a" --destroy "$a"
		wait_cells swap.db 2
		stop KILL
		detach "$a"
		detach "$b"
		losetup "$a" "$fb"
		losetup "$b" "$fa"
		"$PTS" resume --db swap.db >"$OUT" 2>"$ERR" &
		PID=$!
		wait_for swap.db 'SELECT max(attempt) > 1 FROM v_cell' 1
		stop INT
		exit_is 4
		err_has "the target is $b now (was $a)"
		same "$(sha256sum <"$fb")" "$sum" 'the other drive'
		same "$(cat "/sys/block/${b#/dev/}/loop/backing_file")" "$fa" 'what is behind the second'

		t 'U03 the drive is not here: refused, nothing is written to what has its name'
		detach "$b"
		pts resume --db swap.db
		exit_is 2
		err_has 'not the target of the run'
		same "$(sha256sum <"$fb")" "$sum" 'the other drive'
		losetup "$b" "$fa"
		detach "$a"
		losetup "$a" "$fb"
	fi
fi

t 'U03 the size of the drive that was found is another: both values, exit 2'
if [ -n "${fa:-}" ]; then
	detach "$b"
	truncate -s 512K "$fa"
	losetup "$b" "$fa"
	pts resume --db swap.db
	exit_is 2
	err_has "the target is $b now (was $a)"
	err_has 'was 1048576 bytes in blocks of 512, is 524288 in blocks of 512'
	same "$(sha256sum <"$fb")" "$sum" 'the other drive'
fi

t 'U03 both drives of a set have changed names: each keeps its place, and the consent to it'
if loop_new 1M; then
	a=$LOOP fa=$LOOPFILE
	if loop_new 512K; then
		b=$LOOP fb=$LOOPFILE
		start set.db long --dut "set:$a,$b" --destroy "$a" --destroy "$b"
		wait_cells set.db 2
		stop KILL
		detach "$a"
		detach "$b"
		losetup "$a" "$fb"
		losetup "$b" "$fa"
		"$PTS" resume --db set.db >"$OUT" 2>"$ERR" &
		PID=$!
		wait_for set.db 'SELECT max(attempt) > 1 FROM v_cell' 1
		stop INT
		exit_is 4
		err_has "the target is $b now (was $a)"
		err_has "the target is $a now (was $b)"
	fi
fi
