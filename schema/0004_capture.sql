-- SPDX-License-Identifier: MIT
-- How the capture of a run was read: the rule that made its streams, how many of them were taken, its native depth.

CREATE TABLE capture_account (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run UNIQUE,
	source TEXT, -- as the capture says
	event TEXT, -- what was counted as the IO; of a stream map 'row'
	level TEXT, -- block, file
	began_utc TEXT, -- when its first IO was, where known
	digest TEXT NOT NULL, -- of its content, 16 hex digits
	ios INTEGER NOT NULL, -- reads and writes; 0: a map with shares only
	seq_rule TEXT NOT NULL, -- 'window 32', 'strict', 'as the map says'
	n_streams INTEGER NOT NULL,
	n_dominant INTEGER NOT NULL, -- taken for the tests, the largest ones
	coverage_pct REAL, -- of all IOs, by these
	n_steps INTEGER NOT NULL,
	qd_avg REAL, -- over the busy time; NULL: the capture does not say
	qd_max REAL, -- of a step
	streams TEXT CHECK (streams IS NULL OR json_valid(streams)) -- the largest 64, by falling share
) STRICT;

DROP VIEW v_capture;
CREATE VIEW v_capture AS
SELECT c.run_id, c.name, c.format, c.sha256, c.records, c.reads, c.writes, c.bytes_read, c.bytes_written, c.duration_ns,
	c.devices, c.lost, c.step_ns, a.source, a.event, a.level, a.began_utc, a.digest, a.ios, a.seq_rule, a.n_streams,
	a.n_dominant, a.coverage_pct, a.n_steps, a.qd_avg, a.qd_max, a.streams
FROM capture c LEFT JOIN capture_account a USING (run_id);

CREATE TRIGGER capture_account_no_update BEFORE UPDATE ON capture_account BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER capture_account_no_delete BEFORE DELETE ON capture_account BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
