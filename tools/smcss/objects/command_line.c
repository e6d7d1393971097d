// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "complain.h"
#include "netns.h"
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
	{ "html", 'H' },
	{ "json", 'j' },
	{ "net", 'N' },
	{ "prometheus", 'p' },
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

/* @value: a value that was part of the option's word, or NULL */
static const char *value_of(const char *value, struct words *words, const char *option)
{
	return value ? value : next_word(words, option);
}

static void take_option(const struct tool *tool, struct request *r, char letter,
			const char *value, struct words *words)
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
		r->watch = parse_seconds(value_of(value, words, "--watch"));
		break;
	case 'c':
		r->count = parse_count(value_of(value, words, "--count"), "repetitions");
		break;
	case 'p':
		r->prometheus = true;
		break;
	case 'H':
		r->html = true;
		break;
	case 'N':
		netns_enter(value_of(value, words, "--net"));
		break;
	default:
		other_option(letter, tool->usage);
	}
}

static bool takes_value(char letter)
{
	return strchr("wcN", letter);
}

/* --watch=1, --watch 1, -watch 1; may be shortened to two letters. False: no such option. */
static bool parse_long(const struct tool *tool, struct request *r, const char *text,
		       struct words *words)
{
	const char *value = strchr(text, '=');
	size_t i, len = value ? (size_t)(value - text) : strlen(text);

	for (i = 0; len > 1 && i < sizeof(option_names) / sizeof(option_names[0]); i++) {
		const struct option_name *option = &option_names[i];

		if (strncmp(option->name, text, len))
			continue;
		if (value && !takes_value(option->letter))
			usage_error("--%s takes no argument", option->name);
		take_option(tool, r, option->letter, value ? value + 1 : NULL, words);
		return true;
	}
	return false;
}

/* A long option, or letters, of which the last may have a value: -d, -dd, -da, -w1 */
static void parse_option(const struct tool *tool, struct request *r, const char *word,
			 struct words *words)
{
	const char *text = word + 1 + (word[1] == '-');

	if (parse_long(tool, r, text, words))
		return;
	if (!*text || word[1] == '-')
		usage_error("there is no option %s", word);
	for (; *text; text++) {
		if (!strchr("acdhjvVwN", *text))
			usage_error("there is no option %s", word);
		if (takes_value(*text)) {
			take_option(tool, r, *text, text[1] ? text + 1 : NULL, words);
			return;
		}
		take_option(tool, r, *text, NULL, words);
	}
}

/* Finds an exact name or a unique abbreviation; -1: none, -2: ambiguous. */
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

/* As find_name(), but two names of the same command are not ambiguous. */
static int find_command(const struct command *commands, const char *word)
{
	int i = find_name(commands, sizeof(*commands), word);
	int first = -1;

	if (i != -2)
		return i;
	for (i = 0; commands[i].name; i++) {
		if (strncmp(commands[i].name, word, strlen(word)))
			continue;
		if (first >= 0 && commands[i].run != commands[first].run)
			return -2;
		first = first < 0 ? i : first;
	}
	return first;
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

_Noreturn static void say_commands(const struct smc_object *object, const char *word,
				    const char *what)
{
	char names[128];

	say_names(names, sizeof(names), object->commands, sizeof(*object->commands));
	usage_error("'%s %s' %s: use one of %s", object->name, word, what, names);
}

static const struct smc_object *find_object(const struct tool *tool, const char *word)
{
	int i = find_name(tool->objects, sizeof(*tool->objects), word);
	char names[128];

	if (i >= 0)
		return &tool->objects[i];
	if (tool->kind == SMC_R && !strncmp(word, "se", 2) && !strncmp(word, "seid", strlen(word)))
		usage_error("'%s': the system EID is shown and changed by 'smcd seid'", word);
	say_names(names, sizeof(names), tool->objects, sizeof(*tool->objects));
	usage_error("'%s' %s: use one of %s", word, i == -1 ? "is not an object" : "is ambiguous",
		    names);
}

/* An ID in hex, as the tables show it, or with 0x, as JSON does. */
static uint32_t parse_group(const char *word)
{
	const char *digits = word + (strncmp(word, "0x", 2) ? 0 : 2);
	size_t len = strspn(digits, "0123456789abcdefABCDEF");

	if (!len || len > 8 || digits[len])
		usage_error("'%s' is neither a command nor the ID of a link group: 1 to 8 hex digits",
			    word);
	return strtoul(digits, NULL, 16);
}

static void take_device(const char **device, const char *word, struct words *words)
{
	if (*device)
		usage_error("%s can be given once", word);
	*device = next_word(words, word);
}

static void take_which(struct request *r, const char *word)
{
	if (r->which)
		usage_error("unexpected '%s' after '%s'", word, r->which);
	r->which = word;
	r->filter.by_id = strcmp(word, "all");
	if (r->filter.by_id)
		r->filter.id = parse_group(word);
}

static void take_filter(struct request *r, const char *word, struct words *words)
{
	if (!strcmp(word, "netdev"))
		take_device(&r->filter.netdev, word, words);
	else if (!strcmp(word, "ibdev"))
		take_device(&r->filter.ibdev, word, words);
	else
		take_which(r, word);
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
		take_which(r, word);
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
			other_option('h', tool->usage);
		r->object = find_object(tool, word);
		return;
	}
	if (!r->command) {
		if (!strcmp(word, "help"))
			other_option('h', tool->usage);
		i = find_command(r->object->commands, word);
		if (i == -2)
			say_commands(r->object, word, "is ambiguous");
		r->command = &r->object->commands[i < 0 ? 0 : i];
		if (i >= 0)
			return;
		if (r->command->takes == TAKES_NOTHING)
			say_commands(r->object, word, "is not a command");
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
	if (r->watch && r->command->does == CHANGES)
		usage_error("'%s %s' changes something and cannot be watched", r->object->name,
			    r->command->name);
	if (r->prometheus && strcmp(r->object->name, "stats"))
		usage_error("--prometheus is for stats only");
	if (r->prometheus && (r->json || r->details || r->command != r->object->commands))
		usage_error("--prometheus has one format: it cannot be combined with -d, -j, json or reset");
	if (r->json && (!strcmp(r->object->name, "report") || !strcmp(r->object->name, "save")))
		usage_error("'%s' is text and cannot be combined with -j", r->object->name);
	if (r->html && strcmp(r->object->name, "report"))
		usage_error("--html is for report only");
	if (r->watch && r->command->does == ENDLESS)
		usage_error("'%s' runs continuously and cannot be combined with --watch", r->object->name);
	if (r->count && !r->watch && r->command->does != ENDLESS)
		usage_error("--count requires --watch");
}

void parse_request(const struct tool *tool, int argc, char **argv, struct request *r)
{
	struct words words = { argv + 1, argv + argc };
	bool options = true;	/* false after "--" */

	memset(r, 0, sizeof(*r));
	r->kind = tool->kind;
	while (words.next < words.end) {
		const char *word = *words.next++;

		if (options && !strcmp(word, "--"))
			options = false;
		else if (options && word[0] == '-')
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
