// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "complain.h"
#include "interrupt.h"
#include "watch.h"

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
	bool screen = isatty(STDOUT_FILENO);
	double next = interrupt_clock();
	int status;

	interrupt_catch();
	for (;;) {
		begin_round(screen, seconds, title);
		status = finish_output(show(arg));
		if (status || interrupted() || (count && !--count))
			return status;
		next += seconds;
		interrupt_wait(-1, next);
		if (interrupted())
			return status;
	}
}
