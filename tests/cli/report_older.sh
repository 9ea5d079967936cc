#!/bin/bash
# SPDX-License-Identifier: MIT
# A run in a file of each older schema: the report says what to do, changes nothing, and after it gives the bytes it always gave.
. "$(dirname "$0")/lib.sh"

"$PTS" run tp --quick -q --dut 'sim:ent-nvme?size=10g&seed=3' --db new.db >"$OUT" 2>"$ERR"
"$PTS" run replay-native --quick -q --capture "$ROOT/tests/fixtures/rwsw/mix.csv" --dut 'sim:ent-nvme?size=10g' --db new.db >"$OUT" 2>"$ERR"
pts report 1 --db new.db -o new.xlsx
pts report 1 2 --db new.db -o new.html
migrations=("$ROOT"/schema/0*.sql)
newest=${#migrations[@]}

# older K: old.db, as a pts of K migrations would have written the same rows
older() {
	local tables t
	rm -f old.db
	cat "${migrations[@]:0:$1}" | sqlite3 old.db || return
	tables=$(sqlite3 old.db "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY rowid")
	{
		echo "PRAGMA foreign_keys = 0; ATTACH 'new.db' AS new; BEGIN;"
		for t in $tables; do echo "INSERT INTO main.$t SELECT * FROM new.$t;"; done
		echo "COMMIT; PRAGMA main.user_version = $1;"
	} | sqlite3 -bail old.db
}

for ((k = 1; k < newest; k++)); do
	t "a file of schema $k of $newest: refused with the way out, then migrated, the same report"
	runs='1 2'
	[ "$k" -ge 4 ] || runs=1 # tables of a replay came later: only the run that has none of them
	true_that older "$k"
	before=$(sha256sum <old.db)
	pts report 1 --db old.db -o old.xlsx
	exit_is 2
	err_lines 1
	err_has "made by an older pts (schema $k, now $newest); run: pts db migrate --db old.db"
	file_absent old.xlsx
	same "$(sha256sum <old.db)" "$before" 'the file'
	pts db migrate --db old.db
	exit_is 0
	pts report 1 --db old.db -o old.xlsx
	exit_is 0
	true_that cmp old.xlsx new.xlsx
	if [ "$runs" = '1 2' ]; then
		pts report 1 2 --db old.db -o old.html
		exit_is 0
		true_that cmp old.html new.html
		pts db check --db old.db
		exit_is 0
	fi
	rm -f old.xlsx old.html
done
