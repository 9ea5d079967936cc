-- SPDX-License-Identifier: MIT
-- Exact replay: the rest of its account of itself, beside the row of fidelity.

CREATE TABLE fidelity_account (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run,
	test TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	speed TEXT NOT NULL, -- native, asap or a factor
	fit TEXT NOT NULL, -- refuse, clip, wrap, scale
	conflict_order TEXT NOT NULL, -- allow, order
	loops INTEGER NOT NULL,
	devices TEXT CHECK (devices IS NULL OR json_valid(devices)), -- {"name in the capture": "DUT", ...}
	records INTEGER NOT NULL, -- of the capture, all loops: issued + dropped, unless it was cut short
	why_dropped TEXT CHECK (why_dropped IS NULL OR json_valid(why_dropped)), -- {"reason": records, ...}
	moved INTEGER NOT NULL, -- offsets that --fit wrap or scale changed
	rounded INTEGER NOT NULL, -- offsets or lengths that are no multiple of the target's LBA size
	late_p999_ns INTEGER,
	stalls INTEGER NOT NULL, -- times that an IO was due and every slot was in flight
	stall_ns INTEGER NOT NULL,
	starved INTEGER NOT NULL, -- times that the next record was not loaded in time
	conflicts INTEGER NOT NULL, -- IOs that overlapped one in flight, a write among the two
	depth_asked_avg REAL, -- of the capture, as far as it knows completions
	depth_asked_max INTEGER,
	depth_avg REAL,
	depth_max INTEGER,
	span_asked_ns INTEGER NOT NULL, -- first to last issue: as it should be, as it was
	span_ns INTEGER NOT NULL,
	short_ios INTEGER NOT NULL,
	errors INTEGER NOT NULL,
	hung INTEGER NOT NULL, -- IOs that never came back
	valid INTEGER NOT NULL CHECK (valid IN (0, 1)),
	why_invalid TEXT
) STRICT;
CREATE INDEX fidelity_account_of ON fidelity_account (run_id);

DROP VIEW v_fidelity;
CREATE VIEW v_fidelity AS
SELECT f.run_id, f.test, f.attempt, f.issued, f.dropped, f.reordered, f.late_p50_ns, f.late_p99_ns, f.late_max_ns,
	f.span_error_pct, a.late_p999_ns, a.records, a.why_dropped, a.moved, a.rounded, a.speed, a.fit, a.conflict_order,
	a.loops, a.devices, a.stalls, a.stall_ns, a.starved, a.conflicts, a.depth_asked_avg, a.depth_asked_max, a.depth_avg,
	a.depth_max, a.span_asked_ns, a.span_ns, a.short_ios, a.errors, a.hung, a.valid, a.why_invalid
FROM fidelity f LEFT JOIN fidelity_account a USING (run_id, test, attempt);

CREATE TRIGGER fidelity_account_no_update BEFORE UPDATE ON fidelity_account BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER fidelity_account_no_delete BEFORE DELETE ON fidelity_account BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
