#!/bin/bash
# SPDX-License-Identifier: MIT
# A drive whose first or last sectors cannot be read: the gate says which, and what is to be done.
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/rigs/rig.sh"

mkdir defs
export PTS_DEF_PATH=$W/defs
cat >defs/w.pts <<'END'
test writes "Writes" clause X
	run rnd-4k-w threads 1 qd 4 for 100ms
end
END

for place in 0 65536 16773120; do
	t "a drive of 16 MiB with a bad sector at offset $place is refused: the sector, the errno, the way on"
	if rig_erroring 16M read:EIO:$place; then
		writes() { awk '{ print $5, $12 }' "/sys/block/${RIG#/dev/}/stat"; }
		before=$(writes)
		pts run writes -q --dut "$RIG" --destroy "$RIG" --db w.db
		exit_is 3
		err_has "$RIG cannot be read at sector $((place / 512)) (offset $place): Input/output error (EIO)"
		err_has 'give --force-signature'
		err_lines 1
		file_absent w.db
		same "$(writes)" "$before" 'count of writes and discards'

		t "the way on is one (bad sector at offset $place)"
		pts run writes -q --dut "$RIG" --destroy "$RIG" --db w.db --force-signature
		exit_is 0
		sql_is w.db 'SELECT ios > 0, errors FROM v_cell' '1|0'
		rm -f w.db*
	fi
	rig_release
done
