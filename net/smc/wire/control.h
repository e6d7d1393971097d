/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SMC-D's control data, the counterpart of SMC-R's CDC messages. The control data is at the head of
 * an element, in front of the ring. The peer of the element's owner writes both.
 *
 * Neither specification describes the control data; this is the layout of IBM's ISM devices, with
 * numbers in the machine's byte order. No sequence number is needed, because a reader always sees
 * the latest state.
 *
 * IBM's devices write the control data as a whole. On a mapped device, one end reads while the
 * other one writes word by word. There, a flag that refers to the data at the producer cursor, such
 * as urgent data, must be in the same word as that cursor. So the first word repeats these flags,
 * in a field that IBM's devices leave zero.
 */
#ifndef SMC_WIRE_CONTROL_H
#define SMC_WIRE_CONTROL_H

#include "cdc.h"

#define SMC_CONTROL_LEN		32

/**
 * struct smc_control - control data
 * @type:	SMC_CDC_TYPE
 * @reserved:	zero
 * @prod:	where the writer of this control data writes next in the ring
 * @cons:	where the writer of this control data reads next in its own ring, and flags
 * @reserved2:	zero
 *
 * @prod and @cons are each read and written as a whole.
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

/* The two words as they lie in memory. */
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
 * smc_control_pack() - convert a message into two words
 * @m:		cursors and flags; other fields are ignored
 * @mapped:	also put the producer flags into the first word
 * @prod:	receives the first word
 * @cons:	receives the second word
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
 * smc_control_unpack() - convert two words into a message
 * @prod:	the first word
 * @cons:	the second word
 * @m:		receives the cursors, to be checked by smc_cursor_advance(), and the flags; unknown
 *		flags are dropped
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
