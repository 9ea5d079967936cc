#!/bin/bash
# SPDX-License-Identifier: MIT
# NVMe passthrough: commands by /dev/ngXnY write and read what the block device does, with 512 and 4096-byte blocks, small and larger
# than one command, in runs and in exact replays; errors are counted as there. And a fast device: every IO is accounted for.
. "$(dirname "$0")/lib.sh"

# What a drive holds now, seen through its block device: blocks of 4 KiB that are not zero, and how many of them differ.
cat >"$VM/look.py" <<'END'
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
n, held, kinds = 0, [], set()
while block := os.pread(fd, 4096, n * 4096):
	if block.strip(b'\0'):
		held.append(n)
		kinds.add(block)
	n += 1
print(n, len(held), len(kinds))
print(' '.join(map(str, held[:64])), file=sys.stderr)
END
# Writes of 4 KiB at blocks 3, 10, 17 ..., each read back; 16 reads of 512 KiB
python3 - >"$VM/trace.log" <<'END'
print('fio version 3 iolog\n0 /dev/x add\n0 /dev/x open')
for i in range(32):
	print(i * 200, '/dev/x write', (3 + 7 * i) * 4096, 4096)
	print(i * 200 + 100, '/dev/x read', (3 + 7 * i) * 4096, 4096)
END
printf 'fio version 3 iolog\n0 /dev/x add\n0 /dev/x open\n0 /dev/x read 0 524288\n' >"$VM/large.log"
# 400 reads of 4 KiB, 25 of them of a block that cannot be read
python3 - >"$VM/errors.log" <<'END'
print('fio version 3 iolog\n0 /dev/x add\n0 /dev/x open')
for i in range(400):
	print(i * 100, '/dev/x read', 2048 * 4096 if i % 16 == 7 else i % 1000 * 4096, 4096)
END

guest <<'END'
mkdir defs
export PTS_DEF_PATH=$PWD/defs
cat >defs/t.pts <<'DEF'
test small "Small test" clause X
	purge
	fill seq-128k-w 1x threads 1 qd 8
	run rnd rw 50/50 bs 4k threads 2 qd 8 for 500ms
	run rnd rw 0/100 bs 1024k threads 1 qd 3 for 500ms
	run rnd rw 100/0 bs 0.5k threads 1 qd 1 for 300ms
	run rnd-4k-r threads 1 qd 8 for 500ms rate 400
end
test through "Reads" clause X
	run seq rw 100/0 bs 4k threads 1 qd 1 for 10m
end
test fast "Fast reads" clause X
	run rnd-4k-r threads 2 qd 64 for 4s
	run rnd rw 50/50 bs 4k threads 2 qd 32 for 2s
end
test cell "A cell" clause X
	run rnd-4k-r threads 1 qd 1 for 100ms
end
DEF
for name in trace large errors; do "$PTS" import $name.log -o /dev/shm/$name.cap; done >import.out 2>&1
for k in 0 1; do
	dev=$(drive VMNV$k)
	code run$k "$PTS" run small --engine passthrough --dut "$dev" --destroy VMNV$k --db /dev/shm/run$k.db
	code check$k "$PTS" db check --db /dev/shm/run$k.db
	python3 look.py "$dev" >look$k 2>/dev/null
	blkdiscard "$dev"
	code replay$k "$PTS" replay /dev/shm/trace.cap --engine passthrough --dut "$dev" --destroy VMNV$k --db /dev/shm/replay$k.db
	python3 look.py "$dev" >spots$k 2>spots$k.list
done
dev=$(drive VMNV0)
code polled "$PTS" run cell --engine passthrough --polled --dut "$dev" --destroy VMNV0 --db /dev/shm/polled.db
code block "$PTS" run cell --polled --dut "$dev" --destroy VMNV0 --db /dev/shm/block.db
code large "$PTS" replay /dev/shm/large.cap --engine passthrough --dut "$dev" --db /dev/shm/large.db
code readonly "$PTS" replay /dev/shm/trace.cap --engine passthrough --dut "$dev" --db /dev/shm/large.db
printf 'label: gpt\n,4M\n' | sfdisk -q "$dev" >part.out 2>&1
for i in {1..50}; do [ -b "${dev}p1" ] && break; sleep 0.1; done
code part "$PTS" run cell --engine passthrough --force-signature --dut "${dev}p1" --destroy "${dev}p1" --db /dev/shm/part.db
code null "$PTS" run cell --engine passthrough --dut /dev/nullb0 --destroy /dev/nullb0 --db /dev/shm/part.db
dev=$(drive ERRINJ)
for engine in passthrough uring; do
	code bad.$engine "$PTS" run through --engine $engine --dut "$dev" --destroy ERRINJ --db /dev/shm/bad.$engine.db
	code many.$engine "$PTS" replay /dev/shm/errors.cap --engine $engine --dut "$dev" --db /dev/shm/many.$engine.db
done
code fast "$PTS" run fast --dut /dev/nullb0 --destroy /dev/nullb0 --db /dev/shm/fast.db
dmesg | grep -c 'BUG:\|Oops\|general protection' >oops
uname -r >release
cp /dev/shm/*.db .
END

truncate -s 16M "$W/bad.raw"
printf '[inject-error]\nevent = "none"\niotype = "read"\nerrno = "5"\nsector = "16384"\nonce = "off"\n' >"$W/bad.conf"

t 'the VM comes up and does its work'
vm -n 2 -s 32 -b 512,4096 -o poll_queues=1 -k 'null_blk:nr_devices=1 queue_mode=2 irqmode=0 bs=4096 gb=1 submit_queues=2 hw_queue_depth=256' -x "
	-blockdev driver=file,node-name=badfile,filename=$W/bad.raw
	-blockdev driver=blkdebug,node-name=bad,image=badfile,config=$W/bad.conf -device nvme,serial=ERRINJ,drive=bad"
exit_is 0
same "$(cat "$VM/oops")" 0 'complaints of the kernel'

for k in 0 1; do
	size=$((k ? 4096 : 512)) db=$VM/run$k.db
	t "passthrough is what is used, and what is recorded ($size)"
	vm_code run$k 0
	vm_code check$k 0
	sql_is "$db" "SELECT value LIKE 'io_uring passthrough on /dev/ng%n1, up to % KiB a command, registered buffers, %' FROM v_host
		WHERE key = 'engine'" 1
	sql_is "$db" "SELECT state FROM v_run" 'done'

	t "every IO is accounted for, larger ones than a command as one ($size)"
	sql_is "$db" "SELECT count(*), sum(errors + short_ios), sum(prepared <> ios), sum(partial) FROM v_cell" "$((5 - k))|0|0|0"
	sql_is "$db" "SELECT bytes FROM v_cell WHERE phase = 'wipc'" 33554432
	sql_is "$db" "SELECT bytes = ios * 1048576, ios > 0, note LIKE '%sent as several commands%', inflight_max FROM v_cell
		WHERE workload LIKE '%1048576%'" '1|1|1|3'
	sql_is "$db" "SELECT count(*) FROM v_cell c WHERE ios <> (SELECT sum(count) FROM v_histogram h
		WHERE h.cell_id = c.cell_id AND kind = 'service')" 0

	t "the block device reads what was written, each block another ($size)"
	same "$(cat "$VM/look$k")" '8192 8192 8192' 'blocks, not zero, different'

	t "an exact replay writes where it should, nowhere else ($size)"
	true_that test "$(cat "$VM/replay$k.rc")" -le 1 # it may be late here
	same "$(cat "$VM/spots$k")" "8192 32 32" 'blocks, not zero, different'
	same "$(cat "$VM/spots$k.list")" "$(seq -s ' ' 3 7 220)" 'the blocks that were written'
	sql_is "$VM/replay$k.db" "SELECT ios, errors, short_ios, prepared FROM v_cell" '64|0|0|64'
	sql_is "$VM/replay$k.db" "SELECT value LIKE 'io_uring passthrough on /dev/ng%' FROM v_host WHERE key = 'engine'" 1
done

t 'a replay with writes needs consent, one with IOs above a command is refused'
vm_code readonly 2
file_has "$VM/readonly.err" '--destroy'
vm_code large 2
file_has "$VM/large.err" 'one command of /dev/ng'

t 'a partition and what is no NVMe drive: refused with the reason'
vm_code part 2
file_has "$VM/part.err" '--engine passthrough: '
file_has "$VM/part.err" 'partition'
vm_code null 2
file_has "$VM/null.err" 'is no NVMe namespace'

t 'polled where the queue polls: the block path; passthrough with Linux 6.5 or later, else told why not'
vm_code block 0
sql_is "$VM/block.db" "SELECT value LIKE '%, polled, %' FROM v_host WHERE key = 'engine'" 1
vm_code polled 0
if [ "$(printf '6.5\n%s\n' "$(cat "$VM/release")" | sort -V | head -n 1)" = 6.5 ]; then
	sql_is "$VM/polled.db" "SELECT value LIKE '%, polled, %' FROM v_host WHERE key = 'engine'" 1
else
	sql_is "$VM/polled.db" "SELECT value LIKE '%polling not possible here (Linux before 6.5%' FROM v_host WHERE key = 'engine'" 1
fi
sql_is "$VM/polled.db" "SELECT ios > 0, errors, prepared = ios FROM v_cell" '1|0|1'

t 'a block that cannot be read: by passthrough as by the block device, counted exactly'
for engine in passthrough uring; do
	vm_code bad.$engine 3
	sql_is "$VM/bad.$engine.db" 'SELECT ios, errors, short_ios, errnos, prepared, partial FROM v_cell' '2048|1|0|ENODATA:1|2049|1'
	file_has "$VM/bad.$engine.err" 'read of 4096 bytes at offset 8388608: No data available (ENODATA'
	sql_is "$VM/many.$engine.db" 'SELECT ios, errors, short_ios, errnos, prepared FROM v_cell' '375|25|0|ENODATA:25|400'
done
file_has "$VM/bad.passthrough.err" 'NVMe status 0x'

t 'null_blk, as fast as it goes: prepared = ok + short + error, in the histogram and in the seconds as well'
vm_code fast 0
sql_is "$VM/fast.db" 'SELECT count(*), sum(ios) > 100000, sum(prepared <> ios + short_ios + errors), sum(errors + short_ios) FROM v_cell' '2|1|0|0'
sql_is "$VM/fast.db" "SELECT count(*) FROM v_cell c WHERE ios <> (SELECT sum(count) FROM v_histogram h WHERE h.cell_id = c.cell_id
	AND kind = 'service') OR ios <> (SELECT sum(ios) FROM v_second s WHERE s.cell_id = c.cell_id)" 0
