// SPDX-License-Identifier: GPL-2.0
/* Correct LLC messages of the rogue. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rogue.h"

size_t llc_bytes(struct link *l, const struct smc_llc_msg *m, uint8_t *b)
{
	struct smc_llc_msg copy = *m;
	int len;

	copy.v2 = l->version != SMC_CLC_V1;
	len = smc_llc_encode(&copy, b, SMC_LLC_V2_MAX_LEN);
	if (len < 0)
		give_up("the LLC message has no encoding");
	return len;
}

void llc_put(struct link *l, struct smc_llc_msg *m)
{
	uint8_t b[SMC_LLC_V2_MAX_LEN];

	link_send(l, b, llc_bytes(l, m, b));
}

bool llc_get(struct link *l, struct smc_llc_msg *m, int ms)
{
	static struct msg *got;		/* @m may point into it */
	int rc;

	free(got);
	while ((got = link_recv(l, ms)) && smc_is_cdc(got->b[0])) {
		cdc_take(l, got);
		free(got);
	}
	if (!got)
		return BAD("no LLC message arrives; %s", link_state(l));
	rc = smc_llc_decode(got->b, got->len, m);
	if (rc && rc != -EOPNOTSUPP)
		return BAD("the victim sent an invalid LLC message, type %02x", got->b[0]);
	return true;
}

bool llc_expect(struct link *l, uint8_t type, bool reply, struct smc_llc_msg *m)
{
	do {
		if (!llc_get(l, m, WAIT_MS))
			return false;
		if (m->type == SMC_LLC_TEST_LINK && !m->reply && type != SMC_LLC_TEST_LINK) {
			m->reply = true;
			llc_put(l, m);
			continue;
		}
		if (m->type != type || m->reply != reply)
			return BAD("%s%s instead of %s%s", smc_llc_type_name(m->type),
				   m->reply ? " reply" : "", smc_llc_type_name(type),
				   reply ? " reply" : "");
		return true;
	} while (true);
}

/* Does what a passive peer does. */
void llc_serve(struct link *l)
{
	struct smc_llc_msg m;
	struct msg *got;

	while ((got = link_recv(l, 0))) {
		if (smc_is_cdc(got->b[0])) {
			cdc_take(l, got);
		} else if (!smc_llc_decode(got->b, got->len, &m) && !m.reply &&
			   (m.type == SMC_LLC_TEST_LINK || m.type == SMC_LLC_CONFIRM_RKEY)) {
			m.reply = true;
			llc_put(l, &m);
		}
		free(got);
	}
}

void llc_use_up(struct link *l, unsigned int left)
{
	struct smc_llc_msg m = { .type = SMC_LLC_TEST_LINK };

	while (l->n_rx > left) {
		llc_put(l, &m);
		if (!llc_expect(l, SMC_LLC_TEST_LINK, true, &m))
			give_up("TEST LINK: %s", why);
		m.reply = false;
	}
}

const uint8_t *link_gid(const struct link *l)
{
	return l->version == SMC_CLC_V1 ? l->dev->gid6 : l->dev->gid;
}

void llc_confirm_link(struct link *l, struct smc_llc_msg *m, bool reply)
{
	struct smc_llc_confirm_link *c = &m->confirm_link;

	memset(m, 0, sizeof(*m));
	m->type = SMC_LLC_CONFIRM_LINK;
	m->reply = reply;
	memcpy(c->mac, l->dev->mac, 6);
	memcpy(c->gid, link_gid(l), 16);
	c->qpn = l->qp->qp_num;
	c->link = l->number;
	c->link_uid = 0x0badcafe;
	c->max_links = l->max_links;
	if (l->version != SMC_CLC_V1) {
		c->max_conns = l->max_conns;
		c->cache_size = 3;
	}
}

void llc_add_link(struct link *l, struct smc_llc_msg *m)
{
	struct smc_llc_add_link *a = &m->add_link;

	memset(m, 0, sizeof(*m));
	m->type = SMC_LLC_ADD_LINK;
	memcpy(a->mac, dev.mac, 6);
	memcpy(a->gid, l->version == SMC_CLC_V1 ? dev.gid6 : dev.gid, 16);
	a->qpn = l->qp->qp_num + 1;
	a->link = 2;
	a->mtu = SMC_CLC_MTU_256 + 2;
	a->psn = 1234;
}

static void keep_offer(struct link *l, const struct smc_llc_msg *m)
{
	struct offer *o = &l->offer;

	o->m = *m;
	if (m->add_link.n_rtokens > sizeof(o->rtokens) / sizeof(o->rtokens[0]))
		give_up("the victim has %u RMBs", m->add_link.n_rtokens);
	if (m->add_link.n_rtokens)
		memcpy(o->rtokens, m->add_link.rtokens,
		       m->add_link.n_rtokens * sizeof(o->rtokens[0]));
	o->m.add_link.rtokens = o->rtokens;
}

bool llc_confirm(struct link *l)
{
	struct smc_llc_msg m;

	llc_confirm_link(l, &m, !l->server);
	llc_put(l, &m);
	if (l->server)
		return llc_expect(l, SMC_LLC_CONFIRM_LINK, true, &m);
	if (l->max_links == 1)
		return true;
	if (!llc_expect(l, SMC_LLC_ADD_LINK, false, &m))
		return false;
	keep_offer(l, &m);
	return true;
}

bool llc_add(struct link *l)
{
	struct smc_llc_msg m;

	llc_add_link(l, &m);
	if (!l->server) {
		m.reply = m.negative = true;
		m.add_link.reason = SMC_LLC_REJ_NO_ALT_PATH;
	}
	llc_put(l, &m);
	if (!l->server)
		return true;
	return llc_expect(l, SMC_LLC_ADD_LINK, true, &m) &&
	       (m.negative || BAD("the victim requests a second link"));
}

bool llc_told_of_end(struct link *l)
{
	struct smc_llc_msg m;

	return llc_expect(l, SMC_LLC_DELETE_LINK, false, &m) &&
	       (m.delete_link.all || BAD("DELETE LINK names one link instead of all"));
}
