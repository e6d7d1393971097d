/* SPDX-License-Identifier: GPL-2.0 */
/* The frames between two devices of this kind. */
#ifndef STRICT_PACKET_H
#define STRICT_PACKET_H

#include "strict.h"

#define STRICT_ETHERTYPE	0x88b5		/* IEEE 802, for local experiments */

enum strict_packet_op { STRICT_WRITE = 1, STRICT_SEND, STRICT_ACK, STRICT_NAK };

#define STRICT_LAST		1
#define STRICT_IMM		2
#define STRICT_INV		4
#define STRICT_SOLICITED	8
#define STRICT_FIRST		16

enum strict_nak { STRICT_NAK_SEQUENCE = 1, STRICT_NAK_RNR, STRICT_NAK_ACCESS, STRICT_NAK_OPERATION };

struct strict_hdr {
	u8	op;
	u8	flags;
	u8	why;		/* of a NAK */
	u8	reserved;
	__be32	qpn;		/* of the receiver */
	__be32	from;		/* of the sender */
	__be32	psn;
	__be32	length;		/* of the data in this packet */
	__be32	rkey;
	__be64	addr;
	__be32	sum;		/* of the data when they were posted */
	__be32	ex;		/* immediate data, or a key to invalidate */
} __packed;

static inline s32 psn_cmp(u32 a, u32 b)
{
	return (s32)((a - b) << 8);
}

static inline u32 psn_add(u32 psn, u32 n)
{
	return (psn + n) & 0xffffff;
}

struct sk_buff *strict_packet(struct strict_dev *dev, struct strict_qp *qp,
			      const struct strict_hdr *hdr, u32 room, void **data);

#endif /* STRICT_PACKET_H */
