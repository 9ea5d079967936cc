#!/bin/bash
# SPDX-License-Identifier: MIT
# Sheets of a comparison with curves and matrices: each number is that of the runs' rows, worked out once more from the views.
. "$(dirname "$0")/lib.sh"

MAP=$ROOT/tests/fixtures/rwsw/mix.csv
mkdir defs
export PTS_DEF_PATH=$W/defs
cat >defs/mine.pts <<'END'
test corners "Some loads" clause -
	purge optional
	fill seq-128k-w 1x threads 1 qd 32
	foreach work in rnd-4k-r seq-128k-r sql-80-20
		run $work threads 4 qd 8 for 1m
		run $work threads 8 qd 8 for 1m
	end
end
test inside like bounded "Another bound" clause -
	param access = rnd-8k-r
	param limit = 1us
end
test demand "Like DIRTH by its shape alone" clause -
	purge optional
	loop rounds 6 until steady
		foreach tc in 2 1
			foreach depth in 2 1
				run rnd-4k-w threads $tc qd $depth for 30m
			end
		end
		track iops of threads 2 qd 2
	end
end
test wide "Drives by threads" clause -
	purge optional
	fill seq-128k-w 1x threads 1 qd 32
	foreach size in 8k 1024k
		foreach drives in 1..$members
			foreach tc in 1 4
				run rnd rw 100/0 bs $size on members 1..$drives threads $tc qd 1 for 1m
			end
		end
	end
end
END
printf '[drive]\nlike = ent-nvme\nmodel = ALPHA A1\n' >a.ini
printf '[drive]\nlike = ent-nvme\nmodel = BRAVO B2\n[read]\niops = 600000\np50_us = 85\n' >b.ini
printf '[drive]\nlike = ent-nvme\nmodel = SWING S3\n[noise]\nswing_pct = 30\nswing_s = 8400\n' >s.ini

# Rows of a sheet, the table below a title in them, the views, numbers to nine digits.
cat >check.py <<'END'
import csv, glob, sqlite3, sys
def rows(folder, sheet):
    return [r for r in csv.reader(open(f"{folder}/{sheet}.csv", newline=""))]
def section(t, title):
    """The rows of a table, from its heads on to the next empty row."""
    i = next(k for k, r in enumerate(t) if r[0].startswith(title))
    out = []
    for r in t[i + 1:]:
        if not any(r):
            break
        out.append(r)
    return out
def row(table, name):
    return next(r for r in table if r[0] == name or r[0].startswith(name + ",") or r[0].startswith(name + " ("))
def near(a, b, what=""):
    assert abs(float(a) - b) <= 1e-9 * abs(b), (what, a, b)
class Db:
    def __init__(self, path):
        self.c = sqlite3.connect(path)
    def all(self, sql, *args):
        return self.c.execute(sql, args).fetchall()
    def one(self, sql, *args):
        r = self.all(sql, *args)
        assert len(r) == 1, (sql, r)
        return r[0][0] if len(r[0]) == 1 else r[0]
def mean(v):
    v = list(v)
    return sum(v) / len(v)
END
check() { # reads the program
	local said
	said=$(python3 <(echo 'from check import *'; cat) 2>&1) || fail "$(tail -n 3 <<<"$said" | tr '\n' ' ')"
}
export PYTHONPATH=$W PYTHONDONTWRITEBYTECODE=1

ALL=(dirth demand curve bounded inside replay-scaled individual-streams corners)
for d in a.ini?seed=1 a.ini?seed=2 b.ini?seed=1; do
	pts run "${ALL[@]}" --quick --capture "$MAP" --dut "sim:$d" --db x.db -q --seed 7
done
t 'runs of two models, two samples of the first, and their comparison'
sql_is x.db "SELECT count(*), count(DISTINCT model) FROM v_run WHERE state = 'done'" '3|2'
pts compare 1 2 3 --db x.db -o csv/
true_that test $RC -le 1
pts compare 1 2 3 --db x.db -o x.txt
true_that test $RC -le 1
pts compare 1 2 3 --db x.db -o x.xlsx
run python3 "$ROOT/tests/tools/xlsx_lint.py" x.xlsx
exit_is 0
file_has x.txt 'Demand Intensity'
file_has x.txt 'ALPHA A1 (base), mean of 2'

t 'DIRTH: means over the pairs of a total, then over the samples; the Max IOPS points'
check <<'END'
d, t = Db("x.db"), rows("csv", "DIRTH")
def toio(run):
    return {o: (i, a) for o, i, a in d.all("""SELECT oio, avg(iops), sum(n * art) / sum(n) FROM (SELECT oio, threads, qd,
        avg(iops) AS iops, sum(ios) AS n, sum(ios * art_ns) / sum(ios) AS art FROM v_cell WHERE run_id = ? AND test = 'dirth'
        AND section = 2 AND phase = 'round' AND in_window GROUP BY threads, qd) GROUP BY oio""", run)}
runs = [toio(i) for i in (1, 2, 3)]
table = section(t, "IOPS and average response time")[1:]
assert [int(r[0]) for r in table] == sorted(runs[0]) and len(table) == 18
for r in table:
    o = int(r[0])
    a, b = [mean(x[o][k] for x in runs[:2]) for k in (0, 1)], runs[2][o]
    near(r[2], a[0]); near(r[4], a[1] / 1e3); near(r[5], b[0]); near(r[7], b[1] / 1e3)
    assert r[8] == ("ALPHA A1" if a[0] > b[0] else "BRAVO B2"), r
# the budgets, by a search of its own through the totals
budget = section(t, "IOPS inside a response-time budget")
for name, of in (("ALPHA A1", runs[:2]), ("BRAVO B2", runs[2:])):
    pts = [(o, mean(x[o][1] for x in of) / 1e3, mean(x[o][0] for x in of)) for o in sorted(runs[0])]
    r = row(budget, name)
    for k, us in enumerate((200, 500, 1000)):
        hit = [(y0 + (us - x0) / (x1 - x0) * (y1 - y0), f"TOIO {o0} - {o1}") for (o0, x0, y0), (o1, x1, y1) in zip(pts, pts[1:]) if x0 < us < x1]
        best = max(hit) if hit else None
        if best:
            near(r[4 + 4 * k], best[0], us); assert r[6 + 4 * k] == best[1], (r, best)
        else:
            assert r[4 + 4 * k] == "n/a", r
assert any(c.startswith("TOIO ") for c in row(budget, "BRAVO B2"))
plots = rows("csv", "D_plots")
i = next(k for k, r in enumerate(plots) if r[0].endswith("At the Max IOPS point: IOPS (higher is better)"))
near(plots[i + 2][1], mean(v for v, in d.all("SELECT iops FROM v_point WHERE run_id < 3 AND test = 'dirth' AND point = 'max'")))
END

t 'curve: peak, share of it, the fastest step inside a budget'
check <<'END'
d, t = Db("x.db"), section(rows("csv", "Load-latency"), "Peak and knee")
def peak(run):
    return d.one("SELECT iops, art_ns, bytes_per_s FROM v_cell WHERE run_id = ? AND test = 'curve' AND phase = 'maximum'", run)
def steps(run):
    return d.all("SELECT rate_iops, iops, art_ns FROM v_cell WHERE run_id = ? AND test = 'curve' AND phase = 'step'", run)
for name, of in (("ALPHA A1", (1, 2)), ("BRAVO B2", (3,))):
    r = row(t, name)
    near(r[3], mean(peak(i)[0] for i in of)); near(r[5], mean(peak(i)[2] for i in of) / 1e6)
    near(r[7], mean(peak(i)[1] for i in of) / 1e3)
    near(r[9], mean(a for i in of for rate, _, a in steps(i) if abs(rate / peak(i)[0] - .9) < 1e-6) / 1e3)
    for k, us in enumerate((100, 150, 200, 500, 1000)):
        v = [max((y for _, y, a in steps(i) if a / 1e3 < us), default=None) for i in of]
        v = [x for x in v if x is not None]
        if v: near(r[11 + k], mean(v))
        else: assert r[11 + k] == "none", r
END

t 'bounded: the best cell inside the bound, and no cell inside'
check <<'END'
d, all = Db("x.db"), rows("csv", "Load-latency")
def best(run, limit):
    return d.one("SELECT iops, art_ns, threads, qd FROM v_cell WHERE run_id = ? AND test = 'bounded' AND art_ns < ? ORDER BY iops DESC LIMIT 1", run, limit)
t = section(all, "BOUNDED")
for name, of in (("ALPHA A1", (1, 2)), ("BRAVO B2", (3,))):
    r, b = row(t, name), [best(i, 300000) for i in of]
    near(r[5], mean(x[0] for x in b)); near(r[8], mean(x[1] for x in b) / 1e3)
    assert r[3] == ", ".join(dict.fromkeys(f"T{x[2]}Q{x[3]}" for x in b)), r
    inside, n = d.one(f"SELECT sum(art_ns < 300000), count(*) FROM v_cell WHERE run_id IN ({chr(44).join(map(str, of))}) AND test = 'bounded' AND phase = 'step'")
    assert r[11] == f"inside: {inside} of {n} cells inside", r
t = section(all, "INSIDE")
for r in t[1:]:
    assert r[11].startswith("OUTSIDE: 0 of "), r
m = section(rows("csv", "Matrix"), "Best IOPS inside a response time")
assert len(m) == 3 and m[2][7].endswith(" OUTSIDE") and not m[1][7].endswith("OUTSIDE"), m
END

t 'replay: each scale over the time with I/O; streams alone, heat and harmonic mean'
check <<'END'
d, t = Db("x.db"), rows("csv", "Replay")
def scale(run, s):
    return d.one("""SELECT sum(ios) * 1e9 / sum(elapsed_ns), sum(ios * art_ns) / sum(ios) FROM v_cell
        WHERE run_id = ? AND test = 'replay-scaled' AND phase = 'replay' AND scale = ? AND oio > 0""", run, s)
table = section(t, "REPLAY-SCALED - Two hands")
i = next(k for k, r in enumerate(t) if r[0] == "x1")
for r in t[i:i + 6]:
    s = int(r[0][1:])
    v = [scale(i, s) for i in (1, 2, 3)]
    base = mean(x[0] for x in v[:2])
    near(r[1], base); near(r[2], mean(x[1] for x in v[:2]) / 1e3); near(r[4], v[2][0]); near(r[5], v[2][1] / 1e3)
    near(r[7], v[2][0] / base - 1)
s = section(t, "INDIVIDUAL-STREAMS - Two hands of streams: steady-state IOPS")
n = len([c for c in s[0] if c]) - 2
shares = [float(c) for c in s[1][2:2 + n]]
assert n >= 4 and abs(sum(shares) - 100) < 1e-6, s
streams = d.all("SELECT DISTINCT section FROM v_section WHERE run_id = 3 AND test = 'individual-streams' ORDER BY 1")
r = row(s, "BRAVO B2")
for k, (sec,) in enumerate(streams):
    steady = d.one("SELECT steady FROM v_section WHERE run_id = 3 AND test = 'individual-streams' AND section = ?", sec)
    iops = d.one("SELECT avg(iops) FROM v_cell WHERE run_id = 3 AND test = 'individual-streams' AND section = ? AND phase = 'sample' AND in_window", sec)
    if steady == 0: assert r[2 + k] == "not steady", r
    else: near(r[2 + k], iops)
if "not steady" in r: assert r[2 + n] == "n/a", r
else: near(r[2 + n], sum(shares) / sum(w / float(v) for w, v in zip(shares, r[2:2 + n])))
END

t 'corners: the fastest step of each load, single ones apart from mixes'
check <<'END'
d, t = Db("x.db"), rows("csv", "Workloads")
corner, mixes = section(t, "Corners - one size, one direction")[0:], section(t[next(k for k, r in enumerate(t) if r[0] == "Applications and mixes") + 2:], "Applications and mixes")
def best(run, access):
    return d.one("SELECT iops, bytes_per_s, art_ns FROM v_cell WHERE run_id = ? AND test = 'corners' AND access = ? AND phase = 'step' ORDER BY iops DESC LIMIT 1", run, access)
for table, name, access in ((None, "RND 4 KiB R", "rnd-4k-r"), (None, "SEQ 128 KiB R", "seq-128k-r"), (None, "sql-80-20", "sql-80-20")):
    r = next(r for r in t if r[0] == name)
    a = [best(i, access) for i in (1, 2)]
    for k, by in enumerate((1, 1e6, 1e3)):
        near(r[4 + k], mean(x[k] for x in a) / by); near(r[7 + k], best(3, access)[k] / by)
order = [r[0] for r in t]
assert order.index("RND 4 KiB R") < order.index("SEQ 128 KiB R") < order.index("sql-80-20")
END

pts run wide --dut "set:sim:a.ini?seed=1,sim:a.ini?seed=2,sim:a.ini?seed=3" --db w.db -q --seed 3
pts run wide --dut "sim:a.ini?seed=1" --db w.db -q --seed 3
t 'drives x threads: the matrix, its efficiency as live formulas, layouts, a user'"'"'s own test'
pts compare 1 2 --db w.db -o wide/
true_that test $RC -le 1
check <<'END'
d, t = Db("w.db"), rows("wide", "Scaling")
def cell(run, drives, tc, bs):
    return d.one("""SELECT s.iops, s.bytes_per_s FROM v_cell s WHERE s.run_id = ? AND s.member IS NULL AND s.phase = 'step' AND s.threads = ?
        AND s.block_bytes = ? AND coalesce(s.members, 1) = ?""", run, tc, bs, drives)
heads = [k for k, r in enumerate(t) if r[0] == "TC \\ drives"]
assert len(heads) >= 3, heads
first = t[heads[0]:heads[0] + 3]
assert [c.strip() for c in first[0][1:4]] == ["1", "2", "3"] and first[0][8] == "TC \\ drives", first
for r, tc in zip(first[1:], (1, 4)):
    one = cell(1, 1, tc, 8192)[0]
    for k in (1, 2, 3):
        v = cell(1, k, tc, 8192)[0]
        near(r[k], v); near(r[8 + k], v / k / one)
m = section(rows("wide", "Matrix"), "3 x ALPHA A1")
for r, bs in zip(m[1:], (8192, 1048576)):
    for k in (1, 2, 3):
        best = max((cell(1, k, tc, bs) for tc in (1, 4)), key=lambda c: c[1])
        near(r[1 + 3 * k], best[0]); near(r[2 + 3 * k], best[1] / 1e6)
r = next(r for r in rows("wide", "Layouts") if r[0].startswith("WIDE: RND 8 KiB R"))
single, three = [max((cell(i, k, tc, 8192) for tc in (1, 4)), key=lambda c: c[1])[0] for i, k in ((2, 1), (1, 3))]
near(r[4], single); near(r[8], three); near(r[11], three / 3 / single)
END
pts compare 1 2 --db w.db -o w.xlsx
run python3 "$ROOT/tests/tools/xlsx_lint.py" w.xlsx
exit_is 0

t 'JSON holds the same numbers, in base units'
pts compare 1 2 3 --db x.db -o x.json
pts compare 1 2 --db w.db -o w.json
check <<'END'
import json
d = json.load(open("x.json"))
one = next(g for g in d["demand_intensity"] if g["test"] == "dirth")
table = section(rows("csv", "DIRTH"), "IOPS and average response time")[1:]
for c, col in zip(one["candidates"], (2, 5)):
    for p, r in zip(c["toio"], table, strict=True):
        assert p["toio"] == int(r[0]); near(r[col], p["iops"]); near(r[col + 2], p["art_ns"] / 1e3)
assert [c["samples"] for c in one["candidates"]] == [2, 1]
r = row(section(rows("csv", "Load-latency"), "Peak and knee"), "BRAVO B2")
near(r[3], d["load_latency"][0]["candidates"][1]["peak_iops"])
t = rows("csv", "Replay")
for r, p in zip([r for r in t if r[0] in ("x1", "x2", "x4", "x8", "x16", "x32")], d["replays"][0]["candidates"][1]["scales"], strict=True):
    assert r[0] == f"x{p['scale']:g}"; near(r[4], p["iops"])
s = next(f for f in d["figures"] if f["load"] == "SEQ 128 KiB R")
near(next(r for r in rows("csv", "Workloads") if r[0] == "SEQ 128 KiB R")[5], s["candidates"][0]["bytes_per_s"] / 1e6)
out = next(f for f in d["figures"] if f["test"] == "inside")
assert all(c["outside_bound"] for c in out["candidates"]), out
w = json.load(open("w.json"))["scaling"][0]["candidates"][0]["cells"]
t = rows("wide", "Scaling")
i = next(k for k, r in enumerate(t) if r[0] == "TC \\ drives")
for c in w:
    r = t[i + (1 if c["threads"] == 1 else 2)]
    near(r[c["drives"]], c["iops"]); near(r[8 + c["drives"]], c["efficiency"])
END

(
	echo 'fio version 3 iolog'
	for i in {0..999}; do printf '%d0 /dev/x write %d 4096\n%d0 /dev/x read %d 512\n' $i $((i * 4096)) $i $((i * 8192)); done
) >log
pts import log -o log.cap
for d in fa fb; do pts replay log.cap --speed asap --dut "file:$d?size=64m" --db e.db -q; done
t 'exact replays beside one another'
pts compare 1 2 --db e.db -o exact/
true_that test $RC -le 1
check <<'END'
d, t = Db("e.db"), section(rows("exact", "Replay"), "Exact replay - log")
for run, r in ((1, t[1]), (2, t[2])):
    iops, bps, art = d.one("SELECT iops, bytes_per_s, art_ns FROM v_cell WHERE run_id = ? AND phase = 'replay'", run)
    near(r[2], iops); near(r[4], bps / 1e6); near(r[6], art / 1e3)
    assert r[10] == r[12] == "n/a", r # nothing was due at a time
END

pts run demand --dut sim:s.ini --db x.db -q --seed 7
t 'what is not steady is left out, in red, and what did not run is n/a'
sql_is x.db "SELECT verdict FROM v_test WHERE run_id = 4" 'not achieved'
pts compare 3 4 --db x.db -o bad/
true_that test $RC -le 1
check <<'END'
t = rows("bad", "DIRTH")
i = next(k for k, r in enumerate(t) if r[0].startswith("DEMAND - RND 4 KiB R/W 0/100"))
table = section(t[i:], "IOPS and average response time")[1:]
assert [r[0] for r in table] == ["1", "2", "4"], table
assert all(r[5] == r[7] == "not steady" and float(r[2]) > 0 and r[8] == "BRAVO B2" for r in table), table
budget = row(section(t[i:], "IOPS inside"), "SWING S3")
assert budget[4] == budget[8] == budget[12] == "not steady", budget
END
grep -qF 'No values of: SWING S3 (not run)' bad/Replay.csv || fail 'absence is not said'

printf 'test alike like corners "The same under another name" clause -\nend\n' >defs/alike.pts
pts run corners --dut 'sim:b.ini?seed=1' --db n.db -q
for i in 1 2; do pts run alike --dut "sim:a.ini?seed=$i" --db n.db -q; done
t 'a load under another name: both samples of a candidate stand beside the other one'
pts compare 1 2 3 --db n.db -o n.json
true_that test $RC -le 1
check <<'END'
import json
d, f = Db("n.db"), [g for g in json.load(open("n.json"))["figures"] if g["load"] == "SEQ 128 KiB R"]
assert len(f) == 1 and [c["samples"] for c in f[0]["candidates"]] == [1, 2], f
best = [d.one("SELECT max(iops) FROM v_cell WHERE run_id = ? AND access = 'seq-128k-r' AND phase = 'step'", i) for i in (1, 2, 3)]
near(f[0]["candidates"][0]["iops"], best[0]); near(f[0]["candidates"][1]["iops"], mean(best[1:]))
END

for i in 1 2; do
	printf '[drive]\nlike = ent-nvme\nmodel = ALPHA A1\n[read]\np50_us = %d\np90_us = %d\n' $((89 + 6 * i)) $((98 + 6 * i)) >near.ini
	pts run curve --quick --dut "sim:near.ini?seed=$i" --db u.db -q
done
pts run curve --quick --dut 'sim:b.ini?seed=1' --db u.db -q
t 'IOPS under a response time that one of two samples never meets: no mean of the other alone'
pts compare 1 2 3 --db u.db -o under/
true_that test $RC -le 1
pts compare 1 2 3 --db u.db -o u.json
check <<'END'
import json
d = Db("u.db")
def best(run, us):
    return d.one("SELECT max(iops) FROM v_cell WHERE run_id = ? AND phase = 'step' AND art_ns < ?", run, us * 1e3)
assert best(1, 100) and not best(2, 100) and best(2, 150)
u = {x["art_ns"]: x for x in json.load(open("u.json"))["load_latency"][0]["candidates"][0]["under"]}
assert (u[100000]["iops"], u[100000]["samples"], u[150000]["samples"]) == (None, 1, 2), u
near(u[150000]["iops"], mean(best(i, 150) for i in (1, 2)))
r = row(section(rows("under", "Load-latency"), "Peak and knee"), "ALPHA A1")
assert r[11] == "1 of 2", r
near(r[12], u[150000]["iops"])
END

t 'the same bytes again'
pts compare 1 2 3 --db x.db -o again.xlsx
true_that cmp x.xlsx again.xlsx
