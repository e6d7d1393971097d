// SPDX-License-Identifier: GPL-2.0
/* Fault injection: which allocations of the kernel fail. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "put_file.h"

#define DEBUGFS		"/sys/kernel/debug/"

bool fault_available(void)
{
	return !access(DEBUGFS "failslab", F_OK);
}

void fault_knob(const char *name, const char *value)
{
	static const char * const where[] = { "failslab", "fail_page_alloc" };
	char path[128];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), DEBUGFS "%s/%s", where[i], name);
		put_file(path, value);
	}
}

static void knob_address(const char *name, unsigned long address)
{
	char text[32];

	snprintf(text, sizeof(text), "%#lx", address);
	fault_knob(name, text);
}

/*
 * If TCP has no memory for its FIN, it never sends one: the socket stays in LAST_ACK or FIN_WAIT1
 * without a file and without a timer, and keeps the module from being unloaded.  SMC cannot change
 * that, so exclude this allocation.
 */
static bool spare(const char *function)
{
	unsigned long start = 0, end = -1UL, addr;
	char name[128];
	FILE *f = fopen("/proc/kallsyms", "r");

	if (!f)
		return false;
	while (fscanf(f, "%lx %*c %127s%*[^\n]", &addr, name) == 2)
		if (!strcmp(name, function))
			start = addr;
	rewind(f);
	while (fscanf(f, "%lx %*c %127s%*[^\n]", &addr, name) == 2)
		if (addr > start && addr < end)
			end = addr;
	fclose(f);
	if (!start)
		return false;
	knob_address("reject-start", start);
	knob_address("reject-end", end);
	return true;
}

bool fault_only_ours(void)
{
	unsigned long start = -1UL, end = 0, addr;
	char line[256], type;
	FILE *f = fopen("/proc/kallsyms", "r");

	while (f && fgets(line, sizeof(line), f)) {
		/* Skip variables: per-CPU ones have small addresses. */
		if (!strstr(line, "\t[smc]") || sscanf(line, "%lx %c", &addr, &type) != 2 ||
		    (type != 't' && type != 'T'))
			continue;
		start = addr < start ? addr : start;
		end = addr > end ? addr : end;
	}
	if (f)
		fclose(f);
	knob_address("require-start", start);
	knob_address("require-end", end);
	return end > start;
}

bool fault_open(void)
{
	fault_knob("verbose", "0");
	fault_knob("ignore-gfp-wait", "N");
	fault_knob("ignore-gfp-highmem", "N");
	fault_knob("min-order", "0");
	return spare("tcp_send_fin");
}
