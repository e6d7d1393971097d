// SPDX-License-Identifier: GPL-2.0
/* smc_input_test: requests to sock_diag for SMC sockets. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/netlink.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "input.h"

#define SMC_FAMILY	43	/* AF_SMC */

struct request {
	struct nlmsghdr nlh;
	struct smc_diag_req req;
	uint8_t rest[256];
};

/* The errno, or -1 without an answer; the number of sockets returned. */
static int asked(struct request *r, size_t len, unsigned int *sockets)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG), error = -1;
	char room[1 << 16];
	ssize_t n;

	*sockets = 0;
	if (fd < 0 || send(fd, r, len, 0) != (ssize_t)len)
		wrong("sock_diag refuses the request: %s", error_name(errno));
	while ((n = recv(fd, room, sizeof(room), MSG_DONTWAIT)) > 0)
		for (struct nlmsghdr *nlh = (void *)room; NLMSG_OK(nlh, (size_t)n);
		     nlh = NLMSG_NEXT(nlh, n)) {
			*sockets += nlh->nlmsg_type == SOCK_DIAG_BY_FAMILY;
			if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE)
				error = -*(int *)NLMSG_DATA(nlh);
		}
	close(fd);
	return error;
}

static struct request valid(void)
{
	return (struct request){
		.nlh.nlmsg_len = NLMSG_LENGTH(sizeof(struct smc_diag_req)),
		.nlh.nlmsg_type = SOCK_DIAG_BY_FAMILY,
		.nlh.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP | NLM_F_ACK,
		.req.diag_family = SMC_FAMILY,
		.req.diag_ext = SURFACE_DIAG_EXTS,
	};
}

static void refused(struct request *r, size_t len, int error, const char *what)
{
	unsigned int sockets;
	int got = asked(r, len, &sockets);

	if (got != error || sockets)
		wrong("%s (%zu bytes): %d %s, %u sockets", what, len, got, error_name(got > 0 ? got : 0),
		      sockets);
}

static void bad_requests(const void *arg)
{
	static const uint16_t types[] = { SOCK_DESTROY, 22, 0x7fff };
	static const int errors[] = { EOPNOTSUPP, EINVAL, EINVAL };
	static const uint8_t nobodys[] = { AF_SMC + 1, AF_MAX, 255 };
	struct request r = valid();

	for (size_t len = NLMSG_HDRLEN; len < r.nlh.nlmsg_len; len++) {
		struct request cut = r;

		cut.nlh.nlmsg_len = len;
		refused(&cut, len, EINVAL, "too short");
	}
	r.nlh.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	refused(&r, r.nlh.nlmsg_len, EOPNOTSUPP, "not a dump");
	for (size_t i = 0; i < ARRAY(types); i++) {
		r = valid();
		r.nlh.nlmsg_type = types[i];
		refused(&r, r.nlh.nlmsg_len, errors[i], "of another type");
	}
	for (size_t i = 0; i < ARRAY(nobodys); i++) {
		r = valid();
		r.req.diag_family = nobodys[i];
		refused(&r, r.nlh.nlmsg_len, nobodys[i] >= AF_MAX ? EINVAL : ENOENT, "of another family");
	}
	r = valid();
	r.nlh.nlmsg_len++;
	refused(&r, r.nlh.nlmsg_len - 1, -1, "longer than the data sent");
}

/* Any bit of diag_ext, any id, and data behind the request are no errors: there is one answer. */
static void odd_requests(const void *arg)
{
	int fd = socket(AF_INET, SOCK_STREAM, 256);
	unsigned int sockets, all;
	struct request r = valid();

	if (asked(&r, r.nlh.nlmsg_len, &all) || !all)
		wrong("a valid request lists %u sockets", all);
	for (int ext = 0; ext < 256; ext++) {
		r.req.diag_ext = ext;
		memset(&r.req.id, ext, sizeof(r.req.id));
		memset(r.req.pad, ext, sizeof(r.req.pad));
		memset(r.rest, ext, sizeof(r.rest));
		for (size_t more = 0; more < 12; more++) {
			r.nlh.nlmsg_len = NLMSG_LENGTH(sizeof(r.req)) + more;
			if (asked(&r, r.nlh.nlmsg_len, &sockets) || sockets != all)
				wrong("diag_ext %#x and %zu bytes: %u sockets, not %u", ext, more, sockets, all);
		}
	}
	close(fd);
}

void input_diag(void)
{
	play("diag refused", bad_requests, NULL);
	play("diag odd", odd_requests, NULL);
}
