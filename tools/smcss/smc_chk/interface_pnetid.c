// SPDX-License-Identifier: GPL-2.0
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "complain.h"
#include "genl.h"
#include "interface_pnetid.h"
#include "json_writer.h"
#include "objects.h"
#include "pnet_table.h"

static bool in_table(struct genl *genl, const char *interface, char id[PNETID_ROOM])
{
	struct array pnets = ARRAY_OF(struct pnet);
	size_t i;

	pnets_read(genl, NULL, &pnets);
	for (i = 0; i < pnets.count; i++) {
		const struct pnet *p = array_item(&pnets, i);

		if (!strcmp(p->interface, interface))
			strcpy(id, p->id);
	}
	array_free(&pnets);
	return *id;
}

static bool of_device(const char *interface, char id[PNETID_ROOM])
{
	struct array devices = ARRAY_OF(struct device);
	struct genl *genl = genl_open(SMC_GENL_FAMILY_NAME);
	size_t i, p;

	if (genl)
		devices_read(genl, SMC_R, &devices);
	for (i = 0; i < devices.count; i++) {
		const struct device *d = array_item(&devices, i);

		for (p = 0; p < 2; p++)
			if (d->ports[p].valid && netdev_is(d->ports[p].ifindex, interface))
				strcpy(id, d->ports[p].pnetid);
	}
	array_free(&devices);
	genl_close(genl);
	return *id;
}

int print_pnetid(const char *interface, bool json)
{
	char id[PNETID_ROOM] = "";
	struct genl *genl;
	struct json j;
	bool found;

	if (!if_nametoindex(interface))
		return complain("there is no interface %s: 'ip link' lists them", interface);
	genl = genl_open(SMCR_GENL_FAMILY_NAME);
	if (!genl)
		return EXIT_REFUSED;
	found = in_table(genl, interface, id) || of_device(interface, id);
	genl_close(genl);
	if (!found)
		return complain("%s has no PNETID; it needs one only for an RDMA device that is not its own: smc_pnet -a NAME -I %s",
				interface, interface);
	if (!json) {
		printf("%s\n", id);
		return 0;
	}
	json_begin(&j, stdout);
	json_text(&j, "interface", interface);
	json_text(&j, "pnetid", id);
	json_end(&j);
	return 0;
}
