// SPDX-License-Identifier: GPL-2.0
/*
 * Which programs a preloaded library does not reach: those without a loader, and those that get
 * privileges when they are executed, for which the loader ignores LD_PRELOAD (AT_SECURE).
 */
#include <elf.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "unreachable.h"

/* How often the kernel follows "#!". */
#define MAX_SCRIPTS 5

static bool is_executable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* As execvp(): finds the first executable of that name in PATH, where "" is the current folder. */
static bool find_program(const char *name, char *path, size_t room)
{
	const char *dir = getenv("PATH") ?: "/bin:/usr/bin";

	if (strchr(name, '/')) {
		snprintf(path, room, "%s", name);
		return true;
	}
	for (;;) {
		int len = strcspn(dir, ":");

		snprintf(path, room, "%.*s/%s", len ? len : 1, len ? dir : ".", name);
		if (is_executable(path))
			return true;
		if (!dir[len])
			return false;
		dir += len + 1;
	}
}

/* If the file is a script, replaces its path by that of its interpreter. */
static bool follow_script(char path[PATH_MAX])
{
	char line[PATH_MAX] = "", *name;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (read(fd, line, sizeof(line) - 1) < 0)
		line[0] = '\0';
	close(fd);
	if (strncmp(line, "#!", 2) != 0)
		return false;
	name = line + 2 + strspn(line + 2, " \t");
	name[strcspn(name, " \t\n")] = '\0';
	if (!*name)
		return false;
	snprintf(path, PATH_MAX, "%s", name);
	return true;
}

/* A program header of either class begins with its type. */
static bool has_interpreter(int fd, off_t headers, unsigned int size, unsigned int n)
{
	Elf32_Word type;
	unsigned int i;

	for (i = 0; i < n; i++)
		if (pread(fd, &type, sizeof(type), headers + (off_t)i * size) != sizeof(type) ||
		    type == PT_INTERP)
			return true;
	return false;
}

/*
 * Only a program interpreter (the loader) reads LD_PRELOAD. A file that is not understood counts as
 * a program that has one.
 */
static bool is_static(const char *path)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr narrow;
		Elf64_Ehdr wide;
	} head;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool result = false;

	if (fd < 0)
		return false;
	if (pread(fd, &head, sizeof(head), 0) == sizeof(head) &&
	    memcmp(head.ident, ELFMAG, SELFMAG) == 0) {
		if (head.ident[EI_CLASS] == ELFCLASS64)
			result = !has_interpreter(fd, head.wide.e_phoff, head.wide.e_phentsize,
						  head.wide.e_phnum);
		else if (head.ident[EI_CLASS] == ELFCLASS32)
			result = !has_interpreter(fd, head.narrow.e_phoff, head.narrow.e_phentsize,
						  head.narrow.e_phnum);
	}
	close(fd);
	return result;
}

/* Does the kernel ignore the privileges of this file? */
static bool grants_nothing(const char *path)
{
	struct statvfs fs;

	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
	       (statvfs(path, &fs) == 0 && fs.f_flag & ST_NOSUID);
}

/* Does the file have capabilities that it passes on? To root, they give nothing new. */
static bool has_capabilities(const char *path)
{
	struct vfs_ns_cap_data caps = {};

	if (getuid() == 0 || getxattr(path, "security.capability", &caps, sizeof(caps)) < 0)
		return false;
	return caps.magic_etc & VFS_CAP_FLAGS_EFFECTIVE || caps.data[0].permitted ||
	       caps.data[1].permitted;
}

/* Would the kernel tell the loader, by AT_SECURE, to trust no variables? Returns why, or NULL. */
static const char *is_secure(const char *path)
{
	struct stat st;
	bool grants;

	if (stat(path, &st) < 0)
		return NULL;
	grants = !grants_nothing(path);
	/* The bit means something else if the group may not execute the file. */
	if (grants && st.st_mode & S_ISUID && st.st_uid != getuid())
		return "is a set-user-ID program, for which the loader ignores LD_PRELOAD";
	if (grants && (st.st_mode & (S_ISGID | 0010)) == (S_ISGID | 0010) &&
	    st.st_gid != getgid())
		return "is a set-group-ID program, for which the loader ignores LD_PRELOAD";
	if (grants && has_capabilities(path))
		return "has file capabilities, so that the loader ignores LD_PRELOAD";
	if (geteuid() != getuid() || getegid() != getgid())
		return "gets an effective ID from smc_run, so that the loader ignores LD_PRELOAD";
	return NULL;
}

/**
 * unreachable() - would a preloaded library be ignored?
 * @name: the program, as for execvp()
 * @path: receives the path of the program, or of the interpreter of a script
 *
 * Return: why, as the rest of a sentence that begins with @path, or NULL if it is loaded.
 */
const char *unreachable(const char *name, char path[PATH_MAX])
{
	int i;

	if (!find_program(name, path, PATH_MAX))
		return NULL;
	/* The privileges of a script do not count, but those of its interpreter do. */
	for (i = 0; i < MAX_SCRIPTS && follow_script(path); i++)
		;
	return is_static(path) ? "is linked statically and cannot be converted" : is_secure(path);
}
