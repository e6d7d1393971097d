/* SPDX-License-Identifier: GPL-2.0 */
/* For unit tests: each is a program that prints results in TAP format. */
#ifndef SMC_TOOLS_TAP_H
#define SMC_TOOLS_TAP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static inline void same(const char *what, const char *got, const char *expected)
{
	if (!strcmp(got, expected)) {
		printf("ok - %s\n", what);
		return;
	}
	printf("not ok - %s\n--- expected\n%s--- got\n%s---\n", what, expected, got);
	failures++;
}

static inline void yes(const char *what, bool is)
{
	printf("%s - %s\n", is ? "ok" : "not ok", what);
	failures += !is;
}

static inline int test_result(void)
{
	printf(failures ? "%d checks failed\n" : "all checks passed\n", failures);
	return failures != 0;
}

/* Checks the text that a statement prints to "out". */
#define PRINTS(what, statement, expected) do {			\
	char *text_;						\
	size_t size_;						\
	FILE *out = open_memstream(&text_, &size_);		\
	statement;						\
	fclose(out);						\
	same(what, text_, expected);				\
	free(text_);						\
} while (0)

#endif /* SMC_TOOLS_TAP_H */
