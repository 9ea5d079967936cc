#!/bin/bash
# SPDX-License-Identifier: MIT
# pts audit: what is found when rows are changed by hand, when the chain is rebuilt after that, and in what states a run may be.
# The clauses themselves: audit_clauses.sh.
. "$(dirname "$0")/lib.sh"

TOOLS=$ROOT/tests/tools
mkdir defs
cat >defs/small.pts <<'END'
test small "Small test" clause DIRTH
	purge
	fill seq-128k-w 1x threads 1 qd 8
	loop rounds 7 until steady
		foreach tc in 4 2 1
			run rnd-8k-65-35 threads $tc qd 4 for 2s quick 5ms
		end
		track iops of threads 4 qd 4
	end
	pick max by highest iops where art < 5ms tie 1% lowest oio lowest tc else lowest art
	run rnd-8k-65-35 at $max for 2s quick 10ms every 1s quick 5ms as prewrite
	run rnd-8k-65-35 at $max for 2s quick 5ms as histogram
	idle 1s quick 1ms
end
test rated "Open loop" clause X
	run rnd-4k-r threads 2 qd 4 for 2s rate 1000
end
END
export PTS_DEF_PATH=$W/defs
printf 'operator = me\n' >i.ini

audit() { # audit DB [OPTION...]
	local db=$1
	shift
	pts audit --db "$db" "$@"
}

t 'a run: text and JSON say the same'
pts run small --dut 'set:sim:pm?size=1g&seed=1,sim:pm?size=1g&seed=2' --db s.db -q --note n --info i.ini
exit_is 0
audit s.db
exit_is 1
err_empty
out_match '^evidence: intact \(worked out again: [1-9][0-9]* cells, [1-9][0-9]* histograms, [1-9][0-9]* seconds, [1-9][0-9]* steady-state checks, 1 points\)$'
out_match '^state: done, sealed$'
line=$(grep '^clauses: ' "$OUT")
audit s.db --json
exit_is 1
json_is 'd["schema"], d["sealed"], d["simulated"], d["evidence"]["intact"], d["evidence"]["faults"]' "('pts.audit/1', True, True, True, [])"
json_is 'd["evidence"]["head"]' "$(sqlite3 s.db 'SELECT digest FROM v_run')"
json_is '"clauses: %(met)d met, %(deviations)d deviations, %(not_met)d not met, %(not_measured)d not measured" % d["clause_count"]' "$line"
json_is 'sum(d["clause_count"].values()) == len(d["clauses"])' True
json_is 'sorted({k for c in d["clauses"] for k in c})' "['attempt', 'clause', 'done', 'mark', 'requirement', 'rows', 'section', 'section_label', 'spec_section', 'test', 'verdict']"
json_is '[c["done"][:4] for c in d["clauses"] if c["clause"] == "DIRTH-4.2"]' "['$(sqlite3 s.db "SELECT 'T' || threads || 'Q' || qd FROM v_point")']"
json_is 'sorted({x for c in d["clauses"] for r in c["rows"]["cells"] for x in r} - set(range(1, 1000)))' '[]'

t 'one value of every column of every table changed by hand'
rm -f f.db*
for n in 60 100 160 240; do # a fault that falls into a round
	rm -f f.db* f
	pts run small --quick --dut "fault:enodata@$n:file:$W/f?size=2m" --db f.db -q --info i.ini --note n
	[ "$(sqlite3 f.db 'SELECT count(*) FROM round_void')" = 0 ] || break
done
sql_is f.db 'SELECT count(*) > 0 FROM round_void' 1
audit f.db
out_has 'evidence: intact'
cp s.db s1.db
cp f.db f1.db
run python3 "$TOOLS/audit_tamper.py" "$PTS" s1.db f1.db
[ "$RC" = 0 ] || sed 's/^/# /' "$OUT" "$ERR"
out_match '^[2-9][0-9][0-9] columns, 0 unnoticed$'
exit_is 0

t 'the chain as another program sees it'
run python3 "$TOOLS/chain.py" check s.db
out_is ok
run python3 "$TOOLS/chain.py" check f.db
out_is ok

# rebuilt: lines DB | SQL | REGEX on stdin; rows are changed and the chain made anew: they do not fit one another.
rebuilt() {
	run python3 "$TOOLS/audit_rebuilt.py" "$PTS"
	[ "$RC" = 0 ] || sed 's/^/# /' "$OUT" "$ERR"
	out_match '^[1-9][0-9]* cases, 0 unnoticed$'
	exit_is 0
}

plain() { # in one file, as it is copied
	sqlite3 "$1" 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
}

t 'a rebuilt chain: a cell against its histograms, seconds and streams'
pts run small --dut 'sim:pm?size=1g' --db p.db -q
plain p.db
plain s.db
plain f.db
rebuilt <<'END'
p.db | UPDATE cell SET write_ios = write_ios + 1 WHERE ordinal = 5 | ^cell 5 .small test, round 2.: it holds .* its service histograms
p.db | UPDATE cell SET read_bytes = read_bytes + 8192 WHERE ordinal = 5 | ^cell 5 .*per-second series: its seconds hold [0-9]* bytes
p.db | UPDATE cell SET art_ns = art_ns * 1.0001 WHERE ordinal = 5 | ^cell 5 .*: its art_ns is
p.db | UPDATE cell SET sum_ns = sum_ns + 1000 WHERE ordinal = 5 | ^cell 5 .*: its sum_ns is
p.db | UPDATE cell SET mrt_ns = mrt_ns - 1 WHERE ordinal = 5 | ^cell 5 .*: its longest response time is
p.db | UPDATE cell SET min_ns = min_ns + 1 WHERE ordinal = 5 | ^cell 5 .*: its shortest response time is
p.db | UPDATE cell SET p50_ns = p50_ns + 1 WHERE ordinal = 5 | ^cell 5 .*: its 50 % is
p.db | UPDATE cell SET p99_ns = 12 WHERE ordinal = 5 | ^cell 5 .*: its 99 % is
p.db | UPDATE cell SET p999_ns = 12 WHERE ordinal = 5 | ^cell 5 .*: its 99.9 % is
p.db | UPDATE cell SET p9999_ns = 12 WHERE ordinal = 5 | ^cell 5 .*: its 99.99 % is
p.db | UPDATE cell SET p99999_ns = NULL WHERE ordinal = 5 | ^cell 5 .*: its 99.999 % is
p.db | UPDATE cell SET little_pct = little_pct + 0.1 WHERE ordinal = 5 | ^cell 5 .*: its little_pct is
p.db | UPDATE cell SET threads = 3 WHERE ordinal = 5 | ^cell 5 .*: it is of T3Q4, the plan wants T4Q4
p.db | UPDATE cell SET oio = 15 WHERE ordinal = 5 | ^cell 5 .*: oio is 15
p.db | UPDATE cell SET elapsed_ns = elapsed_ns + 10000000 WHERE ordinal = 5 | steady-state check of round 2 .*: value is
p.db | UPDATE cell SET host_bytes_written = host_bytes_written - 8192 WHERE ordinal = 5 | ^cell 5 .*: host_bytes_written is
p.db | UPDATE cell SET access = 'other' WHERE ordinal = 5 | ^cell 5 .*: it is of access other
p.db | UPDATE cell SET phase = 'step' WHERE ordinal = 5 | ^cell 5 .*: it is of phase step
p.db | UPDATE cell SET label = 'x' WHERE ordinal = 5 | ^cell 5 .*label 'x'
p.db | UPDATE cell SET read_pct = 60 WHERE ordinal = 5 | ^cell 5 .*: its mix or block
p.db | UPDATE cell SET step = 4 WHERE ordinal = 5 | ^cell 5 .*: out of order
p.db | UPDATE cell SET round = 3 WHERE ordinal = 5 | ^cell 5 .*: out of order
p.db | UPDATE cell SET segment = 1 WHERE ordinal = 5 | ^cell 5 .*: out of order
p.db | UPDATE cell_hist SET ios = ios - 1 WHERE cell_id = 5 | ^cell 5 .* histogram: its buckets hold
p.db | UPDATE cell_hist SET sum_ns = sum_ns * 2 WHERE cell_id = 5 | ^cell 5 .*the sum of its latencies does not fit
p.db | UPDATE cell_hist SET max_ns = max_ns * 2 WHERE cell_id = 5 | ^cell 5 .*its longest latency is
p.db | UPDATE cell_hist SET min_ns = min_ns / 2 WHERE cell_id = 5 | ^cell 5 .*its shortest latency is
p.db | UPDATE cell_hist SET buckets = '{"9":[1]}' WHERE cell_id = 5 | ^cell 5 .* histogram: its buckets hold
p.db | UPDATE cell_hist SET buckets = '{"9":1}' WHERE cell_id = 5 | ^cell 5 .*its buckets cannot be read
p.db | DELETE FROM cell_hist WHERE cell_id = 5 AND op = 'W' | ^cell 5 .* its service histograms
p.db | UPDATE cell_stream SET ios = ios + 1 WHERE cell_id = 5 AND stream = 1 | ^cell 5 .*stream 1: its iops is
p.db | UPDATE cell_stream SET mrt_ns = mrt_ns * 2 WHERE cell_id = 5 | ^cell 5 .*their longest response time
p.db | UPDATE cell_stream SET art_ns = art_ns * 1.01 WHERE cell_id = 5 | ^cell 5 .*their response times sum to
p.db | UPDATE cell_stream SET block_bytes = 4096 WHERE cell_id = 5 | ^cell 5 .*they read
p.db | UPDATE cell_series SET seconds = json_set(seconds, '$[0][1]', 1) WHERE cell_id = 5 | ^cell 5 .*: its seconds hold
p.db | UPDATE cell_series SET seconds = json_set(seconds, '$[1][4]', 1), seconds = json_set(seconds, '$[0][4]', 1) WHERE cell_id = 5 | ^cell 5 .*series: its longest response time
s.db | UPDATE cell SET read_bytes = read_bytes + 8192 WHERE ordinal = 5 | ^cell 4 .*not the sum of its 2 drives
s.db | DELETE FROM cell_set WHERE cell_id = 4 | ^cell 4 .*: oio is
s.db | UPDATE cell_set SET members = 3 WHERE cell_id = 4 | ^cell 4 .*: it sums up 3 drives, rows of 2
f.db | DELETE FROM round_void | .
f.db | UPDATE round_void SET round_try = 2 | .
END

# PTS[GEN-5-TRACK] PTS[GEN-5-WINDOW] PTS[GEN-5-RANGE] PTS[GEN-5-SLOPE] PTS[GEN-5-MARK] PTS[DIRTH-4.2]
t 'a rebuilt chain: steady-state checks, windows, verdicts, operating points'
for col in value y1 y2 y3 y4 y5 average range range_allowed slope intercept slope_excursion slope_allowed; do
	echo "p.db | UPDATE round SET $col = $col * 1.001 + 1 WHERE round = 5 | ^small test, section 1, steady-state check of round 5 .*: $col is"
done >cases
cat >>cases <<'END'
p.db | UPDATE round SET correlation = correlation + 0.001 WHERE round = 5 | correlation is
p.db | UPDATE round SET steady = 0 WHERE round = 5 | window from 1, not steady; the cells give from 1, steady
p.db | UPDATE round SET first_round = 2 WHERE round = 5 | window from 2
p.db | UPDATE round SET first_round = 1 WHERE round = 4 | a check, though the window is not full
p.db | UPDATE round SET variable = 'iops of threads 1 qd 4' WHERE round = 3 | no steady-state check of round 3
p.db | DELETE FROM round WHERE round = 2 | no steady-state check of round 2
p.db | UPDATE section_end SET window_first = 2 | section 1, end: window_first is 2, the cells give 1
p.db | UPDATE section_end SET window_last = 4 | section 1, end: window_last is 4, the cells give 5
p.db | UPDATE section_end SET rounds = 4 | rounds is 4, the cells give 5
p.db | UPDATE section_end SET steady = 0 | steady is 0, the cells give 1
p.db | UPDATE section_end SET ended_by = 'rounds' | ended by 'rounds', the cells give 'steady'
p.db | UPDATE section SET label = 'x' | its label is 'x'
p.db | UPDATE test_end SET verdict = 'not achieved' | verdict: it is 'not achieved'
p.db | UPDATE test_end SET steady = 0 | verdict: it is 'steady' .steady 0.
p.db | UPDATE document SET body = replace(body, 'tie 1%', 'tie 90%') WHERE body LIKE '%LOOP%' | point max: it is T
p.db | UPDATE document SET body = replace(body, 'rounds 7', 'rounds 4') WHERE body LIKE '%LOOP%' | .
p.db | UPDATE point SET threads = 3 | point max: it is T3Q4, the cells give T[124]Q4
p.db | UPDATE point SET iops = iops * 1.001 | point max: it is .* IOPS
p.db | UPDATE point SET art_ns = art_ns * 1.001 | point max: it is .* IOPS
p.db | UPDATE point SET p99999_ns = p99999_ns + 1 | point max: its p99999_ns is
p.db | UPDATE point SET reason = 'because' | its reason is 'because'
p.db | UPDATE point SET point = 'min' | point max: missing
p.db | DELETE FROM point | point max: missing
END
rebuilt <cases

t 'a rate-driven run'
pts run rated --dut 'sim:pm?size=1g' --db o.db -q
exit_is 0
audit o.db
out_has 'evidence: intact'

t '--head shows that the chain was not rebuilt'
head=$(sqlite3 s.db 'SELECT digest FROM v_run')
audit s.db --head "$head"
exit_is 1
out_has "$head, "
out_has ', the one given'
out_has 'evidence: intact'
audit s.db --head "${head:0:16}" --json
json_is 'd["evidence"]["head_found"], d["evidence"]["intact"]' '(True, True)'
audit s.db --head "$(sqlite3 s.db 'SELECT hash FROM chain WHERE n = 40')"
out_has 'the one given is an earlier entry of it'
plain s.db
cp s.db r.db
sqlite3 r.db "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_master WHERE type = 'trigger'" | sqlite3 r.db
sqlite3 r.db "UPDATE run SET note = 'another'"
run python3 "$TOOLS/chain.py" rebuild r.db
audit r.db
out_has 'evidence: intact'
audit r.db --head "$head"
exit_is 1
out_has 'evidence: BROKEN'
out_has 'no entry of it has the head'
for bad in abc "${head}0" "${head:0:20}x" ''; do
	audit s.db --head="$bad"
	exit_is 2
	out_empty
done

t 'a run that did not come to its end is audited as far as it goes'
for n in 12 60 150 250; do # as a killed process leaves it: the rows of the transactions before
	cp s.db k.db
	sqlite3 k.db "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_master WHERE type = 'trigger'" | sqlite3 k.db
	python3 - k.db "$n" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
n = int(sys.argv[2])
# up to a cell's row, which begins a transaction
n = db.execute("SELECT min(n) - 1 FROM chain JOIN cell ON tbl = 'cell' AND row_id = cell_id WHERE n > ? AND member IS NULL",
               (n,)).fetchone()[0]
gone = db.execute('SELECT tbl, row_id FROM chain WHERE n > ? ORDER BY n DESC', (n,)).fetchall()
for t, r in gone:
    db.execute('DELETE FROM %s WHERE rowid = ?' % t, (r,))
db.execute('DELETE FROM chain WHERE n > ?', (n,))
db.commit()
END
	audit k.db
	exit_is 1
	out_match '^state: interrupted, not sealed$' # no process works on it
	out_has 'evidence: intact'
	out_match '^not measured  GEN-4-END'
done

t 'a failed run, and one of another database'
pts run small --quick --dut "fault:eio@3+:file:$W/g?size=2m" --db e.db -q
exit_is 3
audit e.db
exit_is 1
out_match '^state: failed, sealed$'
out_has 'evidence: intact'
out_match '^not met       GEN-4-END'

t 'other runs of the file do not matter'
pts run rated --dut 'sim:pm?size=1g' --db s.db -q
audit s.db 1
out_has 'evidence: intact'
audit s.db
out_match '^run 2 '
cp s.db r.db
sqlite3 r.db "DROP TRIGGER cell_no_update; UPDATE cell SET note = 'x' WHERE run_id = 2"
audit r.db 1
out_has 'evidence: intact'
audit r.db 2
out_has 'evidence: BROKEN'

t 'a database that cannot be read to its end is a fault found'
cp s1.db r.db
sqlite3 r.db "UPDATE event SET detail = 'x' WHERE kind = 'purge'" 2>/dev/null ||
	sqlite3 r.db "PRAGMA ignore_check_constraints = 1; UPDATE event SET detail = 'x' WHERE kind = 'purge'"
audit r.db
exit_is 1
out_has 'evidence: BROKEN'

t 'mistakes in usage'
audit s.db 7
exit_is 2
err_has "no run '7'"
audit s.db 1 2
exit_is 2
audit none.db
exit_is 2
file_absent none.db
pts audit --db s.db --csv
exit_is 2
