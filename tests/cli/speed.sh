#!/bin/bash
# SPDX-License-Identifier: MIT
# What an IO costs, in counts that no busy machine changes: user instructions, system calls, bytes of database, memory. The
# bounds are gates; how fast it is beside others is told by `make bench`.
. "$(dirname "$0")/lib.sh"

BENCH=${PTS%/*}/pts-bench
if [ ! -x "$BENCH" ]; then
	echo "skip speed.sh: no pts-bench beside $PTS"
	exit 77
fi
if nm "$BENCH" 2>/dev/null | grep -q '__asan_init\|__tsan_init\|__ubsan_handle'; then
	echo 'skip speed.sh: a sanitizer counts its own instructions'
	exit 77
fi

# valgrind cannot read what some compilers write for debuggers.
BARE=$BENCH
! command -v strip >/dev/null || { strip -g -o bench "$BENCH" && BARE=$W/bench; }

engine() { run "$BENCH" engine --json "$@"; }

# instructions, calls ARG...: $N of one run with $IOS IOs. per_io COUNT ARG...: the slope between two runs, $STEP apart, in $X.
instructions() {
	N=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$BARE" engine --json --ios "$IOS" "$@" 2>&1 >/dev/null |
		sed -n 's/.*Collected : //p')
}
calls() {
	# Without what the main thread does while it waits.
	strace -f -qq -c -e 'trace=!futex' -o calls.txt "$BENCH" engine --json --ios "$IOS" "$@" >/dev/null 2>&1
	N=$(awk '$NF == "total" { print $4 }' calls.txt)
}
per_io() {
	local a=5000 b=$((5000 + STEP)) low what=$1
	shift
	IOS=$a $what "$@"
	low=$N
	IOS=$b $what "$@"
	X=$(awk "BEGIN { printf \"%.3f\", (${N:-0} - ${low:-0}) / $STEP }")
	[ "${low:-0}" -gt 0 ] || fail 'nothing was counted'
}
at_most() {
	awk "BEGIN { exit !($1 > 0 && $1 <= $2) }" || fail "$1 $3, more than $2"
	echo "# $t_name: $1 $3"
}

instruction_gates() {
	local full
	STEP=50000
	t 'user instructions an IO at QD32'
	per_io instructions --target /dev/zero --qd 32
	at_most "$X" 120 'instructions an IO'
	full=$X
	t 'user instructions that recording each latency takes'
	per_io instructions --target /dev/zero --qd 32 --no-latency
	at_most "$(awk "BEGIN { print $full - $X }")" 40 'instructions an IO'
	t 'user instructions an IO at QD1'
	per_io instructions --target /dev/zero --qd 1
	at_most "$X" 250 'instructions an IO'
	t 'user instructions an IO of 9 streams, 65/35, shared cursors, new write data'
	per_io instructions --target /dev/zero --qd 32 --streams 9 --rw 65/35
	at_most "$X" 160 'instructions an IO'
}

if command -v valgrind >/dev/null; then
	instruction_gates
else
	t 'user instructions an IO'
	skip 'no valgrind here'
fi

STEP=20000
if command -v strace >/dev/null; then
	t 'system calls an IO at QD32 on a target that runs synchronously'
	per_io calls --target /dev/zero --qd 32
	at_most "$X" 0.13 'calls an IO'
	if [ "$(id -u)" = 0 ] && losetup -f >/dev/null 2>&1; then
		loop_new 64M
		t 'system calls an IO at QD1 on a loop device'
		STEP=8000 per_io calls --target "$LOOP" --qd 1
		at_most "$X" 1.02 'calls an IO'
		t 'system calls an IO at QD32 on a loop device'
		per_io calls --target "$LOOP" --qd 32
		at_most "$X" 0.50 'calls an IO'
	fi
else
	t 'system calls an IO'
	skip 'no strace here'
fi

t 'resident memory of 32 threads at QD32'
engine --target /dev/zero --threads 32 --qd 32 --ios 2000000
exit_is 0
at_most "$(sed -n 's/.*"rss_bytes": *\([0-9]*\).*/\1/p' "$OUT")" $((24 << 20)) bytes

t 'bytes of database a cell, with its histogram and 60 seconds'
mkdir defs
for n in 5 45; do
	{
		echo "test cells$n \"Cells\" clause X"
		for ((i = 0; i < n; i++)); do echo '  run rnd rw 65/35 bs 4k threads 2 qd 8 for 60s'; done
		echo end
	} >defs/cells$n.pts
	PTS_DEF_PATH=$W/defs pts run cells$n --dut 'sim:ent-nvme?size=64g&seed=1' --db cells$n.db -q
	exit_is 0
	sqlite3 cells$n.db 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
done
sql_is cells45.db 'SELECT count(*) FROM v_cell' 45
sql_is cells45.db 'SELECT count(*) FROM v_second' 2700
at_most $((($(stat -c %s cells45.db) - $(stat -c %s cells5.db)) / 40)) 24000 bytes

# ---- the tool itself ----

t 'pts-bench prints one document'
engine --target /dev/zero --qd 4 --threads 2 --ios 10001 --streams 9
exit_is 0
err_empty
json_is "d['ios'], d['bytes'], d['iops'] > 0, d['elapsed_ns'] > 0, 0 < d['lat_p50_ns'] <= d['lat_p99_ns']" \
	'(10001, 40964096, True, True, True)'

t 'without latency there is none'
engine --target /dev/zero --ios 5000 --no-latency
exit_is 0
json_is "d['ios'], d['lat_p50_ns'], d['lat_p99_ns']" '(5000, None, None)'

t 'that a target runs synchronously is said with latency and without'
engine --target /dev/zero --qd 4 --seconds 0.1
exit_is 0
json_is 'd["note"].count("target runs synchronously")' 1
engine --target /dev/zero --qd 4 --seconds 0.1 --no-latency
exit_is 0
json_is 'd["note"]' 'target runs synchronously'

t 'a file that nobody named as scratch is not written to'
head -c 1048576 /dev/zero >mine
for args in '' '--scratch other' '--destroy mine'; do
	# shellcheck disable=SC2086
	engine --target mine --rw write --ios 10 $args
	exit_is 2
	err_has 'mine is not written to'
	out_empty
done
true_that cmp -s mine <(head -c 1048576 /dev/zero)
engine --target mine --rw read --ios 10
exit_is 0
engine --target mine --rw write --ios 10 --scratch mine
exit_is 0
true_that test "$(tr -d '\0' <mine | wc -c)" -gt 1000

t 'no other character device is written to'
engine --target /dev/full --rw write --ios 10
exit_is 2
err_has 'neither /dev/null nor /dev/zero'

t 'mistakes in usage'
for args in '' '--target /dev/zero --qd 0' '--target /dev/zero --rw 60/60' '--target /dev/zero --bs 1x' '--target /nowhere' \
	'--target /dev/zero --what' '--target /etc' '--target /dev/zero --size 1m' '--target /dev/zero word' \
	'--target mine --rw write --scratch mine --size 0'; do
	# shellcheck disable=SC2086
	engine $args
	exit_is 2
	out_empty
	err_match '^pts-bench: '
done
run "$BENCH"
exit_is 2

t 'what --size makes, and help'
engine --target fresh --scratch fresh --size 64k --rw write --ios 10
exit_is 0
same "$(stat -c %s fresh)" 65536
for args in --help 'engine --help'; do
	# shellcheck disable=SC2086
	run "$BENCH" $args
	exit_is 0
	err_empty
	out_has 'usage: pts-bench engine --target PATH'
done

if [ -n "${LOOP-}" ]; then
	t 'a loop device is written to only when --destroy names it'
	engine --target "$LOOP" --rw write --ios 10
	exit_is 2
	err_has '--destroy does not name it'
	engine --target "$LOOP" --rw write --ios 10 --destroy /dev/null
	exit_is 2
	true_that cmp -s "$LOOPFILE" <(head -c 67108864 /dev/zero)
	engine --target "$LOOP" --rw write --ios 10 --destroy "$LOOP"
	exit_is 0
fi
