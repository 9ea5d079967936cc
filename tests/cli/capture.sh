#!/bin/bash
# SPDX-License-Identifier: MIT
# pts capture: the IO of devices in use, recorded by the kernel's block events. Devices and trace instances are the test's own.
. "$(dirname "$0")/lib.sh"

need_root
TRACEFS=$W/tracefs
mkdir "$TRACEFS"
mount -t tracefs none "$TRACEFS" 2>/dev/null || {
	echo "skip ${0##*/}: no tracefs here"
	exit 77
}
at_exit umount "$TRACEFS"

# io.py DEV BYTES N SEED [THREADS]: N reads and writes with O_DIRECT, each printed as the iolog has it
cat >io.py <<'END'
import mmap, os, random, sys, threading
dev, size, n, seed = sys.argv[1], *map(int, sys.argv[2:5])
def work(seed):
	r, m = random.Random(seed), mmap.mmap(-1, 65536)
	fd = os.open(dev, os.O_RDWR | os.O_DIRECT)
	for i in range(n):
		length = r.choice([4096, 4096, 8192, 16384, 65536])
		off = r.randrange((size - length) // 4096) * 4096
		write = r.random() < 0.4
		(os.pwritev if write else os.preadv)(fd, [memoryview(m)[:length]], off)
		print('write' if write else 'read', off, length)
threads = [threading.Thread(target=work, args=(seed + k,)) for k in range(int((sys.argv + ['1'])[5]))]
for t in threads: t.start()
for t in threads: t.join()
END
io() { python3 io.py "$@"; }

# record NAME WORD...: pts capture WORD... -o NAME.cap in the background, once it records
declare -A recorder
record() {
	local name=$1
	shift
	"$PTS" capture "$@" -o "$name.cap" >"$name.out" 2>"$name.err" &
	recorder[$name]=$!
	wait_until grep -qs 'recording\|pts: capture: .* in use\|another capture' "$name.err" && grep -q recording "$name.err"
}
# end NAME [SIGNAL]: ends it; its output and exit code as of pts
end() {
	kill "-${2:-TERM}" "${recorder[$1]}"
	{ wait "${recorder[$1]}"; } 2>/dev/null
	RC=$? OUT=$W/$1.out ERR=$W/$1.err
}
# instances NAME: how many trace instances its recorder has
instances() { find "$TRACEFS/instances" -mindepth 1 -maxdepth 1 -name "pts*.${recorder[$1]}*" | wc -l; }
# ios CAP: what is in it, as io.py prints it
ios() {
	"$PTS" trace export "$1" -o "$1.log" >/dev/null 2>&1
	awk '$3 == "read" || $3 == "write" { print $3, $4, $5 }' "$1.log"
	rm -f "$1.log"
}

loop_new 32M
one=$LOOP
loop_new 32M
two=$LOOP

for via in events blk; do
	t "1000 IOs by $via: 1000 in the capture, each in its place, nothing left behind"
	settings() {
		(cd "$TRACEFS" && cat current_tracer trace_clock options/bin options/context-info tracing_on)
		cat "/sys/block/${one#/dev/}/trace/enable"
	}
	settings >before
	record $via --dut "$one" --via $via --json || {
		grep -q 'in use\|uses the' $via.err && t_why='' && skip "$(cat $via.err)"
		continue
	}
	same "$(instances $via)" 1 instances
	io "$one" 33554432 1000 1 >want
	end $via INT
	exit_is 0
	json_is "d['schema'], d['ios'], d['lost'], d['via']" "('pts.capture/1', 1000, 0, '$via')"
	json_is "d['stat']['matched'], d['stat']['unmatched'], d['stat']['event']" "(1000, 0, 'D')"
	json_is "d['stat']['device_list'][0]['name']" "${one#/dev/}"
	json_is "d['cpu_pct'] > 0" True
	same "$(ios $via.cap | cksum)" "$(cksum <want)" 'the list of IOs'
	same "$(instances $via)" 0 'instances afterwards'
	[ $via = events ] || same "$(settings)" "$(cat before)" 'settings of the kernel'
done

t 'a killed recorder: the file has all up to then, says how to read it, and the next one cleans up'
record killed --dut "$one"
io "$one" 33554432 300 2 >want
sleep 0.4 # it writes ten times a second
end killed KILL
same "$(instances killed)" 1 'instances left behind'
pts trace stat killed.cap
exit_is 2
err_has 'pts import killed.cap -o CAP'
pts import killed.cap -o whole.cap
exit_is 0
same "$(ios whole.cap | cksum)" "$(cksum <want)" 'the list of IOs'
head -c $(($(stat -c %s killed.cap) - 20)) killed.cap >torn
pts import torn -o torn.cap
exit_is 0
out_has 'cut off at the end'
pts capture --dut "$one" --for 50ms -o none.cap
exit_is 1
err_has 'no IO was seen'
file_absent none.cap
same "$(instances killed)" 0 'instances after the next capture'

t 'loss is counted: every event that is not in the capture'
record tiny --dut "$one" --buffer 4k --json
io "$one" 33554432 300 3 >/dev/null
kill -STOP "${recorder[tiny]}"
io "$one" 33554432 1000 4 2 >/dev/null
kill -CONT "${recorder[tiny]}"
end tiny
exit_is 0
err_has 'events were lost'
# never too few; too many where an interrupt of another device comes upon a full buffer before the filter is asked
json_is "4600 <= d['records'] + d['lost'] <= 5500" True
json_is "d['lost'] == d['stat']['lost'] > 3000" True

t 'two captures at once, and one of both devices: none sees the IO of another'
record a --dut "$one" --json
record b --dut "$two" --json
record both --dut "$one" --dut "$two"
io "$one" 33554432 400 3 >want.a &
io "$two" 33554432 300 4 >want.b
wait $!
end a
exit_is 0
end b
exit_is 0
same "$(ios a.cap | cksum)" "$(cksum <want.a)" 'IOs of the first'
same "$(ios b.cap | cksum)" "$(cksum <want.b)" 'IOs of the second'
end both
exit_is 0
pts trace stat both.cap --json
json_is "sorted((x['name'], x['ios']) for x in d['device_list'])" \
	"$(python3 -c "print(sorted([('${one#/dev/}', 400), ('${two#/dev/}', 300)]))")"

t 'streams are as they were written'
record seq --dut "$one"
python3 - "$one" <<'END'
import mmap, os, sys
fd, m = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT), mmap.mmap(-1, 16384)
for i in range(300):
	os.pwritev(fd, [memoryview(m)[:4096]], i * 4096)
	if i % 3 == 0:
		os.preadv(fd, [memoryview(m)], (i * 7919) % 1000 * 16384 + 8192)
END
end seq
OUT=$W/.out ERR=$W/.err
pts trace streams seq.cap --json
json_is "[(s['op'], s['access'], s['block_bytes'], s['ios']) for s in d['streams']]" \
	"[('W', 'SEQ', 4096, 299), ('R', 'RND', 16384, 100), ('W', 'RND', 4096, 1)]"

t 'a partition: what lies inside it, from its start'
part=
if addpart "$two" 1 2048 16384 2>/dev/null && part=${two}p1 && [ -b "$part" ]; then
	record part --dut "$part" --json
	io "$part" 8388608 200 5 >want
	io "$two" 1048576 100 6 >/dev/null # in front of it
	python3 -c "import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
os.preadv(fd, [mmap.mmap(-1, 8192)], 1048576 - 4096)" "$two" # half of it inside
	end part
	exit_is 0
	same "$(ios part.cap | cksum)" "$(cksum <want)" 'the list of IOs'
	json_is "d['devices'][0]['name']" "${part#/dev/}"
	OUT=$W/.out ERR=$W/.err
	pts capture --dut "$part" --dut "$two" -o x.cap
	exit_is 2
	err_has 'would count twice'
else
	skip 'no partitions on loop devices here'
fi
[ -z "$part" ] || delpart "$two" 1

t 'a device without requests (zram): its bios, once each'
if zram=$(cat /sys/class/zram-control/hot_add 2>/dev/null); then
	# shellcheck disable=SC2016
	at_exit sh -c 'echo 1 >/sys/block/zram$0/reset; echo $0 >/sys/class/zram-control/hot_remove' "$zram"
	echo 16M >"/sys/block/zram$zram/disksize"
	for via in events blk; do
		record zram-$via --dut "/dev/zram$zram" --via $via --json || continue
		io "/dev/zram$zram" 16777216 1000 7 >want
		end zram-$via
		exit_is 0
		json_is "d['devices'][0]['events'], d['ios'], d['stat']['event']" "('bio', 1000, 'Q')"
		json_is "d['stat']['matched'], d['stat']['unmatched']" '(1000, 0)'
		same "$(ios zram-$via.cap | cksum)" "$(cksum <want)" "the list of IOs by $via"
	done
else
	skip 'no zram here'
fi

OUT=$W/.out ERR=$W/.err
t 'a full disk: the end of the capture, what there is can be read, nothing left in the kernel'
(
	ulimit -f 64
	exec "$PTS" capture --dut "$one" -o full.cap >full.out 2>full.err
) &
recorder[full]=$!
wait_until grep -qs recording full.err
io "$one" 33554432 2000 8 >/dev/null
end full 0 2>/dev/null
exit_is 3
err_has 'pts import full.cap -o CAP reads it'
same "$(instances full)" 0 'instances afterwards'
OUT=$W/.out ERR=$W/.err
pts import full.cap -o full2.cap
exit_is 0
out_hasnt 'cut off'

t 'the recording on the recorded drive: said'
mkdir mnt
if mkfs.ext4 -q "$two" >/dev/null 2>&1 && mount "$two" mnt 2>/dev/null; then
	at_exit umount mnt
	pts capture --dut "$two" --for 100ms -o mnt/x.cap
	err_has "note: mnt/x.cap lies on $two"
	pts capture --dut "$one" --for 50ms -o mnt/y.cap
	err_hasnt 'lies on'
	umount mnt
else
	skip 'no ext4 here'
fi

t 'what cannot be recorded is refused with the reason'
for bad in "file:$W/f?size=1m" sim:ent-nvme "set:$one,$two" "fault:eio=1:$one" /dev/null "$W/io.py" /dev/nothing; do
	pts capture --dut "$bad" --for 1s -o x.cap
	exit_is 2
	file_absent x.cap
done
pts capture --for 1s -o x.cap
exit_is 2
err_has 'of which device'
pts capture --dut "$one" --for 1s
exit_is 2
err_has '-o CAP'
pts capture --dut "$one" --for soon -o x.cap
exit_is 2
pts capture --dut "$one" --dut "$one" --for 1s -o x.cap
exit_is 2
err_has 'same device'
echo precious >old.cap
pts capture --dut "$one" --for 1s -o old.cap
exit_is 2
err_has 'never replaces a file'
file_has old.cap precious

t 'one loop device on the other: not in one capture'
losetup -d "$two"
loop_on=$(losetup -f --show "$one") && at_exit losetup -d "$loop_on"
pts capture --dut "$loop_on" --dut "$one" --for 1s -o x.cap
exit_is 2
err_has "$loop_on lies on $one"

t 'not root: one clear error, no file'
chmod 755 "$W" && mkdir -m 777 user && cp "$PTS" pts-copy
run setpriv --reuid 65534 --regid 65534 --clear-groups ./pts-copy capture --dut "$one" --for 1s -o user/x.cap
exit_is 2
err_has 'root'
err_lines 1
file_absent user/x.cap

t 'tracefs mounted nowhere: it is found all the same, and mounted nowhere afterwards'
cat >bare.sh <<'END'
umount -a -t tracefs 2>/dev/null
while umount /sys/kernel/tracing 2>/dev/null; do :; done
umount /sys/kernel/debug 2>/dev/null
"$1" capture --dut "$2" -o bare.cap 2>bare.err >bare.out &
pid=$!
for i in {1..100}; do grep -qs recording bare.err && break; sleep 0.05; done
python3 io.py "$2" 33554432 50 9 >want
kill $pid
wait $pid
echo $? >bare.rc
grep -c tracefs /proc/self/mounts >bare.mounts
END
run unshare -m bash bare.sh "$PTS" "$one"
same "$(cat bare.rc)" 0 "exit code ($(show bare.err))"
same "$(cat bare.mounts)" 0 'mounts of tracefs'
same "$(ios bare.cap | cksum)" "$(cksum <want)" 'the list of IOs'
