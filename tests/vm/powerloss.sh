#!/bin/bash
# SPDX-License-Identifier: MIT
# The machine loses power while a run writes its database to an ext4 disk. Every cell that a reader had seen in the database before
# must be there after the restart, and the run goes on from there.
. "$(dirname "$0")/lib.sh"

mkdir "$VM/defs"
cat >"$VM/defs/many.pts" <<'END'
test first "A test that is finished" clause X
	run rnd-4k-r threads 1 qd 1 for 100ms
end
test many "Many short cells" clause X
	purge
	repeat 150
		run rnd rw 50/50 bs 4k threads 1 qd 2 for 50ms
	end
end
END

# A reader sees what is committed; acknowledged is what it has seen, so each line of the list must be true for ever.
guest <<'END'
export PTS_DEF_PATH=$PWD/defs
"$PTS" run first many --dut "$(drive VMNV0)" --destroy VMNV0 --db /mnt/p.db >run.out 2>run.err &
cat >/dev/shm/reader.py <<'PY'
import sqlite3, time
seen = 0
ack = open("/tmp/vm/ack", "w")
while True:
    try:
        db = sqlite3.connect("file:/mnt/p.db?mode=ro", uri=True)
        for row in db.execute("SELECT cell_id, ios, CAST(lat_sum_ns AS INTEGER), elapsed_ns FROM v_cell WHERE cell_id > ? ORDER BY cell_id", (seen,)):
            ack.write("%d|%d|%d|%d\n" % row)
            seen = row[0]
        ack.flush()
        db.close()
    except sqlite3.OperationalError:
        pass
    time.sleep(0.02)
PY
python3 /dev/shm/reader.py
END

kill_at_cell() {
	local i
	for ((i = 0; i < 1200; i++)); do
		[ "$(wc -l 2>/dev/null <"$VM/ack")" -lt "$1" ] || break
		sleep 0.1
	done
	kill -KILL "$(cat "$W/qemu.pid")"
}

: >"$VM/ack"
kill_at_cell 25 2>/dev/null &
killer=$!
at_exit kill "$killer"
vm -n 1 -s 64 -i "$W/images" -D "$W/disk.raw" -P "$W/qemu.pid" -t 180
wait "$killer"

t 'the machine ran until its power was cut'
exit_is 125
acknowledged=$(wc -l <"$VM/ack")
true_that test "$acknowledged" -ge 25
hasnt "$VM/run.err" 'all tests' 'messages of the run'

guest <<'END'
export PTS_DEF_PATH=$PWD/defs
code check "$PTS" db check --db /mnt/p.db
code status "$PTS" status --db /mnt/p.db --json
sqlite3 /mnt/p.db 'SELECT cell_id, ios, CAST(lat_sum_ns AS INTEGER), elapsed_ns FROM v_cell ORDER BY cell_id' >there
code resume "$PTS" resume last --db /mnt/p.db
code check2 "$PTS" db check --db /mnt/p.db
cp /mnt/p.db .
END
vm -n 1 -s 64 -i "$W/images" -D "$W/disk.raw" -t 240

t 'after the restart every acknowledged cell is there, unchanged'
exit_is 0
true_that test "$(wc -l <"$VM/there")" -ge "$acknowledged"
same "$(head -n "$acknowledged" "$VM/there")" "$(cat "$VM/ack")" 'list of cells'

t 'the database is sound'
vm_code check 0
vm_code status 0
sql_is "$VM/p.db" 'PRAGMA integrity_check' ok

t 'the run is resumed and ends'
vm_code resume 0
vm_code check2 0
sql_is "$VM/p.db" "SELECT state FROM v_run" 'done'
# The finished test is kept, the interrupted one begun again.
sql_is "$VM/p.db" "SELECT test, attempt, void FROM v_test ORDER BY test, attempt" $'first|1|0\nmany|1|1\nmany|2|0'
sql_is "$VM/p.db" "SELECT count(*) FROM v_cell WHERE NOT void" 151
