#!/bin/bash
# SPDX-License-Identifier: MIT
# The definitions against the text of the PTS, read from `pts plan --json`: order, loads, times, both profiles, the run-time table.
. "$(dirname "$0")/lib.sh"

# Functions over the steps of a plan. cells(t): every RUN, FILL, IDLE with the times it runs in one pass of its loop.
cat >plan.py <<'END'
import json, sys
d, T = {}, {}
MIN = 60 * 10**9
def steps(t, *ops): return [s for s in T[t]["steps"] if not ops or s["op"] in ops]
def ops(t): return " ".join(s["op"] for s in T[t]["steps"])
def times(t):
    n, out = 1, []
    for s in T[t]["steps"]:
        if s["op"] == "repeat": n = int(s["text"].split()[1])
        elif s["op"] == "again": n = 1
        elif s["op"] in ("run", "idle", "fill"): out.append((s, n))
    return out
def spent(t, phases=None): # ns
    return sum((s["time_ns"] or 0) * n for s, n in times(t) if phases is None or s["phase"] in phases)
def load(s): return "T%dQ%d" % (s["threads"], s["qd"])
def runs(t, phase): return [s for s in steps(t, "run") if s["phase"] == phase]
def mix(s): return "%g/%g" % (s["read_pct"], 100 - s["read_pct"])
def minutes(t): return T[t]["duration_min_ns"] / MIN, T[t]["duration_max_ns"] / MIN
def fills(t): return sum(s["fill_bytes"] for s in steps(t, "fill")) / d["fill_guess_bytes_per_s"] / 60 # minutes, at the speed of the model
for line in sys.stdin: # "FILE EXPRESSION"; one process for all of them
    try:
        file, expr = line.split(" ", 1)
        d = json.load(open(file))
        T = {t["test"]: t for t in d.get("tests", [])}
        print(eval("(" + expr + ")"), flush=True)
    except Exception as e:
        print("error:", repr(e), flush=True)
END
coproc PY { exec python3 plan.py; }
plan_is() { # plan_is EXPRESSION VALUE, over the JSON plan on stdout
	local got
	printf '%s %s\n' "$OUT" "${1//$'\n'/ }" >&"${PY[1]}"
	read -r got <&"${PY[0]}" || got='no answer'
	[ "$got" = "$2" ] || fail "$1 is $got, not $2"
}

for profile in enterprise client; do
	load=T4Q32 cache=off range=100%
	[ $profile = enterprise ] || load=T2Q16 cache=on range=75%

	t "$profile: write cache, range, purge first in every test"
	pts plan pts-full --dut sim:ent-nvme --profile $profile --json
	exit_is 0
	plan_is 'sorted({t["params"]["write-cache"] for t in T.values()})' "['$cache']"
	plan_is 'sorted({t["params"]["range"] for t in T.values()})' "['$range']"
	plan_is 'all(t["steps"][0]["op"] == "purge" for t in T.values())' True
	plan_is 'all(s["text"] == "PURGE" for t in T for s in steps(t, "purge"))' True
	plan_is '[len(steps(t, "purge")) for t in T]' '[1, 2, 1, 1, 1, 1, 1, 1]'
	plan_is '[len(t["deviations"]) for t in T.values()]' '[0, 0, 0, 0, 0, 0, 0, 0]'
	plan_is 'all(0 <= d["capacity_bytes"] * (75 if d["profile"] == "client" else 100) // 100 - t["range_bytes"] < 2**20
		for t in T.values())' True

	t "$profile: IOPS, section 7"
	plan_is '[s["fill_bytes"] / d["capacity_bytes"] for s in steps("iops", "fill")], steps("iops", "fill")[0]["access"],
		load(steps("iops", "fill")[0])' "([2.0], 'seq-128k-w', 'T1Q32')"
	plan_is '" ".join(dict.fromkeys(mix(s) for s in runs("iops", "round")))' '100/0 95/5 65/35 50/50 35/65 5/95 0/100'
	plan_is '[[s["block_bytes"] / 1024 for s in runs("iops", "round")][i * 8:i * 8 + 8] for i in range(7)] ==
		[[1024, 128, 64, 32, 16, 8, 4, 0.5]] * 7' True
	plan_is '{load(s) for s in runs("iops", "round")}, {s["time_ns"] for s in runs("iops", "round")}' "({'$load'}, {60000000000})"
	plan_is 'steps("iops", "loop")[0]["text"]' 'LOOP rounds 25 then go-on until steady; track iops of rw 0/100 bs 4k; track iops of rw 65/35 bs 64k; track iops of rw 100/0 bs 1024k'
	plan_is 'all(s["access"].startswith("RND") for s in runs("iops", "round"))' True

	t "$profile: throughput, section 8"
	plan_is 'ops("tp")' 'purge fill loop run run until purge fill loop run run until end'
	plan_is '[(s["block_bytes"] // 1024, s["fill_bytes"] / d["capacity_bytes"]) for s in steps("tp", "fill")]' '[(1024, 2.0), (128, 2.0)]'
	plan_is '[(s["block_bytes"] // 1024, mix(s), load(s), s["time_ns"] // MIN) for s in runs("tp", "round")]' \
		"[(1024, '100/0', 'T1Q32', 1), (1024, '0/100', 'T1Q32', 1), (128, '100/0', 'T1Q32', 1), (128, '0/100', 'T1Q32', 1)]"
	plan_is '{s["text"] for s in steps("tp", "loop")}' "{'LOOP rounds 25 then go-on until steady; track bytes_per_s of rw 0/100'}"
	plan_is 'all(s["access"].startswith("SEQ") for s in runs("tp", "round"))' True

	t "$profile: latency, section 9"
	plan_is 'ops("lat")' 'purge fill loop run run run run run run run run run until run end'
	plan_is '" ".join("%s:%g" % (mix(s), s["block_bytes"] / 1024) for s in runs("lat", "round"))' \
		'100/0:8 100/0:4 100/0:0.5 65/35:8 65/35:4 65/35:0.5 0/100:8 0/100:4 0/100:0.5'
	plan_is '{load(s) for s in steps("lat", "run")}, {s["time_ns"] // MIN for s in runs("lat", "round")}' "({'T1Q1'}, {1})"
	plan_is '"track art of rw 0/100 bs 4k" in steps("lat", "loop")[0]["text"]' True
	plan_is '[(mix(s), s["block_bytes"], s["time_ns"] // MIN) for s in runs("lat", "histogram")]' "[('0/100', 4096, 20)]"

	t "$profile: write saturation, section 10"
	plan_is 'ops("wsat")' 'purge loop run run until run end'
	plan_is '[(s["phase"], s["access"], load(s), s["time_ns"] // MIN, (s["every_ns"] or 0) // MIN) for s in steps("wsat", "run")]' \
		"[('wdpc', 'rnd-4k-w', '$load', 30, 1), ('sample', 'rnd-4k-w', '$load', 1, 0), ('histogram', 'rnd-4k-w', '$load', 20, 0)]"
	plan_is 'steps("wsat", "loop")[0]["text"] == "LOOP until steady or written %d bytes or time 6h; track iops of sample" % (4 * d["capacity_bytes"])' True

	t "$profile: host idle recovery, section 11"
	plan_is '[(s["phase"], s["time_ns"] // MIN) for s in steps("hir", "run")][:2]' "[('wdpc', 29), ('sample', 1)]"
	plan_is '[s["time_ns"] // 10**9 for s in steps("hir", "idle")]' '[5, 10, 15, 25, 50]'
	plan_is '[n for s, n in times("hir") if s["op"] == "idle" or s["phase"] == "stimulus"]' '[360, 360, 360, 360, 360, 360, 360, 360, 360, 360]'
	plan_is '{s["time_ns"] // 10**9 for s in runs("hir", "stimulus")}' '{5}'
	plan_is '[(s["label"], s["time_ns"] // 10**9, s["every_ns"] // 10**9) for s in runs("hir", "baseline")]' \
		"[('5s', 1800, 5), ('10s', 1800, 5), ('15s', 1800, 5), ('25s', 1800, 5), ('50s', 1800, 5)]"
	plan_is '{(s["access"], load(s)) for s in steps("hir", "run")}' "{('rnd-4k-w', '$load')}"
	plan_is 'spent("hir", ["stimulus", "idle", "baseline"]) // 10**9' 55800
	plan_is '"rounds 25" in steps("hir", "loop")[0]["text"], ops("hir").count("run idle again run")' '(True, 5)'

	t "$profile: cross stimulus recovery, section 12"
	plan_is 'ops("xsr")' 'purge run run run end'
	plan_is '[(s["label"], s["access"], load(s), s["time_ns"] // MIN, s["every_ns"] // MIN) for s in steps("xsr", "run")]' \
		"[('ag1', 'seq-1024k-w', 'T1Q32', 480, 1), ('ag2', 'rnd-8k-w', 'T1Q32', 360, 1), ('ag3', 'seq-1024k-w', 'T1Q32', 480, 1)]"
	plan_is 'spent("xsr") // 10**9' 79200

	for name in dirth cbw; do
		t "$profile: $name, sections 13 and 14"
		plan_is "[(s['phase'], load(s), mix(s), s['time_ns'] // MIN) for s in steps('$name', 'run') if s['phase'] in ('sample', 'wdpc', 'irpw')]" \
			"[('sample', 'T32Q32', '0/100', 1), ('wdpc', 'T32Q32', '0/100', 29), ('irpw', 'T32Q32', '0/100', 5)]"
		plan_is "ops('$name').startswith('purge loop run check run until loop run run')" True
		plan_is "[load(s) for s in runs('$name', 'round')] == ['T%dQ%d' % (t, q) for t in (32, 16, 8, 6, 4, 2, 1) for q in (32, 16, 8, 6, 4, 2, 1)]" True
		plan_is "sum(s['time_ns'] for s in runs('$name', 'round') + runs('$name', 'irpw')) // MIN" 54
		plan_is "[s['text'].split(';')[1] for s in steps('$name', 'loop')]" "[' track iops of sample', ' track iops of threads 32 qd 32']"
		plan_is "[(s['phase'], s['point'], s['time_ns'] // MIN, (s['every_ns'] or 0) // MIN) for s in steps('$name', 'run') if s['point']]" \
			"[('prewrite', 'max', 60, 1), ('histogram', 'max', 10, 0), ('prewrite', 'mid', 60, 1), ('histogram', 'mid', 10, 0), ('prewrite', 'min', 60, 1), ('histogram', 'min', 10, 0)]"
		plan_is "[s['text'] for s in steps('$name', 'pick')]" \
			"['PICK max by highest iops where art < 5ms tie 1% lowest oio lowest tc else lowest art', 'PICK min T1Q1', 'PICK mid by nearest iops to (highest + lowest) / 2 where art < 5ms tie 0% lowest oio lowest tc else lowest art']"
	done
	t "$profile: the mixes of DIRTH and CBW"
	plan_is '{(s["access"], mix(s)) for s in runs("dirth", "round") + runs("dirth", "histogram")}' "{('rnd-8k-65-35', '65/35')}"
	plan_is '{mix(s) for s in runs("cbw", "round") + runs("cbw", "histogram")}, {mix(s) for s in runs("cbw", "prewrite")}' "({'40/60'}, {'0/100'})"

	t "$profile: 18 values of total OIO, and how many pairs have each"
	plan_is '(lambda o: (sorted(set(o)), [o.count(v) for v in sorted(set(o))]))([s["threads"] * s["qd"] for s in runs("dirth", "round")])' \
		'([1, 2, 4, 6, 8, 12, 16, 24, 32, 36, 48, 64, 96, 128, 192, 256, 512, 1024], [1, 2, 3, 2, 4, 2, 5, 2, 6, 1, 2, 5, 2, 4, 2, 3, 2, 1])'

	t "$profile: the run-time table of section 15"
	plan_is '[round(v - fills("iops"), 6) for v in minutes("iops")]' '[280.0, 1400.0]'
	plan_is '[round(v - fills("tp"), 6) for v in minutes("tp")]' '[20.0, 100.0]'
	plan_is '[round(v - fills("lat"), 6) for v in minutes("lat")]' '[65.0, 245.0]'
	plan_is 'minutes("hir")' '(1080.0, 1680.0)'
	plan_is 'minutes("xsr")' '(1320.0, 1320.0)'
	plan_is 'minutes("dirth"), minutes("cbw")' '((601.0, 2281.0), (601.0, 2281.0))'
	plan_is 'T["xsr"]["cells_min"], T["hir"]["cells_max"]' '(1320, 6150)'
	pts plan wsat --dut 'sim:ent-nvme?size=100t' --profile $profile --json
	plan_is 'minutes("wsat")' '(175.0, 380.0)'
	plan_is 'd["written_max_bytes"] <= 380 * 60 * d["write_guess_max_bytes_per_s"]' True
	pts plan wsat --dut 'sim:ent-nvme?size=100g' --profile $profile --json # 4 x are written within minutes; a slow drive takes its time
	plan_is '(lambda m: (20 < m[0] < 25, m[1]))(minutes("wsat"))' '(True, 380.0)'
done

# PTS[WSAT-2-LOAD] PTS[HIR-2-LOAD] PTS[IOPS-3.1]: the profile's, or the operator's choice where the PTS leaves it
t 'threads and depth that are the operator'"'"'s choice'
for test in wsat hir iops; do
	for profile in enterprise client; do
		own=T8Q64 said=0
		[ $test$profile = iopsenterprise ] && said=2
		pts plan $test --dut sim:ent-nvme --profile $profile --set threads=8 --set qd=64 --json
		exit_is 0
		plan_is '{load(s) for s in steps("'$test'", "run")}' "{'$own'}"
		plan_is 'len(T["'$test'"]["deviations"]), T["'$test'"]["params"]["threads"], T["'$test'"]["params"]["qd"]' "($said, 8, 64)"
		plan_is 'T["'$test'"]["formal"]' True
	done
done
pts plan iops --dut sim:ent-nvme --set threads=8
out_match "^deviation IOPS: test iops: threads = 8 instead of 4, the operator's choice under the client profile only$"
pts plan iops --dut sim:ent-nvme --set threads=4 --set qd=profile
out_has 'deviations of this test: none'
for test in iops tp lat; do
	pts plan $test --dut sim:ent-nvme --set wipc-threads=2 --set wipc-qd=16 --json
	plan_is '{load(s) for s in steps("'$test'", "fill")}, len(T["'$test'"]["deviations"])' "({'T2Q16'}, 2)"
done
for bad in threads=0 threads=x qd=1.5 qd=2000; do
	pts plan wsat --dut sim:ent-nvme --set $bad
	exit_is 2
	err_has "--set $bad"
done

t 'what is written: fills to the byte, cells at the speed of the model'
pts plan xsr lat --dut sim:ent-nvme --json
plan_is 'T["xsr"]["fill_bytes"], T["lat"]["fill_bytes"] / d["capacity_bytes"], d["fill_bytes"] == T["lat"]["fill_bytes"]' '(0, 2.0, True)'
plan_is 'T["xsr"]["written_min_bytes"] == T["xsr"]["written_max_bytes"] > 163e12' True # what such a drive wrote
plan_is '0 < d["rated_tbw_max_pct"] < 100, d["write_guess_basis"]' "(True, 'the model of the simulated drive')"

t 'the optional workloads of WSAT, and 6 to 24 hours'
for access in rnd-4k-w rnd-8k-65-35 vod metadata cbw; do
	pts plan wsat --dut sim:ent-nvme --set access=$access --set hours=24h --json
	exit_is 0
	plan_is 'len(T["wsat"]["deviations"]), {s["access"] for s in steps("wsat", "run")}' "(0, {'$access'})"
	plan_is 'T["wsat"]["duration_max_ns"] // MIN <= 24 * 60 + 20, "time 1d" in steps("wsat", "loop")[0]["text"] or
		"time 24h" in steps("wsat", "loop")[0]["text"]' '(True, True)'
done
pts plan wsat --dut sim:ent-nvme --set access=vod --json
plan_is '[(s["block_bytes"], s["read_pct"]) for s in steps("wsat", "run")][0], steps("wsat", "run")[0]["access"]' "((131072, 90), 'vod')"
for hours in 5h 25h; do
	pts plan wsat --dut sim:ent-nvme --set hours=$hours --json
	exit_is 0
	plan_is 'len(T["wsat"]["deviations"])' 1
done

t 'the near tie of MaxIOPS may be none'
pts plan dirth --dut sim:ent-nvme --set tie=0% --json
exit_is 0
plan_is 'len(T["dirth"]["deviations"]), "tie 0% lowest oio" in steps("dirth", "pick")[0]["text"]' '(0, True)'
pts plan dirth --dut sim:ent-nvme --set tie=20% --json
plan_is 'len(T["dirth"]["deviations"])' 1

t '4096-byte blocks: rows n/a, composites rounded up and said'
sed 's/^lba = .*/lba = 4096/' "$ROOT/workloads/sim/ent-nvme.ini" >4kn.ini
pts plan iops lat cbw --dut "sim:$W/4kn.ini" --json
exit_is 0
json_is 'd["lba_bytes"]' 4096
plan_is '[len([s for s in steps(t, "run") if s["na"]]) for t in T]' '[7, 3, 0]'
plan_is '{s["na"] for s in steps("lat", "run") if s["block_bytes"] == 512}' "{'n/a (LBA 4096)'}"
plan_is '[len(t["deviations"]) for t in T.values()], "0.5k as 4k" in T["cbw"]["deviations"][0]["text"]' '([0, 0, 1], True)'
plan_is '[round(v - fills("iops"), 6) for v in minutes("iops")]' '[245.0, 1225.0]'

t 'suites, and one of the operator'
for suite in 'pts-basic iops,tp,lat,wsat' 'pts-advanced hir,xsr,cbw,dirth' 'pts-full iops,tp,lat,wsat,hir,xsr,cbw,dirth'; do
	pts plan "${suite% *}" --dut sim:pm --json
	plan_is '",".join(T)' "${suite#* }"
done
mkdir own
printf 'suite mine "Two of them"\n\tlat\n\txsr\nend\n' >own/mine.pts
PTS_DEF_PATH=own pts plan mine --dut sim:pm --json
exit_is 0
plan_is '",".join(T)' lat,xsr
pts plan own/mine.pts --dut sim:pm --json
exit_is 0
plan_is '",".join(T), all(not t["deviations"] for t in T.values())' "('lat,xsr', True)"
printf 'suite mine "Two of them"\n\tlatt\nend\n' >own/mine.pts
pts plan own/mine.pts --dut sim:pm
exit_is 2
err_has "own/mine.pts:2: unknown test 'latt' (did you mean 'lat'?)"

t 'several targets: a plan each, in text and in one document'
pts plan lat --dut 'sim:pm?size=1g' --dut 'sim:pm?size=2g'
exit_is 0
same "$(grep -c '^dut ' "$OUT") $(grep -c '^all ' "$OUT") $(grep '^fills' "$OUT" | cut -c1-13 | tr '\n' '|')" \
	'2 2 fills     2.1|fills     2.1|fills     4.2|fills     4.2|' 'dut and fills lines'
pts plan lat tp --dut 'sim:pm?size=1g' --dut 'sim:pm?size=2g' --json
json_is 'list(d), [p["capacity_bytes"] >> 30 for p in d["plans"]], [len(p["tests"]) for p in d["plans"]]' \
	"(['schema', 'plans'], [1, 2], [2, 2])"
json_is 'all(p["written_min_bytes"] == sum(t["written_min_bytes"] for t in p["tests"]) for p in d["plans"])' True
pts plan lat --dut 'sim:pm?size=1g' --dut sim:nosuch
exit_is 2
out_empty
err_lines 1

t 'endurance: of --info before that of the drive'
echo 'rated_tbw = 0.01' >small.ini
pts plan lat --dut 'sim:pm?size=1g' --info small.ini --json
exit_is 0
json_is 'round(d["tests"][0]["rated_tbw_max_pct"] / (d["tests"][0]["written_max_bytes"] / 1e10 * 100), 9)' 1.0

t 'U19: what contradicts itself is an error'
for words in 'plan lat --dut sim:pm --dut sim:pm:--dut sim:pm is given twice' \
	'run lat --dut sim:pm --dut sim:pm:--dut sim:pm is given twice' \
	"plan wsat --dut sim:pm --set hours=6h --set hours=8h:--set: 'hours' is set twice" \
	'plan lat --dut sim:pm --profile client --profile enterprise:--profile is given twice' \
	'run lat --dut sim:pm -q -v:--quiet and --verbose contradict' \
	'run lat --dut sim:pm -q --progress json:--quiet and --progress contradict' \
	'plan lat --dut sim:pm --scale 1,2:--scale: no test here replays'; do
	# shellcheck disable=SC2086
	pts ${words%:--*}
	exit_is 2
	err_has "--${words##*:--}"
	out_empty
	file_absent pts.db
done
# each a line of a definition that says two things at once
while IFS='|' read -r line why; do
	printf 'test x "X" clause -\n\tpurge\n\trun rnd-4k-w for 1m\n\tpick p by highest iops\n\t%s\nend\n' "$line" >own/mine.pts
	pts plan own/mine.pts --dut sim:pm
	exit_is 2
	err_has "own/mine.pts:5: "
	err_has "$why"
done <<'END'
run rnd-4k-w at $p threads 4 for 1m|threads
run rnd-4k-w at $p qd 4 for 1m|qd
run rnd-4k-w threads 4 threads 8 for 1m|threads
run rnd-4k-w bs 4k for 1m|bs
run rnd-4k-w for 1m every 2m|every
run rnd-4k-w for 1m for 2m|for
fill rnd-4k-r 1x|
END
