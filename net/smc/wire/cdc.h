/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CDC messages (RFC 7609 A.4), and the arithmetic of their cursors.
 *
 * IBM's paper on version 2 defines no CDC message of its own: all versions use the same 44 bytes,
 * and so does the incumbent.
 *
 * The functions are on the data path. They are pure: no allocation, no I/O, no state. -EPROTO means
 * malformed or impossible: a malformed message brings the link down (RFC 7609 C.7.1), a wrong
 * cursor aborts its connection.
 */
#ifndef SMC_WIRE_CDC_H
#define SMC_WIRE_CDC_H

#include "wire.h"

#define SMC_CDC_TYPE		0xfe

/* smc_cdc_msg.prod_flags, as on the wire */
#define SMC_CDC_WRITE_BLOCKED	0x80	/* B: the sender waits for room */
#define SMC_CDC_URG_PENDING	0x40	/* P: urgent data will come */
#define SMC_CDC_URG_PRESENT	0x20	/* U: urgent data ends where prod points */
#define SMC_CDC_UPDATE_REQ	0x10	/* R: answer with a cursor update, now */
#define SMC_CDC_FAILOVER	0x08	/* F: failover validation */

/* smc_cdc_msg.conn_flags, as on the wire */
#define SMC_CDC_SEND_DONE	0x80	/* D: no more data will be written */
#define SMC_CDC_CLOSED		0x40	/* C: closed; only an abort may follow */
#define SMC_CDC_ABORT		0x20	/* A: abnormal close, like a reset */

/**
 * struct smc_wire_cursor - a cursor as sent over the link
 * @wrap: how often the cursor has wrapped, modulo 65536
 * @count: offset in the element in bytes; checked by smc_cursor_advance(), because the decoder does
 *	not know the element
 *
 * In the RFC, cursors start at 4 and wrap to 4, behind an eye catcher. Deployed implementations
 * have no eye catcher: their cursors start at 0 and wrap to 0.
 */
struct smc_wire_cursor {
	u16 wrap;
	u32 count;
};

/**
 * struct smc_cdc_msg - CDC message
 * @seqno: sequence number within the connection, see smc_cdc_newer()
 * @alert_token: the token that the receiver gave the connection
 * @prod: producer cursor: where the sender of this message writes next in the receiver's element
 * @cons: consumer cursor: where the sender of this message reads next in its own element
 * @prod_flags: SMC_CDC_WRITE_BLOCKED to SMC_CDC_FAILOVER
 * @conn_flags: SMC_CDC_SEND_DONE to SMC_CDC_ABORT
 *
 * With SMC_CDC_FAILOVER, only @seqno and @alert_token are significant, so the decoder sets all
 * other fields to 0. @seqno is then that of an earlier message.
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
 * smc_is_cdc() - is a received RDMA message a CDC message?
 * @first: first byte of the message
 *
 * The two high-order bits are set in a CDC message, and not in an LLC message (RFC 7609 A.3).
 *
 * Return: true: use smc_cdc_decode(); false: use smc_llc_decode().
 */
static inline bool smc_is_cdc(u8 first)
{
	return (first & 0xc0) == 0xc0;
}

/**
 * smc_cdc_decode() - decode a CDC message
 * @buf: the message; need not be aligned
 * @len: number of bytes received, must be SMC_WR_MSG_LEN
 * @m: result, undefined on error; unknown flags are dropped
 *
 * Return: 0 or -EPROTO.
 */
int smc_cdc_decode(const u8 *buf, size_t len, struct smc_cdc_msg *m);

/**
 * smc_cdc_encode() - encode a CDC message
 * @m: the content
 * @buf: receives SMC_WR_MSG_LEN bytes; need not be aligned
 */
void smc_cdc_encode(const struct smc_cdc_msg *m, u8 *buf);

/**
 * smc_cdc_newer() - should a message be processed?
 * @seqno: sequence number of the message
 * @last: sequence number of the newest message processed so far, or 0 before the first
 *
 * Sequence numbers start at 1 and wrap to 0. A message that is older, or has been seen before, must
 * be ignored. Not applicable to failover validation.
 *
 * Return: true if @seqno comes after @last.
 */
static inline bool smc_cdc_newer(u16 seqno, u16 last)
{
	u16 ahead = seqno - last;

	return ahead && ahead < 0x8000;
}

/*
 * Inside the engine, a cursor is a 64-bit count of all bytes since the connection began, which
 * never wraps. The wire cursor is kept beside it. The distance between the last and the new wire
 * cursor gives the advance of the count, for rings of any size and without a division.
 */

/**
 * smc_ring_pos() - position of a byte in its ring
 * @count: number of bytes before this byte since the connection began
 * @size: size of the ring, a power of two
 *
 * Return: offset from the start of the ring in bytes.
 */
static inline u32 smc_ring_pos(u64 count, u32 size)
{
	return count & (size - 1);
}

/**
 * smc_cursor_advance() - advance a count to the position of the peer's cursor
 * @count: the count so far; updated, or unchanged on error
 * @last: the last cursor, all 0 at the start; becomes @w, or unchanged on error
 * @size: size of the ring, at most 512 MiB
 * @w: the received cursor
 * @max_advance: how far the cursor may have moved at most: for the peer's producer cursor, the free
 *	room in our element; for its consumer cursor, what we wrote and the peer had not consumed.
 *	Must not exceed 65535 * @size, otherwise cursors that move back could pass
 *
 * A cursor that has not moved is an advance of 0. A cursor that has moved back appears as an
 * advance of 65535 * @size or more, or as one that wraps around 64 bits, and is refused. No value
 * is clamped.
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
 * smc_cursor_step() - move the wire cursor that is kept beside a count
 * @at: the cursor, all 0 at the start
 * @size: size of the ring
 * @delta: how far the count moves, at most @size
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
