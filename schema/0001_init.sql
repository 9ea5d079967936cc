-- SPDX-License-Identifier: MIT
-- Evidence of runs. Every table is append-only (triggers below); what people query are the views at the end.
--
-- Identity of the file: application_id 0x50545331 ("PTS1"), user_version = number of the newest migration applied.
-- NULL is "unknown" or "not applicable" everywhere. Times are ns on the DUT's clock unless the name ends in _utc.
-- Each row of a run is an entry of that run's chain: schema/chain.c says which columns its hash covers.

PRAGMA application_id = 0x50545331;

-- ---- what runs share: machines, texts ----

CREATE TABLE host (
	host_id INTEGER PRIMARY KEY,
	digest TEXT NOT NULL UNIQUE -- SHA-256 over its facts: equal machines share one row
) STRICT;

CREATE TABLE host_fact (
	host_id INTEGER NOT NULL REFERENCES host,
	n INTEGER NOT NULL,
	key TEXT NOT NULL,
	value TEXT,
	PRIMARY KEY (host_id, n)
) STRICT, WITHOUT ROWID;

-- Definitions and plans by the SHA-256 of their text, so that the same text is kept once.
CREATE TABLE document (
	hash TEXT PRIMARY KEY,
	body TEXT
) STRICT, WITHOUT ROWID;

-- ---- a run and its plan ----

CREATE TABLE run (
	run_id INTEGER PRIMARY KEY,
	uuid TEXT NOT NULL UNIQUE,
	campaign TEXT,
	host_id INTEGER NOT NULL REFERENCES host,
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
	profile TEXT NOT NULL,
	quick INTEGER NOT NULL CHECK (quick IN (0, 1)),
	simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
	spec TEXT NOT NULL,
	definition_set INTEGER NOT NULL,
	software TEXT NOT NULL,
	seed INTEGER NOT NULL, -- 64 bits, as two's complement
	note TEXT,
	started_utc TEXT NOT NULL
) STRICT;

-- What `pts resume` needs to begin as this run began; in order, keys may repeat.
CREATE TABLE run_arg (
	run_id INTEGER NOT NULL REFERENCES run,
	n INTEGER NOT NULL,
	key TEXT NOT NULL,
	value TEXT,
	PRIMARY KEY (run_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_info (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run,
	key TEXT NOT NULL,
	value TEXT
) STRICT;
CREATE INDEX run_info_of ON run_info (run_id);

-- A run stopped here; an interrupted one may go on below.
CREATE TABLE run_end (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run,
	state TEXT NOT NULL CHECK (state IN ('done', 'failed', 'interrupted', 'hung')),
	utc TEXT NOT NULL
) STRICT;
CREATE INDEX run_end_of ON run_end (run_id);

CREATE TABLE test (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run,
	ordinal INTEGER NOT NULL,
	test TEXT NOT NULL,
	title TEXT,
	clause TEXT,
	definition_hash TEXT NOT NULL REFERENCES document,
	plan_hash TEXT NOT NULL REFERENCES document,
	params TEXT CHECK (params IS NULL OR json_valid(params)),
	formal INTEGER NOT NULL CHECK (formal IN (0, 1)),
	UNIQUE (run_id, test),
	UNIQUE (run_id, ordinal)
) STRICT;

CREATE TABLE attempt (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL,
	test TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	utc TEXT NOT NULL,
	UNIQUE (run_id, test, attempt),
	FOREIGN KEY (run_id, test) REFERENCES test (run_id, test)
) STRICT;

CREATE TABLE test_end (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL,
	test TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	steady INTEGER CHECK (steady IN (0, 1)),
	verdict TEXT NOT NULL,
	write_cache TEXT,
	detail TEXT,
	utc TEXT NOT NULL,
	UNIQUE (run_id, test, attempt),
	FOREIGN KEY (run_id, test, attempt) REFERENCES attempt (run_id, test, attempt)
) STRICT;

CREATE TABLE section (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL,
	test TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	section INTEGER NOT NULL,
	label TEXT,
	purge_method TEXT,
	purge_verified INTEGER CHECK (purge_verified IN (0, 1)),
	UNIQUE (run_id, test, attempt, section),
	FOREIGN KEY (run_id, test, attempt) REFERENCES attempt (run_id, test, attempt)
) STRICT;

CREATE TABLE section_end (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL,
	test TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	section INTEGER NOT NULL,
	steady INTEGER CHECK (steady IN (0, 1)),
	window_first INTEGER,
	window_last INTEGER,
	rounds INTEGER,
	ended_by TEXT,
	UNIQUE (run_id, test, attempt, section),
	FOREIGN KEY (run_id, test, attempt, section) REFERENCES section (run_id, test, attempt, section)
) STRICT;

-- ---- measurements ----

CREATE TABLE cell (
	cell_id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL,
	ordinal INTEGER NOT NULL, -- place in the run, from 1
	test TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	section INTEGER NOT NULL,
	phase TEXT NOT NULL,
	round INTEGER,
	round_try INTEGER,
	step INTEGER NOT NULL,
	segment INTEGER NOT NULL,
	label TEXT,
	member INTEGER,
	access TEXT,
	threads INTEGER,
	qd INTEGER,
	oio INTEGER,
	scale REAL,
	read_pct REAL,
	block_bytes INTEGER,
	workload TEXT CHECK (workload IS NULL OR json_valid(workload)),
	start_ns INTEGER NOT NULL,
	elapsed_ns INTEGER NOT NULL,
	read_ios INTEGER NOT NULL,
	write_ios INTEGER NOT NULL,
	read_bytes INTEGER NOT NULL,
	write_bytes INTEGER NOT NULL,
	prepared INTEGER NOT NULL,
	short_ios INTEGER NOT NULL,
	errors INTEGER NOT NULL,
	errnos TEXT,
	art_ns REAL,
	mrt_ns INTEGER,
	min_ns INTEGER,
	p50_ns INTEGER,
	p99_ns INTEGER,
	p999_ns INTEGER,
	p9999_ns INTEGER,
	p99999_ns INTEGER,
	sum_ns REAL,
	rate_iops REAL,
	inflight_avg REAL,
	inflight_max INTEGER,
	threads_seen INTEGER,
	little_pct REAL,
	cpu_sys_pct REAL,
	cpu_total_pct REAL,
	temperature_c REAL,
	host_bytes_written INTEGER NOT NULL,
	partial INTEGER NOT NULL CHECK (partial IN (0, 1)),
	note TEXT,
	cursors TEXT CHECK (cursors IS NULL OR json_valid(cursors)),
	UNIQUE (run_id, ordinal),
	FOREIGN KEY (run_id, test, attempt, section) REFERENCES section (run_id, test, attempt, section)
) STRICT;

CREATE TABLE cell_stream (
	id INTEGER PRIMARY KEY,
	cell_id INTEGER NOT NULL REFERENCES cell,
	stream INTEGER NOT NULL, -- from 1
	op TEXT NOT NULL,
	access TEXT,
	block_bytes INTEGER NOT NULL,
	ios INTEGER NOT NULL,
	iops REAL,
	art_ns REAL,
	mrt_ns INTEGER,
	p99999_ns INTEGER,
	UNIQUE (cell_id, stream)
) STRICT;

-- seconds: [[second, ios, bytes, art_ns, mrt_ns], ...]
CREATE TABLE cell_series (
	cell_id INTEGER PRIMARY KEY REFERENCES cell,
	seconds TEXT NOT NULL CHECK (json_valid(seconds))
) STRICT;

-- buckets: {"I": [count, count, ...], ...}: the counts of buckets I, I+1, ... Bucket i < 256 holds the value i; above,
-- each octave has 256 buckets (v_histogram gives their limits in ns).
CREATE TABLE cell_hist (
	id INTEGER PRIMARY KEY,
	cell_id INTEGER NOT NULL REFERENCES cell,
	op TEXT NOT NULL CHECK (op IN ('R', 'W')),
	kind TEXT NOT NULL CHECK (kind IN ('service', 'response')),
	ios INTEGER NOT NULL,
	min_ns INTEGER NOT NULL,
	max_ns INTEGER NOT NULL,
	sum_ns ANY NOT NULL, -- INTEGER; REAL when it is 2^63 ns or more
	buckets TEXT NOT NULL CHECK (json_valid(buckets)),
	UNIQUE (cell_id, op, kind)
) STRICT;

-- The cells of this round (round NULL: outside a loop) are void from here on.
CREATE TABLE round_void (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL,
	test TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	section INTEGER NOT NULL,
	round INTEGER,
	round_try INTEGER,
	reason TEXT NOT NULL,
	FOREIGN KEY (run_id, test, attempt, section) REFERENCES section (run_id, test, attempt, section)
) STRICT;
CREATE INDEX round_void_of ON round_void (run_id, test, attempt, section, round);

-- A closed round: one row for each tracked variable; the check is NULL while the window is not full.
CREATE TABLE round (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL,
	test TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	section INTEGER NOT NULL,
	round INTEGER NOT NULL,
	round_try INTEGER,
	variable TEXT NOT NULL,
	value REAL,
	first_round INTEGER,
	y1 REAL, y2 REAL, y3 REAL, y4 REAL, y5 REAL,
	average REAL,
	range REAL,
	range_allowed REAL,
	slope REAL,
	intercept REAL,
	slope_excursion REAL,
	slope_allowed REAL,
	correlation REAL,
	steady INTEGER CHECK (steady IN (0, 1)),
	FOREIGN KEY (run_id, test, attempt, section) REFERENCES section (run_id, test, attempt, section)
) STRICT;
CREATE INDEX round_of ON round (run_id, test, attempt, section);

CREATE TABLE point (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL,
	test TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	section INTEGER NOT NULL,
	point TEXT NOT NULL,
	threads INTEGER,
	qd INTEGER,
	iops REAL,
	art_ns REAL,
	p99999_ns INTEGER,
	reason TEXT,
	FOREIGN KEY (run_id, test, attempt, section) REFERENCES section (run_id, test, attempt, section)
) STRICT;
CREATE INDEX point_of ON point (run_id);

-- ---- captures: what RWSW and exact replay worked from ----

CREATE TABLE capture (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run,
	name TEXT NOT NULL,
	format TEXT,
	sha256 TEXT,
	records INTEGER NOT NULL,
	reads INTEGER,
	writes INTEGER,
	bytes_read INTEGER,
	bytes_written INTEGER,
	duration_ns INTEGER,
	devices TEXT CHECK (devices IS NULL OR json_valid(devices)),
	lost INTEGER,
	step_ns INTEGER
) STRICT;
CREATE INDEX capture_of ON capture (run_id);

CREATE TABLE capture_step (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run,
	step INTEGER NOT NULL,
	start_ns INTEGER NOT NULL,
	ios INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	qd_avg REAL,
	qd_max INTEGER,
	art_ns REAL,
	streams TEXT CHECK (streams IS NULL OR json_valid(streams)),
	UNIQUE (run_id, step)
) STRICT;

CREATE TABLE fidelity (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run,
	test TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	issued INTEGER NOT NULL,
	dropped INTEGER NOT NULL,
	reordered INTEGER NOT NULL,
	late_p50_ns INTEGER,
	late_p99_ns INTEGER,
	late_max_ns INTEGER,
	span_error_pct REAL
) STRICT;
CREATE INDEX fidelity_of ON fidelity (run_id);

-- ---- account ----

CREATE TABLE deviation (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run,
	clause TEXT NOT NULL,
	text TEXT NOT NULL,
	UNIQUE (run_id, clause, text)
) STRICT;

CREATE TABLE event (
	event_id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run,
	utc TEXT NOT NULL,
	kind TEXT NOT NULL,
	detail TEXT CHECK (detail IS NULL OR json_valid(detail))
) STRICT;
CREATE INDEX event_of ON event (run_id, kind);

-- Entry n of a run's chain belongs to row row_id of table tbl. hash = SHA-256(hash of entry n-1 as hex, "" before the
-- first; canonical text of the row). stamp = SHA-256(hash; what is the run's own but no measurement: times of day, uuid,
-- host), NULL for rows without. stamp is no part of the next hash: equal runs have equal hashes.
CREATE TABLE chain (
	run_id INTEGER NOT NULL REFERENCES run,
	n INTEGER NOT NULL,
	tbl TEXT NOT NULL,
	row_id INTEGER NOT NULL,
	hash TEXT NOT NULL,
	stamp TEXT,
	PRIMARY KEY (run_id, n)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX chain_row ON chain (tbl, row_id);

-- ---- views: for everyone; columns are only ever added, at the end ----

CREATE VIEW v_host AS SELECT host_id, key, value FROM host_fact;

CREATE VIEW v_info AS SELECT run_id, key, value FROM run_info;

CREATE VIEW v_deviation AS SELECT run_id, clause, text FROM deviation;

CREATE VIEW v_event AS
SELECT e.event_id, e.run_id, e.utc, e.kind, e.detail,
	(SELECT hash FROM chain WHERE tbl = 'event' AND row_id = e.event_id) AS hash
FROM event e;

CREATE VIEW v_chain AS SELECT run_id, n, tbl, row_id, hash, stamp FROM chain;

-- One row per test of the run's plan, attempted or not. finished: its last attempt came to an end.
CREATE VIEW v_planned AS
SELECT t.run_id, t.ordinal, t.test, t.title, t.clause, t.formal, t.definition_hash, t.plan_hash, t.params,
	t.attempts, e.id IS NOT NULL AS finished, e.verdict
FROM (SELECT *, (SELECT COALESCE(MAX(a.attempt), 0) FROM attempt a
		WHERE a.run_id = test.run_id AND a.test = test.test) AS attempts FROM test) t
LEFT JOIN test_end e ON e.run_id = t.run_id AND e.test = t.test AND e.attempt = t.attempts;

-- A run that ended is running again when its chain goes on with an attempt or a resume.
CREATE VIEW v_run AS
SELECT run_id, uuid, campaign, host_id, dut, vendor, model, serial, firmware, capacity_bytes, lba_bytes, interface,
	profile, quick, spec, definition_set, software, seed, started_utc,
	CASE WHEN state <> 'running' THEN last_utc END AS ended_utc, state,
	state = 'done' AND deviations = 0 AND NOT simulated AND NOT quick
		AND EXISTS (SELECT 1 FROM test t WHERE t.run_id = r.run_id)
		AND NOT EXISTS (SELECT 1 FROM v_planned p WHERE p.run_id = r.run_id
			AND NOT (p.formal AND COALESCE(p.verdict IN ('steady', 'done'), 0))) AS compliant,
	deviations, simulated,
	COALESCE((SELECT json_extract(detail, '$.head') FROM event e WHERE e.run_id = r.run_id AND kind = 'seal'),
		(SELECT hash FROM chain c WHERE c.run_id = r.run_id ORDER BY n DESC LIMIT 1)) AS digest,
	EXISTS (SELECT 1 FROM event e WHERE e.run_id = r.run_id AND kind = 'seal') AS sealed,
	dut_path, wwid, note
FROM (SELECT run.*, e.utc AS last_utc,
		CASE WHEN e.id IS NULL THEN 'running'
			WHEN e.state IN ('interrupted', 'hung') AND EXISTS (SELECT 1 FROM chain c
				WHERE c.run_id = run.run_id
				AND c.n > (SELECT n FROM chain WHERE tbl = 'run_end' AND row_id = e.id)
				AND (c.tbl = 'attempt' OR c.tbl = 'event' AND
					(SELECT kind FROM event WHERE event_id = c.row_id) = 'resume'))
			THEN 'running' ELSE e.state END AS state,
		(SELECT COUNT(*) FROM deviation d WHERE d.run_id = run.run_id) AS deviations
	FROM run LEFT JOIN run_end e
		ON e.id = (SELECT MAX(id) FROM run_end l WHERE l.run_id = run.run_id)) r;

CREATE VIEW v_section AS
SELECT s.run_id, s.test, s.attempt, s.section, s.label AS section_label, s.purge_method, s.purge_verified,
	e.steady, e.window_first, e.window_last,
	COALESCE(e.rounds, (SELECT COUNT(DISTINCT r.round) FROM round r WHERE r.run_id = s.run_id
		AND r.test = s.test AND r.attempt = s.attempt AND r.section = s.section)) AS rounds,
	e.ended_by, e.id IS NOT NULL AS ended,
	EXISTS (SELECT 1 FROM attempt l WHERE l.run_id = s.run_id AND l.test = s.test
		AND l.attempt > s.attempt) AS void
FROM section s LEFT JOIN section_end e USING (run_id, test, attempt, section);

-- A test is steady when all its sections with a rule are. Purge and window are given where its sections agree.
CREATE VIEW v_test AS
SELECT a.run_id, a.test, a.attempt, t.definition_hash, t.params,
	CASE WHEN COUNT(DISTINCT s.purge_method) = 1 THEN MIN(s.purge_method)
		ELSE GROUP_CONCAT(DISTINCT s.purge_method) END AS purge_method,
	CASE WHEN MIN(s.purge_verified) = 0 OR COUNT(s.purge_verified) = COUNT(s.purge_method)
		THEN MIN(s.purge_verified) END AS purge_verified,
	e.write_cache,
	CASE WHEN MIN(s.steady) = 0 THEN 0
		WHEN e.id IS NOT NULL THEN COALESCE(MIN(s.steady), e.steady) END AS steady,
	CASE WHEN COUNT(DISTINCT s.window_first) = 1 THEN MIN(s.window_first) END AS window_first,
	CASE WHEN COUNT(DISTINCT s.window_last) = 1 THEN MIN(s.window_last) END AS window_last,
	COALESCE(SUM(s.rounds), 0) AS rounds,
	e.verdict,
	EXISTS (SELECT 1 FROM attempt l WHERE l.run_id = a.run_id AND l.test = a.test
		AND l.attempt > a.attempt) AS void,
	t.ordinal, t.title, t.clause, t.formal, e.detail, a.utc AS started_utc, e.utc AS ended_utc, t.plan_hash,
	(SELECT body FROM document WHERE hash = t.definition_hash) AS definition,
	(SELECT body FROM document WHERE hash = t.plan_hash) AS plan
FROM attempt a JOIN test t USING (run_id, test)
LEFT JOIN test_end e USING (run_id, test, attempt)
LEFT JOIN v_section s USING (run_id, test, attempt)
GROUP BY a.id;

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
	inflight_max, little_pct, note
FROM (SELECT c.*, s.label AS section_label, e.window_first, e.window_last,
		EXISTS (SELECT 1 FROM attempt l WHERE l.run_id = c.run_id AND l.test = c.test
			AND l.attempt > c.attempt)
		OR EXISTS (SELECT 1 FROM round_void v WHERE v.run_id = c.run_id AND v.test = c.test
			AND v.attempt = c.attempt AND v.section = c.section AND v.round IS c.round
			AND v.round_try IS c.round_try) AS void
	FROM cell c JOIN section s USING (run_id, test, attempt, section)
	LEFT JOIN section_end e USING (run_id, test, attempt, section));

CREATE VIEW v_stream AS
SELECT s.cell_id, s.stream, s.op, s.access, s.block_bytes, s.ios, s.iops, s.art_ns, s.mrt_ns,
	s.p99999_ns AS lat_p99999_ns, c.run_id
FROM cell_stream s JOIN cell c USING (cell_id);

CREATE VIEW v_histogram AS
SELECT cell_id, op, kind,
	CASE WHEN i < 256 THEN i ELSE ((i & 255) | 256) << ((i >> 8) - 1) END AS low_ns,
	CASE WHEN i < 255 THEN i + 1 ELSE (((i + 1) & 255) | 256) << (((i + 1) >> 8) - 1) END AS high_ns,
	count, run_id
FROM (SELECT h.cell_id, h.op, h.kind, CAST(b.key AS INTEGER) + k.key AS i, k.value AS count, c.run_id
	FROM cell_hist h JOIN cell c USING (cell_id), json_each(h.buckets) b, json_each(b.value) k
	WHERE k.value > 0);

CREATE VIEW v_second AS
SELECT s.cell_id, json_extract(e.value, '$[0]') AS second, json_extract(e.value, '$[1]') AS ios,
	json_extract(e.value, '$[2]') AS bytes, json_extract(e.value, '$[3]') AS art_ns,
	json_extract(e.value, '$[4]') AS mrt_ns, c.run_id
FROM cell_series s JOIN cell c USING (cell_id), json_each(s.seconds) e;

CREATE VIEW v_round AS
SELECT r.run_id, r.test, r.attempt, r.section, r.round, r.round_try, r.variable, r.value,
	EXISTS (SELECT 1 FROM attempt l WHERE l.run_id = r.run_id AND l.test = r.test AND l.attempt > r.attempt)
	OR EXISTS (SELECT 1 FROM round_void v WHERE v.run_id = r.run_id AND v.test = r.test AND v.attempt = r.attempt
		AND v.section = r.section AND v.round = r.round AND v.round_try IS r.round_try) AS void
FROM round r;

CREATE VIEW v_steady AS
SELECT r.run_id, r.test, r.attempt, r.section, r.variable, r.round, r.first_round, r.y1, r.y2, r.y3, r.y4, r.y5,
	r.average, r.range, r.range_allowed, r.slope, r.intercept, r.slope_excursion, r.slope_allowed, r.correlation,
	r.steady, r.round_try, r.value,
	EXISTS (SELECT 1 FROM attempt l WHERE l.run_id = r.run_id AND l.test = r.test
		AND l.attempt > r.attempt) AS void
FROM round r WHERE r.first_round IS NOT NULL;

CREATE VIEW v_point AS
SELECT p.run_id, p.test, p.section, p.point, p.threads, p.qd, p.iops, p.art_ns, p.p99999_ns AS lat_p99999_ns, p.reason,
	p.attempt,
	EXISTS (SELECT 1 FROM attempt l WHERE l.run_id = p.run_id AND l.test = p.test
		AND l.attempt > p.attempt) AS void
FROM point p;

CREATE VIEW v_capture AS
SELECT run_id, name, format, sha256, records, reads, writes, bytes_read, bytes_written, duration_ns, devices, lost,
	step_ns
FROM capture;

CREATE VIEW v_capture_step AS
SELECT run_id, step, start_ns, ios, bytes, qd_avg, qd_max, art_ns, streams FROM capture_step;

CREATE VIEW v_fidelity AS
SELECT run_id, test, attempt, issued, dropped, reordered, late_p50_ns, late_p99_ns, late_max_ns, span_error_pct
FROM fidelity;

-- ---- append-only: a change of evidence is an error, even by hand ----

CREATE TRIGGER host_no_update BEFORE UPDATE ON host BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER host_no_delete BEFORE DELETE ON host BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER host_fact_no_update BEFORE UPDATE ON host_fact BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER host_fact_no_delete BEFORE DELETE ON host_fact BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER document_no_update BEFORE UPDATE ON document BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER document_no_delete BEFORE DELETE ON document BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER run_no_update BEFORE UPDATE ON run BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER run_no_delete BEFORE DELETE ON run BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER run_arg_no_update BEFORE UPDATE ON run_arg BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER run_arg_no_delete BEFORE DELETE ON run_arg BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER run_info_no_update BEFORE UPDATE ON run_info BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER run_info_no_delete BEFORE DELETE ON run_info BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER run_end_no_update BEFORE UPDATE ON run_end BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER run_end_no_delete BEFORE DELETE ON run_end BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER test_no_update BEFORE UPDATE ON test BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER test_no_delete BEFORE DELETE ON test BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER attempt_no_update BEFORE UPDATE ON attempt BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER attempt_no_delete BEFORE DELETE ON attempt BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER test_end_no_update BEFORE UPDATE ON test_end BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER test_end_no_delete BEFORE DELETE ON test_end BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER section_no_update BEFORE UPDATE ON section BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER section_no_delete BEFORE DELETE ON section BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER section_end_no_update BEFORE UPDATE ON section_end BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER section_end_no_delete BEFORE DELETE ON section_end BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER cell_no_update BEFORE UPDATE ON cell BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER cell_no_delete BEFORE DELETE ON cell BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER cell_stream_no_update BEFORE UPDATE ON cell_stream BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER cell_stream_no_delete BEFORE DELETE ON cell_stream BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER cell_series_no_update BEFORE UPDATE ON cell_series BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER cell_series_no_delete BEFORE DELETE ON cell_series BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER cell_hist_no_update BEFORE UPDATE ON cell_hist BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER cell_hist_no_delete BEFORE DELETE ON cell_hist BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER round_void_no_update BEFORE UPDATE ON round_void BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER round_void_no_delete BEFORE DELETE ON round_void BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER round_no_update BEFORE UPDATE ON round BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER round_no_delete BEFORE DELETE ON round BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER point_no_update BEFORE UPDATE ON point BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER point_no_delete BEFORE DELETE ON point BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER capture_no_update BEFORE UPDATE ON capture BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER capture_no_delete BEFORE DELETE ON capture BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER capture_step_no_update BEFORE UPDATE ON capture_step BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER capture_step_no_delete BEFORE DELETE ON capture_step BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER fidelity_no_update BEFORE UPDATE ON fidelity BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER fidelity_no_delete BEFORE DELETE ON fidelity BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER deviation_no_update BEFORE UPDATE ON deviation BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER deviation_no_delete BEFORE DELETE ON deviation BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER event_no_update BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER event_no_delete BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER chain_no_update BEFORE UPDATE ON chain BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
CREATE TRIGGER chain_no_delete BEFORE DELETE ON chain BEGIN SELECT RAISE(ABORT, 'evidence is only ever added'); END;
