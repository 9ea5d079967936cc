#!/bin/bash
# SPDX-License-Identifier: MIT
# The examples of README.md are what really comes out: each "$ command" in a fenced block is run, its output compared
# (a uuid and its head are as good as any other).
. "$(dirname "$0")/lib.sh"

plain() { sed -E 's/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/UUID/g; s/run-[0-9a-f]{8}\.xlsx/run-UUID.xlsx/g'; }

awk '/^```/ { in_block = !in_block; next } in_block' "$ROOT/README.md" >block
t 'the README has examples with output'
true_that test "$(grep -c '^\$ ' block)" -ge 4

n=0
while IFS= read -r line; do
	case $line in
	'$ '*) n=$((n + 1)); printf '%s\n' "${line#\$ }" >"cmd.$n"; : >"want.$n" ;;
	*) [ $n = 0 ] || printf '%s\n' "$line" >>"want.$n" ;;
	esac
done <block

mkdir bin && ln -s "$PTS" bin/pts
for ((i = 1; i <= n; i++)); do
	t "README: $(cat "cmd.$i")"
	PATH=$W/bin:$PATH bash "cmd.$i" >"got.$i" 2>&1
	same "$(plain <"got.$i")" "$(plain <"want.$i")" output
done

t 'README: the two commands are targets of the Makefile'
for target in demo check; do
	grep -q "^make $target" "$ROOT/README.md" || fail "no make $target"
	grep -q "^$target:" "$ROOT/Makefile" || fail "no target $target"
done
t 'README: its picture is there'
while IFS= read -r p; do
	true_that test -s "$ROOT/$p"
done < <(grep -oE '\]\([a-z][^)]*\.png\)' "$ROOT/README.md" | sed 's/^](//; s/)$//')
