// SPDX-License-Identifier: GPL-2.0
/*
 * smc_diag.ko: lists the SMC sockets of a network namespace through sock_diag, for smcss and
 * similar tools.
 *
 * smc.ko takes a snapshot of each socket, without its lock; this file only puts it into a message.
 * No pointer into a connection gets this far, so none can dangle.
 */
#include <linux/inet_diag.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/smc_diag.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/netlink.h>
#include "../smc.h"
#include "../sock_info.h"
#include "../socket/walk.h"
#include "../wire/clc.h"

/* State that is kept between two messages of a dump, in netlink_callback.ctx. */
struct diag_ctx {
	struct smc_sock_cursor	cursor;
	bool			privileged;
};

struct diag_dump {
	struct sk_buff		*skb;
	struct netlink_callback	*cb;
	u8			ext;
	bool			privileged;
};

static bool diag_wants(const struct diag_dump *d, int attribute)
{
	return d->ext & (1 << (attribute - 1));
}

static void diag_fill_id(struct inet_diag_sockid *id, struct sock *sk)
{
	const struct inet_sock *inet = inet_sk(sk);

	id->idiag_sport = inet->inet_sport;
	id->idiag_dport = inet->inet_dport;
	id->idiag_if = READ_ONCE(sk->sk_bound_dev_if);
	sock_diag_save_cookie(sk, id->idiag_cookie);
	if (sk->sk_family == AF_INET) {
		id->idiag_src[0] = inet->inet_rcv_saddr;
		id->idiag_dst[0] = inet->inet_daddr;
#if IS_ENABLED(CONFIG_IPV6)
	} else if (sk->sk_family == AF_INET6) {
		*(struct in6_addr *)id->idiag_src = sk->sk_v6_rcv_saddr;
		*(struct in6_addr *)id->idiag_dst = sk->sk_v6_daddr;
#endif
	}
}

/* Neither SMC nor TCP yet: such a socket is shown in the way Linux has always shown it. */
static bool diag_undecided(const struct smc_sock_info *info)
{
	return info->phase != SMC_PHASE_UP && info->phase != SMC_PHASE_TCP;
}

static void diag_fill_msg(struct smc_diag_msg *msg, const struct diag_dump *d,
			  const struct smc_sock_info *info)
{
	struct sock *sk = info->sk;

	memset(msg, 0, sizeof(*msg));
	msg->diag_family = sk->sk_family;
	msg->diag_state = info->phase == SMC_PHASE_NEW ? SMC_DIAG_STATE_INIT : info->state;
	msg->diag_mode = diag_undecided(info) ? SMC_DIAG_MODE_SMCR : info->mode;
	msg->diag_shutdown = READ_ONCE(sk->sk_shutdown) & SHUTDOWN_MASK;
	msg->diag_uid = from_kuid_munged(sk_user_ns(NETLINK_CB(d->cb->skb).sk), sk_uid(sk));
	msg->diag_inode = sock_i_ino(sk);
	diag_fill_id(&msg->id, sk);
}

/* Convert a count of bytes since the connection began into a position in a ring. */
static void diag_fill_cursor(struct smc_diag_cursor *cursor, u64 bytes, u32 size)
{
	u32 offset = 0;

	if (size)
		cursor->wrap = div_u64_rem(bytes, size, &offset);
	cursor->count = offset;
}

/* The size of an element: larger than its ring if the element begins with control data. */
static u32 diag_element(u32 ring)
{
	return ring ? smc_clc_size_to_bytes(smc_clc_size_from_bytes(ring)) : 0;
}

static int diag_put_conninfo(const struct diag_dump *d, const struct smc_sock_info *info)
{
	struct smc_diag_conninfo conn = {
		.token		= d->privileged ? info->token : 0,
		.sndbuf_size	= diag_element(info->sndbuf_size),
		.rmbe_size	= diag_element(info->rmbe_size),
		/* We write into the peer's element. */
		.peer_rmbe_size	= diag_element(info->sndbuf_size),
	};

	diag_fill_cursor(&conn.rx_prod, info->rx_prod, info->rmbe_size);
	diag_fill_cursor(&conn.rx_cons, info->rx_cons, info->rmbe_size);
	diag_fill_cursor(&conn.tx_prod, info->tx_prod, info->sndbuf_size);
	diag_fill_cursor(&conn.tx_cons, info->tx_cons, info->sndbuf_size);
	diag_fill_cursor(&conn.tx_prep, info->tx_written, info->sndbuf_size);
	/* Sending and arrival in the peer's memory are shown as one step. */
	conn.tx_sent = conn.tx_prod;
	conn.tx_fin = conn.tx_prod;
	return nla_put(d->skb, SMC_DIAG_CONNINFO, sizeof(conn), &conn);
}

/*
 * With a token one can refer to a buffer in messages to its owner, so only administrators see
 * tokens.
 */
static int diag_put_dmbinfo(const struct diag_dump *d, const struct smc_sock_info *info)
{
	struct smcd_diag_dmbinfo dmb;

	memset(&dmb, 0, sizeof(dmb));	/* Clears the padding as well. */
	dmb.linkid = info->linkid;
	dmb.my_gid = info->my_gid;
	dmb.peer_gid = info->peer_gid;
	if (d->privileged) {
		dmb.token = info->token;
		dmb.peer_token = info->peer_token;
	}
	return nla_put(d->skb, SMC_DIAG_DMBINFO, sizeof(dmb), &dmb);
}

static int diag_put_fallback(const struct diag_dump *d, const struct smc_sock_info *info)
{
	struct smc_diag_fallback fallback = {
		.reason		= info->reason,
		.peer_diagnosis	= info->peer_diagnosis,
	};

	return nla_put(d->skb, SMC_DIAG_FALLBACK, sizeof(fallback), &fallback);
}

/* Also adds the number by which SMC_GEN_NETLINK identifies the link group. */
static int diag_put_lgrinfo(const struct diag_dump *d, const struct smc_sock_info *info)
{
	return nla_put(d->skb, SMC_DIAG_LGRINFO, sizeof(info->lgr), &info->lgr) ?:
	       nla_put_u32(d->skb, SMC_DIAG_LGRID, info->lgr_id);
}

static int diag_put_attributes(const struct diag_dump *d, const struct smc_sock_info *info)
{
	bool up = info->phase == SMC_PHASE_UP;
	int rc = 0;

	if (diag_wants(d, SMC_DIAG_SHUTDOWN))
		rc = nla_put_u8(d->skb, SMC_DIAG_SHUTDOWN,
				READ_ONCE(info->sk->sk_shutdown) & SHUTDOWN_MASK);
	if (!rc && up && diag_wants(d, SMC_DIAG_CONNINFO))
		rc = diag_put_conninfo(d, info);
	if (!rc && up && info->mode == SMC_DIAG_MODE_SMCD && diag_wants(d, SMC_DIAG_DMBINFO))
		rc = diag_put_dmbinfo(d, info);
	if (!rc && up && info->lgr.lnk[0].link_id && diag_wants(d, SMC_DIAG_LGRINFO))
		rc = diag_put_lgrinfo(d, info);
	if (!rc && (info->phase == SMC_PHASE_TCP || diag_wants(d, SMC_DIAG_FALLBACK)))
		rc = diag_put_fallback(d, info);
	return rc;
}

/* Called for each socket; an error stops the walk, which the next call resumes at this socket. */
static int diag_put_socket(const struct smc_sock_info *info, void *arg)
{
	const struct diag_dump *d = arg;
	struct nlmsghdr *nlh;

	nlh = nlmsg_put(d->skb, NETLINK_CB(d->cb->skb).portid, d->cb->nlh->nlmsg_seq,
			SOCK_DIAG_BY_FAMILY, sizeof(struct smc_diag_msg), NLM_F_MULTI);
	if (!nlh)
		return -EMSGSIZE;
	diag_fill_msg(nlmsg_data(nlh), d, info);
	if (diag_put_attributes(d, info)) {
		nlmsg_cancel(d->skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(d->skb, nlh);
	return 0;
}

static int diag_dump_start(struct netlink_callback *cb)
{
	struct diag_ctx *ctx = (struct diag_ctx *)cb->ctx;

	BUILD_BUG_ON(sizeof(*ctx) > sizeof(cb->ctx));
	ctx->privileged = netlink_net_capable(cb->skb, CAP_NET_ADMIN);
	smc_sock_walk_begin(&ctx->cursor);
	return 0;
}

/* Also called if the program closes its netlink socket in the middle of a dump. */
static int diag_dump_done(struct netlink_callback *cb)
{
	struct diag_ctx *ctx = (struct diag_ctx *)cb->ctx;

	smc_sock_walk_end(&ctx->cursor);
	return 0;
}

static int diag_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct smc_diag_req *req = nlmsg_data(cb->nlh);
	struct diag_ctx *ctx = (struct diag_ctx *)cb->ctx;
	struct diag_dump dump = {
		.skb		= skb,
		.cb		= cb,
		.ext		= req->diag_ext,
		.privileged	= ctx->privileged,
	};

	/* A full message stops the walk; the next call continues it. */
	smc_sock_walk(sock_net(skb->sk), &ctx->cursor, diag_put_socket, &dump);
	return skb->len;
}

static int diag_request(struct sk_buff *skb, struct nlmsghdr *nlh)
{
	struct netlink_dump_control control = {
		.start		= diag_dump_start,
		.dump		= diag_dump,
		.done		= diag_dump_done,
		.min_dump_alloc	= SKB_WITH_OVERHEAD(32768),
	};

	if (nlmsg_len(nlh) < sizeof(struct smc_diag_req))
		return -EINVAL;
	if (!(nlh->nlmsg_flags & NLM_F_DUMP))
		return -EOPNOTSUPP;
	return netlink_dump_start(sock_net(skb->sk)->diag_nlsk, skb, nlh, &control);
}

static const struct sock_diag_handler diag_handler = {
	.owner	= THIS_MODULE,
	.family	= AF_SMC,
	.dump	= diag_request,
};

static int __init diag_init(void)
{
	return sock_diag_register(&diag_handler);
}

static void __exit diag_exit(void)
{
	sock_diag_unregister(&diag_handler);
}

module_init(diag_init);
module_exit(diag_exit);
MODULE_DESCRIPTION("SMC: socket monitoring");
MODULE_AUTHOR("The AF_SMC authors");
MODULE_VERSION(SMC_VERSION);
MODULE_LICENSE("GPL");
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_NETLINK, NETLINK_SOCK_DIAG, 43 /* AF_SMC */);
