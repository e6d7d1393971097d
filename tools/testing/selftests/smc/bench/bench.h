/* SPDX-License-Identifier: GPL-2.0 */
/*
 * smc_bench: the same blocking client and server over every transport.
 *
 *   transport.c  how two processes get connected (tcp, unix, pipe, smc, smc-fallback)
 *   work.c       what they do with the connection, one timed loop each
 *   bench_mem.c  the cost of many idle connections
 *   smc_bench.c  options, fork, report
 */
#ifndef SMC_BENCH_H
#define SMC_BENCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef IPPROTO_SMC
#define IPPROTO_SMC	256
#endif

enum role { CLIENT, SERVER };

/*
 * Which listener the pairs of --pairs have: each its own, one for all, or each its own with
 * SO_REUSEPORT on one port. With the latter two, any server may accept a client's call.
 */
enum listeners { OWN, SHARED, REUSEPORT };

/* One descriptor for each direction: they differ for pipes and are the same for a socket. */
struct chan {
	int in;
	int out;
};

struct options {
	const char *transport;
	const char *work;
	size_t size;		/* bytes per message or write */
	size_t read_size;	/* receiver's buffer for stream */
	long count;		/* operations measured */
	long warmup;		/* operations before the clock starts */
	int sndbuf;		/* 0: the transport's default */
	int rcvbuf;
	bool nodelay;
	int busy_poll;		/* microseconds, 0: not at all */
	long exchanges;		/* of each connection of connect-echo */
	uint32_t address;	/* of the listener, the first one */
	long addresses;		/* of the listener: each has ports for 28 232 connections */
	long backlog;		/* of the listener; if it overflows, a client waits for 1 s */
	long pairs;		/* that do the same at the same time */
	enum listeners listeners;
	bool json;
};

struct transport {
	const char *name;
	const char *what;
	bool can_connect;	/* supports listen, connect, accept */
	/* Called before fork: creates the listener, or two pipes. */
	void (*open)(const struct options *opt);
	/* Opens one end of a connection. */
	void (*client)(const struct options *opt, struct chan *ch);
	void (*server)(const struct options *opt, struct chan *ch);
};

struct work {
	const char *name;
	const char *what;
	bool needs_connect;
	bool any_server;	/* a client need not know which server accepts its call */
	long count;		/* default sizes */
	long warmup;
	void (*run)(const struct transport *t, const struct options *opt,
		    enum role role);
};

/* The client's results, in memory shared with the server. */
struct result {
	uint64_t begun;		/* mark_begin() */
	uint64_t ended;		/* mark_end() */
	pthread_barrier_t all;	/* at which the clients of all pairs meet */
	long sleeps;		/* of both processes, including warm-up */
	char json[2048];	/* further members of the JSON object */
	char text[2048];	/* the same in words */
};

extern struct result *result;

const struct transport *transport_find(const char *name);
void transport_list(void);
void chan_close(struct chan *ch);

const struct work *work_find(const char *name);
void work_list(void);

void run_mem(const struct transport *t, const struct options *opt, enum role role);

void read_all(int fd, void *buf, size_t len);
void write_all(int fd, const void *buf, size_t len);
void *buffer(size_t len);
void meet(enum role role);	/* returns after both processes have called it */
uint64_t now_ns(void);
void mark_begin(void);
void mark_end(void);
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
void die_errno(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
