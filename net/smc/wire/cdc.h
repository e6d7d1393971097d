/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CDC messages (RFC 7609 A.4), and the arithmetic of the cursors in them.
 *
 * The IBM paper on version 2 has no CDC message: the same 44 bytes serve all
 * versions, as they do in what the incumbent sends.
 *
 * The functions are pure: no allocation, no I/O, no state. They are on the data
 * path. -EPROTO means malformed or impossible: a malformed message brings the
 * link down (RFC 7609 C.7.1), a wrong cursor aborts its connection.
 */
#ifndef SMC_WIRE_CDC_H
#define SMC_WIRE_CDC_H

#include "wire.h"

#define SMC_CDC_TYPE		0xfe

/* smc_cdc_msg.prod_flags, as on the wire */
#define SMC_CDC_WRITE_BLOCKED	0x80	/* B: tell me when there is room */
#define SMC_CDC_URG_PENDING	0x40	/* P: urgent data will come */
#define SMC_CDC_URG_PRESENT	0x20	/* U: ends where prod points */
#define SMC_CDC_UPDATE_REQ	0x10	/* R: answer with a cursor update, now */
#define SMC_CDC_FAILOVER	0x08	/* F: failover validation */

/* smc_cdc_msg.conn_flags, as on the wire */
#define SMC_CDC_SEND_DONE	0x80	/* D: writes no more data */
#define SMC_CDC_CLOSED		0x40	/* C: sends nothing any more */
#define SMC_CDC_ABORT		0x20	/* A: abnormal close, as a reset */

/**
 * struct smc_wire_cursor - cursor as it travels
 * @wrap: how often it has wrapped, modulo 65536
 * @count: bytes from the beginning of the element; checked by
 *	smc_cursor_advance(), as the decoder does not know the element
 *
 * The RFC has cursors begin at 4 and wrap to 4, behind an eye catcher. The
 * deployed world has no eye catcher: they begin at 0 and wrap to 0.
 */
struct smc_wire_cursor {
	u16 wrap;
	u32 count;
};

/**
 * struct smc_cdc_msg - CDC message
 * @seqno: sequence number of the connection, see smc_cdc_newer()
 * @alert_token: the token that the receiver gave the connection
 * @prod: producer: where the sender of this message writes next in the
 *	receiver's element
 * @cons: consumer: where the sender of this message reads next in its own
 *	element
 * @prod_flags: SMC_CDC_WRITE_BLOCKED to SMC_CDC_FAILOVER
 * @conn_flags: SMC_CDC_SEND_DONE to SMC_CDC_ABORT
 *
 * With SMC_CDC_FAILOVER nothing but @seqno and @alert_token is significant, so
 * the decoder leaves everything else 0. @seqno is then that of an earlier
 * message.
 */
struct smc_cdc_msg {
	u16 seqno;
	u32 alert_token;
	struct smc_wire_cursor prod;
	struct smc_wire_cursor cons;
	u8 prod_flags;
	u8 conn_flags;
};

/**
 * smc_is_cdc() - is a received RDMA message a CDC message
 * @first: its first byte
 *
 * RFC 7609 A.3: the two high-order bits set say CDC rather than LLC.
 *
 * Return: true: smc_cdc_decode(); false: smc_llc_decode().
 */
static inline bool smc_is_cdc(u8 first)
{
	return (first & 0xc0) == 0xc0;
}

/**
 * smc_cdc_decode() - decode a CDC message
 * @buf: the message, of any alignment
 * @len: number of bytes received, must be SMC_WR_MSG_LEN
 * @m: result, undefined on error; undefined flags are dropped
 *
 * Return: 0 or -EPROTO.
 */
int smc_cdc_decode(const u8 *buf, size_t len, struct smc_cdc_msg *m);

/**
 * smc_cdc_encode() - write a CDC message
 * @m: the content
 * @buf: receives SMC_WR_MSG_LEN bytes, of any alignment
 */
void smc_cdc_encode(const struct smc_cdc_msg *m, u8 *buf);

/**
 * smc_cdc_newer() - should a message be processed
 * @seqno: its sequence number
 * @last: that of the newest message processed before, 0 before the first
 *
 * Sequence numbers begin at 1 and wrap to 0. An older message, and one seen
 * before, is to be ignored. Not for failover validation.
 *
 * Return: true if @seqno comes after @last.
 */
static inline bool smc_cdc_newer(u16 seqno, u16 last)
{
	u16 ahead = seqno - last;

	return ahead && ahead < 0x8000;
}

/*
 * Inside the engine a cursor is a count of all bytes since the connection
 * began, 64 bits, which never wraps. The cursor of the wire is kept beside it:
 * where the count stands now is known from where it stood before, for rings of
 * any size and without a division.
 */

/**
 * smc_ring_pos() - where in its ring a byte is
 * @count: bytes before it since the connection began
 * @size: of the ring, a power of two
 *
 * Return: bytes from the beginning of the ring.
 */
static inline u32 smc_ring_pos(u64 count, u32 size)
{
	return count & (size - 1);
}

/**
 * smc_cursor_advance() - move a count to where the peer says its cursor is
 * @count: as known so far; becomes the new one, untouched on error
 * @last: the cursor there, all 0 in the beginning; becomes @w, untouched on error
 * @size: of the ring, 512 MiB at most
 * @w: the cursor as received
 * @max_advance: how far it may have moved at most: for the peer's producer what
 *	is free in our element, for its consumer what we wrote and it had not
 *	consumed. 65535 * @size at most, else cursors that move back are allowed.
 *
 * A cursor that has not moved is an advance of 0. One that moved back is an
 * advance of 65535 * @size or more, or one that wraps around 64 bits, and is
 * refused. Nothing is clamped.
 *
 * Return: 0 or -EPROTO.
 */
static inline int smc_cursor_advance(u64 *count, struct smc_wire_cursor *last, u32 size,
				     const struct smc_wire_cursor *w,
				     u64 max_advance)
{
	u64 delta;

	if (w->count >= size)
		return -EPROTO;
	delta = (u64)(u16)(w->wrap - last->wrap) * size + w->count - last->count;
	if (delta > max_advance)
		return -EPROTO;
	*count += delta;
	*last = *w;
	return 0;
}

/**
 * smc_cursor_step() - move a cursor that is kept beside a count
 * @at: the cursor, all 0 in the beginning
 * @size: of the ring
 * @delta: how far the count moves, @size at most
 */
static inline void smc_cursor_step(struct smc_wire_cursor *at, u32 size, u32 delta)
{
	u32 left = size - at->count;

	if (delta < left) {
		at->count += delta;
	} else {
		at->count = delta - left;
		at->wrap++;
	}
}

#endif /* SMC_WIRE_CDC_H */
