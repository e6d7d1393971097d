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
		if (lgr->rtokens[i].used && lgr->rtokens[i].rkey[link] == rkey)
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
	struct smc_rtoken *t;
	int i;

	spin_lock_bh(&lgr->lock);
	i = __find(lgr, link, rkey);
	if (i < 0)
		i = __find_unused(lgr);
	if (i >= 0) {
		t = &lgr->rtokens[i];
		t->used = true;
		t->rkey[link] = rkey;
		t->addr[link] = addr;
	}
	spin_unlock_bh(&lgr->lock);
	return i;
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
 * smc_rtoken_get() - key and address of an RMB on a link
 * @lgr: the link group
 * @i: number of the RMB
 * @link: index of the link
 * @rkey: receives its RKey there
 * @addr: receives its address there
 *
 * Context: any.
 * Return: 0; -ENOENT if the peer has given it up.
 */
int smc_rtoken_get(struct smc_lgr *lgr, unsigned int i, unsigned int link, u32 *rkey, u64 *addr)
{
	const struct smc_rtoken *t = &lgr->rtokens[i];
	int rc = -ENOENT;

	spin_lock_bh(&lgr->lock);
	if (t->used) {
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
