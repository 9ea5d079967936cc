#!/bin/bash
# SPDX-License-Identifier: MIT
# pts run: the whole way on a file and on simulated drives; what the database holds afterwards.
. "$(dirname "$0")/lib.sh"

views='v_test v_section v_cell v_stream v_second v_histogram v_steady v_point v_deviation'

# The rows of a view for comparing two runs: every column but ids, uuid, host, campaign and wall-clock times.
dump() { # dump DB RUN
	local v cols
	for v in $views v_run v_event; do
		cols=$(sqlite3 "$1" "SELECT group_concat(name) FROM pragma_table_info('$v') WHERE name NOT IN
			('run_id','uuid','host_id','campaign','cell_id','event_id','utc','started_utc','ended_utc','test_id')")
		echo "== $v"
		case $v in
		v_stream | v_second | v_histogram)
			sqlite3 "$1" "SELECT $cols FROM $v WHERE cell_id IN (SELECT cell_id FROM v_cell WHERE run_id = $2)" ;;
		*) sqlite3 "$1" "SELECT $cols FROM $v WHERE run_id = $2" ;;
		esac
	done
}

cat >small.pts <<'END'
test small "Small test" clause X
  param size = 4k choice 4k 8k
  purge
  fill seq-128k-w 2x threads 1 qd 8
  loop rounds 5 until steady
    foreach mix in 100/0 65/35 0/100
      run rnd rw $mix bs $size threads 2 qd 4 for 150ms
    end
    track iops of rw 0/100
  end
  run rnd-4k-w threads 1 qd 1 for 300ms every 100ms as histogram
end
END
mkdir defs && mv small.pts defs/
export PTS_DEF_PATH=$W/defs

t 'the iops test of a simulated drive ends steady'
pts run iops --dut sim:ent-nvme --db sim.db
exit_is 0
out_has 'all tests achieved'
out_has 'report: pts report 1 --db sim.db'
sql_is sim.db "SELECT steady, verdict, void FROM v_test" '1|steady|0'
sql_is sim.db "SELECT count(*) = 56 * max(round) FROM v_cell WHERE phase = 'round'" 1
sql_is sim.db "SELECT sum(in_window) FROM v_cell" 280
sql_is sim.db "SELECT state, simulated, compliant FROM v_run" 'done|1|0'
sql_is sim.db "SELECT count(*) FROM v_steady WHERE steady = 1 AND round = (SELECT window_last FROM v_test)" 3
sql_is sim.db "SELECT count(DISTINCT elapsed_ns), max(elapsed_ns) FROM v_cell WHERE phase = 'round'" '1|60000000000'
sql_is sim.db "SELECT count(*) FROM v_cell c WHERE ios <> (SELECT sum(ios) FROM v_second s WHERE s.cell_id = c.cell_id)" 0
sql_is sim.db "SELECT count(*) FROM v_cell c WHERE ios <> (SELECT sum(ios) FROM v_stream s WHERE s.cell_id = c.cell_id)" 0
sql_is sim.db "SELECT count(*) FROM v_cell c WHERE ios <> (SELECT sum(count) FROM v_histogram h WHERE h.cell_id = c.cell_id AND kind = 'service')" 0
sql_is sim.db "SELECT count(*) FROM v_deviation WHERE text LIKE 'SIMULATED%'" 1

t 'two simulated runs with one seed are equal in every view'
pts run iops --dut 'sim:ent-nvme?size=1t&seed=7' --db a.db -q
exit_is 0
LC_ALL=C.UTF-8 LANG=de_DE.UTF-8 LC_NUMERIC=de_DE.UTF-8 pts run iops --dut 'sim:ent-nvme?size=1t&seed=7' --db b.db -q
exit_is 0
dump a.db 1 >a.txt
dump b.db 1 >b.txt
true_that cmp -s a.txt b.txt
true_that test "$(wc -l <a.txt)" -gt 10000
pts run iops --dut 'sim:ent-nvme?size=1t&seed=8' --db a.db -q
exit_is 0
dump a.db 2 >c.txt
true_that test "$(cmp a.txt c.txt | wc -l)" = 1

t 'a run on a file: every cell of the plan, accounts closed, Little within reason'
pts run small --dut 'file:scratch?size=64m' --db f.db --seed 3
true_that test $RC -le 1
sql_is f.db "SELECT count(*) FROM v_cell WHERE phase = 'round'" 15
sql_is f.db "SELECT write_bytes, partial, errors FROM v_cell WHERE phase = 'wipc'" '134217728|0|0'
sql_is f.db "SELECT count(*), sum(elapsed_ns BETWEEN 99000000 AND 150000000) FROM v_cell WHERE phase = 'histogram'" '3|3'
sql_is f.db "SELECT count(*) FROM v_cell WHERE ios = 0 OR iops IS NULL OR art_ns IS NULL" 0
sql_is f.db "SELECT count(*) FROM cell WHERE prepared <> read_ios + write_ios + short_ios + errors" 0
sql_is f.db "SELECT count(*) FROM v_cell WHERE phase = 'round' AND (threads_seen <> 2 OR inflight_avg > 8.001)" 0
sql_is f.db "SELECT seed, state FROM v_run" '3|done'
sql_is f.db "SELECT purge_method, purge_verified FROM v_section" 'punch|1'
sql_is f.db "SELECT count(*) FROM v_deviation WHERE text LIKE '%punch%' OR text LIKE '%is a file%' OR text LIKE '%definition set%'" 3
file_absent "$(echo f.db-*.progress)"
pts db check --db f.db
exit_is 0

t 'the scratch file is used again without a word, and grows no second marker'
pts run small --dut 'file:scratch' --db f.db -q
true_that test $RC -le 1
sql_is f.db "SELECT count(*), min(capacity_bytes) FROM v_run" '2|67108864'

t '--set inside the choice is recorded, outside it is a deviation'
pts run small --dut 'sim:pm?size=1g' --db s.db -q --set size=8k
exit_is 0
sql_is s.db "SELECT json_extract(params, '\$.size') FROM v_test" 8k
sql_is s.db "SELECT count(*) FROM v_deviation WHERE text LIKE '%size%'" 0
pts run small --dut 'sim:pm?size=1g' --db s.db -q --set size=16k
exit_is 0
sql_is s.db "SELECT count(*) FROM v_deviation WHERE text LIKE '%size%16k%'" 1
pts run small --dut 'sim:pm?size=1g' --db s.db -q --set sise=16k
exit_is 2
err_has "size"

t '4Kn: half-KiB cells are skipped and said to be n/a'
cat >4kn.ini <<'END'
END
sed 's/^lba *=.*/lba = 4096/' "$ROOT/workloads/sim/ent-nvme.ini" >4kn.ini
grep -q '^lba = 4096' 4kn.ini || fail 'no lba in the profile'
pts run iops --dut "sim:$W/4kn.ini" --db 4kn.db -q
exit_is 0
sql_is 4kn.db "SELECT count(*) FROM v_cell WHERE block_bytes = 512" 0
sql_is 4kn.db "SELECT count(*), min(json_extract(detail, '\$.block_bytes')) FROM v_event WHERE kind = 'cell-na'" '7|512'
sql_is 4kn.db "SELECT sum(in_window) FROM v_cell" 245
sql_is 4kn.db "SELECT count(*) FROM v_deviation WHERE text = 'iops: cells of 0.5k not measured: n/a (LBA 4096)'" 1
cat >defs/tiny.pts <<'END'
test tiny "Tiny" clause X
  purge
  run rnd rw 0/100 bs 0.5k threads 1 qd 1 for 1m
end
END
pts run tiny --dut "sim:$W/4kn.ini" --db tiny.db
exit_is 2
err_has 'none of its cells'
file_absent tiny.db
rm defs/tiny.pts

t 'what is written does not compress, whatever the window of the compressor'
cat >defs/data.pts <<'END'
test data "Data" clause X
  run seq rw 0/100 bs 4k threads 1 qd 1 for 1s
end
END
pts run data --dut 'file:data?size=8m' --db data.db -q
exit_is 0
true_that test "$(xz -1 -c data | wc -c)" -ge "$(($(stat -c %b data) * 512 * 99 / 100))"
true_that test "$(gzip -1 -c data | wc -c)" -ge "$(($(stat -c %b data) * 512 * 99 / 100))"
rm defs/data.pts data data.pts-scratch

t 'U14: a drive that never settles: NOT ACHIEVED, exit 1'
sed 's/^drift_pct_per_hour *=.*/drift_pct_per_hour = 200/' "$ROOT/workloads/sim/ent-nvme.ini" >drift.ini
pts run lat --dut "sim:$W/drift.ini" --db d.db
exit_is 1
err_has 'NOT ACHIEVED'
sql_is d.db "SELECT steady, rounds, window_first, window_last, verdict FROM v_test" '0|25|21|25|not achieved'
sql_is d.db "SELECT compliant FROM v_run" 0

t 'bad usage: exit 2, nothing made'
for words in 'run' 'run iops' 'run nosuch --dut sim:pm' 'run iops --dut sim:nosuch' 'run iops --dut file:' \
	'run iops --dut file:x?size=0' 'run iops --dut file:x?size=abc' 'run iops --dut sim:pm --method blkdiscard' \
	'run iops --dut sim:pm --method nosuch' 'run iops --dut sim:pm --profile nosuch' 'run iops --dut sim:pm --seed -1' \
	'run iops --dut sim:pm --progress=xml' 'run iops --dut nosuch' 'run iops --dut sim:pm --set' \
	'run rwsw-dirth --dut sim:pm' 'run iops --dut file:x?size=64k'; do
	# shellcheck disable=SC2086
	pts $words --db never.db
	exit_is 2
	true_that test -s "$ERR"
	file_absent never.db
	file_absent x
done

t 'a database that is none, a folder, a place that is not there: clear errors'
echo hello >text.db
pts run small --dut sim:pm --db text.db
exit_is 2
err_has text.db
same "$(cat text.db)" hello
mkdir folder
pts run small --dut sim:pm --db folder
true_that test $RC -ge 2
err_has folder
pts run small --dut sim:pm --db no/such/place.db
true_that test $RC -ge 2
err_has no/such/place.db

t '--progress=json gives JSON lines on stderr'
pts run small --dut 'sim:pm?size=1g' --db p.db --progress=json
exit_is 0
true_that python3 -c 'import json,sys
lines=[l for l in open(sys.argv[1]) if l.startswith("{")]
assert lines == list(open(sys.argv[1])) and all(json.loads(l)["schema"] == "pts.progress/1" for l in lines)' "$ERR"

t 'several simulated targets: a campaign, a run each'
pts run small --dut 'sim:pm?size=1g&seed=1' --dut 'sim:pm?size=1g&seed=2' --db m.db
exit_is 0
sql_is m.db "SELECT count(*), count(DISTINCT campaign), count(DISTINCT seed) FROM v_run WHERE state = 'done'" '2|1|2'

t '--dump-latencies makes a new file, and never touches one that is there'
cp m.db keep.db
for f in m.db scratch keep.db /dev/null; do
	pts run small --dut 'file:scratch' --db m.db --dump-latencies "$f"
	exit_is 2
	err_has 'exists already'
done
true_that cmp -s m.db keep.db

t 'a result that cannot be said is exit 3'
run bash -c '"$1" run small --dut "sim:pm?size=1g" --db m.db -q >/dev/full' x "$PTS"
exit_is 3

t '--info: a key twice, a key that is none: errors with their line'
printf 'operator = a\n\noperator = b\n' >i.ini
pts run small --dut 'sim:pm?size=1g' --db i.db --info i.ini
exit_is 2
err_has "i.ini:3: 'operator'"
file_absent i.db
echo 'opertor = x' >i.ini
pts run small --dut 'sim:pm?size=1g' --db i.db --info i.ini -q
exit_is 2
err_has "i.ini:1: unknown key 'opertor' (did you mean 'operator'?)"
file_absent i.db

t 'status knows a finished run'
pts status --db m.db --json
exit_is 0
json_is 'd["schema"], d["state"], d["now"]' "('pts.status/1', 'done', None)"
json_is 'd["tests"][0]["verdict"]' steady
