// SPDX-License-Identifier: GPL-2.0
/* What a consumer did that the verbs do not allow. The kernel log is part of every verdict. */
#include <linux/kernel.h>
#include <linux/module.h>
#include "strict.h"

/* For strict_test, which provokes complaints: if it is set, they are added to it. */
struct strict_kept *strict_kept;
EXPORT_SYMBOL_GPL(strict_kept);

void strict_complain(struct strict_dev *dev, const char *format, ...)
{
	struct strict_kept *kept = READ_ONCE(strict_kept);
	struct va_format text = { .fmt = format };
	va_list args;

	va_start(args, format);
	text.va = &args;
	if (kept)
		kept->length += scnprintf(kept->text + kept->length, sizeof(kept->text) - kept->length,
					  "%pV\n", &text);
	else
		WARN(1, "strict: %s: %pV\n", dev_name(&dev->ib.dev), &text);
	va_end(args);
}
