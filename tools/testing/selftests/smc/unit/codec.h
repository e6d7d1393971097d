/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What must hold for arbitrary bytes. Shared by unit tests and fuzzers.
 */
#ifndef SMC_UNIT_CODEC_H
#define SMC_UNIT_CODEC_H

#include "clc.h"

/**
 * codec_check() - decode bytes with the decoder of a type and judge the result
 * @type: enum smc_clc_type, which decoder to use
 * @buf: the bytes
 * @len: their number
 * @rc: if not NULL: what the decoder returned
 *
 * Return: NULL if all is well, else what is wrong.
 */
const char *codec_check(enum smc_clc_type type, const u8 *buf, size_t len,
			int *rc);

/**
 * codec_type() - type of a message that is known to have a header
 * @buf: the message
 *
 * Return: the type in the header, unchecked.
 */
static inline enum smc_clc_type codec_type(const u8 *buf)
{
	return (enum smc_clc_type)buf[4];
}

#endif /* SMC_UNIT_CODEC_H */
