// SPDX-License-Identifier: GPL-2.0
/* Our half of another link of a group: its slot, its memory, its activation. */
#include "lgr.h"

static u32 up_at(const struct smc_lgr *lgr, const struct smc_link *link)
{
	return READ_ONCE(lgr->up_at[smc_lgr_link_index(lgr, link)]);
}

/*
 * Take a free slot into use, or return NULL.  Take the one whose last link was up least recently: a
 * handshake that began before a link was lost may still name that link, until another takes its
 * slot.  A link that never comes up must not use up a second slot.
 */
static struct smc_link *claim_place(struct smc_lgr *lgr, const struct smc_rdma_path *path)
{
	struct smc_link *link, *found = NULL;

	spin_lock_bh(&lgr->lock);
	smc_lgr_for_each_link(lgr, link)
		if (!READ_ONCE(link->path.dev) && (!found || up_at(lgr, link) < up_at(lgr, found)))
			found = link;
	if (found) {
		found->state = SMC_LINK_UNUSED;
		found->drained = false;
		smc_rdma_path_copy(&found->path, path);
	}
	spin_unlock_bh(&lgr->lock);
	return found;
}

static int __make_link(struct smc_lgr *lgr, struct smc_link *link, u8 number)
{
	const struct smc_link_attr attr = smc_lgr_link_attr(lgr, number);
	int rc;

	lockdep_assert_held(&lgr->setup_lock);
	if (lgr->dead)
		return -ENOLINK;
	smc_rtoken_drop_link(lgr, smc_lgr_link_index(lgr, link));
	rc = smc_link_create(link, &attr);
	if (!rc)
		rc = smc_mem_add_link(lgr, link);
	/* Port events and device removal skip a link that is being made, so check its path now. */
	if (!rc && !smc_rdma_path_alive(&link->path))
		rc = -ENODEV;
	return rc;
}

/**
 * smc_lgr_make_link() - make our half of another link
 * @lgr: the link group
 * @path: our end; the link takes a reference of its own
 * @number: its number
 *
 * Context: the engine's work, may sleep.
 * Return: the link, or NULL.
 */
struct smc_link *smc_lgr_make_link(struct smc_lgr *lgr, const struct smc_rdma_path *path,
				   u8 number)
{
	struct smc_link *link = claim_place(lgr, path);
	int rc;

	if (!link)
		return NULL;
	/* Mark the link as the engine's before anything can take it down. */
	WRITE_ONCE(lgr->llc.add_link, link);
	mutex_lock(&lgr->setup_lock);
	rc = __make_link(lgr, link, number);
	if (rc) {
		/* The peer has not heard of this link, or will be refused. */
		link->peer_knows = true;
		smc_link_failed(link);
	}
	mutex_unlock(&lgr->setup_lock);
	if (!rc)
		return link;
	smp_store_release(&lgr->llc.add_link, NULL);
	smc_lgr_failover(lgr);
	return NULL;
}

/**
 * smc_lgr_connect_link() - connect our half of another link to the peer's half
 * @lgr: the link group
 * @link: the link
 *
 * Context: the engine's work, may sleep.
 * Return: 0 or a negative errno.
 */
int smc_lgr_connect_link(struct smc_lgr *lgr, struct smc_link *link)
{
	int rc = -ENOLINK;

	mutex_lock(&lgr->setup_lock);
	if (!lgr->dead)
		rc = smc_link_connect(link);
	if (!rc)
		rc = smc_mem_register_link(lgr, link);
	mutex_unlock(&lgr->setup_lock);
	return rc;
}

/**
 * smc_lgr_link_up() - activate another link, which has been confirmed
 * @lgr: the link group
 * @link: the link
 *
 * Context: any but hard interrupts.
 */
void smc_lgr_link_up(struct smc_lgr *lgr, struct smc_link *link)
{
	WRITE_ONCE(lgr->up_at[smc_lgr_link_index(lgr, link)], atomic_inc_return(&lgr->n_up));
	smc_link_activate(link);
	smc_lgr_report_up(lgr, link);
	/* Connections of a lost link may have waited for this one. */
	smc_lgr_failover(lgr);
}
