#!/bin/bash
# SPDX-License-Identifier: MIT
# Drives by the device mapper: one with a part that cannot be read, one that hangs and goes on hanging; and a drive that another
# one lies on. io_uring switched off by its sysctl, where the guest's kernel has that (Linux 6.6 or later: KPKG).
. "$(dirname "$0")/lib.sh"

command -v dmsetup >/dev/null || vm_skip 'no dmsetup here (make rig-deps)'

BLOCKS=4055 # of 4 KiB that are good; what follows, 1 % of the drive, is not
guest <<END
GOOD=$((BLOCKS * 8))
END
cat >>"$VM/guest.sh" <<'END'
mkdir defs
export PTS_DEF_PATH=$PWD/defs
cat >defs/dm.pts <<'DEF'
test through "Sequential reads" clause X
	run seq rw 100/0 bs 4k threads 1 qd 1 for 10m
end
test rounds "Random reads in rounds" clause X
	loop rounds 5 until steady
		run rnd-4k-r threads 1 qd 1 for 10m
		track iops of rw 100/0
	end
end
test writes "Writes" clause X
	run rnd-4k-w threads 2 qd 4 for 8s
end
test small "Small" clause X
	run rnd-4k-r threads 1 qd 1 for 300ms
end
DEF
one=$(drive VMNV0) two=$(drive VMNV1)
sectors=$(cat "/sys/block/${one#/dev/}/size")
dm() { # dm NAME: its table on stdin; prints the device. There is no udev here.
	dmsetup --noudevsync --noudevrules create "$1" && echo "/dev/dm-$(dmsetup info -c --noheadings -o minor "$1")"
}
bad=$(printf '0 %s linear %s 0\n%s %s error\n' $GOOD "$one" $GOOD $((sectors - GOOD)) | dm bad)
slow=$(echo "0 $sectors linear $two 0" | dm slow)

for test in through rounds; do
	code $test "$PTS" run $test --force-signature --dut $bad --destroy $bad --db /dev/shm/$test.db
	code check-$test "$PTS" db check --db /dev/shm/$test.db
done

writes "$one" >before
code below "$PTS" run small --dut "$one" --destroy VMNV0 --db /dev/shm/below.db
writes "$one" >after

# until_sql DB SQL VALUE: for a minute at most
until_sql() {
	local i
	for ((i = 0; i < 300; i++)); do
		[ "$(sqlite3 "$1" "$2" 2>/dev/null)" != "$3" ] || return
		sleep 0.2
	done
}
seconds() { read -r up _ </proc/uptime; echo "${up%.*}"; }
# Suspended below the run, its IO neither ends nor fails. The other drive of the campaign goes on.
dmsetup --noudevsync --noudevrules remove bad
code hung "$PTS" run writes --dut "fault:deadline=5s:$slow" --dut "$one" --destroy $slow --destroy VMNV0 --db /dev/shm/hung.db &
until_sql /dev/shm/hung.db 'SELECT count(*) FROM v_section' 2
sleep 2
dmsetup --noudevsync suspend --noflush --nolockfs slow
begin=$(seconds)
until_sql /dev/shm/hung.db "SELECT count(*) FROM v_run WHERE state = 'hung'" 1
echo $(($(seconds) - begin)) >seconds
wait
dmsetup --noudevsync resume slow
code check-hung "$PTS" db check --db /dev/shm/hung.db

if [ -e /proc/sys/kernel/io_uring_disabled ]; then
	echo 2 >/proc/sys/kernel/io_uring_disabled
	code forbidden "$PTS" run small --dut 'file:/dev/shm/f?size=4m' --db /dev/shm/forbidden.db
fi
cp /dev/shm/*.db .
END
vm -n 2 -s 16 -k dm_mod -t 240

t 'the VM comes up and does its work'
exit_is 0

t 'U22: a zone of 1 % that cannot be read: each good read and the one bad is counted, no other'
vm_code through 3
vm_code check-through 0
sql_is "$VM/through.db" 'SELECT ios, errors, short_ios, errnos, prepared, partial FROM v_cell' "$BLOCKS|1|0|EIO:1|$((BLOCKS + 1))|1"
sql_is "$VM/through.db" 'SELECT state FROM v_run' failed
file_has "$VM/through.err" "offset $((BLOCKS * 4096)): Input/output error (EIO)"

t 'U22: in rounds: counted once a try, void, then the end'
vm_code rounds 3
vm_code check-rounds 0
sql_is "$VM/rounds.db" 'SELECT round_try, errors, errnos, prepared = ios + 1, void FROM v_cell ORDER BY cell_id' $'1|1|EIO:1|1|1\n2|1|EIO:1|1|0'

t 'a drive that a dm device lies on is refused'
vm_code below 2
file_has "$VM/below.err" 'in use'
same "$(cat "$VM/after")" "$(cat "$VM/before")" 'count of writes and discards'

t 'U34: a drive that hangs: the run ends by itself soon after the deadline, hung, exit 3; the other drive is done'
vm_code hung 3
true_that test "$(cat "$VM/seconds")" -le 15
file_has "$VM/hung.err" 'the drive hangs'
sql_is "$VM/hung.db" "SELECT state FROM v_run ORDER BY dut LIKE 'fault%'" $'done\nhung'
sql_is "$VM/hung.db" "SELECT ios > 0, partial, errors, prepared = ios + short_ios + errors FROM v_cell JOIN v_run USING (run_id)
	WHERE state = 'hung'" '1|1|0|1'
vm_code check-hung 0

t 'U30: io_uring switched off by its sysctl: the sysctl is named'
if [ -e "$VM/forbidden.rc" ]; then
	vm_code forbidden 2
	file_has "$VM/forbidden.err" 'sysctl kernel.io_uring_disabled=2'
else
	skip 'the kernel of the VM has no such sysctl'
fi
