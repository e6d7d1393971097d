// SPDX-License-Identifier: GPL-2.0
/* Ask the kernel for its SMC sockets, by sock_diag over libnl. */
#include <errno.h>
#include <linux/sock_diag.h>
#include <netlink/netlink.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "smc_socket.h"
#include "sock_record.h"

struct query {
	struct records *records;
	int error;		/* errno, from the kernel or from this program */
	bool done;
};

/* Older or newer kernels may send fewer or more bytes than our structure has. */
static void take(struct record *r, struct nlattr *nla, void *to, size_t size)
{
	size_t len = nla_len(nla);

	memset(to, 0, size);
	memcpy(to, nla_data(nla), len < size ? len : size);
	r->has |= record_bit(nla_type(nla));
}

static void take_attributes(struct record *r, struct nlmsghdr *nlh)
{
	struct nlattr *nla;
	int left;

	nlmsg_for_each_attr(nla, nlh, sizeof(r->msg), left) {
		switch (nla_type(nla)) {
		case SMC_DIAG_CONNINFO:
			take(r, nla, &r->conn, sizeof(r->conn));
			break;
		case SMC_DIAG_LGRINFO:
			take(r, nla, &r->lgr, sizeof(r->lgr));
			break;
		case SMC_DIAG_LGRID:
			take(r, nla, &r->lgr_id, sizeof(r->lgr_id));
			break;
		case SMC_DIAG_SHUTDOWN:
			take(r, nla, &r->shutdown, sizeof(r->shutdown));
			break;
		case SMC_DIAG_DMBINFO:
			take(r, nla, &r->dmb, sizeof(r->dmb));
			break;
		case SMC_DIAG_FALLBACK:
			take(r, nla, &r->fallback, sizeof(r->fallback));
			break;
		}
	}
}

static int on_socket(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct query *query = arg;
	struct records *records = query->records;
	struct record *r;

	if (nlh->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    nlmsg_datalen(nlh) < (int)sizeof(r->msg))
		return NL_SKIP;
	if (records->count == records->room) {
		size_t room = records->room ? 2 * records->room : 256;
		struct record *list = realloc(records->list, room * sizeof(*list));

		if (!list) {
			query->error = ENOMEM;
			return NL_STOP;
		}
		records->list = list;
		records->room = room;
	}
	r = &records->list[records->count++];
	memset(r, 0, sizeof(*r));
	memcpy(&r->msg, nlmsg_data(nlh), sizeof(r->msg));
	take_attributes(r, nlh);
	return NL_OK;
}

static int on_finish(struct nl_msg *msg, void *arg)
{
	struct query *query = arg;
	struct nlmsghdr *nlh = nlmsg_hdr(msg);

	/* a dump that failed halfway reports the error in its last message */
	if (nlmsg_datalen(nlh) >= (int)sizeof(int)) {
		int error;

		memcpy(&error, nlmsg_data(nlh), sizeof(error));
		if (error < 0)
			query->error = -error;
	}
	query->done = true;
	return NL_STOP;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	struct query *query = arg;

	query->error = -err->error;
	query->done = true;
	return NL_STOP;
}

static int dump(struct nl_sock *sk, uint8_t ask, struct query *query)
{
	struct smc_diag_req req = { .diag_family = AF_SMC, .diag_ext = ask };
	int ret;

	ret = nl_send_simple(sk, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &req, sizeof(req));
	while (ret >= 0 && !query->done && !query->error)
		ret = nl_recvmsgs_default(sk);
	return ret;
}

/* Returns 0, or -1 with the reason on standard error. */
int query(uint8_t ask, struct records *records)
{
	struct query query = { .records = records };
	struct nl_sock *sk = nl_socket_alloc();
	int tries = 5;
	int ret;

	if (!sk) {
		complain("out of memory");
		return -1;
	}
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on_socket, &query);
	nl_socket_modify_cb(sk, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, &query);
	nl_socket_modify_err_cb(sk, NL_CB_CUSTOM, on_error, &query);
	nl_socket_disable_seq_check(sk);	/* messages of an interrupted dump may remain */
	ret = nl_connect(sk, NETLINK_SOCK_DIAG);
	if (ret < 0) {
		complain("this kernel has no sock_diag: %s", nl_geterror(ret));
		goto out;
	}
	do {
		/* if sockets came or went during the dump, the list may be incomplete: repeat */
		records->count = 0;
		query.done = false;
		ret = dump(sk, ask, &query);
	} while (ret == -NLE_DUMP_INTR && --tries);

	if (query.error == ENOENT) {
		complain("the kernel cannot list SMC sockets: smc_diag is not loaded (as root: modprobe smc_diag)");
		ret = -1;
	} else if (query.error) {
		complain("the kernel refused to list its SMC sockets: %s",
			 strerror(query.error));
		ret = -1;
	} else if (ret == -NLE_DUMP_INTR) {
		complain("note: sockets came and went during the listing, which may be incomplete");
		ret = 0;
	} else if (ret < 0) {
		complain("cannot read the list of SMC sockets: %s",
			 nl_geterror(ret));
	}
out:
	nl_socket_free(sk);
	return ret < 0 ? -1 : 0;
}
