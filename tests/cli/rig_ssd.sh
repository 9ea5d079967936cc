#!/bin/bash
# SPDX-License-Identifier: MIT
# A whole small PTS pass on a drive that behaves like an SSD in real time: fresh, transition, steady, and fresh again by a purge.
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/rigs/rig.sh"

mkdir defs
export PTS_DEF_PATH=$W/defs
cat >defs/ssd.pts <<'END'
test mini "Purge, fresh rate, fill, rounds to steady state" clause X
	purge
	run rnd-4k-w threads 1 qd 16 for 300ms as baseline
	fill seq-128k-w 2x threads 1 qd 8
	loop rounds 25 until steady
		foreach mix in 100/0 0/100
			run rnd rw $mix bs 4k threads 1 qd 16 for 300ms
		end
		track iops of rw 0/100
	end
end
test worn "No purge" clause X
	run rnd-4k-w threads 1 qd 16 for 300ms as baseline
end
test fresh "Purge" clause X
	purge
	run rnd-4k-w threads 1 qd 16 for 300ms as baseline
end
END

MIB=32
BASELINE="SELECT iops FROM v_cell WHERE phase = 'baseline' AND run_id"
STEADY="SELECT avg(iops) FROM v_cell WHERE in_window AND read_pct = 0 AND run_id = 1"

sectors_written() { awk '{ print $7 }' "/sys/block/${RIG#/dev/}/stat"; }

mini_pass() {
	rm -f ssd.db*
	rig_ssdsim $MIB --program 400000 || return
	seen=$(sectors_written)
	rig_pts run mini --dut "$RIG" --destroy "$RIG" --db ssd.db
	exit_is 0
	sql_is ssd.db "SELECT verdict, steady, rounds >= 5, window_last - window_first FROM v_test" 'steady|1|1|4'
	sql_is ssd.db "SELECT purge_method, purge_verified FROM v_section" 'blkdiscard|1'
	sql_is ssd.db "SELECT json_extract(detail, '\$.survivors'), json_extract(detail, '\$.canaries') FROM v_event
		WHERE kind = 'purge'" '0|1026'
	sql_is ssd.db "SELECT write_bytes FROM v_cell WHERE phase = 'wipc'" $((MIB * 2 * 1048576))
	sql_is ssd.db "SELECT sum(errors), sum(partial) FROM v_cell" '0|0'
	# Fresh is about five times as fast as steady; reads keep their rate.
	sql_is ssd.db "SELECT ($BASELINE = 1) > 2 * ($STEADY)" 1
	sql_is ssd.db "SELECT ($STEADY) * 2 < avg(iops) FROM v_cell WHERE in_window AND read_pct = 100" 1
	sql_is ssd.db "SELECT count(*) FROM v_deviation WHERE text LIKE '%blkdiscard%no purge of the PTS%'" 1
}
t 'a mini PTS pass on the simulated SSD: fresh, filled, steady'
rig_retry mini_pass
[ -n "$RIG" ] || exit 0

t 'what the run says it wrote is what the drive has seen'
seen=$((($(sectors_written) - seen) * 512))
told=$(sqlite3 ssd.db "SELECT sum(write_bytes) FROM v_cell")
# Beside the cells it has the purge's marks (a block each) and what was in flight at the end of a cell.
true_that test "$seen" -ge "$told"
true_that test $((seen - told)) -le $((told / 100 + 4194304))

worn_and_fresh() {
	[ -n "$RIG" ] || mini_pass || return
	rig_pts run worn --dut "$RIG" --destroy "$RIG" --db ssd.db -q
	exit_is 0
	worn=$(sqlite3 ssd.db 'SELECT max(run_id) FROM v_run')
	rig_pts run fresh --dut "$RIG" --destroy "$RIG" --db ssd.db -q
	exit_is 0
	sql_is ssd.db "SELECT ($BASELINE = $worn) < 1.6 * ($STEADY)" 1
	sql_is ssd.db "SELECT ($BASELINE = $worn + 1) > 2 * ($STEADY)" 1
	sql_is ssd.db "SELECT ($BASELINE = $worn + 1) > 1.6 * ($BASELINE = $worn)" 1
}
t 'the wear outlives the run, a purge makes the drive fresh again'
rig_retry worn_and_fresh

t 'the database is sound'
pts db check --db ssd.db
exit_is 0
