#!/bin/bash
# SPDX-License-Identifier: MIT
# What `make demo` shows: a quick real suite on a scratch file, the unscaled IOPS test on a simulated drive, both workbooks.
# A verdict of "not achieved" (exit 1) on a noisy machine is an honest result, not a failure.
set -u
pts=$1/pts
dir=$1/demo
mkdir -p "$dir" && cd "$dir" || exit 1
case $pts in /*) ;; *) pts=../pts ;; esac
rm -f demo.db demo.db-* scratch scratch.pts-scratch ./*.xlsx ./*.txt

say() { printf '\n== %s\n$ pts %s\n' "$1" "${*:2}"; }

step() { # step TITLE WORD...: runs pts, accepts a bad verdict
	local rc
	say "$@"
	"$pts" "${@:2}"
	rc=$?
	[ $rc -le 1 ] || { echo "demo: pts ${*:2}: exit $rc" >&2; exit $rc; }
}

step 'IOPS, throughput and latency, quick, on a scratch file: O_DIRECT, io_uring' \
	run iops tp lat --dut 'file:scratch?size=1g' --quick --db demo.db
step 'The whole IOPS test of the PTS on a simulated enterprise drive (hours of its time)' \
	run iops --dut sim:ent-nvme --db demo.db
step 'Workbook of the real run' report 1 --db demo.db -o scratch-file.xlsx
step 'Workbook of the simulated run' report 2 --db demo.db -o simulated-drive.xlsx
step 'The runs' list runs --db demo.db
rm -f scratch scratch.pts-scratch

printf '\nWorkbooks and database:\n'
ls -1 "$PWD"/*.xlsx "$PWD"/demo.db
