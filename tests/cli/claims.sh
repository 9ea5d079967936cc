#!/bin/bash
# SPDX-License-Identifier: MIT
# --claims: what a vendor claims against what was measured; verdicts, exit codes, files that are refused.
. "$(dirname "$0")/lib.sh"

lint="python3 $ROOT/tests/tools/xlsx_lint.py"

# The example of the manual page FILE that begins with the line MARK.
example() { # example MARK
	awk -v mark="$1" 'index($0, mark) == 1 { on = 1 } /^\.fi/ { on = 0 } on' "$ROOT/pts/man/pts-claims.5" | sed 's/\\-/-/g'
}

cat >unsteady.ini <<'END'
[drive]
like = ent-nvme
model = Swinger
[noise]
swing_pct = 60
swing_s = 37
END

"$PTS" run iops tp lat -q --quick --dut 'sim:ent-nvme?size=100g&seed=3' >"$OUT" 2>"$ERR"
RC=$?
t 'claims: a run to hold them against'
exit_is 0
before=$(sha256sum <pts.db)
# the claims are made from what was measured, so that each verdict is known
read -r iops mbps art p99 <<<"$("$PTS" report -o m.json && python3 - <<'PY'
import json
s = json.load(open('m.json'))['runs'][0]['summary']
def of(test, access, metric):
    return next(r['value'] for r in s if (r['test'], r['access'], r['metric']) == (test, access, metric))
print(of('iops', 'RND 4 KiB R', 'iops'), of('tp', 'SEQ 128 KiB R', 'bytes_per_s') / 1e6,
      of('lat', 'RND 4 KiB R', 'art_mean_of_rounds_ns') / 1e3, 900)
PY
)"
t 'claims: the report of the run has what they are made from'
true_that test -n "$p99"

calc() { python3 -c "print(format($1, '.9f'))"; }

good() { # the claims that are met
	cat <<END
# brief
[RND 4K read]
test = IOPS
access = rnd 4k r
tc = 4
qd = 32
metric = iops
value = $(calc "$iops * 1.02")
tolerance = 3 %
condition = 4 KiB, QD = 128; =1+1 <steady> & "typical"

[SEQ read]
access = Sequential 128KB Read
metric = mbps
value = $(calc "$mbps") MB/s

[Read latency]
test = lat
access = RND 4 KiB R
metric = art
value = $(calc "$art") us
END
}

t 'claims: all met: exit 0, a line that counts'
good >good.ini
pts report --claims good.ini -o good.xlsx
exit_is 0
out_empty
err_lines 1
err_has 'claims: 3 of 3 met, 0 missed, 0 not assessed'
pts report --claims good.ini -o good2.xlsx -q
exit_is 0
err_empty
true_that cmp good.xlsx good2.xlsx

t 'claims: a missed one: exit 1, the file is written all the same'
{
	good
	printf '\n[Too much]\ntest = iops\naccess = RND 4 KiB R\nmetric = iops\nvalue = %s\ntolerance = 1 %%\n' "$(calc "$iops * 1.05")"
	printf '[Too slow]\ntest = lat\naccess = RND 4 KiB R\nmetric = art\nvalue = %s us\n' "$(calc "$art * 0.9")"
	printf '[Deeper]\ntest = iops\naccess = RND 4 KiB R\ntc = 8\nqd = 64\nmetric = iops\nvalue = 1\n'
	printf '[Never ran]\ntest = dirth\naccess = operating point max\nmetric = iops\nvalue = 1\n'
	printf '[Any write]\naccess = rnd 4k w\nmetric = iops\nvalue = 1\n'
	printf '[Rare]\ntest = lat\naccess = rnd 4k r\nmetric = p99999\nvalue = 1 s\n'
	printf '[A cell]\ntest = iops\naccess = rnd 16k 35/65\nmetric = p99\nvalue = 10 s\n'
	printf '[Elsewhere]\nmodel = NV*\naccess = rnd 4k w\nmetric = iops\nvalue = 1\n'
} >mixed.ini
for f in m.xlsx m.json m.txt m.html csv/; do
	pts report --claims mixed.ini -o "$f"
	exit_is 1
	err_lines 1
	err_has 'claims: 4 of 10 met, 2 missed, 4 not assessed'
done
run $lint m.xlsx
exit_is 0
pts report --claims mixed.ini -o m.json -q
exit_is 1
err_lines 1

t 'claims: verdicts and reasons in the JSON'
run cat m.json
json_is '[(c["claim"], c["verdict"]) for c in d["runs"][0]["claims"]["claims"]][3:]' \
	"[('Too much', 'FAIL'), ('Too slow', 'FAIL'), ('Deeper', 'NOT ASSESSED'), ('Never ran', 'NOT ASSESSED'), ('Any write', 'NOT ASSESSED'), ('Rare', 'NOT ASSESSED'), ('A cell', 'PASS')]"
json_is '[c["reason"] for c in d["runs"][0]["claims"]["claims"] if c["verdict"] == "NOT ASSESSED"][:3]' \
	"['claimed at T8Q64, measured at IOPS T4Q32', 'not measured: the run has no test dirth', 'ambiguous: IOPS T4Q32, LAT T1Q1']"
json_is '[d["runs"][0]["claims"][k] for k in ("file", "met", "missed", "not_assessed")]' "['mixed.ini', 4, 2, 4]"
json_is 'd["runs"][0]["claims"]["sha256"]' "$(sha256sum <mixed.ini | cut -d' ' -f1)"
json_is 'sum(w["evidence"].startswith("mixed.ini:") for w in d["runs"][0]["warnings"])' 6

t 'claims: limits, differences and uncertainties are what they should be'
run python3 - <<'PY'
import json, math, statistics
r = json.load(open('m.json'))['runs'][0]
claims = {c['claim']: c for c in r['claims']['claims']}
cell = next(c for t in r['tests'] if t['test'] == 'iops' for c in t['sections'][0]['cells'] if c['title'] == 'RND 4 KiB R')
window = [x['iops'] for x in cell['rounds']][-5:]
one = claims['RND 4K read']
near = lambda a, b: math.isclose(a, b, rel_tol=1e-9)
assert near(one['limit'], one['value'] * 0.97), one
assert near(one['measured'], statistics.mean(window)), one
assert near(one['difference'], one['measured'] / one['value'] - 1), one
assert near(one['std_uncertainty'], statistics.stdev(window) / statistics.mean(window) / math.sqrt(5)), one
assert claims['A cell']['measured'] > 0 and claims['Rare']['measured'] is None
assert one['condition'] == '4 KiB, QD = 128; =1+1 <steady> & "typical"', one
PY
exit_is 0

t 'claims: the same in the table of values, the text and the page'
true_that test -f csv/Spec_check.csv
run python3 - <<'PY'
import csv, json
rows = list(csv.DictReader(open('csv/D_claims.csv', newline='')))
claims = json.load(open('m.json'))['runs'][0]['claims']['claims']
assert [r['verdict'] for r in rows] == [c['verdict'] for c in claims]
assert [float(r['measured']) if r['measured'] else None for r in rows] == [c['measured'] for c in claims]
PY
exit_is 0
file_has m.txt 'Vendor Claims Check'
file_has m.txt '4 of 10 met, 2 missed, 4 not assessed'
file_has m.txt 'claimed at T8Q64, measured at IOPS T4Q32'
file_has m.html 'Decision rule (ISO/IEC 17025 7.8.6)'
file_has m.html '&lt;steady&gt;'

t 'claims: the database is only read, and a report without them says nothing of them'
same "$(sha256sum <pts.db)" "$before" 'the hash of the database'
pts report -o n.json
exit_is 0
err_empty
run cat n.json
json_is 'd["runs"][0]["claims"]' None
pts report -o n.txt
run cat n.txt
out_hasnt Claims

t 'claims: none of this drive'
printf '[x]\nmodel = NV*\naccess = rnd 4k r\nmetric = iops\nvalue = 1\n' >other.ini
pts report --claims other.ini -o o.txt
exit_is 0
err_has 'none of other.ini is of this drive'
file_has o.txt 'none of these claims is of this drive'

t 'claims: a drive by its serial'
serial=$(sqlite3 pts.db 'select serial from v_run')
printf '[x]\nmodel = %s\ntest = iops\naccess = rnd 4k r\nmetric = iops\nvalue = 1\n' "$serial" >serial.ini
pts report --claims serial.ini -o o.json
exit_is 0
err_has '1 of 1 met'

refused() { # refused MESSAGE: bad.ini is
	rm -f r.xlsx
	pts report --claims bad.ini -o r.xlsx
	exit_is 2
	err_has "pts: report: bad.ini$1"
	err_lines 1
	file_absent r.xlsx
}

t 'claims: mistakes of the file, with its line; nothing is written'
printf '[a]\ntest = ipos\naccess = rnd 4k r\nmetric = iops\nvalue = 1\n' >bad.ini
refused ":2: unknown test 'ipos' (did you mean 'iops'?)"
printf '[a]\naccess = rnd 4k r\nmetric = ipos\nvalue = 1\n' >bad.ini
refused ":3: unknown metric 'ipos' (did you mean 'iops'?)"
printf '[a]\naccess = rnd 4k r\nmetric = iops\n' >bad.ini
refused ":1: claim 'a' has no value"
printf '[a]\naccess = rnd 4k r\nmetric = art\nvalue = 82\n' >bad.ini
refused ':4: value is a time with its unit'
printf '[a]\naccess = rnd 4k 60/50\nmetric = art\nvalue = 82 us\n' >bad.ini
refused ':2: access is a pattern, a size and R, W or a mix'
printf '[a]\naccess = rnd 4k r\nmetric = iops\nvalue = 1\nvalues = 2\n' >bad.ini
refused ":5: unknown key 'values' (did you mean 'value'?)"
: >bad.ini
refused ': no claim in it'
head -c 3000 /dev/urandom >bad.ini
pts report --claims bad.ini -o r.xlsx
exit_is 2
err_has 'bad.ini'
pts report --claims nowhere.ini -o r.xlsx
exit_is 2
err_has 'nowhere.ini: No such file or directory'
pts report --claims . -o r.xlsx
exit_is 2
file_absent r.xlsx
cp good.xlsx keep.xlsx
printf '[a]\n' >bad.ini
pts report --claims bad.ini -o keep.xlsx
exit_is 2
true_that cmp good.xlsx keep.xlsx

t 'claims: without a steady state there is no verdict, and it is said'
"$PTS" run iops -q --quick --dut 'sim:./unsteady.ini?size=100g&seed=3' --db u.db >"$OUT" 2>"$ERR"
RC=$?
exit_is 1
printf '[x]\ntest = iops\naccess = rnd 4k r\nmetric = iops\nvalue = 1\n' >low.ini
pts report --db u.db --claims low.ini -o u.json
exit_is 0
err_has '0 of 1 met, 0 missed, 1 not assessed'
run cat u.json
json_is '[(c["verdict"], c["measured"], c["reason"]) for c in d["runs"][0]["claims"]["claims"]]' \
	"[('NOT ASSESSED', None, 'steady state not reached')]"

t 'claims: rows that were changed are no evidence for any'
cp pts.db t.db
sqlite3 t.db "$(sqlite3 t.db "select 'drop trigger ' || quote(name) || ';' from sqlite_master where type = 'trigger'")
	update cell set elapsed_ns = elapsed_ns + 1 where cell_id = (select max(cell_id) from cell)" 2>/dev/null
pts report --db t.db --claims good.ini -o t.json
case $RC in
0)
	run cat t.json
	json_is '{c["verdict"] for c in d["runs"][0]["claims"]["claims"]}' "{'NOT ASSESSED'}"
	;;
2) err_has t.db ;;
*) fail "exit $RC" ;;
esac

t 'claims: the example of the manual page is taken'
example '# vendor.ini' >vendor.ini
true_that test "$(grep -c '^\[' vendor.ini)" = 3
pts report --claims vendor.ini -o v.json
case $RC in 0 | 1) ;; *) fail "exit $RC: $(show "$ERR")" ;; esac
run cat v.json
json_is '{c["verdict"] for c in d["runs"][0]["claims"]["claims"]} <= {"PASS", "FAIL"}' True

t 'claims: several runs, each with its own sheets'
"$PTS" run iops -q --quick --dut 'sim:ent-nvme?size=100g&seed=4' >"$OUT" 2>"$ERR"
pts report 1 2 --claims good.ini -o two.json -q
run cat two.json
json_is '[len(r["claims"]["claims"]) for r in d["runs"]]' '[3, 3]'
