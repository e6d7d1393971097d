/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A moving average of the connections of one listener, and the resulting verdict: does SMC pay for
 * them? Documentation/steering.md explains the rule and the thresholds.
 *
 * Independent of the kernel: the same source is built in user space (unit tests).
 */
#ifndef SMC_POLICY_EWMA_H
#define SMC_POLICY_EWMA_H

#include "../wire/wire.h"

/* The worth of a connection for which SMC costs as much as TCP. */
#define SMC_EWMA_EVEN	1024
/* The number of messages (in both directions), or of bytes, that has this worth. */
#define SMC_EWMA_MESSAGES	5
#define SMC_EWMA_BYTES	(96u << 10)
/* Cap on a connection's worth, so that one long connection does not hide many short ones. */
#define SMC_EWMA_MOST	(16 * SMC_EWMA_EVEN)
/* Connections before the first verdict; afterwards, a new one weighs 1 / SMC_EWMA_SAMPLES. */
#define SMC_EWMA_SAMPLES	16
/* How often the time until the next attempt of SMC may double. */
#define SMC_EWMA_DOUBLINGS	6

enum smc_verdict {
	SMC_VERDICT_LEARNING = 1,	/* too few connections seen so far: SMC is offered */
	SMC_VERDICT_PAYS,
	SMC_VERDICT_TOO_SHORT,		/* not offered until the next attempt */
};

/**
 * struct smc_sample - a connection that has ended
 * @messages:	messages sent and received
 * @bytes:	bytes sent and received
 * @ms:		lifetime of the connection in ms
 */
struct smc_sample {
	u64	messages;
	u64	bytes;
	u64	ms;
};

/**
 * struct smc_ewma - average of the latest connections
 * @verdict:	enum smc_verdict
 * @doublings:	how often the time until the next attempt of SMC has doubled
 * @n:		number of connections in the average, SMC_EWMA_SAMPLES at most
 * @conns:	number of all connections
 * @until:	TOO_SHORT: time of the next attempt of SMC, in ms
 * @worth:	average worth; SMC_EWMA_EVEN is break-even
 * @messages:	average number of messages
 * @bytes:	average number of bytes
 * @ms:		average lifetime in ms
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
 * smc_ewma_worth() - the worth of a connection: how much SMC saves, or would have saved
 * @s: the connection
 *
 * Return: 0 to SMC_EWMA_MOST; SMC_EWMA_EVEN equals the extra cost of setting up SMC.
 */
u64 smc_ewma_worth(const struct smc_sample *s);

/**
 * smc_ewma_add() - add a connection that has ended
 * @p: the average
 * @s: the connection
 * @now: current time in ms
 * @retry: time until the first new attempt of SMC, in ms
 */
void smc_ewma_add(struct smc_ewma *p, const struct smc_sample *s, u64 now, u64 retry);

/**
 * smc_ewma_offers() - should SMC be offered to the next connection?
 * @p: the average
 * @now: current time in ms
 *
 * Return: true if so.
 */
bool smc_ewma_offers(struct smc_ewma *p, u64 now);

#endif
