// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "complain.h"
#include "watch.h"

static volatile sig_atomic_t ended;

static void on_signal(int number)
{
	ended = number;
}

/* Without SA_RESTART: a signal ends the sleep. */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static void begin_round(bool screen, double seconds, const char *title)
{
	time_t now = time(NULL);
	char text[32];

	if (!screen)
		return;
	strftime(text, sizeof(text), "%F %T", localtime(&now));
	printf("\033[H\033[J%s, every %g s: %s\n\n", text, seconds, title);
}

int watch(double seconds, unsigned int count, const char *title, int (*show)(void *arg), void *arg)
{
	struct timespec next;
	bool screen = isatty(STDOUT_FILENO);
	int status;

	catch_signals();
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		begin_round(screen, seconds, title);
		status = finish_output(show(arg));
		if (status || ended || (count && !--count))
			return status;
		next.tv_sec += (time_t)seconds;
		next.tv_nsec += (seconds - (time_t)seconds) * 1e9;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		if (ended)
			return status;
	}
}
