#!/bin/bash
# SPDX-License-Identifier: MIT
# The report as an HTML page and as a folder of CSV: the numbers of the workbook, sound markup, same bytes, whole or not at all.
. "$(dirname "$0")/lib.sh"
lint="python3 $ROOT/tests/tools/html_lint.py"

cat >info.ini <<'END'
[lab]
operator = <b>"O'Hara" & co</b>
customer = =1+1
END
"$PTS" run iops tp lat -q --dut 'sim:ent-nvme?size=200g&seed=3' >"$OUT" 2>"$ERR"
RC=$?
t 'html: a simulated run to report on'
exit_is 0

t 'html: one document, sound, with every word of the text report'
pts report -o a.html
exit_is 0
out_empty
err_empty
pts report -o a.txt
run $lint --text a.txt a.html
exit_is 0
out_match '^[0-9]{4,} words compared'
out_match '^[0-9]+ sheets, [2-9][0-9] charts, [0-9]+ tables, [0-9]+ pairs of colours, 0 faults'

t 'html: the lint finds what it is there for'
sed 's|\(<td[^>]*strong[^>]*>[0-9,]*\)\.[0-9]*<|\1.x<|' a.html >b.html # the results of the summary
run $lint --text a.txt b.html
exit_is 1
out_has 'Summary: '
sed 's|<figure>|<figure><img src="http://example.org/x.png" alt="x">|' a.html >b.html
run $lint b.html
exit_is 1
out_has 'src http://example.org'
sed 's|<h4 |<h4 onclick="x()" |; s|</figure>||' a.html >b.html
run $lint b.html
exit_is 1
out_has 'onclick'
sed 's|^\.na{color:#[0-9a-f]*|.na{color:#808080|' a.html >b.html
run $lint b.html
exit_is 1
out_has '.na: #808080 on #ededed'
sed 's|href="#s3"|href="#s99"|' a.html >b.html
run $lint b.html
exit_is 1
out_has 'link to #s99'

t 'html: SIMULATED on the cover, in the bar, and on every page of a test'
pages=$(grep -c 'class="page-title"' a.html)
true_that [ "$pages" -gt 15 ]
same "$(grep -c '<span class="chip simulated">SIMULATED' a.html)" "$((pages + 1))" 'chips (one a page, one in the bar)'
file_has a.html 'no drive was measured'
file_has a.html "$(sqlite3 pts.db 'select digest from v_run')"

t 'html: the JSON of the run is in it as data'
pts report -o a.json
python3 - >"$OUT" 2>"$ERR" <<'PY'
import json, re
page = open('a.html', encoding='utf-8').read()
data = re.search(r'<script type="application/json" id="report">(.*?)</script>', page, re.S).group(1)
assert json.loads(data) == json.load(open('a.json'))
words = ' '.join(re.sub(r'<[^>]*>', ' ', page).replace(',', '').split())
n = 0
for s in json.loads(data)['runs'][0]['summary']:
    if s['unit'] != 'ms':
        assert '%.1f' % s['shown'] in words, s
        n += 1
print(n > 5)
PY
RC=$?
exit_is 0
out_is True

t 'html: same database, same bytes, with another locale, time zone, and no network'
LC_ALL=de_DE.UTF-8 TZ=Asia/Tokyo pts report last -o b.html
exit_is 0
true_that cmp a.html b.html
if unshare -n true 2>/dev/null; then
	run unshare -n "$PTS" report -o c.html
	exit_is 0
	true_that cmp a.html c.html
fi

t 'csv: a folder, one file a sheet, sums that fit'
pts report -o csv/
exit_is 0
out_empty
err_empty
(cd csv && sha256sum --quiet --strict -c SHA256SUMS) >"$OUT" 2>&1 || fail "$(show "$OUT")"
same "$(cd csv && find . -type f | wc -l)" "$(($(wc -l <csv/SHA256SUMS) + 1))" 'files of the folder'
file_has csv/README.txt 'D_rounds.csv'

t 'csv: RFC 4180, and the values of the database unrounded'
run python3 - <<'PY'
import csv, glob, sqlite3
for name in glob.glob('csv/*.csv'):
    raw = open(name, 'rb').read()
    assert raw.endswith(b'\r\n') and raw.count(b'\n') == raw.count(b'\r\n'), name
    rows = list(csv.reader(open(name, newline='', encoding='utf-8'), strict=True))
    assert len({len(r) for r in rows}) == 1, name
rows = list(csv.DictReader(open('csv/D_rounds.csv', newline='')))
db = dict(sqlite3.connect('pts.db').execute('select cell_id, iops from v_cell'))
assert len(rows) == len(db)
for r in rows:
    assert float(r['IOPS']) == db[int(r['cell_id'])], r
print(len(rows) > 100)
PY
exit_is 0
out_is True

t 'csv: the same in another locale, into a folder that is there; what else is in it stays'
mkdir again
echo mine >again/notes.txt
LC_ALL=de_DE.UTF-8 TZ=Asia/Tokyo pts report 1 -o again
exit_is 0
same "$(cat again/notes.txt)" mine 'a file of mine'
rm again/notes.txt
true_that diff -r csv again
true_that grep -q '[0-9]\.[0-9]' again/D_rounds.csv

t 'csv: a file where the folder should be'
echo x >file
pts report -o file/
exit_is 2
err_lines 1
err_has 'file is not a folder'
same "$(cat file)" x 'the file'

t 'html: a full disk is exit 3, the old file stays; no half of a new one in a folder'
mkdir full
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=200k none full 2>/dev/null; then
	at_exit umount full
	echo old >full/a.html
	pts report 1 -o full/a.html
	exit_is 3
	err_lines 1
	same "$(cat full/a.html)" old 'the old file'
	same "$(ls -A full)" a.html 'what is in the folder'
	pts report 1 -o full/csv/
	exit_is 3
	err_lines 1
	file_absent full/csv/SHA256SUMS
	same "$(find full/csv -name '.*.tmp')" '' 'half a file'
else
	skip 'no tmpfs of our own here'
fi

t 'html: what --info says is text, whatever it says'
"$PTS" run tp --quick -q --info info.ini --dut 'sim:ent-nvme?size=100g&seed=3' >"$OUT" 2>"$ERR"
pts report 2 -o h.html
exit_is 0
run $lint h.html
exit_is 0
file_has h.html '&lt;b&gt;&quot;O&#39;Hara&quot; &amp; co&lt;/b&gt;'
pts report 2 -o h/
exit_is 0
file_has h/Summary.csv "\"'=1+1 / <b>\"\"O"

t 'html: several runs in one document'
pts report 1 2 -o both.html
exit_is 0
run $lint both.html
exit_is 0
file_has both.html 'r2 TP'

t 'html: not steady is as red as in the workbook, on each page of the test'
printf '[drive]\nlike = ent-nvme\n[noise]\nswing_pct = 30\nswing_s = 8400\n' >swing.ini
"$PTS" run iops -q --dut sim:swing.ini --db s.db >"$OUT" 2>"$ERR"
RC=$?
exit_is 1
pts report --db s.db -o s.html
pts report --db s.db -o s.txt
run $lint --text s.txt s.html
exit_is 0
file_has s.html '<span class="chip big-bad">NOT CONFORMANT</span>'
file_has s.html '<td class="bad b">not reported</td>'
pages=$(sed -n '/>IOPS TEST - REPORT PAGE/,/<\/section>/p' s.html | grep -c '<article class="page')
same "$(grep -c 'class="band big banner-bad">' s.html)" "$pages" 'red banners (a page of the test each)'
same "$(sed -n '/class="running"/,/<\/dl>/p' s.html | grep -c 'chip bad">NOT REACHED')" "$pages" 'red states on paper'
