#!/bin/bash
# SPDX-License-Identifier: MIT
# The commands of an NVMe drive: Format NVM in each of its LBA formats and what it leaves alone, a drive with two namespaces of which one
# is meant, the volatile write cache as the drive sees it, the self-test; and a discard that answers ok and erases nothing.
. "$(dirname "$0")/lib.sh"

command -v nvme >/dev/null || vm_skip 'no nvme-cli here (make rig-deps)'

guest <<'END'
mkdir defs
export PTS_DEF_PATH=$PWD/defs XDG_STATE_HOME=/dev/shm/state
cat >defs/t.pts <<'DEF'
test small "Small test" clause X
	purge
	run rnd rw 50/50 bs 4k threads 1 qd 2 for 2s
end
test cell "A cell" clause X
	run rnd-4k-w threads 1 qd 2 for 200ms
end
DEF
controller() { basename "$(dirname "$(grep -l "$1" /sys/class/nvme/*/serial)")"; }
multi=$(controller MULTI) one=$(controller FORMAT1)
n1=/dev/${multi}n1 n2=/dev/${multi}n2 dev=/dev/${one}n1
echo "$n1 $n2" >names
head -c 16M /dev/urandom >/dev/shm/data
fill() { dd if=/dev/shm/data of="$1" bs=1M oflag=direct status=none; }
zeros() { tr -d '\0' <"$1" | wc -c; }

code devices "$PTS" devices --json
cp "$PTS" /dev/shm/pts # where all may go
code nobody setpriv --reuid=65534 --regid=65534 --clear-groups /dev/shm/pts devices --json
fill $n1; fill $n2
code purge1 "$PTS" purge --dut $n1 --destroy MULTI --json
echo "$(zeros $n1) $(cmp /dev/shm/data $n2 2>&1 && echo same)" >after1
fill $n1
# The cache is asked for while a run is on.
cache() { nvme get-feature /dev/$multi -f 6 | sed -n 's/.*Current value:.*\(.\)$/\1/p'; }
cache >cache.before
"$PTS" run small --dut $n2 --destroy MULTI --db /dev/shm/off.db >off.out 2>off.err &
while kill -0 $! 2>/dev/null; do
	[ "$(sqlite3 /dev/shm/off.db "SELECT count(*) FROM v_section" 2>/dev/null)" != 1 ] || cache
	sleep 0.2
done >cache.off
wait $!
echo $? >off.rc
echo "$(zeros $n1) $(cmp /dev/shm/data $n1 2>&1 && echo same)" >after2
cache >cache.between
nvme set-feature /dev/$multi -f 6 -v 0 >/dev/null 2>&1
"$PTS" run small --profile client --dut $n1 --destroy MULTI --db /dev/shm/on.db >on.out 2>on.err &
while kill -0 $! 2>/dev/null; do
	[ "$(sqlite3 /dev/shm/on.db "SELECT count(*) FROM v_section" 2>/dev/null)" != 1 ] || cache
	sleep 0.2
done >cache.on
wait $!
echo $? >on.rc
cache >cache.after

for l in 0 1 2 3 4 5 6 7; do
	nvme format $dev -l $l --force >format.out 2>&1
	dd if=/dev/shm/data of=$dev bs=1M oflag=direct status=none 2>/dev/null
	code format$l "$PTS" purge --dut $dev --destroy FORMAT1 --method nvme-format --json
	echo "$(zeros $dev) $(nvme id-ns $dev | awk '/^flbas/ { print $3 }')" >kept$l
	[ $((l & 2)) != 0 ] || code pass$l "$PTS" run cell --engine passthrough --dut $dev --destroy FORMAT1 --db /dev/shm/pass.db
done
nvme format $dev -l 4 --force >format.out 2>&1
code small4 "$PTS" run small --dut $dev --destroy FORMAT1 --db /dev/shm/four.db
code check4 "$PTS" db check --db /dev/shm/four.db
nvme format $dev -l 0 --force >format.out 2>&1
for method in nvme-sanitize-block nvme-sanitize-crypto nvme-sanitize-overwrite scsi-format ata-security-erase; do
	code no.$method "$PTS" purge --dut $dev --destroy FORMAT1 --method $method
done
code lie "$PTS" purge --dut $dev --destroy FORMAT1 --method blkdiscard --json
code lied "$PTS" run small --method blkdiscard --dut $dev --destroy FORMAT1 --db /dev/shm/lied.db
code selftest "$PTS" selftest --dut $dev --destroy FORMAT1 --json
cp /dev/shm/*.db .
END

# No discard=unmap: a discard is answered, and the data stays.
truncate -s 16M "$W"/{one,two,formats}.raw
file() { echo "-drive file=$W/$1.raw,if=none,format=raw,id=$1"; }
t 'the VM comes up and does its work'
vm -n 0 -k nvme -t 240 -x "$(file one) $(file two) $(file formats) -device nvme,id=multi,serial=MULTI
	-device nvme-ns,bus=multi,drive=one,nsid=1,logical_block_size=512
	-device nvme-ns,bus=multi,drive=two,nsid=2,logical_block_size=4096,physical_block_size=4096
	-device nvme,serial=FORMAT1,drive=formats"
exit_is 0
read -r n1 n2 <"$VM/names"

t 'two namespaces of one drive: each a device, each names the other'
cp "$VM/devices.out" "$OUT"
json_is '[(x["nsid"], x["lba_bytes"], x["namespaces"], x["transport"]) for x in d["devices"] if x["serial"] == "MULTI"]' \
	"[(1, 512, ['$n2'], 'pcie'), (2, 4096, ['$n1'], 'pcie')]"

t 'the one that is named is erased, by Format NVM with user data erase; the other is as it was'
vm_code purge1 0
cp "$VM/purge1.out" "$OUT"
json_is 'd["method"], d["verified"], d["survivors"], d["reach"], "nsid 1, CDW10 00000200h (SES 1" in d["detail"]' "('nvme-format', True, 0, [], True)"
same "$(cat "$VM/after1")" '0 same' 'bytes that are left; the other namespace'

t 'who may not ask the drives is not told that they have no better purge than a discard'
vm_code nobody 0
cp "$VM/nobody.out" "$OUT"
json_is '[(x["word"], x["purge_methods"], x["purge_auto"]) for x in d["devices"] if x["serial"] == "FORMAT1"]' \
	"[('FORMAT1', None, None)]"
json_is '["could not be asked" in x["purge_why"] for x in d["devices"] if x["serial"] == "FORMAT1"]' '[True]'

t 'the same by a run on the other'
true_that test "$(cat "$VM/off.rc")" -le 1
sql_is "$VM/off.db" 'SELECT purge_method, purge_verified FROM v_section' 'nvme-format|1'
sql_is "$VM/off.db" "SELECT lba_bytes, state FROM v_run" '4096|done'
true_that grep -q ' same$' "$VM/after2"

t 'the write cache is off while an enterprise run is on, and on again after it; the other way round for a client run'
same "$(cat "$VM/cache.before" "$VM/cache.between")" $'1\n1' 'the cache before and after the first'
true_that grep -q 0 "$VM/cache.off"
true_that grep -q 1 "$VM/cache.on"
same "$(cat "$VM/cache.after")" 0 'the cache after the second'

for l in 0 1 2 3 4 5 6 7; do
	lba=$((l < 4 ? 512 : 4096))
	t "Format in LBA format $l: erased, and the format kept"
	vm_code format$l 0
	cp "$VM/format$l.out" "$OUT"
	json_is 'd["verified"], d["survivors"], "LBA format '$l')" in d["detail"]' '(True, 0, True)'
	read -r left flbas <"$VM/kept$l"
	same "$left $((flbas))" "0 $l" 'bytes that are left, the format'
	if [ $((l & 2)) != 0 ]; then
		continue
	elif [ $((l % 4)) = 0 ]; then
		vm_code pass$l 0
		sql_is "$VM/pass.db" "SELECT count(*) FROM v_run WHERE lba_bytes = $lba" 1
	else
		vm_code pass$l 2
		file_has "$VM/pass$l.err" 'bytes of metadata a block, which passthrough does not carry'
	fi
done
vm_code small4 0
vm_code check4 0

t 'methods that the drive does not offer are refused, none is taken in their place'
for method in nvme-sanitize-block nvme-sanitize-crypto nvme-sanitize-overwrite scsi-format ata-security-erase; do
	vm_code no.$method 2
	file_has "$VM/no.$method.err" "$method"
done

t 'a discard that is answered and erases nothing: NOT VERIFIED, and a run does not start'
true_that test "$(cat "$VM/lie.rc")" != 0
cp "$VM/lie.out" "$OUT"
json_is 'd["ok"], d["verified"], d["survivors"] > 1000' '(False, False, True)'
true_that test "$(cat "$VM/lied.rc")" -ge 1
file_has "$VM/lied.err" 'NOT VERIFIED'
sql_is "$VM/lied.db" "SELECT count(*) FROM v_cell" 0

t 'the self-test tells it, and all else of the drive works'
vm_code selftest 1
cp "$VM/selftest.out" "$OUT"
json_is '[x["check"] for x in d["checks"] if x["result"] == "failed"]' "['purge blkdiscard']"
json_is '[x["result"] for x in d["checks"] if x["check"] in ("purge nvme-format", "NVMe passthrough", "write cache")]' "['ok', 'ok', 'ok']"
