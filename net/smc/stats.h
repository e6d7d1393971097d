/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Per-namespace counters.
 *
 * Rare events are counted here directly, per CPU. Per-call events are counted in the connection, in
 * a cache line that is written anyway, so that counting costs one instruction. smc_stats_flush()
 * adds them up when the connection ends and on each request.
 */
#ifndef SMC_STATS_H
#define SMC_STATS_H

#include <linux/bitops.h>
#include <linux/percpu.h>
#include <linux/smc_diag.h>
#include <linux/smc_reason.h>
#include "conn/conn.h"
#include "conn/ops.h"
#include "netns.h"

/* Size bins of a histogram: up to 8 KiB, 16 KiB ... 1 MiB, and more. */
#define SMC_STATS_SIZES	9

/**
 * struct smc_stats_dir - one direction of one SMC type
 * @bytes:	bytes that applications sent or received
 * @calls:	calls, by size
 * @bufs:	connections, by size of their buffer
 * @in_use:	bytes of buffers of existing connections
 * @small_peer:	a call sent more than fits into the peer's buffer
 * @small:	a call sent more than fits into our send buffer; for receiving: a call left data
 *		unread
 * @full_peer:	a sender found the peer's buffer full
 * @full:	a sender found our send buffer full; for receiving: a receiver found its buffer full
 * @reused:	buffers that were reused
 * @fresh:	buffers that were newly allocated
 * @downgraded:	buffers that are smaller than requested
 */
struct smc_stats_dir {
	u64	bytes;
	u64	calls[SMC_STATS_SIZES];
	u64	bufs[SMC_STATS_SIZES];
	u64	in_use;
	u64	small_peer;
	u64	small;
	u64	full_peer;
	u64	full;
	u64	reused;
	u64	fresh;
	u64	downgraded;
};

/**
 * struct smc_stats_tech - one SMC type
 * @tx:		sending
 * @rx:		receiving
 * @conns:	connections that came up, by role (0 client, 1 server) and version
 * @corks:	TCP_CORK was set on a connection
 * @nodelays:	TCP_NODELAY was set on a connection
 * @urgents:	calls that sent urgent data
 */
struct smc_stats_tech {
	struct smc_stats_dir	tx;
	struct smc_stats_dir	rx;
	u64			conns[2][2];
	u64			corks;
	u64			nodelays;
	u64			urgents;
};

#define SMC_REASON_COUNT_(name, code, words, remedy)	+ 1
#define SMC_NR_REASONS	(0 SMC_REASONS(SMC_REASON_COUNT_))

/**
 * struct smc_stats - all counters of a namespace on one CPU
 * @tech:	by SMC type, see smc_stats_tech()
 * @errors:	handshakes that ended in a reset, by role
 * @paired:	connections within this kernel that came up without CLC, by role
 * @links_up:	links of SMC-R that came up
 * @links_down:	links of SMC-R that failed
 * @conns_moved: connections that moved from a failed link to another one
 * @bytes_again: bytes that these connections had to write again
 * @fallbacks:	sockets that became TCP, by role and reason
 */
struct smc_stats {
	struct smc_stats_tech	tech[2];
	u64			errors[2];
	u64			paired[2];
	u64			links_up;
	u64			links_down;
	u64			conns_moved;
	u64			bytes_again;
	u64			fallbacks[2][SMC_NR_REASONS];
};

/* Index of SMC-R or SMC-D, from the fabric's diag_mode. */
static inline unsigned int smc_stats_tech(u8 diag_mode)
{
	BUILD_BUG_ON(SMC_DIAG_MODE_SMCR / 2 != 0 || SMC_DIAG_MODE_SMCD / 2 != 1);
	return diag_mode / 2;
}

/* The histogram bin for a size. */
static inline unsigned int smc_stats_size(size_t bytes)
{
	return min_t(unsigned int, fls64(((u64)bytes - !!bytes) >> 13),
		     SMC_STATS_SIZES - 1);
}

/* Adds to a counter of a connection's SMC type; any context. */
#define smc_stats_add(net, conn, member, n)				\
	this_cpu_add(smc_net(net)->stats->tech[				\
		smc_stats_tech((conn)->ops->diag_mode)].member, n)

void smc_stats_large_send(const struct sock *sk, struct smc_conn *c, size_t len);
void smc_stats_large_recv(const struct sock *sk, struct smc_conn *c, size_t len);
void smc_stats_left_unread(const struct sock *sk, struct smc_conn *c, u64 unread,
			   bool enough);
void smc_stats_no_room(const struct sock *sk, struct smc_conn *c);

void smc_stats_up(struct net *net, struct smc_conn *c, bool server);
void smc_stats_flush(struct net *net, struct smc_conn *c);
void smc_stats_resized(struct smc_conn *c, bool rx, u32 bytes, u8 how);
void smc_stats_gone(struct net *net, struct smc_conn *c);
void smc_stats_paired(struct net *net, bool server);
void smc_stats_fallback(struct net *net, bool server, enum smc_reason reason);
void smc_stats_error(struct net *net, bool server);

u32 smc_stats_reason(unsigned int index);
const char *smc_stats_words(unsigned int index);
const char *smc_stats_reason_words(enum smc_reason reason);
void smc_stats_sum(struct net *net, struct smc_stats *sum);

extern struct pernet_operations smc_stats_net_ops;

#endif
