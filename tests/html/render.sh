#!/bin/bash
# SPDX-License-Identifier: MIT
# The HTML report in headless Chromium: `make check-html`. Without a browser it is skipped, and says so.
. "$(dirname "$0")/../cli/lib.sh"
render="timeout 120 python3 $ROOT/tests/tools/html_render.py"
if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then
	echo 'skip html: no chromium (make html-deps, or as root: apt-get install chromium)'
	exit 77
fi

# seen NAME: what every report must do in a browser
seen() {
	run $render "$1.html" --pdf "$1.pdf"
	exit_is 0
	err_empty
	out_match '^1366 px: page 1366 px, [0-9]+ charts'
	out_match '^390 px: page 390 px, [0-9]+ charts'
	out_match '^0 faults'
}

# paper NAME LEAST MOST: pages of the PDF: A4 landscape, none empty
paper() {
	local n p
	command -v pdfinfo >/dev/null && command -v pdftotext >/dev/null || return 0
	n=$(pdfinfo "$1.pdf" | awk '/^Pages:/ { print $2 }')
	[ "$n" -ge "$2" ] && [ "$n" -le "$3" ] || fail "$n printed pages, not $2 to $3"
	true_that [ "$(pdfinfo "$1.pdf" | grep -c '84[12].* x 59[45].* pts')" = 1 ]
	for p in $(seq 1 "$n"); do
		[ "$(pdftotext -f "$p" -l "$p" "$1.pdf" - | wc -w)" -gt 20 ] || fail "page $p of $n is empty"
	done
}

t 'html: all eight tests: no error, no request, no sideways scroll, charts drawn, labels apart; prints'
"$PTS" run pts-full -q --dut 'sim:ent-nvme?seed=3' --db full.db >"$OUT" 2>"$ERR"
pts report --db full.db -o full.html
seen full
paper full 60 140
if command -v pdftotext >/dev/null; then
	pdftotext -layout full.pdf full.txt
	n=$(grep -c 'page [0-9]* of [0-9]*' full.txt)
	same "$n" "$(pdfinfo full.pdf | awk '/^Pages:/ { print $2 }')" 'numbered pages'
	file_has full.txt 'SIMULATED, NO DRIVE WAS MEASURED'
fi

t 'html: tests that work from a capture, curves, matrices'
for test in multi-wsat individual-streams replay-scaled rwsw-dirth; do
	"$PTS" run $test --quick -q --capture "$ROOT/tests/fixtures/rwsw/mix.csv" --dut 'sim:ent-nvme?size=100g' --db w.db >"$OUT" 2>"$ERR"
done
for test in curve scale bounded; do
	"$PTS" run $test --quick -q --dut 'sim:ent-nvme?size=100g' --db w.db >"$OUT" 2>"$ERR"
done
for run in 1 2 3 4 5 6 7; do
	pts report $run --db w.db -o w$run.html
	seen w$run
done

t 'html: a test that never settles'
printf '[drive]\nlike = ent-nvme\n[noise]\nswing_pct = 30\nswing_s = 8400\n' >swing.ini
"$PTS" run iops tp -q --dut sim:swing.ini --db s.db >"$OUT" 2>"$ERR"
pts report --db s.db -o s.html
seen s
paper s 10 40

t 'html: the check finds a request, a script, and what is too wide'
sed 's|<main>|<main><img alt="" src="http://example.org/x.png"><script>x()</script><p style="width:3000px">wide</p>|' s.html >bad.html
run $render bad.html
exit_is 1
err_has '390 px: the page scrolls sideways'
err_has 'console: '
sed 's|<meta http-equiv[^>]*>||; s|<main>|<main><img alt="" src="http://example.org/x.png">|' s.html >bad.html
run $render bad.html
exit_is 1
err_has 'request: http://example.org/x.png'
