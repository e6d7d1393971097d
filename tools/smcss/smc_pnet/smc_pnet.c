// SPDX-License-Identifier: GPL-2.0
/* smc_pnet: edit the table of interfaces and devices that share a physical network. */
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/smc.h>

#include "complain.h"
#include "netns.h"
#include "number.h"
#include "pnet_table.h"
#include "smc_socket.h"

static const char usage_text[] =
	"Usage: smc_pnet [-j] [-N NETNS] [-s [PNETID]]\n"
	"       smc_pnet -a PNETID [-I INTERFACE] [-D DEVICE [-P PORT]]\n"
	"       smc_pnet -d PNETID\n"
	"       smc_pnet -f\n"
	"Shows and edits the PNET table of this network namespace. Interfaces, RDMA devices and\n"
	"ISM devices with one PNETID are on one physical network, and used together.\n"
	"\n"
	"  -a, --add PNETID           adds an entry, for an interface, a device, or both\n"
	"  -d, --delete PNETID        removes all entries with that name\n"
	"  -f, --flush                removes all entries\n"
	"  -s, --show [PNETID]        shows all entries, or those with that name\n"
	"  -I, --interface INTERFACE  network interface: eth0\n"
	"  -D, --ibdevice DEVICE      RDMA device, or PCI ID of an ISM device: mlx5_0\n"
	"  -P, --ibport PORT          port of the RDMA device (1)\n"
	"  -j, --json                 as JSON, see smc_pnet(8) for the keys\n"
	"  -N, --net NETNS            another network namespace, by name, path or process\n"
	"  -h, --help, -v, --version\n"
	"A PNETID has 1 to 16 characters of A-Z and 0-9; lower case becomes upper case.\n"
	"Exit code 0: done, 1: refused or not there, 2: wrong usage.\n";

struct options {
	char action;		/* a, d, f or s; 0: show all */
	struct pnet pnet;
	bool port;
	bool json;
};

static void take_id(struct options *o, const char *id)
{
	if (!pnetid_parse(id, o->pnet.id))
		usage_error("'%s' is not a PNETID: 1 to 16 letters and digits", id);
}

static void take_action(struct options *o, char action, const char *id)
{
	if (o->action)
		usage_error("-%c and -%c cannot be combined", o->action, action);
	o->action = action;
	if (id)
		take_id(o, id);
}

static void take_name(char name[64], const char *text)
{
	if (!*text || strlen(text) > 63)
		usage_error("'%s' cannot be the name of an interface or device", text);
	strcpy(name, text);
}

static uint8_t parse_port(const char *text)
{
	unsigned long port;

	if (!read_number(text, 1, 2, &port))
		usage_error("'%s' is not a port of an RDMA device: 1 or 2", text);
	return port;
}

static void take_option(struct options *o, int option)
{
	switch (option) {
	case 'a':
	case 'd':
	case 's':
		take_action(o, option, optarg);
		break;
	case 'f':
		take_action(o, option, NULL);
		break;
	case 'I':
		take_name(o->pnet.interface, optarg);
		break;
	case 'D':
		take_name(o->pnet.device, optarg);
		break;
	case 'P':
		o->pnet.port = parse_port(optarg);
		o->port = true;
		break;
	case 'j':
		o->json = true;
		break;
	case 'N':
		netns_enter(optarg);
		break;
	default:
		other_option(option, usage_text);
	}
}

static void parse_options(int argc, char **argv, struct options *o)
{
	static const struct option names[] = {
		{ "add", required_argument, NULL, 'a' },
		{ "delete", required_argument, NULL, 'd' },
		{ "flush", no_argument, NULL, 'f' },
		{ "show", optional_argument, NULL, 's' },
		{ "interface", required_argument, NULL, 'I' },
		{ "ibdevice", required_argument, NULL, 'D' },
		{ "ibport", required_argument, NULL, 'P' },
		{ "json", no_argument, NULL, 'j' },
		{ "net", required_argument, NULL, 'N' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ }
	};
	bool named;
	int option;

	o->pnet.port = 1;
	while ((option = getopt_long(argc, argv, "a:d:fs::I:D:P:jN:hvV", names, NULL)) != -1)
		take_option(o, option);
	/* the argument of -s is optional, so getopt does not take a separate word for it */
	if (o->action == 's' && !o->pnet.id[0] && optind < argc)
		take_id(o, argv[optind++]);
	named = o->pnet.interface[0] || o->pnet.device[0];
	if (optind < argc)
		usage_error("unexpected argument '%s'", argv[optind]);
	if (o->action == 'a' && !named)
		usage_error("-a requires an interface (-I) or a device (-D)");
	if (o->action != 'a' && named)
		usage_error("-I and -D require -a");
	if (o->port && !o->pnet.device[0])
		usage_error("-P requires -D");
}

static int refused(struct genl *genl, const struct options *o, int error)
{
	const struct pnet *p = &o->pnet;
	const char *words = genl_words(genl);

	switch (error) {
	case EPERM:
	case EACCES:
		return complain("changing the PNET table requires CAP_NET_ADMIN in this network namespace, and for a device also on the host: become root");
	case EEXIST:
		return complain("%s already has a PNETID: 'smc_pnet' lists them, 'smc_pnet -d PNETID' removes one",
				p->interface[0] ? p->interface : p->device);
	case ENOENT:
		return complain("there is no entry %s: 'smc_pnet' lists them", p->id);
	case ENOSPC:
		return complain("the PNET table is full: remove something with 'smc_pnet -d PNETID'");
	case ENODEV:
		return complain("there is no %s %s: '%s' lists them", p->interface[0] ? "interface" :
				"device", p->interface[0] ? p->interface : p->device,
				p->interface[0] ? "ip link" : "rdma link");
	}
	return complain("the kernel refused that: %s", *words ? words : strerror(error));
}

/* The kernel accepts names that do not exist yet, so warn about possible typing errors. */
static void warn_of_absent(const struct pnet *p)
{
	char path[128];

	if (p->interface[0] && !if_nametoindex(p->interface))
		complain("note: there is no interface %s now; the entry will apply once it exists",
			 p->interface);
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s", p->device);
	if (p->device[0] && !strchr(p->device, ':') && access(path, F_OK))
		complain("note: there is no RDMA device %s now; the entry will apply once it exists ('rdma link' lists the present ones)",
			 p->device);
}

static int show(struct genl *genl, const struct options *o)
{
	struct array pnets = ARRAY_OF(struct pnet);
	int error = pnets_read(genl, o->pnet.id[0] ? o->pnet.id : NULL, &pnets);

	if (!error && o->pnet.id[0] && !pnets.count)
		error = ENOENT;
	if (!error)
		(o->json ? pnets_json : pnets_print)(stdout, &pnets);
	array_free(&pnets);
	return error ? refused(genl, o, error) : 0;
}

/*
 * Does the interface or the device have an entry with another PNETID? Then only that one keeps its
 * name. Our module refuses to add either of them, but the kernel's own adds the other one and
 * reports no error.
 */
static bool one_is_taken(struct genl *genl, struct pnet *p)
{
	struct array pnets = ARRAY_OF(struct pnet);
	bool taken = false;
	size_t i;

	pnets_read(genl, NULL, &pnets);
	for (i = 0; !taken && i < pnets.count; i++) {
		const struct pnet *there = array_item(&pnets, i);

		if (!strcmp(there->id, p->id))
			continue;
		taken = true;
		if (!strcmp(there->interface, p->interface))
			p->device[0] = '\0';
		else if (!strcmp(there->device, p->device) && there->port == p->port)
			p->interface[0] = '\0';
		else
			taken = false;
	}
	array_free(&pnets);
	return taken;
}

/* Adds interface and device in one request, so that either both are added or none. */
static int add(struct genl *genl, const struct options *o)
{
	struct options taken = *o;
	int error;

	if (o->pnet.interface[0] && o->pnet.device[0] && one_is_taken(genl, &taken.pnet))
		return refused(genl, &taken, EEXIST);
	error = pnet_change(genl, SMC_PNETID_ADD, &o->pnet);
	if (error)
		return refused(genl, o, error);
	warn_of_absent(&o->pnet);
	return 0;
}

static int change(struct genl *genl, const struct options *o)
{
	int error;

	if (o->action == 'a')
		return add(genl, o);
	error = pnet_change(genl, o->action == 'd' ? SMC_PNETID_DEL : SMC_PNETID_FLUSH, &o->pnet);
	return error ? refused(genl, o, error) : 0;
}

int main(int argc, char **argv)
{
	struct options options = { };
	struct genl *genl;
	int status;

	need_descriptors();
	parse_options(argc, argv, &options);
	genl = genl_open(SMCR_GENL_FAMILY_NAME);
	if (!genl)
		return EXIT_REFUSED;
	status = (options.action && options.action != 's' ? change : show)(genl, &options);
	genl_close(genl);
	return finish_output(status);
}
