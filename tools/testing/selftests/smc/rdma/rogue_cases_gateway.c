// SPDX-License-Identifier: GPL-2.0
/*
 * Peers whose GID is behind a gateway that has not been resolved yet.  Only their own handshakes
 * may wait for it (audit R1).
 */
#include <stdio.h>

#include "rogue.h"

#define FEW		8

/* They wait; other connections of the host do not, nor does close() of a listener. */
static void silent(void)
{
	bool ok;

	strangers_begin(STRANGERS);
	ok = loopback_goes_on() && others_go_on();
	clc_open();
	ok = ok && strangers_wait(STRANGERS);
	gateway_fails();
	strangers_end(STRANGERS);
	verdict(ok, "gateway: %u handshakes wait for its address, others do not", STRANGERS);
}

static void answers(void)
{
	struct smc_clc_accept a;
	struct message m;
	bool ok = true;

	strangers_begin(FEW);
	ok = others_go_on() && strangers_wait(FEW);
	run("ip neigh replace " GATEWAY " dev veth0 lladdr 02:00:00:00:00:77 nud permanent");
	for (unsigned int i = 0; ok && i < FEW; i++) {
		enum reaction r = get_message(stranger(i)->raw, &m, WAIT_MS);

		ok = (r == GOT_ACCEPT && !smc_clc_decode_accept(m.b, m.len, &a) && !a.v2_direct) ||
		     BAD("%s instead of the Accept of an indirect link", reaction_names(r));
	}
	strangers_end(FEW);
	run("ip neigh del " GATEWAY " dev veth0");
	verdict(ok, "gateway: its address resolves, and the victim accepts");
}

static void fails(void)
{
	bool ok = true;

	strangers_begin(FEW);
	ok = others_go_on() && strangers_wait(FEW);
	gateway_fails();
	for (unsigned int i = 0; ok && i < FEW; i++)
		ok = judge(*stranger(i), GOT_DECLINE, false, NULL) &&
		     victim_says(*stranger(i), SMC_REASON_NO_DEVICE);
	strangers_end(FEW);
	verdict(ok, "gateway: its address does not resolve, and the victim declines");
}

void cases_gateway(void)
{
	strangers_open();
	TRY(silent(), "");
	TRY(answers(), "");
	TRY(fails(), "");
	strangers_close();
}
