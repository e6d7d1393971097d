/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two roles, one control channel, one transcript each.
 *
 * A case is a server() and a client() that run in processes of their own. They
 * meet at barriers over a socketpair, never by sleeping, and write down what
 * the socket under test told them. The same case runs over TCP and over SMC,
 * and the transcripts have to be equal. The processes may be on two machines,
 * with a TCP connection for the socketpair.
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

#ifndef AF_SMC
#define AF_SMC		43
#endif
#define IPPROTO_SMC	256
#define SOL_SMC		286
#define SMC_SOCK_INFO	0x100
#define SMC_TEST_RAW_CLC 0x200
#define SMC_TEST_ECHO	0x201
#define SMC_TEST_PEEK_LEN 0x202

struct smc_sock_info_u {
	uint32_t mode;
	uint32_t reason;
	uint32_t peer_diagnosis;
	uint32_t state;
};

enum { MODE_UNDECIDED, MODE_SMCR, MODE_TCP, MODE_SMCD };

/* What socket() is asked for. */
struct kind {
	int family;
	int protocol;
};

struct variant {
	const char *name;
	bool ipv6;
	bool smc;		/* both ends are SMC: the connection must be */
	struct kind server;
	struct kind client;
	bool negotiated;	/* with CLC, although both ends are in one kernel */
};

struct test_case {
	const char *name;
	void (*server)(void);	/* NULL: the case needs no peer */
	void (*client)(void);
	unsigned int flags;
	const char *what;
};

#define F_ROOT		1	/* needs privileges */
#define F_V4		2	/* IPv4 variants only */
#define F_V6		4	/* IPv6 variants only */
#define F_SLOW		8	/* three times the timeout */
#define F_HERE		16	/* about this host or its namespaces: not with --rdma */

#define F_ONE		32	/* both roles on one machine: not with --play */

#define CASE(n, fl, text)	{ #n, n##_server, n##_client, fl, text }
#define SOLO(n, fl, text)	{ #n, NULL, n, fl, text }


/* Where servers are with --rdma: 10.1.0.2 */
#define RDMA_SERVER	0x0a010002
/* With --play: servers on 10.0.0.1 and fd00::1, clients on 10.0.0.2 and fd00::2 */
#define MACHINE_NET	0x0a000000

/* The role this process plays. */
struct role {
	const char *name;
	const struct variant *var;
	struct kind kind;
	bool is_server;
	bool any_mode;		/* do not insist on SMC */
	bool rdma;		/* SMC has to be SMC-R; the devices of tools/testing/vm/rxe_pair */
	bool ism;		/* no: SMC-D, over the ISM devices of two machines */
	bool between;		/* or of two machines */
	int ctl;
	char *log;
	size_t log_used, log_size;
};

extern struct role me;

/* ---- saying what happened ---- */

void die_at(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
void rec(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
long rec_call(const char *text, long ret, int err, bool is_fd);
long must_succeed(const char *file, int line, const char *text, long ret);
const char *err_name(int err);
const char *mask_name(unsigned int mask);	/* poll and epoll bits in words */

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
/* Poll a condition that the other side brings about; the runner times out. */
#define AWAIT(cond)	do { while (!(cond)) usleep(500); } while (0)

/* ---- meeting the peer ---- */

void barrier(const char *name);
void ctl_put(long value);
long ctl_get(void);

/* How often: a fifth of it on the debug kernel, where a fork takes a second. */
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
struct addr loopback(int port);		/* where the server is; port 0: to bind to */
struct addr wildcard(int port);
int addr_port(const struct addr *a);
struct addr name_of(int fd);
const char *addr_kind(const struct addr *a);	/* without the port */

int smc_mode(int fd);
unsigned int smc_reason(int fd);	/* SMC_REASON_*, why it is TCP */
void check_mode(int fd);		/* SMC where it must be, TCP where not */

int listen_on(int backlog);		/* bound to loopback, tells nobody */
int serve(void);			/* listen and tell the peer the port */
void tell_port(int fd);
int accept_one(int lfd);
int connect_to(int port, int flags);	/* blocking, checked */
int accept_fallback(int lfd);		/* of connect_fallback() */
void connect_fallback(int fd, int port);	/* 10 bytes in the SYN make it plain TCP */
int pair(void);				/* one connection, either role */
int pair_with(void (*prepare)(int fd));	/* prepare the socket before */

void set_nonblock(int fd, bool on);
int set_int(int fd, int level, int opt, int value);
int get_int(int fd, int level, int opt);
void set_timeo(int fd, int opt, int ms);
int ask(int fd, unsigned long cmd);	/* an ioctl that answers with an int, or -1 */
void reset(int fd);			/* close, and let the peer see a reset */
unsigned int poll_mask(int fd, unsigned int events);	/* right now */
unsigned int await_mask(int fd, unsigned int want);	/* all of @want set */
void await_inq(int fd, int bytes);
void await_sent(int fd);		/* SIOCOUTQ is 0 */

/* ---- BPF programs ---- */

int bpf_call(int cmd, union bpf_attr *attr);
int bpf_program(int type, int attach_type, const struct bpf_insn *insns, int n);
int bpf_returns(int type, int value);	/* a program that does nothing else */
void bpf_attach(int target, int prog, int attach_type);

/* ---- data: the byte at stream position @pos is known to everybody ---- */

void fill(void *buf, size_t len, uint64_t pos);
void verify(const void *buf, size_t len, uint64_t pos);
void send_bytes(int fd, uint64_t pos, size_t len, size_t chunk);
void recv_bytes(int fd, uint64_t pos, size_t len, size_t chunk);
size_t fill_up(int fd);			/* non-blocking sends until EAGAIN */
uint64_t recv_to_end(int fd, uint64_t pos);	/* returns the end position */
void ping_pong(int fd);			/* proves both directions work */
void ping_pong_local(int a, int b);	/* the same with both ends in here */

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
void *worker_send(struct worker *w);	/* run: send_bytes() and recv_bytes() as w says */
void *worker_recv(struct worker *w);


#endif
