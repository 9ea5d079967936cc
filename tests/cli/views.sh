#!/bin/bash
# SPDX-License-Identifier: MIT
# A database whose views, tables or triggers somebody redefined: nothing that reads numbers takes it, audit and db check tell.
. "$(dirname "$0")/lib.sh"

pts run iops --quick --dut sim:ent-nvme --db a.db -q
exit_is 0
view=$(ask a.db "SELECT sql FROM sqlite_master WHERE name = 'v_cell'")
run_view=$(ask a.db "SELECT sql FROM sqlite_master WHERE name = 'v_run'")

told() { # WHAT SQL: changes a copy
	t "$1 redefined: refused with its name, BROKEN in the audit"
	cp a.db b.db
	sqlite3 b.db "$2" || fail "$2"
	for command in 'report last -o r.txt' 'export last --json' 'status' 'list runs' 'resume 1' \
		'run iops --quick --dut sim:ent-nvme'; do
		# shellcheck disable=SC2086
		pts $command --db b.db
		exit_is 2
		err_has "b.db: $1: "
		err_lines 1
	done
	file_absent r.txt
	pts audit --db b.db
	exit_is 1
	out_has 'evidence: BROKEN'
	out_match "^  $1: "
	pts db check --db b.db
	exit_is 1
	out_match "^$1: "
	pts db check --db b.db --json
	json_is 'd["sound"], d["notes"]' '(False, [])'
	pts db merge b.db --db m.db
	true_that test $RC -ge 1
}
told 'view v_cell' "DROP VIEW v_cell; ${view/(read_ios + write_ios) \* 1e9/(read_ios + write_ios) * 3e9}"
told 'view v_deviation' 'DROP VIEW v_deviation; CREATE VIEW v_deviation AS SELECT run_id, clause, text FROM deviation WHERE 0'
told 'view v_steady' 'DROP VIEW v_steady'
told 'view v_run' "DROP VIEW v_run; ${run_view/ simulated,/ 0 AS simulated,}"
told 'trigger sly' 'CREATE TRIGGER sly BEFORE INSERT ON deviation BEGIN SELECT RAISE(IGNORE); END'

t "the user's own tables and views are a note"
cp a.db b.db
sqlite3 b.db 'CREATE TABLE lab (x); CREATE VIEW mine AS SELECT max(iops) FROM v_cell'
pts report --db b.db -o r.txt
exit_is 0
pts db check --db b.db
exit_is 0
out_has 'note: view mine: not of pts'
pts db check --db b.db --json
json_is 'd["sound"], d["notes"]' "(True, ['table lab: not of pts', 'view mine: not of pts'])"
pts audit --db b.db
out_has 'evidence: intact'
