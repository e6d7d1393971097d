// SPDX-License-Identifier: GPL-2.0
/*
 * ism-model [--fault=N:VALUE] DIRECTORY
 *
 * A model of IBM's ISM function for one or two User Mode Linux kernels. It listens at DIRECTORY/1
 * and DIRECTORY/2. A kernel connects with virtio_uml.device=SOCKET:ID, where ID is its
 * CONFIG_UML_PCI_OVER_VIRTIO_DEVICE_ID. A fault of a function is set with --fault, or written by
 * its kernel to configuration space (function.h).
 */
#include <err.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "function.h"

#define HOSTS	2
#define FDS	(1 + VHOST_QUEUES)	/* for each host: its socket and its kicks */

static struct function functions[HOSTS];

static void leave(struct function *f)
{
	function_reset(f);
	vhost_close(&f->pci.vhost);
	pcidev_reset(&f->pci);
	f->fault = 0;
	f->storm = 0;
}

static void drain(int fd)
{
	u64 kicks;

	if (read(fd, &kicks, sizeof(kicks)) < 0 && errno != EAGAIN)
		warn("a kick");
}

static void watch(const struct function *f, struct pollfd *fds)
{
	const struct vhost *vu = &f->pci.vhost;
	unsigned int i;

	fds[0] = (struct pollfd){ .fd = vu->fd < 0 ? vu->listening : vu->fd, .events = POLLIN };
	for (i = 0; i < VHOST_QUEUES; i++)
		fds[1 + i] = (struct pollfd){ .fd = vu->queues[i].kick, .events = POLLIN };
}

static void serve(struct function *f, const struct pollfd *fds)
{
	struct vhost *vu = &f->pci.vhost;
	unsigned int i;

	for (i = 0; i < VHOST_QUEUES; i++)
		if (fds[1 + i].revents & POLLIN)
			drain(fds[1 + i].fd);
	if (vu->fd >= 0)
		pcidev_serve(&f->pci);
	function_storm(f);
	if (!fds[0].revents)
		return;
	if (vu->fd < 0)
		vhost_accept(vu);
	else if (!vhost_message(vu))
		leave(f);
}

static bool is_stormy(void)
{
	unsigned int i;

	for (i = 0; i < HOSTS; i++)
		if (functions[i].storm && !functions[i].pci.interrupt)
			return true;
	return false;
}

static void run(void)
{
	struct pollfd fds[HOSTS * FDS];
	unsigned int i;

	for (;;) {
		for (i = 0; i < HOSTS; i++)
			watch(&functions[i], &fds[i * FDS]);
		if (poll(fds, HOSTS * FDS, is_stormy() ? 0 : -1) < 0)
			err(2, "poll");
		for (i = 0; i < HOSTS; i++)
			serve(&functions[i], &fds[i * FDS]);
	}
}

static void set_fault(const char *text)
{
	unsigned int host, value;

	if (sscanf(text, "%u:%i", &host, (int *)&value) != 2 || !host || host > HOSTS)
		errx(2, "--fault requires 1:VALUE or 2:VALUE");
	memcpy(functions[host - 1].pci.config + PCIDEV_FAULT, &value, sizeof(value));
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "fault", required_argument, NULL, 'f' },
		{}
	};
	char path[256];
	unsigned int i;
	int option;

	for (i = 0; i < HOSTS; i++)
		function_init(&functions[i], i ? "host 2" : "host 1", &functions[!i],
			      0x0a00000000000001ull + i);
	while ((option = getopt_long(argc, argv, "", options, NULL)) == 'f')
		set_fault(optarg);
	if (option != -1 || optind != argc - 1)
		errx(2, "usage: ism-model [--fault=N:VALUE] DIRECTORY");
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < HOSTS; i++) {
		snprintf(path, sizeof(path), "%s/%u", argv[optind], i + 1);
		vhost_listen(&functions[i].pci.vhost, path);
	}
	/* The process that started this program waits for this line. */
	puts("ready");
	fflush(stdout);
	run();
}
