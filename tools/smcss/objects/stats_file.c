// SPDX-License-Identifier: GPL-2.0
/*
 * The counters at the last reset: a text file for each kind and network namespace. It becomes
 * invalid when its counters are gone: after a reboot, another load of the module, or the end of the
 * namespace.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complain.h"
#include "netns.h"
#include "stats.h"

#define SOURCE_ROOM	128

void stats_write(FILE *out, const struct stats *stats, const char *source)
{
	const uint64_t *counters = (const uint64_t *)&stats->counters;
	size_t i;

	fprintf(out, "smc-stats 2 %s %zu\n", source, COUNTERS);
	for (i = 0; i < COUNTERS; i++)
		fprintf(out, "%" PRIu64 "\n", counters[i]);
	for (i = 0; i < stats->fallbacks.count; i++) {
		const struct fallback_count *f = array_item(&stats->fallbacks, i);

		fprintf(out, "fallback %u %x %" PRIu64 "\n", f->is_server, f->reason, f->count);
	}
}

bool stats_parse(FILE *in, struct stats *stats, const char *source)
{
	uint64_t *counters = (uint64_t *)&stats->counters;
	unsigned int server, reason;
	uint64_t fallbacks;
	char saved[SOURCE_ROOM];
	size_t i, count;

	if (fscanf(in, "smc-stats 2 %127s %zu\n", saved, &count) != 2 || count != COUNTERS ||
	    strcmp(saved, source))
		return false;
	for (i = 0; i < COUNTERS; i++)
		if (fscanf(in, "%" SCNu64 "\n", &counters[i]) != 1)
			return false;
	while (fscanf(in, "fallback %u %x %" SCNu64 "\n", &server, &reason, &fallbacks) == 3) {
		struct fallback_count *f = array_add(&stats->fallbacks);

		*f = (struct fallback_count){
			.is_server = server, .reason = reason, .count = fallbacks
		};
	}
	return true;
}

/*
 * What the counters belong to: a boot, a load of the module, a network namespace. The inode in the
 * file's name does not suffice, as another namespace may get it later.
 */
static const char *source_of_stats(char room[SOURCE_ROOM])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	struct stat module = { };
	uint64_t cookie = 0;
	char boot[64];

	if (!file || fscanf(file, "%63s", boot) != 1)
		strcpy(boot, "unknown");
	if (file)
		fclose(file);
	stat("/sys/module/smc", &module);
	netns_cookie(&cookie);
	snprintf(room, SOURCE_ROOM, "%s/%ju/%" PRIu64, boot, (uintmax_t)module.st_ino, cookie);
	return room;
}

static const char *directory(char room[256])
{
	const char *named = getenv("SMC_STATE_DIR");
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (named)
		return named;
	if (!geteuid())
		return "/run/smc";
	if (!runtime)
		return NULL;
	snprintf(room, 256, "%s/smc", runtime);
	return room;
}

/* False: there is no directory for the file. */
static bool path_of(enum smc_kind kind, char room[512])
{
	char dir_room[256];
	const char *dir = directory(dir_room);
	struct stat netns = { };

	if (!dir)
		return false;
	stat("/proc/self/ns/net", &netns);
	snprintf(room, 512, "%s/stats-%s-%ju", dir, kind == SMC_D ? "smcd" : "smcr",
		 (uintmax_t)netns.st_ino);
	return true;
}

/*
 * Creates a file with an unpredictable name. In a directory that others can write to, they cannot
 * prepare a symbolic link for it.
 */
static FILE *open_unfinished(char *path)
{
	int fd = mkostemp(path, O_CLOEXEC);
	FILE *file;

	if (fd < 0)
		return NULL;
	file = fchmod(fd, 0644) ? NULL : fdopen(fd, "w");
	if (!file) {
		unlink(path);
		close(fd);
	}
	return file;
}

int stats_save(enum smc_kind kind, const struct stats *stats)
{
	char path[512], unfinished[520], source[SOURCE_ROOM], room[256];
	FILE *file;

	if (!path_of(kind, path))
		return complain("no place to keep the counters: set SMC_STATE_DIR to a directory of yours");
	mkdir(directory(room), 0755);
	snprintf(unfinished, sizeof(unfinished), "%s.XXXXXX", path);
	file = open_unfinished(unfinished);
	if (!file)
		return complain("cannot keep the counters in %s: %s (SMC_STATE_DIR names another directory)",
				path, strerror(errno));
	stats_write(file, stats, source_of_stats(source));
	if (fclose(file) || rename(unfinished, path)) {
		int error = errno;

		unlink(unfinished);
		return complain("cannot keep the counters in %s: %s", path, strerror(error));
	}
	return 0;
}

bool stats_load(enum smc_kind kind, struct stats *stats)
{
	char path[512], source[SOURCE_ROOM];
	FILE *file;
	bool read;
	int fd;

	if (!path_of(kind, path))
		return false;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return false;
	}
	read = stats_parse(file, stats, source_of_stats(source));
	fclose(file);
	return read;
}
