# SPDX-License-Identifier: MIT
# Broken input: one clear message with file and line (or byte), exit 2 and no capture; with --skip-bad a count. Never a crash.
. "$(dirname "$0")/lib.sh"

make_trace() { python3 "$ROOT/tests/tools/make_trace.py" "$@"; }
M='ts=0:us,op=1,off=2:B,len=3:B'

# refused WHAT ARG...: the import ends with exit 2, one line that says WHAT, and leaves nothing.
refused() {
	local what=$1
	shift
	pts import "$@" -o out.cap
	exit_is 2
	err_has "$what"
	err_lines 1
	file_absent out.cap
	[ -z "$(find . -name '.pts-capture*')" ] || fail 'a temporary file is left'
}

t 'what is no trace at all'
: >empty
refused 'empty: is empty' empty
mkdir folder
refused 'folder: is a folder' folder
refused 'none: No such file' none
head -c 3000 /dev/urandom >noise
refused 'noise: is in no format' noise
printf '%s\n' 'Dear all,' 'here is the trace.' >letter
refused 'letter: is in no format' letter
mkfifo pipe
make_trace msr 20 >pipe &
pts import pipe -o out.cap -q
exit_is 0
rm -f out.cap
wait

t 'lines that are wrong: the line and the mistake'
bad_line() { # bad_line LINE WHAT
	printf '%s\n' '0,R,0,4096' '10,W,4096,4096' "$1" '20,R,8192,4096' >rows.csv
	refused "rows.csv:3: " rows.csv --map "$M"
	err_has "$2"
	pts import rows.csv --map "$M" -o out.cap --skip-bad --json -q
	exit_is 0
	json_is 'd["reads"], d["writes"], sum(n for k, n in d["skipped"].items() if k.startswith("bad: "))' '(2, 1, 1)'
	rm -f out.cap
}
bad_line '15,R,-4096,4096' offset
bad_line '15,R,4096,-1' length
bad_line '15,R,4096' 'columns'
bad_line '15,R,letters,4096' offset
bad_line '15,X,4096,4096' 'read or write'
bad_line '15,R,9223372036854775808,4096' 'offset'
bad_line '15,R,18446744073709551616,4096' offset
bad_line '15,R,9223372036854775807,4096' 'beyond'
bad_line '15,R,0,4294967296' '4 GiB'
bad_line '99999999999999999999,R,0,4096' time
bad_line '9223372036854775807,R,0,4096' time
bad_line ',R,0,4096' time
bad_line "$(printf 'x\033[31mred')" columns
bad_line "$(printf 'x\001\002\003')" columns

t 'a row of 0 bytes is no IO: counted, no reason to stop'
printf '%s\n' '0,R,0,4096' '5,W,4096,0' '10,W,4096,4096' >zero.csv
pts import zero.csv --map "$M" -o out.cap --json -q
exit_is 0
json_is 'd["records"], d["reads"], d["writes"], d["skipped"]["0 bytes"]' '(3, 1, 1, 1)'
rm -f out.cap

t 'a packed file that is cut: where in it'
make_trace msr 4000 | gzip >whole.gz
head -c 5000 whole.gz >cut.gz
refused 'cut.gz: byte 5000 of the packed file: the gzip data are cut short' cut.gz
make_trace msr 4000 | xz >whole.xz
head -c 5000 whole.xz >cut.xz
refused 'cut.xz: byte 5000 of the packed file: the xz data are cut short' cut.xz

t 'a NUL in a line, CRLF, a last line without its end, blank lines'
printf '0,R,0,4096\n1\0000,R,0,4096\n' >nul.csv
refused 'nul.csv:2: ' nul.csv --map "$M"
printf '0,R,0,4096\r\n\r\n10,W,4096,4096\r\n20,R,0,512' >crlf.csv
pts import crlf.csv --map "$M" -o out.cap --json -q
json_is 'd["reads"], d["writes"]' '(2, 1)'
rm -f out.cap

t 'each text format names the line that is torn'
for f in blkparse ftrace perf nvme iolog3 msr alibaba spc fiu blkreplay biosnoop vscsitext wpa xperf tencent systor; do
	make_trace $f 40 >whole
	lines=$(wc -l <whole)
	at=$((lines - 12))
	sed "${at}s/[0-9][0-9]*\(.\{0,12\}\)$/~\1/" whole >torn
	case $f in
	blkparse | ftrace | perf | nvme) sed "${at}s/.*/7,0 torn/" whole >torn ;;
	fiu | wpa) sed "${at}s/^[^0-9]*[0-9]*/torn/" whole >torn ;;
	xperf) sed "${at}s/, .*/, torn/" whole >torn ;;
	blkreplay) sed "${at}s/;/,/g" whole >torn ;;
	esac
	! cmp -s whole torn || fail "$f: nothing was torn"
	refused "torn:$at: " torn
	pts import torn -o out.cap --skip-bad -q --json
	[ "$RC" = 0 ] || fail "$f: --skip-bad: exit $RC: $(show "$ERR")"
	json_is 'sum(n for k, n in d["skipped"].items() if k.startswith("bad: "))' 1
	rm -f out.cap
done

t 'a binary trace that is cut: what is whole counts, and the cut is said'
for f in blktrace blktrace8 vscsi1 vscsi2 vdbench btrecord; do
	make_trace $f 40 >whole
	head -c $(($(stat -c %s whole) - 7)) whole >cut
	pts import cut -o out.cap --json -q
	[ "$RC" = 0 ] || fail "$f: exit $RC: $(show "$ERR")"
	json_is 'd["reads"] + d["writes"] >= 39, d["skipped"].get("cut off at the end of the file")' '(True, 1)'
	rm -f out.cap
done

t 'garbage inside a binary trace: the byte; --skip-bad finds the next record'
make_trace blktrace 40 >whole
{ head -c 480 whole; head -c 100 /dev/zero; tail -c +481 whole; } >garbage
refused 'garbage: byte 480: ' garbage
pts import garbage -o out.cap --skip-bad --json -q
exit_is 0
json_is 'd["reads"] + d["writes"], d["skipped"]["bad: no record"]' '(40, 1)'
rm -f out.cap
printf '\x09tae' | dd of=whole bs=1 seek=96 conv=notrunc status=none
refused 'version 9' whole
make_trace vdbench 40 >whole
printf '\0\0' | dd of=whole bs=1 seek=560 conv=notrunc status=none
refused 'byte 560' whole

t 'places beyond any device, in binary'
python3 - "$ROOT/tests/tools" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
import make_trace as m
io = m.Io(0, 10, 'W', 0, 8, 1)
far = m.Io(20, 10, 'W', 1 << 63, 8, 1)
open('far', 'wb').write(m.blktrace([io, far]))
far.sector = 8
far.us = 1 << 53
far.end = far.us + 1
open('late', 'wb').write(m.blktrace([io, far]))
PY
refused 'far: byte ' far
refused 'late: byte ' late

t 'packed files that are cut or damaged'
make_trace msr 3000 >whole
for p in gzip xz zstd; do
	$p -q -c whole >packed
	head -c $(($(stat -c %s packed) / 2)) packed >cut
	refused 'cut' cut
	cp packed damaged
	printf '\377\377\377\377' | dd of=damaged bs=1 seek=$(($(stat -c %s packed) / 2)) conv=notrunc status=none
	refused 'damaged' damaged
	cat packed packed >twice
	pts import twice -o out.cap --json -q
	exit_is 0
	json_is 'd["reads"] + d["writes"]' 6000
	rm -f out.cap
done
printf 'BZh91AY' >bz
refused 'bunzip2' bz
printf 'PK\003\004xxxx' >zip
refused 'unzip' zip

t 'a bomb is no capture: neither zeros nor empty lines, and memory stays small'
head -c 100000000 /dev/zero | gzip -1 -c >zeros.gz
refused 'zeros.gz' zeros.gz
refused 'longer than' zeros.gz --map "$M"
python3 -c "
import gzip, sys
with gzip.open('lines.gz', 'wb', 9) as f:
    for i in range(100): f.write(b'\n' * (1 << 20))"
refused 'times its size' lines.gz --map "$M"
run python3 -c "
import resource, subprocess, sys
rc = subprocess.run(['$PTS', 'import', 'zeros.gz', '-o', 'out.cap', '--skip-bad', '-f', 'blktrace']).returncode
sys.exit(rc if resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 200 * 1024 else 99)"
exit_is 2

t 'nothing is overwritten by a slip'
make_trace msr 20 >trace.csv
cp trace.csv same.csv
pts import trace.csv -o trace.csv
exit_is 2
err_has 'not overwritten'
true_that cmp trace.csv same.csv
pts import trace.csv -o /dev/null
exit_is 2
true_that [ -c /dev/null ]
pts import trace.csv -o folder
exit_is 2
pts import trace.csv -o nowhere/x.cap
exit_is 2
err_has 'nowhere/x.cap'
pts import trace.csv -o good.cap -q
exit_is 0
cp good.cap before
pts import letter -o good.cap
exit_is 2
true_that cmp good.cap before
pts trace export good.cap -o good.cap
exit_is 2
true_that cmp good.cap before
pts import trace.csv -o good.cap -q
exit_is 0
true_that cmp good.cap before

t 'bytes that are no UTF-8 in names make good JSON'
printf '0,R,0,4096,a\377\002"\\b\n' >odd.csv
pts import odd.csv --map "$M,dev=4" -o odd.cap --json -q
exit_is 0
json_is 'd["devices"]' 1

t '--map: each mistake is named'
for m in 'ts=0|unit' 'ts=0:us,op=1,off=2|len' 'ts=0:us,of=2,len=3|did you mean' 'ts=0:parsec,off=1,len=2|parsec' \
	'ts=99:us,off=1,len=2|column' 'ts|KEY=COLUMN' 'ts=0:us,off=1:X,len=2|unit' 'op=1:RW,ts=0:us,off=1,len=2|READ/WRITE'; do
	refused "${m#*|}" trace.csv --map "${m%%|*}"
done
refused 'unknown format' trace.csv -f nothing
refused "did you mean 'blktrace'" trace.csv -f blktrac
