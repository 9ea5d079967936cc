#!/bin/bash
# SPDX-License-Identifier: MIT
# The workload library: what it holds, where the numbers come from, that they are those numbers, and that each one runs.
. "$(dirname "$0")/lib.sh"

ALL='rnd-4k-r rnd-4k-w seq-64k-r seq-64k-w seq-128k-r seq-128k-w seq-256k-r seq-256k-w seq-1024k-r seq-1024k-w
	rnd-4k-70-30 rnd-4k-65-35 rnd-8k-r rnd-8k-w rnd-8k-70-30 rnd-8k-65-35 sql-100-0 sql-90-10 sql-80-20 oracle-100-0
	oracle-90-10 oracle-80-20 vdi-full-boot vdi-full-initial-login vdi-full-monday-login vdi-linked-boot
	vdi-linked-initial-login vdi-linked-monday-login vod metadata cbw gps-drive0 gps-drivec retail-web'

t 'each is there, with a source'
pts list workloads --json
exit_is 0
json_is "[n for n in '$(echo $ALL)'.split() if not any(w['name'] == n and w['origin'].strip() for w in d['workloads'])]" '[]'
json_is 'len(d["workloads"])' "$(wc -w <<<"$ALL")"

# streams(name): the share, direction, order, size of each stream of the text that `pts show` prints
cat >wl.py <<'END'
import functools, re, subprocess, sys
@functools.lru_cache(None)
def text(name): return subprocess.run([sys.argv[1], "show", name], capture_output=True, text=True, check=True).stdout
def streams(name): return [(float(m[1]), m[2][0].upper(), m[3].upper(), m[4]) for m in
	(re.match(r"\s*stream (\S+) (\w+) (\w+) (\S+)", l) for l in text(name).splitlines()) if m]
def total(name): return round(sum(s[0] for s in streams(name)), 6)
def reads(name): return round(sum(s[0] for s in streams(name) if s[1] == "R") / total(name) * 100, 6)
for line in sys.stdin: # one process for all of them
    try: print(eval("(" + line + ")"), flush=True)
    except Exception as e: print("error:", repr(e), flush=True)
END
coproc PY { exec python3 wl.py "$PTS"; }
wl_is() {
	local got
	printf '%s\n' "${1//$'\n'/ }" >&"${PY[1]}"
	read -r got <&"${PY[0]}" || got='no answer'
	[ "$got" = "$2" ] || fail "$1 is $got, not $2"
}

t 'a mix that nobody published says so, and why these numbers'
for name in $ALL; do
	case $name in sql-* | oracle-* | vdi-*)
		"$PTS" show "$name" >shown
		grep -q 'source "model, exact mix unpublished"' shown || fail "$name does not say it"
		sed -n '/^workload/q;p' "$ROOT/workloads/defs/$name.wl" | grep -v SPDX | grep -q '[a-z]\.' || fail "$name does not say why" ;;
	*) ! "$PTS" show "$name" | grep -q unpublished || fail "$name is published" ;;
	esac
done

t 'ratios in a name hold'
for name in rnd-4k-70-30 rnd-4k-65-35 rnd-8k-70-30 rnd-8k-65-35 sql-100-0 sql-90-10 sql-80-20 oracle-100-0 oracle-90-10 oracle-80-20; do
	wl_is "total('$name'), reads('$name') == float('$name'.split('-')[-2])" '(100.0, True)'
done
for name in $ALL; do
	case $name in gps-drive0 | vod | metadata | cbw) continue ;; esac
	wl_is "total('$name')" 100.0
done

t 'GPS Nav Drive0: nine streams, the shares of all IOs as published, renormalised by the plan'
wl_is 'streams("gps-drive0") == [(24.8, "W", "SEQ", "4k"), (17.7, "W", "RND", "16k"), (14.4, "W", "SEQ", "16k"), (13.9, "W", "SEQ", "0.5k"),
	(5.8, "W", "SEQ", "1k"), (4.5, "W", "RND", "4k"), (2.65, "W", "RND", "1k"), (2.54, "W", "RND", "28k"), (2.44, "W", "SEQ", "1.5k")]' True
wl_is 'total("gps-drive0")' 88.73
wl_is '[abs(s[0] / total("gps-drive0") * 100 - v) <= 0.06 for s, v in zip(streams("gps-drive0"),
	[28.0, 19.9, 16.2, 15.7, 6.5, 5.1, 2.98, 2.86, 2.75])] == [True] * 9' True

t 'GPS Nav DriveC and the retail portal, whose RND 8K of 16.4 % is a read'
wl_is 'streams("gps-drivec") == [(22.2, "W", "RND", "16k"), (20.2, "W", "SEQ", "4k"), (15.5, "W", "SEQ", "0.5k"), (14.2, "W", "SEQ", "16k"),
	(12.9, "W", "RND", "4k"), (5.9, "W", "SEQ", "1k"), (3.7, "W", "RND", "1k"), (2.7, "W", "RND", "0.5k"), (2.7, "W", "SEQ", "1.5k")]' True
wl_is 'streams("retail-web") == [(30.5, "W", "RND", "64k"), (28.9, "W", "SEQ", "0.5k"), (16.4, "R", "RND", "8k"), (14.2, "R", "SEQ", "8k"),
	(5.6, "R", "SEQ", "64k"), (4.4, "W", "RND", "8k")]' True

t 'the composite of CBW: sizes, groups, directions'
wl_is '(lambda w: (sum(int(x.split(":")[1]) for x in w), w[0], w[7], len(w)))(re.search(r"sizes (.*)", text("cbw"))[1].split())' \
	"(100, '0.5k:4', '4k:67', 12)"
pts show cbw
out_match '^\s*zones 0-5%:50 5-20%:30 20-100%:20$'
out_match '^\s*rw 40/60$'

# One measured cell of each, on a file.
mkdir defs
{
	printf 'test every "Every workload" clause X\n\tpurge\n\tfill seq-128k-w 1x threads 1 qd 8\n'
	for name in $ALL; do printf '\trun %s threads 2 qd 4 for 60ms label %s\n' "$name" "$name"; done
	echo end
} >defs/every.pts
export PTS_DEF_PATH=$W/defs

t 'each runs on a file without an error, and its streams have their shares'
pts run every --dut "file:$W/f?size=64m" --db w.db --seed 11 -q
exit_is 0
sql_is w.db "SELECT count(DISTINCT access), sum(errors + short_ios), sum(partial), min(ios) > 0 FROM v_cell WHERE phase = 'step'" \
	"$(wc -w <<<"$ALL")|0|0|1"
# counts, not times: of N IOs drawn, each share holds within six standard deviations
sqlite3 w.db "SELECT label, ios, workload FROM v_cell WHERE phase = 'step'" >cells
sqlite3 w.db "SELECT label, stream, s.ios FROM v_stream s JOIN v_cell USING (cell_id) WHERE phase = 'step'" >streams
true_that python3 - <<'END'
import json
got = {}
for l in open("streams"):
    name, n, ios = l.rstrip().split("|"); got.setdefault(name, []).append(int(ios))
for l in open("cells"):
    name, ios, mix = l.rstrip().split("|", 2); ios = int(ios); mix = json.loads(mix)
    assert len(mix) == len(got[name]), name
    assert abs(sum(s["share_pct"] for s in mix) - 100) < 1e-6, name
    for s, n in zip(mix, got[name]):
        p = s["share_pct"] / 100
        assert abs(n - ios * p) <= 6 * (ios * p * (1 - p)) ** .5 + 8, (name, s, n, ios)
END

t 'each runs in the place of a test’s own access'
for name in gps-drive0 vdi-linked-boot seq-256k-r; do
	pts plan dirth --dut sim:ent-nvme --quick --set access=$name --json
	exit_is 0
	json_is 'd["tests"][0]["params"]["access"]' "$name"
done
