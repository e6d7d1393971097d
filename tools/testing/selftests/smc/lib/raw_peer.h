/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A peer that offers the TCP option and speaks CLC itself (SMC_TEST_RAW_CLC,
 * in test builds of the module), and the victim at the other end.
 */
#ifndef SMC_TEST_RAW_H
#define SMC_TEST_RAW_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "slow.h"

enum { CLC_PROPOSAL = 1, CLC_ACCEPT, CLC_CONFIRM, CLC_DECLINE };

struct message {
	uint8_t b[2048];
	size_t len;
};

/* How the victim's side of the connection answers. */
enum reaction {
	GOT_NOTHING	= 1,
	GOT_RESET	= 2,
	GOT_END		= 4,
	GOT_DECLINE	= 8,
	GOT_ACCEPT	= 16,
	GOT_CONFIRM	= 32,
	GOT_PROPOSAL	= 64,
	GOT_OTHER	= 128,
};

#define WAIT_MS		slow(20000)	/* far longer than anything here should take */

const char *reaction_names(unsigned int mask);

bool raw_available(void);		/* is this a test build? */
void raw_hosts(in_addr_t raw, in_addr_t victim);	/* host order; default: loopback */
int raw_listen(int *port);		/* accepted children speak CLC themselves */
int raw_connect(int port);
int victim_listen(int *port);
int victim_connect(int port);		/* starts a non-blocking connect() */
int accept_in_time(int lfd);
/*
 * A simultaneous open. lo loses both SYNs, and the first socket's is repeated first. Returns when
 * that one is connected; it may be raw.
 */
void crossed_open(bool raw, int *first, int *second);

void put_bytes(int fd, const void *b, size_t len);
/* Reads the next CLC message of the victim, or returns how the connection ended. */
enum reaction get_message(int fd, struct message *m, int ms);

int wait_mask(int fd, int want, int ms);	/* 0: timeout */
void set_parameter(const char *name, long value);	/* of the module */
long set_timeout_ms(long ms);		/* for handshakes; returns the old value */

/* Optional handler for give_up(), which need not return: it may abandon only the current case. */
extern void (*give_up_to)(const char *words);

/* Ends the program with a message. */
void give_up(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
