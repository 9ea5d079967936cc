#!/bin/bash
# SPDX-License-Identifier: MIT
# The command line as such: commands, options, help, completion, the manual page.
. "$(dirname "$0")/lib.sh"

usage_error() { # usage_error TEXT: exit 2, TEXT and one hint on stderr, nothing else
	exit_is 2
	err_has "$1"
	err_lines 2
	err_match "^try 'pts .*'$"
	out_empty
}

t 'no command'
pts
usage_error 'pts: which command?'

t 'an unknown command names the nearest'
pts rnu iops
usage_error "pts: unknown command 'rnu' (did you mean 'run'?)"
pts frobnicate
usage_error "pts: unknown command 'frobnicate'"
err_hasnt 'did you mean'

t 'an unknown option names the nearest one that the command takes'
pts run iops --quik
usage_error "pts: run: unknown option '--quik' (did you mean '--quick'?)"
pts --jsno list tests
usage_error "pts: list: unknown option '--jsno' (did you mean '--json'?)"
pts run -x
usage_error "pts: run: unknown option '-x'"

t 'an option of another command is refused'
pts steady 1 2 3 4 5 --dut /dev/null
usage_error 'pts: steady: --dut is no option of steady'
pts list tests -o x
usage_error 'pts: list: --output is no option of list'

t 'an option without its value'
for args in 'iops --dut' 'iops --dut=' 'iops --dut --quick' 'iops --dut -q' 'iops --dut --' 'iops --dut -h'; do
	# shellcheck disable=SC2086
	pts run $args
	usage_error '--dut needs a value: --dut DUT'
done
pts report 1 -o
usage_error '--output needs a value: --output FILE'

t 'a flag with a value'
pts run iops --quick=yes
usage_error '--quick takes no value'

t 'a single value given twice'
pts run iops --seed 1 --seed=2
usage_error '--seed is given twice'

t 'a value that is no choice'
pts run iops --profile enterprize
usage_error "--profile takes enterprise|client, not 'enterprize'"
pts run iops --profile=enterprise\|client
usage_error '--profile takes'

t 'words missing and words too many'
pts show
usage_error 'pts: show: needs a NAME'
pts show a b
usage_error "one word too many: 'b'"
pts version 1
usage_error "one word too many: '1'"
pts completion fish
usage_error "only for bash, not 'fish'"

t 'options and words in any order; -- ends the options'
pts --json steady 100 104 -- 98 102 101
exit_is 0
json_is 'd["average"]' 101
pts steady 1 2 3 4 -- --json
usage_error "'--json' is not a number"

t 'control characters of the command line do not reach the terminal'
pts $'ev\e[2Jil\nx'
usage_error "'ev?[2Jil?x'"

t 'very long words'
pts "$(printf 'x%.0s' {1..5000})"
exit_is 2
err_lines 2
pts run "--$(printf 'y%.0s' {1..5000})"
exit_is 2
err_lines 2

t 'more values than anyone means'
# shellcheck disable=SC2046
pts steady $(seq 2000)
usage_error 'more than 1024 values'

t 'help of every command: synopsis on stdout, exit 0'
pts help
exit_is 0
err_empty
mapfile -t commands < <(sed -n 's/^  \([a-z][a-z]*\)  *.*/\1/p' "$OUT")
true_that [ "${#commands[@]}" -ge 14 ]
for c in "${commands[@]}"; do
	pts "$c" -h
	exit_is 0
	err_empty
	out_match "^usage: pts $c"
	cp "$OUT" h1
	pts --help "$c"
	true_that cmp -s h1 "$OUT"
	pts help "$c"
	true_that cmp -s h1 "$OUT"
done

t 'help as such'
pts help
cp "$OUT" h1
pts -h
exit_is 0
true_that cmp -s h1 "$OUT"
pts help staedy
usage_error "unknown command 'staedy' (did you mean 'steady'?)"

t 'help needs no words and looks at no others'
pts run -h
exit_is 0
pts show a b c --help
exit_is 0

t 'version'
pts version
exit_is 0
out_match '^pts [0-9]+\.[0-9]+\.[0-9]+( git [0-9a-f]+(-dirty)?)?$'
cp "$OUT" v1
pts --version
exit_is 0
true_that cmp -s v1 "$OUT"

t 'a result that cannot be written is exit 3'
if [ -w /dev/full ]; then
	"$PTS" help >/dev/full 2>"$ERR"
	RC=$?
	exit_is 3
	err_has 'cannot write the result: No space left on device'
	"$PTS" help >&- 2>"$ERR"
	RC=$?
	exit_is 3
	err_has 'cannot write the result'
	{ "$PTS" help 2>"$ERR"; echo $? >rc; } | true # may win the race: both are right
	case $(cat rc) in 0 | 3) ;; *) fail "exit $(cat rc) on a closed pipe" ;; esac
else
	skip 'no /dev/full'
fi

t 'completion: a script that bash accepts and that completes'
pts completion bash
exit_is 0
cp "$OUT" completion.bash
true_that bash -n completion.bash
complete_with() { # complete_with WORD...: what _pts offers for the last one
	PATH="${PTS%/*}:$PATH" bash -c '. ./completion.bash
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_pts
		echo "${COMPREPLY[*]}"' _ "$@"
}
same "$(complete_with pts ste)" steady completion
same "$(complete_with pts run --qu)" '--quick --quiet' completion
same "$(complete_with pts run --profile c)" client completion
same "$(complete_with pts --db x lis)" list completion
same "$(complete_with pts --db = x lis)" list completion
same "$(complete_with pts run --profile = e)" enterprise completion
same "$(complete_with pts list s)" 'suites sheets' completion

t 'the manual page has every command, synopsis and option'
if command -v man >/dev/null; then
	MANWIDTH=1000 LC_ALL=C man -P cat -l "$ROOT/pts/man/pts.1" 2>"$ERR" | col -bx | tr -s ' \n' ' ' >manual
	true_that [ "$(wc -c <manual)" -gt 4000 ]
	err_empty
	for c in "${commands[@]}"; do
		pts "$c" -h
		synopsis=$(sed -n '1s/^usage: //p' "$OUT")
		file_has manual "$synopsis"
		while read -r option; do
			file_has manual "$option"
		done < <(sed -n 's/^  \(-[^ ].*[^ ]\)   *[^ ].*/\1/p' "$OUT" | sed 's/  .*//')
	done
else
	skip 'no man'
fi
