/* SPDX-License-Identifier: MIT */
#include "schema/evidence_tables.h"

#include <string.h>

#define TEST_NAME "test || ' test'"
#define SECTION_NAME TEST_NAME " || ', section ' || section"
#define CELL_NAME \
	"'cell ' || c.ordinal || ' (' || c.test || ' test' || coalesce(', round ' || c.round, " \
	"'') || ')'"
#define OF_CELL(table) " FROM " table " s JOIN cell c USING (cell_id) WHERE s.rowid = ?"

const struct evidence_table evidence_tables[] = {
	{ "run",
	  "SELECT run_id, dut, dut_path, vendor, model, serial, wwid, firmware, interface,"
	  " capacity_bytes, lba_bytes, profile, quick, simulated, spec, definition_set, software,"
	  " seed, note, uuid AS \"~uuid\", campaign AS \"~campaign\","
	  " started_utc AS \"~started_utc\","
	  " (SELECT digest FROM host h WHERE h.host_id = r.host_id) AS \"~host\","
	  " (SELECT json_group_array(json_array(key, value)) FROM (SELECT key, value FROM run_arg a"
	  " WHERE a.run_id = r.run_id ORDER BY n)) AS \"~args\""
	  " FROM run r WHERE rowid = ?",
	  "SELECT 'its description' FROM run WHERE rowid = ?" },
	{ "member",
	  "SELECT run_id, member, dut, dut_path, vendor, model, serial, wwid, firmware, interface,"
	  " capacity_bytes, lba_bytes, identity AS \"~identity\" FROM member WHERE rowid = ?",
	  "SELECT 'member ' || member || ' (' || dut || ')' FROM member WHERE rowid = ?" },
	{ "run_info", "SELECT run_id, key, value FROM run_info WHERE rowid = ?",
	  "SELECT 'info ' || key FROM run_info WHERE rowid = ?" },
	{ "run_end", "SELECT run_id, state, utc AS \"~utc\" FROM run_end WHERE rowid = ?",
	  "SELECT 'its end (' || state || ')' FROM run_end WHERE rowid = ?" },
	{ "test",
	  "SELECT run_id, ordinal, test, title, clause, definition_hash, plan_hash, params, formal"
	  " FROM test WHERE rowid = ?",
	  "SELECT " TEST_NAME " FROM test WHERE rowid = ?" },
	{ "attempt", "SELECT run_id, test, attempt, utc AS \"~utc\" FROM attempt WHERE rowid = ?",
	  "SELECT " TEST_NAME " || ', attempt ' || attempt FROM attempt WHERE rowid = ?" },
	{ "test_end",
	  "SELECT run_id, test, attempt, steady, verdict, write_cache, detail, utc AS \"~utc\""
	  " FROM test_end WHERE rowid = ?",
	  "SELECT " TEST_NAME " || ', verdict' FROM test_end WHERE rowid = ?" },
	{ "section",
	  "SELECT run_id, test, attempt, section, label, purge_method, purge_verified FROM section"
	  " WHERE rowid = ?",
	  "SELECT " SECTION_NAME " FROM section WHERE rowid = ?" },
	{ "section_end",
	  "SELECT run_id, test, attempt, section, steady, window_first, window_last, rounds,"
	  " ended_by FROM section_end WHERE rowid = ?",
	  "SELECT " SECTION_NAME " || ', end' FROM section_end WHERE rowid = ?" },
	{ "cell",
	  "SELECT run_id, ordinal, test, attempt, section, phase, round, round_try, step, segment,"
	  " label, member, access, threads, qd, oio, scale, read_pct, block_bytes, workload,"
	  " start_ns, elapsed_ns, read_ios, write_ios, read_bytes, write_bytes, prepared,"
	  " short_ios, errors, errnos, art_ns, mrt_ns, min_ns, p50_ns, p99_ns, p999_ns, p9999_ns,"
	  " p99999_ns, sum_ns, rate_iops, inflight_avg, inflight_max, threads_seen, little_pct,"
	  " cpu_sys_pct, cpu_total_pct, temperature_c, host_bytes_written, partial, note, cursors"
	  " FROM cell WHERE rowid = ?",
	  "SELECT " CELL_NAME " FROM cell c WHERE rowid = ?" },
	{ "cell_stream",
	  "SELECT c.run_id, c.ordinal AS cell, s.stream, s.op, s.access, s.block_bytes, s.ios,"
	  " s.iops, s.art_ns, s.mrt_ns, s.p99999_ns" OF_CELL("cell_stream"),
	  "SELECT " CELL_NAME " || ': stream ' || s.stream" OF_CELL("cell_stream") },
	{ "cell_series", "SELECT c.run_id, c.ordinal AS cell, s.seconds" OF_CELL("cell_series"),
	  "SELECT " CELL_NAME " || ': per-second series'" OF_CELL("cell_series") },
	{ "cell_hist",
	  "SELECT c.run_id, c.ordinal AS cell, s.op, s.kind, s.ios, s.min_ns, s.max_ns, s.sum_ns,"
	  " s.buckets" OF_CELL("cell_hist"),
	  "SELECT " CELL_NAME
	  " || ': ' || s.op || ' ' || s.kind || ' histogram'" OF_CELL("cell_hist") },
	{ "cell_set",
	  "SELECT c.run_id, c.ordinal AS cell, s.members, s.span_first_ns, s.span_last_ns" OF_CELL(
		  "cell_set"),
	  "SELECT " CELL_NAME " || ': spans of its members'" OF_CELL("cell_set") },
	{ "round_void",
	  "SELECT run_id, test, attempt, section, round, round_try, reason FROM round_void"
	  " WHERE rowid = ?",
	  "SELECT " SECTION_NAME " || ', void round' || coalesce(' ' || round, '')"
	  " FROM round_void WHERE rowid = ?" },
	{ "round",
	  "SELECT run_id, test, attempt, section, round, round_try, variable, value, first_round,"
	  " y1, y2, y3, y4, y5, average, range, range_allowed, slope, intercept, slope_excursion,"
	  " slope_allowed, correlation, steady FROM round WHERE rowid = ?",
	  "SELECT " SECTION_NAME " || ', steady-state check of round ' || round FROM round"
	  " WHERE rowid = ?" },
	{ "point",
	  "SELECT run_id, test, attempt, section, point, threads, qd, iops, art_ns, p99999_ns,"
	  " reason FROM point WHERE rowid = ?",
	  "SELECT " SECTION_NAME " || ', point ' || point FROM point WHERE rowid = ?" },
	{ "capture",
	  "SELECT run_id, name, format, sha256, records, reads, writes, bytes_read, bytes_written,"
	  " duration_ns, devices, lost, step_ns FROM capture WHERE rowid = ?",
	  "SELECT 'capture ' || name FROM capture WHERE rowid = ?" },
	{ "capture_step",
	  "SELECT run_id, step, start_ns, ios, bytes, qd_avg, qd_max, art_ns, streams"
	  " FROM capture_step WHERE rowid = ?",
	  "SELECT 'capture step ' || step FROM capture_step WHERE rowid = ?" },
	{ "capture_account",
	  "SELECT run_id, source, event, level, began_utc, digest, ios, seq_rule, n_streams,"
	  " n_dominant, coverage_pct, n_steps, qd_avg, qd_max, streams FROM capture_account"
	  " WHERE rowid = ?",
	  "SELECT 'how the capture was read' FROM capture_account WHERE rowid = ?" },
	{ "fidelity",
	  "SELECT run_id, test, attempt, issued, dropped, reordered, late_p50_ns, late_p99_ns,"
	  " late_max_ns, span_error_pct FROM fidelity WHERE rowid = ?",
	  "SELECT " TEST_NAME " || ', fidelity of the replay' FROM fidelity WHERE rowid = ?" },
	{ "fidelity_account",
	  "SELECT run_id, test, attempt, speed, fit, conflict_order, loops, devices, records,"
	  " why_dropped, moved, rounded, late_p999_ns, stalls, stall_ns, starved, conflicts,"
	  " depth_asked_avg, depth_asked_max, depth_avg, depth_max, span_asked_ns, span_ns,"
	  " short_ios, errors, hung, valid, why_invalid FROM fidelity_account WHERE rowid = ?",
	  "SELECT " TEST_NAME " || ', account of the replay' FROM fidelity_account"
	  " WHERE rowid = ?" },
	{ "deviation", "SELECT run_id, clause, text FROM deviation WHERE rowid = ?",
	  "SELECT 'deviation (' || clause || ': ' || text || ')' FROM deviation WHERE rowid = ?" },
	{ "event", "SELECT run_id, kind, detail, utc AS \"~utc\" FROM event WHERE rowid = ?",
	  "SELECT 'event ' || event_id || ' (' || kind || ')' FROM event WHERE rowid = ?" },
	{ NULL, NULL, NULL },
};

const struct evidence_table *evidence_table(const char *name)
{
	for (const struct evidence_table *t = evidence_tables; t->name; t++)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}
