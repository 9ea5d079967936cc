#!/bin/bash
# SPDX-License-Identifier: MIT
# What an operator or a customer reads: counts on the cover, events as sentences, notes on options that did nothing, files that are
# named, a time left that the limit allows.
. "$(dirname "$0")/lib.sh"

sheet() { # sheet FILE NAME: the text of one sheet
	awk -v want="======== $2 ========" '/^======== /{on = $0 == want} on' "$1"
}

t 'a test that failed in its first round, and two that never ran'
printf '[drive]\nlike = ent-nvme\n[events]\nerror_cell = 30\nerror_cells = 200\n' >bad.ini
pts run iops wsat scale --quick --dut "sim:$W/bad.ini?size=64g" --db e.db -q
exit_is 3
pts report 1 --db e.db -o e.txt
sheet e.txt Summary >cover
true_that grep -q '^NOT CONFORMANT  0 of 2 tests at steady state - 3 not valid ' cover
true_that grep -qE '^IOPS .* not reported .*  NOT REACHED +- +NOT VALID ' cover
true_that grep -qE '^WSAT .* not reported .*  not run +- +NOT RUN ' cover
true_that grep -qE '^SCALE .* not reported .*  not run +- +NOT RUN ' cover

t 'a test without a criterion is n.a., one with it and steady is counted'
pts run lat scale --quick --dut 'sim:pm?size=1g' --db s.db -q
exit_is 0
pts report 1 --db s.db -o s.txt
sheet s.txt Summary >cover
true_that grep -q '  1 of 1 tests at steady state - 0 not valid ' cover
true_that grep -qE '^LAT .*  REACHED  ' cover
true_that grep -qE '^SCALE .*  n\.a\.  ' cover

t 'events are told in words, once for each test and kind'
sheet e.txt Warnings >warnings
true_that test "$(grep -c '  Error: ' warnings)" = 1
true_that grep -qE '^W-[0-9]+ +WARN +iops .* Error: .*EIO.* \(2 times\)\. First at: round 1, .*\. Last at: round 1, ' warnings
true_that test -z "$(grep '[{}]' warnings)"
printf '[drive]\nlike = client-slc\n[events]\nthrottle_at_gb = 3\nthrottle_gb = 1\nthrottle_pct = 40\nlink_at_s = 30\nlink_s = 40\n' >hot.ini
pts run lat iops --dut "sim:$W/hot.ini?size=8g" --db h.db -q
pts report 1 --db h.db -o h.txt
sheet h.txt Warnings >warnings
true_that test -z "$(grep '[{}]' warnings)"
same "$(grep -oE ' (lat|iops) +- +(Throttling|Link):' warnings | tr -s ' ')" ' lat - Throttling:
 lat - Link:
 iops - Throttling:
 iops - Link:' 'warnings of events'
true_that grep -qF '(first 16.0 GT/s x4, now 8.0 GT/s x2)' warnings

t 'hundreds of events of a kind are one line'
sqlite3 h.db "DROP TRIGGER event_no_update; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
	INSERT INTO event (run_id, utc, kind, detail) SELECT 1, '2026-01-31T09:00:00.000Z', 'throttle',
	json_object('test', 'lat', 'text', iif(i % 2, 'it is hot', 'it is not hot any more'), 'round', i, 'cells', 1 - i % 2) FROM n" 2>why ||
	fail "$(cat why)"
pts report 1 --db h.db -o h2.txt
sheet h2.txt Warnings >warnings
same "$(grep -c '  Throttling: ' warnings)" 2 'lines of throttling'
true_that grep -qE ' lat .*it is hot \(150 times\).*15[01] cells meanwhile\..* Last at: round 300, 2026-01-31T' warnings

t 'a word of --destroy that names no target, and --polled on a model, are noted'
pts run scale --quick --dut 'sim:pm?size=1g' --destroy NOSUCH --polled --db n.db
exit_is 0
err_has "note: --destroy 'NOSUCH' names no target of this run and did nothing"
err_has 'note: --polled does nothing on sim:pm?size=1g'
pts run scale --quick --dut "file:$W/f?size=16m" --destroy "$W/f" --db n.db
exit_is 0
err_hasnt 'note: --destroy'
pts run scale --quick --dut 'sim:pm?size=1g&seed=1' --dut 'sim:pm?size=1g&seed=2' --destroy SIM2 --destroy SIM3 --db n.db
exit_is 0
same "$(grep -c 'note: --destroy' "$ERR")" 1 'notes'
err_has "note: --destroy 'SIM3' names no target"

t 'a file that defines nothing is named; so is a line that is not UTF-8'
: >empty.pts
printf '# nothing yet\n' >later.pts
for f in ./empty.pts later.pts; do
	pts run $f --dut 'sim:pm?size=1g' --db u.db
	exit_is 2
	err_has "$f: it defines no test"
	pts run scale $f --dut 'sim:pm?size=1g' --db u.db
	exit_is 2
	err_has "$f: it defines no test"
done
printf 'operator = me\ncustomer = M\xfcller\n' >latin.ini
pts run scale --quick --dut 'sim:pm?size=1g' --db u.db --info latin.ini
exit_is 2
err_has 'latin.ini:2: not UTF-8'
printf 'operator = Jos\xc3\xa9\n' >utf.ini
pts run scale --quick --dut 'sim:pm?size=1g' --db u.db --info utf.ini -q
exit_is 0
sql_is u.db "SELECT value FROM v_info WHERE key = 'operator'" José
printf 'test q "Caf\xe9" clause -\n\tpurge\nend\n' >q.pts
pts run ./q.pts --dut 'sim:pm?size=1g' --db u.db
exit_is 2
err_has 'q.pts:1: a quoted text is not UTF-8'
pts run scale --quick --dut 'sim:pm?size=1g' --db u.db --note $'M\xfcller'
exit_is 2
err_has '--note is not UTF-8'

t 'the time left never goes beyond the limit of the loop'
pts run wsat --quick --dut 'sim:ent-nvme?size=64g' --db l.db --progress=json
grep -o '"left_max_ns": *[0-9]*' "$ERR" | grep -o '[0-9]*$' >left
true_that test "$(wc -l <left)" -gt 5
# 20 s of the loop, 2 s after it
true_that test "$(sort -n left | tail -n 1)" -le 22000000000
same "$(sort -rn left)" "$(cat left)" 'what is left, in the order told'
