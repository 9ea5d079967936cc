#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/run counts what goes wrong in a test program, however it goes wrong.
. "$(dirname "$0")/lib.sh"

program() { # program NAME: a test program of stdin
	cat >"$W/$1.sh"
}
last_is() { same "$(tail -n 1 "$OUT")" "$1" 'the last line'; }
tests_run() { run "$ROOT/tests/run" "$@"; }

program good <<<'echo "ok one"; echo "some talk"; echo "skip two: no drive"'
program quiet <<<':'
program bad <<<'echo "ok a"; echo "not ok b: 1 is not 2"; exit 1'
program dies <<<'echo "ok a"; kill -SEGV $$'
program leaves <<<'echo "ok a"; exit 3'
program skips <<<'exit 77'
program hangs <<<'echo "ok a"; exec sleep 60'
program writes <<<'echo "$TMPDIR $PTS $BUILD" >"$(dirname "$0")/where"; : >"$TMPDIR/litter"; echo "ok a"'

t 'runner: passes and skips'
tests_run good.sh
exit_is 1 # run from the source tree, so the path is not there
tests_run "$W/good.sh" "$W/skips.sh"
exit_is 0
last_is '1 passed, 0 failed, 2 skipped'
out_has 'skip two: no drive'
out_hasnt 'some talk'

t 'runner: a failed test, with its reason'
tests_run "$W/bad.sh" "$W/good.sh"
exit_is 1
last_is '2 passed, 1 failed, 1 skipped'
out_has 'not ok b: 1 is not 2'

t 'runner: says nothing, dies, leaves with an error, is not there'
tests_run "$W/quiet.sh"
exit_is 1
last_is '0 passed, 1 failed, 0 skipped'
tests_run "$W/dies.sh"
exit_is 1
last_is '1 passed, 1 failed, 0 skipped'
tests_run "$W/leaves.sh"
exit_is 1
last_is '1 passed, 1 failed, 0 skipped'
tests_run "$W/no-such-program"
exit_is 1
last_is '0 passed, 1 failed, 0 skipped'

t 'runner: the time limit'
LIMIT=1 tests_run "$W/hangs.sh" "$W/good.sh"
exit_is 1
last_is '2 passed, 1 failed, 1 skipped'

t 'runner: the environment of a program, and its end'
tests_run --build /some/where "$W/writes.sh"
exit_is 0
read -r dir program build <where
same "$program $build" '/some/where/pts /some/where' 'PTS and BUILD'
file_absent "$dir"

t 'runner: stopped itself, it stops its programs'
LIMIT=50 "$ROOT/tests/run" "$W/writes.sh" "$W/hangs.sh" >"$OUT" 2>"$ERR" &
pid=$!
for _ in $(seq 100); do
	child=$(pgrep -P "$pid" | head -n 1)
	[ -n "$child" ] && grep -q writes "$OUT" && break
	sleep 0.1
done
kill -TERM "$pid"
wait "$pid"
RC=$?
exit_is 143
file_absent "$(dirname "$(cut -d' ' -f1 where)")"
