#!/bin/bash
# SPDX-License-Identifier: MIT
# The rules of the house that a program can check: lint.sh [--build DIR]. One ok / not ok a rule, like any test.
# A finding is printed before its line. Nothing but the build folder is written to.
set -u
cd "$(dirname "$0")/../.." || exit 1
[ "${1-}" = --build ] && BUILD=$2
BUILD=${BUILD:-build}
CC=${CC:-gcc}
export LC_ALL=C
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

folders=(pts workloads replay schema reports)
mapfile -t sources < <(find "${folders[@]}" tests -name '*.[ch]' | sort)
mapfile -t headers < <(printf '%s\n' "${sources[@]}" | grep '\.h$')
mapfile -t library < <(printf '%s\n' "${sources[@]}" | grep -Ev '^(tests/|pts/(main|cmd_))')
mapfile -t scripts < <(find tests .ci -name '*.sh' -o -path tests/run -o -path .ci/run | sort)
bad=0

# verdict NAME FILE: the rule holds when FILE, its findings, is empty.
verdict() {
	if [ -s "$2" ]; then
		head -n 40 "$2"
		echo "not ok lint: $1: $(wc -l <"$2") lines of findings"
		bad=1
	else
		echo "ok lint: $1"
	fi
}

# matches NAME PATTERN...: is NAME like one of the patterns?
matches() {
	local name=$1 p
	shift
	for p; do
		# shellcheck disable=SC2053
		[[ $name == $p ]] && return 0
	done
	return 1
}

includes() {
	local file header line who whom
	local -a rules foreign
	mapfile -t rules < <(grep -E '^[^#<].*:' tests/lint/includes)
	mapfile -t foreign < <(grep '^<' tests/lint/includes)
	set -f
	while IFS=$'\t' read -r file header; do
		if [[ $header == \<* ]]; then
			for line in "${foreign[@]}"; do
				who=${line%%:*} whom=${line#*:}
				# shellcheck disable=SC2086
				matches "$header" $who || continue
				# shellcheck disable=SC2086
				matches "$file" 'tests/*' $whom && continue 2
				echo "$file: $header is at home in$whom"
				continue 2
			done
			[[ $file == tests/* ]] || echo "$file: $header is not in tests/lint/includes"
			continue
		fi
		for line in "${rules[@]}"; do
			who=${line%%:*} whom=${line#*:}
			[[ $file == $who ]] || continue
			# shellcheck disable=SC2086
			matches "$header" $whom || echo "$file: may not include \"$header\""
			continue 2
		done
		echo "$file: no rule in tests/lint/includes"
	done < <(grep -E '^[[:space:]]*#[[:space:]]*include' "${sources[@]}" /dev/null |
		sed -nE 's/^([^:]*):.*include[[:space:]]*(<[^>]*>|"([^"]*)").*/\1\t\2/p' | tr -d '"')
	set +f
}

alone() {
	local h
	for h in "${headers[@]}"; do
		printf '#include "%s"\n' "$h" |
			$CC -fsyntax-only -std=gnu17 -Wall -Wextra -Werror -Wno-unused -Wno-unused-parameter -I. -D_GNU_SOURCE -x c - 2>&1
	done
}

lengths() {
	awk 'FNR == 1 { start = 0 }
	/^\{/ { start = FNR }
	/^\}/ {
		if (start && FNR - start + 1 > 80)
			printf "%s:%d: function of %d lines (80)\n", FILENAME, start, FNR - start + 1
		start = 0
	}' "${sources[@]}"
	wc -l "${sources[@]}" | awk '$2 != "total" && $1 > 800 { printf "%s: file of %d lines (800)\n", $2, $1 }'
}

banned() {
	local words='strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atof|atol|atoll|system|popen|alloca|rand|srand|setlocale|localtime|gmtime'
	grep -nE "(^|[^A-Za-z0-9_>.])($words)\(" "${sources[@]}" /dev/null
	grep -nE '^[[:space:]]*typedef (struct|union|enum)' "${sources[@]}" /dev/null
	grep -nE '(^|[^_a-z])assert\(.*(=[^=]|\+\+|--)' "${sources[@]}" /dev/null | grep -vE '[!<>=]=[^=]'
	grep -n -e '-ffast-math' Makefile
}

# Library code gives errors back. The one exception is a broken promise: bug_at().
quiet() {
	grep -nE '(^|[^A-Za-z0-9_])(printf|puts|putchar|perror|vprintf|_?exit|quick_exit)\(|f(printf|puts|write)\(.*(stdout|stderr)|STD(OUT|ERR)_FILENO' \
		"${library[@]}" /dev/null | grep -v '^pts/base/err\.c:'
}

threads() {
	grep -lE '(^|[^A-Za-z0-9_])pthread_create\(' "${library[@]}" /dev/null | sed 1d | sed 's/$/: a second pthread_create/'
}

spdx() {
	awk 'FNR == 1 && $0 != "/* SPDX-License-Identifier: MIT */" { print FILENAME ": no SPDX line" }' "${sources[@]}"
	grep -L 'SPDX-License-Identifier: MIT' "${scripts[@]}" Makefile /dev/null | grep -v /dev/null | sed 's/$/: no SPDX line/'
}

shells() {
	local f
	for f in "${scripts[@]}"; do bash -n "$f" 2>&1; done
}

# Suppressed are matters of style, and those in which it is wrong: it takes output parameters for input.
check_cpp() {
	local cache id args=()
	cache=$BUILD/cppcheck-$(cat tests/lint/lint.sh tests/lint/cppcheck.cfg | cksum | cut -d' ' -f1)
	mkdir -p "$cache"
	for id in missingIncludeSystem unknownMacro arrayIndexThenCheck duplicateAssignExpression identicalInnerCondition \
		ctuuninitvar autoVariables compareBoolExpressionWithInt uninitvar:reports/canvas.c; do
		args+=("--suppress=$id")
	done
	cppcheck --enable=warning,performance,portability --error-exitcode=1 --inline-suppr --quiet -j 2 --std=c11 \
		--library=gnu --library=tests/lint/cppcheck.cfg --max-configs=1 -I. -D_GNU_SOURCE -DPTS_SOFTWARE='""' \
		-DPTS_VERSION='""' "${args[@]}" --cppcheck-build-dir="$cache" "${folders[@]}" >"$tmp/cppcheck.out" 2>&1 || {
		cat "$tmp/cppcheck.out"
		echo 'cppcheck: see above'
	}
}

# rule NAME COMMAND [PROGRAM]: skipped where the program is not installed.
rule() {
	if [ -n "${3-}" ] && ! command -v "$3" >/dev/null; then
		echo "skip lint: $1: no $3 here"
		return
	fi
	$2 >"$tmp/$2" 2>&1
	verdict "$1" "$tmp/$2"
}

style() {
	clang-format --dry-run -Werror "${sources[@]}" >"$tmp/style.out" 2>&1 && return
	sed -n 's/^\([^: ]*\):.*error:.*/\1/p' "$tmp/style.out" | sort -u | sed 's/$/: not as clang-format writes it (make format)/'
	grep -q 'error:' "$tmp/style.out" || cat "$tmp/style.out"
}

# The slow one goes along beside the others.
rule cppcheck check_cpp cppcheck >"$tmp/slow" &
slow=$!
rule 'include table' includes
rule 'each header compiles alone' alone
rule 'length of functions and files' lengths
rule 'banned calls' banned
rule 'library code neither prints nor exits' quiet
rule 'one pthread_create' threads
rule 'SPDX lines' spdx
rule 'shell scripts parse' shells
rule clang-format style clang-format
wait $slow
cat "$tmp/slow"
grep -q '^not ok' "$tmp/slow" && bad=1
exit $bad
