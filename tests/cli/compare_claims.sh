#!/bin/bash
# SPDX-License-Identifier: MIT
# Samples of drives side by side: unit-to-unit variation, Welch's test, and claims across the drives.
. "$(dirname "$0")/lib.sh"

lint="python3 $ROOT/tests/tools/xlsx_lint.py"

drive() { # drive MODEL READ_IOPS
	printf '[drive]\nlike = ent-nvme\nmodel = %s\n[read]\niops = %s\n[noise]\ncell_pct = 0.5\n' "$1" "$2" >"$1.ini"
}
measure() { # measure MODEL SEED
	"$PTS" run lat tp -q --quick --dut "sim:./$1.ini?size=100g&seed=$2" >"$OUT" 2>"$ERR" || fail "$1 $2: $(show "$ERR")"
}

t 'compare: three samples of A, one of them measured twice, two of B, one of C'
drive A 680000
drive B 690000
drive C 700000
for seed in 11 12 13; do measure A $seed; done
measure A 12
for seed in 21 22; do measure B $seed; done
measure C 31

cat >claims.ini <<'END'
[Read latency]
test = lat
access = rnd 4k r
metric = art
value = 81 us
tolerance = 2 %
[SEQ read]
model = A
access = seq 128k r
metric = mbps
value = 9000
[SEQ read]
model = B
access = seq 128k r
metric = mbps
value = 6000 MB/s
tolerance = 5 %
[Deep]
access = rnd 4k r
tc = 4
qd = 4
metric = art
value = 1 s
END

t 'compare: a missed claim is exit 1, counted, and the file is there'
pts compare 1 2 3 4 5 6 7 --claims claims.ini -o c.json
exit_is 1
err_has 'claims: 9 of 20 met, 4 missed, 7 not assessed'
pts compare 1 2 3 4 5 6 7 --claims claims.ini -o c.xlsx
exit_is 1
run $lint c.xlsx
exit_is 0

t 'compare: units are drives, not runs; mean, spread, interval and test recomputed'
run python3 - <<'PY'
import json, math, statistics as st
d = json.load(open('c.json'))
label = {r['run_id']: r['serial'] for r in d['runs'] if 'serial' in r}
units = [u for u in d['units'] if u['metric'].startswith('lat/RND 4 KiB R/T1Q1/art')]
by = {u['candidate']: u for u in units}
assert {k: len(u['samples']) for k, u in by.items()} == {'A': 3, 'B': 2, 'C': 1}, by
T95 = {1: 12.706204736, 2: 4.302652730}
for u in units:
    n = len(u['samples'])
    assert math.isclose(u['mean'], st.mean(u['samples']), rel_tol=1e-12)
    if n == 1:
        assert u['std_dev'] is None and u['half_width_95'] is None and u['welch_p'] is None
        assert u['statement'] == 'one sample, no statement possible', u
        continue
    s = st.stdev(u['samples'])
    assert math.isclose(u['std_dev'], s, rel_tol=1e-9)
    assert math.isclose(u['cv'], s / u['mean'], rel_tol=1e-9)
    assert math.isclose(u['half_width_95'], T95[n - 1] * s / math.sqrt(n), rel_tol=1e-8)
a, b = by['A'], by['B']
va, vb = (st.variance(u['samples']) / len(u['samples']) for u in (a, b))
assert math.isclose(b['welch_t'], (b['mean'] - a['mean']) / math.sqrt(va + vb), rel_tol=1e-9), b
assert math.isclose(b['welch_degrees'], (va + vb) ** 2 / (va ** 2 / 2 + vb ** 2), rel_tol=1e-9), b
assert 0 < b['welch_p'] < 1
assert b['statement'] == ('significant' if b['welch_p'] < 0.05 else 'not significant')
assert math.isclose(b['change'], b['mean'] / a['mean'] - 1, rel_tol=1e-12)
PY
exit_is 0

t 'compare: the sheet says which units they are, and that one was measured twice'
pts compare 1 2 3 4 5 6 7 --claims claims.ini -o c.txt -q
file_has c.txt 'Unit-to-unit variation'
file_has c.txt 'a drive measured more than once is one unit, the mean of its runs'
file_has c.txt 'S/N SIM12 (run 2)'
file_has c.txt 'one sample, no statement possible'

t 'compare: claims across the drives'
file_has c.txt 'claimed, measured, met?'
file_has c.txt 'not assessed: claimed at T4Q4, measured at LAT T1Q1'
run cat c.json
json_is 'sorted({(c["claim"], c["verdict"]) for c in d["claims"] if c["claim"] != "Read latency"})' \
	"[('Deep', 'NOT ASSESSED'), ('SEQ read', 'FAIL'), ('SEQ read', 'PASS')]"
json_is '{c["run"][0] for c in d["claims"] if c["claim"] == "SEQ read" and c["verdict"] == "FAIL"}' "{'A'}"

t 'compare: two runs of one drive are one sample: no statement'
pts compare 2 4 5 6 -o two.json -q
run cat two.json
json_is '{u["statement"] for u in d["units"] if u["candidate"] == "B" and u["mean"]}' "{'baseline: one sample, no statement possible'}"

t 'compare: mistakes of claims and prices, with their line; nothing is written'
printf '[a]\ntest = ipos\naccess = rnd 4k r\nmetric = iops\nvalue = 1\n' >bad.ini
pts compare 1 5 --claims bad.ini -o x.xlsx
exit_is 2
err_has "bad.ini:2: unknown test 'ipos' (did you mean 'iops'?)"
printf '[A]\nprice = 1,200\n' >bad.ini
pts compare 1 5 --prices bad.ini -o x.xlsx
exit_is 2
err_has "bad.ini:2: price is a number above 0, without unit and ',', not '1,200'"
file_absent x.xlsx

t 'compare: the example of prices of the manual page is taken'
awk '/^# prices.ini/ { on = 1 } /^\.fi/ { on = 0 } on' "$ROOT/pts/man/pts-claims.5" | sed 's/\\-/-/g' >prices.ini
sed -i 's/^iops.RND 4 KiB R.*/tp\/SEQ 128 KiB R\/*\/bytes_per_s = 40 %/; s/NV7400\*/A*/' prices.ini
pts compare 1 5 --prices prices.ini -o p.json
err_hasnt prices.ini
run cat p.json
json_is 'd["prices_note"], d["currency"]' "('quotation of 2026-11-20, 1,000 units', 'USD')"
