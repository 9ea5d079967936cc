#!/bin/bash
# SPDX-License-Identifier: MIT
# pts purge and the purge of a run: the gate, the method, the proof, a user's hook, notes for after a crash.
. "$(dirname "$0")/lib.sh"

export XDG_STATE_HOME=$W/state
mkdir state

# Looked at below: its second of waiting goes by beside the rest.
timeout 30 "$PTS" selftest --dut "fault:deadline=1s,never@30+:file:$W/s?size=1m" >hang.out 2>hang.err &
HANG=$!

t 'mistakes in usage'
pts purge
exit_is 2
err_has 'which target?'
pts purge --dut file:a --dut file:b
exit_is 2
err_has 'one --dut at a time'
pts purge word --dut sim:pm
exit_is 2
pts purge --dut sim:pm --recover --method punch
exit_is 2
err_has '--recover purges nothing'
pts purge --dut sim:pm --recover
exit_is 2
err_has 'nothing to recover'
pts purge --dut sim:pm --method shred
exit_is 2
err_has "unknown purge method 'shred'"

t 'a file of its own: hole punched, nothing left; a foreign one needs its word'
pts purge --dut 'file:f?size=4m'
exit_is 0
out_match '^file:f\?size=4m: purged by punch in [0-9]+ m?s: '
out_match 'verified: none of 1026 marked blocks can be read any more$'
err_has 'purge by punch (auto'
printf '%4096s' dear >dear
pts purge --dut file:dear
exit_is 2
err_has '--destroy'
same "$(tr -d ' ' <dear)" dear 'the file'
rm f

t 'a set: each member by itself, all told'
pts purge --dut 'set:file:f?size=128k,file:g?size=256k' --json
exit_is 0
json_is 'd["schema"], d["method"], d["verified"], d["canaries"], len(d["members"])' "('pts.purge/1', 'punch', True, 768, 2)"
json_is '[m["dut"] for m in d["members"]]' "['file:f?size=128k', 'file:g?size=256k']"

t 'a simulated drive'
pts purge --dut sim:ent-nvme --json
exit_is 0
json_is 'd["method"], d["ok"], d["auto"], d["survivors"]' "('sim', True, True, 0)"

t 'a hook purges no set and no simulated drive, and is a program'
echo '#!/bin/sh' >hook.sh
pts purge --dut 'file:f?size=128k' --purge-hook hook.sh
exit_is 2
err_has 'is no file that can be executed'
chmod +x hook.sh
pts purge --dut 'file:f?size=128k' --purge-hook hook.sh --method punch
exit_is 2
err_has 'contradict one another'
pts purge --dut 'set:file:f,file:g' --purge-hook ./hook.sh
exit_is 2
pts purge --dut sim:pm --purge-hook ./hook.sh
exit_is 2

mkdir defs
export PTS_DEF_PATH=$W/defs
printf 'test one "One" clause X\n\tpurge\n\trun rnd-4k-w threads 1 qd 1 for 50ms\nend\n' >defs/one.pts
printf 'test two "Two" clause X\n\tpurge\n\trun rnd-4k-w threads 1 qd 1 for 50ms\nend\n' >defs/two.pts

hook() { # hook NAME LINE...: a program
	printf '#!/bin/bash\n' >"$1"
	printf '%s\n' "${@:2}" >>"$1"
	chmod +x "$1"
}
hook lie 'exit 0'
hook fail 'echo cannot >&2' 'exit 5'

t 'U07 a hook that erases nothing: not verified, exit 1, and a run does not start'
pts purge --dut 'file:f?size=128k' --purge-hook ./lie --json
exit_is 1
err_has 'purge NOT VERIFIED'
json_is 'd["ok"], d["verified"], d["canaries"], d["survivors"]' '(False, False, 256, 256)'
pts run one --dut 'file:f?size=128k' --purge-hook ./lie --db lie.db
exit_is 3
err_has 'NOT VERIFIED'
sql_is lie.db 'SELECT state FROM v_run' failed
sql_is lie.db 'SELECT count(*) FROM v_cell' 0

t 'U08 a hook that fails: no IO follows'
pts purge --dut 'file:f?size=128k' --purge-hook ./fail
exit_is 3
err_has 'cannot' # its own words
err_has 'failed: exit 5'
pts run one --dut 'file:f?size=128k' --purge-hook ./fail --db fail.db
exit_is 3
err_has 'the test does not start'
sql_is fail.db 'SELECT state FROM v_run' failed
sql_is fail.db 'SELECT count(*) FROM v_cell' 0
sql_is fail.db "SELECT detail ->> '\$.ok', detail ->> '\$.method' FROM v_event WHERE kind = 'purge'" '0|hook'

t 'U08 consent to an unpurged drive is a deviation, on every page'
pts run one two --dut 'file:f?size=128k' --purge-hook ./fail --db un.db --allow-unpurged
exit_is 0
sql_is un.db 'SELECT count(*) FROM v_cell' 2
sql_is un.db "SELECT count(*) FROM v_deviation WHERE text LIKE '%not purged: %exit 5%'" 2
for kind in txt html; do
	pts report last --db un.db -o "un.$kind"
	exit_is 0
	same "$(grep -c 'ONE TEST - REPORT PAGE - NOT PURGED' "un.$kind" | sed 's/^[1-9].*/some/')" some "$kind one"
	same "$(grep -c 'TWO TEST - REPORT PAGE - NOT PURGED' "un.$kind" | sed 's/^[1-9].*/some/')" some "$kind two"
	same "$(grep 'TEST - REPORT PAGE' "un.$kind" | grep -vc 'NOT PURGED')" 0 "$kind pages without"
done

t 'U07 a hook that erases is verified, and told as what it is'
hook punch "printf '%s|%s|%s\n' \"\$1\" \"\$PTS_DUT\" \"\${PTS_MEMBERS-none}\" >>'$W/called'" 'echo on stdout' \
	'fallocate -p -o 0 -l 131072 "$1"'
pts purge --dut 'file:f?size=128k' --purge-hook ./punch
exit_is 0
out_has 'purged by hook'
out_hasnt 'on stdout' # stdout is the result
err_has 'on stdout'
same "$(cat called)" "$W/f|$W/f|none" 'what it was called with'
pts run one --dut 'file:f?size=128k' --purge-hook ./punch --db hook.db
exit_is 0
sql_is hook.db 'SELECT purge_method, purge_verified FROM v_test' 'hook|1'
sql_is hook.db "SELECT count(*) FROM v_deviation WHERE text LIKE '%purge by hook, which is no purge of the PTS'" 1
pts report last --db hook.db -o hook.txt
true_that grep -q 'REPORT PAGE' hook.txt
same "$(grep -c 'NOT PURGED' hook.txt)" 0 'pages not purged'

t 'the choice and why, before and in the evidence'
pts run one --dut 'file:f?size=128k' --db why.db
err_has 'purge by punch (auto'
sql_is why.db "SELECT detail ->> '\$.auto', detail ->> '\$.method' FROM v_event WHERE kind = 'purge'" '1|punch'
pts run one --dut 'file:f?size=128k' --db why2.db --method punch
err_has 'purge by punch (asked for)'
sql_is why2.db "SELECT detail ->> '\$.auto', detail ->> '\$.why' FROM v_event WHERE kind = 'purge'" '0|asked for'

t 'a purge that is interrupted'
hook slow "touch '$W/slowly'" 'sleep 30'
"$PTS" purge --dut 'file:f?size=128k' --purge-hook ./slow >"$OUT" 2>"$ERR" &
PID=$!
wait_until test -e slowly
stop INT
exit_is 4
rm slowly
start slow.db one --dut 'file:f?size=128k' --purge-hook ./slow
wait_until test -e slowly
stop TERM
exit_is 4
sql_is slow.db 'SELECT state FROM v_run' interrupted
hook slow 'fallocate -p -o 0 -l 131072 "$1"'
pts resume --db slow.db
exit_is 0
sql_is slow.db 'SELECT purge_method, verdict FROM v_test WHERE NOT void' 'hook|done'

t 'a hook that takes the target away'
hook steal 'mv "$1" "$1.gone"'
pts run one --dut 'file:f?size=128k' --purge-hook ./steal --db steal.db --allow-unpurged
exit_is 3
sql_is steal.db 'SELECT state FROM v_run' failed
sql_is steal.db 'SELECT count(*) FROM v_cell' 0

t 'what a crashed purge left is told by devices, doctor, run and purge'
mkdir -p state/pts
printf 'pts left/1\nwhat=ata-password\npath=/dev/nosuch\nmodel=M\nserial=S9\nwwid=\ndetail=its password was set for an erase\nutc=2026-11-30T01:02:03.000Z\n' \
	>state/pts/S9.ata-password.pts-left
pts doctor --json
exit_is 1
json_is '[c["verdict"] for c in d["checks"] if c["check"] == "unfinished-purge"]' "['bad']"
json_is '[c["advice"] for c in d["checks"] if c["check"] == "unfinished-purge"]' "[\"pts purge --recover --dut /dev/nosuch --destroy 'S9'\"]"
rm state/pts/*

t 'selftest of a drive that hangs ends, and says so'
wait $HANG
RC=$?
cp hang.out "$OUT"
cp hang.err "$ERR"
exit_is 3
out_match '^engine +failed '
out_match '^all that follows +not tested here '

need_root

t 'U12 a method that the drive has not is an error, never another one'
if loop_new 256K; then
	before=$(awk '{ print $5, $12 }' "/sys/block/${LOOP#/dev/}/stat")
	pts purge --dut "$LOOP" --destroy "$LOOP" --method nvme-format
	exit_is 2
	err_has 'cannot be purged by nvme-format: it offers blkdiscard'
	same "$(awk '{ print $5, $12 }' "/sys/block/${LOOP#/dev/}/stat")" "$before" 'writes and discards'
	pts purge --dut "$LOOP" --destroy "$LOOP" --json
	exit_is 0
	json_is 'd["method"], d["auto"], d["verified"], d["pts_method"]' "('blkdiscard', True, True, False)"
	json_is 'bool(d["why"])' True
	err_match "^$LOOP: purge by blkdiscard \\(auto: .+\\)$"
	pts run one --dut "$LOOP" --destroy "$LOOP" --db auto.db
	exit_is 0
	pts report last --db auto.db -o auto.txt
	true_that grep -q blkdiscard auto.txt
fi

t 'without consent nothing is done'
pts purge --dut "$LOOP"
exit_is 2
err_has "--destroy '$LOOP' to agree"
out_empty

t 'a note of that drive is shown with it'
printf 'pts left/1\nwhat=ata-password\npath=%s\nmodel=\nserial=\nwwid=\ndetail=left so\nutc=2026-11-30T01:02:03.000Z\n' "$LOOP" \
	>state/pts/x.ata-password.pts-left
pts devices --json
json_is "['left so' in (x['left'] or '') for x in d['devices'] if x['path'] == '$LOOP']" '[True]'
json_is "[x['left'] for x in d['devices'] if x['path'] != '$LOOP' and x['left']]" '[]'
pts purge --dut "$LOOP" --destroy "$LOOP"
exit_is 0
err_has 'left so'
file_has state/pts/x.ata-password.pts-left 'left so' # this purge did not set it
pts purge --dut "$LOOP" --destroy "$LOOP" --recover
exit_is 2
err_has 'takes no ATA commands'
file_has state/pts/x.ata-password.pts-left 'left so'
rm state/pts/*

t 'U04 a mounted drive keeps its files'
if command -v mkfs.ext4 >/dev/null && loop_new 16M && mkfs.ext4 -q -F "$LOOP" && mkdir mnt && mount "$LOOP" mnt 2>/dev/null; then
	at_exit umount "$W/mnt"
	echo dear >mnt/file
	sync -f mnt/file
	sum=$(sha256sum <"$LOOPFILE")
	for force in '' --force-signature; do
		# shellcheck disable=SC2086
		pts purge --dut "$LOOP" --destroy "$LOOP" $force
		exit_is 2
		err_has "mounted on $W/mnt"
	done
	pts selftest --dut "$LOOP" --destroy "$LOOP" --force-signature
	exit_is 2
	same "$(sha256sum <"$LOOPFILE")" "$sum" 'the drive'
	same "$(cat mnt/file)" dear 'the file'
	umount mnt
	pts purge --dut "$LOOP" --destroy "$LOOP"
	exit_is 2
	err_has 'ext4 file system'
	pts purge --dut "$LOOP" --destroy "$LOOP" --force-signature
	exit_is 0
	same "$(tr -d '\0' <"$LOOPFILE" | wc -c)" 0 'bytes left on it'
else
	skip 'no mkfs.ext4 here, or no mounting'
fi

t 'selftest: what works, what is not offered, what cannot be tested here'
if loop_new 1M; then
	pts selftest --dut "$LOOP"
	exit_is 2
	err_has "--destroy '$LOOP' to agree"
	first=$LOOP
	loop_new 1M # two at once
	"$PTS" selftest --dut "$LOOP" --destroy "$LOOP" --method blkdiscard >one.out 2>&1 &
	ONE=$!
	pts selftest --dut "$first" --destroy "$first" --json -q
	exit_is 0
	err_empty
	of() { printf '[c["result"] for c in d["checks"] if c["check"] == "%s"]' "$1"; }
	json_is 'd["schema"], d["complete"], d["failed"]' "('pts.selftest/1', True, 0)"
	for check in identify engine 'direct IO of 512' 'direct IO of 4096' 'purge blkdiscard'; do
		json_is "$(of "$check")" "['ok']"
	done
	json_is "$(of 'purge nvme-format')" "['not offered']"
	json_is "$(of 'sudden power loss')" "['not tested here']"
	wait $ONE
	same $? 0 'exit code with one method'
	true_that grep -Eq '^purge blkdiscard +ok ' one.out
	pts selftest --dut sim:pm
	exit_is 2
fi
