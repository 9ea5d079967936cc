#!/bin/bash
# SPDX-License-Identifier: MIT
# Texts that devices and users write: never a formula, markup, a path, a broken file. PTS_LONG: each text in each column.
. "$(dirname "$0")/lib.sh"
lint="python3 $ROOT/tests/tools/xlsx_lint.py"
TURNS='0 5'
[ -z "${PTS_LONG:-}" ] || TURNS='0 1 2 3 4 5 6 7 8 9 10 11'

# All that a user writes, the honest way: identity of a model of a drive, note, info, name of the capture.
cp "$ROOT/tests/fixtures/rwsw/mix.csv" '=1+1 <b>"&.csv'
printf '[drive]\nlike = ent-nvme\nmodel = =1+1 <b>"A&B"\ninterface = @SUM(A1) %%n\n' >'h&<1>.ini'
printf '[lab]\noperator = <b>"O'"'"'Hara" & co\ncustomer = =1+1\nplp = +A1\n' >info.ini
"$PTS" run replay-native tp --quick -q --capture '=1+1 <b>"&.csv' --dut 'sim:h&<1>.ini?size=10g' --info info.ini \
	--note $'=HYPERLINK("http://example.org")\n<script>x()</script>' --db h.db >"$OUT" 2>"$ERR"
RC=$?
t 'what people write: a run with it'
exit_is 0

# sound NAME: every kind of report of h.db is what it should be
sound() {
	local kind
	for kind in xlsx html txt json; do
		pts report --db "$1.db" -o "$1.$kind"
		exit_is 0
		err_empty
	done
	pts report --db "$1.db" -o "$1.csv/"
	exit_is 0
	run $lint "$1.xlsx"
	exit_is 0
	run python3 "$ROOT/tests/tools/html_lint.py" "$1.html"
	exit_is 0
	run python3 - "$1" <<'PY'
import csv, glob, json, re, sys
name = sys.argv[1]
run = json.load(open(name + '.json', encoding='utf-8'))['runs'][0]
text = open(name + '.txt', encoding='utf-8').read()
assert not re.search(r'[\x00-\x09\x0b-\x1f\x7f]', text), 'a control character in the text'
n = 0
for path in glob.glob(glob.escape(name) + '.csv/*.csv'):
    for row in csv.reader(open(path, newline='', encoding='utf-8'), strict=True):
        for field in row:
            n += 1
            computed = re.match(r' *[=+@-].', field) and not re.fullmatch(r' *[-+]?[0-9.]+(e[-+]?[0-9]+)?', field)
            assert not computed, (path, field)
assert n > 1000
PY
	exit_is 0
	same "$(find . -name pwned | wc -l)" 0 'files made by a text'
}

t 'what people write: text in every kind of report'
sound h
$lint --cells h.xlsx Summary >cells
true_that grep -qF '=1+1 <b>"A&B"' cells
file_has h.txt '=1+1 <b>"A&B"'

for turn in $TURNS; do
	t "what devices say: every text of the database, turn $turn"
	cp h.db "d$turn.db"
	run python3 "$ROOT/tests/tools/hostile.py" "d$turn.db" "$turn"
	exit_is 0
	sound "d$turn"
	file_has "d$turn.txt" 'Stored rows were changed after the run'
done
