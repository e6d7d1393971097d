// SPDX-License-Identifier: GPL-2.0
/*
 * Strangers: first contacts of many peers, each with its own GID and so its own link group.  Their
 * GIDs are behind a gateway.
 */
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "rogue.h"

static struct scene strangers[STRANGERS];
static long old_timeout, old_lgrs, old_per_peer, old_send_wr;

void run(const char *command)
{
	if (system(command))
		give_up("%s", command);
}

void strangers_open(void)
{
	struct rlimit files = { 4 * STRANGERS, 4 * STRANGERS };

	old_timeout = set_timeout_ms(slow(120000));
	old_lgrs = set_sysctl("smcr_max_lgrs", 8 * STRANGERS);
	old_per_peer = set_sysctl("smcr_max_lgrs_per_peer", 8 * STRANGERS);
	old_send_wr = set_sysctl("smcr_max_send_wr", 4);
	setrlimit(RLIMIT_NOFILE, &files);
	run("ip route add 10.9.0.0/16 via " GATEWAY " dev veth0");
	/* The gateway would be probed again only after a minute. */
	run("echo 60000 > /proc/sys/net/ipv4/neigh/veth0/retrans_time_ms");
}

void strangers_close(void)
{
	run("ip route del 10.9.0.0/16");
	set_sysctl("smcr_max_send_wr", old_send_wr);
	set_sysctl("smcr_max_lgrs_per_peer", old_per_peer);
	set_sysctl("smcr_max_lgrs", old_lgrs);
	set_timeout_ms(old_timeout);
}

void gateway_fails(void)
{
	run("ip neigh replace " GATEWAY " dev veth0 nud failed");
}

void strangers_begin(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		uint8_t gid[16] = { [10] = 0xff, 0xff, 10, 9, 1 + i / 256, i % 256 };

		strangers[i] = clc_stranger(gid);
	}
}

void strangers_end(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		end_scene(strangers[i]);
}

const struct scene *stranger(unsigned int i)
{
	return &strangers[i];
}

bool strangers_wait(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (wait_mask(strangers[i].raw, POLLIN, 0))
			return BAD("handshake %u has an answer", i);
	return true;
}
