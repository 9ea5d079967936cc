/* SPDX-License-Identifier: MIT */
/* Private to schema/. */
#ifndef SCHEMA_READ_PRIVATE_H
#define SCHEMA_READ_PRIVATE_H

#include "schema/db.h"
#include "schema/read.h"

struct reader {
	struct db db;
};

#endif
