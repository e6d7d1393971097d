/* SPDX-License-Identifier: GPL-2.0 */
/* An array that grows. */
#ifndef SMCSS_LIST_H
#define SMCSS_LIST_H

#include <stddef.h>

struct list {
	void *items;
	size_t count;
	size_t room;
	size_t size;		/* of an item */
};

#define LIST_OF(type)	{ .size = sizeof(type) }

void *list_add(struct list *list);	/* a zeroed item at the end; ends the program without memory */
void list_free(struct list *list);

static inline void *list_item(const struct list *list, size_t index)
{
	return (char *)list->items + index * list->size;
}

#endif /* SMCSS_LIST_H */
