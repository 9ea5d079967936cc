#!/bin/bash
# SPDX-License-Identifier: MIT
# What happens when a drive misbehaves: rounds that fail, throttling, another link, critical warnings; and the write cache, which is
# set, read back and put back whatever happens. Simulated drives with injected events; the same on real IO in fault.sh.
. "$(dirname "$0")/lib.sh"

mkdir defs
cat >defs/t.pts <<'END'
test small "Small test" clause X
  purge
  loop rounds 9 until steady
    run rnd-4k-w threads 4 qd 32 for 1m as irpw
    run rnd rw 65/35 bs 4k threads 4 qd 32 for 1m
    run rnd rw 0/100 bs 4k threads 4 qd 32 for 1m
    track iops of rw 0/100
  end
end
test calm "Nothing but cells" clause X
  purge
  run rnd-4k-w threads 4 qd 32 for 20m every 1m as step
end
test hirlike "Stimulus and idle" clause X
  purge
  repeat 20
    run rnd-4k-w threads 4 qd 32 for 5s as stimulus label x
    idle 15s
  end
end
END
export PTS_DEF_PATH=$W/defs

# drive NAME KEY=VALUE...: a profile like ent-nvme with other values
drive() {
	local name=$1 kv
	shift
	cp "$ROOT/workloads/sim/ent-nvme.ini" "$name.ini"
	for kv; do
		grep -q "^${kv%%=*} = " "$name.ini" || fail "no key ${kv%%=*}"
		sed -i "s|^${kv%%=*} = .*|${kv%%=*} = ${kv#*=}|" "$name.ini"
	done
}
sim() { printf 'sim:%s/%s.ini?size=100g' "$W" "$1"; }
events() { printf "SELECT count(*) FROM v_event WHERE kind = '%s'" "$1"; }

t 'an error voids its round; repeated under the same number, the window starts anew'
drive once error_cell=8
pts run small --dut "$(sim once)" --db once.db -q
exit_is 0
sql_is once.db "SELECT round, round_try, count(*), sum(void), sum(errors) FROM v_cell WHERE round IN (3, 4) GROUP BY 1, 2" \
	'3|1|2|2|1
3|2|3|0|0
4|1|3|0|0'
sql_is once.db "SELECT window_first, window_last, steady FROM v_test" '3|7|1'
sql_is once.db "SELECT count(*) FROM v_cell WHERE in_window AND (void OR errors > 0)" 0
sql_is once.db "$(events error)" 1

t 'a second error in the same round stops: exit 3, the numbers are no result'
drive twice error_cell=8 error_cells=2
pts run small --dut "$(sim twice)" --db twice.db -q
exit_is 3
sql_is twice.db "SELECT state, verdict FROM v_run JOIN v_test USING (run_id)" 'failed|failed'
sql_is twice.db "SELECT max(round), max(round_try) FROM v_cell" '3|2'
pts resume --db twice.db
exit_is 2

t 'a drive that throttles in the midst: an event, and each cell it touched says so'
drive warm throttle_at_gb=200 throttle_gb=100 throttle_pct=50
pts run calm --dut "$(sim warm)" --db warm.db
exit_is 0
err_match '^calm: .*throttle'
sql_is warm.db "$(events throttle)" 2
sql_is warm.db "SELECT count(*) > 0 FROM v_cell WHERE note LIKE '%drive throttled%'" 1
sql_is warm.db "SELECT (SELECT count(*) FROM v_cell WHERE note LIKE '%drive throttled%') = detail ->> '$.cells'
	FROM v_event WHERE kind = 'throttle' ORDER BY event_id DESC LIMIT 1" 1
sql_is warm.db "SELECT (SELECT min(segment) FROM v_cell WHERE note LIKE '%drive throttled%') = detail ->> '$.segment'
	FROM v_event WHERE kind = 'throttle' ORDER BY event_id LIMIT 1" 1
sql_is warm.db "SELECT count(*) FROM v_cell WHERE temperature_c IS NULL" 0

t 'a link that changes: both ways, with the cells between'
drive loose link_at_s=300 link_s=400
pts run calm --dut "$(sim loose)" --db loose.db --progress json
exit_is 0
err_match '"test":"calm","warning":"the drive.s link is not what it was"'
sql_is loose.db "SELECT detail ->> '$.first', detail ->> '$.now' FROM v_event WHERE kind = 'link' ORDER BY event_id" \
	'16.0 GT/s x4|8.0 GT/s x2
16.0 GT/s x4|16.0 GT/s x4'
sql_is loose.db "SELECT count(*) BETWEEN 6 AND 8 FROM v_cell WHERE note LIKE '%link 8.0 GT/s x2, at first 16.0 GT/s x4%'" 1

t 'the report warns of both'
pts report 1 --db loose.db -o loose.txt -q
exit_is 0
file_has loose.txt "link is not what it was"
pts report 1 --db warm.db -o warm.txt -q
file_has warm.txt "throttle"

t 'a critical warning stops, exit 3, and the run can go on'
drive hot critical_c=45
pts run calm --dut "$(sim hot)" --db hot.db -q
exit_is 3
err_has 'critical warning of the drive'
err_has '--on-critical go-on'
out_has 'go on: pts resume'
sql_is hot.db "SELECT state FROM v_run" interrupted
sql_is hot.db "$(events critical)" 1
sql_is hot.db "SELECT sum(partial), max(temperature_c) >= 45 FROM v_cell" '0|1'
pts resume --db hot.db --on-critical go-on -q
exit_is 0
sql_is hot.db "SELECT state, (SELECT count(*) FROM v_cell WHERE void = 0) FROM v_run" 'done|20'
sql_is hot.db "SELECT count(*) > 0 FROM v_cell WHERE note LIKE '%critical warning%'" 1
pts db check --db hot.db
exit_is 0

t '--on-critical go-on from the start; other words are none'
pts run calm --dut "$(sim hot)" --db go.db -q --on-critical go-on
exit_is 0
sql_is go.db "SELECT count(*) FROM v_cell" 20
pts run calm --dut "$(sim hot)" --db no.db --on-critical maybe
exit_is 2
err_has "--on-critical takes stop|go-on, not 'maybe'"
file_absent no.db

t 'stimulus and idle: an answer after each idle, none before'
pts run hirlike --dut "$(sim loose)" --db idle.db -q
exit_is 0
sql_is idle.db "SELECT count(*) FROM v_cell WHERE phase = 'stimulus'" 20
# the link changes at 300 s, in the midst of the stimulus or the idle of pass 16: told by a cell that is idle, never a stimulus
sql_is idle.db "SELECT count(*), min(detail ->> '$.cell') LIKE 'IDLE %' FROM v_event WHERE kind = 'link'" '1|1'

t 'write cache: off for enterprise, on for client, put back; recorded'
sql_is warm.db "SELECT detail ->> '$.asked', detail ->> '$.was', detail ->> '$.now' FROM v_event WHERE kind = 'write-cache'" 'off||none'
for profile in enterprise client; do
	rm -f c.db*
	pts run calm --dut 'sim:client-slc?size=64g' --profile $profile --db c.db -q
	exit_is 0
	[ $profile = enterprise ] || sql_is c.db "SELECT write_cache, (SELECT count(*) FROM v_event WHERE kind = 'write-cache') FROM v_test" 'on|1'
	[ $profile = client ] || sql_is c.db "SELECT detail ->> '$.was', detail ->> '$.now', detail ->> '$.put_back' FROM v_event WHERE kind = 'write-cache' ORDER BY event_id" \
		'on|off|
off|on|1'
done

t 'put back as well when the test fails or is stopped by the drive'
cp "$ROOT/workloads/sim/client-slc.ini" sick.ini
sed -i 's/^error_cell = .*/error_cell = 2/; s/^error_cells = .*/error_cells = 9/' sick.ini
pts run calm --dut "sim:$W/sick.ini?size=64g" --db sick.db -q
exit_is 3
sql_is sick.db "SELECT detail ->> '$.now' FROM v_event WHERE kind = 'write-cache' ORDER BY event_id DESC LIMIT 1" on

t 'a run of a file of definitions that died is put right by its resume'
# killed while the cache is off
cat >long.pts <<'END'
test long "Long" clause X
  purge
  repeat 100000
    run rnd-4k-w threads 4 qd 32 for 5s as step
  end
end
END
"$PTS" run ./long.pts --dut 'sim:client-slc?size=64g' --db dead.db -q >/dev/null 2>&1 &
pid=$!
for _ in $(seq 100); do
	[ "$(sqlite3 -batch -cmd '.timeout 2000' dead.db 'SELECT count(*) FROM v_cell' 2>/dev/null || echo 0)" -gt 3 ] && break
	sleep 0.1
done
kill -9 $pid
wait $pid 2>/dev/null
sql_is dead.db "SELECT detail ->> '$.was', detail ->> '$.now' FROM v_event WHERE kind = 'write-cache'" 'on|off'
(cd / && exec "$PTS" resume --db "$W/dead.db" -q) >/dev/null 2>&1 & # the file is found again from elsewhere
pid=$!
for _ in $(seq 100); do
	[ "$(sqlite3 -batch -cmd '.timeout 2000' dead.db 'SELECT count(*) FROM v_cell WHERE attempt = 2' 2>/dev/null || echo 0)" -gt 3 ] && break
	sleep 0.1
done
kill -INT $pid
wait $pid
same $? 4 'exit code'
sql_is dead.db "SELECT detail ->> '$.now' FROM v_event WHERE kind = 'write-cache' AND detail ->> '$.put_back'" on

t 'where the cache cannot be switched: a deviation, and the state is unknown'
pts run calm --dut 'file:x?size=8m' --quick --db f.db -q --set nosuch=1
exit_is 2
printf 'test one "One" clause X\n purge\n run rnd-4k-w threads 1 qd 1 for 50ms\nend\n' >defs/one.pts
pts run one --dut 'file:x?size=8m' --db f.db -q
exit_is 0
sql_is f.db "SELECT write_cache, (SELECT count(*) FROM v_deviation WHERE text LIKE '%write cache neither set to off nor read back%') FROM v_test" 'unknown|1'
