// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "complain.h"

void *array_add(struct array *list)
{
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 16;
		list->items = reallocarray(list->items, list->room, list->size);
		if (!list->items)
			no_memory();
	}
	return memset(array_item(list, list->count++), 0, list->size);
}

void array_free(struct array *list)
{
	free(list->items);
	list->items = NULL;
	list->count = list->room = 0;
}
