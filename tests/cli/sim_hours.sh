#!/bin/bash
# SPDX-License-Identifier: MIT
# Long tests at full length in virtual time: their hours add up to the second, their seconds are all there.
. "$(dirname "$0")/lib.sh"
S=1000000000

t 'the plan of HIR: 930 minutes behind the preconditioning'
pts plan hir --dut sim:ent-nvme --json
exit_is 0
json_is 'd["duration_min_ns"] - 5 * 30 * 60 * 10**9' $((930 * 60 * S))
json_is 'd["duration_max_ns"] - 25 * 30 * 60 * 10**9' $((930 * 60 * S))

t 'HIR takes them'
pts run hir --dut 'sim:ent-nvme?seed=5' --db hir.db
exit_is 0
sql_is hir.db "SELECT sum(elapsed_ns), max(start_ns + elapsed_ns) - min(start_ns) FROM v_cell WHERE label IS NOT NULL OR phase = 'idle'" \
	"$((930 * 60 * S))|$((930 * 60 * S))"
sql_is hir.db "SELECT count(*), sum(elapsed_ns) FROM v_cell WHERE phase = 'idle'" "1800|$((360 * 105 * S))"
sql_is hir.db "SELECT group_concat(n || 'x' || s) FROM (SELECT count(*) AS n, sum(elapsed_ns) / $S AS s FROM v_cell
	WHERE phase IN ('stimulus', 'baseline') GROUP BY label, phase)" 360x1800,360x1800,360x1800,360x1800,360x1800,360x1800,360x1800,360x1800,360x1800,360x1800
# a gap between two cells would be time that no row accounts for
sql_is hir.db "SELECT count(*) FROM (SELECT start_ns - lag(start_ns + elapsed_ns) OVER (ORDER BY cell_id) AS gap FROM v_cell) WHERE gap <> 0" 0

t 'the longer the wait, the faster the burst; the baseline is the same after each'
sql_is hir.db "SELECT min(ratio) > 1.1 FROM (SELECT s / lag(s) OVER (ORDER BY first) AS ratio FROM
	(SELECT avg(iops) AS s, min(cell_id) AS first FROM v_cell WHERE phase = 'stimulus' GROUP BY label))" 1
sql_is hir.db "SELECT max(y) / min(y) < 1.05 FROM (SELECT avg(iops) AS y FROM
	(SELECT label, iops, row_number() OVER (PARTITION BY label ORDER BY cell_id DESC) AS n FROM v_cell WHERE phase = 'baseline')
	WHERE n <= 60 GROUP BY label)" 1

t 'XSR: 22 hours in the plan and on the drive, and it recovers'
pts plan xsr --dut sim:client-slc --json
json_is '(d["duration_min_ns"], d["duration_max_ns"])' "($((22 * 3600 * S)), $((22 * 3600 * S)))"
pts run xsr --dut 'sim:client-slc?seed=5' --profile client --db xsr.db
exit_is 0
sql_is xsr.db 'SELECT count(*), sum(elapsed_ns), max(start_ns + elapsed_ns) - min(start_ns) FROM v_cell' "1320|$((22 * 3600 * S))|$((22 * 3600 * S))"
sql_is xsr.db "SELECT group_concat(label || ' ' || n) FROM (SELECT label, count(*) AS n FROM v_cell GROUP BY label)" 'ag1 480,ag2 360,ag3 480'
# AG3 begins slower than AG1 ended, and is back within hours, not at once
sql_is xsr.db "WITH m AS (SELECT label, bytes_per_s AS b, row_number() OVER (PARTITION BY label ORDER BY cell_id) AS n FROM v_cell),
	a AS (SELECT avg(b) AS b FROM m WHERE label = 'ag1' AND n > 60)
	SELECT (SELECT b FROM m WHERE label = 'ag3' AND n = 1) < 0.7 * a.b, (SELECT b FROM m WHERE label = 'ag3' AND n = 15) < 0.95 * a.b,
	(SELECT min(b) FROM m WHERE label = 'ag3' AND n > 240) > 0.97 * a.b FROM a" '1|1|1'

t '24 hours of one-second rows are all there, and sum to their cells'
cat >swing.ini <<'END'
[drive]
like = ent-nvme
capacity = 60t
[noise]
swing_pct = 30
swing_s = 4650
END
pts run wsat --set hours=24h --dut sim:swing.ini --db day.db
exit_is 1
sql_is day.db "SELECT count(*), sum(elapsed_ns) FROM v_cell WHERE phase IN ('wdpc', 'sample')" "1440|$((86400 * S))"
sql_is day.db "SELECT count(*) FROM v_second JOIN v_cell USING (cell_id) WHERE phase IN ('wdpc', 'sample')" 86400
sql_is day.db "SELECT count(*), count(DISTINCT second), min(second), max(second) FROM v_second JOIN v_cell USING (cell_id) WHERE phase = 'histogram'" '1200|1200|0|1199'
sql_is day.db "SELECT count(*) FROM (SELECT c.ios AS i, c.bytes AS b, c.mrt_ns AS m, sum(s.ios) AS si, sum(s.bytes) AS sb, max(s.mrt_ns) AS sm,
	count(DISTINCT s.second) AS n, c.elapsed_ns / $S AS e FROM v_cell c JOIN v_second s USING (cell_id) GROUP BY c.cell_id)
	WHERE i <> si OR b <> sb OR m <> sm OR n <> e" 0
sql_is day.db "SELECT abs(total(s.ios * s.art_ns) / total(c) - 1) < 1e-9 FROM (SELECT s.ios, s.art_ns, 0 AS c FROM v_second s
	UNION ALL SELECT 0, 0, lat_sum_ns FROM v_cell) s" 1
true_that test "$(stat -c %s day.db)" -lt 40000000
