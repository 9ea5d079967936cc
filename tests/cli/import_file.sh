# SPDX-License-Identifier: MIT
# The capture file: round trips, damage, an import that is killed or meets a full disk, memory for any length, parts of it.
. "$(dirname "$0")/lib.sh"

make_trace() { python3 "$ROOT/tests/tools/make_trace.py" "$@"; }
rows() { python3 "$ROOT/tests/tools/capture.py" "$1"; }

t 'import, export as an iolog, import: the same records'
for f in ftrace msr iolog2 xperf; do
	make_trace $f 500 >trace
	pts import trace -o a.cap -q
	exit_is 0
	pts trace export a.cap -o a.iolog
	exit_is 0
	err_hasnt microseconds
	pts import a.iolog -o b.cap -q
	exit_is 0
	rows a.cap | cut -d' ' -f1-3,5 >a
	rows b.cap | cut -d' ' -f1-3,5 >b
	true_that cmp a b
	same "$(wc -l <a)" 500 records
done
pts trace export b.cap -o c.iolog
sed 's/^\([0-9]*\) .* \(add\|open\|close\)$/\1 \2/' a.iolog >a
sed 's/^\([0-9]*\) .* \(add\|open\|close\)$/\1 \2/' c.iolog >c
true_that cmp a c

t 'what an iolog cannot hold is said: nanoseconds, discards of 4 GiB'
cat >fine.txt <<'EOF'
  7,0    0        1     0.000000000   140  D  WS 0 + 8 [x]
  7,0    0        2     0.000000777   140  D  DS 0 + 16777216 [x]
  7,0    0        3     0.000001777   140  D  WS 8 + 8 [x]
  7,0    0        4     0.000001888   140  D  FN [x]
EOF
pts import fine.txt -o a.cap -q
pts trace export a.cap -o a.iolog
exit_is 0
err_has 'cut to microseconds'
err_has '1 records are left out'
same "$(grep -c 'write\|sync' a.iolog)" 3 lines
pts trace export a.cap -o - --device-map 7,0=/tmp/x
out_has '/tmp/x write 4096 4096'

t 'devices of an export are mapped or refused by name'
pts trace export a.cap -o - --device-map 8,0=/tmp/x
exit_is 2
err_has "no device '8,0'"

make_trace blktrace 300 >blk
"$PTS" import blk -o d.cap -q >/dev/null
t_end
t_name=
python3 "$ROOT/tests/tools/capture_damage.py" "$PTS" d.cap || t_bad=1

t 'a version of tomorrow is refused as such'
cp d.cap v2.cap
printf '\002' | dd of=v2.cap bs=1 seek=8 conv=notrunc status=none
pts trace stat v2.cap
exit_is 2
err_has 'version 2'
pts trace stat blk
exit_is 2
err_has 'pts import'

t 'an import that is killed leaves nothing, and a capture of that name as it was'
mkfifo pipe
for old in '' yes; do
	rm -f k.cap
	[ -z "$old" ] || cp d.cap k.cap
	exec 3>&2 2>/dev/null # the shell's own word on the killed one
	"$PTS" import pipe -o k.cap -q --map ts=0:us,op=1,off=2,len=3 >/dev/null &
	PID=$!
	python3 -c "
import sys, os
f = open('pipe', 'w')
for i in range(600000): f.write('%d,R,0,4096\n' % i)
f.flush()
os.kill($PID, 9)"
	wait "$PID"
	exec 2>&3
	if [ -n "$old" ]; then true_that cmp d.cap k.cap; else file_absent k.cap; fi
	[ -z "$(find . -name '.pts-capture*')" ] || fail 'a temporary file is left'
done

t 'a full disk: one message, and nothing is left'
make_trace msr 20000 >many
(
	trap '' XFSZ
	ulimit -f 100
	exec "$PTS" import many -o full.cap -q
) >"$OUT" 2>"$ERR"
RC=$?
[ "$RC" = 3 ] || [ "$RC" = 2 ] || fail "exit $RC: $(show "$ERR")"
err_has 'cannot be written'
err_lines 1
file_absent full.cap
if [ "$(id -u)" = 0 ] && mkdir small && unshare -m true 2>/dev/null; then
	unshare -m sh -c "mount -t tmpfs -o size=300k none small && '$PTS' import many -o small/full.cap -q; echo \$?; ls -A small" >"$OUT" 2>"$ERR"
	err_has 'No space left'
	out_match '^3$'
	out_hasnt full.cap
	out_hasnt pts-capture
fi

t 'memory stays below 256 MiB whatever the length'
memory() { python3 "$ROOT/tests/tools/import_memory.py" "$@" >"$OUT" 2>"$ERR" || fail "$(show "$ERR")"; }
n=$((${PTS_LONG:+45} + 5))
memory "$PTS" rows ${n}000000 64
pts trace stat memory.cap --json
json_is "d['ios'] == ${n}000000, d['duration_ns'] == ${n}000000000 - 1000" '(True, True)'
memory "$PTS" shuffled $((${PTS_LONG:+48} + 2))000000 256
pts trace stat memory.cap --json
json_is 'd["reordered"] > 900' True
memory "$PTS" issues $((${PTS_LONG:+9} + 1))000000 256
pts trace stat memory.cap --json
json_is 'd["unmatched"] == d["ios"] == d["records"]' True
rm -f memory.cap

t 'the same IOs have the same digest, in whatever order they came'
python3 -c "
import random
rows = ['%d,%s,%d,4096\n' % (i * 3, 'RW'[i % 2], i * 4096) for i in range(200000)]
open('inorder', 'w').writelines(rows)
random.Random(1).shuffle(rows)
open('mixed', 'w').writelines(rows)"
digests=
for f in inorder mixed; do
	pts import $f --map ts=0:us,op=1,off=2,len=3 -o digest.cap --json -q
	digests="$digests $(grep -o '"digest":"[0-9a-f]*"' "$OUT")"
done
same "$(printf '%s\n' $digests | sort -u | wc -l)" 1 'number of digests'
pts import mixed --map ts=0:us,op=1,off=2,len=3 -o digest.cap --json -q
json_is 'd["reordered"] > 50000, d["records"]' '(True, 200000)'

t 'a part of a capture has its own account'
pts import blk -o e.cap -q
pts trace cut e.cap --from 100ms --to 200ms -o part.cap
exit_is 0
pts trace stat part.cap --json
json_is '0 < d["ios"] < 300, d["matched"] == d["ios"], d["duration_ns"] < 10**8' '(True, True, True)'
pts trace cut e.cap --from 1h -o none.cap
exit_is 2
file_absent none.cap
