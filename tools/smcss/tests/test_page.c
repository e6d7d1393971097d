// SPDX-License-Identifier: GPL-2.0
/*
 * Unit test of exported data: the page of smcr report --html, the text for Prometheus, the lines of
 * smcr monitor. With an argument, "page" or "prometheus", it prints an example instead.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>

#include <linux/smc_diag.h>
#include <linux/smc_reason.h>

#include "monitor.h"
#include "process.h"
#include "report.h"
#include "tap.h"

/* ---- a busy host ---------------------------------------------------------------- */

static struct record *add_record(struct report *r, uint8_t mode, int number)
{
	struct record *record;
	char text[32];

	r->records.list = realloc(r->records.list, (r->records.count + 1) * sizeof(*record));
	record = &r->records.list[r->records.count++];
	memset(record, 0, sizeof(*record));
	record->msg.diag_family = AF_INET;
	record->msg.diag_state = number % 7 == 6 ? SMC_DIAG_STATE_APPLCLW1 : SMC_DIAG_STATE_ACTIVE;
	record->msg.diag_mode = mode;
	record->msg.diag_inode = 5000 + r->records.count;
	inet_pton(AF_INET, "10.0.0.1", record->msg.id.idiag_src);
	snprintf(text, sizeof(text), "10.0.0.%d", 2 + mode);
	inet_pton(AF_INET, text, record->msg.id.idiag_dst);
	record->msg.id.idiag_sport = htons(443);
	record->msg.id.idiag_dport = htons(40000 + number);
	return record;
}

static void add_smcr(struct report *r, uint32_t group, uint8_t link, int count)
{
	while (count--) {
		struct record *record = add_record(r, SMC_DIAG_MODE_SMCR, count);

		record->has |= record_bit(SMC_DIAG_LGRINFO) | record_bit(SMC_DIAG_LGRID);
		record->lgr_id = group;
		record->lgr.lnk[0].link_id = link;
		strcpy((char *)record->lgr.lnk[0].ibname, link == 1 ? "mlx5_0" : "mlx5_1");
	}
}

static void add_smcd(struct report *r, uint32_t group, int count)
{
	while (count--) {
		struct record *record = add_record(r, SMC_DIAG_MODE_SMCD, count);

		record->has |= record_bit(SMC_DIAG_DMBINFO);
		record->dmb.linkid = group;
	}
}

static void add_tcp(struct report *r, int count)
{
	while (count--) {
		struct record *record = add_record(r, SMC_DIAG_MODE_FALLBACK_TCP, count);

		record->has |= record_bit(SMC_DIAG_FALLBACK);
		record->fallback.reason = SMC_REASON_PEER_NO_OPTION;
	}
}

static void add_link(struct report *r, uint32_t group, uint8_t id, const char *dev, uint32_t state)
{
	struct link *link = array_add(&r->now.links);

	*link = (struct link){ .group = group, .id = id, .port = 1, .ifindex = 1, .state = state };
	strcpy(link->dev, dev);
	snprintf(link->peer_gid, sizeof(link->peer_gid),
		 "fe80:0000:0000:0000:0202:03ff:fe04:05%02x", id);
}

static struct linkgroup *add_group(struct report *r, enum smc_kind kind, uint32_t id,
				   const char *peer, uint32_t conns)
{
	struct linkgroup *group = array_add(&r->now.groups[kind]);

	group->id = id;
	group->conns = conns;
	group->has_v2 = true;
	group->version = 2;
	group->release = 1;
	group->os = 2;
	group->type = 1;
	strcpy(group->peer_host, peer);
	strcpy(group->eid, "DATACENTER-WEST");
	return group;
}

static void add_fallback(struct report *r, uint32_t reason, uint64_t count)
{
	int kind;

	for (kind = 0; kind < 2; kind++) {
		struct fallback_count *f = array_add(&r->now.of[kind].fallbacks);

		*f = (struct fallback_count){ .reason = reason, .count = count };
	}
}

static void fill_exported(struct exported *e)
{
	int kind;

	memset(e, 0, sizeof(*e));
	e->links = (struct array)ARRAY_OF(struct link);
	for (kind = 0; kind < 2; kind++) {
		stats_init(&e->of[kind]);
		e->groups[kind] = (struct array)ARRAY_OF(struct linkgroup);
	}
}

static void add_counters(struct report *r)
{
	struct counters *c = &r->now.of[SMC_R].counters, *d = &r->now.of[SMC_D].counters;

	*c = (struct counters){
		.tx = { .bytes = 9200000000, .count = 4400000,
			.requests = { 3000000, 600000, 300000, 250000, 120000, 80000, 30000, 15000, 5000 },
			.rmb = { .full = 1200, .allocated = 20, .reused = 300 } },
		.rx = { .bytes = 1300000000, .count = 2100000, .requests = { 1900000, 120000, 80000 } },
		.client_v2 = 300, .server_v2 = 1200, .links_up = 5, .links_down = 1,
	};
	*d = (struct counters){
		.tx = { .bytes = 2500000000, .count = 800000, .requests = { 500000, 300000 } },
		.rx = { .bytes = 2500000000, .count = 760000, .requests = { 460000, 300000 } },
		.client_v2 = 99, .server_v2 = 99, .client_paired = 90, .server_paired = 90,
	};
	r->now.of[SMC_R].has_links = r->now.of[SMC_R].has_moves = r->now.of[SMC_D].has_pairs = true;
	r->before.of[SMC_R].counters.tx.bytes = c->tx.bytes - 480000000;
	r->before.of[SMC_R].counters.rx.bytes = c->rx.bytes - 61000000;
	r->before.of[SMC_D].counters.tx.bytes = d->tx.bytes - 130000000;
	r->before.of[SMC_D].counters.rx.bytes = d->rx.bytes - 130000000;
	r->before.of[SMC_R].counters.tx.count = c->tx.count - 52000;
	r->before.of[SMC_R].counters.rx.count = c->rx.count - 41000;
	r->before.of[SMC_D].counters.tx.count = d->tx.count - 9000;
	r->before.of[SMC_D].counters.rx.count = d->rx.count - 9100;
}

static void fill(struct report *r, bool busy)
{
	struct device *device;

	report_init(r);
	fill_exported(&r->before);
	fill_exported(&r->now);
	strcpy(r->host, "web-<1>");
	strcpy(r->kernel, "6.12.117 x86_64");
	strcpy(r->system, "Debian GNU/Linux 12 (bookworm)");
	strcpy(r->module, "0.9.0, source 0123");
	r->time = 1795000000;
	r->seconds = 1;
	if (!busy)
		return;
	r->now.info = (struct sysinfo){
		.version = 2, .release = 1, .has_memory = true, .memory_used = 170000000,
		.memory_max = 1073741824, .has_hs_pending = true, .hs_pending = 2,
		.rdma_devices = 2, .loopback = true,
	};
	add_group(r, SMC_R, 0x2a, "db-1.example", 23)->type = 2;
	add_link(r, 0x2a, 1, "mlx5_0", 3);
	add_link(r, 0x2a, 2, "mlx5_1", 3);
	add_group(r, SMC_R, 0x2b, "cache\"&<b>", 60)->role = 1;
	add_link(r, 0x2b, 1, "mlx5_0", 3);
	add_link(r, 0x2b, 2, "mlx5_1", 4);
	add_group(r, SMC_D, 1, "", 8)->chid = 0xffff;
	add_smcr(r, 0x2a, 1, 12);
	add_smcr(r, 0x2a, 2, 11);
	add_smcr(r, 0x2b, 1, 60);
	add_smcd(r, 1, 8);
	add_tcp(r, 5);
	add_fallback(r, SMC_REASON_PEER_NO_OPTION, 7400);
	add_fallback(r, SMC_REASON_NO_COMMON_EID, 900);
	add_fallback(r, SMC_REASON_NO_DEVICE, 35);
	add_counters(r);
	device = array_add(&r->devices[SMC_R]);
	strcpy(device->name, "mlx5_0");
	device->ports[0] = (struct port){ .present = true, .valid = true, .ifindex = 1, .state = 1, .links = 2 };
	*(struct process *)array_add(&r->processes) =
		(struct process){ .inode = 5001, .pid = 812, .fd = 9, .name = "nginx" };
}

static char *page_of(bool busy)
{
	struct report report;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fill(&report, busy);
	report_html(out, &report, "report & <text>\n");
	fclose(out);
	report_free(&report);
	return text;
}

static char *metrics_of(bool busy)
{
	struct report report;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fill(&report, busy);
	exported_print(out, &report.now);
	fclose(out);
	report_free(&report);
	return text;
}

/* ---- the page ------------------------------------------------------------------ */

static size_t times(const char *text, const char *what)
{
	size_t count = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		count++;
	}
	return count;
}

/* Are all elements closed, in order? "line", "meta" and "circle" have no end tag. */
static bool well_formed(const char *text)
{
	char open[64][16];
	int depth = 0;

	while ((text = strchr(text, '<'))) {
		const char *end = strchr(text, '>');
		bool closes = text[1] == '/';
		const char *name = text + 1 + closes;
		size_t len = strcspn(name, " />\n");

		text = end;
		if (!end || *name == '!' || !strncmp(name, "meta", 4) || end[-1] == '/')
			continue;
		if (len > 15 || (!closes && depth == 64))
			return false;
		if (!closes)
			snprintf(open[depth++], sizeof(open[0]), "%.*s", (int)len, name);
		else if (!depth || strncmp(open[--depth], name, len) || open[depth][len])
			return false;
	}
	return !depth;
}

static void test_page(void)
{
	char *text = page_of(true);

	yes("page is well-formed", well_formed(text));
	yes("page runs no script", !strstr(text, "<script") && !strstr(text, "javascript:"));
	yes("page needs nothing from elsewhere", !strstr(text, "http") && !strstr(text, "url(") &&
	    !strstr(text, "src=") && !strstr(text, "href=") && !strstr(text, "@import"));
	yes("names are escaped", strstr(text, "cache&quot;&amp;&lt;b&gt;") &&
	    strstr(text, "web-&lt;1&gt;") && !strstr(text, "cache\"") && !strstr(text, "web-<"));
	yes("a wire for each link, the loopback and TCP", times(text, "<svg") == 6);
	yes("a bead for each connection, up to 48", times(text, "<circle") == 12 + 11 + 48 + 8 + 5);
	yes("who has it", strstr(text, "ACTIVE nginx (812)") != NULL);
	yes("a link that is not active is dashed", times(text, "wire off") == 2);
	yes("the full bar", strstr(text, "look at: the peer</span><div class=\"bar t\"><span class=\"track\">"
				   "<span class=\"fill\" style=\"width:100.0%\">") != NULL);
	free(text);
	text = page_of(false);
	yes("page of an idle host", well_formed(text) && strstr(text, "There is no link group now.") &&
	    !strstr(text, "nan") && !strstr(text, "inf%"));
	free(text);
}

/* ---- Prometheus ---------------------------------------------------------------- */

static void test_metrics(void)
{
	char *text = metrics_of(true);

	yes("a counter", strstr(text, "# TYPE smc_bytes_total counter\n"
				"smc_bytes_total{mode=\"smcd\",direction=\"tx\"} 2500000000\n") != NULL);
	yes("reasons", strstr(text, "smc_fallbacks_total{role=\"client\",reason=\"PEER_NO_OPTION\","
			      "code=\"0x5c040001\"} 7400\n") != NULL);
	yes("a histogram adds up",
	    strstr(text, "smc_call_bytes_bucket{mode=\"smcr\",direction=\"rx\",le=\"8192\"} 1900000\n"
		   "smc_call_bytes_bucket{mode=\"smcr\",direction=\"rx\",le=\"16384\"} 2020000\n") &&
	    strstr(text, "smc_call_bytes_bucket{mode=\"smcr\",direction=\"rx\",le=\"+Inf\"} 2100000\n"
		   "smc_call_bytes_sum{mode=\"smcr\",direction=\"rx\"} 1300000000\n"
		   "smc_call_bytes_count{mode=\"smcr\",direction=\"rx\"} 2100000\n"));
	free(text);
}

/* ---- events -------------------------------------------------------------------- */

static void test_events(void)
{
	struct event e = {
		.type = SMC_EVENT_LINK_DOWN, .time = 1795000000123456789, .role = 1, .has_lgr = true,
		.lgr = 0x2a, .tech = SMC_DIAG_MODE_SMCR, .conns = 1, .dev = "mlx5_0",
		.has_lgr_type = true, .lgr_type = 1, .link = 2, .port = 1,
	};

	setenv("TZ", "UTC", 1);
	PRINTS("a link", event_print(out, &e),
	       "2026-11-18 11:06:40.123456 link 0000002a/2 down SERV SINGLE mlx5_0 port 1, 1 connection\n");
	PRINTS("a link as JSON", event_json(out, &e),
	       "{\"event\": \"link_down\", \"time\": \"2026-11-18T11:06:40.123456789Z\", "
	       "\"role\": \"server\", \"linkgroup\": \"0x0000002a\", \"mode\": \"SMCR\", "
	       "\"type\": \"SINGLE\", \"connections\": 1, \"device\": \"mlx5_0\", \"link\": 2, "
	       "\"port\": 1}\n");
	e = (struct event){
		.type = SMC_EVENT_FALLBACK, .time = 1795000000123456789,
		.local = { 4, { 10, 0, 0, 1 } }, .local_port = 40000,
		.remote = { 4, { 10, 0, 0, 2 } }, .remote_port = 80,
		.reason = SMC_REASON_PEER_DECLINED, .diagnosis = SMC_REASON_NO_COMMON_EID,
	};
	PRINTS("a fallback", event_print(out, &e),
	       "2026-11-18 11:06:40.123456 fallback client 10.0.0.1:40000 -> 10.0.0.2:80: "
	       "the peer declined: the two hosts have no enterprise ID (EID) in common (0x5c050002), "
	       "look at: the peer\n");
	e = (struct event){ .time = 1795000000123456789 };
	PRINTS("lost ones", event_json(out, &e),
	       "{\"event\": \"lost\", \"time\": \"2026-11-18T11:06:40.123456789Z\"}\n");
}

static void test_system(void)
{
	static const struct {
		const char *line, *name;
	} cases[] = {
		{ "PRETTY_NAME=\"Debian 12\"\n", "Debian 12" },
		{ "PRETTY_NAME='Alpine Linux'\n", "Alpine Linux" },
		{ "PRETTY_NAME=Alpine\n", "Alpine" },
		{ "PRETTY_NAME=\n", "" },
		{ "NAME=\"Debian\"\n", "before" },
	};
	char name[64];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strcpy(name, "before");
		report_take_system(cases[i].line, name, sizeof(name));
		same("name of the system", name, cases[i].name);
	}
}

static void test_boot_options(void)
{
	char line[] = "root=/dev/sda1 smc.loopback=0 netroot=iscsi:user:secret@host lockdown=integrity "
		      "module.sig_enforce modprobe.blacklist=smc sysctl.net.smc.enable=0 ipv6.disable=1 "
		      "sysctl.net.ipv4.tcp_fastopen_key=secret quiet\n";

	PRINTS("boot options", report_boot_options(out, line),
	       "boot:   smc.loopback=0 lockdown=integrity module.sig_enforce modprobe.blacklist=smc "
	       "sysctl.net.smc.enable=0 ipv6.disable=1\n");
}

int main(int argc, char **argv)
{
	char *text;

	if (argc > 1) {
		text = (!strcmp(argv[1], "page") ? page_of : metrics_of)(true);
		fputs(text, stdout);
		free(text);
		return 0;
	}
	test_page();
	test_metrics();
	test_events();
	test_system();
	test_boot_options();
	return test_result();
}
