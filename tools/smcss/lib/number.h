/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers: formatting and parsing. */
#ifndef SMC_TOOLS_NUMBER_H
#define SMC_TOOLS_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Four digits and a unit of 1000: 999, 5.076K, 200.7M */
const char *short_number(uint64_t value, char room[16]);

/* Parses a decimal number from min to max, digits only. */
bool read_number(const char *text, unsigned long min, unsigned long max, unsigned long *value);

/* For command lines: both end the program if the text is invalid. */
double parse_seconds(const char *text);
unsigned int parse_count(const char *text, const char *what);

#endif /* SMC_TOOLS_NUMBER_H */
