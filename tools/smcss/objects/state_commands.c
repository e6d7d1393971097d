// SPDX-License-Identifier: GPL-2.0
/* smcr save [FILE], smcr restore [FILE]; without FILE: standard output or input. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "complain.h"
#include "genl.h"
#include "state.h"

static const char *file_name(const struct request *r)
{
	if (r->word_count > 1)
		usage_error("unexpected argument '%s': there is one file", r->words[1]);
	return r->word_count ? r->words[0] : NULL;
}

static int with_pnet(struct genl *genl, struct state *state,
		     int (*run)(const struct state_genl *, struct state *))
{
	struct state_genl both = { genl, genl_open(SMCR_GENL_FAMILY_NAME) };
	int status = EXIT_REFUSED;

	if (both.pnet) {
		status = run(&both, state);
		genl_close(both.pnet);
	}
	return status;
}

static int write_state(FILE *out, const struct state *state)
{
	state_print(out, state);
	return fflush(out) || fsync(fileno(out)) ? errno : 0;
}

/* A file keeps its mode and owner. A group that we may not set loses its rights. */
static int set_access(int fd, const struct stat *old)
{
	mode_t mode = old ? old->st_mode & 0777 : 0644;

	if (old && fchown(fd, old->st_uid, old->st_gid) && fchown(fd, -1, old->st_gid)) {
		if (errno != EPERM)
			return -1;
		mode &= ~0070;
	}
	return fchmod(fd, mode);
}

/*
 * Replaces the file atomically: a reader sees either the old one or the new one. @old: the status
 * of the old one, or NULL.
 */
static int replace_file(const char *name, const struct stat *old, const struct state *state)
{
	char *beside;
	FILE *out = NULL;
	int fd, error;

	if (asprintf(&beside, "%s.XXXXXX", name) < 0)
		no_memory();
	fd = mkstemp(beside);
	if (fd >= 0)
		out = fdopen(fd, "w");
	error = !out || set_access(fd, old) ? errno : write_state(out, state);
	if (out && fclose(out) && !error)
		error = errno;
	if (!error && rename(beside, name))
		error = errno;
	if (error && fd >= 0)
		unlink(beside);
	free(beside);
	return error;
}

/* Writes to a device, a pipe, or the target of a dangling link, none of which may be replaced. */
static int write_there(const char *name, const struct state *state)
{
	FILE *out = fopen(name, "w");
	int error;

	if (!out)
		return errno;
	state_print(out, state);
	error = ferror(out) ? errno : 0;
	return fclose(out) ? errno : error;
}

/* /dev/stdout leads to a file to which others may write as well: that file is not replaced. */
static bool is_output(const char *name)
{
	struct stat file, output;

	return !stat(name, &file) && !fstat(STDOUT_FILENO, &output) &&
	       file.st_dev == output.st_dev && file.st_ino == output.st_ino;
}

/* Symbolic links are followed, so that they stay what they are. */
static int write_file(const char *name, const struct state *state)
{
	struct stat old;
	char *path;
	int error;

	if (lstat(name, &old))
		return errno == ENOENT ? replace_file(name, NULL, state) : errno;
	if (is_output(name)) {
		state_print(stdout, state);
		return fflush(stdout) ? errno : 0;
	}
	path = realpath(name, NULL);
	if (path && !stat(path, &old) && S_ISREG(old.st_mode))
		error = replace_file(path, &old, state);
	else
		error = write_there(name, state);
	free(path);
	return error;
}

static int save(struct genl *genl, const struct request *r)
{
	const char *name = file_name(r);
	struct state state;
	int status, error;

	state_init(&state);
	status = with_pnet(genl, &state, state_read);
	if (!status && name) {
		error = write_file(name, &state);
		if (error)
			status = complain("cannot write %s: %s", name, strerror(error));
	} else if (!status) {
		state_print(stdout, &state);
	}
	state_free(&state);
	return status;
}

static int apply(const struct state_genl *genl, struct state *state)
{
	return state_apply(genl, state);
}

static int restore(struct genl *genl, const struct request *r)
{
	const char *name = file_name(r);
	FILE *in = name ? fopen(name, "r") : stdin;
	struct state state;
	int status;

	if (!in)
		return complain("cannot read %s: %s", name, strerror(errno));
	state_init(&state);
	status = state_parse(in, name ? name : "standard input", &state);
	if (name)
		fclose(in);
	if (!status)
		status = with_pnet(genl, &state, apply);
	state_free(&state);
	return status;
}

/* The next word is a file name, whatever it is, so the command's name must match no word. */
const struct command save_commands[] = {
	{ "\n", save, TAKES_WORDS, CHANGES },
	{ }
};

const struct command restore_commands[] = {
	{ "\n", restore, TAKES_WORDS, CHANGES },
	{ }
};
