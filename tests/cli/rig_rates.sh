#!/bin/bash
# SPDX-License-Identifier: MIT
# Drives of known latency and known rate: does pts measure what they do? Depth and threads, and a drive that changes in a test.
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/rigs/rig.sh"

mkdir defs
export PTS_DEF_PATH=$W/defs
cat >defs/rates.pts <<'END'
test one "One at a time" clause X
	run rnd-4k-r threads 1 qd 1 for 1s
end
test depth "Threads and depth" clause X
	run rnd-4k-r threads 8 qd 1 for 400ms
	run rnd-4k-r threads 1 qd 32 for 400ms
end
test rate "A drive with a limit" clause X
	run rnd-4k-w threads 1 qd 8 for 300ms as prewrite # spends the burst that the limit allows
	run rnd-4k-w threads 1 qd 8 for 1500ms
	run rnd-4k-r threads 2 qd 4 for 1500ms
end
test drift "A drive that changes" clause X
	loop rounds 12 until steady
		run rnd-4k-w threads 1 qd 8 for 300ms
		track iops of rw 0/100
	end
end
END

measure() { rig_pts run "$1" --dut "$RIG" --destroy "$RIG" --db "$1.db"; }

# within VALUE TARGET PCT WHAT
within() {
	python3 -c 'import sys
value, target, pct = map(float, sys.argv[1:4])
sys.exit(abs(value - target) > target * pct / 100)' "$1" "$2" "$3" || fail "$4 is $1, not within $3 % of $2"
}

# The kernel's account of the reads of $RIG: their number, and the ms they took all together.
kernel_reads() { awk '{ print $1, $4 }' "/sys/block/${RIG#/dev/}/stat"; }

# The way through loop device and daemon adds tens of us to the drive's 100, more on a busy host. So the judges are an independent
# reader, before and after, and the kernel's own accounting of the same requests.
latency() {
	local before after n0 ms0 n1 ms1 p50 art
	rm -f one.db*
	rig_null 100000 1G || return
	before=$(rig_probe)
	read -r n0 ms0 < <(kernel_reads)
	measure one
	exit_is 0
	read -r n1 ms1 < <(kernel_reads)
	after=$(rig_probe)
	read -r p50 art < <(sqlite3 -separator ' ' one.db 'SELECT lat_p50_ns, art_ns FROM v_cell')
	if [ "$p50" -lt "$before" ] && [ "$p50" -lt "$after" ] || [ "$p50" -gt "$before" ] && [ "$p50" -gt "$after" ]; then
		within "$p50" $(((before + after) / 2)) 20 'p50 in ns'
	fi
	within "$art" $(((ms1 - ms0) * 1000000 / (n1 - n0))) 20 "the kernel's average in ns, as pts has it,"
	sql_is one.db "SELECT lat_min_ns >= 99000, errors, threads_seen, inflight_max FROM v_cell" '1|0|1|1'
	sql_is one.db "SELECT abs(iops * art_ns / 1e9 - inflight_avg) <= 0.02 * inflight_avg FROM v_cell" 1
}
t 'the latency of a drive of 100 us at queue depth 1'
rig_retry latency

depth() {
	rm -f depth.db*
	[ -n "$RIG" ] || rig_null 100000 1G || return
	measure depth
	exit_is 0
	sql_is depth.db "SELECT threads_seen, inflight_max <= 8, inflight_avg > 7 FROM v_cell WHERE threads = 8" '8|1|1'
	sql_is depth.db "SELECT threads_seen, inflight_max, inflight_avg >= 31 FROM v_cell WHERE qd = 32" '1|32|1'
	sql_is depth.db "SELECT count(*) FROM v_cell WHERE abs(iops * art_ns / 1e9 - inflight_avg) > 0.02 * inflight_avg" 0
	sql_is depth.db "SELECT count(*) FROM v_cell WHERE note LIKE '%punted%'" 0
}
t 'threads and depth that were asked for are there'
rig_retry depth
rig_release

limited() {
	rm -f rate.db*
	rig_throttled 2000 64M || return
	measure rate
	exit_is 0
	within "$(sqlite3 rate.db "SELECT iops FROM v_cell WHERE phase = 'step' AND read_pct = 0")" 2000 5 'write IOPS'
	within "$(sqlite3 rate.db "SELECT iops FROM v_cell WHERE phase = 'step' AND read_pct = 100")" 2000 5 'read IOPS'
	sql_is rate.db "SELECT count(*) FROM v_cell WHERE abs(iops * art_ns / 1e9 - inflight_avg) > 0.02 * inflight_avg" 0
}
t 'the rate of a drive of 2000 IOPS'
rig_retry limited

# The rate falls to a third after round 3: rounds 1 to 5 must not count as steady, nor any window with both rates in it.
changing() {
	local pid changed i
	rm -f drift.db*
	[ -n "$RIG" ] || rig_throttled 2000 64M || return
	nice -n -15 "$PTS" run drift --dut "$RIG" --destroy "$RIG" --db drift.db >"$OUT" 2>"$ERR" &
	pid=$!
	for ((i = 0; i < 400; i++)); do
		[ "$(sqlite3 drift.db "SELECT count(*) >= 3 FROM v_cell" 2>/dev/null)" != 1 ] || break
		kill -0 $pid 2>/dev/null || break
		sleep 0.02
	done
	rig_throttle_set 700
	changed=$(sqlite3 drift.db "SELECT max(round) FROM v_cell")
	wait $pid
	RC=$?
	true_that test $RC -le 1
	same "$((changed == 3 || changed == 4))" 1 'the change after round 3 or 4'
	sql_is drift.db "SELECT steady FROM v_steady WHERE round = 5" 0
	sql_is drift.db "SELECT COALESCE(window_first, 99) > $changed FROM v_test" 1
	sql_is drift.db "SELECT count(*) FROM v_steady WHERE steady AND max(y1, y2, y3, y4, y5) > 1.25 * min(y1, y2, y3, y4, y5)" 0
	sql_is drift.db "SELECT count(*) > 0 FROM v_cell WHERE round > $changed + 1" 1
	sql_is drift.db "SELECT max(iops) < 0.6 * (SELECT max(iops) FROM v_cell WHERE round <= 3) FROM v_cell
		WHERE round > $changed + 1" 1
}
t 'a rate that changes in the test breaks steady state'
rig_retry changing
