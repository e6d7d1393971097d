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

/* A zeroed item at the end. Ends the program when there is no memory. */
void *list_add(struct list *list);
void list_free(struct list *list);

static inline void *list_item(const struct list *list, size_t index)
{
	return (char *)list->items + index * list->size;
}

#endif /* SMCSS_LIST_H */
