#!/bin/bash
# SPDX-License-Identifier: MIT
# A SAS and a SATA drive of qemu and the kernel's scsi_debug: which purges they offer, a FORMAT UNIT that answers ok and erases
# nothing, the write cache as the kernel sees it, temperature, a bad block. None of them completes an erase of its own.
. "$(dirname "$0")/lib.sh"

guest <<'END'
mkdir defs
export PTS_DEF_PATH=$PWD/defs
cat >defs/small.pts <<'DEF'
test small "Small test" clause X
	purge
	run rnd rw 65/35 bs 4k threads 2 qd 4 for 2s
end
DEF
cat >defs/reads.pts <<'DEF'
test reads "Reads" clause X
	run seq-128k-r threads 1 qd 2 for 30s
end
DEF
cat >defs/short.pts <<'DEF'
test short "Short" clause X
	run rnd-4k-r threads 1 qd 2 for 500ms
end
DEF
# Letters do not follow the order of the controllers.
disk() {
	local i
	for i in /sys/block/sd*; do
		[ "$(tr -d ' ' <"$i/device/vendor")" != "$1" ] || echo "/dev/${i##*/}"
	done
}
for i in {1..100}; do
	[ "$(ls -d /sys/block/sd* 2>/dev/null | wc -l)" -ge 3 ] && break
	sleep 0.1
done
debug=$(disk Linux) sas=$(disk QEMU) sata=$(disk ATA)
echo "$debug" >dev.debug; echo "$sas" >dev.sas; echo "$sata" >dev.sata
code devices "$PTS" devices --json

code sas.auto "$PTS" purge --dut "$sas" --destroy VMSAS0 --json
code sas.format "$PTS" purge --dut "$sas" --destroy VMSAS0 --method scsi-format
code sas.sanitize "$PTS" purge --dut "$sas" --destroy VMSAS0 --method scsi-sanitize
code sas.recover "$PTS" purge --dut "$sas" --destroy VMSAS0 --recover
code sas.run "$PTS" run small --dut "$sas" --destroy VMSAS0 --method scsi-format --db /dev/shm/sas.db

code sata.erase "$PTS" purge --dut "$sata" --destroy VMSATA0 --method ata-security-erase
code sata.recover "$PTS" purge --dut "$sata" --destroy VMSATA0 --recover

# The kernel is told of the cache: off while it runs, on again after it.
cache() {
	local word
	read -r word <"/sys/block/${1#/dev/}/queue/write_cache"
	echo "$word"
}
for which in debug sata; do
	dev=${!which} word=VMSATA0
	[ $which = sata ] || word=2000
	cache "$dev" >$which.cache
	"$PTS" run small --dut "$dev" --destroy $word --db /dev/shm/$which.db >$which.out 2>$which.err &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		cache "$dev"
		sleep 0.2
	done >>$which.cache
	wait $pid
	echo $? >$which.rc
	cache "$dev" >>$which.cache
done

# Its queue cannot be polled, which this kernel answers by waiting.
code polled timeout -s KILL 30 "$PTS" run short --polled --dut "$sata" --destroy VMSATA0 --db /dev/shm/polled.db

# A bad block at LBA 4660.
echo 2 >/sys/bus/pseudo/drivers/scsi_debug/opts
code bad "$PTS" run reads --dut "$debug" --destroy 2000 --db /dev/shm/bad.db
cp /dev/shm/*.db .
END

truncate -s 64M "$W/sas.raw" "$W/sata.raw"
drive() { echo "-blockdev driver=file,node-name=$1f,filename=$W/$1.raw,discard=unmap
	-blockdev driver=raw,node-name=$1,file=$1f,discard=unmap"; }

t 'the VM comes up and does its work'
vm -n 0 -k 'scsi_debug:dev_size_mb=64 lbpu=1 lbpws=1,virtio_scsi,ahci,sd_mod' -x "-device virtio-scsi-pci,id=vs $(drive sas) \
	-device scsi-hd,bus=vs.0,drive=sas,serial=VMSAS0 $(drive sata) -device ide-hd,bus=ide.0,drive=sata,serial=VMSATA0"
exit_is 0
true_that test -s "$VM/bad.rc"

t 'pts devices tells which purges they offer, and why auto is what it is'
cp "$VM/devices.out" "$OUT"
vm_code devices 0
one() { echo "[x for x in d['devices'] if x['path'] == '$(cat "$VM/dev.$1")'][0]"; }
json_is "[[x['serial'], x['purge_methods'], x['purge_auto'], x['transport']] for x in [$(one debug), $(one sas), $(one sata)]]" \
	"[['2000', ['blkdiscard'], 'blkdiscard', 'sas'], ['VMSAS0', ['scsi-format', 'blkdiscard'], 'blkdiscard', None], ['VMSATA0', ['blkdiscard'], 'blkdiscard', 'sata']]"
json_is "['neither SANITIZE nor FORMAT UNIT' in $(one debug)['purge_why'], 'does not tell which commands' in $(one sas)['purge_why'], 'neither ATA SANITIZE nor ATA security' in $(one sata)['purge_why']]" \
	'[True, True, True]'
json_is "[$(one debug)['wwid'], $(one sata)['model'], $(one sata)['firmware']]" "['naa.33333330000007d0', 'QEMU HARDDISK', '2.5+']"

t 'auto discards, proves it, and says why it is no better method'
vm_code sas.auto 0
cp "$VM/sas.auto.out" "$OUT"
json_is "[d[k] for k in ('method', 'auto', 'verified', 'survivors')]" "['blkdiscard', True, True, 0]"
file_has "$VM/sas.auto.err" 'does not tell which commands'

t 'a FORMAT UNIT that answers ok and erases nothing is found out, and no test starts after it'
vm_code sas.format 1
file_has "$VM/sas.format.out" 'PURGE NOT VERIFIED: of 1026 marked blocks 1026 can be read still'
true_that test "$(cat "$VM/sas.run.rc")" != 0
sql_is "$VM/sas.db" "SELECT count(*) FROM v_cell" 0
sql_is "$VM/sas.db" "SELECT state FROM v_run" failed

t 'what the drives do not know is refused before anything is sent'
vm_code sas.sanitize 2
file_has "$VM/sas.sanitize.err" 'it offers scsi-format, blkdiscard'
vm_code sata.erase 2
vm_code sas.recover 0
file_has "$VM/sas.recover.out" 'nothing to undo'
vm_code sata.recover 0
file_has "$VM/sata.recover.out" 'no password is set'

for which in debug sata; do
	t "a small run; its write cache is off meanwhile, for the kernel as well ($which)"
	vm_code $which 0
	same "$(uniq "$VM/$which.cache" | tr '\n' ',')" 'write back,write through,write back,' 'cache as the kernel sees it'
	sql_is "$VM/$which.db" "SELECT count(*), sum(errors), min(ios) > 0 FROM v_cell" '1|0|1'
	sql_is "$VM/$which.db" "SELECT purge_method, purge_verified FROM v_section" 'blkdiscard|1'
done
sql_is "$VM/debug.db" "SELECT temperature_c FROM v_cell" 38.0

t '--polled where nothing can be polled neither hangs nor fails'
vm_code polled 0
sql_is "$VM/polled.db" "SELECT count(*), sum(errors), min(ios) > 0 FROM v_cell" '1|0|1'

t 'a bad block: exit 3, counted by its error'
vm_code bad 3
sql_is "$VM/bad.db" "SELECT errnos = 'ENODATA:' || errors, errors > 0, partial FROM v_cell" '1|1|1'
