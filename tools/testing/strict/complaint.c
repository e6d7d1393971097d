// SPDX-License-Identifier: GPL-2.0
/* What a consumer did that the verbs do not allow. The kernel log is part of every verdict. */
#include <linux/kernel.h>
#include "strict.h"

void strict_complain(struct strict_dev *dev, const char *format, ...)
{
	struct va_format text = { .fmt = format };
	va_list args;

	va_start(args, format);
	text.va = &args;
	WARN(1, "strict: %s: %pV\n", dev_name(&dev->ib.dev), &text);
	va_end(args);
}
