#!/bin/bash
# SPDX-License-Identifier: MIT
# set:A,B,...: one load over several drives; rows of each member and in sum, gates and identities of each, what fails and goes on.
. "$(dirname "$0")/lib.sh"

mkdir defs
export PTS_DEF_PATH=$W/defs
cat >defs/pair.pts <<'END'
test pair "Pair" clause X
  purge
  fill seq-128k-w 1x threads 1 qd 8
  run rnd rw 65/35 bs 4k threads 2 qd 2 for 200ms every 50ms as step
  run rnd rw 0/100 bs 4k on members 2..2 threads 1 qd 2 for 50ms as sample
  run seq-128k-w threads 1 qd 2 for 60ms as step label seq
end
END
cat >defs/long.pts <<'END'
test long "Long" clause X
  purge
  run rnd rw 0/100 bs 4k threads 1 qd 2 for 40ms as step label first
  repeat 30
    run rnd rw 0/100 bs 4k threads 1 qd 2 for 40ms as step
  end
end
END

# Rows of members follow their sum, and add up to it: IOs, bytes, seconds, streams and every bucket of the histograms.
adds_up() { # adds_up DB
	sql_is "$1" "SELECT count(*) FROM v_cell s WHERE member IS NULL AND (members, ios, read_ios, bytes, write_bytes, prepared,
		threads_seen) IS NOT (SELECT count(*), sum(ios), sum(read_ios), sum(bytes), sum(write_bytes), sum(prepared),
		sum(threads_seen) FROM v_cell m WHERE m.run_id = s.run_id AND m.member > 0 AND
		m.ordinal BETWEEN s.ordinal + 1 AND s.ordinal + s.members)" 0
	sql_is "$1" "WITH h AS (SELECT c.run_id, c.member IS NULL AS is_sum, op, kind, low_ns, sum(count) AS n
			FROM v_histogram h JOIN v_cell c USING (cell_id) GROUP BY 1, 2, 3, 4, 5)
		SELECT (SELECT count(*) FROM h) > 20, count(*) FROM (SELECT run_id, op, kind, low_ns, n FROM h WHERE is_sum EXCEPT
			SELECT run_id, op, kind, low_ns, n FROM h WHERE NOT is_sum)" '1|0'
	sql_is "$1" "SELECT count(DISTINCT n), count(DISTINCT b) FROM (SELECT sum(s.ios) AS n, sum(s.bytes) AS b FROM v_second s
		JOIN v_cell c USING (cell_id) GROUP BY member IS NULL)" '1|1'
	sql_is "$1" "SELECT count(DISTINCT n) FROM (SELECT sum(s.ios) AS n FROM v_stream s JOIN v_cell c USING (cell_id)
		GROUP BY member IS NULL)" 1
	pts db check --db "$1"
	exit_is 0
}

t 'files under one load: rows of the members add up to the sum'
pts run pair --dut 'set:file:a?size=16m,file:b?size=16m,file:c?size=24m' --db f.db --seed 3
exit_is 0
out_has 'all tests achieved'
adds_up f.db
sql_is f.db "SELECT phase, ifnull(label, ''), members, count(*) FROM v_cell WHERE member IS NULL GROUP BY phase, label
	ORDER BY min(ordinal)" $'wipc||3|1\nstep||3|4\nsample||1|1\nstep|seq|3|1'
sql_is f.db "SELECT group_concat(member) FROM (SELECT member FROM v_cell WHERE phase = 'sample' ORDER BY ordinal)" 2
sql_is f.db "SELECT min(write_bytes), max(write_bytes) FROM v_cell WHERE phase = 'wipc' AND member > 0" '16777216|16777216'
sql_is f.db "SELECT count(*) FROM v_cell WHERE member IS NULL AND (span_last_ns <> elapsed_ns OR span_first_ns > span_last_ns
	OR span_first_ns <= 0 OR abs(iops - ios * 1e9 / elapsed_ns) > 1e-6 * iops)" 0
sql_is f.db "SELECT count(*) FROM v_cell WHERE member > 0 AND coalesce(members, span_first_ns, span_last_ns) NOT NULL" 0
# threads and depth are of each member, beside them the totals
sql_is f.db "SELECT threads, qd, oio, max(threads_seen) FROM v_cell WHERE phase = 'step' AND label IS NULL GROUP BY member IS NULL, 1, 2, 3" \
	$'2|2|4|2\n2|2|12|6'
# four cells follow one another without a gap on each member
sql_is f.db "SELECT count(*), max(abs(gap)) < 1000 FROM (SELECT start_ns - lag(start_ns + elapsed_ns) OVER
	(PARTITION BY member ORDER BY ordinal) AS gap FROM v_cell WHERE phase = 'step' AND label IS NULL AND member > 0)
	WHERE gap NOT NULL" '9|1'
# what was written since the purge, of each and of all
sql_is f.db "SELECT s.host_bytes_written = sum(m.host_bytes_written) FROM v_cell s JOIN v_cell m ON m.member > 0 AND m.step = s.step
	WHERE s.label = 'seq' AND s.member IS NULL" 1
sql_is f.db "SELECT host_bytes_written - write_bytes >= 16777216 FROM v_cell WHERE label = 'seq' AND member = 2" 1

t 'a set in the views: the run, its members, a purge of each'
sql_is f.db "SELECT dut, model, capacity_bytes FROM v_run" 'set:file:a?size=16m,file:b?size=16m,file:c?size=24m|3 x scratch file|58720256'
sql_is f.db "SELECT member, dut, model, capacity_bytes, lba_bytes, dut_path FROM v_member WHERE member = 3" \
	"3|file:c?size=24m|scratch file|25165824|512|$W/c"
sql_is f.db "SELECT group_concat(detail ->> 'member') FROM v_event WHERE kind = 'purge' AND detail ->> 'verified'" '1,2,3'
sql_is f.db "SELECT purge_method, purge_verified FROM v_section" 'punch|1'
sql_is f.db "SELECT count(*) FROM v_deviation WHERE text LIKE 'several drives%' OR text LIKE 'members of unequal size%'
	OR text LIKE '%no whole drive%'" 3
sql_is f.db "SELECT count(*) > 0 FROM v_host WHERE key LIKE 'member3_dev_%'" 1

t 'a changed member is found'
cp f.db bad.db
sqlite3 bad.db "DROP TRIGGER member_no_update; UPDATE member SET serial = 'X' WHERE member = 2"
pts db check --db bad.db
exit_is 1
true_that grep -q 'member 2 (file:b' "$OUT" "$ERR"
cp f.db bad.db
sqlite3 bad.db "DROP TRIGGER cell_no_update; UPDATE cell SET read_ios = read_ios + 1 WHERE member = 2 AND phase = 'sample'"
pts db check --db bad.db
exit_is 1
true_that grep -q 'its members hold' "$OUT" "$ERR"

t 'status, report and a copy know sets'
pts status --db f.db
exit_is 0
out_has '3 x scratch file'
pts report 1 --db f.db -o set.txt
exit_is 0
file_has set.txt 'set:file:a'
pts report 1 --db f.db -o set.xlsx
exit_is 0
pts db merge --db copy.db f.db
exit_is 0
sql_is copy.db "SELECT (SELECT count(*) FROM v_member), count(DISTINCT members) FROM v_cell" '3|2'

t 'scale: members 1..n by threads 1..m'
pts run scale --quick --dut 'set:file:a,file:b' --db scale.db --set sizes=8k --set ops=0/100 -q
exit_is 0
adds_up scale.db
sql_is scale.db "SELECT members || 'x' || threads FROM v_cell WHERE phase = 'step' AND member IS NULL ORDER BY ordinal" \
	$'1x1\n1x4\n1x10\n2x1\n2x4\n2x10'
pts plan scale --quick --dut 'set:file:a,file:b' --set sizes=8k --set ops=0/100
exit_is 0
out_has 'member 2  file:b, scratch file'
out_has 'on members 1..2'
out_has 'fills     33.55 MB (1.00 drive writes)'
pts plan scale --quick --dut 'set:file:a,file:b' --json
exit_is 0
json_is '[m["dut"] for m in d["members"]], d["capacity_bytes"]' "(['file:a', 'file:b'], 33554432)"

t 'simulated drives: one virtual clock, the same again'
for db in s1 s2; do
	pts run lat --dut 'set:sim:ent-nvme?size=200g,sim:client-slc?size=200g,sim:ent-nvme?size=200g' --db $db.db -q
	exit_is 0
	sqlite3 $db.db "SELECT ordinal, test, phase, round, member, ios, bytes, start_ns, elapsed_ns, art_ns, lat_p99999_ns, members,
		span_first_ns, inflight_avg, temperature_c FROM v_cell; SELECT * FROM v_member; SELECT digest FROM v_run" >$db.txt
done
true_that cmp -s s1.txt s2.txt
pts db check --db s1.db
exit_is 0
sql_is s1.db "SELECT group_concat(serial) FROM v_member" 'SIM1,SIM2,SIM3'
sql_is s1.db "SELECT count(DISTINCT elapsed_ns), min(elapsed_ns) FROM v_cell WHERE phase = 'round'" '1|60000000000'
sql_is s1.db "SELECT count(*) FROM v_cell m JOIN v_cell s ON s.ordinal = m.ordinal - m.member AND m.start_ns <> s.start_ns
	WHERE m.member > 0" 0
sql_is s1.db "SELECT count(*) > 0, min(span_first_ns < span_last_ns) FROM v_cell WHERE phase = 'wipc' AND member IS NULL" '1|1'
sql_is s1.db "SELECT count(*), min(verdict) FROM v_test WHERE steady = 1" '1|steady'

t 'simulated members add up, too'
pts run pair --dut 'set:sim:pm?size=1g,sim:ent-nvme?size=1g' --db s3.db -q
exit_is 0
adds_up s3.db

t 'a member that fails is named; other runs go on'
pts run long --dut 'set:file:a,fault:eio@300\,deadline=5s:file:b' --dut 'sim:pm?size=1g' --db bad.db2 -q
exit_is 3
err_has 'member 2 (fault:eio@300,deadline=5s:file:b): '
err_hasnt 'member 1 ('
sql_is bad.db2 "SELECT state FROM v_run ORDER BY simulated" $'failed\ndone'
sql_is bad.db2 "SELECT count(*) FROM v_event WHERE kind = 'error' AND detail ->> 'error' LIKE 'member 2 (%'" 1
sql_is bad.db2 "SELECT sum(partial) > 0, sum(errors) FROM v_cell WHERE member IS NULL AND run_id =
	(SELECT run_id FROM v_run WHERE NOT simulated)" '1|1'
sql_is bad.db2 "SELECT sum(errors) FROM v_cell WHERE member = 1" 0
sql_is bad.db2 "SELECT count(*) FROM v_deviation WHERE text LIKE 'faults injected%'" 1
pts db check --db bad.db2
exit_is 0

t 'a member that hangs is named'
pts run long --dut 'set:fault:never@20+\,deadline=200ms:file:a,file:b' --db hung.db -q
exit_is 3
err_has 'member 1 (fault:never@20+,deadline=200ms:file:a): the drive hangs'
sql_is hung.db "SELECT state FROM v_run" hung

t 'killed, and resumed: the members are found again'
"$PTS" run long --dut 'set:file:a,file:b' --db k.db -q >/dev/null 2>&1 &
pid=$!
at_exit kill -9 $pid
for ((i = 0; i < 200; i++)); do
	[ "$(sqlite3 k.db "SELECT count(*) FROM v_cell WHERE member = 2 AND phase = 'step'" 2>/dev/null || echo 0)" -ge 2 ] && break
	sleep 0.05
done
kill -9 $pid
wait $pid 2>/dev/null
mv b away && mv b.pts-scratch away.pts-scratch
pts resume --db k.db
exit_is 2
err_has 'member 2'
mv away b && mv away.pts-scratch b.pts-scratch
cp k.db k2.db && cp k.db-wal k2.db-wal
mkdir elsewhere
(cd elsewhere && exec "$PTS" resume --db ../k.db -q) >"$OUT" 2>"$ERR"
RC=$?
exit_is 0
sql_is k.db "SELECT attempt, void, verdict FROM v_test ORDER BY attempt" $'1|1|\n2|0|done'
sql_is k.db "SELECT count(*), count(DISTINCT member) FROM v_cell WHERE attempt = 2 AND NOT void" '93|2'
adds_up k.db
pts resume --db k2.db --continue-inside -q
exit_is 0
sql_is k2.db "SELECT attempt, void, verdict FROM v_test" '1|0|done'
sql_is k2.db "SELECT count(*) FROM v_cell WHERE member IS NULL AND NOT partial" 31
sql_is k2.db "SELECT sum(write_bytes) = max(host_bytes_written) FROM v_cell WHERE member = 2" 1
pts db check --db k2.db
exit_is 0

t 'consent and gate of each member, before one is opened for writing'
truncate -s 8m mine yours
for words in '' '--destroy mine' '--destroy yours' '--destroy other'; do
	# shellcheck disable=SC2086
	pts run pair --dut 'set:file:mine,file:new?size=8m,file:yours' --db g.db $words
	exit_is 2
	err_has 'member'
	err_has "--destroy"
	file_absent new
	file_absent g.db
done
pts run pair --dut 'set:file:mine,file:new?size=8m,file:yours' --db g.db --destroy "$W/yours" --destroy mine -q
exit_is 0

t 'sets that cannot be'
for dut in set: set:file:a, set:,file:a 'set:file:a,file:./a' 'set:file:a,sim:pm' 'set:sim:pm,file:a' 'set:sim:pm,set:sim:pm' \
	'set:sim:pm?seed=1,sim:pm?seed=1' 'fault:eio:set:file:a,file:b' 'set:file:a,/dev/nosuch' 'set:sim:pm,sim:nosuch'; do
	pts run pair --dut "$dut" --db never.db
	exit_is 2
	true_that test -s "$ERR"
	file_absent never.db
done
ln -s a link
ln b hard
pts run pair --dut 'set:file:a,file:b,file:link' --db never.db
exit_is 2
err_has 'members 1 (file:a) and 3 (file:link) of the set are the same drive'
pts run pair --dut 'set:file:b,file:hard' --db never.db
exit_is 2
err_has 'same drive'
pts run pair --dut 'set:sim:pm,file:a' --db never.db
err_has "a set is of real or of simulated drives: 'file:a' does not go with 'sim:pm'"
pts run pair --dut 'set:file:a,file:b' --db a
exit_is 2
pts doctor --dut 'set:file:a,file:b'
exit_is 2
err_has 'not at a set'
pts run pair --dut 'set:file:a,file:b' --db never.db --dump-latencies raw
exit_is 2

t 'a comma in a name'
pts run pair --dut 'set:file:x\,y?size=8m,file:b' --db comma.db -q
exit_is 0
sql_is comma.db "SELECT dut FROM v_member WHERE member = 1" 'file:x,y?size=8m'
true_that test -f 'x,y'

if [ "$(id -u)" = 0 ] && losetup -f >/dev/null 2>&1; then
	t 'a device and a file: each its own purge, consent for the device'
	loop_new 16m
	pts run pair --dut "set:$LOOP,file:a" --db l.db
	exit_is 2
	err_has "member 1 of the set: $LOOP"
	err_has "--destroy '$LOOP'"
	pts run pair --dut "set:$LOOP,file:a" --db l.db --destroy "$LOOP" -q
	exit_is 0
	sql_is l.db "SELECT purge_method, purge_verified FROM v_section" 'blkdiscard,punch|1'
	sql_is l.db "SELECT group_concat(detail ->> 'method') FROM v_event WHERE kind = 'purge'" 'blkdiscard,punch'
	adds_up l.db
	pts run pair --dut "set:$LOOP,/dev/../dev/${LOOP#/dev/}" --db never.db --destroy "$LOOP"
	exit_is 2
	err_has 'same drive'
	pts run pair --dut "set:file:a,file:$LOOPFILE" --db never.db --destroy "$LOOPFILE"
	exit_is 2
	err_has 'member 2 of the set'
fi
