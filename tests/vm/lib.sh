# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For the tests in a virtual machine, which are otherwise like those of tests/cli: sourced in place of its lib.sh. Skips the
# script (77) where no VM can be had.
#
#   guest <<'END' ... END	what the VM is to run: a bash script, in /tmp/vm, with $PTS and the functions below
#   vm OPTION...		boots one (options of tests/vm/vmrun), runs that script: $OUT, $ERR, $RC. Its /tmp/vm is $VM.
#   vm_code NAME CODE		expects the exit code that "code NAME" left there
#
# In the guest:
#   drive SERIAL		prints the /dev/nvmeXn1 with that serial (numbers do not follow serials)
#   code NAME CMD...		runs it: stdout to NAME.out, stderr to NAME.err, exit code to NAME.rc
#   writes DEV			prints how many writes and discards the drive has seen
#   A database must not be in /tmp/vm, whose file system knows no shared memory; /dev/shm is a good place.

. "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"

VM=$W/vm
mkdir "$VM"
export VMCACHE=${VMCACHE:-$ROOT/build/vm}

vm_skip() {
	echo "skip ${0##*/}: $*"
	exit 77
}

vm_need() {
	local program log=$W/setup.log
	[ "$(id -u)" = 0 ] || vm_skip 'needs root'
	for program in qemu-system-x86_64 busybox depmod cpio xz dpkg-deb python3 sqlite3; do
		command -v "$program" >/dev/null || vm_skip "no $program here (make rig-deps)"
	done
	[ -e /dev/shm ] || vm_skip 'no /dev/shm here'
	bash "$ROOT/tests/vm/setup" >"$log" 2>&1 || vm_skip "no kernel for the VM: $(show "$log")"
}
vm_need

guest() {
	{
		echo "PTS='$PTS'"
		cat <<'END'
drive() { echo "/dev/$(basename "$(dirname "$(grep -l "$1" /sys/class/nvme/*/serial)")")n1"; }
code() {
	local name=$1
	shift
	"$@" >"$name.out" 2>"$name.err"
	echo $? >"$name.rc"
}
writes() { awk '{ print $5, $12 }' "/sys/block/${1#/dev/}/stat"; }
END
		cat
	} >"$VM/guest.sh"
}

vm() { run bash "$ROOT/tests/vm/vmrun" -w "$VM" "$@" -- bash /tmp/vm/guest.sh; }

vm_code() {
	same "$(cat "$VM/$1.rc" 2>&1)" "$2" "exit code of '$1' ($(show "$VM/$1.err" 2>/dev/null))"
}
