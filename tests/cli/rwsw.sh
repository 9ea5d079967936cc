#!/bin/bash
# SPDX-License-Identifier: MIT
# The tests that work from a capture: replays at scales of the depth, composites, single streams; what is kept of the capture.
. "$(dirname "$0")/lib.sh"
MAP=$ROOT/tests/fixtures/rwsw/mix.csv
FEW=(--set top=4 --set cover=50%) # leaves one stream of the map out, and with it all of step 4

t 'without --capture there is nothing to do'
for test in replay-native replay-scaled individual-streams multi-wsat rwsw-dirth; do
	pts run $test --dut sim:ent-nvme
	exit_is 2
	err_has "test $test needs --capture"
done
pts plan lat --capture "$MAP" --dut sim:ent-nvme
exit_is 2
err_has 'no test here uses a capture'
file_absent pts.db

t 'a capture that is none names itself'
pts run multi-wsat --capture nothing.cap --dut sim:ent-nvme
exit_is 2
err_has 'nothing.cap: No such file'
printf '# stream-map 1\nstep,start_s,duration_s,qd,access,block_bytes,op,ios\n0,0,1,2,SEQ,4096,W,many\n' >bad.csv
pts plan multi-wsat --capture bad.csv --dut sim:ent-nvme
exit_is 2
err_has 'bad.csv:3: ios is a whole number'

t 'plans tell capture, steps, hours and bytes'
pts plan replay-native "${FEW[@]}" --capture "$MAP" --dut sim:ent-nvme
exit_is 0
out_has 'capture   Two hands of streams (stream-map), 1056 IOs of 5 streams, SEQ as the map says; 6 steps in 6 s, QD 5.74 on average, 14 at most'
out_match '^duration  .* h .* to .* h'
out_match '^written   about .*TB'
sed -n '/^test /,/END$/p' "$OUT" >plan.txt
[ "${PTS_GOLDEN:-}" != write ] || cp plan.txt "$ROOT/tests/golden/rwsw-mix.txt"
true_that cmp plan.txt "$ROOT/tests/golden/rwsw-mix.txt"
pts plan replay-native --capture "$MAP" --dut sim:ent-nvme --json
json_is 'd["capture"]["stream_count"], d["capture"]["steps"], d["capture"]["qd_max"], len(d["capture"]["sha256"])' '(5, 6, 14, 64)'
pts plan lat --dut sim:ent-nvme --json
json_is 'd["capture"]' None

t 'where the depth is not known nothing is guessed'
pts plan replay-native --capture gps-drive0 --dut sim:ent-nvme
exit_is 2
err_has 'queue depth of capture GPS Nav Portal Drive0 is not known'
err_has '--set depth=N'
pts plan multi-wsat --capture gps-drive0 --dut sim:ent-nvme
exit_is 2
err_has '--set oio=N'
printf 'fio version 3 iolog\n' >log
for i in 0 1 2 3 4 5 6 7; do printf '%d00000 /dev/x write %d 4096\n%d00000 /dev/x read %d 512\n' $i $((i * 4096)) $i $((i * 8192)); done >>log
pts import log -o log.cap
exit_is 0
pts plan replay-native --capture log.cap --step 100ms --dut sim:ent-nvme
exit_is 2
err_has 'import it again with --assume-rt TIME'
pts plan individual-streams rwsw-dirth --capture log.cap --dut sim:ent-nvme
exit_is 0
pts import log --assume-rt 2ms -o log2.cap
pts plan replay-native --capture log2.cap --step 100ms --dut sim:ent-nvme
exit_is 0
out_has 'REPLAY scale 1 8 steps 800ms'
pts plan replay-native --set depth=14 --capture gps-drive0 --dut sim:ent-nvme
exit_is 0
out_has '1: 30m oio 14 T1'

t 'the published shares of GPS Nav Drive0 are renormalised to those of the deck'
pts run multi-wsat --quick --set oio=3 --capture gps-drive0 --dut 'sim:ent-nvme?size=8g' --db gps.db
true_that test $RC -le 1
sql_is gps.db "SELECT round(coverage_pct, 4), n_dominant, qd_avg IS NULL, ios FROM v_capture" '88.73|9|1|0'
sql_is gps.db "WITH deck(i, pct) AS (VALUES (0, 28.0), (1, 19.9), (2, 16.2), (3, 15.7), (4, 6.5), (5, 5.1), (6, 2.98), (7, 2.86), (8, 2.75))
	SELECT count(*), max(abs(share - pct)) <= 0.06 FROM deck JOIN (SELECT key, value ->> '$.share_pct' AS share
	FROM v_cell, json_each(workload) WHERE cell_id = 1) ON key = i" '9|1'

t 'every step of every scale is a row, its depth as asked'
pts run replay-scaled "${FEW[@]}" --quick --capture "$MAP" --set hours=1s --dut 'file:d?size=64m' --db f.db --seed 5
true_that test $RC -le 1
R="FROM v_cell WHERE phase = 'replay'"
sql_is f.db "SELECT count(*), count(DISTINCT scale), count(DISTINCT label), sum(ios = 0) $R" '36|6|6|12'
sql_is f.db "SELECT group_concat(oio, ' ') FROM (SELECT oio $R AND label = 'step 1' ORDER BY cell_id)" '1 2 4 8 16 32'
sql_is f.db "SELECT group_concat(oio, ' ') FROM (SELECT oio $R AND label = 'step 2' ORDER BY cell_id)" '14 28 56 112 224 448'
sql_is f.db "SELECT group_concat(threads, ' ') FROM (SELECT threads $R AND label = 'step 2' ORDER BY cell_id)" '1 1 2 4 8 16'
sql_is f.db "SELECT count(*) $R AND label IN ('step 3', 'step 4') AND (ios > 0 OR oio > 0 OR access <> 'idle')" 0
# asked for and held: all of it is in flight at some time, and no more but what a step before left
sql_is f.db "SELECT count(*) $R AND oio > 0 AND (inflight_max < oio OR threads_seen <> threads OR ios < oio)" 0
sql_is f.db "SELECT count(*) $R AND label IN ('step 1', 'step 2', 'step 5') AND inflight_max > oio + (SELECT p.oio FROM v_cell p WHERE p.ordinal = v_cell.ordinal - 1)" 0
# steps follow without a gap, the mix changes without a pause: step 2 begins where step 1 ends
sql_is f.db "SELECT count(*) FROM v_cell a JOIN v_cell b ON b.ordinal = a.ordinal + 1 AND b.scale = a.scale WHERE a.label = 'step 1' AND abs(b.start_ns - a.start_ns - a.elapsed_ns) > 1" 0
sql_is f.db "SELECT count(*) FROM v_event WHERE kind = 'error'" 0
# all that was done is in the histograms, for percentiles over the whole replay
sql_is f.db "SELECT (SELECT sum(count) FROM v_histogram JOIN v_cell USING (cell_id) WHERE phase = 'replay') = (SELECT sum(ios) $R)" 1
pts audit --db f.db
out_has 'evidence: intact'

t 'the IOs are drawn by the renormalised shares, within 6 sigma'
cat >sigma.py <<'END'
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
n = bad = 0
for cell, work in db.execute("SELECT cell_id, workload FROM v_cell WHERE phase IN ('wdpc', 'sample', 'replay') AND ios > 0"):
    share = [s["share_pct"] / 100 for s in json.loads(work)]
    ios = [r[0] for r in db.execute("SELECT ios FROM v_stream WHERE cell_id = ? ORDER BY stream", (cell,))]
    total = sum(ios)
    for p, k in zip(share, ios):
        n += 1
        # what was in flight at either end is not drawn in this cell
        bad += abs(k - p * total) > 6 * (total * p * (1 - p)) ** 0.5 + 450
print(n > 60, bad)
END
same "$(python3 sigma.py f.db)" 'True 0' 'stream counts'
sql_is f.db "SELECT group_concat(round(json_extract(value, '$.normalized_pct'), 3), ' ') FROM v_capture, json_each(streams)" '29.524 28.571 28.571 13.333'

t 'the capture is kept with the run'
sha=$(sha256sum "$MAP" | cut -d' ' -f1)
sql_is f.db 'SELECT name, format, sha256, reads, writes, seq_rule, n_streams, n_dominant, n_steps, qd_max FROM v_capture' \
	"Two hands of streams|stream-map|$sha|306|750|as the map says|5|4|6|14.0"
sql_is f.db 'SELECT step, ios, bytes, qd_avg, json_array_length(streams) FROM v_capture_step WHERE step IN (2, 3)' '2|200|1310720|14.0|3
3|0|0|0.0|0'
sql_is f.db "SELECT value FROM run_arg WHERE key = 'capture'" "$(realpath "$MAP")"

t 'idle honor leaves the drive alone at the end of a step'
pts run replay-native --set idle=honor --set step-time=20ms --quick --capture log2.cap --step 100ms --set hours=1s --dut 'file:d?size=64m' --db h.db
true_that test $RC -le 1
sql_is h.db "SELECT count(*), sum(ios = 0), sum(label LIKE '% idle') $R" '16|8|8'
sql_is h.db "SELECT count(*) $R AND label = 'step 1' AND (ios = 0 OR elapsed_ns < 400000)" 0
sql_is h.db "SELECT DISTINCT elapsed_ns >= 19600000 $R AND label LIKE '% idle'" 1
pts audit --db h.db
out_has 'evidence: intact'

t 'rule and steps said on the command line are kept, for resume as well'
pts run multi-wsat --quick --capture log2.cap --seq-rule strict --step 200ms --dut 'sim:ent-nvme?size=8g' --db s.db
true_that test $RC -le 1
sql_is s.db 'SELECT seq_rule, step_ns, n_steps FROM v_capture' 'strict|200000000|4'
sql_is s.db "SELECT group_concat(key || '=' || value, ' ') FROM run_arg WHERE key IN ('seq-rule', 'step')" 'seq-rule=strict step=200ms'

t 'two runs of a simulated drive are equal, whatever the test'
for db in a b; do
	pts run replay-scaled individual-streams multi-wsat rwsw-dirth "${FEW[@]}" --quick --capture "$MAP" --dut 'sim:ent-nvme?size=8g&seed=9' --db $db.db
	true_that test $RC -le 1
done
same "$(ask a.db 'SELECT digest FROM v_run')" "$(ask b.db 'SELECT digest FROM v_run')" digest
sql_is a.db "SELECT count(*) = 36, sum(ios > 0) = 24 $R" '1|1'
sql_is a.db "SELECT group_concat(section_label, ', ') FROM v_section WHERE test = 'individual-streams' AND purge_method = 'sim'" \
	'SEQ 4K W, RND 4K R, RND 16K W, SEQ 16K W'

t 'formal: steady state is reached before the replay, and in every section'
pts run replay-native individual-streams multi-wsat "${FEW[@]}" --capture "$MAP" --dut sim:ent-nvme --db formal.db
exit_is 0
sql_is formal.db 'SELECT count(*), min(steady) FROM v_section' '6|1'
sql_is formal.db "SELECT min(cell_id) > (SELECT max(cell_id) FROM v_cell WHERE test = 'replay-native' AND phase = 'sample') $R" 1
sql_is formal.db 'SELECT text FROM v_deviation' 'SIMULATED: a model, no drive was measured'

t 'resume takes the very capture of the run'
cp "$MAP" mine.csv
start r.db multi-wsat --quick --set hours=2s --capture mine.csv --dut 'file:r?size=64m'
wait_cells r.db 4
stop INT
exit_is 4
sed -i 's/,300$/,301/' mine.csv
pts resume --db r.db
exit_is 2
err_has 'mine.csv is not the one the run began with'
rm mine.csv
pts resume --db r.db
exit_is 2
err_has '--capture names it anew'
pts resume --db r.db --capture "$MAP"
true_that test $RC -le 1
sql_is r.db 'SELECT state FROM v_run' done
sql_is r.db 'SELECT count(*) FROM v_capture' 1
pts audit --db r.db
out_has 'evidence: intact'

# PTS[RWSW-7-PRE] PTS[RWSW-7-FILL] PTS[RWSW-7-TRACK] PTS[RWSW-7-STEADY] PTS[RWSW-7-STEPS] PTS[RWSW-8-NOFILL] PTS[RWSW-8-ROUND]
# PTS[RWSW-8-MINUTE] PTS[RWSW-8-TRACK] PTS[RWSW-8-STEADY] PTS[RWSW-9-LOAD]
t 'the tests of the definition set meet their clauses'
clauses() { # those of RWSW that are not met, each once
	"$PTS" audit --db "$1" --json >audit.json 2>"$ERR"
	python3 -c "import json, sys
d = [c for c in json.load(open('audit.json'))['clauses'] if c['clause'].startswith('RWSW')]
print(len({c['clause'] for c in d}), *sorted({c['clause'] for c in d if c['verdict'] != 'met'}))"
}
same "$(clauses formal.db)" 11 'clauses not met'

t 'and others do not'
cat >bad.pts <<'END'
test bad-replay "Other rounds, half the fill, another variable" clause RWSW-7
  param capture =
  purge
  fill seq-128k-w 1x threads 1 qd 32
  loop rounds 5 until steady
    run composite of $capture for 9m every 1m as wdpc
    run composite of $capture for 1m as sample
    track art of sample
  end
  replay $capture scale 1
end
test bad-wsat "A fill, seconds, one thread" clause RWSW-9
  param capture =
  purge
  fill seq-128k-w 1x threads 1 qd 32
  loop rounds 5 until steady
    run composite of $capture threads 1 qd 1 for 10s every 1s as wdpc
    run composite of $capture threads 1 qd 1 for 1s as sample
    track art of sample
  end
end
END
pts run ./bad.pts --capture "$MAP" --dut sim:ent-nvme --db bad.db
true_that test $RC -le 1
same "$(clauses bad.db)" '11 RWSW-7-FILL RWSW-7-PRE RWSW-7-STEADY RWSW-7-TRACK RWSW-8-MINUTE RWSW-8-NOFILL RWSW-8-ROUND RWSW-8-TRACK' 'clauses not met'

t 'a replay that was not as planned is found, were every hash made anew'
cat >forge.py <<'END'
import sqlite3, sys
sys.path.insert(0, sys.argv[1])
import chain
db = sqlite3.connect('bad.db')
chain.disarm(db)
db.execute("UPDATE cell SET oio = 15, label = 'step 9' WHERE phase = 'replay' AND segment = 1")
chain.rebuild(db)
db.commit()
END
true_that python3 forge.py "$ROOT/tests/tools"
pts audit --db bad.db
out_has 'it is of T1, oio 15; the plan wants T1, oio 14'
out_has "label 'step 9'"
