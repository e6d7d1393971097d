// SPDX-License-Identifier: GPL-2.0
/*
 * An ISM device over a region of shared memory, see shm.h and Documentation/ism-ivshmem.md.
 */
#include <linux/bitmap.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "shm.h"

/* Maximum of dirty bitmap words that one run of the tasklet processes. */
#define SIGNALS_BUDGET	16
/* The largest element size that a CLC message can encode is 16 KiB << MAX_CODE. */
#define MAX_CODE	15

static unsigned int slots = 16;
module_param(slots, uint, 0444);
MODULE_PARM_DESC(slots, "number of participants in a region that this host initialises: 2 to 64");

#ifdef CONFIG_SMC_TEST
static bool copying;
module_param(copying, bool, 0444);
MODULE_PARM_DESC(copying, "act as a device that copies, like IBM's ISM, for tests");
#else
#define copying	false
#endif

static struct workqueue_struct *ivs_wq;
static DEFINE_SPINLOCK(ivs_all_lock);
static unsigned int ivs_all;
static DECLARE_WAIT_QUEUE_HEAD(ivs_freed);

static struct ivs_dev *to_ivs(struct smc_ism_dev *ism)
{
	return container_of(ism, struct ivs_dev, ism);
}

/*
 * The clock counts only time in which this kernel was running.  After a pause of this guest, its
 * peers must not appear silent for that time: they may have been paused as well.
 */
static void advance_clock(struct ivs_dev *d)
{
	u64 now = ktime_get_ns() / NSEC_PER_MSEC;

	WRITE_ONCE(d->clock, d->clock + min_t(u64, now - d->looked, 2 * IVS_BEAT_MS));
	d->looked = now;
}

static bool is_up(const struct ivs_dev *d)
{
	return READ_ONCE(d->state) == IVS_UP;
}

/* Connections that end while the device leaves must still be able to signal their peers. */
static bool in_use(const struct ivs_dev *d)
{
	return is_up(d) || READ_ONCE(d->state) == IVS_LEAVING;
}

/* ---- references ---- */

static void forget_owed(struct ivs_dev *d)
{
	struct ivs_lent *l, *next;

	list_for_each_entry_safe(l, next, &d->owed, list)
		kfree(l);
}

static void end_work(struct work_struct *work)
{
	struct ivs_dev *d = container_of(work, struct ivs_dev, end);

	/* A late signal to ourselves may have scheduled the tasklet again. */
	tasklet_kill(&d->signals);
	if (d->owner)
		ivs_slot_leave(&d->region, d->slot, d->owner);
	/* What is on loan is in the region, for the next owner of the slot. */
	forget_owed(d);
	bitmap_free(d->units);
	d->bus->free(d);
	spin_lock(&ivs_all_lock);
	ivs_all--;
	wake_up_all(&ivs_freed);
	spin_unlock(&ivs_all_lock);
}

static void put(struct ivs_dev *d)
{
	if (refcount_dec_and_test(&d->ref))
		queue_work(ivs_wq, &d->end);
}

static void shm_release(struct smc_ism_dev *ism)
{
	put(to_ivs(ism));
}

/* ---- peers ---- */

static bool has_gid(const struct ivs_view *v, const struct smc_ism_gid *gid)
{
	return v->gid[0] == gid->id && v->gid[1] == gid->ext;
}

static struct smc_ism_gid gid_of(const struct ivs_view *v)
{
	return (struct smc_ism_gid){ .id = v->gid[0], .ext = v->gid[1] };
}

/*
 * Remember the peer in a slot, as SMC-D has asked for it.  Returns true if another peer was known
 * in that slot.  Then the caller must report the end of @gone, because the tick will not notice it.
 */
static bool __know(struct ivs_dev *d, u32 slot, const struct ivs_view *v, struct smc_ism_gid *gone)
{
	struct ivs_peer *p = &d->peers[slot];
	bool other = p->is_known && !ivs_same(&p->known, v);

	lockdep_assert_held(&d->peer_lock);
	if (other)
		*gone = gid_of(&p->known);
	p->known = *v;
	p->is_known = true;
	return other;
}

/* A region has no VLANs: all participants can reach each other. */
static int shm_query_gid(struct smc_ism_dev *ism, const struct smc_ism_gid *gid, u16 vlan)
{
	struct ivs_dev *d = to_ivs(ism);
	struct smc_ism_gid gone;
	bool other = false;
	struct ivs_view v;
	u64 now = READ_ONCE(d->clock);
	u32 i;

	if (!is_up(d) || vlan != SMC_ISM_ANY_VLAN)
		return -ENODEV;
	spin_lock_bh(&d->peer_lock);
	for (i = 0; i < d->region.slots; i++) {
		ivs_look(&d->region, i, &v);
		if (ivs_ready(&v) && has_gid(&v, gid) && !ivs_dead(&d->peers[i].watch, now))
			break;
	}
	if (i < d->region.slots)
		other = __know(d, i, &v, &gone);
	spin_unlock_bh(&d->peer_lock);
	if (other)
		smc_ism_gid_gone(ism, &gone);
	return i < d->region.slots ? 0 : -ENODEV;
}

/*
 * Find the memory that a token names, and borrow it.  NULL if the peer is unknown, the token is
 * wrong, or the DMB is lent to somebody else.
 */
static void *find(struct ivs_dev *d, const struct smc_ism_gid *gid, u64 token, u32 offset,
		  u32 bytes)
{
	struct ivs_token t;
	void *mem = NULL;
	struct ivs_peer *p;

	ivs_token_split(token, &t);
	if (t.slot >= d->region.slots)
		return NULL;
	spin_lock_bh(&d->peer_lock);
	p = &d->peers[t.slot];
	if (p->is_known && (!gid || has_gid(&p->known, gid)))
		mem = ivs_judge(&d->region, &p->known, token, offset, bytes);
	/* Only a copy does not name the peer. */
	if (mem && !ivs_borrow(&d->region, &p->known, token, d->slot, d->boot, !gid))
		mem = NULL;
	spin_unlock_bh(&d->peer_lock);
	return mem;
}

/*
 * A peer that sees another boot nonce takes back what it has lent to us.  So keep the nonce until
 * we write to nothing any more.
 */
static void unmapped(struct ivs_dev *d)
{
	if (atomic_dec_and_test(&d->mapped) && d->owner &&
	    ivs_owns(&d->region, d->slot, d->owner))
		ivs_slot_ready(&d->region, d->slot, 0);
}

static void *shm_map(struct smc_ism_dev *ism, const struct smc_ism_gid *gid, u64 token, u32 bytes)
{
	struct ivs_dev *d = to_ivs(ism);
	void *mem = NULL;

	/* Keeps the boot nonce, to which the DMB will be lent. */
	if (!atomic_inc_not_zero(&d->mapped))
		return ERR_PTR(-ENODEV);
	if (is_up(d))
		mem = find(d, gid, token, 0, bytes);
	/* The peer may not be known yet. */
	if (!mem && !shm_query_gid(ism, gid, SMC_ISM_ANY_VLAN))
		mem = find(d, gid, token, 0, bytes);
	if (mem)
		return mem;
	unmapped(d);
	return ERR_PTR(-ENOENT);
}

/* SMC-D has said its last word there. */
static void shm_unmap(struct smc_ism_dev *ism, void *mem)
{
	unmapped(to_ivs(ism));
}

static void tell(struct ivs_dev *d, u64 token)
{
	struct ivs_token t;
	int peer;

	ivs_token_split(token, &t);
	if (t.slot >= d->region.slots || !ivs_mark(&d->region, t.slot, t.number))
		return;
	if (t.slot == d->slot) {
		tasklet_schedule(&d->signals);
		return;
	}
	peer = ivs_peer_of(&d->region, t.slot);
	if (peer >= 0)
		d->bus->ring(d, peer);
}

static void shm_signal(struct smc_ism_dev *ism, const struct smc_ism_gid *gid, u64 token)
{
	struct ivs_dev *d = to_ivs(ism);

	/* ivs_stop() waits for those that see the device in use. */
	rcu_read_lock();
	if (in_use(d))
		tell(d, token);
	rcu_read_unlock();
}

/* Copy page by page, as a device does that only knows pages. */
static int shm_move(struct smc_ism_dev *ism, u64 token, u32 offset, const void *data, u32 len,
		    bool signal)
{
	struct ivs_dev *d = to_ivs(ism);
	u32 piece;
	void *to;

	if (!in_use(d))
		return -ENODEV;
	while (len) {
		piece = min_t(u32, len, IVS_PAGE - offset % IVS_PAGE);
		to = find(d, NULL, token, offset, piece);
		if (!to)
			return -ENOENT;
		memcpy(to, data, piece);
		data += piece;
		offset += piece;
		len -= piece;
	}
	if (signal)
		tell(d, token);
	return 0;
}

/* Observe all peers.  Report each peer that is known to SMC-D and has ended, once. */
static void watch_peers(struct ivs_dev *d)
{
	struct smc_ism_gid gone;
	struct ivs_peer *p;
	u64 now = d->clock;
	bool ended, dead;
	u32 i;

	for (i = 0; i < d->region.slots; i++) {
		p = &d->peers[i];
		spin_lock_bh(&d->peer_lock);
		ivs_observe(&d->region, i, &p->watch, now);
		dead = p->is_known && ivs_dead(&p->watch, now);
		ended = p->is_known && (dead || !ivs_same(&p->known, &p->watch.view));
		if (ended) {
			gone = gid_of(&p->known);
			p->is_known = false;
		}
		spin_unlock_bh(&d->peer_lock);
		if (dead)
			pr_info_ratelimited("smc_ism: %s: the peer in slot %u has been silent for %u s: it is considered dead\n",
					    d->ism.name, i, IVS_DEAD_MS / 1000);
		if (ended && is_up(d))
			smc_ism_gid_gone(&d->ism, &gone);
	}
}

/* ---- DMBs ---- */

/* Next fit: reuse memory and numbers as late as possible. */
static long reserve(unsigned long *map, u32 size, u32 *next, u32 n)
{
	unsigned long at = bitmap_find_next_zero_area(map, size, *next, n, 0);

	if (at >= size)
		at = bitmap_find_next_zero_area(map, size, 0, n, 0);
	if (at >= size)
		return -ENOMEM;
	bitmap_set(map, at, n);
	*next = at + n;
	return at;
}

/*
 * May this peer have @n more units?  What it does not return is missing, so it gets no more than is
 * left for others.  With two slots there are no others.
 */
static bool __may_have(const struct ivs_dev *d, u32 slot, u32 n)
{
	lockdep_assert_held(&d->alloc_lock);
	return n <= d->n_free && (d->region.slots == 2 || d->n_lent[slot] + n <= d->n_free);
}

static void __count(struct ivs_dev *d, const struct ivs_lent *l, bool lent)
{
	lockdep_assert_held(&d->alloc_lock);
	d->n_free += lent ? -l->n : l->n;
	d->n_lent[l->slot] += lent ? l->n : -l->n;
}

/* Allocate memory and a number for a DMB. */
static int __allocate(struct ivs_dev *d, struct ivs_lent *l)
{
	long number = -ENOMEM, unit = -ENOMEM;

	lockdep_assert_held(&d->alloc_lock);
	if (__may_have(d, l->slot, l->n))
		number = reserve(d->numbers, IVS_DMBS, &d->next_number, 1);
	if (number >= 0)
		unit = reserve(d->units, d->region.units, &d->next_unit, l->n);
	if (number >= 0 && unit < 0)
		clear_bit(number, d->numbers);
	l->number = number;
	l->unit = unit;
	if (unit >= 0)
		__count(d, l, true);
	return unit < 0 ? unit : 0;
}

/* Nobody can write to the memory any more. */
static void __free_lent(struct ivs_dev *d, struct ivs_lent *l)
{
	lockdep_assert_held(&d->alloc_lock);
	bitmap_clear(d->units, l->unit, l->n);
	clear_bit(l->number, d->numbers);
	__count(d, l, false);
	kfree(l);
}

static void *mem_of(const struct ivs_dev *d, const struct ivs_lent *l)
{
	return ivs_share(&d->region, d->slot) + ((u64)l->unit << IVS_UNIT_SHIFT);
}

/* A slot that another machine has got belongs to that, with all that is on loan. */
static bool take_back(struct ivs_dev *d, const struct ivs_lent *l, bool ended)
{
	bool back;

	rcu_read_lock();
	/* What a removed device has lent is in a region that may be something else by now. */
	back = READ_ONCE(d->state) != IVS_LOST && ivs_owns(&d->region, d->slot, d->owner) &&
	       ivs_take_back(&d->region, d->slot, l->number, l->unit,
			     ended || smc_ism_has_last_word(mem_of(d, l)));
	if (back)
		ivs_set_nonce(&d->region, d->slot, l->number, 0);
	rcu_read_unlock();
	return back;
}

/* Look again whether borrowers have let go of what nobody uses here. */
static void collect(struct ivs_dev *d)
{
	struct ivs_lent *l, *next;

	mutex_lock(&d->alloc_lock);
	list_for_each_entry_safe(l, next, &d->owed, list) {
		if (take_back(d, l, false)) {
			list_del(&l->list);
			__free_lent(d, l);
		}
	}
	mutex_unlock(&d->alloc_lock);
}

/* Take over what a former owner of our slot has lent. */
static int __inherit(struct ivs_dev *d, u32 number)
{
	struct ivs_loan loan;
	struct ivs_lent *l;

	lockdep_assert_held(&d->alloc_lock);
	if (test_bit(number, d->numbers) || !ivs_lent(&d->region, d->slot, number, &loan))
		return 0;
	l = kzalloc(sizeof(*l), GFP_KERNEL);
	if (!l)
		return -ENOMEM;
	l->number = number;
	l->unit = loan.unit;
	l->n = 1 << loan.order;
	l->slot = loan.slot % IVS_SLOTS_MAX;
	/* Two loans of the same unit: a former owner did not follow the rules. */
	if (find_next_bit(d->units, l->unit + l->n, l->unit) < l->unit + l->n ||
	    take_back(d, l, false)) {
		kfree(l);
		return 0;
	}
	set_bit(number, d->numbers);
	bitmap_set(d->units, l->unit, l->n);
	__count(d, l, true);
	list_add_tail(&l->list, &d->owed);
	return 0;
}

static int inherit(struct ivs_dev *d)
{
	int rc = 0;
	u32 i;

	mutex_lock(&d->alloc_lock);
	for (i = 0; i < IVS_DMBS && !rc; i++)
		rc = __inherit(d, i);
	mutex_unlock(&d->alloc_lock);
	return rc;
}

/* The slot of a peer that SMC-D has asked for, or -ENODEV: a stranger gets no memory. */
static int slot_of(struct ivs_dev *d, const struct smc_ism_gid *gid)
{
	int i, slot = -ENODEV;

	spin_lock_bh(&d->peer_lock);
	for (i = 0; i < d->region.slots && slot < 0; i++)
		if (d->peers[i].is_known && has_gid(&d->peers[i].known, gid))
			slot = i;
	spin_unlock_bh(&d->peer_lock);
	return slot;
}

static void set_dmb(struct ivs_dev *d, u32 number, struct smc_ism_dmb *dmb)
{
	spin_lock_bh(&d->dmb_lock);
	d->dmbs[number] = dmb;
	spin_unlock_bh(&d->dmb_lock);
}

/* Nobody writes to the DMB yet, or any more: its peer may borrow it. */
static void shm_lend_dmb(struct smc_ism_dev *ism, struct smc_ism_dmb *dmb)
{
	struct ivs_dev *d = to_ivs(ism);
	struct ivs_lent *l = dmb->priv;
	struct ivs_token t;

	ivs_token_split(dmb->token, &t);
	rcu_read_lock();
	if (in_use(d) && ivs_owns(&d->region, d->slot, d->owner)) {
		ivs_lend(&d->region, d->slot, t.number, t.unit, ilog2(l->n));
		/* Last: a peer that sees the nonce finds zeroed memory. */
		ivs_set_nonce(&d->region, d->slot, t.number, t.nonce);
	}
	rcu_read_unlock();
}

static u64 new_token(const struct ivs_dev *d, const struct ivs_lent *l)
{
	struct ivs_token t = { .slot = d->slot, .number = l->number, .unit = l->unit };

	do {
		t.nonce = get_random_u32() & IVS_NONCE_MASK;
	} while (!t.nonce);
	return ivs_token_join(&t);
}

static int __register_dmb(struct ivs_dev *d, struct smc_ism_dmb *dmb, struct ivs_lent *l)
{
	int rc = is_up(d) ? __allocate(d, l) : -ENODEV;

	lockdep_assert_held(&d->alloc_lock);
	if (rc)
		return rc;
	dmb->priv = l;
	dmb->mem = mem_of(d, l);
	dmb->token = new_token(d, l);
	memset(dmb->mem, 0, (u64)l->n << IVS_UNIT_SHIFT);
	ivs_unmark(&d->region, d->slot, l->number);
	set_dmb(d, l->number, dmb);
	return 0;
}

static int shm_register_dmb(struct smc_ism_dev *ism, struct smc_ism_dmb *dmb,
			    const struct smc_ism_gid *peer)
{
	struct ivs_dev *d = to_ivs(ism);
	int slot = slot_of(d, peer), rc;
	struct ivs_lent *l;

	if (slot < 0)
		return -ENODEV;
	if (dmb->size < IVS_UNIT)
		return -EINVAL;
	l = kzalloc(sizeof(*l), GFP_KERNEL);
	if (!l)
		return -ENOMEM;
	l->n = roundup_pow_of_two(dmb->size >> IVS_UNIT_SHIFT);
	l->slot = slot;
	mutex_lock(&d->alloc_lock);
	rc = __register_dmb(d, dmb, l);
	mutex_unlock(&d->alloc_lock);
	if (rc)
		kfree(l);
	return rc;
}

/* The server has given up the handshake: can the client still attach the DMB? */
static bool shm_withdraw_dmb(struct smc_ism_dev *ism, struct smc_ism_dmb *dmb)
{
	return take_back(to_ivs(ism), dmb->priv, false);
}

static void shm_unregister_dmb(struct smc_ism_dev *ism, struct smc_ism_dmb *dmb)
{
	struct ivs_dev *d = to_ivs(ism);
	struct ivs_lent *l = dmb->priv;

	set_dmb(d, l->number, NULL);
	mutex_lock(&d->alloc_lock);
	if (take_back(d, l, !dmb->in_doubt))
		__free_lent(d, l);
	else
		list_add_tail(&l->list, &d->owed);
	mutex_unlock(&d->alloc_lock);
}

/* Report the DMBs that peers have marked in one word of the bitmap. */
static void report(struct ivs_dev *d, u32 word)
{
	u64 bits = ivs_take_dirty(&d->region, d->slot, word);

	spin_lock(&d->dmb_lock);
	smc_ism_signaled_bits(&d->dmbs[word * 64], bits);
	spin_unlock(&d->dmb_lock);
}

/* The budget keeps a peer that marks DMBs endlessly from taking more than a softirq's time. */
static void signals(struct tasklet_struct *t)
{
	struct ivs_dev *d = from_tasklet(d, t, signals);
	int budget = SIGNALS_BUDGET;

	if (!in_use(d))
		return;
	while (budget) {
		if (!d->pending)
			d->pending = ivs_take_summary(&d->region, d->slot);
		if (!d->pending) {
			if (!ivs_arm(&d->region, d->slot))
				return;
			/* Armed but still running: a peer may ring needlessly, so limit this. */
			budget--;
			continue;
		}
		report(d, __ffs64(d->pending));
		d->pending &= d->pending - 1;
		budget--;
	}
	tasklet_schedule(t);
}

/* ---- lifetime ---- */

static const struct smc_ism_ops mapped_ops = {
	.owner		= THIS_MODULE,
	.query_gid	= shm_query_gid,
	.register_dmb	= shm_register_dmb,
	.lend_dmb	= shm_lend_dmb,
	.withdraw_dmb	= shm_withdraw_dmb,
	.unregister_dmb	= shm_unregister_dmb,
	.map		= shm_map,
	.unmap		= shm_unmap,
	.signal		= shm_signal,
	.release	= shm_release,
};

static const struct smc_ism_ops copying_ops = {
	.owner		= THIS_MODULE,
	.query_gid	= shm_query_gid,
	.register_dmb	= shm_register_dmb,
	.lend_dmb	= shm_lend_dmb,
	.withdraw_dmb	= shm_withdraw_dmb,
	.unregister_dmb	= shm_unregister_dmb,
	.move		= shm_move,
	.release	= shm_release,
};

/* We have no DMBs, and know nothing of what a former owner of our new slot has lent. */
static void start_over(struct ivs_dev *d)
{
	mutex_lock(&d->alloc_lock);
	forget_owed(d);
	INIT_LIST_HEAD(&d->owed);
	bitmap_zero(d->units, d->region.units);
	bitmap_zero(d->numbers, IVS_DMBS);
	memset(d->n_lent, 0, sizeof(d->n_lent));
	d->n_free = d->region.units;
	mutex_unlock(&d->alloc_lock);
}

/* Try to get a slot. */
static void seek(struct ivs_dev *d)
{
	u64 gid[2] = { d->ism.gid.id, d->ism.gid.ext };
	int slot = ivs_claim(&d->region, d->peer, get_random_u32(), &d->owner);

	if (slot < 0) {
		d->owner = 0;
		return;
	}
	d->slot = slot;
	start_over(d);
	d->rest = ivs_used(&d->region, slot) ? d->clock + IVS_REST_MS : d->clock;
	ivs_slot_begin(&d->region, slot, gid);
	WRITE_ONCE(d->state, IVS_RESTING);
}

static void come_up(struct ivs_dev *d)
{
	int rc;

	/* Without memory: again with the next beat. */
	if (inherit(d))
		return;
	/* The low half is not 0. */
	d->boot = get_random_u64() | 1;
	refcount_inc(&d->ref);
	WRITE_ONCE(d->state, IVS_UP);
	tasklet_schedule(&d->signals);
	rc = smc_ism_register(&d->ism);
	if (rc) {
		pr_err("smc_ism: %s: cannot register with SMC-D: %d\n", d->ism.name, rc);
		WRITE_ONCE(d->state, IVS_LOST);
		put(d);
		return;
	}
	ivs_slot_ready(&d->region, d->slot, d->boot);
	pr_info("smc_ism: %s: slot %u of %u, %u KiB, CHID %04x\n", d->ism.name, d->slot,
		d->region.slots, d->region.units << (IVS_UNIT_SHIFT - 10), d->ism.chid);
}

/* From now on no DMB is registered: nobody writes to the memory of a new one. */
static void go_down(struct ivs_dev *d, int state)
{
	mutex_lock(&d->alloc_lock);
	WRITE_ONCE(d->state, state);
	mutex_unlock(&d->alloc_lock);
}

/*
 * Another machine has our slot, or nobody has. Do not take another one: if somebody has the same
 * peer ID, each of us would take what the other one has.
 */
static void lose(struct ivs_dev *d)
{
	pr_err("smc_ism: %s: its slot was taken away: the server has given peer ID %u to another machine, or believes that this one has ended. Shut this machine down and start it again\n",
	       d->ism.name, d->peer);
	go_down(d, IVS_LOST);
	smc_ism_unregister(&d->ism);
	smc_ism_put(&d->ism);
}

static void step(struct ivs_dev *d)
{
	bool has_slot = d->state != IVS_SEEKING && d->state != IVS_LOST;

	advance_clock(d);
	if (has_slot && !ivs_owns(&d->region, d->slot, d->owner)) {
		if (d->state == IVS_UP)
			lose(d);
		if (d->state == IVS_RESTING)
			WRITE_ONCE(d->state, IVS_SEEKING);
	} else if (has_slot) {
		ivs_beat(&d->region, d->slot);
	}
	watch_peers(d);
	if (d->state == IVS_UP)
		collect(d);
	if (d->state == IVS_SEEKING)
		seek(d);
	if (d->state == IVS_RESTING && d->clock >= d->rest)
		come_up(d);
	/* Look for signals without a doorbell: a peer may have died before it rang. */
	if (d->state == IVS_UP)
		tasklet_schedule(&d->signals);
}

static void tick_work(struct work_struct *work)
{
	struct ivs_dev *d = container_of(to_delayed_work(work), struct ivs_dev, tick);

	step(d);
	queue_delayed_work(ivs_wq, &d->tick, msecs_to_jiffies(IVS_BEAT_MS));
}

static void set_up(struct ivs_dev *d)
{
	get_random_bytes(&d->ism.gid, sizeof(d->ism.gid));
	ivs_seid(&d->region, d->seid);
	d->ism.ops = copying ? &copying_ops : &mapped_ops;
	d->ism.chid = ivs_chid(&d->region);
	d->ism.windowed = true;
	d->ism.max_code = min_t(u32, ilog2(d->region.units), MAX_CODE);
	d->ism.seid = d->seid;
	mutex_init(&d->alloc_lock);
	INIT_LIST_HEAD(&d->owed);
	atomic_set(&d->mapped, 1);
	spin_lock_init(&d->dmb_lock);
	spin_lock_init(&d->peer_lock);
	tasklet_setup(&d->signals, signals);
	INIT_DELAYED_WORK(&d->tick, tick_work);
	INIT_WORK(&d->end, end_work);
	refcount_set(&d->ref, 1);
	d->clock = 1;
	d->looked = ktime_get_ns() / NSEC_PER_MSEC;
}

static void say_wrong(const struct ivs_dev *d, const char *wrong)
{
	u64 version = d->region.version;

	if (version && version != IVS_VERSION)
		pr_err("smc_ism: %s: this region cannot be used: its format has version %llu, this driver needs %u. Update the driver of all machines that share it and the server, shut them all down, and start them again\n",
		       d->ism.name, version, IVS_VERSION);
	else
		pr_err("smc_ism: %s: this region cannot be used: %s\n", d->ism.name, wrong);
}

int ivs_start(struct ivs_dev *d, const struct ivs_bus *bus, void *mem, u64 len, u16 peer)
{
	const char *wrong;
	u64 uuid[2];

	if (slots < IVS_SLOTS_MIN || slots > IVS_SLOTS_MAX) {
		pr_err("smc_ism: slots=%u is not between %u and %u\n", slots, IVS_SLOTS_MIN,
		       IVS_SLOTS_MAX);
		return -EINVAL;
	}
	get_random_bytes(uuid, sizeof(uuid));
	wrong = ivs_open(&d->region, mem, len, uuid, slots);
	if (wrong) {
		say_wrong(d, wrong);
		return -EINVAL;
	}
	d->units = bitmap_zalloc(d->region.units, GFP_KERNEL);
	if (!d->units)
		return -ENOMEM;
	d->bus = bus;
	d->peer = peer;
	set_up(d);
	spin_lock(&ivs_all_lock);
	ivs_all++;
	spin_unlock(&ivs_all_lock);
	step(d);
	if (d->state == IVS_SEEKING)
		pr_info("smc_ism: %s: waiting for one of %u slots\n", d->ism.name, d->region.slots);
	queue_delayed_work(ivs_wq, &d->tick, msecs_to_jiffies(IVS_BEAT_MS));
	return 0;
}

void ivs_leave(struct ivs_dev *d)
{
	bool up;

	cancel_delayed_work_sync(&d->tick);
	up = d->state == IVS_UP;
	if (d->state == IVS_LOST)
		return;
	go_down(d, d->state == IVS_SEEKING ? IVS_LOST : IVS_LEAVING);
	if (!up)
		return;
	/* The heartbeat goes on until the connections have ended. */
	queue_delayed_work(ivs_wq, &d->tick, 0);
	smc_ism_unregister(&d->ism);
	smc_ism_put(&d->ism);
	cancel_delayed_work_sync(&d->tick);
}

void ivs_stop(struct ivs_dev *d)
{
	WRITE_ONCE(d->state, IVS_LOST);
	tasklet_kill(&d->signals);
	/* Wait for shm_move(), whose callers hold a spinlock. */
	synchronize_rcu();
	unmapped(d);
	put(d);
}

int ivs_init(void)
{
	/* WQ_MEM_RECLAIM: the heartbeat must go on when memory is short. */
	ivs_wq = alloc_workqueue("smc_ism_ivshmem", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return ivs_wq ? 0 : -ENOMEM;
}

static unsigned int count_all(void)
{
	unsigned int n;

	spin_lock(&ivs_all_lock);
	n = ivs_all;
	spin_unlock(&ivs_all_lock);
	return n;
}

/*
 * Connections pin the module, so there are none.  Buffers and link groups may still hold a removed
 * device; SMC-D frees them without waiting for peers.
 */
void ivs_exit(void)
{
	wait_event(ivs_freed, !count_all());
	destroy_workqueue(ivs_wq);
	/* Wait for callers that have not returned from shm_release() yet. */
	synchronize_rcu_tasks();
}
