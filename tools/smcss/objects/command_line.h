/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Command lines in the manner of ip(8): OPTIONS OBJECT COMMAND arguments, names shortened
 * as far as they stay unique, long options with one dash or two.
 */
#ifndef SMC_TOOLS_COMMAND_LINE_H
#define SMC_TOOLS_COMMAND_LINE_H

#include <stdbool.h>

#include "objects.h"

struct genl;
struct request;

struct command {
	const char *name;
	/* Reads and shows, or changes something; an exit code. */
	int (*run)(struct genl *genl, const struct request *request);
	enum { TAKES_NOTHING, TAKES_ALL, TAKES_ID, TAKES_LINKS, TAKES_DEVICES, TAKES_EID,
	       TAKES_WORDS } takes;
	/* Only what reads can be repeated by --watch; what is endless is ended by --count. */
	enum { READS, CHANGES, ENDLESS } does;
};

/* The first command is that of an object without one. */
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
	unsigned int count;	/* how often; 0: until it is interrupted */
	struct filter filter;
	const char *eid;
	const char *words[MAX_WORDS];	/* of a command that reads them itself */
	size_t word_count;
};

/* Ends the program on wrong usage, and after --help and --version. */
void parse_request(const struct tool *tool, int argc, char **argv, struct request *request);

#endif /* SMC_TOOLS_COMMAND_LINE_H */
