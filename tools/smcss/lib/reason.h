/* SPDX-License-Identifier: GPL-2.0 */
/* Reasons why a connection is not SMC, in words: ours and those of other implementations. */
#ifndef SMC_TOOLS_REASON_H
#define SMC_TOOLS_REASON_H

#include <stdint.h>

#include <linux/smc_diag.h>

#include "json_writer.h"

#define REASON_ROOM	64

const char *reason_name(uint32_t code);		/* NULL: unknown code */
const char *reason_words(uint32_t code, char room[REASON_ROOM]);
const char *reason_remedy(uint32_t code);
const char *reason_side(const struct smc_diag_fallback *fallback);
void json_reason(struct json *json, const char *key, uint32_t code);

#endif /* SMC_TOOLS_REASON_H */
