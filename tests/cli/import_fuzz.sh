# SPDX-License-Identifier: MIT
# The seeds of the fuzzer, and some changes of each, through every parser; all of it in one process.
. "$(dirname "$0")/lib.sh"

fuzz=${BUILD:-$ROOT/build}/tests/fuzz/fuzz_import
if [ ! -x "$fuzz" ]; then
	echo 'not ok seeds of the fuzzer: no fuzz_import was built'
	exit 1
fi
"$fuzz" replay "$ROOT/tests/fuzz/corpus" $((${PTS_LONG:+100} + 20)) || exit 1
