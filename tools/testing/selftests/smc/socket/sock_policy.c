// SPDX-License-Identifier: GPL-2.0
/* How the system's policies apply to a socket: devices, VRFs, scopes, marks, BPF, Landlock,
 * keys.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <linux/smc_reason.h>
#include <linux/tcp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "bpf_insns.h"
#include "role.h"

/* All variants of a case share a namespace, so the objects may already exist. */
static bool have(const char *command)
{
	return !system(command);
}

static int bound_socket(const char *dev)
{
	int fd = make_socket(SOCK_CLOEXEC);

	X(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, dev, strlen(dev)));
	return fd;
}

static void listen_at(int fd, const struct addr *a)
{
	X(bind(fd, &a->sa, a->len));
	X(listen(fd, 5));
	tell_port(fd);
}

static void rec_device(int fd)
{
	char dev[IFNAMSIZ] = "";
	socklen_t len = sizeof(dev);

	R(getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, dev, &len));
	rec("bound to '%s'", dev);
}

/* A listener bound to one device does not see connections through another one. */
static void device_bound_server(void)
{
	struct addr a = loopback(0), any = wildcard(0);
	int l, other, fd;

	CHECK(have("ip link show d0 > /dev/null 2>&1 || ip link add d0 up type dummy"));
	other = bound_socket("d0");
	listen_at(other, &any);
	l = bound_socket("lo");
	listen_at(l, &a);
	fd = accept_one(l);
	rec_device(fd);
	ping_pong(fd);
	barrier("done");
}

static void device_bound_client(void)
{
	struct addr other = loopback(ctl_get()), a = loopback(ctl_get());
	int fd = make_socket(0);

	R(connect(fd, &other.sa, other.len));
	fd = bound_socket("lo");
	R(connect(fd, &a.sa, a.len));
	check_mode(fd);
	rec_device(fd);
	ping_pong(fd);
	R(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "nosuch0", 7));
	barrier("done");
}

static struct addr other_addr(const char *v4, const char *v6, int port)
{
	struct addr a = loopback(port);

	if (me.var->ipv6)
		CHECK(inet_pton(AF_INET6, v6, &a.in6.sin6_addr) == 1);
	else
		CHECK(inet_pton(AF_INET, v4, &a.in.sin_addr) == 1);
	return a;
}

static struct addr vrf_addr(int port)
{
	return other_addr("10.99.0.1", "fd99::1", port);
}

static bool vrf_made(void)
{
	return have("ip link show vrf0 > /dev/null 2>&1 || "
		    "{ ip link add vrf0 up type vrf table 10 && ip addr add 10.99.0.1/32 dev vrf0 && "
		    "ip addr add fd99::1/128 dev vrf0 nodad; } 2> /dev/null");
}

static void vrf_server(void)
{
	bool made = vrf_made();
	struct addr a;
	int l, fd;

	rec("a VRF %d", made);
	ctl_put(made);
	if (!made)
		return;
	a = vrf_addr(0);
	l = bound_socket("vrf0");
	listen_at(l, &a);
	fd = accept_one(l);
	rec_device(fd);
	ping_pong(fd);
	barrier("done");
}

static void vrf_client(void)
{
	struct addr a;
	int fd;

	if (!ctl_get())
		return;
	a = vrf_addr(ctl_get());
	fd = make_socket(0);
	R(connect(fd, &a.sa, a.len));
	fd = bound_socket("vrf0");
	R(connect(fd, &a.sa, a.len));
	check_mode(fd);
	ping_pong(fd);
	barrier("done");
}

/* fe80::1 exists on two devices; the scope says which one is meant. */
static struct addr scoped(const char *dev, int port)
{
	struct addr a = other_addr("", "fe80::1", port);

	a.in6.sin6_scope_id = dev ? if_nametoindex(dev) : 0;
	return a;
}

static void scope_server(void)
{
	struct addr a, p = { .len = sizeof(p.ss) };
	int l, fd;

	for (int i = 0; i < 2; i++) {
		char cmd[200];

		snprintf(cmd, sizeof(cmd), "ip link show s%d > /dev/null 2>&1 || "
			 "{ ip link add s%d up type dummy && ip addr add fe80::1/64 dev s%d nodad; }",
			 i, i, i);
		CHECK(have(cmd));
	}
	a = scoped("s0", 0);
	l = make_socket(SOCK_CLOEXEC);
	listen_at(l, &a);
	a = name_of(l);
	rec("listens on s0 %d", a.in6.sin6_scope_id == if_nametoindex("s0"));
	fd = X(accept(l, &p.sa, &p.len));
	rec("from %s on s0 %d", addr_kind(&p), p.in6.sin6_scope_id == if_nametoindex("s0"));
	check_mode(fd);
	ping_pong(fd);
	barrier("done");
}

static void scope_client(void)
{
	int port = ctl_get(), fd = make_socket(0);
	struct addr a = scoped(NULL, port), p = { .len = sizeof(p.ss) };

	R(connect(fd, &a.sa, a.len));
	a = scoped("s1", port);
	R(connect(fd, &a.sa, a.len));
	a = scoped("s0", port);
	fd = make_socket(0);
	R(connect(fd, &a.sa, a.len));
	check_mode(fd);
	R(getpeername(fd, &p.sa, &p.len));
	rec("%s on s0 %d", addr_kind(&p), p.in6.sin6_scope_id == if_nametoindex("s0"));
	ping_pong(fd);
	barrier("done");
}

/* Routing rules match the mark, and a child can inherit the mark of its peer. */
static void marks_server(void)
{
	int v = me.var->ipv6 ? 6 : 4, l, fd;
	char cmd[300];
	bool made;

	/* A small kernel may lack routing rules for IPv6. */
	snprintf(cmd, sizeof(cmd), "{ ip -%d rule | grep -q fwmark || "
		 "{ ip -%d rule add pref 10 lookup local && "
		 "ip -%d rule add pref 5 fwmark 5 prohibit && ip -%d rule del pref 0; }; } 2> /dev/null",
		 v, v, v, v);
	made = have(cmd);
	rec("rules %d", made);
	ctl_put(made);
	if (!made)
		return;
	CHECK(have("echo 1 > /proc/sys/net/ipv4/tcp_fwmark_accept"));
	l = serve();
	fd = accept_one(l);
	rec("mark %d", get_int(fd, SOL_SOCKET, SO_MARK));
	ping_pong(fd);
	barrier("done");
}

static void marks_client(void)
{
	struct addr a;
	int fd;

	if (!ctl_get())
		return;
	a = loopback(ctl_get());
	fd = make_socket(0);
	R(set_int(fd, SOL_SOCKET, SO_MARK, 5));
	R(connect(fd, &a.sa, a.len));
	fd = make_socket(0);
	R(set_int(fd, SOL_SOCKET, SO_MARK, 6));
	R(connect(fd, &a.sa, a.len));
	check_mode(fd);
	R(get_int(fd, SOL_SOCKET, SO_MARK));
	ping_pong(fd);
	barrier("done");
}

/* ---- BPF programs of a cgroup ---- */

#define PORT			offsetof(struct bpf_sock_addr, user_port)

static void cgroup_bpf_server(void)
{
	int l = serve();

	ping_pong(accept_one(l));
	barrier("done");
}

static void cgroup_bpf_client(void)
{
	bool v6 = me.var->ipv6;
	int port = ctl_get(), cgroup = own_cgroup(), fd;
	/* Port 7 is the server's; port 9 is forbidden. */
	const struct bpf_insn connects[] = {
		LOAD_WORD(2, 1, PORT), SET(0, 1),
		UNLESS(2, htons(7), 2), SET(3, htons(port)), STORE_WORD(1, 3, PORT),
		UNLESS(2, htons(9), 1), SET(0, 0), EXIT,
	}, binds[] = {
		LOAD_WORD(2, 1, PORT), SET(0, 1), UNLESS(2, htons(1234), 1), SET(0, 0), EXIT,
	}, never[] = {
		SET(0, 0), EXIT,
	};
	struct addr seven = loopback(7), nine = loopback(9), bad = loopback(1234), p;

	bpf_load_attach(cgroup, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	       v6 ? BPF_CGROUP_INET6_CONNECT : BPF_CGROUP_INET4_CONNECT, connects, 8);
	bpf_load_attach(cgroup, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	       v6 ? BPF_CGROUP_INET6_BIND : BPF_CGROUP_INET4_BIND, binds, 5);
	fd = make_socket(0);
	R(bind(fd, &bad.sa, bad.len));
	R(connect(fd, &nine.sa, nine.len));
	R(connect(fd, &seven.sa, seven.len));
	check_mode(fd);
	p.len = sizeof(p.ss);
	X(getpeername(fd, &p.sa, &p.len));
	rec("the server's port %d", addr_port(&p) == port);
	ping_pong(fd);
	bpf_load_attach(cgroup, BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE, never, 2);
	RFD(socket(me.kind.family, SOCK_STREAM, me.kind.protocol));
	barrier("done");
}

/* ---- Landlock: the headers on this machine may be older than the kernel ---- */

#define LANDLOCK_CREATE_RULESET	444
#define LANDLOCK_ADD_RULE	445
#define LANDLOCK_RESTRICT_SELF	446
#define LANDLOCK_NET_BIND	1
#define LANDLOCK_NET_CONNECT	2
#define LANDLOCK_RULE_NET	2

static void landlock_server(void)
{
	int l = serve();

	if (ctl_get())
		ping_pong(accept_one(l));
	barrier("done");
}

static void landlock_client(void)
{
	struct { uint64_t fs, net; } handled = { 0, LANDLOCK_NET_BIND | LANDLOCK_NET_CONNECT };
	struct { uint64_t access, port; } rule = { LANDLOCK_NET_CONNECT, ctl_get() };
	struct addr a = loopback(rule.port), other = loopback(rule.port ^ 1), any = loopback(0);
	int rules = RFD(syscall(LANDLOCK_CREATE_RULESET, &handled, sizeof(handled), 0)), fd;

	ctl_put(rules >= 0);
	if (rules < 0) {
		barrier("done");
		return;
	}
	X(syscall(LANDLOCK_ADD_RULE, rules, LANDLOCK_RULE_NET, &rule, 0));
	X(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	X(syscall(LANDLOCK_RESTRICT_SELF, rules, 0));
	fd = make_socket(0);
	R(bind(fd, &any.sa, any.len));
	R(connect(fd, &other.sa, other.len));
	R(connect(fd, &a.sa, a.len));
	check_mode(fd);
	ping_pong(fd);
	barrier("done");
}

/* ---- TCP signs its segments (D4 of the audit) ---- */

/* Sets or removes the key for the other end. Returns false if the kernel has no TCP_MD5SIG. */
static bool set_key(int fd, int len)
{
	struct tcp_md5sig md5 = { .tcpm_keylen = len, .tcpm_key = "secret" };
	struct addr a = loopback(0);

	memcpy(&md5.tcpm_addr, &a.ss, a.len);
	if (!setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG, &md5, sizeof(md5)))
		return true;
	CHECK(errno == ENOPROTOOPT);
	return false;
}

static void check_signed(int fd)
{
	CHECK(smc_mode(fd) == MODE_TCP);
	CHECK(smc_reason(fd) == (me.kind.protocol == IPPROTO_TCP ? SMC_REASON_NONE :
				   SMC_REASON_SIGNED));
}

static void signed_keys_server(void)
{
	int l = make_socket(0), fd;
	struct addr a = loopback(0);

	bool keys = set_key(l, 6);

	listen_at(l, &a);
	fd = X(accept(l, NULL, NULL));
	ping_pong(fd);
	if (keys)
		check_signed(fd);
	barrier("signed");
	if (keys)
		set_key(l, 0);
	tell_port(l);
	fd = accept_one(l);
	check_mode(fd);
	ping_pong(fd);
	barrier("done");
}

static void signed_keys_client(void)
{
	struct addr a = loopback(ctl_get());
	int fd = make_socket(0);

	bool keys = set_key(fd, 6);

	R(connect(fd, &a.sa, a.len));
	if (keys)
		check_signed(fd);
	ping_pong(fd);
	barrier("signed");
	fd = connect_to(ctl_get(), 0);
	check_mode(fd);
	ping_pong(fd);
	barrier("done");
}

const struct test_case policy_cases[] = {
	CASE(device_bound, F_ROOT | F_HERE, "SO_BINDTODEVICE at both ends"),
	CASE(vrf, F_ROOT | F_HERE, "connections within a VRF"),
	CASE(scope, F_ROOT | F_V6, "link-local addresses and their scope"),
	CASE(marks, F_ROOT | F_HERE, "SO_MARK: routing rules match it, a child inherits it"),
	CASE(cgroup_bpf, F_ROOT, "BPF programs at connect, bind and socket"),
	CASE(signed_keys, F_HERE, "TCP_MD5SIG keeps a connection on TCP"),
	CASE(landlock, F_HERE, "Landlock allows connects to one port only"),
	{ 0 }
};
