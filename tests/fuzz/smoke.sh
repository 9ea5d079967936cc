#!/bin/bash
# SPDX-License-Identifier: MIT
# Each parser of captures against random input for a while: FUZZ_SECONDS (60) a target, FUZZ_JOBS (processors) at a time,
# FUZZ_TARGETS (all). With clang's libFuzzer, else with the driver's own changes; both with the address and undefined sanitizers.
# What crashes is left in build/fuzz/crash-*; nothing outside of build/ is written to.
set -u
cd "$(dirname "$0")/../.." || exit 1
seconds=${FUZZ_SECONDS:-60}
jobs=${FUZZ_JOBS:-$(nproc)}
out=build/fuzz
export ASAN_OPTIONS=quarantine_size_mb=1:max_allocation_size_mb=2000:allocator_may_return_null=1
mkdir -p "$out"
mapfile -t targets < <(tr " " "\n" <<<"${FUZZ_TARGETS:-$(ls tests/fuzz/corpus)}")

lib=0
if echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n); int LLVMFuzzerTestOneInput(const unsigned char *d,
	unsigned long n) { return d[0] > 300 && n; }' | clang -xc -fsanitize=fuzzer,address -o "$out/probe" - 2>/dev/null; then
	lib=1
	make -s -j"$jobs" B="$out" CC=clang SANITIZE=address,undefined CFLAGS='-fsanitize=fuzzer-no-link -DLIBFUZZER' \
		LDFLAGS=-fsanitize=fuzzer fuzz || exit 1
else
	make -s -j"$jobs" B="$out" SANITIZE=address,undefined fuzz || exit 1
fi

one() { # one TARGET
	local log=$out/$1.log rc
	if [ "$lib" = 1 ]; then
		mkdir -p "$out/found/$1"
		PTS_FUZZ_TARGET=$1 "$out/tests/fuzz/fuzz_import" -max_total_time="$seconds" -max_len=16384 -timeout=20 \
			-rss_limit_mb=3000 -artifact_prefix="$out/crash-$1-" "$out/found/$1" "tests/fuzz/corpus/$1" >"$log" 2>&1
	else
		(cd "$out" && ./tests/fuzz/fuzz_import mutate "$1" "$seconds" "$OLDPWD/tests/fuzz/corpus") >"$log" 2>&1
	fi
	rc=$?
	if [ "$rc" = 0 ]; then
		echo "ok $1: $(tail -n 1 "$log")"
	else
		echo "not ok $1: see $log"
		tail -n 40 "$log"
		return 1
	fi
}

bad=0
for t in "${targets[@]}"; do
	while [ "$(jobs -pr | wc -l)" -ge "$jobs" ]; do
		wait -n || bad=1
	done
	one "$t" &
done
while [ -n "$(jobs -p)" ]; do
	wait -n || bad=1
done
exit $bad
