/* SPDX-License-Identifier: GPL-2.0 */
/* All golden CLC messages, for tests that use every one of them. */
#ifndef SMC_UNIT_GOLDEN_H
#define SMC_UNIT_GOLDEN_H

#include "wire.h"

/**
 * struct golden - a message that was not made by our encoder
 * @name: for reports and file names
 * @bytes: the message
 * @len: its length
 * @canonical: our encoder would write the same bytes
 * @tight: any shorter message is malformed
 */
struct golden {
	const char *name;
	const u8 *bytes;
	size_t len;
	bool canonical;
	bool tight;
};

extern const struct golden golden[];
extern const unsigned int n_golden;

#endif /* SMC_UNIT_GOLDEN_H */
