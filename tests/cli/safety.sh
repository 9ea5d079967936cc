#!/bin/bash
# SPDX-License-Identifier: MIT
# The safety gate from outside: what must not be written to is refused (exit 2) with the reason, and not a sector is written.
. "$(dirname "$0")/lib.sh"
need_root

# Writes and discards that a loop device has seen, and the content behind it.
counters() { awk '{ print "writes", $5, "discards", $12 }' "/sys/block/${LOOP#/dev/}/stat"; }
content() { sha256sum <"$LOOPFILE"; }

# try_drive DUT WORD [OPTION...]: a run that must be refused, with nothing written and no database begun.
try_drive() {
	local dut=$1 word=$2 count sum
	shift 2
	sync -f "$LOOPFILE" && sync
	count=$(counters) sum=$(content)
	pts run iops --dut "$dut" ${word:+--destroy "$word"} --quick --db safety.db "$@"
	exit_is 2
	same "$(counters)" "$count" "counter of $LOOP"
	same "$(content)" "$sum" "content of $LOOP"
	file_absent safety.db
	out_empty
	err_match '^pts: run: '
}

# A disk with a partition table and two partitions, by the kernel's own reading or told to it: $LOOP, $LOOPFILE.
disk_new() {
	loop_new 32M || return 1
	printf 'label: gpt\n,16M\n,8M\n' | sfdisk -q --no-reread --no-tell-kernel "$LOOP" || {
		fail "sfdisk failed"
		return 1
	}
	[ -e "${LOOP}p1" ] || { addpart "$LOOP" 1 2048 32768 && addpart "$LOOP" 2 34816 16384; }
	[ -e "${LOOP}p1" ] && [ -e "${LOOP}p2" ] || {
		skip "no partitions on loop devices here"
		return 1
	}
}

# Mounts DEVICE at DIR with a file in it; read-only, since a mounted ext4 writes to its device when it likes.
mount_at() {
	mkdir -p "$2" && mount "$1" "$2" && echo precious >"$2/file" && umount "$2" && mount -o ro "$1" "$2" || {
		skip "cannot mount here"
		return 1
	}
	at_exit umount "$2"
}

have() {
	command -v "$1" >/dev/null || {
		skip "no $1 here"
		return 1
	}
}

ext4_new() { mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$1"; }

# ---- drives ----

t 'U01 a drive with a mounted partition'
if have sfdisk && have mkfs.ext4 && disk_new && ext4_new "${LOOP}p1" && mount_at "${LOOP}p1" "$W/mnt part"; then
	try_drive "$LOOP" "$LOOP"
	err_has "mounted on $W/mnt part (partition ${LOOP}p1)"
	try_drive "$LOOP" "$LOOP" --force-signature
	err_has "mounted on $W/mnt part"
	file_has "$W/mnt part/file" precious

	t 'U01 a mounted partition by its own name'
	try_drive "${LOOP}p1" "${LOOP}p1" --force-signature
	err_has "mounted on $W/mnt part"

	t 'U01 a drive in use, by a symbolic link'
	link=$(mktemp -u /dev/shm/pts-link.XXXXXX)
	if [ -d /dev/shm ] && ln -s "$LOOP" "$link"; then
		at_exit rm -f "$link"
		try_drive "$link" "$link"
		err_has "mounted on $W/mnt part"
	else
		skip "no /dev/shm here"
	fi

	t 'U01 a drive with a partition in use as swap'
	mkswap "${LOOP}p2" >/dev/null 2>&1
	if umount "$W/mnt part" && swapon "${LOOP}p2" 2>/dev/null; then
		at_exit swapoff "${LOOP}p2"
		try_drive "$LOOP" "$LOOP" --force-signature
		err_has "used as swap (partition ${LOOP}p2)"
		swapoff "${LOOP}p2"
	else
		skip "no swap here"
	fi

	t 'a drive with a partition table and no user'
	try_drive "$LOOP" "$LOOP"
	err_has 'gpt partition table'
	err_has "ext4 file system on ${LOOP}p1"
	err_has --force-signature
fi

t 'a drive mounted as a whole'
if have mkfs.ext4 && loop_new 16M && ext4_new "$LOOP" && mount_at "$LOOP" "$W/mnt2"; then
	try_drive "$LOOP" "$LOOP" --force-signature
	err_has "mounted on $W/mnt2"
	umount "$W/mnt2"
fi

t 'a drive with a file system that is not mounted'
if [ -n "${LOOP:-}" ]; then
	try_drive "$LOOP" "$LOOP"
	err_has 'ext4 file system'
	err_hasnt mounted
fi

t 'a drive in use as swap'
if loop_new 16M && mkswap "$LOOP" >/dev/null 2>&1; then
	if swapon "$LOOP" 2>/dev/null; then
		at_exit swapoff "$LOOP"
		try_drive "$LOOP" "$LOOP" --force-signature
		err_has 'used as swap'
		swapoff "$LOOP"
	else
		skip "no swap here"
	fi
fi

t 'a drive under another loop device'
if loop_new 16M; then
	LOWER=$LOOP LOWERFILE=$LOOPFILE
	UPPER=$(losetup -f --show "$LOWER") && at_exit losetup -d "$UPPER"
	try_drive "$LOWER" "$LOWER"
	err_has "held by a loop device ($UPPER)"
	losetup -d "$UPPER"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ -e "/sys/block/${UPPER#/dev/}/loop/backing_file" ] || break
		sleep 0.1
	done
	LOOP=$LOWER LOOPFILE=$LOWERFILE
fi

t 'a drive that a program has open for writing'
if loop_new 16M; then
	exec 8<>"$LOOP"
	try_drive "$LOOP" "$LOOP"
	err_has 'open for writing in'
	err_has "(pid $$)"
	exec 8>&-
fi

t 'a drive that a program has open exclusively'
if loop_new 16M; then
	python3 -c 'import os, sys, time
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_EXCL)
print("open", flush=True)
time.sleep(60)' "$LOOP" >"$W/holder" &
	holder=$!
	for _ in $(seq 100); do
		[ -s "$W/holder" ] && break
		sleep 0.05
	done
	try_drive "$LOOP" "$LOOP"
	err_has 'opened exclusively by'
	err_has "(pid $holder)"
	kill "$holder"
	wait "$holder" 2>/dev/null
fi

t 'a drive without the word, or with a wrong one'
if loop_new 16M; then
	try_drive "$LOOP" ''
	err_has "give --destroy '$LOOP'"
	try_drive "$LOOP" "${LOOP}0"
	err_has "--destroy '${LOOP}0' does not name it"
	try_drive "$LOOP" "${LOOP%?}"
	try_drive "$LOOP" "${LOOP#/dev/}"
	try_drive "$LOOP" yes
fi

t 'a read-only drive'
if loop_new 16M && losetup -d "$LOOP" && LOOP=$(losetup -r -f --show "$LOOPFILE"); then
	at_exit losetup -d "$LOOP"
	try_drive "$LOOP" "$LOOP"
	err_has read-only
fi

# The mounted one must not block the one whose name begins its name: the refusal is for the missing word alone.
t 'the name of a mounted drive that begins with the name of another'
prefix_pair() {
	local k
	for k in 1 2 3; do
		loop_new 16M || return 1
		[ "$LOOP" = /dev/loop0 ] || break
	done
	for k in 0 1 2 3 4 5 6 7 8 9; do
		LONG=$LOOP$k
		truncate -s 16M "$W/long" && ext4_new "$W/long"
		losetup "$LONG" "$W/long" 2>/dev/null || continue
		at_exit losetup -d "$LONG"
		return 0
	done
	skip "no such pair of loop devices to be had"
	return 1
}
if have mkfs.ext4 && prefix_pair && mount_at "$LONG" "$W/mnt3"; then
	try_drive "$LOOP" ''
	err_hasnt 'in use'
	err_hasnt mounted
	err_has "give --destroy '$LOOP'"
	pts run iops --dut "$LONG" --destroy "$LONG" --quick --db safety.db
	exit_is 2
	err_has "mounted on $W/mnt3"
fi

t 'a drive that is not there'
pts run iops --dut /dev/pts-no-such-drive --destroy /dev/pts-no-such-drive --quick --db safety.db
exit_is 2
err_has /dev/pts-no-such-drive
file_absent /dev/pts-no-such-drive
file_absent safety.db

t 'a character device as a drive'
pts run iops --dut /dev/null --destroy /dev/null --quick --db safety.db
exit_is 2
file_absent safety.db

# ---- what a drive lies on ----

# upper_new FILE [OPTION...]: a further loop device, $UPPER, over a file or drive. upper_free lets go of it.
upper_new() {
	UPPER=$(losetup -f --show "$@") || {
		fail "losetup failed"
		return 1
	}
	at_exit losetup -d "$UPPER"
	blockdev --setrw "$UPPER"
}
upper_free() {
	losetup -d "$UPPER"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ -e "/sys/block/${UPPER#/dev/}/loop/backing_file" ] || break
		sleep 0.1
	done
}

t 'U01 a loop device over a mounted drive'
if have mkfs.ext4 && loop_new 16M && ext4_new "$LOOP" && mount_at "$LOOP" "$W/below1" && upper_new "$LOOP"; then
	try_drive "$UPPER" "$UPPER" --force-signature
	err_has "$UPPER is in use: it lies on $LOOP, which is mounted on $W/below1: unmount it first"
	file_has "$W/below1/file" precious

	t 'two loop devices further up'
	second=$UPPER
	if upper_new "$second"; then
		try_drive "$UPPER" "$UPPER" --force-signature
		err_has "it lies on $second, which lies on $LOOP, which is mounted on $W/below1"
		upper_free
	fi
	UPPER=$second

	t 'a loop device over a mounted drive, in the list of drives'
	pts devices
	exit_is 0
	out_match "^$UPPER .*it lies on $LOOP"
	pts doctor --dut "$UPPER"
	out_has "it lies on $LOOP, which is mounted on $W/below1"

	t 'a loop device over a drive mounted elsewhere'
	umount "$W/below1"
	mount_elsewhere() {
		unshare -m sh -c 'mount -o ro "$1" "$2" && echo mounted && exec sleep 60' - "$LOOP" "$W/below1" >"$W/elsewhere" &
		elsewhere=$!
		at_exit kill "$elsewhere"
		for _ in $(seq 100); do
			[ ! -s "$W/elsewhere" ] || return 0
			kill -0 "$elsewhere" 2>/dev/null || break
			sleep 0.05
		done
		skip "no mount namespaces here"
		return 1
	}
	if mount_elsewhere; then
		try_drive "$UPPER" "$UPPER" --force-signature
		err_has "it lies on $LOOP, which is opened exclusively by another"
		kill "$elsewhere"
		wait "$elsewhere" 2>/dev/null
	fi

	t 'a loop device over a drive that a program has open for writing'
	exec 8<>"$LOOP"
	try_drive "$UPPER" "$UPPER" --force-signature
	err_has "it lies on $LOOP, which is open for writing in"
	exec 8>&-
	upper_free
fi

t 'a loop device over a drive with a mounted partition'
if have sfdisk && have mkfs.ext4 && disk_new && ext4_new "${LOOP}p1" && mount_at "${LOOP}p1" "$W/below2" && upper_new "$LOOP"; then
	try_drive "$UPPER" "$UPPER" --force-signature
	err_has "it lies on $LOOP, which is mounted on $W/below2 (partition ${LOOP}p1)"

	t 'a partition of a drive under a loop device'
	try_drive "${LOOP}p2" "${LOOP}p2" --force-signature
	err_has "its disk $LOOP is held by a loop device ($UPPER)"
	upper_free

	t 'a loop device over a partition under a loop device'
	if upper_new "${LOOP}p2"; then
		second=$UPPER
		upper_new "${LOOP}p2"
		try_drive "$UPPER" "$UPPER" --force-signature
		err_has "it lies on ${LOOP}p2, which is held by a loop device ($second)"
		upper_free
		UPPER=$second
		upper_free
	fi
	umount "$W/below2"
fi

t 'two loop devices over one file, the second mounted'
if have mkfs.ext4 && loop_new 16M && ext4_new "$LOOP" && upper_new "$LOOPFILE" && mount_at "$UPPER" "$W/below3"; then
	try_drive "$LOOP" "$LOOP" --force-signature
	err_has "it lies on $LOOPFILE, which is also behind $UPPER, which is mounted on $W/below3"
	file_has "$W/below3/file" precious
	umount "$W/below3"

	t 'two loop devices over one file'
	try_drive "$LOOP" "$LOOP" --force-signature
	err_has "it lies on $LOOPFILE, which is also behind $UPPER: detach that first"
	upper_free

	t 'two loop devices over two names of one file, one of them gone'
	ln "$LOOPFILE" "$W/second-name" && upper_new "$W/second-name" && rm "$W/second-name"
	try_drive "$LOOP" "$LOOP" --force-signature
	err_has "which is also behind $UPPER"
	upper_free

	t 'a loop device over a file that a program has open for writing'
	exec 8<>"$LOOPFILE"
	try_drive "$LOOP" "$LOOP" --force-signature
	err_has "it lies on $LOOPFILE, which is open for writing in"
	exec 8>&-
fi

t 'a partition of one of two loop devices over one file'
if have sfdisk && disk_new && upper_new "$LOOPFILE"; then
	try_drive "${LOOP}p1" "${LOOP}p1" --force-signature
	err_has "its disk $LOOP lies on $LOOPFILE, which is also behind $UPPER"
	upper_free
fi

t 'a loop device over a swap file'
if loop_new 16M && chmod 600 "$LOOPFILE" && dd if=/dev/zero of="$LOOPFILE" bs=1M count=16 2>/dev/null &&
	mkswap "$LOOPFILE" >/dev/null 2>&1 && swapon "$LOOPFILE" 2>/dev/null; then
	at_exit swapoff "$LOOPFILE"
	try_drive "$LOOP" "$LOOP" --force-signature
	err_has "it lies on $LOOPFILE, which is used as swap"
	swapoff "$LOOPFILE"
else
	skip "no swap on a file that a loop device has"
fi

# The gate is passed when only the word is missing.
t 'a loop device over an idle loop device, and over a deleted file'
if loop_new 16M && upper_new "$LOOP"; then
	try_drive "$UPPER" ''
	err_hasnt 'in use'
	err_has "give --destroy '$UPPER'"
	upper_free
	rm "$LOOPFILE"
	pts run iops --dut "$LOOP" --quick --db safety.db
	exit_is 2
	err_hasnt 'in use'
	err_has "give --destroy '$LOOP'"
fi

# ---- files ----

# try_file PATH WORD [OPTION...]: a run on file:PATH that must fail with exit 2 or 3 and leave the file as it is.
try_file() {
	local path=$1 word=$2 sum=''
	shift 2
	[ ! -f "$path" ] || sum=$(sha256sum <"$path"; stat -c '%s %Y %i' "$path")
	pts run iops --dut "file:$path" ${word:+--destroy "$word"} --quick --db safety.db "$@"
	[ "$RC" = 2 ] || [ "$RC" = 3 ] || fail "exit $RC, not 2 or 3: $(show "$ERR")"
	[ ! -f "$path" ] || same "$(sha256sum <"$path"; stat -c '%s %Y %i' "$path")" "$sum" "$path"
	[ ! -e safety.db ] || same "$("$PTS" db check --db safety.db >/dev/null 2>&1; echo $?)" 0 'db check'
	rm -f safety.db*
	out_empty
	err_match '^pts: run: '
}

t 'a file that pts did not make'
head -c 1048576 /dev/urandom >"$W/data"
try_file "$W/data" ''
exit_is 2
err_has "give --destroy '$W/data'"
try_file "$W/data" data
exit_is 2
err_has 'does not name it'
file_absent "$W/data.pts-scratch"

t 'an empty file'
: >"$W/empty"
try_file "$W/empty" ''
exit_is 2
try_file "$W/empty" "$W/empty"

t 'a file smaller than the largest block'
head -c 65536 /dev/urandom >"$W/small"
try_file "$W/small" "$W/small"

t 'a directory, a pipe, devices as files'
mkdir "$W/dir" && mkfifo "$W/fifo"
try_file "$W/dir" "$W/dir"
exit_is 2
err_has folder
try_file "$W/fifo" "$W/fifo"
exit_is 2
try_file /dev/null /dev/null
exit_is 2
try_file /dev/pts-no-such-file ''
exit_is 2
file_absent /dev/pts-no-such-file

t 'a drive as a file'
if loop_new 16M; then
	count=$(counters)
	try_file "$LOOP" "$LOOP"
	exit_is 2
	ln -s "$LOOP" "$W/drive-link"
	try_file "$W/drive-link" "$W/drive-link"
	exit_is 2
	same "$(counters)" "$count" "counter of $LOOP"
fi

t 'the file behind a loop device'
if loop_new 16M; then
	try_file "$LOOPFILE" "$LOOPFILE"
	exit_is 2
	err_has "in use as $LOOP"
	ln "$LOOPFILE" "$W/hard-link"
	try_file "$W/hard-link" "$W/hard-link"
	exit_is 2
	err_has "in use as $LOOP"
	rm "$LOOPFILE"
	try_file "$W/hard-link" "$W/hard-link"
	exit_is 2
	err_has "in use as $LOOP"
fi

t 'a swap file'
dd if=/dev/zero of="$W/swap" bs=1M count=8 2>/dev/null
chmod 600 "$W/swap"
mkswap "$W/swap" >/dev/null 2>&1
if swapon "$W/swap" 2>/dev/null; then
	at_exit swapoff "$W/swap"
	try_file "$W/swap" "$W/swap"
	exit_is 2
	err_has 'used as swap'
	swapoff "$W/swap"
else
	skip "no swap files here"
fi

t 'a file that a program has open'
exec 8<"$W/data"
try_file "$W/data" "$W/data"
exit_is 2
err_has 'is open in'
exec 8<&-

t 'a file marked read-only'
head -c 1048576 /dev/urandom >"$W/kept" && chmod 444 "$W/kept"
try_file "$W/kept" "$W/kept"
exit_is 2
err_has read-only

t 'the database as the target'
"$PTS" run iops --dut 'sim:pm?size=1g' --quick --db "$W/results.db" >/dev/null 2>&1
if [ -f "$W/results.db" ]; then
	sum=$(sha256sum <"$W/results.db")
	pts run iops --dut "file:$W/results.db" --destroy "$W/results.db" --quick --db "$W/results.db"
	exit_is 2
	same "$(sha256sum <"$W/results.db")" "$sum" 'the database'
else
	fail "no database was made"
fi

# ---- without rights ----

nobody() {
	chmod 755 "$W"
	cp "$PTS" "$W/pts-copy" && chmod 755 "$W/pts-copy"
	mkdir -p "$W/free" && chmod 777 "$W/free"
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$W/pts-copy" "$@" --db "$W/free/n.db"
}

t 'a folder that may not be written'
if have setpriv; then
	mkdir "$W/locked"
	nobody run iops --dut "file:$W/locked/new?size=16m" --quick
	[ "$RC" = 2 ] || [ "$RC" = 3 ] || fail "exit $RC: $(show "$ERR")"
	err_has "$W/locked/new"
	file_absent "$W/locked/new"

	t 'a file that may not be written'
	cp "$W/data" "$W/theirs"
	sum=$(sha256sum <"$W/theirs")
	nobody run iops --dut "file:$W/theirs" --destroy "$W/theirs" --quick
	[ "$RC" = 2 ] || [ "$RC" = 3 ] || fail "exit $RC: $(show "$ERR")"
	err_has "$W/theirs"
	same "$(sha256sum <"$W/theirs")" "$sum" 'the file'

	t 'a drive that may not be opened'
	if loop_new 16M; then
		nobody run iops --dut "$LOOP" --destroy "$LOOP" --quick
		[ "$RC" = 2 ] || [ "$RC" = 3 ] || fail "exit $RC: $(show "$ERR")"
		err_has "$LOOP"
	fi
fi

# ---- what is allowed ----

t 'a file of our own is used again, another in its place is not'
own=$W/own
# begun DUT: a run that is stopped as soon as its first events are in the database.
begun() {
	local pid
	"$PTS" run iops --dut "$1" --quick --db own.db >"$OUT" 2>"$ERR" &
	pid=$!
	for _ in $(seq 200); do
		[ "$(sqlite3 own.db 'SELECT count(*) FROM v_run' 2>/dev/null)" = "$2" ] && break
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	kill -TERM "$pid" 2>/dev/null # a shell has its background programs ignore SIGINT
	wait "$pid"
	RC=$?
}
begun "file:$own?size=64m" 1
exit_is 4
true_that [ -f "$own.pts-scratch" ]
begun "file:$own" 2
exit_is 4
cp "$own" "$own.copy" && mv "$own.copy" "$own"
try_file "$own" ''
exit_is 2
err_has 'a file that pts did not make'
