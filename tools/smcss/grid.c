// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "grid.h"
#include "list.h"

#define CELL_ROOM	160

struct column {
	const char *title;
	int width;
	enum grid_side side;
	int gap;
};

struct cell {
	char text[CELL_ROOM];
};

struct grid {
	struct list columns;
	struct list cells;	/* row after row, every row complete */
	size_t column;		/* of the next cell */
};

struct grid *grid_new(void)
{
	struct grid *grid = calloc(1, sizeof(*grid));

	if (!grid)
		no_memory();
	grid->columns = (struct list)LIST_OF(struct column);
	grid->cells = (struct list)LIST_OF(struct cell);
	return grid;
}

void grid_column(struct grid *grid, const char *title, int width, enum grid_side side, int gap)
{
	struct column *column = list_add(&grid->columns);
	int len = strlen(title);

	*column = (struct column){ title, width > len ? width : len, side, gap };
}

void grid_cell(struct grid *grid, const char *format, ...)
{
	struct column *column = list_item(&grid->columns, grid->column++);
	struct cell *cell = list_add(&grid->cells);
	va_list args;
	int len;

	va_start(args, format);
	vsnprintf(cell->text, CELL_ROOM, format, args);
	va_end(args);
	len = strlen(cell->text);
	if (len > column->width)
		column->width = len;
}

void grid_row(struct grid *grid)
{
	while (grid->column < grid->columns.count)
		grid_cell(grid, "%s", "");
	grid->column = 0;
}

static void print_blanks(FILE *out, int count)
{
	fprintf(out, "%*s", count, "");
}

/* Blanks are owed until there is something to write behind them. */
static int print_cell(FILE *out, const struct column *column, const char *text, int owed)
{
	int rest = column->width - (int)strlen(text);

	if (!*text)
		return owed + column->width + column->gap;
	print_blanks(out, owed + (column->side == GRID_RIGHT ? rest : 0));
	fputs(text, out);
	return (column->side == GRID_RIGHT ? 0 : rest) + column->gap;
}

void grid_print(const struct grid *grid, FILE *out)
{
	size_t i, cell, count = grid->columns.count;
	int owed = 0;

	for (i = 0; i < count; i++) {
		const struct column *column = list_item(&grid->columns, i);

		owed = print_cell(out, column, column->title, owed);
	}
	fputc('\n', out);
	for (cell = 0; cell < grid->cells.count; cell++) {
		const struct cell *text = list_item(&grid->cells, cell);

		if (cell % count == 0)
			owed = 0;
		owed = print_cell(out, list_item(&grid->columns, cell % count), text->text, owed);
		if (cell % count == count - 1)
			fputc('\n', out);
	}
}

void grid_free(struct grid *grid)
{
	list_free(&grid->columns);
	list_free(&grid->cells);
	free(grid);
}
