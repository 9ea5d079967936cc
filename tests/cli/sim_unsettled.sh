#!/bin/bash
# SPDX-License-Identifier: MIT
# Simulated drives that are no good: one that never settles, ones that throttle, lose their link, fail IOs, go.
. "$(dirname "$0")/lib.sh"

t 'a drive that never settles: 25 rounds, not achieved, exit 1'
cat >swing.ini <<'END'
[drive]
like = ent-nvme
[noise]
swing_pct = 30
swing_s = 8400
END
pts run iops --dut sim:swing.ini --db s.db
exit_is 1
sql_is s.db 'SELECT verdict, steady, rounds, window_first, window_last FROM v_test' 'not achieved|0|25|21|25'
sql_is s.db "SELECT count(DISTINCT round), count(*) FROM v_cell WHERE phase = 'round'" '25|1400'
sql_is s.db 'SELECT count(DISTINCT round), sum(steady) FROM v_steady WHERE round >= 5' '21|0'
sql_is s.db 'SELECT count(*) FROM v_cell WHERE in_window AND round < 21' 0
err_has 'NOT ACHIEVED'

t 'its values are absent from summaries'
pts report --db s.db -o s.json
exit_is 0
true_that python3 -c 'import json
d = json.load(open("s.json"))["runs"][0]
assert not d["conformant"] and d["summary"]
assert all(s["value"] is None for s in d["summary"]), d["summary"]'
pts report --db s.db -o s.txt
mean=$(ask s.db 'SELECT printf("%.1f", avg(iops)) FROM v_cell WHERE read_pct = 0 AND block_bytes = 4096 AND round > 20')
true_that grep -q 'NOT REACHED' s.txt
sed '/^======== [^S]/,$d' s.txt >summary.txt
file_has summary.txt 'not reported'
same "$(grep -cF "$mean" summary.txt)" 0 'lines with the average of the last five rounds'

t 'a drift, too'
printf '[drive]\nlike = pm\n[noise]\ndrift_pct_per_hour = 400\n' >drift.ini
pts run tp --dut sim:drift.ini --db d.db
exit_is 1
sql_is d.db 'SELECT group_concat(steady || ":" || rounds) FROM v_section' '0:25,0:25'

t 'a drive that throttles after so much: the speed falls and comes back in virtual time'
mkdir defs
cat >defs/w.pts <<'END'
test w "Sequential writes" clause X
  purge
  run seq-128k-w threads 1 qd 32 for 10m every 1m
end
END
export PTS_DEF_PATH=$W/defs
cat >hot.ini <<'END'
[drive]
like = ent-nvme
[noise]
cell_pct = 0
second_pct = 0
[events]
throttle_at_gb = 330
throttle_gb = 150
throttle_pct = 50
END
pts run w --dut sim:hot.ini --db hot.db
exit_is 0
sql_is hot.db 'SELECT group_concat(CAST(round(bytes_per_s / 1e6) AS INTEGER)) FROM v_cell' \
	2700,2700,1400,1500,2700,2700,2700,2700,2700,2700
sql_is hot.db "SELECT sum(note LIKE '%throttled%'), sum(note LIKE '%throttled%' AND bytes_per_s < 2e9) FROM v_cell" '2|2'
sql_is hot.db "SELECT count(*) FROM v_event WHERE kind = 'throttle'" 2
sql_is hot.db 'SELECT max(temperature_c) BETWEEN 50 AND 63, min(temperature_c) < 45 FROM v_cell' '1|1'

t 'a link that changes meanwhile'
printf '[drive]\nlike = ent-nvme\n[events]\nlink_at_s = 200\nlink_s = 120\nlink_mb_s = 900\n' >link.ini
pts run w --dut sim:link.ini --db link.db
exit_is 0
sql_is link.db 'SELECT sum(bytes_per_s < 1000e6), min(bytes_per_s) > 850e6 FROM v_cell' '1|1'
sql_is link.db "SELECT group_concat(json_extract(detail, '$.now')) FROM v_event WHERE kind = 'link'" '8.0 GT/s x2,16.0 GT/s x4'

t 'IOs that fail: the cell is partial, told with its error, and no result'
printf '[drive]\nlike = pm\n[events]\nerror_cell = 7\nerror_cells = 2\nerror_ios = 3\n' >bad.ini
pts run w --dut sim:bad.ini --db bad.db
exit_is 3
err_has EIO
sql_is bad.db 'SELECT partial, errors, errnos, elapsed_ns FROM v_cell WHERE errors > 0' '1|3|EIO:3|1000000000'
sql_is bad.db 'SELECT count(*) FROM v_cell' 7
sql_is bad.db 'SELECT count(*) > 0 FROM v_event WHERE kind = "error"' 1

t 'a round with such an IO is void, and done again'
cat >defs/r.pts <<'END'
test r "Rounds" clause X
  purge
  loop rounds 25 until steady
    run rnd-4k-w threads 4 qd 32 for 1m
    run rnd-4k-r threads 4 qd 32 for 1m
    track iops of rw 0/100
  end
end
END
printf '[drive]\nlike = pm\n[events]\nerror_cell = 6\n' >once.ini
pts run r --dut sim:once.ini --db once.db
exit_is 0
sql_is once.db 'SELECT round || "/" || round_try || ":" || count(*) || ":" || max(void) FROM v_cell GROUP BY round, round_try' \
	'1/1:2:0
2/1:2:0
3/1:2:1
3/2:2:0
4/1:2:0
5/1:2:0
6/1:2:0
7/1:2:0'
sql_is once.db 'SELECT steady, window_first, window_last FROM v_test' '1|3|7'

t 'a drive that goes: exit 3'
printf '[drive]\nlike = pm\n[events]\ngone_at_gb = 6000\n' >gone.ini
pts run w --dut sim:gone.ini --db gone.db
exit_is 3
err_has 'has gone'
sql_is gone.db 'SELECT count(*), sum(partial), CAST(round(sum(bytes) / 1e9) AS INTEGER) FROM v_cell' '7|1|6000'
