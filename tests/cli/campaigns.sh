#!/bin/bash
# SPDX-License-Identifier: MIT
# The campaigns: suites that run as they stand, each on two drives, and the one workbook that each ends in.
. "$(dirname "$0")/lib.sh"

# campaign SUITE DUT...: all its runs into SUITE.db, without a word.
campaign() {
	local suite=$1 dut
	shift
	for dut; do
		pts run "$suite" --quick --dut "$dut" --db "$suite.db" -q
		exit_is 0
	done
	sql_is "$suite.db" "SELECT count(*), sum(state = 'done') FROM v_run" "$#|$#"
}

# sheets SUITE NAME...: the comparison of its two runs has these sheets. What differs between the drives is told (exit 1), or nothing does.
sheets() {
	local suite=$1 name
	shift
	pts compare 1 2 --db "$suite.db" -o "$suite.txt"
	true_that [ "$RC" -le 1 ]
	for name; do
		file_has "$suite.txt" "======== $name ========"
	done
}

t 'drive-count: 8K and 1M over drives and threads, after a full fill of each'
campaign drive-count 'set:sim:ent-nvme?seed=1,sim:ent-nvme?seed=2' 'set:sim:ent-nvme?seed=3,sim:ent-nvme?seed=4'
sql_is drive-count.db "SELECT group_concat(DISTINCT block_bytes), count(DISTINCT threads), min(members), max(members) FROM v_cell
	WHERE run_id = 1 AND phase = 'step' AND member IS NULL" '8192,1048576|3|1|2'
sql_is drive-count.db "SELECT count(*) FROM v_cell WHERE phase = 'wipc' AND member IS NULL AND run_id = 1" 1
sheets drive-count Scaling
file_has drive-count.txt 'SCALE fastest of RND 8K 0/100 IOPS'

t 'server-papers: each access with its best point inside the bound'
campaign server-papers sim:ent-nvme 'sim:ent-nvme?seed=2'
sql_is server-papers.db "SELECT count(*), count(DISTINCT section) FROM v_point WHERE run_id = 1" '10|10'
# the point is the highest IOPS of its section among the cells inside the bound
sql_is server-papers.db "SELECT count(*) FROM v_point p WHERE abs(iops - (SELECT max(iops) FROM v_cell c WHERE c.run_id = p.run_id
	AND c.section = p.section AND phase = 'step' AND art_ns < 1e6)) > 1e-6 * iops" 0
sql_is server-papers.db "SELECT group_concat(DISTINCT section_label) FROM (SELECT section_label FROM v_section WHERE run_id = 1 ORDER BY section)" \
	'seq-256k-r,seq-256k-w,seq-1024k-r,seq-1024k-w,rnd-4k-w,rnd-8k-w,rnd-4k-70-30,rnd-8k-70-30,rnd-4k-r,rnd-8k-r'
sheets server-papers Matrix
# what is scored without being asked: rates; a response time inside the bound is there to be used
pts compare 1 2 --db server-papers.db -o server.json
run cat server.json
json_is 'sorted({(m["unit"], round(m["weight_pct"])) for m in d["metrics"]})' "[('iops', 10), ('ns', 0)]"

t 'review: each workload at shares of its own peak, on a quarter of a filled drive'
campaign review sim:ent-nvme 'sim:ent-nvme?seed=2'
sql_is review.db "SELECT count(*), count(DISTINCT section) FROM v_point WHERE run_id = 1" '16|16'
sql_is review.db "SELECT count(*) FROM v_cell c JOIN v_point p USING (run_id, section) WHERE phase = 'step' AND abs(rate_iops / p.iops
	- CASE (SELECT count(*) FROM v_cell b WHERE b.run_id = c.run_id AND b.section = c.section AND b.phase = 'step' AND b.cell_id <= c.cell_id)
	WHEN 1 THEN .1 WHEN 2 THEN .5 WHEN 3 THEN .9 ELSE 1.1 END) > 1e-9" 0
run "$PTS" plan review --dut sim:ent-nvme
out_match '^range 1920[0-9]* bytes, fills 1920[0-9]* bytes, 1 segments of 480[0-9]* bytes'
sheets review Load-latency Workloads

t 'raid-layout: the same accesses over one drive and over a set'
campaign raid-layout sim:ent-nvme 'set:sim:ent-nvme?seed=1,sim:ent-nvme?seed=2'
sheets raid-layout Layouts

t 'memory-class: its capture comes along, and its depth'
campaign memory-class sim:ent-nvme 'sim:ent-nvme?seed=2'
sql_is memory-class.db "SELECT DISTINCT name FROM v_capture WHERE run_id = 1" 'GPS Nav Portal Drive0'
sql_is memory-class.db "SELECT group_concat(scale), min(oio), max(oio) FROM (SELECT * FROM v_cell WHERE run_id = 1 AND test = 'gps-scaled'
	AND phase = 'replay' ORDER BY cell_id)" '1.0,2.0,4.0,8.0,16.0,32.0|4|128'
sheets memory-class DIRTH Replay
file_has memory-class.txt 'GPS-DIRTH composite GPS Nav Portal Drive0 top 9 max point IOPS'

t 'a capture that a test names: --capture takes its place'
pts plan gps-native --dut sim:ent-nvme --capture retail-web
exit_is 0
out_has 'Retail Web Portal'

t 'a test that names none is not given that of another'
pts plan gps-native replay-native --dut sim:ent-nvme
exit_is 2
err_has 'test replay-native needs --capture'

t 'two captures named in one run: refused'
mkdir defs
cat >defs/other.pts <<'END'
test other like replay-native "Another capture" clause RWSW-7
	param capture = retail-web
	param depth = 2
end
END
PTS_DEF_PATH=defs pts plan gps-native other --dut sim:ent-nvme
exit_is 2
err_has 'test gps-native is of capture gps-drive0, and test other of retail-web: one run has one capture'

t 'a run that is cut short goes on with the capture that its definition names'
start r.db gps-streams --dut sim:ent-nvme
wait_cells r.db 3
stop INT
true_that test "$RC" = 4 -o "$RC" = 0
if [ "$RC" = 4 ]; then
	pts resume --db r.db -q
	exit_is 0
fi
sql_is r.db "SELECT state, (SELECT count(*) FROM v_capture) FROM v_run" 'done|1'
