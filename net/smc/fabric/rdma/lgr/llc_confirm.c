// SPDX-License-Identifier: GPL-2.0
/* The LLC engine: CONFIRM LINK, for the first link of a group and for others. */
#include <linux/etherdevice.h>
#include "lgr.h"
#include "../link/link.h"
#include "llc_msg.h"

/*
 * The cache size that the incumbent sends.  If it receives 0, it takes the link down again and
 * declines.
 */
#define CACHE_SIZE	3

/**
 * smc_llc_send_confirm_link() - confirm a link
 * @lgr: the link group
 * @link: the link
 * @reply: true for the client's reply, false for the server's request
 *
 * Return: 0 or a negative errno.
 */
int smc_llc_send_confirm_link(struct smc_lgr *lgr, struct smc_link *link, bool reply)
{
	struct smc_llc_msg m = {
		.type = SMC_LLC_CONFIRM_LINK,
		.v2 = smc_lgr_is_v2(lgr),
		.reply = reply,
		.confirm_link = {
			.qpn = link->qp->qp_num,
			.link = link->number,
			.link_uid = link->uid,
			.cache_size = CACHE_SIZE,
			.max_links = lgr->max_links,
			.max_conns = lgr->release ? lgr->max_conns : 0,
		},
	};
	int rc;

	memcpy(m.confirm_link.mac, link->path.mac, ETH_ALEN);
	memcpy(m.confirm_link.gid, link->path.gid.raw, 16);
	if (READ_ONCE(lgr->state) != SMC_LGR_NEW)
		return smc_llc_send(link, &m);
	/* Too late to decline from here on, unless the message turns out to be undeliverable. */
	WRITE_ONCE(lgr->committed, true);
	rc = smc_llc_send(link, &m);
	if (rc)
		WRITE_ONCE(lgr->committed, false);
	lgr->llc.confirm_end = smc_link_sent(link);
	return rc;
}

/* Does the message describe the peer's end of the link as CLC or ADD LINK did? */
bool smc_llc_confirm_link_matches(const struct smc_lgr *lgr, const struct smc_link *link,
				  const struct smc_llc_confirm_link *m)
{
	union ib_gid gid;

	smc_rdma_gid_from_wire(&gid, m->gid);
	if (m->qpn != link->peer_qpn || memcmp(m->mac, link->peer_mac, ETH_ALEN) ||
	    memcmp(gid.raw, link->peer_gid.raw, 16))
		return false;
	/* Version 2.1: CLC has negotiated these values, and they are only repeated here. */
	return !lgr->release || (m->max_links == lgr->max_links &&
				 m->max_conns == lgr->max_conns);
}
