#!/bin/bash
# SPDX-License-Identifier: MIT
# The lint that all tests of workbooks rely on: it finds what it is there for.
. "$(dirname "$0")/lib.sh"
lint="python3 $ROOT/tests/tools/xlsx_lint.py"

t 'the lint of workbooks finds each of the faults it is there for'
"$PTS" run lat --quick -q --dut 'sim:ent-nvme?size=10g&seed=3' >"$OUT" 2>"$ERR"
pts report -o good.xlsx
run python3 "$ROOT/tests/tools/xlsx_break.py" good.xlsx
exit_is 0
out_match '^[4-9][0-9] faults tried, 0 missed'
for fault in 'merges overlap' 'no stored value'; do
	run python3 "$ROOT/tests/tools/xlsx_break.py" good.xlsx bad.xlsx "$fault"
	run $lint bad.xlsx
	exit_is 1
	out_match '^8 sheets, [0-9]+ cells, [1-9][0-9]* faults'
done
