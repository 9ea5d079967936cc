/* SPDX-License-Identifier: MIT */
/* Private to schema/store*.c. */
#ifndef SCHEMA_STORE_PRIVATE_H
#define SCHEMA_STORE_PRIVATE_H

#include "schema/db.h"
#include "schema/store.h"

struct store {
	struct db db;
};

/* Begins an insert of a row that belongs to a section. */
int store_insert_at(struct store *s, const char *table, const struct where *at, struct insert *ret,
		    struct err *err) must_check;
/* Writes the row and its entry of the chain. @ret_id may be NULL. */
int store_add(struct store *s, struct insert *in, int64_t run, int64_t *ret_id) must_check;
/* Outside a transaction of the caller, where nothing is measured: lets the log go into the file. */
void store_rest(struct store *s);

#endif
