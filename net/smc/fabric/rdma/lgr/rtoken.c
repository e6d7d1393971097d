// SPDX-License-Identifier: GPL-2.0
/*
 * RMBs of the peer, as it has told us (RFC 7609, 3.5.5.2).  An RMB has a key and an address on each
 * link, and one number for all of them: its place in the table, which is what connections know it
 * by.
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
 * smc_rtoken_add() - the peer has an RMB
 * @lgr: the link group
 * @link: index of the link
 * @rkey: its RKey there
 * @addr: its address there
 *
 * Told again, it replaces what was known.
 *
 * Context: any.
 * Return: its number, or -ENOSPC.
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
 * smc_rtoken_set() - an RMB of the peer's is known on one more link
 * @lgr: the link group
 * @i: number of the RMB
 * @link: index of the link
 * @rkey: its RKey there
 * @addr: its address there
 *
 * Context: the engine's work, which alone adds RMBs to an active group and takes them away.
 */
void smc_rtoken_set(struct smc_lgr *lgr, unsigned int i, unsigned int link, u32 rkey, u64 addr)
{
	spin_lock_bh(&lgr->lock);
	__set(lgr, i, link, rkey, addr);
	spin_unlock_bh(&lgr->lock);
}

/**
 * smc_rtoken_set_same() - the RMB that has this key on one link is known on one more
 * @lgr: the link group
 * @known: index of the one link
 * @ref_rkey: the RMB's RKey there
 * @added: index of the other link
 * @rkey: its RKey there
 * @addr: its address there
 *
 * One that we do not know is one that no connection uses.
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
 * smc_rtoken_drop_link() - another link begins in this place
 * @lgr: the link group
 * @link: index of the link
 *
 * An RMB keeps its number while connections use it, whether it has a key left or not.  If none
 * does, the peer has told of it in vain: our answer was lost with that link, and it has told again,
 * over another one.
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
		/* Nobody tells of it again, and connections find it under the lock that we hold. */
		if (t->used && !t->links && !smc_lgr_rmb_used(lgr, i))
			t->used = false;
	}
}

/**
 * smc_rtoken_find() - has the peer told of this RMB?
 * @lgr: the link group
 * @link: index of the link
 * @rkey: its RKey there
 * @addr: its address there
 *
 * Context: any.
 * Return: its number, or -ENOENT.
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
 * smc_rtoken_find_key() - which RMB has this key?
 * @lgr: the link group
 * @link: index of the link
 * @rkey: its RKey there
 *
 * Context: any.
 * Return: its number, or -ENOENT.
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
 * smc_rtoken_get() - key and address of an RMB on a link
 * @lgr: the link group
 * @i: number of the RMB
 * @link: index of the link
 * @rkey: receives its RKey there
 * @addr: receives its address there
 *
 * Context: any.
 * Return: 0; -ENOENT if the peer has given it up, or has not told its key there.
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
 * smc_rtoken_del() - the peer gives an RMB up
 * @lgr: the link group
 * @link: index of the link
 * @rkey: its RKey there
 *
 * Its number may be given to another RMB from now on: smc_lgr_abort_rmb() comes before that.
 *
 * Context: the engine's work, which alone adds RMBs to an active group.
 * Return: the number it had, or -ENOENT.
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
