/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers for people. */
#ifndef SMC_TOOLS_NUMBER_H
#define SMC_TOOLS_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Four digits and a unit of 1000: 999, 5.076K, 200.7M */
const char *short_number(uint64_t value, char room[16]);

/* A decimal number, digits alone, from min to max. */
bool read_number(const char *text, unsigned long min, unsigned long max, unsigned long *value);

/* From a command line; both end the program if the text is wrong. */
double parse_seconds(const char *text);
unsigned int parse_count(const char *text, const char *what);

#endif /* SMC_TOOLS_NUMBER_H */
