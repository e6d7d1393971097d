// SPDX-License-Identifier: GPL-2.0
/* Judge what the kernel logged since the last look (/dev/kmsg). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "klog.h"

/* Each of these fails the case that was running when it appeared. */
static const char * const bad[] = {
	"WARNING:", "BUG:", "BUG ", "Oops", "KASAN", "UBSAN", "KFENCE", "KCSAN",
	"ODEBUG", "general protection", "stack segment", "Kernel panic",
	"unable to handle", "circular locking", "inconsistent lock state",
	"possible recursive locking", "bad unlock balance", "held lock freed",
	"suspicious RCU usage", "INFO: task", "self-detected stall",
	"detected stalls", "soft lockup", "scheduling while atomic",
	"unregister_netdevice: waiting", "refcount_t:", "list_add corruption",
	"list_del corruption", "Call Trace", "kmemleak:", "still has objects",
	"Objects remaining", "DEBUG_LOCKS_WARN", "lock held when returning",
	"Attempt to release alive", "leaked reference",
};

/* Said by kernels that are in good health. */
static const char * const fine[] = {
	"kmemleak: Kernel memory leak detector initialized",
	"kmemleak: Automatic memory scanning thread started",
	"FAULT_INJECTION",
	"DEBUG:", "debug",
};

static int kmsg = -1;

bool klog_open(void)
{
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg < 0)
		return false;
	lseek(kmsg, 0, SEEK_END);
	return true;
}

static bool is_in(const char *line, const char * const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strstr(line, list[i]))
			return true;
	return false;
}

int klog_check(char *first, size_t len)
{
	char buf[8192], *text;
	int found = 0;
	ssize_t n;

	if (kmsg < 0)
		return 0;
	for (;;) {
		n = read(kmsg, buf, sizeof(buf) - 1);
		if (n < 0 && errno == EPIPE)	/* overwritten before we came */
			continue;
		if (n <= 0)
			return found;
		buf[n] = 0;
		text = strchr(buf, ';');
		text = text ? text + 1 : buf;
		text[strcspn(text, "\n")] = 0;
		if (!is_in(text, bad, sizeof(bad) / sizeof(bad[0])) ||
		    is_in(text, fine, sizeof(fine) / sizeof(fine[0])))
			continue;
		if (!found++)
			snprintf(first, len, "%s", text);
	}
}
