/* SPDX-License-Identifier: MIT */
/* Captures in columns: one IO a line, fields by a separator. A format of that kind is a struct columns and a detect function. */
#ifndef REPLAY_COLUMNS_H
#define REPLAY_COLUMNS_H

#include "replay/format.h"
#include "replay/rows.h"

#define COLUMNS_MAX 32

enum column_epoch { EPOCH_NONE, EPOCH_UNIX, EPOCH_FILETIME };

struct column_time {
	int at; /* column, from 0; -1 = none */
	uint8_t digits; /* decimal digits kept: 9 of seconds, 6 of ms, 3 of us, 0 of whole numbers */
	uint8_t times; /* then multiplied: 100 of filetime, else 1; 0 of ps: divided by 1000 */
};

struct columns {
	char separator; /* ' ' = any blanks */
	struct column_time start, end; /* end alone: start = end - response */
	struct column_time response, response2; /* their sum */
	bool zero_unknown; /* a response of 0 is none */
	int device, device2, op, off, len, pid; /* device2: joined as DEVICE_DEVICE2; -1 = none */
	uint32_t off_unit, len_unit; /* bytes of a unit: 1, 512, 1024 */
	char read[16],
		write[16]; /* of the op column, whatever their case; other words: discard, flush */
	bool op_bits; /* the op column is a number in hex instead; its bit 0 means read */
	unsigned least; /* fields of a row */
	int blanks_at; /* a column that may hold blanks, separated by blanks; a row has least fields then; -1 */
	bool digits_only; /* a line that does not begin with a digit is no row */
	const char *header; /* lines before the one that begins so are no rows; NULL = none */
	unsigned skip; /* lines at the start that are no rows */
	enum column_epoch epoch;
	struct rows_rule rule; /* what is done to the rows before they are IOs */
	const char *clock; /* for the report */
};

/* No column set, comma, bytes, R/W. */
extern const struct columns columns_none;

int columns_import(const struct columns *c, struct import *im, struct input *in,
		   struct err *err) must_check;

/* --map "ts=1:us,dev=0,op=2:R/W,off=3:B,len=4:B,rt=5:us,pid=6,sep=;,header=1". -EINVAL says what is wrong in it. */
int columns_parse(const char *map, const char *time_unit, struct columns *ret,
		  struct err *err) must_check;
/* "us" -> digits and factor. columns_time(): the same for a format that needs --time-unit; -EINVAL where it is missing. */
bool columns_unit(const char *unit, struct column_time *ret);
int columns_time(const struct import *im, const struct input *in, struct column_time *ret,
		 struct err *err) must_check;

/*
 * For detect functions: the number of fields of the line at @head by @separator, the fields copied into @ret (at most
 * @n, each cut to 31 characters). 0: no whole line. INPUT_SLACK bytes behind @head + @len must be readable.
 */
struct column_field {
	char s[32];
};
unsigned columns_split(const char *head, size_t len, char separator, struct column_field *ret,
		       unsigned n);

#endif
