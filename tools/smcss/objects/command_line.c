// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "complain.h"
#include "number.h"
#include "smc_socket.h"

struct option_name {
	const char *name;
	char letter;
};

static const struct option_name option_names[] = {
	{ "absolute", 'a' },
	{ "count", 'c' },
	{ "ddetails", 'D' },
	{ "details", 'd' },
	{ "help", 'h' },
	{ "json", 'j' },
	{ "version", 'v' },
	{ "watch", 'w' },
};

struct words {
	char **next;
	char **end;
};

static const char *next_word(struct words *words, const char *after)
{
	if (words->next == words->end)
		usage_error("%s requires an argument", after);
	return *words->next++;
}

static void take_option(const struct tool *tool, struct request *r, char letter,
			struct words *words)
{
	switch (letter) {
	case 'a':
		r->absolute = true;
		break;
	case 'd':
		r->details++;
		break;
	case 'D':
		r->details = 2;
		break;
	case 'j':
		r->json = true;
		break;
	case 'w':
		r->watch = parse_seconds(next_word(words, "--watch"));
		break;
	case 'c':
		r->count = parse_count(next_word(words, "--count"));
		break;
	default:
		other_option(letter, tool->usage);
	}
}

/* -d, -dd, -da, -details, --details, and shortened as long as two letters are left */
static void parse_option(const struct tool *tool, struct request *r, const char *word,
			 struct words *words)
{
	const char *text = word + 1 + (word[1] == '-');
	size_t i, len = strlen(text);

	for (i = 0; len > 1 && i < sizeof(option_names) / sizeof(option_names[0]); i++) {
		if (!strncmp(option_names[i].name, text, len)) {
			take_option(tool, r, option_names[i].letter, words);
			return;
		}
	}
	if (!len || word[1] == '-')
		usage_error("there is no option %s", word);
	for (; *text; text++) {
		if (!strchr("acdhjvw", *text))
			usage_error("there is no option %s", word);
		take_option(tool, r, *text, words);
	}
}

/* An exact name, or the only one that begins so; -1: none, -2: several. */
static int find_name(const void *table, size_t size, const char *word)
{
	int i, found = -1;

	for (i = 0; ; i++) {
		const char *name = *(const char *const *)((const char *)table + i * size);

		if (!name)
			return found;
		if (!strcmp(name, word))
			return i;
		if (!strncmp(name, word, strlen(word)))
			found = found == -1 ? i : -2;
	}
}

static void say_names(char *room, size_t size, const void *table, size_t entry)
{
	int i, len = 0;

	for (i = 0; ; i++) {
		const char *name = *(const char *const *)((const char *)table + i * entry);

		if (!name)
			return;
		len += snprintf(room + len, size - len, "%s%s", i ? ", " : "", name);
	}
}

static const struct smc_object *find_object(const struct tool *tool, const char *word)
{
	int i = find_name(tool->objects, sizeof(*tool->objects), word);
	char names[128];

	if (i >= 0)
		return &tool->objects[i];
	say_names(names, sizeof(names), tool->objects, sizeof(*tool->objects));
	usage_error("'%s' %s: use one of %s", word, i == -1 ? "is not an object" : "is ambiguous",
		    names);
}

static void take_filter(struct request *r, const char *word, struct words *words)
{
	char *end;

	if (!strcmp(word, "netdev")) {
		r->filter.netdev = next_word(words, word);
	} else if (!strcmp(word, "ibdev")) {
		r->filter.ibdev = next_word(words, word);
	} else {
		r->filter.id = strtoul(word, &end, 16);
		if (*end || !*word || *word == '-')
			usage_error("'%s' is neither a command nor the ID of a link group", word);
		r->filter.by_id = true;
	}
}

static void take_argument(struct request *r, const char *word, struct words *words)
{
	bool named = !strcmp(word, "netdev") || !strcmp(word, "ibdev");
	int takes = r->command->takes;

	if (takes == TAKES_WORDS && r->word_count < MAX_WORDS)
		r->words[r->word_count++] = word;
	else if (takes == TAKES_EID && !r->eid)
		r->eid = word;
	else if (takes != TAKES_NOTHING && takes != TAKES_EID && takes != TAKES_WORDS &&
		 !strcmp(word, "all"))
		r->filter.by_id = false;
	else if (takes == TAKES_LINKS || (takes == TAKES_ID && !named) ||
		 (takes == TAKES_DEVICES && named))
		take_filter(r, word, words);
	else
		usage_error("'%s %s' does not take '%s'", r->object->name, r->command->name, word);
}

static void take_word(const struct tool *tool, struct request *r, const char *word,
		      struct words *words)
{
	int i;

	if (!r->object) {
		if (!strcmp(word, "help"))
			take_option(tool, r, 'h', words);
		r->object = find_object(tool, word);
		return;
	}
	if (!r->command) {
		if (!strcmp(word, "help"))
			take_option(tool, r, 'h', words);
		i = find_name(r->object->commands, sizeof(*r->object->commands), word);
		r->command = &r->object->commands[i < 0 ? 0 : i];
		if (i >= 0)
			return;
	}
	take_argument(r, word, words);
}

static void check(const struct request *r)
{
	if (r->absolute && strcmp(r->object->name, "stats"))
		usage_error("-a is for stats only");
	if (r->command->takes == TAKES_EID && !r->eid)
		usage_error("'%s %s' requires an EID, as in: %s %s %s EID", r->object->name,
			    r->command->name, program_invocation_short_name, r->object->name,
			    r->command->name);
	if (r->watch && r->command->changes)
		usage_error("'%s %s' changes something and cannot be watched", r->object->name,
			    r->command->name);
	if (r->count && !r->watch)
		usage_error("--count requires --watch");
}

void parse_request(const struct tool *tool, int argc, char **argv, struct request *r)
{
	struct words words = { argv + 1, argv + argc };

	memset(r, 0, sizeof(*r));
	r->kind = tool->kind;
	while (words.next < words.end) {
		const char *word = *words.next++;

		if (word[0] == '-')
			parse_option(tool, r, word, &words);
		else
			take_word(tool, r, word, &words);
	}
	if (!r->object) {
		fputs(tool->usage, stderr);
		exit(EXIT_USAGE);
	}
	if (!r->command)
		r->command = r->object->commands;
	if (r->details > 2)
		r->details = 2;
	check(r);
}
