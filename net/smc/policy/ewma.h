/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A moving average of the connections of one listener, and the verdict that follows from it:
 * does SMC pay for them?  Documentation/steering.md explains the rule and the thresholds.
 *
 * Nothing here depends on the kernel: the same source builds in user space (unit tests).
 */
#ifndef SMC_POLICY_EWMA_H
#define SMC_POLICY_EWMA_H

#include "../wire/wire.h"

/* The worth of a connection for which SMC costs neither more nor less than TCP. */
#define SMC_EWMA_EVEN	1024
/* The messages of both directions that are worth it, or the bytes. */
#define SMC_EWMA_MESSAGES	5
#define SMC_EWMA_BYTES	(96u << 10)
/* The cap of a connection's worth, so that a long one does not hide many short ones. */
#define SMC_EWMA_MOST	(16 * SMC_EWMA_EVEN)
/* Connections before the first verdict, and weight of the average afterwards. */
#define SMC_EWMA_SAMPLES	16
/* How often the time until SMC is tried again doubles. */
#define SMC_EWMA_DOUBLINGS	6

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
 * struct smc_ewma - of the last connections
 * @verdict:	enum smc_verdict
 * @doublings:	of the time until SMC is tried again
 * @n:		connections in the average, SMC_EWMA_SAMPLES at most
 * @conns:	all of them
 * @until:	TOO_SHORT: when SMC is tried again, in ms
 * @worth:	average, SMC_EWMA_EVEN is break-even
 * @messages:	average
 * @bytes:	average
 * @ms:		average
 */
struct smc_ewma {
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

void smc_ewma_init(struct smc_ewma *p);

/**
 * smc_ewma_worth() - the worth of a connection: how much SMC saves, or would save
 * @s: the connection
 *
 * Return: 0 to SMC_EWMA_MOST; SMC_EWMA_EVEN is what SMC costs more to set up.
 */
u64 smc_ewma_worth(const struct smc_sample *s);

/**
 * smc_ewma_add() - a connection has ended
 * @p: the picture
 * @s: the connection
 * @now: in ms
 * @retry: ms until SMC is tried again, the first time
 */
void smc_ewma_add(struct smc_ewma *p, const struct smc_sample *s, u64 now, u64 retry);

/**
 * smc_ewma_offers() - shall the next connection be offered SMC?
 * @p: the picture
 * @now: in ms
 *
 * Return: true if so.
 */
bool smc_ewma_offers(struct smc_ewma *p, u64 now);

#endif
