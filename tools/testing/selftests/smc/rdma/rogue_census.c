// SPDX-License-Identifier: GPL-2.0
/* What the victim's RDMA device holds, queried from the kernel over netlink. */
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "rogue.h"

static int fd = -1;
static uint32_t device_index;		/* the device that is queried */
static struct {
	const char *name;
	uint32_t index;
} devices[2];
static unsigned int n_devices;

struct request {
	struct nlmsghdr nlh;
	struct nlattr nla;
	uint32_t value;
};

static ssize_t ask(uint16_t op, uint16_t flags, bool with_index, char *room, size_t len)
{
	struct request r = {
		.nlh = { .nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op),
			 .nlmsg_flags = NLM_F_REQUEST | flags, .nlmsg_seq = 1,
			 .nlmsg_len = with_index ? sizeof(r) : sizeof(r.nlh) },
		.nla = { .nla_len = NLA_HDRLEN + 4, .nla_type = RDMA_NLDEV_ATTR_DEV_INDEX },
		.value = device_index,
	};
	ssize_t n;

	if (send(fd, &r, r.nlh.nlmsg_len, 0) < 0 || (n = recv(fd, room, len, 0)) < 0)
		give_up("RDMA netlink");
	return n;
}

/* Returns the attribute, or NULL, and its length in *@room. */
static const char *attr(const char *attrs, size_t len, uint16_t type, size_t *room)
{
	while (len >= NLA_HDRLEN) {
		const struct nlattr *a = (const void *)attrs;
		size_t whole = NLA_ALIGN(a->nla_len);

		if (a->nla_len < NLA_HDRLEN || a->nla_len > len)
			break;
		if ((a->nla_type & NLA_TYPE_MASK) == type) {
			*room = a->nla_len - NLA_HDRLEN;
			return attrs + NLA_HDRLEN;
		}
		if (whole >= len)
			break;
		attrs += whole;
		len -= whole;
	}
	return NULL;
}

static void look_for(const struct nlmsghdr *nlh, const char *name)
{
	size_t len = nlh->nlmsg_len - NLMSG_HDRLEN, n;
	const char *data = (const char *)NLMSG_DATA(nlh);
	const char *text = attr(data, len, RDMA_NLDEV_ATTR_DEV_NAME, &n);
	const char *index = attr(data, len, RDMA_NLDEV_ATTR_DEV_INDEX, &n);

	if (text && index && !strcmp(text, name))
		memcpy(&device_index, index, 4);
}

void census_open(const char *device)
{
	static char room[16384];
	struct timeval tv = { .tv_sec = slow(20) };
	unsigned int i;
	ssize_t n;

	device_index = UINT32_MAX;
	if (fd >= 0)
		close(fd);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	if (fd < 0)
		give_up("no RDMA netlink");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	n = ask(RDMA_NLDEV_CMD_GET, NLM_F_DUMP, false, room, sizeof(room));
	for (bool done = false; !done; n = done ? 0 : recv(fd, room, sizeof(room), 0)) {
		if (n <= 0)
			give_up("RDMA netlink");
		for (struct nlmsghdr *nlh = (void *)room; NLMSG_OK(nlh, (size_t)n);
		     nlh = NLMSG_NEXT(nlh, n)) {
			done |= nlh->nlmsg_type == NLMSG_DONE || nlh->nlmsg_type == NLMSG_ERROR;
			if (!done)
				look_for(nlh, device);
		}
	}
	if (device_index == UINT32_MAX)
		give_up("no RDMA device %s", device);
	for (i = 0; i < n_devices && strcmp(devices[i].name, device); i++)
		;
	n_devices += i == n_devices;
	devices[i].name = device;
	devices[i].index = device_index;
}

static void count(struct census *c, const char *entry, size_t len)
{
	size_t n;
	const char *name = attr(entry, len, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, &n);
	const char *value = attr(entry, len, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, &n);
	uint64_t v;

	if (!name || !value)
		return;
	memcpy(&v, value, sizeof(v));
	if (!strcmp(name, "qp"))
		c->qp += v;
	else if (!strcmp(name, "cq"))
		c->cq += v;
	else if (!strcmp(name, "mr"))
		c->mr += v;
	else if (!strcmp(name, "pd"))
		c->pd += v;
}

static void take(struct census *c)
{
	static char room[16384];
	ssize_t n = ask(RDMA_NLDEV_CMD_RES_GET, 0, true, room, sizeof(room));
	struct nlmsghdr *nlh = (void *)room;
	const char *summary;
	size_t len;

	if (!NLMSG_OK(nlh, (size_t)n) || nlh->nlmsg_type == NLMSG_ERROR)
		give_up("the device has gone");
	summary = attr(NLMSG_DATA(nlh), nlh->nlmsg_len - NLMSG_HDRLEN,
		       RDMA_NLDEV_ATTR_RES_SUMMARY, &len);
	while (summary && len >= NLA_HDRLEN) {
		const struct nlattr *a = (const void *)summary;
		size_t whole = NLA_ALIGN(a->nla_len);

		count(c, summary + NLA_HDRLEN, a->nla_len - NLA_HDRLEN);
		if (whole >= len)
			break;
		summary += whole;
		len -= whole;
	}
}

void census_take(struct census *c)
{
	memset(c, 0, sizeof(*c));
	for (unsigned int i = 0; i < n_devices; i++) {
		device_index = devices[i].index;
		take(c);
	}
}

/* Shows which tasks are inside the module. */
static void show_stacks(void)
{
	fflush(stdout);
	if (system("for t in /proc/[0-9]*; do grep -q '\\[smc\\]' $t/stack 2> /dev/null && "
		   "sed \"s|^|# $(cat $t/comm): |\" $t/stack; done; rdma res show qp | sed 's/^/# /'"))
		printf("# cannot show the stacks\n");
}

bool census_back_to(const struct census *c)
{
	time_t until = time(NULL) + WAIT_MS / 1000;
	struct census now;

	do {
		census_take(&now);
		if (!memcmp(&now, c, sizeof(now)))
			return true;
		usleep(2000);
	} while (time(NULL) < until);
	show_stacks();
	return BAD("the victim's device has %d queue pairs, %d memory regions, %d PDs too many",
		   (int)(now.qp - c->qp), (int)(now.mr - c->mr), (int)(now.pd - c->pd));
}

bool census_qps(uint64_t n)
{
	long until = now_ms() + WAIT_MS;
	struct census now;

	do {
		census_take(&now);
		if (now.qp == n && now.pd == n)
			return true;
		usleep(2000);
	} while (now_ms() < until);
	return BAD("the victim has %d queue pairs instead of %d", (int)now.qp, (int)n);
}
