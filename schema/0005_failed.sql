-- SPDX-License-Identifier: MIT
-- A run that failed can be gone on with: its chain continues behind the seal, with an event "resume", and is sealed again at its
-- next end. So a seal counts while it is the last entry.

DROP VIEW v_run;
CREATE VIEW v_run AS
SELECT run_id, uuid, campaign, host_id, dut, vendor, model, serial, firmware, capacity_bytes, lba_bytes, interface,
	profile, quick, spec, definition_set, software, seed, started_utc,
	CASE WHEN state <> 'running' THEN last_utc END AS ended_utc, state,
	state = 'done' AND deviations = 0 AND NOT simulated AND NOT quick
		AND EXISTS (SELECT 1 FROM test t WHERE t.run_id = r.run_id)
		AND NOT EXISTS (SELECT 1 FROM v_planned p WHERE p.run_id = r.run_id
			AND NOT (p.formal AND COALESCE(p.verdict IN ('steady', 'done'), 0))) AS compliant,
	deviations, simulated,
	COALESCE((SELECT json_extract(detail, '$.head') FROM event WHERE event_id = seal_id),
		(SELECT hash FROM chain c WHERE c.run_id = r.run_id ORDER BY n DESC LIMIT 1)) AS digest,
	seal_id IS NOT NULL AS sealed,
	dut_path, wwid, note
FROM (SELECT run.*, e.utc AS last_utc,
		CASE WHEN e.id IS NULL THEN 'running'
			WHEN e.state IN ('interrupted', 'hung', 'failed') AND EXISTS (SELECT 1 FROM chain c
				WHERE c.run_id = run.run_id
				AND c.n > (SELECT n FROM chain WHERE tbl = 'run_end' AND row_id = e.id)
				AND (c.tbl = 'attempt' OR c.tbl = 'event' AND
					(SELECT kind FROM event WHERE event_id = c.row_id) = 'resume'))
			THEN 'running' ELSE e.state END AS state,
		(SELECT COUNT(*) FROM deviation d WHERE d.run_id = run.run_id) AS deviations,
		(SELECT s.event_id FROM chain c JOIN event s ON c.tbl = 'event' AND s.event_id = c.row_id
			WHERE c.run_id = run.run_id AND s.kind = 'seal'
			AND c.n = (SELECT MAX(n) FROM chain l WHERE l.run_id = run.run_id)) AS seal_id
	FROM run LEFT JOIN run_end e
		ON e.id = (SELECT MAX(id) FROM run_end l WHERE l.run_id = run.run_id)) r;
