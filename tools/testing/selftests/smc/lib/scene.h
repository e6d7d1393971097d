/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Positions of a hostile peer: at either end of a handshake, or between two genuine ends, whose
 * messages it modifies.
 */
#ifndef SMC_TEST_HOSTILE_H
#define SMC_TEST_HOSTILE_H

#include <linux/smc_reason.h>

#include "raw_peer.h"

/* Recorded messages of genuine ends, from connections that no longer exist. */
extern struct message proposal, accept_, confirm, old_confirm;
/* A Decline of version 1, with the diagnosis 0x03010000 */
extern const struct message decline_v1;

/**
 * struct scene - one handshake
 * @raw: our end
 * @victim: the other end, an ordinary socket
 * @helper: a genuine peer whose messages we modify, or 0
 * @to_helper: our end of the connection to the helper, or 0
 */
struct scene {
	int raw;
	int victim;
	int helper;
	int to_helper;
};

void hostile_open(void);	/* creates the listeners, and records messages */

/* We are the client: the victim, a server's child socket, waits for a Proposal. */
struct scene as_client(void);
/* We are the server: the victim has connected and sent its Proposal. */
struct scene as_server(struct message *p);
/* We are the client, and have received the victim's Accept. */
struct scene as_client_accepted(struct message *a);
/* As as_server(); @a receives a genuine server's answer to the same Proposal. */
struct scene before_accept(struct message *a);
/* As as_client_accepted(); @c receives a genuine client's answer to the same Accept. */
struct scene before_confirm(struct message *c);
void end_scene(struct scene s);

/* Why the last check failed; result() prints it. */
extern char why[300];
#define BAD(...)	(snprintf(why, sizeof(why), __VA_ARGS__), false)

/* Does sock_diag report this reason for the victim's socket not being SMC? */
bool victim_says(struct scene s, uint32_t reason);
bool talks_tcp(struct scene s);
bool victim_is_told(struct scene s, bool error);
bool victim_reads(struct scene s, const char *text);
bool victim_reads_bytes(struct scene s, const void *bytes, size_t len);
bool judge(struct scene s, unsigned int allowed, bool eof, unsigned int *got);
/* Prints a line of TAP; defined by the program. A problem in the kernel log is a failure. */
void result(bool ok, const char *name);

/* Sends a message, checks the reaction, and ends the scene. */
bool answer(struct scene s, const struct message *m, unsigned int allowed, bool eof,
	    unsigned int *got);

/* As answer(), with a single allowed reaction; also checks the victim's reason. */
bool answer_because(struct scene s, const struct message *m, unsigned int reaction,
		    uint32_t reason);

/* hostile_forms.c: message forms that were not offered or not negotiated */
int forms_plan(void);
void forms(void);

/* hostile_crossed.c: a simultaneous open */
int crossed_plan(void);
void crossed(void);

#endif
