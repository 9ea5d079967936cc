#!/bin/bash
# SPDX-License-Identifier: MIT
# A controller that is reset under a run; one of two drives of a campaign that is pulled while the other goes on; both plugged in again so
# that their names are swapped: the run that was cut short finds its drive by its identity, and writes to no other.
. "$(dirname "$0")/lib.sh"

guest <<'END'
mkdir defs
export PTS_DEF_PATH=$PWD/defs XDG_STATE_HOME=/dev/shm/state
cat >defs/t.pts <<'DEF'
test steady "One cell" clause X
	run rnd rw 50/50 bs 4k threads 2 qd 4 for 4s
end
test two "Two cells" clause X
	run rnd-4k-w threads 1 qd 1 for 300ms
	run rnd rw 50/50 bs 4k threads 1 qd 4 for 5s
end
test after "Another" clause X
	run rnd-4k-w threads 1 qd 1 for 200ms
end
DEF
until_sql() { # until_sql DB SQL VALUE: for a minute at most
	local i
	for ((i = 0; i < 300; i++)); do
		[ "$(sqlite3 "$1" "$2" 2>/dev/null)" != "$3" ] || return
		sleep 0.2
	done
}
until_here() { # until_here SERIAL YES
	local i
	for ((i = 0; i < 300; i++)); do
		[ "$(grep -qs "$1" /sys/class/nvme/*/serial && echo yes)" != "$2" ] || return
		sleep 0.1
	done
}
dev=$(drive VMNV0)
for engine in uring passthrough; do
	"$PTS" run steady --engine $engine --dut "$dev" --destroy VMNV0 --db /dev/shm/reset.$engine.db >reset.$engine.out 2>reset.$engine.err &
	for ((i = 0; i < 200; i++)); do grep -q 'RUN' reset.$engine.err && break; sleep 0.1; done
	sleep 1
	echo 1 >/sys/class/nvme/"$(basename "$dev" n1)"/reset_controller
	wait $!
	echo $? >reset.$engine.rc
	code check.$engine "$PTS" db check --db /dev/shm/reset.$engine.db
done

a=$(drive HOTA) b=$(drive HOTB)
echo "$a $b" >names1
"$PTS" run two after --dut "$a" --dut "$b" --destroy HOTA --destroy HOTB --db /dev/shm/hot.db >hot.out 2>hot.err &
until_sql /dev/shm/hot.db 'SELECT count(*) FROM v_cell' 2
sleep 1
: >pull_a
until_here HOTA ''
wait $!
echo $? >hot.rc
code hotcheck "$PTS" db check --db /dev/shm/hot.db
: >swap
until_here HOTB ''
until_here HOTB yes
until_here HOTA yes
sleep 1
a=$(drive HOTA) b=$(drive HOTB)
for ((i = 0; i < 100; i++)); do [ -b "$a" ] && [ -b "$b" ] && break; sleep 0.1; done
echo "$a $b" >names2
run=$(sqlite3 /dev/shm/hot.db "SELECT run_id FROM v_run WHERE state <> 'done'")
writes "$b" >before
code resume "$PTS" resume "$run" --db /dev/shm/hot.db
writes "$b" >after
cp /dev/shm/*.db .
END

truncate -s 32M "$W"/{a,b}.raw
qmp() { python3 "$ROOT/tests/rigs/qmp.py" "$VM/qmp.sock" "$@" >>"$W/qmp.out" 2>&1; }
wait_for() {
	local i
	for ((i = 0; i < 1500; i++)); do
		[ ! -e "$VM/$1" ] || return
		sleep 0.1
	done
}
gone() { # gone ID: until qemu has let it go
	local i
	for ((i = 0; i < 200; i++)); do
		python3 "$ROOT/tests/rigs/qmp.py" "$VM/qmp.sock" qom-list '{"path": "/machine/peripheral"}' | grep -q "\"$1\"" || return
		sleep 0.1
	done
}
{
	wait_for pull_a
	qmp device_del '{"id": "hota"}'
	wait_for swap
	gone hota
	qmp device_del '{"id": "hotb"}'
	gone hotb
	sleep 0.5
	qmp device_add '{"driver": "nvme", "id": "hotb2", "bus": "rp1", "serial": "HOTB", "drive": "b"}'
	sleep 2
	qmp device_add '{"driver": "nvme", "id": "hota2", "bus": "rp2", "serial": "HOTA", "drive": "a"}'
} >/dev/null 2>&1 &
at_exit kill $!

t 'the VM comes up and does its work'
vm -q -n 1 -s 32 -t 180 -x "-device pcie-root-port,id=rp1,slot=1,chassis=1 -device pcie-root-port,id=rp2,slot=2,chassis=2
	-blockdev driver=file,node-name=a,filename=$W/a.raw -device nvme,id=hota,bus=rp1,serial=HOTA,drive=a
	-blockdev driver=file,node-name=b,filename=$W/b.raw -device nvme,id=hotb,bus=rp2,serial=HOTB,drive=b"
exit_is 0
read -r a1 b1 <"$VM/names1"
read -r a2 b2 <"$VM/names2"

t 'a controller is reset: the block layer sends again what was cut off, and no IO is lost or counted twice'
vm_code reset.uring 0
vm_code check.uring 0
sql_is "$VM/reset.uring.db" "SELECT state FROM v_run" 'done'
sql_is "$VM/reset.uring.db" "SELECT errors, short_ios, prepared = ios, partial FROM v_cell" '0|0|1|0'

t 'with passthrough nobody sends again: the IOs that were cut off are errors, or the drive had none just then'
vm_code check.passthrough 0
case $(cat "$VM/reset.passthrough.rc") in
0) sql_is "$VM/reset.passthrough.db" "SELECT errors, prepared = ios FROM v_cell" '0|1' ;;
*)
	vm_code reset.passthrough 3
	file_has "$VM/reset.passthrough.err" 'NVMe status 0x'
	sql_is "$VM/reset.passthrough.db" "SELECT errors > 0, partial, prepared = ios + short_ios + errors FROM v_cell" '1|1|1'
	;;
esac

t 'one of two drives is pulled: its run fails, the other is done'
vm_code hot 3
vm_code hotcheck 0
sql_is "$VM/hot.db" "SELECT serial, count(*) FROM v_test JOIN v_run USING (run_id) WHERE test = 'two' AND attempt = 1
	AND verdict = 'done' GROUP BY serial" 'HOTB|1'
sql_is "$VM/hot.db" "SELECT count(*) FROM v_cell WHERE prepared <> ios + short_ios + errors" 0
sql_is "$VM/hot.db" "SELECT count(*) FROM v_event WHERE kind = 'error'" 1

t 'plugged in again, the names swapped: the run goes on, on its own drive'
same "$a2 $b2" "$b1 $a1" 'names of the drives'
vm_code resume 0
file_has "$VM/resume.err" "$a2 now (was $a1)"
same "$(cat "$VM/after")" "$(cat "$VM/before")" 'writes that the other drive has seen'
sql_is "$VM/hot.db" "SELECT serial, group_concat(DISTINCT state) FROM v_run GROUP BY serial" $'HOTA|done\nHOTB|done'
