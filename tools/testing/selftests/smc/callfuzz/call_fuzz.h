/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs of system calls, made at random and from those that reached new code.
 *
 * A program is data: a list of steps, each of them a call with four numbers as arguments, which
 * the call makes its sockets, addresses, flags and messages of. So every program is valid, can be
 * changed anywhere, and is written and read as text.
 */
#ifndef SMC_TEST_CALL_FUZZ_H
#define SMC_TEST_CALL_FUZZ_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

#define STEPS		28		/* of a program at most */
#define THREADS		3		/* that play it */
#define SLOTS		8		/* descriptors with numbers of their own, for its sockets */
#define SLOT_BASE	100		/* beyond every descriptor that the kernel picks */
#define ARGS		4
#define CORPUS		8192
#define BATCH		64		/* programs that one process plays, in one namespace */
#define BUF_SIZE	(128 * 1024)

struct step {
	uint8_t call;			/* index of the table of calls */
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
 * struct call - one of those that a step can be
 * @name:	in the text of a program, one word
 * @weight:	how often it is drawn, beside the others
 * @run:	plays it; returns what the system call did
 */
struct call {
	const char *name;
	unsigned int weight;
	call_run run;
};

/* Each list ends with a call without a name. */
extern const struct call socket_calls[], data_calls[], uring_calls[], outside_calls[], clc_calls[];

const struct call *call_number(unsigned int n);
int call_named(const char *name);		/* its number, or -1 */
unsigned int draw_call(struct random *r);
bool leave_out(const char *name);		/* never draw it; false: there is none */

#define ITEM(list, number)	((list)[(number) % (sizeof(list) / sizeof((list)[0]))])

static inline int slot_fd(unsigned int slot)
{
	return SLOT_BASE + slot % SLOTS;
}

/* What the calls share. */
struct setting {
	in_addr_t addr;			/* in host order */
	int home;			/* the first network namespace */
	int file;			/* to be sent */
	int netlink[3];			/* SMC_GEN_NETLINK, SMC_PNETID, sock_diag */
	uint16_t family[3];		/* message types of these */
	bool devices;			/* there are RDMA devices: stay in the first namespace */
};

extern struct setting setting;
extern __thread char *buf;			/* BUF_SIZE bytes, and behind them none */
extern __thread int pipe_fd[2], epoll_fd;

long into_slot(int fd, unsigned int slot);	/* whatever was there; -1 if fd is none */
int make_socket(uint32_t kind, int flags);
socklen_t make_address(uint32_t number, int fd, struct sockaddr_storage *ss);
char *make_buffer(uint32_t number, size_t *len);

void arm_fault(unsigned int n);			/* the n-th allocation of this thread; 0: none */
void uring_close(void);				/* of this thread */
void calls_open(void);				/* in each process, and so in its namespace */
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
/* The next one of a file; false: there is none, or it is not one (*bad). */
bool program_read(struct program *p, FILE *f, bool *bad);

/* ---- playing ---- */

/* What a thread does just now, for whoever watches. */
struct place {
	_Atomic pid_t tid;
	_Atomic(const char *) call;	/* NULL: none */
	_Atomic uint64_t calls;
};

/* What all processes see. */
struct board {
	struct place places[THREADS];
	struct random random;
	uint32_t left;			/* programs still to be played */
	uint64_t played, succeeded, failed, smc;
	uint64_t changed;		/* programs made of others */
	uint64_t found_changed;		/* of them, those that reached something new */
	uint32_t blocks;		/* of the module that have run */
	uint32_t corpus_n;
	bool hung, complained, left_over;
	char complaint[300];
	struct program corpus[CORPUS];
};

extern struct board *board;

void players_start(void);
bool play(const struct program *p);		/* false: a call does not end */
void count_smc(int fd);

#endif
