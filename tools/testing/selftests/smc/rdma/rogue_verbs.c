// SPDX-License-Identifier: GPL-2.0
/* The rogue's RDMA device, and queue pairs on it. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "rogue.h"

#define N_RX		64
#define RX_SIZE		SMC_LLC_V2_MAX_LEN
#define N_TX		32
#define TX_SIZE		32768u
#define RX_ID		(1ull << 32)

struct rogue_dev dev, dev2;
bool link_deaf;

static bool sysfs(const char *path, char *text, size_t len)
{
	FILE *f = fopen(path, "r");
	bool ok = f && fgets(text, len, f);

	if (f)
		fclose(f);
	return ok;
}

static bool is_v2(const char *name, int i)
{
	char path[128], text[64] = "";

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gid_attrs/types/%d",
		 name, i);
	return sysfs(path, text, sizeof(text)) && strstr(text, "v2");
}

static void find_gids(struct rogue_dev *d, const char *name, const char *address)
{
	uint8_t wanted[16] = { [10] = 0xff, [11] = 0xff };
	union ibv_gid gid;

	if (inet_pton(AF_INET, address, wanted + 12) != 1)
		give_up("no address %s", address);
	d->gid_index = d->gid6_index = -1;
	for (int i = 0; i < 64 && !ibv_query_gid(d->ctx, 1, i, &gid); i++) {
		if (!is_v2(name, i))
			continue;
		if (!memcmp(gid.raw, wanted, 16)) {
			d->gid_index = i;
			memcpy(d->gid, gid.raw, 16);
		} else if (gid.raw[0] == 0xfe && gid.raw[1] == 0x80) {
			d->gid6_index = i;
			memcpy(d->gid6, gid.raw, 16);
		}
	}
	if (d->gid_index < 0 || d->gid6_index < 0)
		give_up("%s has no GID for %s, or no link-local one", name, address);
}

void dev_open(struct rogue_dev *d, const char *name, const char *netdev, const char *address)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **found;
	char path[128], text[64] = "";
	unsigned int mac[6];

	for (found = list; found && *found && strcmp(ibv_get_device_name(*found), name); found++)
		;
	if (!found || !*found)
		give_up("no RDMA device %s", name);
	d->ctx = ibv_open_device(*found);
	d->pd = d->ctx ? ibv_alloc_pd(d->ctx) : NULL;
	if (!d->pd)
		give_up("cannot open %s", name);
	ibv_free_device_list(list);
	find_gids(d, name, address);
	snprintf(path, sizeof(path), "/sys/class/net/%s/address", netdev);
	if (!sysfs(path, text, sizeof(text)) ||
	    sscanf(text, "%x:%x:%x:%x:%x:%x", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4],
		   &mac[5]) != 6)
		give_up("no address of %s", netdev);
	for (int i = 0; i < 6; i++)
		d->mac[i] = mac[i];
}

/* @p: NULL to allocate memory. */
static struct ibv_mr *memory(const struct rogue_dev *d, uint8_t **p, size_t len, int access)
{
	struct ibv_mr *mr;

	if (!*p) {
		*p = aligned_alloc(4096, len);
		if (!*p)
			give_up("memory");
		memset(*p, 0, len);
	}
	mr = ibv_reg_mr(d->pd, *p, len, access);
	if (!mr)
		give_up("ibv_reg_mr");
	return mr;
}

static void post_rx(struct link *l, unsigned int i)
{
	struct ibv_sge sge = { .addr = (uintptr_t)(l->rx + i * RX_SIZE), .length = RX_SIZE,
			       .lkey = l->rx_mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = RX_ID | i, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (!ibv_post_recv(l->qp, &wr, &bad))
		l->n_rx++;
}

static void init_qp(struct link *l)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
	};

	if (ibv_modify_qp(l->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS))
		give_up("the queue pair does not enter INIT");
	for (unsigned int i = 0; i < N_RX; i++)
		post_rx(l, i);
}

static void create_qp(struct link *l)
{
	struct ibv_qp_init_attr init = {
		.send_cq = l->cq, .recv_cq = l->cq, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = N_TX, .max_recv_wr = N_RX, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	l->qp = ibv_create_qp(l->dev->pd, &init);
	if (!l->qp)
		give_up("no queue pair");
	init_qp(l);
}

static struct link *make_link(struct rogue_dev *d, uint8_t *rmb)
{
	static unsigned int n;
	struct link *l = calloc(1, sizeof(*l));

	if (!l)
		give_up("memory");
	l->dev = d;
	l->first = l;
	l->psn = (++n * 7919) & 0xffffff;
	/* Each link has a different peer ID, so existing link groups are never reused by
	 * accident.
	 */
	memcpy(l->peer_id, "\0\0rogue\0", 8);
	l->peer_id[0] = n >> 8;
	l->peer_id[1] = n;
	l->number = 1;
	l->rmb = rmb;
	l->channel = ibv_create_comp_channel(d->ctx);
	l->cq = l->channel ? ibv_create_cq(d->ctx, N_RX + N_TX + 8, NULL, l->channel, 0) : NULL;
	if (!l->cq || ibv_req_notify_cq(l->cq, 0))
		give_up("no completion queue");
	l->rmb_mr = memory(d, &l->rmb, N_ELEMS * ELEM_SIZE,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	l->rx_mr = memory(d, &l->rx, N_RX * RX_SIZE, IBV_ACCESS_LOCAL_WRITE);
	l->tx_mr = memory(d, &l->tx, N_TX * TX_SIZE, IBV_ACCESS_LOCAL_WRITE);
	create_qp(l);
	return l;
}

struct link *link_new(void)
{
	return make_link(&dev, NULL);
}

struct link *link_new_of(struct link *first, struct rogue_dev *d)
{
	struct link *l = make_link(d, first->rmb), *last = first;

	while (last->next)
		last = last->next;
	last->next = l;
	l->first = first;
	l->number = last->number + 1;
	l->server = first->server;
	l->version = first->version;
	l->release = first->release;
	l->max_links = first->max_links;
	l->max_conns = first->max_conns;
	memcpy(l->peer_id, first->peer_id, sizeof(l->peer_id));
	return l;
}

bool link_connect(struct link *l)
{
	bool v1 = l->version == SMC_CLC_V1;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = l->peer_qpn,
		.rq_psn = l->peer_psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 8,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .sgid_index = v1 ? l->dev->gid6_index :
						   l->dev->gid_index,
				      .hop_limit = 64 } },
	};

	memcpy(attr.ah_attr.grh.dgid.raw, l->peer_gid, 16);
	if (link_deaf)
		attr.rq_psn = (l->peer_psn - 5) & 0xffffff;
	if (l->peer_mtu < attr.path_mtu)
		attr.path_mtu = l->peer_mtu;
	if (ibv_modify_qp(l->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			  IBV_QP_MIN_RNR_TIMER))
		return false;
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 17;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.sq_psn = l->psn;
	attr.max_rd_atomic = 1;
	l->connected = !ibv_modify_qp(l->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
				      IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				      IBV_QP_MAX_QP_RD_ATOMIC);
	return l->connected;
}

void link_break(struct link *l)
{
	if (l->qp)
		ibv_destroy_qp(l->qp);
	l->qp = NULL;
}

void link_fail(struct link *l)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (l->qp && ibv_modify_qp(l->qp, &attr, IBV_QP_STATE))
		give_up("the queue pair does not fail");
}

void link_shut(struct link *l, unsigned int left)
{
	l->shut = true;
	llc_use_up(l, left);
}

void link_reopen(struct link *l)
{
	l->shut = false;
	for (unsigned int i = 0; i < N_RX; i++)
		post_rx(l, i);
}

void link_free(struct link *l)
{
	if (l->next)
		link_free(l->next);
	link_break(l);
	ibv_destroy_cq(l->cq);
	ibv_destroy_comp_channel(l->channel);
	ibv_dereg_mr(l->rmb_mr);
	ibv_dereg_mr(l->rx_mr);
	ibv_dereg_mr(l->tx_mr);
	if (l->first == l) {
		free(l->rmb);
		group_free(l);
	}
	free(l->rx);
	free(l->tx);
	while (l->in_head != l->in_tail)
		free(l->in[l->in_head++ % MAX_QUEUED]);
	free(l);
}

static void received(struct link *l, const struct ibv_wc *wc)
{
	unsigned int i = wc->wr_id & 0xffffffff;
	struct msg *m = malloc(sizeof(*m));

	if (!m || l->in_tail - l->in_head == MAX_QUEUED)
		give_up("the victim sends more than we can store");
	m->len = wc->byte_len;
	memcpy(m->b, l->rx + i * RX_SIZE, m->len);
	l->in[l->in_tail++ % MAX_QUEUED] = m;
	l->n_rx--;
	if (!l->shut)
		post_rx(l, i);
}

static void pump(struct link *l)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(l->cq, 1, &wc) == 1) {
		if (!(wc.wr_id & RX_ID))
			l->n_done++;
		if (wc.status) {
			if (!(wc.wr_id & RX_ID) && !l->send_error)
				l->send_error = wc.status;
		} else if (wc.wr_id & RX_ID) {
			received(l, &wc);
		}
	}
}

long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Processes completions that are there, or else those that arrive by @until. */
static void wait_pump(struct link *l, long until)
{
	struct pollfd p = { .fd = l->channel->fd, .events = POLLIN };
	long left = until - now_ms();
	struct ibv_cq *cq;
	void *context;

	if (poll(&p, 1, left > 0 ? left : 0) == 1 &&
	    !ibv_get_cq_event(l->channel, &cq, &context)) {
		ibv_ack_cq_events(cq, 1);
		ibv_req_notify_cq(cq, 0);
	}
	pump(l);
}

struct msg *link_recv(struct link *l, int ms)
{
	long until = now_ms() + ms;

	pump(l);
	while (l->in_head == l->in_tail) {
		if (now_ms() >= until && ms)
			return NULL;
		wait_pump(l, until);
		if (!ms)
			break;
	}
	return l->in_head == l->in_tail ? NULL : l->in[l->in_head++ % MAX_QUEUED];
}

bool link_flush(struct link *l, int ms)
{
	long until = now_ms() + ms;

	pump(l);
	while (l->n_done != l->n_sent && now_ms() < until)
		wait_pump(l, until);
	return l->n_done == l->n_sent && !l->send_error;
}

void link_renew(struct link *l)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	if (ibv_modify_qp(l->qp, &attr, IBV_QP_STATE))
		give_up("the queue pair is not reset");
	pump(l);
	l->connected = false;
	l->send_error = 0;
	l->n_sent = l->n_done = 0;
	l->n_rx = 0;
	l->n_theirs = 0;
	ibv_dereg_mr(l->rmb_mr);
	l->rmb_mr = memory(l->dev, &l->rmb, N_ELEMS * ELEM_SIZE,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	init_qp(l);
}

static void tell_counters(const char *device)
{
	static const char * const names[] = {
		"sent_pkts", "rcvd_pkts", "duplicate_request", "out_of_seq_request",
		"rcvd_rnr_err", "send_rnr_err", "rcvd_seq_err", "ack_deferred",
		"retry_exceeded_err", "completer_retry_err", "send_err",
	};
	char path[128], text[32];

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters/%s",
			 device, names[i]);
		if (sysfs(path, text, sizeof(text)))
			printf("# %s %s %s", device, names[i], text);
	}
}

const char *link_state(struct link *l)
{
	static char text[160];
	struct pollfd p = { .fd = -1, .events = POLLIN };
	uint8_t clc[8] = { 0 };
	long n = 0;

	tell_counters("rxe0");
	tell_counters("rxe1");
	for (unsigned int i = 0; i < l->n_conns; i++)
		if (l->conns[i])
			p.fd = l->conns[i]->s.raw;
	if (p.fd >= 0 && poll(&p, 1, 0) == 1)
		n = recv(p.fd, clc, sizeof(clc), MSG_PEEK | MSG_DONTWAIT);
	snprintf(text, sizeof(text),
		 "%u of %u posts are acknowledged, status %d; %u receive buffers; "
		 "TCP: %ld bytes, revents %x, CLC type %u",
		 l->n_done, l->n_sent, l->send_error, l->n_rx, n, p.revents, clc[4]);
	return text;
}

static void post(struct link *l, struct ibv_send_wr *wr, const void *b, size_t len)
{
	uint8_t *buf = l->tx + l->n_sent % N_TX * TX_SIZE;
	struct ibv_sge sge = { .addr = (uintptr_t)buf, .length = len, .lkey = l->tx_mr->lkey };
	struct ibv_send_wr *bad;
	long until = now_ms() + slow(10000);

	if (!l->qp || l->stalled)
		return;
	if (len > TX_SIZE)
		give_up("cannot post %zu bytes", len);
	while (l->n_sent - l->n_done >= N_TX - 1) {
		/* There may not even be an error: soft-RoCE can hang. */
		if (now_ms() >= until) {
			l->stalled = true;
			return;
		}
		wait_pump(l, until);
	}
	memcpy(buf, b, len);
	wr->wr_id = l->n_sent;
	wr->sg_list = &sge;
	wr->num_sge = 1;
	if (!ibv_post_send(l->qp, wr, &bad))
		l->n_sent++;
}

void link_send(struct link *l, const void *b, size_t len)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SOLICITED };

	post(l, &wr, b, len);
}

void link_write(struct link *l, const void *b, size_t len, uint64_t addr, uint32_t rkey)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE };

	wr.wr.rdma.remote_addr = addr;
	wr.wr.rdma.rkey = rkey;
	post(l, &wr, b, len);
}

void link_request(struct link *l, enum ibv_wr_opcode opcode, const void *b, size_t len,
		  uint64_t addr, uint32_t rkey)
{
	struct ibv_send_wr wr = { .opcode = opcode, .imm_data = htobe32(0x12345678) };

	switch (opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
		break;
	case IBV_WR_SEND_WITH_INV:
		wr.invalidate_rkey = rkey;
		break;
	default:
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = rkey;
	}
	post(l, &wr, b, len);
}
