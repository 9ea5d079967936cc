#!/bin/bash
# SPDX-License-Identifier: MIT
# make evidence: every clause has its definition or code, its judge and its test; no tag names a clause that is none.
. "$(dirname "$0")/lib.sh"

t 'clause, definition, code, test: no orphan'
run python3 "$ROOT/tests/tools/evidence.py" -q
out_match '^[1-9][0-9]+ clauses, [1-9][0-9]+ tags, 0 orphans$'
exit_is 0

t 'an orphan is told'
mkdir -p tree/tests/tools tree/pts/defs tree/tests/cli
cp "$ROOT/tests/tools/evidence.py" tree/tests/tools/
cat >tree/pts/defs/clauses.txt <<'END'
X-1 | 1 | S | X | judge | kept and tested
X-2 | 1 | S | X | judge | kept nowhere
END
tag() { printf 'PTS[%s] ' "$@"; } # not as such in this text: it would be found here, too
echo "# $(tag X-1 X-3)" >tree/pts/defs/x.pts
echo "# $(tag X-1 X-2)" >tree/tests/cli/x.sh
echo "/* $(tag X-1 X-2)*/" >tree/pts/cmd_audit.c
run python3 tree/tests/tools/evidence.py
exit_is 1
out_match '^ +definition pts/defs/x.pts:1$'
out_match '^orphan: X-2: no definition is tagged with it$'
out_match '^orphan: X-3: no clause is called so \(pts/defs/x.pts:1\)$'
out_hasnt 'orphan: X-1'
