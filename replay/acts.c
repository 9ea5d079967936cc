/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "replay/acts.h"
#include "replay/fields.h"

static const struct act_row {
	const char *letters;
	int event; /* enum event_act; -1 = only counted */
	const char *name;
} act_rows[] = {
	{ "Q", EVENT_QUEUE, "queue" },
	{ "D", EVENT_ISSUE, "issue" },
	{ "C", EVENT_COMPLETE, "complete" },
	{ "R", EVENT_REQUEUE, "requeue" },
	{ "M", -1, "merge" },
	{ "F", -1, "merge" },
	{ "G", -1, "get request" },
	{ "S", -1, "sleep" },
	{ "P", -1, "plug" },
	{ "U", -1, "unplug" },
	{ "UT", -1, "timer unplug" },
	{ "I", -1, "insert" },
	{ "X", -1, "split" },
	{ "B", -1, "bounce" },
	{ "A", -1, "remap" },
	{ "m", -1, "message" },
	{ "ZP", -1, "zone event" },
	{ "ZU", -1, "zone event" },
	{ "ZA", -1, "zone event" },
	{ "ZM", -1, "zone event" },
	{ "NP", -1, "notify" },
	{ "N", -1, "notify" },
};

bool acts_place(const char **p, uint64_t *ret_sector, uint64_t *ret_sectors)
{
	const char *s = *p;

	take_blanks(&s);
	if (!take_u64(&s, ret_sector))
		return false;
	*ret_sectors = 0;
	take_blanks(&s);
	if (take_char(&s, '+')) {
		take_blanks(&s);
		if (!take_u64(&s, ret_sectors))
			return false;
	}
	*p = s;
	return true;
}

/* The number in the last brackets; blkparse of other hosts prints it as an unsigned 16-bit one. */
int acts_error(const char *p)
{
	const char *b = strrchr(p, '[');
	int64_t e;

	if (!b || (b++, !take_fixed(&b, 0, &e)) || e == 0)
		return 0;
	return e > 32767 && e < 65536 ? (int)(e - 65536) : e > 0 ? (int)-e : (int)e;
}

static const struct act_row *take_act(const char **p)
{
	for (size_t i = 0; i < sizeof(act_rows) / sizeof(act_rows[0]); i++) {
		size_t n = strlen(act_rows[i].letters);

		if (strncmp(*p, act_rows[i].letters, n) == 0 && ((*p)[n] == ' ' || !(*p)[n])) {
			*p += n;
			return &act_rows[i];
		}
	}
	return NULL;
}

int acts_parse(struct import *im, const char *p, struct import_event *ev)
{
	const struct act_row *act;
	const char *rwbs, *s;
	uint64_t sectors = 0;
	uint8_t op;

	take_blanks(&p);
	act = take_act(&p);
	if (!act)
		return -EINVAL;
	if (act->event < 0) {
		import_skip(im, act->name);
		return 0;
	}
	take_blanks(&p);
	rwbs = s = p;
	if (!take_rwbs(&s, 0, &op, &ev->flags))
		return -EINVAL;
	take_blanks(&s);
	/* "12288 (28 00 ...) [x]", "(28 00 ..) [0]": a command passed through; "[fio]": no size, as a flush */
	if (*s == '[') {
		ev->sector = 0;
	} else if (*s == '(' || !acts_place(&s, &ev->sector, &sectors)) {
		import_skip(im, "passthrough command");
		return 0;
	}
	take_blanks(&s);
	if (*s == '(' && ev->act != EVENT_COMPLETE && sectors == 0) {
		import_skip(im, "passthrough command");
		return 0;
	}
	ev->act = (uint8_t)act->event;
	if (__builtin_mul_overflow(sectors, 512, &ev->bytes))
		return -EINVAL;
	ev->key = ev->sector;
	ev->error = ev->act == EVENT_COMPLETE ? acts_error(s) : 0;
	return take_rwbs(&rwbs, ev->bytes, &ev->op, &ev->flags) ? 1 : -EINVAL;
}
