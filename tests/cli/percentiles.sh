#!/bin/bash
# SPDX-License-Identifier: MIT
# Latency figures against an independent computation over the raw latencies of every IO (--dump-latencies).
. "$(dirname "$0")/lib.sh"

mkdir defs
cat >defs/one.pts <<'END'
test one "One cell" clause X
  run rnd rw 65/35 bs 4k threads 2 qd 8 for 1s
end
test few "Few IOs" clause X
  run rnd rw 0/100 bs 1024k threads 1 qd 1 for 20ms
end
END
export PTS_DEF_PATH=$W/defs

cat >check.py <<'END'
import json, math, sqlite3, sys
db, dump = sys.argv[1:3]
raw = sorted(int(l) for l in open(dump))
con = sqlite3.connect(db)
con.row_factory = sqlite3.Row
c = con.execute("SELECT * FROM v_cell WHERE phase = 'step'").fetchone()
assert len(raw) == c['ios'], (len(raw), c['ios'])
def near(a, b, what):
    assert abs(a - b) <= 0.004 * b + 1e-9, (what, a, b)
near(c['art_ns'], sum(raw) / len(raw), 'mean')
assert abs(c['art_ns'] - sum(raw) / len(raw)) <= 1e-9 * c['art_ns'], 'the mean is exact'
assert c['mrt_ns'] == raw[-1], 'the maximum is exact'
for col, num, den in (('p50', 1, 2), ('p99', 99, 100), ('p999', 999, 1000), ('p9999', 9999, 10000), ('p99999', 99999, 100000)):
    got = c['lat_%s_ns' % col]
    if len(raw) * (den - num) < den:
        assert got is None, (col, got, 'must be n/a')
        continue
    near(got, raw[-(-len(raw) * num // den) - 1], col)
    assert raw[0] <= got <= raw[-1], col
hist = con.execute("SELECT low_ns, high_ns, sum(count) FROM v_histogram WHERE cell_id = ? AND kind = 'service' GROUP BY low_ns", (c['cell_id'],)).fetchall()
for low, high, n in hist:
    assert n == sum(1 for v in raw if low <= v < high), (low, high, n)
    assert high - low <= max(1, 0.004 * low), 'bucket width'
assert sum(h[2] for h in hist) == len(raw)
print('good', len(raw))
END

t 'percentiles, mean, maximum and every bucket equal those of the raw latencies'
pts run one --dut 'file:scratch?size=64m' --db one.db --dump-latencies raw.txt -q
exit_is 0
run python3 check.py one.db raw.txt
exit_is 0
out_has good

t 'a cell with few IOs says n/a for the nines it cannot know'
rm -f raw.txt
pts run few --dut file:scratch --db few.db --dump-latencies raw.txt -q
exit_is 0
run python3 check.py few.db raw.txt
exit_is 0
sql_is few.db "SELECT lat_p99999_ns IS NULL, lat_p9999_ns IS NULL FROM v_cell" '1|1'
