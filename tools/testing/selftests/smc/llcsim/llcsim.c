// SPDX-License-Identifier: GPL-2.0
/*
 * Two LLC engines, those of the module, over links that are lost and added. The schedules are
 * random, and a seed reproduces its schedule.
 *
 *	llcsim [-n SCHEDULES] [-s FIRST_SEED] [-k] [-v]
 *
 * -k continues after a fault, -v prints what happens.  Documentation/testing.md has the rules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include "sim.h"
#include "tap.h"

/* The longest pause of an engine is 64 s, between two attempts to add a link. */
#define QUIET		(300 * HZ)
/* Maximum number of links that may be made in that time until the final state is reached. */
#define MAX_TRIES	64
#define CASES		10

static jmp_buf failed;
static bool keep_going;
static unsigned long seed;
static unsigned long n_alive;

void sim_log(const char *fmt, ...)
{
	va_list args;

	printf("# %8.3f %*s", (sim_now - 1000000) / (double)HZ, 40 * (int)sim_here, "");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

void sim_fail(const char *fmt, ...)
{
	va_list args;

	printf("# seed %lu, %.3f s: ", seed, (sim_now - 1000000) / (double)HZ);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n# again: llcsim -n 1 -v -s %lu\n", seed);
	fflush(stdout);
	longjmp(failed, 1);
}

static const char *const types[] = {
	[SMC_LLC_CONFIRM_LINK] = "CONFIRM LINK", [SMC_LLC_ADD_LINK] = "ADD LINK",
	[SMC_LLC_ADD_LINK_CONT] = "ADD LINK CONTINUATION",
	[SMC_LLC_DELETE_LINK] = "DELETE LINK", [SMC_LLC_REQ_ADD_LINK] = "REQUEST ADD LINK",
	[SMC_LLC_CONFIRM_RKEY] = "CONFIRM RKEY", [SMC_LLC_DELETE_RKEY] = "DELETE RKEY",
	[SMC_LLC_TEST_LINK] = "TEST LINK",
};

void trace_smc_llc_sent(const void *p, const u8 *buf, int len, int rc)
{
	const struct smc_link *link = p;
	struct smc_llc_msg m;
	unsigned int about;

	if (!sim_verbose)
		return;
	smc_llc_decode(buf, len, &m);
	about = m.type == SMC_LLC_ADD_LINK ? m.add_link.link :
		m.type == SMC_LLC_ADD_LINK_CONT ? m.add_link_cont.link :
		m.type == SMC_LLC_DELETE_LINK && !m.delete_link.all ? m.delete_link.link : 0;
	sim_log("%s%s%s %u, over link %u%s", types[m.type], m.reply ? " reply" : "",
		m.negative ? " no" : "", about, link->number, rc ? ": failed" : "");
}

/* ---- a schedule ---- */

static bool is_up(unsigned int end, unsigned int port)
{
	const struct sim_port *p = &sim.ends[end].ports[port];

	return p->up && !p->silent;
}

/* Is there a link that both ends use and that does not use this port? */
static bool survives(unsigned int end, unsigned int port)
{
	struct smc_lgr *lgr = sim.ends[end].lgr;
	const struct smc_link *other;
	struct smc_link *link;

	if (!lgr)
		return false;
	smc_lgr_for_each_link(lgr, link) {
		other = sim_other_half(link);
		if (link->path.dev && link->path.dev != &sim.ends[end].ports[port].dev &&
		    link->state == SMC_LINK_ACTIVE && other && other->state == SMC_LINK_ACTIVE &&
		    sim_link_reachable(link))
			return true;
	}
	return false;
}

/* Mostly changes a port that the group can do without. */
static void change_port(bool silent)
{
	unsigned int end = sim_below(SIM_ENDS), port = sim_below(sim.ends[end].n_ports);
	struct sim_port *p = &sim.ends[end].ports[port];

	if (is_up(end, port) && !survives(end, port) && !sim_one_in(16))
		return;
	sim_here = end;
	if (!silent && p->up && sim_one_in(4)) {
		sim_port_remove(end, port);
		return;
	}
	if (!silent) {
		sim_port_set(end, port, !p->up);
		return;
	}
	SIM_LOG("port %u of end %u is %s", port, end, p->silent ? "heard" : "silent");
	p->silent = !p->silent;
	sim.harmed = true;
	sim.prompt = false;
	sim_port_harmed(p);
}

static bool is_tested(void)
{
	return sim.ends[0].sn.smcr_testlink_time && sim.ends[1].sn.smcr_testlink_time;
}

/* Without TEST LINK only sent data reveals a dead link; this stands for such data. */
static void test_now(void)
{
	unsigned int i;

	for (i = 0; i < SIM_ENDS; i++) {
		sim_here = i;
		if (sim.ends[i].lgr && sim.ends[i].lgr->state == SMC_LGR_ACTIVE)
			smc_llc_test_now(sim.ends[i].lgr, false);
	}
}

static void act(void)
{
	sim_here = sim_below(SIM_ENDS);
	switch (sim_below(12)) {
	case 0:
	case 1:
	case 2:
	case 3:
		change_port(false);
		break;
	case 4:
		if (is_tested())
			change_port(true);
		break;
	case 5:
	case 6:
		sim_conn_begin(sim_here);
		break;
	case 7:
		sim_conn_close(sim_here);
		break;
	case 8:
		if (sim.ends[sim_here].lgr && sim.ends[sim_here].lgr->state == SMC_LGR_ACTIVE)
			smc_llc_more_links(sim.ends[sim_here].lgr);
		break;
	case 9:
		test_now();
		break;
	case 10:
	case 11:
		sim_retire(sim_here, true);
		break;
	}
}

static void run_until(unsigned long until)
{
	while (sim_step(until))
		sim_judge_step();
	if (time_before(sim_now, until))
		sim_now = until;
}

/* In the middle of an exchange, between exchanges, or long after. */
static unsigned long gap(void)
{
	static const unsigned int most[] = { 2, 4, 10, 50, 400, 6000, 30000 };

	return sim_below(most[sim_below(ARRAY_SIZE(most))]);
}

static void choose(void)
{
	static const unsigned int latency[] = { 0, 1, 1, 3, 3, 20, 200, 900 };
	static const unsigned int preempt[] = { 0, 2, 4, 16 }, slow[] = { 1, 2, 3, 3, 30 };
	static const int testlink[] = { 0, 0, 0, 0, 60, 10 };
	u8 version = sim_one_in(4) ? 1 : 2, release = sim_below(2), max_links[SIM_ENDS];
	unsigned int i;

	sim.harmed = false;
	sim.harmed_at = 0;
	sim.over = false;
	sim.latency = latency[sim_below(ARRAY_SIZE(latency))];
	sim.hop_one_in = sim_one_in(4) ? 1 + sim_below(4) : 0;
	sim.alloc_one_in = sim_one_in(16) ? 5 + sim_below(50) : 0;
	sim_set_processor(preempt[sim_below(ARRAY_SIZE(preempt))],
			  slow[sim_below(ARRAY_SIZE(slow))]);
	sim.prompt = sim.latency <= 20 && !sim.hop_one_in;
	for (i = 0; i < SIM_ENDS; i++) {
		sim.ends[i].n_ports = sim_one_in(3) ? 1 + sim_below(SIM_PORTS) : 2;
		max_links[i] = sim_one_in(8) ? 1 : 2;
		sim.ends[i].sn.smcr_max_links = max_links[i];
		sim.ends[i].sn.smcr_testlink_time = testlink[sim_below(ARRAY_SIZE(testlink))];
	}
	if (sim.alloc_one_in)
		for (i = 0; i < SIM_ENDS; i++)
			sim.ends[i].sn.smcr_testlink_time = 10;
	sim.useless = sim_one_in(16);
	if (sim.useless) {
		i = sim_below(SIM_ENDS);
		sim.ends[i].ports[SIM_PORTS - 1].silent = true;
		sim.ends[i].n_ports = SIM_PORTS;
		sim.prompt = false;
	}
	/* Release 1 negotiates the number of links in CLC. */
	if (release)
		max_links[0] = max_links[1] = min(max_links[0], max_links[1]);
	SIM_LOG("ports %u, %u, links %u, %u, latency %u, gateway 1/%u, no memory 1/%u, version %u.%u",
		sim.ends[0].n_ports, sim.ends[1].n_ports, max_links[0], max_links[1], sim.latency,
		sim.hop_one_in, sim.alloc_one_in, version, release);
	sim_make_groups(version, version > 1 ? release : 0, max_links);
}

static void calm_down(void)
{
	unsigned int i, p, made;

	for (i = 0; i < SIM_ENDS; i++)
		for (p = 0; p < SIM_PORTS; p++)
			if (!sim.useless || p < SIM_PORTS - 1)
				sim.ends[i].ports[p].silent = false;
	sim_set_alloc_fails(0);
	test_now();
	made = sim_links_made();
	run_until(sim_now + QUIET);
	if (sim_links_made() - made > MAX_TRIES)
		sim_fail("%u links were set up without success", sim_links_made() - made);
	/* A link may have been lost in the middle of that. */
	test_now();
	run_until(sim_now + QUIET / 4);
	sim_judge_rest();
}

static void end_all(void)
{
	unsigned int i, c, first = sim_below(SIM_ENDS);

	n_alive += sim.ends[0].lgr && sim.ends[0].lgr->state == SMC_LGR_ACTIVE;
	sim.over = true;
	sim_end_group(first);
	run_until(sim_now + sim_below(30));
	sim_end_group(!first);
	run_until(sim_now + QUIET);
	for (i = 0; i < SIM_ENDS; i++)
		for (c = 0; c < SIM_CONNS; c++)
			if (sim.ends[i].conns[c].state != SIM_CONN_NONE)
				sim_fail("connection %u of end %u has not ended", c, i);
	sim_judge_nothing_left();
}

static void play(void)
{
	unsigned int phase, phases, i, n;

	sim_clock_reset(seed);
	sim_links_reset();
	sim_hosts_reset();
	choose();
	/* Usually the first contact is not disturbed. */
	if (!sim_one_in(8))
		run_until(sim_now + sim_below(2000));
	sim_set_alloc_fails(sim.alloc_one_in);
	phases = 1 + sim_below(2);
	for (phase = 0; phase < phases; phase++) {
		n = sim_below(12);
		for (i = 0; i < n; i++) {
			act();
			run_until(sim_now + gap());
		}
		calm_down();
		sim_set_alloc_fails(sim.alloc_one_in);
	}
	sim_set_alloc_fails(0);
	end_all();
}

/* Returns false if it has failed. */
static bool schedule(void)
{
	if (setjmp(failed))
		return false;
	play();
	return true;
}

int main(int argc, char **argv)
{
	unsigned long first = 1, n = 10000, i, block;
	int opt;

	while ((opt = getopt(argc, argv, "n:s:kv")) != -1) {
		switch (opt) {
		case 'n':
			n = strtoul(optarg, NULL, 0);
			break;
		case 's':
			first = strtoul(optarg, NULL, 0);
			break;
		case 'k':
			keep_going = true;
			break;
		case 'v':
			sim_verbose = true;
			break;
		default:
			fprintf(stderr, "usage: llcsim [-n SCHEDULES] [-s FIRST_SEED] [-kv]\n");
			return 2;
		}
	}
	block = max(n / CASES, 1ul);
	for (i = 0; i < n; i++) {
		seed = first + i;
		if (!schedule()) {
			tap_bad++;
			if (!keep_going)
				break;
		}
		if ((i + 1) % block == 0)
			tap_case("schedules up to seed %lu", seed);
	}
	if (tap_bad || i % block)
		tap_case("schedules up to seed %lu", seed);
	printf("# %lu of %lu groups survived their schedule\n", n_alive, n);
	return tap_done();
}
