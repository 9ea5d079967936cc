#!/bin/bash
# SPDX-License-Identifier: MIT
# Sheets of curve, bounded and scale: the numbers of the workbook are those of the database.
. "$(dirname "$0")/lib.sh"

lint="python3 $ROOT/tests/tools/xlsx_lint.py"

"$PTS" run curve bounded scale --quick -q --dut 'sim:ent-nvme?size=100g&seed=3' >"$OUT" 2>"$ERR"
RC=$?
t 'steps: a simulated run to report on'
exit_is 0
pts report -o a.xlsx
exit_is 0
run $lint a.xlsx
exit_is 0
pts report -o a.json
exit_is 0
for s in CURVE BOUNDED SCALE; do
	$lint --cells a.xlsx $s >$s.cells
	[ -s $s.cells ] || fail "no sheet $s"
done

t 'curve: asked, achieved, response and service of each step, against the view'
run python3 - <<'PY'
import json
import re
import sqlite3

db = sqlite3.connect('pts.db')
db.row_factory = sqlite3.Row
grid = {}
for line in open('CURVE.cells'):
    ref, v = line.rstrip('\n').split('\t', 1)
    letters, row = re.fullmatch(r'([A-Z]+)(\d+)', ref).groups()
    grid[letters, int(row)] = v
steps = db.execute("select * from v_cell where test = 'curve' and phase = 'step' order by step").fetchall()
assert len(steps) == 12
for s in steps:
    rates, times = sorted(k[1] for k, v in grid.items() if v == s['label'] and k[0] == 'A')
    assert abs(float(grid['B', rates]) - s['rate_iops']) <= 1e-9 * s['rate_iops']
    assert abs(float(grid['D', rates]) - s['iops']) <= 1e-9 * s['iops']
    assert abs(float(grid['F', rates]) - s['iops'] / s['rate_iops']) < 1e-9
    assert abs(float(grid['B', times]) - s['art_ns'] / 1e3) <= 1e-6 * s['art_ns'] / 1e3
    for column, kind in ('D', 'response'), ('L', 'service'): # 99 %
        n = db.execute('select sum(count) from v_histogram where cell_id = ? and kind = ?',
                       (s['cell_id'], kind)).fetchone()[0]
        rank, seen = -(-n * 99 // 100), 0
        for high, count in db.execute('select high_ns, sum(count) from v_histogram where cell_id = ? and kind = ?'
                                      ' group by low_ns order by low_ns', (s['cell_id'], kind)):
            seen += count
            if seen >= rank:
                break
        assert abs(float(grid[column, times]) - high / 1e3) <= 0.005 * high / 1e3, (s['label'], kind, high)
tests = json.load(open('a.json'))['runs'][0]['tests']
curve = [t for t in tests if t['test'] == 'curve'][0]
assert len(curve['steps']) == 13 and curve['points'][0]['point'] == 'peak'
assert [x['label'] for x in curve['steps'] if 'response' in x] == [s['label'] for s in steps]
print('same')
PY
exit_is 0
out_is same

t 'bounded: what is inside the bound, and the best, against the view'
n=$(sqlite3 pts.db "select count(*) from v_cell where test = 'bounded' and phase = 'step' and art_ns < 300000")
file_has BOUNDED.cells "$n of 42 cells are inside the bound"
best=$(sqlite3 pts.db "select 'T' || threads || 'Q' || qd from v_point where test = 'bounded'")
file_has BOUNDED.cells "$best"
file_has BOUNDED.cells inside

t 'scale: throughput by workload, against the view'
for a in '8K 100/0' '8K 0/100' '1024K 100/0' '1024K 0/100'; do
	gb=$(sqlite3 pts.db "select printf('%.6g', max(bytes_per_s) / 1e9) from v_cell where test = 'scale' and phase = 'step' and
		access = 'RND $a'")
	awk -F'\t' -v v="$gb" '{ d = $2 - v; if ($2 > 0 && d * d < v * v * 1e-10) hit = 1 } END { exit !hit }' SCALE.cells ||
		fail "no $gb GB/s of RND $a"
done

t 'scale: a set of three drives: sums, efficiency and members, against the view'
dut='set:sim:ent-nvme?size=50g&seed=1,sim:ent-nvme?size=50g&seed=2,sim:ent-nvme?size=50g&seed=3'
"$PTS" run scale --quick -q --dut "$dut" --db set.db >"$OUT" 2>"$ERR"
RC=$?
exit_is 0
pts report --db set.db -o set.xlsx
exit_is 0
run $lint set.xlsx
exit_is 0
$lint --cells set.xlsx SCALE >SET.cells
file_has SET.cells '1 to 3' # drives, in the header
file_has SET.cells 'Table A.6 - Members'
eff=$(sqlite3 set.db "with s as (select row_number() over (order by step) n, iops from v_cell where phase = 'step' and
	access = 'RND 8K 100/0' and member is null and threads = 10)
	select printf('%.12g', b.iops / 3 / a.iops) from s a, s b where a.n = 1 and b.n = 3")
share=$(sqlite3 set.db "select printf('%.12g', m.iops / s.iops) from v_cell m join v_cell s using (step) where m.member = 3 and
	s.member is null and m.access = 'RND 8K 100/0' and m.threads = 10")
for v in "$eff" "$share"; do
	awk -F'\t' -v v="$v" '{ d = $2 - v; if (v > 0 && d * d < 1e-20) hit = 1 } END { exit !hit }' SET.cells ||
		fail "no $v on the sheet"
done
