// SPDX-License-Identifier: GPL-2.0
/*
 * Options about packets. Set before the connection, they keep it on TCP, which honours them; set on
 * an SMC connection, they fail.
 */
#include <linux/filter.h>
#include <linux/in6.h>
#include <linux/ipsec.h>
#include <linux/smc_reason.h>
#include <linux/tcp.h>
#include <linux/xfrm.h>
#include <net/if.h>
#include <sys/wait.h>

#include "role.h"
#include "sol_socket.h"

static int attach(int fd, unsigned int returns)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, returns) };
	struct sock_fprog prog = { 1, code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
}

static int attach_bpf(int fd, unsigned int returns)
{
	int prog = bpf_returns(BPF_PROG_TYPE_SOCKET_FILTER, returns);
	int rc = setsockopt(fd, SOL_SOCKET, SO_ATTACH_BPF, &prog, sizeof(prog)), err = errno;

	close(prog);
	errno = err;
	return rc;
}

static int detach(int fd)
{
	return set_int(fd, SOL_SOCKET, SO_DETACH_FILTER, 0);
}

static int ip_options(int fd, int len)
{
	static const unsigned char nop[4] = { 1, 1, 1, 0 }, pad[8] = { 0, 0, 1, 4 };

	if (me.var->ipv6)
		return setsockopt(fd, IPPROTO_IPV6, IPV6_DSTOPTS, pad, len ? 8 : 0);
	return setsockopt(fd, IPPROTO_IP, IP_OPTIONS, nop, len ? 4 : 0);
}

/* ---- before the connection ---- */

struct before {
	void (*set)(int fd);
	void (*unset)(int fd);
};

static void listen_and_tell(int l)
{
	struct addr a = loopback(0);

	X(bind(l, &a.sa, a.len));
	X(listen(l, 5));
	tell_port(l);
}

/* TCP, and because of this end's option if it is an SMC socket. */
static void check_kept(int fd, bool ours)
{
	if (me.any_mode || me.kind.protocol == IPPROTO_TCP)
		return;
	AWAIT(smc_mode(fd) != MODE_UNDECIDED);
	CHECK(smc_mode(fd) == MODE_TCP);
	if (ours && smc_reason(fd) != SMC_REASON_PACKET_OPTION)
		die("the reason is 0x%08x", smc_reason(fd));
}

/* First the client has the option, then the listener, then none of them any more. */
static void before_server(const struct before *b)
{
	int l = make_socket(0), fd;

	listen_and_tell(l);
	fd = X(accept(l, NULL, NULL));
	check_kept(fd, false);
	ping_pong(fd);
	b->set(l);
	barrier("set");
	fd = X(accept(l, NULL, NULL));
	check_kept(fd, true);
	ping_pong(fd);
	b->unset(l);
	barrier("unset");
	fd = accept_one(l);
	ping_pong(fd);
	barrier("done");
}

static void before_client(const struct before *b)
{
	struct addr a = loopback(ctl_get());
	int fd = make_socket(0);

	b->set(fd);
	X(connect(fd, &a.sa, a.len));
	check_kept(fd, true);
	ping_pong(fd);
	barrier("set");
	fd = make_socket(0);
	X(connect(fd, &a.sa, a.len));
	check_kept(fd, false);
	ping_pong(fd);
	barrier("unset");
	fd = make_socket(0);
	b->set(fd);
	b->unset(fd);
	X(connect(fd, &a.sa, a.len));
	check_mode(fd);
	ping_pong(fd);
	barrier("done");
}

static void before(const struct before *b)
{
	if (me.is_server)
		before_server(b);
	else
		before_client(b);
}

static void filter_on(int fd)
{
	R(attach(fd, -1));
}

static void bpf_filter_on(int fd)
{
	R(attach_bpf(fd, -1));
}

static void filter_off(int fd)
{
	R(detach(fd));
}

static void filter_before(void)
{
	before(&(struct before){ filter_on, filter_off });
}

static void bpf_filter_before(void)
{
	before(&(struct before){ bpf_filter_on, filter_off });
}

static void pacing_on(int fd)
{
	R(set_int(fd, SOL_SOCKET, SO_MAX_PACING_RATE, 10000000));
}

static void pacing_off(int fd)
{
	R(set_int(fd, SOL_SOCKET, SO_MAX_PACING_RATE, -1));
}

static void pacing_before(void)
{
	before(&(struct before){ pacing_on, pacing_off });
}

static void ip_options_on(int fd)
{
	R(ip_options(fd, 1));
}

static void ip_options_off(int fd)
{
	R(ip_options(fd, 0));
}

static void ip_options_before(void)
{
	before(&(struct before){ ip_options_on, ip_options_off });
}

/* ---- IPv6's headers, each of which keeps a client on TCP ---- */

static const int headers[] = { IPV6_HOPOPTS, IPV6_DSTOPTS, IPV6_2292PKTOPTIONS };

static long set_header(int fd, int option)
{
	static const char pad[8] = { 0, 0, 1, 4 };
	char ctl[CMSG_SPACE(sizeof(pad))] = "";
	struct cmsghdr *cm = (void *)ctl;

	if (option != IPV6_2292PKTOPTIONS)
		return setsockopt(fd, IPPROTO_IPV6, option, pad, sizeof(pad));
	cm->cmsg_len = CMSG_LEN(sizeof(pad));
	cm->cmsg_level = IPPROTO_IPV6;
	cm->cmsg_type = IPV6_2292DSTOPTS;
	memcpy(CMSG_DATA(cm), pad, sizeof(pad));
	return setsockopt(fd, IPPROTO_IPV6, option, ctl, sizeof(ctl));
}

static void headers_before_server(void)
{
	int l = serve();

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		int fd = X(accept(l, NULL, NULL));

		check_kept(fd, false);
		ping_pong(fd);
		close(fd);
	}
}

static void headers_before_client(void)
{
	struct addr a = loopback(ctl_get());

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		int fd = make_socket(0);

		R(set_header(fd, headers[i]));
		X(connect(fd, &a.sa, a.len));
		check_kept(fd, true);
		ping_pong(fd);
		close(fd);
	}
}

static void tx_delay_on(int fd)
{
	R(set_int(fd, IPPROTO_TCP, TCP_TX_DELAY, 1));
}

static void tx_delay_off(int fd)
{
	R(set_int(fd, IPPROTO_TCP, TCP_TX_DELAY, 0));
}

static void tx_delay_before(void)
{
	before(&(struct before){ tx_delay_on, tx_delay_off });
}

/* ---- on a connection ---- */

/* TCP does what it is told; SMC refuses. Returns true if the option was set. */
static bool too_late(int fd, long rc, const char *what)
{
	if (rc < 0 && errno != EOPNOTSUPP && errno != late_filter_errno())
		die("%s: %s", what, err_name(errno));
	if (me.any_mode || (rc < 0) == (smc_mode(fd) != MODE_TCP))
		return rc >= 0;
	die("%s %s", what, rc < 0 ? "failed" : "was accepted");
}

#define LATE(fd, call)	({ errno = 0; too_late(fd, (call), #call); })

static void no_mistake_hidden(int fd)
{
	struct sock_fprog none = { 0, NULL };

	R(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &none, sizeof(none)));
	R(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &none, 3));
	R(set_int(fd, SOL_SOCKET, SO_ATTACH_BPF, 999));
	R(setsockopt(fd, SOL_SOCKET, SO_ATTACH_BPF, NULL, 4));
	R(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "none-such", 9));
	R(set_int(fd, SOL_SOCKET, SO_BINDTOIFINDEX, -1));
	R(setsockopt(fd, IPPROTO_IP, IP_OPTIONS, "\1\1", 41));
	R(set_int(fd, IPPROTO_IP, IP_MINTTL, 256));
}

static void filter_locked(int fd)
{
	R(set_int(fd, SOL_SOCKET, SO_LOCK_FILTER, 1));
	R(attach(fd, 0));
	R(attach_bpf(fd, 0));
	R(detach(fd));
	R(set_int(fd, SOL_SOCKET, SO_LOCK_FILTER, 0));
}

/* Neither end's filter ever sees the data of SMC, so it must not be there. */
static void filter_late(void)
{
	int fd = pair();

	if (LATE(fd, attach(fd, 0)))
		X(detach(fd));
	if (LATE(fd, attach_bpf(fd, 0)))
		X(detach(fd));
	if (LATE(fd, attach(fd, -1)))
		X(detach(fd));
	if (sol_socket_seen()) {
		R(detach(fd));
		no_mistake_hidden(fd);
		filter_locked(fd);
	}
	barrier("tried");
	ping_pong(fd);
	barrier("done");
}

/* An int that TCP accepts, and the value that undoes it, which even SMC accepts. */
static const struct {
	int level, opt, value, undo, family;
} late_ints[] = {
	{ SOL_SOCKET, SO_MARK, 7, 0, 0 },
	{ SOL_SOCKET, SO_BINDTOIFINDEX, 1, 0, 0 },
	{ SOL_SOCKET, SO_DONTROUTE, 1, 0, 0 },
	{ SOL_SOCKET, SO_MAX_PACING_RATE, 10000000, -1, 0 },
	{ IPPROTO_TCP, TCP_TX_DELAY, 1, 0, 0 },
	{ IPPROTO_IP, IP_MINTTL, 2, 0, 0 },
	{ IPPROTO_IPV6, IPV6_MINHOPCOUNT, 2, 0, 6 },
};

static void packets_late(void)
{
	int fd = pair();

	for (size_t i = 0; i < sizeof(late_ints) / sizeof(late_ints[0]); i++) {
		int level = late_ints[i].level, opt = late_ints[i].opt;

		if ((late_ints[i].family == 6 && !me.var->ipv6) ||
		    (level == SOL_SOCKET && !sol_socket_seen()))
			continue;
		rec("option %d/%d", level, opt);
		LATE(fd, set_int(fd, level, opt, late_ints[i].value));
		R(set_int(fd, level, opt, late_ints[i].undo));
		R(get_int(fd, level, opt));
	}
	if (sol_socket_seen() &&
	    LATE(fd, setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2)))
		X(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 0));
	R(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 0));
	LATE(fd, ip_options(fd, 1));
	R(ip_options(fd, 0));
	barrier("tried");
	ping_pong(fd);
	barrier("done");
}

/* In a process without privileges. The test in its parent goes on with the connection. */
static void unprivileged_late(int fd)
{
	pid_t pid = X(fork());
	int status;

	if (!pid) {
		X(setuid(65534));
		errno = 0;
		set_int(fd, IPPROTO_TCP, TCP_REPAIR, 1);
		_exit(errno);
	}
	X(waitpid(pid, &status, 0));
	rec("TCP_REPAIR without privileges: %s", err_name(WEXITSTATUS(status)));
}

/* TCP's errors come before the one that says that the option is too late. */
static void mistakes_late(void)
{
	static const int forms[] = { AF_UNSPEC, AF_INET6, 1000 };
	struct tcp_md5sig md5 = { 0 };
	int fd = pair();

	((struct sockaddr *)&md5.tcpm_addr)->sa_family = AF_INET;
	R(set_int(fd, IPPROTO_TCP, TCP_REPAIR, 0));
	R(set_int(fd, IPPROTO_TCP, TCP_REPAIR, -1));
	R(set_int(fd, IPPROTO_TCP, TCP_REPAIR, 7));
	R(setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, NULL, 4));
	R(setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &md5, 1));
	unprivileged_late(fd);
	R(setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG, &md5, 4));
	R(setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG, NULL, sizeof(md5)));
	if (!me.var->ipv6)
		R(setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG, &md5, sizeof(md5)));
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		R(set_int(fd, IPPROTO_IPV6, IPV6_ADDRFORM, forms[i]));
	R(setsockopt(fd, IPPROTO_IPV6, IPV6_ADDRFORM, NULL, 4));
	R(setsockopt(fd, IPPROTO_IPV6, IPV6_ADDRFORM, &md5, 1));
	if (!me.var->ipv6)
		R(set_int(fd, IPPROTO_IPV6, IPV6_ADDRFORM, AF_INET));
	barrier("tried");
	ping_pong(fd);
	barrier("done");
}

/* What was set before the connection may be set again, and not changed. */
static void bound_and_marked(int fd)
{
	R(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2));
	R(set_int(fd, SOL_SOCKET, SO_MARK, 7));
	R(set_int(fd, SOL_SOCKET, SO_DONTROUTE, 1));
	R(set_int(fd, IPPROTO_IP, IP_MINTTL, 2));
}

static void set_again(void)
{
	int fd = pair_with(bound_and_marked);

	bound_and_marked(fd);
	R(get_int(fd, SOL_SOCKET, SO_MARK));
	R(set_int(fd, SOL_SOCKET, SO_BINDTOIFINDEX, 1));
	if (sol_socket_seen() && LATE(fd, set_int(fd, SOL_SOCKET, SO_MARK, 0)))
		X(set_int(fd, SOL_SOCKET, SO_MARK, 7));
	if (sol_socket_seen() && LATE(fd, set_int(fd, SOL_SOCKET, SO_BINDTOIFINDEX, 0)))
		X(set_int(fd, SOL_SOCKET, SO_BINDTOIFINDEX, 1));
	if (sol_socket_seen() && LATE(fd, set_int(fd, SOL_SOCKET, SO_DONTROUTE, 0)))
		X(set_int(fd, SOL_SOCKET, SO_DONTROUTE, 1));
	barrier("tried");
	ping_pong(fd);
	barrier("done");
}

/* Labels for the packets that there are: as over TCP at any time. */
static void labels_late(void)
{
	int fd = pair();

	R(set_int(fd, SOL_SOCKET, SO_PRIORITY, 6));
	R(get_int(fd, SOL_SOCKET, SO_PRIORITY));
	R(set_int(fd, IPPROTO_IP, IP_TOS, 0x28));
	R(get_int(fd, IPPROTO_IP, IP_TOS));
	R(set_int(fd, IPPROTO_IP, IP_TTL, 9));
	R(get_int(fd, IPPROTO_IP, IP_TTL));
	R(set_int(fd, IPPROTO_IP, IP_TRANSPARENT, 1));
	R(get_int(fd, IPPROTO_IP, IP_TRANSPARENT));
	R(set_int(fd, IPPROTO_IPV6, IPV6_TCLASS, 0x28));
	R(get_int(fd, IPPROTO_IPV6, IPV6_TCLASS));
	check_mode(fd);
	ping_pong(fd);
	barrier("done");
}

/* ---- between the SYN and the child ---- */

/* The counter's place in the line of names is that of its value in the next line. */
static long dropped_by_min_ttl(void)
{
	char names[8192], values[8192], *value = values, *name;
	FILE *f = fopen("/proc/net/netstat", "r");

	CHECK(f && fgets(names, sizeof(names), f) && fgets(values, sizeof(values), f));
	fclose(f);
	for (name = strtok(names, " "); name; name = strtok(NULL, " ")) {
		if (!strcmp(name, "TCPMinTTLDrop"))
			return atol(value);
		value = strchr(value, ' ');
		CHECK(value++);
	}
	die("there is no TCPMinTTLDrop");
}

/*
 * The client does not accept the SYN-ACK yet. The listener, which has answered the option, gets a
 * filter, and the child inherits it.
 */
static void filter_after_syn_server(void)
{
	int l = make_socket(0), fd;

	listen_and_tell(l);
	barrier("answered");
	X(attach(l, -1));
	barrier("filter");
	fd = X(accept(l, NULL, NULL));
	check_kept(fd, me.var->smc);
	R(detach(fd));
	ping_pong(fd);
	barrier("done");
}

static void filter_after_syn_client(void)
{
	struct addr a = loopback(ctl_get());
	int fd = make_socket(0);
	long before = dropped_by_min_ttl();

	set_nonblock(fd, true);
	X(set_int(fd, IPPROTO_IP, IP_MINTTL, 255));
	R(connect(fd, &a.sa, a.len));
	AWAIT(dropped_by_min_ttl() > before);
	barrier("answered");
	/* The handshake has begun, so this end is too late. */
	if (me.kind.protocol != IPPROTO_TCP && !me.any_mode)
		CHECK(attach(fd, -1) < 0 && errno == late_filter_errno());
	barrier("filter");
	R(set_int(fd, IPPROTO_IP, IP_MINTTL, 0));
	set_nonblock(fd, false);
	await_mask(fd, POLLOUT);
	R(connect(fd, &a.sa, a.len));
	check_kept(fd, false);
	ping_pong(fd);
	barrier("done");
}

/* ---- IPsec policies of the socket ---- */

struct policy {
	struct xfrm_userpolicy_info info;
	struct xfrm_user_tmpl tmpl;
};

enum policy_kind { BYPASS, BLOCK, PROTECT_OTHERS };

static int set_policy(int fd, int dir, enum policy_kind kind)
{
	int family = me.var->ipv6 ? AF_INET6 : AF_INET;
	struct policy p = {
		.info = {
			.sel.family = family, .dir = dir, .share = XFRM_SHARE_ANY,
			.action = kind == BLOCK ? XFRM_POLICY_BLOCK : XFRM_POLICY_ALLOW,
			.lft = { XFRM_INF, XFRM_INF, XFRM_INF, XFRM_INF },
		},
		.tmpl = {
			.id.proto = IPPROTO_ESP, .family = family, .mode = XFRM_MODE_TRANSPORT,
			.reqid = 1, .aalgos = -1, .ealgos = -1, .calgos = -1,
		},
	};

	if (kind == PROTECT_OTHERS) {
		/* A selector that this connection does not match */
		p.info.sel.dport = htons(9);
		p.info.sel.dport_mask = 0xffff;
		p.info.sel.proto = IPPROTO_UDP;
	}
	return setsockopt(fd, me.var->ipv6 ? IPPROTO_IPV6 : IPPROTO_IP,
			  me.var->ipv6 ? IPV6_XFRM_POLICY : IP_XFRM_POLICY, &p,
			  kind == PROTECT_OTHERS ? sizeof(p) : sizeof(p.info));
}

static bool has_policies(void)
{
	int fd = make_tcp(0);
	bool has = !set_policy(fd, XFRM_POLICY_OUT, BYPASS);

	close(fd);
	rec("IPsec policies %d", has);
	return has;
}

static void check_ipsec(int fd, bool ours)
{
	if (me.any_mode || me.kind.protocol == IPPROTO_TCP)
		return;
	AWAIT(smc_mode(fd) != MODE_UNDECIDED);
	CHECK(smc_mode(fd) == MODE_TCP && (!ours || smc_reason(fd) == SMC_REASON_IPSEC));
}

static void policy_late(int fd)
{
	LATE(fd, set_policy(fd, XFRM_POLICY_OUT, BYPASS));
	LATE(fd, set_policy(fd, XFRM_POLICY_IN, BYPASS));
	barrier("tried");
	ping_pong(fd);
	barrier("done");
}

static void policies_server(void)
{
	int l = make_socket(0), fd;

	if (!has_policies())
		return;
	listen_and_tell(l);
	fd = X(accept(l, NULL, NULL));
	check_ipsec(fd, false);
	ping_pong(fd);
	R(set_policy(l, XFRM_POLICY_IN, PROTECT_OTHERS));
	barrier("listener");
	fd = X(accept(l, NULL, NULL));
	check_ipsec(fd, true);
	ping_pong(fd);
	R(set_policy(l, XFRM_POLICY_IN, BYPASS));
	R(set_policy(l, XFRM_POLICY_OUT, BYPASS));
	barrier("bypass");
	fd = accept_one(l);
	policy_late(fd);
}

static void policies_client(void)
{
	struct addr a;
	int fd;

	if (!has_policies())
		return;
	a = loopback(ctl_get());
	fd = make_socket(0);
	R(set_policy(fd, XFRM_POLICY_OUT, BLOCK));
	R(connect(fd, &a.sa, a.len));
	fd = make_socket(0);
	R(set_policy(fd, XFRM_POLICY_IN, PROTECT_OTHERS));
	R(connect(fd, &a.sa, a.len));
	check_ipsec(fd, true);
	ping_pong(fd);
	barrier("listener");
	fd = make_socket(0);
	R(connect(fd, &a.sa, a.len));
	check_ipsec(fd, false);
	ping_pong(fd);
	barrier("bypass");
	fd = make_socket(0);
	R(set_policy(fd, XFRM_POLICY_OUT, BYPASS));
	R(set_policy(fd, XFRM_POLICY_IN, BYPASS));
	R(connect(fd, &a.sa, a.len));
	check_mode(fd);
	policy_late(fd);
}

const struct test_case packets_cases[] = {
	BOTH(filter_before, F_ROOT | F_HERE, "SO_ATTACH_FILTER keeps a connection on TCP"),
	BOTH(bpf_filter_before, F_ROOT | F_HERE, "SO_ATTACH_BPF keeps a connection on TCP"),
	BOTH(pacing_before, F_HERE, "SO_MAX_PACING_RATE keeps a connection on TCP"),
	BOTH(ip_options_before, F_ROOT | F_HERE, "IP_OPTIONS and IPV6_DSTOPTS keep it on TCP"),
	CASE(headers_before, F_ROOT | F_HERE | F_V6, "IPv6's headers keep a client on TCP"),
	BOTH(tx_delay_before, F_HERE, "TCP_TX_DELAY keeps a connection on TCP"),
	BOTH(filter_late, F_ROOT | F_HERE, "a filter for a connection that is up"),
	BOTH(mistakes_late, F_ROOT, "mistakes in options that come too late"),
	BOTH(packets_late, F_ROOT | F_HERE, "options about packets on a connection that is up"),
	BOTH(set_again, F_ROOT | F_HERE, "a mark and a device that stay what they were"),
	BOTH(labels_late, F_ROOT | F_HERE, "priority, TOS and TTL of a connection that is up"),
	CASE(filter_after_syn, F_ROOT | F_HERE | F_V4,
	     "a listener gets a filter after it has answered the SYN"),
	CASE(policies, F_ROOT | F_HERE, "IPsec policies of the socket itself"),
	{ 0 }
};
