#!/bin/bash
# SPDX-License-Identifier: MIT
# pts capture on stacked devices: a dm device on an NVMe drive, each recorded by itself and neither counted twice (U46); a RAM
# disk; two devices in one capture. An older kernel than the host's, whose tracefs is mounted nowhere.
. "$(dirname "$0")/lib.sh"

command -v dmsetup >/dev/null || vm_skip 'no dmsetup here (make rig-deps)'

# N reads and writes of 4 KiB with O_DIRECT, some in one go: a device may split them
cat >"$VM/io.py" <<'END'
import mmap, os, random, sys
dev, size, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
r, m, fd = random.Random(1), mmap.mmap(-1, 16384), os.open(dev, os.O_RDWR | os.O_DIRECT)
for i in range(n):
	length = r.choice([4096, 16384])
	off = r.randrange((size - length) // 4096) * 4096
	write = r.random() < 0.4
	(os.pwritev if write else os.preadv)(fd, [memoryview(m)[:length]], off)
	print('write' if write else 'read', off, length)
END

guest <<'END'
disk=$(drive VMNV0)
sectors=$(cat "/sys/block/${disk#/dev/}/size")
# two halves, the second first: an offset on dm is another one on the disk
half=$((sectors / 2))
printf '0 %s linear %s %s\n%s %s linear %s 0\n' $half "$disk" $half $half $half "$disk" |
	dmsetup --noudevsync --noudevrules create top
top=/dev/dm-$(dmsetup info -c --noheadings -o minor top)
[ -b "$top" ] || mknod "$top" b $(dmsetup info -c --noheadings -o major top) $(dmsetup info -c --noheadings -o minor top)
record() { # record NAME WORD...
	local name=$1 i
	shift
	code "$name" "$PTS" capture "$@" -o "/dev/shm/$name.cap" --json &
	recorder[${#recorder[@]}]=$!
	for i in {1..300}; do grep -q recording "$name.err" 2>/dev/null && return; sleep 0.1; done
}
end() {
	pkill -TERM -P "$(IFS=,; echo "${recorder[*]}")"
	wait "${recorder[@]}"
	recorder=()
}
grep -c tracefs /proc/self/mounts >mounts
recorder=()
record top --dut "$top"
record disk --dut "$disk"
record ram --dut /dev/ram0 --dut "$disk"
python3 io.py "$top" $((sectors * 512)) 1000 >want
python3 io.py /dev/ram0 4194304 100 >want.ram
end
code both "$PTS" capture --dut "$top" --dut "$disk" -o x.cap --for 1s
for name in top disk ram; do
	"$PTS" trace export /dev/shm/$name.cap -o $name.log
done
ls -d /sys/kernel/tracing/instances/pts* >left 2>&1
echo "$half" >half
END
vm -n 1 -s 16 -k dm_mod,brd:"rd_nr=1 rd_size=4096" -t 240

t 'the VM comes up and does its work'
exit_is 0
same "$(cat "$VM/mounts")" 0 'mounts of tracefs in the guest'

ios() { awk -v dev="${2-}" '($3 == "read" || $3 == "write") && (dev == "" || $2 == dev) { print $3, $4, $5 }' "$VM/$1.log"; }
stat_is() { # stat_is NAME EXPR VALUE
	OUT=$VM/$1.out
	json_is "$2" "$3"
}

t 'U46: 1000 IOs on dm: exactly 1000 bios on it'
vm_code top 0
stat_is top "d['devices'][0]['events'], d['ios'], d['lost'], d['stat']['matched']" "('bio', 1000, 0, 1000)"
same "$(ios top | cksum)" "$(cksum <"$VM/want")" 'the list of IOs'

t 'U46: and exactly 1000 requests on the disk below, where the table puts them'
vm_code disk 0
stat_is disk "d['devices'][0]['events'], d['lost'], d['stat']['matched'] == d['ios']" "('request', 0, True)"
python3 - "$(cat "$VM/half")" >below <<'END' 3<"$VM/want"
import os, sys
half = int(sys.argv[1]) * 512
for line in os.fdopen(3):
	op, off, length = line.split()
	off, length = int(off), int(length)
	first = min(length, half - off) if off < half else length # what spans both halves is split
	print(op, (off + half) % (2 * half), first)
	if first < length:
		print(op, 0, length - first)
END
same "$(ios disk | sort | cksum)" "$(sort below | cksum)" 'the IOs on the disk'

t 'a RAM disk and a drive in one capture'
vm_code ram 0
stat_is ram "[x['events'] for x in d['devices']]" "['bio', 'request']"
same "$(ios ram ram0 | cksum)" "$(cksum <"$VM/want.ram")" 'the IOs of the RAM disk'
stat_is ram "d['ios'] - 100 == int('$(ios disk | wc -l)')" True

t 'a device and what it lies on are not recorded as one'
vm_code both 2
file_has "$VM/both.err" 'would count twice'

t 'nothing is left behind'
file_hasnt() { if grep -q "$2" "$1"; then fail "$2 in $1"; fi; }
file_hasnt "$VM/left" '/pts\.'
