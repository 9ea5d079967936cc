#!/bin/bash
# SPDX-License-Identifier: MIT
# pts report: from the database of simulated runs to workbook, text and JSON.
. "$(dirname "$0")/lib.sh"

lint="python3 $ROOT/tests/tools/xlsx_lint.py"

t 'report: where to is asked for'
pts report
exit_is 2
err_has '-o FILE.xlsx'

t 'report: no database'
pts report -o a.xlsx
exit_is 2
err_has 'pts.db'
file_absent a.xlsx
file_absent pts.db

"$PTS" run iops tp lat -q --dut 'sim:ent-nvme?size=200g&seed=3' >"$OUT" 2>"$ERR"
RC=$?
t 'report: a simulated run to report on'
exit_is 0
before=$(sha256sum <pts.db)

t 'report: a name that is no kind of report'
pts report -o a.pdf
exit_is 2
err_has '.xlsx, .html, .txt, .json'
file_absent a.pdf

t 'report: an unknown run'
pts report 99 -o a.xlsx
exit_is 2
file_absent a.xlsx

t 'report: workbook, sound; quiet'
pts report -o a.xlsx
exit_is 0
out_empty
err_empty
run $lint a.xlsx
exit_is 0

t 'report: same database, same bytes, with another locale, time zone and no network'
sleep 2.1
LC_ALL=de_DE.UTF-8 TZ=Asia/Tokyo pts report last -o b.xlsx
exit_is 0
true_that cmp a.xlsx b.xlsx
if unshare -n true 2>/dev/null; then
	run unshare -n "$PTS" report -o c.xlsx
	exit_is 0
	true_that cmp a.xlsx c.xlsx
fi

t 'report: the database is only read'
same "$(sha256sum <pts.db)" "$before" 'the hash of the database'

t 'report: the cover says SIMULATED and shows the chain head'
pts report -o a.txt
exit_is 0
head=$(sqlite3 pts.db 'select digest from v_run')
file_has a.txt "SIMULATED"
file_has a.txt "$head"
file_has a.txt 'CONFORMANT WITH DEVIATIONS'
file_has a.txt 'Steady State Convergence Plot - All Block Sizes'
file_has a.txt 'Ave, 5 9s, Max Response Times & IOPS'

t 'report: JSON, and its values are those of the text'
pts report -o a.json
exit_is 0
run cat a.json
json_is 'd["schema"]' 'pts.report/1'
json_is 'd["runs"][0]["simulated"]' True
json_is 'len(d["runs"][0]["tests"])' 3
json_is 'len(d["runs"][0]["tests"][0]["sections"][0]["cells"])' 56
run python3 - <<'PY'
import json
text = open('a.txt').read()
lines = [l.split() for l in text.splitlines()]
n = 0
for s in json.load(open('a.json'))['runs'][0]['summary']:
    ms = {'mrt_ns': 2, 'lat_p99999_ns': 3}.get(s['metric'], 4 if s['shown'] < 0.1 else 3)
    shown = '%.*f' % (ms if s['unit'] == 'ms' else 1, s['shown'])
    hit = [l for l in lines if shown in l and s['test'].upper() in l]
    assert hit, (s, shown)
    n += 1
print(n)
PY
exit_is 0
out_is 14

t 'report: means of the window, against the view'
got=$(sqlite3 pts.db "select printf('%.1f', avg(iops)) from v_cell where test = 'iops' and in_window and
	read_pct = 0 and block_bytes = 4096")
file_has a.txt " $got "

t 'report: a test without steady state is shouted and not reported'
"$PTS" run wsat -q --dut 'sim:ent-nvme?size=100g&seed=3' >"$OUT" 2>"$ERR"
pts report 2 -o w.txt
exit_is 0
if [ "$(sqlite3 pts.db "select steady from v_test where run_id = 2")" = 0 ]; then
	file_has w.txt 'NOT CONFORMANT'
	file_has w.txt 'not reported'
	file_has w.txt 'NOT REACHED'
	pts report 2 -o w.xlsx
	run $lint w.xlsx
	exit_is 0
else
	skip 'the simulated drive became steady'
fi

t 'report: cells a 4Kn drive cannot do are n/a, with the reason'
sed 's/^lba = .*/lba = 4096/' "$ROOT/workloads/sim/ent-nvme.ini" >4kn.ini
"$PTS" run iops lat -q --dut 'sim:4kn.ini?size=100g&seed=3' >"$OUT" 2>"$ERR"
pts report 3 -o k.txt
exit_is 0
out=$(grep -c '^RND 0.5 KiB  *n/a (LBA 4096)' k.txt)
same "$out" 3 'rows of 0.5 KiB that are n/a'
pts report 3 -o k.xlsx
run $lint k.xlsx
exit_is 0

t 'report: several runs in one workbook'
pts report 1 3 -o both.xlsx
exit_is 0
run $lint both.xlsx
exit_is 0
out_match '^19 sheets'

t 'report: a full disk is exit 3 and leaves the old file'
mkdir full
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=200k none full 2>/dev/null; then
	at_exit umount full
	echo old >full/a.xlsx
	pts report 1 -o full/a.xlsx
	exit_is 3
	err_lines 1
	err_has 'pts: report'
	same "$(cat full/a.xlsx)" old 'the old file'
	same "$(ls -A full)" a.xlsx 'what is in the folder'
else
	skip 'no tmpfs of our own here'
fi

t 'report: rows changed by hand are shouted, NOT CONFORMANT'
cp pts.db changed.db
sqlite3 changed.db "$(sqlite3 changed.db "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_master WHERE type = 'trigger'") UPDATE cell SET read_ios = read_ios + 1 WHERE cell_id = 100"
pts report 1 --db changed.db -o changed.txt
exit_is 0
file_has changed.txt 'Stored rows were changed after the run'
file_has changed.txt 'CHAIN BROKEN'
file_has changed.txt 'NOT CONFORMANT'
