#!/bin/bash
# SPDX-License-Identifier: MIT
# A drive and no other: names that come to mean other bytes, one drive under two names, what a purge leaves behind.
. "$(dirname "$0")/lib.sh"

export XDG_STATE_HOME=$W/state
mkdir state defs
export PTS_DEF_PATH=$W/defs
printf 'test one "One" clause X\n\tpurge\n\trun rnd-4k-w threads 1 qd 1 for 50ms\nend\n' >defs/one.pts
printf 'test long "Long" clause X\n\tpurge\n\trun rnd-4k-w threads 1 qd 1 for 10m\nend\n' >defs/long.pts

t 'a campaign of one file by two names is refused before anything is done'
pts run one --dut 'file:f?size=128k' --dut "file:$W/./f?size=128k" --db apart.db
exit_is 2
err_has 'is the same drive'
pts run one --dut 'file:f?size=128k' --dut 'set:file:g?size=128k,file:./f?size=128k' --db apart.db
exit_is 2
err_has 'is the same drive'
file_absent f
sql_is apart.db 'SELECT count(*) FROM sqlite_master' 0
pts run one --dut sim:pm --dut sim:pm?seed=1 --db sims.db -q # models are no drives
exit_is 0

t 'NOT PURGED stands at the foot of each sheet, not of a run that purged'
printf '#!/bin/sh\nexit 5\n' >fail.sh
chmod +x fail.sh
for un in '' '--purge-hook ./fail.sh --allow-unpurged'; do
	# shellcheck disable=SC2086
	pts run one --dut 'file:f?size=128k' --db foot.db $un -q
	exit_is 0
	pts report last --db foot.db -o "foot${un:+-un}.xlsx"
	exit_is 0
done
feet() { # which sheets have it: all, none, some
	python3 - "$1" <<'END'
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
sheets = [z.read(n) for n in z.namelist() if n.startswith('xl/worksheets/sheet')]
n = sum(b'NOT PURGED&amp;C' in s for s in sheets)
print('all' if n == len(sheets) > 3 else 'none' if not n else 'some')
END
}
same "$(feet foot.xlsx)" none 'purged'
same "$(feet foot-un.xlsx)" all 'not purged'

t 'a hook that does not end when it is asked to is told'
printf '#!/bin/bash\ntrap "" TERM\ntouch "%s/runs"\nsleep 1\n' "$W" >deaf.sh
chmod +x deaf.sh
"$PTS" purge --dut 'file:f?size=128k' --purge-hook ./deaf.sh >"$OUT" 2>"$ERR" &
# shellcheck disable=SC2034 # of stop
PID=$!
wait_until test -e runs
stop INT
exit_is 4
err_match 'purge hook \(pid [0-9]+\) was sent SIGTERM'

need_root

t 'U03 other bytes of the same file are not the drive of the run'
truncate -s 9M image
if LOOP=$(losetup -f --show --sizelimit 8M image); then
	at_exit losetup -d "$LOOP"
	start off.db long --dut "$LOOP" --destroy "$LOOP"
	wait_for off.db "SELECT count(*) FROM v_event WHERE kind = 'purge'" 1
	stop KILL
	losetup -d "$LOOP"
	printf '%512s' dear | dd of=image bs=1M seek=8 conv=notrunc status=none
	sum=$(sha256sum <image)
	wait_until losetup -o 1M "$LOOP" image 2>/dev/null # the killed one lets go a little later
	pts resume --db off.db
	exit_is 2
	err_has "from 1048576'"
	same "$(sha256sum <image)" "$sum" 'the file'
	losetup -d "$LOOP"
else
	skip 'no loop device'
fi

t 'a drive that has been purged has no partitions any more'
truncate -s 16M table
if command -v sfdisk >/dev/null && LOOP=$(losetup -f -P --show table); then
	at_exit loop_free "$LOOP"
	printf 'label: gpt\nsize=4M\n' | sfdisk -q "$LOOP" >/dev/null 2>&1
	partx -u "$LOOP" 2>/dev/null
	wait_until test -e "/sys/block/${LOOP#/dev/}/${LOOP#/dev/}p1"
	pts purge --dut "$LOOP" --destroy "$LOOP"
	exit_is 2
	err_has 'gpt partition table'
	pts purge --dut "$LOOP" --destroy "$LOOP" --force-signature
	exit_is 0
	file_absent "/sys/block/${LOOP#/dev/}/${LOOP#/dev/}p1"
	pts purge --dut "$LOOP" --destroy "$LOOP" # no force any more
	exit_is 0
else
	skip 'no sfdisk or loop device'
fi

t 'a drive smaller than one of its blocks'
truncate -s 1024 tiny
if LOOP=$(losetup -f --sector-size 4096 --show tiny); then
	at_exit losetup -d "$LOOP"
	pts purge --dut "$LOOP" --destroy "$LOOP"
	exit_is 2
	err_has 'are no whole block of 4096'
else
	skip 'no loop device of 4096 bytes'
fi
