// SPDX-License-Identifier: GPL-2.0
/* smc_netlink_test: shared parts. */
#define _GNU_SOURCE
#include <poll.h>
#include <string.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "netlink_test.h"

struct genl genl;
struct genl pnet;
struct answer ans;
char why[600];
volatile bool stop_changing;

/* ---- shorthand ---- */

void do_eid(uint8_t cmd, const char *eid)
{
	struct payload p = { };

	if (eid)
		put_text(&p, SMC_NLA_EID_TABLE_ENTRY, eid);
	genl_do(&genl, cmd, &p, &ans);
}

/* The request must have failed with this errno, and its message must contain these words. */
bool refused(int error, const char *words)
{
	if (ans.error != error || !strstr(ans.words, words))
		return BAD("'%s: %s' instead of '%s: %s'", strerror(ans.error), ans.words,
			   strerror(error), words);
	return true;
}

bool done(void)
{
	return !ans.error || BAD("refused: %s: %s", strerror(ans.error), ans.words);
}

bool do_cmd(uint8_t cmd)
{
	genl_do(&genl, cmd, NULL, &ans);
	return done();
}

bool add(const char *eid)
{
	do_eid(SMC_NETLINK_ADD_UEID, eid);
	return done();
}

/* A text padded with blanks to 32 characters and terminated by 0, as netlink sends it. */
bool is_padded(const uint8_t *data, size_t n, const char *text)
{
	char padded[EID_LEN + 1] = "";

	memset(padded, ' ', EID_LEN);
	memcpy(padded, text, strnlen(text, EID_LEN));
	return data && n == sizeof(padded) && !memcmp(data, padded, n);
}

/* The table of user EIDs must be exactly this, in this order; the list ends with NULL. */
bool table_is(const char * const *eids)
{
	size_t i, n;

	genl_dump(&genl, SMC_NETLINK_DUMP_UEID, NULL, &ans);
	if (!done())
		return false;
	for (i = 0; i < ans.count; i++) {
		const uint8_t *data = find_attr(ans.msg[i].attrs, ans.msg[i].len,
						SMC_NLA_EID_TABLE_ENTRY, &n);

		if (ans.msg[i].cmd != SMC_NETLINK_DUMP_UEID)
			return BAD("message %zu is of command %u", i, ans.msg[i].cmd);
		if (!eids[i] || !is_padded(data, n, eids[i]))
			return BAD("entry %zu is '%.32s', not '%s'", i,
				   data ? (const char *)data : "", eids[i] ?: "(none)");
	}
	return !eids[i] || BAD("entry %zu, '%s', is missing", i, eids[i]);
}

bool seid_enabled(unsigned int *on)
{
	genl_dump(&genl, SMC_NETLINK_DUMP_SEID, NULL, &ans);
	return done() && ans.count == 1 &&
	       has_u8(ans.msg[0].attrs, ans.msg[0].len, SMC_NLA_SEID_ENABLED, on);
}

bool limited(struct genl *g, unsigned int *on)
{
	genl_dump(g, SMC_NETLINK_DUMP_HS_LIMITATION, NULL, &ans);
	return done() && ans.count == 1 &&
	       has_u8(ans.msg[0].attrs, ans.msg[0].len, SMC_NLA_HS_LIMITATION_ENABLED, on);
}

const char * const no_eids[] = { NULL };

bool back_to_default(void)
{
	return do_cmd(SMC_NETLINK_FLUSH_UEID) && do_cmd(SMC_NETLINK_ENABLE_SEID) &&
	       do_cmd(SMC_NETLINK_FLUSH_FILTER) && do_cmd(SMC_NETLINK_FLUSH_AUTOCACHE) &&
	       do_cmd(SMC_NETLINK_FLUSH_AUTOSMC) &&
	       do_cmd(SMC_NETLINK_DISABLE_HS_LIMITATION) && table_is(no_eids);
}

/* ---- in another process, with other rights, or in another namespace ---- */

bool in_child(bool (*body)(void))
{
	int status, pipefd[2];
	pid_t pid;

	fflush(stdout);
	if (pipe(pipefd) < 0)
		give_up("pipe");
	pid = fork();
	if (!pid) {
		bool ok;

		why[0] = 0;
		ok = body();
		if (write(pipefd[1], why, sizeof(why)) < 0)
			ok = false;
		_exit(ok ? 0 : 1);
	}
	close(pipefd[1]);
	waitpid(pid, &status, 0);
	if (read(pipefd[0], why, sizeof(why)) < 0)
		why[0] = 0;
	close(pipefd[0]);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

bool reopen(void)
{
	genl_close(&genl);
	return genl_open(&genl, SMC_GENL_FAMILY_NAME) || BAD("the netlink family does not exist");
}

struct link connected(void)
{
	struct link l;
	int port, lfd = victim_listen(&port);

	l.client = victim_connect(port);
	l.server = accept_in_time(lfd);
	if (!(wait_mask(l.client, POLLOUT, WAIT_MS) & POLLOUT))
		give_up("cannot connect");
	close(lfd);
	return l;
}

void disconnected(struct link l)
{
	close(l.client);
	close(l.server);
}

static bool carries(struct link l)
{
	char c = 0;

	return (send(l.client, "x", 1, MSG_NOSIGNAL) == 1 &&
		wait_mask(l.server, POLLIN, WAIT_MS) && recv(l.server, &c, 1, 0) == 1 &&
		send(l.server, &c, 1, MSG_NOSIGNAL) == 1 &&
		wait_mask(l.client, POLLIN, WAIT_MS) && recv(l.client, &c, 1, 0) == 1 &&
		c == 'x') || BAD("no data is transferred");
}

static const char *mode_name(unsigned int mode)
{
	return mode == SMC_DIAG_MODE_SMCD ? "SMCD" : mode == SMC_DIAG_MODE_SMCR ? "SMCR" : "TCP";
}

bool is_mode(struct link l, unsigned int mode)
{
	struct diag c, s;

	if (!carries(l) || !diag_of(l.client, &c) || !diag_of(l.server, &s))
		return false;
	return (c.mode == mode && s.mode == mode) ||
	       BAD("client %s, server %s instead of %s", mode_name(c.mode), mode_name(s.mode),
		   mode_name(mode));
}

const char *words_of(unsigned int reason)
{
#define WORDS(name, code, words, remedy) if (reason == (code)) return words;
	SMC_REASONS(WORDS)
#undef WORDS
	return "a code without a description";
}

bool connects_as(unsigned int mode)
{
	struct link l = connected();
	bool ok = is_mode(l, mode);

	disconnected(l);
	return ok;
}

/* Returns the nest of the only message of a dump, or NULL. */
const uint8_t *only_nest(uint8_t cmd, uint16_t type, size_t *len)
{
	const uint8_t *nest;

	genl_dump(&genl, cmd, NULL, &ans);
	if (!done())
		return NULL;
	if (ans.count != 1 || ans.msg[0].cmd != cmd) {
		(void)BAD("%zu messages for command %u", ans.count, cmd);
		return NULL;
	}
	nest = find_attr(ans.msg[0].attrs, ans.msg[0].len, type, len);
	if (!nest)
		(void)BAD("no attribute %u in the answer to command %u", type, cmd);
	return nest;
}

/* Checks for these attributes, in this order, with these lengths. 0: any length. PAD is skipped. */
bool has_shape(const uint8_t *nest, size_t len, const uint16_t (*shape)[2], size_t n,
		      uint16_t pad)
{
	struct nlattr nla;
	size_t i = 0;

	for (; len >= sizeof(nla); ) {
		size_t whole;

		memcpy(&nla, nest, sizeof(nla));
		whole = NLA_ALIGN(nla.nla_len);
		if ((nla.nla_type & NLA_TYPE_MASK) != pad) {
			if (i == n || (nla.nla_type & NLA_TYPE_MASK) != shape[i][0] ||
			    (shape[i][1] && nla.nla_len != NLA_HDRLEN + shape[i][1]))
				return BAD("attribute %zu is of type %u with %u bytes", i,
					   nla.nla_type & NLA_TYPE_MASK,
					   nla.nla_len - NLA_HDRLEN);
			i++;
		}
		if (whole >= len)
			break;
		nest += whole;
		len -= whole;
	}
	return i == n || BAD("only %zu attributes", i);
}
