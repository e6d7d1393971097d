// SPDX-License-Identifier: GPL-2.0
/*
 * Unit test of the output of smcss, with made-up sockets. The expected texts are written by hand.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/smc_reason.h>

#include "json_writer.h"
#include "listing.h"
#include "process.h"
#include "smc_socket.h"
#include "socket_filter.h"
#include "tap.h"

static struct record record(uint8_t state, uint8_t mode, const char *local, int lport,
			    const char *peer, int pport)
{
	struct record r = { };

	r.msg.diag_family = strchr(local, ':') ? AF_INET6 : AF_INET;
	r.msg.diag_state = state;
	r.msg.diag_mode = mode;
	inet_pton(r.msg.diag_family, local, r.msg.id.idiag_src);
	r.msg.id.idiag_sport = htons(lport);
	inet_pton(r.msg.diag_family, peer, r.msg.id.idiag_dst);
	r.msg.id.idiag_dport = htons(pport);
	r.msg.diag_inode = 1000 + lport;
	return r;
}

static struct record fallback(struct record r, uint32_t reason, uint32_t diagnosis)
{
	r.fallback.reason = reason;
	r.fallback.peer_diagnosis = diagnosis;
	r.has |= 1u << SMC_DIAG_FALLBACK;
	return r;
}

static struct records sample(struct record list[4])
{
	list[0] = record(SMC_DIAG_STATE_LISTEN, SMC_DIAG_MODE_SMCR, "0.0.0.0", 80, "0.0.0.0", 0);
	list[1] = record(SMC_DIAG_STATE_ACTIVE, SMC_DIAG_MODE_SMCD,
			 "127.0.0.1", 80, "127.0.0.1", 40000);
	list[2] = fallback(record(SMC_DIAG_STATE_ACTIVE, SMC_DIAG_MODE_FALLBACK_TCP,
				  "fd00::1", 81, "fd00::2", 40001),
			   SMC_REASON_PEER_NO_OPTION, 0);
	list[3] = fallback(record(SMC_DIAG_STATE_ACTIVE, SMC_DIAG_MODE_FALLBACK_TCP,
				  "10.0.0.1", 82, "10.0.0.2", 40002),
			   SMC_REASON_PEER_DECLINED, SMC_REASON_NO_DEVICE);
	list[1].dmb.my_gid = 0x1122334455667788;
	list[1].dmb.token = 1;
	list[1].dmb.peer_gid = 2;
	list[1].dmb.peer_token = 3;
	list[1].dmb.linkid = 0x100;
	list[1].has |= 1u << SMC_DIAG_DMBINFO;
	return (struct records){ .list = list, .count = 4 };
}

static void test_table(void)
{
	struct record list[4];
	struct records records = sample(list);
	struct columns columns = { };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	print_table(out, &records, &columns);
	fclose(out);
	same("table", text,
"State  UID   Inode   Local Address Peer Address    Intf Mode Reason\n"
"LISTEN 00000 0001080 *:80                          0000 -\n"
"ACTIVE 00000 0001080 127.0.0.1:80  127.0.0.1:40000 0000 SMCD\n"
"ACTIVE 00000 0001081 [fd00::1]:81  [fd00::2]:40001 0000 TCP  the peer did not answer the SMC option of the TCP handshake\n"
"ACTIVE 00000 0001082 10.0.0.1:82   10.0.0.2:40002  0000 TCP  the peer declined: no SMC device can serve this connection\n");
	free(text);

	records.count = 0;
	out = open_memstream(&text, &size);
	print_table(out, &records, &columns);
	fclose(out);
	same("empty table", text, "State UID Inode Local Address Peer Address Intf Mode\n");
	free(text);
}

static void test_details(void)
{
	struct record list[4];
	struct records records = sample(list);
	struct columns columns = { .debug = true, .smcd = true };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	records.list++;
	records.count = 1;
	list[1].has |= 1u << SMC_DIAG_CONNINFO | 1u << SMC_DIAG_SHUTDOWN;
	list[1].shutdown = 2;
	list[1].conn.token = 0xabcd;
	list[1].conn.sndbuf_size = 65536;
	list[1].conn.rmbe_size = 131072;
	list[1].conn.peer_rmbe_size = 16384;
	list[1].conn.rx_prod.wrap = 1;
	list[1].conn.rx_prod.count = 0x20;
	list[1].conn.tx_conn_state_flags = 0x40;
	print_table(out, &records, &columns);
	fclose(out);
	same("details", text,
"State  UID   Inode   Local Address Peer Address    Intf Mode "
"Shutd Token    Sndbuf Rcvbuf Peerbuf rxprod-Cursor rxcons-Cursor rxFlags "
"txprod-Cursor txcons-Cursor txFlags txprep-Cursor txsent-Cursor txfin-Cursor  "
"GID              Token            Peer-GID         Peer-Token       Linkid\n"
"ACTIVE 00000 0001080 127.0.0.1:80  127.0.0.1:40000 0000 SMCD "
"<W    0000abcd 65536  131072 16384   0001:00000020 0000:00000000 00:00   "
"0000:00000000 0000:00000000 00:40   0000:00000000 0000:00000000 0000:00000000 "
"1122334455667788 0000000000000001 0000000000000002 0000000000000003 00000100\n");
	free(text);
}

static void test_json(void)
{
	struct record list[4];
	struct records records = sample(list);
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	records.count = 3;
	print_json(out, &records, NULL);
	fclose(out);
	same("json", text,
"{\"sockets\": [\n"
"  {\"state\": \"LISTEN\", \"uid\": 0, \"inode\": 1080, "
"\"local\": {\"address\": \"0.0.0.0\", \"port\": 80}, \"interface\": 0, "
"\"shutdown\": {\"receive\": false, \"send\": false}},\n"
"  {\"state\": \"ACTIVE\", \"uid\": 0, \"inode\": 1080, "
"\"local\": {\"address\": \"127.0.0.1\", \"port\": 80}, "
"\"peer\": {\"address\": \"127.0.0.1\", \"port\": 40000}, \"interface\": 0, \"mode\": \"SMCD\", "
"\"shutdown\": {\"receive\": false, \"send\": false}, "
"\"smcd\": {\"linkgroup\": \"0x00000100\", \"gid\": \"0x1122334455667788\", "
"\"peer_gid\": \"0x0000000000000002\", \"token\": \"0x0000000000000001\", "
"\"peer_token\": \"0x0000000000000003\"}},\n"
"  {\"state\": \"ACTIVE\", \"uid\": 0, \"inode\": 1081, "
"\"local\": {\"address\": \"fd00::1\", \"port\": 81}, "
"\"peer\": {\"address\": \"fd00::2\", \"port\": 40001}, \"interface\": 0, \"mode\": \"TCP\", "
"\"shutdown\": {\"receive\": false, \"send\": false}, "
"\"fallback\": {\"reason\": {\"code\": \"0x5c040001\", \"name\": \"PEER_NO_OPTION\", "
"\"words\": \"the peer did not answer the SMC option of the TCP handshake\", "
"\"remedy\": \"run the peer's program over SMC too (smc_run), and check that nothing in between strips TCP options\"}, "
"\"side\": \"the peer\"}}\n"
"]}\n");
	free(text);
}

/* GIDs and device names may fill their field without a NUL; odd bytes must not break the JSON. */
static void test_json_text(void)
{
	struct record list[4];
	struct records records = sample(list);
	struct smc_diag_linkinfo *link = &list[0].lgr.lnk[0];
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	records.count = 1;
	list[0].has |= 1u << SMC_DIAG_LGRINFO;
	memset(link->gid, 'a', sizeof(link->gid));
	memset(link->peer_gid, 0, sizeof(link->peer_gid));
	strcpy((char *)link->ibname, "a\"b\\c\n\xff");
	list[0].has |= record_bit(SMC_DIAG_LGRID);
	list[0].lgr_id = 0x2a;
	print_json(out, &records, NULL);
	fclose(out);
	yes("json link group",
	    strstr(text, "\"smcr\": {\"linkgroup\": \"0x0000002a\", \"role\"") != NULL);
	yes("json quotes", strstr(text, "\"device\": \"a\\\"b\\\\c\\u000a\\u00ff\"") != NULL);
	yes("json field without end",
	    strstr(text, "\"gid\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"") != NULL);
	free(text);
}

/* Text is unchanged except for controls, and bytes that are not UTF-8. */
static void test_utf8(void)
{
	static const struct {
		const char *what, *text, *wanted;
	} cases[] = {
		{ "two bytes", "m\xc3\xbcller", "m\xc3\xbcller" },
		{ "three and four bytes", "\xe2\x82\xac\xf0\x9f\x90\xa7", "\xe2\x82\xac\xf0\x9f\x90\xa7" },
		{ "delete and a control", "\x7f\xc2\x9b", "\\u007f\\u009b" },
		{ "a lead and a continuation alone", "\xc3 \xbc", "\\u00c3 \\u00bc" },
		{ "too long a form", "\xc0\xaf\xe0\x80\xaf", "\\u00c0\\u00af\\u00e0\\u0080\\u00af" },
		{ "half of a pair", "\xed\xa0\x80", "\\u00ed\\u00a0\\u0080" },
		{ "beyond the end", "\xf4\x90\x80\x80", "\\u00f4\\u0090\\u0080\\u0080" },
		{ "a character cut off", "x\xe2\x82", "x\\u00e2\\u0082" },
	};
	char wanted[64], *text;
	struct json json;
	size_t size, i;
	FILE *out;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		out = open_memstream(&text, &size);
		json_begin(&json, out);
		json_text(&json, "t", cases[i].text);
		json_end(&json);
		fclose(out);
		snprintf(wanted, sizeof(wanted), "{\"t\": \"%s\"}\n", cases[i].wanted);
		yes(cases[i].what, !strcmp(text, wanted));
		free(text);
	}
}

static int why(const char *where, char **text)
{
	struct record list[4];
	struct records records = sample(list);
	struct endpoint endpoint = { };
	size_t size;
	FILE *out = open_memstream(text, &size);
	int result;

	if (where)
		yes(where, parse_endpoint(where, &endpoint));
	result = print_why(out, &records, &endpoint, false);
	fclose(out);
	return result;
}

static void test_why(void)
{
	char *text;

	yes("why: some are TCP", why(NULL, &text) == WHY_SOME_TCP);
	same("why", text,
"1 connection uses SMC.\n"
"1 connection is TCP:\n"
"    [fd00::1]:81 -> [fd00::2]:40001 (inode 1081, uid 0)\n"
"  reason: the peer did not answer the SMC option of the TCP handshake (0x5c040001)\n"
"  side:   the peer\n"
"  remedy: run the peer's program over SMC too (smc_run), and check that nothing in between strips TCP options\n"
"1 connection is TCP:\n"
"    10.0.0.1:82 -> 10.0.0.2:40002 (inode 1082, uid 0)\n"
"  reason: the peer declined: no SMC device can serve this connection (0x03030000)\n"
"  side:   the peer\n"
"  remedy: on the peer: list the devices with 'smcd device' and 'smcr device'; an RDMA device must belong to the interface the route uses (PNETID)\n");
	free(text);
	yes("why: all are SMC", why("127.0.0.1", &text) == WHY_ALL_SMC);
	same("why: smc", text, "1 connection uses SMC.\n");
	free(text);
	yes("why: one TCP", why("[fd00::2]:40001", &text) == WHY_SOME_TCP);
	free(text);
	yes("why: no such", why(":9", &text) == WHY_NONE);
	free(text);
}

/* The socket of a connection that was reset, beside one that uses SMC */
static void test_why_closed(void)
{
	struct record list[2] = {
		record(SMC_DIAG_STATE_ACTIVE, SMC_DIAG_MODE_SMCD, "10.0.0.1", 80, "10.0.0.2", 81),
		record(SMC_DIAG_STATE_CLOSED, SMC_DIAG_MODE_SMCD, "10.0.0.1", 80, "10.0.0.2", 82),
	};
	struct records records = { .list = list, .count = 2 };
	struct endpoint any = { };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	yes("why: one has ended", print_why(out, &records, &any, false) == WHY_ALL_SMC);
	fclose(out);
	same("why: ended", text, "1 connection uses SMC.\n");
	free(text);

	records = (struct records){ .list = list + 1, .count = 1 };
	out = open_memstream(&text, &size);
	yes("why: all have ended", print_why(out, &records, &any, false) == WHY_NONE);
	fclose(out);
	free(text);
}

static void test_endpoint(void)
{
	static const char * const bad[] = {
		"", "[", "[::1", "[::1]80", "1.2.3", "1.2.3.4:", "1.2.3.4:0", "1.2.3.4:65536",
		":", "*", "host:80", "1.2.3.4:80x", "[::1]:", "::1:::2",
		"111111111111111111111111111111111111111111111111111111111111111111111",
	};
	struct record mapped = record(SMC_DIAG_STATE_ACTIVE, SMC_DIAG_MODE_SMCD,
				      "::ffff:10.1.2.3", 80, "::ffff:10.1.2.4", 81);
	struct endpoint e;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		yes(bad[i], !parse_endpoint(bad[i], &e));
	yes("port only", parse_endpoint(":80", &e) && !e.family && e.port == 80);
	yes("any address", parse_endpoint("*:80", &e) && !e.family && e.port == 80);
	yes("IPv6 without port", parse_endpoint("fd00::80", &e) && e.family == AF_INET6 && !e.port);
	yes("IPv4 finds mapped",
	    parse_endpoint("10.1.2.4:81", &e) && matches_endpoint(&mapped, &e));
	yes("port of the other end", parse_endpoint("10.1.2.4:80", &e) &&
	    !matches_endpoint(&mapped, &e));
}

static void test_sizes(void)
{
	yes("bytes", smc_parse_size("65536") == 65536);
	yes("k", smc_parse_size("512k") == 524288);
	yes("M", smc_parse_size("1M") == 1048576);
	yes("too big", smc_parse_size("4096m") == -1);
	yes("far too big", smc_parse_size("99999999999999999999") == -1);
	yes("zero", smc_parse_size("0") == -1);
	yes("negative", smc_parse_size("-1") == -1);
	yes("word", smc_parse_size("big") == -1);
	yes("rest", smc_parse_size("1kB") == -1);
}

static void test_states(void)
{
	char room[16];

	same("unknown state", state_name(255, room), "state 255");
}

/* Linux 6.12 reports AF_SMC for both families. */
static void test_family(void)
{
	struct record v4 = record(SMC_DIAG_STATE_ACTIVE, 0, "10.1.2.3", 80, "10.1.2.4", 81);
	struct record v6 = record(SMC_DIAG_STATE_ACTIVE, 0, "::", 80, "fd00::1", 81);
	char text[ADDRESS_ROOM];

	v4.msg.diag_family = AF_SMC;
	v6.msg.diag_family = AF_SMC;
	address_words(&v4, false, text, sizeof(text));
	same("AF_SMC over IPv4", text, "10.1.2.3:80");
	address_words(&v6, false, text, sizeof(text));
	same("AF_SMC over IPv6, any", text, "*:80");
	address_words(&v6, true, text, sizeof(text));
	same("AF_SMC over IPv6", text, "[fd00::1]:81");
}

/* The sockets of the sample that match: a letter for each, '-' for those that do not. */
static const char *fitting(const char *text)
{
	static char found[5];
	struct record list[4];
	struct records records = sample(list);
	struct socket_filter filter = { };
	const char *words[32];
	char copy[256];
	size_t i, count = 0;
	char *word;

	strcpy(copy, text);
	for (word = strtok(copy, " "); word; word = strtok(NULL, " "))
		words[count++] = word;
	socket_filter_parse(&filter, words, count);
	strcpy(found, "----");
	for (i = 0; i < 4; i++)
		if (socket_filter_fits(&filter, &records.list[i]))
			found[i] = "LD6R"[i];
	socket_filter_free(&filter);
	return found;
}

static void test_filter(void)
{
	static const struct { const char *words, *fit; } cases[] = {
		{ "", "LD6R" },
		{ "state listening", "L---" }, { "state LISTEN state active", "LD6R" },
		{ "exclude listen", "-D6R" }, { "state all exclude established", "L---" },
		{ "state closing", "----" },
		{ "sport = :80", "LD--" }, { "sport 80", "LD--" }, { "sport eq 80", "LD--" },
		{ "sport > 80", "--6R" }, { "sport >= 80 sport < 82", "LD6-" },
		{ "dport != 0", "-D6R" },
		{ "src 127.0.0.1", "-D--" }, { "src 127.0.0.0/8:80", "-D--" },
		{ "src 127.0.0.0/8:81", "----" }, { "dst 10.0.0.3/31", "---R" },
		{ "dst [fd00::2]", "--6-" }, { "dst [fd00::]/8:40001", "--6-" },
		{ "dst fd00::/127", "----" }, { "dst fd00::2/127", "--6-" },
		{ "dst [fd00::/8]:40001", "--6-" }, { "src :82", "---R" }, { "src *:82", "---R" },
		{ "src != 0.0.0.0/0", "--6-" },
		{ "mode tcp", "--6R" }, { "mode != TCP", "LD--" },
		{ "mode tcp and not sport 81", "---R" },
		{ "sport 80 or sport 82 and mode tcp", "LD-R" },
		{ "( sport 80 or sport 82 ) and mode tcp", "---R" },
		{ "state established sport 80", "-D--" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		same(cases[i].words, fitting(cases[i].words), cases[i].fit);
}

static void test_processes(void)
{
	struct array processes = ARRAY_OF(struct process);
	struct columns columns = { .no_titles = true, .processes = &processes };
	struct record list[4];
	struct records records = sample(list);
	struct process *p;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int i;

	for (i = 0; i < 3; i++) {
		p = array_add(&processes);
		p->inode = i ? 1080 : 7;
		p->pid = 10 + i;
		p->fd = 3;
		strcpy(p->name, i == 1 ? "m\xc3\xbcller" : "a\033[2J\x9b\xc2\x9bz");
	}
	records.list++;
	records.count = 2;
	print_table(out, &records, &columns);
	fclose(out);
	same("processes", text,
"ACTIVE 00000 0001080 127.0.0.1:80  127.0.0.1:40000 0000 SMCD users:((\"m\xc3\xbcller\",pid=11,fd=3),(\"a?[2J??z\",pid=12,fd=3))\n"
"ACTIVE 00000 0001081 [fd00::1]:81  [fd00::2]:40001 0000 TCP                                                          the peer did not answer the SMC option of the TCP handshake\n");
	free(text);
	array_free(&processes);
}

/* -d appends the code to the words. */
static void test_codes(void)
{
	struct columns columns = { .debug = true, .no_titles = true };
	struct record list[4];
	struct records records = sample(list);
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	print_table(out, &records, &columns);
	fclose(out);
	yes("code of a reason", strstr(text, "SMC option of the TCP handshake (0x5c040001)\n") &&
	    strstr(text, "the peer declined: no SMC device can serve this connection (0x03030000)\n"));
	free(text);
}

static void test_summary(void)
{
	struct record list[4];
	struct records records = sample(list);

#define SUMMARY \
"all                4        3        1\n" \
"SMC-D              1        1        0\n" \
"SMC-R              0        0        0\n" \
"TCP                2        1        1\n" \
"listening          1        1        0\n" \
"undecided          0        0        0\n"
	PRINTS("summary", print_summary(out, &records, true),
	       "SMC sockets    Total     IPv4     IPv6\n" SUMMARY);
	PRINTS("summary without titles", print_summary(out, &records, false), SUMMARY);
}

/* Codes of others that have our words, and the text for codes without words. */
static void test_reasons(void)
{
	static const struct { uint32_t code; const char *side, *words; } cases[] = {
		{ 0x03010000, "the peer", "the other side did not answer the SMC option" },
		{ 0x03020000, "this host", "an IPsec policy covers this connection, and SMC would bypass it" },
		{ 0x03070000, "this host", "code 0x03070000 of another SMC, about the configuration" },
		{ 0x02990000, "both hosts", "code 0x02990000 of another SMC, about a timeout" },
		{ 0x5cff0000, "unknown", "code 0x5cff0000, which this program does not know" },
	};
	char room[REASON_ROOM];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct smc_diag_fallback fallback = { cases[i].code, 0 };

		same("side of a reason", reason_side(&fallback), cases[i].side);
		same("words of a reason", reason_words(cases[i].code, room), cases[i].words);
	}
}

int main(void)
{
	test_filter();
	test_processes();
	test_codes();
	test_summary();
	test_reasons();
	test_family();
	test_table();
	test_details();
	test_json();
	test_json_text();
	test_utf8();
	test_why();
	test_why_closed();
	test_endpoint();
	test_sizes();
	test_states();
	return test_result();
}
