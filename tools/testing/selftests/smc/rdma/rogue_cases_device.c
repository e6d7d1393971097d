// SPDX-License-Identifier: GPL-2.0
/*
 * A device that refuses queue pairs, does not flush them, or is slow to destroy them (R4, R7, B9
 * and B11 of the audits).  No software device does this; test builds of the module simulate it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "rogue.h"

/* Some devices are out of a resource and return -EAGAIN: the victim must not wait because of
 * that.
 */
static void refuses(int err)
{
	struct conn *c = conn_begin(CLIENT, V21, AT_TCP, NULL);
	bool ok;

	set_parameter("init_errno", err);
	clc_propose(c, NULL);
	ok = judge(c->s, GOT_DECLINE, false, NULL) && victim_says(c->s, SMC_REASON_NO_DEVICE);
	set_parameter("init_errno", 0);
	conn_end(c);
	verdict(ok, "device: creating a queue pair fails (%s)", strerrorname_np(err));
}

/* The event comes in an interrupt, where the victim may not take most of its locks. */
static void fails(void)
{
	struct conn *c = conn_begin(CLIENT, V21, AT_CLC, NULL);
	time_t begun;
	bool ok;

	set_parameter("fatal_event", 1);
	begun = time(NULL);
	clc_confirm(c, NULL);
	ok = judge(c->s, GOT_DECLINE | GOT_RESET, false, NULL);
	/* Without the event, the wait for our CONFIRM LINK would end after 9 s. */
	ok = ok && (time(NULL) - begun < 6 || BAD("only after the timeout"));
	set_parameter("fatal_event", 0);
	conn_end(c);
	verdict(ok, "device: an interrupt reports a failed queue pair");
}

/* Our queue pair is gone: the victim notices when it sends, and returns an error to the
 * application.
 */
static bool told_of_break(struct conn *c)
{
	link_break(c->l);
	return (send(c->s.victim, "hello", 5, MSG_NOSIGNAL) == 5 || BAD("send")) &&
	       victim_is_told(c->s, true);
}

static void never_flushes(enum role role)
{
	struct conn *c = conn_begin(role, V21, AT_UP, NULL), *more = conn_more(c, AT_UP, NULL);
	bool ok = conn_echo(c) && conn_echo(more);

	set_parameter("never_drained", 1);
	ok = ok && told_of_break(c) && victim_is_told(more->s, true);
	set_parameter("never_drained", 0);
	conn_end(more);
	conn_end(c);
	verdict(ok, "device: applications get an error although it does not flush, %s",
		role == CLIENT ? "as client" : "as server");
}

/*
 * The device hangs when it is told to stop a queue pair.  Applications get an error within the time
 * that it has for this, new connections work, and the queue pair is not destroyed meanwhile.
 */
static void hangs(enum role role)
{
	struct conn *c = conn_begin(role, V21, AT_UP, NULL), *more = conn_more(c, AT_UP, NULL);
	struct smc_llc_msg m = {
		.type = SMC_LLC_DELETE_LINK,
		.delete_link = { .all = true, .reason = SMC_LLC_DEL_OPERATOR },
	};
	bool ok = conn_echo(c) && conn_echo(more);
	struct census before, now;
	long since = now_ms();

	census_take(&before);
	set_parameter("hold_command", 1);
	llc_put(c->l, &m);
	ok = ok && victim_is_told(c->s, true) && victim_is_told(more->s, true) &&
	     (now_ms() - since < slow(4000) || BAD("only after %ld ms", now_ms() - since)) &&
	     loopback_goes_on() && others_go_on();
	census_take(&now);
	ok = ok && (now.qp >= before.qp || BAD("the queue pair is destroyed at the same time"));
	set_parameter("hold_command", 0);
	conn_end(more);
	conn_end(c);
	verdict(ok, "device: applications get an error although its commands hang, %s",
		role == CLIENT ? "as client" : "as server");
}

/*
 * More groups wait for the device than a workqueue runs at once.  They have queue pairs, but no
 * memory yet, because a gateway has not answered.
 */
static void keeps_all(void)
{
	struct conn *c;
	bool ok;

	set_parameter("hold_release", 1);
	strangers_begin(STRANGERS);
	ok = others_go_on() && strangers_wait(STRANGERS);
	gateway_fails();
	strangers_end(STRANGERS);
	ok = ok && loopback_goes_on() && others_go_on();
	/* Another group ends, too. */
	c = conn_begin(CLIENT, V21, AT_UP, NULL);
	ok = ok && conn_echo(c) && told_of_break(c);
	conn_end(c);
	set_parameter("hold_release", 0);
	verdict(ok, "device: it does not release %u link groups, others continue", STRANGERS);
}

/* Groups that wait for the device still count, so their number never exceeds the limit. */
static void keeps_few(void)
{
	long old = set_sysctl("smcr_max_lgrs", 4);
	struct conn *c;
	bool ok = true;

	set_parameter("hold_release", 1);
	/* One of the four belongs to the bystander. */
	for (int i = 0; ok && i < 3; i++) {
		c = conn_begin(CLIENT, V21, AT_UP, NULL);
		ok = conn_echo(c) && told_of_break(c);
		conn_end(c);
	}
	c = conn_begin(CLIENT, V21, AT_TCP, NULL);
	clc_propose(c, NULL);
	ok = ok && judge(c->s, GOT_DECLINE, false, NULL) &&
	     victim_says(c->s, SMC_REASON_MAX_CONNS);
	conn_end(c);
	set_parameter("hold_release", 0);
	set_sysctl("smcr_max_lgrs", old);
	verdict(ok, "device: link groups that it does not release still count");
}

void cases_device(void)
{
	TRY(refuses(EIO), "EIO");
	TRY(refuses(EAGAIN), "EAGAIN");
	TRY(fails(), "");
	TRY(never_flushes(CLIENT), "as client");
	TRY(never_flushes(SERVER), "as server");
	for (enum role r = CLIENT; r <= SERVER; r++) {
		TRY(hangs(r), role_name[r]);
		set_parameter("hold_command", 0);
	}
	strangers_open();
	TRY(keeps_all(), "");
	set_parameter("hold_release", 0);
	strangers_close();
	TRY(keeps_few(), "");
	set_parameter("hold_release", 0);
}
