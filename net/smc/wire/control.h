/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SMC-D's control data, which take the place of SMC-R's CDC messages.  They lie at the head of an
 * element, in front of the ring.  The peer of the element's owner writes both.
 *
 * Neither specification shows them; this is the layout of IBM's ISM devices, and numbers are in
 * the byte order of the machine.  They need no sequence number, because a reader always sees the
 * newest state.
 *
 * IBM's devices write all of it at once.  On a mapped device one end reads while the other one
 * writes, a word at a time.  There a flag that says what lies at the producer cursor, such as
 * urgent data, has to come in one word with that cursor, so it is in the first word as well, in a
 * field that IBM's devices leave zero.
 */
#ifndef SMC_WIRE_CONTROL_H
#define SMC_WIRE_CONTROL_H

#include "cdc.h"

#define SMC_CONTROL_LEN		32

/**
 * struct smc_control - control data
 * @type:	SMC_CDC_TYPE
 * @reserved:	zero
 * @prod:	where the writer of this writes next in the ring
 * @cons:	where the writer of this reads next in its own ring, and flags
 * @reserved2:	zero
 *
 * @prod and @cons are read and written as a whole each.
 */
struct smc_control {
	u8	type;
	u8	reserved[7];
	u64	prod;
	u64	cons;
	u64	reserved2;
};

static_assert(sizeof(struct smc_control) == SMC_CONTROL_LEN);

/* smc_control_prod.flags: the lower byte is smc_cdc_msg.prod_flags */
#define SMC_CONTROL_HAS_FLAGS	0x8000

/* The two words, as they lie in memory. */
struct smc_control_prod {
	u16	wrap;
	u32	count;
	u16	flags;
} __packed;
static_assert(sizeof(struct smc_control_prod) == sizeof(u64));

struct smc_control_cons {
	u16	wrap;
	u32	count;
	u8	prod_flags;
	u8	conn_flags;
} __packed;
static_assert(sizeof(struct smc_control_cons) == sizeof(u64));

/**
 * smc_control_pack() - the words of a message
 * @m:		cursors and flags; the rest of it is not used
 * @mapped:	the flags of the producer are in the first word, too
 * @prod:	receives the first word
 * @cons:	receives the second one
 */
static inline void smc_control_pack(const struct smc_cdc_msg *m, bool mapped, u64 *prod,
				    u64 *cons)
{
	const struct smc_control_prod p = {
		.wrap = m->prod.wrap, .count = m->prod.count,
		.flags = mapped ? SMC_CONTROL_HAS_FLAGS | m->prod_flags : 0,
	};
	const struct smc_control_cons c = {
		.wrap = m->cons.wrap, .count = m->cons.count,
		.prod_flags = m->prod_flags, .conn_flags = m->conn_flags,
	};

	memcpy(prod, &p, sizeof(*prod));
	memcpy(cons, &c, sizeof(*cons));
}

/**
 * smc_control_unpack() - the message that two words are
 * @prod:	the first word
 * @cons:	the second one
 * @m:		receives cursors, which smc_cursor_advance() judges, and flags; flags that are
 *		not defined here are dropped
 */
static inline void smc_control_unpack(u64 prod, u64 cons, struct smc_cdc_msg *m)
{
	struct smc_control_prod p;
	struct smc_control_cons c;

	memcpy(&p, &prod, sizeof(p));
	memcpy(&c, &cons, sizeof(c));
	if (p.flags & SMC_CONTROL_HAS_FLAGS)
		c.prod_flags = p.flags;
	*m = (struct smc_cdc_msg) {
		.prod = { .wrap = p.wrap, .count = p.count },
		.cons = { .wrap = c.wrap, .count = c.count },
		.prod_flags = c.prod_flags & (SMC_CDC_WRITE_BLOCKED | SMC_CDC_URG_PENDING |
					      SMC_CDC_URG_PRESENT | SMC_CDC_UPDATE_REQ),
		.conn_flags = c.conn_flags & (SMC_CDC_SEND_DONE | SMC_CDC_CLOSED |
					      SMC_CDC_ABORT),
	};
}

#endif
