#!/bin/bash
# SPDX-License-Identifier: MIT
# Virtual NVMe drives with 512 and 4096-byte blocks: found, protected by their serial, purged, tested; and one with a bad block.
. "$(dirname "$0")/lib.sh"

guest <<'END'
mkdir defs
export PTS_DEF_PATH=$PWD/defs
cat >defs/small.pts <<'DEF'
test small "Small test" clause X
	purge
	fill seq-128k-w 2x threads 1 qd 8
	loop rounds 3 until steady
		foreach size in 4k 0.5k
			run rnd rw 65/35 bs $size threads 2 qd 4 for 300ms
		end
		track iops of bs 4k
	end
end
test reads "Reads" clause X
	run seq-128k-r threads 1 qd 2 for 30s
end
DEF
code devices "$PTS" devices --json
for k in 0 1; do
	dev=$(drive VMNV$k)
	echo "$dev" >dev$k
	writes "$dev" >before$k
	code wrong$k "$PTS" run small --dut "$dev" --destroy VMNV$((1 - k)) --db /dev/shm/wrong.db
	code short$k "$PTS" run small --dut "$dev" --destroy VMNV --db /dev/shm/wrong.db
	code path$k "$PTS" run small --dut "$dev" --destroy "$dev" --db /dev/shm/wrong.db
	code none$k "$PTS" run small --dut "$dev" --db /dev/shm/wrong.db
	writes "$dev" >after$k
	code run$k "$PTS" run small --dut "$dev" --destroy VMNV$k --db /dev/shm/run$k.db
	code check$k "$PTS" db check --db /dev/shm/run$k.db
done
dev=$(drive ERRINJ)
code bad "$PTS" run reads --dut "$dev" --destroy ERRINJ --db /dev/shm/bad.db
ls /dev/shm >shm
cp /dev/shm/*.db .
END

# A drive whose 4 KiB at 8 MiB cannot be read.
truncate -s 16M "$W/bad.raw"
printf '[inject-error]\nevent = "none"\niotype = "read"\nerrno = "5"\nsector = "16384"\nonce = "off"\n' >"$W/bad.conf"

t 'the VM comes up and does its work'
vm -n 2 -s 64 -b 512,4096 -x "-blockdev driver=file,node-name=badfile,filename=$W/bad.raw \
	-blockdev driver=blkdebug,node-name=bad,image=badfile,config=$W/bad.conf -device nvme,serial=ERRINJ,drive=bad"
exit_is 0
true_that test -s "$VM/bad.rc"

t 'pts devices lists them with serial, size and block size'
cp "$VM/devices.out" "$OUT"
vm_code devices 0
for k in 0 1; do
	json_is "[(x['serial'], x['word'], x['model'], x['capacity_bytes'], x['lba_bytes'], x['in_use']) for x in d['devices']
		if x['path'] == '$(cat "$VM/dev$k")']" "[('VMNV$k', 'VMNV$k', 'QEMU NVMe Ctrl', 67108864, $((k ? 4096 : 512)), None)]"
done

for k in 0 1; do
	size=$((k ? 4096 : 512))
	db=$VM/run$k.db
	t "a wrong word, part of one, the path, none: refused, nothing written ($size)"
	for word in wrong short path none; do
		vm_code $word$k 2
		file_has "$VM/$word$k.err" "$(cat "$VM/dev$k")"
	done
	same "$(cat "$VM/after$k")" "$(cat "$VM/before$k")" 'count of writes and discards'
	hasnt "$VM/shm" wrong.db 'list of /dev/shm'

	t "a small run with its purge ($size)"
	true_that test "$(cat "$VM/run$k.rc")" -le 1
	vm_code check$k 0
	sql_is "$db" "SELECT serial, lba_bytes, capacity_bytes, state, simulated FROM v_run" "VMNV$k|$size|67108864|done|0"
	sql_is "$db" "SELECT purge_method, purge_verified, rounds FROM v_section" 'nvme-format|1|3'
	sql_is "$db" "SELECT write_bytes, errors FROM v_cell WHERE phase = 'wipc'" '134217728|0'
	sql_is "$db" "SELECT count(*), sum(errors), min(ios) > 0, sum(partial) FROM v_cell WHERE phase = 'round'" "$((k ? 3 : 6))|0|1|0"
	sql_is "$db" "SELECT count(*) FROM v_event WHERE kind = 'cell-na'" "$k"
	sql_is "$db" "SELECT count(*) FROM v_cell WHERE prepared <> ios + short_ios + errors" 0
	sql_is "$db" "SELECT count(*) FROM v_cell WHERE threads > 1 AND (threads_seen <> 2 OR inflight_max > 8)" 0
done

t 'a bad block: exit 3, counted by the error that NVMe gives'
vm_code bad 3
sql_is "$VM/bad.db" "SELECT errnos = 'ENODATA:' || errors, errors > 0, partial FROM v_cell" '1|1|1'
sql_is "$VM/bad.db" "SELECT state FROM v_run" failed
run "$PTS" db check --db "$VM/bad.db"
exit_is 0
