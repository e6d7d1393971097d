// SPDX-License-Identifier: GPL-2.0
/*
 * A dump misses connections that begin and end between two dumps. So this also listens to the
 * kernel's notifications of ended connections (SKNLGRP_INET_TCP_DESTROY), which have their final
 * counters.
 */
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "complain.h"
#include "interrupt.h"
#include "tcp_watch.h"

#define EVENT_BUFFER	(8 << 20)

/* TCP states of the kernel; no UAPI header defines them. */
enum {
	STATE_ESTABLISHED = 1, STATE_SYN_SENT, STATE_SYN_RECV, STATE_FIN_WAIT1, STATE_FIN_WAIT2,
	STATE_TIME_WAIT, STATE_CLOSE, STATE_CLOSE_WAIT, STATE_LAST_ACK, STATE_LISTEN,
	STATE_CLOSING,
};

#define CONNECTED ((1u << STATE_ESTABLISHED) | (1u << STATE_FIN_WAIT1) | (1u << STATE_FIN_WAIT2) | \
		   (1u << STATE_CLOSE_WAIT) | (1u << STATE_LAST_ACK) | (1u << STATE_CLOSING))

struct source {
	struct tcp_watch *watch;
	bool first;		/* first dump: these connections existed before the watch */
	bool ends;		/* notifications: these connections have ended */
	bool done;
	int error;
};

static size_t slot_of(const struct tcp_watch *watch, const struct inet_diag_sockid *id)
{
	uint64_t cookie = (uint64_t)id->idiag_cookie[1] << 32 | id->idiag_cookie[0];

	return (cookie * 0x9e3779b97f4a7c15ull >> 20) & (watch->slots - 1);
}

static void grow_index(struct tcp_watch *watch)
{
	size_t i, slot;

	free(watch->index);
	watch->slots = watch->slots ? 4 * watch->slots : 1024;
	watch->index = calloc(watch->slots, sizeof(*watch->index));
	if (!watch->index)
		no_memory();
	for (i = 0; i < watch->conns.count; i++) {
		const struct tcp_conn *c = array_item(&watch->conns, i);

		for (slot = slot_of(watch, &c->id); watch->index[slot];
		     slot = (slot + 1) & (watch->slots - 1))
			;
		watch->index[slot] = i + 1;
	}
}

struct tcp_conn *tcp_watch_find(struct tcp_watch *watch, const struct inet_diag_sockid *id)
{
	struct tcp_conn *c;
	size_t slot;

	if (2 * watch->conns.count >= watch->slots)
		grow_index(watch);
	for (slot = slot_of(watch, id); watch->index[slot];
	     slot = (slot + 1) & (watch->slots - 1)) {
		c = array_item(&watch->conns, watch->index[slot] - 1);
		if (!memcmp(c->id.idiag_cookie, id->idiag_cookie, sizeof(id->idiag_cookie)))
			return c;
	}
	if (!watch->conns.size)
		watch->conns.size = sizeof(*c);
	c = array_add(&watch->conns);
	c->id = *id;
	watch->index[slot] = watch->conns.count;
	return c;
}

static void take_counters(struct tcp_conn *c, const struct source *source, struct nlattr *nla)
{
	tcp_counters(nla_data(nla), nla_len(nla), &c->now);
	if (source->first)
		c->before = c->now;
}

static void take_port(struct tcp_watch *watch, const struct inet_diag_msg *msg)
{
	if (!watch->ports.size)
		watch->ports.size = sizeof(uint16_t);
	*(uint16_t *)array_add(&watch->ports) = msg->id.idiag_sport;
}

static int on_socket(struct nl_msg *message, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(message);
	struct inet_diag_msg *msg = nlmsg_data(nlh);
	struct source *source = arg;
	struct tcp_conn *c;
	struct nlattr *nla;
	int left;

	if (nlh->nlmsg_type != SOCK_DIAG_BY_FAMILY || nlmsg_datalen(nlh) < (int)sizeof(*msg))
		return NL_SKIP;
	if (msg->idiag_state == STATE_LISTEN) {
		take_port(source->watch, msg);
		return NL_OK;
	}
	if (!msg->id.idiag_dport)	/* never connected */
		return NL_OK;
	nlmsg_for_each_attr(nla, nlh, sizeof(*msg), left) {
		if (nla_type(nla) != INET_DIAG_INFO)
			continue;
		c = tcp_watch_find(source->watch, &msg->id);
		c->family = msg->idiag_family;
		c->ended |= source->ends;
		take_counters(c, source, nla);
	}
	return NL_OK;
}

static int on_finish(struct nl_msg *msg, void *arg)
{
	((struct source *)arg)->done = true;
	return NL_STOP;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	struct source *source = arg;

	source->error = -err->error;
	source->done = true;
	return NL_STOP;
}

static struct nl_sock *open_source(struct source *source)
{
	struct nl_sock *sk = nl_socket_alloc();

	if (!sk)
		no_memory();
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on_socket, source);
	nl_socket_modify_cb(sk, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, source);
	nl_socket_modify_err_cb(sk, NL_CB_CUSTOM, on_error, source);
	nl_socket_disable_seq_check(sk);
	if (nl_connect(sk, NETLINK_SOCK_DIAG) < 0) {
		complain("this kernel has no sock_diag");
		nl_socket_free(sk);
		return NULL;
	}
	return sk;
}

static int dump_family(struct source *source, uint8_t family)
{
	struct inet_diag_req_v2 req = {
		.sdiag_family = family, .sdiag_protocol = IPPROTO_TCP,
		.idiag_ext = 1 << (INET_DIAG_INFO - 1),
		.idiag_states = CONNECTED | 1u << STATE_LISTEN,
	};
	struct nl_sock *sk = open_source(source);
	int ret;

	if (!sk)
		return EXIT_REFUSED;
	source->done = false;
	ret = nl_send_simple(sk, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &req, sizeof(req));
	while (ret >= 0 && !source->done) {
		ret = nl_recvmsgs_default(sk);
		/* Connections that this dump lacks have ended, or come with the next one. */
		if (ret == -NLE_DUMP_INTR)
			ret = 0;
	}
	nl_socket_free(sk);
	if (source->error == ENOENT)
		return complain("the kernel cannot list TCP connections: tcp_diag is not loaded (as root: modprobe tcp_diag)");
	if (ret < 0 || source->error)
		return complain("the kernel does not list TCP connections: %s", source->error ?
				strerror(source->error) : nl_geterror(ret));
	return 0;
}

static int dump(struct tcp_watch *watch, bool first)
{
	struct source source = { .watch = watch, .first = first };
	int status = dump_family(&source, AF_INET);

	return status ? status : dump_family(&source, AF_INET6);
}

/* ---- the watch ----------------------------------------------------------------- */

static struct nl_sock *open_events(struct source *source)
{
	struct nl_sock *sk = open_source(source);

	if (!sk)
		return NULL;
	nl_socket_set_nonblocking(sk);
	/* without root, the first is limited and the second refused */
	nl_socket_set_buffer_size(sk, EVENT_BUFFER, 0);
	if (nl_socket_add_memberships(sk, SKNLGRP_INET_TCP_DESTROY, SKNLGRP_INET6_TCP_DESTROY,
				      0) < 0)
		source->watch->no_ends = true;
	return sk;
}

static void read_events(struct nl_sock *sk, struct tcp_watch *watch)
{
	int ret;

	do {
		errno = 0;
		ret = nl_recvmsgs_default(sk);
		if (ret == -NLE_NOMEM)
			watch->lost = true;
	} while (ret >= 0 || ret == -NLE_NOMEM);
}

/* Notifications come from a work item of the kernel, with some delay: wait a limited time. */
static void read_late_events(struct nl_sock *sk, struct tcp_watch *watch)
{
	struct pollfd fd = { nl_socket_get_fd(sk), POLLIN, 0 };

	for (int i = 0; i < 10 && poll(&fd, 1, 100) > 0; i++)
		read_events(sk, watch);
}

int tcp_watch_run(struct tcp_watch *watch, double seconds)
{
	struct source events = { .watch = watch, .ends = true };
	struct nl_sock *sk = open_events(&events);
	double begin = interrupt_clock(), end = begin + seconds;
	int status;

	if (!sk)
		return EXIT_REFUSED;
	interrupt_catch();
	status = dump(watch, true);
	while (!status && !interrupted() && interrupt_clock() < end)
		if (interrupt_wait(nl_socket_get_fd(sk), end))
			read_events(sk, watch);
	watch->seconds = interrupt_clock() - begin;
	if (!status) {
		watch->ports.count = 0;
		status = dump(watch, false);
	}
	read_late_events(sk, watch);	/* of connections that ended during the dump */
	nl_socket_free(sk);
	return status;
}

void tcp_watch_free(struct tcp_watch *watch)
{
	array_free(&watch->conns);
	array_free(&watch->ports);
	free(watch->index);
}
