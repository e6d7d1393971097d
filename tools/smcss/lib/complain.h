/* SPDX-License-Identifier: GPL-2.0 */
/* Messages on standard error, and the exit codes that the tools share. */
#ifndef SMC_TOOLS_COMPLAIN_H
#define SMC_TOOLS_COMPLAIN_H

/* Documented in the man pages: 0 done, 1 refused or impossible, 2 wrong usage. */
enum { EXIT_REFUSED = 1, EXIT_USAGE = 2 };

/*
 * To be called first: a file or socket that gets the number of a closed standard descriptor would
 * receive our output, and nobody would see that it is lost.
 */
void need_descriptors(void);

/* Prints "PROGRAM: ..." and a newline. Returns EXIT_REFUSED, for return statements. */
int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As complain(), with a hint at --help; ends the program with EXIT_USAGE. */
_Noreturn void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Handles the options that every tool has: -h prints the usage text, -v the version. Anything
 * else that getopt returns is a usage error. Ends the program.
 */
_Noreturn void other_option(int option, const char *usage_text);

/* From now on complaints name this line of a file; NULL: no file. */
void complain_about(const char *file, unsigned int line);

/* Ends the program because there is no memory. */
_Noreturn void no_memory(void);

/* Flushes standard output. Returns status, or EXIT_REFUSED if it could not be written. */
int finish_output(int status);

#endif /* SMC_TOOLS_COMPLAIN_H */
