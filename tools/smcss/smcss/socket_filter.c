// SPDX-License-Identifier: GPL-2.0
/*
 * The filter syntax of ss(8): states, and an expression of addresses, ports and modes with "and",
 * "or", "not" and parentheses. Two adjacent conditions must both be met.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "complain.h"
#include "number.h"
#include "socket_filter.h"

enum kind { TERM_AND, TERM_OR, TERM_NOT, TERM_ADDRESS, TERM_PORT, TERM_MODE };
enum compare { IS_EQUAL, IS_NOT, LESS, GREATER, AT_MOST, AT_LEAST };

struct term {
	enum kind kind;
	struct term *one, *other;	/* operands of AND, OR, NOT */
	bool peer;			/* dst, dport */
	enum compare compare;
	uint16_t port;			/* 0: any port, for TERM_ADDRESS */
	int family;			/* 0: any */
	uint8_t address[16];
	unsigned int bits;
	const char *mode;
};

struct words {
	const char *const *next;
	const char *const *end;
};

static const char *next(struct words *words, const char *after)
{
	if (words->next == words->end)
		usage_error("'%s' requires an argument", after);
	return *words->next++;
}

static bool next_is(struct words *words, const char *word)
{
	if (words->next == words->end || strcmp(*words->next, word))
		return false;
	words->next++;
	return true;
}

static struct term *new_term(enum kind kind, struct term *one, struct term *other)
{
	struct term *term = calloc(1, sizeof(*term));

	if (!term)
		no_memory();
	term->kind = kind;
	term->one = one;
	term->other = other;
	return term;
}

/* ---- states -------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint8_t states[12];	/* ends with 0 */
} groups[] = {
	{ "established", { SMC_DIAG_STATE_ACTIVE } },
	{ "listening", { SMC_DIAG_STATE_LISTEN } },
	{ "closed", { SMC_DIAG_STATE_CLOSED } },
	{ "unconnected", { SMC_DIAG_STATE_INIT } },
	{ "closing", { SMC_DIAG_STATE_PEERCLW1, SMC_DIAG_STATE_PEERCLW2, SMC_DIAG_STATE_APPLCLW1,
		       SMC_DIAG_STATE_APPLCLW2, SMC_DIAG_STATE_APPLFINCLW,
		       SMC_DIAG_STATE_PEERFINCLW, SMC_DIAG_STATE_PEERABORTW,
		       SMC_DIAG_STATE_PROCESSABORT } },
	{ "connected", { SMC_DIAG_STATE_ACTIVE, SMC_DIAG_STATE_PEERCLW1, SMC_DIAG_STATE_PEERCLW2,
			 SMC_DIAG_STATE_APPLCLW1, SMC_DIAG_STATE_APPLCLW2,
			 SMC_DIAG_STATE_APPLFINCLW, SMC_DIAG_STATE_PEERFINCLW,
			 SMC_DIAG_STATE_PEERABORTW, SMC_DIAG_STATE_PROCESSABORT } },
};

/* Sets the states that a name stands for. */
static void set_states(bool states[256], const char *name, bool value)
{
	bool found = !strcasecmp(name, "all");
	char room[16];
	size_t i, s;

	if (found)
		memset(states, value, 256 * sizeof(*states));
	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		if (strcasecmp(groups[i].name, name))
			continue;
		for (s = 0; groups[i].states[s]; s++)
			states[groups[i].states[s]] = value;
		found = true;
	}
	for (i = 0; i < 256; i++) {
		if (!strcasecmp(state_name(i, room), name)) {
			states[i] = value;
			found = true;
		}
	}
	if (!found)
		usage_error("'%s' is not a state: use one of smcss(8), or established, listening, connected, closing, unconnected, all",
			    name);
}

static void parse_states(struct socket_filter *filter, struct words *words)
{
	while (words->next < words->end) {
		if (next_is(words, "state")) {
			set_states(filter->states, next(words, "state"), true);
		} else if (next_is(words, "exclude")) {
			if (!filter->has_states)
				set_states(filter->states, "all", true);
			set_states(filter->states, next(words, "exclude"), false);
		} else {
			return;
		}
		filter->has_states = true;
	}
}

/* ---- conditions ---------------------------------------------------------------- */

static void parse_port(struct term *term, const char *text)
{
	unsigned long port;

	if (*text == ':')
		text++;
	if (!read_number(text, 0, 65535, &port))
		usage_error("'%s' is not a port, as in 443 or :443", text);
	term->port = port;
}

_Noreturn static void wrong_address(const char *text)
{
	usage_error("'%s' is not an address; write 10.0.0.1, 10.0.0.0/8, 10.0.0.1:80, [fd00::1]:80 or :80",
		    text);
}

/* Splits "ADDRESS[/BITS][:PORT]" or "[ADDRESS6][/BITS][:PORT]" in place. */
static void split_address(char *text, char **address, char **bits, char **port)
{
	char *rest = text;

	*address = text;
	*bits = *port = NULL;
	if (*text == '[') {
		rest = strchr(text, ']');
		if (!rest)
			wrong_address(text);
		*address = text + 1;
		*rest++ = '\0';
		if (*rest && *rest != '/' && *rest != ':')
			wrong_address(rest);
	} else if (strchr(text, ':') != strrchr(text, ':')) {
		rest = strchr(text, '/');	/* IPv6 without brackets cannot have a port */
	}
	if (rest && strchr(rest, ':')) {
		*port = strchr(rest, ':') + 1;
		(*port)[-1] = '\0';
	}
	*bits = rest && *rest == '/' ? rest : strchr(*address, '/');
	if (*bits)
		*(*bits)++ = '\0';
}

static void parse_address(struct term *term, const char *text)
{
	char room[INET6_ADDRSTRLEN + 16], *address, *bits, *port;
	unsigned long value;

	if (strlen(text) >= sizeof(room))
		wrong_address(text);
	strcpy(room, text);
	split_address(room, &address, &bits, &port);
	if (port)
		parse_port(term, port);
	if (!bits && ((!*address && port) || !strcmp(address, "*")))
		return;
	term->family = strchr(address, ':') ? AF_INET6 : AF_INET;
	term->bits = term->family == AF_INET6 ? 128 : 32;
	if (inet_pton(term->family, address, term->address) != 1)
		wrong_address(text);
	if (bits && !read_number(bits, 0, term->bits, &value))
		wrong_address(text);
	if (bits)
		term->bits = value;
}

static enum compare parse_compare(struct words *words)
{
	static const struct {
		const char *name;
		enum compare compare;
	} names[] = {
		{ "=", IS_EQUAL }, { "==", IS_EQUAL }, { "eq", IS_EQUAL },
		{ "!=", IS_NOT }, { "ne", IS_NOT }, { "neq", IS_NOT },
		{ "<", LESS }, { "lt", LESS }, { ">", GREATER }, { "gt", GREATER },
		{ "<=", AT_MOST }, { "le", AT_MOST }, { "leq", AT_MOST },
		{ ">=", AT_LEAST }, { "ge", AT_LEAST }, { "geq", AT_LEAST },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (next_is(words, names[i].name))
			return names[i].compare;
	return IS_EQUAL;
}

static struct term *parse_expression(struct words *words);

static struct term *parse_condition(struct words *words)
{
	struct term *term;
	const char *word;

	if (words->next == words->end)
		usage_error("a condition is missing after '%s'", words->next[-1]);
	word = *words->next++;
	if (!strcmp(word, "not") || !strcmp(word, "!"))
		return new_term(TERM_NOT, parse_condition(words), NULL);
	if (!strcmp(word, "(")) {
		term = parse_expression(words);
		if (!next_is(words, ")"))
			usage_error("a bracket is not closed");
		return term;
	}
	if (!strcmp(word, "src") || !strcmp(word, "dst")) {
		term = new_term(TERM_ADDRESS, NULL, NULL);
		term->compare = parse_compare(words);
		if (term->compare > IS_NOT)
			usage_error("addresses can only be compared with = and !=");
		parse_address(term, next(words, word));
	} else if (!strcmp(word, "sport") || !strcmp(word, "dport")) {
		term = new_term(TERM_PORT, NULL, NULL);
		term->compare = parse_compare(words);
		parse_port(term, next(words, word));
	} else if (!strcmp(word, "mode")) {
		term = new_term(TERM_MODE, NULL, NULL);
		term->compare = parse_compare(words);
		term->mode = next(words, word);
		if (strcasecmp(term->mode, "tcp") && strcasecmp(term->mode, "smcd") &&
		    strcasecmp(term->mode, "smcr"))
			usage_error("'%s' is not a mode: use tcp, smcd or smcr", term->mode);
	} else {
		usage_error("'%s' is not a condition: use src, dst, sport, dport, mode, not, or brackets",
			    word);
	}
	term->peer = *word == 'd';
	return term;
}

static struct term *parse_conjunction(struct words *words)
{
	struct term *term = parse_condition(words);

	while (words->next < words->end && strcmp(*words->next, ")") &&
	       strcmp(*words->next, "or") && strcmp(*words->next, "||") &&
	       strcmp(*words->next, "|")) {
		if (!next_is(words, "and") && !next_is(words, "&&"))
			next_is(words, "&");
		term = new_term(TERM_AND, term, parse_condition(words));
	}
	return term;
}

static struct term *parse_expression(struct words *words)
{
	struct term *term = parse_conjunction(words);

	while (next_is(words, "or") || next_is(words, "||") || next_is(words, "|"))
		term = new_term(TERM_OR, term, parse_conjunction(words));
	return term;
}

void socket_filter_parse(struct socket_filter *filter, const char *const *list, size_t count)
{
	struct words words = { list, list + count };

	parse_states(filter, &words);
	if (words.next == words.end)
		return;
	filter->terms = parse_expression(&words);
	if (words.next < words.end)
		usage_error("unexpected '%s'", *words.next);
}

static void free_term(struct term *term)
{
	if (!term)
		return;
	free_term(term->one);
	free_term(term->other);
	free(term);
}

void socket_filter_free(struct socket_filter *filter)
{
	free_term(filter->terms);
	filter->terms = NULL;
}

/* ---- matching ------------------------------------------------------------------ */

static bool in_prefix(const uint8_t *address, const uint8_t *prefix, unsigned int bits)
{
	unsigned int rest = bits % 8;

	if (memcmp(address, prefix, bits / 8))
		return false;
	return !rest || !((address[bits / 8] ^ prefix[bits / 8]) >> (8 - rest));
}

static bool address_fits(const struct term *term, const struct record *r)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const struct inet_diag_sockid *id = &r->msg.id;
	const uint8_t *address = (const uint8_t *)(term->peer ? id->idiag_dst : id->idiag_src);
	int family = record_family(r);

	if (term->port && term->port != ntohs(term->peer ? id->idiag_dport : id->idiag_sport))
		return false;
	if (!term->family)
		return true;
	if (term->family == AF_INET && family == AF_INET6 && !memcmp(address, mapped, 12)) {
		family = AF_INET;	/* IPv4 connection of an IPv6 socket */
		address += 12;
	}
	return family == term->family && in_prefix(address, term->address, term->bits);
}

static bool port_fits(const struct term *term, const struct record *r)
{
	unsigned int port = ntohs(term->peer ? r->msg.id.idiag_dport : r->msg.id.idiag_sport);

	switch (term->compare) {
	case IS_EQUAL:
		return port == term->port;
	case IS_NOT:
		return port != term->port;
	case LESS:
		return port < term->port;
	case GREATER:
		return port > term->port;
	case AT_MOST:
		return port <= term->port;
	case AT_LEAST:
		return port >= term->port;
	}
	return false;
}

static bool term_fits(const struct term *term, const struct record *r)
{
	switch (term->kind) {
	case TERM_AND:
		return term_fits(term->one, r) && term_fits(term->other, r);
	case TERM_OR:
		return term_fits(term->one, r) || term_fits(term->other, r);
	case TERM_NOT:
		return !term_fits(term->one, r);
	case TERM_ADDRESS:
		return address_fits(term, r) == (term->compare == IS_EQUAL);
	case TERM_PORT:
		return port_fits(term, r);
	case TERM_MODE:
		return !strcasecmp(mode_name(r), term->mode) == (term->compare == IS_EQUAL);
	}
	return false;
}

bool socket_filter_fits(const struct socket_filter *filter, const struct record *r)
{
	if (filter->has_states && !filter->states[r->msg.diag_state])
		return false;
	return !filter->terms || term_fits(filter->terms, r);
}
