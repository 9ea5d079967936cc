#!/bin/bash
# SPDX-License-Identifier: MIT
# Drives that fail, lie or are odd: media errors, a full drive, a purge that erases nothing, 4 KiB sectors, punted IO.
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/rigs/rig.sh"

mkdir defs
export PTS_DEF_PATH=$W/defs
cat >defs/faults.pts <<'END'
test reads "Reads" clause X
	run rnd-4k-r threads 1 qd 4 for 20s
	run rnd-4k-r threads 1 qd 4 for 20s
end
test read-rounds "Reads in rounds" clause X
	loop rounds 5 until steady
		run rnd-4k-r threads 1 qd 4 for 20s
		run rnd-4k-w threads 1 qd 4 for 100ms
		track iops of rw 100/0
	end
end
test writes "Writes" clause X
	run rnd-4k-w threads 1 qd 4 for 20s
end
test write-rounds "Writes in rounds" clause X
	loop rounds 5 until steady
		run rnd-4k-w threads 1 qd 4 for 100ms
		track iops of rw 0/100
	end
end
test purged "Purge first" clause X
	purge
	run rnd-4k-w threads 1 qd 4 for 200ms
end
test sizes "Block sizes" clause X
	purge
	foreach size in 4k 0.5k
		run rnd rw 0/100 bs $size threads 1 qd 4 for 100ms
	end
end
END

on_rig() { pts run "$1" --dut "$RIG" --destroy "$RIG" --db "$1.db" "${@:2}"; }

# sound DB: what must hold of any database, whatever happened.
sound() {
	sql_is "$1" "SELECT count(*) FROM v_cell WHERE prepared <> ios + short_ios + errors" 0
	sql_is "$1" "SELECT count(*) FROM v_cell WHERE errors > 0 AND NOT partial AND NOT void" 0
	sql_is "$1" "PRAGMA integrity_check" ok
	run "$PTS" db check --db "$1"
	exit_is 0
}

t 'a media error ends the run: exit 3, counted as EIO, the database sound'
if rig_erroring 16M read:EIO:8M; then
	on_rig reads
	exit_is 3
	err_has 'EIO'
	err_has 'offset 8388608'
	sql_is reads.db "SELECT count(*), min(errors) > 0, min(errnos) = 'EIO:' || min(errors), min(partial) FROM v_cell" '1|1|1|1'
	sql_is reads.db "SELECT state, compliant FROM v_run" 'failed|0'
	sound reads.db

	t 'a media error in a round: void, repeated once, then the end'
	on_rig read-rounds
	exit_is 3
	sql_is read-rounds.db "SELECT round, round_try, errnos = 'EIO:' || errors, void FROM v_cell ORDER BY cell_id" $'1|1|1|1\n1|2|1|0'
	sql_is read-rounds.db "SELECT count(*) FROM v_steady" 0
	sql_is read-rounds.db "SELECT state FROM v_run" failed
	sound read-rounds.db
fi
rig_release

t 'a drive without space ends the run: exit 3, counted as ENOSPC'
if rig_erroring 4M write:ENOSPC:any:once; then
	on_rig writes
	exit_is 3
	err_has 'ENOSPC'
	sql_is writes.db "SELECT errors, errnos, partial FROM v_cell" '1|ENOSPC:1|1'
	sql_is writes.db "SELECT state FROM v_run" failed
	sound writes.db
fi
rig_release

t 'an error that does not come again costs one try of one round'
if rig_erroring 4M write:ENOSPC:any:once; then
	on_rig write-rounds
	true_that test "$RC" -le 1
	sql_is write-rounds.db "SELECT round, round_try, errnos, void FROM v_cell WHERE round = 1 ORDER BY cell_id" \
		$'1|1|ENOSPC:1|1\n1|2||0'
	sql_is write-rounds.db "SELECT count(*), sum(errors) FROM v_cell WHERE NOT void" '5|0'
	sql_is write-rounds.db "SELECT count(*) FROM v_event WHERE kind = 'error' AND detail LIKE '%ENOSPC%'" 1
	sql_is write-rounds.db "SELECT state, rounds FROM v_run JOIN v_test USING (run_id)" 'done|5'
	sound write-rounds.db
fi
rig_release

t 'a purge that lies is found out: the test does not start'
if rig_lying 64M; then
	on_rig purged
	exit_is 3
	err_has '1026 of 1026 marked blocks are still readable'
	err_has 'does not start'
	sql_is purged.db "SELECT count(*) FROM v_cell" 0
	sql_is purged.db "SELECT json_extract(detail, '\$.ok'), json_extract(detail, '\$.verified'),
		json_extract(detail, '\$.canaries'), json_extract(detail, '\$.survivors') FROM v_event WHERE kind = 'purge'" '0|0|1026|1026'
	sql_is purged.db "SELECT state FROM v_run" failed
	sound purged.db

	t 'consent to an unpurged drive is a deviation'
	rm purged.db*
	on_rig purged --allow-unpurged
	exit_is 0
	sql_is purged.db "SELECT count(*) FROM v_cell" 1
	sql_is purged.db "SELECT purge_method, purge_verified FROM v_section" 'blkdiscard|0'
	sql_is purged.db "SELECT count(*) FROM v_deviation WHERE text LIKE '%not purged%still readable%'" 1
fi
rig_release

for sector in 512 4096; do
	t "a drive with sectors of $sector bytes"
	if rig_loop 64M $sector; then
		rm -f sizes.db*
		on_rig sizes
		exit_is 0
		sql_is sizes.db "SELECT lba_bytes FROM v_run" $sector
		sql_is sizes.db "SELECT purge_method, purge_verified FROM v_section" 'blkdiscard|1'
		if [ $sector = 512 ]; then
			sql_is sizes.db "SELECT group_concat(block_bytes), sum(errors) FROM v_cell" '4096,512|0'
		else
			sql_is sizes.db "SELECT group_concat(block_bytes), sum(errors) FROM v_cell" '4096|0'
			sql_is sizes.db "SELECT json_extract(detail, '\$.block_bytes'), json_extract(detail, '\$.reason') FROM v_event
				WHERE kind = 'cell-na'" '512|n/a (LBA 4096)'
		fi
		sound sizes.db
	fi
done
rig_release

t 'zram: IO punted to kernel workers is noted'
if rig_zram 64M; then
	rm -f purged.db*
	on_rig purged
	exit_is 0
	sql_is purged.db "SELECT lba_bytes FROM v_run" 4096
	sql_is purged.db "SELECT count(*) FROM v_cell WHERE note LIKE '%punted%kernel workers%'" 1
	sql_is purged.db "SELECT purge_verified FROM v_section" 1
	sound purged.db
fi
