// SPDX-License-Identifier: GPL-2.0
/* Socket options, and other access to a socket: sockmaps, sock_diag. */
#include <linux/bpf.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tls.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sock_identity.h"
#include "stress_stall.h"
#include "stress.h"

#ifndef SOL_TLS
#define SOL_TLS		282
#endif
#ifndef IPV6_ADDRFORM
#define IPV6_ADDRFORM	1
#endif

static long set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

void count_smc(int fd)
{
	if (mode_is_smc(fd))
		board->smc++;
}

static long call_ulp(struct player *p, int fd)
{
	static const char * const names[] = { "tls", "smc", "none" };
	struct tls12_crypto_info_aes_gcm_128 keys = {
		.info = { .version = TLS_1_2_VERSION, .cipher_type = TLS_CIPHER_AES_GCM_128 },
	};
	const char *name = names[below(p, 3)];

	if (one_in(p, 3))
		return setsockopt(fd, SOL_TLS, one_in(p, 2) ? TLS_TX : TLS_RX, &keys, sizeof(keys));
	return setsockopt(fd, IPPROTO_TCP, TCP_ULP, name, strlen(name));
}

static long call_linger(struct player *p, int fd)
{
	struct linger l = { .l_onoff = !one_in(p, 3), .l_linger = below(p, 3) };

	return setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
}

/* An option whose value is in memory that is supplied late: the call sleeps, under the lock if it
 * takes one.
 */
static long call_stalled_option(struct player *p, int fd)
{
	static const int names[] = { TCP_NODELAY, TCP_CORK, TCP_KEEPIDLE, TCP_ULP,
				     TCP_CONGESTION, TCP_MAXSEG };
	char *value = p->stall ?: p->buf;
	socklen_t len = 4;

	if (p->stall)
		stall_forget(p->stall);
	if (one_in(p, 4))
		return getsockopt(fd, IPPROTO_TCP, TCP_INFO, value, &len);
	return setsockopt(fd, IPPROTO_TCP, names[below(p, 6)], value, 4);
}

static long call_set(struct player *p, int fd)
{
	static const struct { int level, name, values; } options[] = {
		{ IPPROTO_TCP, TCP_FASTOPEN, 5 },
		{ IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 2 },
		{ IPPROTO_TCP, TCP_REPAIR, 2 },
		{ IPPROTO_TCP, TCP_NODELAY, 2 },
		{ IPPROTO_TCP, TCP_CORK, 2 },
		{ IPPROTO_TCP, TCP_DEFER_ACCEPT, 2 },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, 2000 },
		{ IPPROTO_TCP, TCP_LINGER2, 3 },
		{ IPPROTO_TCP, TCP_SAVE_SYN, 2 },
		{ IPPROTO_TCP, TCP_SYNCNT, 3 },
		{ SOL_SOCKET, SO_REUSEADDR, 2 },
		{ SOL_SOCKET, SO_REUSEPORT, 2 },
		{ SOL_SOCKET, SO_KEEPALIVE, 2 },
		{ SOL_SOCKET, SO_OOBINLINE, 2 },
		{ SOL_SOCKET, SO_ZEROCOPY, 2 },
		{ SOL_SOCKET, SO_RCVLOWAT, 5000 },
		{ SOL_SOCKET, SO_SNDBUF, 1000000 },
		{ SOL_SOCKET, SO_RCVBUF, 1000000 },
		{ SOL_SOCKET, SO_INCOMING_CPU, 2 },
		{ SOL_SOCKET, SO_BUSY_POLL, 50 },
		{ IPPROTO_IPV6, IPV6_V6ONLY, 2 },
	};
	int which = below(p, sizeof(options) / sizeof(options[0]));

	return set(fd, options[which].level, options[which].name,
		   below(p, options[which].values));
}

/*
 * An SMC socket refuses the option, whatever the value.  AF_INET would turn a plain TCP socket into
 * one for IPv4.  If that is disconnected and listens, its children use memory of the listener after
 * it was freed: inet6_cleanup_sock() of 6.12, without any module.
 */
static long call_addrform(struct player *p, int fd)
{
	return set(fd, IPPROTO_IPV6, IPV6_ADDRFORM, AF_UNSPEC);
}

static long call_get(struct player *p, int fd)
{
	static const struct { int level, name; } options[] = {
		{ SOL_SOCKET, SO_ERROR }, { SOL_SOCKET, SO_TYPE }, { SOL_SOCKET, SO_DOMAIN },
		{ SOL_SOCKET, SO_PROTOCOL }, { SOL_SOCKET, SO_ACCEPTCONN },
		{ IPPROTO_TCP, TCP_INFO }, { IPPROTO_TCP, TCP_MAXSEG }, { IPPROTO_TCP, TCP_ULP },
		{ IPPROTO_TCP, TCP_SAVED_SYN }, { SOL_SMC, SMC_SOCK_INFO },
	};
	int which = below(p, sizeof(options) / sizeof(options[0]));
	char value[256];
	socklen_t len = sizeof(value);

	return getsockopt(fd, options[which].level, options[which].name, value, &len);
}

/* ---- access from outside ---- */

/*
 * Not with plain TCP sockets, because the kernel warns in sock_map_destroy(), with or without this
 * module: the child of a listener in a sockmap takes the sockmap's table for its original one
 * (sk_prot_creator), and if it listens in turn, its own children get that table.
 */
static long call_sockmap(struct player *p, int fd)
{
	int protocol;
	socklen_t len = sizeof(protocol);
	uint32_t key = below(p, SLOTS), value = fd;
	union bpf_attr attr = {
		.map_fd = shared.sockmap, .key = (uintptr_t)&key, .value = (uintptr_t)&value,
		.flags = BPF_ANY,
	};

	if (shared.sockmap < 0 || getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) < 0 ||
	    protocol == IPPROTO_TCP)
		return -1;
	if (one_in(p, 2))
		return syscall(__NR_bpf, BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr));
	attr.value = attr.flags = 0;
	return syscall(__NR_bpf, BPF_MAP_DELETE_ELEM, &attr, sizeof(attr));
}

/* SOCK_DESTROY, a query for one socket, or a dump of all SMC sockets. */
static long call_diag(struct player *p, int fd)
{
	struct {
		struct nlmsghdr h;
		struct inet_diag_req_v2 req;
	} m = { .h = { .nlmsg_len = sizeof(m), .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK } };
	struct { struct nlmsghdr h; char req[64]; } dump = {
		.h = { .nlmsg_len = sizeof(dump), .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.req = { AF_SMC },
	};
	long rc = -1;

	if (one_in(p, 4)) {
		rc = send(p->diag, &dump, sizeof(dump), MSG_DONTWAIT);
	} else if (sock_identity(fd, &m.req)) {
		m.h.nlmsg_type = one_in(p, 2) ? SOCK_DESTROY : SOCK_DIAG_BY_FAMILY;
		rc = send(p->diag, &m, sizeof(m), MSG_DONTWAIT);
	}
	while (recv(p->diag, p->buf, BUF_SIZE, MSG_DONTWAIT) > 0)
		;
	return rc;
}

const struct call stress_option_calls[] = {
	{ "TCP_ULP", 7, call_ulp },
	{ "SO_LINGER", 3, call_linger },
	{ "an option whose value arrives late", 2, call_stalled_option },
	{ "setsockopt", 12, call_set },
	{ "IPV6_ADDRFORM", 3, call_addrform },
	{ "getsockopt", 3, call_get },
	{ "sockmap", 3, call_sockmap },
	{ "sock_diag", 2, call_diag },
	{ NULL, 0, NULL }
};
