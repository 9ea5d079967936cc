# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Helpers of the command-line tests. A test script is tests/cli/NAME.sh and begins with:
#
#	. "$(dirname "$0")/lib.sh"
#
#	t 'an unknown command is a mistake in usage'	# starts a test; it ends at the next t, or with the script
#	pts rnu iops					# runs $PTS: stdout to $OUT, stderr to $ERR (files), exit code to $RC
#	exit_is 2
#	err_has "did you mean 'run'"
#	out_empty
#
# The first expectation of a test that fails makes it "not ok" with the reason, the rest of the test is not looked at. `tests/run`
# gives PTS and TMPDIR; alone, `bash tests/cli/NAME.sh` uses build/pts. Scripts run in an empty folder of their own ($PWD = $W),
# so that pts.db and files land there; the source tree is $ROOT. Nothing is left behind.
#
#   run CMD...          like pts, for any command          pts WORD...         run "$PTS" WORD...
#   exit_is N           exit code of the last run          file_absent FILE    file_has FILE TEXT
#   out_has TEXT        stdout contains (also err_has)     out_hasnt TEXT      (also err_hasnt)
#   out_match REGEX     a line of it, grep -E (err_match)  out_is TEXT         stdout is exactly TEXT and a newline
#   out_empty           err_empty                          err_lines N         stderr has N lines
#   json_is EXPR VALUE  Python: EXPR over d, the document on stdout, printed (True, 3, abc)
#   sql_is DB SQL VALUE what sqlite3 prints (rows by newline, columns by |)
#   same A B WHAT       two strings are equal              true_that CMD...    the command succeeds
#   fail WHY            the test has failed                skip WHY            the test is skipped, as a whole
#   ask DB SQL          prints what sqlite3 prints; nothing where the file, or the table, is not there yet
#   start DB WORD...    pts run WORD... --db DB in the background: $PID; its output is in $OUT and $ERR
#   stop SIG            sends it to $PID and waits for its end: $RC
#   wait_until CMD...   asks again until the command succeeds; a failure after 10 s
#   wait_for DB SQL V   until the SQL gives V               wait_cells DB N     until N cells are committed
#   need_root           skips the script (77) when not root, or loop devices are not to be had
#   loop_new SIZE       makes a loop device over a new file: $LOOP, $LOOPFILE; released at the end
#   at_exit CMD...      runs when the script ends, last one first
set -u

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PTS=${PTS:-$ROOT/build/pts}
case $PTS in /*) ;; *) PTS=$PWD/$PTS ;; esac
W=$(mktemp -d "${TMPDIR:-/tmp}/pts-cli.XXXXXX") || exit 1
OUT=$W/.out ERR=$W/.err RC=0
export LC_ALL=C TZ=UTC
unset PTS_DB PTS_DEF_PATH
cd "$W" || exit 1

t_name='' t_why='' t_skip='' t_bad=0
declare -a exit_cmds=()

t_end() {
	[ -n "$t_name" ] || return 0
	if [ -n "$t_why" ]; then
		printf 'not ok %s: %s\n' "$t_name" "$t_why"
		t_bad=1
	elif [ -n "$t_skip" ]; then
		printf 'skip %s: %s\n' "$t_name" "$t_skip"
	else
		printf 'ok %s\n' "$t_name"
	fi
	t_name='' t_why='' t_skip=''
}

t() {
	t_end
	t_name=$1
}

# Where the script stands, said with each failure.
t_line() {
	local i
	for ((i = 1; i < ${#BASH_SOURCE[@]}; i++)); do
		[ "${BASH_SOURCE[i]##*/}" = lib.sh ] || break
	done
	printf 'line %s: ' "${BASH_LINENO[i - 1]}"
}

fail() {
	[ -n "$t_why" ] || t_why=$(t_line)$*
}

skip() { t_skip=$*; }

lib_exit() {
	local rc=$? i
	trap '' INT TERM
	if [ "$rc" != 0 ] && [ "$rc" != 77 ]; then
		t_name=${t_name:-script}
		fail "the script ended with $rc"
	fi
	t_end
	for ((i = ${#exit_cmds[@]} - 1; i >= 0; i--)); do
		eval "${exit_cmds[i]}" >/dev/null 2>&1
	done
	cd / && rm -rf "$W"
	[ "$rc" != 0 ] || rc=$t_bad
	exit "$rc"
}
trap lib_exit EXIT
trap 'exit 143' TERM INT

at_exit() { exit_cmds+=("$(printf '%q ' "$@")"); }

run() {
	"$@" >"$OUT" 2>"$ERR"
	RC=$?
}

pts() { run "$PTS" "$@"; }

# What a failed test shows of a stream: its first lines, in one.
show() { head -c 300 "$1" | tr '\n' '~'; }

exit_is() { [ "$RC" = "$1" ] || fail "exit $RC, not $1; stderr: $(show "$ERR")"; }

has() { grep -qF -- "$2" "$1" || fail "no \"$2\" in $3: $(show "$1")"; }
hasnt() { ! grep -qF -- "$2" "$1" || fail "\"$2\" in $3: $(show "$1")"; }
match() { grep -qE -- "$2" "$1" || fail "no line /$2/ in $3: $(show "$1")"; }
empty() { [ ! -s "$1" ] || fail "$2 is not empty: $(show "$1")"; }

out_has() { has "$OUT" "$1" stdout; }
err_has() { has "$ERR" "$1" stderr; }
out_hasnt() { hasnt "$OUT" "$1" stdout; }
err_hasnt() { hasnt "$ERR" "$1" stderr; }
out_match() { match "$OUT" "$1" stdout; }
err_match() { match "$ERR" "$1" stderr; }
out_empty() { empty "$OUT" stdout; }
err_empty() { empty "$ERR" stderr; }
out_is() { [ "$(cat "$OUT")" = "$1" ] || fail "stdout is not \"$1\": $(show "$OUT")"; }
err_lines() {
	local n
	n=$(wc -l <"$ERR")
	[ "$n" = "$1" ] || fail "stderr has $n lines, not $1: $(show "$ERR")"
}
file_absent() { [ ! -e "$1" ] || fail "$1 exists"; }
file_has() {
	if [ -f "$1" ]; then has "$1" "$2" "$1"; else fail "no file $1"; fi
}
same() { [ "$1" = "$2" ] || fail "${3:-value} is \"$1\", not \"$2\""; }
true_that() { "$@" || fail "$* failed"; }

json_is() {
	local got
	got=$(python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$OUT" "$1" 2>&1) || got="error: $(tail -n 1 <<<"$got")"
	[ "$got" = "$2" ] || fail "$1 is $got, not $2"
}

sql_is() {
	local got
	got=$(sqlite3 -batch "$1" "$2" 2>&1)
	[ "$got" = "$3" ] || fail "$2: $got, not $3"
}

ask() { sqlite3 -batch "$1" "$2" 2>/dev/null; }

start() {
	local db=$1
	shift
	"$PTS" run "$@" --db "$db" >"$OUT" 2>"$ERR" &
	PID=$!
}

stop() {
	kill "-$1" $PID 2>/dev/null
	{ wait $PID; } 2>/dev/null
	RC=$?
}

wait_until() {
	local i
	for ((i = 0; i < 200; i++)); do
		"$@" && return
		sleep 0.05
	done
	fail "not within 10 s: $*: $(show "$ERR")"
	return 1
}

asked() { [ "$(ask "$1" "$2")" = "$3" ]; }
wait_for() { wait_until asked "$@"; }
wait_cells() { wait_until asked "$1" "SELECT count(*) >= $2 FROM v_cell" 1; }

need_root() {
	if [ "$(id -u)" != 0 ]; then
		echo "skip ${0##*/}: needs root"
		exit 77
	elif ! losetup -f >/dev/null 2>&1; then
		echo "skip ${0##*/}: no loop devices here"
		exit 77
	fi
}

loop_new() {
	LOOPFILE=$(mktemp "$W/loop.XXXXXX")
	truncate -s "$1" "$LOOPFILE"
	LOOP=$(losetup -f --show "$LOOPFILE") || {
		LOOP=''
		fail "losetup failed"
		return 1
	}
	at_exit loop_free "$LOOP"
	loop_bare "$LOOP"
}

# Partitions and the write protection of a loop device outlive it; its next owner would find them.
loop_bare() {
	local p
	blockdev --setrw "$1"
	for p in "/sys/block/${1#/dev/}/${1#/dev/}p"*; do
		[ ! -e "$p/partition" ] || delpart "$1" "$(cat "$p/partition")"
	done
}

loop_free() {
	loop_bare "$1"
	losetup -d "$1"
}
