// SPDX-License-Identifier: GPL-2.0
/* smcss -p: each socket has links to "socket:[INODE]" in /proc/PID/fd. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "number.h"
#include "process.h"

static void read_name(int proc, const char *pid, char name[64])
{
	char path[64];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%.20s/comm", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? 0 : read(fd, name, 63);
	if (fd >= 0)
		close(fd);
	name[len > 0 ? len : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

static void take_descriptor(struct array *processes, int dir, const char *fd,
			    const struct process *of)
{
	struct process found = *of;
	char target[64];
	ssize_t len = readlinkat(dir, fd, target, sizeof(target) - 1);

	if (len <= 0)
		return;
	target[len] = '\0';
	if (sscanf(target, "socket:[%" SCNu64 "]", &found.inode) != 1)
		return;
	found.fd = strtoul(fd, NULL, 10);
	*(struct process *)array_add(processes) = found;
}

/* Skips processes that may not be read, or that end meanwhile. */
static void read_process(struct array *processes, int proc, const char *pid)
{
	struct process process = { .pid = strtoul(pid, NULL, 10) };
	struct dirent *entry;
	char path[64];
	DIR *fds;
	int dir;

	snprintf(path, sizeof(path), "%.20s/fd", pid);
	dir = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fds = dir < 0 ? NULL : fdopendir(dir);
	if (!fds)
		return;
	read_name(proc, pid, process.name);
	while ((entry = readdir(fds)))
		if (entry->d_name[0] != '.')
			take_descriptor(processes, dir, entry->d_name, &process);
	closedir(fds);
}

static int by_inode(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->fd < y->fd ? -1 : x->fd > y->fd;
}

void processes_read(struct array *processes)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	unsigned long pid;

	while (proc && (entry = readdir(proc)))
		if (read_number(entry->d_name, 1, 0xffffffff, &pid))
			read_process(processes, dirfd(proc), entry->d_name);
	if (proc)
		closedir(proc);
	if (processes->count)
		qsort(processes->items, processes->count, processes->size, by_inode);
}

const struct process *processes_of(const struct array *processes, uint64_t inode, size_t *count)
{
	const struct process *all = processes->items, *first = NULL;
	size_t low = 0, high = processes->count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (all[middle].inode < inode)
			low = middle + 1;
		else
			high = middle;
	}
	for (*count = 0; low + *count < processes->count && all[low + *count].inode == inode;)
		++*count;
	if (*count)
		first = &all[low];
	return first;
}
