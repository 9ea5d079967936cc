/* SPDX-License-Identifier: MIT */
#include "pts/base/embed.h"

#include <string.h>

const struct embed *embed_find(const struct embed *list, const char *name)
{
	for (; list->name; list++)
		if (!strcmp(list->name, name))
			return list;
	return NULL;
}
