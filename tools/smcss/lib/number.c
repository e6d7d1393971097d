// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "complain.h"
#include "number.h"

const char *short_number(uint64_t value, char room[16])
{
	static const char units[] = " KMGTPE";
	double rest = value;
	int unit = 0;

	while (rest >= 999.95 && unit < 6) {
		rest /= 1000;
		unit++;
	}
	if (!unit)
		snprintf(room, 16, "%llu", (unsigned long long)value);
	else
		snprintf(room, 16, "%.*f%c", rest < 10 ? 3 : rest < 100 ? 2 : 1, rest, units[unit]);
	return room;
}

double parse_seconds(const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0.1 && seconds <= 1e6))
		usage_error("'%s' is not a number of seconds, as in 1 or 0.5", text);
	return seconds;
}

bool read_number(const char *text, unsigned long min, unsigned long max, unsigned long *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*value = strtoul(text, &end, 10);	/* ULONG_MAX on overflow */
	return !*end && *value >= min && *value <= max;
}

unsigned int parse_count(const char *text, const char *what)
{
	unsigned long count;

	if (!read_number(text, 1, 1000000000, &count))
		usage_error("'%s' is not a number of %s", text, what);
	return count;
}
