// SPDX-License-Identifier: GPL-2.0
/* Encoding and decoding of CDC messages. */
#include "cdc.h"

struct smc_cdc_w_cursor {
	__be16 reserved;
	__be16 wrap;
	__be32 count;
} __packed;

struct smc_cdc_w {
	u8 type;
	u8 len;
	__be16 seqno;
	__be32 alert_token;
	struct smc_cdc_w_cursor prod;
	struct smc_cdc_w_cursor cons;
	u8 prod_flags;
	u8 conn_flags;
	u8 reserved[18];
} __packed;
static_assert(sizeof(struct smc_cdc_w) == SMC_WR_MSG_LEN);
static_assert(offsetof(struct smc_cdc_w, alert_token) == 4);
static_assert(offsetof(struct smc_cdc_w, prod.wrap) == 10);
static_assert(offsetof(struct smc_cdc_w, prod.count) == 12);
static_assert(offsetof(struct smc_cdc_w, cons.wrap) == 18);
static_assert(offsetof(struct smc_cdc_w, cons.count) == 20);
static_assert(offsetof(struct smc_cdc_w, prod_flags) == 24);

#define SMC_CDC_PROD_FLAGS						\
	(SMC_CDC_WRITE_BLOCKED | SMC_CDC_URG_PENDING |			\
	 SMC_CDC_URG_PRESENT | SMC_CDC_UPDATE_REQ | SMC_CDC_FAILOVER)
#define SMC_CDC_CONN_FLAGS						\
	(SMC_CDC_SEND_DONE | SMC_CDC_CLOSED | SMC_CDC_ABORT)

int smc_cdc_decode(const u8 *buf, size_t len, struct smc_cdc_msg *m)
{
	const struct smc_cdc_w *w = (const void *)buf;

	if (len != sizeof(*w) || w->type != SMC_CDC_TYPE ||
	    w->len != sizeof(*w))
		return -EPROTO;

	memset(m, 0, sizeof(*m));
	m->seqno = be16_to_cpu(w->seqno);
	m->alert_token = be32_to_cpu(w->alert_token);
	m->prod_flags = w->prod_flags & SMC_CDC_PROD_FLAGS;
	if (m->prod_flags & SMC_CDC_FAILOVER) {
		m->prod_flags = SMC_CDC_FAILOVER;
		return 0;
	}
	m->conn_flags = w->conn_flags & SMC_CDC_CONN_FLAGS;
	m->prod.wrap = be16_to_cpu(w->prod.wrap);
	m->prod.count = be32_to_cpu(w->prod.count);
	m->cons.wrap = be16_to_cpu(w->cons.wrap);
	m->cons.count = be32_to_cpu(w->cons.count);
	return 0;
}

void smc_cdc_encode(const struct smc_cdc_msg *m, u8 *buf)
{
	struct smc_cdc_w *w = (struct smc_cdc_w *)buf;

	memset(w, 0, sizeof(*w));
	w->type = SMC_CDC_TYPE;
	w->len = sizeof(*w);
	w->seqno = cpu_to_be16(m->seqno);
	w->alert_token = cpu_to_be32(m->alert_token);
	w->prod.wrap = cpu_to_be16(m->prod.wrap);
	w->prod.count = cpu_to_be32(m->prod.count);
	w->cons.wrap = cpu_to_be16(m->cons.wrap);
	w->cons.count = cpu_to_be32(m->cons.count);
	w->prod_flags = m->prod_flags & SMC_CDC_PROD_FLAGS;
	w->conn_flags = m->conn_flags & SMC_CDC_CONN_FLAGS;
}
