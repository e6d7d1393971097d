/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs of system calls: drawn at random, or made from programs that reached new code.
 *
 * A program is data: a list of steps, each of which is a call with four numbers as arguments. From
 * these the call makes its sockets, addresses, flags and messages. So every program is valid, can
 * be changed anywhere, and can be written and read as text.
 */
#ifndef SMC_TEST_CALL_FUZZ_H
#define SMC_TEST_CALL_FUZZ_H

#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

#define STEPS		32		/* maximum in a program */
#define THREADS		3		/* that play a program */
#define SLOTS		8		/* fixed descriptor numbers for the sockets of a program */
#define SLOT_BASE	100		/* above every descriptor that the kernel picks */
#define ARGS		4
#define CORPUS		8192
#define BATCH		64		/* programs that one process plays, in one namespace */
#define BUF_SIZE	(128 * 1024)

struct step {
	uint8_t call;			/* index in the table of calls */
	uint8_t thread;
	uint8_t slot, other;
	uint32_t arg[ARGS];
};

struct program {
	uint32_t n;
	struct step step[STEPS];
};

struct random {
	uint64_t state;
};

uint32_t rnd(struct random *r);			/* 32 random bits */
uint32_t below(struct random *r, uint32_t n);
bool one_in(struct random *r, uint32_t n);

/* ---- the calls ---- */

typedef long (*call_run)(const struct step *s);

/**
 * struct call - a call that a step can make
 * @name:	its name in the text of a program, one word
 * @weight:	how often it is drawn, relative to the others
 * @run:	makes the call; returns what the system call returned
 */
struct call {
	const char *name;
	unsigned int weight;
	call_run run;
};

/* Each list ends with an entry without a name. */
extern const struct call socket_calls[], data_calls[], uring_calls[], outside_calls[], clc_calls[];

const struct call *call_number(unsigned int n);
int call_named(const char *name);		/* its number, or -1 */
unsigned int draw_call(struct random *r);
bool leave_out(const char *name);		/* never draw this call; false: it does not exist */

#define NOTES		64
#ifndef ARRAY_SIZE
#define ARRAY_SIZE(list)	(sizeof(list) / sizeof((list)[0]))
#endif
#define ITEM(list, number)	((list)[(number) % ARRAY_SIZE(list)])

static inline int slot_fd(unsigned int slot)
{
	return SLOT_BASE + slot % SLOTS;
}

/* What poll() tells. An urgent byte that arrives together with a reset is forgotten over SMC. */
static inline unsigned int shown_events(unsigned int events)
{
	return events & (POLLERR | POLLHUP) ? events & ~POLLPRI : events;
}

/* Settings shared by the calls. */
struct setting {
	in_addr_t addr;			/* in host byte order */
	int home;			/* the initial network namespace */
	int file;			/* file to send from */
	int netlink[3];			/* SMC_GEN_NETLINK, SMC_PNETID, sock_diag */
	uint16_t family[3];		/* message types of these families */
	bool devices;			/* there are RDMA devices: stay in the initial namespace */
	uint16_t first_port;		/* of the fixed ones */
	bool compared;			/* play only what must be the same over SMC and TCP */
	bool tcp;			/* each socket is plain TCP */
	bool prompt;			/* what is sent is sent at once */
};

#define PORTS	4			/* number of fixed ports */

extern struct setting setting;
extern __thread char *buf;			/* BUF_SIZE bytes, followed by unmapped memory */
extern __thread int pipe_fd[2], epoll_fd;

struct surface_option;
bool option_fits(const struct surface_option *o);	/* may a program set it? */
long into_slot(int fd, unsigned int slot);	/* replaces the old one; -1: invalid fd */
int make_socket(uint32_t kind, int flags);
socklen_t make_address(uint32_t number, int fd, struct sockaddr_storage *ss);
char *make_buffer(uint32_t number, size_t *len);

/* What a call shows to the program besides its result; smc_diff_test compares it. */
struct notes {
	unsigned int n;
	long value[NOTES];		/* further ones are ignored */
};

extern __thread struct notes *notes;		/* NULL: nobody reads them */
void note(long value);
void note_bytes(const void *bytes, long n);	/* n < 0: none */

void arm_fault(unsigned int n);			/* fails this thread's n-th allocation; 0: none */
void uring_close(void);				/* the ring of this thread */
void calls_open(void);				/* in each process, which has its own namespace */
void calls_thread(void);			/* in each thread */
void clc_record(void);				/* once, before any program */
void clc_open(void);				/* in each process */
void trace_off(void);
void settings_save(void);
void settings_restore(void);
void settings_for_devices(void);

/* ---- programs ---- */

void program_make(struct random *r, struct program *p);
void program_change(struct random *r, struct program *p, const struct program *other);
void program_write(const struct program *p, FILE *f);
void program_show(const struct program *p, const char *indent);	/* as TAP comments */
/* Reads the next program of a file; false if there is none, or if it is invalid (*bad). */
bool program_read(struct program *p, FILE *f, bool *bad);

/* ---- playing ---- */

/* The current step of a thread, for the watcher. */
struct place {
	_Atomic pid_t tid;
	_Atomic(const char *) call;	/* NULL: none */
	_Atomic uint64_t calls;
};

/* Shared by all processes. */
struct board {
	struct place places[THREADS];
	struct random random;
	uint32_t left;			/* number of programs still to play */
	uint64_t played, succeeded, failed, smc;
	uint64_t changed;		/* programs made from others */
	uint64_t found_changed;		/* of these, programs that reached new code */
	uint32_t blocks;		/* blocks of the module that have run */
	uint32_t corpus_n;
	bool hung, complained, left_over;
	char complaint[300];
	struct program corpus[CORPUS];
};

extern struct board *board;

void players_start(void);
bool play(const struct program *p);		/* false: a call does not return */
void count_smc(int fd);

#endif
