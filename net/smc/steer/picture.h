/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A moving picture of the connections of one listener, and what follows from it: does SMC
 * pay for them?  Rule and thresholds are explained in Documentation/steering.md.
 *
 * Nothing here knows the kernel: the same source builds in user space (unit tests).
 */
#ifndef SMC_STEER_PICTURE_H
#define SMC_STEER_PICTURE_H

#include "../wire/wire.h"

/* What a connection must be worth for SMC to cost neither more nor less than TCP. */
#define SMC_PICTURE_EVEN	1024
/* So many messages, of both directions, are worth that; or so many bytes. */
#define SMC_PICTURE_MESSAGES	5
#define SMC_PICTURE_BYTES	(96u << 10)
/* No connection is worth more, so that a long one does not hide many short ones. */
#define SMC_PICTURE_MOST	(16 * SMC_PICTURE_EVEN)
/* Connections until there is a verdict, and weight of the picture afterwards. */
#define SMC_PICTURE_SAMPLES	16
/* The time until SMC is tried again doubles so often at most. */
#define SMC_PICTURE_DOUBLINGS	6

enum smc_verdict {
	SMC_VERDICT_LEARNING = 1,	/* too few connections seen: SMC is offered */
	SMC_VERDICT_PAYS,
	SMC_VERDICT_TOO_SHORT,		/* not offered until it is tried again */
};

/**
 * struct smc_sample - a connection that has ended
 * @messages:	sent and received
 * @bytes:	sent and received
 * @ms:		how long it lived
 */
struct smc_sample {
	u64	messages;
	u64	bytes;
	u64	ms;
};

/**
 * struct smc_picture - of the last connections
 * @verdict:	enum smc_verdict
 * @doublings:	of the time until SMC is tried again
 * @n:		connections in the picture, SMC_PICTURE_SAMPLES at most
 * @conns:	all of them
 * @until:	TOO_SHORT: when SMC is tried again, in ms
 * @worth:	average, SMC_PICTURE_EVEN is break-even
 * @messages:	average
 * @bytes:	average
 * @ms:		average
 */
struct smc_picture {
	u8	verdict;
	u8	doublings;
	u32	n;
	u64	conns;
	u64	until;
	u64	worth;
	u64	messages;
	u64	bytes;
	u64	ms;
};

void smc_picture_init(struct smc_picture *p);

/**
 * smc_picture_worth() - what SMC would save, or has saved, in a connection
 * @s: the connection
 *
 * Return: 0 to SMC_PICTURE_MOST; SMC_PICTURE_EVEN is what SMC costs more to set up.
 */
u64 smc_picture_worth(const struct smc_sample *s);

/**
 * smc_picture_add() - a connection has ended
 * @p: the picture
 * @s: the connection
 * @now: in ms
 * @retry: ms until SMC is tried again, the first time
 */
void smc_picture_add(struct smc_picture *p, const struct smc_sample *s, u64 now, u64 retry);

/**
 * smc_picture_offers() - shall the next connection be offered SMC?
 * @p: the picture
 * @now: in ms
 */
bool smc_picture_offers(struct smc_picture *p, u64 now);

#endif
