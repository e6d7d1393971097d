/* SPDX-License-Identifier: GPL-2.0 */
/* For tests that write to /proc and the like. */
#ifndef SMC_TEST_PUT_FILE_H
#define SMC_TEST_PUT_FILE_H

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Writes @text in a single call; false with errno if it is refused. */
static inline bool put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

#endif
