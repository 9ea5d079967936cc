#!/bin/bash
# SPDX-License-Identifier: MIT
# The full suite on a simulated drive, killed at random moments and resumed: the same final verdicts, windows, operating
# points and cells as a run that nobody disturbed. KILLS (3) random kills; 20 with PTS_LONG=1.
. "$(dirname "$0")/lib.sh"
KILLS=${KILLS:-3}
[ -z "${PTS_LONG:-}" ] || KILLS=20
DUT='sim:ent-nvme?seed=77'

"$PTS" run pts-full --dut "$DUT" --db whole.db -q >whole.out 2>&1 &
WHOLE=$!
at_exit kill $WHOLE

live() { [ "$(ask k.db 'SELECT count(*) FROM v_run')" = 1 ]; }
go() {
	if live; then
		"$PTS" resume --db k.db -q >k.out 2>&1 &
	else
		rm -f k.db*
		"$PTS" run pts-full --dut "$DUT" --db k.db -q >k.out 2>&1 &
	fi
	PID=$!
}

t "kill -9 at $KILLS random moments, resume until it is done"
moments='' landed=0
for ((k = 0; landed < KILLS && k < 4 * KILLS; k++)); do
	go
	ms=$((RANDOM % 1200 + 50))
	moments+=" $ms"
	sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
	kill -9 $PID 2>/dev/null && landed=$((landed + 1))
	wait $PID 2>/dev/null
	RC=$?
	[ $RC = 137 ] || break # done already
	! live || "$PTS" db check --db k.db >/dev/null || fail "damaged after kills at$moments ms"
done
true_that test $landed -gt 0
if [ "$(ask k.db 'SELECT state FROM v_run')" != done ]; then
	go
	wait $PID
	RC=$?
fi
wait $WHOLE
same $RC $? "exit code after kills at$moments ms"
sql_is k.db 'SELECT state FROM v_run' done
sql_is k.db 'SELECT count(DISTINCT test), sum(NOT void) FROM v_test' '8|8'
pts db check --db k.db
exit_is 0

alike() { # WHAT SELECT
	ask whole.db "$2" >a.txt
	ask k.db "$2" >b.txt
	true_that test -s a.txt
	cmp -s a.txt b.txt || fail "$1 differ after kills at$moments ms: $(diff a.txt b.txt | head -n 4 | tr '\n' '~')"
}

t 'verdicts, windows and operating points are those of the run that was not disturbed'
alike verdicts 'SELECT test, steady, verdict, rounds, window_first, window_last, purge_method, purge_verified, write_cache, params FROM v_test WHERE NOT void ORDER BY ordinal'
alike sections 'SELECT test, section, section_label, steady, window_first, window_last, rounds, ended_by FROM v_section WHERE NOT void ORDER BY test, section'
alike points 'SELECT test, section, point, threads, qd, iops, art_ns, lat_p99999_ns, reason FROM v_point WHERE NOT void ORDER BY test, point'

t 'and so is every check and cell'
alike checks 'SELECT s.* FROM (SELECT test, section, variable, round, first_round, y1, y2, y3, y4, y5, average, slope, steady, void FROM v_steady) s WHERE NOT void ORDER BY test, section, variable, round'
alike cells "SELECT test, section, phase, round, round_try, step, label, access, threads, qd, read_pct, block_bytes, start_ns, elapsed_ns,
	ios, bytes, errors, art_ns, mrt_ns, lat_p99999_ns, inflight_avg, cpu_sys_pct, temperature_c, host_bytes_written, in_window, partial
	FROM v_cell JOIN (SELECT run_id, test, attempt FROM v_test WHERE NOT void) USING (run_id, test, attempt) ORDER BY test, start_ns, ordinal"

t 'the database of a whole suite is of a modest size'
true_that test "$(stat -c %s whole.db)" -lt 120000000
