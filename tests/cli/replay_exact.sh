#!/bin/bash
# SPDX-License-Identifier: MIT
# Exact replay (pts replay): counts, policies, consent, faults, several devices. How late IOs are on a busy host is not judged: a
# replay that was not true enough ends with 1.
. "$(dirname "$0")/lib.sh"

played() { [ "$RC" = 0 ] || [ "$RC" = 1 ] || fail "exit $RC: $(show "$ERR")"; }

# An iolog of fio: iolog FILE 'USEC DEVICE OP [OFFSET LENGTH]'...
iolog() {
	local f=$1
	shift
	{
		echo 'fio version 3 iolog'
		for d in $(printf '%s\n' "$@" | awk '{ print $2 }' | sort -u); do printf '0 %s add\n0 %s open\n' "$d" "$d"; done
		printf '%s\n' "$@"
	} >"$f.log"
	"$PTS" import "$f.log" -o "$f.cap" -q >/dev/null || fail "import of $f.log"
}

steady() { # USEC N OP: N IOs of 4 KiB, one after the other
	awk -v us="$1" -v n="$2" -v op="$3" 'BEGIN { for (i = 0; i < n; i++) print i * us, "/dev/x", op, i % 4096 * 4096, 4096 }'
}

mapfile -t lines < <(steady 200 1000 read)
iolog reads "${lines[@]}"
mapfile -t lines < <(steady 200 300 write)
iolog writes "${lines[@]}"
# U44: 1024 reads of 4 KiB, 100 KiB apart
mapfile -t lines < <(awk 'BEGIN { for (i = 0; i < 1024; i++) print i * 20, "/dev/x read", i * 102400, 4096 }')
iolog apart "${lines[@]}"
iolog two '0 /dev/a write 0 4096' '1000 /dev/b write 0 4096' '2000 /dev/a write 4096 4096' '2000 /dev/b read 8192 4096'
iolog mixed '0 /dev/x read 0 4096' '100 /dev/x sync 0 0' '200 /dev/x trim 4096 8192' '300 /dev/x write 8192 512'
F='file:scratch?size=64m'

t 'a dry replay needs no target and stores nothing'
pts replay reads.cap --dry --json
played
json_is 'd["schema"], d["records"], d["issued"], d["dropped"], d["reads"], d["dry"], d["uuid"]' \
	"('pts.replay/1', 1000, 1000, 0, 1000, True, None)"
json_is 'd["span_asked_ns"]' 199800000
file_absent pts.db

t 'a capture of writes makes its scratch file, and its account is stored'
pts replay writes.cap --dut "$F" --db r.db
played
out_has 'issued     300 of 300 records'
sql_is r.db 'SELECT state, compliant FROM v_run' 'done|0'
sql_is r.db 'SELECT records, issued, dropped, reordered, errors, hung, speed, fit, conflict_order, loops, devices FROM v_fidelity' \
	'300|300|0|0|0|0|native|refuse|allow|1|{"/dev/x":"file:scratch?size=64m"}'
sql_is r.db 'SELECT late_p50_ns <= late_p99_ns AND late_p99_ns <= late_max_ns AND span_asked_ns FROM v_fidelity' 1
sql_is r.db 'SELECT phase, access, threads, write_ios, write_bytes, prepared, errors, partial FROM v_cell' \
	'replay|exact replay|1|300|1228800|300|0|0'
sql_is r.db "SELECT sum(count) FROM v_histogram WHERE kind = 'response'" 300
sql_is r.db 'SELECT sum(ios) FROM v_second' 300
sql_is r.db 'SELECT name, writes, length(sha256) FROM v_capture' 'writes|300|64'
sql_is r.db 'SELECT sum(ios) FROM v_capture_step' 300

sql_is r.db "SELECT count(*) FROM v_event WHERE detail LIKE '%io_uring%'" 1

t 'evidence, audit, report and export take it'
run "$PTS" db check --db r.db
exit_is 0
pts audit --db r.db
out_has 'evidence: intact'
pts report -o r.txt --db r.db
exit_is 0
pts export last --json --db r.db
exit_is 0
json_is 'd["fidelity"][0]["issued"]' 300

t 'what was written is fresh random data, where the capture says'
same "$(head -c 1228800 scratch | gzip -1 | wc -c | awk '{ print ($1 > 1200000) }')" 1
same "$(tail -c +1228801 scratch | head -c 4096 | tr -d '\0' | wc -c)" 0 'bytes behind the last write'

t 'reading needs no consent, and cannot write'
head -c 32M /dev/zero >foreign
cksum foreign >before
pts replay reads.cap --dut file:foreign --db r.db
played
out_has 'issued     1000 of 1000 records'
cksum foreign | cmp -s - before || fail 'the file has changed'
file_absent foreign.pts-scratch

t 'writing needs consent as a run does'
pts replay writes.cap --dut file:foreign --db r.db
exit_is 2
err_has '--destroy'
pts replay writes.cap --dut file:foreign --db r.db --destroy elsewhere
exit_is 2
cksum foreign | cmp -s - before || fail 'the file has changed'
pts replay mixed.cap --with discard --dut file:foreign --db r.db
exit_is 2
pts replay writes.cap --dut file:foreign --db r.db --destroy "$PWD/foreign"
played
cksum foreign | cmp -s - before && fail 'nothing was written'

t 'a small target: refused with the numbers, before anything is done'
pts replay apart.cap --dut "$F" --db small.db
exit_is 2
err_has '368 of 1024 records do not fit'
err_has 'the first is record 656 at offset 67174400'
file_absent small.db

t 'a small target: clip, wrap, scale'
pts replay apart.cap --dut "$F" --db small.db --fit clip --json
played
json_is 'd["issued"], d["dropped"], d["why_dropped"]' "(656, 368, {'clipped': 368})"
pts replay apart.cap --dut "$F" --db small.db --fit wrap --json
played
json_is 'd["issued"], d["dropped"], d["moved"]' '(1024, 0, 368)'
pts replay apart.cap --dut "$F" --db small.db --fit scale --json
played
json_is 'd["issued"], d["dropped"], d["errors"], d["moved"] > 900' '(1024, 0, 0, True)'

t 'loops and speeds'
pts replay reads.cap --dut "$F" --db r.db --loops 3 --speed x4 --json
played
json_is 'd["records"], d["issued"], d["speed"], d["span_asked_ns"]' "(3000, 3000, '4', 149950000)"
json_is 'd["elapsed_ns"] >= d["span_asked_ns"]' True
pts replay reads.cap --dut "$F" --db r.db --speed asap --json
exit_is 0
json_is 'd["issued"], d["late_max_ns"], d["span_error_pct"], d["depth_max"] > 1' '(1000, None, None, True)'
sql_is r.db 'SELECT late_p50_ns IS NULL, span_error_pct IS NULL, valid FROM v_fidelity ORDER BY run_id DESC LIMIT 1' '1|1|1'

t 'as fast as it goes, and very short: the clock begins before the first IO'
pts replay mixed.cap --dut "$F" --db short.db --speed asap --json
exit_is 0
sql_is short.db 'SELECT ios, elapsed_ns >= mrt_ns, abs(iops * elapsed_ns / 1e9 - ios) < 1e-3 FROM v_cell' '2|1|1'

t 'flushes and discards only when asked'
pts replay mixed.cap --dut "$F" --db r.db --json
played
json_is 'd["issued"], d["why_dropped"]' "(2, {'discards': 1, 'flushes': 1})"
pts replay mixed.cap --dut "$F" --db r.db --with both --json
played
json_is 'd["issued"], d["flushes"], d["dropped"]' '(4, 1, 0)'

t 'conflicts: allowed and counted, or in order'
iolog clash '0 /dev/x write 0 4096' '100 /dev/x write 0 4096' '200 /dev/x write 0 8192' '300 /dev/x read 65536 4096'
pts replay clash.cap --dut "fault:late=150ms:$F" --db r.db --json
played
json_is 'd["conflicts"], d["held"], d["depth_max"]' '(2, 0, 4)'
pts replay clash.cap --dut "fault:late=150ms:$F" --db r.db --order order --json
json_is 'd["conflicts"], d["held"], d["issued"], d["depth_max"] < 3' '(2, 2, 4, True)'

t 'IOs that fail are counted, the others go on'
pts replay reads.cap --dut "fault:eio@10,enodata@20,short@30:$F" --db f.db --json
exit_is 3
err_has '2 IOs failed, EIO:1 ENODATA:1, 1 came back short'
json_is 'd["issued"], d["reads"], d["errors"], d["short_ios"], d["valid"], d["why_invalid"][:10]' \
	"(1000, 997, 2, 1, False, 'IOs failed')"
sql_is f.db 'SELECT state FROM v_run' failed
sql_is f.db 'SELECT errnos, errors, short_ios, partial FROM v_cell' 'EIO:1 ENODATA:1|2|1|1'
run "$PTS" db check --db f.db
exit_is 0

t 'the kernel takes nothing: it ends by the deadline, and nothing counts as issued'
for word in eagain ebusy eintr; do
	pts replay reads.cap --dut "fault:$word,deadline=300ms:$F" --db f.db --json
	exit_is 3
	err_has 'the kernel took no IO for 0.3 s'
	json_is 'd["state"], d["issued"], d["hung"], d["depth_max"], d["late_max_ns"], d["valid"]' "('hung', 0, 0, 0, None, False)"
done
sql_is f.db 'SELECT state FROM v_run ORDER BY run_id DESC LIMIT 1' hung
sql_is f.db 'SELECT issued, depth_max, hung, valid FROM v_fidelity ORDER BY run_id DESC LIMIT 1' '0|0|0|0'
pts replay reads.cap --dut "fault:take3,again*7,eagain*5:$F" --db f.db --json
played
json_is 'd["issued"], d["reads"], d["late_p50_ns"] is None' '(1000, 1000, False)'

t 'a drive that is gone: errors, no short IOs'
pts replay reads.cap --dut "fault:gone@200:$F" --db f.db --json
exit_is 3
err_has 'the drive is gone'
json_is 'd["reads"], d["short_ios"], d["issued"] == 199 + d["errors"] and d["errors"] > 0' '(199, 0, True)'
sql_is f.db "SELECT errnos LIKE 'ENODEV:%', short_ios FROM v_cell ORDER BY cell_id DESC LIMIT 1" '1|0'

t 'the report of a replay that is not valid says so everywhere, and why'
pts report last -o bad.txt --db f.db
exit_is 0
file_has bad.txt '1 not valid'
file_has bad.txt 'The replay is NOT VALID: it was cut short; IOs failed'
file_has bad.txt 'no test of the PTS'
grep -Ei 'definition was changed|CHANGED definition|definition CHANGED' bad.txt && fail 'no definition was changed'
pts report last -o good.txt --db r.db
grep -Ei 'definition was changed|CHANGED definition|definition CHANGED' good.txt && fail 'no definition was changed'

t 'a stream map is none'
pts replay gps-drive0 --dut "$F" --db f.db
exit_is 2
err_has 'a stream map and has no IOs of its own'

t 'an IO that never comes: hung, exit 3'
pts replay reads.cap --dut "fault:never@990,deadline=500ms:$F" --db f.db
exit_is 3
err_has 'the drive hangs: no IO came back for 0.5 s'
sql_is f.db 'SELECT state FROM v_run ORDER BY run_id DESC LIMIT 1' hung
sql_is f.db 'SELECT issued, hung, valid FROM v_fidelity ORDER BY run_id DESC LIMIT 1' '1000|1|0'

t 'SIGINT: partial, exit 4, and no thing to be resumed'
"$PTS" replay reads.cap --dut "$F" --db i.db --loops 1000 >"$OUT" 2>"$ERR" &
PID=$!
wait_until asked i.db 'SELECT count(*) FROM v_run' 1
sleep 0.3
stop INT
exit_is 4
sql_is i.db 'SELECT state FROM v_run' interrupted
sql_is i.db 'SELECT partial, read_ios = prepared FROM v_cell' '1|1'
sql_is i.db "SELECT valid, issued < records, why_invalid LIKE 'it was interrupted%' FROM v_fidelity" '0|1|1'
pts resume --db i.db
exit_is 2
err_has 'replay'
pts status --db i.db
out_has 'begin it again with pts replay'
out_hasnt 'pts resume'

t 'several devices: one without a target is named'
pts replay two.cap --dut "$F"
exit_is 2
err_has 'no target for /dev/a (2 records), /dev/b (2 records)'
pts replay two.cap --device-map /dev/a="$F"
exit_is 2
err_has 'no target for /dev/b (2 records)'
pts replay two.cap --device-map /dev/a="$F" --device-map /dev/b=- --db two.db --json
played
json_is 'd["issued"], d["why_dropped"], d["device_map"]["/dev/b"]' "(2, {'device': 2}, None)"

t 'several devices on one target, each at its own offset'
rm -f one one.pts-scratch
pts replay two.cap --device-map /dev/a='file:one?size=1m' --device-map /dev/b='file:one?size=1m@512k' --db two.db --json
played
json_is 'd["issued"]' 4
same "$(cmp -l <(head -c 1m one) <(head -c 1m /dev/zero) 2>/dev/null | awk '{ print int(($1 - 1) / 4096) }' | sort -nu | tr '\n' ' ')" \
	'0 1 128 ' 'blocks written'

t 'several devices on several targets, on one clock'
rm -f a b a.pts-scratch b.pts-scratch
pts replay two.cap --device-map /dev/a='file:a?size=1m' --device-map /dev/b='file:b?size=1m' --db set.db --json
played
json_is 'd["issued"], d["reordered"]' '(4, 0)'
sql_is set.db 'SELECT member, write_ios, read_ios, members FROM v_cell ORDER BY cell_id' '|3|1|2
1|2|0|
2|1|1|'
sql_is set.db 'SELECT count(*) FROM v_member' 2
run "$PTS" db check --db set.db
exit_is 0
pts report -o set.txt --db set.db
exit_is 0

t 'targets that cannot be'
pts replay reads.cap
exit_is 2
err_has 'on which target?'
pts replay reads.cap --dut sim:ent-nvme
exit_is 2
err_has 'exact replay needs a real target'
pts replay reads.cap --dut set:file:a,file:b
exit_is 2
err_has '--device-map DEVICE=DUT'
pts replay reads.cap --dut "$F" --device-map /dev/x="$F"
exit_is 2
pts replay reads.cap --device-map nodev="$F"
exit_is 2
err_has "the capture has no device 'nodev'"
pts replay two.cap --device-map /dev/a="$F" --device-map /dev/b="$F@65m"
exit_is 2
err_has 'offset 68157440'

t 'mistakes in words'
pts replay reads.cap --dut "$F" --speed 64
exit_is 2
err_has '--speed takes native, asap or 0.5 to 32'
pts replay reads.cap --dut "$F" --speed fast
exit_is 2
pts replay reads.cap --dut "$F" --loops 0
exit_is 2
pts replay reads.cap --dut "$F" --fit squeeze
exit_is 2
pts replay reads.log --dut "$F"
exit_is 2
err_has reads.log
pts replay nothing.cap --dry
exit_is 2

if [ "$(id -u)" = 0 ] && losetup -f >/dev/null 2>&1; then
	t 'loop devices: by consent, reads without; 512-byte IO on 4K blocks is widened'
	loop_new 64m
	pts replay writes.cap --dut "$LOOP" --db l.db
	exit_is 2
	pts replay writes.cap --dut "$LOOP" --db l.db --destroy "$LOOP"
	played
	sql_is l.db 'SELECT issued FROM v_fidelity' 300
	pts replay reads.cap --dut "$LOOP" --db l.db
	played
	t 'discards of a block device are discards, no zeroes written'
	iolog trims '0 /dev/x trim 0 1048576' '100 /dev/x read 4194304 4096' '200 /dev/x trim 2097152 65536' '300 /dev/x write 8388608 4096'
	stat=/sys/block/${LOOP#/dev/}/stat
	head -c 4194304 /dev/urandom >"$LOOP" && sync "$LOOP"
	read -r _ _ _ _ _ _ _ _ _ _ _ n0 _ s0 _ <"$stat"
	pts replay trims.cap --with discard --dut "$LOOP" --db l.db --destroy "$LOOP"
	played
	out_has '2 discards were issued synchronously'
	read -r _ _ _ _ _ _ _ _ _ _ _ n1 _ s1 _ <"$stat"
	same "$((s1 - s0))" $(((1048576 + 65536) / 512)) 'sectors discarded'
	[ "$n1" -gt "$n0" ] || fail 'no discards'
	sql_is l.db 'SELECT issued, errors FROM v_fidelity ORDER BY run_id DESC LIMIT 1' '4|0'
	same "$(head -c 1048576 "$LOOP" | tr -d '\0' | wc -c)" 0 'bytes left of what was discarded'

	truncate -s 64m 4k.img
	losetup --sector-size 4096 -f --show 4k.img >4k 2>/dev/null && {
		at_exit loop_free "$(cat 4k)"
		pts replay mixed.cap --dut "$(cat 4k)" --db l.db --destroy "$(cat 4k)" --json
		played
		json_is 'd["issued"], d["rounded"], d["bytes_written"]' '(2, 1, 4096)'
	}

	t 'U43: the order of two devices is kept on two loops'
	mapfile -t lines < <(awk 'BEGIN { for (i = 0; i < 400; i++) print i * 100, "/dev/" (i % 2 ? "a" : "b"), "read", i * 4096, 4096 }')
	iolog merged "${lines[@]}"
	A=$LOOP
	loop_new 64m
	pts replay merged.cap --device-map /dev/a="$A" --device-map /dev/b="$LOOP" --db l2.db --json
	played
	json_is 'd["issued"], d["reordered"], d["reads"]' '(400, 0, 400)'
	sql_is l2.db 'SELECT read_ios FROM v_cell WHERE member > 0' '200
200'
fi
