-- SPDX-License-Identifier: MIT
-- Several drives under one load (set:A,B,...): which drives they are; and for each cell how many of them worked and how long it
-- took until the first and until the last of them was done. A cell of a set is a row that sums up (member NULL), followed by one
-- row for each member that came to a result (ordinal + 1 to ordinal + members).

CREATE TABLE member (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run,
	member INTEGER NOT NULL, -- from 1, as cell.member
	dut TEXT NOT NULL,
	dut_path TEXT,
	vendor TEXT,
	model TEXT,
	serial TEXT,
	wwid TEXT,
	firmware TEXT,
	interface TEXT,
	capacity_bytes INTEGER NOT NULL,
	lba_bytes INTEGER NOT NULL,
	identity TEXT, -- of one without a serial: resume finds it by this
	UNIQUE (run_id, member)
) STRICT;

CREATE TABLE cell_set (
	cell_id INTEGER PRIMARY KEY REFERENCES cell,
	members INTEGER NOT NULL,
	span_first_ns INTEGER NOT NULL,
	span_last_ns INTEGER NOT NULL
) STRICT;

CREATE VIEW v_member AS
SELECT run_id, member, dut, vendor, model, serial, firmware, capacity_bytes, lba_bytes, dut_path, wwid, interface
FROM member;

DROP VIEW v_cell;
CREATE VIEW v_cell AS
SELECT cell_id, run_id, test, attempt, section, section_label, phase, round, round_try, step, label, member, access,
	threads, qd, oio, scale, read_pct, block_bytes, workload, start_ns, elapsed_ns, read_ios + write_ios AS ios,
	read_ios, write_ios, read_bytes + write_bytes AS bytes, read_bytes, write_bytes, errors,
	CASE WHEN read_ios + write_ios = 0 THEN 0.0 ELSE (read_ios + write_ios) * 1e9 / elapsed_ns END AS iops,
	CASE WHEN read_bytes + write_bytes = 0 THEN 0.0
		ELSE (read_bytes + write_bytes) * 1e9 / elapsed_ns END AS bytes_per_s,
	art_ns, mrt_ns, p50_ns AS lat_p50_ns, p99_ns AS lat_p99_ns, p999_ns AS lat_p999_ns, p9999_ns AS lat_p9999_ns,
	p99999_ns AS lat_p99999_ns, inflight_avg, threads_seen, cpu_sys_pct, cpu_total_pct, temperature_c,
	host_bytes_written,
	NOT void AND NOT partial AND phase IN ('round', 'sample')
		AND COALESCE(round BETWEEN window_first AND window_last, 0) AS in_window,
	partial, void,
	ordinal, segment, min_ns AS lat_min_ns, sum_ns AS lat_sum_ns, prepared, short_ios, errnos, rate_iops,
	inflight_max, little_pct, note, members, span_first_ns, span_last_ns
FROM (SELECT c.*, s.label AS section_label, e.window_first, e.window_last,
		EXISTS (SELECT 1 FROM attempt l WHERE l.run_id = c.run_id AND l.test = c.test
			AND l.attempt > c.attempt)
		OR EXISTS (SELECT 1 FROM round_void v WHERE v.run_id = c.run_id AND v.test = c.test
			AND v.attempt = c.attempt AND v.section = c.section AND v.round IS c.round
			AND v.round_try IS c.round_try) AS void,
		x.members, x.span_first_ns, x.span_last_ns
	FROM cell c JOIN section s USING (run_id, test, attempt, section)
	LEFT JOIN section_end e USING (run_id, test, attempt, section)
	LEFT JOIN cell_set x ON x.cell_id = c.cell_id);

CREATE TRIGGER member_no_update BEFORE UPDATE ON member BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER member_no_delete BEFORE DELETE ON member BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER cell_set_no_update BEFORE UPDATE ON cell_set BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER cell_set_no_delete BEFORE DELETE ON cell_set BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
