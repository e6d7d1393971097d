/* SPDX-License-Identifier: GPL-2.0 */
/* What /proc/meminfo says.  A header, because programs of several folders use it. */
#ifndef SMC_TEST_MEMINFO_H
#define SMC_TEST_MEMINFO_H

#include <stdio.h>
#include <string.h>

/* Returns the value of the row @name in KiB, or -1 if the file lacks that row. */
static inline long meminfo_kib(const char *name)
{
	FILE *f = fopen("/proc/meminfo", "r");
	long kib = -1, value;
	char row[64];

	if (!f)
		return -1;
	while (kib < 0 && fscanf(f, " %63[^:]: %ld%*[^\n]", row, &value) == 2)
		if (!strcmp(row, name))
			kib = value;
	fclose(f);
	return kib;
}

#endif
