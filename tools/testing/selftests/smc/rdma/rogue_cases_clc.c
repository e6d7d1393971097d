// SPDX-License-Identifier: GPL-2.0
/* CLC messages of SMC-R with one wrong field, in first and in further contacts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "rogue.h"

/* ---- one field of Proposal, Accept or Confirm ---- */

static void p_gid_zero(struct smc_clc_proposal *p)
{
	memset(p->roce_gid, 0, 16);
}

static void p_gid_multicast(struct smc_clc_proposal *p)
{
	p->roce_gid[12] = 0xe0;
}

static void p_gid_multicast6(struct smc_clc_proposal *p)
{
	memset(p->roce_gid, 0xff, 16);
}

static void p_gid_loopback(struct smc_clc_proposal *p)
{
	p->roce_gid[12] = 127;
}

static void p_gid_broadcast(struct smc_clc_proposal *p)
{
	memset(p->roce_gid + 12, 255, 4);
}

static void p_gid_ipv6(struct smc_clc_proposal *p)
{
	memset(p->roce_gid, 0, 12);
	p->roce_gid[0] = 0x20;
}

static void p_mac_multicast(struct smc_clc_proposal *p)
{
	p->mac[0] |= 1;
}

static void p_eid(struct smc_clc_proposal *p)
{
	p->eids[0][0] ^= 1;
}

static void p_no_eid(struct smc_clc_proposal *p)
{
	p->eid_count = 0;
}

static void a_idx_0(struct smc_clc_accept *a)
{
	a->rmbe_idx = 0;
}

static void a_overflow(struct smc_clc_accept *a)
{
	a->rmb_addr = UINT64_MAX - 100;
}

static void a_qpn_0(struct smc_clc_accept *a)
{
	a->qpn = 0;
}

static void a_qpn_1(struct smc_clc_accept *a)
{
	a->qpn = 1;
}

static void a_qpn_multicast(struct smc_clc_accept *a)
{
	a->qpn = 0xffffff;
}

static void a_qpn_other(struct smc_clc_accept *a)
{
	a->qpn ^= 0x100;
}

static void a_gid_zero(struct smc_clc_accept *a)
{
	memset(a->roce_gid, 0, 16);
}

static void a_gid_multicast(struct smc_clc_accept *a)
{
	a->roce_gid[12] = 0xe0;
}

static void a_gid_loopback(struct smc_clc_accept *a)
{
	a->roce_gid[12] = 127;
}

static void a_gid_other(struct smc_clc_accept *a)
{
	a->roce_gid[15] ^= 8;
}

static void a_gid_ipv6(struct smc_clc_accept *a)
{
	memset(a->roce_gid, 0, 12);
	a->roce_gid[0] = 0x20;
}

static void a_mac_zero(struct smc_clc_accept *a)
{
	memset(a->mac, 0, 6);
}

static void a_mac_multicast(struct smc_clc_accept *a)
{
	a->mac[0] |= 1;
}

static void a_mac_other(struct smc_clc_accept *a)
{
	a->mac[5] ^= 1;
}

static void a_peer_id(struct smc_clc_accept *a)
{
	a->peer_id[7] ^= 1;
}

static void a_eid(struct smc_clc_accept *a)
{
	a->eid[0] ^= 1;
}

static void a_not_first(struct smc_clc_accept *a)
{
	a->first_contact = a->has_fce = false;
	a->n_gid_list = 0;
}

static void a_max_conns(struct smc_clc_accept *a)
{
	a->max_conns++;
}

static void a_max_links(struct smc_clc_accept *a)
{
	a->max_links = 2;
}

static void a_addr(struct smc_clc_accept *a)
{
	a->rmb_addr += 4096;
}

static uint8_t byte_value;

static void b_mtu(struct message *m)
{
	struct smc_clc_w_smcr *w = (void *)m->b;

	w->size_mtu = (w->size_mtu & 0xf0) | byte_value;
}

static void a_vendor(struct smc_clc_accept *a)
{
	memset(a->vendor, 1, sizeof(a->vendor));
}

static void a_release_0(struct smc_clc_accept *a)
{
	a->release = a->max_conns = a->max_links = a->features = 0;
}

/* The first contact extension follows the 104 bytes of the base. */
static void b_release(struct message *m)
{
	m->b[105] = (m->b[105] & 0xf0) | byte_value;
}

static void b_max_conns(struct message *m)
{
	m->b[104 + 36] = byte_value;
}

static void b_max_links(struct message *m)
{
	m->b[104 + 37] = byte_value;
}

static void b_features(struct message *m)
{
	m->b[104 + 38] |= 0x80;
}

static void b_gids(struct message *m)
{
	m->b[104 + 52] = byte_value;
}

static void b_type_smcd(struct message *m)
{
	memcpy(m->b, SMC_CLC_EYE_SMCD, 4);
	memcpy(m->b + m->len - 4, SMC_CLC_EYE_SMCD, 4);
}

static void b_version(struct message *m)
{
	m->b[7] = (m->b[7] & 0x0f) | byte_value << 4;
}

struct wrong {
	enum role role;
	enum flavour flavour;
	unsigned int outcome;		/* enum reaction */
	const char *what;
	struct twist twist;
	uint8_t value;
	uint32_t reason;		/* what the victim's Decline must say, 0: not checked */
};

#define PROPOSAL(o, f, w, ...)	{ CLIENT, V21, o, "Proposal: " w, { .proposal = f }, 0, __VA_ARGS__ }
#define ACCEPT(o, f, w, ...)	{ SERVER, V21, o, "Accept: " w, { .accept = f }, 0, __VA_ARGS__ }
#define CONFIRM(o, f, w, ...)	{ CLIENT, V21, o, "Confirm: " w, { .accept = f }, 0, __VA_ARGS__ }
#define ACCEPT_B(o, f, v, w, ...)	{ SERVER, V21, o, "Accept: " w, { .bytes = f }, v, __VA_ARGS__ }
#define CONFIRM_B(o, f, v, w, ...)	{ CLIENT, V21, o, "Confirm: " w, { .bytes = f }, v, __VA_ARGS__ }

/*
 * Instead of an Accept or Confirm a Decline can be sent, whatever is wrong with the values (C.1).
 * A wrong Confirm causes a reset. An unknown enumeration in it causes a Decline (C.6), and so do
 * values of version 2.1 that differ from the Accept (the paper, v2.1 negotiation, 5c).
 */
static const struct wrong wrongs[] = {
	PROPOSAL(GOT_DECLINE, p_gid_zero, "GID 0"),
	PROPOSAL(GOT_DECLINE, p_gid_multicast, "a multicast GID"),
	PROPOSAL(GOT_DECLINE, p_gid_multicast6, "an IPv6 multicast GID"),
	PROPOSAL(GOT_DECLINE, p_gid_loopback, "a loopback GID"),
	PROPOSAL(GOT_DECLINE, p_gid_broadcast, "a broadcast GID"),
	PROPOSAL(GOT_DECLINE, p_gid_ipv6, "an IPv6 GID over IPv4"),
	PROPOSAL(GOT_DECLINE, p_mac_multicast, "a multicast MAC address"),
	PROPOSAL(GOT_DECLINE, p_eid, "another EID", SMC_REASON_NO_COMMON_EID),
	PROPOSAL(GOT_DECLINE, p_no_eid, "no EID"),

	ACCEPT(GOT_DECLINE, a_idx_0, "RMBE index 0"),
	ACCEPT(GOT_DECLINE, a_overflow, "an RMB at the end of the address space"),
	ACCEPT(GOT_DECLINE, a_qpn_0, "QP number 0"),
	ACCEPT(GOT_DECLINE, a_qpn_1, "QP number 1"),
	ACCEPT(GOT_DECLINE, a_qpn_multicast, "QP number ffffff"),
	ACCEPT(GOT_DECLINE, a_gid_zero, "GID 0"),
	ACCEPT(GOT_DECLINE, a_gid_multicast, "a multicast GID"),
	ACCEPT(GOT_DECLINE, a_gid_loopback, "a loopback GID"),
	ACCEPT(GOT_DECLINE, a_gid_ipv6, "an IPv6 GID over IPv4"),
	ACCEPT(GOT_DECLINE, a_mac_zero, "MAC address 0"),
	ACCEPT(GOT_DECLINE, a_mac_multicast, "a multicast MAC address"),
	ACCEPT(GOT_DECLINE, a_eid, "another EID"),
	ACCEPT(GOT_DECLINE, a_not_first, "a first contact without the first contact flag",
	       SMC_REASON_OUT_OF_SYNC),
	ACCEPT_B(GOT_DECLINE, b_mtu, 0, "MTU 0", SMC_REASON_UNKNOWN_ENUM),
	ACCEPT_B(GOT_DECLINE, b_mtu, 6, "MTU 6"),
	ACCEPT_B(GOT_DECLINE, b_mtu, 15, "MTU 15"),
	ACCEPT_B(GOT_DECLINE, b_release, 2, "release 2", SMC_REASON_PEER_RELEASE),
	ACCEPT_B(GOT_DECLINE, b_release, 15, "release 15"),
	ACCEPT_B(GOT_DECLINE, b_max_conns, 0, "a maximum of 0 connections"),
	ACCEPT_B(GOT_DECLINE, b_max_conns, 15, "a maximum of 15 connections"),
	ACCEPT_B(GOT_DECLINE, b_max_links, 0, "a maximum of 0 links"),
	ACCEPT_B(GOT_DECLINE, b_max_links, 3, "a maximum of 3 links"),
	ACCEPT_B(GOT_DECLINE, b_type_smcd, 0, "eye catchers of SMC-D"),
	ACCEPT_B(GOT_DECLINE, b_version, 3, "version 3"),

	CONFIRM(GOT_RESET, a_idx_0, "RMBE index 0"),
	CONFIRM(GOT_RESET, a_overflow, "an RMB at the end of the address space"),
	CONFIRM(GOT_RESET, a_qpn_0, "QP number 0"),
	CONFIRM(GOT_RESET, a_qpn_1, "QP number 1"),
	CONFIRM(GOT_RESET, a_qpn_multicast, "QP number ffffff"),
	CONFIRM(GOT_RESET, a_gid_zero, "GID 0"),
	CONFIRM(GOT_RESET, a_gid_multicast, "a multicast GID"),
	CONFIRM(GOT_RESET, a_gid_other, "another GID than in the Proposal"),
	CONFIRM(GOT_RESET, a_mac_zero, "MAC address 0"),
	CONFIRM(GOT_RESET, a_mac_multicast, "a multicast MAC address"),
	CONFIRM(GOT_RESET, a_mac_other, "another MAC address than in the Proposal"),
	CONFIRM(GOT_RESET, a_peer_id, "another peer ID than in the Proposal"),
	CONFIRM(GOT_RESET, a_eid, "another EID"),
	CONFIRM(GOT_DECLINE, a_max_conns, "more connections than accepted"),
	CONFIRM(GOT_DECLINE, a_max_links, "more links than accepted"),
	CONFIRM(GOT_DECLINE, a_vendor, "options of a vendor", SMC_REASON_BAD_CONFIRM),
	CONFIRM(GOT_DECLINE, a_release_0, "release 0"),
	CONFIRM(GOT_RESET, a_not_first, "a first contact without the first contact flag"),
	CONFIRM_B(GOT_DECLINE, b_mtu, 0, "MTU 0", SMC_REASON_UNKNOWN_ENUM),
	CONFIRM_B(GOT_DECLINE, b_mtu, 6, "MTU 6"),
	{ CLIENT, V1, GOT_DECLINE, "Confirm: MTU 6, version 1", { .bytes = b_mtu }, 6 },
	CONFIRM_B(GOT_DECLINE, b_mtu, 15, "MTU 15"),
	CONFIRM_B(GOT_DECLINE, b_features, 0, "a feature that was not offered"),
	CONFIRM_B(GOT_RESET, b_gids, 0, "an empty list of GIDs"),
	CONFIRM_B(GOT_RESET, b_gids, 2, "a list of 2 GIDs in the space of 1"),
	CONFIRM_B(GOT_RESET, b_gids, 9, "a list of 9 GIDs"),
	CONFIRM_B(GOT_RESET, b_type_smcd, 0, "eye catchers of SMC-D"),
};

static void first_contact(const struct wrong *w)
{
	struct conn *c;
	bool ok;

	byte_value = w->value;
	if (w->twist.proposal) {
		c = conn_begin(w->role, w->flavour, AT_TCP, NULL);
		clc_propose(c, &w->twist);
	} else {
		c = conn_begin(w->role, w->flavour, AT_CLC, w->role == SERVER ? &w->twist : NULL);
		if (w->role == CLIENT)
			clc_confirm(c, &w->twist);
	}
	ok = judge(c->s, w->outcome, false, NULL) && (!w->reason || victim_says(c->s, w->reason));
	conn_end(c);
	verdict(ok, "clc, %s", w->what);
}

/* ---- a further contact, beside a connection that must not be affected ---- */

static const struct wrong further[] = {
	ACCEPT(GOT_DECLINE, a_idx_0, "RMBE index 0"),
	ACCEPT(GOT_DECLINE, a_qpn_other, "another QP number"),
	ACCEPT(GOT_DECLINE, a_gid_other, "another GID"),
	ACCEPT(GOT_DECLINE, a_mac_other, "another MAC address"),
	ACCEPT(GOT_DECLINE, a_peer_id, "another peer ID"),
	ACCEPT(GOT_DECLINE, clc_wrong_rkey, "an unknown RKey"),
	ACCEPT(GOT_DECLINE, a_addr, "another address of the RMB"),
	CONFIRM(GOT_RESET, a_idx_0, "RMBE index 0"),
	CONFIRM(GOT_RESET, a_qpn_other, "another QP number"),
	CONFIRM(GOT_RESET, a_gid_other, "another GID"),
	CONFIRM(GOT_RESET, a_mac_other, "another MAC address"),
	CONFIRM(GOT_RESET, clc_wrong_rkey, "an unknown RKey"),
	CONFIRM(GOT_RESET, a_addr, "another address of the RMB"),
	CONFIRM(GOT_RESET, a_overflow, "an RMB at the end of the address space"),
};

static void further_contact(const struct wrong *w)
{
	struct conn *first = conn_begin(w->role, V21, AT_UP, NULL), *c;
	bool ok;

	c = conn_more(first, AT_CLC, w->role == SERVER ? &w->twist : NULL);
	if (w->role == CLIENT)
		clc_confirm(c, &w->twist);
	ok = judge(c->s, w->outcome, false, NULL) && conn_echo(first);
	conn_end(c);
	conn_end(first);
	verdict(ok, "clc, further contact, %s", w->what);
}

/* Legal values work, even unusual ones. */
static void a_token_0(struct smc_clc_accept *a)
{
	a->alert_token = 0;
}

static void a_token_last(struct smc_clc_accept *a)
{
	a->alert_token = UINT32_MAX;
}

static void odd(enum role role, void (*accept)(struct smc_clc_accept *a), uint32_t token,
		const char *what)
{
	struct conn *first = conn_begin(role, V21, AT_UP, NULL), *c;
	struct twist twist = { .accept = accept };
	bool ok;

	c = conn_more(first, AT_UP, &twist);
	c->token = token;
	ok = conn_echo(c) && conn_echo(first);
	conn_end(c);
	conn_end(first);
	verdict(ok, "clc, %s: %s", role == CLIENT ? "Confirm" : "Accept", what);
}

/* We give the element of an open connection to another one: the first connection has lost it. */
static void same_element(enum role role)
{
	struct conn *first = conn_begin(role, V21, AT_UP, NULL), *old, *c;
	bool ok;

	old = conn_more(first, AT_UP, NULL);
	ok = conn_echo(old);
	c = conn_more(first, AT_CLC, NULL);
	c->idx = old->idx;
	clc_rest(c);
	ok = ok && victim_is_told(old->s, true) && conn_echo(c) && conn_echo(first);
	c->idx = 3;
	conn_end(c);
	conn_end(old);
	conn_end(first);
	verdict(ok, "clc, %s: the element of an open connection",
		role == CLIENT ? "Confirm" : "Accept");
}

/*
 * E2: a virtual address on the victim's loopback interface is in no subnet of the interface that
 * its packets use; version 1 requires the address of that interface.
 */
#define VIRTUAL "10.9.0.1"

static void virtual_address(enum role role)
{
	struct conn *c = conn_begin(role, V1, AT_UP, NULL);
	bool ok = conn_echo(c);

	conn_end(c);
	verdict(ok, "clc, version 1, %s: the victim has a virtual address",
		role == CLIENT ? "as client" : "as server");
}

static void virtual_addresses(void)
{
	if (system("ip addr add " VIRTUAL "/32 dev lo && "
		   "ip neigh replace " VIRTUAL " dev veth1 nud permanent lladdr "
		   "$(cat /sys/class/net/veth0/address) && "
		   "ip route add " VIRTUAL " dev veth1 src 10.1.0.2 table 101 && "
		   "ip rule add pref 13 iif lo from 10.1.0.2 to " VIRTUAL " lookup 101 && "
		   "ip rule add pref 14 iif lo from " VIRTUAL " to 10.1.0.2 lookup 101"))
		give_up("cannot add a virtual address");
	raw_hosts(0x0a010002, 0x0a090001);
	clc_open();
	for (enum role r = CLIENT; r <= SERVER; r++)
		TRY(virtual_address(r), "a virtual address");
	raw_hosts(0x0a010002, 0x0a010001);
	clc_open();
}

/* E9: the Accept lists what the server supports, whatever the client supports. */
static void p_no_features(struct smc_clc_proposal *p)
{
	p->features = 0;
}

/* Version 1 works only within a subnet. */
static void p_other_subnet(struct smc_clc_proposal *p)
{
	p->ipv4_mask = htobe32(0x0a020000);
}

static void other_subnet(void)
{
	const struct twist twist = { .proposal = p_other_subnet };
	struct conn *c = conn_begin(CLIENT, V1, AT_TCP, NULL);
	bool ok;

	clc_propose(c, &twist);
	ok = judge(c->s, GOT_DECLINE, false, NULL) &&
	     victim_says(c->s, SMC_REASON_PREFIX_MISMATCH);
	conn_end(c);
	verdict(ok, "clc, version 1, Proposal: another subnet");
}

static void own_features(void)
{
	const struct twist twist = { .proposal = p_no_features };
	struct conn *c = conn_begin(CLIENT, V21, AT_TCP, NULL);
	bool ok;

	clc_propose(c, &twist);
	ok = clc_peer(c) && (c->peer.features == SMC_CLC_FEAT_EMULATED_ISM ||
			     BAD("features %04x", c->peer.features));
	conn_end(c);
	verdict(ok, "clc, Accept: the server's own features");
}

void cases_clc(void)
{
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++)
		TRY(first_contact(&wrongs[i]), wrongs[i].what);
	for (size_t i = 0; i < sizeof(further) / sizeof(further[0]); i++)
		TRY(further_contact(&further[i]), further[i].what);
	for (enum role r = CLIENT; r <= SERVER; r++) {
		TRY(odd(r, a_token_0, 0, "alert token 0"), "");
		TRY(odd(r, a_token_last, UINT32_MAX, "alert token ffffffff"), "");
	}
	TRY(same_element(CLIENT), "");
	TRY(own_features(), "");
	TRY(other_subnet(), "");
	TRY(virtual_addresses(), "");
}
