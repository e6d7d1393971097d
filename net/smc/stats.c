// SPDX-License-Identifier: GPL-2.0
/* Per-namespace counters. */
#include <linux/cpumask.h>
#include "mem/rmbe.h"
#include "smc.h"
#include "stats.h"

/**
 * smc_stats_large_send() - count a call that sent too much for the connection's own counters
 * @sk: the socket
 * @c: its connection
 * @len: number of bytes that the call was asked to send
 */
void smc_stats_large_send(const struct sock *sk, struct smc_conn *c, size_t len)
{
	smc_stats_add(sock_net(sk), c, tx.calls[smc_stats_size(len)], 1);
	if (len > c->tx_size)
		smc_stats_add(sock_net(sk), c, tx.small, 1);
	if (len > c->peer_size)
		smc_stats_add(sock_net(sk), c, tx.small_peer, 1);
}

/**
 * smc_stats_large_recv() - count a call that received too much for the connection's own counters
 * @sk: the socket
 * @c: its connection
 * @len: number of bytes received
 */
void smc_stats_large_recv(const struct sock *sk, struct smc_conn *c, size_t len)
{
	smc_stats_add(sock_net(sk), c, rx.calls[smc_stats_size(len)], 1);
}

/**
 * smc_stats_left_unread() - count a receive call that leaves data unread
 * @sk: the socket
 * @c: its connection
 * @unread: number of bytes that were available
 * @enough: the application's buffer is full: this call takes no more
 */
void smc_stats_left_unread(const struct sock *sk, struct smc_conn *c, u64 unread,
			   bool enough)
{
	if (enough)
		smc_stats_add(sock_net(sk), c, rx.small, 1);
	if (unread >= c->rx_size)
		smc_stats_add(sock_net(sk), c, rx.full, 1);
}

/**
 * smc_stats_no_room() - count a sender that has to wait
 * @sk: the socket
 * @c: its connection
 */
void smc_stats_no_room(const struct sock *sk, struct smc_conn *c)
{
	smc_stats_add(sock_net(sk), c, tx.full, 1);
	if (c->tx_size >= c->peer_size)
		smc_stats_add(sock_net(sk), c, tx.full_peer, 1);
}

/* The counters for a connection's SMC type; look them up once before updating several of them. */
static struct smc_stats_tech __percpu *tech_of(struct net *net, const struct smc_conn *c)
{
	return &smc_net(net)->stats->tech[smc_stats_tech(c->ops->diag_mode)];
}

static void count_buf(struct smc_stats_dir __percpu *dir, u32 size, u8 how)
{
	this_cpu_inc(dir->bufs[smc_stats_size(size)]);
	this_cpu_add(dir->in_use, size);
	if (how & SMC_RMBE_FRESH)
		this_cpu_inc(dir->fresh);
	if (how & SMC_RMBE_REUSED)
		this_cpu_inc(dir->reused);
	if (how & SMC_RMBE_SMALLER)
		this_cpu_inc(dir->downgraded);
}

/**
 * smc_stats_up() - count a connection that has come up
 * @net: the namespace of its socket
 * @c: the connection
 * @server: role of that socket
 *
 * Context: any; smc_stats_gone() must follow.
 */
void smc_stats_up(struct net *net, struct smc_conn *c, bool server)
{
	struct smc_stats_tech __percpu *t = tech_of(net, c);

	this_cpu_inc(t->conns[server][c->version > SMC_CLC_V1]);
	/* The peer may be up already and may be replacing our element by a larger one. */
	spin_lock_bh(&c->wait_lock);
	c->counted_in = net;
	count_buf(&t->rx, c->rx_size, smc_rmbe_how(c->rmbe));
	count_buf(&t->tx, c->tx_size, c->tx_how);
	spin_unlock_bh(&c->wait_lock);
}

/**
 * smc_stats_resized() - account a ring that was replaced by one of another size
 * @c: the connection that owns the ring; its size is updated
 * @rx: true for the receive element, false for the send ring
 * @bytes: the new size
 * @how: SMC_RMBE_*: how the new ring was obtained
 *
 * Context: any; the caller holds the locks that protect the ring.
 */
void smc_stats_resized(struct smc_conn *c, bool rx, u32 bytes, u8 how)
{
	u32 *size = rx ? &c->rx_size : &c->tx_size;
	struct smc_stats_tech __percpu *t;
	struct smc_stats_dir __percpu *dir;

	spin_lock_bh(&c->wait_lock);
	if (c->counted_in) {
		t = tech_of(c->counted_in, c);
		dir = rx ? &t->rx : &t->tx;
		this_cpu_sub(dir->in_use, (u64)*size);
		count_buf(dir, bytes, how);
	}
	WRITE_ONCE(*size, bytes);
	spin_unlock_bh(&c->wait_lock);
}

/**
 * smc_stats_flush() - add a connection's own counts to the counters of its namespace
 * @net: the namespace of its socket
 * @c: the connection, referenced or under RCU
 *
 * Counts that change meanwhile are added by the next flush.
 *
 * Context: any.
 */
void smc_stats_flush(struct net *net, struct smc_conn *c)
{
	struct smc_conn_counts now = {
		.tx_bytes = smc_count_read(&c->tx_written),
		.rx_bytes = smc_count_read(&c->rx_cons),
		.tx_calls = READ_ONCE(c->tx_calls),
		.rx_calls = READ_ONCE(c->rx_calls),
	};
	struct smc_stats_tech __percpu *t = tech_of(net, c);
	struct smc_conn_counts *old = &c->flushed;

	spin_lock_bh(&c->wait_lock);
	/* A concurrent flush may have added newer counts than those read above. */
	if ((s64)(now.tx_bytes - old->tx_bytes) < 0 ||
	    (s64)(now.rx_bytes - old->rx_bytes) < 0 ||
	    (s64)(now.tx_calls - old->tx_calls) < 0 ||
	    (s64)(now.rx_calls - old->rx_calls) < 0)
		goto out;
	this_cpu_add(t->tx.bytes, now.tx_bytes - old->tx_bytes);
	this_cpu_add(t->rx.bytes, now.rx_bytes - old->rx_bytes);
	this_cpu_add(t->tx.calls[0], now.tx_calls - old->tx_calls);
	this_cpu_add(t->rx.calls[0], now.rx_calls - old->rx_calls);
	*old = now;
out:
	spin_unlock_bh(&c->wait_lock);
}

/**
 * smc_stats_gone() - account that the socket lets go of a connection that was up
 * @net: the namespace of the socket
 * @c: the connection; no system call is using it any more
 *
 * Context: any.
 */
void smc_stats_gone(struct net *net, struct smc_conn *c)
{
	struct smc_stats_tech __percpu *t = tech_of(net, c);

	smc_stats_flush(net, c);
	spin_lock_bh(&c->wait_lock);
	c->counted_in = NULL;
	this_cpu_sub(t->rx.in_use, (u64)c->rx_size);
	this_cpu_sub(t->tx.in_use, (u64)c->tx_size);
	spin_unlock_bh(&c->wait_lock);
}

#define REASON_INDEX_(name, code, words, remedy)	REASON_##name,
enum { SMC_REASONS(REASON_INDEX_) };
#undef REASON_INDEX_

static unsigned int reason_index(enum smc_reason reason)
{
#define REASON_CASE_(name, code, words, remedy)				\
	case SMC_REASON_##name:						\
		return REASON_##name;

	switch (reason) {
	SMC_REASONS(REASON_CASE_)
	}
#undef REASON_CASE_
	return REASON_INTERNAL;
}

/* The reason code for an index into smc_stats.fallbacks. */
u32 smc_stats_reason(unsigned int index)
{
#define REASON_CODE_(name, code, words, remedy)	code,
	static const u32 codes[] = { SMC_REASONS(REASON_CODE_) };
#undef REASON_CODE_

	return codes[index];
}

/**
 * smc_stats_reason_words() - describe a reason in words
 * @reason: the reason
 *
 * Return: the text from smc_reason.h.
 */
const char *smc_stats_reason_words(enum smc_reason reason)
{
	return smc_stats_words(reason_index(reason));
}

/* The text for an index into smc_stats.fallbacks. */
const char *smc_stats_words(unsigned int index)
{
#define REASON_WORDS_(name, code, words, remedy)	words,
	static const char *const texts[] = { SMC_REASONS(REASON_WORDS_) };
#undef REASON_WORDS_

	return texts[index];
}

/**
 * smc_stats_fallback() - count a fallback to TCP
 * @net: its namespace
 * @server: the socket is a child of a listener
 * @reason: reason for the fallback; SMC_REASON_NONE is not counted
 */
void smc_stats_fallback(struct net *net, bool server, enum smc_reason reason)
{
	if (reason)
		this_cpu_inc(smc_net(net)->stats->fallbacks[server][reason_index(reason)]);
}

/**
 * smc_stats_paired() - count a connection within this kernel that came up without CLC
 * @net: the namespace of one of its sockets
 * @server: the role of that socket
 */
void smc_stats_paired(struct net *net, bool server)
{
	this_cpu_inc(smc_net(net)->stats->paired[server]);
}

/**
 * smc_stats_error() - count a handshake that ended in a reset
 * @net: the namespace of its socket
 * @server: role of that socket
 */
void smc_stats_error(struct net *net, bool server)
{
	this_cpu_inc(smc_net(net)->stats->errors[server]);
}

/**
 * smc_stats_sum() - sum the counters of a namespace over all CPUs
 * @net: the namespace
 * @sum: receives the sums
 *
 * This does not include what connections have counted since their last flush: the caller has to
 * call smc_registry_flush() first.
 *
 * Context: process, may sleep.
 */
void smc_stats_sum(struct net *net, struct smc_stats *sum)
{
	u64 *to = (u64 *)sum;
	const u64 *from;
	unsigned int i;
	int cpu;

	BUILD_BUG_ON(sizeof(*sum) % sizeof(u64));
	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		from = (const u64 *)per_cpu_ptr(smc_net(net)->stats, cpu);
		for (i = 0; i < sizeof(*sum) / sizeof(u64); i++)
			to[i] += READ_ONCE(from[i]);
	}
}

static int __net_init smc_stats_net_init(struct net *net)
{
	struct smc_net *sn = smc_net(net);

	sn->stats = alloc_percpu_gfp(struct smc_stats, SMC_GFP_CHARGED);
	return sn->stats ? 0 : -ENOMEM;
}

static void __net_exit smc_stats_net_exit(struct net *net)
{
	free_percpu(smc_net(net)->stats);
}

struct pernet_operations smc_stats_net_ops = {
	.init	= smc_stats_net_init,
	.exit	= smc_stats_net_exit,
};
