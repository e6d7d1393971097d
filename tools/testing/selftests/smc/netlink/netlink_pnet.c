// SPDX-License-Identifier: GPL-2.0
/* smc_netlink_test: the PNET table. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "netlink_test.h"

static void do_pnet(uint8_t cmd, const char *id, const char *eth, const char *dev, int port)
{
	struct payload p = { };
	uint8_t number = port;

	if (id)
		put_text(&p, SMC_PNETID_NAME, id);
	if (eth)
		put_text(&p, SMC_PNETID_ETHNAME, eth);
	if (dev)
		put_text(&p, SMC_PNETID_IBNAME, dev);
	if (port >= 0)
		put_attr(&p, SMC_PNETID_IBPORT, &number, 1);
	genl_do(&pnet, cmd, &p, &ans);
}

static bool add_eth(const char *id, const char *eth)
{
	do_pnet(SMC_PNETID_ADD, id, eth, NULL, -1);
	return done();
}

static bool add_port(const char *id, const char *dev, int port)
{
	do_pnet(SMC_PNETID_ADD, id, NULL, dev, port);
	return done();
}

/* "NETWORK netdev device port" of every entry received, separated by commas. */
static const char *entries(void)
{
	static char text[4096];
	size_t at = 0;

	text[0] = 0;
	for (size_t i = 0; i < ans.count; i++) {
		const uint8_t *attrs = ans.msg[i].attrs;
		size_t len = ans.msg[i].len, n;
		unsigned int port;
		const char *id = (const char *)find_attr(attrs, len, SMC_PNETID_NAME, &n);
		const char *eth = (const char *)find_attr(attrs, len, SMC_PNETID_ETHNAME, &n);
		const char *dev = (const char *)find_attr(attrs, len, SMC_PNETID_IBNAME, &n);

		if (!id || !eth || !dev || !has_u8(attrs, len, SMC_PNETID_IBPORT, &port))
			return "an incomplete entry";
		at += snprintf(text + at, sizeof(text) - at, "%s%s %s %s %u", i ? ", " : "", id,
			       eth, dev, port);
		if (at >= sizeof(text))
			return "too many entries";
	}
	return text;
}

static bool pnet_is(const char *wanted)
{
	genl_dump(&pnet, SMC_PNETID_GET, NULL, &ans);
	return done() && (!strcmp(entries(), wanted) ||
			  BAD("the table is '%s', not '%s'", entries(), wanted));
}

static bool pnet_flush(void)
{
	genl_do(&pnet, SMC_PNETID_FLUSH, NULL, &ans);
	return done();
}

bool pnet_empty(void)
{
	return pnet_flush() && pnet_is("");
}

bool pnet_table(void)
{
	static const char all[] = "NET1 eth0 n/a 255, NET1 n/a mlx5_0 1, NET1 n/a mlx5_0 2, "
				  "NETX noeth n/a 255, ABCDEFGHIJ012345 n/a 0000:00:00.0 1";

	if (!pnet_is("") || !add_eth("NET1", "eth0") || !add_port("net1", "mlx5_0", 1) ||
	    !add_port("  Net1 ", "mlx5_0", 2) || !add_eth("netX", "noeth") ||
	    !add_port("abcdefghij012345", "0000:00:00.0", -1) || !pnet_is(all))
		return false;
	do_pnet(SMC_PNETID_ADD, "OTHER", "eth0", NULL, -1);
	if (!refused(EEXIST, "this netdev already has a PNETID"))
		return false;
	do_pnet(SMC_PNETID_ADD, "OTHER", NULL, "mlx5_0", -1);
	if (!refused(EEXIST, "this port of the device"))
		return false;
	/* both at once: an existing entry is fine only if it has the same PNETID */
	do_pnet(SMC_PNETID_ADD, "net1", "eth0", "mlx5_0", 1);
	if (!refused(EEXIST, "the netdev or the port"))
		return false;
	do_pnet(SMC_PNETID_ADD, "other", "eth0", "mlx5_7", 1);
	if (!refused(EEXIST, "the netdev or the port") || !pnet_is(all))
		return false;
	do_pnet(SMC_PNETID_ADD, "net2", "eth2", "mlx5_2", 2);
	if (!done())
		return false;
	do_pnet(SMC_PNETID_ADD, "net2", "eth2", "mlx5_2", 1);
	if (!done())
		return false;
	do_pnet(SMC_PNETID_GET, "NET2", NULL, NULL, -1);
	if (!done() || strcmp(entries(), "NET2 eth2 n/a 255, NET2 n/a mlx5_2 2, NET2 n/a mlx5_2 1"))
		return BAD("the entries of the second network are '%s'", entries());
	do_pnet(SMC_PNETID_DEL, "net2", NULL, NULL, -1);
	if (!done() || !pnet_is(all))
		return false;
	/* the entries of one network */
	do_pnet(SMC_PNETID_GET, "nEt1", NULL, NULL, -1);
	if (!done() || strcmp(entries(), "NET1 eth0 n/a 255, NET1 n/a mlx5_0 1, NET1 n/a mlx5_0 2"))
		return BAD("the entries of one network are '%s'", entries());
	do_pnet(SMC_PNETID_GET, "NONE", NULL, NULL, -1);
	if (!done() || ans.count)
		return BAD("the entries of an unknown network are '%s'", entries());
	do_pnet(SMC_PNETID_DEL, "net1", NULL, NULL, -1);
	if (!done() || !pnet_is("NETX noeth n/a 255, ABCDEFGHIJ012345 n/a 0000:00:00.0 1"))
		return false;
	do_pnet(SMC_PNETID_DEL, "NET1", NULL, NULL, -1);
	if (!refused(ENOENT, "no such PNETID"))
		return false;
	return pnet_empty() && pnet_flush();
}

bool pnet_wrong(void)
{
	static const struct {
		const char *id, *eth, *dev;
		int port;
		const char *words;
	} bad[] = {
		{ NULL, "eth0", NULL, -1, "the PNETID is missing" },
		{ "NET", NULL, NULL, -1, "requires a netdev" },
		{ "NET", "eth0", NULL, 1, "a port requires a device" },
		{ "", "eth0", NULL, -1, "A-Z and 0-9" },
		{ "   ", "eth0", NULL, -1, "A-Z and 0-9" },
		{ "A_B", "eth0", NULL, -1, "A-Z and 0-9" },
		{ "A B", "eth0", NULL, -1, "A-Z and 0-9" },
		{ "\xc3\x84", "eth0", NULL, -1, "A-Z and 0-9" },
		{ "ABCDEFGHIJ0123456", "eth0", NULL, -1, "1 to 16" },
		{ "NET", "", NULL, -1, "a netdev's name" },
		{ "NET", "abcdefghijklmnop", NULL, -1, "1 to 15" },
		{ "NET", NULL, "", 1, "a device's name" },
		{ "NET", NULL, "mlx5_0", 0, "must be 1 or 2" },
		{ "NET", NULL, "mlx5_0", 3, "must be 1 or 2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		do_pnet(SMC_PNETID_ADD, bad[i].id, bad[i].eth, bad[i].dev, bad[i].port);
		if (ans.error != ERANGE && !refused(EINVAL, bad[i].words)) {
			ksft_print_msg("wrong request %zu\n", i);
			return false;
		}
		if (ans.error == ERANGE && !refused(ERANGE, bad[i].words))
			return false;
	}
	return pnet_is("");
}

static void *change_pnet(void *arg)
{
	static struct answer a;
	struct genl g;

	if (!genl_open(&g, SMCR_GENL_FAMILY_NAME))
		return NULL;
	for (unsigned int i = 0; !stop_changing; i++) {
		struct payload p = { };
		char name[16];

		snprintf(name, sizeof(name), "C%u", i % 7);
		put_text(&p, SMC_PNETID_NAME, name);
		if (i % 2)
			put_text(&p, SMC_PNETID_ETHNAME, name);
		genl_do(&g, i % 2 ? SMC_PNETID_ADD : SMC_PNETID_DEL, &p, &a);
	}
	genl_close(&g);
	return NULL;
}

/*
 * An entry that stays must occur exactly once, whatever happens to others, even if the table does
 * not fit into one buffer.
 */
bool pnet_while_changing(void)
{
	bool ok = true;
	pthread_t thread;

	for (int i = 0; i < 150; i++) {
		char name[16];

		snprintf(name, sizeof(name), "stays%u", i);
		if (!add_eth("STAYS", name))
			return false;
	}
	stop_changing = false;
	if (pthread_create(&thread, NULL, change_pnet, NULL))
		give_up("cannot start a thread");
	for (int i = 0; ok && i < 1000; i++) {
		unsigned int seen = 0, n;
		size_t len;

		genl_dump(&pnet, SMC_PNETID_GET, NULL, &ans);
		for (size_t j = 0; j < ans.count; j++) {
			const char *eth = (const char *)find_attr(ans.msg[j].attrs, ans.msg[j].len,
								  SMC_PNETID_ETHNAME, &len);

			if (eth && sscanf(eth, "stays%u", &n) == 1 && n != seen++)
				ok = BAD("entry %u where %u should be", n, seen - 1);
		}
		ok = ok && done() && (seen == 150 || BAD("%u entries", seen));
	}
	stop_changing = true;
	pthread_join(thread, NULL);
	return pnet_flush() && ok && pnet_is("");
}
