// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "json_writer.h"
#include "utf8.h"

/* Writes comma, line break and key in front of an element. */
static void element(struct json *json, const char *key)
{
	bool lines = json->list && json->depth == json->list;

	if (json->rest[json->depth])
		fputs(lines ? "," : ", ", json->out);
	if (lines)
		fputs("\n  ", json->out);
	json->rest[json->depth] = true;
	if (key)
		fprintf(json->out, "\"%s\": ", key);
}

static void down(struct json *json, char bracket)
{
	fputc(bracket, json->out);
	json->rest[++json->depth] = false;
}

void json_begin(struct json *json, FILE *out)
{
	*json = (struct json){ .out = out };
	fputc('{', out);
}

void json_end(struct json *json)
{
	fputs("}\n", json->out);
}

void json_object(struct json *json, const char *key)
{
	element(json, key);
	down(json, '{');
}

void json_object_end(struct json *json)
{
	json->depth--;
	fputc('}', json->out);
}

void json_list(struct json *json, const char *key)
{
	element(json, key);
	down(json, '[');
	if (!json->list)
		json->list = json->depth;
}

void json_list_end(struct json *json)
{
	if (json->list == json->depth) {
		if (json->rest[json->depth])
			fputc('\n', json->out);
		json->list = 0;
	}
	json->depth--;
	fputc(']', json->out);
}

/* Names come from drivers, peers and users: escape all that could end a string or a line. */
void json_bytes(struct json *json, const char *key, const void *bytes, size_t size)
{
	const uint8_t *text = bytes;
	size_t i, length;
	uint32_t code;

	element(json, key);
	fputc('"', json->out);
	for (i = 0; i < size && text[i]; i += length) {
		length = utf8_character(text + i, size - i, &code);
		if (code == '"' || code == '\\')
			fprintf(json->out, "\\%c", code);
		else if (!utf8_printable(code, length))
			fprintf(json->out, "\\u%04x", code);
		else
			fwrite(text + i, 1, length, json->out);
	}
	fputc('"', json->out);
}

void json_text(struct json *json, const char *key, const char *text)
{
	json_bytes(json, key, text, strlen(text));
}

void json_number(struct json *json, const char *key, uint64_t value)
{
	element(json, key);
	fprintf(json->out, "%llu", (unsigned long long)value);
}

void json_ratio(struct json *json, const char *key, double value)
{
	element(json, key);
	fprintf(json->out, "%.4f", value);
}

void json_bool(struct json *json, const char *key, bool value)
{
	element(json, key);
	fputs(value ? "true" : "false", json->out);
}

void json_hex(struct json *json, const char *key, int digits, uint64_t value)
{
	element(json, key);
	fprintf(json->out, "\"0x%0*llx\"", digits, (unsigned long long)value);
}
