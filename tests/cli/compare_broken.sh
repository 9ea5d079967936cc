#!/bin/bash
# SPDX-License-Identifier: MIT
# pts compare and report where something is wrong: what they are made from is never written over, rows that were made up are no
# evidence, a signal leaves nothing behind, a price list of other drives is said.
. "$(dirname "$0")/lib.sh"

for seed in 1 2; do
	"$PTS" run tp lat -q --quick --dut "sim:ent-nvme?size=100g&seed=$seed" >"$OUT" 2>"$ERR"
done
RC=$?
t 'broken: two runs to compare'
exit_is 0

t 'broken: a report never takes the place of the database, by whatever name'
cp pts.db own.db
ln -s own.db link.json
ln own.db hard.html
sum=$(sha256sum <own.db)
for out in link.json hard.html; do
	pts compare 1 2 --db own.db -o $out
	exit_is 2
	err_has 'never written over'
	pts report 1 --db own.db -o $out
	exit_is 2
	err_lines 1
done
same "$(sha256sum <own.db)" "$sum" 'the database'

t 'broken: nor that of its claims and prices'
printf '[SEQ]\naccess = seq 128k r\nmetric = mbps\nvalue = 100\n' >claims.txt
printf '[Simulated*]\nprice = 5\npower_w = 10\nrated_tbw = 100\n' >prices.txt
sum=$(cat claims.txt prices.txt)
pts compare 1 2 --claims claims.txt -o ./claims.txt
exit_is 2
pts report 1 --claims claims.txt -o claims.txt
exit_is 2
pts compare 1 2 --prices prices.txt -o prices.txt
exit_is 2
err_has 'prices.txt is what the report is made from'
same "$(cat claims.txt prices.txt)" "$sum" 'the files'

# forged SQL: t.db, the database with its triggers out of the way for a moment
forged() {
	rm -f t.db
	cp pts.db t.db
	run python3 - "$1" <<'PY'
import sqlite3, sys
db = sqlite3.connect('t.db')
kept = [r for r in db.execute("select name, sql from sqlite_master where type = 'trigger'")]
for name, _ in kept:
    db.execute(f'drop trigger "{name}"')
row = {c[1]: '"%s"' % c[1] for c in db.execute('pragma table_info(cell)')}
row['cell_id'] = '(select max(cell_id) + 1 from cell)'
row['ordinal'] = '9999'
n = db.execute(sys.argv[1].replace('CELL', ', '.join(row.values()))).rowcount
for _, text in kept:
    db.execute(text)
db.commit()
assert n > 0
PY
	exit_is 0
}

no_evidence() { # what the message says
	pts compare 1 2 --db t.db -o t.txt
	exit_is 2
	err_has "$1"
	file_absent t.txt
	pts report 2 --db t.db -o r.txt
	exit_is 0
	file_has r.txt 'Stored rows were changed'
	file_has r.txt 'NOT CONFORMANT'
	pts compare 1 2 --db t.db --allow-tampered -o t.txt
	exit_is 1
	file_has t.txt 'TAMPERED: '
	rm -f t.txt r.txt
}

t 'broken: a cell that was added by hand counts in no average'
forged 'insert into cell select CELL from cell where cell_id = (select max(cell_id) from cell where run_id = 2 and round = 2)'
no_evidence 'row not in chain'

t 'broken: another host than the one that measured'
forged "update host_fact set value = value || 'X' where key = 'cpu_model'"
no_evidence 'its facts differ from their digest'

t 'broken: another definition than the one that ran'
forged "update document set body = replace(body, '128', '256') where body like '%128%'"
no_evidence 'its text differs from its hash'

t 'broken: a signal while it is written leaves the whole file or none, and no other name'
run python3 - "$PTS" <<'PY'
import os, signal, subprocess, sys
for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) * 4:
    p = subprocess.Popen([sys.argv[1], 'compare', '1', '2', '-o', 's.xlsx'])
    while p.poll() is None and not any(n.startswith('.s.xlsx.') for n in os.listdir('.')):
        pass
    p.send_signal(sig)
    p.wait()
print([n for n in os.listdir('.') if n.startswith('.s.xlsx.')])
PY
exit_is 0
out_is '[]'
run python3 "$ROOT/tests/tools/xlsx_lint.py" s.xlsx
exit_is 0

t 'broken: prices of other drives are said, in the report and on the terminal'
printf '[Simluated*]\nprice = 5\n' >other.ini
pts compare 1 2 --prices other.ini -o p.txt
exit_is 0
err_lines 1
err_has 'prices: none of other.ini is of these drives'
file_has p.txt 'No price: none of other.ini is of these drives'

t 'broken: prices without a currency; what follows from a price follows it'
pts compare 1 2 --prices prices.txt -o p.txt
exit_is 0
err_empty
run grep -c 'Price price' p.txt
out_is 0
pts compare 1 2 --prices prices.txt -o p.xlsx
run python3 - <<'PY'
import re, zipfile
text = zipfile.ZipFile('p.xlsx').read('xl/worksheets/sheet1.xml').decode()
print(len(re.findall(r'<f>\$K\$\d+/100</f><v>0.05', text)))
PY
out_is 2

t 'broken: a [quote] twice, or of nothing'
printf '[quote]\ncurrency = EUR\n[quote]\ncurrency = EUR\n' >q.ini
pts compare 1 2 --prices q.ini -o q.txt
exit_is 2
err_has 'q.ini:3: [quote] is there twice'
printf '[*]\nprice = 5\n[quote]\n' >q.ini
pts compare 1 2 --prices q.ini -o q.txt
exit_is 2
err_has 'q.ini:3: [quote] says nothing'
file_absent q.txt

t 'broken: runs of a drive without a serial are one unit, wherever it is said'
for i in 1 2; do
	start f.db tp -q --quick --dut 'file:scratch?size=16m'
	wait_for f.db 'SELECT count(*) FROM v_run' "$i"
	stop TERM
done
"$PTS" run tp -q --quick --dut 'sim:pm?size=16m' --db f.db >"$OUT" 2>"$ERR"
pts compare 1 2 3 --db f.db -o f.json -q
run cat f.json
json_is '[(c["run_ids"], c["units"]) for c in d["candidates"]]' '[([1, 2], 1), ([3], 1)]'
