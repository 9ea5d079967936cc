#!/bin/bash
# SPDX-License-Identifier: MIT
# Writes C source with the data files as arrays of bytes: see pts/base/embed.h. No wall clock, no paths: the same files
# give the same source.
set -eu
shopt -s nullglob

list() {	# list ARRAY FILE...
	local name=$1 n=0 f
	shift
	for f; do
		printf 'static const char %s_%d[] = {\n' "$name" "$n"
		od -An -v -tu1 "$f" | sed 's/\([0-9][0-9]*\)/(char)\1,/g'
		printf '0 };\n'
		n=$((n + 1))
	done
	printf 'const struct embed %s[] = {\n' "$name"
	n=0
	for f; do
		printf '\t{ "%s", %s_%d, sizeof %s_%d - 1 },\n' "${f##*/}" "$name" "$n" "$name" "$n"
		n=$((n + 1))
	done
	printf '\t{ 0, 0, 0 }\n};\n'
}

printf '#include "pts/base/embed.h"\n'
export LC_ALL=C
list embed_defs pts/defs/*.pts
list embed_workloads workloads/defs/*.wl
list embed_sims workloads/sim/*.ini
list embed_migrations schema/*.sql
list embed_maps replay/maps/*.csv
list embed_clauses pts/defs/clauses.txt
