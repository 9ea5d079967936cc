#!/bin/bash
# SPDX-License-Identifier: MIT
# pts doctor: text and JSON, the exit code, targets, and that it changes nothing.
. "$(dirname "$0")/lib.sh"

# fit_says: exit code, fit and verdicts agree; each thing that is wrong comes with advice.
fit_says() {
	json_is 'd["fit"]' "$([ "$RC" = 0 ] && echo True || echo False)"
	json_is 'd["fit"] == (not any(c["verdict"] in ("warn", "bad") for c in d["checks"]))' True
	json_is '[c["check"] for c in d["checks"] if c["verdict"] in ("warn", "bad") and not c["advice"]]' '[]'
	true_that [ "$RC" -le 1 ]
	err_empty
}

# of CHECK KEY: a value of one row.
of() { printf '[c["%s"] for c in d["checks"] if c["check"] == "%s"]' "$2" "$1"; }

t 'mistakes'
pts doctor now
exit_is 2
out_empty
pts doctor --dut nix
exit_is 2
err_has "'nix' is no DUT name"
pts doctor --dut /dev/no-such-drive
exit_is 2
err_has '/dev/no-such-drive'
out_empty
pts doctor --dut sim:pm --dut sim:ent-nvme
exit_is 2
err_has 'one --dut at a time'

t 'the JSON document'
pts doctor --json
fit_says
json_is 'list(d)' "['schema', 'checks', 'fit']"
json_is 'd["schema"]' pts.doctor/1
json_is 'set(",".join(c) for c in d["checks"])' "{'check,verdict,found,advice'}"
json_is 'all(c["verdict"] in ("ok", "warn", "bad", "unknown") for c in d["checks"])' True
json_is 'all(c["found"] for c in d["checks"])' True
json_is 'len({c["check"] for c in d["checks"]}) == len(d["checks"]) >= 16' True
json_is "$(of io_uring verdict)[0] in ('ok', 'warn', 'bad')" True
json_is "'clock_gettime' in $(of clock_cost found)[0]" True
json_is "$(of target verdict)" "['unknown']"
json_is "$(of scheduler verdict)" '[]'

t 'the text has the same rows, and an end'
pts doctor --json
python3 -c 'import json, sys
for c in json.load(open(sys.argv[1]))["checks"]: print(c["check"])' "$OUT" >checks
pts doctor
true_that [ "$RC" -le 1 ]
out_match '^CHECK +VERDICT +FOUND +CHANGE$'
same "$(sed '1d;$d' "$OUT" | awk '{ print $1 }')" "$(cat checks)" rows
out_match '^(not )?fit for a formal run: [0-9]+ ok, [0-9]+ warn, [0-9]+ bad, [0-9]+ unknown$'

t 'a simulated drive is not fit, and has no queue'
pts doctor --dut sim:ent-nvme --json
exit_is 1
fit_says
json_is "$(of target verdict)" "['warn']"
json_is "$(of scheduler verdict)" '[]'
json_is "$(of database verdict)" '[]'

t 'a file: not formal, nothing is made'
pts doctor --dut "file:$W/scratch?size=16m" --json
exit_is 1
fit_says
json_is "$(of target verdict)" "['warn']"
file_absent scratch
file_absent scratch.pts-scratch
file_absent pts.db

t 'limits are seen'
(ulimit -n 64 && pts doctor --json) # what it prints is in $OUT
json_is "$(of open_files verdict)" "['bad']"
json_is "$(of open_files found)" "['64']"

t 'a target whose IO is punted'
if [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] && f=$(mktemp /dev/shm/pts-doctor.XXXXXX); then
	at_exit rm -f "$f"
	truncate -s 1M "$f"
	pts doctor --dut "file:$f" --json
	case $(python3 -c 'import json, sys
print(*[c["verdict"] for c in json.load(open(sys.argv[1]))["checks"] if c["check"] == "punting"])' "$OUT") in
	bad) ;;
	ok | unknown) skip 'tmpfs of this kernel starts IO without blocking, or takes no O_DIRECT' ;;
	*) fail 'no row punting' ;;
	esac
else
	skip 'no tmpfs'
fi

need_root

t 'a loop device: its queue, and what would be changed'
if loop_new 64M; then
	name=${LOOP#/dev/}
	pts doctor --dut "$LOOP" --json
	fit_says
	json_is "$(of target verdict)" "['ok']"
	json_is "$(of in_use verdict)" "['ok']"
	json_is "$(of database verdict)" "['ok']"
	json_is "$(of loop_direct_io verdict)" "['bad']"
	json_is "$(of iostats verdict)[0]" "$([ "$(cat "/sys/block/$name/queue/iostats")" = 0 ] && echo ok || echo warn)"
	json_is "$(of scheduler verdict)[0]" "$(grep -q '\[none\]' "/sys/block/$name/queue/scheduler" && echo ok || echo bad)"
fi

t 'what it says is right: the change makes the row ok'
if [ -n "${LOOP:-}" ]; then
	q=/sys/block/${LOOP#/dev/}/queue
	if echo 0 >"$q/iostats" && echo 2 >"$q/nomerges"; then
		pts doctor --dut "$LOOP" --json
		json_is "$(of iostats verdict) + $(of nomerges verdict)" "['ok', 'ok']"
		echo 1 >"$q/iostats"
		echo 0 >"$q/nomerges"
		pts doctor --dut "$LOOP" --json
		json_is "$(of iostats advice)" "['echo 0 > $q/iostats']"
		json_is "$(of nomerges advice)" "['echo 2 > $q/nomerges']"
	else
		skip 'queue settings cannot be changed here'
	fi
fi

t 'the database on the drive under test; the drive in use'
if [ -n "${LOOP:-}" ] && command -v mkfs.ext4 >/dev/null && mkfs.ext4 -q -F "$LOOP" &&
	mkdir mnt && mount "$LOOP" mnt 2>/dev/null; then
	at_exit umount "$W/mnt"
	pts doctor --dut "$LOOP" --db mnt/pts.db --json
	exit_is 1
	json_is "$(of database verdict)" "['bad']"
	json_is "$(of in_use verdict)" "['bad']"
	json_is "'mounted on $W/mnt' in $(of in_use found)[0]" True
	pts doctor --dut "$LOOP" --db other.db --json
	json_is "$(of database verdict)" "['ok']"
	ln -s mnt/pts.db link.db
	: >mnt/pts.db
	pts doctor --dut "$LOOP" --db link.db --json
	json_is "$(of database verdict)" "['bad']"
	umount "$W/mnt"
else
	skip 'no mkfs.ext4 here'
fi

t 'looking writes nothing'
written() { awk '{ print $5, $12 }' "/sys/block/${LOOP#/dev/}/stat"; }
if loop_new 16M; then
	before=$(written) # what had this number before has left its counts
	pts doctor --dut "$LOOP" --json
	same "$(written)" "$before" "writes and discards"
fi

t 'without rights'
if command -v setpriv >/dev/null && [ -n "${LOOP:-}" ]; then
	chmod 755 "$W"
	cp "$PTS" "$W/pts-copy" && chmod 755 "$W/pts-copy"
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$W/pts-copy" doctor --dut "$LOOP" --json
	fit_says
	json_is "$(of scheduler verdict)[0] in ('ok', 'bad')" True
	json_is "$(of punting verdict)" "['unknown']"
else
	skip 'no setpriv'
fi
