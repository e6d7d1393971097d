// SPDX-License-Identifier: GPL-2.0
/* The links of a group: lookup and creation. */
#include <linux/etherdevice.h>
#include "../../../netns.h"
#include "lgr.h"

/* Is this slot in use? */
static bool is_used(const struct smc_link *link)
{
	return READ_ONCE(link->path.dev);
}

/**
 * smc_lgr_working_link() - find a link over which the group can send
 * @lgr: the link group
 *
 * LLC messages that concern the whole group travel over this link.
 *
 * Return: an active link, else the link of a first contact; NULL if there is neither.
 */
struct smc_link *smc_lgr_working_link(struct smc_lgr *lgr)
{
	struct smc_link *link;

	smc_lgr_for_each_link(lgr, link)
		if (READ_ONCE(link->state) == SMC_LINK_ACTIVE)
			return link;
	link = smc_lgr_first_link(lgr);
	return READ_ONCE(lgr->state) == SMC_LGR_NEW && smc_link_works(link) ? link : NULL;
}

/**
 * smc_lgr_other_link() - is there another link, or is one being made?
 * @lgr: the link group
 * @link: the link to leave out, or NULL
 *
 * Return: a link that is active or being made, or NULL.
 */
struct smc_link *smc_lgr_other_link(struct smc_lgr *lgr, const struct smc_link *link)
{
	struct smc_link *other;

	smc_lgr_for_each_link(lgr, other)
		if (other != link && smc_lgr_link_alive(other))
			return other;
	return NULL;
}

/**
 * smc_lgr_link_by_number() - find the link that an LLC message names
 * @lgr: the link group
 * @number: link number that the server assigned
 *
 * Return: the link, or NULL if there is none or it is down.
 */
struct smc_link *smc_lgr_link_by_number(struct smc_lgr *lgr, u8 number)
{
	struct smc_link *link;

	smc_lgr_for_each_link(lgr, link)
		if (smc_lgr_link_alive(link) && link->number == number)
			return link;
	return NULL;
}

/**
 * smc_lgr_next_number() - assign a number to the server's next link
 * @lgr: the link group
 *
 * Numbers are not reused (RFC 7609, 2.2.4) until they wrap after 255.
 *
 * Context: the task that creates the group, then the engine's work.
 * Return: 1 to 255.
 */
u8 smc_lgr_next_number(struct smc_lgr *lgr)
{
	do {
		lgr->last_number++;
	} while (!lgr->last_number || smc_lgr_link_by_number(lgr, lgr->last_number));
	return lgr->last_number;
}

/**
 * smc_lgr_link_attr() - get the attributes of a new link of a group
 * @lgr: the link group
 * @number: its number
 *
 * Return: the attributes.
 */
struct smc_link_attr smc_lgr_link_attr(const struct smc_lgr *lgr, u8 number)
{
	return (struct smc_link_attr) {
		.number	     = number,
		.max_send_wr = READ_ONCE(lgr->sn->smcr_max_send_wr),
		.max_recv_wr = READ_ONCE(lgr->sn->smcr_max_recv_wr),
		.long_msgs   = smc_lgr_is_v2(lgr),
	};
}

/**
 * smc_lgr_get_path() - copy our end of a link
 * @lgr: the link group
 * @link: the link, which may end at any time
 * @path: receives our end, with a reference of its own
 *
 * Context: any but hard interrupts.
 * Return: 0 on success, -ENODEV if the link has returned its device.
 */
int smc_lgr_get_path(struct smc_lgr *lgr, const struct smc_link *link,
		     struct smc_rdma_path *path)
{
	spin_lock_bh(&lgr->lock);
	smc_rdma_path_copy(path, &link->path);
	spin_unlock_bh(&lgr->lock);
	return path->dev ? 0 : -ENODEV;
}

/* Take a free slot into use, or return NULL. */
static struct smc_link *claim_place(struct smc_lgr *lgr, const struct smc_rdma_path *path)
{
	struct smc_link *link, *found = NULL;

	spin_lock_bh(&lgr->lock);
	smc_lgr_for_each_link(lgr, link)
		if (!is_used(link))
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
	if (rc)
		smc_link_failed(link);
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
	smc_link_activate(link);
	smc_lgr_report_up(lgr, link);
	/* Connections of a lost link may have waited for this one. */
	smc_lgr_failover(lgr);
}
