// SPDX-License-Identifier: GPL-2.0
/*
 * Destinations that do not speak SMC: one that declined, or that answered the option but then did
 * not speak CLC, gets plain TCP without the option for a while.
 *
 * Memory is bounded: the table consists of sets of four slots each, and a new entry replaces the
 * oldest slot of its set. What was learnt under another configuration of this host is void, so each
 * slot records the number of its configuration.
 */
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "../config/eid.h"
#include "../config/pnet.h"
#include "../lock_class.h"
#include "../smc.h"
#include "policy.h"

struct smc_autocache_slot {
	bool			used;
	u16			port;
	u32			reason;
	u32			diagnosis;
	u32			config;
	struct smc_ip		ip;
	unsigned long		since;
	atomic_t		hits;
};

void smc_autocache_init(struct smc_autocache *c)
{
	smc_seqlock_init(&c->lock, SMC_LOCK_AUTOCACHE);
	c->seed = get_random_u32();
	c->seq = 1;
}

void smc_autocache_exit(struct smc_autocache *c)
{
	kvfree(c->slots);
}

/* With different EIDs or a different PNET table, a peer may answer differently. */
static u32 configuration(const struct smc_net *sn)
{
	return smc_eids_seq() + smc_pnet_seq(sn);
}

/* Index of the first slot of a destination's set. */
static unsigned int set_of(const struct smc_autocache *c, const struct smc_ip *ip, u16 port)
{
	u32 key[] = { ip->hi >> 32, ip->hi, ip->lo >> 32, ip->lo };

	return jhash2(key, ARRAY_SIZE(key), c->seed ^ port) % SMC_AUTOCACHE_SETS *
	       SMC_AUTOCACHE_WAYS;
}

static unsigned long age(const struct smc_autocache_slot *s)
{
	return jiffies - READ_ONCE(s->since);
}

static bool is_for(const struct smc_autocache_slot *s, const struct smc_ip *ip, u16 port)
{
	return s->used && s->port == port && smc_ip_equal(&s->ip, ip);
}

static bool is_valid(const struct smc_net *sn, const struct smc_autocache_slot *s)
{
	unsigned long time = READ_ONCE(sn->autocache_time) * (unsigned long)HZ;

	return s->used && age(s) < time && s->config == configuration(sn);
}

/* The slot for a destination: its own slot, an unused or expired one, or the oldest. */
static struct smc_autocache_slot *__slot_for(struct smc_net *sn, const struct smc_ip *ip,
					     u16 port)
{
	struct smc_autocache *c = &sn->steer->autocache;
	struct smc_autocache_slot *set = c->slots + set_of(c, ip, port), *best = set;
	unsigned int i;

	lockdep_assert_held(&c->lock.lock);
	for (i = 0; i < SMC_AUTOCACHE_WAYS; i++)
		if (is_for(&set[i], ip, port))
			return &set[i];
	for (i = 0; i < SMC_AUTOCACHE_WAYS; i++) {
		if (!is_valid(sn, &set[i]))
			return &set[i];
		if (age(&set[i]) > age(best))
			best = &set[i];
	}
	return best;
}

/**
 * smc_autocache_prepare() - allocate the table before a destination has to be remembered
 * @sn: the namespace
 *
 * The table is allocated when it is first needed.
 *
 * Context: process, may sleep.
 */
void smc_autocache_prepare(struct smc_net *sn)
{
	struct smc_autocache *c = &sn->steer->autocache;
	struct smc_autocache_slot *slots;

	if (!READ_ONCE(sn->autocache_time) || smp_load_acquire(&c->slots))
		return;
	slots = smc_alloc_array(SMC_AUTOCACHE_SLOTS, sizeof(*slots));
	if (slots && cmpxchg(&c->slots, NULL, slots))
		kvfree(slots);
}

/**
 * smc_autocache_remember() - remember that a destination does not speak SMC
 * @sk: the client's socket
 * @reason: PEER_DECLINED, PROTOCOL, TIMEOUT or PEER_CLOSED
 * @diagnosis: the diagnosis in the peer's Decline, or 0
 *
 * Context: any; call smc_autocache_prepare() before.
 */
void smc_autocache_remember(const struct sock *sk, enum smc_reason reason, u32 diagnosis)
{
	struct smc_net *sn = smc_net(sock_net(sk));
	struct smc_autocache *c = &sn->steer->autocache;
	struct smc_autocache_slot *s;
	struct smc_flow flow;

	if (!READ_ONCE(sn->autocache_time) || !smp_load_acquire(&c->slots))
		return;
	smc_flow_of_sock(sk, &flow, false);
	write_seqlock_bh(&c->lock);
	s = __slot_for(sn, &flow.ip[SMC_REMOTE], flow.port[SMC_REMOTE]);
	if (!is_valid(sn, s) || !is_for(s, &flow.ip[SMC_REMOTE], flow.port[SMC_REMOTE]))
		c->seq = smc_next_seq(c->seq);
	s->used = true;
	s->ip = flow.ip[SMC_REMOTE];
	s->port = flow.port[SMC_REMOTE];
	s->reason = reason;
	s->diagnosis = diagnosis;
	s->config = configuration(sn);
	s->since = jiffies;
	atomic_set(&s->hits, 0);
	c->last = jiffies;
	smc_steer_switch(sn, SMC_STEER_AUTOCACHE, true);
	write_sequnlock_bh(&c->lock);
}

/* Once the newest entry has expired, connections need not search the table any more. */
static void rest(struct smc_net *sn)
{
	struct smc_autocache *c = &sn->steer->autocache;

	write_seqlock_bh(&c->lock);
	if (jiffies - c->last >= READ_ONCE(sn->autocache_time) * (unsigned long)HZ)
		smc_steer_switch(sn, SMC_STEER_AUTOCACHE, false);
	write_sequnlock_bh(&c->lock);
}

/**
 * smc_autocache_knows() - is this destination known not to speak SMC?
 * @sn: the namespace
 * @ip: address of the destination
 * @port: port of the destination
 *
 * Context: any.
 *
 * Return: true if there is an entry that is still valid.
 */
bool smc_autocache_knows(struct smc_net *sn, const struct smc_ip *ip, u16 port)
{
	struct smc_autocache *c = &sn->steer->autocache;
	struct smc_autocache_slot *set, *found;
	unsigned int seq, i;

	if (!smp_load_acquire(&c->slots))
		return false;
	if (jiffies - READ_ONCE(c->last) >= READ_ONCE(sn->autocache_time) * (unsigned long)HZ) {
		rest(sn);
		return false;
	}
	set = c->slots + set_of(c, ip, port);
	do {
		seq = read_seqbegin(&c->lock);
		found = NULL;
		for (i = 0; i < SMC_AUTOCACHE_WAYS; i++)
			if (is_for(&set[i], ip, port) && is_valid(sn, &set[i]))
				found = &set[i];
	} while (read_seqretry(&c->lock, seq));
	if (found)
		atomic_inc(&found->hits);
	return found;
}

/**
 * smc_autocache_flush() - forget all destinations
 * @sn: the namespace
 */
void smc_autocache_flush(struct smc_net *sn)
{
	struct smc_autocache *c = &sn->steer->autocache;
	unsigned int i;

	write_seqlock_bh(&c->lock);
	for (i = 0; c->slots && i < SMC_AUTOCACHE_SLOTS; i++)
		c->slots[i].used = false;
	c->seq = smc_next_seq(c->seq);
	smc_steer_switch(sn, SMC_STEER_AUTOCACHE, false);
	write_sequnlock_bh(&c->lock);
}

/**
 * smc_autocache_nth() - read a slot
 * @sn: the namespace
 * @n: index of the slot, below SMC_AUTOCACHE_SLOTS
 * @e: receives the entry
 * @seq: receives the sequence number of the table, which is never 0
 *
 * Return: true if the slot has an entry that is still valid.
 */
bool smc_autocache_nth(struct smc_net *sn, unsigned int n, struct smc_autocache_entry *e,
		       unsigned int *seq)
{
	struct smc_autocache *c = &sn->steer->autocache;
	const struct smc_autocache_slot *s;
	unsigned long old;
	bool valid;

	read_seqlock_excl_bh(&c->lock);
	*seq = c->seq;
	s = smp_load_acquire(&c->slots);
	if (s)
		s += n;
	valid = s && is_valid(sn, s);
	if (valid) {
		old = age(s) / HZ;
		*e = (struct smc_autocache_entry){
			.ip = s->ip,
			.port = s->port,
			.reason = s->reason,
			.diagnosis = s->diagnosis,
			.left = max_t(long, READ_ONCE(sn->autocache_time) - (long)old, 0),
			.hits = atomic_read(&s->hits),
		};
	}
	read_sequnlock_excl_bh(&c->lock);
	return valid;
}
