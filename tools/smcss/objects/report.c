// SPDX-License-Identifier: GPL-2.0
/* smcr report: collects the information that is needed to help with a problem. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../smcss/listing.h"
#include "../smcss/process.h"
#include "auto.h"
#include "commands.h"
#include "complain.h"
#include "filter_rule.h"
#include "interrupt.h"
#include "pnet_table.h"
#include "report.h"
#include "smc_socket.h"

#define LOG_LINES	60

/* ---- collecting ---------------------------------------------------------------- */

/* Reads the first line of a file, without the newline. False if there is none. */
static bool first_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	bool found = file && fgets(line, size, file);

	if (file)
		fclose(file);
	if (found)
		line[strcspn(line, "\n")] = '\0';
	return found;
}

void report_take_system(const char *line, char *name, size_t size)
{
	static const char key[] = "PRETTY_NAME=";
	const char *value, *ends;

	if (strncmp(line, key, strlen(key)))
		return;
	value = line + strlen(key);
	ends = *value == '"' ? "\"\n" : *value == '\'' ? "'\n" : "\n";
	value += ends[1] != '\0';
	snprintf(name, size, "%.*s", (int)strcspn(value, ends), value);
}

static void read_system(char *name, size_t size)
{
	FILE *file = fopen("/etc/os-release", "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		report_take_system(line, name, size);
	if (file)
		fclose(file);
}

static void read_module(struct report *r)
{
	char source[64] = "";

	first_line("/sys/module/smc/srcversion", source, sizeof(source));
	snprintf(r->module, sizeof(r->module), "%s%s%s", sysinfo_module(&r->now.info),
		 source[0] ? ", source " : "", source);
}

static int collect(struct genl *genl, struct report *r, double seconds)
{
	struct utsname uts;
	int error = 0;

	if (seconds) {
		double begin = interrupt_clock();

		error = exported_read(genl, &r->before);
		interrupt_wait(-1, begin + seconds);
		r->seconds = interrupt_clock() - begin;
	}
	if (!error)
		error = exported_read(genl, &r->now);
	if (!error)
		error = devices_read(genl, SMC_R, &r->devices[SMC_R]);
	if (!error)
		error = devices_read(genl, SMC_D, &r->devices[SMC_D]);
	if (error)
		return error;
	r->time = time(NULL);
	uname(&uts);
	snprintf(r->host, sizeof(r->host), "%.32s", uts.nodename);
	snprintf(r->kernel, sizeof(r->kernel), "%.60s %.30s", uts.release, uts.machine);
	read_system(r->system, sizeof(r->system));
	read_module(r);
	/* prints its own message on failure */
	query(ASK(SMC_DIAG_FALLBACK) | ASK(SMC_DIAG_LGRINFO) | ASK(SMC_DIAG_DMBINFO), &r->records);
	processes_read(&r->processes);
	return 0;
}

void report_init(struct report *r)
{
	memset(r, 0, sizeof(*r));
	r->devices[SMC_R] = r->devices[SMC_D] = (struct array)ARRAY_OF(struct device);
	r->processes = (struct array)ARRAY_OF(struct process);
}

void report_free(struct report *r)
{
	exported_free(&r->before);
	exported_free(&r->now);
	array_free(&r->devices[SMC_R]);
	array_free(&r->devices[SMC_D]);
	array_free(&r->processes);
	free(r->records.list);
}

/* ---- text ---------------------------------------------------------------------- */

static void section(FILE *out, const char *title)
{
	fprintf(out, "\n==== %s\n", title);
}

static void print_file(FILE *out, const char *path, const char *begins)
{
	FILE *file = fopen(path, "re");
	char line[1024];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, begins, strlen(begins)))
			fputs(line, out);
	if (file)
		fclose(file);
}

void report_boot_options(FILE *out, char *line)
{
	static const char * const ours[] = {
		"smc", "module", "modprobe.blacklist=", "rd.driver.blacklist=", "sysctl.net.smc.",
		"sysctl.net.core.", "ipv6.", "iommu", "intel_iommu=", "amd_iommu=", "swiotlb=",
		"lockdown", "lsm=", "security="
	};
	char *word, *rest = line;
	size_t i;

	fprintf(out, "boot:  ");
	while ((word = strsep(&rest, "\n ")))
		for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
			if (!strncmp(word, ours[i], strlen(ours[i])))
				fprintf(out, " %s", word);
	fputc('\n', out);
}

static void print_boot_options(FILE *out)
{
	char line[4096];

	if (first_line("/proc/cmdline", line, sizeof(line)))
		report_boot_options(out, line);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void print_sysctls(FILE *out)
{
	static const char dir[] = "/proc/sys/net/smc";
	struct dirent **names;
	int i, count = scandir(dir, &names, NULL, by_name);

	for (i = 0; i < count; i++) {
		char path[512], value[128];

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		if (names[i]->d_name[0] != '.' && first_line(path, value, sizeof(value)))
			fprintf(out, "net.smc.%s = %s\n", names[i]->d_name, value);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
}

static void print_configuration(FILE *out, struct genl *genl)
{
	struct array eids = ARRAY_OF(struct eid), rules = ARRAY_OF(struct rule);
	struct array pnets = ARRAY_OF(struct pnet);
	struct genl *pnet = genl_open(SMCR_GENL_FAMILY_NAME);
	struct seid seid = { };

	section(out, "user EIDs");
	if (!ueids_read(genl, &eids))
		ueids_print(out, &eids);
	section(out, "system EID");
	if (!seid_read(genl, &seid))
		seid_print(out, &seid);
	section(out, "filter rules");
	if (!rules_read(genl, &rules))
		rules_print(out, &rules);
	section(out, "PNET table");
	if (pnet && !pnets_read(pnet, NULL, &pnets))
		pnets_print(out, &pnets);
	genl_close(pnet);
	array_free(&eids);
	array_free(&rules);
	array_free(&pnets);
	section(out, "settings");
	print_sysctls(out);
}

static void print_learnt(FILE *out, struct genl *genl)
{
	struct array destinations = ARRAY_OF(struct destination);
	struct array listeners = ARRAY_OF(struct listener);

	section(out, "destinations that turned out not to speak SMC");
	if (!destinations_read(genl, &destinations))
		destinations_print(out, &destinations);
	section(out, "listeners, and whether SMC pays off for them");
	if (!listeners_read(genl, &listeners))
		listeners_print(out, &listeners);
	array_free(&destinations);
	array_free(&listeners);
}

/* The last lines of the kernel log that name SMC; reading the log may require root. */
static void print_log(FILE *out)
{
	enum { READ_ALL = 3, SIZE = 10 };
	const char *kept[LOG_LINES] = { };
	int i, size = klogctl(SIZE, NULL, 0);
	char *text, *line, *rest;
	unsigned int count = 0;

	section(out, "kernel log, the last lines that mention SMC");
	text = size > 0 ? calloc(1, size + 1) : NULL;
	if (!text || klogctl(READ_ALL, text, size) < 0) {
		fprintf(out, "cannot be read: %s\n", strerror(errno));
		free(text);
		return;
	}
	for (rest = text; (line = strsep(&rest, "\n"));)
		if (strcasestr(line, "smc"))
			kept[count++ % LOG_LINES] = line;
	for (i = 0; i < LOG_LINES; i++)
		if (kept[(count + i) % LOG_LINES])
			fprintf(out, "%s\n", kept[(count + i) % LOG_LINES]);
	free(text);
}

static void print_objects(FILE *out, const struct report *r)
{
	struct columns columns = { .processes = &r->processes };
	int kind;

	for (kind = SMC_R; kind >= SMC_D; kind--) {
		section(out, kind == SMC_R ? "devices of SMC-R" : "devices of SMC-D");
		devices_print(out, kind, &r->devices[kind], 1);
		section(out, kind == SMC_R ? "link groups of SMC-R" : "link groups of SMC-D");
		linkgroups_print(out, kind, &r->now.groups[kind], 2);
	}
	section(out, "links");
	links_print(out, &r->now.links, 1);
	section(out, "sockets");
	print_table(out, &r->records, &columns);
	for (kind = SMC_R; kind >= SMC_D; kind--) {
		section(out, kind == SMC_R ? "counters of SMC-R" : "counters of SMC-D");
		stats_print(out, kind, &r->now.of[kind], 2);
	}
}

void report_print(FILE *out, struct genl *genl, const struct report *r)
{
	char text[64];
	struct tm tm;

	strftime(text, sizeof(text), "%F %T %z", localtime_r(&r->time, &tm));
	fprintf(out, "SMC report, for the people you ask for help. It names hosts, addresses, processes and\n"
		"EIDs, but no tokens, no keys and no data. Read it before you pass it on.\n");
	section(out, "versions");
	fprintf(out, "time:   %s\nhost:   %s\nsystem: %s\nkernel: %s\nmodule: %s\ntools:  %s\n",
		text, r->host, r->system, r->kernel, r->module, SMC_TOOLS_VERSION);
	print_file(out, "/proc/modules", "smc");
	print_boot_options(out);
	section(out, "info");
	sysinfo_print(out, &r->now.info);
	print_objects(out, r);
	print_learnt(out, genl);
	print_configuration(out, genl);
	print_log(out);
}

/* ---- the command --------------------------------------------------------------- */

static void print_as_html(struct genl *genl, const struct report *r)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		no_memory();
	report_print(out, genl, r);
	if (fclose(out))
		no_memory();
	report_html(stdout, r, text);
	free(text);
}

static int show_report(struct genl *genl, const struct request *request)
{
	struct report report;
	int error;

	report_init(&report);
	error = collect(genl, &report, request->html ? 1 : 0);
	if (!error && request->html)
		print_as_html(genl, &report);
	else if (!error)
		report_print(stdout, genl, &report);
	report_free(&report);
	if (error)
		return complain("cannot collect a report: %s", strerror(error));
	return 0;
}

const struct command report_commands[] = {
	{ "show", show_report, TAKES_NOTHING, READS },
	{ }
};
