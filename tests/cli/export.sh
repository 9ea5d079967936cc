#!/bin/bash
# SPDX-License-Identifier: MIT
# pts export: a run as JSON and CSV, whole or not at all, the same in any locale.
. "$(dirname "$0")/lib.sh"

mkdir defs && cat >defs/small.pts <<'END'
test small "Small test" clause X
  purge
  fill seq-128k-w 1x threads 1 qd 8
  loop rounds 5 until steady
    foreach mix in 100/0 95/5 65/35 50/50 35/65 5/95 0/100
      run rnd rw $mix bs 4k threads 2 qd 4 for 1m
    end
    track iops of rw 65/35
  end
  idle 1m
end
END
export PTS_DEF_PATH=$W/defs

t 'a run to export'
pts run small --dut 'sim:pm?size=1g' --db x.db -q --note 'a "note", with a comma'
exit_is 0
pts run small --dut 'sim:pm?size=1g&seed=9' --db x.db -q
exit_is 0
cells=$(sqlite3 x.db 'SELECT COUNT(*) FROM v_cell WHERE run_id = 1')

t 'JSON holds the views'
pts export 1 --json --db x.db
exit_is 0
err_empty
json_is 'd["schema"], d["run"]["run_id"], d["run"]["state"], d["run"]["simulated"]' "('pts.export/1', 1, 'done', True)"
json_is 'list(d)[0], len(d["cells"]), len(d["tests"])' "('schema', $cells, 1)"
json_is 'd["run"]["note"]' 'a "note", with a comma'
json_is 'd["run"]["digest"]' "$(sqlite3 x.db 'SELECT digest FROM v_run WHERE run_id = 1')"
json_is 'sum(c["ios"] for c in d["cells"]) == sum(s["ios"] for s in d["streams"])' True
json_is 'sorted({type(d["tests"][0]["params"]).__name__, type(d["tests"][0]["steady"]).__name__})' "['bool', 'dict']"
json_is '{e["run_id"] for e in d["events"] + d["cells"] + d["steady"]}' '{1}'
json_is '[k for k in d["cells"][0]][:5]' "['cell_id', 'run_id', 'test', 'attempt', 'section']"
same "$(python3 -c 'import json; d = json.load(open(".out")); print(",".join(d["cells"][0]))')" \
	"$(sqlite3 x.db "SELECT group_concat(name) FROM pragma_table_info('v_cell')")" 'keys of a cell'

t 'RUN is a number, a uuid or the last'
pts export --json --db x.db
json_is 'd["run"]["run_id"]' 2
pts export last --json --db x.db
json_is 'd["run"]["run_id"]' 2
pts export "$(sqlite3 x.db 'SELECT substr(uuid, 1, 12) FROM v_run WHERE run_id = 1')" --json --db x.db
json_is 'd["run"]["run_id"]' 1
pts export 7 --json --db x.db
exit_is 2
err_has "no run '7'"
out_empty

t 'CSV reads back exactly'
pts export 1 --csv --db x.db
exit_is 0
cp "$OUT" read.csv
run python3 - read.csv x.db <<'END'
import csv, sqlite3, sys
rows = list(csv.reader(open(sys.argv[1], newline='')))
db = sqlite3.connect(sys.argv[2])
cur = db.execute('SELECT * FROM v_cell WHERE run_id = 1 ORDER BY cell_id')
assert rows[0] == [c[0] for c in cur.description], rows[0]
want = cur.fetchall()
assert len(rows) == len(want) + 1
for got, w in zip(rows[1:], want):
    for g, v in zip(got, w):
        assert (v is None and g == '') or (isinstance(v, float) and float(g) == v) or str(v) == g, (g, v)
raw = open(sys.argv[1], 'rb').read()
assert raw.count(b'\r\n') == len(rows) and raw.endswith(b'\r\n')
print('same')
END
out_is same

t 'the same bytes again, and in any locale'
pts export 1 --csv --db x.db -o a.csv
LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 "$PTS" export 1 --csv --db x.db -o b.csv
true_that cmp a.csv b.csv
"$PTS" export 1 --json --db x.db -o a.json
LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 "$PTS" export 1 --json --db x.db -o b.json
true_that cmp a.json b.json

t 'a folder gets one file a view'
mkdir out
pts export 1 --csv --db x.db -o out/
exit_is 0
out_empty
for v in v_run v_test v_section v_cell v_stream v_second v_histogram v_steady v_event v_deviation v_info v_point; do
	[ -s out/$v.csv ] || fail "no out/$v.csv"
done
true_that cmp out/v_cell.csv a.csv
same "$(wc -l <out/v_second.csv)" "$(($(sqlite3 x.db 'SELECT COUNT(*) FROM v_second WHERE run_id = 1') + 1))" seconds
pts export 1 --json --db x.db -o out/
exit_is 2
err_has 'is a directory'

t 'a failed export leaves what was there'
echo old >keep.json
# 40 kB: more than the shared memory beside a database, less than the document
(ulimit -f 40; trap '' XFSZ; exec "$PTS" export 1 --json --db x.db -o keep.json) >"$OUT" 2>"$ERR"
RC=$?
exit_is 3
err_has 'keep.json: '
same "$(cat keep.json)" old keep.json
pts export 1 --json --db x.db -o none/x.json
exit_is 2
same "$(echo keep.json*)" keep.json 'what lies there'

t 'a full pipe and a special file'
"$PTS" export 1 --json --db x.db >/dev/full 2>"$ERR"
RC=$?
exit_is 3
pts export 1 --json --db x.db -o /dev/null
exit_is 0
[ -c /dev/null ] || fail '/dev/null was replaced'
pts export 1 --json --db x.db -o /dev/full
exit_is 3

t 'the database is never overwritten'
before=$(sha256sum x.db)
pts export 1 --json --db x.db -o ./x.db
exit_is 2
err_has 'is the database itself'
same "$(sha256sum x.db)" "$before" x.db

t 'a database without its last word exports as well'
cp x.db cut.db
sqlite3 cut.db "SELECT name FROM sqlite_master WHERE type = 'trigger'" | sed 's/.*/DROP TRIGGER &;/' |
	sqlite3 cut.db
sqlite3 cut.db "DELETE FROM run_end; DELETE FROM event WHERE kind = 'seal'"
pts export 1 --json --db cut.db
exit_is 0
json_is 'd["run"]["state"], d["run"]["ended_utc"], d["run"]["sealed"]' "('interrupted', None, False)"

t 'mistakes in usage'
pts export 1 --db x.db
exit_is 2
err_has '--json or --csv'
pts export 1 --json --csv --db x.db
exit_is 2
pts export 1 2 --json --db x.db
exit_is 2
pts export 1 --json --db none.db
exit_is 2
err_has 'none.db: no such database'
file_absent none.db
