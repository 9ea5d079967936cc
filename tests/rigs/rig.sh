# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Rigs: block devices of known behaviour, in real time, for tests. Sourced after tests/cli/lib.sh:
#
#	t 'a slow drive'
#	if rig_throttled 2000 64M; then		# $RIG is now a block device, /dev/loopN
#		pts run ... --dut "$RIG" --destroy "$RIG"
#	fi
#
# A rig that cannot be had here skips the test, with the reason, and returns 77; one that ought to work and does not fails the test
# and returns 1. Device numbers are those that losetup and zram hand out, never chosen. All is released when the script ends, by
# rig_release before that, and by a guard process when the script is killed.
#
#   rig_ssdsim MIB [OPTION...]	the SSD of tests/rigs/ssdsim.c: fresh -> transition -> steady, fresh again after a discard
#   rig_null NS SIZE		nothing stored, every request takes NS (and the way through loop and FUSE)
#   rig_throttled IOPS SIZE	nothing stored, at most so many requests a second, smoothly; rig_throttle_set IOPS changes that in flight
#   rig_erroring SIZE RULE...	RULE is read:ERRNO:OFFSET or write:ERRNO:OFFSET, with :once behind it for the first time only;
#				requests that touch the sector at OFFSET (bytes) fail so; OFFSET any: every request
#   rig_lying SIZE		answers a discard with success and keeps the data
#   rig_loop SIZE SECTOR	a plain loop device with sectors of 512 or 4096 bytes
#   rig_zram SIZE		compressed memory, 4096-byte sectors
#   rig_release			lets go of all of them
#   rig_qmp COMMAND [JSON]	a command to the newest storage daemon; its answer on stdout
#   rig_probe			the median time in ns of a 4 KiB read of $RIG, as an independent reader sees it
#   rig_pts WORD...		pts WORD... with precedence, so that other work of the host shows less in what it measures
#   rig_retry FUNCTION		for a test of rates, which noise of the host may break: what FUNCTION, which takes a rig of its own,
#				finds wrong is said and forgiven twice; the third time it is a failure, or a skip on a busy host

RIG=''
rig_dir='' rig_count=0 rig_qmp_socket='' rig_guard_pid=''
RIG_SOURCE=${BASH_SOURCE[0]}
RIG_BUILD=${BUILD:-$(dirname "$PTS")}

# ---- letting go ----

# $1/held lists what was taken, one a line: "loop DEV FILE", "daemon PID", "mount FILE", "zram N". Each is looked at before it is
# let go: a number may meanwhile be another's.
rig_let_go() {
	local dir=$1 kind what file
	mv "$dir/held" "$dir/freeing" 2>/dev/null || return 0
	while read -r kind what file; do
		case $kind in
		loop)
			# Where its daemon died by itself, the file's path has become "/".
			case $(cat "/sys/block/${what#/dev/}/loop/backing_file") in "$file" | /) losetup -d "$what" ;; esac
			;;
		daemon) rig_end_daemon "$what" "$dir" ;;
		mount) ! grep -q " $what fuse" /proc/mounts || umount -l "$what" ;;
		zram)
			echo 1 >"/sys/block/zram$what/reset"
			echo "$what" >/sys/class/zram-control/hot_remove
			;;
		esac
	done < <(tac "$dir/freeing") >/dev/null 2>&1
	rm -rf "$dir"
}

# A daemon of ours has the rig's folder in its command line.
rig_end_daemon() {
	local pid=$1 dir=$2 i
	for ((i = 0; i < 60; i++)); do
		grep -qF "$dir" "/proc/$pid/cmdline" 2>/dev/null || return 0
		case $i in
		0) kill -TERM "$pid" ;;
		40) kill -KILL "$pid" ;;
		*) sleep 0.05 ;;
		esac
	done
}

rig_release() {
	RIG='' rig_qmp_socket=''
	[ -n "$rig_dir" ] || return 0
	rig_let_go "$rig_dir"
	kill "$rig_guard_pid" 2>/dev/null
	rig_dir=''
}

# Run as a program, this file is the guard: it waits for the end of the script, however that comes, and lets go in its place.
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	trap '' INT HUP
	while kill -0 "$1" 2>/dev/null; do sleep 0.3; done
	sleep 0.3
	rig_let_go "$2"
	exit 0
fi

rig_hold() { echo "$*" >>"$rig_dir/held"; }

rig_begin() {
	[ -z "$rig_dir" ] || return 0
	rig_dir=$(mktemp -d /tmp/pts-rig.XXXXXX) || return 1
	: >"$rig_dir/held"
	setsid bash "$RIG_SOURCE" $$ "$rig_dir" </dev/null >/dev/null 2>&1 &
	rig_guard_pid=$!
	disown "$rig_guard_pid"
	at_exit rig_release
}

# ---- what a rig needs ----

rig_skip() {
	skip "$*"
	return 77
}

rig_fail() {
	fail "$*"
	return 1
}

rig_need_root() { [ "$(id -u)" = 0 ] || rig_skip 'needs root'; }
rig_need_loop() { rig_need_root && { losetup -f >/dev/null 2>&1 || rig_skip 'no loop devices here'; }; }
rig_need_fuse() { rig_need_loop && { [ -c /dev/fuse ] || rig_skip 'no /dev/fuse here'; }; }
rig_need_daemon() {
	rig_need_fuse || return
	command -v qemu-storage-daemon >/dev/null || rig_skip 'no qemu-storage-daemon here (package qemu-utils)' || return
	command -v python3 >/dev/null || rig_skip 'no python3 here'
}

rig_pts() { run nice -n -15 "$PTS" "$@"; }

# Prints how busy, where the host does not keep time now: a sleeper wakes up late, or much more wants to run than there are processors.
rig_busy() {
	python3 - <<'END'
import os, time
late = []
for _ in range(400):
    begin = time.perf_counter()
    time.sleep(0.001)
    late.append(time.perf_counter() - begin - 0.001)
late = sorted(late)[int(len(late) * 0.95)]
load = os.getloadavg()[0]
if late > 0.0005 or load > 3 * os.cpu_count():
    print("1 of 20 sleeps ends %.1f ms late, load average %.1f" % (late * 1000, load))
END
}

rig_retry() {
	local try busy
	for try in 1 2 3; do
		"$@"
		[ -n "$t_why" ] || return 0
		# shellcheck disable=SC2154
		echo "# $t_name: try $try: $t_why"
		busy=$(rig_busy)
		[ $try = 3 ] || t_why=''
		rig_release
	done
	[ -z "$busy" ] || t_why=''
	[ -z "$busy" ] || skip "the host is too busy to judge this: $busy"
}

rig_bytes() { numfmt --from=iec "$1"; }

# ---- parts ----

# rig_mounted NAME PID: waits until the daemon has mounted its file.
rig_mounted() {
	local i
	for ((i = 0; i < 200; i++)); do
		grep -q " $rig_dir/$1.mnt fuse" /proc/mounts && return 0
		kill -0 "$2" 2>/dev/null || break
		sleep 0.05
	done
	rig_fail "the daemon of a rig did not start: $(show "$rig_dir/$1.log")"
}

# rig_attach FILE [OPTION...]: a loop device over the file: $RIG.
rig_attach() {
	local file=$1 part
	shift
	RIG=$(losetup --direct-io=on "$@" -f --show "$file" 2>"$rig_dir/losetup.log") ||
		rig_fail "losetup failed: $(show "$rig_dir/losetup.log")" || return
	# The number's former user may have left partitions on it.
	for part in /sys/block/"${RIG#/dev/}"/"${RIG#/dev/}"p*; do
		[ ! -e "$part" ] || delpart "$RIG" "${part##*p}"
	done
	rig_hold loop "$RIG" "$(cat "/sys/block/${RIG#/dev/}/loop/backing_file")"
	[ "$(cat "/sys/block/${RIG#/dev/}/loop/dio")" = 1 ] || rig_fail "$RIG does not do direct IO"
}

# rig_serve COMMAND...: runs the program that mounts $rig_dir/NAME.mnt, and puts a loop device over it. NAME is $rig_name.
rig_serve() {
	local pid
	: >"$rig_dir/$rig_name.mnt"
	rig_hold mount "$rig_dir/$rig_name.mnt"
	# A drive does not slow down because the host is busy.
	nice -n -15 "$@" </dev/null >"$rig_dir/$rig_name.log" 2>&1 &
	pid=$!
	disown "$pid"
	rig_hold daemon "$pid"
	rig_mounted "$rig_name" "$pid" && rig_attach "$rig_dir/$rig_name.mnt"
}

rig_new_name() {
	rig_begin || rig_fail "no folder for a rig" || return
	rig_count=$((rig_count + 1))
	rig_name=r$rig_count
}

# rig_daemon OPTION...: a storage daemon that exports its block node "top".
rig_daemon() {
	rig_qmp_socket=$rig_dir/$rig_name.qmp
	rig_serve qemu-storage-daemon --chardev "socket,id=qmp,path=$rig_qmp_socket,server=on,wait=off" --monitor chardev=qmp "$@" \
		--export "type=fuse,id=export,node-name=top,mountpoint=$rig_dir/$rig_name.mnt,writable=on"
}

# rig_image SIZE: an empty image file of its own: $rig_image.
rig_image() {
	rig_image=$rig_dir/$rig_name.img
	truncate -s "$1" "$rig_image" || rig_fail "no image of $1"
}

rig_probe() { nice -n -15 python3 "$ROOT/tests/rigs/probe.py" "$RIG"; }
rig_qmp() { python3 "$ROOT/tests/rigs/qmp.py" "$rig_qmp_socket" "$@"; }

# ---- the rigs ----

rig_ssdsim() {
	local mib=$1
	shift
	rig_need_fuse || return
	[ -x "$RIG_BUILD/tests/rigs/ssdsim" ] || rig_skip 'ssdsim is not built (package libfuse3-dev)' || return
	rig_new_name && rig_serve "$RIG_BUILD/tests/rigs/ssdsim" --size "$mib" "$@" "$rig_dir/$rig_name.mnt"
}

rig_null() {
	rig_need_daemon && rig_new_name && rig_daemon \
		--blockdev "driver=null-co,node-name=top,size=$(rig_bytes "$2"),latency-ns=$1,read-zeroes=on"
}

# Nothing is stored: a disk under it would have a rate of its own.
rig_throttled() {
	rig_need_daemon && rig_new_name && rig_daemon \
		--blockdev "driver=null-co,node-name=null,size=$(rig_bytes "$2"),read-zeroes=on" \
		--object "throttle-group,id=rate,x-iops-total=$1" \
		--blockdev driver=throttle,node-name=top,throttle-group=rate,file=null
}

rig_throttle_set() {
	rig_qmp qom-set "{\"path\": \"/objects/rate\", \"property\": \"limits\", \"value\": {\"iops-total\": $1}}" >/dev/null ||
		rig_fail "the rate did not change"
}

rig_erroring() {
	local size=$1 rule op name offset once
	shift
	rig_need_daemon && rig_new_name && rig_image "$size" || return
	for rule; do
		IFS=: read -r op name offset once <<<"$rule"
		echo '[inject-error]'
		echo 'event = "none"'
		echo "iotype = \"$op\""
		echo "errno = \"$(python3 -c 'import errno, sys; print(getattr(errno, sys.argv[1]))' "$name")\""
		[ "$offset" = any ] || echo "sector = \"$(($(rig_bytes "$offset") / 512))\""
		[ "$once" = once ] && echo 'once = "on"' || echo 'once = "off"'
	done >"$rig_dir/$rig_name.conf"
	rig_daemon --blockdev "driver=file,node-name=file,filename=$rig_image,cache.direct=on,aio=native,discard=unmap" \
		--blockdev "driver=blkdebug,node-name=top,image=file,config=$rig_dir/$rig_name.conf,discard=unmap"
}

# Without discard=unmap the node drops a discard on the floor and says that it is done.
rig_lying() {
	rig_need_daemon && rig_new_name && rig_image "$1" && rig_daemon \
		--blockdev "driver=file,node-name=top,filename=$rig_image,cache.direct=on,aio=native"
}

rig_loop() {
	rig_need_loop && rig_new_name && rig_image "$1" && rig_attach "$rig_image" --sector-size "$2"
}

rig_zram() {
	local n
	rig_need_root || return
	[ -e /sys/class/zram-control/hot_add ] || rig_skip 'no zram here' || return
	rig_begin || rig_fail "no folder for a rig" || return
	n=$(cat /sys/class/zram-control/hot_add) || rig_skip 'zram gives no device' || return
	rig_hold zram "$n"
	rig_bytes "$1" >"/sys/block/zram$n/disksize" || rig_fail "zram$n takes no size" || return
	RIG=/dev/zram$n
}
