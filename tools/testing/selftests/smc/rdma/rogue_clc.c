// SPDX-License-Identifier: GPL-2.0
/* The rogue's handshakes: correct, until a case changes something. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rogue.h"

static int victim_l, victim_port;	/* where the victim listens */
static int raw_l, raw_port;		/* where we do */

static bool is_v1(const struct link *l)
{
	return l->version == SMC_CLC_V1;
}

static void settle(struct link *l, enum role role, enum flavour flavour)
{
	l->server = role == SERVER;
	l->version = flavour == V1 ? SMC_CLC_V1 : SMC_CLC_V2;
	l->release = flavour == V21 || flavour == V21_TWO;
	/* If it is not negotiated, the maximum is two. */
	l->max_links = flavour == V21 ? 1 : 2;
	l->max_conns = l->release ? 32 : 0;
}

void clc_offer_v2(struct smc_clc_proposal *p)
{
	p->version = SMC_CLC_V2;
	p->smcr_v2 = true;
	memcpy(p->roce_gid, dev.gid, 16);
	p->eid_count = 1;
	memset(p->eids[0], ' ', SMC_EID_LEN);
	memcpy(p->eids[0], ROGUE_EID, strlen(ROGUE_EID));
}

static struct smc_clc_proposal proposal_of(const struct link *l)
{
	struct smc_clc_proposal p = {
		.version = l->version, .release = l->release,
		.smcr_v1 = is_v1(l),
		.max_conns = l->max_conns, .max_links = l->release ? l->max_links : 0,
		.features = l->release ? SMC_CLC_FEAT_EMULATED_ISM : 0,
	};

	memcpy(p.peer_id, l->peer_id, 8);
	memcpy(p.mac, dev.mac, 6);
	if (is_v1(l)) {
		memcpy(p.gid, dev.gid6, 16);
		p.has_prefix = true;
		p.ipv4_mask = htobe32(0x0a010000);
		p.ipv4_prefix_len = 24;
	} else {
		clc_offer_v2(&p);
	}
	return p;
}

static void put_proposal(int raw, const struct smc_clc_proposal *p)
{
	struct message m;
	int len = smc_clc_encode_proposal(p, m.b, sizeof(m.b));

	if (len < 0)
		give_up("the Proposal has no encoding");
	put_bytes(raw, m.b, len);
}

void clc_propose(struct conn *c, const struct twist *twist)
{
	struct smc_clc_proposal p = proposal_of(c->l);

	if (twist && twist->proposal)
		twist->proposal(&p);
	put_proposal(c->s.raw, &p);
}

/* Our description of ourselves in Accept or Confirm. */
static void clc_describe(const struct conn *c, struct smc_clc_accept *a)
{
	const struct link *l = c->l;
	bool first = c->idx == 1;

	memset(a, 0, sizeof(*a));
	a->confirm = !l->server;
	a->version = l->version;
	a->first_contact = first && (l->server || !is_v1(l));
	if (!is_v1(l)) {
		memset(a->eid, ' ', SMC_EID_LEN);
		memcpy(a->eid, ROGUE_EID, strlen(ROGUE_EID));
		a->has_fce = first;
	}
	memcpy(a->peer_id, l->peer_id, 8);
	memcpy(a->roce_gid, is_v1(l) ? l->dev->gid6 : l->dev->gid, 16);
	memcpy(a->mac, l->dev->mac, 6);
	a->qpn = l->qp->qp_num;
	a->rkey = l->rmb_mr->rkey;
	a->rmb_addr = (uintptr_t)l->rmb;
	a->rmbe_idx = c->idx;
	a->mtu = SMC_CLC_MTU_256 + 2;
	a->alert_token = c->token;
	a->psn = l->psn;
	if (!a->has_fce)
		return;
	a->v2_direct = true;
	a->release = l->release;
	a->os_type = SMC_CLC_OS_LINUX;
	strcpy(a->hostname, "rogue");
	if (l->release) {
		a->max_conns = l->max_conns;
		a->max_links = l->max_links;
		a->features = SMC_CLC_FEAT_EMULATED_ISM;
	}
	if (a->confirm) {
		a->n_gid_list = 1 + (dev2.ctx && l->max_links > 1);
		memcpy(a->gid_list[0], dev.gid, 16);
		memcpy(a->gid_list[1], dev2.gid, 16);
	}
}

static void clc_send(const struct conn *c, const struct smc_clc_accept *a,
		     const struct twist *twist)
{
	static struct message m;
	int len = smc_clc_encode_accept(a, m.b, sizeof(m.b));

	if (len < 0)
		give_up("the Accept has no encoding");
	m.len = len;
	if (twist && twist->bytes)
		twist->bytes(&m);
	put_bytes(c->s.raw, m.b, m.len);
}

static void describe(const struct conn *c, const struct twist *twist)
{
	struct smc_clc_accept a;

	clc_describe(c, &a);
	if (twist && twist->accept)
		twist->accept(&a);
	clc_send(c, &a, twist);
}

/* Does the address of the victim's RMB reveal nothing about its kernel?  (D3) */
bool addr_is_harmless(uint64_t addr)
{
	return (addr && !(addr >> 63)) ||
	       BAD("the victim's RMB has the address %016llx", (unsigned long long)addr);
}

/* A server chooses the link of a connection and sends the RMB's key for that link. */
static void find_link(struct conn *c)
{
	struct link *l;

	for (l = c->l->first; l; l = l->next)
		if (l->peer_qpn == c->peer.qpn && !memcmp(l->peer_gid, c->peer.roce_gid, 16))
			break;
	if (!l)
		give_up("the victim names another link");
	if (!c->l->server)
		c->l = l;
	for (unsigned int i = 0; i < l->n_theirs; i++)
		if (l->theirs[i].rkey == c->peer.rkey)
			c->name = l->theirs[i].name;
	if (c->l != l)
		conn_move(c, c->l);
}

/* The victim's Accept or Confirm, and what follows from it. */
static void read_peer(struct conn *c)
{
	enum reaction wanted = c->l->server ? GOT_CONFIRM : GOT_ACCEPT;
	static struct message m;
	struct link *l = c->l;
	enum reaction r;

	/* The victim may announce an RMB first. */
	for (int i = 0; l->connected && i < WAIT_MS / 10; i++) {
		if (wait_mask(c->s.raw, POLLIN, 10))
			break;
		if (l->group)
			group_take(l, 0);
		else
			llc_serve(l);
	}
	r = get_message(c->s.raw, &m, WAIT_MS);
	if (r != wanted)
		give_up("%s of the victim instead of %s", reaction_names(r),
			reaction_names(wanted));
	if (smc_clc_decode_accept(m.b, m.len, &c->peer))
		give_up("the victim's %s is invalid", reaction_names(wanted));
	if (!addr_is_harmless(c->peer.rmb_addr))
		give_up("%s", why);
	c->peer_size = smc_clc_size_to_bytes(c->peer.rmbe_size);
	c->peer_addr = c->peer.rmb_addr + (uint64_t)(c->peer.rmbe_idx - 1) * c->peer_size;
	c->name = c->peer.rkey;
	if (c->idx > 1) {
		find_link(c);
		return;
	}
	l->peer_qpn = c->peer.qpn;
	l->peer_psn = c->peer.psn;
	l->peer_mtu = c->peer.mtu;
	memcpy(l->peer_gid, c->peer.roce_gid, 16);
	memcpy(l->peer_mac, c->peer.mac, 6);
	l->n_theirs = 1;
	l->theirs[0] = (struct their_rmb) { c->name, c->name, c->peer.rmb_addr };
	if (c->peer.has_fce && l->release) {
		l->max_conns = c->peer.max_conns;
		l->max_links = c->peer.max_links;
	}
}

static void connect_first(struct conn *c)
{
	if (c->idx == 1 && !link_connect(c->l))
		give_up("the queue pair does not connect");
}

void clc_wrong_rkey(struct smc_clc_accept *a)
{
	a->rkey ^= 0x100;
}

void clc_confirm(struct conn *c, const struct twist *twist)
{
	connect_first(c);
	describe(c, twist);
}

/* As client at AT_CLC. The victim's data will show that it has received the Confirm. */
void clc_rest(struct conn *c)
{
	clc_confirm(c, NULL);
}

bool clc_peer(struct conn *c)
{
	read_peer(c);
	return true;
}

static void decline(const struct conn *c, bool out_of_sync)
{
	struct smc_clc_decline d = { .version = c->l->version, .diagnosis = 0x0badcafe,
				     .out_of_sync = out_of_sync,
				     .has_types = c->l->version != SMC_CLC_V1 };
	uint8_t b[SMC_CLC_MAX_LEN];
	int len;

	memcpy(d.peer_id, c->l->peer_id, 8);
	len = smc_clc_encode_decline(&d, b, sizeof(b));
	if (len < 0)
		give_up("the Decline has no encoding");
	put_bytes(c->s.raw, b, len);
}

void clc_decline(const struct conn *c)
{
	decline(c, false);
}

void clc_out_of_sync(const struct conn *c)
{
	decline(c, true);
}

static void begin_client(struct scene *s)
{
	s->raw = raw_connect(victim_port);
	s->victim = accept_in_time(victim_l);
}

struct scene clc_stranger(const uint8_t *gid)
{
	static const struct link nobody = {
		.version = SMC_CLC_V2, .release = 1, .max_links = 1, .max_conns = 32,
		.peer_id = "stranger",
	};
	struct smc_clc_proposal p = proposal_of(&nobody);
	struct scene s = { 0 };

	memcpy(p.roce_gid, gid, sizeof(p.roce_gid));
	begin_client(&s);
	put_proposal(s.raw, &p);
	return s;
}

static void begin_server(struct conn *c)
{
	struct message m;

	c->s.victim = victim_connect(raw_port);
	c->s.raw = accept_in_time(raw_l);
	if (get_message(c->s.raw, &m, WAIT_MS) != GOT_PROPOSAL)
		give_up("the victim sent no Proposal");
}

static void go_client(struct conn *c, enum stage until, const struct twist *twist)
{
	begin_client(&c->s);
	if (until == AT_TCP)
		return;
	clc_propose(c, twist);
	read_peer(c);
	if (until != AT_CLC)
		clc_confirm(c, twist);
}

static void go_server(struct conn *c, enum stage until, const struct twist *twist)
{
	begin_server(c);
	if (until == AT_TCP)
		return;
	describe(c, twist);
	if (until == AT_CLC)
		return;
	read_peer(c);
	connect_first(c);
}

static void go(struct conn *c, enum stage until, const struct twist *twist)
{
	if (c->l->server)
		go_server(c, until, twist);
	else
		go_client(c, until, twist);
}

/* The Confirm was sent or received; the server continues with CONFIRM LINK. */
static void go_link(struct link *l, enum stage until)
{
	struct smc_llc_msg m;

	if (!l->server && !llc_expect(l, SMC_LLC_CONFIRM_LINK, false, &m))
		give_up("CONFIRM LINK did not arrive: %s", why);
	if (until == AT_LINK)
		return;
	if (!llc_confirm(l))
		give_up("CONFIRM LINK: %s", why);
	if (until == AT_ADD_LINK || l->max_links == 1)
		return;
	if (!llc_add(l))
		give_up("ADD LINK: %s", why);
}

struct conn *conn_begin(enum role role, enum flavour flavour, enum stage until,
			const struct twist *twist)
{
	struct link *l = link_new();
	struct conn *c = conn_new(l);

	settle(l, role, flavour);
	go(c, until, twist);
	if (until >= AT_LINK && !twist)
		go_link(l, until);
	return c;
}

struct conn *conn_more(struct conn *first, enum stage until, const struct twist *twist)
{
	struct conn *c = conn_new(first->l);

	go(c, until, twist);
	return c;
}

struct conn *conn_over(struct link *l)
{
	struct conn *c = conn_new(l->server ? l : l->first);

	go(c, AT_UP, NULL);
	if (c->l != l)
		give_up("the victim requests another link");
	return c;
}

void clc_close(void)
{
	close(victim_l);
	close(raw_l);
}

/* Called again to use another address: the old listeners are closed. */
void clc_open(void)
{
	if (victim_port)
		clc_close();
	victim_l = victim_listen(&victim_port);
	raw_l = raw_listen(&raw_port);
}
