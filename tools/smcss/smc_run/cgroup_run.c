// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a program in the cgroup of a conversion, stays until the last process there has ended, and
 * passes signals on as if the program had been started without smc_run.
 *
 * The signals stay blocked and are read from a file descriptor. So none is lost before the program
 * exists, and none can go to a PID that has been reaped: the same loop does both.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <poll.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup_run.h"

static const int passed_on[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

/**
 * struct run - a program that is running in a cgroup
 * @cgroup: path of the cgroup
 * @child: PID of the program; 0 once it has been reaped
 * @status: its wait status then
 * @signals: file descriptor from which signals are read
 * @events: of cgroup.events, which tells whether the cgroup is empty; -1: unknown
 * @mask: the signals that were blocked before
 * @sigchld: the disposition of SIGCHLD before
 */
struct run {
	const char *cgroup;
	pid_t child;
	int status;
	int signals;
	int events;
	sigset_t mask;
	struct sigaction sigchld;
};

/*
 * Blocks what is passed on, but not what is ignored: the program inherits that, as from nohup. If
 * SIGCHLD were ignored, the kernel would reap the program and drop its status.
 */
static int take_signals(struct run *r)
{
	static const struct sigaction normal = { .sa_handler = SIG_DFL };
	struct sigaction old;
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		if (!sigaction(passed_on[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaddset(&set, passed_on[i]);
	r->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->signals < 0)
		return -1;
	sigaction(SIGCHLD, &normal, &r->sigchld);
	return sigprocmask(SIG_BLOCK, &set, &r->mask);
}

static void give_signals_back(const struct run *r)
{
	sigaction(SIGCHLD, &r->sigchld, NULL);
	sigprocmask(SIG_SETMASK, &r->mask, NULL);
}

/* Is the process in this cgroup or one below? */
static bool in_cgroup(const char *cgroup, pid_t pid)
{
	const char *name = strrchr(cgroup, '/'), *found = NULL;
	char path[64], line[PATH_MAX + 16];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	file = fopen(path, "r");
	while (file && !found && fgets(line, sizeof(line), file))
		found = strncmp(line, "0::", 3) ? NULL : strstr(line, name);
	if (file)
		fclose(file);
	return found && strchr("/\n", found[strlen(name)]);
}

/*
 * The descriptor stays with its process: if the PID has been given to another one before, that one
 * is not in the cgroup. What the terminal sends, it sends to all of its foreground group itself.
 */
static void pass_to(const struct run *r, pid_t pid, const struct signalfd_siginfo *info)
{
	int fd = syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return;
	if ((pid == r->child || in_cgroup(r->cgroup, pid)) &&
	    !(info->ssi_code == SI_KERNEL && getpgid(pid) == getpgrp()))
		syscall(SYS_pidfd_send_signal, fd, info->ssi_signo, NULL, 0);
	close(fd);
}

static void pass_to_members(const struct run *r, const char *cgroup,
			    const struct signalfd_siginfo *info)
{
	char path[PATH_MAX + 16];
	FILE *procs;
	int pid;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	procs = fopen(path, "re");
	while (procs && fscanf(procs, "%d", &pid) == 1)
		if (pid > 0)
			pass_to(r, pid, info);
	if (procs)
		fclose(procs);
}

/* To all that the program has left behind, also in cgroups that it has made. */
static void pass_to_rest(const struct run *r, const struct signalfd_siginfo *info)
{
	char *const roots[] = { (char *)r->cgroup, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	while (tree && (entry = fts_read(tree)))
		if (entry->fts_info == FTS_D)
			pass_to_members(r, entry->fts_path, info);
	if (tree)
		fts_close(tree);
}

static void take_signal(struct run *r)
{
	struct signalfd_siginfo info;

	if (read(r->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGCHLD) {
		if (r->child && waitpid(r->child, &r->status, WNOHANG) == r->child)
			r->child = 0;
	} else if (r->child) {
		pass_to(r, r->child, &info);
	} else {
		pass_to_rest(r, &info);
	}
}

/* Reading it also makes poll() wait for the next change. */
static bool populated(struct run *r)
{
	char text[256];
	ssize_t n = pread(r->events, text, sizeof(text) - 1, 0);

	if (n <= 0) {
		r->events = -1;
		return false;
	}
	text[n] = '\0';
	return strstr(text, "populated 1");
}

static void stay(struct run *r)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/cgroup.events", r->cgroup);
	r->events = open(path, O_RDONLY | O_CLOEXEC);
	while (populated(r) || r->child) {
		struct pollfd fds[] = {
			{ .fd = r->signals, .events = POLLIN },
			{ .fd = r->events, .events = POLLPRI },
		};

		if (poll(fds, 2, -1) > 0 && fds[0].revents)
			take_signal(r);
	}
}

/**
 * cgroup_run() - run a program in the cgroup, until all processes there have ended
 * @c: the conversion
 * @start: enters the cgroup and executes the program, or returns an exit status
 * @argv: its argument
 *
 * A signal goes to the program, and after its end to the processes that are left. The signals stay
 * blocked when this returns, so that none prevents convert_end().
 *
 * Return: the exit status of the program as a shell shows it, or -1 with c->error.
 */
int cgroup_run(struct conversion *c, int (*start)(struct conversion *c, char **argv), char **argv)
{
	struct run r = { .cgroup = c->path };

	if (!take_signals(&r))
		r.child = fork();
	else
		r.child = -1;
	if (r.child < 0) {
		snprintf(c->error, sizeof(c->error), "cannot start another process: %s",
			 strerror(errno));
		return -1;
	}
	if (!r.child) {
		give_signals_back(&r);
		_exit(start(c, argv));
	}
	stay(&r);
	return WIFSIGNALED(r.status) ? 128 + WTERMSIG(r.status) : WEXITSTATUS(r.status);
}
