/* SPDX-License-Identifier: GPL-2.0 */
/* Memory whose pages come late. */
#ifndef SMC_TEST_STALL_H
#define SMC_TEST_STALL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#define STALL_SIZE	4096

bool stall_open(void);		/* false: this kernel has no FUSE, or we are not root */
void stall_child(void);		/* after fork(): the end of the server ends all waits */
char *stall_map(void);		/* a page; NULL: errno */

/* From now on, a touch of a page waits... */
void stall_hold(void);
void stall_forget(char *page);	/* ... of this one too, although it had come already */
/* ... until now. */
void stall_release(void);

#endif
