/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two roles, one control channel, one transcript each.
 *
 * A case is a server() and a client() that run in separate processes. They
 * synchronize at barriers over a socketpair, never by sleeping, and record what
 * the socket under test returned. The same case runs over TCP and over SMC, and
 * the transcripts must be equal. The processes may also be on two machines;
 * then a TCP connection replaces the socketpair.
 */
#ifndef SMC_TEST_LIB_H
#define SMC_TEST_LIB_H

#include <errno.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "sock_mode.h"

#ifndef AF_SMC
#define AF_SMC		43
#endif
#define IPPROTO_SMC	256
#define SMC_TEST_RAW_CLC 0x200
#define SMC_TEST_ECHO	0x201
#define SMC_TEST_PEEK_LEN 0x202

/* Arguments for socket(). */
struct kind {
	int family;
	int protocol;
};

struct variant {
	const char *name;
	bool ipv6;
	bool smc;		/* both ends are SMC: the connection must be SMC too */
	struct kind server;
	struct kind client;
	bool negotiated;	/* use CLC even though both ends are in one kernel */
};

struct test_case {
	const char *name;
	void (*server)(void);	/* NULL: the case needs no peer */
	void (*client)(void);
	unsigned int flags;
	const char *what;
};

#define F_ROOT		1	/* requires privileges */
#define F_V4		2	/* IPv4 variants only */
#define F_V6		4	/* IPv6 variants only */
#define F_SLOW		8	/* three times the timeout */
#define F_HERE		16	/* about this host or its namespaces: skipped with --rdma */

#define F_ONE		32	/* both roles on one machine: skipped with --play */

#define CASE(n, fl, text)	{ #n, n##_server, n##_client, fl, text }
#define BOTH(n, fl, text)	{ #n, n, n, fl, text }
#define SOLO(n, fl, text)	{ #n, NULL, n, fl, text }


/* With --rdma, servers are at 10.1.0.2 */
#define RDMA_SERVER	0x0a010002
/* With --play: servers on 10.0.0.1 and fd00::1, clients on 10.0.0.2 and fd00::2 */
#define MACHINE_NET	0x0a000000

/* The role that this process plays. */
struct role {
	const char *name;
	const struct variant *var;
	struct kind kind;
	bool is_server;
	bool any_mode;		/* the mode may be SMC or TCP */
	bool rdma;		/* require SMC-R, over the devices of tools/testing/vm/rxe_pair */
	bool ism;		/* require SMC-D instead, over the ISM devices of two machines */
	bool between;		/* the roles run on two machines */
	int ctl;
	char *log;
	size_t log_used, log_size;
};

extern struct role me;

/* ---- recording results ---- */

void die_at(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
void rec(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
long rec_call(const char *text, long ret, int err, bool is_fd);
long must_succeed(const char *file, int line, const char *text, long ret);
const char *err_name(int err);
const char *mask_name(unsigned int mask);	/* poll and epoll bits as words */

#define die(...)	die_at(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(cond)	do { if (!(cond)) die("%s is not true (errno %s)", \
					      #cond, err_name(errno)); } while (0)
/* Run a call and write its result into the transcript. */
#define R(call)		({ errno = 0; long r_ = (call); \
			   rec_call(#call, r_, errno, false); })
/* The same for a call that returns a descriptor. */
#define RFD(call)	({ errno = 0; long r_ = (call); \
			   rec_call(#call, r_, errno, true); })
/* Run a call that has to succeed. */
#define X(call)		(errno = 0, must_succeed(__FILE__, __LINE__, #call, (call)))
/* Wait until the other side makes a condition true; the runner times out. */
#define AWAIT(cond)	do { while (!(cond)) usleep(500); } while (0)

/* ---- synchronizing with the peer ---- */

void barrier(const char *name);
void ctl_put(long value);
long ctl_get(void);

/* Number of repetitions: a fifth on the debug kernel, where a fork takes a second. */
int many(int n);

/* ---- sockets ---- */

struct addr {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_storage ss;
	};
	socklen_t len;
};

int make_socket(int flags);		/* of this role's kind */
int make_kind(const struct kind *kind, int flags);
int make_tcp(int flags);		/* plain TCP of the same IP version */
struct addr loopback(int port);		/* the server's address; port 0: for bind() */
struct addr wildcard(int port);
int addr_port(const struct addr *a);
struct addr name_of(int fd);
const char *addr_kind(const struct addr *a);	/* without the port */

int smc_mode(int fd);
unsigned int smc_reason(int fd);	/* SMC_REASON_*: why it is TCP */
void check_mode(int fd);		/* SMC where it must be, TCP where it must not */

int listen_on(int backlog);		/* bind to loopback without telling the peer */
int listen_tcp(int backlog, struct addr *a);	/* plain TCP; its address */
int serve(void);			/* listen and send the port to the peer */
void tell_port(int fd);
int accept_one(int lfd);
int connect_to(int port, int flags);	/* blocking; checks the mode */
int connect_any(int port);		/* the same in any mode */
int accept_fallback(int lfd);		/* for connect_fallback() */
void connect_fallback(int fd, int port);	/* 10 bytes of data in the SYN make it plain TCP */
int pair(void);				/* one connection, for either role */
int pair_with(void (*prepare)(int fd));	/* prepare the socket first */

void set_nonblock(int fd, bool on);
int set_int(int fd, int level, int opt, int value);
int get_int(int fd, int level, int opt);
void set_timeo(int fd, int opt, int ms);
double clock_seconds(void);		/* of the monotonic clock */
int ask(int fd, unsigned long cmd);	/* the int that an ioctl returns, or -1 */
void reset(int fd);			/* close so that the peer sees a reset */
unsigned int poll_mask(int fd, unsigned int events);	/* the current bits */
unsigned int await_mask(int fd, unsigned int want);	/* wait until all of @want is set */
void await_inq(int fd, int bytes);
void await_sent(int fd);		/* wait until SIOCOUTQ is 0 */

/* ---- BPF programs ---- */

int bpf_call(int cmd, union bpf_attr *attr);
int bpf_program(int type, int attach_type, const struct bpf_insn *insns, int n);
int bpf_returns(int type, int value);	/* a program that only returns this value */
void bpf_attach(int target, int prog, int attach_type);
void bpf_load_attach(int cgroup, int prog_type, int attach_type, const struct bpf_insn *insns, int n);
int bpf_map(int type, int entries);	/* a map of words */
int bpf_map_put(int map, uint32_t key, uint32_t value);
int own_cgroup(void);			/* moves this process to a cgroup of its own */

/* ---- data: both roles can compute the byte at stream position @pos ---- */

void fill(void *buf, size_t len, uint64_t pos);
void verify(const void *buf, size_t len, uint64_t pos);
void send_bytes(int fd, uint64_t pos, size_t len, size_t chunk);
void recv_bytes(int fd, uint64_t pos, size_t len, size_t chunk);
size_t fill_up(int fd);			/* non-blocking sends until EAGAIN */
uint64_t recv_to_end(int fd, uint64_t pos);	/* returns the end position */
void ping_pong(int fd);			/* proves both directions work */
void ping_pong_local(int a, int b);	/* as above, with both ends in this process */

/* ---- threads and signals ---- */

pid_t this_tid(void);
void await_blocked(pid_t pid, pid_t tid);	/* asleep in a system call */
void on_signal(int sig, int flags);	/* counts into signals_seen */
extern volatile sig_atomic_t signals_seen;

struct worker {
	pthread_t thread;
	volatile pid_t tid;
	void *(*run)(struct worker *w);
	int fd;
	uint64_t pos;
	size_t len, chunk;
	long ret;
	int err;
	void *data;
};

void worker_start(struct worker *w);
void worker_join(struct worker *w);
void *worker_send(struct worker *w);	/* run: send_bytes() or recv_bytes(), as w says */
void *worker_recv(struct worker *w);


#endif
