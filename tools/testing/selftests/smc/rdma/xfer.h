/* SPDX-License-Identifier: GPL-2.0 */
/*
 * smc_xfer: one role of a case that two machines play together.
 *
 * The guest's driver starts one smc_xfer on each machine and hands it a TCP connection to the other
 * one. This is the control channel, over which the two roles agree on ports, synchronize, and
 * compare results. The connections under test are separate.
 */
#ifndef SMC_XFER_H
#define SMC_XFER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#ifndef AF_SMC
#define AF_SMC		43
#endif
#define IPPROTO_SMC	256

enum kind { KIND_SMC, KIND_IPPROTO, KIND_TCP };
enum expect { EXPECT_SMCR, EXPECT_SMCD, EXPECT_TCP, EXPECT_ANY };

struct options {
	bool server;
	const char *local, *peer;	/* addresses of the connections under test */
	enum kind kind;
	enum expect expect;
	uint64_t seed;
	long bytes;			/* in each direction */
	long count;			/* number of connections, operations, ... */
	int threads;
	int size;			/* of a message */
	int rcvbuf, sndbuf;
	bool strict;			/* a connection must end exactly as with TCP */
	int timeout;			/* seconds until the role gives up */
};

extern struct options opt;

struct test_case {
	const char *name;
	void (*server)(void);
	void (*client)(void);
	const char *what;
};

extern const struct test_case data_cases[], urgent_cases[], many_cases[], end_cases[],
	bench_cases[], duplex_cases[], disturb_cases[], failover_cases[], reuse_cases[];

/* ---- errors and notes ---- */

void die_at(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *err_name(int err);
long must(const char *file, int line, const char *text, long ret);

#define die(...)	die_at(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(cond)	do { if (!(cond)) die("%s is not true", #cond); } while (0)
#define X(call)		must(__FILE__, __LINE__, #call, (long)(call))

/* ---- time limit ---- */

void watch_the_clock(void);		/* prints what every thread waits for, and ends the role */
void at_timeout(void (*tell)(void));	/* what the case itself prints then */
void note_sockets(void);

/* ---- the other role, and the driver of this one ---- */

void meet(const char *where);		/* returns when both roles have called it */
void tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void hear(char *line, size_t len);
bool heard(const char *wanted);		/* is the next line this one? */
void tell_number(uint64_t number);
uint64_t hear_number(void);
void look(const char *where);		/* lets the driver look at the machine */

/* ---- sockets ---- */

int make_socket(void);
int listen_on(int backlog);		/* sends the port to the client */
void hear_port(void);			/* receives the port */
socklen_t peer_address(struct sockaddr_storage *ss);	/* with the port received last */
int connect_out(void);			/* to the port received last */
int accept_one(int lfd);
int open_pair(void);			/* one connection; checks its mode */
void set_nonblock(int fd);

/* Check that all of them have the mode of opt.expect. They must have moved data before. */
void check_modes(const int *fds, int count);
/* Size of the receive element of this connection; 0 if it is TCP. */
int element_size(int fd);

/* ---- data: both roles can compute the byte at position pos of the stream seed ---- */

void fill(void *buf, size_t len, uint64_t seed, uint64_t pos);
void verify(const void *buf, size_t len, uint64_t seed, uint64_t pos);
uint64_t draw(uint64_t *state);
size_t draw_size(uint64_t *state, size_t most);	/* 1 to most; each magnitude is equally likely */
void send_all(int fd, const void *buf, size_t len);
void recv_all(int fd, void *buf, size_t len);
void send_stream(int fd, uint64_t seed, uint64_t pos, size_t len, size_t chunk);
void recv_stream(int fd, uint64_t seed, uint64_t pos, size_t len, size_t chunk);
void *buffer(size_t len);
uint64_t now_ns(void);

struct sha256 {
	uint32_t state[8];
	uint64_t bytes;
	uint8_t block[64];
};

void sha256_init(struct sha256 *s);
void sha256_update(struct sha256 *s, const void *data, size_t len);
void sha256_text(struct sha256 *s, char text[65]);

#endif
