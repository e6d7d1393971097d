/* SPDX-License-Identifier: GPL-2.0 */
/* A text table whose columns grow with their content. */
#ifndef SMC_TOOLS_TEXT_TABLE_H
#define SMC_TOOLS_TEXT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

enum table_align { ALIGN_LEFT, ALIGN_RIGHT };

struct text_table;

struct text_table *table_new(void);
/* Adds a column with a minimum width, followed by a gap of blanks. */
void table_column(struct text_table *table, const char *title, int width,
		  enum table_align side, int gap);
/* Adds the next cell of the current row. Call table_row() after the last column. */
void table_cell(struct text_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void table_row(struct text_table *table);
/* Prints the rows, with titles if requested, without blanks at the end of lines. */
void table_print(struct text_table *table, FILE *out, bool titles);
void table_free(struct text_table *table);

#endif /* SMC_TOOLS_TEXT_TABLE_H */
