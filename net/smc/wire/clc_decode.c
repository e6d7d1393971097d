// SPDX-License-Identifier: GPL-2.0
/*
 * Decoding of CLC messages.
 *
 * Every length, count and offset is checked here, once, against the end of the message, so the
 * result cannot contain a bad one. The structure is checked before the contents, so that a
 * malformed message is not mistaken for one that merely contains an unknown value. Reserved fields
 * are ignored (RFC 7609 A.2), and so are areas of types that are not offered.
 */
#include "clc.h"

static u32 smc_clc_get24(const u8 *b)
{
	return (u32)b[0] << 16 | (u32)b[1] << 8 | b[2];
}

static bool smc_clc_eye(const u8 *b, bool smcd)
{
	return !memcmp(b, smcd ? SMC_CLC_EYE_SMCD : SMC_CLC_EYE_SMCR,
		       SMC_CLC_EYE_LEN);
}

/* Can we decode this version of this type of message? */
static bool smc_clc_version_known(u8 type, u8 version)
{
	switch (type) {
	case SMC_CLC_PROPOSAL:
		/*
		 * A client of a later version expects a server that does not know that version to
		 * choose an earlier one. Later formats keep the fields of the earlier ones, so
		 * decode the highest version we know.
		 */
		return version >= SMC_CLC_V1;
	case SMC_CLC_DECLINE:
		/* A Decline has the same meaning in every version. */
		return true;
	default:
		/* An answer must not exceed the version that we have proposed. */
		return version == SMC_CLC_V1 || version == SMC_CLC_V2;
	}
}

static size_t smc_clc_min_len(const struct smc_clc_hdr *hdr)
{
	switch (hdr->type) {
	case SMC_CLC_PROPOSAL:
		return hdr->version >= SMC_CLC_V2 ? SMC_CLC_PROP_V2_MIN_LEN :
						    SMC_CLC_PROP_V1_MIN_LEN;
	case SMC_CLC_DECLINE:
		return sizeof(struct smc_clc_w_decline) + SMC_CLC_EYE_LEN;
	default:
		if (hdr->version == SMC_CLC_V2)
			return (hdr->smcd ? sizeof(struct smc_clc_w_smcd_v2) :
					    sizeof(struct smc_clc_w_smcr_v2)) +
			       SMC_CLC_EYE_LEN;
		return (hdr->smcd ? sizeof(struct smc_clc_w_smcd) :
				    sizeof(struct smc_clc_w_smcr)) +
		       SMC_CLC_EYE_LEN;
	}
}

static size_t smc_clc_max_len(const struct smc_clc_hdr *hdr)
{
	/* Version 1 is final; later versions may grow. */
	if (hdr->version != SMC_CLC_V1)
		return SMC_CLC_MAX_LEN;

	switch (hdr->type) {
	case SMC_CLC_PROPOSAL:
		return SMC_CLC_MAX_LEN;
	case SMC_CLC_DECLINE:
		/* A Decline of version 1 may have the longer form, too. */
		return sizeof(struct smc_clc_w_decline_v2) + SMC_CLC_EYE_LEN;
	default:
		return (hdr->smcd ? sizeof(struct smc_clc_w_smcd_v1) :
				    sizeof(struct smc_clc_w_smcr)) +
		       SMC_CLC_EYE_LEN;
	}
}

int smc_clc_decode_hdr(const u8 *buf, size_t len, struct smc_clc_hdr *hdr)
{
	const struct smc_clc_w_hdr *w = (const struct smc_clc_w_hdr *)buf;

	memset(hdr, 0, sizeof(*hdr));
	if (len < sizeof(*w))
		return -EPROTO;

	hdr->smcd = smc_clc_eye(w->eye, true);
	if (!hdr->smcd && !smc_clc_eye(w->eye, false))
		goto malformed;

	hdr->type = w->type;
	hdr->len = be16_to_cpu(w->len);
	hdr->version = w->flags >> SMC_CLC_FL_VERSION_SHIFT;
	hdr->flags_raw = w->flags;

	if (hdr->type < SMC_CLC_PROPOSAL || hdr->type > SMC_CLC_DECLINE)
		goto malformed;
	/* A Proposal may offer both types; its eye catcher is always SMCR. */
	if (hdr->type == SMC_CLC_PROPOSAL && hdr->smcd)
		goto malformed;
	if (hdr->len < smc_clc_min_len(hdr) || hdr->len > smc_clc_max_len(hdr))
		goto malformed;
	if (!smc_clc_version_known(hdr->type, hdr->version))
		return -EOPNOTSUPP;
	return 0;

malformed:
	memset(hdr, 0, sizeof(*hdr));
	return -EPROTO;
}

/*
 * Check what all messages have in common: header, length, eye catcher at the end. The type must be
 * in the range @first to @last.
 */
static int smc_clc_check(const u8 *buf, size_t len, enum smc_clc_type first,
			 enum smc_clc_type last, struct smc_clc_hdr *hdr)
{
	int rc;

	rc = smc_clc_decode_hdr(buf, len, hdr);
	if (rc == -EPROTO)
		return rc;
	if (hdr->type < first || hdr->type > last || hdr->len != len)
		return -EPROTO;
	if (!smc_clc_eye(buf + len - SMC_CLC_EYE_LEN, hdr->smcd))
		return -EPROTO;
	return rc;
}

/*
 * The areas of a Proposal follow one another, possibly with gaps for fields of a later release.
 * @next is the first byte that has not been taken yet, @end the trailing eye catcher.
 */
struct smc_clc_areas {
	const u8 *buf;
	size_t next;
	size_t end;
};

/* Take @len bytes at @pos. Returns NULL if any of them is taken already or beyond the end. */
static const void *smc_clc_take(struct smc_clc_areas *areas, size_t pos,
				size_t len)
{
	if (pos < areas->next || pos > areas->end || len > areas->end - pos)
		return NULL;
	areas->next = pos + len;
	return areas->buf + pos;
}

static int smc_clc_decode_iparea(struct smc_clc_areas *areas,
				 struct smc_clc_proposal *p)
{
	const struct smc_clc_w_prop_v1 *base = (const void *)areas->buf;
	u16 off = be16_to_cpu(base->iparea_off);
	const struct smc_clc_w_ipv6_prefix *prefix;
	const struct smc_clc_w_iparea *area;
	unsigned int i;

	/*
	 * SMC-D alone requires no IP area. For SMC-R with the longer base, an offset of 0 is
	 * invalid.
	 */
	if (!off && !p->smcr_v1)
		return 0;

	area = smc_clc_take(areas, sizeof(*base) + off, sizeof(*area));
	if (!area || area->n_ipv6 > SMC_CLC_MAX_IPV6_PREFIXES ||
	    area->ipv4_prefix_len > 32)
		return -EPROTO;
	prefix = smc_clc_take(areas, areas->next,
			      area->n_ipv6 * sizeof(*prefix));
	if (!prefix)
		return -EPROTO;

	p->has_prefix = true;
	p->ipv4_mask = area->ipv4_mask;
	p->ipv4_prefix_len = area->ipv4_prefix_len;
	p->n_ipv6 = area->n_ipv6;
	for (i = 0; i < p->n_ipv6; i++) {
		if (prefix[i].len > 128)
			return -EPROTO;
		memcpy(p->ipv6[i].addr, prefix[i].addr, sizeof(prefix->addr));
		p->ipv6[i].len = prefix[i].len;
	}
	return 0;
}

/* Convert entries to devices: the two entries of an extended GID make up one device. */
static int smc_clc_decode_gids(const struct smc_clc_w_gid_chid *entry,
			       unsigned int n, struct smc_clc_proposal *p)
{
	struct smc_clc_ism_gid *gid;
	unsigned int i;

	for (i = 0; i < n; i++) {
		gid = &p->gids[p->n_gids++];
		gid->gid = be64_to_cpu(entry[i].gid);
		gid->chid = be16_to_cpu(entry[i].chid);
		if (!smc_clc_chid_emulated(gid->chid))
			continue;
		if (++i == n || be16_to_cpu(entry[i].chid) != gid->chid)
			return -EPROTO;
		gid->gid_ext = be64_to_cpu(entry[i].gid);
		gid->extended = true;
	}
	return 0;
}

static int smc_clc_decode_smcdext(struct smc_clc_areas *areas, size_t pos,
				  const struct smc_clc_w_v2ext *v2ext,
				  struct smc_clc_proposal *p)
{
	bool has_seid = v2ext->flags & SMC_CLC_V2EXT_SEID;
	u16 off = be16_to_cpu(v2ext->smcdext_off);
	const struct smc_clc_w_gid_chid *entry;
	const struct smc_clc_w_smcdext *ext;

	/* Only the associated device in the base is offered. */
	if (!off)
		return has_seid || v2ext->n_gids ? -EPROTO : 0;

	if (v2ext->n_gids > SMC_CLC_MAX_GIDS)
		return -EPROTO;
	ext = smc_clc_take(areas, pos + off, sizeof(*ext));
	if (!ext)
		return -EPROTO;
	entry = smc_clc_take(areas, areas->next,
			     v2ext->n_gids * sizeof(*entry));
	if (!entry)
		return -EPROTO;

	if (has_seid) {
		p->has_seid = true;
		memcpy(p->seid, ext->seid, sizeof(p->seid));
	}
	return smc_clc_decode_gids(entry, v2ext->n_gids, p);
}

/*
 * Decode the fields of version 2.1. A later release may redefine the feature bits, but its sender
 * must support all features of the earlier releases.
 */
static void smc_clc_decode_v21(const struct smc_clc_w_prop *base,
			       const struct smc_clc_w_v2ext *v2ext,
			       bool later, struct smc_clc_proposal *p)
{
	static const u8 no_oui[3];

	p->features = later ? SMC_CLC_FEAT_KNOWN : be16_to_cpu(v2ext->features);
	if (p->smcr_v2) {
		/* These are only preferences, so ignore invalid ones. */
		if (v2ext->max_conns >= SMC_CLC_MIN_CONNS)
			p->max_conns = v2ext->max_conns;
		if (v2ext->max_links <= SMC_CLC_MAX_LINKS)
			p->max_links = v2ext->max_links;
	}
	if (memcmp(base->vendor_oui, no_oui, sizeof(no_oui))) {
		memcpy(p->vendor_oui, base->vendor_oui, sizeof(p->vendor_oui));
		memcpy(p->vendor_opts, base->vendor_opts,
		       sizeof(p->vendor_opts));
	}
}

static int smc_clc_decode_v2ext(struct smc_clc_areas *areas, u8 version,
				struct smc_clc_proposal *p)
{
	const struct smc_clc_w_prop *base = (const void *)areas->buf;
	size_t pos = offsetof(struct smc_clc_w_prop, v2ext_off) +
		     sizeof(base->v2ext_off) + be16_to_cpu(base->v2ext_off);
	const struct smc_clc_w_v2ext *v2ext;
	const u8 *eids;
	u8 release;
	bool later;

	v2ext = smc_clc_take(areas, pos, sizeof(*v2ext));
	if (!v2ext || v2ext->n_eids > SMC_CLC_MAX_EIDS)
		return -EPROTO;
	eids = smc_clc_take(areas, areas->next, v2ext->n_eids * SMC_EID_LEN);
	if (!eids)
		return -EPROTO;
	p->eid_count = v2ext->n_eids;
	memcpy(p->eids, eids, v2ext->n_eids * SMC_EID_LEN);
	if (p->smcr_v2)
		memcpy(p->roce_gid, v2ext->roce_gid, sizeof(p->roce_gid));

	release = v2ext->flags >> SMC_CLC_V2EXT_RELEASE_SHIFT;
	later = version > SMC_CLC_V2 || release > SMC_CLC_RELEASE;
	p->release = later ? SMC_CLC_RELEASE : release;
	if (p->release)
		smc_clc_decode_v21(base, v2ext, later, p);

	if (!p->smcd_v2)
		return 0;
	pos += offsetof(struct smc_clc_w_v2ext, smcdext_off) +
	       sizeof(v2ext->smcdext_off);
	return smc_clc_decode_smcdext(areas, pos, v2ext, p);
}

static bool smc_clc_offers_r(u8 offer)
{
	return offer == SMC_CLC_OFFER_R || offer == SMC_CLC_OFFER_BOTH;
}

static bool smc_clc_offers_d(u8 offer)
{
	return offer == SMC_CLC_OFFER_D || offer == SMC_CLC_OFFER_BOTH;
}

/* Decode the offered types and the base. Returns the length of the base. */
static size_t smc_clc_decode_base(const u8 *buf, const struct smc_clc_hdr *hdr,
				  struct smc_clc_proposal *p)
{
	const struct smc_clc_w_prop *base = (const void *)buf;
	bool v2 = hdr->version >= SMC_CLC_V2;
	u8 offer;

	p->version = v2 ? SMC_CLC_V2 : SMC_CLC_V1;
	offer = hdr->flags_raw >> SMC_CLC_FL_PROP_V1_SHIFT &
		SMC_CLC_FL_PROP_MASK;
	p->smcr_v1 = smc_clc_offers_r(offer);
	p->smcd_v1 = smc_clc_offers_d(offer);
	offer = hdr->flags_raw >> SMC_CLC_FL_PROP_V2_SHIFT &
		SMC_CLC_FL_PROP_MASK;
	p->smcr_v2 = v2 && smc_clc_offers_r(offer);
	p->smcd_v2 = v2 && smc_clc_offers_d(offer);

	memcpy(p->peer_id, base->v1.peer_id, sizeof(p->peer_id));
	if (p->smcr_v1)
		memcpy(p->gid, base->v1.gid, sizeof(p->gid));
	if (p->smcr_v1 || p->smcr_v2)
		memcpy(p->mac, base->v1.mac, sizeof(p->mac));
	/* Even the shortest Proposal is long enough to contain ism_gid. */
	if (p->smcd_v1 || p->smcd_v2)
		p->ism_gid = be64_to_cpu(base->ism_gid);
	if (p->smcd_v2 && p->ism_gid)
		p->ism_chid = be16_to_cpu(base->ism_chid);

	if (v2)
		return sizeof(*base);
	if (p->smcd_v1)
		return offsetof(struct smc_clc_w_prop, ism_chid);
	return sizeof(base->v1);
}

static_assert(SMC_CLC_PROP_V1_MIN_LEN >=
	      offsetof(struct smc_clc_w_prop, ism_chid) + SMC_CLC_EYE_LEN);

int smc_clc_decode_proposal(const u8 *buf, size_t len,
			    struct smc_clc_proposal *p)
{
	struct smc_clc_areas areas = { .buf = buf };
	struct smc_clc_hdr hdr;
	int rc;

	memset(p, 0, sizeof(*p));
	rc = smc_clc_check(buf, len, SMC_CLC_PROPOSAL, SMC_CLC_PROPOSAL, &hdr);
	if (rc)
		return rc;

	areas.next = smc_clc_decode_base(buf, &hdr, p);
	areas.end = len - SMC_CLC_EYE_LEN;

	/* An emulated device cannot be the associated one; it must be in the array. */
	if (smc_clc_chid_emulated(p->ism_chid))
		rc = -EPROTO;
	if (!rc && (p->smcr_v1 || p->smcd_v1))
		rc = smc_clc_decode_iparea(&areas, p);
	/* Version 1 can only grow in front of the IP area, which comes last. */
	if (!rc && p->version == SMC_CLC_V1 && p->has_prefix &&
	    areas.next != areas.end)
		rc = -EPROTO;
	if (!rc && (p->smcr_v2 || p->smcd_v2))
		rc = smc_clc_decode_v2ext(&areas, hdr.version, p);
	if (rc)
		memset(p, 0, sizeof(*p));
	return rc;
}

/* A blank ends the name. A name with unprintable characters is dropped. */
static void smc_clc_decode_hostname(const u8 *wire, char *name)
{
	unsigned int i;

	for (i = 0; i < SMC_CLC_HOSTNAME_LEN; i++) {
		if (wire[i] == ' ' || !wire[i])
			return;
		if (wire[i] < ' ' || wire[i] > '~') {
			memset(name, 0, SMC_CLC_HOSTNAME_LEN);
			return;
		}
		name[i] = wire[i];
	}
}

/*
 * Decode a first contact extension between @pos and @end; fields appended by a later release are
 * skipped. Returns the length of the extension, or -EPROTO.
 */
static int smc_clc_decode_fce(const u8 *buf, size_t pos, size_t end,
			      struct smc_clc_accept *a)
{
	const struct smc_clc_w_fce_v21 *fce = (const void *)(buf + pos);

	if (end - pos < sizeof(fce->base))
		return -EPROTO;
	a->has_fce = true;
	a->os_type = fce->base.flags1 >> SMC_CLC_FCE_OS_SHIFT;
	a->release = fce->base.flags1 & SMC_CLC_FCE_RELEASE_MASK;
	if (!a->smcd)
		a->v2_direct = fce->base.flags0 & SMC_CLC_FCE_V2_DIRECT;
	smc_clc_decode_hostname(fce->base.hostname, a->hostname);
	if (!a->release)
		return sizeof(fce->base);

	if (end - pos < sizeof(*fce))
		return -EPROTO;
	if (!a->smcd) {
		a->max_conns = fce->max_conns;
		a->max_links = fce->max_links;
	}
	a->features = be16_to_cpu(fce->features);
	memcpy(a->vendor, fce->vendor, sizeof(a->vendor));
	return sizeof(*fce);
}

/* Decode the GID list between @pos and @end. */
static int smc_clc_decode_gid_list(const u8 *buf, size_t pos, size_t end,
				   struct smc_clc_accept *a)
{
	const struct smc_clc_w_gid_list *list = (const void *)(buf + pos);

	if (end < pos + sizeof(*list))
		return -EPROTO;
	if (!list->n_gids || list->n_gids > SMC_CLC_MAX_GID_LIST)
		return -EPROTO;
	pos += sizeof(*list);
	if (end - pos < list->n_gids * sizeof(a->gid_list[0]))
		return -EPROTO;
	a->n_gid_list = list->n_gids;
	memcpy(a->gid_list, buf + pos,
	       list->n_gids * sizeof(a->gid_list[0]));
	return 0;
}

/* Decode the first contact extension of SMC-R, and the GID list that follows it in a Confirm. */
static int smc_clc_decode_fce_smcr(const u8 *buf, size_t pos, size_t end,
				   struct smc_clc_accept *a)
{
	size_t v21 = pos + sizeof(struct smc_clc_w_fce_v21);
	int rc;

	rc = smc_clc_decode_fce(buf, pos, end, a);
	if (rc < 0)
		return rc;
	if (!a->confirm)
		return 0;

	/*
	 * According to the paper, the extension of release 0 has 36 bytes, but also, release 1
	 * changed no length of SMC-R messages. Assume the long form if the GID list then ends
	 * exactly at the end of the message.
	 */
	if (!a->release && end > v21 &&
	    end - v21 == sizeof(struct smc_clc_w_gid_list) +
			 buf[v21] * sizeof(a->gid_list[0]))
		rc = sizeof(struct smc_clc_w_fce_v21);
	return smc_clc_decode_gid_list(buf, pos + rc, end, a);
}

static int smc_clc_decode_smcd(const u8 *buf, size_t end,
			       struct smc_clc_accept *a)
{
	const struct smc_clc_w_smcd_v2 *w = (const void *)buf;
	int rc;

	a->gid = be64_to_cpu(w->base.gid);
	a->token = be64_to_cpu(w->base.token);
	a->dmbe_idx = w->base.dmbe_idx;
	a->dmbe_size = w->base.dmbe_size >> SMC_CLC_SIZE_SHIFT;
	a->link_id = be32_to_cpu(w->base.link_id);
	if (a->version == SMC_CLC_V1)
		return 0;

	a->chid = be16_to_cpu(w->chid);
	memcpy(a->eid, w->eid, sizeof(a->eid));
	if (smc_clc_chid_emulated(a->chid))
		a->gid_ext = be64_to_cpu(w->gid_ext);
	/* Without first contact, an extension is tolerated but ignored. */
	if (!a->first_contact)
		return 0;
	rc = smc_clc_decode_fce(buf, sizeof(*w), end, a);
	return rc < 0 ? rc : 0;
}

static int smc_clc_decode_smcr(const u8 *buf, size_t end,
			       struct smc_clc_accept *a)
{
	const struct smc_clc_w_smcr_v2 *w = (const void *)buf;
	int rc;

	memcpy(a->peer_id, w->base.peer_id, sizeof(a->peer_id));
	memcpy(a->roce_gid, w->base.gid, sizeof(a->roce_gid));
	memcpy(a->mac, w->base.mac, sizeof(a->mac));
	a->qpn = smc_clc_get24(w->base.qpn);
	a->rkey = be32_to_cpu(w->base.rkey);
	a->rmbe_idx = w->base.rmbe_idx;
	a->alert_token = be32_to_cpu(w->base.alert_token);
	a->rmbe_size = w->base.size_mtu >> SMC_CLC_SIZE_SHIFT;
	a->mtu = w->base.size_mtu & SMC_CLC_MTU_MASK;
	a->rmb_addr = be64_to_cpu(w->base.rmb_addr);
	a->psn = smc_clc_get24(w->base.psn);
	if (!a->confirm)
		a->rc_saved = w->base.hdr.flags & SMC_CLC_FL_RC_SAVED;

	if (a->version == SMC_CLC_V2) {
		memcpy(a->eid, w->eid, sizeof(a->eid));
		/* As above: ignored without first contact. */
		if (!a->first_contact)
			return 0;
		rc = smc_clc_decode_fce_smcr(buf, sizeof(*w), end, a);
		if (rc)
			return rc;
	}

	/* The RFC requires a valid MTU only in the first contact. */
	if (a->first_contact && !smc_clc_mtu_valid(a->mtu))
		return -EOPNOTSUPP;
	if (a->release && (a->max_conns < SMC_CLC_MIN_CONNS ||
			   !a->max_links || a->max_links > SMC_CLC_MAX_LINKS))
		return -EOPNOTSUPP;
	return 0;
}

int smc_clc_decode_accept(const u8 *buf, size_t len, struct smc_clc_accept *a)
{
	struct smc_clc_hdr hdr;
	int rc;

	memset(a, 0, sizeof(*a));
	rc = smc_clc_check(buf, len, SMC_CLC_ACCEPT, SMC_CLC_CONFIRM, &hdr);
	if (rc)
		return rc;

	a->confirm = hdr.type == SMC_CLC_CONFIRM;
	a->version = hdr.version;
	a->smcd = hdr.smcd;
	/* In version 1, this bit of a Confirm is reserved. */
	if (!a->confirm || a->version >= SMC_CLC_V2)
		a->first_contact = hdr.flags_raw & SMC_CLC_FL_FIRST_CONTACT;

	if (a->smcd)
		rc = smc_clc_decode_smcd(buf, len - SMC_CLC_EYE_LEN, a);
	else
		rc = smc_clc_decode_smcr(buf, len - SMC_CLC_EYE_LEN, a);
	if (rc)
		memset(a, 0, sizeof(*a));
	return rc;
}

int smc_clc_decode_decline(const u8 *buf, size_t len,
			   struct smc_clc_decline *d)
{
	const struct smc_clc_w_decline_v2 *w = (const void *)buf;
	struct smc_clc_hdr hdr;
	int rc;

	memset(d, 0, sizeof(*d));
	rc = smc_clc_check(buf, len, SMC_CLC_DECLINE, SMC_CLC_DECLINE, &hdr);
	if (rc)
		return rc;

	d->version = hdr.version;
	d->smcd = hdr.smcd;
	d->out_of_sync = hdr.flags_raw & SMC_CLC_FL_OUT_OF_SYNC;
	memcpy(d->peer_id, w->base.peer_id, sizeof(d->peer_id));
	d->diagnosis = be32_to_cpu(w->base.diagnosis);

	/* The short form is also accepted in version 2. */
	d->has_types = len >= sizeof(*w) + SMC_CLC_EYE_LEN;
	if (d->has_types || d->version >= SMC_CLC_V2)
		d->os_type = w->base.os_type >> 4;
	if (d->has_types) {
		d->rc_dv2 = be32_to_cpu(w->rc_dv2);
		d->rc_dv1 = be32_to_cpu(w->rc_dv1);
		d->rc_rv2 = be32_to_cpu(w->rc_rv2);
		d->rc_rv1 = be32_to_cpu(w->rc_rv1);
	}
	return 0;
}
