// SPDX-License-Identifier: GPL-2.0
/*
 * Peers whose GID is behind a gateway that has yet to say where it is.  Their handshakes wait for
 * it, and nothing else does (audit R1).
 */
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rogue.h"

#define GATEWAY		"10.1.0.77"
#define MANY		600		/* more than a workqueue runs at once */
#define FEW		8

static struct scene strangers[MANY];

static void run(const char *command)
{
	if (system(command))
		give_up("%s", command);
}

/* Each stranger has a GID of its own, and so a link group. */
static void contacts(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		uint8_t gid[16] = { [10] = 0xff, 0xff, 10, 9, 1 + i / 256, i % 256 };

		strangers[i] = clc_stranger(gid);
	}
}

static void contacts_end(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		end_scene(strangers[i]);
}

static bool none_answered(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (wait_mask(strangers[i].raw, POLLIN, 0))
			return BAD("contact %u has an answer", i);
	return true;
}

static void gateway_fails(void)
{
	run("ip neigh replace " GATEWAY " dev veth0 nud failed");
}

/* A connection of this host, whose handshake needs the worker, too. */
static bool loopback_goes_on(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int l = socket(AF_INET, SOCK_STREAM, 256), c = socket(AF_INET, SOCK_STREAM, 256), s;
	long old = set_sysctl("loopback_pairing", 0);
	socklen_t len = sizeof(a);
	char got = 0;
	bool ok;

	if (bind(l, (void *)&a, len) || listen(l, 1) || getsockname(l, (void *)&a, &len))
		give_up("no listener");
	ok = !connect(c, (void *)&a, len) || BAD("no connection over loopback");
	s = accept_in_time(l);
	set_sysctl("loopback_pairing", old);
	ok = ok && ((send(c, "x", 1, MSG_NOSIGNAL) == 1 && recv(s, &got, 1, 0) == 1 && got == 'x') ||
		    BAD("no data over loopback"));
	ok = ok && victim_says((struct scene) { .victim = c }, 0);
	close(l);
	close(c);
	close(s);
	return ok;
}

/* They wait; the others of the host do not, nor does a listener that is closed. */
static void silent(void)
{
	bool ok;

	contacts(MANY);
	ok = loopback_goes_on() && others_go_on();
	clc_open();
	ok = ok && none_answered(MANY);
	gateway_fails();
	contacts_end(MANY);
	verdict(ok, "gateway: %u contacts wait for it, others do not", MANY);
}

static void answers(void)
{
	struct smc_clc_accept a;
	struct message m;
	bool ok = true;

	contacts(FEW);
	ok = others_go_on() && none_answered(FEW);
	run("ip neigh replace " GATEWAY " dev veth0 lladdr 02:00:00:00:00:77 nud permanent");
	for (unsigned int i = 0; ok && i < FEW; i++) {
		enum reaction r = get_message(strangers[i].raw, &m, WAIT_MS);

		ok = (r == GOT_ACCEPT && !smc_clc_decode_accept(m.b, m.len, &a) && !a.v2_direct) ||
		     BAD("%s instead of the Accept of an indirect link", reaction_names(r));
	}
	contacts_end(FEW);
	run("ip neigh del " GATEWAY " dev veth0");
	verdict(ok, "gateway: it answers, and so does the victim");
}

static void fails(void)
{
	bool ok = true;

	contacts(FEW);
	ok = others_go_on() && none_answered(FEW);
	gateway_fails();
	for (unsigned int i = 0; ok && i < FEW; i++)
		ok = judge(strangers[i], GOT_DECLINE, false, NULL) &&
		     victim_says(strangers[i], SMC_REASON_NO_DEVICE);
	contacts_end(FEW);
	verdict(ok, "gateway: it does not answer, and the victim declines");
}

void cases_gateway(void)
{
	long timeout = set_timeout_ms(slow(120000));
	long lgrs = set_sysctl("smcr_max_lgrs", 8 * MANY);
	long per_peer = set_sysctl("smcr_max_lgrs_per_peer", 8 * MANY);
	long send_wr = set_sysctl("smcr_max_send_wr", 4);
	struct rlimit files = { 4 * MANY, 4 * MANY };

	setrlimit(RLIMIT_NOFILE, &files);
	run("ip route add 10.9.0.0/16 via " GATEWAY " dev veth0");
	/* It is asked again after a minute. */
	run("echo 60000 > /proc/sys/net/ipv4/neigh/veth0/retrans_time_ms");
	TRY(silent(), "");
	TRY(answers(), "");
	TRY(fails(), "");
	run("ip route del 10.9.0.0/16");
	set_sysctl("smcr_max_send_wr", send_wr);
	set_sysctl("smcr_max_lgrs_per_peer", per_peer);
	set_sysctl("smcr_max_lgrs", lgrs);
	set_timeout_ms(timeout);
}
