// SPDX-License-Identifier: GPL-2.0
/* What gdbserver runs. It sends SIGINT to the debugger, which then has to interrupt it. */
#include <signal.h>
#include <stddef.h>

volatile int debugger, stopped;
unsigned char block[1 << 20];

static int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(void)
{
	int sum = 0;

	for (size_t at = 0; at < sizeof(block); at++)
		block[at] = at % 251;
	for (int n = 0; n < 20; n++)
		sum += fibonacci(n);
	if (debugger)
		kill(debugger, SIGINT);
	while (debugger && !stopped)
		;
	return sum % 100;
}
