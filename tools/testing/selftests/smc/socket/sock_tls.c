// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel TLS. Data in the SYN makes a connection plain TCP in all variants, and there the calls
 * return the same results. An SMC connection refuses kernel TLS.
 */
#include <linux/tls.h>
#include <netinet/tcp.h>

#include "role.h"

#ifndef TCP_ULP
#define TCP_ULP		31
#endif
#ifndef SOL_TLS
#define SOL_TLS		282
#endif

static int set_ulp(int fd, const char *name)
{
	return setsockopt(fd, IPPROTO_TCP, TCP_ULP, name, strlen(name));
}

/* TLS 1.2 with AES-GCM-128; each direction has its own key. */
static int set_key(int fd, int direction, char key)
{
	struct tls12_crypto_info_aes_gcm_128 info = {
		.info.version = TLS_1_2_VERSION,
		.info.cipher_type = TLS_CIPHER_AES_GCM_128,
	};

	memset(info.key, key, sizeof(info.key));
	memset(info.salt, key + 1, sizeof(info.salt));
	memset(info.iv, key + 2, sizeof(info.iv));
	return setsockopt(fd, SOL_TLS, direction, &info, sizeof(info));
}

/* What TCP reports for a socket with an upper layer protocol. */
static void with_upper_layer(int fd)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	char name[16] = "";
	socklen_t len = sizeof(name);

	R(set_ulp(fd, "tls"));
	R(getsockopt(fd, IPPROTO_TCP, TCP_ULP, name, &len));
	rec("it is %s", name);
	if (me.var->ipv6)
		R(set_int(fd, IPPROTO_IPV6, IPV6_ADDRFORM, AF_INET) < 0);
	R(set_int(fd, SOL_SOCKET, SO_TIMESTAMP, 1));
	R(set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1));
	R(listen(fd, 5));
	R(connect(fd, &none, sizeof(none)));
	R(listen(fd, 5));
}

static void kernel_tls_server(void)
{
	int l = serve(), fd = accept_fallback(l);
	unsigned char head[5];

	R(set_ulp(l, "tls"));
	R(set_ulp(fd, ""));
	R(set_ulp(fd, "none such"));
	R(setsockopt(fd, IPPROTO_TCP, TCP_ULP, NULL, 3));
	R(set_key(fd, TLS_RX, 1));
	/* The bytes as they are on the wire: a record of 100 bytes, nonce and tag. */
	await_inq(fd, 129);
	CHECK(recv(fd, head, sizeof(head), MSG_PEEK) == sizeof(head));
	rec("record %02x %02x%02x %02x%02x", head[0], head[1], head[2], head[3], head[4]);
	R(set_ulp(fd, "tls"));
	R(set_key(fd, TLS_RX, 1));
	R(set_key(fd, TLS_TX, 4));
	recv_bytes(fd, 0, 100, 100);
	send_bytes(fd, 0, 50000, 7000);
	recv_bytes(fd, 100, 50000, 7000);
	with_upper_layer(fd);
	barrier("done");
	close(fd);
	/* The listener still works afterwards. */
	fd = X(accept(l, NULL, NULL));
	ping_pong(fd);
	barrier("end");
}

static void kernel_tls_client(void)
{
	int fd = make_socket(0), port = ctl_get();
	struct addr a = loopback(port);

	R(set_ulp(fd, "tls"));
	connect_fallback(fd, port);
	R(set_ulp(fd, "tls"));
	R(set_key(fd, TLS_TX, 1));
	R(set_key(fd, TLS_RX, 4));
	send_bytes(fd, 0, 100, 100);
	recv_bytes(fd, 0, 50000, 7000);
	send_bytes(fd, 100, 50000, 7000);
	with_upper_layer(fd);
	barrier("done");
	rec("end at %d", (int)recv_to_end(fd, 50000));
	close(fd);
	fd = make_socket(0);
	X(connect(fd, &a.sa, a.len));
	ping_pong(fd);
	check_mode(fd);
	barrier("end");
}

static void *take_layer(void *arg)
{
	struct worker *w = arg;

	w->ret = set_ulp(w->fd, "tls");
	w->err = w->ret ? errno : 0;
	return NULL;
}

/* Four threads try at once; one succeeds. */
static void contend(int fd)
{
	struct worker w[4] = { };
	int taken = 0, there = 0;

	for (int i = 0; i < 4; i++) {
		w[i].fd = fd;
		CHECK(!pthread_create(&w[i].thread, NULL, take_layer, &w[i]));
	}
	for (int i = 0; i < 4; i++) {
		worker_join(&w[i]);
		taken += !w[i].err;
		there += w[i].err == EEXIST;
	}
	rec("%d set it up, %d found it set up", taken, there);
}

static void kernel_tls_threads_server(void)
{
	int l = serve();

	for (int i = 0; i < many(10); i++) {
		int fd = accept_fallback(l);

		contend(fd);
		barrier("taken");
		X(set_key(fd, TLS_RX, 1));
		recv_bytes(fd, 0, 1000, 1000);
		close(fd);
	}
	barrier("done");
}

static void kernel_tls_threads_client(void)
{
	int port = ctl_get();

	for (int i = 0; i < many(10); i++) {
		int fd = make_socket(0);

		connect_fallback(fd, port);
		contend(fd);
		barrier("taken");
		X(set_key(fd, TLS_TX, 1));
		send_bytes(fd, 0, 1000, 1000);
		close(fd);
	}
	barrier("done");
}

/* A connection that may be SMC cannot get an upper layer protocol. */
static void upper_layer_refused(int fd)
{
	ping_pong(fd);
	check_mode(fd);
	if (me.var->smc && !me.any_mode)
		CHECK(set_ulp(fd, "tls") < 0 && errno == EOPNOTSUPP);
	barrier("tried");
	ping_pong(fd);
	barrier("done");
}

static void upper_layer_server(void)
{
	int l = serve();

	upper_layer_refused(X(accept(l, NULL, NULL)));
}

static void upper_layer_client(void)
{
	struct addr a = loopback(ctl_get());
	int fd = make_socket(0);

	R(set_ulp(fd, "tls"));
	R(connect(fd, &a.sa, a.len));
	upper_layer_refused(fd);
}

const struct test_case tls_cases[] = {
	CASE(kernel_tls, F_ROOT, "kernel TLS on a connection that fell back"),
	CASE(kernel_tls_threads, F_ROOT, "four threads set up kernel TLS at once"),
	CASE(upper_layer, F_ROOT, "a connection that may be SMC refuses TCP_ULP"),
	{ 0 }
};
