#!/bin/bash
# SPDX-License-Identifier: MIT
# pts db: info, check, migrate, merge, backup; and files that are no databases.
. "$(dirname "$0")/lib.sh"

mkdir defs && cat >defs/small.pts <<'END'
test small "Small test" clause X
  purge
  fill seq-128k-w 1x threads 1 qd 8
  loop rounds 5 until steady
    run rnd rw 65/35 bs 4k threads 2 qd 4 for 1m
    track iops of rw 65/35
  end
end
END
export PTS_DEF_PATH=$W/defs

t 'a run to look at'
for db in one two; do
	pts run small --dut 'sim:pm?size=1g' --db $db.db -q
	exit_is 0
done
cells=$(sqlite3 one.db 'SELECT COUNT(*) FROM v_cell')

t 'info counts'
pts db info --db one.db
exit_is 0
err_empty
out_match "^schema +$(find "$ROOT/schema" -name '0*.sql' | wc -l)\$"
out_match '^runs +1$'
out_match "^cells +$cells\$"
pts db info --db one.db --json
exit_is 0
json_is 'd["schema"], d["runs"], d["cells"], d["schema_version"], d["log_bytes"]' \
	"('pts.db-info/1', 1, $cells, $(find "$ROOT/schema" -name '0*.sql' | wc -l), 0)"
json_is 'd["size_bytes"]' "$(stat -c %s one.db)"

t 'check of a sound database'
pts db check --db one.db
exit_is 0
out_has 'run 1: done, '
out_has "head $(sqlite3 one.db 'SELECT digest FROM v_run')"
out_has 'one.db: sound'
pts db check --db one.db --json
exit_is 0
json_is 'd["schema"], d["sound"], d["faults"], d["runs"][0]["run_id"], d["runs"][0]["sealed"]' \
	"('pts.db-check/1', True, [], 1, True)"

t 'check only reads'
before=$(sha256sum one.db)
pts db check --db one.db
same "$(sha256sum one.db)" "$before" 'the file after a check'
same "$(echo one.db*)" one.db 'what lies there'

t 'a value changed by hand is named, exit 1'
cp one.db bad.db
run sqlite3 bad.db 'UPDATE cell SET art_ns = art_ns * 0.9 WHERE cell_id = 2'
[ "$RC" != 0 ] || fail 'an update of evidence went through'
err_has 'evidence is only ever added'
sqlite3 bad.db 'DROP TRIGGER cell_no_update; UPDATE cell SET art_ns = art_ns * 0.9 WHERE cell_id = 3'
pts db check --db bad.db
exit_is 1
out_match '^run 1: cell 3 \(small test.*\): hash differs$'
out_has 'bad.db: FAULTS'
pts db check --db bad.db --json
exit_is 1
json_is 'd["sound"], len(d["faults"])' '(False, 1)'

t 'a damaged file is told, exit 1 or 3, never a crash'
cp one.db torn.db
size=$(stat -c %s torn.db)
for at in 5 20 40 60; do
	dd if=/dev/urandom of=torn.db bs=512 count=4 seek=$((size * at / 100 / 512)) conv=notrunc 2>/dev/null
done
pts db check --db torn.db
[ "$RC" = 1 ] || [ "$RC" = 3 ] || fail "exit $RC: $(show "$ERR")"
truncate -s $((size / 2)) torn.db
pts db check --db torn.db
[ "$RC" = 1 ] || [ "$RC" = 3 ] || fail "exit $RC: $(show "$ERR")"

t 'merge brings the runs of another file'
pts db merge one.db two.db --db all.db
exit_is 0
out_has 'run 1 of one.db is now run 1'
out_has 'run 1 of two.db is now run 2'
sql_is all.db 'SELECT COUNT(*), COUNT(DISTINCT uuid), COUNT(DISTINCT host_id) FROM v_run' '2|2|1'
sql_is all.db 'SELECT digest FROM v_run WHERE run_id = 2' "$(sqlite3 two.db 'SELECT digest FROM v_run')"
pts db check --db all.db
exit_is 0
pts db merge one.db --db all.db
exit_is 0
out_has 'run 1 of one.db is here already, as run 1'
sql_is all.db 'SELECT COUNT(*) FROM v_run' 2

t 'merge refuses faults, itself, and what is no database'
pts db merge bad.db --db all.db
exit_is 1
err_has 'bad.db has faults, nothing is merged; the first: run 1: cell 3'
pts db merge all.db --db all.db
exit_is 2
err_has 'are the same file'
pts db merge none.db --db new.db
exit_is 2
err_has 'none.db: no such database'
file_absent new.db
sql_is all.db 'SELECT COUNT(*) FROM v_run' 2

t 'backup'
pts db backup copy.db --db all.db
exit_is 0
out_empty
pts db check --db copy.db
exit_is 0
pts db backup copy.db --db all.db
exit_is 2
err_has 'copy.db: exists'
pts db backup no/where.db --db all.db
exit_is 2
err_has 'where.db'

t 'migrate has nothing to do'
pts db migrate --db one.db
exit_is 0
out_is "one.db: schema $(find "$ROOT/schema" -name '0*.sql' | wc -l), nothing to do"
pts db migrate --db none.db
exit_is 2
file_absent none.db

t 'mistakes in usage'
pts db
exit_is 2
pts db chekc
exit_is 2
err_has "did you mean 'check'"
pts db backup
exit_is 2
err_has 'backup takes'
pts db info more --db one.db
exit_is 2

t 'files that are no databases'
echo 'hello' >notes
: >empty
sqlite3 other.db 'CREATE TABLE t (x)'
for f in notes empty other.db; do
	before=$(sha256sum $f)
	for what in info check migrate; do
		pts db $what --db $f
		exit_is 2
		err_has "$f: not a pts database"
	done
	same "$(sha256sum $f)" "$before" "$f afterwards"
done
pts run small --dut 'sim:pm?size=1g' --db notes -q
exit_is 2
err_has 'notes: not a pts database'
same "$(cat notes)" hello notes
pts db info --db "$W"
exit_is 2
err_has 'is a directory'
cp one.db newer.db
sqlite3 newer.db 'PRAGMA user_version = 99'
pts db check --db newer.db
exit_is 2
err_has 'newer.db: made by a newer pts'

t 'a name with a quote, a percent sign and a semicolon is a name'
odd="o'd%20;touch pwned?.db"
cp one.db "$odd"
pts db check --db "$odd"
exit_is 0
pts db merge "$odd" --db odd.db
exit_is 0
file_absent pwned
