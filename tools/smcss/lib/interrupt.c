// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "interrupt.h"

static volatile sig_atomic_t came;
static sigset_t caught;

static void on_signal(int number)
{
	came = 1;
}

void interrupt_catch(void)
{
	struct sigaction action = { .sa_handler = on_signal };	/* no SA_RESTART */

	sigemptyset(&caught);
	sigaddset(&caught, SIGINT);
	sigaddset(&caught, SIGTERM);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool interrupted(void)
{
	return came;
}

double interrupt_clock(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* Signals are blocked between checking the flag and waiting, so none can be missed in between. */
bool interrupt_wait(int fd, double until)
{
	struct pollfd pollfd = { fd, POLLIN, 0 };
	double seconds = until - interrupt_clock();
	struct timespec time = {};
	bool ready = false;
	sigset_t before;

	if (isinf(seconds)) {
		time.tv_sec = 1 << 20;
	} else if (seconds > 0) {
		time.tv_sec = seconds;
		time.tv_nsec = (seconds - time.tv_sec) * 1e9;
	}
	sigprocmask(SIG_BLOCK, &caught, &before);
	if (!came)
		ready = ppoll(&pollfd, 1, &time, &before) > 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ready;
}
