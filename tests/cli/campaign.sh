#!/bin/bash
# SPDX-License-Identifier: MIT
# Several --dut: one run and one process each, joined by a campaign; stopped as one, dying as one, failing alone.
. "$(dirname "$0")/lib.sh"

mkdir defs
cat >defs/c.pts <<'END'
test short "Short" clause X
  purge
  run rnd-4k-r threads 1 qd 1 for 200ms
end
test long "Long" clause X
  purge
  run rnd-4k-w threads 1 qd 2 for 60s
end
END
export PTS_DEF_PATH=$W/defs

t 'a run each, one campaign, lines that say which drive'
pts run short --dut 'file:a?size=16m' --dut 'file:b?size=16m' --db ok.db
exit_is 0
sql_is ok.db "SELECT count(*), count(DISTINCT campaign) FROM v_run WHERE state = 'done'" '2|1'
err_has 'file:a?size=16m: short'
err_has 'file:b?size=16m: short'
out_match 'done on file:a'

t 'JSON lines carry run and drive, and nothing else is among them'
pts run short --dut 'file:a' --dut 'file:b' --db ok.db --progress=json
exit_is 0
true_that python3 -c 'import json,sys
d = [json.loads(l) for l in open(sys.argv[1])]
assert len({x["uuid"] for x in d}) == 2 and len({x["dut"] for x in d}) == 2
assert sum("verdict" in x for x in d) == 2' "$ERR"

t 'a refused drive: nobody starts, exit 2'
echo precious >mine
pts run short --dut 'file:a' --dut 'file:mine' --db no.db
exit_is 2
file_absent no.db
same "$(cat mine)" precious

t '^C to the whole group stops every member once: partial cells, exit 4, resumable'
setsid "$PTS" run long --dut 'file:a' --dut 'file:b' --db int.db >"$OUT" 2>"$ERR" &
PID=$!
wait_for int.db "SELECT count(*) FROM v_section" 2
sleep 0.3
kill -INT -- "-$(ps -o pgid= -p $PID | tr -d ' ')" 2>/dev/null || kill -INT $PID
wait $PID
RC=$?
exit_is 4
sql_is int.db "SELECT count(*) FROM v_run WHERE state = 'interrupted'" 2
sql_is int.db "SELECT count(*), sum(partial) FROM v_cell" '2|2'
same "$(ls int.db-*.progress 2>/dev/null)" '' 'progress files'

t 'kill -9 of the parent: no member goes on'
start kill.db long --dut 'file:a' --dut 'file:b'
wait_for kill.db "SELECT count(*) FROM v_section" 2
kids=$(pgrep -P $PID)
stop KILL
over() { ! grep -qs '^State:.[RSD]' "/proc/$1/status"; } # a zombie is over
for k in $kids; do
	wait_until over "$k"
done
pts db check --db kill.db
exit_is 0

t 'a member that dies is 3, the other is done'
start dead.db long short --dut 'file:a' --dut 'sim:pm?size=1g'
wait_for dead.db "SELECT count(*) FROM v_run WHERE state = 'done'" 1
kill -9 "$(pgrep -P $PID | head -n 1)"
wait $PID
RC=$?
exit_is 3
sql_is dead.db "SELECT count(*) FROM v_run WHERE simulated AND state = 'done'" 1

t 'U53 U34 one member fails, one hangs: each ends for itself, the third is done, exit 3'
printf 'test cell "Cell" clause X\n run rnd-4k-r threads 1 qd 1 for 300ms\nend\n' >defs/cell.pts
pts run cell --db parts.db --dut 'file:p?size=1m' --dut "fault:eio@2+:file:$W/q?size=1m" \
	--dut "fault:deadline=1s,never@3+:file:$W/r?size=1m"
exit_is 3
sql_is parts.db "SELECT state FROM v_run ORDER BY state" "done
failed
hung"
sql_is parts.db 'SELECT count(DISTINCT campaign), count(*) FROM v_run' '1|3'
pts db check --db parts.db
exit_is 0
for run in 1 2 3; do
	pts report $run --db parts.db -o part$run.txt
	exit_is 0
done
same "$(grep -lE 'state "(failed|hung)"' part?.txt | wc -l)" 2 'reports that say it'
