#!/bin/bash
# SPDX-License-Identifier: MIT
# What an auditor recomputed and found otherwise: rounds that a limit cut, two ARTs of one cell, windows, names of sheets.
. "$(dirname "$0")/lib.sh"

mkdir defs
cat >defs/truth.pts <<'DEF'
test silent "Cells without a completion" clause LAT
	purge
	run rnd-4k-r threads 2 qd 1 for 1s quick 400ms every 1s quick 50ms as wdpc
end
test own "A test of one's own" clause -
	purge
	loop rounds 3 until steady
		run rnd-4k-w threads 2 qd 1 for 1s quick 50ms
		track iops of rw 0/100
	end
end
DEF
export PTS_DEF_PATH=$W/defs

# says DB CLAUSE...: "verdict: what was done" of each
says() {
	local db=$1
	shift
	"$PTS" audit --db "$db" --json >audit.json 2>"$ERR"
	python3 - "$@" <<'PY'
import json, sys
d = json.load(open('audit.json'))
print('intact' if d['evidence']['intact'] else d['evidence']['faults'])
for c in d['clauses']:
    if c['clause'] in sys.argv[1:]:
        print(c['verdict'] + ': ' + c['done'])
PY
}

t 'WSAT: rounds are those that closed, and fewer than five are no window'
for size in 800g 100g; do
	n=2 what='2 rounds and a part of one; a round is wdpc 30m sample 1m'
	[ $size = 800g ] || n=0 what='0 rounds and a part of one; a round is wdpc 11m'
	"$PTS" run wsat --dut "sim:ent-nvme?size=$size" --db w$n.db -q >"$OUT" 2>"$ERR"
	sql_is w$n.db 'SELECT rounds, window_first, window_last, ended_by, steady FROM v_section' "$n|||written|0"
	sql_is w$n.db 'SELECT count(*) FROM v_cell WHERE in_window' 0
	same "$(says w$n.db WSAT-2.4 GEN-5-WINDOW WSAT-2-ROUND)" "intact
not measured: 0 checks worked out again; $n rounds closed, no window of five
met: $(sed 's/ sample 1m$/, sample 1m/' <<<"$what")
met: until steady, 4.000 x the capacity, 6h: ended by written after $n rounds" "what the audit says of $size"
	pts report 1 --db w$n.db -o w$n.txt
	exit_is 0
	file_has w$n.txt "did not settle in $n rounds"
	file_has w$n.txt "Steady state not reached in $n rounds."
	grep -qE "^Loop ended by +limit of bytes written after .*, $n rounds" w$n.txt || fail 'the sheet counts otherwise'
	pts report 1 --db w$n.db -o w$n.json
	run cat w$n.json
	json_is '[(s["rounds"], s["window_first"], s["window_last"]) for s in d["runs"][0]["tests"][0]["sections"]]' "[($n, None, None)]"
done
file_has w2.txt 'no window of five'

t 'WSAT: IOPS x ART is what was in flight, in every state'
run cat w2.json
json_is '[round(s["iops"] * s["art_ns"] / 1e9, 3) for s in d["runs"][0]["tests"][0]["wsat"]["states"]]' '[128.0, 128.0, 128.0]'
json_is '[round(s["seconds"] - (s["to_ns"] - s["from_ns"]) / 1e9, 6) for s in d["runs"][0]["tests"][0]["wsat"]["states"]]' '[0.0, 0.0, 0.0]'

t 'a loop of three rounds has its means, and no window'
pts run own --quick --dut 'sim:pm?size=1g' --db o.db -q
sql_is o.db 'SELECT rounds, window_first, window_last, ended_by FROM v_section' '3|||rounds'
same "$(says o.db NONE)" intact 'evidence'
pts report 1 --db o.db -o o.json
run cat o.json
json_is '[(c["reported"], c["iops"] > 0) for c in d["runs"][0]["tests"][0]["sections"][0]["cells"]]' '[(False, True)]'
pts report 1 --db o.db -o o.txt
file_has o.txt 'not a PTS test'
file_has o.txt 'no window of five'
grep -q 'PTS-E 2' <(sed -n '/^======== OWN /,/^========/p' o.txt) && fail 'it says to be of the PTS'

t 'LAT, TP: means of the rounds by name, windows of both directions'
pts run lat tp --quick --dut 'sim:ent-nvme?size=100g' --db l.db -q
exit_is 0
pts report 1 --db l.db -o l.json
pts report 1 --db l.db -o l.txt
run python3 - <<'PY'
import json, sqlite3
db = sqlite3.connect('l.db')
db.row_factory = sqlite3.Row
run = json.load(open('l.json'))['runs'][0]
tests = {t['test']: t for t in run['tests']}
text = open('l.txt').read()

def near(a, b):
    assert abs(a - b) <= 1e-9 * max(abs(a), abs(b)), (a, b)

def rows(test, c):
    return db.execute('SELECT * FROM v_cell WHERE test = ? AND in_window AND read_pct = ? AND block_bytes = ? ORDER BY round',
                      (test, c['read_pct'], c['block_bytes'])).fetchall()

for c in tests['lat']['sections'][0]['cells']:
    r = rows('lat', c)
    assert len(r) == 5
    near(c['art_ns'], sum(x['art_ns'] * x['ios'] for x in r) / sum(x['ios'] for x in r))
    near(c['art_mean_of_rounds_ns'], sum(x['art_ns'] for x in r) / 5)
    near(c['mrt_mean_of_rounds_ns'], sum(x['mrt_ns'] for x in r) / 5)
    assert '%.2f' % (c['mrt_mean_of_rounds_ns'] / 1e6) in text
    if c['block_bytes'] == 4096 and c['read_pct'] in (0, 100):
        s, = [s for s in run['summary'] if s['metric'] == 'art_mean_of_rounds_ns' and s['access'] == c['title']]
        near(s['value'], c['art_mean_of_rounds_ns'])
assert 'MRT (ms), round mean' in text and 'ART, mean of rounds' in text
table = text[text.index('Throughput - Tabular Data'):]
lines = [l for l in table.splitlines() if l.startswith('SEQ ')][:4]
assert len(lines) == 4, lines
for s in tests['tp']['sections']:
    for c in s['cells']:
        v = [x['bytes_per_s'] for x in rows('tp', c)]
        mean = sum(v) / 5
        slope = sum((i - 2) * y for i, y in enumerate(v)) / 10
        want = ['%.1f%%' % (100 * x) for x in ((max(v) - min(v)) / mean, .2, abs(slope) * 4 / mean, .1)]
        line, = [l for l in lines if 'SEQ %d KiB ' % (c['block_bytes'] / 1024) in l and '%d/%d ' % (c['read_pct'], 100 - c['read_pct']) in l]
        at = line.replace(' %', '%').split()
        assert all(w in at for w in want), (line, want)
print('same')
PY
out_is same
same "$(python3 -c 'import json; print({s["test"]: s["cv"] is not None for s in json.load(open("l.json"))["runs"][0]["summary"] if s["metric"] in ("bytes_per_s", "art_mean_of_rounds_ns")})')" \
	"{'lat': True, 'tp': True}" 'CV'

t 'HIR, WSAT: the Summary has the spread that their sheets have'
pts run wsat hir --quick --dut 'sim:pm?size=100g' --db h.db -q
pts report 1 --db h.db -o h.json
run python3 - <<'PY'
import json
run = json.load(open('h.json'))['runs'][0]
for t in run['tests']:
    s, = [s for s in run['summary'] if s['test'] == t['test'] and s['access'].startswith('RND')]
    assert not s['reported'] or s['cv'] is not None, s
    v = t['sections'][0]['cells'][0]['iops_cv']
    assert not s['reported'] or abs(s['cv'] - v) <= 1e-9, (s['cv'], v)
    print(t['test'], s['reported'])
PY
out_is 'wsat True
hir True'

t 'a set: measured steps are those of the set, rows of its drives are counted apart'
pts run own --quick --dut 'set:sim:pm?size=1g&seed=1,sim:pm?size=1g&seed=2' --db s.db -q
pts report 1 --db s.db -o s.txt
n=$(sqlite3 s.db 'SELECT count(*) FROM v_cell WHERE member IS NULL')
file_has s.txt "$n measured steps, of them $((2 * n)) rows of single drives, "

t 'a cell in which nothing was completed is not measured, and no deviation'
pts run silent --quick --dut "fault:late=180ms:file:$W/f?size=4m" --db f.db -q
exit_is 0
n=$(sqlite3 f.db 'SELECT count(*) FROM v_cell WHERE ios = 0')
[ "$n" -ge 2 ] || fail "$n silent cells"
out=$(says f.db GEN-3.1-SAMELOAD)
case $out in
*"not measured: "*"in $n of them no I/O was completed"*) ;;
*) fail "$out" ;;
esac
