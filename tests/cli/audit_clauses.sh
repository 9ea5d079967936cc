#!/bin/bash
# SPDX-License-Identifier: MIT
# Clause by clause: the tests of the definition set meet every clause; others that break them one by one do not. A test that is
# done as the PTS says, on a real drive, is exit 0.
. "$(dirname "$0")/lib.sh"

TOOLS=$ROOT/tests/tools
DUT='sim:ent-nvme?size=8g'

# verdicts DB|again TEST...: "CLAUSE verdict" of each clause of those tests, the worst of its sections; again: of the last audit
verdicts() {
	local db=$1
	shift
	[ "$db" = again ] || "$PTS" audit --db "$db" --json >audit.json 2>"$ERR"
	python3 - "$@" <<'END'
import json, sys
worst = {}
order = ['met', 'not measured', 'deviation', 'not met']
for c in json.load(open('audit.json'))['clauses']:
    if (c['test'] or 'run') in sys.argv[1:]:
        v = worst.get(c['clause'], 'met')
        worst[c['clause']] = max(v, c['verdict'], key=order.index)
for k, v in worst.items():
    print(k, v)
END
}

# PTS[IOPS-2.1] PTS[WSAT-2-LOAD] PTS[HIR-2-LOAD] PTS[DIRTH-0-ACCESS]: the operator's choice, told
t 'the definition set meets every clause (the drive is simulated)'
pts run pts-full --dut sim:ent-nvme --db full.db -q
verdicts full.db iops tp lat wsat hir xsr cbw dirth >full.txt
same "$(grep -v '^[^ ]* met$' full.txt | sort)" "GEN-3.1-DATA not measured
GEN-3.1-RNG not measured" 'what is not met'
same "$(verdicts again run | grep -v '^[^ ]* met$')" "GEN-3.1-DRIVE deviation
GEN-6-ITEMS not measured
GEN-22-DEV deviation" 'what the run does not meet'
run cat audit.json
json_is 'd["evidence"]["intact"], d["conforms"]' '(True, False)'

t 'every clause of the list was asked'
grep -v '^#' "$ROOT/pts/defs/clauses.txt" | sed -n 's/ | .*//p' | grep -v '^RWSW-' | sort >all.txt
{ verdicts again run iops tp lat wsat hir xsr cbw dirth; } | sed 's/ .*//' | sort >asked.txt
same "$(comm -3 all.txt asked.txt)" '' 'clauses'

# PTS[GEN-3.1-DRIVE] PTS[GEN-3.1-RNG] PTS[GEN-3.1-DATA] PTS[GEN-6-ITEMS] PTS[GEN-22-DEV] PTS[GEN-4-END] PTS[GEN-3.3-WC]
t 'a run that conforms is exit 0'
pts run lat --dut sim:ent-nvme --db real.db -q
cat >real.py <<'END'
# As if a drive of flesh and blood had been measured: the rows rewritten, the chain made anew.
import sqlite3, sys
sys.path.insert(0, sys.argv[1])
import chain
db = sqlite3.connect('real.db')
chain.disarm(db)
db.execute("UPDATE run SET simulated = 0, firmware = '1.0', dut = '/dev/nvme0n1'")
db.execute("UPDATE section SET purge_method = 'nvme-format'")
db.execute("UPDATE event SET detail = replace(detail, '\"method\":\"sim\"', '\"method\":\"nvme-format\"')")
db.execute('DELETE FROM deviation')
for sql in sys.argv[2:]:
    assert db.execute(sql).rowcount > 0, sql
chain.rebuild(db)
db.commit()
END
sqlite3 real.db 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
run python3 real.py "$TOOLS"
pts audit --db real.db --json
json_is 'd["conforms"], [c["clause"] + c["done"] for c in d["clauses"] if c["verdict"] != "met"]' '(True, [])'
exit_is 0
pts audit --db real.db --head "$(sqlite3 real.db 'SELECT digest FROM v_run')"
exit_is 0
out_match '^clauses: [1-9][0-9]* met, 0 deviations, 0 not met, 0 not measured$'

# cases [SQL...]: lines of tests/tools/audit_cases.py on stdin
cases() {
	run python3 "$TOOLS/audit_cases.py" "$PTS" "$@"
	[ "$RC" = 0 ] || sed 's/^/# /' "$OUT" "$ERR"
	out_match '^[1-9][0-9]* cases, 0 otherwise$'
	exit_is 0
}

# PTS[GEN-3.2-PURGE] PTS[GEN-3.2-METHOD] PTS[GEN-3.3-WC] PTS[GEN-3.5-AR] PTS[GEN-4-GAP] PTS[GEN-3.1-SAMELOAD]
t 'conditions that are not as they should be: one clause each, of a run that conforms'
cases <<'END'
real.db | only | UPDATE section SET purge_verified = 0 | GEN-3.2-PURGE deviation
real.db | only | UPDATE section SET purge_method = 'blkdiscard' | GEN-3.2-METHOD deviation
real.db | only | UPDATE test_end SET write_cache = 'on' | GEN-3.3-WC not met
real.db | only | UPDATE test_end SET write_cache = 'unknown' | GEN-3.3-WC deviation
real.db | only | UPDATE document SET body = replace(body, 'fills 1920383410176', 'fills 1720383410176') | GEN-3.5-AR deviation
real.db | only | UPDATE cell SET start_ns = start_ns + 6000000000 WHERE ordinal > 20 | GEN-4-GAP not met
real.db | only | UPDATE cell SET threads_seen = 0 | GEN-3.1-SAMELOAD deviation
real.db | only | UPDATE run SET serial = NULL | GEN-6-ITEMS not measured
real.db | only | UPDATE document SET body = replace(body, 'purge', 'purge ') WHERE body NOT LIKE '%params {%' | GEN-2-SET not met
END

# PTS[TP-3-SEQ] PTS[GEN-3.1-MIX] PTS[GEN-3.1-RT] PTS[GEN-9-PCT] PTS[GEN-5-MARK] PTS[GEN-4-END]
t 'cells that are not as they should be'
pts run tp --dut 'sim:ent-nvme' --db tp.db -q
sqlite3 tp.db 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
cases <<'END'
tp.db | tp | UPDATE cell SET cursors = json_set(cursors, '$[1]', 77777777) WHERE ordinal = 4 | TP-3-SEQ not met
tp.db | tp | UPDATE cell SET read_ios = 1 WHERE ordinal = 3 | GEN-3.1-MIX not met
tp.db | tp | UPDATE cell SET art_ns = 1 WHERE ordinal = 3 | GEN-5-WINDOW met
tp.db | run | UPDATE cell SET art_ns = 1 WHERE ordinal = 3 | GEN-3.1-RT not met
tp.db | run | UPDATE cell SET p99_ns = 1 WHERE ordinal = 3 | GEN-9-PCT not met
tp.db | tp | UPDATE test_end SET verdict = 'not achieved' | GEN-5-MARK not met
tp.db | tp | UPDATE test_end SET verdict = 'failed' | GEN-4-END not met
END

t 'the client profile, and an operator who chooses'
pts run tp --profile client --dut sim:client-slc --db c.db -q
same "$(verdicts c.db tp | grep -v '^[^ ]* met$')" 'GEN-3.1-RNG not measured
GEN-3.1-DATA not measured' 'client'
file_has audit.json '75 % is wanted'

# PTS[GEN-5-MAX25] PTS[GEN-5-MARK] PTS[GEN-5-VOID]
t 'short values are deviations, clause by clause'
pts run lat --quick --dut 'sim:pm?size=4g' --db q.db -q
same "$(verdicts q.db lat | grep ' deviation$' | tr '\n' ' ')" 'GEN-3.5-AR deviation LAT-2 deviation LAT-3-MINUTE deviation LAT-4 deviation ' 'quick'

# What the audit says of definitions that break clauses. Each breaks those of its list, and meets the rest.
mkdir defs
cat >defs/broken.pts <<'END'
test b-iops "IOPS, otherwise" clause IOPS
	purge
	fill seq-128k-w 1x threads 1 qd 32
	loop rounds 26 until steady
		foreach mix in 100/0 0/100 65/35
			foreach size in 1024k 64k 4k
				run rnd rw $mix bs $size threads 8 qd 8 for 30s
			end
		end
		track iops of rw 0/100 bs 4k
	end
end
test b-seq "IOPS, sequential" clause IOPS
	purge
	fill seq-64k-w 2x threads 1 qd 32
	loop rounds 6 until steady
		run seq rw 0/100 bs 64k for 1m
		run seq rw 0/100 bs 64k threads 2 for 1m
		track iops of rw 0/100 threads 2
	end
end
test b-tp "Throughput, otherwise" clause TP
	foreach size in 128k 1024k
		purge
		fill seq-128k-w 2x threads 1 qd 16
		loop rounds 8 until steady
			foreach mix in 0/100 100/0
				run rnd rw $mix bs $size threads 1 qd 16 for 30s
			end
			track bytes_per_s of rw 100/0
		end
	end
end
test b-lat "Latency, otherwise" clause LAT
	purge
	fill seq-128k-w 1x threads 1 qd 32
	loop rounds 8 until steady
		foreach mix in 0/100 65/35 100/0
			foreach size in 8k 4k
				run rnd rw $mix bs $size threads 1 qd 2 for 30s
			end
		end
		track art of rw 0/100 bs 8k
	end
	run rnd rw 100/0 bs 4k threads 1 qd 2 for 10m as histogram
end
test b-wsat "Write saturation, otherwise" clause WSAT
	purge
	fill seq-128k-w 1x threads 1 qd 32
	loop until written 100x or time 3h
		run rnd-4k-w for 20m every 30s as wdpc
		run rnd-4k-w for 30s as sample
		track iops of sample
		track art of sample
	end
	run rnd-8k-w for 10m as histogram
end
test b-hir "Host idle recovery, otherwise" clause HIR
	purge
	fill seq-128k-w 1x threads 1 qd 32
	loop rounds 8 until steady
		run rnd-8k-w for 1m as sample
		run rnd-8k-w for 9m every 1m as wdpc
		track art of sample
	end
	foreach wait in 10s 5s
		repeat 3
			run rnd-8k-w for 4s as stimulus label $wait
			idle $wait
		end
		run rnd-8k-w for 60s every 10s as baseline label $wait
	end
end
test b-wl "Write saturation of reads" clause WSAT
	purge
	loop until steady or written 4x or time 6h
		run rnd-4k-r threads 1 for 30m every 1m as wdpc
		run rnd-4k-r threads 1 for 1m as sample
		track iops of sample
	end
	run rnd-4k-r threads 1 for 20m as histogram
end
test b-dirth "DIRTH with reads before it" clause DIRTH
	purge
	loop rounds 25 until steady
		run rnd-8k-65-35 threads 32 qd 32 for 1m as sample
		track iops of sample
		check
		run rnd-8k-65-35 threads 32 qd 32 for 29m every 1m as wdpc
	end
end
test b-rwsw "A replay's preconditioning, otherwise" clause RWSW-7
	purge
	loop rounds 5 until steady
		run rnd-4k-w for 10m every 1m as wdpc
		run rnd-4k-w for 1m as sample
		track iops of sample
	end
end
test b-xsr "Cross stimulus recovery, otherwise" clause XSR
	purge
	fill seq-128k-w 1x threads 1 qd 32
	run rnd-8k-w     threads 2 qd 32 for 6m every 1m as stimulus label ag2
	run seq-128k-w threads 2 qd 32 for 8m every 1m as stimulus label ag1
	run rnd-8k-w threads 2 qd 32 for 8m every 2m as stimulus label ag3
end
test b-cbw "Composite, otherwise" clause CBW
	purge
	fill seq-128k-w 1x threads 1 qd 32
	loop rounds 8 until steady
		run rnd-8k-65-35 threads 16 qd 32 for 2m as sample
		track art of sample
		check
		run rnd-8k-65-35 threads 16 qd 32 for 10m every 1m as wdpc
	end
	loop rounds 8 until steady
		run rnd-8k-65-35 threads 16 qd 32 for 2m as irpw
		foreach tc in 1 16
			foreach depth in 1 32
				run rnd-8k-65-35 threads $tc qd $depth for 30s
			end
		end
		track iops of threads 1 qd 1
	end
	pick max by highest iops where art < 1us tie 5% lowest oio else lowest art
	pick min at threads 16 qd 1
	pick mid by nearest iops to (highest + lowest) / 2 where art < 9ms tie 2% lowest oio lowest tc else lowest art
	foreach point in $max $min
		run rnd-8k-65-35 at $point for 6m every 2m as prewrite
		run rnd-8k-65-35 at $point for 1m as histogram
	end
end
test b-unpurged "No purge" clause XSR
	run rnd-8k-w threads 1 qd 32 for 6m every 1m as stimulus label ag2
	idle 10s
	run rnd-8k-w threads 1 qd 32 for 6m every 1m as stimulus label ag2
end
END
export PTS_DEF_PATH=$W/defs

broken() { # broken TEST 'PTS[ID] ...'
	local test=$1 want
	want=$(tr -s ' \t\n' '\n' <<<"$2" | sed -n 's/^PTS\[\(.*\)\]$/\1/p' | sort)
	[ -n "$want" ] || fail 'no clause to break'
	pts run "$test" --dut "$DUT" --db b.db -q
	[ "$RC" -le 1 ] || fail "exit $RC: $(show "$ERR")"
	verdicts b.db "$test" | grep -Ev '^[^ ]* (met|not measured)$' | sed 's/ .*//' | sort >broken.txt
	same "$(comm -3 <(echo "$want") broken.txt | tr '\n\t' ' +')" '' "of $test, - missing, + too many"
	file_has audit.json '"intact":true'
	file_has audit.json '"conforms":false'
}

t 'clauses that are broken are found: IOPS'
broken b-iops 'PTS[GEN-2-SET] PTS[IOPS-2.2] PTS[IOPS-3.1] PTS[IOPS-3.2] PTS[IOPS-3.2-MINUTE] PTS[IOPS-3.2.1.2.2]'
broken b-seq 'PTS[GEN-2-SET] PTS[GEN-3.1-SAMELOAD] PTS[IOPS-2.2] PTS[IOPS-3.1] PTS[IOPS-3.2] PTS[IOPS-3.2-RND]
	PTS[IOPS-3.2.1.2.2]'

t 'clauses that are broken are found: throughput'
broken b-tp 'PTS[GEN-2-SET] PTS[TP-0] PTS[TP-2] PTS[TP-2-LOAD] PTS[TP-3] PTS[TP-3-MINUTE] PTS[TP-3-TRACK]'

t 'clauses that are broken are found: latency'
broken b-lat 'PTS[GEN-2-SET] PTS[LAT-2] PTS[LAT-3-LOAD] PTS[LAT-3] PTS[LAT-3-MINUTE] PTS[LAT-3-TRACK] PTS[LAT-4]'

t 'clauses that are broken are found: write saturation'
broken b-wsat 'PTS[GEN-2-SET] PTS[WSAT-2-NOFILL] PTS[WSAT-2-MINUTE] PTS[WSAT-2-ROUND] PTS[WSAT-2.4] PTS[WSAT-2-TRACK]
	PTS[WSAT-2-STEADY] PTS[WSAT-3]'

broken b-wl 'PTS[GEN-2-SET]'
run cat audit.json # a workload or a load of one's own is the operator's choice, and told
json_is '[c["done"].split("; ")[-1] for c in d["clauses"] if c["clause"] == "WSAT-2-LOAD"]' "[\"the operator's choice\"]"
json_is '[c["done"].split("; ")[-1][-16:] for c in d["clauses"] if c["clause"] == "WSAT-1"]' "['are 100 R RND 4k']" # PTS[WSAT-1]

t 'clauses that are broken are found: host idle recovery'
broken b-hir 'PTS[GEN-2-SET] PTS[HIR-2-ACCESS] PTS[HIR-2-NOFILL] PTS[HIR-2-ROUND] PTS[HIR-2-TRACK] PTS[HIR-3] PTS[HIR-3A]
	PTS[HIR-3C] PTS[HIR-3-SUM]'

sqlite3 b.db 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
cases <<'END' # PTS[HIR-3B]
b.db | b-hir | UPDATE cell SET elapsed_ns = elapsed_ns - 1000 WHERE phase = 'idle' AND round IS NULL | HIR-3B not met
END

t 'clauses that are broken are found: cross stimulus recovery'
broken b-xsr 'PTS[GEN-2-SET] PTS[XSR-1] PTS[XSR-2-LOAD] PTS[XSR-2] PTS[XSR-2-AG1] PTS[XSR-2-AG2] PTS[XSR-2-AG3] PTS[XSR-2-SUM]'
broken b-unpurged 'PTS[GEN-2-SET] PTS[GEN-3.2-PURGE] PTS[GEN-3.2-METHOD] PTS[XSR-2] PTS[XSR-2-AG2] PTS[XSR-2-SUM]'

t 'clauses that are broken are found: CBW and DIRTH'
broken b-cbw 'PTS[GEN-2-SET] PTS[CBW-0-SIZES] PTS[CBW-0-LBA] PTS[CBW-0-MIX] PTS[CBW-2-MIX] PTS[DIRTH-1] PTS[DIRTH-2]
	PTS[DIRTH-2-LOAD] PTS[DIRTH-2-TRACK] PTS[DIRTH-3A] PTS[DIRTH-3B] PTS[DIRTH-3B-MINUTE] PTS[DIRTH-3-TRACK] PTS[DIRTH-4.1]
	PTS[DIRTH-4.2] PTS[DIRTH-4.3] PTS[DIRTH-4.4] PTS[DIRTH-4.5] PTS[DIRTH-5-PRE] PTS[DIRTH-5]'
broken b-dirth 'PTS[GEN-2-SET] PTS[DIRTH-0-MIX]'

t 'clauses that are broken are found: replay'
broken b-rwsw 'PTS[GEN-2-SET] PTS[RWSW-7-PRE]'
