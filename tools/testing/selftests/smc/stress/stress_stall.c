// SPDX-License-Identifier: GPL-2.0
/*
 * Memory whose pages are supplied late: mappings of a file on our own FUSE, whose server answers a
 * read when it likes. A system call that copies from this memory sleeps with whatever lock it
 * holds. (FUSE, not userfaultfd: it also works without privileges inside a user namespace, and
 * nothing that the sleeper does, nor a signal, ends the wait.)
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "stress_stall.h"

#define DIRECTORY	"/tmp/smc_stall"
#define FILE_SIZE	(1 << 20)
#define FILE_NODE	2

static int fuse = -1, file = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { uint64_t unique; uint32_t size; } held[64];
static int n_held;
static bool holding;

static void reply(uint64_t unique, int error, const void *data, size_t len)
{
	struct fuse_out_header h = { .len = sizeof(h) + len, .error = -error, .unique = unique };
	struct iovec iov[2] = { { &h, sizeof(h) }, { (void *)data, len } };

	if (writev(fuse, iov, 2) < 0)
		perror("# the server of FUSE");
}

static void attributes(struct fuse_attr *a, uint64_t node)
{
	*a = (struct fuse_attr){ .ino = node, .nlink = 1, .size = FILE_SIZE,
				 .mode = node == FUSE_ROOT_ID ? S_IFDIR | 0777 : S_IFREG | 0666 };
}

static void answer_read(uint64_t unique, uint32_t size)
{
	static const char zeros[FILE_SIZE];

	reply(unique, 0, zeros, size < FILE_SIZE ? size : FILE_SIZE);
}

static void got_read(uint64_t unique, uint32_t size)
{
	pthread_mutex_lock(&lock);
	if (holding && n_held < (int)(sizeof(held) / sizeof(held[0]))) {
		held[n_held].unique = unique;
		held[n_held++].size = size;
		unique = 0;
	}
	pthread_mutex_unlock(&lock);
	if (unique)
		answer_read(unique, size);
}

static void *serve(void *unused)
{
	static char buf[FUSE_MIN_READ_BUFFER + (1 << 17)];
	const struct fuse_in_header *in = (void *)buf;
	const void *arg = buf + sizeof(*in);
	struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = 4096 };
	struct fuse_entry_out entry = { .nodeid = FILE_NODE, .entry_valid = -1 };
	struct fuse_attr_out attr = { .attr_valid = -1 };
	struct fuse_open_out opened = { .fh = 1 };

	while (read(fuse, buf, sizeof(buf)) > 0) {
		switch (in->opcode) {
		case FUSE_INIT:
			reply(in->unique, 0, &init, sizeof(init));
			break;
		case FUSE_LOOKUP:
			attributes(&entry.attr, FILE_NODE);
			reply(in->unique, 0, &entry, sizeof(entry));
			break;
		case FUSE_GETATTR:
			attributes(&attr.attr, in->nodeid);
			reply(in->unique, 0, &attr, sizeof(attr));
			break;
		case FUSE_OPEN:
			reply(in->unique, 0, &opened, sizeof(opened));
			break;
		case FUSE_READ:
			got_read(in->unique, ((const struct fuse_read_in *)arg)->size);
			break;
		case FUSE_FORGET:
		case FUSE_BATCH_FORGET:
			break;
		case FUSE_RELEASE:
			reply(in->unique, 0, NULL, 0);
			break;
		default:
			reply(in->unique, ENOSYS, NULL, 0);
		}
	}
	return unused;
}

bool stall_open(void)
{
	char data[100];
	pthread_t t;

	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse < 0)
		return false;
	mkdir(DIRECTORY, 0777);
	snprintf(data, sizeof(data), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fuse);
	if (mount("smc_stall", DIRECTORY, "fuse", MS_NOSUID | MS_NODEV, data) ||
	    pthread_create(&t, NULL, serve, NULL))
		return false;
	pthread_detach(t);
	file = open(DIRECTORY "/file", O_RDWR | O_CLOEXEC);
	umount2(DIRECTORY, MNT_DETACH);
	if (file < 0)
		return false;
	/*
	 * After ENOSYS the kernel does not send a flush again. At our exit it would wait for an
	 * answer of the server, which has ended by then, because the file is released late.
	 */
	close(dup(file));
	posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
	return true;
}

void stall_child(void)
{
	close(fuse);
}

char *stall_map(void)
{
	char *p = mmap(NULL, STALL_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, STALL_SIZE, MADV_RANDOM);
	return p;
}

void stall_hold(void)
{
	pthread_mutex_lock(&lock);
	holding = true;
	pthread_mutex_unlock(&lock);
	posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
}

void stall_forget(char *page)
{
	madvise(page, STALL_SIZE, MADV_DONTNEED);
}

void stall_release(void)
{
	int n;

	pthread_mutex_lock(&lock);
	holding = false;
	n = n_held;
	n_held = 0;
	for (int i = 0; i < n; i++)
		answer_read(held[i].unique, held[i].size);
	pthread_mutex_unlock(&lock);
}
