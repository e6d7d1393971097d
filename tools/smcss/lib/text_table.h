/* SPDX-License-Identifier: GPL-2.0 */
/* A table of text whose columns grow with what is in them. */
#ifndef SMC_TOOLS_TEXT_TABLE_H
#define SMC_TOOLS_TEXT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

enum table_align { ALIGN_LEFT, ALIGN_RIGHT };

struct text_table;

struct text_table *table_new(void);
/* One more column: at least so wide, with so many blanks after it. */
void table_column(struct text_table *table, const char *title, int width,
		  enum table_align side, int gap);
/* The next cell of the row; after the last column the next row begins by table_row(). */
void table_cell(struct text_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void table_row(struct text_table *table);
/* Titles, if they are wanted, and rows, without blanks at the end of lines. */
void table_print(struct text_table *table, FILE *out, bool titles);
void table_free(struct text_table *table);

#endif /* SMC_TOOLS_TEXT_TABLE_H */
