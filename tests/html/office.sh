#!/bin/bash
# SPDX-License-Identifier: MIT
# Workbooks in headless LibreOffice: `make check-html`. Every formula computed anew, and the printed pages. Skipped where it is not.
. "$(dirname "$0")/../cli/lib.sh"
if ! command -v soffice >/dev/null; then
	echo 'skip office: no soffice (make html-deps, or as root: apt-get install libreoffice-calc-nogui)'
	exit 77
fi
MAP=$ROOT/tests/fixtures/rwsw/mix.csv

# made NAME DB RUN...: a workbook
made() {
	local name=$1 db=$2
	shift 2
	pts report "$@" --db "$db" -o "$name.xlsx"
	exit_is 0
}

# recalculated NAME LEAST: its line of the recalculation, with so many formulas or more
recalculated() {
	local n
	n=$(grep -B1 -Fx "$1.xlsx" "$OUT" | sed -n 's/^\([0-9]*\) formula cells compared, 0 differ$/\1/p')
	[ "${n:-0}" -ge "$2" ] || fail "$1: ${n:-no} equal formulas: $(show "$OUT")"
}

t 'office: every formula of every kind of workbook gives its stored value'
"$PTS" run pts-full -q --dut 'sim:ent-nvme?seed=3' --db full.db >"$OUT" 2>"$ERR"
made full full.db
"$PTS" run replay-native replay-scaled individual-streams multi-wsat rwsw-dirth --quick -q --capture "$MAP" \
	--dut 'sim:ent-nvme?size=100g&seed=3' --db w.db >"$OUT" 2>"$ERR"
made rwsw w.db
"$PTS" run curve bounded scale -q --dut 'sim:ent-nvme?size=100g&seed=3' --db s.db >"$OUT" 2>"$ERR"
made steps s.db
"$PTS" run scale -q --db set.db --dut 'set:sim:ent-nvme?size=50g&seed=1,sim:ent-nvme?size=50g&seed=2' >"$OUT" 2>"$ERR"
made drives set.db
printf '[drive]\nlike = ent-nvme\n[noise]\nswing_pct = 30\nswing_s = 8400\n' >swing.ini
"$PTS" run iops tp wsat -q --dut sim:swing.ini --db u.db >"$OUT" 2>"$ERR"
made unsteady u.db
"$PTS" run iops lat --quick -q --dut 'sim:ent-nvme?size=10g' --db 'both.db' >"$OUT" 2>"$ERR"
"$PTS" run tp --quick -q --dut 'sim:ent-nvme?size=10g' --db 'both.db' >"$OUT" 2>"$ERR"
made both both.db 1 2
run bash "$ROOT/tests/tools/recalc.sh" full.xlsx rwsw.xlsx steps.xlsx drives.xlsx unsteady.xlsx both.xlsx
if [ "$RC" = 77 ]; then
	echo "skip office: $(cat "$OUT")"
	t_name='' # nothing was tested
	exit 77
fi
exit_is 0
recalculated full 1000
recalculated rwsw 10
recalculated steps 10
recalculated drives 10
recalculated unsteady 50
recalculated both 50

t 'office: a comparison, too'
if "$PTS" compare --help 2>&1 | grep -q baseline; then
	"$PTS" run iops tp lat dirth --quick -q --dut 'sim:ent-nvme?size=20g&seed=1' --db c.db >"$OUT" 2>"$ERR"
	"$PTS" run iops tp dirth --quick -q --dut 'sim:client-slc?size=20g&seed=2' --profile client --db c.db >"$OUT" 2>"$ERR"
	"$PTS" run iops tp lat dirth --quick -q --dut 'sim:ent-nvme?size=20g&seed=3' --db c.db >"$OUT" 2>"$ERR"
	pts compare 1 2 3 --baseline 1 --db c.db -o cmp.xlsx
	exit_is 1 # different drives: said, and compared all the same
	run bash "$ROOT/tests/tools/recalc.sh" cmp.xlsx
	exit_is 0
	recalculated cmp 10
else
	skip 'no pts compare in this build'
fi

t 'office: a stored value that is wrong is found'
python3 - <<'PY'
import re
import zipfile
with zipfile.ZipFile('both.xlsx') as a, zipfile.ZipFile('bad.xlsx', 'w', zipfile.ZIP_DEFLATED) as b:
    done = 0
    for name in a.namelist():
        data = a.read(name)
        if name.startswith('xl/worksheets/sheet') and not done:
            data, done = re.subn(rb'(<f>AVERAGE\([^<]*</f><v>)[0-9.]+', rb'\g<1>4711', data, count=1)
        b.writestr(name, data)
    assert done == 1
PY
run bash "$ROOT/tests/tools/recalc.sh" bad.xlsx
exit_is 1
out_has 'stored 4711.0'

t 'office: printed pages as planned, A4, none empty, plots drawn; the Summary does not spill'
if ! command -v pdftotext >/dev/null; then
	skip 'no pdftotext (Debian: poppler-utils)'
else
	# printed NAME PAGES: the first pages as NAME.pdf, and their words; what comes then are data, hundreds of pages
	printed() {
		timeout 120 soffice "-env:UserInstallation=file://$PWD/lo" --headless --convert-to \
			"pdf:calc_pdf_Export:{\"PageRange\":{\"type\":\"string\",\"value\":\"1-$2\"}}" "$1.xlsx" >/dev/null 2>&1
		pdftotext -layout "$1.pdf" "$1.words" || fail "$1.xlsx cannot be printed"
	}
	# pages NAME SHEET: how many printed pages have its footer
	pages() { grep -cE " $2 +- +page [0-9]+ of" "$1.words"; }
	# none_empty NAME: every page has words beyond header and footer
	none_empty() {
		local few
		few=$(python3 -c 'import sys
pages = open(sys.argv[1], encoding="utf-8", errors="replace").read().split("\f")[:-1]
print([i + 1 for i, p in enumerate(pages) if len(p.split()) <= 40])' "$1.words")
		[ "$few" = '[]' ] || fail "$1.pdf: pages $few are empty"
	}
	# drawn NAME: the lower part of each page that is headed as a plot has colours in it
	drawn() {
		pdftoppm -r 30 "$1.pdf" "$1" || fail "$1.pdf cannot be drawn"
		run python3 - "$1" <<'PY'
import glob, re, sys
pages = open(sys.argv[1] + '.words', encoding='utf-8', errors='replace').read().split('\f')[:-1]
pictures = sorted(glob.glob(sys.argv[1] + '-*.ppm'))
assert len(pictures) == len(pages)
plots = 0
for words, picture in zip(pages, pictures):
    if not re.search(r'Plot [A-Z]*\.?[0-9]+ - ', words) or 'n/a: ' in words:
        continue
    kind, width, height, most = open(picture, 'rb').read(40).split()[:4]
    data = open(picture, 'rb').read()[-int(width) * int(height) * 3:]
    half = data[len(data) * 4 // 10:len(data) * 9 // 10]
    coloured = sum(max(half[i:i + 3]) - min(half[i:i + 3]) > 40 for i in range(0, len(half) - 2, 3))
    plots += 1
    if coloured < 30:
        print(picture, 'has no plot:', coloured)
print(plots, 'plots')
PY
		exit_is 0
		out_match '^[1-9][0-9]* plots$'
		out_hasnt 'has no plot'
	}
	printed full 80
	printed rwsw 30
	printed steps 8
	same "$(pages full IOPS) $(pages full TP) $(pages full LAT)" '8 5 8' 'pages of IOPS, TP, LAT'
	same "$(pages full Summary) $(pages rwsw Summary) $(pages steps Summary)" '2 1 1' 'pages of each Summary'
	true_that [ "$(awk -v RS='\f' 'NR == 2' full.words | grep -cE 'Results at a glance \(continued\)|Approved by')" = 2 ]
	none_empty full
	none_empty rwsw
	drawn full
	true_that [ "$(pdfinfo full.pdf | grep -c '84[12].* x 59[45].* pts')" = 1 ]
fi
