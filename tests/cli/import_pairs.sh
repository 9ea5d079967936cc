# SPDX-License-Identifier: MIT
# Which completion belongs to which IO: text of one stamp in the order of its lines, IOs at one place by operation and size. The
# files of one capture by their names. What an analysis may hold.
. "$(dirname "$0")/lib.sh"

rows() { python3 "$ROOT/tests/tools/capture.py" "$1" | awk '{ print $5, $3, $7 }' | sort | tr '\n' ' '; }

t 'text of one stamp stays in the order of its lines, whatever CPU they are of'
cat >ftrace <<'EOT'
 fio-11 [001] 1.000000: block_rq_issue: 7,0 R 4096 () 800 + 8 [fio]
 <idle>-0 [000] 1.000000: block_rq_complete: 7,0 R () 800 + 8 [0]
 fio-11 [001] 1.000005: block_rq_issue: 7,0 R 4096 () 1000 + 8 [fio]
 fio-11 [000] 1.000005: block_rq_issue: 7,0 R 4096 () 1008 + 8 [fio]
 fio-11 [001] 1.000005: block_rq_issue: 7,0 R 4096 () 1016 + 8 [fio]
EOT
pts import ftrace -o a.cap --json -q
exit_is 0
json_is 'd["matched"], d["unmatched"], d["completions_without_start"], d["reordered"]' '(1, 3, 0, 0)'
pts trace streams a.cap --json
json_is 'd["seq_ios"]' 2
cat >blkparse <<'EOT'
  7,0    1        5     0.000000000   140  D   R 800 + 8 [fio]
  7,0    0        1     0.000000000     0  C   R 800 + 8 [0]
  7,0    1        9     0.000005000   140  D   R 1000 + 8 [fio]
  7,0    0        2     0.000005000   140  D   R 1008 + 8 [fio]
  7,0    1        3     0.000005000   140  D   R 1016 + 8 [fio]
EOT
pts import blkparse -o b.cap --json -q
exit_is 0
json_is 'd["matched"], d["completions_without_start"], d["reordered"]' '(1, 0, 0)'
pts trace streams b.cap --json
json_is 'd["seq_ios"]' 2
cat >perf <<'EOT'
fio 11 [001] 1.000000: block:block_rq_issue: 7,0 R 4096 () 800 + 8 [fio]
swapper 0 [000] 1.000000: block:block_rq_complete: 7,0 R () 800 + 8 [0]
EOT
pts import perf -o p.cap --json -q
exit_is 0
json_is 'd["matched"], d["completions_without_start"]' '(1, 0)'

t 'a line whose time is before that of the one read before it is counted as put back'
sed '2s/1.000000/0.999998/' ftrace >late
pts import late -o c.cap --json -q
exit_is 0
json_is 'd["reordered"]' 1

t 'IOs at one place: the end of just that size, else a part of the larger, else the oldest; never another operation'
pairs() { # pairs WANT, lines on standard input: ns ACT RWBS SECTOR SECTORS
	awk '{ printf "  7,0    0  %d  0.%09d  140  %s  %s %d + %d [%s]\n", NR, $1, $2, $3, $4, $5, $2 == "C" ? 0 : "fio" }' >x
	pts import x -f blkparse -o "x.cap" --json -q
	exit_is 0
	same "$(rows x.cap)" "$1" pairs
}
pairs 'R 4096 990 R 65536 9000 ' <<'EOT'
0 D R 800 128
10 D R 800 8
1000 C R 800 8
9000 C R 800 128
EOT
json_is 'd["matched"], d["unmatched"], d["completions_without_start"]' '(2, 0, 0)'
pts trace steps x.cap --json
json_is 'd["steps"][0]["qd_max"]' 2
pairs 'R 4096 300 W 4096 90 ' <<'EOT'
0 D R 800 8
10 D W 800 8
100 C W 800 8
300 C R 800 8
EOT
pairs 'D 65536 490 R 4096 100 ' <<'EOT'
0 D R 800 8
10 D D 800 128
100 C R 800 8
500 C D 800 128
EOT
pairs 'R 4096 100 R 4096 190 R 8192 280 ' <<'EOT'
0 D R 800 8
10 D R 800 8
20 D R 800 16
100 C R 800 8
200 C R 800 8
250 C R 800 8
300 C R 808 8
EOT
# what is left of the older one goes before the younger one at that place
pairs 'R 28672 290 R 32768 200 ' <<'EOT'
0 D R 800 64
10 D R 808 56
100 C R 800 8
200 C R 808 56
300 C R 808 56
EOT
pairs 'W 8192 100 ' <<'EOT'
0 D W 800 16
100 C W 800 24
EOT
pairs 'W 4096 None ' <<'EOT'
0 D W 800 8
100 C R 800 8
EOT
json_is 'd["completions_without_start"], d["unmatched"]' '(1, 1)'

t 'the per-CPU files are those of one packing, and have no leading zeros'
python3 - "$ROOT/tests/tools" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
import make_trace as m
ios = [m.Io(i * 5000, 4000, 'R', 8 * i, 8, 1) for i in range(40)]
files = [], [], []
for i, (us, act, io) in enumerate(m.events(ios)):
    files[i % 3].append(m.record7(10**9 + us * 1000, i, 7 if act == 'D' else 8, io, i % 3))
for cpu in range(3):
    open('gps.blktrace.%d' % (cpu * 5), 'wb').write(b''.join(files[cpu]))
PY
cp gps.blktrace.0 gps.blktrace.00
cp gps.blktrace.0 gps.blktrace.01
cp gps.blktrace.0 gps.blktrace.x
cp gps.blktrace.0 gps.blktrace.2.old
all() { # all FILE
	pts import "$1" -o all.cap --json -q
	exit_is 0
	json_is 'd["records"], d["reads"], d["matched"], d["completions_without_start"]' '(80, 40, 40, 0)'
}
all gps.blktrace.5
gzip -k gps.blktrace.0 gps.blktrace.5 gps.blktrace.10 gps.blktrace.01
xz -k gps.blktrace.0 gps.blktrace.5 gps.blktrace.10
all gps.blktrace.5
all gps.blktrace.0.gz
all gps.blktrace.10.xz
all ./gps.blktrace.5.gz
rm gps.blktrace.10
pts import gps.blktrace.0 -o one.cap
exit_is 2
err_has 'gps.blktrace.10.gz: is of the same capture'
file_absent one.cap
pts import gps.blktrace.01 -o one.cap --json -q
exit_is 0
json_is 'd["records"]' 27

t 'steps and streams without number are refused before they take memory'
awk 'BEGIN { for (i = 0; i < 9000; i++) printf "%d000000,R,%d,4096\n", i, i % 7 * 4096 }' >long.csv
pts import long.csv --map ts=0:us,op=1,off=2:B,len=3:B -o long.cap -q
exit_is 0
pts trace steps long.cap --step 1us
exit_is 2
err_has 'steps of that length: choose a longer one (--step)'
err_lines 1
pts trace steps long.cap --step 20ms
exit_is 2
err_has 'too many for a table'
pts trace steps long.cap --step 1s --json
exit_is 0
json_is 'len(d["steps"])' 9000
awk 'BEGIN { for (i = 0; i < 530000; i++) print i ",R,0," i + 1 }' >sizes.csv
pts import sizes.csv --map ts=0:us,op=1,off=2:B,len=3:B -o sizes.cap -q
exit_is 0
pts trace streams sizes.cap
exit_is 2
err_has 'streams: hardly two'

t 'streams need no steps: a capture of a year has them'
printf '%s\n' 0,R,0,4096 31000000,W,4096,512 >year.csv
pts import year.csv --map ts=0:s,op=1,off=2:B,len=3:B -o year.cap -q
pts trace streams year.cap --json
exit_is 0
json_is 'd["ios"], d["stream_count"]' '(2, 2)'
