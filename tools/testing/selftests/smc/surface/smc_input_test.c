// SPDX-License-Identifier: GPL-2.0
/*
 * smc_input_test: all invalid input from local users. The tables of surface.h list what can be
 * misused. The expected result is that of TCP for the same call, or of a similar call, made in the
 * same run where possible. A refused call must not change anything, and the kernel log must stay
 * empty.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "input.h"
#include "klog.h"
#include "kselftest.h"
#include "modprobe.h"

#define SHOWN	5	/* failures of a case */
/* Messages of the kernel's own code about bad attributes of any family, about a slow machine, and
 * of a self-test that RCU starts at boot and ends later.
 */
#define CORE	"^netlink: |^[a-z_]*nla[a-z_]*: [0-9]+ callbacks suppressed$|" \
		"^hrtimer: interrupt took |^Callback from call_rcu_tasks\\(\\) invoked\\.$"

static unsigned int n_wrong;
static char **wanted;		/* prefixes of names of cases; empty: all of them */

const char * const actor_names[ACTORS] = {
	[NOBODY] = "nobody",
	[ALONE] = "root of a user namespace",
	[CONTAINED] = "root of a user and a network namespace",
	[ELSEWHERE] = "root in another network namespace",
};

void wrong(const char *fmt, ...)
{
	va_list ap;

	if (n_wrong++ >= SHOWN)
		return;
	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

unsigned int wrongs(void)
{
	return n_wrong;
}

const char *error_name(int error)
{
	return error ? strerrorname_np(error) ?: "?" : "0";
}

static bool is_wanted(const char *name)
{
	for (char **w = wanted; *w; w++)
		if (!strncmp(name, *w, strlen(*w)))
			return true;
	return !*wanted;
}

void play(const char *name, void (*run)(const void *arg), const void *arg)
{
	char line[300];
	int n;

	if (!is_wanted(name))
		return;
	n_wrong = 0;
	run(arg);
	n = klog_said(CORE, line, sizeof(line));
	if (n)
		wrong("kernel log: %d lines, first: %s", n, line);
	ksft_test_result(!n_wrong, "%s\n", name);
	fflush(stdout);
}

void in_child(void (*body)(const void *arg), const void *arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		n_wrong = 0;
		body(arg);
		fflush(stdout);
		_exit(n_wrong ? 1 : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		wrong("in another process");
}

void become(enum actor actor)
{
	int spaces = actor == ALONE ? CLONE_NEWUSER :
		     actor == CONTAINED ? CLONE_NEWUSER | CLONE_NEWNET :
		     actor == ELSEWHERE ? CLONE_NEWNET : 0;

	if (actor != ELSEWHERE && (setresgid(65534, 65534, 65534) ||
				   setresuid(65534, 65534, 65534)))
		wrong("cannot become nobody: %s", error_name(errno));
	if (unshare(spaces))
		wrong("cannot become %s: %s", actor_names[actor], error_name(errno));
}

int main(int argc, char **argv)
{
	struct modprobe modprobe;

	wanted = argv + 1;
	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("needs root\n");
	modprobe = without_modprobe();
	klog_open();
	input_sysctls();
	input_options();
	input_netlink();
	input_diag();
	with_modprobe(&modprobe);
	ksft_print_msg("leaks show at the end of the guest: kmemleak, unload of the module\n");
	ksft_set_plan(ksft_test_num());
	ksft_finished();
}
