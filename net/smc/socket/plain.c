// SPDX-License-Identifier: GPL-2.0
/*
 * Operations that work on TCP's own queues and therefore exist for plain TCP only. A socket in
 * phase TCP still has our table of operations, so each of them checks the phase first.
 */
#include <linux/fs.h>
#include <net/tcp.h>
#include "../conn/urgent.h"
#include "socket.h"

static bool is_plain(const struct sock *sk)
{
	return READ_ONCE(smc_sk(sk)->phase) == SMC_PHASE_TCP;
}

static int smc_mmap(struct file *file, struct socket *sock, struct vm_area_struct *vma)
{
	if (!is_plain(sock->sk))
		return sock_no_mmap(file, sock, vma);
	return smc_family(sock->sk)->tcp_ops->mmap(file, sock, vma);
}

/* Unlike recv(), TCP's splice() does not go beyond an urgent byte, nor does it wait there. */
static ssize_t splice_at_mark(struct sock *sk, struct smc_conn *c, bool nonblock)
{
	int rc = smc_conn_rx_end(sk, c);

	if (rc <= 0)
		return rc;
	return nonblock ? -EAGAIN : 0;
}

/* In other phases, splice() reads through recvmsg(), as for sockets without splice support. */
static ssize_t smc_splice_read(struct socket *sock, loff_t *ppos,
			       struct pipe_inode_info *pipe, size_t len, unsigned int flags)
{
	/* A socket that is closed may become SMC before TCP's splice_read() has its lock. */
	bool closed = inet_sk_state_load(sock->sk) == TCP_CLOSE;
	struct smc_conn *c = smc_get_conn(sock->sk);

	if (c && smc_urgent_at_mark(c))
		return splice_at_mark(sock->sk, c, sock->file->f_flags & O_NONBLOCK);
	/* Unlike recv(), splice() does not wait for SO_RCVLOWAT if there is something. */
	if (c)
		len = min_not_zero(len, (size_t)smc_urgent_inq(sock->sk, c));
	if (closed || !is_plain(sock->sk))
		return copy_splice_read(sock->file, ppos, pipe, len, flags);
	return smc_family(sock->sk)->tcp_ops->splice_read(sock, ppos, pipe, len, flags);
}

/* Used by sockmaps, which accept plain TCP only. */
static int smc_read_skb(struct sock *sk, skb_read_actor_t actor)
{
	return is_plain(sk) ? smc_family(sk)->tcp_ops->read_skb(sk, actor) : 0;
}

static int smc_sendmsg_locked(struct sock *sk, struct msghdr *msg, size_t len)
{
	return is_plain(sk) ? tcp_sendmsg_locked(sk, msg, len) : -EOPNOTSUPP;
}

#ifdef SMC_HAVE_SENDPAGE
/* Up to 6.4, sendfile() calls sendpage; in other phases it copies through sendmsg instead. */
static ssize_t smc_sendpage(struct socket *sock, struct page *page, int offset,
			    size_t size, int flags)
{
	if (!is_plain(sock->sk))
		return sock_no_sendpage(sock, page, offset, size, flags);
	return smc_family(sock->sk)->tcp_ops->sendpage(sock, page, offset, size, flags);
}

static int smc_sendpage_locked(struct sock *sk, struct page *page, int offset,
			       size_t size, int flags)
{
	if (!is_plain(sk))
		return -EOPNOTSUPP;
	return smc_family(sk)->tcp_ops->sendpage_locked(sk, page, offset, size, flags);
}
#else
/* sendfile() has reached the end of the file: nothing follows the data that MSG_MORE held back. */
static void smc_splice_eof(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smc_conn *c = smc_get_conn(sk);

	if (is_plain(sk))
		smc_family(sk)->tcp_ops->splice_eof(sock);
	else if (c && !(tcp_sk(sk)->nonagle & TCP_NAGLE_CORK))
		smc_conn_uncork(c);
}
#endif

/**
 * smc_plain_init() - install the operations for plain TCP in our table
 * @f: the family
 */
void __init smc_plain_init(struct smc_family *f)
{
	f->ops.mmap = smc_mmap;
	f->ops.splice_read = smc_splice_read;
	f->ops.read_skb = smc_read_skb;
	f->ops.sendmsg_locked = smc_sendmsg_locked;
#ifdef SMC_HAVE_SENDPAGE
	f->ops.sendpage = smc_sendpage;
	f->ops.sendpage_locked = smc_sendpage_locked;
#else
	f->ops.splice_eof = smc_splice_eof;
#endif
}
