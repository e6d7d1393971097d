/* SPDX-License-Identifier: GPL-2.0 */
/* The parameters of the module smc. Some exist in test builds only. */
#ifndef SMC_TEST_PARAMETER_H
#define SMC_TEST_PARAMETER_H

#include <stdbool.h>
#include <stdio.h>

#include "put_file.h"

struct parameter_path {
	char name[96];
};

static inline struct parameter_path parameter_path(const char *parameter)
{
	struct parameter_path path;

	snprintf(path.name, sizeof(path.name), "/sys/module/smc/parameters/%s", parameter);
	return path;
}

/* A flag takes 1 and 0. False with errno if the parameter does not exist or refuses the value. */
static inline bool put_parameter(const char *parameter, long value)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", value);
	return put_file(parameter_path(parameter).name, text);
}

/* False if the parameter does not exist or is not a number. */
static inline bool get_parameter(const char *parameter, long *value)
{
	FILE *file = fopen(parameter_path(parameter).name, "r");
	bool ok = file && fscanf(file, "%ld", value) == 1;

	if (file)
		fclose(file);
	return ok;
}

#endif
