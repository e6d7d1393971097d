// SPDX-License-Identifier: GPL-2.0
/* Control messages of recvmsg(), and the error queue: TCP_INQ and time stamps. */
#include <time.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/netlink.h>
#include <netinet/tcp.h>

#include "role.h"

#ifndef SO_TIMESTAMP_NEW
#define SO_TIMESTAMP_NEW	63
#define SO_TIMESTAMPNS_NEW	64
#define SO_TIMESTAMPING_NEW	65
#endif
#ifndef TCP_CM_INQ
#define TCP_CM_INQ		TCP_INQ
#endif
#define OPT_ID_TCP		(1 << 16)	/* SOF_TIMESTAMPING_OPT_ID_TCP, from 6.2 on */
#define NLA_BYTES_SENT		18		/* TCP_NLA_BYTES_SENT */

#define RX_FLAGS	(SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE)
#define TX_FLAGS	(SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_TX_SCHED | \
			 SOF_TIMESTAMPING_TX_ACK)
#define TELL_FLAGS	(SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_TSONLY | tell_id())

/* Number the bytes; kernels that do not know OPT_ID_TCP take it for a mistake. */
static int tell_id(void)
{
	int fd = X(socket(AF_INET, SOCK_DGRAM, 0)), flags = SOF_TIMESTAMPING_OPT_ID | OPT_ID_TCP;

	if (set_int(fd, SOL_SOCKET, SO_TIMESTAMPING, flags))
		flags = SOF_TIMESTAMPING_OPT_ID;
	close(fd);
	return flags;
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* No time stamp may be earlier than this. */
static int64_t not_before;

static void rec_time64(const char *name, const void *data, int unit)
{
	int64_t v[2], ns;

	memcpy(v, data, sizeof(v));
	ns = v[0] * 1000000000LL + v[1] * unit;
	if (!ns)
		rec("%s: none", name);
	else
		rec("%s: %s", name, ns + unit <= not_before ? "too early" :
		    ns > now_ns() ? "too late" : "plausible");
	if (ns)
		not_before = ns;
}

/* The old formats have two numbers of type long. */
static void rec_time(const char *name, const void *data, int unit)
{
	int64_t wide[2];
	long v[2];

	memcpy(v, data, sizeof(v));
	wide[0] = v[0];
	wide[1] = v[1];
	rec_time64(name, wide, unit);
}

static void rec_error(const struct sock_extended_err *ee)
{
	static const char * const types[] = { "SND", "SCHED", "ACK" };

	rec("report: %s, origin %d, %s, byte %u", err_name(ee->ee_errno), ee->ee_origin,
	    ee->ee_info < 3 ? types[ee->ee_info] : "?", ee->ee_data);
}

static void rec_stats(const char *data, size_t len)
{
	while (len >= NLA_HDRLEN) {
		struct nlattr nla;
		uint64_t sent;
		size_t step;

		memcpy(&nla, data, sizeof(nla));
		CHECK(nla.nla_len >= NLA_HDRLEN && nla.nla_len <= len);
		memcpy(&sent, data + NLA_HDRLEN, sizeof(sent));
		if (nla.nla_type == NLA_BYTES_SENT)
			rec("statistics: %lu bytes sent", (unsigned long)sent);
		step = NLA_ALIGN((size_t)nla.nla_len);
		data += step;
		len -= step < len ? step : len;
	}
}

static void rec_socket_cmsg(const struct cmsghdr *h)
{
	const char *data = (const char *)CMSG_DATA(h);

	switch (h->cmsg_type) {
	case SO_TIMESTAMP:
		rec_time("SO_TIMESTAMP", data, 1000);
		break;
	case SO_TIMESTAMP_NEW:
		rec_time64("SO_TIMESTAMP_NEW", data, 1000);
		break;
	case SO_TIMESTAMPNS:
		rec_time("SO_TIMESTAMPNS", data, 1);
		break;
	case SO_TIMESTAMPNS_NEW:
		rec_time64("SO_TIMESTAMPNS_NEW", data, 1);
		break;
	case SO_TIMESTAMPING:
		rec("time stamping, %zu bytes", (size_t)h->cmsg_len);
		rec_time("software", data, 1);
		rec_time("hardware", data + 4 * sizeof(long), 1);
		break;
	case SO_TIMESTAMPING_NEW:
		rec("new time stamping, %zu bytes", (size_t)h->cmsg_len);
		rec_time64("software", data, 1);
		rec_time64("hardware", data + 4 * sizeof(int64_t), 1);
		break;
	case SCM_TIMESTAMPING_OPT_STATS:
		rec_stats(data, h->cmsg_len - CMSG_LEN(0));
		break;
	default:
		rec("message %d of the socket", h->cmsg_type);
	}
}

static void rec_cmsgs(struct msghdr *m)
{
	struct cmsghdr *h;
	int inq;

	for (h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
		if (h->cmsg_level == SOL_SOCKET) {
			rec_socket_cmsg(h);
		} else if (h->cmsg_level == SOL_TCP && h->cmsg_type == TCP_CM_INQ) {
			memcpy(&inq, CMSG_DATA(h), sizeof(inq));
			rec("TCP_INQ: %d", inq);
		} else if (h->cmsg_type == IP_RECVERR || h->cmsg_type == IPV6_RECVERR) {
			rec_error((const struct sock_extended_err *)CMSG_DATA(h));
		} else {
			rec("message %d of level %d", h->cmsg_type, h->cmsg_level);
		}
	}
}

/* Receive up to @len bytes, and write all into the transcript that comes with them. */
static long receive(int fd, size_t len, int flags, size_t control)
{
	static char buf[200000], cbuf[1024];
	struct iovec iov = { buf, len };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = cbuf, .msg_controllen = control,
	};
	long n = R(recvmsg(fd, &m, flags));

	if (n < 0)
		return n;
	rec("flags %x", (unsigned int)m.msg_flags);
	rec_cmsgs(&m);
	return n;
}

static void cmsg_inq_server(void)
{
	int fd = pair();

	R(set_int(fd, IPPROTO_TCP, TCP_INQ, 1));
	rec("TCP_INQ is %d", get_int(fd, IPPROTO_TCP, TCP_INQ));
	R(set_int(fd, IPPROTO_TCP, TCP_INQ, 2));
	barrier("go");
	await_inq(fd, 10);
	receive(fd, 4, MSG_PEEK, 512);
	receive(fd, 4, 0, 512);
	receive(fd, 1, 0, 0);
	receive(fd, 100, MSG_TRUNC, 512);
	receive(fd, 100, MSG_DONTWAIT, 512);
	R(set_int(fd, IPPROTO_TCP, TCP_INQ, 0));
	barrier("more");
	await_inq(fd, 10);
	receive(fd, 4, 0, 512);
	R(set_int(fd, IPPROTO_TCP, TCP_INQ, 1));
	receive(fd, 0, 0, 512);
	receive(fd, 6, MSG_WAITALL, 512);
	barrier("urgent");
	await_mask(fd, POLLPRI);
	await_inq(fd, 3);
	receive(fd, 2, 0, 512);
	receive(fd, 1, MSG_OOB, 512);
	receive(fd, 100, 0, 512);
	barrier("end");
	await_mask(fd, POLLRDHUP);
	receive(fd, 3, 0, 512);
	receive(fd, 100, MSG_PEEK, 512);
	receive(fd, 100, 0, 512);
	receive(fd, 100, 0, 512);
	receive(fd, 100, 0, 512);
	barrier("done");
}

static void cmsg_inq_client(void)
{
	int fd = pair();

	barrier("go");
	send_bytes(fd, 0, 10, 10);
	barrier("more");
	send_bytes(fd, 10, 10, 10);
	barrier("urgent");
	R(send(fd, "abc!", 4, MSG_OOB));
	barrier("end");
	send_bytes(fd, 20, 5, 5);
	R(shutdown(fd, SHUT_WR));
	barrier("done");
}

/* The end of the stream counts each time, also if TCP has ended, too. */
static void cmsg_inq_closed_server(void)
{
	int fd = pair();

	R(set_int(fd, IPPROTO_TCP, TCP_INQ, 1));
	R(shutdown(fd, SHUT_WR));
	barrier("closed");
	await_mask(fd, POLLHUP);
	receive(fd, 100, 0, 512);
	receive(fd, 100, 0, 512);
	receive(fd, 0, 0, 512);
	barrier("done");
}

static void cmsg_inq_closed_client(void)
{
	int fd = pair();

	await_mask(fd, POLLRDHUP);
	X(close(fd));
	barrier("closed");
	barrier("done");
}

/* The option is inherited, and is known to a connection that comes later. */
static void set_inq(int fd)
{
	R(set_int(fd, IPPROTO_TCP, TCP_INQ, 1));
}

static void cmsg_inq_early(void)
{
	int fd = pair_with(set_inq);

	send_bytes(fd, 0, 10, 10);
	await_inq(fd, 10);
	receive(fd, 4, 0, 512);
	barrier("done");
}

#define cmsg_inq_early_server	cmsg_inq_early
#define cmsg_inq_early_client	cmsg_inq_early

/*
 * Wait until the kernel gives packets their times, which it begins to do a while after the first
 * socket has asked. Sockets that ask later, while this process runs, get them at once.
 */
static void await_stamping(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int l = X(socket(AF_INET, SOCK_STREAM, IPPROTO_TCP)), c, s;
	char byte, cbuf[512];
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	socklen_t len = sizeof(a);

	X(bind(l, (struct sockaddr *)&a, len));
	X(listen(l, 1));
	X(getsockname(l, (struct sockaddr *)&a, &len));
	c = X(socket(AF_INET, SOCK_STREAM, IPPROTO_TCP));
	X(connect(c, (struct sockaddr *)&a, len));
	s = X(accept(l, NULL, NULL));
	X(set_int(s, SOL_SOCKET, SO_TIMESTAMP, 1));
	do {
		m.msg_control = cbuf;
		m.msg_controllen = sizeof(cbuf);
		X(send(c, "", 1, 0));
		X(recvmsg(s, &m, 0));
	} while (!CMSG_FIRSTHDR(&m));
}

static const struct { int name, value; } rx_options[] = {
	{ SO_TIMESTAMP, 1 },
	{ SO_TIMESTAMPNS, 1 },
	{ SO_TIMESTAMP_NEW, 1 },
	{ SO_TIMESTAMPNS_NEW, 1 },
	{ SO_TIMESTAMPING, RX_FLAGS },
	{ SO_TIMESTAMPNS, 0 },
	{ SO_TIMESTAMPING_NEW, RX_FLAGS },
	{ SO_TIMESTAMPING, SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE },
	{ SO_TIMESTAMPING, SOF_TIMESTAMPING_RX_SOFTWARE },
	{ SO_TIMESTAMPING, 0 },
};

#define N_RX_OPTIONS	(sizeof(rx_options) / sizeof(rx_options[0]))

static void rx_stamp_server(void)
{
	int fd = pair();

	await_stamping();
	for (size_t i = 0; i < N_RX_OPTIONS; i++) {
		R(set_int(fd, SOL_SOCKET, rx_options[i].name, rx_options[i].value));
		rec("option %d is %d", rx_options[i].name,
		    get_int(fd, SOL_SOCKET, rx_options[i].name));
		not_before = now_ns();
		barrier("first");
		await_inq(fd, 10);
		receive(fd, 4, MSG_PEEK, 512);
		receive(fd, 4, 0, 512);
		receive(fd, 1, 0, 0);
		/* What has been left of the first ten is read together with the others. */
		not_before = now_ns();
		barrier("second");
		await_inq(fd, 15);
		receive(fd, 100, 0, 512);
	}
	R(set_int(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1));
	R(set_int(fd, IPPROTO_TCP, TCP_INQ, 1));
	not_before = now_ns();
	barrier("both");
	await_mask(fd, POLLRDHUP);
	receive(fd, 4, 0, 512);
	receive(fd, 100, 0, 512);
	receive(fd, 100, 0, 512);
	barrier("done");
}

static void rx_stamp_client(void)
{
	int fd = pair();

	for (size_t i = 0; i < N_RX_OPTIONS; i++) {
		barrier("first");
		send_bytes(fd, 20 * i, 10, 10);
		barrier("second");
		send_bytes(fd, 20 * i + 10, 10, 10);
	}
	barrier("both");
	send_bytes(fd, 0, 10, 10);
	R(shutdown(fd, SHUT_WR));
	barrier("done");
}

static void set_times(int fd)
{
	R(set_int(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1));
}

/* Many arrivals wait to be read, more than there are times remembered for. */
static void rx_stamp_many_server(void)
{
	int fd;

	await_stamping();
	not_before = now_ns();
	fd = pair_with(set_times);
	await_inq(fd, 200);
	for (int i = 0; i < 200; i++)
		receive(fd, 1, 0, 512);
	not_before = now_ns();
	barrier("more");
	for (int i = 0; i < 20; i++)
		receive(fd, 1, MSG_WAITALL, 512);
	barrier("done");
}

static void rx_stamp_many_client(void)
{
	int fd = pair();

	set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	send_bytes(fd, 0, 200, 1);
	barrier("more");
	send_bytes(fd, 200, 20, 1);
	barrier("done");
}

/* Wait for a report, and write it into the transcript. */
static void report(int fd)
{
	AWAIT(poll_mask(fd, 0) & POLLERR);
	receive(fd, 100, MSG_ERRQUEUE, 512);
}

static void reports(int fd, int n)
{
	while (n--)
		report(fd);
	rec("then: %s", mask_name(poll_mask(fd, POLLOUT)));
	receive(fd, 100, MSG_ERRQUEUE, 512);
}

/* Send @len bytes, and ask for times with a control message. */
static void send_stamped(int fd, size_t len, uint32_t tsflags, int type, int flags)
{
	static char data[1000];
	char cbuf[CMSG_SPACE(sizeof(tsflags))] = { 0 };
	struct iovec iov = { data, len };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = cbuf,
		.msg_controllen = sizeof(cbuf),
	};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = type;
	h->cmsg_len = CMSG_LEN(sizeof(tsflags));
	memcpy(CMSG_DATA(h), &tsflags, sizeof(tsflags));
	R(sendmsg(fd, &m, flags));
}

static void tx_stamp_server(void)
{
	static char buf[200000];
	int fd = pair();
	long n;

	while ((n = X(recv(fd, buf, sizeof(buf), 0))) > 0)
		;
	barrier("done");
}

static void tx_stamp_client(void)
{
	/*
	 * One segment: of two, TCP sends the second one again after a few milliseconds (tail loss
	 * probe), and reports that again.
	 */
	static char data[60000];
	int fd = make_socket(0);

	R(set_int(fd, SOL_SOCKET, SO_TIMESTAMPING, TX_FLAGS | TELL_FLAGS));
	R(set_int(fd, SOL_SOCKET, SO_TIMESTAMPING, SOF_TIMESTAMPING_OPT_STATS));
	close(fd);
	fd = pair();
	R(send(fd, data, 7, 0));
	await_sent(fd);
	R(set_int(fd, SOL_SOCKET, SO_TIMESTAMPING, TX_FLAGS | TELL_FLAGS));
	rec("SO_TIMESTAMPING is %x", get_int(fd, SOL_SOCKET, SO_TIMESTAMPING));
	not_before = now_ns();
	R(send(fd, data, 10, 0));
	reports(fd, 3);
	R(send(fd, data, sizeof(data), 0));
	reports(fd, 3);
	R(send(fd, data, 5, MSG_MORE));
	rec("held back: %s", mask_name(poll_mask(fd, POLLOUT)));
	R(send(fd, data, 5, 0));
	reports(fd, 3);
	R(send(fd, "!", 1, MSG_OOB));
	reports(fd, 3);
	/* Other formats, and fewer times. */
	R(set_int(fd, SOL_SOCKET, SO_TIMESTAMPING_NEW, TELL_FLAGS | SOF_TIMESTAMPING_TX_SOFTWARE));
	R(send(fd, data, 10, 0));
	reports(fd, 1);
	R(set_int(fd, SOL_SOCKET, SO_TIMESTAMPING, TX_FLAGS | SOF_TIMESTAMPING_OPT_TSONLY));
	R(send(fd, data, 10, 0));
	reports(fd, 3);
	/* There is no device with a clock. */
	R(set_int(fd, SOL_SOCKET, SO_TIMESTAMPING, TELL_FLAGS | SOF_TIMESTAMPING_RAW_HARDWARE |
		  SOF_TIMESTAMPING_TX_HARDWARE));
	R(send(fd, data, 10, 0));
	await_sent(fd);
	/* For single calls; the program counts from here on. */
	R(set_int(fd, SOL_SOCKET, SO_TIMESTAMPING, 0));
	R(set_int(fd, SOL_SOCKET, SO_TIMESTAMPING, TELL_FLAGS));
	R(send(fd, data, 10, 0));
	send_stamped(fd, 10, SOF_TIMESTAMPING_TX_ACK, SO_TIMESTAMPING, 0);
	reports(fd, 1);
	send_stamped(fd, 10, SOF_TIMESTAMPING_TX_SCHED, SO_TIMESTAMPING_NEW, MSG_MORE);
	R(send(fd, data, 10, 0));
	reports(fd, 1);
	send_stamped(fd, 10, SOF_TIMESTAMPING_RX_SOFTWARE, SO_TIMESTAMPING, 0);
	R(send(fd, data, 10, 0));
	reports(fd, 0);
	R(shutdown(fd, SHUT_WR));
	barrier("done");
}

static void set_tx(int fd)
{
	R(set_int(fd, SOL_SOCKET, SO_TIMESTAMPING,
		  TX_FLAGS | SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_TSONLY));
}

/* What the handshake sends is not reported. */
static void tx_stamp_early(void)
{
	int fd;

	not_before = now_ns();
	fd = pair_with(set_tx);
	reports(fd, 0);
	send_bytes(fd, 0, 10, 10);
	recv_bytes(fd, 0, 10, 10);
	reports(fd, 3);
	barrier("done");
}

#define tx_stamp_early_server	tx_stamp_early
#define tx_stamp_early_client	tx_stamp_early

static void tx_stamp_stats_server(void)
{
	int fd = pair();

	recv_bytes(fd, 0, 10, 10);
	barrier("done");
}

static void tx_stamp_stats_client(void)
{
	int fd = pair();

	R(set_int(fd, SOL_SOCKET, SO_TIMESTAMPING, TELL_FLAGS | SOF_TIMESTAMPING_OPT_STATS |
		  SOF_TIMESTAMPING_TX_SOFTWARE));
	send_bytes(fd, 0, 10, 10);
	/* The statistics are the data of the message as well; TCP has more of them. */
	AWAIT(poll_mask(fd, 0) & POLLERR);
	receive(fd, 0, MSG_ERRQUEUE, 1024);
	barrier("done");
}

/* A sender that does not block, and fills the ring: the last byte that it could send counts. */
static void tx_stamp_full_server(void)
{
	int fd = pair();

	barrier("full");
	recv_to_end(fd, 0);
	barrier("done");
}

static void tx_stamp_full_client(void)
{
	struct sock_extended_err *ee;
	static char data[1 << 16];
	unsigned int last = 0;
	char cbuf[512];
	struct msghdr m = { 0 };
	struct cmsghdr *h;
	size_t sent = 0;
	long n = 0;
	int fd = pair();

	X(set_int(fd, SOL_SOCKET, SO_TIMESTAMPING, TELL_FLAGS | SOF_TIMESTAMPING_TX_ACK));
	do {
		sent += n;
		fill(data, sizeof(data), sent);
		n = send(fd, data, sizeof(data), MSG_DONTWAIT);
	} while (n > 0);
	CHECK(errno == EAGAIN);
	barrier("full");
	/* The reports come in order. Some may be merged; the last byte is always reported. */
	do {
		AWAIT(poll_mask(fd, 0) & POLLERR);
		m.msg_control = cbuf;
		m.msg_controllen = sizeof(cbuf);
		X(recvmsg(fd, &m, MSG_ERRQUEUE));
		for (h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
			if (h->cmsg_level == SOL_SOCKET)
				continue;
			ee = (struct sock_extended_err *)CMSG_DATA(h);
			CHECK(ee->ee_info == SCM_TSTAMP_ACK && ee->ee_data >= last);
			last = ee->ee_data;
		}
	} while (last + 1 < sent);
	rec("all reported: %d", last + 1 == sent);
	R(shutdown(fd, SHUT_WR));
	barrier("done");
}

const struct test_case stamp_cases[] = {
	CASE(cmsg_inq, 0, "TCP_INQ with every way to receive, and at the end"),
	CASE(cmsg_inq_closed, 0, "TCP_INQ after both ends have closed"),
	CASE(cmsg_inq_early, 0, "TCP_INQ on a listener and before connect"),
	CASE(rx_stamp, 0, "times of received data in all formats"),
	CASE(rx_stamp_many, 0, "more arrivals than are remembered; inherited from a listener"),
	CASE(tx_stamp, F_ONE, "times of sent data: SCHED, SND, ACK, by option and by message"),
	CASE(tx_stamp_early, F_ONE, "times of sent data, asked for on a listener and before connect"),
	CASE(tx_stamp_stats, F_ONE, "statistics with the time of sent data"),
	CASE(tx_stamp_full, F_ONE, "times of data that fill the send buffer"),
	{ 0 }
};
