// SPDX-License-Identifier: GPL-2.0
/*
 * Unit test of smcr, smcd and smc_pnet: decoding of attributes as the kernel's own module of 6.12
 * sends them, and the output for given objects. Where public documentation of smc-tools shows an
 * output, that is the expected text.
 */
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command_line.h"
#include "filter_rule.h"
#include "genl.h"
#include "link.h"
#include "number.h"
#include "pnet_table.h"
#include "stats.h"
#include "tap.h"

static void put_text(struct nl_msg *msg, int attribute, const char *text)
{
	nla_put_string(msg, attribute, text);
}

/* ---- attributes ---------------------------------------------------------------- */

/* A client's link group, SMC-Rv2.1, with attributes in the kernel's order and sizes. */
static void put_linkgroup(struct nl_msg *msg)
{
	struct nlattr *nest;

	nla_put_u32(msg, SMC_NLA_LGR_R_ID, 0x100);
	nla_put_u32(msg, SMC_NLA_LGR_R_CONNS_NUM, 1);
	nla_put_u8(msg, SMC_NLA_LGR_R_ROLE, 0);
	nla_put_u8(msg, SMC_NLA_LGR_R_TYPE, 1);
	nla_put_u8(msg, SMC_NLA_LGR_R_BUF_TYPE, 0);
	nla_put_u8(msg, SMC_NLA_LGR_R_VLAN_ID, 0);
	nla_put_u64(msg, SMC_NLA_LGR_R_NET_COOKIE, 1);
	put_text(msg, SMC_NLA_LGR_R_PNETID, "");
	nla_put_u32(msg, SMC_NLA_LGR_R_SNDBUF_ALLOC, 65536);
	nla_put_u32(msg, SMC_NLA_LGR_R_RMB_ALLOC, 65536);
	nest = nla_nest_start(msg, SMC_NLA_LGR_R_V2_COMMON);
	nla_put_u8(msg, SMC_NLA_LGR_V2_VER, 2);
	nla_put_u8(msg, SMC_NLA_LGR_V2_REL, 1);
	nla_put_u8(msg, SMC_NLA_LGR_V2_OS, 2);
	put_text(msg, SMC_NLA_LGR_V2_PEER_HOST, "smc-vm1                         ");
	put_text(msg, SMC_NLA_LGR_V2_NEG_EID, "SMC-TEST-PAIR                   ");
	nla_nest_end(msg, nest);
	nest = nla_nest_start(msg, SMC_NLA_LGR_R_V2);
	nla_put_u8(msg, SMC_NLA_LGR_R_V2_DIRECT, 1);
	nla_put_u8(msg, SMC_NLA_LGR_R_V2_MAX_CONNS, 255);
	nla_put_u8(msg, SMC_NLA_LGR_R_V2_MAX_LINKS, 2);
	nla_nest_end(msg, nest);
}

static void decode_message(const struct field *fields, struct nl_msg *msg, void *object)
{
	decode(fields, nlmsg_data(nlmsg_hdr(msg)), nlmsg_datalen(nlmsg_hdr(msg)), object);
	nlmsg_free(msg);
}

static void test_decode(void)
{
	struct nl_msg *msg = nlmsg_alloc_simple(0, 0);
	struct linkgroup g = { };

	put_linkgroup(msg);
	decode_message(linkgroup_r_fields, msg, &g);
	yes("numbers", g.id == 0x100 && g.conns == 1 && g.net_cookie == 1);
	yes("narrow number into a wide one", g.sndbuf_alloc == 65536 && g.vlan == 0);
	yes("nests", g.version == 2 && g.release == 1 && g.max_conns == 255);
	yes("nests are there", g.has_v2 && g.has_r_v2 && g.has_alloc);
	same("text without its blanks", g.eid, "SMC-TEST-PAIR");
}

static void test_decode_odd(void)
{
	struct nl_msg *msg = nlmsg_alloc_simple(0, 0);
	struct linkgroup g = { .conns = 5 };
	char text[600];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	nla_put(msg, SMC_NLA_LGR_R_CONNS_NUM, 0, NULL);
	nla_put(msg, SMC_NLA_LGR_R_PNETID, sizeof(text), text);
	nla_put(msg, 900, 4, text);
	nla_put_u64(msg, SMC_NLA_LGR_R_ID, 0x1200000034ull);
	nla_put(msg, SMC_NLA_LGR_R_V2_COMMON, 3, "\1\2");
	decode_message(linkgroup_r_fields, msg, &g);
	yes("number of no size", !g.conns);
	yes("long text is cut", strlen(g.pnetid) == 16);
	yes("wide number into a narrow one", g.id == 0x34);
}

/* ---- link groups and links ----------------------------------------------------- */

static struct array two_groups(void)
{
	struct array groups = ARRAY_OF(struct linkgroup);
	struct linkgroup *g = array_add(&groups);

	/* as on help.aliyun.com */
	*g = (struct linkgroup){ .id = 0x300, .role = 1, .type = 1, .pnetid = "1234" };
	g = array_add(&groups);
	*g = (struct linkgroup){
		.id = 0x100, .type = 1, .conns = 200, .vlan = 7, .has_v2 = true, .version = 2,
		.release = 1, .os = 2, .eid = "EID-1", .peer_host = "peer", .has_r_v2 = true,
		.direct = 1, .max_conns = 255, .max_links = 2, .net_cookie = 1,
		.has_buf_type = true, .buf_type = 1, .has_alloc = true, .sndbuf_alloc = 65536,
		.rcvbuf_alloc = 131072,
	};
	return groups;
}

static void test_linkgroups(void)
{
	struct array groups = two_groups();

	PRINTS("link groups", linkgroups_print(out, SMC_R, &groups, 0),
	       "LG-ID    LG-Role  LG-Type  VLAN  #Conns  PNET-ID\n"
	       "00000300 SERV     SINGLE      0       0  1234\n"
	       "00000100 CLNT     SINGLE      7     200\n");
	PRINTS("link groups, all details", linkgroups_print(out, SMC_R, &groups, 2),
	       "LG-ID    LG-Role  LG-Type  VLAN  #Conns  PNET-ID           Version  Peer-OS  "
	       "Peer-Host         EID    Direct  Max-Conns  Max-Links  Net-Cookie  Buf-Type  "
	       "Sndbuf-Bytes  RMB-Bytes\n"
	       "00000300 SERV     SINGLE      0       0  1234                    1  n/a      "
	       "n/a               n/a       n/a        n/a        n/a           0  n/a       "
	       "         n/a        n/a\n"
	       "00000100 CLNT     SINGLE      7     200                        2.1  Linux    "
	       "peer              EID-1     Yes        255          2           1  virt      "
	       "       65536     131072\n");
	PRINTS("link groups as JSON", linkgroups_json(out, SMC_R, &groups),
	       "{\"linkgroups\": [\n"
	       "  {\"id\": \"0x00000300\", \"vlan\": 0, \"connections\": 0, \"pnetid\": \"1234\", "
	       "\"version\": 1, \"role\": \"server\", \"type\": \"SINGLE\", \"net_cookie\": 0},\n"
	       "  {\"id\": \"0x00000100\", \"vlan\": 7, \"connections\": 200, \"pnetid\": \"\", "
	       "\"version\": 2, \"release\": 1, \"eid\": \"EID-1\", \"peer_host\": \"peer\", "
	       "\"peer_os\": \"Linux\", \"role\": \"client\", \"type\": \"SINGLE\", "
	       "\"net_cookie\": 1, \"direct\": true, \"max_connections\": 255, \"max_links\": 2, "
	       "\"buffer_type\": \"virt\", \"sndbuf_bytes\": 65536, \"rcvbuf_bytes\": 131072}\n"
	       "]}\n");
	array_free(&groups);
}

static void test_smcd_linkgroups(void)
{
	struct array groups = ARRAY_OF(struct linkgroup);
	struct linkgroup *g = array_add(&groups);

	*g = (struct linkgroup){
		.id = 0x200, .conns = 3, .pnetid = "NET1", .has_v2 = true, .version = 2, .os = 1,
		.eid = "E", .peer_host = "ZOS1", .chid = 0xffff, .gid = 0x1122334455667788,
		.peer_gid = 2,
	};
	PRINTS("SMC-D link groups", linkgroups_print(out, SMC_D, &groups, 0),
	       "LG-ID    VLAN  #Conns  PNET-ID\n"
	       "00000200    0       3  NET1\n");
	PRINTS("SMC-D link groups, details", linkgroups_print(out, SMC_D, &groups, 1),
	       "LG-ID    VLAN  #Conns  PNET-ID           Version  Peer-OS  Peer-Host         EID  "
	       "CHID  GID               Peer-GID\n"
	       "00000200    0       3  NET1                  2.0  z/OS     ZOS1              E    "
	       "ffff  1122334455667788  0000000000000002\n");
	array_free(&groups);
}

static struct array two_links(void)
{
	struct array links = ARRAY_OF(struct link);
	struct link *l = array_add(&links);

	*l = (struct link){
		.group = 0x100, .id = 1, .dev = "rxe0", .port = 1, .gid = "fe80::1",
		.peer_gid = "fe80::2", .conns = 5, .role = 1, .type = 2, .ifindex = 1, .uid = 0x101, .peer_uid = 0x201,
		.state = 3,
	};
	l = array_add(&links);
	*l = (struct link){
		.group = 0x300, .id = 2, .dev = "mlx5_0", .port = 2, .type = 1, .ifindex = 987654,
		.state = 9,
	};
	return links;
}

static void test_links(void)
{
	struct array links = two_links();

	PRINTS("links", links_print(out, &links, 0),
	       "LG-ID    LG-Role  LG-Type  Link  Link-State  Net-Dev         IB-Dev   IB-P  #Conns\n"
	       "00000100 SERV     SYM         1  ACTIVE      lo              rxe0        1       5\n"
	       "00000300 CLNT     SINGLE      2  state 9     if987654        mlx5_0      2       0\n");
	PRINTS("links as JSON", links_json(out, &links),
	       "{\"links\": [\n"
	       "  {\"linkgroup\": \"0x00000100\", \"role\": \"server\", \"type\": \"SYM\", \"link\": 1, \"state\": \"ACTIVE\", "
	       "\"netdev\": \"lo\", \"device\": \"rxe0\", \"port\": 1, \"connections\": 5, "
	       "\"gid\": \"fe80::1\", \"peer_gid\": \"fe80::2\", \"uid\": \"0x00000101\", "
	       "\"peer_uid\": \"0x00000201\"},\n"
	       "  {\"linkgroup\": \"0x00000300\", \"role\": \"client\", \"type\": \"SINGLE\", \"link\": 2, \"state\": \"state 9\", "
	       "\"netdev\": \"if987654\", \"device\": \"mlx5_0\", \"port\": 2, \"connections\": 0, "
	       "\"gid\": \"\", \"peer_gid\": \"\", \"uid\": \"0x00000000\", "
	       "\"peer_uid\": \"0x00000000\"}\n"
	       "]}\n");
	array_free(&links);
}

static size_t groups_left(const struct filter *filter)
{
	struct array groups = two_groups(), links = two_links();
	size_t count;

	linkgroups_filter(&groups, &links, filter);
	count = groups.count;
	array_free(&groups);
	array_free(&links);
	return count;
}

/* The second link of a group must match as well as the first one. */
static void test_filter_by_any_link(void)
{
	struct array groups = two_groups(), links = two_links();
	struct filter filter = { .ibdev = "mlx5_0" };

	((struct link *)links.items)[1].group = 0x100;
	linkgroups_filter(&groups, &links, &filter);
	yes("a link group by its second link", groups.count == 1 &&
	    ((struct linkgroup *)groups.items)->id == 0x100);
	links_filter(&links, &filter);
	yes("that link", links.count == 1 && ((struct link *)links.items)->id == 2);
	filter.ibdev = "rxe0";
	links_filter(&links, &filter);
	yes("and no other one", !links.count);
	array_free(&groups);
	array_free(&links);
}

/* Numbers of the kernel's own module, see netlink.md. */
static void test_types(void)
{
	struct array groups = ARRAY_OF(struct linkgroup);
	unsigned int i;

	for (i = 0; i < 6; i++)
		*(struct linkgroup *)array_add(&groups) = (struct linkgroup){ .id = i, .type = i };
	PRINTS("types of link groups", linkgroups_print(out, SMC_R, &groups, 0),
	       "LG-ID    LG-Role  LG-Type  VLAN  #Conns  PNET-ID\n"
	       "00000000 CLNT     NONE        0       0\n"
	       "00000001 CLNT     SINGLE      0       0\n"
	       "00000002 CLNT     SYM         0       0\n"
	       "00000003 CLNT     ASYMP       0       0\n"
	       "00000004 CLNT     ASYML       0       0\n"
	       "00000005 CLNT     type 5      0       0\n");
	array_free(&groups);
}

static void test_filter(void)
{
	yes("no filter", groups_left(&(struct filter){ }) == 2);
	yes("by ID", groups_left(&(struct filter){ .by_id = true, .id = 0x300 }) == 1);
	yes("by an ID that is not there", !groups_left(&(struct filter){ .by_id = true, .id = 3 }));
	yes("by netdev", groups_left(&(struct filter){ .netdev = "lo" }) == 1);
	yes("by device", groups_left(&(struct filter){ .ibdev = "mlx5_0" }) == 1);
	yes("by both, on different links",
	    !groups_left(&(struct filter){ .netdev = "lo", .ibdev = "mlx5_0" }));
}

/* ---- devices ------------------------------------------------------------------- */

static struct array three_devices(void)
{
	struct array devices = ARRAY_OF(struct device);
	struct device *d = array_add(&devices);

	/* as on help.aliyun.com, except for the interface, which must exist on every host */
	*d = (struct device){
		.name = "erdma_0", .vendor = 0x1ded, .device = 0x107f, .has_pci = true,
		.ports[0] = { .present = true, .valid = true, .ifindex = 1, .state = 1 },
	};
	d = array_add(&devices);
	*d = (struct device){
		.name = "mlx5_0", .vendor = 0x15b3, .device = 0x1016, .has_pci = true, .fid = 0xca,
		.chid = 0x1c4, .pci_id = "0000:00:00.0", .critical = 1,
		.ports[0] = { .present = true },
		.ports[1] = {
			.present = true, .valid = true, .pnetid = "NET1", .by_user = true, .links = 3,
		},
	};
	return devices;
}

static void test_devices(void)
{
	struct array devices = three_devices();

	PRINTS("devices", devices_print(out, SMC_R, &devices, 0),
	       "Net-Dev         IB-Dev   IB-P  IB-State  Type          Crit  #Links  PNET-ID\n"
	       "lo              erdma_0     1    ACTIVE  0x107f          No       0\n"
	       "n/a             mlx5_0      2  INACTIVE  RoCE_Express2  Yes       3  *NET1\n");
	PRINTS("devices, details", devices_print(out, SMC_R, &devices, 1),
	       "Net-Dev         IB-Dev   IB-P  IB-State  Type          Crit  #Links  "
	       "PNET-ID           FID   PCI-ID        PCHID\n"
	       "lo              erdma_0     1    ACTIVE  0x107f          No       0  "
	       "                  0000  n/a           0000\n"
	       "n/a             mlx5_0      2  INACTIVE  RoCE_Express2  Yes       3  "
	       "*NET1             00ca  0000:00:00.0  01c4\n");
	devices_filter(&devices, &(struct filter){ .netdev = "lo" });
	yes("devices of an interface", devices.count == 1);
	PRINTS("device as JSON", devices_json(out, SMC_R, &devices),
	       "{\"devices\": [\n"
	       "  {\"device\": \"erdma_0\", \"type\": \"0x107f\", \"critical\": false, "
	       "\"fid\": \"0x00000000\", \"chid\": \"0x0000\", \"pci_vendor\": \"0x1ded\", "
	       "\"pci_device\": \"0x107f\", \"ports\": [{\"port\": 1, \"pnetid\": \"\", "
	       "\"pnetid_by_user\": false, \"netdev\": \"lo\", \"state\": \"ACTIVE\", "
	       "\"links\": 0}]}\n"
	       "]}\n");
	array_free(&devices);
}

static void test_smcd_devices(void)
{
	struct array devices = ARRAY_OF(struct device);
	struct device *d = array_add(&devices);

	*d = (struct device){
		.vendor = 0x1014, .device = 0x04ed, .has_pci = true, .fid = 0x29, .chid = 0x7c1,
		.pci_id = "0029:00:00.0", .critical = 1, .users = 2,
		.ports[0] = { .present = true, .pnetid = "NET25" },
	};
	PRINTS("SMC-D devices", devices_print(out, SMC_D, &devices, 0),
	       "FID   Type      PCI-ID        PCHID  InUse  #LGs  PNET-ID\n"
	       "0029  ISM       0029:00:00.0  07c1     Yes     2  NET25\n");
	PRINTS("SMC-D devices as JSON", devices_json(out, SMC_D, &devices),
	       "{\"devices\": [\n"
	       "  {\"type\": \"ISM\", \"in_use\": true, \"linkgroups\": 2, "
	       "\"fid\": \"0x00000029\", \"chid\": \"0x07c1\", \"pci_vendor\": \"0x1014\", \"pci_device\": \"0x04ed\", "
	       "\"pci_id\": \"0029:00:00.0\", \"ports\": [{\"port\": 1, \"pnetid\": \"NET25\", "
	       "\"pnetid_by_user\": false}]}\n"
	       "]}\n");
	array_free(&devices);
}

/* ---- info, EIDs, PNET table ---------------------------------------------------- */

static void test_info(void)
{
	struct sysinfo info = {
		.version = 2, .host = "t8345009.lnxne.boe", .ism_v2 = true, .smcr_v2 = true,
		.ism_devices = 1, .rdma_devices = 2, .loopback = true,
		.seid = "IBM-SYSZ-ISMSEID000000002E488561",
	};

	/* as in IBM's documentation for Linux on Z */
	PRINTS("info", sysinfo_print(out, &info),
	       "Kernel Capabilities\n"
	       "SMC Version: 2.0\n"
	       "SMC Hostname: t8345009.lnxne.boe\n"
	       "SMC-D Features: v1 v2\n"
	       "SMC-R Features: v1 v2\n"
	       "SMC Module: the kernel's own\n"
	       "SMC Tools: " SMC_TOOLS_VERSION "\n"
	       "\n"
	       "Hardware Capabilities\n"
	       "SEID: IBM-SYSZ-ISMSEID000000002E488561\n"
	       "ISM:  v1 v2\n"
	       "RoCE: v1 v2\n");
	info = (struct sysinfo){
		.version = 2, .release = 1, .host = "h", .has_hs_limit = true, .hs_limit = true,
		.has_hs_pending = true, .hs_pending = 3, .hs_threshold = 64,
		.module_version = "1.2.3",
		.ism_v2 = false, .rdma_devices = 1, .loopback = true,
		.has_tcp_option = true, .tcp_option = SMC_TCP_OPTION_BY_NETFILTER,
	};
	PRINTS("info with a limit", sysinfo_print(out, &info),
	       "Kernel Capabilities\n"
	       "SMC Version: 2.1\n"
	       "SMC Hostname: h\n"
	       "SMC-D Features: v1 v2\n"
	       "SMC-R Features: v1 v2\n"
	       "Handshake Limit: on (3 in progress, TCP beyond 64)\n"
	       "TCP Option: netfilter (not in place: no SMC sockets here)\n"
	       "SMC Module: 1.2.3\n"
	       "SMC Tools: " SMC_TOOLS_VERSION "\n"
	       "\n"
	       "Hardware Capabilities\n"
	       "SEID: n/a\n"
	       "ISM:  n/a (loopback: v2)\n"
	       "RoCE: v1\n");
	PRINTS("info as JSON", sysinfo_json(out, &info),
	       "{\"info\": {\"version\": 2, \"release\": 1, \"hostname\": \"h\", "
	       "\"ism_v2\": false, \"smcr_v2\": false, \"ism_devices\": 0, "
	       "\"rdma_devices\": 1, \"loopback\": true, \"handshake_limit\": true, "
	       "\"handshakes_pending\": 3, \"handshakes_threshold\": 64, "
	       "\"tcp_option\": \"netfilter\", \"tcp_option_in_place\": false, "
	       "\"module_version\": \"1.2.3\", \"tools_version\": \"" SMC_TOOLS_VERSION "\"}}\n");
}

static void test_eids(void)
{
	static const char * const good[] = {
		"A", "0", "LOCATION-WEST", "A.B.C", "A-", "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
	};
	static const char * const bad[] = {
		"", "a", "-A", ".A", "A..B", "A B", "A_B", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456", "A\n"
	};
	struct array eids = ARRAY_OF(struct eid);
	struct seid seid = { "SEID", true };
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		yes(good[i], eid_valid(good[i]));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		yes("no EID", !eid_valid(bad[i]));
	strcpy(((struct eid *)array_add(&eids))->text, "LOCATION-WEST");
	strcpy(((struct eid *)array_add(&eids))->text, "LOCAL-WEST");
	PRINTS("user EIDs", ueids_print(out, &eids), "LOCATION-WEST\nLOCAL-WEST\n");
	PRINTS("user EIDs as JSON", ueids_json(out, &eids),
	       "{\"ueids\": [\n  \"LOCATION-WEST\",\n  \"LOCAL-WEST\"\n]}\n");
	array_free(&eids);
	PRINTS("system EID", seid_print(out, &seid), "SEID [enabled]\n");
	PRINTS("system EID as JSON", seid_json(out, &seid),
	       "{\"seid\": \"SEID\", \"enabled\": true}\n");
	PRINTS("no system EID", seid_print(out, &(struct seid){ }), "n/a\n");
}

static void test_pnet(void)
{
	struct array pnets = ARRAY_OF(struct pnet);
	struct pnet *p = array_add(&pnets);
	char id[PNETID_ROOM];

	/* what the kernel sends for an interface and for a device */
	*p = (struct pnet){ "PNET1", "eth1", "n/a", 255 };
	p = array_add(&pnets);
	*p = (struct pnet){ "PNET2", "n/a", "rxe0", 1 };
	PRINTS("PNET table", pnets_print(out, &pnets),
	       "PNET1 eth1 n/a 255\n"
	       "PNET2 n/a rxe0 1\n");
	PRINTS("PNET table as JSON", pnets_json(out, &pnets),
	       "{\"pnetids\": [\n"
	       "  {\"pnetid\": \"PNET1\", \"interface\": \"eth1\"},\n"
	       "  {\"pnetid\": \"PNET2\", \"device\": \"rxe0\", \"port\": 1}\n"
	       "]}\n");
	array_free(&pnets);
	yes("PNETID", pnetid_parse("NET1", id) && pnetid_parse("nEt1", id) && !strcmp(id, "NET1"));
	yes("long PNETID", pnetid_parse("abcdefghijklmnop", id) && !strcmp(id, "ABCDEFGHIJKLMNOP"));
	yes("no PNETID", !pnetid_parse("", id) && !pnetid_parse("NET 1", id) &&
	    !pnetid_parse("NET-1", id) && !pnetid_parse("ABCDEFGHIJKLMNOPQ", id));
}

/* ---- statistics ---------------------------------------------------------------- */

/* The numbers on help.aliyun.com. */
static struct stats sample(void)
{
	struct stats s;

	stats_init(&s);
	s.counters.client_v2 = 5076;
	s.counters.rx.bytes = 200705600;
	s.counters.rx.count = 5017741;
	s.counters.rx.buffers[5] = 5076;
	s.counters.rx.requests[0] = 5017741;
	s.counters.tx.bytes = 1194173445;
	s.counters.tx.count = 5017640;
	s.counters.tx.buffers[5] = 5076;
	s.counters.tx.requests[0] = 5017640;
	s.counters.cork = 5;
	return s;
}

static void test_stats(void)
{
	struct stats s = sample();

	PRINTS("statistics", stats_print(out, SMC_R, &s, 0),
	       "SMC-R Connections Summary\n"
	       "  Total connections handled          5076\n"
	       "  SMC connections                    5076\n"
	       "  Handshake errors                      0\n"
	       "  Avg requests per SMC conn          1977.0\n"
	       "  TCP fallback                          0\n"
	       "\n"
	       "RX Stats\n"
	       "  Data transmitted (Bytes)      200705600 (200.7M)\n"
	       "  Total requests                  5017741\n"
	       "  Buffer usage (Bytes)                  0 (0)\n"
	       "  Buffer full                           0 (0.00%)\n"
	       "            8KB    16KB    32KB    64KB   128KB   256KB   512KB  >512KB\n"
	       "  Bufs        0       0       0       0       0  5.076K       0       0\n"
	       "  Reqs   5.018M       0       0       0       0       0       0       0\n"
	       "\n"
	       "TX Stats\n"
	       "  Data transmitted (Bytes)     1194173445 (1.194G)\n"
	       "  Total requests                  5017640\n"
	       "  Buffer usage (Bytes)                  0 (0)\n"
	       "  Buffer full                           0 (0.00%)\n"
	       "  Buffer full (remote)                  0 (0.00%)\n"
	       "  Buffer too small                      0 (0.00%)\n"
	       "  Buffer too small (remote)             0 (0.00%)\n"
	       "            8KB    16KB    32KB    64KB   128KB   256KB   512KB  >512KB\n"
	       "  Bufs        0       0       0       0       0  5.076K       0       0\n"
	       "  Reqs   5.018M       0       0       0       0       0       0       0\n"
	       "\n"
	       "Extras\n"
	       "  Special socket calls                  5\n");
	stats_free(&s);
}

static void add_fallback(struct stats *s, int server, uint32_t reason, uint64_t count)
{
	struct fallback_count *f = array_add(&s->fallbacks);

	*f = (struct fallback_count){
		.is_server = server, .reason = reason, .count = count, .narrow = count < 65536
	};
}

static void test_subtract(void)
{
	struct stats now = sample(), before = sample(), other = sample();

	now.counters.tx.count += 7;
	now.counters.urgent = 1;
	add_fallback(&now, 1, 0x03030000, 3);
	add_fallback(&now, 0, 0x03030000, 2);
	add_fallback(&now, 0, 0x5c040001, 1000003);
	add_fallback(&before, 1, 0x03030000, 65534);
	add_fallback(&before, 0, 0x5c040001, 1000000);
	add_fallback(&before, 0, 0x03030000, 2);
	yes("difference", stats_subtract(&now, &before));
	yes("of counters", now.counters.tx.count == 7 && now.counters.urgent == 1 &&
	    !now.counters.client_v2);
	yes("of reasons that came up", now.fallbacks.count == 2);
	yes("past 16 bits", ((struct fallback_count *)now.fallbacks.items)[0].count == 5);
	yes("with 64 bits", ((struct fallback_count *)now.fallbacks.items)[1].count == 3);
	add_fallback(&other, 0, 0x5c040001, 999999);
	add_fallback(&other, 0, 0x03030000, 7);
	yes("a reason fell", !stats_subtract(&other, &before) &&
	    ((struct fallback_count *)other.fallbacks.items)[0].count == 999999);
	other.fallbacks.count = 0;
	before.counters.rx.bytes++;
	yes("another module since", !stats_subtract(&other, &before) &&
	    other.counters.client_v2 == 5076);
	stats_free(&now);
	stats_free(&before);
	stats_free(&other);
}

static bool stats_say(const struct stats *s, int details, const char *what)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool found;

	if (details)
		stats_print(out, SMC_R, s, details);
	else
		stats_json(out, SMC_R, s);
	fclose(out);
	found = strstr(text, what);
	free(text);
	return found;
}

static void test_moves(void)
{
	struct stats s = sample();

	yes("nothing of moves where they are not counted", !stats_say(&s, 1, "Moved to") &&
	    !stats_say(&s, 0, "moved_connections"));
	s.has_links = s.has_moves = true;
	s.counters.links_down = 1;
	s.counters.conns_moved = 12;
	s.counters.bytes_again = 30000;
	yes("connections that have moved", stats_say(&s, 1,
	    "  Links that failed                     1\n"
	    "  Moved to another link                12\n"
	    "    bytes written again             30000\n"));
	yes("the same as JSON", stats_say(&s, 0,
	    "\"links\": {\"up\": 0, \"down\": 1, \"moved_connections\": 12, "
	    "\"bytes_again\": 30000}"));
	stats_free(&s);
}

static bool parses(const char *text, size_t size, const char *boot, struct stats *s)
{
	FILE *in = fmemopen((void *)text, size, "r");
	bool parsed;

	stats_init(s);
	parsed = stats_parse(in, s, boot);
	fclose(in);
	return parsed;
}

static void test_file(void)
{
	struct stats s = sample(), back;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	add_fallback(&s, 1, 0x5c040001, 3);
	stats_write(out, &s, "boot-1");
	fclose(out);
	yes("kept counters", parses(text, size, "boot-1", &back));
	yes("are the same", !memcmp(&s.counters, &back.counters, sizeof(s.counters)));
	yes("with their reasons", back.fallbacks.count == 1 &&
	    ((struct fallback_count *)back.fallbacks.items)->reason == 0x5c040001);
	stats_free(&back);
	yes("of another boot", !parses(text, size, "boot-2", &back));
	yes("cut off", !parses(text, size / 2, "boot-1", &back));
	yes("something else", !parses("hello", 5, "boot-1", &back));
	free(text);
	stats_free(&s);
}

static bool file_says(const char *path, const char *expected)
{
	char text[16] = "";
	FILE *in = fopen(path, "r");

	if (!in)
		return false;
	if (!fgets(text, sizeof(text), in))
		text[0] = '\0';
	fclose(in);
	return !strcmp(text, expected);
}

/* In a directory that others can write to, their symbolic links must not be followed. */
static void test_links_in_the_way(void)
{
	char dir[] = "/tmp/smc-test.XXXXXX", victim[64], path[96], unfinished[128], elsewhere[64];
	struct stats s = sample(), back;
	struct stat netns;
	FILE *out;

	if (!mkdtemp(dir) || stat("/proc/self/ns/net", &netns)) {
		yes("make a directory", false);
		return;
	}
	setenv("SMC_STATE_DIR", dir, 1);
	snprintf(victim, sizeof(victim), "%s/victim", dir);
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", dir);
	snprintf(path, sizeof(path), "%s/stats-smcr-%ju", dir, (uintmax_t)netns.st_ino);
	snprintf(unfinished, sizeof(unfinished), "%s.new", path);
	out = fopen(victim, "w");
	fputs("precious", out);
	fclose(out);
	yes("lay links", !symlink(victim, path) && !symlink(victim, unfinished));
	yes("D6: counters are kept", !stats_save(SMC_R, &s));
	yes("D6: no link is followed on writing", file_says(victim, "precious"));
	stats_init(&back);
	yes("D6: and they are found", stats_load(SMC_R, &back));
	stats_free(&back);
	yes("put a link in place of the file",
	    !rename(path, elsewhere) && !symlink(elsewhere, path));
	stats_init(&back);
	yes("D6: no link is followed on reading", !stats_load(SMC_R, &back));
	stats_free(&back);
	unlink(victim);
	unlink(elsewhere);
	unlink(path);
	unlink(unfinished);
	yes("D6: nothing else is left", !rmdir(dir));
	unsetenv("SMC_STATE_DIR");
	stats_free(&s);
}

static void test_numbers(void)
{
	char room[16];

	same("0", short_number(0, room), "0");
	same("999", short_number(999, room), "999");
	same("1000", short_number(1000, room), "1.000K");
	same("65536", short_number(65536, room), "65.54K");
	same("999999", short_number(999999, room), "1.000M");
	same("2^64-1", short_number(UINT64_MAX, room), "18.45E");
}

/* ---- command lines ------------------------------------------------------------- */

static const struct command some_commands[] = {
	{ "show", NULL, TAKES_LINKS, false },
	{ "link-show", NULL, TAKES_LINKS, false },
	{ "add", NULL, TAKES_EID, true },
	{ }
};

static const struct smc_object some_objects[] = {
	{ "device", some_commands },
	{ "stats", some_commands },
	{ "seid", some_commands },
	{ }
};

static const struct tool some_tool = { SMC_R, some_objects, "usage\n" };

static struct request parsed(const char *line)
{
	char text[200], *argv[20] = { "test" };
	struct request r;
	int argc = 1;

	strcpy(text, line);
	for (argv[argc] = strtok(text, " "); argv[argc]; argv[argc] = strtok(NULL, " "))
		argc++;
	parse_request(&some_tool, argc, argv, &r);
	return r;
}

static void test_args(void)
{
	struct request r = parsed("d");

	same("object by its first letter", r.object->name, "device");
	same("first command", r.command->name, "show");
	r = parsed("-da st");
	yes("letters in one word", r.details == 1 && r.absolute && r.object == &some_objects[1]);
	yes("-dd", parsed("-dd d").details == 2);
	yes("-details", parsed("-details d").details == 1);
	yes("--ddetails", parsed("--ddetails d").details == 2);
	yes("behind the object", parsed("d -j").json);
	r = parsed("d l 0x300");
	yes("command by its first letter, ID", r.command == &some_commands[1] && r.filter.by_id &&
	    r.filter.id == 0x300);
	r = parsed("d 00000100");
	yes("ID without a command", r.command == &some_commands[0] && r.filter.id == 0x100);
	r = parsed("d show all");
	yes("all", !r.filter.by_id);
	r = parsed("-w 0.5 -c 3 d");
	yes("watch", r.watch == 0.5 && r.count == 3);
}

/* ---- filter rules -------------------------------------------------------------- */

static void test_rules(void)
{
	static const char *const typed[] = {
		"exclude", "in", "local", "10.1.0.0/16", "port", "80-90", "remote", "port",
		"443", "before", "7",
	};
	static const char *const more[] = { "permit", "ipv6", "local", "any", "remote", "fd00::1" };
	struct array rules = ARRAY_OF(struct rule);
	struct nl_msg *msg = nlmsg_alloc_simple(0, 0);
	struct rule *r = array_add(&rules);

	rule_parse(typed, sizeof(typed) / sizeof(*typed), r);
	yes("rule: what is to be done", r->action == SMC_FILTER_EXCLUDE &&
	    r->direction == SMC_FILTER_IN && r->before == 7 && !r->family);
	yes("rule: prefix", r->local.has_address && r->local.address.len == 4 &&
	    !memcmp(r->local.address.bytes, "\12\1\0\0", 4) && r->local.prefix == 16);
	yes("rule: ports", r->local.port == 80 && r->local.port_last == 90 &&
	    r->remote.has_port && r->remote.port == 443 && r->remote.port_last == 443);
	yes("rule: no address", !r->remote.has_address);
	r->id = 1;
	r = array_add(&rules);
	rule_parse(more, sizeof(more) / sizeof(*more), r);
	yes("rule: IPv6", r->family == AF_INET6 && !r->local.has_address && !r->local.has_port &&
	    r->remote.address.len == 16 && r->remote.prefix == 128);
	r = array_add(&rules);
	nla_put_u32(msg, SMC_NLA_FILTER_ID, 12345);
	nla_put_u8(msg, SMC_NLA_FILTER_ACTION, SMC_FILTER_PERMIT);
	nla_put_u8(msg, SMC_NLA_FILTER_DIRECTION, SMC_FILTER_OUT);
	nla_put_u8(msg, SMC_NLA_FILTER_FAMILY, AF_INET);
	nla_put(msg, SMC_NLA_FILTER_REMOTE_ADDR, 4, "\300\250\0\1");
	nla_put_u8(msg, SMC_NLA_FILTER_REMOTE_PREFIX, 32);
	nla_put_u16(msg, SMC_NLA_FILTER_LOCAL_PORT, 0);
	nla_put_u16(msg, SMC_NLA_FILTER_LOCAL_PORT_LAST, 1023);
	nla_put(msg, SMC_NLA_FILTER_LOCAL_ADDR, 17, "too long for one.");
	nla_put_u64(msg, SMC_NLA_FILTER_HITS, 1ull << 40);
	decode_message(rule_fields, msg, r);
	yes("rule: an address of 17 bytes is none", !r->local.address.len);
	r->local.has_address = false;
	PRINTS("rules", rules_print(out, &rules),
	       "   ID  Action   Dir   Family  Local            Port    Remote           Port            "
	       "Hits\n"
	       "    1  exclude  in    any     10.1.0.0/16      80-90   any              443                "
	       "0\n"
	       "    0  permit   both  ipv6    any              any     fd00::1          any                "
	       "0\n"
	       "12345  permit   out   ipv4    any              0-1023  192.168.0.1      any    "
	       "1099511627776\n");
	PRINTS("rules as JSON", rules_json(out, &rules),
	       "{\"filter\": [\n"
	       "  {\"id\": 1, \"action\": \"exclude\", \"direction\": \"in\", \"local\": "
	       "{\"prefix\": \"10.1.0.0/16\", \"port\": 80, \"port_last\": 90}, \"remote\": "
	       "{\"port\": 443, \"port_last\": 443}, \"hits\": 0},\n"
	       "  {\"id\": 0, \"action\": \"permit\", \"direction\": \"both\", \"family\": "
	       "\"ipv6\", \"remote\": {\"prefix\": \"fd00::1\"}, \"hits\": 0},\n"
	       "  {\"id\": 12345, \"action\": \"permit\", \"direction\": \"out\", \"family\": "
	       "\"ipv4\", \"local\": {\"port\": 0, \"port_last\": 1023}, \"remote\": "
	       "{\"prefix\": \"192.168.0.1\"}, \"hits\": 1099511627776}\n"
	       "]}\n");
	array_free(&rules);
}

int main(void)
{
	test_decode();
	test_decode_odd();
	test_linkgroups();
	test_smcd_linkgroups();
	test_links();
	test_filter();
	test_filter_by_any_link();
	test_types();
	test_devices();
	test_smcd_devices();
	test_info();
	test_eids();
	test_pnet();
	test_stats();
	test_subtract();
	test_moves();
	test_file();
	test_links_in_the_way();
	test_numbers();
	test_args();
	test_rules();
	return test_result();
}
