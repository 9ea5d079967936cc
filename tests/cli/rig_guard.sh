#!/bin/bash
# SPDX-License-Identifier: MIT
# The rigs themselves: nothing of them is left behind, however a script that uses them ends; and ssdsim's own manners.
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/rigs/rig.sh"

cat >user.sh <<END
. "$ROOT/tests/cli/lib.sh"
. "$ROOT/tests/rigs/rig.sh"
t user
if rig_loop 16M 512 && rig_null 0 16M; then
	losetup -n -O NAME,BACK-FILE | grep "\$rig_dir" >"\$1.loops"
	echo "\$rig_dir" >"\$1.new" && mv "\$1.new" "\$1"
	case \$2 in sleep) while sleep 0.1; do :; done ;; fail) exit 1 ;; esac
fi
: >"\$1"
END

# ended_by HOW: a script with rigs that ends so.
ended_by() {
	local how=$1 pid dir i
	rm -f dir*
	bash user.sh "$W/dir" "$how" >user.out 2>&1 &
	pid=$!
	case $how in
	sleep)
		for ((i = 0; i < 200; i++)); do
			[ ! -e dir ] || break
			sleep 0.05
		done
		kill "-$2" $pid
		;;
	esac
	{ wait $pid; } 2>/dev/null
	if ! [ -s dir ]; then
		# It had no rig: for its reason.
		skip "$(grep -a '^skip' user.out || echo 'no rig here')"
		return
	fi
	dir=$(cat dir)
	same "$(wc -l <dir.loops)" 2 'number of loop devices'
	for ((i = 0; i < 100; i++)); do
		[ -e "$dir" ] || break
		sleep 0.05
	done
	file_absent "$dir"
	same "$(losetup -n -O BACK-FILE | grep -cF "$dir")" 0 'number of loop devices left'
	same "$(grep -cF "$dir" /proc/mounts)" 0 'number of mounts left'
	same "$(pgrep -cf "$dir")" 0 'number of processes left'
}

t 'a script that fails leaves nothing'
rig_need_daemon && ended_by fail
t 'a script that is told to stop leaves nothing'
rig_need_daemon && ended_by sleep TERM
t 'a script that is killed leaves nothing'
rig_need_daemon && ended_by sleep KILL

t 'data on the simulated SSD: whole and part pages, discarded ones read as zeros'
if rig_ssdsim 16 --read 1000 --program 1000 --erase 1000; then
	head -c 16777216 /dev/urandom >data
	dd if=data of="$RIG" bs=1M oflag=direct status=none
	# Over and over, until garbage has been collected several times.
	for i in 1 2 3; do
		dd if=data of="$RIG" bs=512 count=16 skip=$((i * 1000 + 1)) seek=$((i * 1000 + 1)) oflag=direct status=none
		dd if=data of="$RIG" bs=64k oflag=direct status=none
	done
	dd if=/dev/zero of=data bs=512 seek=11 count=100 conv=notrunc status=none
	dd if=/dev/zero of=data bs=1M seek=5 count=3 conv=notrunc status=none
	blkdiscard -o $((11 * 512)) -l $((100 * 512)) "$RIG"
	blkdiscard -o 5M -l 3M "$RIG"
	true_that cmp -s <(dd if="$RIG" bs=1M iflag=direct status=none) data
	blkdiscard "$RIG"
	true_that cmp -s -n 16777216 "$RIG" /dev/zero

	t 'ssdsim refuses what it cannot do'
	for words in '' '--size 0 x' '--size -1 x' '--size 1x x' '--spare 1000 x' '--nosuch x' 'x y'; do
		# shellcheck disable=SC2086
		run "$RIG_BUILD/tests/rigs/ssdsim" $words
		exit_is 2
		err_has 'usage: ssdsim'
	done
	run "$RIG_BUILD/tests/rigs/ssdsim" "$W/no-such-file"
	exit_is 1
fi
