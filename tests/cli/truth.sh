#!/bin/bash
# SPDX-License-Identifier: MIT
# What a cell says is what happened: threads and depth, series and sums, data, sector sizes, on real block devices.
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/rigs/rig.sh"

mkdir defs
export PTS_DEF_PATH=$W/defs
cat >defs/truth.pts <<'END'
test depth "Threads and depth" clause X
	fill seq-128k-w 1x threads 1 qd 8
	run rnd rw 100/0 bs 64k threads 8 qd 1 for 300ms
	run rnd rw 100/0 bs 64k threads 1 qd 8 for 300ms
	run rnd rw 100/0 bs 64k threads 1 qd 32 for 500ms
	run rnd rw 65/35 bs 4k threads 2 qd 4 for 300ms
end
test full "A whole fill" clause X
	fill seq-128k-w 1x threads 2 qd 8
end
test polled "Polled" clause X
	run rnd-4k-r threads 1 qd 4 for 300ms
end
END

on_rig() { pts run "$1" --dut "$RIG" --destroy "$RIG" --db "$1.db" "${@:2}"; }

depth() {
	rm -f depth.db*
	[ -n "$RIG" ] || rig_loop 64M 512 || return
	on_rig depth -q
	exit_is 0
	sql_is depth.db "SELECT threads_seen, inflight_max FROM v_cell WHERE threads = 8" '8|8'
	sql_is depth.db "SELECT threads_seen, inflight_max FROM v_cell WHERE qd = 8 AND phase = 'step'" '1|8'
}
t 'U16: T8Q1 on a loop has 8 threads with one IO each, T1Q8 one thread with 8'
depth

in_flight() {
	[ -n "$RIG" ] || depth
	sql_is depth.db "SELECT threads_seen, inflight_max, inflight_avg >= 31, ifnull(note, '') LIKE '%depth not%' FROM v_cell WHERE qd = 32" '1|32|1|0'
}
t 'U24: T1Q32 on a loop keeps 31 in flight'
rig_retry in_flight

t 'U24: a target that cannot work behind the back of the caller is flagged'
run "${PTS%/*}/pts-bench" engine --target /dev/zero --qd 32 --ios 200000 --json
exit_is 0
json_is '"depth not achieved" in d["note"]' True

t 'U23: seconds, streams and histograms of each cell sum up to it exactly'
for what in 'SELECT sum(ios) FROM v_second' 'SELECT sum(ios) FROM v_stream' "SELECT sum(count) FROM v_histogram WHERE kind = 'service'"; do
	sql_is depth.db "SELECT count(*) FROM v_cell c WHERE ios <> ($what $([[ $what = *WHERE* ]] && echo AND || echo WHERE) cell_id = c.cell_id)" 0
done
sql_is depth.db "SELECT count(*) FROM v_cell c WHERE bytes <> (SELECT sum(bytes) FROM v_second WHERE cell_id = c.cell_id)" 0
sql_is depth.db "SELECT count(*), min(ios) > 0, sum(prepared <> ios + short_ios + errors) FROM v_cell" '5|1|0'

t 'U32: polling asked of a loop device ends with a note, by interrupts'
if [ -n "$RIG" ] || rig_loop 64M 512; then
	run timeout 5 "$PTS" run polled --polled --dut "$RIG" --destroy "$RIG" --db polled.db
	exit_is 0
	err_has 'polling not possible here'
	sql_is polled.db "SELECT value LIKE '%polling not possible here%' FROM v_host WHERE key = 'engine'" 1
	sql_is polled.db "SELECT errors, ios > 0 FROM v_cell" '0|1'
fi
rig_release

t 'U28: 64 MiB that were written do not compress, and no 4 KiB of them come twice'
pts run full -q --dut 'file:f?size=64m' --db full.db
exit_is 0
same "$(stat -c %s f)" 67108864 'size of the file'
true_that test "$(gzip -1 -c f | wc -c)" -ge $((67108864 / 100 * 99))
same "$(python3 -c 'import sys
d = open("f", "rb").read()
print(len({d[i:i + 4096] for i in range(0, len(d), 4096)}))')" 16384 'different blocks'
rm f f.pts-scratch

t 'U29: the IOPS test goes its way on 4096-byte sectors, its cells of 512 bytes n/a'
if rig_loop 16M 4096; then
	pts show iops
	sed 's/^test iops/test iops-short/; s/25 quick 8 until steady/5 until steady/; s/1m quick 100ms/8ms/' "$OUT" >defs/iops-short.pts
	# 245 commits: in memory, where that can be had
	mem=$(mktemp -d /dev/shm/pts-cli.XXXXXX 2>/dev/null) || mem=$(mktemp -d "$W/XXXXXX")
	at_exit rm -rf "$mem"
	pts run iops-short -q --dut "$RIG" --destroy "$RIG" --db "$mem/i.db"
	true_that test "$RC" -le 1
	sql_is "$mem/i.db" "SELECT count(*), count(DISTINCT access), min(block_bytes), sum(errors + partial) FROM v_cell
		WHERE phase = 'round'" '245|49|4096|0'
	sql_is "$mem/i.db" "SELECT count(*), group_concat(DISTINCT json_extract(detail, '\$.reason')) FROM v_event
		WHERE kind = 'cell-na' AND json_extract(detail, '\$.block_bytes') = 512" '7|n/a (LBA 4096)'
	sql_is "$mem/i.db" "SELECT state, rounds FROM v_run JOIN v_test USING (run_id)" 'done|5'
fi
rig_release
