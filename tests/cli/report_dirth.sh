#!/bin/bash
# SPDX-License-Identifier: MIT
# Sheets of DIRTH and CBW: the numbers of the workbook are those of the database.
. "$(dirname "$0")/lib.sh"

lint="python3 $ROOT/tests/tools/xlsx_lint.py"

"$PTS" run dirth cbw --quick -q --dut 'sim:ent-nvme?size=100g&seed=3' >"$OUT" 2>"$ERR"
RC=$?
t 'dirth: a simulated run to report on'
exit_is 0
pts report -o a.xlsx
exit_is 0
run $lint a.xlsx
exit_is 0
pts report -o a.json
exit_is 0
pts report -o a.txt
exit_is 0
$lint --cells a.xlsx DIRTH >dirth.cells
$lint --cells a.xlsx CBW >cbw.cells

t 'dirth: pages P1 to P15 on both sheets'
for sheet in dirth cbw; do
	for p in $(seq 1 15); do
		grep -qE "Plot P$p - " $sheet.cells || fail "$sheet has no plot P$p"
	done
	grep -q 'Table P15 - ' $sheet.cells || fail "$sheet has no table P15"
done

t 'cbw: the first page has the access probabilities and the LBA groups'
file_has cbw.cells 'Access Probabilities and LBA Groups'
file_has cbw.cells '7.635' # mean I/O in KiB
file_has cbw.cells 'Group C'
grep -q 'Access Probabilities' dirth.cells && fail 'dirth has none'

t 'dirth: 49 cells of each matrix, against the view'
cat >check.py <<'PY'
import json
import re
import sqlite3
import sys

db = sqlite3.connect('pts.db')
db.row_factory = sqlite3.Row
test, path = sys.argv[1], sys.argv[2]
cells = dict(line.rstrip('\n').split('\t', 1) for line in open(path))


def column(letters):
    n = 0
    for c in letters:
        n = n * 26 + ord(c) - 64
    return n


grid = {}
for ref, v in cells.items():
    letters, row = re.fullmatch(r'([A-Z]+)(\d+)', ref).groups()
    grid[int(row), column(letters)] = v


def find(text, nth=0):
    return sorted(k for k, v in grid.items() if v == text)[nth]


def near(a, b, rel=1e-9):
    return abs(a - b) <= rel * max(abs(a), abs(b))


rows = db.execute("select threads, qd, avg(iops) iops, sum(ios * art_ns) / sum(ios) art, max(mrt_ns) mrt,"
                  " avg(cpu_total_pct) cpu, count(*) n, sum(ios) ios,"
                  " sum(inflight_avg * elapsed_ns) / sum(elapsed_ns) inflight from v_cell where test = ? and phase = 'round' and in_window"
                  " group by threads, qd", (test,)).fetchall()
assert len(rows) == 49, len(rows)
places = {'IOPS': ('iops', 1), 'ART (ms)': ('art', 1e6), 'MRT (ms), highest of the window': ('mrt', 1e6),
          'CPU total %': ('cpu', 1), 'In flight, achieved (asked: TC x QD)': ('inflight', 1)}
for title, (name, scale) in places.items():
    at = [k for k, v in sorted(grid.items()) if v == title and grid.get((k[0] + 1, k[1])) == 'TC \\ QD']
    assert len(at) == 1, (title, at)
    top, left = at[0]
    heads = {grid[top + 1, left + 1 + k]: left + 1 + k for k in range(7)}
    names = {grid[top + 2 + i, left]: top + 2 + i for i in range(7)}
    for r in rows:
        v = float(grid[names[f"TC {r['threads']}"], heads[f"QD {r['qd']}"]])
        assert near(v, r[name] / scale), (title, r['threads'], r['qd'], v, r[name])

# groups of one total: 18, with these numbers of pairs, means over the pairs
top, left = find('Total OIO')
by = {}
for r in rows:
    by.setdefault(r['threads'] * r['qd'], []).append(r)
want = '1 2 3 2 4 2 5 2 6 1 2 5 2 4 2 3 2 1'.split()
assert [len(by[k]) for k in sorted(by)] == [int(w) for w in want]
for i, toio in enumerate(sorted(by)):
    row = top + 1 + i
    assert int(float(grid[row, 1])) == toio, (row, toio)
    assert int(float(grid[row, 2])) == int(want[i]), (row, grid[row, 2])
    assert near(float(grid[row, 8]), sum(r['iops'] for r in by[toio]) / len(by[toio])), (toio, grid[row, 8])
    art = sum(r['ios'] * r['art'] for r in by[toio]) / sum(r['ios'] for r in by[toio])
    assert near(float(grid[row, 12]), art / 1e6), (toio, grid[row, 12], art)

# operating points: as picked; the histogram's row from its own cell
points = db.execute("select * from v_point where test = ? and not void", (test,)).fetchall()
assert len(points) == 3
for p in points:
    row = [k for k in grid if grid[k] == p['point'].capitalize() + ' IOPS' and k[1] == 1 and
           grid.get((k[0], 4)) == 'window'][0][0]
    assert grid[row, 2] == f"T{p['threads']}Q{p['qd']}"
    assert float(grid[row, 3]) == p['threads'] * p['qd']
    assert near(float(grid[row, 5]), p['iops'], 1e-6), (grid[row, 5], p['iops'])
    assert near(float(grid[row, 7]), p['art_ns'] / 1e6, 1e-6), (grid[row, 7], p['art_ns'])
    assert grid[row, 13] == p['reason']
    h = db.execute("select * from v_cell where test = ? and phase = 'histogram' and threads = ? and qd = ?",
                   (test, p['threads'], p['qd'])).fetchone()
    assert near(float(grid[row + 1, 5]), h['iops'])
    assert near(float(grid[row + 1, 12]), h['mrt_ns'] / 1e6)

# JSON says the same, everywhere; and the Summary has the spread of each tracked variable
run = json.load(open('a.json'))['runs'][0]
whole = [x for x in run['tests'] if x['test'] == test][0]
d = whole['demand']
section = {(c['threads'], c['qd']): c for c in whole['sections'][1]['cells']}
assert all(near(section[c['threads'], c['qd']]['art_ns'], c['art_ns']) for c in d['cells'])
tracked = [s for s in run['summary'] if s['test'] == test and s['access'].find('operating point') < 0]
assert len(tracked) == 2 and all(s['cv'] is not None and 0 <= s['cv'] < 0.2 for s in tracked), tracked
assert len(d['cells']) == 49 and len(d['total_oio']) == 18 and len(d['points']) == 3
for c in d['cells']:
    r = [r for r in rows if (r['threads'], r['qd']) == (c['threads'], c['qd'])][0]
    assert near(c['iops'], r['iops']) and near(c['art_ns'], r['art']) and c['reported']
for p in points:
    x = [x for x in d['points'] if x['point'] == p['point']][0]
    assert near(x['iops'], p['iops'], 1e-6) and near(x['art_ns'], p['art_ns'], 1e-6) and x['prewrite_steps'] >= 5
    assert p['lat_p99999_ns'] is None or x['lat_p99999_ns'] == p['lat_p99999_ns'], (x, p['lat_p99999_ns'])
print('same')
PY
run python3 check.py dirth dirth.cells
exit_is 0
out_is same

t 'cbw: the same'
run python3 check.py cbw cbw.cells
exit_is 0
out_is same

t "dirth: Little's law is checked and told"
file_has a.txt "Little's law check over the window: I/Os a second x service time = I/Os in flight within 2 % at all 49 cells"

t "dirth: a user's test like it has the same sheet"
mkdir defs
cat >defs/mine.pts <<'DEF'
test mine like dirth "Mine" clause -
	param access = rnd-8k-r choice any
end
DEF
PTS_DEF_PATH=defs "$PTS" run mine --quick -q --dut 'sim:ent-nvme?size=100g&seed=3' >"$OUT" 2>"$ERR"
RC=$?
[ "$RC" = 0 ] || [ "$RC" = 1 ] || fail "exit $RC"
pts report last -o m.txt
exit_is 0
file_has m.txt 'Plot P7 - Demand Intensity'

t 'dirth: interrupted in its first loop: pages of what there is, shouted'
"$PTS" run dirth --quick -q --dut 'file:f.img?size=64m' >"$OUT" 2>"$ERR" &
pid=$!
for _ in $(seq 1 100); do
	sleep 0.1
	n=$(sqlite3 -readonly pts.db 'select count(*) from v_cell where run_id = 3' 2>/dev/null)
	[ "${n:-0}" -gt 3 ] && break
done
kill -INT $pid
wait $pid
RC=$?
exit_is 4
pts report last -o i.txt
exit_is 0
file_has i.txt 'NOT FINISHED'
file_has i.txt 'Plot P1 - '
file_has i.txt 'did not come that far'
pts report last -o i.xlsx
run $lint i.xlsx
exit_is 0
