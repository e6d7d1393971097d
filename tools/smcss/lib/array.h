/* SPDX-License-Identifier: GPL-2.0 */
/* An array that grows. */
#ifndef SMC_TOOLS_ARRAY_H
#define SMC_TOOLS_ARRAY_H

#include <stddef.h>

struct array {
	void *items;
	size_t count;
	size_t room;
	size_t size;		/* of one item */
};

#define ARRAY_OF(type)	{ .size = sizeof(type) }

/* Appends a zeroed item. Ends the program if there is no memory. */
void *array_add(struct array *list);
void array_free(struct array *list);

static inline void *array_item(const struct array *list, size_t index)
{
	return (char *)list->items + index * list->size;
}

#endif /* SMC_TOOLS_ARRAY_H */
