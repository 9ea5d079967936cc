/* SPDX-License-Identifier: MIT */
/* Private to schema/: which columns of which tables a hash covers. */
#ifndef SCHEMA_EVIDENCE_TABLES_H
#define SCHEMA_EVIDENCE_TABLES_H

/*
 * @sql gives for a rowid: the run, then the covered columns. Rows of a cell name it by its ordinal,
 * as no id may enter a hash. A name that begins with ~ goes into the row's stamp instead of its
 * hash. The lists are version 1 of the canonical text ("pts-row/1"): a change of a list is a new
 * version beside it, for old rows keep theirs.
 * @what gives the row's name for people.
 */
struct evidence_table {
	const char *name, *sql, *what;
};

/* Ends with name NULL. */
extern const struct evidence_table evidence_tables[];
const struct evidence_table *evidence_table(const char *name);

#endif
