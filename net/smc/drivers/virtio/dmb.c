// SPDX-License-Identifier: GPL-2.0
/*
 * Our DMBs, and the regions that contain them.  Only one peer learns of a region.  So an honest
 * peer that was taken for dead and resumes does not write to memory of other peers.
 */
#include <linux/bitmap.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "vism.h"

/**
 * struct vism_slice - location of a DMB (smc_ism_dmb.priv)
 * @list:	entry in vism_dev.owed, if the DMB is unregistered, but its peer may write to it
 * @token:	token of the DMB
 * @own:	its region
 * @at:		its first granule
 * @n:		number of granules
 */
struct vism_slice {
	struct list_head list;
	u64		token;
	struct vism_own	*own;
	u32		at;
	u32		n;
};

/*
 * Has the device been removed? Then the window may be that of another device, or contain regions of
 * another instance. vism_stop() waits for all that did not see this: for RCU, and for the lock.
 */
static bool is_stopped(const struct vism_dev *d)
{
	return READ_ONCE(d->state) == VISM_STOPPED;
}

/* The first granule, which has the head, and those beyond the end of a small region. */
static u64 never_used(const struct vism_dev *d)
{
	u32 n = d->window.size / vism_granule(d->window.size);

	return ~vism_bits(1, n - 1);
}

/* Get a new region from the device; no peer knows it yet. */
static struct vism_own *__new_own(struct vism_dev *d)
{
	struct vism_own *own = kzalloc(sizeof(*own), SMC_ISM_GFP);
	int index;

	lockdep_assert_held(&d->lock);
	if (!own)
		return NULL;
	index = __vism_alloc(d, &own->token);
	if (index < 0) {
		kfree(own);
		return NULL;
	}
	own->index = index;
	own->used = never_used(d);
	own->state = VISM_NOBODYS;
	list_add_tail(&own->list, &d->own);
	return own;
}

/* Assign a region to a peer.  From now on the peer may write to it. */
static void __assign(struct vism_dev *d, struct vism_own *own, const struct smc_ism_gid *peer)
{
	lockdep_assert_held(&d->lock);
	do {
		own->nonce = get_random_u64();
	} while (!own->nonce);
	own->peer = *peer;
	own->state = VISM_PEERS_OWN;
	own->idle = 0;
	vism_open(vism_mem(d, own->index), VISM_DATA, own->nonce);
}

static bool is_of(const struct vism_own *own, const struct smc_ism_gid *peer)
{
	return own->state == VISM_PEERS_OWN && smc_ism_gid_equal(&own->peer, peer);
}

/* How many regions a peer gets: it would reset a connection whose region it cannot attach. */
static u32 __limit(struct vism_dev *d, const struct smc_ism_gid *peer)
{
	struct vism_peer *p = __vism_get_peer(d, peer);
	u32 share = vism_share(&d->window);

	lockdep_assert_held(&d->lock);
	return p ? vism_room(p->home, share) : share;
}

/* Find @s->n free granules in a region of this peer, or assign another region to it. */
static int __find_room(struct vism_dev *d, struct vism_slice *s, const struct smc_ism_gid *peer)
{
	struct vism_own *own, *nobodys = NULL;
	u32 n = 0;
	int at;

	lockdep_assert_held(&d->lock);
	list_for_each_entry(own, &d->own, list) {
		at = is_of(own, peer) ? vism_fit(own->used, s->n, own->next) : -ENOSPC;
		if (at >= 0)
			goto found;
		n += is_of(own, peer);
		if (own->state == VISM_NOBODYS)
			nobodys = own;
	}
	if (n >= __limit(d, peer))
		return -ENOMEM;
	own = nobodys ?: __new_own(d);
	if (!own)
		return -ENOMEM;
	__assign(d, own, peer);
	at = vism_fit(own->used, s->n, 0);
	if (at < 0)
		return -ENOMEM;
found:
	s->own = own;
	s->at = at;
	own->next = (at + s->n) % VISM_GRANULES;
	own->used |= vism_bits(at, s->n);
	own->idle = 0;
	return 0;
}

static long __get_number(struct vism_dev *d)
{
	unsigned long n = find_next_zero_bit(d->numbers, VISM_DMBS, d->next_number);

	lockdep_assert_held(&d->lock);
	if (n >= VISM_DMBS)
		n = find_first_zero_bit(d->numbers, VISM_DMBS);
	if (n >= VISM_DMBS)
		return -ENOMEM;
	set_bit(n, d->numbers);
	d->next_number = (n + 1) % VISM_DMBS;
	return n;
}

static int __allocate(struct vism_dev *d, struct vism_slice *s, const struct smc_ism_gid *peer)
{
	long number;
	int rc = 0;

	lockdep_assert_held(&d->lock);
	number = vism_up(d) ? __get_number(d) : -ENODEV;
	if (number >= 0)
		rc = __find_room(d, s, peer);
	if (rc)
		clear_bit(number, d->numbers);
	return rc ?: number;
}

static void set_dmb(struct vism_dev *d, u32 number, struct smc_ism_dmb *dmb)
{
	spin_lock_bh(&d->dmb_lock);
	d->dmbs[number] = dmb;
	WRITE_ONCE(d->n_dmbs, d->n_dmbs + (dmb ? 1 : -1));
	spin_unlock_bh(&d->dmb_lock);
}

static u64 new_token(u32 number)
{
	u64 nonce;

	do {
		nonce = get_random_u64() & VISM_NONCE_MASK;
	} while (!nonce || nonce == VISM_NONCE_MASK);
	return vism_token_join(number, nonce);
}

/* Publish a DMB in our home. */
static void __publish(struct vism_dev *d, struct smc_ism_dmb *dmb, struct vism_slice *s,
		      u32 number)
{
	struct vism_place p = {
		.region = s->own->token, .nonce = s->own->nonce,
		.offset = s->at * vism_granule(d->window.size),
	};

	lockdep_assert_held(&d->lock);
	s->token = new_token(number);
	dmb->priv = s;
	dmb->mem = vism_mem(d, s->own->index) + p.offset;
	dmb->token = s->token;
	memset(dmb->mem, 0, dmb->size);
	set_dmb(d, number, dmb);
	vism_set_dmb(d->home, dmb->token, &p, dmb->size);
}

/**
 * vism_register_dmb() - smc_ism_ops.register_dmb
 * @ism: the device
 * @dmb: the DMB
 * @peer: the only peer that may write to it
 *
 * Return: 0, -ENOMEM or -ENODEV.
 */
int vism_register_dmb(struct smc_ism_dev *ism, struct smc_ism_dmb *dmb,
		      const struct smc_ism_gid *peer)
{
	struct vism_dev *d = to_vism(ism);
	struct vism_slice *s;
	int number;

	if (!dmb->size || dmb->size > d->window.size / 2)
		return -ENOMEM;
	s = kzalloc(sizeof(*s), SMC_ISM_GFP);
	if (!s)
		return -ENOMEM;
	s->n = DIV_ROUND_UP(dmb->size, vism_granule(d->window.size));
	mutex_lock(&d->lock);
	number = __allocate(d, s, peer);
	if (number >= 0)
		__publish(d, dmb, s, number);
	mutex_unlock(&d->lock);
	if (number < 0) {
		kfree(s);
		return number;
	}
	vism_poll_start(d);
	return 0;
}

/**
 * vism_lend_dmb() - smc_ism_ops.lend_dmb
 * @ism: the device
 * @dmb: the DMB
 */
void vism_lend_dmb(struct smc_ism_dev *ism, struct smc_ism_dmb *dmb)
{
	struct vism_dev *d = to_vism(ism);

	rcu_read_lock();
	if (!is_stopped(d))
		vism_offer(d->home, dmb->token);
	rcu_read_unlock();
}

/**
 * vism_withdraw_dmb() - smc_ism_ops.withdraw_dmb
 * @ism: the device
 * @dmb: the DMB
 *
 * Return: true if no peer can attach the DMB.
 */
bool vism_withdraw_dmb(struct smc_ism_dev *ism, struct smc_ism_dmb *dmb)
{
	struct vism_dev *d = to_vism(ism);
	bool back;

	rcu_read_lock();
	back = is_stopped(d) || vism_take_back(d->home, dmb->token, false);
	rcu_read_unlock();
	return back;
}

static void __free_slice(struct vism_dev *d, struct vism_slice *s)
{
	lockdep_assert_held(&d->lock);
	s->own->used &= ~vism_bits(s->at, s->n);
	clear_bit(vism_token_number(s->token), d->numbers);
	kfree(s);
}

/*
 * A region whose peer has left gets no other DMBs, so the peer may write to it.  What becomes of
 * the region is for __vism_own_age() to decide. A removed device gives nothing to anybody.
 */
static bool __take_back(struct vism_dev *d, const struct vism_slice *s, bool ended)
{
	void *mem = vism_mem(d, s->own->index) + s->at * vism_granule(d->window.size);

	lockdep_assert_held(&d->lock);
	if (is_stopped(d))
		return true;
	ended = ended || s->own->state != VISM_PEERS_OWN;
	return vism_take_back(d->home, s->token, ended || smc_ism_has_last_word(mem));
}

/**
 * __vism_collect() - look again whether peers have let go of what nobody uses here
 * @d: the device
 */
void __vism_collect(struct vism_dev *d)
{
	struct vism_slice *s, *next;

	lockdep_assert_held(&d->lock);
	list_for_each_entry_safe(s, next, &d->owed, list) {
		if (__take_back(d, s, false)) {
			list_del(&s->list);
			__free_slice(d, s);
		}
	}
}

/**
 * vism_end_owed() - free what is known of DMBs that nobody uses here
 * @d: the device, without users; its window may be gone
 */
void vism_end_owed(struct vism_dev *d)
{
	struct vism_slice *s, *next;

	list_for_each_entry_safe(s, next, &d->owed, list)
		kfree(s);
}

/**
 * vism_unregister_dmb() - smc_ism_ops.unregister_dmb
 * @ism: the device
 * @dmb: the DMB
 */
void vism_unregister_dmb(struct smc_ism_dev *ism, struct smc_ism_dmb *dmb)
{
	struct vism_dev *d = to_vism(ism);
	struct vism_slice *s = dmb->priv;

	set_dmb(d, vism_token_number(dmb->token), NULL);
	mutex_lock(&d->lock);
	if (!is_stopped(d))
		vism_clear_dmb(d->home, dmb->token);
	if (__take_back(d, s, !dmb->in_doubt))
		__free_slice(d, s);
	else
		list_add_tail(&s->list, &d->owed);
	mutex_unlock(&d->lock);
}

static bool in_use(const struct vism_dev *d, const struct vism_own *own)
{
	return own->used != never_used(d);
}

/**
 * __vism_serves() - are there DMBs for a peer?
 * @d: the device
 * @peer: GID of the peer
 *
 * Return: true if there are.
 */
bool __vism_serves(const struct vism_dev *d, const struct smc_ism_gid *peer)
{
	const struct vism_own *own;

	lockdep_assert_held(&d->lock);
	list_for_each_entry(own, &d->own, list)
		if (is_of(own, peer) && in_use(d, own))
			return true;
	return false;
}

/**
 * __vism_own_leave() - a peer is gone: use its regions for no more DMBs
 * @d: the device
 * @peer: GID of the peer
 * @silent: the peer did not end visibly, and may still write to its regions
 */
void __vism_own_leave(struct vism_dev *d, const struct smc_ism_gid *peer, bool silent)
{
	struct vism_own *own;

	lockdep_assert_held(&d->lock);
	list_for_each_entry(own, &d->own, list) {
		if (!is_of(own, peer))
			continue;
		own->state = silent ? VISM_RETIRED : VISM_RESTING;
		own->idle = 0;
		vism_close(vism_mem(d, own->index));
	}
}

static void __own_free(struct vism_dev *d, struct vism_own *own)
{
	lockdep_assert_held(&d->lock);
	vism_close(vism_mem(d, own->index));
	__vism_detach(d, own->index);
	list_del(&own->list);
	kfree(own);
}

/* For how many beats a region without DMBs keeps its state. */
static u32 patience(const struct vism_own *own)
{
	return own->state == VISM_PEERS_OWN ? VISM_FORGET : VISM_REST;
}

/**
 * __vism_own_age() - recycle our regions without DMBs; called once per beat
 * @d: the device
 *
 * With VISM_ID_TOKEN they are given back to the device.  With VISM_ID_OFFSET a region becomes
 * available to other peers once its peer has left, but never if that peer was silent.
 */
void __vism_own_age(struct vism_dev *d)
{
	struct vism_own *own, *next;

	lockdep_assert_held(&d->lock);
	list_for_each_entry_safe(own, next, &d->own, list) {
		if (in_use(d, own)) {
			own->idle = 0;
			continue;
		}
		if (++own->idle < patience(own))
			continue;
		if (d->window.id == VISM_ID_TOKEN)
			__own_free(d, own);
		else if (own->state == VISM_RESTING)
			own->state = VISM_NOBODYS;
	}
}

/**
 * __vism_own_end() - give back our regions without DMBs, as the device is going away
 * @d: the device, in which no new DMBs are registered
 *
 * Return: true if no region is left.
 */
bool __vism_own_end(struct vism_dev *d)
{
	struct vism_own *own, *next;

	lockdep_assert_held(&d->lock);
	list_for_each_entry_safe(own, next, &d->own, list)
		if (!in_use(d, own))
			__own_free(d, own);
	return list_empty(&d->own);
}
