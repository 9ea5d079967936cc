#!/bin/bash
# SPDX-License-Identifier: MIT
# A simulated drive of 30 TiB: 2^36 sectors, sums beyond 2^46 bytes; the whole suite in little memory.
. "$(dirname "$0")/lib.sh"
SIZE=$((30 << 40))

cat >peak.py <<'END'
import resource, subprocess, sys
rc = subprocess.call(sys.argv[2:], stdout=subprocess.DEVNULL)
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(rc)
END

t 'the plan counts in full'
pts plan iops tp xsr --dut 'sim:ent-nvme?size=30t' --json
exit_is 0
json_is 'd["capacity_bytes"], [t["fill_bytes"] for t in d["tests"]]' "($SIZE, [$((2 * SIZE)), $((4 * SIZE)), 0])"
json_is 'all(t["written_min_bytes"] >= t["fill_bytes"] for t in d["tests"])' True

t 'the full suite, unscaled, in less than 200 MiB'
run python3 peak.py kib "$PTS" run pts-full --dut 'sim:ent-nvme?size=30t&seed=2' --db b.db -q
exit_is 0
sql_is b.db 'SELECT count(*), sum(ended_utc IS NOT NULL) FROM v_test' '8|8'
ldd "$PTS" | grep -q san || true_that test "$(cat kib)" -lt $((200 << 10))

t 'sums: fills, bytes since the purge, blocks times sizes'
sql_is b.db "SELECT DISTINCT write_bytes, ios * block_bytes = bytes FROM v_cell WHERE phase = 'wipc'" "$((2 * SIZE))|1"
sql_is b.db "SELECT count(*) FROM v_cell WHERE ios * block_bytes <> bytes" 0
sql_is b.db "SELECT count(*) FROM (SELECT host_bytes_written AS h, phase <> 'wipc' AND
	sum(write_bytes) OVER (PARTITION BY test, section ORDER BY cell_id) AS s FROM v_cell WHERE test IN ('wsat', 'hir', 'xsr', 'iops'))
	WHERE h <= 0" 0
sql_is b.db "SELECT count(*) FROM (SELECT host_bytes_written AS h,
	sum(write_bytes) OVER (PARTITION BY test ORDER BY cell_id) AS s FROM v_cell WHERE test IN ('wsat', 'hir', 'xsr', 'iops', 'lat'))
	WHERE h <> s" 0
sql_is b.db 'SELECT count(*) FROM v_cell WHERE ios < 0 OR bytes < 0 OR elapsed_ns <= 0 OR start_ns < 0 OR art_ns <= 0 OR iops < 0' 0
sql_is b.db "SELECT abs(sum(elapsed_ns) / 1e9 * 2.7e9 / sum(bytes) - 1) < 0.02 FROM v_cell WHERE phase = 'wipc'" 1
pts db check --db b.db
exit_is 0

t 'and it can be reported'
pts report --db b.db -o b.json
exit_is 0
file_has b.json "\"capacity_bytes\":$SIZE"
