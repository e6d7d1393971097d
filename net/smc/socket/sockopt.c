// SPDX-License-Identifier: GPL-2.0
/* Socket options: TCP's, except those that concern SMC. */
#include <linux/net.h>
#include <linux/smc.h>
#include <linux/smc_diag.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include "../conn/stamp.h"
#include "../conn/urgent.h"
#include "../fabric/fabric.h"
#include "../stats.h"
#include "sockopt.h"
#include "socket.h"

static int set_smc(struct sock *sk, int name, sockptr_t val, unsigned int len)
{
	int on, rc = 0;

	if (len < sizeof(on))
		return -EINVAL;
	if (copy_from_sockptr(&on, val, sizeof(on)))
		return -EFAULT;
	lock_sock(sk);
	switch (name) {
	case SMC_LIMIT_HS:
		WRITE_ONCE(smc_sk(sk)->limit_hs, on);
		break;
#ifdef CONFIG_SMC_TEST
	case SMC_TEST_RAW_CLC:
		smc_sk(sk)->raw_clc = on;
		break;
	case SMC_TEST_ECHO:
		rc = smc_test_echo(sk);
		break;
#endif
	default:
		rc = -ENOPROTOOPT;
	}
	release_sock(sk);
	return rc;
}

/**
 * smc_tell_keepalive() - let the fabric probe the peer as TCP's keepalive does
 * @sk: the socket, locked
 * @on: true if SO_KEEPALIVE is on
 *
 * TCP's own keepalive continues: it probes the TCP connection, while the fabric probes the path of
 * the data.
 */
void smc_tell_keepalive(struct sock *sk, bool on)
{
	struct smc_conn *c = smp_load_acquire(&smc_sk(sk)->conn);

	if (c)
		c->ops->keepalive(c, on ? keepalive_time_when(tcp_sk(sk)) / HZ : 0);
}

/**
 * smc_set_keepalive() - proto.keepalive
 * @sk: the socket, locked
 * @on: new value of SO_KEEPALIVE
 */
void smc_set_keepalive(struct sock *sk, int on)
{
	smc_family(sk)->tcp->keepalive(sk, on);
	smc_tell_keepalive(sk, on);
}

/* The connection has to know what control messages and time stamps the program asks for. */
static int after_cmsg_option(struct sock *sk)
{
	struct smc_conn *c;
	int rc = 0;

	lock_sock(sk);
	c = smc_sk(sk)->conn;
	if (c)
		rc = smc_stamps_follow(sk, c);
	release_sock(sk);
	return rc;
}

/* Options of level SOL_SOCKET get here if the kernel can do it: smc_compat_own_options(). */
static int after_socket_option(struct sock *sk, int name)
{
	switch (name) {
	case SO_TIMESTAMP_OLD:
	case SO_TIMESTAMP_NEW:
	case SO_TIMESTAMPNS_OLD:
	case SO_TIMESTAMPNS_NEW:
	case SO_TIMESTAMPING_OLD:
	case SO_TIMESTAMPING_NEW:
		return after_cmsg_option(sk);
	}
	return 0;
}

/* Uncorking publishes the data that the connection has held back. */
static void after_cork(struct sock *sk, struct smc_conn *c, int name)
{
	/* As over TCP, this also sends what a cork has held back so far, and leaves the cork. */
	bool now = name == TCP_NODELAY && tcp_sk(sk)->nonagle & TCP_NAGLE_OFF;

	if (now)
		smc_stats_add(sock_net(sk), c, nodelays, 1);
	if (now || !(tcp_sk(sk)->nonagle & TCP_NAGLE_CORK))
		smc_conn_uncork(c);
	else if (name == TCP_CORK)
		smc_stats_add(sock_net(sk), c, corks, 1);
}

static void after_tcp_option(struct sock *sk, int name)
{
	struct smc_conn *c;

	if (name == TCP_INQ)
		after_cmsg_option(sk);
	if (name == TCP_KEEPIDLE) {
		lock_sock(sk);
		smc_tell_keepalive(sk, sock_flag(sk, SOCK_KEEPOPEN));
		release_sock(sk);
	}
	c = smp_load_acquire(&smc_sk(sk)->conn);
	if (!c)
		return;
	if (name == TCP_USER_TIMEOUT)
		smc_conn_user_timeout_set(sk, c);
	if (name == TCP_CORK || name == TCP_NODELAY)
		after_cork(sk, c, name);
}

static bool about_md5_keys(int name)
{
#ifdef CONFIG_TCP_MD5SIG
	if (name == TCP_MD5SIG || name == TCP_MD5SIG_EXT)
		return true;
#endif
	return false;
}

static bool about_ao_keys(int name)
{
#ifdef CONFIG_TCP_AO
	if (name == TCP_AO_ADD_KEY || name == TCP_AO_DEL_KEY || name == TCP_AO_INFO)
		return true;
#endif
	return false;
}

/* A call of setsockopt(). Through sk_prot, @sock is NULL, and SOL_SOCKET is unknown. */
struct set_call {
	struct socket *sock;
	struct sock *sk;
	int level, name;
	sockptr_t val;
	unsigned int len;
};

static int set_tcp(const struct set_call *s)
{
	if (s->level != SOL_SOCKET)
		return smc_family(s->sk)->tcp->setsockopt(s->sk, s->level, s->name, s->val, s->len);
	return s->sock ? sock_setsockopt(s->sock, s->level, s->name, s->val, s->len) : -ENOPROTOOPT;
}

/* Why a socket with this option must be TCP; NONE if SMC has the option as well. */
static enum smc_reason tcp_only_option(int level, int name)
{
	if (level == SOL_TCP && name == TCP_REPAIR)
		return SMC_REASON_ALREADY_CONNECTED;
	/* The keys with which TCP signs segments. */
	if (level == SOL_TCP && (about_md5_keys(name) || about_ao_keys(name)))
		return SMC_REASON_SIGNED;
	return smc_is_packet_option(level, name) ? SMC_REASON_PACKET_OPTION : SMC_REASON_NONE;
}

static int try_option(const struct set_call *s)
{
	return smc_try_option(s->sk, s->level, s->name, s->val, s->len);
}

/*
 * A mistake has the same error as with TCP, and an option about packets that changes nothing is
 * passed on to it. For TCP-AO keys, TCP returns EISCONN before it looks at them.
 */
static int set_late(const struct set_call *s, enum smc_reason reason)
{
	int rc;

	if (s->level == SOL_TCP && about_ao_keys(s->name))
		return -EISCONN;
	rc = try_option(s);
	/* A key that TCP would take */
	if (reason == SMC_REASON_SIGNED && (!rc || rc == -EOPNOTSUPP))
		return -EISCONN;
	/* It is off already. TCP would read the value again, which may have changed. */
	if (reason == SMC_REASON_ALREADY_CONNECTED)
		return rc;
	return rc ?: set_tcp(s);
}

/*
 * Keys and packet options do not apply to the data that SMC carries, and repair would take over the
 * TCP connection below it. So these options are too late once SMC has been offered. TCP's
 * setsockopt takes the lock itself, if at all, so a connect() may begin after we have checked the
 * phase; tcp_only_calls makes such a connection stay TCP (smc_eligible()).
 */
static int set_tcp_only(const struct set_call *s, enum smc_reason reason)
{
	struct smc_sock *smc = smc_sk(s->sk);
	bool late;
	int rc;

	lock_sock(s->sk);
	late = smc_busy(smc);
	if (!late) {
		WRITE_ONCE(smc->tcp_only_reason, reason);
		WRITE_ONCE(smc->tcp_only_calls, smc->tcp_only_calls + 1);
	}
	release_sock(s->sk);
	if (late)
		return set_late(s, reason);
	rc = set_tcp(s);
	lock_sock(s->sk);
	WRITE_ONCE(smc->tcp_only_calls, smc->tcp_only_calls - 1);
	release_sock(s->sk);
	return rc;
}

static int set_option(const struct set_call *s)
{
	enum smc_reason reason = tcp_only_option(s->level, s->name);
	int rc;

	if (s->level == SOL_SMC)
		return set_smc(s->sk, s->name, s->val, s->len);
	/* This option would replace the tables of a socket whose memory is ours. */
	if (s->level == SOL_IPV6 && s->name == IPV6_ADDRFORM)
		return try_option(s) ?: -ENOTCONN;
	if (reason)
		return set_tcp_only(s, reason);
	rc = set_tcp(s);
	if (!rc && s->level == SOL_SOCKET)
		return after_socket_option(s->sk, s->name);
	if (!rc && s->level == SOL_TCP)
		after_tcp_option(s->sk, s->name);
	return rc;
}

/**
 * smc_setsockopt() - proto.setsockopt
 * @sk: the socket
 * @level: level of the option
 * @name: the option
 * @val: its value
 * @len: length of @val
 *
 * Return: 0 or a negative errno.
 */
int smc_setsockopt(struct sock *sk, int level, int name, sockptr_t val,
		   unsigned int len)
{
	const struct set_call s = { NULL, sk, level, name, val, len };

	return set_option(&s);
}

/**
 * smc_sock_setsockopt() - setsockopt()
 * @sock: the socket
 * @level: level of the option
 * @name: the option
 * @val: its value
 * @len: length of @val
 *
 * Bypasses sk_prot, which may be a sockmap's, so that no option is set without our checks.
 *
 * Return: 0 or a negative errno.
 */
int smc_sock_setsockopt(struct socket *sock, int level, int name, sockptr_t val,
			unsigned int len)
{
	const struct set_call s = { sock, sock->sk, level, name, val, len };

	if (level == SOL_TCP && name == TCP_ULP)
		return smc_ulp_set(sock, val, len);
	return set_option(&s);
}

static void fill_info(struct sock *sk, struct smc_sockopt_info *info)
{
	struct smc_sock *smc = smc_sk(sk);

	memset(info, 0, sizeof(*info));
	lock_sock(sk);
	info->reason = smc->reason;
	info->peer_diagnosis = smc->peer_diagnosis;
	info->mode = SMC_MODE_UNDECIDED;
	if (smc->phase == SMC_PHASE_TCP)
		info->mode = SMC_MODE_TCP;
	if (smc->conn) {
		info->state = READ_ONCE(smc->conn->state);
		info->mode = smc->conn->ops->diag_mode ==
			     SMC_DIAG_MODE_SMCD ? SMC_MODE_SMCD : SMC_MODE_SMCR;
	}
	release_sock(sk);
}

union own_value {
	struct smc_sockopt_info		info;
	struct smc_test_registry	registry;
	int				num;
};

/* Get the value of an option of type int. */
static int get_own_int(struct sock *sk, int name, int *val)
{
	switch (name) {
	case SMC_LIMIT_HS:
		*val = READ_ONCE(smc_sk(sk)->limit_hs);
		return 0;
#ifdef CONFIG_SMC_TEST
	case SMC_TEST_PEEK_LEN:
		*val = READ_ONCE(sk->sk_socket->ops)->peek_len(sk->sk_socket);
		return 0;
#endif
	}
	return -ENOPROTOOPT;
}

/* Get the value of one of our options. Returns its size or a negative errno. */
static int get_own(struct sock *sk, int name, union own_value *val)
{
	switch (name) {
	case SMC_SOCK_INFO:
		fill_info(sk, &val->info);
		return sizeof(val->info);
#ifdef CONFIG_SMC_TEST
	case SMC_TEST_REGISTRY:
		smc_test_registry(&val->registry);
		return sizeof(val->registry);
#endif
	}
	return get_own_int(sk, name, &val->num) ?: (int)sizeof(val->num);
}

/* How many bytes of a value of @size bytes are requested; reads *@optlen only once. */
static int wanted_len(int __user *optlen, int size)
{
	int len;

	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	return min(len, size);
}

static int put_value(char __user *val, int __user *optlen, const void *from, int len)
{
	if (put_user(len, optlen) || copy_to_user(val, from, len))
		return -EFAULT;
	return 0;
}

static int get_smc(struct sock *sk, int name, char __user *val, int __user *optlen)
{
	int len = wanted_len(optlen, sizeof(union own_value)), size;
	union own_value own;

	if (len < 0)
		return len;
	size = get_own(sk, name, &own);
	if (size < 0)
		return size;
	return put_value(val, optlen, &own, min(len, size));
}

/* With late_fin, TCP's FIN follows only with close(): show the state as if it were there. */
static u8 state_shown(const struct smc_conn *c, u8 state)
{
	bool ours = READ_ONCE(c->tx_flags) & (BIT(SMC_FLAG_DONE) | BIT(SMC_FLAG_CLOSED));
	bool peers = smc_conn_rx_ended(c);

	if (!c->late_fin || state != TCP_ESTABLISHED || (!ours && !peers))
		return state;
	if (ours && peers)
		return TCP_CLOSE;
	return ours ? TCP_FIN_WAIT2 : TCP_CLOSE_WAIT;
}

/* TCP_INFO: TCP's values of its idle connection, but with the byte counts of the SMC connection. */
static int get_tcp_info(struct sock *sk, struct smc_conn *c, char __user *val,
			int __user *optlen)
{
	struct tcp_info info;
	int len = wanted_len(optlen, sizeof(info));

	if (len < 0)
		return len;
	tcp_get_info(sk, &info);
	info.tcpi_state = state_shown(c, info.tcpi_state);
	info.tcpi_bytes_acked = c->ops->arrived(c);
	/* Acquire: tx_written is read later. */
	info.tcpi_bytes_sent = smc_count_read_acquire(&c->tx_prod);
	/* As SIOCOUTQ does, for a program that waits until both are equal. */
	if (info.tcpi_bytes_acked != info.tcpi_bytes_sent)
		c->ops->request_update(c);
	info.tcpi_bytes_received = smc_count_read(&c->rx_prod);
	info.tcpi_notsent_bytes = smc_count_read(&c->tx_written) - info.tcpi_bytes_sent;
	return put_value(val, optlen, &info, len);
}

/* Flags that a program may ask for; TCP's own definition, TCP_CMSG_TS, is private. */
#define ZC_MSG_FLAGS	2

/*
 * TCP_ZEROCOPY_RECEIVE: SMC has no pages that could be mapped. In that case TCP reports how much
 * recv() should take. During a handshake this is nothing, because TCP's queue contains CLC
 * messages.
 */
static int get_zerocopy(struct sock *sk, const struct smc_conn *c, char __user *val,
			int __user *optlen)
{
	struct tcp_zerocopy_receive zc = { };
	int len = wanted_len(optlen, sizeof(zc));
	u64 inq;

	if (len < 0)
		return len;
	if (len < offsetofend(struct tcp_zerocopy_receive, length))
		return -EINVAL;
	if (copy_from_user(&zc, val, len))
		return -EFAULT;
	if (zc.reserved || zc.msg_flags & ~ZC_MSG_FLAGS || zc.address & ~PAGE_MASK)
		return -EINVAL;
	inq = c ? min_t(u64, smc_urgent_inq(sk, c), INT_MAX) : 0;
	if (c && !inq && READ_ONCE(c->rx_flags) & (BIT(SMC_FLAG_DONE) | BIT(SMC_FLAG_CLOSED)))
		return -EIO;
	zc.length = 0;
	zc.recv_skip_hint = inq;
	zc.inq = inq;
	zc.err = len >= offsetofend(struct tcp_zerocopy_receive, err) ? sock_error(sk) : 0;
	zc.copybuf_len = 0;
	zc.msg_flags = 0;
	return put_value(val, optlen, &zc, len);
}

/**
 * smc_getsockopt() - proto.getsockopt
 * @sk: the socket
 * @level: level of the option
 * @name: the option
 * @val: buffer for the value
 * @len: size of @val; receives the length of the value
 *
 * Return: 0 or a negative errno.
 */
int smc_getsockopt(struct sock *sk, int level, int name, char __user *val,
		   int __user *len)
{
	struct smc_conn *c = smp_load_acquire(&smc_sk(sk)->conn);

	if (level == SOL_SMC)
		return get_smc(sk, name, val, len);
	if (level == SOL_TCP && name == TCP_INFO && c)
		return get_tcp_info(sk, c, val, len);
	if (level == SOL_TCP && name == TCP_ZEROCOPY_RECEIVE && smc_busy(smc_sk(sk)))
		return get_zerocopy(sk, c, val, len);
	return smc_family(sk)->tcp->getsockopt(sk, level, name, val, len);
}
