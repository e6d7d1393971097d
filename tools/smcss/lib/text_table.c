// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "complain.h"
#include "text_table.h"

#define CELL_ROOM	160

struct column {
	const char *title;
	int width;
	enum table_align side;
	int gap;
};

struct cell {
	char text[CELL_ROOM];
};

struct text_table {
	struct array columns;
	struct array cells;	/* row after row, every row complete */
	size_t column;		/* of the next cell */
};

struct text_table *table_new(void)
{
	struct text_table *table = calloc(1, sizeof(*table));

	if (!table)
		no_memory();
	table->columns = (struct array)ARRAY_OF(struct column);
	table->cells = (struct array)ARRAY_OF(struct cell);
	return table;
}

void table_column(struct text_table *table, const char *title, int width,
		  enum table_align side, int gap)
{
	struct column *column = array_add(&table->columns);
	int len = strlen(title);

	*column = (struct column){ title, width > len ? width : len, side, gap };
}

void table_cell(struct text_table *table, const char *format, ...)
{
	struct column *column = array_item(&table->columns, table->column++);
	struct cell *cell = array_add(&table->cells);
	va_list args;
	int len;

	va_start(args, format);
	vsnprintf(cell->text, CELL_ROOM, format, args);
	va_end(args);
	len = strlen(cell->text);
	if (len > column->width)
		column->width = len;
}

void table_row(struct text_table *table)
{
	while (table->column < table->columns.count)
		table_cell(table, "%s", "");
	table->column = 0;
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
	print_blanks(out, owed + (column->side == ALIGN_RIGHT ? rest : 0));
	fputs(text, out);
	return (column->side == ALIGN_RIGHT ? 0 : rest) + column->gap;
}

void table_print(const struct text_table *table, FILE *out)
{
	size_t i, cell, count = table->columns.count;
	int owed = 0;

	for (i = 0; i < count; i++) {
		const struct column *column = array_item(&table->columns, i);

		owed = print_cell(out, column, column->title, owed);
	}
	fputc('\n', out);
	for (cell = 0; cell < table->cells.count; cell++) {
		const struct cell *text = array_item(&table->cells, cell);

		if (cell % count == 0)
			owed = 0;
		owed = print_cell(out, array_item(&table->columns, cell % count), text->text, owed);
		if (cell % count == count - 1)
			fputc('\n', out);
	}
}

void table_free(struct text_table *table)
{
	array_free(&table->columns);
	array_free(&table->cells);
	free(table);
}
