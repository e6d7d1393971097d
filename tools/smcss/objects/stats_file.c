// SPDX-License-Identifier: GPL-2.0
/*
 * The counters at the last reset: a text file for each kind and network namespace, which becomes
 * invalid with a reboot.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complain.h"
#include "stats.h"

#define BOOT_ROOM	64

void stats_write(FILE *out, const struct stats *stats, const char *boot)
{
	const uint64_t *counters = (const uint64_t *)&stats->counters;
	size_t i;

	fprintf(out, "smc-stats 1 %s %zu\n", boot, COUNTERS);
	for (i = 0; i < COUNTERS; i++)
		fprintf(out, "%" PRIu64 "\n", counters[i]);
	for (i = 0; i < stats->fallbacks.count; i++) {
		const struct fallback_count *f = array_item(&stats->fallbacks, i);

		fprintf(out, "fallback %u %x %" PRIu64 "\n", f->is_server, f->reason, f->count);
	}
}

bool stats_parse(FILE *in, struct stats *stats, const char *boot)
{
	uint64_t *counters = (uint64_t *)&stats->counters;
	unsigned int server, reason;
	uint64_t fallbacks;
	char saved[BOOT_ROOM];
	size_t i, count;

	if (fscanf(in, "smc-stats 1 %63s %zu\n", saved, &count) != 2 || count != COUNTERS ||
	    strcmp(saved, boot))
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

static const char *boot_id(char room[BOOT_ROOM])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file || fscanf(file, "%63s", room) != 1)
		strcpy(room, "unknown");
	if (file)
		fclose(file);
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
	char path[512], unfinished[520], boot[BOOT_ROOM], room[256];
	FILE *file;

	if (!path_of(kind, path))
		return complain("no place to keep the counters: set SMC_STATE_DIR to a directory of yours");
	mkdir(directory(room), 0755);
	snprintf(unfinished, sizeof(unfinished), "%s.XXXXXX", path);
	file = open_unfinished(unfinished);
	if (!file)
		return complain("cannot keep the counters in %s: %s (SMC_STATE_DIR names another directory)",
				path, strerror(errno));
	stats_write(file, stats, boot_id(boot));
	if (fclose(file) || rename(unfinished, path)) {
		int error = errno;

		unlink(unfinished);
		return complain("cannot keep the counters in %s: %s", path, strerror(error));
	}
	return 0;
}

bool stats_load(enum smc_kind kind, struct stats *stats)
{
	char path[512], boot[BOOT_ROOM];
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
	read = stats_parse(file, stats, boot_id(boot));
	fclose(file);
	return read;
}
