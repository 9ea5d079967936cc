#!/bin/bash
# SPDX-License-Identifier: MIT
# Arrays as targets: md RAID 1 and 5, dm. Their members are told and kept, a discard or a user's hook purges them, and a run that was cut
# short finds its array again under another name.
. "$(dirname "$0")/lib.sh"

command -v mdadm >/dev/null || vm_skip 'no mdadm here (make rig-deps)'
command -v dmsetup >/dev/null || vm_skip 'no dmsetup here (make rig-deps)'

guest <<'END'
mkdir defs
export PTS_DEF_PATH=$PWD/defs XDG_STATE_HOME=/dev/shm/state
cat >defs/small.pts <<'DEF'
test small "Small" clause X
	purge
	run rnd-4k-w threads 1 qd 2 for 300ms
end
test long "Long" clause X
	purge
	repeat 60
		run rnd-4k-w threads 1 qd 1 for 1s
	end
end
DEF
a=$(drive VMNV0) b=$(drive VMNV1) c=$(drive VMNV2)
raid() { # raid NAME LEVEL UUID DRIVE...
	mdadm --create "$1" --run --assume-clean --metadata=1.2 --uuid="$3" --level="$2" --raid-devices=$(($# - 3)) "${@:4}" >>mdadm.log 2>&1
}
UUID=11111111:22222222:33333333:44444444
raid /dev/md0 1 $UUID "$a" "$b"
code noword "$PTS" purge --dut /dev/md0
code discard "$PTS" purge --dut /dev/md0 --destroy $UUID --json
mdadm --stop /dev/md0 >>mdadm.log 2>&1
mdadm --zero-superblock "$a" "$b" >>mdadm.log 2>&1

raid /dev/md0 5 $UUID "$a" "$b" "$c"
code devices "$PTS" devices --json
code member "$PTS" run small --dut "$a" --destroy VMNV0 --db /dev/shm/x.db
code none "$PTS" purge --dut /dev/md0 --destroy $UUID
code run "$PTS" run small --dut /dev/md0 --destroy /dev/md0 --db /dev/shm/run.db --allow-unpurged

cat >hook <<'HOOK'
#!/bin/bash
echo "$PTS_LAYOUT|$PTS_LEVEL|$PTS_DISKS|$PTS_UUID|$PTS_MEMBERS|$PTS_SERIALS|$*" >>/tmp/vm/hook.called
mdadm --stop "$1" || exit 9
for d in $PTS_MEMBERS; do
	mdadm --zero-superblock "$d"
	nvme format "$d" --ses=1 --force >&2 || exit 8
done
exec mdadm --create ${NEWNAME:-$1} --run --assume-clean --metadata=1.2 --uuid="$PTS_UUID" --level="${PTS_LEVEL#raid}" \
	--raid-devices="$PTS_DISKS" $PTS_MEMBERS
HOOK
chmod +x hook
words="--destroy /dev/md0 --destroy VMNV0 --destroy VMNV1"
code words "$PTS" purge --dut /dev/md0 --purge-hook ./hook $words
code hook "$PTS" purge --dut /dev/md0 --purge-hook ./hook $words --destroy VMNV2
NEWNAME=/dev/md7 code hookrun "$PTS" run small --dut /dev/md0 --purge-hook ./hook $words --destroy VMNV2 --db /dev/shm/hook.db

md=$(ls /sys/block | grep ^md)
"$PTS" run long --dut /dev/$md --destroy /dev/$md --db /dev/shm/moved.db --allow-unpurged >long.out 2>long.err &
for ((i = 0; i < 300; i++)); do
	[ "$(sqlite3 /dev/shm/moved.db 'SELECT count(*) > 1 FROM v_cell' 2>/dev/null)" != 1 ] || break
	sleep 0.2
done
kill -9 $!
wait
sleep 1
mdadm --stop /dev/$md >>mdadm.log 2>&1
mdadm --assemble /dev/md42 --run "$a" "$b" "$c" >>mdadm.log 2>&1
code moved timeout -s INT 12 "$PTS" resume --db /dev/shm/moved.db
mdadm --stop /dev/md42 >>mdadm.log 2>&1
mdadm --zero-superblock "$a" "$b" "$c" >>mdadm.log 2>&1

sectors=$(cat "/sys/block/${a#/dev/}/size")
echo "0 $sectors linear $a 0" | dmsetup --noudevsync --noudevrules create whole
dm=/dev/dm-$(dmsetup info -c --noheadings -o minor whole)
code dm "$PTS" run small --dut "$dm" --destroy "$dm" --force-signature --db /dev/shm/dm.db
cp /dev/shm/*.db .
END
vm -n 3 -s 32 -k raid1,raid456,dm_mod -t 280

t 'the VM comes up and does its work'
exit_is 0

t 'the array with what it is made of'
cp "$VM/devices.out" "$OUT"
json_is '[x["layout"] for x in d["devices"] if x["path"] == "/dev/md0"]' "['md raid5 of 3']"
json_is '[len(x["members"]) for x in d["devices"] if x["path"] == "/dev/md0"]' '[3]'
json_is '[x["uuid"].replace(":", "").replace("-", "")[:12] for x in d["devices"] if x["path"] == "/dev/md0"]' "['111111112222']"
vm_code member 2
file_has "$VM/member.err" 'held by another device'
vm_code noword 2
file_has "$VM/noword.err" "give --destroy '/dev/md0'"

t 'a discard through it, or none: told either way'
vm_code discard 0
cp "$VM/discard.out" "$OUT"
json_is 'd["method"], d["verified"], d["pts_method"]' "('blkdiscard', True, False)"
vm_code none 2 # RAID 5 passes no discards on, as the kernel sets it up
file_has "$VM/none.err" 'offers no purge method'
vm_code run 0
sql_is "$VM/run.db" "SELECT count(*) FROM v_deviation WHERE text LIKE 'the target is made of other drives%'" 1
sql_is "$VM/run.db" "SELECT count(*) FROM v_host WHERE key LIKE 'dev_member_' AND value LIKE '%serial VMNV%'" 3
sql_is "$VM/run.db" "SELECT value FROM v_host WHERE key = 'dev_layout'" 'md raid5 of 3'

t 'a hook that purges the members and builds it again'
vm_code words 2
file_has "$VM/words.err" "give --destroy 'VMNV2' to agree"
vm_code hook 0
file_has "$VM/hook.out" 'verified: none of 1026'
file_has "$VM/hook.called" 'md raid5 of 3|raid5|3|11111111'
vm_code hookrun 0
sql_is "$VM/hook.db" 'SELECT purge_method, purge_verified, verdict FROM v_test' 'hook|1|done'

t 'an interrupted run finds its array under another name'
same "$(cat "$VM/moved.rc")" 124 "ended by timeout"
file_has "$VM/moved.out" 'interrupted'
file_has "$VM/moved.err" '/dev/md42 now (was /dev/'

t 'dm'
vm_code dm 0
sql_is "$VM/dm.db" "SELECT value FROM v_host WHERE key = 'dev_layout'" 'dm linear of 1'
sql_is "$VM/dm.db" 'SELECT purge_method, purge_verified FROM v_test' 'blkdiscard|1'
if [ -n "${KEEP:-}" ]; then cp -r "$VM" "$KEEP"; fi
