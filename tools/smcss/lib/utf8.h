/* SPDX-License-Identifier: GPL-2.0 */
/* Names that others choose, such as those of processes, may contain anything. */
#ifndef SMC_TOOLS_UTF8_H
#define SMC_TOOLS_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The length of the character at the beginning of a text, and its code. A byte that is not part of
 * well-formed UTF-8 (RFC 3629) counts as a character of Latin-1.
 */
size_t utf8_character(const uint8_t *text, size_t room, uint32_t *code);

/* False for control characters, and for bytes that are not part of well-formed UTF-8. */
bool utf8_printable(uint32_t code, size_t length);

/* Number of characters, which the columns of a table count. */
int utf8_width(const char *text);

/* Prints a text with '?' for what is not printable: a terminal might obey it. */
void utf8_print(FILE *out, const char *text);

#endif /* SMC_TOOLS_UTF8_H */
