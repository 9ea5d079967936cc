#!/bin/bash
# SPDX-License-Identifier: MIT
# Definitions on the command line: list, show, plan.
. "$(dirname "$0")/lib.sh"

t 'list tests, workloads and suites'
pts list tests
exit_is 0
err_empty
out_match '^TEST +CLAUSE +TITLE +SOURCE'
for name in iops tp lat wsat hir xsr cbw dirth rwsw-dirth replay-native curve scale bounded; do
	out_match "^$name "
done
pts list workloads
exit_is 0
out_match '^rnd-8k-65-35 .*OLTP'
out_match '^gps-drive0 .*PM Summit 2019'
pts list suites
exit_is 0
out_match '^pts-basic +iops tp lat wsat '

t 'list as JSON'
pts list tests --json
exit_is 0
json_is 'list(d)[0] + " " + d["schema"]' 'schema pts.list/1'
json_is '[t["clause"] for t in d["tests"] if t["name"] == "iops"][0]' IOPS
json_is 'all(t["formal"] is True and t["source"] == "built-in" for t in d["tests"])' True
pts list suites --json
json_is '[s["tests"] for s in d["suites"] if s["name"] == "pts-advanced"][0]' "['hir', 'xsr', 'cbw', 'dirth']"
pts list sheets --json
exit_is 0
json_is 'len(d["sheets"]) > 0' True
pts list formats --json
json_is '[f["name"] for f in d["formats"] if f["name"] in ("blktrace", "iolog", "msr")]' "['blktrace', 'iolog', 'msr']"

t 'list of what there is not'
pts list
exit_is 2
pts list tset
exit_is 2
err_has "did you mean 'tests'?"
pts list runs --db none.db
exit_is 2
err_has 'none.db'
file_absent none.db

t 'list runs'
pts run lat --quick --dut 'sim:ent-nvme' --db runs.db -q
pts list runs --db runs.db
exit_is 0
out_match '^ *1 .* sim:ent-nvme .* lat +done '
pts list runs --db runs.db --json
json_is 'd["runs"][0]["run_id"], d["runs"][0]["tests"], d["runs"][0]["quick"]' "(1, ['lat'], True)"

t 'show prints what can be read again'
pts show dirth
exit_is 0
out_match '^test dirth "Demand Intensity / Response Time Histogram" clause DIRTH$'
mkdir defs
for name in dirth cbw rnd-4k-w pts-full iops; do
	pts show "$name"
	cp "$OUT" "defs/$name.pts"
done
sed -i '/^workload cbw/,$d' defs/cbw.pts
PTS_DEF_PATH=defs pts list tests --json
exit_is 0
json_is '[t["source"] for t in d["tests"] if t["name"] == "cbw"][0]' defs/cbw.pts
json_is 'all(t["formal"] for t in d["tests"])' True
PTS_DEF_PATH=defs pts show cbw
cp "$OUT" again
pts show cbw
same "$(cat "$OUT")" "$(cat again)" 'cbw shown from its own text'

t 'show: names'
pts show iosp
exit_is 2
err_has "unknown test, workload or suite 'iosp' (did you mean 'iops'?)"
pts show
exit_is 2
pts show vod --json
exit_is 0
json_is 'd["schema"], d["kind"], "order seq" in d["text"]' "('pts.show/1', 'workload', True)"

t 'plan writes nothing and creates nothing'
pts plan iops --dut "file:$W/scratch?size=64m"
exit_is 0
err_empty
file_absent scratch
file_absent pts.db
out_match '^test iops "IOPS - Block Size x RW Mix Matrix" clause IOPS$'
out_match '^ +1 FILL seq-128k-w T1Q32 134217728 bytes as wipc$'
out_match '^ +58   RUN RND 0.5K 0/100 T4Q32 1m as round$'
out_match '^duration +4 h 40 min to 23 h 20 min'
out_has '(2.00 drive writes'
out_match '^fills     134 MB \(2.00 drive writes\), exactly$'
out_match '^written   about .* if steady at once, about .* if never;$'
out_match '^          estimate at 500 MB/s, small writes at 122070 IOPS .assumed, its link is not known.; a faster drive writes more$'
out_match '^deviation .*file, not a drive'
out_has 'deviations of this test: none'

t 'plan of a suite on a simulated drive'
pts plan pts-full --dut sim:ent-nvme --json
exit_is 0
json_is 'list(d)[0] + " " + d["schema"]' 'schema pts.plan/1'
json_is '[t["test"] for t in d["tests"]]' "['iops', 'tp', 'lat', 'wsat', 'hir', 'xsr', 'cbw', 'dirth']"
json_is 'd["tests"][5]["duration_min_ns"] == d["tests"][5]["duration_max_ns"] == 22 * 3600 * 10**9' True
json_is 'sum(t["duration_max_ns"] for t in d["tests"]) == d["duration_max_ns"]' True
json_is 'd["tests"][0]["fill_bytes"] == 2 * d["capacity_bytes"]' True
json_is 'd["tests"][0]["steps"][3]["op"], d["tests"][0]["steps"][3]["block_bytes"]' "('run', 1048576)"
json_is 'd["simulated"], d["deviations"][0]["text"][:9]' "(True, 'SIMULATED')"
json_is 'd["tests"][0]["rated_tbw_max_pct"] > 0' True
json_is 'd["write_guess_iops"], d["write_guess_max_bytes_per_s"], d["write_guess_basis"]' \
	"(520000, 2700000000, 'the model of the simulated drive')"
json_is 'sum(t["fill_bytes"] for t in d["tests"]) == d["fill_bytes"] <= d["written_min_bytes"] <= d["written_max_bytes"]' True
pts plan pts-full --dut sim:ent-nvme
cp "$OUT" one
pts plan pts-full --dut sim:ent-nvme
same "$(cksum <"$OUT")" "$(cksum <one)" 'two plans'

t 'plan: profile, quick, set'
pts plan wsat --dut sim:ent-nvme --profile client --quick --set access=vod --set hours=30h --json
exit_is 0
json_is 'd["profile"], d["quick"], d["tests"][0]["range_bytes"]' "('client', True, 1073741824)"
json_is 'd["tests"][0]["params"]["access"], d["tests"][0]["params"]["hours"]' "('vod', '30h')"
json_is 'len(d["tests"][0]["deviations"])' 2
json_is 'd["tests"][0]["deviations"][1]["clause"]' WSAT

t 'plan: rated endurance of --info'
printf 'operator = me\nrated_tbw = 3.5 PB\n' >info.ini
pts plan lat --dut "file:$W/scratch?size=1g" --info info.ini
exit_is 0
out_has '% of the rated endurance'
printf 'rated_tbw = much\n' >info.ini
pts plan lat --dut "file:$W/scratch?size=1g" --info info.ini
exit_is 2
err_has 'rated_tbw is a number of TB'

t 'plan: mistakes'
pts plan iops
exit_is 2
pts plan ipos --dut sim:ent-nvme
exit_is 2
err_has "unknown test or suite 'ipos' (did you mean 'iops'?)"
pts plan rnd-4k-w --dut sim:ent-nvme
err_has 'is a workload'
pts plan wsat --dut sim:ent-nvme --set hour=8h
exit_is 2
err_has "no test here has a param 'hour' (did you mean 'hours'?)"
pts plan wsat --dut sim:ent-nvme --set hours=8
exit_is 2
err_has '--set hours=8: wsat.pts:'
pts plan rwsw-dirth --dut sim:ent-nvme
exit_is 2
err_has 'test rwsw-dirth needs --capture'
pts plan iops --dut "file:$W/scratch?size=512k"
exit_is 2
err_has 'too small'
out_empty
file_absent scratch

t 'a file with a mistake'
printf 'test dirth "X" clause DIRTH\n\tpurge\n\trun rnd-4k-w qdepth 4 for 1m\nend\n' >defs/dirth.pts
PTS_DEF_PATH=defs pts plan iops --dut sim:ent-nvme
exit_is 2
err_has "pts: plan: defs/dirth.pts:3: unknown word 'qdepth' (did you mean 'qd'?)"
out_empty
PTS_DEF_PATH=nowhere pts list tests
exit_is 2
err_has 'nowhere'

t 'a changed copy deviates'
printf 'test dirth "X" clause DIRTH\n\tpurge\n\trun rnd-4k-w for 1m\nend\n' >defs/dirth.pts
PTS_DEF_PATH=defs pts plan dirth --dut sim:ent-nvme --json
exit_is 0
json_is 'd["tests"][0]["formal"], d["tests"][0]["deviations"][0]["text"]' "(False, 'test dirth is not as in definition set 1')"
