/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a hostile peer sits: at either end of a handshake, or between two genuine
 * ends, whose messages it changes as they pass.
 */
#ifndef SMC_TEST_HOSTILE_H
#define SMC_TEST_HOSTILE_H

#include <linux/smc_reason.h>

#include "raw_peer.h"

/* What the genuine ends say, recorded; of connections that are gone. */
extern struct message proposal, accept_, confirm, old_confirm;

/**
 * struct scene - one handshake
 * @raw: our end of it
 * @victim: the other end, an ordinary socket
 * @helper: a genuine peer whose messages we change on their way, or 0
 * @to_helper: our end towards the helper, or 0
 */
struct scene {
	int raw;
	int victim;
	int helper;
	int to_helper;
};

void hostile_open(void);	/* the listeners, and the recorded messages */

/* We are the client: the victim's server child waits for a Proposal. */
struct scene as_client(void);
/* We are the server: the victim has connected and sent its Proposal. */
struct scene as_server(struct message *p);
/* We are the client, and the victim's Accept has come. */
struct scene as_client_accepted(struct message *a);
/* As as_server(); @a is what a genuine server answers just now. */
struct scene before_accept(struct message *a);
/* As as_client_accepted(); @c is what a genuine client confirms just now. */
struct scene before_confirm(struct message *c);
void end_scene(struct scene s);

/* Why the last judgement was not kind; shown by result(). */
extern char why[300];
#define BAD(...)	(snprintf(why, sizeof(why), __VA_ARGS__), false)

/* Why the victim's socket is not SMC, as sock_diag has it. */
bool victim_says(struct scene s, uint32_t reason);
bool talks_tcp(struct scene s);
bool victim_is_told(struct scene s, bool error);
bool victim_reads(struct scene s, const char *text);
bool judge(struct scene s, unsigned int allowed, bool eof, unsigned int *got);
/* One line of TAP, by the program; a complaint in the kernel log makes it a failure. */
void result(bool ok, const char *name);

/* Send this, judge what comes, and be done with the scene. */
bool answer(struct scene s, const struct message *m, unsigned int allowed, bool eof,
	    unsigned int *got);

/* The same where the reaction is certain, and so is the reason that the victim gives. */
bool answer_because(struct scene s, const struct message *m, unsigned int reaction,
		    uint32_t reason);

/* hostile_forms.c: forms that were not offered, or not agreed upon */
int forms_plan(void);
void forms(void);

#endif
