#!/bin/bash
# SPDX-License-Identifier: MIT
# pts resume of a run that failed, of a simulated drive whose parameters changed, after two signals at once.
. "$(dirname "$0")/lib.sh"

mkdir defs
cat >defs/t.pts <<'E'
test first "First test" clause X
  purge
  run rnd-4k-w threads 1 qd 1 for 50ms
end
test weak "The one that fails" clause X
  purge
  fill seq-128k-w 1x threads 1 qd 2
  run rnd-4k-w threads 1 qd 1 for 20ms
end
test last "Last test" clause X
  purge
  run rnd-4k-w threads 1 qd 1 for 50ms
end
test long "Long test" clause X
  purge
  repeat 100
    run rnd-4k-w threads 2 qd 4 for 10h every 60s
  end
end
E
export PTS_DEF_PATH=$W/defs

t 'a failed run, named, goes on: its failed test begins again, the rest follows, and the report says so'
pts run weak first last -q --dut "fault:eio@3:file:$W/f?size=2m" --db f.db
exit_is 3
out_has 'pts resume 1 --db f.db'
head=$(ask f.db 'SELECT digest FROM v_run')
cp f.db changed.db
pts status --db f.db
out_has 'pts resume 1'
for words in '' last; do
	# shellcheck disable=SC2086
	pts resume $words --db f.db
	exit_is 2
	err_has 'run 1 failed: pts resume 1 begins its failed test again'
done
pts resume 1 --db f.db --continue-inside
exit_is 2
err_has 'continue-inside'
sql_is f.db "SELECT state, sealed, digest = '$head' FROM v_run" 'failed|1|1'
pts resume 1 -q --db f.db
exit_is 0
sql_is f.db 'SELECT state, sealed FROM v_run' 'done|1'
sql_is f.db 'SELECT test, attempt, void, verdict FROM v_test ORDER BY ordinal, attempt' \
	$'weak|1|1|failed\nweak|2|0|done\nfirst|1|0|done\nlast|1|0|done'
sql_is f.db "SELECT detail ->> '$.test', detail ->> '$.failed_attempt', detail ->> '$.why' LIKE '%EIO%' FROM v_event WHERE kind = 'resume'" 'weak|1|1'
pts db check --db f.db
exit_is 0
pts audit --db f.db --head "$head"
out_has 'evidence: intact'
out_has 'the one given is an earlier entry of it'
pts report --db f.db -o f.txt
exit_is 0
file_has f.txt 'weak: attempt 1 failed and was begun again from its purge: '
pts resume 1 --db f.db
exit_is 2
err_has 'run 1 is done'

t 'not when its evidence was changed'
sqlite3 changed.db "DROP TRIGGER test_end_no_update; UPDATE test_end SET detail = 'by hand'"
pts resume 1 --db changed.db
exit_is 2
err_has 'were changed'

t 'rows behind the seal of a run that did not fail are found'
cp f.db forged.db
sqlite3 forged.db "INSERT INTO event (run_id, utc, kind, detail) VALUES (1, '', 'resume', '{}');
	INSERT INTO chain SELECT 1, max(n) + 1, 'event', (SELECT max(event_id) FROM event), 'x', 'y' FROM chain"
pts db check --db forged.db
exit_is 1
out_has 'seal: rows follow it'

killed() { # DUT: a run of it, killed in its midst
	rm -f s.db*
	start s.db long --dut "$1" -q
	wait_for s.db 'SELECT count(*) FROM v_section' 1
	wait_until compgen -G 's.db-*.progress' >/dev/null
	stop KILL
}

t 'a simulated drive is the same only with the same parameters, wherever they are given'
printf '[drive]\nlike = ent-nvme\n[gc]\nwa_steady = 4\n' >s.ini
killed 'sim:s.ini?seed=3'
pts list runs --db s.db
out_has interrupted
printf '[drive]\nlike = ent-nvme\n[gc]\nwa_steady = 5\n[noise]\ncell_pct = 1\n' >s.ini
mkdir -p elsewhere
cd elsewhere || exit 1
pts resume --db ../s.db
exit_is 2
err_has 'not the target of the run'
err_has 'gc.wa_steady was 4, is 5, noise.cell_pct was 0.4, is 1'
cd ..
printf '; the same, in other words\n[drive]\nlike = ent-nvme\n\n[gc]\nwa_steady = 4.0\n' >s.ini
cd elsewhere || exit 1
"$PTS" resume --db ../s.db -q >"$OUT" 2>"$ERR" &
PID=$!
wait_for ../s.db 'SELECT count(*) FROM attempt' 2
stop TERM
exit_is 4
cd ..

t 'so with the members of a set'
killed 'set:sim:s.ini,sim:ent-nvme'
printf '[drive]\nlike = ent-nvme\n[gc]\nwa_steady = 4\nerase_unit = 1g\n' >s.ini
pts resume --db s.db
exit_is 2
err_has 'member 1: not the target of the run'
err_has 'gc.erase_unit was '

t 'two signals at once, as timeout sends them: stored as interrupted, no log left beside the file'
for n in 1 2 3; do
	rm -f w.db*
	start w.db long --dut 'sim:ent-nvme' -q
	wait_for w.db 'SELECT count(*) FROM v_section' 1
	kill -TERM $PID
	stop TERM
	if [ $RC = 4 ]; then
		sql_is w.db 'SELECT state FROM v_run' interrupted
		same "$(echo w.db*)" w.db 'what lies there'
	fi
done

t 'a run whose process is gone is interrupted for every reader'
killed 'sim:ent-nvme'
sql_is s.db 'SELECT state FROM v_run' running
pts export 1 --json --db s.db
json_is 'd["run"]["state"]' interrupted
pts report 1 --db s.db -o s.json
exit_is 0
file_has s.json '"state":"interrupted"'
pts audit --db s.db
out_match '^state: interrupted'
pts db check --db s.db
out_match '^run 1: interrupted'
