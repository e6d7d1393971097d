// SPDX-License-Identifier: GPL-2.0
/*
 * The ioctls that count bytes: SIOCINQ, SIOCOUTQ, SIOCOUTQNSD and SIOCATMARK. ioctl() gets here
 * through TCP's operation; io_uring's commands of the same names call the proto themselves.
 */
#include <asm/ioctls.h>
#include <linux/sockios.h>
#include <linux/uaccess.h>
#include "../conn/ops.h"
#include "../conn/stamp.h"
#include "../conn/urgent.h"
#include "socket.h"

static int conn_count(struct sock *sk, struct smc_conn *c, unsigned int cmd)
{
	u64 n;

	switch (cmd) {
	case SIOCINQ:
		n = smc_urgent_inq(sk, c);
		break;
	case SIOCOUTQ:
		n = smc_conn_outq(c);
		/*
		 * Without an update, a program that polls SIOCOUTQ until it is 0 might wait
		 * forever.
		 */
		if (n)
			c->ops->request_update(c);
		break;
	case SIOCOUTQNSD:
		/* Read this first, as smc_conn_outq() does. */
		n = smc_count_read_acquire(&c->tx_prod);
		n = smc_count_read(&c->tx_written) - n;
		break;
	case SIOCATMARK:
		n = smc_urgent_at_mark(c);
		break;
	default:
		return -ENOIOCTLCMD;
	}
	return min_t(u64, n, INT_MAX);
}

/* Returns the count, or -ENOIOCTLCMD if TCP has to answer. */
static int own_count(struct sock *sk, unsigned int cmd)
{
	struct smc_conn *c = smc_get_conn(sk);

	if (c)
		return conn_count(sk, c, cmd);
	/* During a handshake, TCP's queues have CLC messages. */
	if (!smc_tcp_queue_hidden(sk))
		return -ENOIOCTLCMD;
	return cmd == SIOCINQ || cmd == SIOCOUTQ || cmd == SIOCOUTQNSD ? 0 : -ENOIOCTLCMD;
}

#ifdef SMC_HAVE_PROTO_IOCTL_KARG
/**
 * smc_ioctl() - proto.ioctl
 * @sk: the socket
 * @cmd: which count
 * @arg: receives it
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int smc_ioctl(struct sock *sk, int cmd, int *arg)
{
	int n = own_count(sk, cmd);

	if (n < 0)
		return smc_family(sk)->tcp->ioctl(sk, cmd, arg);
	*arg = n;
	return 0;
}
#else
/* As above, but @arg is a pointer of user space. */
int smc_ioctl(struct sock *sk, int cmd, unsigned long arg)
{
	int n = own_count(sk, cmd);

	if (n < 0)
		return smc_family(sk)->tcp->ioctl(sk, cmd, arg);
	return put_user(n, (int __user *)arg);
}
#endif
