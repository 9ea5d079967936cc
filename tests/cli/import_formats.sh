# SPDX-License-Identifier: MIT
# Formats: the same IOs in each give the same capture; units, order, places of more than one event, what is said of them.
. "$(dirname "$0")/lib.sh"

bad=0
python3 "$ROOT/tests/tools/import_formats.py" "$PTS" || bad=1

make_trace() { python3 "$ROOT/tests/tools/make_trace.py" "$@"; }
rows() { python3 "$ROOT/tests/tools/capture.py" "$1"; }
rows_are() { [ "$(rows "$1")" = "$2" ] || fail "the capture holds: $(rows "$1" | head -n 4 | tr '\n' '~')"; }

t 'the same trace in s, ms, us, ns, 100 ns and ps has the same times'
make_trace rows 200 | awk '{ print $1 / 1000, $2, $3, $4 }' >us
lengths=
for u in s:6 ms:3 us:0 ns:-3 100ns:-1 ps:-6; do
	awk -v d="${u#*:}" '{
		v = sprintf("%d", $1)
		if (d > 0) { while (length(v) <= d) v = "0" v; v = substr(v, 1, length(v) - d) "." substr(v, length(v) - d + 1) }
		for (i = d; i < 0; i++) v = v "0"
		print v "," $4 "," $2 "," $3
	}' us >"t.${u%:*}"
	pts import "t.${u%:*}" --map "ts=0:${u%:*},op=1,off=2,len=3" -o cap --json -q
	exit_is 0
	lengths="$lengths $(python3 -c "import json; print(json.load(open('$OUT'))['duration_ns'])")"
	rows cap | cut -d' ' -f1-5 >"r.${u%:*}"
	true_that cmp "r.${u%:*}" r.s
done
same "$(printf '%s\n' $lengths | sort -u | wc -l)" 1 'number of durations'
true_that [ "${lengths%% *}" != 0 ]

t 'a unit that the file cannot say has to be said'
make_trace ssdsim 20 >sim
pts import sim -o cap2 -f ssdsim
exit_is 2
err_has '--time-unit'
file_absent cap2
pts import sim -o cap2
exit_is 2
err_has 'could be disksim or ssdsim'
pts import sim -o cap2 -f ssdsim --time-unit ms --json
exit_is 0
json_is 'd["duration_ns"] > 10**9' True
make_trace disksim 20 >disksim
pts import disksim -o cap2
exit_is 2
err_has '--time-unit'

t 'a unit that is hardly right is asked about'
pts import sim -o cap2 -f ssdsim --time-unit ps
exit_is 0
err_has 'shorter than 1 ms'
sed 's/^\([0-9]*\) /\100 /' sim >slow
pts import slow -o cap2 -f ssdsim --time-unit s
exit_is 2
err_has 'time unit'
pts import slow -o cap2 -f ssdsim --time-unit ms
exit_is 0
err_has 'longer than 30 days'

t 'an option that means nothing to a format is refused'
make_trace msr 5 >msr
pts import msr -o cap2 --time-unit us
exit_is 2
err_has 'says nothing about format msr'
pts import msr -o cap2 --lba 4k
exit_is 2
pts import msr -o cap2 --coalesce
exit_is 2

t 'two per-CPU files and a pair that is swapped by 5 ms: in order, and counted'
python3 - "$ROOT/tests/tools" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
import make_trace as m
ios = [m.Io(i * 5000, 4000, 'R', 8 * i, 8, 1) for i in range(40)]
files = [], []
for i, (us, act, io) in enumerate(m.events(ios)):
    cpu = i % 2  # issues in one file, completions in the other
    files[cpu].append(m.record7(10**9 + us * 1000, i, 7 if act == 'D' else 8, io, cpu))
files[0][10], files[0][11] = files[0][11], files[0][10]  # two issues, 5 ms apart
for cpu in 0, 1:
    open('swap.blktrace.%d' % (cpu * 3), 'wb').write(b''.join(files[cpu]))
open('swap.blktrace.1', 'wb')
PY
pts import swap.blktrace.0 -o cap --json -q
exit_is 0
json_is 'd["reads"], d["matched"], d["reordered"]' '(40, 40, 1)'
same "$(rows cap | cut -d' ' -f1 | tr '\n' ' ')" "$(seq -s ' ' 0 5000000 195000000) " starts

t 'rows out of order come in order'
printf '%s\n' 5000,R,0,512 0,W,512,512 10000,R,1024,512 >unsorted
pts import unsorted --map ts=0:us,op=1,off=2,len=3 -o cap --json -q
json_is 'd["reordered"]' 1
same "$(rows cap | cut -d' ' -f1,5 | tr '\n' ' ')" '0 W 5000000 R 10000000 R ' rows

t 'a device that never issues is taken by its queue events, one that issues only by those'
cat >two.txt <<'EOF'
  7,0    0        1     0.000000000   140  Q  WS 8 + 8 [fio]
  8,0    0        2     0.000001000   140  Q   R 16 + 8 [fio]
  7,0    0        3     0.000002000   140  D  WS 8 + 16 [fio]
  8,0    0        4     0.000003000   140  C   R 16 + 8 [0]
  7,0    0        5     0.000004000   140  C  WS 8 + 16 [0]
EOF
pts import two.txt -o cap --json -q
exit_is 0
json_is 'd["event"], d["reads"], d["writes"], d["matched"], d["bytes_written"]' "('D, Q', 1, 1, 2, 8192)"

t 'splits, requeues, partial completions and errors'
cat >odd.txt <<'EOF'
  7,0    0        1     0.000000000   140  D  WS 0 + 64 [fio]
  7,0    0        2     0.000001000   140  C  WS 0 + 24 [0]
  7,0    0        3     0.000002000   140  C  WS 24 + 40 [0]
  7,0    0        4     0.000003000   140  D   R 100 + 8 [a [b] c]
  7,0    0        5     0.000004000   140  R   R 100 + 8 [0]
  7,0    0        6     0.000005000   140  D   R 100 + 8 [(null)]
  7,0    0        7     0.000006000   140  C   R 100 + 8 [65531]
  7,0    0        8     0.000007000   140  D   R 36 (12 00 00 00 24 00 ..) [smartctl]
  7,0    0        9     0.000008000   140  C   R (12 00 00 00 24 00 ..) [0]
EOF
pts import odd.txt -o cap --json -q
exit_is 0
json_is 'd["writes"], d["reads"], d["matched"], d["errors"], d["skipped"]["requeued"]' '(1, 1, 2, 1, 1)'
json_is 'd["skipped"]["passthrough command"]' 2
same "$(rows cap | cut -d' ' -f1,3,5,7 | tr '\n' ' ')" '0 32768 W 2000 5000 4096 R 1000 ' rows

t 'nvme events count where there are no block events, and only there'
make_trace nvme 20 >nvme.txt
pts import nvme.txt -o cap --json -q
exit_is 0
json_is 'd["format"], d["reads"] + d["writes"], d["matched"]' "('nvme', 20, 20)"
{ cat nvme.txt; make_trace ftrace 20 | grep -v '^#'; } >both.txt
pts import both.txt -o cap --json -q
exit_is 0
json_is 'd["format"], d["reads"] + d["writes"], d["device_list"][0]["name"]' "('ftrace', 20, '7,0')"
pts import nvme.txt -o cap --json -q --lba 4k
exit_is 0
json_is 'd["bytes_read"] + d["bytes_written"] > 8 * 4096' True
cat >trim.txt <<'EOF'
 fio-1 [000] .... 1.000000: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=1, cmdid=1, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_dsm nr=0, attributes=4)
 fio-1 [000] .... 1.000001: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=1, cmdid=2, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_flush cdw10=00)
 fio-1 [000] .... 1.000002: nvme_setup_cmd: nvme0: qid=0, cmdid=3, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_admin_identify cns=1, ctrlid=0)
 fio-1 [000] .... 1.000003: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=1, cmdid=4, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_read slba=8, len=0, ctrl=0x0)
 fio-1 [000] .... 1.000004: nvme_complete_rq: nvme0: disk=nvme0n1, qid=1, cmdid=2, res=0x0, retries=0, flags=0x0, status=0x0
 fio-1 [000] .... 1.000005: nvme_complete_rq: nvme0: disk=nvme0n1, qid=1, cmdid=1, res=0x0, retries=0, flags=0x0, status=0x0
 fio-1 [000] .... 1.000006: nvme_complete_rq: nvme0: disk=nvme0n1, qid=1, cmdid=4, res=0x0, retries=0, flags=0x0, status=0x281
EOF
pts import trim.txt -o cap --json -q
exit_is 0
json_is 'd["reads"], d["flushes"], d["errors"], d["completions_without_start"]' '(1, 1, 1, 0)'

t 'pages of FIU rows become the IO that they were of'
for i in 0 1 2 3; do
	echo "$((1000000 + i * 20000)) 7 a b $((80 + 8 * i)) 8 W 8 0 0123456789abcdef0123456789abcdef"
	echo "$((1005000 + i * 20000)) 9 c $((8000 + 8 * i)) 8 R 8 0 0123456789abcdef0123456789abcdef"
done >fiu
echo '9000000 7 a b 112 8 W 8 0 0123456789abcdef0123456789abcdef' >>fiu
pts import fiu -o cap --json -q
json_is 'd["writes"], d["reads"]' '(5, 4)'
pts import fiu -o cap --json -q --coalesce
exit_is 0
json_is 'd["writes"], d["reads"], d["bytes_written"], d["reordered"]' '(2, 1, 20480, 0)'

t 'numbers of a locale are never guessed'
make_trace wpa 5 >wpa
tr -d '\r' <wpa | sed '2s/;1$/;2/' >count2
pts import count2 -o cap2
exit_is 2
err_has 'count2:2:'
err_has 'one IO a row'
sed '2s/;[0-9.]*;0x/;4,096;0x/' wpa >fraction
pts import fraction -o cap2
exit_is 2
err_has 'fraction:2:'
sed '3s/1\.100,/1.10,/' wpa >group
pts import group -o cap2
exit_is 2
err_has 'group:3:'

t 'stamps of whole seconds are spread, and the report says so'
printf '%s\n' 1538323199,1000,16,0,5 1538323199,2000,16,1,5 1538323200,3000,16,0,5 >tencent
pts import tencent -o cap --json -q
json_is '"spread" in d["note"], d["duration_ns"]' '(True, 1000000000)'
same "$(rows cap | cut -d' ' -f1 | tr '\n' ' ')" '0 500000000 1000000000 ' starts

t 'a response time that is assumed is said to be'
make_trace spc 10 >spc
pts import spc -o cap --json -q --assume-rt 200us
json_is '"200000 ns is assumed for 10 IOs" in d["note"]' True
pts trace steps cap --json
json_is 'd["qd_known"]' True

t 'an iolog that is appended to, with torn lines'
cat >torn.iolog <<'EOF'
fio version 3 iolog
10 /dev/a add
20 /dev/a read 0 4096
7709902 /dev/loop0 writfio version 3 iolog
5 /dev/b add
fio version 3 iolog
7 /dev/b write 4096 4096
EOF
pts import torn.iolog -o cap2
exit_is 2
err_has 'torn.iolog:4:'
pts import torn.iolog -o cap --json -q --skip-bad
exit_is 0
json_is 'd["reads"], d["writes"], sum(n for k, n in d["skipped"].items() if k.startswith("bad"))' '(1, 1, 1)'
json_is 'd["duration_ns"], d["reordered"]' '(13000, 1)'

t_end
exit $bad
