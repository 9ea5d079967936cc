#!/bin/bash
# SPDX-License-Identifier: MIT
# Faults injected between the kernel's ring and the engine: the Nth completion fails, is short, late, or never comes, for N over a
# whole small run. Every run ends with a message, the right exit code, a sound database and closed accounts. PTS_LONG=1: more N.
. "$(dirname "$0")/lib.sh"

mkdir defs
cat >defs/t.pts <<'END'
test tiny "Tiny test" clause X
  purge
  fill seq-128k-w 1x threads 1 qd 2
  loop rounds 2 until steady
    foreach mix in 100/0 0/100
      run rnd rw $mix bs 4k threads 2 qd 2 for 10ms
    end
    track iops of rw 0/100 bs 4k
  end
  run rnd-4k-w threads 1 qd 1 for 20ms every 10ms as histogram
end
test cell "One cell" clause X
  run rnd-4k-r threads 1 qd 1 for 20ms
end
test seam "Cells without a gap" clause X
  run rnd-4k-r threads 1 qd 1 for 40ms every 10ms
end
test rated "Open loop" clause X
  run rnd-4k-r threads 2 qd 4 for 200ms rate 2000
end
END
export PTS_DEF_PATH=$W/defs
FILL=16 # IOs of the fill

ask() { sqlite3 -batch "$1" "$2"; }

on() { # on SPEC [TEST] [OPTION...]: a run with that fault in a new database f.db
	local spec=$1 test=${2:-tiny}
	shift $(($# < 2 ? $# : 2))
	rm -f f.db*
	pts run "$test" -q --dut "fault:$spec:file:$W/f?size=2m" --db f.db "$@"
}

# What holds whatever happened; then the evidence itself.
sound() {
	sql_is f.db "SELECT (SELECT count(*) FROM v_cell WHERE prepared <> ios + short_ios + errors),
		(SELECT count(*) FROM v_cell WHERE errors + short_ios > 0 AND NOT partial AND NOT void),
		(SELECT count(*) FROM v_cell WHERE in_window AND (void OR partial OR errors + short_ios > 0)),
		(SELECT count(*) FROM v_round r WHERE NOT void AND EXISTS (SELECT 1 FROM v_cell c WHERE c.round = r.round
			AND c.round_try = r.round_try AND c.errors + c.short_ios > 0)),
		(SELECT count(*) FROM v_deviation WHERE text LIKE 'faults injected%')" '0|0|0|0|1'
	[ "$RC" != 3 ] || err_match '.'
	"$PTS" db check --db f.db >check.out 2>&1 || fail "db check: $(show check.out)"
}

# ended CODE STATE VERDICT
ended() {
	exit_is "$1"
	sql_is f.db 'SELECT r.state, t.verdict FROM v_run r JOIN v_test t USING (run_id)' "$2|$3"
}

# One that came once: a round is repeated and the run goes on; elsewhere it ends the test. $1: what the cell shows.
came_once() {
	case $(ask f.db 'SELECT count(*), sum(round IS NOT NULL) FROM v_cell WHERE errors + short_ios > 0') in
	'0|') ended 1 'done' 'not achieved' ;; # the run had fewer IOs
	'1|1')
		ended 1 'done' 'not achieved'
		sql_is f.db "SELECT $1, void, round_try FROM v_cell WHERE errors + short_ios > 0" '1|1|1'
		sql_is f.db 'SELECT count(*) FROM v_cell WHERE round_try = 2' 2
		sql_is f.db "SELECT count(*) FROM v_event WHERE kind = 'error'" 1
		;;
	'1|0')
		ended 3 failed failed
		sql_is f.db "SELECT $1, partial FROM v_cell WHERE errors + short_ios > 0" '1|1'
		;;
	*) fail 'more than one cell with errors' ;;
	esac
}

# False for a run that had fewer than N IOs (the machine was busy): an ordinary one then.
struck() {
	[ "$RC" -gt 1 ] || [ "$(ask f.db 'SELECT sum(prepared) FROM v_cell')" -ge "$1" ] && return
	true_that test "$(ask f.db 'SELECT state FROM v_run')" = done
	false
}

on take1000000
TOTAL=$(ask f.db 'SELECT sum(prepared) FROM v_cell')
# The first IO, the seam between fill and rounds, and $1 points over the rest of the run.
points() {
	local n=$1 i
	[ -z "${PTS_LONG:-}" ] || n=$((n * 8))
	echo 1 $FILL $((FILL + 1))
	for ((i = 1; i <= n; i++)); do
		echo $((FILL + i * (TOTAL - FILL) / (n + 1)))
	done
}
dense=4
[ -z "${PTS_LONG:-}" ] || dense=60

t 'no fault struck: an ordinary run, with a deviation that tells'
ended 1 'done' 'not achieved'
sound
sql_is f.db 'SELECT dut, state FROM v_run' "fault:take1000000:file:$W/f?size=2m|done"
sql_is f.db "SELECT prepared FROM v_cell WHERE phase = 'wipc'" $FILL
true_that test "$TOTAL" -gt 100

t 'an error that comes once, at the Nth IO: a round is repeated, else exit 3'
for n in $(seq 2 $dense) $(points 5); do
	on "enodata@$n"
	sound
	came_once "errnos = 'ENODATA:1' AND short_ios = 0"
	[ "$RC" != 3 ] || err_has ENODATA
	[ "$n" -gt $FILL ] || exit_is 3
done

t 'a short IO: half, some bytes, nothing'
for n in $(points 2); do
	for what in short short=512 zero; do
		[ -n "${PTS_LONG:-}" ] || [ $what = zero ] || [ "$n" = 1 ] || [ "$n" = $((FILL + 1)) ] || continue
		on "$what@$n"
		sound
		came_once 'short_ios = 1 AND errors = 0'
		[ "$RC" != 3 ] || err_has 'moved only'
	done
done

t 'what is in flight when an IO fails counts as well: no byte written is left out'
on eio@3,late=30ms # both of the fill's in flight: one fails, the other comes later
sound
ended 3 failed failed
sql_is f.db 'SELECT ios, errors, prepared, bytes FROM v_cell' '3|1|4|393216'

t 'an error that stays: one repetition of a round, then exit 3'
for n in $(points 2); do
	on "eio@$n+"
	sound
	struck "$n" || continue
	ended 3 failed failed
	err_has EIO
	sql_is f.db 'SELECT max(errors) > 0, count(*) <= 2 FROM v_cell WHERE errors > 0' '1|1'
	sql_is f.db "SELECT count(*) FROM (SELECT max(round_try) AS tries FROM v_cell WHERE errors > 0 AND round > 0 GROUP BY round)
		WHERE tries <> 2" 0
done
on 'eio*3'
sound
ended 3 failed failed

t 'the drive is gone: exit 3 and said so'
for n in $(points 2); do
	on "gone@$n"
	sound
	struck "$n" || continue
	ended 3 failed failed
	err_has 'the drive is gone'
	sql_is f.db 'SELECT count(*), sum(void) FROM v_cell WHERE short_ios > 0' '1|0'
done

t 'a late IO: not lost, seen in MRT, in one cell, at the end of a cell as well'
for n in $(points 1); do
	on "late=40ms@$n"
	sound
	struck "$n" || continue
	ended 1 'done' 'not achieved'
	sql_is f.db 'SELECT sum(errors + short_ios + void + partial) FROM v_cell' 0
	sql_is f.db 'SELECT count(*) > 0 FROM v_cell WHERE mrt_ns >= 40000000' 1
done
on late=60ms@2 cell # the only IO in flight, three times as late as the cell is long
sound
ended 0 'done' 'done'
sql_is f.db 'SELECT ios = 2 AND prepared = 2, mrt_ns >= 60000000, elapsed_ns >= mrt_ns, partial FROM v_cell' '1|1|1|0'
on late=15ms
sound
ended 1 'done' 'not achieved'
sql_is f.db 'SELECT min(lat_min_ns) >= 15000000, sum(errors + short_ios + void + partial) FROM v_cell' '1|0'

t 'an IO that never comes: hung, exit 3, the cell is no result; resume ends the run without the fault'
for n in $(points 2); do
	on "deadline=1s,never@$n"
	sound
	struck "$n" || continue
	ended 3 hung failed
	err_has 'the drive hangs'
	out_has 'pts resume'
	sql_is f.db 'SELECT count(*) FROM v_cell WHERE partial' 1
	sql_is f.db 'SELECT partial FROM v_cell ORDER BY cell_id DESC LIMIT 1' 1
done
# Where the next cell of the same job would follow without a gap, too: late=3ms makes it a few IOs a cell.
for n in 1 2 5 9; do
	on "deadline=300ms,never@$n,late=3ms" seam
	sound
	struck "$n" || continue
	ended 3 hung failed
	sql_is f.db 'SELECT sum(partial), max(partial) FILTER (WHERE cell_id < (SELECT max(cell_id) FROM v_cell)) IS 1 FROM v_cell' '1|0'
done
on "deadline=1s,never@$((FILL + 5))"
ended 3 hung failed
pts status --db f.db --json
json_is 'd["state"]' hung
pts resume -q --db f.db
exit_is 1
sql_is f.db 'SELECT state FROM v_run' done
sql_is f.db 'SELECT attempt, void, verdict FROM v_test ORDER BY attempt' $'1|1|failed\n2|0|not achieved'
sql_is f.db 'SELECT count(*) FROM v_cell WHERE NOT void AND partial' 0
run "$PTS" db check --db f.db
exit_is 0

t 'nothing ever comes, and a stop in between: the process leaves all the same'
"$PTS" run cell -q --dut "fault:deadline=1s,never@1+:file:$W/g?size=2m" --db g.db >"$OUT" 2>"$ERR" &
PID=$!
for ((i = 0; i < 100; i++)); do
	[ "$(ask g.db 'SELECT count(*) FROM v_section' 2>/dev/null || echo 0)" = 1 ] && break
	sleep 0.05
done
sleep 0.2
kill -INT $PID
wait $PID
RC=$?
exit_is 3
sql_is g.db 'SELECT state FROM v_run' hung
true_that test ! -e "/proc/$PID"

t 'submissions that take few or none, completions to be sent again: nothing is lost'
for spec in take1 'take3,eagain*10' 'ebusy*2' 'eintr*3' 'again*7' 'again@1,again*5,take1,eagain*3' 'again*2'; do
	on "$spec"
	sound
	ended 1 'done' 'not achieved'
	sql_is f.db "SELECT sum(errors + short_ios), max(partial), (SELECT bytes FROM v_cell WHERE phase = 'wipc') FROM v_cell" '0|0|2097152'
	on "$spec" rated
	sound
	ended 0 'done' 'done'
	sql_is f.db 'SELECT errors + short_ios, ios BETWEEN 1 AND 400, partial FROM v_cell' '0|1|0' # a busy machine leaves some overdue
done

t 'an open loop with errors, late and lost IOs'
on late=50ms@10 rated
sound
ended 0 'done' 'done'
sql_is f.db 'SELECT ios BETWEEN 10 AND 400, mrt_ns >= 50000000 FROM v_cell' '1|1'
on eio@40 rated
sound
ended 3 failed failed
on deadline=1s,never@40 rated
sound
ended 3 hung failed
sql_is f.db 'SELECT partial FROM v_cell' 1

t 'a fault that makes no sense is a mistake in usage'
for spec in eoi@3 eio@0 eio@ 'eio*0' short=x@2 take0 late@3 deadline=0s '' eio@1,, 'eio@1;2'; do
	on "$spec"
	exit_is 2
	err_has fault
	file_absent f.db
done
for dut in fault:eio@3 fault:eio@3:sim:ent-nvme fault:eio@3:fault:eio@4:file:x fault:eio@3:nothing; do
	pts run cell --dut "$dut" --db f.db
	exit_is 2
	file_absent f.db
done

t 'the safety gate sees what is behind the fault'
head -c 2m /dev/zero >mine
cp mine mine.was
rm -f f.db*
pts run cell -q --dut "fault:eio@2:file:$W/mine" --db f.db
exit_is 2
err_has "--destroy '$W/mine'"
true_that cmp -s mine mine.was
file_absent f.db
pts run cell -q --dut 'fault:eio@2:file:mine' --destroy mine --db f.db
exit_is 3
sound
rm f.db*
pts run cell -q --dut 'fault:eio@2:/dev/null' --db f.db
exit_is 2

need_root
t 'a block device behind the fault'
if loop_new 2m; then
	rm -f f.db*
	pts run tiny -q --dut "fault:eio@40:$LOOP" --db f.db
	exit_is 2
	err_has "--destroy '$LOOP'"
	file_absent f.db
	pts run tiny -q --dut "fault:enodata@40:$LOOP" --destroy "$LOOP" --db f.db
	sound
	came_once "errnos = 'ENODATA:1'"
	rm -f f.db*
	pts run tiny -q --dut "fault:gone@40:$LOOP" --destroy "$LOOP" --db f.db
	sound
	ended 3 failed failed
	err_has 'the drive is gone'
	rm -f f.db*
	pts run tiny -q --dut "fault:deadline=1s,never@40:$LOOP" --destroy "$LOOP" --db f.db
	sound
	ended 3 hung failed
	pts resume -q --db f.db
	exit_is 1
	sql_is f.db 'SELECT state FROM v_run' done
fi
