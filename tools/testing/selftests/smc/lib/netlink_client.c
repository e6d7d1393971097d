// SPDX-License-Identifier: GPL-2.0
/* Generic netlink and a part of sock_diag, without libraries. */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "netlink_client.h"
#include "raw_peer.h"
#include "slow.h"

#ifndef AF_SMC
#define AF_SMC		43
#endif

static int netlink_socket(int protocol)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	struct timeval tv = { .tv_sec = slow(20) };
	int on = 1, room = 1 << 20;

	if (fd < 0)
		give_up("cannot open a netlink socket");
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	return fd;
}

void put_attr(struct payload *p, uint16_t type, const void *data, size_t len)
{
	struct nlattr nla = { .nla_len = NLA_HDRLEN + len, .nla_type = type };
	size_t whole = NLA_ALIGN(nla.nla_len);

	if (p->len + whole > sizeof(p->b))
		give_up("a request of more than %zu bytes", sizeof(p->b));
	memset(p->b + p->len, 0, whole);
	memcpy(p->b + p->len, &nla, sizeof(nla));
	memcpy(p->b + p->len + NLA_HDRLEN, data, len);
	p->len += whole;
}

void put_text(struct payload *p, uint16_t type, const char *text)
{
	put_attr(p, type, text, strlen(text) + 1);
}

const uint8_t *find_attr(const uint8_t *attrs, size_t len, uint16_t type, size_t *attr_len)
{
	struct nlattr nla;
	size_t whole;

	while (len >= sizeof(nla)) {
		memcpy(&nla, attrs, sizeof(nla));
		if (nla.nla_len < sizeof(nla) || nla.nla_len > len)
			give_up("the kernel sent a broken attribute");
		if ((nla.nla_type & NLA_TYPE_MASK) == type) {
			*attr_len = nla.nla_len - NLA_HDRLEN;
			return attrs + NLA_HDRLEN;
		}
		whole = NLA_ALIGN(nla.nla_len);
		if (whole >= len)
			break;
		attrs += whole;
		len -= whole;
	}
	return NULL;
}

bool has_u8(const uint8_t *attrs, size_t len, uint16_t type, unsigned int *value)
{
	size_t n;
	const uint8_t *data = find_attr(attrs, len, type, &n);

	if (!data || n != 1)
		return false;
	*value = *data;
	return true;
}

bool has_u32(const uint8_t *attrs, size_t len, uint16_t type, unsigned int *value)
{
	size_t n;
	const uint8_t *data = find_attr(attrs, len, type, &n);

	if (!data || n != 4)
		return false;
	memcpy(value, data, 4);
	return true;
}

static void take_words(struct answer *a, const uint8_t *attrs, size_t len)
{
	size_t n;
	const uint8_t *text = find_attr(attrs, len, NLMSGERR_ATTR_MSG, &n);

	if (text)
		snprintf(a->words, sizeof(a->words), "%.*s", (int)n, (const char *)text);
}

/* Parses the end of an answer: NLMSG_ERROR, or NLMSG_DONE after a dump. */
static void take_end(struct answer *a, const struct nlmsghdr *nlh)
{
	size_t fixed = nlh->nlmsg_type == NLMSG_ERROR ? sizeof(struct nlmsgerr) : sizeof(int);
	size_t len = nlh->nlmsg_len - NLMSG_HDRLEN;
	const uint8_t *data = (const uint8_t *)nlh + NLMSG_HDRLEN;
	int error = 0;

	if (len >= sizeof(error))
		memcpy(&error, data, sizeof(error));
	if (error > 0)
		give_up("the kernel sent a positive error");
	a->error = -error;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS && len > fixed)
		take_words(a, data + fixed, len - fixed);
}

static void take_message(struct answer *a, const struct nlmsghdr *nlh)
{
	const uint8_t *data = (const uint8_t *)nlh + NLMSG_HDRLEN;

	if (nlh->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN || a->count == MAX_MESSAGES)
		give_up("a message is too short, or there are too many");
	a->msg[a->count].cmd = data[0];
	a->msg[a->count].attrs = data + GENL_HDRLEN;
	a->msg[a->count].len = nlh->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN;
	a->count++;
}

static void receive(struct genl *g, struct answer *a)
{
	memset(a, 0, offsetof(struct answer, data));
	a->used = 0;
	for (;;) {
		uint8_t *at = a->data + a->used;
		ssize_t n = recv(g->fd, at, sizeof(a->data) - a->used, 0);

		if (n < 0)
			give_up("no answer from netlink");
		a->used += NLMSG_ALIGN(n);
		for (struct nlmsghdr *nlh = (void *)at; NLMSG_OK(nlh, (size_t)n);
		     nlh = NLMSG_NEXT(nlh, n)) {
			if (nlh->nlmsg_seq != g->seq)
				continue;
			if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
				a->interrupted = true;
			if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE) {
				take_end(a, nlh);
				return;
			}
			take_message(a, nlh);
		}
	}
}

static void request(struct genl *g, uint8_t cmd, const struct payload *p, uint16_t flags)
{
	size_t extra = p ? p->len : 0;
	struct {
		struct nlmsghdr nlh;
		struct genlmsghdr genl;
		uint8_t b[sizeof(p->b)];
	} msg = {
		.nlh.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN + extra,
		.nlh.nlmsg_type = g->family,
		.nlh.nlmsg_flags = NLM_F_REQUEST | flags,
		.nlh.nlmsg_seq = ++g->seq,
		.genl.cmd = cmd,
		.genl.version = 1,
	};

	if (p)
		memcpy(msg.b, p->b, p->len);
	genl_send_raw(g, &msg, msg.nlh.nlmsg_len);
}

void genl_do(struct genl *g, uint8_t cmd, const struct payload *p, struct answer *a)
{
	request(g, cmd, p, NLM_F_ACK);
	receive(g, a);
}

void genl_dump(struct genl *g, uint8_t cmd, const struct payload *p, struct answer *a)
{
	request(g, cmd, p, NLM_F_DUMP);
	receive(g, a);
}

void genl_send_raw(struct genl *g, const void *msg, size_t len)
{
	if (send(g->fd, msg, len, 0) != (ssize_t)len)
		give_up("netlink refuses the message");
}

void genl_drain(struct genl *g)
{
	static char room[1 << 16];

	while (recv(g->fd, room, sizeof(room), MSG_DONTWAIT) >= 0 || errno == ENOBUFS)
		;
}

bool genl_open(struct genl *g, const char *family)
{
	static struct answer a;
	struct payload p = { };
	const uint8_t *id;
	size_t n;

	g->fd = netlink_socket(NETLINK_GENERIC);
	g->seq = 0;
	g->family = GENL_ID_CTRL;
	put_text(&p, CTRL_ATTR_FAMILY_NAME, family);
	request(g, CTRL_CMD_GETFAMILY, &p, NLM_F_ACK);
	receive(g, &a);
	if (a.error || !a.count) {
		close(g->fd);
		return false;
	}
	id = find_attr(a.msg[0].attrs, a.msg[0].len, CTRL_ATTR_FAMILY_ID, &n);
	if (!id || n != 2)
		give_up("the family has no number");
	memcpy(&g->family, id, 2);
	return true;
}

void genl_close(struct genl *g)
{
	close(g->fd);
}

static bool is_inode(const struct nlmsghdr *nlh, ino_t inode, struct diag *d)
{
	const struct smc_diag_msg *msg = NLMSG_DATA(nlh);
	struct smc_diag_fallback f = { };
	const uint8_t *data;
	size_t n;

	if (nlh->nlmsg_len < NLMSG_LENGTH(sizeof(*msg)) || msg->diag_inode != inode)
		return false;
	data = find_attr((const uint8_t *)(msg + 1),
			 nlh->nlmsg_len - NLMSG_LENGTH(sizeof(*msg)), SMC_DIAG_FALLBACK, &n);
	if (data && n >= sizeof(f))
		memcpy(&f, data, sizeof(f));
	d->mode = msg->diag_mode;
	d->reason = f.reason;
	d->peer_diagnosis = f.peer_diagnosis;
	return true;
}

bool diag_of(int sock, struct diag *d)
{
	struct {
		struct nlmsghdr nlh;
		struct smc_diag_req req;
	} msg = {
		.nlh.nlmsg_len = sizeof(msg),
		.nlh.nlmsg_type = SOCK_DIAG_BY_FAMILY,
		.nlh.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		.req.diag_family = AF_SMC,
		.req.diag_ext = 1 << (SMC_DIAG_FALLBACK - 1),
	};
	int fd = netlink_socket(NETLINK_SOCK_DIAG);
	static char room[1 << 16];
	bool found = false, done = false;
	struct stat st;

	if (fstat(sock, &st) < 0 || send(fd, &msg, sizeof(msg), 0) < 0)
		give_up("sock_diag");
	while (!done) {
		ssize_t n = recv(fd, room, sizeof(room), 0);

		if (n < 0)
			give_up("no answer from sock_diag");
		for (struct nlmsghdr *nlh = (void *)room; NLMSG_OK(nlh, (size_t)n);
		     nlh = NLMSG_NEXT(nlh, n)) {
			done |= nlh->nlmsg_type == NLMSG_DONE || nlh->nlmsg_type == NLMSG_ERROR;
			found |= nlh->nlmsg_type == SOCK_DIAG_BY_FAMILY &&
				 is_inode(nlh, st.st_ino, d);
		}
	}
	close(fd);
	return found;
}
