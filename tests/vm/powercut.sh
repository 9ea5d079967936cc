#!/bin/bash
# SPDX-License-Identifier: MIT
# The machine loses power twice in one run, whose database is on an ext4 disk: while the drive is filled, and in the middle of a round.
# What was committed is there each time; the run goes on from its purge, or, if asked to, inside of the test with the rounds it has.
# (In the commits themselves: powerloss.sh.)
. "$(dirname "$0")/lib.sh"

mkdir "$VM/defs"
cat >"$VM/defs/t.pts" <<'END'
test first "A test that is finished" clause X
	run rnd-4k-r threads 1 qd 1 for 100ms
end
test rounds "Rounds" clause X
	purge
	fill seq-128k-w 12x threads 1 qd 1
	loop rounds 5 until steady
		run rnd rw 50/50 bs 4k threads 1 qd 2 for 1s
		run rnd rw 0/100 bs 4k threads 1 qd 2 for 300ms
		track iops of rw 0/100 bs 4k
	end
end
END

# Prints, as they come, the rows that another process can see: each is true for ever. Then what is being done now.
cat >"$VM/reader.py" <<'PY'
import sqlite3, sys, time
seen, sections, out = 0, 0, open(sys.argv[1], "w")
while True:
    try:
        db = sqlite3.connect("file:/mnt/p.db?mode=ro", uri=True)
        for row in db.execute("SELECT cell_id, ios, CAST(lat_sum_ns AS INTEGER), elapsed_ns, phase FROM v_cell WHERE cell_id > ? ORDER BY cell_id", (seen,)):
            out.write("%d|%d|%d|%d|%s\n" % row)
            seen = row[0]
        n = db.execute("SELECT count(*) FROM v_section WHERE purge_verified = 1").fetchone()[0]
        if n > sections:
            open(sys.argv[1] + ".purged", "a").write("%d\n" % n)
            sections = n
        out.flush()
        db.close()
    except sqlite3.OperationalError:
        pass
    time.sleep(0.02)
PY

# power_off WHEN SECONDS: vm, whose power goes when the lines of the file of what was seen fulfil WHEN, and a bit after
power_off() {
	{
		for ((i = 0; i < 1200; i++)); do
			! eval "$1" || break
			sleep 0.05
		done
		sleep "$2"
		kill -KILL "$(cat "$W/qemu.pid")"
	} 2>/dev/null &
	killer=$!
	at_exit kill "$killer"
	vm -n 1 -s 64 -i "$W/images" -D "$W/disk.raw" -P "$W/qemu.pid" -t 180
	wait "$killer"
}
rounds_seen() { grep -c 'round$' "$VM/$1" 2>/dev/null; }

guest <<'END'
export PTS_DEF_PATH=$PWD/defs XDG_STATE_HOME=/dev/shm/state
python3 reader.py seen1 &
"$PTS" run first rounds --dut "$(drive VMNV0)" --destroy VMNV0 --db /mnt/p.db >run1.out 2>run1.err
: >through1
END
: >"$VM/seen1"
power_off '[ -s "$VM/seen1.purged" ]' 0.7
t 'power off while the drive is filled'
exit_is 125
true_that test ! -e "$VM/through1"
same "$(cut -d'|' -f1,5 "$VM/seen1" | wc -l)" 1 'cells that were seen'

guest <<'END'
export PTS_DEF_PATH=$PWD/defs XDG_STATE_HOME=/dev/shm/state
sqlite3 /mnt/p.db 'SELECT cell_id, ios, CAST(lat_sum_ns AS INTEGER), elapsed_ns, phase FROM v_cell ORDER BY cell_id' >there2
sqlite3 /mnt/p.db 'SELECT test, verdict FROM v_test ORDER BY test, attempt' >tests2
code check2 "$PTS" db check --db /mnt/p.db
code status2 "$PTS" status --db /mnt/p.db --json
python3 reader.py seen2 &
"$PTS" resume --db /mnt/p.db >run2.out 2>run2.err
: >through2
END
: >"$VM/seen2"
power_off '[ "$(rounds_seen seen2)" -ge 5 ]' 0.4
t 'after it: the finished test is there, the database sound; and power off in the third round of the next go'
exit_is 125
true_that test ! -e "$VM/through2"
vm_code check2 0
vm_code status2 0
same "$(cat "$VM/there2")" "$(cat "$VM/seen1")" 'list of cells'
file_has "$VM/tests2" 'first|done'
hasnt "$VM/tests2" 'rounds|done' 'list of tests'
true_that test "$(rounds_seen seen2)" -ge 5
true_that test "$(rounds_seen seen2)" -lt 8

guest <<'END'
export PTS_DEF_PATH=$PWD/defs XDG_STATE_HOME=/dev/shm/state
sqlite3 /mnt/p.db 'SELECT cell_id, ios, CAST(lat_sum_ns AS INTEGER), elapsed_ns, phase FROM v_cell ORDER BY cell_id' >there3
sqlite3 /mnt/p.db "SELECT round, count(*) FROM v_cell WHERE phase = 'round' GROUP BY round" >rounds3
code check3 "$PTS" db check --db /mnt/p.db
code resume3 "$PTS" resume --continue-inside --db /mnt/p.db
code after3 "$PTS" db check --db /mnt/p.db
code audit3 "$PTS" audit last --db /mnt/p.db
cp /mnt/p.db .
END
vm -n 1 -s 64 -i "$W/images" -D "$W/disk.raw" -t 180
t 'after that: nothing of a committed round is lost'
exit_is 0
vm_code check3 0
n=$(wc -l <"$VM/seen2")
same "$(head -n "$n" "$VM/there3")" "$(cat "$VM/seen2")" 'list of cells'

t 'gone on with inside of the test: the rounds that were complete count, the others are measured'
true_that test "$(cat "$VM/resume3.rc")" -le 1
vm_code after3 0
db=$VM/p.db
sql_is "$db" "SELECT state FROM v_run" 'done'
sql_is "$db" "SELECT test, attempt, void FROM v_test ORDER BY test, attempt" $'first|1|0\nrounds|1|1\nrounds|2|0'
sql_is "$db" "SELECT round, count(*) FROM v_cell WHERE phase = 'round' AND NOT void GROUP BY round" $'1|2\n2|2\n3|2\n4|2\n5|2'
sql_is "$db" "SELECT count(*) FROM v_cell WHERE NOT void AND partial" 0
sql_is "$db" "SELECT count(*) FROM v_cell WHERE prepared <> ios + short_ios + errors" 0
sql_is "$db" "SELECT count(*) > 0 FROM v_deviation WHERE text LIKE '%interrupt%' OR text LIKE '%inside%'" 1
