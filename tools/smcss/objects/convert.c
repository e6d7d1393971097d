// SPDX-License-Identifier: GPL-2.0
/* smcr convert, smcd convert: make new TCP sockets of a network namespace SMC sockets. */
#include <linux/smc.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "commands.h"
#include "complain.h"
#include "convert_program.h"
#include "convert_switch.h"
#include "genl.h"
#include "json_writer.h"
#include "smc_socket.h"

static void print_switch(bool on, uint32_t flags)
{
	if (!on)
		puts("off: new TCP sockets of this network namespace stay TCP");
	else if (flags & CONVERT_KEEP_MPTCP)
		puts("on: new TCP sockets of this network namespace are SMC sockets; MPTCP sockets stay MPTCP");
	else
		puts("on: new TCP and MPTCP sockets of this network namespace are SMC sockets");
	if (on && access("/proc/sys/net/smc", F_OK))
		puts("SMC is not loaded: until it is, they stay TCP (modprobe smc)");
}

static void write_switch(bool on, uint32_t flags)
{
	struct json json;

	json_begin(&json, stdout);
	json_object(&json, "convert");
	json_bool(&json, "on", on);
	json_bool(&json, "mptcp", on && !(flags & CONVERT_KEEP_MPTCP));
	json_object_end(&json);
	json_end(&json);
}

/* Closes the switch. Prints its message after a failure. Returns an exit code. */
static int finish(struct convert_switch *s, int rc)
{
	switch_close(s);
	return rc ? complain("%s", s->error) : 0;
}

static int show_switch(struct genl *genl, const struct request *r)
{
	struct convert_switch s;
	uint32_t flags = 0;
	bool on = false;
	int rc;

	/* Without support in the kernel the switch is off: this needs no privileges. */
	if (!convert_unsupported()) {
		rc = switch_open(&s);
		if (!rc)
			rc = switch_get(&s, &on, &flags);
		if (finish(&s, rc))
			return EXIT_REFUSED;
	}
	(r->json ? write_switch : print_switch)(on, flags);
	return 0;
}

static bool takes(const struct request *r, const char *word)
{
	if (r->word_count > 1 || (r->word_count && strcmp(r->words[0], word)))
		usage_error("'convert %s' takes '%s' or nothing, not '%s'", r->command->name, word,
			    r->words[r->word_count - 1]);
	return r->word_count;
}

/* Loads the module. The kernel's own one has AF_SMC for longer than IPPROTO_SMC. */
static int need_protocol(void)
{
	struct genl *smc = genl_open(SMC_GENL_FAMILY_NAME);
	int fd;

	if (!smc)
		return EXIT_REFUSED;
	genl_close(smc);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SMC);
	if (fd < 0)
		return complain("this SMC module has no IPPROTO_SMC, which converted sockets need");
	close(fd);
	return 0;
}

static int set_on(struct genl *genl, const struct request *r)
{
	uint32_t flags = takes(r, "keep-mptcp") ? CONVERT_KEEP_MPTCP : 0;
	const char *unsupported = convert_unsupported();
	struct convert_switch s;
	bool blind = false;
	int rc;

	if (unsupported)
		return complain("%s; 'smc_run' can convert a single program", unsupported);
	if (need_protocol())
		return EXIT_REFUSED;
	rc = switch_open(&s);
	if (!rc)
		rc = switch_on(&s, flags, &blind);
	if (!rc && blind)
		complain("note: this kernel does not show whether SMC is loaded (kptr_restrict, lockdown): run 'convert off' before 'modprobe -r smc', or socket() will fail");
	return finish(&s, rc);
}

static int set_off(struct genl *genl, const struct request *r)
{
	bool all = takes(r, "all");
	struct convert_switch s;
	int rc;

	if (convert_unsupported())
		return 0;
	rc = switch_open(&s);
	if (!rc)
		rc = all ? switch_off_all(&s) : switch_off(&s);
	return finish(&s, rc);
}

const struct command convert_commands[] = {
	{ "show", show_switch, TAKES_NOTHING, READS },
	{ "on", set_on, TAKES_WORDS, CHANGES },
	{ "off", set_off, TAKES_WORDS, CHANGES },
	{ }
};
