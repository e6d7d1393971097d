// SPDX-License-Identifier: GPL-2.0
/*
 * Encoding of CLC messages.
 *
 * An encoder first checks its input, then computes the length, then writes. So nothing is written
 * unless everything is legal and fits.
 */
#include "clc.h"

static void smc_clc_put24(u8 *b, u32 v)
{
	b[0] = v >> 16;
	b[1] = v >> 8;
	b[2] = v;
}

/* Zero the message and write its header and both eye catchers. */
static void smc_clc_begin(u8 *buf, size_t len, enum smc_clc_type type,
			  u8 version, bool smcd, u8 flags)
{
	const void *eye = smcd ? SMC_CLC_EYE_SMCD : SMC_CLC_EYE_SMCR;
	struct smc_clc_w_hdr *hdr = (struct smc_clc_w_hdr *)buf;

	memset(buf, 0, len);
	memcpy(hdr->eye, eye, SMC_CLC_EYE_LEN);
	hdr->type = type;
	hdr->len = cpu_to_be16(len);
	hdr->flags = version << SMC_CLC_FL_VERSION_SHIFT | flags;
	memcpy(buf + len - SMC_CLC_EYE_LEN, eye, SMC_CLC_EYE_LEN);
}

/* Positions of the areas of a Proposal; 0 if an area is not present. */
struct smc_clc_layout {
	size_t iparea;
	size_t v2ext;
	size_t smcdext;
	size_t len;
};

static unsigned int smc_clc_gid_entries(const struct smc_clc_proposal *p)
{
	unsigned int i, n = p->n_gids;

	for (i = 0; i < p->n_gids; i++)
		n += p->gids[i].extended;
	return n;
}

bool smc_clc_offer_ism(struct smc_clc_proposal *p, const struct smc_clc_ism_gid *gid)
{
	if (smc_clc_gid_entries(p) + 1 + gid->extended > SMC_CLC_MAX_GIDS)
		return false;
	p->gids[p->n_gids++] = *gid;
	return true;
}

static bool smc_clc_gids_legal(const struct smc_clc_proposal *p)
{
	unsigned int i;

	if (p->n_gids > SMC_CLC_MAX_GIDS ||
	    smc_clc_gid_entries(p) > SMC_CLC_MAX_GIDS)
		return false;
	for (i = 0; i < p->n_gids; i++)
		if (p->gids[i].extended !=
		    smc_clc_chid_emulated(p->gids[i].chid))
			return false;
	return !(p->ism_gid && smc_clc_chid_emulated(p->ism_chid));
}

static bool smc_clc_prefix_legal(const struct smc_clc_proposal *p)
{
	unsigned int i;

	if (!p->has_prefix)
		return !p->smcr_v1;
	if (p->ipv4_prefix_len > 32 || p->n_ipv6 > SMC_CLC_MAX_IPV6_PREFIXES)
		return false;
	for (i = 0; i < p->n_ipv6; i++)
		if (p->ipv6[i].len > 128)
			return false;
	return true;
}

static bool smc_clc_proposal_legal(const struct smc_clc_proposal *p)
{
	bool v1 = p->smcr_v1 || p->smcd_v1;
	bool v2 = p->smcr_v2 || p->smcd_v2;

	if (p->version != SMC_CLC_V1 && p->version != SMC_CLC_V2)
		return false;
	if (p->version == SMC_CLC_V1 && v2)
		return false;
	if (v1 && !smc_clc_prefix_legal(p))
		return false;
	if (!v2)
		return true;
	if (p->release > SMC_CLC_RELEASE || p->eid_count > SMC_CLC_MAX_EIDS)
		return false;
	if (p->release && p->smcr_v2 &&
	    ((p->max_conns && p->max_conns < SMC_CLC_MIN_CONNS) ||
	     p->max_links > SMC_CLC_MAX_LINKS))
		return false;
	return !p->smcd_v2 || smc_clc_gids_legal(p);
}

static struct smc_clc_layout smc_clc_layout(const struct smc_clc_proposal *p)
{
	struct smc_clc_layout l = { 0 };
	size_t pos;

	/* A version 1 server without SMC-D support may know only the short base. */
	if (p->version == SMC_CLC_V1 && !p->smcd_v1)
		pos = sizeof(struct smc_clc_w_prop_v1);
	else
		pos = sizeof(struct smc_clc_w_prop);

	if ((p->smcr_v1 || p->smcd_v1) && p->has_prefix) {
		l.iparea = pos;
		pos += sizeof(struct smc_clc_w_iparea) +
		       p->n_ipv6 * sizeof(struct smc_clc_w_ipv6_prefix);
	}
	if (p->smcr_v2 || p->smcd_v2) {
		l.v2ext = pos;
		pos += sizeof(struct smc_clc_w_v2ext) +
		       p->eid_count * SMC_EID_LEN;
	}
	if (p->smcd_v2 && (p->has_seid || p->n_gids)) {
		l.smcdext = pos;
		pos += sizeof(struct smc_clc_w_smcdext) +
		       smc_clc_gid_entries(p) *
		       sizeof(struct smc_clc_w_gid_chid);
	}
	l.len = pos + SMC_CLC_EYE_LEN;

	/* A version 1 Proposal that offers nothing still has the minimum length. */
	if (l.len < SMC_CLC_PROP_V1_MIN_LEN)
		l.len = SMC_CLC_PROP_V1_MIN_LEN;
	return l;
}

static u8 smc_clc_offer(bool r, bool d)
{
	if (r)
		return d ? SMC_CLC_OFFER_BOTH : SMC_CLC_OFFER_R;
	return d ? SMC_CLC_OFFER_D : SMC_CLC_OFFER_NONE;
}

/* Offsets count from the end of the offset field, which is at @field. */
static __be16 smc_clc_offset(size_t field, size_t target)
{
	return cpu_to_be16(target - field - sizeof(__be16));
}

static void smc_clc_encode_base(const struct smc_clc_proposal *p,
				const struct smc_clc_layout *l, u8 *buf)
{
	struct smc_clc_w_prop *w = (struct smc_clc_w_prop *)buf;

	memcpy(w->v1.peer_id, p->peer_id, sizeof(p->peer_id));
	if (p->smcr_v1)
		memcpy(w->v1.gid, p->gid, sizeof(p->gid));
	if (p->smcr_v1 || p->smcr_v2)
		memcpy(w->v1.mac, p->mac, sizeof(p->mac));
	if (l->iparea)
		w->v1.iparea_off =
			smc_clc_offset(offsetof(struct smc_clc_w_prop_v1,
						iparea_off), l->iparea);
	if (p->smcd_v1 || p->smcd_v2)
		w->ism_gid = cpu_to_be64(p->ism_gid);
	if (p->smcd_v2 && p->ism_gid)
		w->ism_chid = cpu_to_be16(p->ism_chid);
	if (!l->v2ext)
		return;
	w->v2ext_off = smc_clc_offset(offsetof(struct smc_clc_w_prop,
					       v2ext_off), l->v2ext);
	if (p->release) {
		memcpy(w->vendor_oui, p->vendor_oui, sizeof(p->vendor_oui));
		memcpy(w->vendor_opts, p->vendor_opts, sizeof(p->vendor_opts));
	}
}

static void smc_clc_encode_iparea(const struct smc_clc_proposal *p, u8 *buf)
{
	struct smc_clc_w_iparea *w = (struct smc_clc_w_iparea *)buf;
	struct smc_clc_w_ipv6_prefix *prefix =
		(struct smc_clc_w_ipv6_prefix *)(w + 1);
	unsigned int i;

	w->ipv4_mask = p->ipv4_mask;
	w->ipv4_prefix_len = p->ipv4_prefix_len;
	w->n_ipv6 = p->n_ipv6;
	for (i = 0; i < p->n_ipv6; i++) {
		memcpy(prefix[i].addr, p->ipv6[i].addr,
		       sizeof(prefix[i].addr));
		prefix[i].len = p->ipv6[i].len;
	}
}

static void smc_clc_encode_v2ext(const struct smc_clc_proposal *p,
				 const struct smc_clc_layout *l, u8 *buf)
{
	struct smc_clc_w_v2ext *w = (struct smc_clc_w_v2ext *)(buf + l->v2ext);
	size_t field = l->v2ext + offsetof(struct smc_clc_w_v2ext, smcdext_off);

	w->n_eids = p->eid_count;
	w->flags = p->release << SMC_CLC_V2EXT_RELEASE_SHIFT;
	if (p->smcr_v2)
		memcpy(w->roce_gid, p->roce_gid, sizeof(p->roce_gid));
	if (p->release) {
		if (p->smcr_v2) {
			w->max_conns = p->max_conns;
			w->max_links = p->max_links;
		}
		w->features = cpu_to_be16(p->features);
	}
	memcpy(w + 1, p->eids, p->eid_count * SMC_EID_LEN);
	if (!l->smcdext)
		return;
	w->n_gids = smc_clc_gid_entries(p);
	if (p->has_seid)
		w->flags |= SMC_CLC_V2EXT_SEID;
	w->smcdext_off = smc_clc_offset(field, l->smcdext);
}

static void smc_clc_encode_smcdext(const struct smc_clc_proposal *p, u8 *buf)
{
	struct smc_clc_w_smcdext *w = (struct smc_clc_w_smcdext *)buf;
	struct smc_clc_w_gid_chid *entry = (struct smc_clc_w_gid_chid *)(w + 1);
	const struct smc_clc_ism_gid *gid;

	if (p->has_seid)
		memcpy(w->seid, p->seid, sizeof(w->seid));
	for (gid = p->gids; gid < p->gids + p->n_gids; gid++) {
		entry->gid = cpu_to_be64(gid->gid);
		entry->chid = cpu_to_be16(gid->chid);
		entry++;
		if (!gid->extended)
			continue;
		entry->gid = cpu_to_be64(gid->gid_ext);
		entry->chid = cpu_to_be16(gid->chid);
		entry++;
	}
}

int smc_clc_encode_proposal(const struct smc_clc_proposal *p, u8 *buf,
			    size_t size)
{
	struct smc_clc_layout l;
	u8 flags;

	if (!smc_clc_proposal_legal(p))
		return -EINVAL;
	l = smc_clc_layout(p);
	if (l.len > size)
		return -EMSGSIZE;

	flags = smc_clc_offer(p->smcr_v1, p->smcd_v1) <<
		SMC_CLC_FL_PROP_V1_SHIFT;
	if (p->version >= SMC_CLC_V2)
		flags |= smc_clc_offer(p->smcr_v2, p->smcd_v2) <<
			 SMC_CLC_FL_PROP_V2_SHIFT;
	smc_clc_begin(buf, l.len, SMC_CLC_PROPOSAL, p->version, false, flags);
	smc_clc_encode_base(p, &l, buf);
	if (l.iparea)
		smc_clc_encode_iparea(p, buf + l.iparea);
	if (l.v2ext)
		smc_clc_encode_v2ext(p, &l, buf);
	if (l.smcdext)
		smc_clc_encode_smcdext(p, buf + l.smcdext);
	return l.len;
}

static bool smc_clc_smcr_legal(const struct smc_clc_accept *a)
{
	if (a->qpn >> 24 || a->psn >> 24 ||
	    a->rmbe_size > SMC_CLC_SIZE_CODE_MAX)
		return false;
	if (a->mtu > SMC_CLC_MTU_MASK ||
	    (a->first_contact && !smc_clc_mtu_valid(a->mtu)))
		return false;
	if (!a->has_fce)
		return true;
	if (a->confirm &&
	    (!a->n_gid_list || a->n_gid_list > SMC_CLC_MAX_GID_LIST))
		return false;
	return !a->release || (a->max_conns >= SMC_CLC_MIN_CONNS &&
			       a->max_links >= 1 &&
			       a->max_links <= SMC_CLC_MAX_LINKS);
}

static bool smc_clc_accept_legal(const struct smc_clc_accept *a)
{
	if (a->version == SMC_CLC_V1) {
		if (a->has_fce)
			return false;
	} else if (a->version == SMC_CLC_V2) {
		if (a->has_fce != a->first_contact)
			return false;
	} else {
		return false;
	}
	if (a->has_fce && (a->release > SMC_CLC_RELEASE || a->os_type > 15))
		return false;
	if (!a->smcd)
		return smc_clc_smcr_legal(a);
	return a->dmbe_size <= SMC_CLC_SIZE_CODE_MAX;
}

static size_t smc_clc_accept_base_len(const struct smc_clc_accept *a)
{
	if (a->version == SMC_CLC_V1)
		return a->smcd ? sizeof(struct smc_clc_w_smcd_v1) :
				 sizeof(struct smc_clc_w_smcr);
	return a->smcd ? sizeof(struct smc_clc_w_smcd_v2) :
			 sizeof(struct smc_clc_w_smcr_v2);
}

/*
 * The length of the extension. Release 1 made it longer for SMC-D only; for SMC-R it had reserved
 * room.
 */
static size_t smc_clc_fce_len(const struct smc_clc_accept *a)
{
	if (!a->has_fce)
		return 0;
	return a->smcd && !a->release ? sizeof(struct smc_clc_w_fce) :
					sizeof(struct smc_clc_w_fce_v21);
}

static void smc_clc_encode_fce(const struct smc_clc_accept *a, u8 *buf)
{
	struct smc_clc_w_fce_v21 *w = (struct smc_clc_w_fce_v21 *)buf;
	unsigned int i;

	if (!a->smcd && a->v2_direct)
		w->base.flags0 = SMC_CLC_FCE_V2_DIRECT;
	w->base.flags1 = a->os_type << SMC_CLC_FCE_OS_SHIFT | a->release;
	memset(w->base.hostname, ' ', sizeof(w->base.hostname));
	for (i = 0; i < SMC_CLC_HOSTNAME_LEN && a->hostname[i]; i++)
		w->base.hostname[i] = a->hostname[i];
	if (!a->release)
		return;
	if (!a->smcd) {
		w->max_conns = a->max_conns;
		w->max_links = a->max_links;
	}
	w->features = cpu_to_be16(a->features);
	memcpy(w->vendor, a->vendor, sizeof(w->vendor));
}

static void smc_clc_encode_gid_list(const struct smc_clc_accept *a, u8 *buf)
{
	struct smc_clc_w_gid_list *w = (struct smc_clc_w_gid_list *)buf;

	w->n_gids = a->n_gid_list;
	memcpy(w + 1, a->gid_list, a->n_gid_list * sizeof(a->gid_list[0]));
}

static void smc_clc_encode_smcd(const struct smc_clc_accept *a, u8 *buf)
{
	struct smc_clc_w_smcd_v2 *w = (struct smc_clc_w_smcd_v2 *)buf;

	w->base.gid = cpu_to_be64(a->gid);
	w->base.token = cpu_to_be64(a->token);
	w->base.dmbe_idx = a->dmbe_idx;
	w->base.dmbe_size = a->dmbe_size << SMC_CLC_SIZE_SHIFT;
	w->base.link_id = cpu_to_be32(a->link_id);
	if (a->version == SMC_CLC_V1)
		return;
	w->chid = cpu_to_be16(a->chid);
	memcpy(w->eid, a->eid, sizeof(w->eid));
	if (smc_clc_chid_emulated(a->chid))
		w->gid_ext = cpu_to_be64(a->gid_ext);
}

static void smc_clc_encode_smcr(const struct smc_clc_accept *a, u8 *buf)
{
	struct smc_clc_w_smcr_v2 *w = (struct smc_clc_w_smcr_v2 *)buf;

	memcpy(w->base.peer_id, a->peer_id, sizeof(a->peer_id));
	memcpy(w->base.gid, a->roce_gid, sizeof(a->roce_gid));
	memcpy(w->base.mac, a->mac, sizeof(a->mac));
	smc_clc_put24(w->base.qpn, a->qpn);
	w->base.rkey = cpu_to_be32(a->rkey);
	w->base.rmbe_idx = a->rmbe_idx;
	w->base.alert_token = cpu_to_be32(a->alert_token);
	w->base.size_mtu = a->rmbe_size << SMC_CLC_SIZE_SHIFT | a->mtu;
	w->base.rmb_addr = cpu_to_be64(a->rmb_addr);
	smc_clc_put24(w->base.psn, a->psn);
	if (a->version == SMC_CLC_V2)
		memcpy(w->eid, a->eid, sizeof(w->eid));
}

int smc_clc_encode_accept(const struct smc_clc_accept *a, u8 *buf,
			  size_t size)
{
	size_t fce, list, len;
	u8 flags = 0;

	if (!smc_clc_accept_legal(a))
		return -EINVAL;
	fce = smc_clc_accept_base_len(a);
	list = fce + smc_clc_fce_len(a);
	len = list + SMC_CLC_EYE_LEN;
	if (!a->smcd && a->confirm && a->has_fce)
		len += sizeof(struct smc_clc_w_gid_list) +
		       a->n_gid_list * sizeof(a->gid_list[0]);
	if (len > size)
		return -EMSGSIZE;

	/* In version 1, this bit of a Confirm is reserved. */
	if (a->first_contact && (!a->confirm || a->version >= SMC_CLC_V2))
		flags |= SMC_CLC_FL_FIRST_CONTACT;
	if (a->smcd)
		flags |= SMC_CLC_FL_TYPE_SMCD;
	else if (a->rc_saved && !a->confirm)
		flags |= SMC_CLC_FL_RC_SAVED;
	smc_clc_begin(buf, len, a->confirm ? SMC_CLC_CONFIRM : SMC_CLC_ACCEPT,
		      a->version, a->smcd, flags);
	if (a->smcd)
		smc_clc_encode_smcd(a, buf);
	else
		smc_clc_encode_smcr(a, buf);
	if (a->has_fce)
		smc_clc_encode_fce(a, buf + fce);
	if (!a->smcd && a->confirm && a->has_fce)
		smc_clc_encode_gid_list(a, buf + list);
	return len;
}

static_assert(sizeof(struct smc_clc_w_decline_v2) + SMC_CLC_EYE_LEN == SMC_CLC_DECLINE_MAX);

int smc_clc_encode_decline(const struct smc_clc_decline *d, u8 *buf,
			   size_t size)
{
	struct smc_clc_w_decline_v2 *w = (struct smc_clc_w_decline_v2 *)buf;
	size_t len;

	if ((d->version != SMC_CLC_V1 && d->version != SMC_CLC_V2) ||
	    d->os_type > 15)
		return -EINVAL;
	len = (d->has_types ? sizeof(*w) : sizeof(w->base)) + SMC_CLC_EYE_LEN;
	if (len > size)
		return -EMSGSIZE;

	smc_clc_begin(buf, len, SMC_CLC_DECLINE, d->version, d->smcd,
		      d->out_of_sync ? SMC_CLC_FL_OUT_OF_SYNC : 0);
	memcpy(w->base.peer_id, d->peer_id, sizeof(d->peer_id));
	w->base.diagnosis = cpu_to_be32(d->diagnosis);
	if (d->has_types || d->version >= SMC_CLC_V2)
		w->base.os_type = d->os_type << 4;
	if (d->has_types) {
		w->rc_dv2 = cpu_to_be32(d->rc_dv2);
		w->rc_dv1 = cpu_to_be32(d->rc_dv1);
		w->rc_rv2 = cpu_to_be32(d->rc_rv2);
		w->rc_rv1 = cpu_to_be32(d->rc_rv1);
	}
	return len;
}
