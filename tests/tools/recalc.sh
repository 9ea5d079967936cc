#!/bin/bash
# SPDX-License-Identifier: MIT
# Every formula computed anew by LibreOffice against the value stored with it: tests/tools/recalc.sh FILE.xlsx...
# Two lines a workbook: how many cells it compared, and the name; exit 1 when one differs by more than 1e-9 of it,
# 77 where LibreOffice (Debian: libreoffice-calc-nogui) is not there or does not start.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v soffice >/dev/null; then
	echo 'no soffice (make html-deps, or as root: apt-get install libreoffice-calc-nogui)'
	exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/recalc.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/user"
# 0: always. As installed it takes stored values of other programs as they are, or asks.
cat >"$work/user/registrymodifications.xcu" <<'XCU'
<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
</oor:items>
XCU
# A CSV for each sheet, numbers with all their digits.
timeout -k 5 "${RECALC_SECONDS:-240}" soffice "-env:UserInstallation=file://$work" --headless --convert-to \
	'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1' --outdir "$work/csv" "$@" >"$work/log" 2>&1
rc=$?
if [ "$rc" != 0 ] || ! ls "$work"/csv/*.csv >/dev/null 2>&1; then
	echo "soffice does not run here (exit $rc): $(tail -n 1 "$work/log")"
	exit 77
fi
bad=0
for f; do
	mkdir -p "$work/one"
	base=$(basename "$f" .xlsx)
	mv "$work/csv/$base"-*.csv "$work/one/" 2>/dev/null || { echo "$f: no CSV"; bad=1; continue; }
	python3 "$here/xlsx_lint.py" --compare "$f" "$work/one" || bad=1
	echo "$f"
	rm -rf "$work/one"
done
exit $bad
