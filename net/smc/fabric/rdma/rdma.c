// SPDX-License-Identifier: GPL-2.0
/* The RDMA fabric: its part of CLC messages. */
#include <linux/slab.h>
#include "../../config/eid.h"
#include "../../netns.h"
#include "../../smc.h"
#include "../../sock_info.h"
#include "../fabric.h"
#include "../route.h"
#include "lgr/lgr.h"
#include "rdma.h"
#include "conn/rdma_conn.h"
#include "show.h"

static bool rdma_usable(struct smc_fabric *f, const struct smc_net *sn)
{
	return smc_rdma_dev_any(sn->net);
}

static void offer_v2(struct sock *sk, struct smc_clc_proposal *p)
{
	struct smc_net *sn = smc_net(sock_net(sk));
	struct smc_rdma_path path;

	/* Without a user EID we cannot have an EID in common with any server. */
	if (!p->eid_count || smc_rdma_path_find(sk, true, &path))
		return;
	p->smcr_v2 = true;
	memcpy(p->roce_gid, path.gid.raw, sizeof(p->roce_gid));
	memcpy(p->mac, path.mac, sizeof(p->mac));
	p->max_conns = READ_ONCE(sn->smcr_max_conns);
	p->max_links = READ_ONCE(sn->smcr_max_links);
	p->features |= SMC_CLC_FEAT_EMULATED_ISM;
	smc_rdma_path_put(&path);
}

static void offer_v1(struct sock *sk, struct smc_clc_proposal *p)
{
	struct smc_rdma_path path;

	if (smc_rdma_path_find(sk, false, &path))
		return;
	/* A Proposal has a single MAC address, so both versions must mean the same RNIC. */
	if (p->smcr_v2 && memcmp(p->mac, path.mac, sizeof(p->mac)))
		goto out;
	if (smc_route_offer_subnets(sk, p))
		goto out;
	p->smcr_v1 = true;
	memcpy(p->gid, path.gid.raw, sizeof(p->gid));
	memcpy(p->mac, path.mac, sizeof(p->mac));
out:
	smc_rdma_path_put(&path);
}

static void rdma_offer(struct smc_fabric *f, struct sock *sk,
		       struct smc_clc_proposal *p)
{
	offer_v2(sk, p);
	offer_v1(sk, p);
}

static enum smc_reason find_path(struct sock *sk, struct rdma_negotiated *rneg, bool v2)
{
	int rc = smc_rdma_path_find(sk, v2, &rneg->path);

	if (!rc)
		rc = smc_rdma_path_network(&rneg->path, &rneg->network);
	/* Hold no device while the handshake may wait for a program or for a first contact. */
	smc_rdma_path_put(&rneg->path);
	return rc ? SMC_REASON_NO_DEVICE : SMC_REASON_NONE;
}

/* Negotiate the values of version 2.1; the server decides. */
static void settle_release(struct smc_negotiated *neg, const struct smc_clc_proposal *p,
			   const struct smc_net *sn)
{
	u8 own = READ_ONCE(sn->smcr_max_conns);
	u8 links = READ_ONCE(sn->smcr_max_links);

	neg->release = p->release;
	if (!neg->release)
		return;
	neg->features = p->features & SMC_CLC_FEAT_EMULATED_ISM;
	neg->max_conns = p->max_conns ? min(own, p->max_conns) : own;
	neg->max_links = p->max_links ? min(links, p->max_links) : links;
}

static enum smc_reason choose_v2(struct sock *sk, const struct smc_clc_proposal *p,
				 struct smc_negotiated *neg, struct rdma_negotiated *rneg)
{
	enum smc_reason reason;
	u8 eid[SMC_EID_LEN];

	if (!smc_eids_common(p, false, eid))
		return SMC_REASON_NO_COMMON_EID;
	reason = find_path(sk, rneg, true);
	if (reason)
		return reason;
	memcpy(neg->eid, eid, sizeof(neg->eid));
	neg->version = SMC_CLC_V2;
	settle_release(neg, p, smc_net(sock_net(sk)));
	smc_rdma_gid_from_wire(&rneg->peer_gid, p->roce_gid);
	return SMC_REASON_NONE;
}

static enum smc_reason choose_v1(struct sock *sk, const struct smc_clc_proposal *p,
				 struct smc_negotiated *neg, struct rdma_negotiated *rneg)
{
	enum smc_reason reason;

	if (!smc_route_in_subnets(sk, p))
		return SMC_REASON_PREFIX_MISMATCH;
	reason = find_path(sk, rneg, false);
	if (reason)
		return reason;
	neg->version = SMC_CLC_V1;
	smc_rdma_gid_from_wire(&rneg->peer_gid, p->gid);
	return SMC_REASON_NONE;
}

static void get_tcp_peer(const struct sock *sk, struct smc_tcp_peer *peer)
{
	smc_route_remote(sk, &peer->addr);
	peer->ifindex = READ_ONCE(sk->sk_bound_dev_if);
}

static enum smc_reason rdma_choose(struct smc_fabric *f, struct sock *sk,
				   const struct smc_clc_proposal *p,
				   struct smc_negotiated *neg)
{
	enum smc_reason reason = SMC_REASON_NO_COMMON_MODE;
	struct rdma_negotiated *rneg;

	if (!p->smcr_v2 && !p->smcr_v1)
		return reason;
	rneg = kzalloc(sizeof(*rneg), SMC_GFP_CHARGED);
	if (!rneg)
		return SMC_REASON_NO_MEMORY;
	if (p->smcr_v2) {
		reason = choose_v2(sk, p, neg, rneg);
		neg->why[SMC_OFFER_RV2] = reason;
	}
	if (reason && p->smcr_v1) {
		reason = choose_v1(sk, p, neg, rneg);
		neg->why[SMC_OFFER_RV1] = reason;
	}
	if (reason) {
		kfree(rneg);
		return reason;
	}
	memcpy(rneg->peer_id, p->peer_id, sizeof(rneg->peer_id));
	memcpy(rneg->peer_mac, p->mac, ETH_ALEN);
	get_tcp_peer(sk, &rneg->tcp_peer);
	neg->priv = rneg;
	return SMC_REASON_NONE;
}

static enum smc_reason check_accept(const struct smc_clc_accept *a)
{
	if (a->smcd)
		return SMC_REASON_NO_COMMON_DEVICE;
	return a->version == SMC_CLC_V1 ? SMC_REASON_NONE : smc_fabric_check_v2(a);
}

static enum smc_reason rdma_accepts(struct smc_fabric *f, struct sock *sk,
				    const struct smc_clc_accept *a,
				    struct smc_negotiated *neg)
{
	enum smc_reason reason = check_accept(a);
	struct rdma_negotiated *rneg;

	if (reason)
		return reason;
	rneg = kzalloc(sizeof(*rneg), SMC_GFP_CHARGED);
	if (!rneg)
		return SMC_REASON_NO_MEMORY;
	reason = find_path(sk, rneg, a->version > SMC_CLC_V1);
	if (reason) {
		kfree(rneg);
		return reason;
	}
	neg->version = a->version;
	neg->release = a->release;
	if (a->release)
		neg->features = SMC_CLC_FEAT_EMULATED_ISM;
	neg->max_conns = a->max_conns;
	neg->max_links = a->max_links;
	memcpy(neg->eid, a->eid, SMC_EID_LEN);
	memcpy(rneg->peer_id, a->peer_id, sizeof(rneg->peer_id));
	memcpy(rneg->peer_mac, a->mac, ETH_ALEN);
	smc_rdma_gid_from_wire(&rneg->peer_gid, a->roce_gid);
	rneg->peer_qpn = a->qpn;
	get_tcp_peer(sk, &rneg->tcp_peer);
	neg->priv = rneg;
	return SMC_REASON_NONE;
}

static void rdma_forget(struct smc_negotiated *neg)
{
	kfree(neg->priv);
	neg->priv = NULL;
}

/* List our GIDs; the group may have ended meanwhile, and its device may be gone. */
static void describe_gids(struct rdma_conn *rconn, struct smc_clc_accept *a)
{
	struct smc_rdma_path path;

	memcpy(a->gid_list[0], rconn->told.gid, sizeof(a->gid_list[0]));
	a->n_gid_list = 1;
	if (smc_lgr_get_path(rconn->base.lgr, READ_ONCE(rconn->base.sender.link), &path))
		return;
	a->n_gid_list = smc_rdma_path_gids(&path, rconn->base.sn->net, a->gid_list,
					   SMC_CLC_MAX_GID_LIST);
	smc_rdma_path_put(&path);
}

static void rdma_describe(struct smc_conn *c, struct smc_clc_accept *a)
{
	struct rdma_conn *rconn = to_rdma(c);
	const struct rdma_told *told = &rconn->told;

	memcpy(a->roce_gid, told->gid, sizeof(a->roce_gid));
	memcpy(a->mac, told->mac, sizeof(a->mac));
	a->qpn = told->qpn;
	a->rkey = told->rkey;
	a->rmbe_idx = smc_rmbe_index(c->rmbe) + 1;
	a->rmbe_size = smc_clc_size_from_bytes(c->rx_size);
	a->mtu = told->mtu;
	a->alert_token = rconn->base.token;
	a->rmb_addr = told->rmb_addr;
	a->psn = told->psn;
	a->v2_direct = told->direct;
	if (rconn->server)
		set_bit(SMC_MSG_TOLD, &rconn->base.msg.bits);
	if (a->confirm && a->has_fce)
		describe_gids(rconn, a);
}

/* Uses @lock, which protects the path, because @setup_lock may be held for long. */
static void show_link(struct smc_lgr *lgr, const struct smc_link *link,
		      struct smc_diag_linkinfo *show)
{
	spin_lock_bh(&lgr->lock);
	if (link->path.dev) {
		show->link_id = link->number;
		show->ibport = link->path.port;
		strscpy(show->ibname, link->path.dev->ibdev->name, sizeof(show->ibname));
		snprintf(show->gid, sizeof(show->gid), "%pI6", link->path.gid.raw);
		snprintf(show->peer_gid, sizeof(show->peer_gid), "%pI6", link->peer_gid.raw);
	}
	spin_unlock_bh(&lgr->lock);
}

static void rdma_show(struct smc_conn *c, struct smc_sock_info *info)
{
	struct smc_diag_linkinfo *show = &info->lgr.lnk[0];
	struct smc_lgr *lgr = to_lgr_conn(c)->lgr;

	info->token = to_lgr_conn(c)->token;
	info->peer_token = to_rdma(c)->peer_token;
	if (READ_ONCE(lgr->dead))
		return;
	show_link(lgr, READ_ONCE(to_lgr_conn(c)->sender.link), show);
	info->lgr.role = lgr->server;
	info->lgr_id = lgr->id;
}

static const struct smc_conn_ops rdma_conn_ops = {
	.name		= "rdma",
	.diag_mode	= SMC_DIAG_MODE_SMCR,
	.fin_in_order	= false,
	.late_abort	= true,
	.reports_acks	= true,
	.commit		= smc_cdc_commit,
	.consumed	= smc_msg_consumed,
	.urgent		= smc_msg_urgent,
	.arrived	= smc_cdc_data_arrived,
	.end_arrived	= smc_msg_end_arrived,
	.request_update	= smc_cdc_request_update,
	.peer_waits	= smc_msg_peer_waits,
	.signal		= smc_msg_signal,
	.keepalive	= smc_llc_keepalive,
	.detach		= smc_rdma_detach,
	.free		= smc_rdma_conn_free,
	.show		= rdma_show,
};

static const struct smc_fabric_ops rdma_ops = {
	.conn		= &rdma_conn_ops,
	.late_decline	= true,
	.usable		= rdma_usable,
	.offer		= rdma_offer,
	.choose		= rdma_choose,
	.accepts	= rdma_accepts,
	.forget		= rdma_forget,
	.conn_new	= smc_rdma_conn_new,
	.prepare	= smc_rdma_prepare,
	.describe	= rdma_describe,
	.attach		= smc_rdma_attach,
	.finish		= smc_rdma_finish,
	.refused	= smc_rdma_refused,
	.mac		= smc_rdma_mac,
	.groups		= smc_rdma_groups,
	.devices	= smc_rdma_devices,
};

static struct smc_fabric rdma_fabric = { .ops = &rdma_ops };

/* Link groups own the links; connections send and receive over them. */
static const struct smc_link_ops rdma_link_ops = {
	.get		= smc_cdc_get,
	.put		= smc_cdc_put,
	.fill		= smc_cdc_fill,
	.rx_cdc		= smc_cdc_rx,
	.rx_llc		= smc_llc_rx,
	.sent		= smc_llc_sent,
	.down		= smc_lgr_link_down,
	.hop_changed	= smc_lgr_hop_changed,
};

static const struct smc_rdma_dev_events rdma_events = {
	.port_changed	= smc_lgr_port_changed,
	.removed	= smc_lgr_dev_removed,
};

/**
 * smc_rdma_init() - watch for RDMA devices, and offer SMC-R over them
 *
 * Return: 0 or a negative errno.
 */
int __init smc_rdma_init(void)
{
	int rc;

	smc_link_set_ops(&rdma_link_ops);
	rc = register_pernet_subsys(&smc_lgr_net_ops);
	if (rc)
		return rc;
	rc = smc_rdma_dev_init(&rdma_events);
	if (rc)
		goto err_net;
	rc = smc_fabric_register(&rdma_fabric);
	if (!rc)
		return 0;
	smc_rdma_dev_exit();
err_net:
	unregister_pernet_subsys(&smc_lgr_net_ops);
	return rc;
}

/* Called when there are no sockets any more. */
void smc_rdma_exit(void)
{
	smc_fabric_unregister(&rdma_fabric);
	smc_rdma_dev_exit();
	unregister_pernet_subsys(&smc_lgr_net_ops);
}
