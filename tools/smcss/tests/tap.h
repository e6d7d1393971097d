/* SPDX-License-Identifier: GPL-2.0 */
/* Of the unit tests: each is a program that prints TAP's ok and not ok. */
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

/* What a statement prints to "out" is to be that text. */
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
