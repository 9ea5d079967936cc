#!/bin/bash
# SPDX-License-Identifier: MIT
# NVMe over fabrics (tcp, on the machine's loopback): the remote namespace is a drive with its transport recorded, runs on it are compared
# with those on the drive itself; a namespace whose size changes under a run, and a target that goes away.
. "$(dirname "$0")/lib.sh"

command -v nvme >/dev/null || vm_skip 'no nvme-cli here (make rig-deps)'

guest <<'END'
mkdir defs
export PTS_DEF_PATH=$PWD/defs XDG_STATE_HOME=/dev/shm/state
cat >defs/t.pts <<'DEF'
test short "Short test" clause X
	purge
	fill seq-128k-w 1x threads 1 qd 8
	loop rounds 5 until steady
		run rnd-4k-r threads 1 qd 4 for 300ms
		track iops of bs 4k
	end
end
test cell "A cell" clause X
	run rnd-4k-w threads 1 qd 2 for 200ms
end
test later "Another" clause X
	run rnd-4k-r threads 1 qd 1 for 200ms
end
test long "Long" clause X
	run rnd-4k-r threads 1 qd 1 for 500ms
	run rnd-4k-r threads 1 qd 2 for 10m
end
DEF
ip link set lo up
mount -t configfs c /sys/kernel/config 2>/dev/null
nvmet=/sys/kernel/config/nvmet
disk=$(drive VMNV0)
truncate -s 16M /dev/shm/file
export_ns() { # export_ns NUMBER PATH
	mkdir $nvmet/subsystems/t1/namespaces/$1
	echo -n "$2" >$nvmet/subsystems/t1/namespaces/$1/device_path
	echo 1 >$nvmet/subsystems/t1/namespaces/$1/enable
}
mkdir $nvmet/subsystems/t1
echo 1 >$nvmet/subsystems/t1/attr_allow_any_host
echo -n FABRIC0 >$nvmet/subsystems/t1/attr_serial
code direct "$PTS" run short --note direct --dut "$disk" --destroy VMNV0 --db /dev/shm/both.db
export_ns 1 "$disk"
# a RAM disk's file as the second one, so that it can grow
loop=$(losetup -f --show /dev/shm/file)
export_ns 2 "$loop"
mkdir $nvmet/ports/1
for pair in adrfam=ipv4 trtype=tcp traddr=127.0.0.1 trsvcid=4420; do echo "${pair#*=}" >"$nvmet/ports/1/addr_${pair%%=*}"; done
ln -s $nvmet/subsystems/t1 $nvmet/ports/1/subsystems/t1
nvme connect -t tcp -a 127.0.0.1 -s 4420 -n t1 >connect.out 2>&1
# With native multipath a disk bears the number of its subsystem, not of its controller: found by serial and number.
remote() { python3 -c 'import json, sys; print([x["path"] for x in json.load(open("devices.out"))["devices"] if (x["serial"], x["nsid"]) == ("FABRIC0", int(sys.argv[1]))][0])' $1; }
for i in {1..50}; do
	code devices "$PTS" devices --json
	far1=$(remote 1 2>/dev/null) far2=$(remote 2 2>/dev/null)
	[ -z "$far1" ] || [ -z "$far2" ] || break
	sleep 0.2
done
echo "$far1 $far2" >names
word=FABRIC0
code held "$PTS" run cell --dut "$disk" --destroy VMNV0 --db /dev/shm/held.db
code fabric "$PTS" run short --note fabric --dut "$far1" --destroy "$word" --db /dev/shm/both.db
code pass "$PTS" run cell --engine passthrough --dut "$far2" --destroy "$word" --db /dev/shm/pass.db
code compare "$PTS" compare 1 2 --db /dev/shm/both.db -o both.json
code xlsx "$PTS" compare 1 2 --db /dev/shm/both.db -o both.xlsx

# Grows while it is measured: the test on it is the last.
cat >defs/grow.pts <<'DEF'
test grow "Grows" clause X
	run rnd-4k-r threads 1 qd 1 for 3s
end
DEF
"$PTS" run grow later --dut "$far2" --destroy "$word" --db /dev/shm/grow.db >grow.out 2>grow.err &
for ((i = 0; i < 300; i++)); do
	grep -q 'RUN rnd-4k-r' grow.err && break
	sleep 0.1
done
truncate -s 24M /dev/shm/file
losetup -c "$loop"
echo 1 >$nvmet/subsystems/t1/namespaces/2/revalidate_size 2>revalidate.err
wait $!
echo $? >grow.rc
cat "/sys/block/${far2#/dev/}/size" >grown
code resume "$PTS" resume 1 --db /dev/shm/grow.db

cp /dev/shm/{both,pass,grow}.db .
# The target is taken away: the host has nobody to talk to.
"$PTS" run long --dut "fault:deadline=5s:$far1" --destroy "$word" --db /dev/shm/gone.db >gone.out 2>gone.err &
for ((i = 0; i < 300; i++)); do
	[ "$(sqlite3 /dev/shm/gone.db 'SELECT count(*) >= 1 FROM v_cell' 2>/dev/null)" != 1 ] || break
	sleep 0.2
done
rm $nvmet/ports/1/subsystems/t1
wait $!
echo $? >gone.rc
nvme disconnect -n t1 >disconnect.out 2>&1
code check "$PTS" db check --db /dev/shm/gone.db
cp /dev/shm/*.db .
END
vm -n 1 -s 16 -k nvmet,nvmet-tcp,nvme-tcp,loop -t 280

t 'the VM comes up and does its work'
exit_is 0
read -r far1 far2 <"$VM/names"

t 'pts devices: a remote namespace with its transport'
cp "$VM/devices.out" "$OUT"
json_is '[(x["transport"], x["interface"], x["serial"], x["capacity_bytes"]) for x in d["devices"] if x["path"] == "'$far1'"]' \
	"[('tcp', 'NVMe (tcp)', 'FABRIC0', 16777216)]"

t 'a drive that is exported to others is in use'
vm_code held 2
file_has "$VM/held.err" 'exported to other hosts by nvmet'

t 'runs on the drive and on its remote namespace'
true_that test "$(cat "$VM/direct.rc")" -le 1
true_that test "$(cat "$VM/fabric.rc")" -le 1
sql_is "$VM/both.db" "SELECT (SELECT value FROM v_host h WHERE h.host_id = r.host_id AND key = 'dev_transport') FROM v_run r ORDER BY run_id" $'pcie\ntcp'
sql_is "$VM/both.db" "SELECT count(*), sum(errors + short_ios), sum(prepared <> ios) FROM v_cell" '12|0|0'

t 'direct against fabric, compared'
true_that test "$(cat "$VM/compare.rc")" -le 1 # the purges are not the same
cp "$VM/both.json" "$OUT"
json_is '[x["transport"] for x in d["runs"]]' "['pcie', 'tcp']"
json_is 'len(d["direct_v_fabric"]) > 0' True
true_that test -s "$VM/both.xlsx"

t 'passthrough to a remote namespace'
vm_code pass 0
sql_is "$VM/pass.db" "SELECT value LIKE 'io_uring passthrough on /dev/ng%' FROM v_host WHERE key = 'engine'" 1
sql_is "$VM/pass.db" 'SELECT ios > 0, errors, prepared = ios FROM v_cell' '1|0|1'

t 'a namespace grows under a run: it stops at the end of the test, and is not gone on with'
same "$(cat "$VM/grown")" 49152 'sectors that it has now'
vm_code grow 3
file_has "$VM/grow.err" "$far2 is not what it was when the run began: capacity was 16777216, is 25165824"
sql_is "$VM/grow.db" "SELECT group_concat(test), (SELECT state FROM v_run) FROM v_test" 'grow|failed'
vm_code resume 2
file_has "$VM/resume.err" "was 16777216 bytes in blocks of 512, is 25165824"

t 'a target that goes away: the run ends by itself'
vm_code gone 3
vm_code check 0
sql_is "$VM/gone.db" "SELECT state IN ('failed', 'hung') FROM v_run" 1
sql_is "$VM/gone.db" "SELECT count(*) FROM v_cell WHERE prepared <> ios + short_ios + errors" 0
