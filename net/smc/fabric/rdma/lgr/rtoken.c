// SPDX-License-Identifier: GPL-2.0
/*
 * RMBs that the peer has told us of (RFC 7609, 3.5.5.2).  An RMB has a key and an address on each
 * link, but one number for all links: its index in the table.  Connections refer to an RMB by this
 * number.
 */
#include "lgr.h"

static int __find(struct smc_lgr *lgr, unsigned int link, u32 rkey)
{
	int i;

	lockdep_assert_held(&lgr->lock);
	for (i = 0; i < SMC_LGR_RTOKENS; i++)
		if (lgr->rtokens[i].links & BIT(link) && lgr->rtokens[i].rkey[link] == rkey)
			return i;
	return -ENOENT;
}

static int __find_unused(struct smc_lgr *lgr)
{
	int i;

	lockdep_assert_held(&lgr->lock);
	for (i = 0; i < SMC_LGR_RTOKENS; i++)
		if (!lgr->rtokens[i].used)
			return i;
	return -ENOSPC;
}

static void __set(struct smc_lgr *lgr, unsigned int i, unsigned int link, u32 rkey, u64 addr)
{
	struct smc_rtoken *t = &lgr->rtokens[i];

	lockdep_assert_held(&lgr->lock);
	t->used = true;
	t->links |= BIT(link);
	t->rkey[link] = rkey;
	t->addr[link] = addr;
}

/**
 * smc_rtoken_add() - store an RMB of the peer
 * @lgr: the link group
 * @link: index of the link
 * @rkey: its RKey there
 * @addr: its address there
 *
 * If the RKey is known already, the new address replaces the old one.
 *
 * Context: any.
 * Return: number of the RMB, or -ENOSPC.
 */
int smc_rtoken_add(struct smc_lgr *lgr, unsigned int link, u32 rkey, u64 addr)
{
	int i;

	spin_lock_bh(&lgr->lock);
	i = __find(lgr, link, rkey);
	if (i < 0)
		i = __find_unused(lgr);
	if (i >= 0)
		__set(lgr, i, link, rkey, addr);
	spin_unlock_bh(&lgr->lock);
	return i;
}

/**
 * smc_rtoken_set() - store key and address of an RMB of the peer on one more link
 * @lgr: the link group
 * @i: number of the RMB
 * @link: index of the link
 * @rkey: its RKey there
 * @addr: its address there
 *
 * Context: the engine's work; nothing else adds RMBs to an active group or removes them.
 */
void smc_rtoken_set(struct smc_lgr *lgr, unsigned int i, unsigned int link, u32 rkey, u64 addr)
{
	spin_lock_bh(&lgr->lock);
	__set(lgr, i, link, rkey, addr);
	spin_unlock_bh(&lgr->lock);
}

/**
 * smc_rtoken_set_same() - store an RMB's key and address on a link, given its key on another
 * @lgr: the link group
 * @known: index of the link of @ref_rkey
 * @ref_rkey: the RMB's RKey there
 * @added: index of the link of @rkey and @addr
 * @rkey: the RMB's RKey there
 * @addr: the RMB's address there
 *
 * An unknown @ref_rkey is ignored, because no connection uses that RMB.
 *
 * Context: the engine's work.
 */
void smc_rtoken_set_same(struct smc_lgr *lgr, unsigned int known, u32 ref_rkey, unsigned int added,
			 u32 rkey, u64 addr)
{
	int i = smc_rtoken_find_key(lgr, known, ref_rkey);

	if (i >= 0)
		smc_rtoken_set(lgr, i, added, rkey, addr);
}

/**
 * smc_rtoken_drop_link() - forget a link's keys, before another link takes its slot
 * @lgr: the link group
 * @link: index of the link
 *
 * An RMB keeps its number while connections use it, even if no key is left.  An RMB without keys
 * and connections is dropped: our answer to the peer's CONFIRM RKEY was lost with that link, and
 * the peer has told us of the RMB again, over another link.
 *
 * Context: process, under smc_lgr.setup_lock.
 */
void smc_rtoken_drop_link(struct smc_lgr *lgr, unsigned int link)
{
	struct smc_rtoken *t;
	int i;

	lockdep_assert_held(&lgr->setup_lock);
	for (i = 0; i < SMC_LGR_RTOKENS; i++) {
		t = &lgr->rtokens[i];
		spin_lock_bh(&lgr->lock);
		t->links &= ~BIT(link);
		spin_unlock_bh(&lgr->lock);
		/* Nothing adds a key now, and connections find RMBs under the lock that we hold. */
		if (t->used && !t->links && !smc_lgr_rmb_used(lgr, i))
			t->used = false;
	}
}

/**
 * smc_rtoken_find() - find an RMB of the peer by key and address
 * @lgr: the link group
 * @link: index of the link
 * @rkey: its RKey there
 * @addr: its address there
 *
 * Context: any.
 * Return: number of the RMB, or -ENOENT if the peer has not told us of it.
 */
int smc_rtoken_find(struct smc_lgr *lgr, unsigned int link, u32 rkey, u64 addr)
{
	int i;

	spin_lock_bh(&lgr->lock);
	i = __find(lgr, link, rkey);
	if (i >= 0 && lgr->rtokens[i].addr[link] != addr)
		i = -ENOENT;
	spin_unlock_bh(&lgr->lock);
	return i;
}

/**
 * smc_rtoken_find_key() - find an RMB of the peer by key
 * @lgr: the link group
 * @link: index of the link
 * @rkey: its RKey there
 *
 * Context: any.
 * Return: number of the RMB, or -ENOENT.
 */
int smc_rtoken_find_key(struct smc_lgr *lgr, unsigned int link, u32 rkey)
{
	int i;

	spin_lock_bh(&lgr->lock);
	i = __find(lgr, link, rkey);
	spin_unlock_bh(&lgr->lock);
	return i;
}

/**
 * smc_rtoken_get() - get key and address of an RMB on a link
 * @lgr: the link group
 * @i: number of the RMB
 * @link: index of the link
 * @rkey: receives its RKey there
 * @addr: receives its address there
 *
 * Context: any.
 * Return: 0 on success, -ENOENT if the peer has given up the RMB, or has sent no key for this link.
 */
int smc_rtoken_get(struct smc_lgr *lgr, unsigned int i, unsigned int link, u32 *rkey, u64 *addr)
{
	const struct smc_rtoken *t = &lgr->rtokens[i];
	int rc = -ENOENT;

	spin_lock_bh(&lgr->lock);
	if (t->links & BIT(link)) {
		*rkey = t->rkey[link];
		*addr = t->addr[link];
		rc = 0;
	}
	spin_unlock_bh(&lgr->lock);
	return rc;
}

/**
 * smc_rtoken_del() - forget an RMB that the peer gives up
 * @lgr: the link group
 * @link: index of the link
 * @rkey: its RKey there
 *
 * Another RMB may get its number from now on; the caller calls smc_lgr_abort_rmb() before that.
 *
 * Context: the engine's work; nothing else adds RMBs to an active group.
 * Return: the number that the RMB had, or -ENOENT.
 */
int smc_rtoken_del(struct smc_lgr *lgr, unsigned int link, u32 rkey)
{
	int i;

	spin_lock_bh(&lgr->lock);
	i = __find(lgr, link, rkey);
	if (i >= 0)
		memset(&lgr->rtokens[i], 0, sizeof(lgr->rtokens[i]));
	spin_unlock_bh(&lgr->lock);
	return i;
}
