/* SPDX-License-Identifier: GPL-2.0 */
/* A table of text whose columns grow with what is in them. */
#ifndef SMCSS_GRID_H
#define SMCSS_GRID_H

#include <stdio.h>

enum grid_side { GRID_LEFT, GRID_RIGHT };

struct grid;

struct grid *grid_new(void);
/* One more column: at least so wide, with so many blanks after it. */
void grid_column(struct grid *grid, const char *title, int width, enum grid_side side, int gap);
/* The next cell of the row; after the last column the next row begins by grid_row(). */
void grid_cell(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));
void grid_row(struct grid *grid);
/* Titles and rows, without blanks at the end of lines. */
void grid_print(const struct grid *grid, FILE *out);
void grid_free(struct grid *grid);

#endif /* SMCSS_GRID_H */
