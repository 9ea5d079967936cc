#!/bin/bash
# SPDX-License-Identifier: MIT
# pts report of WSAT, HIR and XSR: the numbers of their sheets against the rows of the database.
. "$(dirname "$0")/lib.sh"

lint="python3 $ROOT/tests/tools/xlsx_lint.py"

value() { python3 -c 'import json, sys
t = {t["test"]: t for t in json.load(open(sys.argv[1]))["runs"][0]["tests"]}
print(eval(sys.argv[2]))' "$1" "$2"; }

"$PTS" run wsat hir xsr -q --dut 'sim:ent-nvme?seed=3' >"$OUT" 2>"$ERR"
RC=$?
t 'states: a whole, unscaled run of WSAT, HIR and XSR'
exit_is 0
for kind in txt json ${PTS_LONG:+xlsx}; do
	pts report 1 -o a.$kind
	exit_is 0
	err_empty
done
if [ "${PTS_LONG:-}" ]; then # the workbook of the quick run is looked at below
	run $lint a.xlsx
	exit_is 0
fi

t 'states: each of the tests has a sheet of its own'
pages() { # pages SHEET: "Plot A.1", "Plot A.2" ...
	sed -n "/^======== $1 =/,/^======== /p" a.txt | grep -oE '^(Plot|Table) A\.[0-9]+' | tr '\n' ' '
}
same "$(pages WSAT)" 'Plot A.1 Plot A.2 Plot A.3 Plot A.4 Plot A.5 Plot A.6 Plot A.7 Plot A.8 ' 'pages of WSAT'
same "$(pages HIR)" 'Plot A.1 Plot A.2 Plot A.3 Plot A.4 Table A.5 ' 'pages of HIR'
same "$(pages XSR)" 'Plot A.1 Plot A.2 Table A.3 Plot A.4 ' 'pages of XSR'
for text in 'IOPS v Normalized Capacity (drive fills)' 'IOPS v Time - All Wait States' 'TP v Time - All Access Groups' \
	'Throughput, ART & MRT v Time' 'Zoom Groups 1 & 2, 2 & 3'; do
	file_has a.txt "$text"
done

# Everything that JSON says of the states, worked out again from the rows; a line for each that differs.
cat >again.py <<'PY'
import json
import sqlite3
import sys

tests = {t['test']: t for t in json.load(open('a.json'))['runs'][0]['tests']}
wsat, hir, xsr = (tests[t][t] for t in ('wsat', 'hir', 'xsr'))
db = sqlite3.connect('pts.db')
db.row_factory = sqlite3.Row
cells = db.execute('SELECT * FROM v_cell WHERE run_id = 1 ORDER BY cell_id').fetchall()
text = open('a.txt').read()


def near(what, a, b):
    if a is None or abs(a - b) > 1e-9 * max(abs(a), abs(b)):
        print(what, 'is', a, 'not', b)


def mean(values):
    return sum(values) / len(values)


def of(test, *phases, label=None):
    return [c for c in cells if c['test'] == test and c['phase'] in phases and label in (None, c['label'])]


def fob():
    minutes = of('wsat', 'wdpc', 'sample')
    n = wsat['states'][0]['steps']
    iops = [c['iops'] for c in minutes]
    low = 0.9 * max(iops[:5])
    near('FOB', wsat['states'][0]['iops'], sum(c['ios'] for c in minutes[:n]) * 1e9 / sum(c['elapsed_ns'] for c in minutes[:n]))
    if n < 3 or any(a < low and b < low for a, b in zip(iops[:n], iops[1:n])) or max(iops[n:n + 2]) >= low:
        print('FOB ends after', n)
    near('steps', wsat['steps'], len(minutes))
    for what, o, part in ('loop', wsat, minutes), ('FOB', wsat['states'][0], minutes[:n]):
        near('minutes of the ' + what, o['minutes'], (part[-1]['start_ns'] + part[-1]['elapsed_ns'] - part[0]['start_ns']) / 60e9)


def steady():
    window = [c for c in of('wsat', 'sample') if c['in_window']]
    average = mean([c['iops'] for c in window])
    near('average', wsat['consistency']['average_iops'], average)
    state = wsat['states'][2] # IOPS x ART is what was in flight, in this state as in the others
    near('ART', state['art_ns'], sum(c['ios'] * c['art_ns'] for c in window) / sum(c['ios'] for c in window))
    near('in flight', state['iops'] * state['art_ns'] / 1e9, mean([c['inflight_avg'] for c in window]))
    check, = db.execute("SELECT average, range, slope_excursion FROM v_steady WHERE run_id = 1 AND test = 'wsat' AND round = ?",
                        [window[-1]['round']]).fetchall()
    near('average of the check', average, check['average'])
    near('data excursion', wsat['consistency']['data_excursion'], check['range'] / average)
    near('slope excursion', wsat['consistency']['slope_excursion'], check['slope_excursion'] / average)
    if ' %.1f ' % average not in text:
        print('the text has no', average)
    seconds = db.execute('SELECT cell_id, second, ios FROM v_second WHERE run_id = 1 AND cell_id BETWEEN ? AND ?',
                         [window[0]['cell_id'], window[-1]['cell_id']]).fetchall()
    worst = min(seconds, key=lambda s: s['ios'])
    near('worst second', wsat['consistency']['worst_second_iops'], worst['ios'])


def thinned():
    loop = of('wsat', 'wdpc', 'sample')
    n = sum(c['elapsed_ns'] for c in loop) // 10**9
    near('seconds', wsat['seconds'], n)
    if 'THINNED: of %d one-second values' % n not in text:
        print('the text does not tell of', n, 'values')


def waits():
    near('length', hir['wait_states_ns'], 930 * 60e9)
    if [s['number'] for s in hir['states']] != [1, 2, 3, 5, 10]:
        print('wait states', hir['states'])
    near('SS', hir['ss_iops'], mean([c['iops'] for c in of('hir', 'sample') if c['in_window']]))
    for s in hir['states']:
        for key, phase in ('mean_iops', 'stimulus'), ('baseline_iops', 'baseline'):
            rows = of('hir', phase, label=s['label'])
            near(s['label'] + ' ' + key, s[key], mean([c['iops'] for c in rows]))
            near(s['label'] + ' cells', len(rows), 360)
        rows = of('hir', 'stimulus', label=s['label'])
        up = [c['start_ns'] + c['elapsed_ns'] - rows[0]['start_ns'] for c in rows if c['iops'] >= 1.1 * hir['ss_iops']]
        near(s['label'] + ' reaches', s['reach_ns'] or 0, up[0] if up else 0)


def recovery():
    group = {k: of('xsr', 'stimulus', label=k) for k in ('ag1', 'ag2', 'ag3')}
    for g in xsr['groups']:
        rows = group[g['label']]
        near(g['label'] + ' mean', g['mean_bytes_per_s'], mean([c['bytes_per_s'] for c in rows]))
        near(g['label'] + ' end', g['end_bytes_per_s'], rows[-1]['bytes_per_s'])
        near(g['label'] + ' ART', g['art_peak_ns'], max(c['art_ns'] for c in rows))
        near(g['label'] + ' MRT', g['mrt_peak_ns'], max(c['mrt_ns'] for c in rows))
    for key, level in (('recovery_steps', mean([c['bytes_per_s'] for c in group['ag1']])),
                       ('recovery_last_hour_steps', 0.9 * mean([c['bytes_per_s'] for c in group['ag1'][-60:]]))):
        at = [i + 1 for i, c in enumerate(group['ag3']) if c['bytes_per_s'] >= level * (1 - 1e-9)]
        near(key, xsr[key], at[0] if at else 0)


for check in fob, steady, thinned, waits, recovery:
    sys.stdout = open('again.' + check.__name__, 'w')
    try:
        check()
    except Exception as e:
        print(repr(e))
    sys.stdout.close()
PY
python3 again.py
again() { same "$(cat "again.$1")" '' 'what differs'; }

t 'states: WSAT, FOB is what its minutes make, and ends by the rule'
again fob

t 'states: WSAT, steady state and consistency are those of the five samples and their seconds'
if [ "$(sqlite3 pts.db "SELECT steady FROM v_test WHERE test = 'wsat'")" = 1 ]; then
	again steady
else
	skip 'the simulated drive did not become steady'
fi

t 'states: WSAT, a long series is thinned, and the page says so'
again thinned

t 'states: HIR, wait states take 930 minutes; means and recovery are those of the rows'
again waits

t 'states: XSR, means, peaks and the recovery rule'
again recovery

hours=${PTS_LONG:+24}
hours=${hours:-8}
t "states: $hours hours of one-second rows, client profile, never steady: shouted, not reported"
sed 's/^drift_pct_per_hour *=.*/drift_pct_per_hour = 25/' "$ROOT/workloads/sim/ent-nvme.ini" >drift.ini
"$PTS" run wsat -q --profile client --set hours=${hours}h --set access=vod --dut 'sim:drift.ini?size=900t' >"$OUT" 2>"$ERR"
pts report 2 -o b.txt
exit_is 0
pts report 2 -o b.json
same "$(value b.json 't["wsat"]["wsat"]["seconds"]')" $((hours * 3600)) 'seconds'
same "$(value b.json 't["wsat"]["sections"][0]["ended_by"]')" time 'what ended it'
same "$(value b.json '[s["reported"] for s in t["wsat"]["wsat"]["states"]][2]')" False 'reported'
file_has b.txt 'STEADY STATE NOT REACHED - WSAT did not settle'
file_has b.txt 'NOT STEADY, for information only'
file_has b.txt "time limit after $((hours * 60)) min"
file_has b.txt "THINNED: of $((hours * 3600)) one-second values"
file_has b.txt 'PTS-C 2.0.2'
file_has b.txt 'TC 2 / QD 16'
out=$(sed -n '/^======== Summary/,/^======== [^S]/p' b.txt | grep -E '^WSAT ')
same "$(grep -c 'not reported' <<<"$out")" 1 'lines of the Summary that are not reported'

t 'states: quick runs have the same pages'
"$PTS" run wsat hir xsr -q --quick --dut 'sim:ent-nvme?size=100g&seed=3' >"$OUT" 2>"$ERR"
pts report 3 -o q.xlsx
exit_is 0
run $lint q.xlsx
exit_is 0
pts report 3 -o q.txt
file_has q.txt 'QUICK'
file_has q.txt 'Throughput, ART, MRT of the Access Groups - Recovery'
