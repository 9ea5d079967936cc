#!/bin/bash
# SPDX-License-Identifier: MIT
# The same small test on one drive and on md RAID 0, 1, 5 and 10 over several, each with its members recorded; compared. And a campaign
# on three drives of which one begins to fail: the others are measured to the end (U53).
. "$(dirname "$0")/lib.sh"

command -v mdadm >/dev/null || vm_skip 'no mdadm here (make rig-deps)'
command -v dmsetup >/dev/null || vm_skip 'no dmsetup here (make rig-deps)'

guest <<'END'
mkdir defs
export PTS_DEF_PATH=$PWD/defs XDG_STATE_HOME=/dev/shm/state
cat >defs/t.pts <<'DEF'
test small "Small" clause X
	fill seq-128k-w 1x threads 1 qd 8
	loop rounds 5 until steady
		foreach mix in 100/0 0/100
			run rnd rw $mix bs 4k threads 2 qd 4 for 200ms
		end
		track iops of rw 0/100
	end
end
test three "Three" clause X
	run rnd-4k-w threads 1 qd 1 for 300ms
	run rnd-4k-w threads 1 qd 2 for 5s
end
DEF
d=()
for k in 0 1 2 3; do d+=("$(drive VMNV$k)"); done
code one "$PTS" run small --dut "${d[0]}" --destroy VMNV0 --allow-unpurged --db /dev/shm/raid.db
for level in 0 1 5 10; do
	n=4
	[ $level != 1 ] || n=2
	clean=--assume-clean
	[ $level != 0 ] || clean=
	mdadm --create /dev/md0 --run $clean --metadata=1.2 --level=$level --raid-devices=$n "${d[@]:0:n}" >>mdadm.log 2>&1
	code member$level "$PTS" run small --dut "${d[1]}" --destroy VMNV1 --db /dev/shm/x.db
	code raid$level "$PTS" run small --dut /dev/md0 --destroy /dev/md0 --allow-unpurged --db /dev/shm/raid.db
	mdadm --stop /dev/md0 >>mdadm.log 2>&1
	mdadm --zero-superblock "${d[@]:0:n}" >>mdadm.log 2>&1
done
code check "$PTS" db check --db /dev/shm/raid.db
code compare "$PTS" compare 1 2 3 4 5 --db /dev/shm/raid.db -o raid.json
code xlsx "$PTS" compare 1 2 3 4 5 --db /dev/shm/raid.db -o raid.xlsx

sectors=$(cat "/sys/block/${d[1]#/dev/}/size")
echo "0 $sectors linear ${d[1]} 0" | dmsetup --noudevsync --noudevrules create weak
weak=/dev/dm-$(dmsetup info -c --noheadings -o minor weak)
"$PTS" run three --dut "${d[0]}" --dut "$weak" --dut "${d[2]}" --destroy VMNV0 --destroy VMNV2 --destroy "$weak" \
	--force-signature --db /dev/shm/three.db >three.out 2>three.err &
for ((i = 0; i < 300; i++)); do
	[ "$(sqlite3 /dev/shm/three.db 'SELECT count(*) FROM v_cell' 2>/dev/null)" != 3 ] || break
	sleep 0.2
done
sleep 0.5
echo "0 $sectors error" | dmsetup --noudevsync --noudevrules reload weak
dmsetup --noudevsync --noudevrules resume weak
wait $!
echo $? >three.rc
code check3 "$PTS" db check --db /dev/shm/three.db
cp /dev/shm/*.db .
END
vm -n 4 -s 16 -k raid0,raid1,raid10,raid456,dm_mod -t 280

t 'the VM comes up and does its work'
exit_is 0
db=$VM/raid.db
vm_code check 0

k=1
for level in 0 1 5 10; do
	k=$((k + 1)) n=4
	[ $level != 1 ] || n=2
	t "RAID $level: measured, with its members; a member by itself is refused"
	true_that test "$(cat "$VM/raid$level.rc")" -le 1
	vm_code member$level 2
	file_has "$VM/member$level.err" 'held by another device'
	sql_is "$db" "SELECT value FROM v_host JOIN v_run USING (host_id) WHERE run_id = $k AND key = 'dev_layout'" "md raid$level of $n"
	sql_is "$db" "SELECT count(*) FROM v_host JOIN v_run USING (host_id) WHERE run_id = $k AND key LIKE 'dev_member_%'
		AND value LIKE '%serial VMNV%'" $n
	sql_is "$db" "SELECT state FROM v_run WHERE run_id = $k" 'done'
	sql_is "$db" "SELECT count(*) >= 11, sum(errors + short_ios), sum(prepared <> ios), sum(partial) FROM v_cell WHERE run_id = $k" '1|0|0|0'
	sql_is "$db" "SELECT count(*) > 0 FROM v_deviation WHERE run_id = $k AND text LIKE 'the target is made of other drives%'" 1
done

t 'one drive against the arrays, compared'
true_that test "$(cat "$VM/compare.rc")" -le 1
cp "$VM/raid.json" "$OUT"
json_is '[x["layout"] for x in d["runs"]]' "['one drive', 'md raid0 of 4', 'md raid1 of 2', 'md raid5 of 4', 'md raid10 of 4']"
true_that test -s "$VM/raid.xlsx"

t 'U53: one of three drives begins to fail: its run fails, the others are done'
vm_code three 3
vm_code check3 0
sql_is "$VM/three.db" "SELECT state, count(*) FROM v_run GROUP BY state ORDER BY state" $'done|2\nfailed|1'
sql_is "$VM/three.db" "SELECT count(DISTINCT campaign) FROM v_run" 1
sql_is "$VM/three.db" "SELECT state, errors > 0, errnos LIKE 'EIO:%', prepared = ios + short_ios + errors FROM v_cell
	JOIN v_run USING (run_id) WHERE partial" 'failed|1|1|1'
sql_is "$VM/three.db" "SELECT count(*), sum(prepared <> ios) FROM v_cell WHERE NOT partial" '5|0'
