/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random, colliding socket calls.
 *
 * Each process has a few slots: fixed descriptor numbers, whose sockets its threads use, replace
 * and pass on to other processes, all at the same time. What a thread does depends only on the seed
 * and on the numbers of process and thread; the order among the threads is not deterministic.
 */
#ifndef SMC_TEST_STRESS_H
#define SMC_TEST_STRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "sock_mode.h"

#ifndef AF_SMC
#define AF_SMC		43
#endif
#ifndef IPPROTO_SMC
#define IPPROTO_SMC	256
#endif

#define MAX_PROCESSES	16
#define MAX_THREADS	32
#define SLOTS		6
#define SLOT_BASE	100		/* above every descriptor that the kernel picks */
#define PORTS		4
#define FIRST_PORT	20000
#define BUF_SIZE	(128 * 1024)

struct options {
	uint64_t seed;
	int seconds;
	int processes;
	int threads;
	bool tcp;			/* plain TCP instead of SMC */
	bool namespaces;		/* processes with a network namespace start and exit */
	bool fallback;			/* net.smc.enable is switched off and on */
	bool stall;			/* buffers whose pages are supplied late */
	bool nobody;			/* without privileges */
	bool gone;			/* the device is gone most of the time */
	bool negotiate;			/* no pairs */
	in_addr_t addr;			/* host byte order; INADDR_LOOPBACK or a device's */
};

extern struct options opt;

/* The current call of a thread, for the watcher; in memory shared by all processes. */
struct place {
	_Atomic pid_t tid;		/* 0: no thread */
	_Atomic(const char *) call;	/* valid in all processes, which share the program text */
	_Atomic uint64_t calls;		/* calls begun; if it stays the same, the thread hangs */
};

/* Shared by all processes. */
struct board {
	_Atomic bool over;
	struct place places[MAX_PROCESSES][MAX_THREADS];
	_Atomic uint64_t succeeded, failed;
	_Atomic uint64_t smc;		/* sockets seen in mode SMC-R or SMC-D */
};

extern struct board *board;

/* One thread. */
struct player {
	struct place *place;
	uint64_t random;
	int process, thread;
	int pipe[2];
	int epoll;
	int diag;			/* netlink socket for SOCK_DESTROY */
	char *buf;			/* BUF_SIZE bytes */
	char *stall;			/* a page that is supplied late, or NULL */
	_Atomic bool stopped;
};

/* Shared by the threads of a process, besides the slots. */
struct shared {
	int pass;			/* a socket pair, to pass sockets to other processes */
	int take;
	int sockmap;			/* or -1 */
	int file;			/* file for sendfile() */
	_Atomic uint32_t hot;	/* the slot that most threads use */
};

extern struct shared shared;

uint32_t rnd(struct player *p);		/* 32 random bits */
uint32_t below(struct player *p, uint32_t n);
bool one_in(struct player *p, uint32_t n);

/* stress_calls.c, stress_options.c: the calls, and the choice of a random one. */
typedef long (*stress_call)(struct player *p, int fd);

struct call {
	const char *name;
	unsigned int weight;
	stress_call run;
};

void stress_one(struct player *p);
void random_addr(struct player *p, int fd, struct sockaddr_storage *ss, socklen_t *len);
int any_slot(struct player *p);
char *random_buf(struct player *p, size_t *len);
void count_smc(int fd);

extern const struct call stress_option_calls[];

#endif
