# SPDX-License-Identifier: MIT
# Every sample capture gives the figures that an independent script counted in it: the project's own ones, and those of a folder
# of samples that may not be copied into the project (PTS_TRACES, or shared/traces beside the source tree).
. "$(dirname "$0")/lib.sh"

bad=0
python3 "$ROOT/tests/tools/import_totals.py" "$PTS" "$ROOT/tests/fixtures/traces" || bad=1

traces=${PTS_TRACES:-$ROOT/../shared/traces}
if [ -f "$traces/expected.json" ]; then
	python3 "$ROOT/tests/tools/import_totals.py" "$PTS" "$traces" || bad=1
else
	echo 'skip totals of the samples of others: no folder of captures (PTS_TRACES)'
fi
exit $bad
