#!/bin/bash
# SPDX-License-Identifier: MIT
# Measurements that are no PTS, on a file: a maximum and shares of it in open loop, drives times threads, the best inside a limit.
. "$(dirname "$0")/lib.sh"

t 'curve: the maximum, then 10 % to 120 % of it, open loop'
pts run curve --quick --dut "file:$W/f?size=64m" --db c.db -q --set threads=2 --set qd=4
exit_is 0
sql_is c.db "SELECT point, threads, qd FROM v_point" 'peak|2|4'
sql_is c.db "SELECT count(*), count(rate_iops), sum(errors) FROM v_cell WHERE phase = 'step'" '12|12|0'
sql_is c.db "SELECT abs(iops / (SELECT iops FROM v_cell WHERE phase = 'maximum') - 1) < 1e-12 FROM v_point" 1
sqlite3 c.db "SELECT p.iops, rate_iops, ios, note FROM v_cell, v_point p WHERE phase = 'step' ORDER BY cell_id" >steps
# As many IOs as were due in the half second, those counted in that could not be sent by its end: a slow host changes no sum.
true_that python3 - <<'END'
import re
for n, line in enumerate(open("steps"), 1):
    peak, rate, ios, note = line.rstrip("\n").split("|")
    late = re.search(r"(\d+) IOs due but not sent", note)
    assert abs(float(rate) - float(peak) * n / 10) < 1e-6 * float(rate), line
    assert abs(int(ios) + (int(late[1]) if late else 0) - float(rate) * .5) <= 4, line
END
# each IO has a response (from when it was due) and a service time; their counts agree, and the former is not below the latter
sql_is c.db "SELECT count(*) FROM (SELECT sum(CASE kind WHEN 'response' THEN count END) r, sum(CASE kind WHEN 'service' THEN count END) s
	FROM v_histogram JOIN v_cell USING (cell_id) WHERE phase = 'step' GROUP BY cell_id) WHERE r <> s OR r IS NULL" 0
sql_is c.db "SELECT count(*) FROM (SELECT sum(CASE kind WHEN 'response' THEN count * high_ns END) r, sum(CASE kind WHEN 'service' THEN count * low_ns END) s
	FROM v_histogram JOIN v_cell USING (cell_id) WHERE phase = 'step' GROUP BY cell_id) WHERE r < s" 0

t 'scale: threads of 1, 4, 10 for each mix and size; bounded: the best inside a limit'
pts run scale bounded --quick --dut "file:$W/f?size=64m" --db s.db -q --set limit=1s
exit_is 0
sql_is s.db "SELECT threads, count(*), count(DISTINCT read_pct || ' ' || block_bytes), min(qd), max(qd) FROM v_cell WHERE test = 'scale'
	AND phase = 'step' GROUP BY threads" '1|4|4|1|1
4|4|4|1|1
10|4|4|1|1'
sql_is s.db "SELECT count(*), count(DISTINCT threads * 100 + qd), sum(errors) FROM v_cell WHERE test = 'bounded' AND phase = 'step'" '42|42|0'
sql_is s.db "SELECT abs(p.iops / (SELECT max(iops) FROM v_cell WHERE test = 'bounded' AND phase = 'step' AND art_ns < 1e9) - 1) < 1e-12 FROM v_point p WHERE test = 'bounded'" 1
