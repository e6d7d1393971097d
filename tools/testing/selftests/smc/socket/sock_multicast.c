// SPDX-License-Identifier: GPL-2.0
/* The membership of a socket in a multicast group. */
#include <arpa/inet.h>

#include "parameter.h"
#include "role.h"

/* May no socket outlive its file? Only test builds have this limit as a module parameter. */
static bool no_orphans(void)
{
	long n;

	return get_parameter("max_orphans", &n) && !n;
}

/*
 * Closed while connecting, and with a connection, by a member of a multicast group: the membership
 * ends before close() does, because the end of a membership waits for RTNL. Without orphans,
 * close() ends TCP at once, which resets the connection if the Accept is still unread.
 */
static void close_member_server(void)
{
	int l = serve();
	char last = 0;

	/* It is random how many of the others TCP established before they were closed. */
	while (!last) {
		int fd = X(accept(l, NULL, NULL));

		CHECK(recv(fd, &last, 1, 0) >= 0 || (errno == ECONNRESET && no_orphans()));
		X(close(fd));
	}
	barrier("ended");
}

static void join_group(int fd)
{
	struct group_req group = { .gr_interface = 1 };
	struct sockaddr_in *in = (void *)&group.gr_group;
	struct sockaddr_in6 *in6 = (void *)&group.gr_group;

	if (me.var->ipv6) {
		in6->sin6_family = AF_INET6;
		CHECK(inet_pton(AF_INET6, "ff15::1234", &in6->sin6_addr) == 1);
	} else {
		in->sin_family = AF_INET;
		in->sin_addr.s_addr = htonl(0xef010203);
	}
	X(setsockopt(fd, me.var->ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, MCAST_JOIN_GROUP, &group,
		     sizeof(group)));
}

/* Is any socket in this network namespace a member? */
static bool is_member(void)
{
	FILE *file = fopen(me.var->ipv6 ? "/proc/net/igmp6" : "/proc/net/igmp", "r");
	char line[200], group[40] = "ff150000000000000000000000001234";
	bool found = false;

	CHECK(file);
	/* The file prints the address as a number in host byte order. */
	if (!me.var->ipv6)
		snprintf(group, sizeof(group), "%08X", htonl(0xef010203));
	while (fgets(line, sizeof(line), file))
		found |= !!strstr(line, group);
	fclose(file);
	return found;
}

static void close_member_client(void)
{
	int port = ctl_get();

	for (int i = 0; i < 20; i++) {
		struct addr to = loopback(port);
		int fd = make_socket(SOCK_NONBLOCK);

		join_group(fd);
		CHECK(is_member());
		if (connect(fd, &to.sa, to.len))
			CHECK(errno == EINPROGRESS);
		X(close(fd));
		CHECK(!is_member());
	}
	for (int i = 0; i < 3; i++) {
		int fd = connect_to(port, 0);

		join_group(fd);
		X(send(fd, "", 1, 0));
		X(close(fd));
		CHECK(!is_member());
	}
	X(send(connect_to(port, 0), "!", 1, 0));
	barrier("ended");
}

const struct test_case multicast_cases[] = {
	CASE(close_member, 0, "close() of a multicast member ends its membership"),
	{ 0 }
};
