/* SPDX-License-Identifier: GPL-2.0 */
/* Showing the same again and again. */
#ifndef SMC_TOOLS_WATCH_H
#define SMC_TOOLS_WATCH_H

/*
 * Calls show(arg) every so many seconds until that fails, count rounds are over (0: no end)
 * or a signal comes. On a terminal each round begins on a clean screen with a line that
 * says what and when; elsewhere rounds follow each other, for JSON one object after the
 * other. Returns the last status.
 */
int watch(double seconds, unsigned int count, const char *title, int (*show)(void *arg), void *arg);

#endif /* SMC_TOOLS_WATCH_H */
