// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that creates a link group and then posts no receive buffers (audit B1).  It refuses the
 * victim's sends with NAKs for ever, and everything posted later has to wait.  The only consequence
 * must be the end of that link group.
 */
#include <linux/net_tstamp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rogue.h"
#include "trap.h"

/*
 * The victim sends a byte.  Its time stamp says that the post is complete, and so are all that came
 * before.
 */
static bool send_complete(struct conn *c)
{
	int on = SOF_TIMESTAMPING_TX_ACK | SOF_TIMESTAMPING_SOFTWARE, fd = c->s.victim;
	char byte, control[256];
	struct msghdr msg = { .msg_control = control, .msg_controllen = sizeof(control) };

	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &on, sizeof(on)) ||
	    send(fd, "c", 1, MSG_NOSIGNAL) != 1)
		give_up("a time stamp");
	on = 0;
	return conn_read(c, &byte, 1) && (wait_mask(fd, POLLERR, WAIT_MS) || BAD("no time stamp")) &&
	       recvmsg(fd, &msg, MSG_ERRQUEUE) >= 0 &&
	       !setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &on, sizeof(on));
}

/* A connection with data to send over a link that accepts nothing any more. */
static struct conn *stalled(enum role role)
{
	struct conn *c = conn_begin(role, V21, AT_UP, NULL);

	if (!conn_echo(c))
		give_up("%s", why);
	link_shut(c->l, 1);
	if (!send_complete(c))
		give_up("%s", why);
	if (send(c->s.victim, "hello", 5, MSG_NOSIGNAL) != 5)
		give_up("send");
	return c;
}

/*
 * A further contact over this link, for which the victim must register an RMB.  Hardware would
 * register it after the refused sends, that is never. soft-RoCE registers it at once, and again
 * when it repeats the sends, which it takes for an error that ends the link.
 */
static struct conn *wants_rmb(struct conn *first)
{
	struct conn *c = conn_more(first, first->l->server ? AT_CLC : AT_TCP, NULL);

	if (!first->l->server)
		clc_propose(c, NULL);
	return c;
}

static bool tool_answers(const char *command)
{
	char line[400];

	snprintf(line, sizeof(line), "%s/build/tools/%s > /dev/null", getenv("SMC_ROOT"), command);
	return !system(line) || BAD("%s fails", command);
}

bool others_go_on(void)
{
	struct conn *c = conn_begin(CLIENT, V21, AT_UP, NULL);
	bool ok = conn_echo(c);

	conn_end(c);
	bystander_turn();
	return ok && tool_answers("smcr linkgroup link-show") && tool_answers("smcss -a");
}

static void registration(enum role role)
{
	struct conn *first = stalled(role), *c;
	long old = set_sysctl("rmem", 524288);
	bool ok;

	c = wants_rmb(first);
	ok = judge(c->s, GOT_DECLINE, false, NULL) && victim_is_told(first->s, true);
	set_sysctl("rmem", old);
	conn_end(c);
	conn_end(first);
	verdict(ok, "stall, %s: a registration behind refused messages", role_name[role]);
}

/* A peer that is merely slow loses nothing, even with more answers than the send queue has room
 * for.
 */
static void full_queue(enum role role)
{
	long old = set_sysctl("smcr_max_send_wr", 4);
	struct smc_llc_msg m = { .type = SMC_LLC_TEST_LINK };
	struct conn *c = stalled(role);
	char got[5] = "";
	bool ok;

	set_sysctl("smcr_max_send_wr", old);
	for (int i = 0; i < 8; i++) {
		m.test_link.data[0] = i;
		llc_put(c->l, &m);
	}
	ok = link_flush(c->l, WAIT_MS) && others_go_on();
	link_reopen(c->l);
	for (int i = 0; i < 8 && ok; i++)
		ok = llc_expect(c->l, SMC_LLC_TEST_LINK, true, &m) &&
		     (m.test_link.data[0] == i || BAD("another TEST LINK reply"));
	ok = ok && conn_read(c, got, 5) &&
	     (!memcmp(got, "hello", 5) || BAD("the victim sent other bytes")) && conn_echo(c);
	conn_end(c);
	verdict(ok, "stall, %s: TEST LINK replies into a full send queue", role_name[role]);
}

/*
 * Nor does an RMB fail that finds no room in the send queue: it is registered later.  The victim
 * answers TEST LINK before it takes the CDC message that follows, so the queue is full once its
 * program has read the byte.  If the queue had room for the registration between messages that are
 * refused, soft-RoCE would run it twice, as above.
 */
static void late_registration(enum role role)
{
	long old_wr = set_sysctl("smcr_max_send_wr", 4), old_rmem;
	struct conn *first = stalled(role), *c;
	struct smc_llc_msg m = { .type = SMC_LLC_TEST_LINK };
	char got[5] = "";
	bool ok;

	set_sysctl("smcr_max_send_wr", old_wr);
	for (int i = 0; i < 4; i++)
		llc_put(first->l, &m);
	conn_write(first, "f", 1);
	ok = victim_reads(first->s, "f");
	old_rmem = set_sysctl("rmem", 524288);
	c = wants_rmb(first);
	ok = ok && others_go_on();
	link_reopen(first->l);
	ok = ok && clc_peer(c);
	set_sysctl("rmem", old_rmem);
	if (role == CLIENT)
		clc_rest(c);
	ok = ok && conn_echo(c) && conn_read(first, got, 5) &&
	     (!memcmp(got, "hello", 5) || BAD("the victim sent other bytes")) && conn_echo(first);
	conn_end(c);
	conn_end(first);
	verdict(ok, "stall, %s: a registration when the send queue is full", role_name[role]);
}

void cases_stall(void)
{
	for (enum role r = CLIENT; r <= SERVER; r++) {
		TRY(full_queue(r), role_name[r]);
		TRY(registration(r), role_name[r]);
		TRY(late_registration(r), role_name[r]);
	}
}

/* ---- the last of all, without bystanders ---- */

/* @change: what happens to the other GIDs while the one of version 2 is absent */
static void move_gid(const char *change)
{
	char command[600];

	snprintf(command, sizeof(command), "ip addr del 10.1.0.1/24 dev veth0 && %s && "
		 "ip addr add 10.1.0.1/24 dev veth0 && "
		 "ip route add 10.1.0.2 dev veth0 src 10.1.0.1 table 101 && "
		 "ip neigh replace 10.1.0.2 dev veth0 nud permanent "
		 "lladdr $(cat /sys/class/net/veth1/address)", change);
	if (system(command))
		give_up("%s", command);
}

/*
 * The victim has a common EID for version 2, but finds no GID: its IPv4 GID comes after 256 others,
 * and it does not look further.  So it uses version 1, without an EID (audit R2).
 */
static void v1_after_v2(void)
{
	static const struct twist both = { .proposal = clc_offer_v2 };
	struct smc_llc_msg m;
	struct conn *c;
	bool ok;

	move_gid("for i in $(seq 260); do echo addr add fd00::$i/128 dev veth0 nodad; done | "
		 "ip -batch -");
	c = conn_begin(CLIENT, V1, AT_CLC, &both);
	ok = c->peer.version == SMC_CLC_V1 || BAD("version %u", c->peer.version);
	clc_confirm(c, NULL);
	ok = ok && llc_expect(c->l, SMC_LLC_CONFIRM_LINK, false, &m) && llc_confirm(c->l) &&
	     llc_add(c->l) && conn_echo(c);
	conn_end(c);
	move_gid("ip -6 addr flush dev veth0 scope global");
	verdict_alone(ok, "gone: the GID for version 2, so version 1 is used");
}

/* A handshake that waits for a first contact, while a system call owns its socket. */
static struct conn *owned(struct conn *silent, pthread_t *owner)
{
	struct conn *c = conn_more(silent, AT_TCP, NULL), *other;

	clc_propose(c, NULL);
	/* A later handshake has completed, so this one is waiting by now. */
	other = conn_begin(CLIENT, V21, AT_UP, NULL);
	conn_end(other);
	if (!trap_set())
		give_up("no userfaultfd");
	*owner = trap_owner(&c->s.victim);
	trap_await(1);
	return c;
}

/*
 * A device can be removed although it has a handshake whose peer is silent or whose socket has an
 * owner. The same holds for more link groups than end at once, none of whose queue pairs is
 * flushed.
 */
static void device_goes(void)
{
	long old = set_timeout_ms(slow(120000));
	struct conn *silent = conn_begin(CLIENT, V21, AT_CLC, NULL);
	struct conn *first = stalled(CLIENT), *c = wants_rmb(first), *waits;
	pthread_t owner;
	bool ok;

	waits = owned(silent, &owner);
	strangers_open();
	strangers_begin(STRANGERS);
	set_parameter("never_drained", 1);
	ok = strangers_wait(STRANGERS) && (!system("rdma link delete rxe0") ||
					   BAD("rdma link delete"));
	set_parameter("never_drained", 0);
	ok = ok && judge(*stranger(STRANGERS - 1), GOT_DECLINE, false, NULL);
	strangers_end(STRANGERS);
	strangers_close();
	ok = ok && victim_is_told(first->s, true);
	clc_confirm(silent, NULL);
	ok = ok && judge(silent->s, GOT_DECLINE, false, NULL);
	trap_open();
	pthread_join(owner, NULL);
	ok = ok && judge(waits->s, GOT_DECLINE, false, NULL);
	set_timeout_ms(old);
	conn_end(waits);
	conn_end(silent);
	conn_end(c);
	conn_end(first);
	verdict_alone(ok, "gone: a device with a stalled link, handshakes, 600 unflushed groups");
}

static void module_goes(void)
{
	/* A closed connection waits a minute for a peer that never closes. */
	static const char unload[] =
		"for i in $(seq $((180 * ${SMC_SLOW:-1}))); do "
		"rmmod smc 2> /dev/null && exit 0; sleep 0.5; done; exit 1";
	struct conn *c;
	bool ok;

	if (system("\"$SMC_ROOT/tools/testing/vm/rxe\" veth0 rxe0"))
		give_up("the device was not added");
	c = stalled(SERVER);
	conn_close(c);
	clc_close();
	ok = (!system("rmmod smc_diag") && !system(unload)) || BAD("rmmod");
	if (!ok)
		system("sed 's/^/# /' /proc/net/tcp; ls -l /proc/$PPID/fd | sed 's/^/# /'");
	verdict_alone(ok, "gone: the module, with a stalled link");
}

void cases_gone(void)
{
	v1_after_v2();
	device_goes();
	module_goes();
}
