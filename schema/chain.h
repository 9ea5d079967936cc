/* SPDX-License-Identifier: MIT */
/* SHA-256 and the evidence chain: hash n = SHA-256(hash n-1, canonical text of row n). */
#ifndef SCHEMA_CHAIN_H
#define SCHEMA_CHAIN_H

#include <stddef.h>

/* Hex digest of a text; @ret gets 64 digits and a NUL. */
void sha256_hex(const char *data, size_t len, char ret[65]);

#endif
