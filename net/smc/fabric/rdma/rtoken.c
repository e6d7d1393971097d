// SPDX-License-Identifier: GPL-2.0
/* RMBs of the peer, as it has told us (RFC 7609, 3.5.5.2). */
#include "lgr.h"

static struct smc_rtoken *__find(struct smc_lgr *lgr, unsigned int link, u32 rkey)
{
	unsigned int i;

	lockdep_assert_held(&lgr->lock);
	for (i = 0; i < SMC_LGR_RTOKENS; i++)
		if (lgr->rtokens[i].used && lgr->rtokens[i].rkey[link] == rkey)
			return &lgr->rtokens[i];
	return NULL;
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
 * Return: 0 or -ENOSPC.
 */
int smc_rtoken_add(struct smc_lgr *lgr, unsigned int link, u32 rkey, u64 addr)
{
	struct smc_rtoken *t;
	unsigned int i;

	spin_lock_bh(&lgr->lock);
	t = __find(lgr, link, rkey);
	for (i = 0; !t && i < SMC_LGR_RTOKENS; i++)
		if (!lgr->rtokens[i].used)
			t = &lgr->rtokens[i];
	if (t) {
		t->used = true;
		t->rkey[link] = rkey;
		t->addr[link] = addr;
	}
	spin_unlock_bh(&lgr->lock);
	return t ? 0 : -ENOSPC;
}

/**
 * smc_rtoken_known() - has the peer told of this RMB?
 * @lgr: the link group
 * @link: index of the link
 * @rkey: its RKey there
 * @addr: its address there
 *
 * Context: any.
 */
bool smc_rtoken_known(struct smc_lgr *lgr, unsigned int link, u32 rkey, u64 addr)
{
	struct smc_rtoken *t;
	bool known;

	spin_lock_bh(&lgr->lock);
	t = __find(lgr, link, rkey);
	known = t && t->addr[link] == addr;
	spin_unlock_bh(&lgr->lock);
	return known;
}

/**
 * smc_rtoken_del() - the peer gives an RMB up
 * @lgr: the link group
 * @link: index of the link
 * @rkey: its RKey there
 *
 * Context: any.
 * Return: 0 or -ENOENT.
 */
int smc_rtoken_del(struct smc_lgr *lgr, unsigned int link, u32 rkey)
{
	struct smc_rtoken *t;

	spin_lock_bh(&lgr->lock);
	t = __find(lgr, link, rkey);
	if (t)
		memset(t, 0, sizeof(*t));
	spin_unlock_bh(&lgr->lock);
	return t ? 0 : -ENOENT;
}
