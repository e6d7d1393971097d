/* SPDX-License-Identifier: GPL-2.0 */
/* What a thread is doing, as /proc shows it. */
#ifndef SMC_TEST_TASK_STATE_H
#define SMC_TEST_TASK_STATE_H

#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#define SLEEPS		'S'	/* in a system call */
#define WAITS_FOR_LOCK	'D'	/* uninterruptibly: for a socket's lock, or for a page */

/* Returns the state, or 0 if the thread does not exist. */
static inline char task_state(pid_t pid, pid_t tid)
{
	char path[64], text[512], *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	file = fopen(path, "re");
	/* The name before the state may have any character. */
	end = file && fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
	if (file)
		fclose(file);
	return end ? end[2] : 0;
}

#endif
