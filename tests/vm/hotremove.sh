#!/bin/bash
# SPDX-License-Identifier: MIT
# A drive is taken out while a test runs on it. Linux then answers reads with 0 bytes and no error, hundreds of thousands a second:
# none of them may be counted, and the run must end.
. "$(dirname "$0")/lib.sh"

guest <<'END'
mkdir defs
export PTS_DEF_PATH=$PWD/defs
cat >defs/long.pts <<'DEF'
test long "Long reads" clause X
	fill seq-128k-w 1x threads 1 qd 8
	repeat 3
		run rnd-4k-r threads 1 qd 4 for 500ms
	end
	run rnd-4k-r threads 2 qd 4 for 10m
	run rnd-4k-r threads 1 qd 1 for 10m
end
DEF
dev=$(drive HOTDEL)
now() { read -r up _ </proc/uptime; echo "${up/./}"; } # in 10 ms
code run "$PTS" run long --dut "$dev" --destroy HOTDEL --db /dev/shm/hot.db &
until [ "$(sqlite3 /dev/shm/hot.db "SELECT count(*) >= 4 FROM v_cell" 2>/dev/null)" = 1 ]; do sleep 0.2; done
sleep 1
: >go
while [ -e "/sys/block/${dev#/dev/}" ] && [ -e "/proc/$!" ]; do sleep 0.1; done
[ -e "/sys/block/${dev#/dev/}" ] || : >gone
gone=$(now)
wait
echo $((($(now) - gone) / 100)) >seconds
code check "$PTS" db check --db /dev/shm/hot.db
code status "$PTS" status --db /dev/shm/hot.db --json
cp /dev/shm/hot.db .
END

truncate -s 64M "$W/hot.raw"
{
	for ((i = 0; i < 1200; i++)); do
		[ ! -e "$VM/go" ] || break
		sleep 0.1
	done
	python3 "$ROOT/tests/rigs/qmp.py" "$VM/qmp.sock" device_del '{"id": "hot"}'
} >"$W/qmp.out" 2>&1 &
at_exit kill $!

t 'U34: a drive is removed in a run: the run ends by itself'
vm -q -n 0 -k nvme -t 180 -x "-device pcie-root-port,id=rp1,slot=1,chassis=1
	-blockdev driver=file,node-name=hot,filename=$W/hot.raw -device nvme,id=hot,bus=rp1,serial=HOTDEL,drive=hot"
exit_is 0
same "$(cat "$W/qmp.out")" '{}' 'answer of qemu'
vm_code run 3
true_that test -e "$VM/gone"
true_that test "$(cat "$VM/seconds")" -le 10
file_has "$VM/run.err" 'pts: run: '

t 'no IO of the drive that is gone is counted'
db=$VM/hot.db
sql_is "$db" "SELECT count(*), sum(partial), sum(errors) FROM v_cell WHERE ordinal <
	(SELECT max(ordinal) FROM v_cell)" '4|0|0'
sql_is "$db" "SELECT partial, errors + short_ios > 0, prepared = ios + short_ios + errors FROM v_cell
	ORDER BY cell_id DESC LIMIT 1" '1|1|1'
# What was counted stands in the histogram and in the seconds, and no second is faster than an emulated drive can be.
sql_is "$db" "SELECT count(*) FROM v_cell c WHERE ios <> (SELECT sum(count) FROM v_histogram h WHERE h.cell_id = c.cell_id
	AND kind = 'service')" 0
sql_is "$db" "SELECT count(*) FROM v_second WHERE ios > 100000" 0

t 'the run is failed, its database sound'
sql_is "$db" "SELECT state, compliant FROM v_run" 'failed|0'
sql_is "$db" "SELECT count(*) > 0 FROM v_event WHERE kind = 'error'" 1
vm_code check 0
vm_code status 0
