#!/bin/bash
# SPDX-License-Identifier: MIT
# pts devices: what it lists, the word, users, data; text and JSON.
. "$(dirname "$0")/lib.sh"

KEYS=path,model,serial,word,firmware,capacity_bytes,lba_bytes,interface,purge_methods,purge_auto,note,in_use,signature
KEYS=$KEYS,purge_why,security,left,transport,nsid,namespaces,link,link_max,numa_node,wwid,layout,members,uuid

t 'a word is a mistake'
pts devices /dev/sda
exit_is 2
err_has "'/dev/sda'"
out_empty

t 'the JSON document'
pts devices --json
exit_is 0
json_is 'list(d)[0]' schema
json_is 'd["schema"]' pts.devices/1
json_is "all(','.join(x) == '$KEYS' for x in d['devices'])" True
json_is 'all(x["capacity_bytes"] > 0 for x in d["devices"])' True
json_is 'any(x["path"].startswith("/dev/ram") for x in d["devices"])' False
json_is 'all(x["path"].startswith("/dev/") for x in d["devices"])' True

t 'the drive under / is in use'
root=$(findmnt -no SOURCE / 2>/dev/null)
if [ -b "${root:-}" ] && [ -e "/sys/class/block/${root#/dev/}" ]; then
	disk=$(basename "$(realpath "/sys/class/block/${root#/dev/}")")
	[ -e "/sys/block/$disk" ] || disk=$(basename "$(realpath "/sys/class/block/$disk/..")")
	json_is "['mounted on /' in x['in_use'] for x in d['devices'] if x['path'] == '/dev/$disk']" '[True]'
else
	skip "/ is on no drive of its own"
fi

need_root

# of PATH KEY: a value of one device.
of() { printf '[x["%s"] for x in d["devices"] if x["path"] == "%s"]' "$2" "$1"; }

t 'a drive without serial goes by its path'
if loop_new 64M; then
	pts devices --json
	exit_is 0
	json_is "$(of "$LOOP" word)" "['$LOOP']"
	json_is "$(of "$LOOP" capacity_bytes)" '[67108864]'
	json_is "$(of "$LOOP" lba_bytes)" '[512]'
	json_is "$(of "$LOOP" in_use)" '[None]'
	json_is "$(of "$LOOP" signature)" '[None]'
	json_is "'blkdiscard' in $(of "$LOOP" purge_methods)[0]" True
	pts devices
	exit_is 0
	out_match '^DEVICE +MODEL +SERIAL +--destroy '
	out_match "^$LOOP .* $LOOP .* 67\\.11 MB "
fi

t 'a drive with a file system, mounted and not'
if [ -n "${LOOP:-}" ] && command -v mkfs.ext4 >/dev/null && mkfs.ext4 -q -F "$LOOP"; then
	pts devices --json
	json_is "$(of "$LOOP" signature)" "['ext4 file system']"
	json_is "$(of "$LOOP" in_use)" '[None]'
	mkdir "$W/mnt"
	if mount "$LOOP" "$W/mnt" 2>/dev/null; then
		at_exit umount "$W/mnt"
		pts devices --json
		json_is "$(of "$LOOP" in_use)" "['mounted on $W/mnt']"
		pts devices
		out_match "^$LOOP .* mounted on $W/mnt +ext4 file system$"
		umount "$W/mnt"
	fi
else
	skip "no mkfs.ext4 here"
fi

t 'a drive that is let go is gone from the list'
if loop_new 16M; then
	losetup -d "$LOOP"
	pts devices --json
	exit_is 0
	json_is "$(of "$LOOP" path)" '[]'
fi

t 'listing writes nothing'
if loop_new 16M; then
	before=$(awk '{ print $5, $12 }' "/sys/block/${LOOP#/dev/}/stat")
	pts devices --json
	same "$(awk '{ print $5, $12 }' "/sys/block/${LOOP#/dev/}/stat")" "$before" "writes and discards"
fi

t 'without rights the list is there all the same'
if command -v setpriv >/dev/null && loop_new 16M; then
	chmod 755 "$W"
	cp "$PTS" "$W/pts-copy" && chmod 755 "$W/pts-copy"
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$W/pts-copy" devices --json
	exit_is 0
	json_is "$(of "$LOOP" capacity_bytes)" '[16777216]'
	json_is "$(of "$LOOP" signature)" '[None]'
fi
