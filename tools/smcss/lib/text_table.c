// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "complain.h"
#include "text_table.h"
#include "utf8.h"

struct column {
	const char *title;
	int width;
	enum table_align side;
	int gap;
};

struct text_table {
	struct array columns;
	FILE *cells;		/* writes @text */
	char *text;		/* all cells, row by row, each ended by a NUL; rows are complete */
	size_t length;		/* of @text */
	size_t column;		/* number of the next cell's column */
};

struct text_table *table_new(void)
{
	struct text_table *table = calloc(1, sizeof(*table));

	if (!table)
		no_memory();
	table->columns = (struct array)ARRAY_OF(struct column);
	table->cells = open_memstream(&table->text, &table->length);
	if (!table->cells)
		no_memory();
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
	va_list args;
	int len;

	table->column++;
	va_start(args, format);
	len = vfprintf(table->cells, format, args);
	va_end(args);
	if (len < 0 || fputc('\0', table->cells) == EOF)
		no_memory();
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

/* Defers blanks until there is text to print after them. Returns the number of blanks deferred. */
static int print_cell(FILE *out, const struct column *column, const char *text, int owed)
{
	int rest = column->width - utf8_width(text);

	if (!*text)
		return owed + column->width + column->gap;
	print_blanks(out, owed + (column->side == ALIGN_RIGHT ? rest : 0));
	fputs(text, out);
	return (column->side == ALIGN_RIGHT ? 0 : rest) + column->gap;
}

static void print_titles(const struct text_table *table, FILE *out)
{
	size_t i;
	int owed = 0;

	for (i = 0; i < table->columns.count; i++) {
		const struct column *column = array_item(&table->columns, i);

		owed = print_cell(out, column, column->title, owed);
	}
	fputc('\n', out);
}

/* Makes each column as wide as its widest cell. */
static void fit_columns(struct text_table *table)
{
	const char *cell;
	size_t i = 0;

	for (cell = table->text; cell < table->text + table->length; cell += strlen(cell) + 1) {
		struct column *column = array_item(&table->columns, i++ % table->columns.count);
		int width = utf8_width(cell);

		if (width > column->width)
			column->width = width;
	}
}

void table_print(struct text_table *table, FILE *out, bool titles)
{
	size_t i, count = table->columns.count;
	const char *cell;
	int owed = 0;

	if (fflush(table->cells))
		no_memory();
	fit_columns(table);
	if (titles)
		print_titles(table, out);
	for (cell = table->text, i = 0; cell < table->text + table->length;
	     cell += strlen(cell) + 1) {
		if (i == 0)
			owed = 0;
		owed = print_cell(out, array_item(&table->columns, i), cell, owed);
		i = (i + 1) % count;
		if (i == 0)
			fputc('\n', out);
	}
}

void table_free(struct text_table *table)
{
	array_free(&table->columns);
	fclose(table->cells);
	free(table->text);
	free(table);
}
