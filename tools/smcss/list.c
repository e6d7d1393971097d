// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "list.h"

void *list_add(struct list *list)
{
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 16;
		list->items = reallocarray(list->items, list->room, list->size);
		if (!list->items)
			no_memory();
	}
	return memset(list_item(list, list->count++), 0, list->size);
}

void list_free(struct list *list)
{
	free(list->items);
	list->items = NULL;
	list->count = list->room = 0;
}
