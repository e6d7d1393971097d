// SPDX-License-Identifier: GPL-2.0
/*
 * The fabric of ISM devices: its part of CLC messages.  The fabric is registered from the start,
 * whether there are devices or not.
 */
#include <linux/pci.h>
#include <linux/slab.h>
#include "../../config/eid.h"
#include "../../netns.h"
#include "../../smc.h"
#include "../../sock_info.h"
#include "../route.h"
#include "../show.h"
#include "conn.h"
#include "reach.h"
#include "smcd.h"
#include "vlan.h"

static bool smcd_usable(struct smc_fabric *f, const struct smc_net *sn)
{
	return smcd_dev_any();
}

static void offer_v2(struct smc_clc_proposal *p)
{
	struct smc_eids eids;

	smc_eids_copy(&eids);
	p->smcd_v2 = true;
	p->has_seid = eids.has_seid;
	if (eids.has_seid)
		memcpy(p->seid, eids.seid, SMC_EID_LEN);
}

/**
 * smcd_offer_gid() - offer a device for SMC-Dv2
 * @p: the Proposal
 * @gid: the device
 *
 * Return: false if the Proposal has no room for it.
 */
bool smcd_offer_gid(struct smc_clc_proposal *p, const struct smc_clc_ism_gid *gid)
{
	if (!smc_clc_offer_ism(p, gid))
		return false;
	offer_v2(p);
	if (gid->extended)
		p->features |= SMC_CLC_FEAT_EMULATED_ISM;
	return true;
}

/*
 * A Proposal has room for one SMC-Dv1 device, which must be on the LAN of the connection.  A device
 * offered there needs no entry in the GID list of SMC-Dv2.
 */
static bool offer_v1(struct sock *sk, struct smc_clc_proposal *p, struct smc_ism_dev *dev, u16 vlan)
{
	if (p->smcd_v1 || smcd_vlan_join(dev, vlan) || smc_route_offer_subnets(sk, p))
		return false;
	p->smcd_v1 = true;
	p->ism_gid = dev->gid.id;
	p->ism_chid = dev->chid;
	if (!dev->no_v2)
		offer_v2(p);
	return true;
}

static void offer_dev(struct sock *sk, struct smc_clc_proposal *p, struct smc_ism_dev *dev)
{
	const struct smc_clc_ism_gid gid = {
		.gid = dev->gid.id, .gid_ext = dev->gid.ext, .chid = dev->chid,
		.extended = smcd_dev_emulated(dev),
	};
	enum smc_pnet_verdict verdict;
	u16 vlan;

	verdict = smcd_pnet(sk, dev, &vlan);
	if (verdict == SMC_PNET_OTHER)
		return;
	if (dev->v1 && verdict == SMC_PNET_SAME && offer_v1(sk, p, dev, vlan))
		return;
	/* If this GID is too long for the list, a shorter one of a later device may still fit. */
	if (!dev->no_v2)
		smcd_offer_gid(p, &gid);
}

static void smcd_offer(struct smc_fabric *f, struct sock *sk, struct smc_clc_proposal *p)
{
	struct smc_ism_dev *dev;
	u32 last = 0;

	while ((dev = smcd_dev_next(last))) {
		offer_dev(sk, p, dev);
		last = dev->number;
		smcd_dev_put(dev);
	}
}

/* Returns SMC_REASON_NONE and sets @neg->priv, or returns the reason to decline. */
static enum smc_reason settle(struct sock *sk, struct smc_negotiated *neg, u8 version,
			      struct smcd_way *way)
{
	struct smc_ism_dev *dev = smcd_reach(sk, version, way);
	struct smcd_negotiated *dneg;

	if (!dev)
		return SMC_REASON_NO_COMMON_DEVICE;
	dneg = kzalloc(sizeof(*dneg), SMC_GFP_CHARGED);
	if (!dneg) {
		smcd_dev_put(dev);
		return SMC_REASON_NO_MEMORY;
	}
	dneg->dev = dev;
	dneg->peer = way->peer;
	dneg->vlan = way->vlan;
	neg->priv = dneg;
	neg->version = version;
	return SMC_REASON_NONE;
}

/* Try the device in the SMC-Dv1 field of the Proposal, then those in the GID list. */
static enum smc_reason settle_any(struct sock *sk, const struct smc_clc_proposal *p,
				  struct smc_negotiated *neg)
{
	enum smc_reason reason = SMC_REASON_NO_COMMON_DEVICE;
	struct smcd_way way = { .peer.id = p->ism_gid, .chid = p->ism_chid };
	unsigned int i;

	if (p->ism_gid)
		reason = settle(sk, neg, SMC_CLC_V2, &way);
	for (i = 0; i < p->n_gids && reason == SMC_REASON_NO_COMMON_DEVICE; i++) {
		const struct smc_clc_ism_gid *gid = &p->gids[i];

		/* Both ends must support extended GIDs. */
		if (gid->extended && !(p->release && p->features & SMC_CLC_FEAT_EMULATED_ISM))
			continue;
		way = (struct smcd_way) {
			.peer = { .id = gid->gid, .ext = gid->gid_ext }, .chid = gid->chid,
		};
		reason = settle(sk, neg, SMC_CLC_V2, &way);
	}
	return reason;
}

static enum smc_reason choose_v2(struct sock *sk, const struct smc_clc_proposal *p,
				 struct smc_negotiated *neg)
{
	enum smc_reason reason;
	u8 eid[SMC_EID_LEN];

	if (!smc_eids_common(p, true, eid))
		return SMC_REASON_NO_COMMON_EID;
	reason = settle_any(sk, p, neg);
	if (reason)
		return reason;
	memcpy(neg->eid, eid, SMC_EID_LEN);
	neg->release = p->release;
	if (p->release)
		neg->features = p->features & SMC_CLC_FEAT_EMULATED_ISM;
	return SMC_REASON_NONE;
}

static enum smc_reason choose_v1(struct sock *sk, const struct smc_clc_proposal *p,
				 struct smc_negotiated *neg)
{
	struct smcd_way way = { .peer.id = p->ism_gid };

	if (!smc_route_in_subnets(sk, p))
		return SMC_REASON_PREFIX_MISMATCH;
	return settle(sk, neg, SMC_CLC_V1, &way);
}

static enum smc_reason smcd_choose(struct smc_fabric *f, struct sock *sk,
				   const struct smc_clc_proposal *p, struct smc_negotiated *neg)
{
	enum smc_reason reason = SMC_REASON_NO_COMMON_MODE;

	if (p->smcd_v2) {
		reason = choose_v2(sk, p, neg);
		neg->why[SMC_OFFER_DV2] = reason;
	}
	if (reason && p->smcd_v1) {
		reason = choose_v1(sk, p, neg);
		neg->why[SMC_OFFER_DV1] = reason;
	}
	return reason;
}

static enum smc_reason accepts_v2(struct sock *sk, const struct smc_clc_accept *a,
				  struct smc_negotiated *neg)
{
	struct smcd_way way = { .peer = { .id = a->gid, .ext = a->gid_ext }, .chid = a->chid };
	enum smc_reason reason = smc_fabric_check_v2(a);

	if (!reason)
		reason = settle(sk, neg, SMC_CLC_V2, &way);
	if (reason)
		return reason;
	neg->release = a->release;
	if (a->release)
		neg->features = SMC_CLC_FEAT_EMULATED_ISM;
	memcpy(neg->eid, a->eid, SMC_EID_LEN);
	return SMC_REASON_NONE;
}

static enum smc_reason smcd_accepts(struct smc_fabric *f, struct sock *sk,
				    const struct smc_clc_accept *a, struct smc_negotiated *neg)
{
	struct smcd_way way = { .peer.id = a->gid };

	if (!a->smcd)
		return SMC_REASON_NO_COMMON_DEVICE;
	return a->version == SMC_CLC_V1 ? settle(sk, neg, SMC_CLC_V1, &way) :
					  accepts_v2(sk, a, neg);
}

static void smcd_forget(struct smc_negotiated *neg)
{
	struct smcd_negotiated *dneg = neg->priv;

	neg->priv = NULL;
	smcd_dev_put(dneg->dev);
	kfree(dneg);
}

/* The driver reports a peer that is gone, see smc_ism_gid_gone(). */
static void smcd_keepalive(struct smc_conn *c, unsigned int seconds)
{
}

static void smcd_show(struct smc_conn *c, struct smc_sock_info *info)
{
	const struct smcd_conn *dconn = to_smcd(c);

	info->linkid = dconn->lgr->id;
	info->my_gid = dconn->lgr->dev->gid.id;
	info->peer_gid = dconn->lgr->peer.id;
	info->token = dconn->dmb ? dconn->dmb->token : 0;
	info->peer_token = dconn->peer_token;
}

static void show_pci(const struct smc_ism_dev *dev, struct smc_dev_info *info)
{
	const struct pci_dev *pci;

	if (!dev->parent || !dev_is_pci(dev->parent))
		return;
	pci = to_pci_dev(dev->parent);
	info->pci_vendor = pci->vendor;
	info->pci_device = pci->device;
	strscpy(info->pci_id, pci_name(pci), sizeof(info->pci_id));
}

static void show_dev(struct smc_ism_dev *dev, struct smc_net *sn, struct smc_dev_info *info)
{
	const struct smc_pnet_port port = smcd_pnet_port(dev);

	memset(info, 0, sizeof(*info));
	info->number = dev->number;
	strscpy(info->name, dev->name, sizeof(info->name));
	info->n_users = atomic_read(&dev->n_lgrs);
	/* A device that is on no bus: an answer has no other attribute for its name. */
	info->is_pci = true;
	info->pci_chid = dev->chid;
	strscpy(info->pci_id, dev->name, sizeof(info->pci_id));
	show_pci(dev, info);
	info->n_ports = 1;
	info->ports[0].active = true;
	info->ports[0].by_user = smc_pnet_of_port(sn, &port, info->ports[0].pnetid);
}

static int smcd_devices(struct smc_fabric *f, struct smc_net *sn, struct smc_walk *w)
{
	struct smc_dev_info info;
	struct smc_ism_dev *dev;
	int rc = 0;

	while (!rc) {
		w->seq = smcd_devs_seq();
		dev = smcd_dev_next(w->after);
		if (!dev)
			break;
		show_dev(dev, sn, &info);
		smcd_dev_put(dev);
		rc = w->dev(&info, w);
		if (!rc)
			w->after = info.number;
	}
	return rc;
}

static const struct smc_conn_ops smcd_conn_ops = {
	.name		= "ism",
	.diag_mode	= SMC_DIAG_MODE_SMCD,
	.fin_in_order	= false,
	.commit		= smc_msg_commit,
	.consumed	= smc_msg_consumed,
	.urgent		= smc_msg_urgent,
	.arrived	= smcd_data_arrived,
	.end_arrived	= smc_msg_end_arrived,
	.request_update	= smc_msg_request_update,
	.peer_waits	= smc_msg_peer_waits,
	.signal		= smc_msg_signal,
	.keepalive	= smcd_keepalive,
	.detach		= smcd_detach,
	.last_word	= smcd_last_word,
	.free		= smcd_free,
	.show		= smcd_show,
};

static const struct smc_fabric_ops smcd_ops = {
	.conn		= &smcd_conn_ops,
	.usable		= smcd_usable,
	.offer		= smcd_offer,
	.choose		= smcd_choose,
	.accepts	= smcd_accepts,
	.forget		= smcd_forget,
	.conn_new	= smcd_conn_new,
	.describe	= smcd_describe,
	.attach		= smcd_attach,
	.refused	= smcd_refused,
	.groups		= smcd_groups,
	.devices	= smcd_devices,
};

static struct smc_fabric smcd_fabric = { .ops = &smcd_ops };

/**
 * smcd_init() - register the fabric; afterwards drivers can register ISM devices
 *
 * Return: 0 or a negative errno.
 */
int __init smcd_init(void)
{
	int rc = register_pernet_subsys(&smcd_net_ops);

	if (rc)
		return rc;
	rc = smc_fabric_register(&smcd_fabric);
	if (rc)
		unregister_pernet_subsys(&smcd_net_ops);
	return rc;
}

/* There are no sockets and no devices any more: both hold a reference to this module. */
void smcd_exit(void)
{
	smc_fabric_unregister(&smcd_fabric);
	unregister_pernet_subsys(&smcd_net_ops);
	/* Wait for work that was queued when connections ended. */
	flush_workqueue(smc_link_wq);
}
