#!/bin/bash
# SPDX-License-Identifier: MIT
# There and back: what pts replay does to a device is recorded by pts capture, and that is the capture that was replayed.
. "$(dirname "$0")/lib.sh"

need_root
mkdir tracefs
mount -t tracefs none tracefs 2>/dev/null || {
	echo "skip ${0##*/}: no tracefs here"
	exit 77
}
at_exit umount "$W/tracefs"
loop_new 64M
# late IOs of a busy host come together, and the block layer would make one of those that adjoin
echo 2 >"/sys/block/${LOOP#/dev/}/queue/nomerges"
at_exit sh -c "echo 0 >/sys/block/${LOOP#/dev/}/queue/nomerges"

# Five steps of 600 ms with 90 to 450 IOs each: three streams. Nothing happens within 200 ms of where steps meet, so that a busy
# host moves no IO from one to another.
python3 >source.log <<'END'
import random
r = random.Random(5)
print('fio version 3 iolog\n0 /dev/x add\n0 /dev/x open')
seq = 0
for step, n in enumerate((300, 90, 450, 180, 240)):
	for i in range(n):
		at = 0 if (step, i) == (0, 0) else step * 600000 + (200000 if step else 0) + i * 200000 // n
		if i % 3 == 0:
			print(at, '/dev/x write', seq, 8192)
			seq += 8192
		elif i % 3 == 1:
			print(at, '/dev/x read', r.randrange(2000) * 16384 + 16777216, 4096)
		else:
			print(at, '/dev/x write', r.randrange(2000) * 16384 + 16777216 + 8192, 4096)
END
pts import source.log -o source.cap
[ "$RC" = 0 ] || fail "import: $(show "$ERR")"

# table CAP: counts, streams and IOs of each step
table() {
	"$PTS" trace stat "$1" --json >stat.json && "$PTS" trace streams "$1" --json >streams.json &&
		"$PTS" trace steps "$1" --step 600ms --json >steps.json && python3 - <<'END'
import json
s, t, p = (json.load(open(n + '.json')) for n in ('stat', 'streams', 'steps'))
print(*(s[k] for k in ('reads', 'writes', 'bytes_read', 'bytes_written', 'lost')))
print(*sorted((x['op'], x['access'], x['block_bytes'], x['ios']) for x in t['streams']))
print(*(x['ios'] for x in p['steps']))
END
}

live() {
	"$PTS" capture --dut "$LOOP" -o live.cap >live.out 2>live.err &
	local pid=$!
	wait_until grep -qs recording live.err || return
	pts replay source.cap --dut "$LOOP" --destroy "$LOOP" --db r.db --json
	kill $pid
	wait $pid
	same "$?" 0 "exit code of the capture ($(show live.err))"
}

t 'a capture of its replay is the capture: as many IOs, the same streams, the same steps'
# a host too busy to issue an IO within 100 ms shows nothing
for _ in 1 2 3; do
	live
	[ "$RC" = 0 ] || [ "$RC" = 1 ] || break
	python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["late_max_ns"] > 1e8)' "$OUT" && break
	mv live.cap late.cap
done
[ -e live.cap ] || {
	skip 'the host is too busy: IOs were issued more than 100 ms late, three times'
	exit 0
}
[ "$RC" = 0 ] || [ "$RC" = 1 ] || fail "replay: exit $RC: $(show "$ERR")"
json_is "d['issued']" 1260
# Before its first IO, a write, the replay has looked at the drive: is it in use, what does it carry?
pts trace export live.cap -o live.log
first=$(awk '$3 == "write" { print $1; exit }' live.log)
pts trace cut live.cap --from "${first}us" -o replay.cap
exit_is 0
table source.cap >want
table replay.cap >got
same "$(sed -n 1p got)" "$(sed -n 1p want)" 'reads, writes, bytes, lost'
same "$(sed -n 2p got)" "$(sed -n 2p want)" streams
true_that python3 - <<'END'
import sys
want, got = ([int(x) for x in open(n).read().split('\n')[2].split()] for n in ('want', 'got'))
sys.exit(len(want) != len(got) or any(abs(g - w) > w * 0.01 for w, g in zip(want, got)))
END
