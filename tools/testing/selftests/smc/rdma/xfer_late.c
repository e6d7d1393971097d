// SPDX-License-Identifier: GPL-2.0
/* When the time limit is reached: prints what each thread waits for. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "xfer.h"

static void (*tell_more)(void);

void at_timeout(void (*tell)(void))
{
	tell_more = tell;
}

static void note_file(const char *tid, const char *name)
{
	char path[300], text[4096], *line, *rest;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%s/%s", tid, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		note("thread %s %s: %s", tid, name, line);
}

static void note_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		note_file(d->d_name, "syscall");
		note_file(d->d_name, "stack");
	}
	if (dir)
		closedir(dir);
}

/* A thread instead of a signal handler, which might need a lock that is held at that moment. */
static void *watch(void *arg)
{
	uint64_t end = now_ns() + opt.timeout * 1000000000ull;

	while (now_ns() < end)
		usleep(100000);
	note("no end within the time allowed");
	note_threads();
	if (tell_more)
		tell_more();
	note_sockets();
	/* The driver shows the output of the machine's tools while the sockets exist. */
	look("late");
	note("no end within the time allowed");
	_exit(3);
}

void watch_the_clock(void)
{
	pthread_t thread;

	X(-pthread_create(&thread, NULL, watch, NULL));
}
