// SPDX-License-Identifier: GPL-2.0
/*
 * Peers.  The device does not know them.  A GID is the token of a region and a nonce; it belongs to
 * a peer if the region is a home with that nonce.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "vism.h"

static struct vism_peer *__peer_at(struct vism_dev *d, u32 i)
{
	/* This also asserts that the lock is held. */
	return rcu_dereference_protected(d->peers[i], lockdep_is_held(&d->lock));
}

static struct vism_peer *__find_peer(struct vism_dev *d, const struct smc_ism_gid *gid)
{
	struct vism_peer *p;
	u32 i;

	lockdep_assert_held(&d->lock);
	for (i = 0; i < VISM_PEERS; i++) {
		p = __peer_at(d, i);
		if (p && smc_ism_gid_equal(&p->gid, gid))
			return p;
	}
	return NULL;
}

/* Attach the home of a new peer.  If its nonce is that of the GID, the peer exists. */
static struct vism_peer *__meet(struct vism_dev *d, const struct smc_ism_gid *gid)
{
	struct vism_peer *p;
	int index;
	u32 i;

	lockdep_assert_held(&d->lock);
	for (i = 0; i < VISM_PEERS && __peer_at(d, i); i++)
		;
	if (i == VISM_PEERS)
		return NULL;
	p = kzalloc(sizeof(*p), SMC_ISM_GFP);
	if (!p)
		return NULL;
	index = __vism_attach(d, gid->id, VISM_HOME, gid->ext, gid->ext);
	if (index < 0) {
		kfree(p);
		return NULL;
	}
	vism_region_get(&d->window.regions[index]);
	p->dev = d;
	p->gid = *gid;
	p->home = vism_mem(d, index);
	p->index = index;
	rcu_assign_pointer(d->peers[i], p);
	return p;
}

/**
 * __vism_get_peer() - find a peer that is alive, by attaching its home if it is not known yet
 * @d: the device
 * @gid: GID of the peer
 *
 * Return: the peer, valid while the lock is held, or NULL.
 */
struct vism_peer *__vism_get_peer(struct vism_dev *d, const struct smc_ism_gid *gid)
{
	struct vism_peer *p;

	lockdep_assert_held(&d->lock);
	if (!vism_up(d))
		return NULL;
	p = __find_peer(d, gid) ?: __meet(d, gid);
	if (!p || vism_look(p->home, gid->ext, &p->watch, d->clock) != VISM_ALIVE)
		return NULL;
	p->idle = 0;
	return p;
}

/**
 * vism_query_gid() - smc_ism_ops.query_gid
 * @ism: the device
 * @gid: GID of the peer
 * @vlan: must be SMC_ISM_ANY_VLAN, as there are no VLANs here
 *
 * Return: 0 or -ENODEV.
 */
int vism_query_gid(struct smc_ism_dev *ism, const struct smc_ism_gid *gid, u16 vlan)
{
	struct vism_dev *d = to_vism(ism);
	struct vism_peer *p;

	if (vlan != SMC_ISM_ANY_VLAN)
		return -ENODEV;
	mutex_lock(&d->lock);
	p = __vism_get_peer(d, gid);
	mutex_unlock(&d->lock);
	return p ? 0 : -ENODEV;
}

/* Attach the region that contains a DMB of this peer.  Returns its index or a negative errno. */
static int __region_of(struct vism_dev *d, const struct smc_ism_gid *gid, u64 token, u32 bytes,
		       struct vism_place *place)
{
	struct vism_peer *p = __vism_get_peer(d, gid);
	int index;

	lockdep_assert_held(&d->lock);
	if (!p)
		return -ENODEV;
	if (!vism_find_dmb(p->home, token, bytes, d->window.size, place))
		return -ENOENT;
	index = __vism_attach(d, place->region, VISM_DATA, place->nonce, gid->ext);
	return index < 0 || vism_borrow(p->home, token) ? index : -ENOENT;
}

/**
 * vism_map() - smc_ism_ops.map
 * @ism: the device
 * @gid: GID of the peer
 * @token: token of the peer's DMB
 * @bytes: size of the DMB
 *
 * Return: the memory of the DMB, or ERR_PTR.
 */
void *vism_map(struct smc_ism_dev *ism, const struct smc_ism_gid *gid, u64 token, u32 bytes)
{
	struct vism_dev *d = to_vism(ism);
	struct vism_place place;
	int index;

	mutex_lock(&d->lock);
	index = __region_of(d, gid, token, bytes, &place);
	if (index >= 0) {
		vism_region_get(&d->window.regions[index]);
		atomic_inc(&d->mapped);
	}
	mutex_unlock(&d->lock);
	return index < 0 ? ERR_PTR(index) : vism_mem(d, index) + place.offset;
}

/**
 * vism_unmap() - smc_ism_ops.unmap
 * @ism: the device
 * @mem: result of vism_map()
 */
void vism_unmap(struct smc_ism_dev *ism, void *mem)
{
	struct vism_dev *d = to_vism(ism);

	vism_region_put(&d->window.regions[(mem - d->mem) / d->window.size]);
	atomic_dec(&d->mapped);
}

/**
 * vism_signal() - smc_ism_ops.signal
 * @ism: the device
 * @gid: GID of the peer
 * @token: token of the peer's DMB
 */
void vism_signal(struct smc_ism_dev *ism, const struct smc_ism_gid *gid, u64 token)
{
	struct vism_dev *d = to_vism(ism);
	struct vism_peer *p;
	u32 i;

	rcu_read_lock();
	/* vism_stop() waits for those that did not see this. */
	if (READ_ONCE(d->state) == VISM_STOPPED)
		goto out;
	for (i = 0; i < VISM_PEERS; i++) {
		p = rcu_dereference(d->peers[i]);
		if (p && smc_ism_gid_equal(&p->gid, gid)) {
			vism_mark(p->home, vism_token_number(token));
			break;
		}
	}
	vism_poll_soon(d);
out:
	rcu_read_unlock();
}

/* No vism_signal() uses the home any more. */
static void let_go(struct rcu_head *rcu)
{
	struct vism_peer *p = container_of(rcu, struct vism_peer, rcu);
	struct vism_dev *d = p->dev;

	vism_region_put(&d->window.regions[p->index]);
	kfree(p);
	vism_put(d);
}

/* Drop a peer.  @silent: it did not end visibly, see __vism_own_leave(). */
static void __forget(struct vism_dev *d, u32 i, bool silent)
{
	struct vism_peer *p = __peer_at(d, i);

	lockdep_assert_held(&d->lock);
	__vism_own_leave(d, &p->gid, silent);
	RCU_INIT_POINTER(d->peers[i], NULL);
	refcount_inc(&d->ref);
	call_rcu(&p->rcu, let_go);
}

/* Find and drop one peer that is gone.  @gid receives its GID. */
static bool take_gone(struct vism_dev *d, struct smc_ism_gid *gid)
{
	enum vism_pulse pulse = VISM_ALIVE;
	struct vism_peer *p;
	u32 i;

	mutex_lock(&d->lock);
	for (i = 0; i < VISM_PEERS && pulse == VISM_ALIVE; i++) {
		p = __peer_at(d, i);
		if (!p)
			continue;
		pulse = vism_look(p->home, p->gid.ext, &p->watch, d->clock);
		if (pulse == VISM_ALIVE)
			continue;
		*gid = p->gid;
		if (pulse == VISM_SILENT)
			pr_info_ratelimited("smc_ism: %s: a peer has been silent for %u s: it is considered dead\n",
					    d->ism.name, VISM_DEAD_MS / 1000);
		__forget(d, i, pulse == VISM_SILENT);
	}
	mutex_unlock(&d->lock);
	return pulse != VISM_ALIVE;
}

/**
 * vism_watch_peers() - report peers that are gone; called once per beat
 * @d: the device
 *
 * A peer without connections is forgotten after some time.  It is looked up again for the next
 * connection.
 */
void vism_watch_peers(struct vism_dev *d)
{
	struct smc_ism_gid gid;
	struct vism_peer *p;
	u32 i;

	while (take_gone(d, &gid))
		smc_ism_gid_gone(&d->ism, &gid);
	mutex_lock(&d->lock);
	for (i = 0; i < VISM_PEERS; i++) {
		p = __peer_at(d, i);
		if (!p)
			continue;
		if (__vism_serves(d, &p->gid))
			p->idle = 0;
		else if (++p->idle >= VISM_FORGET)
			__forget(d, i, false);
	}
	mutex_unlock(&d->lock);
}

/**
 * vism_end_peers() - free all peers
 * @d: the device, without users; its window may be gone
 */
void vism_end_peers(struct vism_dev *d)
{
	u32 i;

	for (i = 0; i < VISM_PEERS; i++)
		kfree(rcu_dereference_protected(d->peers[i], true));
}
