// SPDX-License-Identifier: GPL-2.0
/*
 * smc_input_test: socket options. Each call is made on an SMC socket and on a TCP socket with the
 * same history. Result, length, value and all bytes behind it must be the same, and so must the
 * option afterwards. SMC's own options are compared with similar options of TCP.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/smc.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/sol_socket.h"
#include "input.h"

#define TCP		0
#define SMC		1
#define SMC_PROTOCOL	256
#define SMC_LEVEL	286
#define ROOM		8192	/* for a value */
#define KEPT		512	/* bytes of it that are compared */
#define UNTOUCHED	0xa5

enum phase { NEW, LISTENING, CONNECTED, FALLEN_BACK };

static const char * const phases[] = { "new", "listening", "connected", "fallen back" };

struct scene {
	const char *name;
	enum phase phase;
	int ip;
	int left_out;		/* a level with the same results as in another scene */
};

static const struct scene scenes[] = {
	{ "new", NEW, AF_INET, IPPROTO_IPV6 },
	{ "new6", NEW, AF_INET6, IPPROTO_IP },
	{ "listening6", LISTENING, AF_INET6, IPPROTO_IP },
	{ "connected6", CONNECTED, AF_INET6, -1 },
	{ "fallen_back6", FALLEN_BACK, AF_INET6, IPPROTO_IP },
};

/* A socket and its peer; TCP's and ours are created in the same way. */
struct end {
	int fd, peer;
};

/* ---- valid and invalid memory ---- */

static struct {
	char *good;		/* ROOM bytes, then unmapped memory */
	char *nothing;
	char *readonly;
} memory;

static void map_memory(void)
{
	char *p = mmap(NULL, 3 * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memory.good = p;
	memory.nothing = p + ROOM;
	memory.readonly = p + 2 * ROOM;
	if (p == MAP_FAILED || mprotect(memory.nothing, ROOM, PROT_NONE) ||
	    mprotect(memory.readonly, ROOM, PROT_READ))
		wrong("no memory");
}

enum where { GOOD, UNALIGNED, NULLED, UNMAPPED, CUT, READONLY, KERNEL, SAME, N_WHERE };

static const char * const places[] = {
	"good", "unaligned", "NULL", "unmapped", "cut off", "read only", "the kernel's", "the value's",
};

/* Returns memory for @len bytes; for a cut value only the first half is mapped. */
static char *place(enum where where, size_t len)
{
	switch (where) {
	case UNALIGNED:
		return memory.good + 1;
	case NULLED:
		return NULL;
	case UNMAPPED:
		return memory.nothing;
	case CUT:
		return memory.nothing - (len + 1) / 2;
	case READONLY:
		return memory.readonly;
	case KERNEL:
		return (char *)-4096L;
	default:
		return memory.good;
	}
}

/* ---- calls and their results ---- */

struct call {
	bool set;
	enum where value, length;
	int len;
	unsigned char fill;	/* for each byte of the value, or an int if there is one */
	int number;
	bool is_int;
	const char *text;	/* replaces that */
};

struct result {
	int error;
	int len;
	unsigned char value[KEPT];
};

static const char *describe(const struct call *c)
{
	static char text[120];

	snprintf(text, sizeof(text), "%s %s, length %d%s%s", c->set ? "set" : "get",
		 places[c->value], c->len, c->set ? c->is_int ? ", an int" : ", bytes" : " at ",
		 c->set ? "" : places[c->length]);
	if (c->text)
		sprintf(text + strlen(text), " '%s'", c->text);
	else if (c->set)
		sprintf(text + strlen(text), " %d", c->is_int ? c->number : c->fill);
	return text;
}

/* The length is in memory as well. */
static socklen_t *length_at(const struct call *c, int size)
{
	static _Alignas(int) char aligned[2 * sizeof(int)];

	if (c->length == SAME)
		return (socklen_t *)place(c->value, size);
	if (c->length == GOOD || c->length == UNALIGNED)
		return (socklen_t *)(aligned + (c->length == UNALIGNED));
	return (socklen_t *)place(c->length, sizeof(int));
}

static void get(int fd, int level, int option, int size, const struct call *c, struct result *r)
{
	socklen_t *len = length_at(c, size);
	char *value = place(c->value, size);
	bool readable = c->length == GOOD || c->length == UNALIGNED ||
			(c->length == SAME && c->value == GOOD);

	memset(memory.good, UNTOUCHED, ROOM);
	if (readable)
		memcpy(len, &c->len, sizeof(c->len));
	else if (c->length == CUT)
		memcpy(len, &c->len, sizeof(c->len) / 2);
	r->error = getsockopt(fd, level, option, value, len) < 0 ? errno : 0;
	r->len = -1;
	if (readable)
		memcpy(&r->len, len, sizeof(r->len));
	memcpy(r->value, c->value == CUT ? memory.nothing - KEPT : memory.good, KEPT);
	/* No byte beyond the requested length may be written. */
	for (int i = KEPT; i < ROOM && c->value == GOOD && c->length == GOOD; i++)
		if ((unsigned char)memory.good[i] != UNTOUCHED && c->len < i) {
			wrong("%d/%d: %s: byte %d beyond the length is written", level, option,
			      describe(c), i);
			break;
		}
}

static void set(int fd, int level, int option, int size, const struct call *c, struct result *r)
{
	char *value = place(c->value, size);

	memset(memory.good, c->fill, ROOM);
	if (c->is_int && (c->value == GOOD || c->value == UNALIGNED))
		memcpy(value, &c->number, sizeof(c->number));
	if (c->text)
		strcpy(value, c->text);
	memset(r, 0, sizeof(*r));
	r->error = setsockopt(fd, level, option, value, c->len) < 0 ? errno : 0;
}

static void call(int fd, int level, int option, int size, const struct call *c, struct result *r)
{
	if (c->set)
		set(fd, level, option, size, c, r);
	else
		get(fd, level, option, size, c, r);
}

static struct result read_option(int fd, int level, int option)
{
	struct result r;

	get(fd, level, option, KEPT, &(struct call){ .len = KEPT }, &r);
	return r;
}

/* ---- sockets ---- */

static int make(int ip, int protocol)
{
	int fd = socket(ip, SOCK_STREAM | SOCK_CLOEXEC, protocol);

	if (fd < 0)
		wrong("cannot create a socket: %s", error_name(errno));
	return fd;
}

static int make_listener(int ip, int protocol, struct sockaddr_in6 *a, socklen_t *len)
{
	int fd = make(ip, protocol);

	memset(a, 0, sizeof(*a));
	a->sin6_family = ip;
	*len = ip == AF_INET ? sizeof(struct sockaddr_in) : sizeof(*a);
	if (ip == AF_INET)
		((struct sockaddr_in *)a)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		a->sin6_addr = in6addr_loopback;
	if (bind(fd, (struct sockaddr *)a, *len) || listen(fd, 1) ||
	    getsockname(fd, (struct sockaddr *)a, len))
		wrong("cannot listen: %s", error_name(errno));
	return fd;
}

static void exchange(struct end *e)
{
	char c = 'x';

	if (send(e->fd, &c, 1, MSG_NOSIGNAL) != 1 || recv(e->peer, &c, 1, 0) != 1 ||
	    send(e->peer, &c, 1, MSG_NOSIGNAL) != 1 || recv(e->fd, &c, 1, 0) != 1)
		wrong("the connection does not work: %s", error_name(errno));
}

static struct end make_end(const struct scene *s, int protocol)
{
	struct end e = { .peer = -1 };
	struct sockaddr_in6 a;
	socklen_t len;
	int lfd;

	if (s->phase == NEW) {
		e.fd = make(s->ip, protocol);
		return e;
	}
	lfd = make_listener(s->ip, s->phase == FALLEN_BACK ? 0 : protocol, &a, &len);
	if (s->phase == LISTENING) {
		e.fd = lfd;
		return e;
	}
	e.fd = make(s->ip, protocol);
	if (connect(e.fd, (struct sockaddr *)&a, len))
		wrong("cannot connect: %s", error_name(errno));
	e.peer = accept(lfd, NULL, NULL);
	close(lfd);
	exchange(&e);
	return e;
}

/* With a reset, so that no option can delay it. */
static void end_it(struct end *e)
{
	struct linger none = { 1, 0 };

	setsockopt(e->fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(e->fd);
	if (e->peer >= 0)
		close(e->peer);
}

static void check_mode(const struct scene *s, int fd)
{
	static const uint32_t modes[] = { 0, 0, 3, 2 };
	uint32_t info[4];
	socklen_t len = sizeof(info);

	if (getsockopt(fd, SMC_LEVEL, 0x100, info, &len) || info[0] != modes[s->phase])
		wrong("a socket that is %s has mode %u", phases[s->phase], info[0]);
}

/* ---- an option and its counterpart in TCP ---- */

struct option {
	const struct surface_option *o;
	int level, number;	/* of the SMC socket */
	int kin_level, kin;	/* of the TCP socket */
	int size, kin_size;
	unsigned int flags;
};

static bool same_value(const struct option *o, const struct result *a, const struct result *b)
{
	return o->flags & OPT_VARIES || o->level != o->kin_level ||
	       (a->len == b->len && !memcmp(a->value, b->value, sizeof(a->value)));
}

static bool same_result(const struct option *o, const struct call *c, const struct result *tcp,
			const struct result *smc)
{
	if (tcp->error != smc->error)
		return o->flags & OPT_REFUSED && (smc->error == EOPNOTSUPP || smc->error == ENOTCONN ||
						  smc->error == EISCONN);
	if (c->set)
		return true;
	if (tcp->len != smc->len && o->size == o->kin_size && !(o->flags & OPT_VARIES))
		return false;
	return smc->error || same_value(o, tcp, smc);
}

static void both(const struct scene *s, const struct option *o, struct end *e, struct call c)
{
	struct result r[2], was[2], is[2];
	int kin_len = c.len;

	for (int i = 0; i < 2; i++)
		was[i] = read_option(e[i].fd, i ? o->level : o->kin_level, i ? o->number : o->kin);
	/* As far from its size as the length for our option is from ours. */
	if (o->size != o->kin_size && c.len >= o->size && c.len < ROOM)
		c.len += o->kin_size - o->size;
	call(e[TCP].fd, o->kin_level, o->kin, o->kin_size, &c, &r[TCP]);
	c.len = kin_len;
	call(e[SMC].fd, o->level, o->number, o->size, &c, &r[SMC]);
	if (!same_result(o, &c, &r[TCP], &r[SMC]))
		wrong("%s %d/%d %s: %s: %s %d, TCP %s %d", phases[s->phase], o->level, o->number,
		      o->o ? o->o->name : "no option", describe(&c), error_name(r[SMC].error), r[SMC].len,
		      error_name(r[TCP].error), r[TCP].len);
	for (int i = 0; i < 2; i++)
		is[i] = read_option(e[i].fd, i ? o->level : o->kin_level, i ? o->number : o->kin);
	if (o->flags & OPT_VARIES)
		return;
	if (r[SMC].error && memcmp(&was[SMC], &is[SMC], sizeof(is[SMC])) &&
	    !memcmp(&was[TCP], &is[TCP], sizeof(is[TCP])))
		wrong("%s %d/%d: %s is refused, but changes the value", phases[s->phase], o->level,
		      o->number, describe(&c));
	if (!(o->flags & OPT_REFUSED) && !same_value(o, &is[TCP], &is[SMC]))
		wrong("%s %d/%d %s: %s: the value is now %d, but TCP's is %d", phases[s->phase],
		      o->level, o->number, o->o ? o->o->name : "no option", describe(&c),
		      *(int *)is[SMC].value, *(int *)is[TCP].value);
}

static void bad_gets(const struct scene *s, const struct option *o, struct end *e)
{
	const int lens[] = { o->size, 0, 1, 2, 3, 4, 5, o->size - 1, o->size + 1, 64, 1000, -1, INT_MIN,
			     INT_MAX };

	for (size_t i = 0; i < ARRAY(lens); i++) {
		both(s, o, e, (struct call){ .len = lens[i] });
		both(s, o, e, (struct call){ .len = lens[i], .value = UNALIGNED });
	}
	for (enum where w = NULLED; w < SAME; w++) {
		both(s, o, e, (struct call){ .len = o->size, .value = w });
		both(s, o, e, (struct call){ .len = 0, .value = w });
		both(s, o, e, (struct call){ .len = -1, .value = w });
	}
	for (enum where w = UNALIGNED; w < N_WHERE; w++) {
		both(s, o, e, (struct call){ .len = o->size, .length = w });
		both(s, o, e, (struct call){ .len = o->size, .length = w, .value = UNMAPPED });
	}
}

static void bad_sets(const struct scene *s, const struct option *o, struct end *e)
{
	const int lens[] = { 0, 1, 2, 3, 4, o->size - 1, o->size, o->size + 1, 64, 1000, ROOM, -1, INT_MIN,
			     INT_MAX };

	for (size_t i = 0; i < ARRAY(lens); i++) {
		both(s, o, e, (struct call){ .set = true, .len = lens[i] });
		if (!(o->flags & OPT_NO_VALUES))
			both(s, o, e, (struct call){ .set = true, .len = lens[i], .value = UNALIGNED,
						     .fill = 'A' });
	}
	for (enum where w = NULLED; w < SAME; w++)
		for (int len = 0; w != READONLY && len <= 2 * o->size; len += o->size)
			both(s, o, e, (struct call){ .set = true, .len = len, .value = w });
}

/* Values outside of many ranges. */
static void bad_values(const struct scene *s, const struct option *o, struct end *e)
{
	static const int numbers[] = { -1, INT_MIN, INT_MAX, 0, 1, 2, 3, 7, 255, 256, 32767, 65536, -2 };
	static const unsigned char fills[] = { 0xff, 1, 0x80, 0x7f, 0 };
	static const char * const texts[] = { "none such", "reno", "tls", "lo", "" };

	if (o->flags & OPT_NO_VALUES)
		return;
	for (size_t i = 0; i < ARRAY(numbers); i++)
		both(s, o, e, (struct call){ .set = true, .len = o->size, .is_int = true,
					     .number = numbers[i] });
	for (size_t i = 0; i < ARRAY(fills) && o->o && o->o->value != VALUE_INT; i++)
		both(s, o, e, (struct call){ .set = true, .len = o->size, .fill = fills[i] });
	for (size_t i = 0; i < ARRAY(texts) && o->o && o->o->value == VALUE_TEXT; i++)
		for (int more = 0; more < 2; more++)
			both(s, o, e, (struct call){ .set = true, .len = strlen(texts[i]) + more,
						     .text = texts[i] });
}

/* The other options of the level must still equal those of TCP. */
static void same_rest(const struct scene *s, const struct option *of, struct end *e)
{
	for (size_t i = 0; i < surface_n_options; i++) {
		const struct surface_option *o = &surface_options[i];
		struct result tcp, smc;

		if (o->flags & (OPT_VARIES | OPT_REFUSED | OPT_SET) || o->level != of->kin_level ||
		    (s->phase == CONNECTED && is_locked_filter(o->level, o->number)) ||
		    (o->level == of->kin_level && o->number == of->kin && of->level != of->kin_level))
			continue;
		tcp = read_option(e[TCP].fd, o->level, o->number);
		smc = read_option(e[SMC].fd, o->level, o->number);
		if (tcp.error != smc.error || (!tcp.error && memcmp(&tcp, &smc, sizeof(tcp))))
			wrong("%s %d/%d: now %s is %s %d, but TCP's is %s %d", phases[s->phase],
			      of->level, of->number, o->name, error_name(smc.error),
			      *(int *)smc.value, error_name(tcp.error), *(int *)tcp.value);
	}
}

static void all_forms(const struct scene *s, const struct option *o)
{
	struct end e[2] = { make_end(s, 0), make_end(s, SMC_PROTOCOL) };

	check_mode(s, e[SMC].fd);
	bad_gets(s, o, e);
	bad_sets(s, o, e);
	bad_values(s, o, e);
	/* TCP may now be in repair mode, or have TLS, while SMC does not; or both have changed. */
	if (!(o->flags & OPT_REFUSED)) {
		same_rest(s, o, e);
		check_mode(s, e[SMC].fd);
	}
	for (int i = 0; i < 2; i++)
		end_it(&e[i]);
}

/* ---- TCP_ZEROCOPY_RECEIVE with a copy buffer: SMC leaves everything to recv() ---- */

struct zerocopy {
	uint64_t address;
	uint32_t length, skip;
	uint32_t inq;
	int32_t err;
	uint64_t copybuf;
	int32_t copybuf_len;
	uint32_t flags;
	uint64_t msg_control;
	uint64_t msg_controllen;
	uint32_t msg_flags;
	uint32_t reserved;
};

static int receive_zerocopy(int fd, char *buf, int len, uint32_t *skip)
{
	struct zerocopy z = { .copybuf = (uintptr_t)buf, .copybuf_len = len };
	socklen_t size = sizeof(z);

	if (getsockopt(fd, IPPROTO_TCP, 35, &z, &size))
		return -errno;
	*skip = z.skip;
	return z.copybuf_len;
}

static void zerocopy(const void *arg)
{
	const struct scene *s = arg;
	struct end e[2] = { make_end(s, 0), make_end(s, SMC_PROTOCOL) };
	uint32_t skip[2] = { 0 };
	char buf[16];
	int got[2];

	for (int i = 0; i < 2; i++) {
		if (send(e[i].peer, "0123456789", 10, 0) != 10 || recv(e[i].fd, buf, 1, MSG_PEEK) != 1)
			wrong("cannot send or peek: %s", error_name(errno));
		got[i] = receive_zerocopy(e[i].fd, buf, sizeof(buf), &skip[i]);
		if (got[i] <= 0 && recv(e[i].fd, buf, sizeof(buf), MSG_DONTWAIT) != 10)
			wrong("nothing was copied, but the data are gone: %s", error_name(errno));
	}
	if (s->phase == CONNECTED ? got[SMC] || skip[SMC] != 10 : got[SMC] != got[TCP])
		wrong("%s: returned %d and left %u to recv(), TCP returned %d", phases[s->phase],
		      got[SMC], skip[SMC], got[TCP]);
	for (int i = 0; i < 2; i++)
		end_it(&e[i]);
}

/* ---- TCP_INFO with its length in the same place: TCP's answer, for SMC's bytes ---- */

static void info(const void *arg)
{
	enum { BYTES_RECEIVED = 128, SIZE = 232 };
	const struct scene *s = arg;
	struct end e[2] = { make_end(s, 0), make_end(s, SMC_PROTOCOL) };

	for (int i = 0; i < 2; i++) {
		const struct call c = { .len = SIZE, .length = SAME };
		uint64_t bytes;
		struct result r;

		map_memory();
		get(e[i].fd, IPPROTO_TCP, 11, SIZE, &c, &r);
		memcpy(&bytes, r.value + BYTES_RECEIVED, sizeof(bytes));
		if (r.error || bytes != 1)
			wrong("%s of %s: %llu bytes received", error_name(r.error),
			      i ? "SMC" : "TCP", (unsigned long long)bytes);
		end_it(&e[i]);
	}
}

/* ---- cases ---- */

struct level_case {
	const struct scene *scene;
	const struct surface_level *level;
};

static const struct surface_option *in_table(int level, int number)
{
	for (size_t i = 0; i < surface_n_options; i++)
		if (surface_options[i].level == level && surface_options[i].number == number)
			return &surface_options[i];
	return NULL;
}

static void of_level(const void *arg)
{
	const struct level_case *c = arg;

	map_memory();
	for (size_t i = 0; i < surface_n_options; i++) {
		const struct surface_option *o = &surface_options[i];

		if (o->level == c->level->level &&
		    !(c->scene->phase == CONNECTED && is_locked_filter(o->level, o->number)))
			all_forms(c->scene, &(struct option){ o, o->level, o->number, o->level, o->number,
							      o->size, o->size, o->flags });
	}
}

/* SMC's own options, each with a similar option of TCP. */
static void of_smc(const void *arg)
{
	static const struct { int number, kin, kin_size; } kinds[] = {
		{ 1 /* SMC_LIMIT_HS */, 1 /* TCP_NODELAY */, 4 },
		{ 0x100 /* SMC_SOCK_INFO */, 11 /* TCP_INFO */, 0 },
	};
	const struct scene *s = arg;

	map_memory();
	for (size_t i = 0; i < ARRAY(kinds); i++) {
		const struct surface_option *o = in_table(SMC_LEVEL, kinds[i].number);
		int kin_size = kinds[i].kin_size ?: read_option(make(s->ip, 0), IPPROTO_TCP,
								kinds[i].kin).len;

		all_forms(s, &(struct option){ o, SMC_LEVEL, o->number, IPPROTO_TCP, kinds[i].kin, o->size,
					       kin_size, o->flags });
	}
}

/* Invalid options and invalid levels. */
static void of_nothing(const void *arg)
{
	static const int numbers[] = { 0, -1, 1000, INT_MAX };
	static const int levels[] = { 17, 58, 132, 136, 255, 270, 282, 283, 284, 287, 300, -1, INT_MAX,
				      INT_MIN };
	const struct scene *s = arg;

	map_memory();
	for (size_t i = 0; i < ARRAY(numbers); i++) {
		for (size_t j = 0; j < surface_n_levels; j++) {
			int level = surface_levels[j].level;

			all_forms(s, &(struct option){ NULL, level, numbers[i],
						       level == SMC_LEVEL ? IPPROTO_TCP : level, numbers[i], 4,
						       4, 0 });
		}
	}
	for (size_t i = 0; i < ARRAY(levels); i++)
		all_forms(s, &(struct option){ NULL, levels[i], 1, levels[i], 1, 4, 4, 0 });
}

static bool exists(int ip, int protocol, int level, int number)
{
	struct result got, put;
	int fd = make(ip, protocol);

	get(fd, level, number, 4, &(struct call){ .len = 4 }, &got);
	set(fd, level, number, 4, &(struct call){ .set = true, .len = 4 }, &put);
	close(fd);
	return got.error != ENOPROTOOPT || put.error != ENOPROTOOPT;
}

/* The table must have every number that TCP or SMC supports. */
static void complete(const void *arg)
{
	map_memory();
	for (size_t i = 0; i < surface_n_levels; i++) {
		const struct surface_level *l = &surface_levels[i];

		for (int number = 0; number <= l->last; number++)
			if (exists(AF_INET6, l->level == SMC_LEVEL ? SMC_PROTOCOL : 0, l->level, number) &&
			    !in_table(l->level, number))
				wrong("%s/%d is not in the table", l->name, number);
	}
	if (!in_table(SMC_LEVEL, SMC_LIMIT_HS) || !exists(AF_INET, SMC_PROTOCOL, SMC_LEVEL, SMC_LIMIT_HS))
		wrong("SMC_LIMIT_HS is missing");
}

void input_options(void)
{
	char name[100];

	play("options complete", complete, NULL);
	for (size_t i = 0; i < ARRAY(scenes); i++) {
		for (size_t j = 0; j < surface_n_levels; j++) {
			struct level_case c = { &scenes[i], &surface_levels[j] };

			snprintf(name, sizeof(name), "options %s %s", scenes[i].name, c.level->name);
			if (c.level->level == scenes[i].left_out)
				continue;
			if (c.level->level == SMC_LEVEL)
				play(name, of_smc, &scenes[i]);
			else
				play(name, of_level, &c);
		}
		snprintf(name, sizeof(name), "options %s unknown", scenes[i].name);
		play(name, of_nothing, &scenes[i]);
		if (scenes[i].phase != CONNECTED && scenes[i].phase != FALLEN_BACK)
			continue;
		snprintf(name, sizeof(name), "options %s TCP_ZEROCOPY_RECEIVE", scenes[i].name);
		play(name, zerocopy, &scenes[i]);
		snprintf(name, sizeof(name), "options %s TCP_INFO", scenes[i].name);
		play(name, info, &scenes[i]);
	}
}
