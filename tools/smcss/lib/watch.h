/* SPDX-License-Identifier: GPL-2.0 */
/* Repeated output, as with watch(1). */
#ifndef SMC_TOOLS_WATCH_H
#define SMC_TOOLS_WATCH_H

/*
 * Calls show(arg) every given number of seconds until it fails, count rounds are over (0: no
 * limit) or a signal arrives. On a terminal each round clears the screen and begins with a line of
 * title and time. Otherwise rounds just follow each other; for JSON that is one object after the
 * other. Returns the last status.
 */
int watch(double seconds, unsigned int count, const char *title, int (*show)(void *arg), void *arg);

#endif /* SMC_TOOLS_WATCH_H */
