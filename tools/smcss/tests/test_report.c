// SPDX-License-Identifier: GPL-2.0
/* Unit test of smc_chk and smcat: their output for given observations. */
#include <arpa/inet.h>
#include <errno.h>

#include <linux/smc_reason.h>

#include "share.h"
#include "steps.h"
#include "tap.h"

/* ---- smc_chk ------------------------------------------------------------------- */

static struct check begun(void)
{
	struct check check = { .host = "peer" };

	strcpy(check.address, "10.0.0.1:23");
	check_step(&check, STEP_SOCKET, PASSED, "there");
	check_step(&check, STEP_TCP, PASSED, "connected");
	return check;
}

static struct check tcp(uint32_t reason, uint32_t diagnosis)
{
	struct record r = {
		.msg = { .diag_state = SMC_DIAG_STATE_ACTIVE,
			 .diag_mode = SMC_DIAG_MODE_FALLBACK_TCP },
		.fallback = { reason, diagnosis },
	};
	struct check check = begun();

	check_record(&check, &r);
	return check;
}

static void test_fallback(void)
{
	struct check check = tcp(SMC_REASON_PEER_DECLINED, SMC_REASON_NO_DEVICE);

	PRINTS("a Decline", check_print(out, &check),
	       "Test with peer, which is 10.0.0.1:23\n"
	       "  socket    ok    there\n"
	       "  tcp       ok    connected\n"
	       "  option    ok    both ends have the SMC option\n"
	       "  proposal  ok    sent\n"
	       "  accept    FAIL  the peer declined: no SMC device can serve this connection "
	       "(0x03030000)\n"
	       "  link      -     not reached\n"
	       "  data      -     not reached\n"
	       "Failed, the connection is TCP\n"
	       "Remedy: on the peer: list the devices with 'smcd device' and 'smcr device'; an RDMA "
	       "device must belong to the interface the route uses (PNETID)\n");
	check = tcp(SMC_REASON_PEER_NO_OPTION, 0);
	yes("no option", check.steps[STEP_OPTION].result == FAILED &&
	    check.steps[STEP_PROPOSAL].result == NOT_TRIED);
	check = tcp(0x03010000, 0);
	yes("no option, kernel's own", check.steps[STEP_OPTION].result == FAILED);
	check = tcp(SMC_REASON_NO_DEVICE, 0);
	yes("nothing to propose", check.steps[STEP_PROPOSAL].result == FAILED);
	check = tcp(SMC_REASON_NO_COMMON_EID, 0);
	yes("nothing in common", check.steps[STEP_ACCEPT].result == FAILED);
	check = tcp(0x12345678, 0);
	yes("code that nobody knows", check.steps[STEP_PROPOSAL].result == FAILED &&
	    check.remedy[0]);
}

/* Where the option was not sent, nothing may claim that both ends have it. */
static void test_option(void)
{
	static const uint32_t before_syn[] = {
		SMC_REASON_DISABLED, SMC_REASON_FILTERED, SMC_REASON_TOO_SHORT, SMC_REASON_IPSEC,
		SMC_REASON_CGROUP_BPF, SMC_REASON_NO_TCP_OPTION, SMC_REASON_FASTOPEN,
		SMC_REASON_ALREADY_CONNECTED, SMC_REASON_REUSED, SMC_REASON_SIGNED,
		SMC_REASON_PACKET_OPTION, SMC_REASON_KERNEL_USER, SMC_REASON_SELF_CONNECTED,
		SMC_REASON_BOTH_CLIENTS, SMC_REASON_SHUT_DOWN, SMC_REASON_CONGESTED,
		SMC_REASON_SYN_COOKIE, SMC_REASON_AUTOCACHE,
	};
	static const uint32_t perhaps_before_syn[] = {
		SMC_REASON_NONE, SMC_REASON_NO_DEVICE, SMC_REASON_NO_MEMORY, SMC_REASON_INTERNAL,
		0x12345678,
	};
	struct check check;
	size_t i;

	for (i = 0; i < sizeof(before_syn) / sizeof(*before_syn); i++) {
		check = tcp(before_syn[i], 0);
		if (check.steps[STEP_OPTION].result != FAILED)
			break;
	}
	yes("what is found before the SYN fails the option",
	    i == sizeof(before_syn) / sizeof(*before_syn));
	for (i = 0; i < sizeof(perhaps_before_syn) / sizeof(*perhaps_before_syn); i++) {
		check = tcp(perhaps_before_syn[i], 0);
		if (check.steps[STEP_OPTION].result != NOT_TRIED ||
		    check.steps[STEP_PROPOSAL].result != FAILED)
			break;
	}
	yes("what may be found before the SYN claims nothing of the option",
	    i == sizeof(perhaps_before_syn) / sizeof(*perhaps_before_syn));
	check = tcp(SMC_REASON_NO_DEVICE, 0);
	PRINTS("no device", check_print(out, &check),
	       "Test with peer, which is 10.0.0.1:23\n"
	       "  socket    ok    there\n"
	       "  tcp       ok    connected\n"
	       "  option    -     not known; this host may not have sent it\n"
	       "  proposal  FAIL  no SMC device can serve this connection (0x03030000)\n"
	       "  accept    -     not reached\n"
	       "  link      -     not reached\n"
	       "  data      -     not reached\n"
	       "Failed, the connection is TCP\n"
	       "Remedy: list the devices with 'smcd device' and 'smcr device'; an RDMA device must "
	       "belong to the interface the route uses (PNETID)\n");
}

static void test_remedies(void)
{
	static const int errors[] = {
		ECONNREFUSED, ECONNRESET, EINTR, ETIMEDOUT, ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL,
		EINVAL, EACCES, EPERM, ENOBUFS,
	};
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(*errors) && *connect_remedy(errors[i]); i++)
		;
	yes("a remedy for each error of connect()", i == sizeof(errors) / sizeof(*errors));
	yes("a link-local address", strstr(connect_remedy(EINVAL), "%eth0"));
}

static void test_success(void)
{
	struct record r = {
		.msg = { .diag_state = SMC_DIAG_STATE_ACTIVE, .diag_mode = SMC_DIAG_MODE_SMCR },
		.has = 1u << SMC_DIAG_LGRINFO,
		.lgr.lnk[0] = { .link_id = 1, .ibname = "rxe0", .ibport = 1, .gid = "g1",
				.peer_gid = "g2" },
	};
	struct check check = begun();

	check_record(&check, &r);
	check_step(&check, STEP_DATA, PASSED, "came back");
	PRINTS("SMC-R", check_print(out, &check),
	       "Test with peer, which is 10.0.0.1:23\n"
	       "  socket    ok    there\n"
	       "  tcp       ok    connected\n"
	       "  option    ok    both ends have the SMC option\n"
	       "  proposal  ok    sent\n"
	       "  accept    ok    SMC-R\n"
	       "  link      ok    rxe0 port 1, link 1, GID g1 to g2\n"
	       "  data      ok    came back\n"
	       "Success, using SMC-R\n");
	PRINTS("SMC-R as JSON", check_json(out, &check),
	       "{\"check\": {\"host\": \"peer\", \"address\": \"10.0.0.1:23\", \"mode\": \"SMCR\", "
	       "\"steps\": [\n"
	       "  {\"step\": \"socket\", \"result\": \"ok\", \"words\": \"there\"},\n"
	       "  {\"step\": \"tcp\", \"result\": \"ok\", \"words\": \"connected\"},\n"
	       "  {\"step\": \"option\", \"result\": \"ok\", \"words\": "
	       "\"both ends have the SMC option\"},\n"
	       "  {\"step\": \"proposal\", \"result\": \"ok\", \"words\": \"sent\"},\n"
	       "  {\"step\": \"accept\", \"result\": \"ok\", \"words\": \"SMC-R\"},\n"
	       "  {\"step\": \"link\", \"result\": \"ok\", \"words\": "
	       "\"rxe0 port 1, link 1, GID g1 to g2\"},\n"
	       "  {\"step\": \"data\", \"result\": \"ok\", \"words\": \"came back\"}\n"
	       "]}}\n");
	check_step(&check, STEP_DATA, FAILED, "did not come back");
	PRINTS("SMC-R without data", check_print(out, &check),
	       "Test with peer, which is 10.0.0.1:23\n"
	       "  socket    ok    there\n"
	       "  tcp       ok    connected\n"
	       "  option    ok    both ends have the SMC option\n"
	       "  proposal  ok    sent\n"
	       "  accept    ok    SMC-R\n"
	       "  link      ok    rxe0 port 1, link 1, GID g1 to g2\n"
	       "  data      FAIL  did not come back\n"
	       "Failed, using SMC-R\n");
}

/* ---- smcat --------------------------------------------------------------------- */

static uint32_t cookies;

static void add_conn(struct tcp_watch *watch, const char *peer, int port, int local_port,
		     uint64_t bytes, uint64_t segments)
{
	struct inet_diag_sockid id = {
		.idiag_sport = htons(local_port), .idiag_dport = htons(port),
		.idiag_cookie = { ++cookies, 7 },
	};
	int family = strchr(peer, ':') ? AF_INET6 : AF_INET;
	struct tcp_conn *c;

	inet_pton(family, peer, id.idiag_dst);
	c = tcp_watch_find(watch, &id);
	c->family = family;
	c->before = (struct tcp_count){ 1000, 1000, 10 };
	c->now = (struct tcp_count){ 1000 + bytes / 4, 1000 + bytes - bytes / 4, 10 + segments };
}

static struct rules rules_for(const char *text)
{
	struct rules rules = { ARRAY_OF(struct network), 65536, 200 };

	if (!parse_network(text, array_add(&rules.networks)))
		yes(text, false);
	return rules;
}

static void test_report(void)
{
	struct rules rules = rules_for("10.0.0.0/8");
	struct tcp_watch watch = { .ports = ARRAY_OF(uint16_t) };
	struct report report;

	*(uint16_t *)array_add(&watch.ports) = htons(80);
	add_conn(&watch, "10.1.1.1", 40000, 80, 1000000, 5);
	add_conn(&watch, "10.1.1.1", 40001, 80, 500, 5);
	add_conn(&watch, "10.2.2.2", 443, 50000, 2000, 1000);
	add_conn(&watch, "fd00::1", 443, 50001, 9000000, 9000);
	watch.seconds = 9.98;
	report_make(&report, &watch, &rules);
	PRINTS("report", report_print(out, &report, &rules, 2),
	       "TCP connections of 10 s            Conns            Bytes\n"
	       "  all                                4 100.0%    10.00M 100.0%\n"
	       "  qualify for SMC                    3  75.0%    1.002M  10.0%\n"
	       "  would profit from it               2  50.0%    1.002M  10.0%\n"
	       "\n"
	       "Peer                        Conns    Bytes  Qualify   Profit  Profit-Bytes\n"
	       "fd00::1                         1   9.000M     0.0%     0.0%          0.0%\n"
	       "10.1.1.1                        2   1.000M   100.0%    50.0%        100.0%\n"
	       "and 1 more\n"
	       "\n"
	       "  Port  Server              Conns    Bytes  Qualify   Profit  Profit-Bytes\n"
	       "   443  the peer                2   9.002M    50.0%    50.0%          0.0%\n"
	       "    80  this host               2   1.000M   100.0%    50.0%        100.0%\n"
	       "\n"
	       "Bytes of a connection, up to\n"
	       "  1K          1  25.0%      500   0.0%  ##########\n"
	       "  8K          1  25.0%   2.000K   0.0%  ##########\n"
	       "  64K         0   0.0%        0   0.0%\n"
	       "  512K        0   0.0%        0   0.0%\n"
	       "  4M          1  25.0%   1.000M  10.0%  ##########\n"
	       "  32M         1  25.0%   9.000M  90.0%  ##########\n"
	       "  more        0   0.0%        0   0.0%\n"
	       "\n"
	       "Qualify: the peer is in a network of this host, or in one given with -n.\n"
	       "Profit: the connection also moved 65.54K bytes, or exchanged 200 segments with data.\n");
	report_free(&report);
	tcp_watch_free(&watch);
	array_free(&rules.networks);
}

static void test_many(void)
{
	struct rules rules = rules_for("0.0.0.0/0");
	struct tcp_watch watch = { };
	struct report report;
	int i;

	for (i = 0; i < 5000; i++)
		add_conn(&watch, "192.168.1.1", 80, 1000 + i, 100, 1);
	yes("each of them once", watch.conns.count == 5000);
	yes("found again", tcp_watch_find(&watch, &((struct tcp_conn *)
	    array_item(&watch.conns, 77))->id) == array_item(&watch.conns, 77));
	report_make(&report, &watch, &rules);
	yes("one peer, one port", report.peers.count == 1 && report.ports.count == 1);
	yes("all qualify, none profits", report.total.qualified.conns == 5000 &&
	    !report.total.profit.conns);
	report_free(&report);
	tcp_watch_free(&watch);
	array_free(&rules.networks);
}

static bool within(const char *peer, const char *network)
{
	struct rules rules = rules_for(network);
	struct tcp_watch watch = { };
	struct report report;
	bool is;

	add_conn(&watch, peer, 80, 81, 1, 1);
	report_make(&report, &watch, &rules);
	is = report.total.qualified.conns;
	report_free(&report);
	tcp_watch_free(&watch);
	array_free(&rules.networks);
	return is;
}

static void test_networks(void)
{
	static const char * const bad[] = { "", "10.0.0.0/33", "10.0.0.0/", "10/8", "fd00::/129",
					    "10.0.0.0/8x", "host", "/8" };
	struct network network;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		yes("no network", !parse_network(bad[i], &network));
	yes("one address", within("10.0.0.1", "10.0.0.1") && !within("10.0.0.2", "10.0.0.1"));
	yes("/20", within("10.0.15.9", "10.0.0.0/20") && !within("10.0.16.9", "10.0.0.0/20"));
	yes("IPv6", within("fd00::9", "fd00::/64") && !within("fd00:0:0:1::9", "fd00::/64"));
	yes("mapped IPv4", within("::ffff:10.0.0.1", "10.0.0.0/8"));
	yes("IPv6 is not in IPv4", !within("fd00::1", "0.0.0.0/0"));
}

int main(void)
{
	test_fallback();
	test_option();
	test_remedies();
	test_success();
	test_report();
	test_many();
	test_networks();
	return test_result();
}
