// SPDX-License-Identifier: GPL-2.0
/*
 * SMC_GEN_NETLINK: every command, the errors for invalid requests, who may
 * change what from where, the effect of EIDs on connections, and 10 000 random
 * messages. EIDs belong to the host, so a case that changes them restores them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "klog.h"
#include "netlink_test.h"

#ifndef SOL_SMC
#define SOL_SMC		286
#endif

/* ---- cases: reading ---- */

/* The module's answer must be the version that modinfo shows. */
static bool is_module_version(const uint8_t *data, size_t len)
{
	char line[64] = "";
	FILE *file = fopen("/sys/module/smc/version", "r");

	if (!file)
		return BAD("no /sys/module/smc/version");
	if (!fgets(line, sizeof(line), file))
		line[0] = 0;
	fclose(file);
	line[strcspn(line, "\n")] = 0;
	return (data && line[0] >= '0' && line[0] <= '9' && len == strlen(line) + 1 &&
		!memcmp(data, line, len)) || BAD("version of the module: '%s'", line);
}

static bool sys_info(void)
{
	char host[65];
	unsigned int v;
	const uint8_t *nest, *data;
	size_t len, n;

	genl_dump(&genl, SMC_NETLINK_GET_SYS_INFO, NULL, &ans);
	if (!done() || ans.count != 1)
		return BAD("%zu messages, error %d", ans.count, ans.error);
	nest = find_attr(ans.msg[0].attrs, ans.msg[0].len, SMC_GEN_SYS_INFO, &len);
	if (!nest)
		return BAD("no SMC_GEN_SYS_INFO");
	if (!has_u8(nest, len, SMC_NLA_SYS_VER, &v) || v != 2)
		return BAD("version");
	if (!has_u8(nest, len, SMC_NLA_SYS_REL, &v) || v != 1)
		return BAD("release");
	if (!has_u8(nest, len, SMC_NLA_SYS_IS_ISM_V2, &v) || v != 1)
		return BAD("ISMv2");
	if (!has_u8(nest, len, SMC_NLA_SYS_IS_SMCR_V2, &v) || v > 1)
		return BAD("SMC-Rv2");
	data = find_attr(nest, len, SMC_NLA_SYS_LOCAL_HOST, &n);
	gethostname(host, sizeof(host));
	host[64] = 0;
	if (!is_padded(data, n, host))
		return BAD("host name");
	data = find_attr(nest, len, SMC_NLA_SYS_MODULE_VERSION, &n);
	if (!is_module_version(data, n))
		return false;
	data = find_attr(nest, len, SMC_NLA_SYS_SEID, &n);
	return (data && n == EID_LEN + 1 && !memcmp(data, "LINUX-SEID-", 11)) || BAD("SEID");
}

static bool seid(void)
{
	char before[EID_LEN + 1];
	unsigned int on;
	const uint8_t *data;
	size_t n;

	if (!seid_enabled(&on) || !on)
		return BAD("the SEID is not enabled initially");
	data = find_attr(ans.msg[0].attrs, ans.msg[0].len, SMC_NLA_SEID_ENTRY, &n);
	if (!data || n != sizeof(before))
		return BAD("the answer has no SEID");
	memcpy(before, data, n);
	for (int i = 0; i < 2; i++)
		if (!do_cmd(SMC_NETLINK_DISABLE_SEID) || !seid_enabled(&on) || on)
			return BAD("the SEID cannot be disabled");
	data = find_attr(ans.msg[0].attrs, ans.msg[0].len, SMC_NLA_SEID_ENTRY, &n);
	if (!data || memcmp(before, data, sizeof(before)))
		return BAD("the SEID has changed");
	for (int i = 0; i < 2; i++)
		if (!do_cmd(SMC_NETLINK_ENABLE_SEID) || !seid_enabled(&on) || !on)
			return BAD("the SEID cannot be enabled");
	return true;
}

/* ---- cases: the table of user EIDs ---- */

static bool ueid_add_remove(void)
{
	const char *two[] = { "TEST.EID-1", "0", NULL }, *one[] = { "0", NULL };

	if (!table_is(no_eids) || !add("TEST.EID-1") || !add("0") || !table_is(two))
		return false;
	do_eid(SMC_NETLINK_ADD_UEID, "0");
	if (!refused(EEXIST, "exists already"))
		return false;
	do_eid(SMC_NETLINK_REMOVE_UEID, "TEST.EID-2");
	if (!refused(ENOENT, "no such user EID"))
		return false;
	do_eid(SMC_NETLINK_REMOVE_UEID, "TEST.EID-1");
	return done() && table_is(one) && do_cmd(SMC_NETLINK_FLUSH_UEID) && table_is(no_eids) &&
	       do_cmd(SMC_NETLINK_FLUSH_UEID);
}

/* The same EID, whether terminated by 0 or not, padded with blanks or not. */
static bool ueid_forms(void)
{
	static const struct { const char *text; size_t len; } forms[] = {
		{ "FORM", 4 }, { "FORM\0", 5 }, { "FORM  ", 6 }, { "FORM\0\0\0\0", 8 },
		{ "FORM                            ", 32 },
		{ "FORM                            \0", 33 },
	};
	const char *one[] = { "FORM", NULL };

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct payload p = { };

		put_attr(&p, SMC_NLA_EID_TABLE_ENTRY, forms[i].text, forms[i].len);
		genl_do(&genl, SMC_NETLINK_ADD_UEID, &p, &ans);
		if (!done() || !table_is(one))
			return false;
		genl_do(&genl, SMC_NETLINK_ADD_UEID, &p, &ans);
		if (!refused(EEXIST, ""))
			return false;
		genl_do(&genl, SMC_NETLINK_REMOVE_UEID, &p, &ans);
		if (!done() || !table_is(no_eids))
			return false;
	}
	return true;
}

static bool ueid_invalid(void)
{
	static const struct {
		const char *text;
		size_t len;
		int error;
		const char *words;
	} bad[] = {
		{ "", 1, EINVAL, "at least" },
		{ "    ", 5, EINVAL, "at least" },
		{ "lower", 6, EINVAL, "A-Z, 0-9" },
		{ "A_B", 4, EINVAL, "A-Z, 0-9" },
		{ "A B", 4, EINVAL, "A-Z, 0-9" },
		{ "A\0B", 4, EINVAL, "A-Z, 0-9" },
		{ "\xc3\x84", 3, EINVAL, "A-Z, 0-9" },
		{ " A", 3, EINVAL, "A-Z, 0-9" },
		{ "-A", 3, EINVAL, "begins with" },
		{ ".A", 3, EINVAL, "begins with" },
		{ "A..B", 5, EINVAL, "two dots" },
		{ "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456", 34, ERANGE, "32 characters" },
	};
	static const uint8_t cmds[] = { SMC_NETLINK_ADD_UEID, SMC_NETLINK_REMOVE_UEID };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		for (size_t j = 0; j < ARRAY_SIZE(cmds); j++) {
			struct payload p = { };

			put_attr(&p, SMC_NLA_EID_TABLE_ENTRY, bad[i].text, bad[i].len);
			genl_do(&genl, cmds[j], &p, &ans);
			if (!refused(bad[i].error, bad[i].words))
				return false;
		}
	return table_is(no_eids);
}

static bool ueid_full(void)
{
	static const char * const all[] = { "E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8", NULL };
	static const char * const less[] = { "E1", "E2", "E4", "E5", "E6", "E7", "E8", "N", NULL };

	for (int i = 0; i < MAX_EIDS; i++)
		if (!add(all[i]))
			return false;
	do_eid(SMC_NETLINK_ADD_UEID, "E9");
	if (!refused(ERANGE, "at most 8") || !table_is(all))
		return false;
	do_eid(SMC_NETLINK_REMOVE_UEID, "E3");
	return done() && add("N") && table_is(less) && do_cmd(SMC_NETLINK_FLUSH_UEID);
}

/* ---- cases: dumps while the table changes ---- */

static void *change(void *arg)
{
	static const char * const eids[] = { "C1", "C2", "C3", "C4", "C5" };
	static struct answer a;
	struct genl g;

	if (!genl_open(&g, SMC_GENL_FAMILY_NAME))
		return NULL;
	for (unsigned int i = 0; !stop_changing; i++) {
		struct payload p = { };

		put_text(&p, SMC_NLA_EID_TABLE_ENTRY, eids[i % ARRAY_SIZE(eids)]);
		genl_do(&g, i % 2 ? SMC_NETLINK_REMOVE_UEID : SMC_NETLINK_ADD_UEID, &p, &a);
	}
	genl_close(&g);
	return NULL;
}

static bool dump_is_sane(void)
{
	for (size_t i = 0; i < ans.count; i++)
		for (size_t j = 0; j <= i; j++) {
			size_t n, m;
			const uint8_t *a = find_attr(ans.msg[i].attrs, ans.msg[i].len,
						     SMC_NLA_EID_TABLE_ENTRY, &n);
			const uint8_t *b = find_attr(ans.msg[j].attrs, ans.msg[j].len,
						     SMC_NLA_EID_TABLE_ENTRY, &m);

			if (!a || n != EID_LEN + 1 || a[0] != 'C')
				return BAD("entry %zu is not an EID", i);
			if (i != j && !memcmp(a, b, n) && !ans.interrupted)
				return BAD("an EID is listed twice in a consistent dump");
		}
	return true;
}

static bool dump_while_changing(void)
{
	pthread_t thread;
	bool ok = true;

	stop_changing = false;
	if (pthread_create(&thread, NULL, change, NULL))
		give_up("cannot start a thread");
	for (int i = 0; ok && i < 2000; i++) {
		genl_dump(&genl, SMC_NETLINK_DUMP_UEID, NULL, &ans);
		ok = done() && dump_is_sane();
	}
	stop_changing = true;
	pthread_join(thread, NULL);
	return ok && do_cmd(SMC_NETLINK_FLUSH_UEID);
}

/* ---- cases: the effect of EIDs on connections ---- */

static bool no_eid_is_tcp(void)
{
	struct link l;
	struct diag c, s;
	bool ok;

	if (!connects_as(SMC_DIAG_MODE_SMCD) || !do_cmd(SMC_NETLINK_DISABLE_SEID))
		return false;
	l = connected();
	ok = is_mode(l, SMC_DIAG_MODE_FALLBACK_TCP) && diag_of(l.client, &c) &&
	     diag_of(l.server, &s);
	if (ok && (s.reason != SMC_REASON_NO_COMMON_EID || c.reason != SMC_REASON_PEER_DECLINED ||
		   c.peer_diagnosis != SMC_REASON_NO_COMMON_EID))
		ok = BAD("server: %s; client: %s: %s", words_of(s.reason), words_of(c.reason),
			 words_of(c.peer_diagnosis));
	disconnected(l);
	return do_cmd(SMC_NETLINK_ENABLE_SEID) && ok && connects_as(SMC_DIAG_MODE_SMCD);
}

static bool ueid_is_smc(void)
{
	struct link l;
	bool ok;

	if (!do_cmd(SMC_NETLINK_DISABLE_SEID) || !add("COMMON") ||
	    !connects_as(SMC_DIAG_MODE_SMCD))
		return false;
	/* what is connected stays connected */
	l = connected();
	ok = is_mode(l, SMC_DIAG_MODE_SMCD);
	do_eid(SMC_NETLINK_REMOVE_UEID, "COMMON");
	ok = ok && done() && is_mode(l, SMC_DIAG_MODE_SMCD) &&
	     connects_as(SMC_DIAG_MODE_FALLBACK_TCP);
	disconnected(l);
	return ok && do_cmd(SMC_NETLINK_ENABLE_SEID);
}

/* ---- cases: the limit on handshakes ---- */

static bool sysctl_is(const char *value)
{
	char text[16] = "";
	int fd = open("/proc/sys/net/smc/limit_smc_hs", O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close(fd);
	return (n > 0 && !strncmp(text, value, 1)) || BAD("the sysctl is '%s'", text);
}

static bool limit_and_sysctl(void)
{
	unsigned int on;

	return limited(&genl, &on) && !on && sysctl_is("0") &&
	       do_cmd(SMC_NETLINK_ENABLE_HS_LIMITATION) && sysctl_is("1") &&
	       limited(&genl, &on) && on && do_cmd(SMC_NETLINK_DISABLE_HS_LIMITATION) &&
	       sysctl_is("0");
}

static bool pending(unsigned int *n, unsigned int *threshold)
{
	unsigned int on;

	return limited(&genl, &on) &&
	       has_u32(ans.msg[0].attrs, ans.msg[0].len, SMC_NLA_HS_LIMITATION_PENDING, n) &&
	       has_u32(ans.msg[0].attrs, ans.msg[0].len, SMC_NLA_HS_LIMITATION_THRESHOLD,
		       threshold);
}

static bool drained(void)
{
	unsigned int n, threshold;

	for (int i = 0; i < slow(2000); i++) {
		if (!pending(&n, &threshold))
			return false;
		if (!n)
			return true;
		usleep(5000);
	}
	return BAD("%u handshakes have not ended", n);
}

/* While handshakes are congested: one client sets SMC_LIMIT_HS. */
static bool option_limits(void)
{
	int port, lfd = victim_listen(&port), fd = socket(43 /* AF_SMC */, SOCK_STREAM, 0);
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int on = 1, value = 0;
	socklen_t len = sizeof(value);
	struct diag d = { };
	bool ok;

	if (setsockopt(fd, SOL_SMC, SMC_LIMIT_HS, &on, sizeof(on)) ||
	    getsockopt(fd, SOL_SMC, SMC_LIMIT_HS, &value, &len) || len != sizeof(value) ||
	    value != 1 || !setsockopt(fd, SOL_SMC, SMC_LIMIT_HS, &on, 1))
		give_up("SMC_LIMIT_HS: %s", strerror(errno));
	ok = !connect(fd, (struct sockaddr *)&to, sizeof(to)) && diag_of(fd, &d) &&
	     d.mode == SMC_DIAG_MODE_FALLBACK_TCP && d.reason == SMC_REASON_CONGESTED;
	close(fd);
	close(lfd);
	return ok || BAD("mode %u, %s", d.mode, words_of(d.reason));
}

/* Clients that connect and then stay silent, one more than the limit. */
static bool congestion(void)
{
	unsigned int n, threshold;
	int raw[4096], victim[4096], port, lfd, count;
	struct diag d = { };
	struct link l;
	bool ok;

	if (!drained() || !pending(&n, &threshold))
		return false;
	lfd = victim_listen(&port);
	count = threshold + 1;
	for (int i = 0; i < count; i++) {
		raw[i] = raw_connect(port);
		victim[i] = accept_in_time(lfd);
	}
	ok = pending(&n, &threshold) && (n == threshold + 1 || BAD("%u pending", n));
	/* without the limit nothing changes */
	ok = ok && connects_as(SMC_DIAG_MODE_SMCD) && do_cmd(SMC_NETLINK_ENABLE_HS_LIMITATION);
	l = connected();
	ok = ok && is_mode(l, SMC_DIAG_MODE_FALLBACK_TCP) && diag_of(l.client, &d) &&
	     (d.reason == SMC_REASON_CONGESTED || BAD("%s", words_of(d.reason)));
	disconnected(l);
	/* one socket can request the limit for itself */
	ok = ok && do_cmd(SMC_NETLINK_DISABLE_HS_LIMITATION) && connects_as(SMC_DIAG_MODE_SMCD) &&
	     option_limits();
	for (int i = 0; i < count; i++) {
		close(raw[i]);
		close(victim[i]);
	}
	close(lfd);
	return ok && drained() && connects_as(SMC_DIAG_MODE_SMCD) &&
	       do_cmd(SMC_NETLINK_DISABLE_HS_LIMITATION);
}

/* ---- all cases ---- */

static const struct {
	const char *name;
	bool (*run)(void);
	enum { NOTHING, TEST_BUILD, TRACING } needs;
} cases[] = {
	{ "sys_info", sys_info, NOTHING },
	{ "seid", seid, NOTHING },
	{ "ueid_add_remove", ueid_add_remove, NOTHING },
	{ "ueid_forms", ueid_forms, NOTHING },
	{ "ueid_invalid", ueid_invalid, NOTHING },
	{ "ueid_full", ueid_full, NOTHING },
	{ "dump_while_changing", dump_while_changing, NOTHING },
	{ "no_eid_is_tcp", no_eid_is_tcp, NOTHING },
	{ "ueid_is_smc", ueid_is_smc, NOTHING },
	{ "group_smcd", group_smcd, NOTHING },
	{ "device_smcd", device_smcd, NOTHING },
	{ "without_rdma", without_rdma, NOTHING },
	{ "stats_of_data", stats_of_data, NOTHING },
	{ "stats_of_buffers", stats_of_buffers, NOTHING },
	{ "stats_of_fallbacks", stats_of_fallbacks, NOTHING },
	{ "stats_of_errors", stats_of_errors, TEST_BUILD },
	{ "stats_of_namespace", stats_of_namespace, NOTHING },
	{ "stats_while_changing", stats_while_changing, NOTHING },
	{ "pnet_table", pnet_table, NOTHING },
	{ "pnet_wrong", pnet_wrong, NOTHING },
	{ "pnet_while_changing", pnet_while_changing, NOTHING },
	{ "sysctl_namespace", sysctl_namespace, NOTHING },
	{ "sysctl_autocorking", sysctl_autocorking, NOTHING },
	{ "trace_formats", trace_formats, TRACING },
	{ "trace_events", trace_events, TRACING },
	{ "reasons_of_tcp", reasons_of_tcp, NOTHING },
	{ "limit_and_sysctl", limit_and_sysctl, NOTHING },
	{ "congestion", congestion, TEST_BUILD },
	{ "fuzz", fuzz, NOTHING },
};

static void run_case(size_t i)
{
	char bug[512];
	bool ok;
	int n;

	if (cases[i].needs == TEST_BUILD && !raw_available()) {
		ksft_test_result_skip("%s no test build of smc.ko is loaded\n", cases[i].name);
		return;
	}
	if (cases[i].needs == TRACING && !trace_available()) {
		ksft_test_result_skip("%s this kernel has no tracing\n", cases[i].name);
		return;
	}
	why[0] = 0;
	ok = cases[i].run();
	n = klog_check(bug, sizeof(bug));
	if (n) {
		ksft_print_msg("kernel log: %d bad lines, first: %s\n", n, bug);
		ok = false;
	}
	if (!ok && why[0])
		ksft_print_msg("%s: %s\n", cases[i].name, why);
	ksft_test_result(ok, "%s\n", cases[i].name);
	fflush(stdout);
	if (!back_to_default())
		ksft_print_msg("cannot restore the configuration: %s\n", why);
}

int main(int argc, char **argv)
{
	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("needs root\n");
	if (!genl_open(&genl, SMC_GENL_FAMILY_NAME))
		ksft_exit_fail_msg("no generic netlink family " SMC_GENL_FAMILY_NAME "\n");
	if (!genl_open(&pnet, SMCR_GENL_FAMILY_NAME))
		ksft_exit_fail_msg("no generic netlink family " SMCR_GENL_FAMILY_NAME "\n");
	ksft_set_plan(argc > 1 ? argc - 1 : (int)ARRAY_SIZE(cases));
	klog_open();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool wanted = argc == 1;

		for (int j = 1; j < argc; j++)
			wanted |= !strcmp(argv[j], cases[i].name);
		if (wanted)
			run_case(i);
	}
	ksft_finished();
}
