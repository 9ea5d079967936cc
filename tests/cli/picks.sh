#!/bin/bash
# SPDX-License-Identifier: MIT
# Which cells a point is picked from, and the rate that comes of it; the audit picks by the same rule. Of a set each drive has its
# own load, rate and sequential position.
. "$(dirname "$0")/lib.sh"

mkdir defs
export PTS_DEF_PATH=$W/defs

intact() { # intact DB POINTS
	pts audit --db "$1"
	[ "$RC" -le 1 ] || fail "exit $RC; stderr: $(show "$ERR")"
	out_match "^evidence: intact \(.*, $2 points\)\$"
	out_hasnt BROKEN
}

t 'a fill, a pre-write and preconditioning are no candidates, whatever they reach'
cat >defs/only.pts <<'END'
test only "Only steps" clause -
	purge
	fill seq-128k-w 1x threads 1 qd 8
	run rnd-4k-r threads 16 qd 16 for 30s quick 100ms as prewrite
	run rnd-4k-r threads 16 qd 16 for 30s quick 100ms as wdpc
	run rnd-4k-r threads 1 qd 1 for 30s quick 100ms
	run rnd-4k-r threads 2 qd 1 for 30s quick 100ms
	pick top by highest iops else lowest art
end
END
pts run only --quick --dut 'sim:ent-nvme?size=64g' --db o.db -q
exit_is 0
sql_is o.db "SELECT threads, qd, reason LIKE '%; of 2 cells' FROM v_point" '2|1|1'
intact o.db 1

t 'cells of one threads and depth in two statements stay apart'
cat >defs/twins.pts <<'END'
test twins "Twins" clause -
	purge
	fill seq-128k-w 1x threads 1 qd 8
	run rnd-4k-w threads 2 qd 4 for 30s quick 2s
	run rnd-4k-r threads 2 qd 4 for 30s quick 2s
	run rnd-8k-r threads 2 qd 4 for 30s quick 2s as maximum
	pick top by highest iops else lowest art
	pick far by highest iops of maximum
end
END
pts run twins --quick --dut 'sim:ent-nvme?size=64g' --db t.db -q
exit_is 0
sql_is t.db "SELECT p.point, p.art_ns = c.art_ns, p.lat_p99999_ns = c.lat_p99999_ns FROM v_point p
	JOIN v_cell c ON c.phase = iif(p.point = 'far', 'maximum', 'step') AND c.iops = p.iops" $'top|1|1\nfar|1|1'
sql_is t.db "SELECT count(DISTINCT lat_p99999_ns) FROM v_cell WHERE phase <> 'wipc'" 3
intact t.db 2

t 'bounded, and a loop with pre-writes in it: the audit agrees'
cat >defs/looped.pts <<'END'
test looped "Looped" clause -
	purge
	fill seq-128k-w 1x threads 1 qd 4
	loop rounds 6 until steady
		run rnd-4k-r threads 4 qd 8 for 10s quick 20ms as irpw
		foreach q in 1 4
			run rnd rw 70/30 bs 4k threads 1 qd $q for 30s quick 20ms
		end
		track iops of qd 4
	end
	pick top by highest iops tie 1% lowest oio else lowest art
	run rnd-4k-r at $top for 1m quick 20ms
	pick after by highest iops of step
	run rnd-4k-r at $after rate $after.iops * 50% for 1m quick 200ms as histogram
end
END
pts run bounded looped --quick --dut 'sim:ent-nvme?size=64g' --db l.db -q
[ "$RC" -le 1 ] || fail "exit $RC"
sql_is l.db "SELECT point, threads, qd FROM v_point WHERE test = 'looped'" $'top|1|4\nafter|1|4'
sql_is l.db "SELECT reason LIKE '%; of 42 cells%' FROM v_point WHERE test = 'bounded'" 1
sql_is l.db "SELECT c.rate_iops = p.iops / 2 FROM v_cell c, v_point p WHERE c.phase = 'histogram' AND p.point = 'after'" 1
intact l.db 3

t 'a pick of what only prepares is a mistake; so is one of nothing'
for phase in wipc wdpc prewrite idle; do
	printf 'test bad "Bad" clause -\n\tpurge\n\trun rnd-4k-r threads 1 qd 1 for 1s as %s\n\tpick top by highest iops of %s\nend\n' \
		$phase $phase >defs/bad.pts
	pts plan bad --dut 'sim:pm?size=1g'
	exit_is 2
	err_has "bad.pts:4: a pick is of cells that were measured, not of $phase"
done
printf 'test bad "Bad" clause -\n\tpurge\n\trun rnd-4k-r threads 1 qd 1 for 1s as sample\n\tpick top by highest iops\nend\n' >defs/bad.pts
pts plan bad --dut 'sim:pm?size=1g'
exit_is 2
err_has "bad.pts:4: nothing was measured that 'top' could be picked from"
rm defs/bad.pts

three='set:sim:ent-nvme?size=64g&seed=1,sim:ent-nvme?size=64g&seed=2,sim:ent-nvme?size=64g&seed=3'

t 'curve on a set: each drive is asked for its share of the peak, the row of the set for all of it'
pts run curve --quick --dut "$three" --db c.db -q
exit_is 0
sql_is c.db "SELECT count(*), max(abs(c.rate_iops - p.iops * c.label / 100)) < 1e-6 FROM v_cell c, v_point p
	WHERE c.phase = 'step' AND c.member IS NULL" '12|1'
sql_is c.db "SELECT count(*), max(abs(s.rate_iops - 3 * m.rate_iops)) < 1e-6 FROM v_cell s JOIN v_cell m ON m.step = s.step AND m.member > 0
	WHERE s.phase = 'step' AND s.member IS NULL" '36|1'
sql_is c.db "SELECT count(*), min(iops / rate_iops) > 0.999, max(iops / rate_iops) < 1.001 FROM v_cell WHERE phase = 'step'
	AND label + 0 <= 80" '32|1|1'
intact c.db 1
pts report 1 --db c.db -o c.txt
exit_is 0
true_that grep -qE '^ *10% .* 100\.0? ?%' c.txt

t 'a rate on some drives of a set; a peak of one drive asks the others for as much'
cat >defs/part.pts <<'END'
test part "Part" clause -
	purge
	run rnd-4k-r threads 1 qd 4 on members 2..2 for 30s quick 100ms as maximum
	pick one by highest iops of maximum
	run rnd-4k-r threads 1 qd 8 rate $one.iops * 50% for 30s quick 200ms
	run rnd-4k-r threads 1 qd 8 rate 1000 on members 1..2 for 30s quick 200ms label fixed
end
END
pts run part --quick --dut "$three" --db p.db -q
exit_is 0
sql_is p.db "SELECT c.rate_iops = p.iops * 3 / 2 FROM v_cell c, v_point p WHERE c.label = '50%' AND c.member IS NULL" 1
sql_is p.db "SELECT ifnull(member, 'all'), rate_iops FROM v_cell WHERE label = 'fixed' ORDER BY ordinal" $'all|2000.0\n1|1000.0\n2|1000.0'
intact p.db 1

t 'TP on a set: each drive goes on where it had stopped; a cursor that lies is still found'
pts run tp --quick --dut 'set:sim:ent-nvme?size=64g&seed=1,sim:client-slc?size=64g&seed=2' --db tp.db -q
[ "$RC" -le 1 ] || fail "exit $RC"
pts audit --db tp.db --json
json_is '{c["verdict"] for c in d["clauses"] if c["clause"] == "TP-3-SEQ"}' "{'met'}"
json_is 'd["evidence"]["intact"]' True
sqlite3 tp.db "DROP TRIGGER cell_no_update; UPDATE cell SET cursors = replace(replace(cursors, '[', '[9'), ',', ',9')
	WHERE cell_id = (SELECT cell_id FROM v_cell WHERE member = 2 AND phase = 'round' AND round = 3 ORDER BY cell_id LIMIT 1)"
pts audit --db tp.db --json
json_is '{c["verdict"] for c in d["clauses"] if c["clause"] == "TP-3-SEQ"}' "{'not met'}"

t 'written: of a set each drive has its amount, for the audit too'
cat >defs/much.pts <<'END'
test much "Much" clause -
	purge
	loop until written 10g quick 1g
		run seq-128k-w threads 2 qd 8 for 10s quick 50ms as wdpc
	end
end
END
pts run much --quick --dut "$three" --db w.db -q
[ "$RC" -le 1 ] || fail "exit $RC; $(show "$ERR")"
intact w.db 0
