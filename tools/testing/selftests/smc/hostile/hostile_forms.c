// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that are well formed and out of place: offers that we cannot serve, and answers in a
 * form that was not offered. The module's own encoders make them from the current messages of a
 * genuine peer, so only the form is wrong.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>

#include "clc.h"
#include "scene.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static const uint8_t some_gid[16] = {
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1,
};

static const char user_eid[SMC_EID_LEN + 1] = "SOMEBODY.ELSES.EID              ";

/* ---- Proposals ---- */

static void offer_rv1(struct smc_clc_proposal *p)
{
	p->smcr_v1 = true;
	memcpy(p->gid, some_gid, sizeof(p->gid));
	memset(p->mac, 2, sizeof(p->mac));
	p->has_prefix = true;
	p->ipv4_mask = htobe32(0x7f000000);
	p->ipv4_prefix_len = 8;
}

static void offer_dv1(struct smc_clc_proposal *p)
{
	p->smcd_v1 = true;
	p->ism_gid = 0x1234567812345678;
}

static void offer_rv2(struct smc_clc_proposal *p)
{
	p->smcr_v2 = true;
	memcpy(p->roce_gid, some_gid, sizeof(p->roce_gid));
	memset(p->mac, 2, sizeof(p->mac));
	p->max_conns = 255;
	p->max_links = 2;
	if (!p->eid_count)
		memcpy(p->eids[p->eid_count++], user_eid, SMC_EID_LEN);
}

static void no_dv2(struct smc_clc_proposal *p)
{
	p->smcd_v2 = p->has_seid = false;
	p->n_gids = p->ism_gid = p->ism_chid = 0;
}

static void only_v1(struct smc_clc_proposal *p)
{
	no_dv2(p);
	p->version = SMC_CLC_V1;
}

static void p_nothing(struct smc_clc_proposal *p) { no_dv2(p); }
static void p_v1_nothing(struct smc_clc_proposal *p) { only_v1(p); }
static void p_v1_r(struct smc_clc_proposal *p) { only_v1(p); offer_rv1(p); }
static void p_v1_d(struct smc_clc_proposal *p) { only_v1(p); offer_dv1(p); }
static void p_v1_rd(struct smc_clc_proposal *p) { p_v1_r(p); offer_dv1(p); }
static void p_rv1(struct smc_clc_proposal *p) { no_dv2(p); offer_rv1(p); }
static void p_dv1(struct smc_clc_proposal *p) { no_dv2(p); offer_dv1(p); }
static void p_rv2(struct smc_clc_proposal *p) { no_dv2(p); offer_rv2(p); }
static void p_rv1_rv2(struct smc_clc_proposal *p) { p_rv2(p); offer_rv1(p); }
static void p_dv1_rv2(struct smc_clc_proposal *p) { p_rv2(p); offer_dv1(p); }
static void p_same(struct smc_clc_proposal *p) { }

static void p_r_and_d(struct smc_clc_proposal *p)
{
	offer_rv1(p);
	offer_dv1(p);
	offer_rv2(p);
}

static void p_prefixes(struct smc_clc_proposal *p)
{
	p_v1_r(p);
	p->n_ipv6 = SMC_CLC_MAX_IPV6_PREFIXES;
	for (int i = 0; i < p->n_ipv6; i++)
		p->ipv6[i].len = 128;
}

static void p_rv2_eids(struct smc_clc_proposal *p)
{
	p_rv2(p);
	p->eid_count = SMC_CLC_MAX_EIDS;
	for (int i = 0; i < p->eid_count; i++)
		memset(p->eids[i], 0xff - i, SMC_EID_LEN);
}

static void p_release_0(struct smc_clc_proposal *p) { p->release = 0; }
static void p_no_emulated(struct smc_clc_proposal *p) { p->features = 0; }

static void p_other_eid(struct smc_clc_proposal *p)
{
	p->has_seid = false;
	p->eid_count = 1;
	memcpy(p->eids[0], user_eid, SMC_EID_LEN);
}

static void p_no_eid(struct smc_clc_proposal *p)
{
	p->has_seid = false;
	p->eid_count = 0;
}

static void p_other_devices(struct smc_clc_proposal *p)
{
	p->n_gids = 4;
	for (int i = 0; i < p->n_gids; i++)
		p->gids[i] = (struct smc_clc_ism_gid){
			.gid = 0x1111 * (i + 1), .gid_ext = 0x2222,
			.chid = SMC_CHID_EMULATED + i, .extended = true,
		};
}

static void p_real_devices(struct smc_clc_proposal *p)
{
	p->n_gids = SMC_CLC_MAX_GIDS;
	for (int i = 0; i < p->n_gids; i++)
		p->gids[i] = (struct smc_clc_ism_gid){ .gid = i + 1, .chid = i + 1 };
}

static void p_devices_behind(struct smc_clc_proposal *p)
{
	struct smc_clc_ism_gid ours = p->gids[0];

	p->ism_gid = 99;
	p->ism_chid = 0x99;
	p_real_devices(p);
	p->n_gids = SMC_CLC_MAX_GIDS - 1;
	p->gids[p->n_gids - 1] = ours;
}

/* Each kind of offer is refused for its own reason. */
static void p_dv2_and_r(struct smc_clc_proposal *p)
{
	p_other_eid(p);
	offer_rv2(p);
}

#define REFUSED(why)	GOT_DECLINE, SMC_REASON_##why
#define SERVED		GOT_ACCEPT, 0

static const struct {
	void (*change)(struct smc_clc_proposal *p);
	unsigned int allowed;
	uint32_t dv2;		/* reason against SMC-Dv2, if it is offered and refused */
	const char *what;
} proposals[] = {
	{ p_same, SERVED, "unchanged" },
	{ p_nothing, REFUSED(NONE), "no offer" },
	{ p_v1_nothing, REFUSED(NONE), "version 1, no offer" },
	{ p_v1_r, REFUSED(NONE), "version 1, SMC-R" },
	{ p_v1_d, REFUSED(NONE), "version 1, SMC-D" },
	{ p_v1_rd, REFUSED(NONE), "version 1, both" },
	{ p_prefixes, REFUSED(NONE), "version 1, SMC-R, eight IPv6 prefixes" },
	{ p_rv1, REFUSED(NONE), "version 2, SMC-Rv1" },
	{ p_dv1, REFUSED(NONE), "version 2, SMC-Dv1" },
	{ p_rv2, REFUSED(NONE), "version 2, SMC-Rv2" },
	{ p_rv2_eids, REFUSED(NONE), "version 2, SMC-Rv2, eight EIDs of bytes above 247" },
	{ p_rv1_rv2, REFUSED(NONE), "version 2, SMC-Rv1 and SMC-Rv2" },
	{ p_dv1_rv2, REFUSED(NONE), "version 2, SMC-Dv1 and SMC-Rv2" },
	{ p_r_and_d, SERVED, "version 2, everything" },
	{ p_release_0, REFUSED(NO_COMMON_DEVICE), "SMC-Dv2.0, which has no emulated devices" },
	{ p_no_emulated, REFUSED(NO_COMMON_DEVICE), "SMC-Dv2.1 without the feature" },
	{ p_other_eid, REFUSED(NO_COMMON_EID), "SMC-Dv2, an EID of another host" },
	{ p_no_eid, REFUSED(NO_COMMON_EID), "SMC-Dv2, no EID at all" },
	{ p_other_devices, REFUSED(NO_COMMON_DEVICE), "SMC-Dv2, other emulated devices" },
	{ p_real_devices, REFUSED(NO_COMMON_DEVICE), "SMC-Dv2, eight hardware devices" },
	{ p_dv2_and_r, REFUSED(NO_COMMON_EID), "SMC-Dv2 with another EID, and SMC-Rv2" },
	{ p_devices_behind, SERVED, "SMC-Dv2, our device behind seven others" },
};

/*
 * E9: a Decline has a reason for each kind of offer, and for no other. Its diagnosis is the reason
 * for the kind that was checked last.  This guest has no RDMA device and no device for SMC-Dv1.
 */
static bool declines_each(const struct smc_clc_proposal *p, uint32_t dv2, const struct message *m,
			  uint32_t *last)
{
	const uint32_t want[] = {
		p->smcd_v2 ? dv2 : 0, p->smcd_v1 ? SMC_REASON_NO_DEVICE : 0,
		p->smcr_v2 ? SMC_REASON_NO_DEVICE : 0, p->smcr_v1 ? SMC_REASON_NO_DEVICE : 0,
	};
	struct smc_clc_decline d;

	*last = SMC_REASON_NO_COMMON_MODE;
	for (size_t i = 0; i < COUNT(want); i++)
		*last = want[i] ? want[i] : *last;

	if (smc_clc_decode_decline(m->b, m->len, &d))
		return BAD("the Decline is malformed");
	if (d.version != p->version)
		return BAD("a Decline of version %d", d.version);
	if (d.diagnosis != *last)
		return BAD("diagnosis %x instead of %x", d.diagnosis, *last);
	if (p->version == SMC_CLC_V2 && !d.has_types)
		return BAD("a Decline of version 2 in the form of version 1");
	if (d.has_types && (d.rc_dv2 != want[0] || d.rc_dv1 != want[1] ||
			    d.rc_rv2 != want[2] || d.rc_rv1 != want[3]))
		return BAD("the Decline has the reasons Dv2 %x Dv1 %x Rv2 %x Rv1 %x", d.rc_dv2,
			   d.rc_dv1, d.rc_rv2, d.rc_rv1);
	return true;
}

static bool propose(const struct smc_clc_proposal *p, unsigned int allowed, uint32_t dv2)
{
	uint32_t last;
	struct message m, back;
	struct scene s;
	enum reaction r;
	int len;
	bool ok;

	len = smc_clc_encode_proposal(p, m.b, sizeof(m.b));
	if (len < 0)
		return BAD("the message cannot be encoded: %d", len);
	s = as_client();
	put_bytes(s.raw, m.b, len);
	r = get_message(s.raw, &back, WAIT_MS);
	if (r != allowed)
		ok = BAD("%s instead of %s", reaction_names(r), reaction_names(allowed));
	else if (r == GOT_DECLINE)
		ok = declines_each(p, dv2, &back, &last) && talks_tcp(s) && victim_says(s, last);
	else
		ok = true;
	end_scene(s);
	return ok;
}

/* The number of the last byte that the victim has sent, as its error queue reports it, or -1. */
static int reported_byte(struct scene s)
{
	struct sock_extended_err ee = { .ee_data = -1 };
	char cbuf[512];
	struct msghdr m = { .msg_control = cbuf, .msg_controllen = sizeof(cbuf) };
	struct cmsghdr *h;

	if (!wait_mask(s.victim, 0, WAIT_MS) || recvmsg(s.victim, &m, MSG_ERRQUEUE) < 0)
		return -1;
	for (h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h))
		if (h->cmsg_level == SOL_IP && h->cmsg_type == IP_RECVERR)
			memcpy(&ee, CMSG_DATA(h), sizeof(ee));
	return ee.ee_data;
}

/* The victim's program counts its bytes; those of the Decline are not among them. */
static bool counts_from_decline(const struct smc_clc_proposal *p)
{
	int byte = -1, flags = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_TX_ACK |
			       SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY;
	struct scene s = as_client();
	struct message m;

	setsockopt(s.victim, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags));
	put_bytes(s.raw, m.b, smc_clc_encode_proposal(p, m.b, sizeof(m.b)));
	if (get_message(s.raw, &m, WAIT_MS) == GOT_DECLINE) {
		put_bytes(s.victim, "123456789", 9);
		byte = reported_byte(s);
	}
	end_scene(s);
	return byte == 8 || BAD("the ninth byte is reported as number %d", byte);
}

/* What a victim says whose program is done with it after the Proposal. */
static const struct withdrawal {
	const char *what;
	enum { NOTHING, DECLINE, ACCEPT } answer;	/* what has just arrived from us */
	bool close;		/* with SO_LINGER and no time; false: connect() with AF_UNSPEC */
} withdrawals[] = {
	{ "the program disconnects behind it", NOTHING, false },
	{ "the program disconnects when it is declined", DECLINE, false },
	{ "the program disconnects when it is accepted", ACCEPT, false },
	{ "the program closes when it is declined", DECLINE, true },
	{ "the program closes when it is accepted", ACCEPT, true },
};

/*
 * Our program would read a Decline that is sent after our own. Behind an Accept the victim must say
 * that it does not use the element, unless it has already confirmed.
 */
static bool told(struct scene s, const struct withdrawal *w)
{
	struct smc_clc_decline d = { 0 };
	enum reaction r = GOT_RESET;
	struct message m;

	if (w->answer == ACCEPT)
		r = get_message(s.raw, &m, WAIT_MS);
	if (r == GOT_DECLINE && (smc_clc_decode_decline(m.b, m.len, &d) ||
				 d.diagnosis != SMC_REASON_WITHDRAWN))
		return BAD("diagnosis %x", d.diagnosis);
	if (w->answer == ACCEPT && r != GOT_DECLINE && r != GOT_CONFIRM)
		return BAD("after an Accept: %s", reaction_names(r));
	r = get_message(s.raw, &m, WAIT_MS);
	return r == GOT_RESET || BAD("no reset, but %s", reaction_names(r));
}

static int close_with_reset(int fd)
{
	const struct linger at_once = { .l_onoff = 1 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
	return -1;
}

static bool withdraws(const struct withdrawal *w)
{
	const struct sockaddr unspec = { .sa_family = AF_UNSPEC };
	struct message m;
	struct scene s = w->answer == ACCEPT ? before_accept(&m) : as_server(&m);
	bool ok = true;

	if (w->answer == DECLINE)
		m = decline_v1;
	if (w->answer != NOTHING)
		put_bytes(s.raw, m.b, m.len);
	if (w->close)
		s.victim = close_with_reset(s.victim);
	else
		ok = !connect(s.victim, &unspec, sizeof(unspec)) || BAD("disconnect");
	ok = ok && told(s, w);
	end_scene(s);
	return ok;
}

/* The client is gone before the victim's Accept, which TCP does not take any more. */
static bool client_resets(const struct message *last, uint32_t reason)
{
	struct scene s = as_client();
	int on = 1;
	bool ok;

	setsockopt(s.raw, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	put_bytes(s.raw, proposal.b, proposal.len);
	if (last)
		put_bytes(s.raw, last->b, last->len);
	s.raw = close_with_reset(s.raw);
	ok = wait_mask(s.victim, POLLERR, WAIT_MS) & POLLERR || BAD("no reset");
	ok = ok && victim_says(s, reason);
	end_scene(s);
	return ok;
}

/* ---- Accepts and Confirms ---- */

static void rdma(struct smc_clc_accept *a)
{
	a->smcd = false;
	memset(a->peer_id, 7, sizeof(a->peer_id));
	memcpy(a->roce_gid, some_gid, sizeof(a->roce_gid));
	memset(a->mac, 2, sizeof(a->mac));
	a->qpn = 0x123456;
	a->rkey = 0x1234;
	a->rmbe_idx = 1;
	a->rmbe_size = 2;
	a->mtu = SMC_CLC_MTU_4096;
	a->alert_token = 1;
	a->rmb_addr = 0xffff888000000000;
	a->psn = 0xabcdef;
}

static void fce(struct smc_clc_accept *a, bool yes)
{
	a->first_contact = a->has_fce = yes;
	a->release = yes;
	a->os_type = yes ? SMC_CLC_OS_LINUX : 0;
	a->max_conns = yes && !a->smcd ? 255 : 0;
	a->max_links = yes && !a->smcd ? 2 : 0;
	a->features = yes && a->smcd ? SMC_CLC_FEAT_EMULATED_ISM : 0;
	if (yes && a->confirm && !a->smcd) {
		a->n_gid_list = 1;
		memcpy(a->gid_list[0], some_gid, sizeof(some_gid));
	}
}

static void version_1(struct smc_clc_accept *a)
{
	a->version = SMC_CLC_V1;
	a->has_fce = false;
	a->release = 0;
	a->gid_ext = 0;
	a->chid = 0;
}

static void a_same(struct smc_clc_accept *a) { }
static void a_rv1(struct smc_clc_accept *a) { rdma(a); version_1(a); a->first_contact = false; }
static void a_rv1_first(struct smc_clc_accept *a) { a_rv1(a); a->first_contact = !a->confirm; }
static void a_rv2(struct smc_clc_accept *a) { rdma(a); fce(a, false); }
static void a_rv2_first(struct smc_clc_accept *a) { rdma(a); fce(a, true); }
static void a_dv1(struct smc_clc_accept *a) { version_1(a); }
static void a_dv1_later(struct smc_clc_accept *a) { version_1(a); a->first_contact = false; }

static void a_rv2_gids(struct smc_clc_accept *a)
{
	a_rv2_first(a);
	if (!a->confirm)
		return;
	a->n_gid_list = SMC_CLC_MAX_GID_LIST;
	for (int i = 0; i < a->n_gid_list; i++)
		memset(a->gid_list[i], i, 16);
}

static void a_hardware(struct smc_clc_accept *a)
{
	a->chid = 0x1234;
	a->gid_ext = 0;
}

static void a_other_emulated(struct smc_clc_accept *a) { a->chid--; }
static void a_gid(struct smc_clc_accept *a) { a->gid ^= 1; }
static void a_gid_ext(struct smc_clc_accept *a) { a->gid_ext ^= 1; }
static void a_token(struct smc_clc_accept *a) { a->token ^= 1; }
static void a_index(struct smc_clc_accept *a) { a->dmbe_idx++; }
static void a_larger(struct smc_clc_accept *a) { a->dmbe_size++; }
static void a_eid(struct smc_clc_accept *a) { memcpy(a->eid, user_eid, SMC_EID_LEN); }

static void a_release_0(struct smc_clc_accept *a)
{
	fce(a, true);
	a->release = 0;
	a->features = 0;
}

static void a_features(struct smc_clc_accept *a)
{
	fce(a, true);
	a->features = 0xffff;
}

/* Our Accept has no vendor options, so a Confirm cannot repeat any; a client ignores them. */
static void a_vendor(struct smc_clc_accept *a)
{
	fce(a, true);
	memset(a->vendor, 1, sizeof(a->vendor));
}

/* E5: the Confirm repeats the Accept's first contact bit. */
static void a_contact(struct smc_clc_accept *a)
{
	fce(a, !a->first_contact);
}

#define GOOD		GOT_CONFIRM, 0
#define DECLINED(why)	GOT_DECLINE, SMC_REASON_##why
#define TAKEN		0, 0
#define RESET(why)	GOT_RESET, SMC_REASON_##why

/* One list for both messages. It leaves out fields that a Confirm of version 1 does not have. */
static const struct {
	void (*change)(struct smc_clc_accept *a);
	unsigned int accept;	/* reaction of a client, and its reason */
	uint32_t accept_why;
	unsigned int confirm;	/* reaction of a server; 0: it accepts the message */
	uint32_t confirm_why;
	const char *what;
} answers[] = {
	{ a_same, GOOD, TAKEN, "unchanged" },
	{ a_rv1, DECLINED(NO_COMMON_DEVICE),
	  RESET(BAD_CONFIRM), "SMC-Rv1" },
	{ a_rv1_first, DECLINED(NO_COMMON_DEVICE),
	  RESET(BAD_CONFIRM), "SMC-Rv1, first contact" },
	{ a_rv2, DECLINED(NO_COMMON_DEVICE),
	  RESET(BAD_CONFIRM), "SMC-Rv2" },
	{ a_rv2_first, DECLINED(NO_COMMON_DEVICE),
	  RESET(BAD_CONFIRM), "SMC-Rv2, first contact" },
	{ a_rv2_gids, DECLINED(NO_COMMON_DEVICE),
	  RESET(BAD_CONFIRM), "SMC-Rv2, eight GIDs" },
	{ a_dv1, DECLINED(NO_COMMON_DEVICE),
	  RESET(BAD_CONFIRM), "SMC-Dv1" },
	{ a_dv1_later, DECLINED(NO_COMMON_DEVICE),
	  RESET(BAD_CONFIRM), "SMC-Dv1, no first contact" },
	{ a_hardware, DECLINED(NO_COMMON_DEVICE),
	  RESET(BAD_CONFIRM), "SMC-Dv2, a hardware device" },
	{ a_other_emulated, DECLINED(NO_COMMON_DEVICE),
	  RESET(BAD_CONFIRM), "SMC-Dv2, another emulated device" },
	{ a_gid, DECLINED(NO_COMMON_DEVICE),
	  RESET(BAD_CONFIRM), "SMC-Dv2, another GID" },
	{ a_gid_ext, DECLINED(NO_COMMON_DEVICE),
	  RESET(BAD_CONFIRM), "SMC-Dv2, another second half of the GID" },
	{ a_token, DECLINED(BAD_TOKEN),
	  RESET(BAD_TOKEN), "SMC-Dv2, another token" },
	{ a_index, DECLINED(BAD_TOKEN),
	  RESET(BAD_CONFIRM), "SMC-Dv2, another element" },
	{ a_larger, DECLINED(BAD_TOKEN),
	  RESET(BAD_TOKEN), "SMC-Dv2, a larger element" },
	{ a_eid, DECLINED(NO_COMMON_EID),
	  RESET(BAD_CONFIRM), "SMC-Dv2, another EID" },
	{ a_release_0, DECLINED(PEER_RELEASE),
	  RESET(BAD_CONFIRM), "SMC-Dv2, release 0 for 2.1" },
	{ a_features, GOOD,
	  RESET(BAD_CONFIRM), "SMC-Dv2, features that were not offered" },
	{ a_vendor, GOOD, RESET(BAD_CONFIRM), "SMC-Dv2, vendor options" },
	{ a_contact, GOOD, RESET(BAD_CONFIRM),
	  "SMC-Dv2, the other value of the first contact flag" },
};

static bool encode(const struct message *genuine, bool confirm,
		   void (*change)(struct smc_clc_accept *a), struct message *m)
{
	struct smc_clc_accept a;
	int len = smc_clc_decode_accept(genuine->b, genuine->len, &a);

	if (len)
		return BAD("the genuine message cannot be decoded: %d", len);
	a.confirm = confirm;
	change(&a);
	len = smc_clc_encode_accept(&a, m->b, sizeof(m->b));
	if (len < 0)
		return BAD("the message cannot be encoded: %d", len);
	m->len = len;
	return true;
}

static bool accepts(int i)
{
	struct message genuine, m;
	struct scene s = before_accept(&genuine);

	if (!encode(&genuine, false, answers[i].change, &m)) {
		end_scene(s);
		return false;
	}
	return answer_because(s, &m, answers[i].accept, answers[i].accept_why);
}

/* Both ends are up: what one sends over SMC the other receives, and TCP carries nothing. */
static bool both_up(struct scene s)
{
	char buf[8];

	wait_mask(s.helper, POLLOUT, WAIT_MS);
	if (send(s.helper, "genuine", 8, MSG_NOSIGNAL) != 8)
		return BAD("the genuine client cannot send");
	if (!wait_mask(s.victim, POLLIN, WAIT_MS) ||
	    recv(s.victim, buf, 8, MSG_DONTWAIT) != 8 || memcmp(buf, "genuine", 8))
		return BAD("the victim does not read what the genuine client has sent");
	return true;
}

static bool confirms(int i)
{
	struct message genuine, m;
	struct scene s = before_confirm(&genuine);
	bool ok;

	ok = encode(&genuine, true, answers[i].change, &m);
	if (ok && answers[i].confirm)
		return answer_because(s, &m, answers[i].confirm, answers[i].confirm_why);
	if (ok) {
		put_bytes(s.raw, m.b, m.len);
		ok = both_up(s);
	}
	end_scene(s);
	return ok;
}

int forms_plan(void)
{
	return COUNT(proposals) + 3 + COUNT(withdrawals) + 2 * COUNT(answers);
}

void forms(void)
{
	struct smc_clc_proposal genuine, p;
	char name[160];

	if (smc_clc_decode_proposal(proposal.b, proposal.len, &genuine))
		give_up("the genuine Proposal cannot be decoded");
	for (size_t i = 0; i < COUNT(proposals); i++) {
		p = genuine;
		proposals[i].change(&p);
		snprintf(name, sizeof(name), "Proposal: %s", proposals[i].what);
		result(propose(&p, proposals[i].allowed, proposals[i].dv2), name);
	}
	p = genuine;
	p_nothing(&p);
	result(counts_from_decline(&p), "Proposal: no offer, and times of sent data");
	for (size_t i = 0; i < COUNT(withdrawals); i++) {
		snprintf(name, sizeof(name), "Proposal: %s", withdrawals[i].what);
		result(withdraws(&withdrawals[i]), name);
	}
	result(client_resets(NULL, SMC_REASON_PEER_CLOSED), "Proposal: a reset behind it");
	result(client_resets(&decline_v1, SMC_REASON_PEER_DECLINED),
	       "Proposal: a Decline and a reset behind it");
	for (size_t i = 0; i < COUNT(answers); i++) {
		snprintf(name, sizeof(name), "Accept: %s", answers[i].what);
		result(accepts(i), name);
	}
	for (size_t i = 0; i < COUNT(answers); i++) {
		snprintf(name, sizeof(name), "Confirm: %s", answers[i].what);
		result(confirms(i), name);
	}
}
