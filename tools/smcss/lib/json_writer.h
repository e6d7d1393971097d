/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Incremental JSON writer. Key NULL: an element of a list. Each element of the outermost list is on
 * a line of its own, for people and diff.
 */
#ifndef SMC_TOOLS_JSON_WRITER_H
#define SMC_TOOLS_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH	16

struct json {
	FILE *out;
	int depth;
	int list;		/* depth of the outermost list, 0: none yet */
	bool rest[JSON_DEPTH];	/* there is an element already: the next one needs a comma */
};

void json_begin(struct json *json, FILE *out);	/* the outermost object */
void json_end(struct json *json);
void json_object(struct json *json, const char *key);
void json_object_end(struct json *json);
void json_list(struct json *json, const char *key);
void json_list_end(struct json *json);

void json_text(struct json *json, const char *key, const char *text);
/* At most size bytes, up to the first NUL. */
void json_bytes(struct json *json, const char *key, const void *text, size_t size);
void json_number(struct json *json, const char *key, uint64_t value);
void json_ratio(struct json *json, const char *key, double value);
void json_bool(struct json *json, const char *key, bool value);
/* As a string with 0x, because many JSON parsers round 64-bit numbers. */
void json_hex(struct json *json, const char *key, int digits, uint64_t value);

#endif /* SMC_TOOLS_JSON_WRITER_H */
