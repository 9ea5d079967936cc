#!/bin/bash
# SPDX-License-Identifier: MIT
# The order of things in a test: what drives its verdict, and what is left of it after kill -9 between two cells.
. "$(dirname "$0")/lib.sh"

mkdir defs
export PTS_DEF_PATH=$W/defs
# 25 cells a round, the tracked one of reads alone and at a rate that any drive keeps, so that the verdict hangs on no drive.
cat >defs/even.pts <<'END'
test even "Even" clause X
	purge
	loop rounds 6 until steady
		foreach mix in 100/0 65/35 0/100
			foreach size in 4k 8k 16k 32k 64k 128k 256k 512k
				run rnd rw $mix bs $size threads 1 qd 1 for 15ms
			end
		end
		run rnd rw 100/0 bs 2k threads 1 qd 1 for 200ms rate 200
		track iops of rw 100/0 bs 2k
	end
end
END

# Kills the run as soon as round 3 cell 20 can be read: its sequence of committed cells is then in "seen".
kill_in_round_3() {
	python3 - "$1" "$PID" <<'END'
import os, signal, sqlite3, sys, time
name, pid = sys.argv[1], int(sys.argv[2])
deadline = time.monotonic() + 20
while time.monotonic() < deadline:
    try:
        db = sqlite3.connect("file:%s?mode=ro" % name, uri=True)
        n = db.execute("SELECT count(*) FROM v_cell WHERE round = 3").fetchone()[0]
        if n >= 20:
            rows = db.execute("SELECT cell_id, round, step, access, ios, elapsed_ns FROM v_cell ORDER BY cell_id").fetchall()
            os.kill(pid, signal.SIGKILL)
            for row in rows:
                print(*row, sep="|")
            sys.exit(0)
        db.close()
    except sqlite3.OperationalError:
        pass
    time.sleep(0.002)
sys.exit(1)
END
}

t 'U15: kill -9 in round 3 at cell 20: each committed cell is there, resume ends in the same verdicts'
pts run even -q --dut 'file:whole?size=16m' --db whole.db
exit_is 0
start cut.db even -q --dut 'file:cut?size=16m'
{
	kill_in_round_3 cut.db >seen
	stop KILL
} 2>/dev/null # the shell's word on it
n=$(wc -l <seen)
true_that test "$n" -ge 70
true_that test "$n" -le 74
sql_is cut.db 'PRAGMA integrity_check' ok
same "$(ask cut.db "SELECT cell_id, round, step, access, ios, elapsed_ns FROM v_cell ORDER BY cell_id LIMIT $n")" "$(cat seen)" 'committed cells'
pts db check --db cut.db
exit_is 0
sql_is cut.db 'SELECT state FROM v_run' running
pts resume -q --db cut.db
exit_is 0
verdicts='SELECT test, steady, window_first, window_last, rounds, verdict FROM v_test WHERE NOT void'
same "$(ask cut.db "$verdicts")" "$(ask whole.db "$verdicts")" verdicts
same "$(ask cut.db "$verdicts")" 'even|1|1|5|5|steady' verdicts
# What was there before stays, without effect.
same "$(ask cut.db "SELECT cell_id, round, step, access, ios, elapsed_ns FROM v_cell WHERE attempt = 1 ORDER BY cell_id LIMIT $n")" "$(cat seen)" 'first attempt'
sql_is cut.db 'SELECT count(*), count(DISTINCT round) FROM v_cell WHERE NOT void AND attempt = 2' '125|5'
pts db check --db cut.db
exit_is 0

t 'U16: 49 cells a round from T32Q32 down to T1Q1; reads and writes together drive steady state'
pts run dirth --dut sim:ent-nvme --db dirth.db -q
exit_is 0
want=$(for tc in 32 16 8 6 4 2 1; do for qd in 32 16 8 6 4 2 1; do echo "$tc|$qd"; done; done)
same "$(ask dirth.db "SELECT threads, qd FROM v_cell WHERE phase = 'round' AND round = 1 ORDER BY cell_id")" "$want" 'order of the cells'
sql_is dirth.db "SELECT count(*) > 0, min(read_ios > 0 AND write_ios > 0),
	max(abs(s.y5 - (c.read_ios + c.write_ios) * 1e9 / c.elapsed_ns) / s.y5) < 1e-9
	FROM v_steady s JOIN v_cell c ON c.section = s.section AND c.round = s.round AND c.phase = 'round' AND c.threads = 32 AND c.qd = 32" '1|1|1'
sql_is dirth.db "SELECT count(*) FROM v_cell WHERE phase = 'round' AND (threads_seen <> threads OR oio <> threads * qd)" 0

t 'U13: the vectors: steady or not by the rule of the PTS, on its limits steady'
for v in '1 100 104 108 112 116' '0 100 110 95 105 100' '0 90 100 110 100 100'; do
	# shellcheck disable=SC2086
	pts steady ${v#? } --json
	exit_is "${v%% *}"
	case $v in
	1*) json_is '"%.1f %.1f" % (100 * d["range"] / d["average"], 100 * d["slope_excursion"] / d["average"])' '14.8 14.8' ;;
	*95*) json_is '"%.1f %.2f" % (100 * d["range"] / d["average"], 100 * d["slope_excursion"] / d["average"])' '14.7 1.96' ;;
	*) json_is '"%.1f %.1f" % (100 * d["range"] / d["average"], 100 * d["slope_excursion"] / d["average"])' '20.0 8.0' ;;
	esac
done
sql_is dirth.db "SELECT count(*) FROM v_steady WHERE y5 IS NULL OR average IS NULL OR range IS NULL OR slope IS NULL
	OR slope_excursion IS NULL OR steady IS NULL" 0

t 'U19: what a plan says is what is run: cells, host writes, time; options that contradict one another are refused'
pts plan even --dut 'sim:pm?size=1g&seed=1'
exit_is 0
out_match '^written '
out_match '^duration '
out_has 'rate 200'
out_match '^cells +125 to 150$'
pts run even --dut 'sim:pm?size=1g' --db no.db -q -v
exit_is 2
file_absent no.db
pts run even --dut 'sim:pm?size=1g' --db no.db -q --progress=json
exit_is 2
file_absent no.db
