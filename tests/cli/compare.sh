#!/bin/bash
# SPDX-License-Identifier: MIT
# pts compare: runs side by side, from the command line to workbook, page, text, JSON and folder.
. "$(dirname "$0")/lib.sh"

lint="python3 $ROOT/tests/tools/xlsx_lint.py"

sim() { # RUN'S OPTIONS...
	"$PTS" run -q "$@" >"$OUT" 2>"$ERR"
	RC=$?
	exit_is 0
}

t 'compare: runs to compare'
sim tp lat --dut 'sim:ent-nvme?size=100g&seed=1'
sim tp lat --dut 'sim:ent-nvme?size=100g&seed=2'
sim tp --dut 'sim:client-slc?size=100g&seed=3'

t 'compare: usage'
pts compare 1 2
exit_is 2
err_has '-o FILE.xlsx'
pts compare -o a.xlsx
exit_is 2
pts compare 1 -o a.xlsx
exit_is 2
err_has 'nothing to compare with'
pts compare 1 1 -o a.xlsx
exit_is 2
err_has 'run 1 is named twice'
pts compare 1 last --baseline 2 -o a.xlsx
exit_is 2
err_has 'run 2 is to be the baseline'
pts compare 1 99 -o a.xlsx
exit_is 2
pts compare 1 2 -o a.pdf
exit_is 2
err_has '.xlsx, .html, .txt, .json'
pts compare 1 2 --prices none.ini -o a.xlsx
exit_is 2
err_has 'none.ini'
file_absent a.xlsx
file_absent a.pdf

t 'compare: two runs of one kind of drive, measured in one way'
pts compare 1 2 -o a.xlsx
exit_is 0
out_empty
err_empty
run $lint a.xlsx
exit_is 0

t 'compare: same database, same bytes, also with more runs in it and in another locale'
sleep 2.1
LC_ALL=de_DE.UTF-8 TZ=Asia/Tokyo pts compare 1 2 -o b.xlsx
true_that cmp a.xlsx b.xlsx

t 'compare: other drive, fewer tests: exit 1, the file says what differs, and has the union'
pts compare 1 2 3 -o c.json
exit_is 1
err_lines 1
err_match '^pts: compare: not comparable: [0-9]+ condition differs \(write cache\): .*c\.json$'
run cat c.json
json_is 'list(d)[0], d["schema"], d["comparable"], d["simulated"]' "('schema', 'pts.compare/1', False, True)"
json_is '[(c["run_ids"], c["units"], c["baseline"]) for c in d["candidates"]]' '[([1, 2], 2, True), ([3], 1, False)]'
json_is '[(c["condition"], c["gate"]) for c in d["conditions"] if c["condition"] in ("model", "IO engine", "write cache") and c["test"] in (None, "tp")]' \
	"[('model', 'note'), ('IO engine', 'same'), ('write cache', 'differs')]"
json_is 'len(d["metrics"]), {m["test"] for m in d["metrics"]} == {"tp", "lat"}' '(8, True)'
json_is '{(m["runs"][2]["value"], m["runs"][2]["why"]) for m in d["metrics"] if m["test"] == "lat"}' "{(None, 'not run')}"
json_is 'all(m["candidates"][1]["delta"] is None for m in d["metrics"] if m["test"] == "lat")' True

t 'compare: one number everywhere: means of the samples, deltas, score'
run python3 - <<'PY'
import csv, json, math, sqlite3
d = json.load(open('c.json'))
db = sqlite3.connect('pts.db')
n = 0
for m in d['metrics']:
    if m['test'] != 'tp':
        continue
    bs = int(m['access'].split()[1]) * 1024
    read = 100 if m['access'].endswith('R') else 0
    mean = [db.execute('select avg(bytes_per_s) from v_cell where test = "tp" and in_window and run_id = ? and '
                       'block_bytes = ? and read_pct = ?', (r, bs, read)).fetchone()[0] for r in (1, 2, 3)]
    base = (mean[0] + mean[1]) / 2
    assert math.isclose(m['candidates'][0]['value'], base, rel_tol=1e-9), m
    assert math.isclose(m['candidates'][1]['delta'], mean[2] / base - 1, rel_tol=1e-9), m
    n += 1
score = [(m['weight_pct'], m['candidates'][1]['value'] / m['candidates'][0]['value']) for m in d['metrics']
         if m['weight_pct'] and m['candidates'][1]['value']]
want = 100 * sum(w * v for w, v in score) / sum(w for w, v in score)
assert math.isclose(d['candidates'][1]['score'], want, rel_tol=1e-9)
print(n)
PY
exit_is 0
out_is 4

t 'compare: a folder of CSV has the numbers of the JSON'
pts compare 1 2 3 -o csv/
exit_is 1
run python3 - <<'PY'
import csv, json
rows = list(csv.DictReader(open('csv/D_metrics.csv')))
n = 0
for m in json.load(open('c.json'))['metrics']:
    for c in m['candidates']:
        r = [r for r in rows if r['key'] == m['key'] and r['candidate'] == c['candidate']][0]
        div = {'ns': 1e3, 'bytes_per_s': 1e6, 'iops': 1}[m['unit']]
        assert (r['value'] == 'n/a') == (c['value'] is None), r
        if c['value'] is not None:
            assert abs(float(r['value']) - c['value'] / div) <= 1e-9 * float(r['value']), r
            assert float(r['delta']) == c['delta'], r
            n += 1
print(n)
PY
exit_is 0
out_is 12
(cd csv && sha256sum -c SHA256SUMS >/dev/null 2>&1) || fail 'sums do not fit'

t 'compare: text, workbook and page of it'
pts compare 1 2 3 -o c.txt
file_has c.txt 'NOT COMPARABLE'
file_has c.txt 'SIMULATED'
pts compare 1 2 3 -o c.xlsx
run $lint c.xlsx
exit_is 0
pts compare 1 2 3 -o c.html
run python3 "$ROOT/tests/tools/html_lint.py" c.html
exit_is 0

t 'compare: rows that were changed are no evidence, unless it is asked for and said'
cp pts.db t.db
run python3 - <<'PY'
import sqlite3
db = sqlite3.connect('t.db')
sql = [r for r in db.execute("select name, sql from sqlite_master where type = 'trigger'")]
for name, _ in sql:
    db.execute(f'drop trigger "{name}"')
db.execute('update cell set write_bytes = write_bytes + 4096 where cell_id = (select max(cell_id) from v_cell where run_id = 2)')
for _, text in sql:
    db.execute(text)
db.commit()
PY
exit_is 0
pts compare 1 2 --db t.db -o t.txt
exit_is 2
err_has 'run 2: its stored rows were changed'
file_absent t.txt
pts compare 1 2 --db t.db --allow-tampered -o t.txt
exit_is 1
err_has 'evidence'
sheets=$(grep -c '^======== [A-CE-Z]' t.txt)
same "$(grep -c '^TAMPERED: ' t.txt)" "$((sheets + $(grep -c '^======== D[^_]' t.txt)))" 'red bands, one a sheet'

t 'compare: a run that is not over is refused'
start live.db lat -q --quick --dut 'file:scratch?size=64m'
wait_cells live.db 1
"$PTS" run tp -q --quick --dut 'sim:ent-nvme?size=50g' --db live.db >"$OUT.2" 2>"$ERR.2"
pts compare 2 1 --db live.db -o l.txt
exit_is 2
err_has 'run 1 is still running'
file_absent l.txt
stop TERM
exit_is 4
