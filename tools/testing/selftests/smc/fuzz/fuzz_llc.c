// SPDX-License-Identifier: GPL-2.0
/*
 * Data that arrives over an RDMA link: one target per LLC message (-DTYPE=x, an
 * enum smc_llc_type), one for all of them without repairs (-DTYPE=0), one for
 * CDC messages (-DCDC), one for cursors (-DCURSOR).
 *
 * Mutators seldom get the type and the length right, so most inputs would be
 * rejected at once. The targets for one message repair them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "clc.h"
#include "llc_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *complaint)
{
	if (!complaint)
		return;
	fprintf(stderr, "%s\n", complaint);
	abort();
}

#ifdef CURSOR

static struct smc_wire_cursor cursor_at(u64 count, u32 size)
{
	return (struct smc_wire_cursor) { count / size, count % size };
}

static bool same(struct smc_wire_cursor a, struct smc_wire_cursor b)
{
	return a.wrap == b.wrap && a.count == b.count;
}

/* The definition, with types large enough that nothing wraps */
static bool allowed(u64 count, u32 size, const struct smc_wire_cursor *w,
		    u64 max)
{
	unsigned __int128 period = (unsigned __int128)size * 65536;
	unsigned __int128 to = (unsigned __int128)w->wrap * size + w->count;

	return w->count < size && (to + period - count % period) % period <= max;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct { u64 count; u64 max; u32 off; u16 wrap; u8 code; } in = { 0 };
	struct smc_wire_cursor w, was, last;
	u64 count;
	u32 bytes;
	int rc;

	memcpy(&in, data, size < sizeof(in) ? size : sizeof(in));
	/* Some rings have control data before them. */
	bytes = smc_clc_size_to_bytes(in.code) - (in.code & 0x80 ? 32 : 0);
	in.max %= 65535ull * bytes + 1;
	in.count >>= 1;
	count = in.count;
	was = cursor_at(count, bytes);
	last = was;
	w.wrap = in.wrap;
	w.count = in.off;
	rc = smc_cursor_advance(&count, &last, bytes, &w, in.max);
	if (rc != (allowed(in.count, bytes, &w, in.max) ? 0 : -EPROTO))
		fail("cursor: return value");
	if (rc && (count != in.count || !same(last, was)))
		fail("cursor: refused, but moved");
	if (!rc && (!same(last, w) || !same(last, cursor_at(count, bytes))))
		fail("cursor: at a wrong position");
	if (last.count >= bytes)
		fail("cursor: beyond the ring");
	if (count - in.count > bytes)
		return 0;
	smc_cursor_step(&was, bytes, count - in.count);
	if (!same(was, last))
		fail("cursor: smc_cursor_step() gives another position");
	return 0;
}

#else

static void judge(const u8 *buf, size_t len)
{
	int rc;

#ifdef CDC
	fail(cdc_check(buf, len, &rc));
#else
	fail(llc_check(buf, len, &rc));
	if (rc != llc_expect(buf, len))
		fail("LLC: the second decoder differs");
#endif
}

/* Correct type and length; almost all messages have a single valid length. */
static size_t repair(u8 *buf, size_t len)
{
#ifdef CDC
	len = SMC_WR_MSG_LEN;
	buf[0] = SMC_CDC_TYPE;
	buf[1] = len;
	return len;
#else
	bool v2 = buf[0] & 0x20, big_endian = buf[2] & 1;

	if (TYPE == SMC_LLC_ADD_LINK_CONT || TYPE == SMC_LLC_CONFIRM_RKEY_CONT)
		v2 = false;
	if (TYPE == SMC_LLC_REQ_ADD_LINK)
		v2 = true;
	if (!v2 || (TYPE != SMC_LLC_ADD_LINK && TYPE != SMC_LLC_REQ_ADD_LINK &&
		    TYPE != SMC_LLC_DELETE_RKEY))
		len = SMC_WR_MSG_LEN;
	buf[0] = TYPE | (v2 ? SMC_LLC_W_V2 : SMC_LLC_W_V1);
	buf[1] = len;
	if (v2) {
		buf[1 + big_endian] = len;
		buf[2 - big_endian] = len >> 8;
	}
	return len;
#endif
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u8 *exact;

#if !defined(CDC) && TYPE == 0
	judge(data, size);
	return 0;
#endif
	judge(data, size);
	if (size < SMC_WR_MSG_LEN)
		return 0;
	exact = malloc(size);
	memcpy(exact, data, size);
	size = repair(exact, size);
	exact = realloc(exact, size);
	judge(exact, size);
	free(exact);
	return 0;
}

#endif
