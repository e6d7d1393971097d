// SPDX-License-Identifier: GPL-2.0
/* The model of the group's surroundings: ports and paths, memory, connections, group.c. */
#include "sim.h"

struct sim_world sim;

struct net *sim_net(void)
{
	return &sim.ends[sim_here].net;
}

/* ---- ports and paths ---- */

static void port_event(struct sim_event *ev)
{
	struct sim_port *port = container_of(ev, struct sim_port, event);

	if (smc_rdma_dev_gone(&port->dev))
		smc_lgr_dev_removed(&port->dev);
	else
		smc_lgr_port_changed(&port->dev, 1);
}

/* The device is unplugged.  When it is plugged in again, it is a different device. */
void sim_port_remove(unsigned int end, unsigned int port)
{
	sim.ends[end].ports[port].dev.gone = true;
	sim_port_set(end, port, false);
}

/* Returns false if it still has users. */
static bool add_again(struct sim_port *port)
{
	if (sim_event_pending(&port->event) || port->dev.ref.n != 1)
		return false;
	port->dev.gone = false;
	port->dev.id += SIM_PORTS;
	return true;
}

void sim_port_set(unsigned int end, unsigned int port, bool up)
{
	struct sim_port *p = &sim.ends[end].ports[port];

	if (up && p->dev.gone && !add_again(p))
		return;
	SIM_LOG("port %u of end %u is %s", port, end,
		up ? "up" : p->dev.gone ? "removed" : "down");
	p->up = up;
	if (!up) {
		sim.harmed = true;
		sim.harmed_at = sim_now;
		sim_port_harmed(p);
	}
	if (!sim_event_pending(&p->event))
		sim_event_at(&p->event, sim_now + sim_below(sim_one_in(4) ? 300 : 3));
}

static void put_dev(struct smc_rdma_dev *dev)
{
	refcount_dec(&dev->ref);
}

void smc_rdma_path_put(struct smc_rdma_path *path)
{
	if (path->dev)
		put_dev(path->dev);
	path->dev = NULL;
}

void smc_rdma_path_copy(struct smc_rdma_path *to, const struct smc_rdma_path *from)
{
	*to = *from;
	if (to->dev)
		refcount_inc(&to->dev->ref);
}

bool smc_rdma_path_alive(const struct smc_rdma_path *path)
{
	return container_of(path->dev, struct sim_port, dev)->up;
}

bool smc_rdma_port_usable(const struct smc_rdma_dev *dev, u32 port)
{
	return container_of(dev, const struct sim_port, dev)->up;
}

static void path_at(struct sim_end *end, unsigned int port, struct smc_rdma_path *path)
{
	struct smc_rdma_dev *dev = &end->ports[port].dev;

	memset(path, 0, sizeof(*path));
	refcount_inc(&dev->ref);
	path->dev = dev;
	path->dev_id = dev->id;
	path->port = 1;
	path->gid_type = IB_GID_TYPE_ROCE_UDP_ENCAP;
	ipv6_addr_set_v4mapped(htobe32(0x0a000000 | (u32)(end - sim.ends) << 8 | (port + 1)),
			       (struct in6_addr *)&path->gid);
	path->mac[0] = 2;
	path->mac[4] = end - sim.ends;
	path->mac[5] = port + 1;
	path->mtu = 3;
}

int smc_rdma_path_second(const struct smc_rdma_network *network,
			 const struct smc_rdma_path *first, struct net *net,
			 const union ib_gid *peer_gid,
			 bool (*taken)(const struct smc_rdma_dev *dev, u8 port, void *arg),
			 void *arg, struct smc_rdma_path *path)
{
	struct sim_end *end = container_of(net, struct sim_end, net);
	unsigned int i;

	memset(path, 0, sizeof(*path));
	for (i = 0; i < end->n_ports; i++) {
		if (end->ports[i].dev.id == first->dev_id || !end->ports[i].up ||
		    taken(&end->ports[i].dev, 1, arg))
			continue;
		path_at(end, i, path);
		return 0;
	}
	return -ENOENT;
}

void smc_rdma_dev_releases(struct smc_rdma_dev *dev)
{
}

void smc_rdma_dev_released(struct smc_rdma_dev *dev)
{
}

void smc_rdma_dev_queue(struct smc_rdma_dev *dev, struct work_struct *work)
{
	work->ev.device = true;
	sim_queue_work(work, sim_below(sim_one_in(4) ? 5000 : 5), false);
}

/* ---- memory ---- */

struct smc_buf {
	struct smc_pools	*pools;
	struct smc_rmb		*rmb;
	bool			retired;
};

struct smc_pools *smc_pools_new(struct smc_mem_limit *limit, const struct smc_buf_ops *ops,
				void *owner)
{
	struct smc_pools *pools = kzalloc(sizeof(*pools), GFP_KERNEL);

	pools->owner = owner;
	pools->ops = ops;
	return pools;
}

static struct smc_rmb *new_buf(struct smc_pools *pools)
{
	struct smc_buf *buf;

	if (pools->n == SIM_RMBS)
		return NULL;
	buf = sim_alloc(sizeof(*buf));
	buf->pools = pools;
	buf->retired = false;
	buf->rmb = pools->ops->reg(pools->owner, buf);
	pools->rmbs[pools->n++] = buf->rmb;
	return buf->rmb;
}

void smc_pools_close(struct smc_pools *pools)
{
	struct smc_buf *buf;
	unsigned int i;

	for (i = 0; i < pools->n; i++) {
		buf = pools->rmbs[i]->buf;
		pools->ops->unreg(pools->owner, pools->rmbs[i]);
		sim_free(buf);
	}
	sim_free(pools);
}

bool smc_pools_any(struct smc_pools *pools, bool (*fn)(void *priv, void *arg), void *arg)
{
	unsigned int i;

	for (i = 0; i < pools->n; i++)
		if (fn(pools->rmbs[i], arg))
			return true;
	return false;
}

static bool is_used(struct smc_lgr *lgr, const struct smc_rmb *rmb)
{
	struct sim_end *end = sim_end_of(lgr);
	unsigned int i;

	for (i = 0; i < SIM_CONNS; i++)
		if (end->conns[i].state != SIM_CONN_NONE && end->conns[i].rmb == rmb)
			return true;
	return false;
}

/*
 * One stays, unless it is of an account without connections while another one has some. In this
 * model the choice decides which of the RMBs are of which account.
 */
void *smc_pools_retire(struct smc_pools *pools, bool (*may)(const void *priv),
		       unsigned long keep, bool *again)
{
	struct smc_rmb *unused = NULL, *rmb;
	bool others = false;
	unsigned int i, n = 0;

	for (i = 0; i < pools->n; i++) {
		rmb = pools->rmbs[i];
		if (rmb->buf->retired)
			continue;
		if (is_used(pools->owner, rmb)) {
			others = true;
			continue;
		}
		n++;
		if (may(rmb))
			unused = rmb;
	}
	if (!unused || (n < 2 && !(others && sim_one_in(2))))
		return NULL;
	unused->buf->retired = true;
	return unused;
}

void smc_buf_retired(struct smc_buf *buf)
{
	struct smc_pools *pools = buf->pools;
	unsigned int i;

	for (i = 0; pools->rmbs[i] != buf->rmb; i++)
		;
	pools->rmbs[i] = pools->rmbs[--pools->n];
	pools->ops->unreg(pools->owner, buf->rmb);
	sim_free(buf);
}

unsigned int smc_mem_rmbes(u32 size)
{
	return 1;
}

void *smc_mem_alloc(enum smc_mem mem, size_t bytes, gfp_t gfp)
{
	return NULL;
}

void smc_mem_free(void *mem, size_t bytes, void *priv)
{
}

void smc_buf_last(struct smc_buf *buf, bool last)
{
}

void *smc_buf_mem(const struct smc_buf *buf)
{
	return NULL;
}

size_t smc_buf_bytes(const struct smc_buf *buf)
{
	return PAGE_SIZE;
}

/* ---- report.c ---- */

void smc_lgr_report_up(struct smc_lgr *lgr, const struct smc_link *link)
{
}

void smc_lgr_report_moved(struct smc_lgr *lgr, const struct smc_link_move *move)
{
}

void smc_lgr_report_down(struct smc_lgr *lgr, const struct smc_link *link, void *caller)
{
}

void __smc_lgr_report_end(struct smc_lgr *lgr, enum smc_reason reason)
{
}

/* ---- group.c, active.c, lgr.c ---- */

struct smc_lgrs *smc_lgrs_of(const struct smc_lgr *lgr)
{
	return lgr->sn->lgrs;
}

void smc_lgr_get(struct smc_lgr *lgr)
{
	refcount_inc(&lgr->ref);
}

void smc_lgr_put(struct smc_lgr *lgr)
{
	if (!refcount_dec_and_test(&lgr->ref))
		return;
	sim_end_of(lgr)->lgr = NULL;
	sim_free_later(lgr);
}

void smc_lgr_wake_waiters(struct smc_lgr *lgr)
{
}

void smc_lgr_activate(struct smc_lgr *lgr)
{
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);

	spin_lock_bh(&lgrs->lock);
	if (lgr->state == SMC_LGR_NEW) {
		lgr->state = SMC_LGR_ACTIVE;
		smc_link_activate(smc_lgr_first_link(lgr));
	}
	spin_unlock_bh(&lgrs->lock);
	smc_llc_start_tests(lgr);
}

void smc_lgr_hop_changed(struct smc_link *link)
{
	smc_llc_kick(smc_link_lgr(link));
}

struct smc_lgr_conn *smc_lgr_next_conn(struct smc_lgr *lgr, unsigned long *token)
{
	struct smc_lgr_conn *lconn;

	while (*token < SIM_CONNS) {
		lconn = lgr->conns.slots[(*token)++];
		if (!lconn)
			continue;
		smc_conn_get(&lconn->msg.conn);
		return lconn;
	}
	return NULL;
}

/* Connections do not write into RMBs of the peer in this model. */
void smc_lgr_abort_rmb(struct smc_lgr *lgr, unsigned int rtoken)
{
}

bool smc_lgr_rmb_used(struct smc_lgr *lgr, unsigned int rtoken)
{
	return false;
}

/* Nor does the peer leave any unclosed. */
void smc_lgr_give_up(struct smc_lgr *lgr, bool places)
{
}

/* ---- connections ---- */

void smc_conn_get(struct smc_conn *c)
{
	refcount_inc(&c->ref);
}

void smc_conn_put(struct smc_conn *c)
{
	refcount_dec(&c->ref);
}

static struct sim_conn *to_conn(struct smc_conn *c)
{
	return container_of(c, struct sim_conn, l.msg.conn);
}

void smc_conn_notify(struct smc_conn *c)
{
	struct sim_conn *conn = to_conn(c);

	if (conn->state == SIM_CONN_ASKING && !sim_event_pending(&conn->again))
		sim_event_at(&conn->again, sim_now + sim_below(3));
}

/* Looks for buffers without users. */
void sim_retire(unsigned int end, bool now)
{
	struct smc_lgr *lgr = sim.ends[end].lgr;

	if (!lgr)
		return;
	spin_lock_bh(&lgr->sn->lgrs->lock);
	__smc_lgr_retire(lgr, now);
	spin_unlock_bh(&lgr->sn->lgrs->lock);
}

static void leave(struct sim_conn *conn)
{
	struct smc_lgr *lgr = conn->l.lgr;

	smc_llc_unwait(&conn->l);
	lgr->n_on_link[smc_lgr_link_index(lgr, conn->l.sender.link)]--;
	lgr->conns.slots[conn->l.token] = NULL;
	sim_event_cancel(&conn->again);
	conn->state = SIM_CONN_NONE;
	sim_retire(sim_end_nr(lgr), false);
	if (conn->l.msg.conn.ref.n != 1)
		sim_fail("a connection has references left");
	smc_lgr_put(lgr);
}

/* The application closes it soon. */
static void cut_off(struct smc_lgr_conn *lconn)
{
	struct sim_conn *conn = to_conn(&lconn->msg.conn);

	conn->state = SIM_CONN_CUT_OFF;
	sim_event_at(&conn->again, sim_now + sim_below(5));
}

static void move(struct smc_lgr_conn *lconn, struct smc_link_move *move)
{
	struct smc_lgr *lgr = lconn->lgr;

	if (lconn->sender.link != move->from)
		return;
	if (!move->to)
		sim_fail("a connection is moved, but to no link");
	lgr->n_on_link[smc_lgr_link_index(lgr, move->from)]--;
	lgr->n_on_link[smc_lgr_link_index(lgr, move->to)]++;
	lconn->sender.link = move->to;
}

/* The part of a handshake that involves the engine: does the peer know our RMB? */
static void handshake(struct sim_event *ev)
{
	struct sim_conn *conn = container_of(ev, struct sim_conn, again);
	struct smc_lgr *lgr = conn->l.lgr;
	int err = -ENOLINK;

	if (conn->state == SIM_CONN_CUT_OFF) {
		leave(conn);
		return;
	}
	mutex_lock(&lgr->setup_lock);
	if (!lgr->dead)
		err = smc_mem_register(conn->rmb);
	if (!err)
		err = smc_llc_begin_confirm_rkey(lgr, conn->rmb, &conn->l);
	if (!err) {
		conn->state = SIM_CONN_UP;
		sim_judge_confirmed(sim_here, conn->rmb);
	}
	mutex_unlock(&lgr->setup_lock);
	/* DELETE LINK may have been lost with another link, so the peer may still be busy with the
	 * first one.
	 */
	if (err == -EACCES && sim.prompt && !sim_alloc_failed() &&
	    sim_now - sim.harmed_at > 10 * HZ)
		sim_fail("the peer of end %u refuses to register an RMB", sim_here);
	if (err && err != -EAGAIN)
		leave(conn);
}

static struct smc_rmb *some_rmb(struct smc_lgr *lgr)
{
	struct smc_rmb *rmb = NULL;

	if (lgr->dead)
		return NULL;
	if (sim_below(3))
		rmb = new_buf(lgr->rmbs);
	if (!rmb)
		rmb = lgr->rmbs->rmbs[sim_below(lgr->rmbs->n)];
	return rmb->buf->retired ? NULL : rmb;
}

static struct sim_conn *unused_conn(struct sim_end *end)
{
	unsigned int i;

	for (i = 0; i < SIM_CONNS; i++)
		if (end->conns[i].state == SIM_CONN_NONE)
			return &end->conns[i];
	return NULL;
}

/* A connection enters the group. */
bool sim_conn_begin(unsigned int nr)
{
	struct sim_end *end = &sim.ends[nr];
	struct sim_conn *conn = unused_conn(end);
	struct smc_lgr *lgr = end->lgr;
	struct smc_link *link;
	struct smc_rmb *rmb;

	if (!conn || !lgr || lgr->state != SMC_LGR_ACTIVE)
		return false;
	link = smc_lgr_best_link(lgr);
	if (!link)
		return false;
	mutex_lock(&lgr->setup_lock);
	rmb = some_rmb(lgr);
	mutex_unlock(&lgr->setup_lock);
	/* The state may have changed meanwhile. */
	if (!rmb || end->lgr != lgr || lgr->state != SMC_LGR_ACTIVE)
		return false;
	memset(conn, 0, sizeof(*conn));
	conn->state = SIM_CONN_ASKING;
	conn->rmb = rmb;
	conn->again.fn = handshake;
	conn->again.end = nr;
	refcount_set(&conn->l.msg.conn.ref, 1);
	conn->l.cut_off = cut_off;
	conn->l.move = move;
	conn->l.sender.link = link;
	conn->l.token = conn - end->conns;
	INIT_LIST_HEAD(&conn->l.rkey_wait);
	smc_lgr_get(lgr);
	conn->l.lgr = lgr;
	lgr->n_on_link[smc_lgr_link_index(lgr, link)]++;
	lgr->conns.slots[conn->l.token] = &conn->l;
	/* The link may have been down already, see lose_link(). */
	smc_lgr_failover(lgr);
	sim_event_at(&conn->again, sim_now + sim_below(3));
	return true;
}

void sim_conn_close(unsigned int nr)
{
	struct sim_conn *conn = &sim.ends[nr].conns[sim_below(SIM_CONNS)];

	if (conn->state == SIM_CONN_UP)
		leave(conn);
}

/* ---- groups ---- */

static void no_work(struct work_struct *work)
{
}

/* Failover waits for completion handlers. */
static bool may_failover(const struct sim_event *ev)
{
	return !ev->running && !sim_handler_runs(ev->end);
}

static struct smc_lgr *new_group(struct sim_end *end, u8 version, u8 release)
{
	struct smc_lgr *lgr = kzalloc(sizeof(*lgr), GFP_KERNEL);
	struct smc_link *link;

	refcount_set(&lgr->ref, 1);
	INIT_LIST_HEAD(&lgr->waiters);
	lgr->sn = &end->sn;
	lgr->state = SMC_LGR_NEW;
	lgr->server = end == &sim.ends[SIM_SERVER];
	lgr->version = version;
	lgr->release = release;
	lgr->max_conns = 32;
	smc_lgr_for_each_link(lgr, link)
		smc_link_init(link, lgr);
	path_at(end, 0, &smc_lgr_first_link(lgr)->path);
	INIT_DELAYED_WORK(&lgr->idle_work, no_work);
	INIT_DELAYED_WORK(&lgr->close_work, no_work);
	smc_lgr_end_init(lgr);
	smc_lgr_release_init(lgr);
	lgr->end_work.waits = true;
	smc_lgr_failover_init(lgr);
	smc_lgr_retire_init(lgr);
	lgr->failover_work.ev.may = may_failover;
	smc_llc_init(lgr);
	list_add(&lgr->list, &end->lgrs.list);
	end->lgrs.n.n++;
	end->lgr = lgr;
	return lgr;
}

/* What CLC has exchanged before the first contact of LLC. */
static void exchange(struct smc_lgr *lgr, struct smc_lgr *peer)
{
	struct smc_link *link = smc_lgr_first_link(lgr), *other = smc_lgr_first_link(peer);

	link->peer_qpn = other->qp->qp_num;
	link->peer_psn = other->psn;
	link->peer_mtu = other->path.mtu;
	memcpy(link->peer_mac, other->path.mac, ETH_ALEN);
	link->peer_gid = other->path.gid;
}

static void attach(struct smc_lgr *lgr, struct smc_lgr *peer)
{
	struct smc_link *link = smc_lgr_first_link(lgr);
	const struct ib_mr *mr;
	struct smc_rmb *rmb;

	sim_here = sim_end_nr(lgr);
	link->hop.direct = true;
	smc_link_connect(link);
	mutex_lock(&lgr->setup_lock);
	rmb = new_buf(lgr->rmbs);
	smc_mem_register(rmb);
	mr = smc_mem_mr(rmb, link);
	mutex_unlock(&lgr->setup_lock);
	smc_mem_confirmed(rmb, true);
	smc_rtoken_add(peer, 0, mr->rkey, mr->iova);
}

void sim_make_groups(u8 version, u8 release, const u8 *max_links)
{
	struct smc_lgr *lgr[SIM_ENDS];
	unsigned int i;

	for (i = 0; i < SIM_ENDS; i++) {
		sim_here = i;
		lgr[i] = new_group(&sim.ends[i], version, release);
		lgr[i]->max_links = max_links[i];
		smc_link_create(smc_lgr_first_link(lgr[i]), &(struct smc_link_attr) {
				.number = smc_lgr_next_number(lgr[i]) });
		lgr[i]->rmbs = smc_pools_new(NULL, &smc_rmb_ops, lgr[i]);
		lgr[i]->txbufs = smc_pools_new(NULL, &smc_txbuf_ops, lgr[i]);
	}
	for (i = 0; i < SIM_ENDS; i++)
		exchange(lgr[i], lgr[!i]);
	for (i = 0; i < SIM_ENDS; i++)
		attach(lgr[i], lgr[!i]);
	/* The client begins after it has sent its Confirm, the server after it has received
	 * that.
	 */
	sim_here = SIM_CLIENT;
	smc_llc_first_contact(lgr[SIM_CLIENT]);
	sim_here = SIM_SERVER;
	smc_llc_first_contact(lgr[SIM_SERVER]);
}

void sim_end_group(unsigned int end)
{
	sim_here = end;
	if (sim.ends[end].lgr)
		smc_lgr_end(sim.ends[end].lgr, SMC_REASON_NONE);
}

void sim_hosts_reset(void)
{
	struct sim_port *port;
	struct sim_end *end;
	unsigned int i, p;

	for (i = 0; i < SIM_ENDS; i++) {
		end = &sim.ends[i];
		memset(end, 0, sizeof(*end));
		end->net.sn = &end->sn;
		end->sn.net = &end->net;
		end->sn.stats = &end->stats;
		end->sn.lgrs = &end->lgrs;
		INIT_LIST_HEAD(&end->lgrs.list);
		for (p = 0; p < SIM_PORTS; p++) {
			port = &end->ports[p];
			port->dev.id = p + 1;
			port->dev.ibdev = &port->ibdev;
			port->ibdev.name = "sim";
			port->ibdev.attrs.page_size_cap = PAGE_SIZE;
			port->ibdev.attrs.max_fast_reg_page_list_len = 512;
			port->up = true;
			port->event.fn = port_event;
			port->event.end = i;
			refcount_set(&port->dev.ref, 1);
		}
	}
}
