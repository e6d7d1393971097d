// SPDX-License-Identifier: GPL-2.0
/* The links of a group: lookup, numbers and attributes. */
#include "../../../netns.h"
#include "lgr.h"

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
 * __smc_lgr_best_link() - smc_lgr_best_link() with smc_lgrs.lock held
 * @lgr: the link group
 *
 * Return: the link, or NULL if no link is active.
 */
struct smc_link *__smc_lgr_best_link(struct smc_lgr *lgr)
{
	unsigned int i, best = SMC_LGR_LINKS;

	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	for (i = 0; i < SMC_LGR_LINKS; i++)
		if (READ_ONCE(lgr->links[i].state) == SMC_LINK_ACTIVE &&
		    (best == SMC_LGR_LINKS || lgr->n_on_link[i] < lgr->n_on_link[best]))
			best = i;
	return best == SMC_LGR_LINKS ? NULL : &lgr->links[best];
}

/**
 * smc_lgr_best_link() - find the active link with the fewest connections
 * @lgr: the link group
 *
 * Context: any but hard interrupts.
 * Return: the link, or NULL if no link is active.
 */
struct smc_link *smc_lgr_best_link(struct smc_lgr *lgr)
{
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);
	struct smc_link *link;

	spin_lock_bh(&lgrs->lock);
	link = __smc_lgr_best_link(lgr);
	spin_unlock_bh(&lgrs->lock);
	return link;
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
 * smc_lgr_link_ever() - find the link that had a number last, even if it is down
 * @lgr: the link group
 * @number: link number that the server assigned
 *
 * Context: the engine's work, so that no slot gets another link meanwhile.
 * Return: the link, or NULL if the number is unknown or another link has its slot.
 */
struct smc_link *smc_lgr_link_ever(struct smc_lgr *lgr, u8 number)
{
	struct smc_link *link = smc_lgr_link_by_number(lgr, number);

	if (link)
		return link;
	smc_lgr_for_each_link(lgr, link)
		if (smc_link_exists(link) && link->number == number)
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
