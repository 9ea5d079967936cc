#!/bin/bash
# SPDX-License-Identifier: MIT
# The erases of SAS and SATA drives as a whole, from pts purge to the disk: no disk of a VM knows them, so a stand-in is preloaded
# before one that is there (tests/rigs/fakescsi.c). A crash with the password set, what is frozen or locked, what runs already.
. "$(dirname "$0")/lib.sh"

${CC:-gcc} -std=gnu17 -O2 -D_GNU_SOURCE -shared -fPIC -o "$VM/fakescsi.so" "$ROOT/tests/rigs/fakescsi.c" -ldl ||
	vm_skip 'the stand-in cannot be built'

guest <<'END'
disk() {
	local i
	for i in /sys/block/sd*; do
		[ "$(tr -d ' ' <"$i/device/vendor")" != "$1" ] || echo "/dev/${i##*/}"
	done
}
for i in {1..100}; do
	[ "$(ls -d /sys/block/sd* 2>/dev/null | wc -l)" -ge 2 ] && break
	sleep 0.1
done
sas=$(disk QEMU) sata=$(disk ATA)
export XDG_STATE_HOME=/dev/shm/state
mkdir $XDG_STATE_HOME
fake() {
	local name=$1
	shift
	LD_PRELOAD=$PWD/fakescsi.so code "$name" "$PTS" "$@"
	cp "$FAKE_STATE" "$name.state" 2>/dev/null
	find $XDG_STATE_HOME -name '*.pts-left' | wc -l >"$name.left"
}
purge_sata() { fake "$1" purge --dut "$sata" --destroy VMSATA0 "${@:2}"; }
purge_sas() { fake "$1" purge --dut "$sas" --destroy VMSAS0 "${@:2}"; }

export FAKE_STATE=/dev/shm/sata
purge_sata erase
FAKE_CRASH=f4 purge_sata crash
# A power cycle locks what has a password.
sed -i 's/^1 0/1 1/' $FAKE_STATE
purge_sata locked
fake doctor doctor
purge_sata recover --recover
echo '1 1 0 0 theirs' >$FAKE_STATE
purge_sata theirs --recover
echo '0 0 1 0 x' >$FAKE_STATE
purge_sata frozen
echo '0 0 0 0 x' >$FAKE_STATE
FAKE_SANITIZE=1 purge_sata sanitize

export FAKE_STATE=/dev/shm/sas
purge_sas block
purge_sas format --method scsi-format
# Interrupted, it goes on in the drive.
LD_PRELOAD=$PWD/fakescsi.so FAKE_LOOKS=1000 "$PTS" purge --dut "$sas" --destroy VMSAS0 >stopped.out 2>stopped.err &
pid=$!
for i in {1..200}; do
	grep -q sent stopped.err && [ -s $FAKE_STATE ] && grep -q '^0 0 0 99' $FAKE_STATE && break
	sleep 0.1
done
kill -INT $pid
wait $pid
echo $? >stopped.rc
sed -i 's/^0 0 0 [0-9]*/0 0 0 4/' $FAKE_STATE
purge_sas again
END

truncate -s 64M "$W/sas.raw" "$W/sata.raw"
drive() { echo "-blockdev driver=file,node-name=$1f,filename=$W/$1.raw,discard=unmap
	-blockdev driver=raw,node-name=$1,file=$1f,discard=unmap"; }

t 'the VM comes up and does its work'
vm -n 0 -k 'virtio_scsi,ahci,sd_mod' -x "-device virtio-scsi-pci,id=vs $(drive sas) -device scsi-hd,bus=vs.0,drive=sas,serial=VMSAS0 \
	$(drive sata) -device ide-hd,bus=ide.0,drive=sata,serial=VMSATA0"
exit_is 0
true_that test -s "$VM/again.rc"

t 'a security erase: proved by reading back, its password and the note of it are gone'
vm_code erase 0
file_has "$VM/erase.out" 'verified: none of 1026 marked blocks'
file_has "$VM/erase.out" 'password off again'
same "$(cat "$VM/erase.state")" '0 0 0 0 pts' 'state of the drive'
same "$(cat "$VM/erase.left")" 0 'notes'

t 'a crash between password and erase leaves a note; doctor tells, purge refuses, --recover opens the drive'
vm_code crash 137
same "$(cat "$VM/crash.state")" '1 0 0 0 pts' 'state of the drive'
same "$(cat "$VM/crash.left")" 1 'notes'
true_that test "$(cat "$VM/locked.rc")" != 0
file_has "$VM/locked.err" 'locked with a password'
file_has "$VM/locked.err" '--recover'
file_has "$VM/doctor.out" 'unfinished-purge'
vm_code recover 0
file_has "$VM/recover.out" 'the drive is open'
same "$(cat "$VM/recover.state")" '0 0 0 0 pts' 'state of the drive'
same "$(cat "$VM/recover.left")" 0 'notes'

t 'the password of someone else is left alone'
true_that test "$(cat "$VM/theirs.rc")" != 0
file_has "$VM/theirs.err" 'not that of pts'
same "$(cat "$VM/theirs.state")" '1 1 0 0 theirs' 'state of the drive'

t 'a frozen drive is not discarded in its place'
true_that test "$(cat "$VM/frozen.rc")" != 0
file_has "$VM/frozen.err" 'suspend and resume the host'
hasnt "$VM/frozen.out" 'blkdiscard' 'what was done'
same "$(cat "$VM/frozen.state")" '0 0 1 0 x' 'state of the drive'

t 'sanitize of both kinds of drives, and a format'
vm_code sanitize 0
file_has "$VM/sanitize.out" 'purged by ata-sanitize'
vm_code block 0
file_has "$VM/block.out" 'purged by scsi-sanitize'
vm_code format 0
file_has "$VM/format.out" 'blocks of 512 bytes and protection type 0 kept'
for which in sanitize block format; do
	file_has "$VM/$which.out" 'verified: none of 1026 marked blocks'
done

t 'interrupted, a sanitize goes on in the drive, and the next purge waits for it'
true_that test "$(cat "$VM/stopped.rc")" != 0
file_has "$VM/stopped.err" 'goes on in the drive'
vm_code again 0
file_has "$VM/again.err" 'SANITIZE that ran already: waiting for its end'
file_has "$VM/again.out" 'verified: none of 1026 marked blocks'
