#!/bin/bash
# SPDX-License-Identifier: MIT
# --engine passthrough without an NVMe drive: refused with the reason, before anything is written or made. (On drives: tests/vm.)
. "$(dirname "$0")/lib.sh"

mkdir defs
cat >defs/t.pts <<'END'
test cell "One cell" clause X
  run rnd-4k-w threads 1 qd 1 for 20ms
end
END
export PTS_DEF_PATH=$W/defs

t 'a file: refused, and not made'
pts run cell --engine passthrough --dut "file:$W/f?size=2m" --db f.db
exit_is 2
err_has 'is no NVMe drive, and --engine passthrough sends NVMe commands'
true_that test ! -e f -a ! -e f.pts-scratch

t 'a file with faults, a set, a simulated drive'
for dut in "fault:eio@1:file:$W/f?size=2m" "set:file:$W/a?size=2m,file:$W/b?size=2m" sim:ent-nvme; do
	pts run cell --engine passthrough --dut "$dut" --db f.db
	exit_is 2
	err_has 'is no NVMe drive'
done
true_that test ! -e f -a ! -e a -a ! -e b

t 'an exact replay'
printf 'fio version 3 iolog\n0 /dev/x add\n0 /dev/x open\n0 /dev/x write 0 4096\n9 /dev/x read 4096 4096\n' >x.log
pts import x.log -o x.cap
exit_is 0
pts replay x.cap --engine passthrough --dut "file:$W/f?size=2m" --db f.db
exit_is 2
err_has 'is no NVMe drive'
true_that test ! -e f
pts replay x.cap --engine sync --dut "file:$W/f?size=2m" --db f.db
exit_is 2
err_has uring

t 'a block device that is no NVMe drive: refused, nothing written'
if [ "$(id -u)" = 0 ] && [ -e /dev/loop-control ]; then
	loop_new 2m
	before=$(cksum <"$LOOPFILE")
	pts run cell --engine passthrough --dut "$LOOP" --destroy "$LOOP" --db f.db
	exit_is 2
	err_has '--engine passthrough: '
	err_has 'no NVMe namespace'
	same "$(cksum <"$LOOPFILE")" "$before" 'contents of the device'
else
	skip 'needs root and loop devices'
fi
