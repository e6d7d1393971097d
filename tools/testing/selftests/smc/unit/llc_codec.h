/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What must hold for arbitrary bytes that arrive over an RDMA link. Shared by
 * unit tests and fuzzers.
 */
#ifndef SMC_UNIT_LLC_CODEC_H
#define SMC_UNIT_LLC_CODEC_H

#include "cdc.h"
#include "llc.h"

/**
 * llc_check() - decode bytes as an LLC message and judge the result
 * @buf: the bytes
 * @len: their number
 * @rc: if not NULL: what the decoder returned
 *
 * Return: NULL if all is well, else what is wrong.
 */
const char *llc_check(const u8 *buf, size_t len, int *rc);

/**
 * cdc_check() - decode bytes as a CDC message and judge the result
 * @buf: the bytes
 * @len: their number
 * @rc: if not NULL: what the decoder returned
 *
 * Return: NULL if all is well, else what is wrong.
 */
const char *cdc_check(const u8 *buf, size_t len, int *rc);

/**
 * llc_equal() - do two messages have the same content?
 * @a: one message, with zero padding, as from the decoder
 * @b: the other message
 *
 * Return: true if so; arrays outside of the messages are compared by content.
 */
bool llc_equal(const struct smc_llc_msg *a, const struct smc_llc_msg *b);

/**
 * llc_expect() - a second opinion, from the tables of the specifications in
 * plain numbers instead of structs
 * @b: the message
 * @len: its length
 *
 * Return: what smc_llc_decode() must return.
 */
int llc_expect(const u8 *b, size_t len);

#endif /* SMC_UNIT_LLC_CODEC_H */
