/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Command lines in the style of ip(8): OPTIONS OBJECT COMMAND arguments. Names may be shortened
 * while they are unique; long options have one dash or two.
 */
#ifndef SMC_TOOLS_COMMAND_LINE_H
#define SMC_TOOLS_COMMAND_LINE_H

#include <stdbool.h>

#include "objects.h"

struct genl;
struct request;

struct command {
	const char *name;
	/* Shows or changes something. Returns an exit code. */
	int (*run)(struct genl *genl, const struct request *request);
	enum { TAKES_NOTHING, TAKES_ALL, TAKES_ID, TAKES_LINKS, TAKES_DEVICES, TAKES_EID,
	       TAKES_WORDS } takes;
	/* --watch repeats READS only; --count ends ENDLESS. */
	enum { READS, CHANGES, ENDLESS } does;
};

/* An object without a command runs its first one. */
struct smc_object {
	const char *name;
	const struct command *commands;	/* ends with an entry without name */
};

struct tool {
	enum smc_kind kind;
	const struct smc_object *objects;	/* ends with an entry without name */
	const char *usage;
};

#define MAX_WORDS	32

struct request {
	enum smc_kind kind;
	const struct smc_object *object;
	const struct command *command;
	int details;		/* -d: 1, -dd: 2 */
	bool absolute;
	bool json;
	bool prometheus;
	bool html;
	double watch;		/* seconds; 0: once */
	unsigned int count;	/* number of rounds; 0: until interrupted */
	struct filter filter;
	const char *which;	/* the word that selects a link group, or all */
	const char *eid;
	const char *words[MAX_WORDS];	/* arguments that the command parses itself */
	size_t word_count;
};

/* Ends the program on a usage error, and after --help and --version. */
void parse_request(const struct tool *tool, int argc, char **argv, struct request *request);

#endif /* SMC_TOOLS_COMMAND_LINE_H */
