// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: link groups, links and devices. The fabrics take the snapshots, see fabric/show.h; this
 * file only converts them into attributes, in the order that Linux has always used.
 */
#include <linux/smc_diag.h>
#include "../fabric/fabric.h"
#include "../fabric/show.h"
#include "../netns.h"
#include "genl.h"

/**
 * struct show - a dump in progress, as smc_walk.arg
 * @skb:	buffer for the messages
 * @cb:		the dump
 * @links:	show the links after each link group
 */
struct show {
	struct sk_buff		*skb;
	struct netlink_callback	*cb;
	bool			links;
};

/* ---- link groups ------------------------------------------------------------ */

static int put_v2_common(struct sk_buff *skb, int type,
			 const struct smc_group_info *g)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_VER, g->version) ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_REL, g->release) ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_OS, g->peer_os) ||
	    smc_genl_put_padded(skb, SMC_NLA_LGR_V2_PEER_HOST, g->peer_host,
				strnlen(g->peer_host, SMC_CLC_HOSTNAME_LEN)) ||
	    smc_genl_put_padded(skb, SMC_NLA_LGR_V2_NEG_EID, g->eid, SMC_EID_LEN))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_r_v2(struct sk_buff *skb, const struct smc_group_info *g)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_NLA_LGR_R_V2);

	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_V2_DIRECT, g->direct) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_V2_MAX_CONNS, g->max_conns) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_V2_MAX_LINKS, g->max_links))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int fill_lgr_smcr(struct sk_buff *skb, const void *info)
{
	const struct smc_group_info *g = info;

	if (nla_put_u32(skb, SMC_NLA_LGR_R_ID, g->id) ||
	    nla_put_u32(skb, SMC_NLA_LGR_R_CONNS_NUM, g->n_conns) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_ROLE, g->server) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_TYPE, g->type) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_BUF_TYPE, g->buf_type) ||
	    /* This attribute has always had one byte. */
	    nla_put_u8(skb, SMC_NLA_LGR_R_VLAN_ID, g->vlan_id) ||
	    nla_put_u64_64bit(skb, SMC_NLA_LGR_R_NET_COOKIE,
			      sock_net(skb->sk)->net_cookie, SMC_NLA_LGR_R_PAD) ||
	    nla_put_string(skb, SMC_NLA_LGR_R_PNETID, g->pnetid) ||
	    nla_put_uint(skb, SMC_NLA_LGR_R_SNDBUF_ALLOC, g->tx_bytes) ||
	    nla_put_uint(skb, SMC_NLA_LGR_R_RMB_ALLOC, g->rx_bytes))
		return -EMSGSIZE;
	if (g->version < SMC_CLC_V2)
		return 0;
	return put_v2_common(skb, SMC_NLA_LGR_R_V2_COMMON, g) ?: put_r_v2(skb, g);
}

static int fill_lgr_smcd(struct sk_buff *skb, const void *info)
{
	const struct smc_group_info *g = info;

	if (nla_put_u32(skb, SMC_NLA_LGR_D_ID, g->id) ||
	    nla_put_u64_64bit(skb, SMC_NLA_LGR_D_GID, g->gid, SMC_NLA_LGR_D_PAD) ||
	    nla_put_u64_64bit(skb, SMC_NLA_LGR_D_EXT_GID, g->gid_ext,
			      SMC_NLA_LGR_D_PAD) ||
	    nla_put_u64_64bit(skb, SMC_NLA_LGR_D_PEER_GID, g->peer_gid,
			      SMC_NLA_LGR_D_PAD) ||
	    nla_put_u64_64bit(skb, SMC_NLA_LGR_D_PEER_EXT_GID, g->peer_gid_ext,
			      SMC_NLA_LGR_D_PAD) ||
	    nla_put_u8(skb, SMC_NLA_LGR_D_VLAN_ID, g->vlan_id) ||
	    nla_put_u32(skb, SMC_NLA_LGR_D_CONNS_NUM, g->n_conns) ||
	    nla_put_u16(skb, SMC_NLA_LGR_D_CHID, g->chid) ||
	    nla_put_string(skb, SMC_NLA_LGR_D_PNETID, g->pnetid) ||
	    nla_put_uint(skb, SMC_NLA_LGR_D_SNDBUF_ALLOC, g->tx_bytes) ||
	    nla_put_uint(skb, SMC_NLA_LGR_D_DMB_ALLOC, g->rx_bytes))
		return -EMSGSIZE;
	if (g->version < SMC_CLC_V2)
		return 0;
	return put_v2_common(skb, SMC_NLA_LGR_D_V2_COMMON, g);
}

static int fill_link(struct sk_buff *skb, const void *info)
{
	const struct smc_link_info *l = info;
	char gid[40], peer_gid[40];

	snprintf(gid, sizeof(gid), "%pI6", l->gid);
	snprintf(peer_gid, sizeof(peer_gid), "%pI6", l->peer_gid);
	return nla_put_u8(skb, SMC_NLA_LINK_ID, l->number) ||
	       nla_put_u32(skb, SMC_NLA_LINK_STATE, l->state) ||
	       nla_put_u32(skb, SMC_NLA_LINK_CONN_CNT, l->n_conns) ||
	       nla_put_u8(skb, SMC_NLA_LINK_IB_PORT, l->port) ||
	       nla_put_u32(skb, SMC_NLA_LINK_NET_DEV, l->ifindex) ||
	       nla_put_string(skb, SMC_NLA_LINK_IB_DEV, l->dev) ||
	       nla_put(skb, SMC_NLA_LINK_UID, sizeof(l->uid), l->uid) ||
	       nla_put(skb, SMC_NLA_LINK_PEER_UID, sizeof(l->peer_uid), l->peer_uid) ||
	       nla_put_string(skb, SMC_NLA_LINK_GID, gid) ||
	       nla_put_string(skb, SMC_NLA_LINK_PEER_GID, peer_gid);
}

/* A link group and its links belong together: put all of them into this buffer, or none. */
static int put_lgr_smcr(const struct smc_group_info *g, struct smc_walk *w)
{
	struct show *s = w->arg;
	unsigned int before = s->skb->len, i;
	int rc;

	s->cb->seq = w->seq;
	rc = smc_genl_put_nest(s->skb, s->cb, SMC_NETLINK_GET_LGR_SMCR,
			       SMC_GEN_LGR_SMCR, fill_lgr_smcr, g);
	for (i = 0; !rc && s->links && i < g->n_links; i++)
		rc = smc_genl_put_nest(s->skb, s->cb, SMC_NETLINK_GET_LINK_SMCR,
				       SMC_GEN_LINK_SMCR, fill_link, &g->links[i]);
	if (rc)
		skb_trim(s->skb, before);
	return rc;
}

static int put_lgr_smcd(const struct smc_group_info *g, struct smc_walk *w)
{
	struct show *s = w->arg;

	s->cb->seq = w->seq;
	return smc_genl_put_nest(s->skb, s->cb, SMC_NETLINK_GET_LGR_SMCD,
				 SMC_GEN_LGR_SMCD, fill_lgr_smcd, g);
}

/* Called at the end of a walk, or when the buffer is full: the next call continues there. */
static int shown(struct sk_buff *skb, struct netlink_callback *cb,
		 const struct smc_walk *w, int rc)
{
	if (w->seq)
		cb->seq = w->seq;
	return rc && !skb->len ? rc : skb->len;
}

static int dump_groups(struct sk_buff *skb, struct netlink_callback *cb, u8 mode,
		       int (*group)(const struct smc_group_info *g, struct smc_walk *w),
		       bool links)
{
	struct show s = { .skb = skb, .cb = cb, .links = links };
	struct smc_walk w = { .group = group, .arg = &s };
	int rc;

	rc = smc_fabric_groups(smc_net(sock_net(skb->sk)), mode,
			       (unsigned long *)cb->args, &w);
	return shown(skb, cb, &w, rc);
}

/**
 * smc_genl_get_lgr_smcr() - SMC_NETLINK_GET_LGR_SMCR: link groups over RDMA
 * @skb: buffer for the messages
 * @cb: args[0] and args[1] are the position of the walk
 *
 * Return: the value for .dumpit.
 */
int smc_genl_get_lgr_smcr(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_groups(skb, cb, SMC_DIAG_MODE_SMCR, put_lgr_smcr, false);
}

/**
 * smc_genl_get_link_smcr() - SMC_NETLINK_GET_LINK_SMCR: each link group over RDMA,
 * followed by its links
 * @skb: buffer for the messages
 * @cb: as in smc_genl_get_lgr_smcr()
 *
 * Return: the value for .dumpit.
 */
int smc_genl_get_link_smcr(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_groups(skb, cb, SMC_DIAG_MODE_SMCR, put_lgr_smcr, true);
}

/**
 * smc_genl_get_lgr_smcd() - SMC_NETLINK_GET_LGR_SMCD: link groups of SMC-D
 * @skb: buffer for the messages
 * @cb: as in smc_genl_get_lgr_smcr()
 *
 * Return: the value for .dumpit.
 */
int smc_genl_get_lgr_smcd(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_groups(skb, cb, SMC_DIAG_MODE_SMCD, put_lgr_smcd, false);
}

/* ---- devices ---------------------------------------------------------------- */

static int put_pci(struct sk_buff *skb, const struct smc_dev_info *d)
{
	if (!d->is_pci)
		return 0;
	return nla_put_u32(skb, SMC_NLA_DEV_PCI_FID, d->pci_fid) ||
	       nla_put_u16(skb, SMC_NLA_DEV_PCI_CHID, d->pci_chid) ||
	       nla_put_u16(skb, SMC_NLA_DEV_PCI_VENDOR, d->pci_vendor) ||
	       nla_put_u16(skb, SMC_NLA_DEV_PCI_DEVICE, d->pci_device) ||
	       nla_put_string(skb, SMC_NLA_DEV_PCI_ID, d->pci_id);
}

static int put_pnet(struct sk_buff *skb, const struct smc_port_info *p)
{
	return nla_put_u8(skb, SMC_NLA_DEV_PORT_PNET_USR, p->by_user) ||
	       nla_put_string(skb, SMC_NLA_DEV_PORT_PNETID, p->pnetid);
}

static int put_port(struct sk_buff *skb, int type, const struct smc_port_info *p)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest || put_pnet(skb, p) ||
	    nla_put_u32(skb, SMC_NLA_DEV_PORT_NETDEV, p->ifindex) ||
	    nla_put_u8(skb, SMC_NLA_DEV_PORT_VALID, 1) ||
	    nla_put_u8(skb, SMC_NLA_DEV_PORT_STATE, p->active) ||
	    nla_put_u32(skb, SMC_NLA_DEV_PORT_LNK_CNT, p->n_links))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int fill_dev_smcr(struct sk_buff *skb, const void *info)
{
	const struct smc_dev_info *d = info;
	unsigned int i;
	int rc;

	rc = nla_put_u8(skb, SMC_NLA_DEV_IS_CRIT, d->critical) || put_pci(skb, d) ||
	     nla_put_string(skb, SMC_NLA_DEV_IB_NAME, d->name);
	for (i = 0; !rc && i < d->n_ports; i++)
		rc = put_port(skb, SMC_NLA_DEV_PORT + i, &d->ports[i]);
	return rc;
}

static int fill_dev_smcd(struct sk_buff *skb, const void *info)
{
	const struct smc_dev_info *d = info;
	struct nlattr *nest;

	if (nla_put_u32(skb, SMC_NLA_DEV_USE_CNT, d->n_users) ||
	    nla_put_u8(skb, SMC_NLA_DEV_IS_CRIT, d->n_users > 0) || put_pci(skb, d))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, SMC_NLA_DEV_PORT);
	if (!nest || put_pnet(skb, &d->ports[0]))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_dev_smcr(const struct smc_dev_info *d, struct smc_walk *w)
{
	struct show *s = w->arg;

	s->cb->seq = w->seq;
	return smc_genl_put_nest(s->skb, s->cb, SMC_NETLINK_GET_DEV_SMCR,
				 SMC_GEN_DEV_SMCR, fill_dev_smcr, d);
}

static int put_dev_smcd(const struct smc_dev_info *d, struct smc_walk *w)
{
	struct show *s = w->arg;

	s->cb->seq = w->seq;
	return smc_genl_put_nest(s->skb, s->cb, SMC_NETLINK_GET_DEV_SMCD,
				 SMC_GEN_DEV_SMCD, fill_dev_smcd, d);
}

static int dump_devices(struct sk_buff *skb, struct netlink_callback *cb, u8 mode,
			int (*dev)(const struct smc_dev_info *d, struct smc_walk *w))
{
	struct show s = { .skb = skb, .cb = cb };
	struct smc_walk w = { .dev = dev, .arg = &s };
	int rc;

	rc = smc_fabric_devices(smc_net(sock_net(skb->sk)), mode,
				(unsigned long *)cb->args, &w);
	return shown(skb, cb, &w, rc);
}

/**
 * smc_genl_get_dev_smcd() - SMC_NETLINK_GET_DEV_SMCD: ISM devices
 * @skb: buffer for the messages
 * @cb: as in smc_genl_get_lgr_smcr()
 *
 * Return: the value for .dumpit.
 */
int smc_genl_get_dev_smcd(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_devices(skb, cb, SMC_DIAG_MODE_SMCD, put_dev_smcd);
}

/**
 * smc_genl_get_dev_smcr() - SMC_NETLINK_GET_DEV_SMCR: RDMA devices
 * @skb: buffer for the messages
 * @cb: as in smc_genl_get_lgr_smcr()
 *
 * Return: the value for .dumpit.
 */
int smc_genl_get_dev_smcr(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_devices(skb, cb, SMC_DIAG_MODE_SMCR, put_dev_smcr);
}
