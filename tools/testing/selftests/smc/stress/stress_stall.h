/* SPDX-License-Identifier: GPL-2.0 */
/* Memory whose pages are supplied late. */
#ifndef SMC_TEST_STALL_H
#define SMC_TEST_STALL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#define STALL_SIZE	4096

bool stall_open(void);		/* false: this kernel has no FUSE, or we are not root */
void stall_child(void);		/* after fork(): the server's end ends all waits */
char *stall_map(void);		/* a page; NULL: see errno */

/* From now on, access to a page waits... */
void stall_hold(void);
void stall_forget(char *page);	/* ... also to this one, although it was supplied before */
/* ... until now. */
void stall_release(void);

#endif
