#!/bin/bash
# SPDX-License-Identifier: MIT
# The disk under the database is full at any moment of a run: exit 3, one message, nothing in the file that says the drive or a
# round was at fault; with room again resume ends the run as one that was never disturbed.
. "$(dirname "$0")/lib.sh"
sizes='1024 1600 2304 3328'
[ -z "${PTS_LONG:-}" ] || sizes=$(seq 1024 256 6144)

if [ "$(id -u)" != 0 ] || ! mkdir disk || ! mount -t tmpfs -o size=1m tmpfs disk 2>/dev/null; then
	echo "skip ${0##*/}: needs root to mount a small tmpfs"
	exit 77
fi
at_exit umount "$W/disk"
umount disk

verdicts() { ask "$1" 'SELECT test, steady, window_first, window_last, rounds, verdict FROM v_test WHERE NOT void ORDER BY ordinal'; }
cells() {
	ask "$1" 'SELECT test, section, phase, round, round_try, step, ios, art_ns, start_ns FROM v_cell
		JOIN (SELECT run_id, test, attempt FROM v_test WHERE NOT void) USING (run_id, test, attempt) ORDER BY test, ordinal' | sha256sum
}

pts run iops tp xsr --quick --dut sim:ent-nvme --db whole.db -q
exit_is 0
for size in $sizes; do
	t "a disk of $size KiB: interrupted, then resumed to the same end"
	mount -t tmpfs -o size=${size}k tmpfs disk
	pts run iops tp xsr --quick --dut sim:ent-nvme --db disk/x.db -q
	exit_is 3
	err_lines 1
	err_match '^pts: run: [a-z]+: disk/x.db: .*no space left on the disk$'
	out_has 'interrupted'
	pts status --db disk/x.db
	out_has 'pts resume 1'
	pts resume --db disk/x.db -q
	exit_is 3
	err_lines 1
	mount -o remount,size=64m disk
	pts db check --db disk/x.db -q
	exit_is 0
	pts resume --db disk/x.db -q
	exit_is 0
	sql_is disk/x.db "SELECT state, (SELECT count(*) FROM round_void), (SELECT count(*) FROM v_event WHERE kind = 'error') FROM v_run" 'done|0|0'
	same "$(verdicts disk/x.db)" "$(verdicts whole.db)" verdicts
	same "$(cells disk/x.db)" "$(cells whole.db)" cells
	pts audit --db disk/x.db
	out_has 'evidence: intact'
	pts db check --db disk/x.db -q
	exit_is 0
	pts report --db disk/x.db -o disk/r.txt
	exit_is 0
	umount disk
done
