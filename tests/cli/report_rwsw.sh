#!/bin/bash
# SPDX-License-Identifier: MIT
# Sheets of captured workloads: the numbers of the workbook are those of the database; short, long and exact.
. "$(dirname "$0")/lib.sh"

lint="python3 $ROOT/tests/tools/xlsx_lint.py"
MAP=$ROOT/tests/fixtures/rwsw/mix.csv
FEW=(--set top=4 --set cover=50%) # leaves one stream of the map out, and with it all of step 4

pts run replay-native replay-scaled individual-streams multi-wsat rwsw-dirth --quick -q "${FEW[@]}" --capture "$MAP" \
	--dut 'sim:ent-nvme?size=100g&seed=3'
t 'rwsw: a simulated run of all five tests to report on'
exit_is 0
pts report -o a.xlsx
exit_is 0
run $lint a.xlsx
exit_is 0
pts report -o a.json
exit_is 0
pts report -o a.txt
exit_is 0
for sheet in REPLAY-NATIVE REPLAY-SCALED INDIVIDUAL-STREAMS MULTI-WSAT RWSW-DIRTH; do
	$lint --cells a.xlsx $sheet >$sheet.cells
done

t 'rwsw: each sheet has the header of the RWSW PTS and the pages about the capture'
for sheet in REPLAY-NATIVE REPLAY-SCALED INDIVIDUAL-STREAMS MULTI-WSAT RWSW-DIRTH; do
	file_has $sheet.cells 'RWSW-PTS 1.0.7'
	file_has $sheet.cells 'Two hands of streams'
	file_has $sheet.cells '4 of 5 (99.4 % of IOs)'
	file_has $sheet.cells '1 - 14'
	file_has $sheet.cells '6 s / 1 s, 6 steps'
	file_has $sheet.cells 'Source Capture: IO Stream Map and Queue Depth (6 steps of 1 s)'
	file_has $sheet.cells 'IO Streams Distribution'
	file_has $sheet.cells 'IO Streams by Quantity - 5 streams'
done
file_has RWSW-DIRTH.cells 'Plot P15 - '
file_has MULTI-WSAT.cells 'IOPS v Time and v Drive Fills'

cat >check.py <<'PY'
import json
import re
import sqlite3

db = sqlite3.connect('pts.db')
db.row_factory = sqlite3.Row


def column(letters):
    n = 0
    for c in letters:
        n = n * 26 + ord(c) - 64
    return n


def cells(sheet):
    grid = {}
    for line in open(sheet + '.cells'):
        ref, v = line.rstrip('\n').split('\t', 1)
        letters, row = re.fullmatch(r'([A-Z]+)(\d+)', ref).groups()
        grid[int(row), column(letters)] = v
    return grid


def near(a, b, rel=1e-9):
    return abs(float(a) - b) <= rel * max(abs(float(a)), abs(b))


def percentile(counts, ppm):
    """Nearest rank over merged histograms: the limits of its bucket, and the IOs above; None for too few."""
    n = sum(counts.values())
    if not n or n * (1000000 - ppm) < 1000000:
        return None, 0
    rank = -(-n * ppm // 1000000)
    seen = 0
    for (low, high), k in sorted(counts.items()):
        seen += k
        if seen >= rank:
            return (low, high), n - rank


report = json.load(open('a.json'))['runs'][0]
tests = {t['test']: t for t in report['tests']}

# scales: sums over the steps that asked for IO
for test in 'replay-native', 'replay-scaled':
    grid = cells(test.upper())
    top = [k for k in sorted(grid) if grid[k] == 'QD scale' and grid.get((k[0], k[1] + 1)) == 'QD range'][0][0]
    scales = [r[0] for r in db.execute("select distinct scale from v_cell where test = ? and phase = 'replay' order by cell_id", (test,))]
    assert scales == ([1] if test == 'replay-native' else [1, 2, 4, 8, 16, 32]), scales
    for i, scale in enumerate(scales):
        rows = db.execute("select * from v_cell where test = ? and phase = 'replay' and scale = ? and not partial and not void", (test, scale)).fetchall()
        live = [r for r in rows if r['ios'] or r['oio'] > 0]
        assert len(rows) == 6 and len(live) == 4
        ios = sum(r['ios'] for r in live)
        seconds = sum(r['elapsed_ns'] for r in live) / 1e9
        counts = {}
        for r in live:
            for h in db.execute("select low_ns, high_ns, count from v_histogram where cell_id = ?", (r['cell_id'],)):
                counts[h[0], h[1]] = counts.get((h[0], h[1]), 0) + h[2]
        assert sum(counts.values()) == ios
        want = {6: ios / seconds, 8: sum(r['bytes'] for r in live) / seconds / 1e6,
                9: sum(r['ios'] * r['art_ns'] for r in live) / ios / 1e6, 13: max(r['mrt_ns'] for r in live) / 1e6,
                3: sum(r['oio'] * r['elapsed_ns'] for r in live) / seconds / 1e9,
                4: sum(r['inflight_avg'] * r['elapsed_ns'] for r in live) / seconds / 1e9,
                15: max(r['art_ns'] for r in live) / 1e6}
        row = top + 1 + i
        assert grid[row, 1].startswith(f'x{scale:g}'), grid[row, 1]
        assert grid[row, 2] == f"{min(r['oio'] for r in live)} - {max(r['oio'] for r in live)}", grid[row, 2]
        for col, v in want.items():
            assert near(grid[row, col], v), (test, scale, col, grid[row, col], v)
        s = tests[test]['replay']['scales'][i]
        assert near(s['iops'], want[6]) and near(s['art_ns'], want[9] * 1e6) and s['reported'] and s['ios'] == ios
        for col, ppm, key in (10, 990000, 'lat_p99_ns'), (11, 999000, 'lat_p999_ns'), (12, 999990, 'lat_p99999_ns'):
            bucket, above = percentile(counts, ppm)
            if bucket is None:
                assert grid[row, col] == 'n/a' and s[key] is None
            else:
                assert bucket[0] <= s[key] <= bucket[1] and near(grid[row, col], s[key] / 1e6), (bucket, s[key])
                if ppm == 999990:
                    assert s['ios_above_p99999'] == above
        if i:
            assert near(grid[row, 14], want[6] / first - 1)
        else:
            first = want[6]
        # counts of the streams, asked and replayed
        got = {(r[0], r[1], r[2]): r[3] for r in db.execute(
            "select s.op, s.access, s.block_bytes, sum(s.ios) from v_stream s join v_cell c using (cell_id)"
            " where c.test = ? and c.phase = 'replay' and c.scale = ? group by 1, 2, 3", (test, scale))}
        name = {k: f'{k[1]} {k[2] / 1024:g}K {k[0]}' for k in got}
        assert {x['stream']: x['ios'] for x in s['streams']} == {name[k]: got[k] for k in got}
        if i < 6:
            head = [k for k in sorted(grid) if grid[k] == f'x{scale:g}: IOs, %'][0]
            for k in got:
                line = [r for r in range(head[0] + 1, head[0] + 8) if grid.get((r, 1)) == name[k]][0]
                assert near(grid[line, head[1]], got[k]), (name[k], grid[line, head[1]])
                assert near(grid[line, head[1] + 1], 100 * got[k] / sum(got.values()))

# distribution
cap = db.execute("select * from v_capture").fetchone()
grid = cells('REPLAY-NATIVE')
top = [k for k in sorted(grid) if grid[k] == 'Rank'][0][0]
streams = json.loads(cap['streams'])
total = 0
for i, s in enumerate(streams):
    row = top + 1 + i
    total += s['share_pct']
    assert grid[row, 2] == f"{s['access']} {s['block_bytes'] / 1024:g}K {s['op']}"
    assert near(grid[row, 4], s['ios']) and near(grid[row, 5], s['share_pct']) and near(grid[row, 9], total)
    assert grid[row, 7] == 'not used' if s['normalized_pct'] is None else near(grid[row, 7], s['normalized_pct'])
assert near(grid[top + 1 + len(streams), 7], 100)
assert report['capture']['sha256'] == cap['sha256'] and report['capture']['streams_used'] == cap['n_dominant']
steps = db.execute("select * from v_capture_step order by step").fetchall()
assert [s['ios'] for s in report['capture']['steps']] == [s['ios'] for s in steps]

# streams alone: means of their windows, in the order of the shares, and the harmonic mean
grid = cells('INDIVIDUAL-STREAMS')
top = [k for k in sorted(grid) if grid[k] == 'IOPS alone'][0][0]
used = [s for s in streams if s['normalized_pct'] is not None]
time = 0
for i, s in enumerate(used):
    r = db.execute("select avg(iops) iops, sum(ios * art_ns) / sum(ios) art, max(mrt_ns) mrt, avg(bytes_per_s) bps, count(*) n from v_cell where"
                   " test = 'individual-streams' and section = ? and phase = 'sample' and in_window", (i + 1,)).fetchone()
    row = top + 1 + i
    assert r['n'] == 5 and near(grid[row, 6], r['iops']) and near(grid[row, 9], r['bps'] / 1e6), (r['n'], grid[row, 6])
    assert near(grid[row, 10], r['art'] / 1e6) and near(grid[row, 13], r['mrt'] / 1e6)
    assert near(grid[row, 4], s['normalized_pct']) and grid[row, 15].startswith('REACHED')
    time += s['normalized_pct'] / r['iops']
assert near(grid[top + 1 + len(used), 6], 100 / time)
assert near(tests['individual-streams']['harmonic_mean_iops'], 100 / time)
assert tests['multi-wsat']['wsat']['minutes'] > 0

# the Summary has the same numbers
for scale, s in zip([1, 2, 4, 8, 16, 32], tests['replay-scaled']['replay']['scales']):
    line = [r for r in report['summary'] if r['test'] == 'replay-scaled' and r['access'].startswith(f'replay x{scale},') and r['metric'] == 'iops']
    assert len(line) == 1 and line[0]['value'] == s['iops'] and line[0]['reported']

print('same')
PY
t 'rwsw: scales, streams, steps and windows against the views; JSON says the same'
run python3 check.py
exit_is 0
out_is same

t 'rwsw: each step of each replay with its counts by stream'
$lint --cells a.xlsx D_streams | awk -F'\t' '$1 ~ /^A[0-9]+$/ && NR > 1' >steps
same "$(($(wc -l <steps)))" 42 'steps of 1 + 6 replays'
sql_is pts.db "SELECT count(*) FROM v_cell WHERE phase = 'replay'" 42

t 'rwsw: text holds the tables'
file_has a.txt 'Replay Scaled: native QD multiplied by x1 to x32'
file_has a.txt 'Harmonic mean, weighted by the normalised shares'

t 'rwsw: a capture of one step'
awk -F, '/^#/ || /^step/ || $1 == 0' "$MAP" >one.csv
pts run replay-scaled --quick -q --capture one.csv --dut 'sim:ent-nvme?size=8g' --db one.db
exit_is 0
pts report --db one.db -o one.xlsx
exit_is 0
run $lint one.xlsx
exit_is 0
$lint --cells one.xlsx REPLAY-SCALED >one.cells
file_has one.cells 'IO Stream Map and Queue Depth (1 steps of 1 s)'

t 'rwsw: half an hour of seconds is drawn in points of five steps, all of it kept'
awk 'BEGIN {
	print "# stream-map 1\n# name: half an hour\n# level: block\nstep,start_s,duration_s,qd,access,block_bytes,op,ios"
	for (i = 0; i < 1800; i++) {
		q = 1 + i % 14
		print i "," i ",1," q ",SEQ,4096,W," 100 + i % 50 "\n" i "," i ",1," q ",RND,16384,W," 40 + i % 7
	}
}' >long.csv
pts run replay-native --quick -q --capture long.csv --dut 'sim:ent-nvme?size=8g' --db long.db
exit_is 0
pts report --db long.db -o long.xlsx
exit_is 0
err_empty
run $lint long.xlsx
exit_is 0
$lint --cells long.xlsx REPLAY-NATIVE >long.cells
file_has long.cells 'IO Stream Map and Queue Depth (1800 steps of 1 s, 5 steps a point)'
same "$($lint --cells long.xlsx D_streams | grep -cE '^A[0-9]+	')" 1801 'rows of D_streams'
# the map holds every IO
$lint --cells long.xlsx D_plots >plots.cells
cat >sums.py <<'PY'
import re
rows = {}
for line in open('plots.cells'):
    ref, v = line.rstrip('\n').split('\t', 1)
    letters, row = re.fullmatch(r'([A-Z]+)(\d+)', ref).groups()
    rows.setdefault(int(row), {})[letters] = v
top = min(r for r in rows if 'Source Capture' in rows[r].get('A', ''))
total = n = 0
for r in range(top + 2, top + 2 + 360):
    total += float(rows[r]['B']) + float(rows[r]['C'])
    n += 1
print(n, int(total))
PY
same "$(python3 sums.py)" "360 $(ask long.db 'SELECT sum(ios) FROM v_capture_step')" 'IOs of the map'

t 'rwsw: a map of shares has a report, too'
pts run multi-wsat --quick -q --set oio=3 --capture gps-drive0 --dut 'sim:ent-nvme?size=8g' --db gps.db
true_that test $RC -le 1
pts report --db gps.db -o gps.xlsx
exit_is 0
run $lint gps.xlsx
exit_is 0

t 'rwsw: an exact replay has its account: issued, left out, late, conflicts'
printf 'fio version 3 iolog\n0 /dev/x add\n0 /dev/x open\n' >log
for ((i = 0; i < 400; i++)); do printf '%d /dev/x write %d 4096\n' $((i * 500)) $((i % 300 * 4096)); done >>log
printf '200000 /dev/x sync 0 0\n' >>log
pts import log -o log.cap
exit_is 0
pts replay log.cap --dut 'file:scratch?size=64m' --speed asap --db e.db
true_that test $RC -le 1
pts report --db e.db -o e.xlsx
exit_is 0
run $lint e.xlsx
exit_is 0
$lint --cells e.xlsx REPLAY >e.cells
file_has e.cells 'Fidelity of the Exact Replay - speed asap, 1 loop'
file_has e.cells 'not a PTS test'
file_has e.cells '400 / 401'
file_has e.cells 'flushes 1'
pts report --db e.db -o e.json
cp e.json "$OUT"
for key in issued dropped conflicts late_p99_ns span_ns depth_max errors; do
	json_is "d['runs'][0]['tests'][0]['replay']['fidelity']['$key']" "$(ask e.db "SELECT coalesce($key, 'None') FROM v_fidelity")"
done

t 'rwsw: a replay that was stopped shows the steps it has, as no result'
start i.db replay-native --quick --set hours=1s --capture long.csv --dut 'file:d?size=64m'
wait_for i.db "SELECT count(*) > 3 FROM v_cell WHERE phase = 'replay'" 1
stop INT
exit_is 4
pts report --db i.db -o i.xlsx
exit_is 0
run $lint i.xlsx
exit_is 0
$lint --cells i.xlsx REPLAY-NATIVE >i.cells
n=$(ask i.db "SELECT count(*) FROM v_cell WHERE phase = 'replay' AND NOT partial AND NOT void")
file_has i.cells "$n of 1800"
file_has i.cells 'NOT FINISHED'
pts report --db i.db -o i.json
cp i.json "$OUT"
json_is '[s["reported"] for s in d["runs"][0]["tests"][0]["replay"]["scales"]], any(r["reported"] for r in d["runs"][0]["summary"])' '([False], False)'
