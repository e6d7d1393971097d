// SPDX-License-Identifier: GPL-2.0
/* smc_netlink_test: tracepoints, as described in Documentation/trace.md. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netlink_test.h"

#define TRACING		"/sys/kernel/tracing"
#define PAIRING		"/proc/sys/net/smc/loopback_pairing"

static bool write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return ok || BAD("cannot write to %s: %s", path, strerror(errno));
}

/* Returns the beginning of a file, up to 1 MiB. */
static const char *read_from(const char *path)
{
	static char text[1 << 20];
	size_t at = 0;
	ssize_t n;
	int fd = open(path, O_RDONLY);

	while (fd >= 0 && at < sizeof(text) - 1 &&
	       (n = read(fd, text + at, sizeof(text) - 1 - at)) > 0)
		at += n;
	close(fd);
	text[at] = 0;
	return text;
}

bool trace_available(void)
{
	mount("none", TRACING, "tracefs", 0, NULL);
	return !access(TRACING "/events/smc", F_OK);
}

/* Names that tools and scripts use, most of them taken from the kernel's own module. */
bool trace_formats(void)
{
	static const struct { const char *event, *fields[7]; } known[] = {
		{ "smc_tx_sendmsg", { " smc;", " net_cookie;", " len;", " name" } },
		{ "smc_rx_recvmsg", { " smc;", " net_cookie;", " len;", " name" } },
		{ "smcr_link_down", { " lnk;", " lgr;", " net_cookie;", " state;", " name",
				      " location;" } },
		{ "smcr_link_up", { " lnk;", " lgr;", " net_cookie;", " type;", " name" } },
		{ "smcr_conn_moved", { " conn;", " lgr;", " from;", " to;", " acked;",
				       " again;" } },
		{ "smc_switch_to_fallback", { " sk;", " clcsk;", " net_cookie;",
					      " fallback_rsn;" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		char path[200];
		const char *text;

		if (!strncmp(known[i].event, "smcr", 4) &&
		    access("/sys/module/ib_core", F_OK))
			continue;
		snprintf(path, sizeof(path), TRACING "/events/smc/%s/format", known[i].event);
		text = read_from(path);
		for (size_t j = 0; known[i].fields[j]; j++)
			if (!strstr(text, known[i].fields[j]))
				return BAD("%s has no field%s", known[i].event,
					   known[i].fields[j]);
	}
	return true;
}

struct line_of { const char *event, *with; };

/* Lines of these events with these words must come in this order. */
static bool in_order(const char *text, const struct line_of *lines)
{
	for (; lines->event; lines++) {
		const char *end, *with;

		do {
			text = strstr(text, lines->event);
			if (!text)
				return BAD("'%s ... %s' is missing, or too early", lines->event,
					   lines->with);
			end = strchrnul(text, '\n');
			with = strstr(text, lines->with);
			text = end;
		} while (!with || with >= end);
	}
	return true;
}

/*
 * The events of one end come in order. Between the ends there is no order: the event of a message
 * comes after TCP has accepted it, and by then it may have arrived.
 */
static bool in_order_at_both_ends(const struct line_of *client, const struct line_of *server)
{
	const char *text = read_from(TRACING "/trace");

	return in_order(text, client) && in_order(text, server);
}

bool trace_events(void)
{
	static const struct line_of client[] = {
		{ "smc_handshake:", "" }, { "smc_clc_sent:", "proposal v2" },
		{ "smc_clc_received:", "accept v2" }, { "smc_clc_sent:", "confirm v2" },
		{ "smc_phase:", "" }, { "smc_tx_sendmsg:", "len=1 dev=loopback-ism" },
		{ "smc_conn_state:", "" }, { }
	}, server[] = {
		{ "smc_clc_received:", "proposal v2" }, { "smc_handshake:", "server=1" },
		{ "smc_clc_sent:", "accept v2" }, { "smc_clc_received:", "confirm v2" },
		{ "smc_phase:", "" }, { "smc_rx_recvmsg:", "len=1 dev=loopback-ism" },
		{ "smc_conn_state:", "" }, { }
	}, declined[] = {
		{ "smc_clc_sent:", "proposal v2" }, { "smc_clc_received:", "decline v2" },
		{ "smc_switch_to_fallback:", "fallback_rsn=" }, { }
	}, declines[] = {
		{ "smc_clc_received:", "proposal v2" }, { "smc_clc_sent:", "decline v2" },
		{ "smc_switch_to_fallback:", "fallback_rsn=" }, { }
	}, paired[] = {
		{ "smc_phase:", "" }, { "smc_tx_sendmsg:", "len=1 dev=loopback-ism" },
		{ "smc_rx_recvmsg:", "len=1 dev=loopback-ism" }, { "smc_conn_state:", "" }, { }
	};
	/*
	 * Recording task names would hook every task switch, and emulated processors sometimes
	 * crash when code is patched that they run all the time.
	 */
	bool ok = write_to(TRACING "/options/record-cmd", "0") &&
		  write_to(TRACING "/trace_clock", "counter") &&
		  write_to(TRACING "/trace", "\n") && write_to(TRACING "/events/smc/enable", "1");

	ok = ok && connects_as(SMC_DIAG_MODE_SMCD) && in_order(read_from(TRACING "/trace"), paired) &&
	     (!strstr(read_from(TRACING "/trace"), "smc_clc") ||
	      BAD("a pair over loopback exchanges CLC messages"));
	ok = ok && write_to(PAIRING, "0") && write_to(TRACING "/trace", "\n") &&
	     connects_as(SMC_DIAG_MODE_SMCD) && in_order_at_both_ends(client, server) &&
	     do_cmd(SMC_NETLINK_DISABLE_SEID) && write_to(TRACING "/trace", "\n") &&
	     connects_as(SMC_DIAG_MODE_FALLBACK_TCP) && in_order_at_both_ends(declined, declines);
	return write_to(PAIRING, "1") && write_to(TRACING "/events/smc/enable", "0") &&
	       write_to(TRACING "/trace_clock", "local") && write_to(TRACING "/trace", "\n") && ok;
}
