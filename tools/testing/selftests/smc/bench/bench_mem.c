// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of many open connections: kernel memory for each, and whether setting one up costs the
 * same with ten thousand as with a hundred.
 *
 * Both ends are in this kernel, so the memory per connection is that of two sockets.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../lib/meminfo.h"
#include "bench.h"

#define WINDOW		100	/* set-ups in an average */
#define EARLY		100	/* last set-up of the first window */

struct memory {
	long available_kb;
	long slab_kb;
	long percpu_kb;
	long vmalloc_kb;
	long anon_kb;		/* of the two processes themselves */
	long pagetables_kb;
};

static long row_kb(const char *name)
{
	long kb = meminfo_kib(name);

	if (kb < 0)
		die("/proc/meminfo has no %s", name);
	return kb;
}

static void memory_read(struct memory *m)
{
	m->available_kb = row_kb("MemAvailable");
	m->slab_kb = row_kb("Slab");
	m->percpu_kb = row_kb("Percpu");
	m->vmalloc_kb = row_kb("VmallocUsed");
	m->anon_kb = row_kb("AnonPages");
	m->pagetables_kb = row_kb("PageTables");
}

/* The growth of each cache, largest first, shows where the memory goes. */
struct cache {
	char name[40];
	long bytes;
};

#define CACHES_MAX 400

static int caches_read(struct cache *c)
{
	long active, total, size, pages, slabs, per_slab;
	char line[512];
	int n = 0;
	FILE *f;

	f = fopen("/proc/slabinfo", "r");
	if (!f)
		return 0;	/* only root can read it; /proc/meminfo has the sum */
	while (n < CACHES_MAX && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%39s %ld %ld %ld %ld %ld : tunables %*d %*d %*d : slabdata %*d %ld",
			   c[n].name, &active, &total, &size, &per_slab, &pages,
			   &slabs) != 7)
			continue;
		c[n++].bytes = slabs * pages * sysconf(_SC_PAGESIZE);
	}
	fclose(f);
	return n;
}

static int larger(const void *a, const void *b)
{
	const struct cache *x = a, *y = b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static void caches_subtract(struct cache *after, int na, const struct cache *before, int nb)
{
	int i, j;

	for (i = 0; i < na; i++)
		for (j = 0; j < nb; j++)
			if (!strcmp(after[i].name, before[j].name))
				after[i].bytes -= before[j].bytes;
	qsort(after, na, sizeof(*after), larger);
}

static double mean(const uint64_t *ns, long first, long n)
{
	double sum = 0;
	long i;

	for (i = first; i < first + n; i++)
		sum += ns[i];
	return sum / n;
}

static void report_mem(const struct options *opt, const struct memory *a,
		       const struct memory *b, struct cache *caches, int n,
		       const uint64_t *ns)
{
	double early = mean(ns, EARLY - WINDOW, WINDOW);
	double late = mean(ns, opt->count - WINDOW, WINDOW);
	long user_kb = b->anon_kb - a->anon_kb;
	long kb = a->available_kb - b->available_kb - user_kb;
	double each = 1024.0 * kb / opt->count;
	double slab = 1024.0 * (b->slab_kb - a->slab_kb) / opt->count;
	size_t at;
	int i;

	snprintf(result->json, sizeof(result->json),
		 ", \"kernel_bytes_each\": %.0f, \"slab_bytes_each\": %.0f, "
		 "\"percpu_kb\": %ld, \"vmalloc_kb\": %ld, "
		 "\"setup_ns_early\": %.0f, \"setup_ns_late\": %.0f",
		 each, slab, b->percpu_kb - a->percpu_kb, b->vmalloc_kb - a->vmalloc_kb,
		 early, late);
	at = snprintf(result->text, sizeof(result->text),
		      "  kernel memory per connection, both ends: %.0f bytes, %.0f of them slab\n"
		      "  set-up: %.0f ns each up to the %dth, %.0f ns each up to the %ldth\n",
		      each, slab, early, EARLY, late, opt->count);
	for (i = 0; i < n && i < 12 && caches[i].bytes > 0; i++)
		at += snprintf(result->text + at, sizeof(result->text) - at,
			       "  %8.0f bytes each in %s\n",
			       (double)caches[i].bytes / opt->count, caches[i].name);
}

static void allow_descriptors(long n)
{
	struct rlimit lim = { n + 64, n + 64 };

	if (setrlimit(RLIMIT_NOFILE, &lim))
		die_errno("cannot allow %ld descriptors, are you root?", n);
}

/* One byte from the server shows that its end is established, too. */
static void open_one(const struct transport *t, const struct options *opt, enum role role)
{
	struct chan ch;
	char c = 0;

	if (role == SERVER) {
		t->server(opt, &ch);
		write_all(ch.out, &c, 1);
	} else {
		t->client(opt, &ch);
		read_all(ch.in, &c, 1);
	}
}

static void open_all(const struct transport *t, const struct options *opt, uint64_t *ns)
{
	uint64_t start = now_ns(), end;
	long i;

	for (i = 0; i < opt->count; i++) {
		open_one(t, opt, CLIENT);
		end = now_ns();
		ns[i] = end - start;
		start = end;
	}
}

void run_mem(const struct transport *t, const struct options *opt, enum role role)
{
	struct cache *before, *after;
	struct memory a, b;
	uint64_t *ns;
	int na, nb;
	long i;

	if (opt->count < EARLY + WINDOW)
		die("mem requires --count %d or more", EARLY + WINDOW);
	allow_descriptors(opt->count + opt->warmup);
	for (i = 0; i < opt->warmup; i++)
		open_one(t, opt, role);
	if (role == SERVER) {
		for (i = 0; i < opt->count; i++)
			open_one(t, opt, role);
		meet(role);	/* keeps everything open until the client has measured */
		return;
	}
	before = buffer(CACHES_MAX * sizeof(*before));
	after = buffer(CACHES_MAX * sizeof(*after));
	ns = buffer(opt->count * sizeof(*ns));
	nb = caches_read(before);
	memory_read(&a);
	mark_begin();
	open_all(t, opt, ns);
	mark_end();
	memory_read(&b);
	na = caches_read(after);
	meet(role);
	caches_subtract(after, na, before, nb);
	report_mem(opt, &a, &b, after, na, ns);
}
