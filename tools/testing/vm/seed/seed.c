// SPDX-License-Identifier: GPL-2.0
/*
 * A run that follows from a number (User Mode Linux only; debug-kernel adds this file).
 *
 * With seed=N and time-travel=inf-cpu, nothing of the host's clock, signals or random numbers
 * reaches the kernel. Computing takes no time. Instead, a generator decides where time passes, how
 * much, which task runs next, and which softirqs have to wait for ksoftirqd. It is asked at every
 * point: at each lock that lockdep knows, and at each basic block of a module that calls
 * seed_point(). The kernel's and the programs' random numbers come from it, too.
 *
 * A run has one of three ways to decide, which the seed chooses:
 *
 *	points		  one of EVERY points is a decision, wherever it is
 *	places		  one of EVERY places in the code, and there every fourth time: code that
 *			  runs seldom is as likely as a loop
 *	priorities	  few decisions: a task sleeps until all the others have come to rest,
 *			  as where PCT changes a priority
 *
 *	seed=N[,EVERY]	  EVERY is 0, or missing: the seed chooses
 *	seed_trace=FROM	  keep the points of the run from this one on
 *
 * Write to /proc/seed:
 *
 *	start [N]	  the run begins, with this number or with that of the command line
 *	keep A-B,C,...	  before "start": only decisions with these numbers have an effect
 *	stop		  the run has ended
 *
 * Reading it shows what has happened. /proc/seed_log shows the last decisions. Where do two runs
 * part? /proc/seed_samples has the hash of the run at every 1024th point, /proc/seed_trace the
 * points.
 */
#include <linux/hash.h>
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kmemleak.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/proc_fs.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/seed.h>

#define N_LOG		2048
#define MAX_KEEP	512
#define SAMPLE		1024
#define N_SAMPLES	65536
#define N_TRACE		131072
#define STANDSTILL	65536

enum seed_way { BY_POINTS, BY_PLACES, BY_PRIORITIES, N_WAYS };
enum seed_kind { SEED_JUMP, SEED_SWITCH, SEED_JUMP_SWITCH, SEED_STALL, SEED_LATER, N_KINDS };

static const char * const ways[] = { "points", "places", "priorities" };
static const char * const kinds[] = { "jump", "switch", "jump and switch", "stall",
				      "softirqs left to ksoftirqd" };
/* EVERY is this for the lowest seeds, and at most 128 times as much. */
static const u32 least_every[] = { 20, 2, 500 };

struct seed_range {
	unsigned long first, last;
};

/* A decision that had an effect. */
struct seed_event {
	unsigned long point, decision, ip, ns;
	u64 time;
	int pid;
	char comm[TASK_COMM_LEN];
	enum seed_kind kind;
};

struct seed_step {
	unsigned long ip;
	int pid;
};

bool seed_given, seed_running;
EXPORT_SYMBOL_GPL(seed_running);

static u64 given_seed, seed, state, hash, looked_at;
static u32 given_every, every, later_every, places_key;
static enum seed_way way;
static unsigned long points, decisions, n_events, done[N_KINDS], trace_from = ULONG_MAX;
static unsigned int n_keep;
static struct seed_range keep[MAX_KEEP];
static struct seed_event events[N_LOG];
static u64 *samples;
static struct seed_step *steps;

/* xorshift64* */
u32 notrace seed_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state * 0x2545F4914F6CDD1DULL) >> 32;
}

/* For random.c; @len is a multiple of 4. */
void notrace seed_random_bytes(void *to, size_t len)
{
	for (u32 *word = to; len; len -= sizeof(*word))
		*word++ = seed_random();
}

static void begin(u64 number)
{
	seed = number;
	state = (seed + 1) * 0x9E3779B97F4A7C15ULL ?: 1;
	for (int i = 0; i < 8; i++)
		seed_random();
	way = seed_random() % N_WAYS;
	every = given_every ?: least_every[way] << (seed_random() % 8);
	later_every = 2 << (seed_random() % 8);
	places_key = seed_random();
	points = 0;
	decisions = 0;
	hash = 0;
	looked_at = 0;
	n_events = 0;
	memset(done, 0, sizeof(done));
}

static bool notrace kept(unsigned long decision)
{
	if (!n_keep)
		return true;
	for (unsigned int i = 0; i < n_keep; i++)
		if (decision >= keep[i].first && decision <= keep[i].last)
			return true;
	return false;
}

static void notrace record(unsigned long ip, enum seed_kind kind, unsigned long ns)
{
	struct seed_event *e = &events[n_events++ % N_LOG];

	*e = (struct seed_event) {
		.point = points, .decision = decisions, .ip = ip, .ns = ns, .kind = kind,
		.time = time_travel_now(), .pid = current->pid,
	};
	memcpy(e->comm, current->comm, TASK_COMM_LEN);
	done[kind]++;
}

/* May the task sleep here, although nothing in its code says so? */
static bool notrace may_stall(void)
{
	return !in_interrupt() && preemptible() && !rcu_preempt_depth() && !is_idle_task(current) &&
	       READ_ONCE(current->__state) == TASK_RUNNING;
}

static void notrace stall(unsigned long ns)
{
	ktime_t time = ns;

	__set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&time, HRTIMER_MODE_REL);
}

static void notrace switch_task(void)
{
	if (in_interrupt())
		return;
	set_tsk_need_resched(current);
	set_preempt_need_resched();
	if (preemptible())
		preempt_schedule();
}

/* From 1 us to 2 ms, or from 1 ms to half a second; each magnitude is as likely. */
static unsigned long notrace some_time(void)
{
	unsigned long least = way == BY_PRIORITIES ? NSEC_PER_MSEC : NSEC_PER_USEC;

	return (least << (seed_random() % (way == BY_PRIORITIES ? 10 : 12))) + seed_random() % 1000;
}

static void notrace decide(unsigned long ip)
{
	unsigned long ns = some_time();
	enum seed_kind kind = way == BY_PRIORITIES ? SEED_STALL : seed_random() % SEED_LATER;

	if (kind == SEED_STALL && !may_stall()) {
		if (way == BY_PRIORITIES)
			return;
		kind = SEED_JUMP_SWITCH;
	}
	decisions++;
	if (!kept(decisions))
		return;
	record(ip, kind, ns);
	if (kind == SEED_STALL) {
		stall(ns);
		return;
	}
	if (kind != SEED_SWITCH)
		time_travel_jump(ns);
	if (kind != SEED_JUMP)
		switch_task();
}

/* A task may spin until one that is switched out has run. Without a tick it would spin for ever. */
static void notrace end_standstill(void)
{
	if (time_travel_now() == looked_at)
		time_travel_jump(TICK_NSEC);
	looked_at = time_travel_now();
}

static bool notrace is_decision(unsigned long ip)
{
	u32 drawn = seed_random();

	if (way == BY_PLACES)
		return drawn % 4 == 0 && hash_64(ip ^ places_key, 32) % every == 0;
	return drawn % every == 0;
}

void notrace __seed_point(unsigned long ip)
{
	if (irqs_disabled() || in_hardirq())
		return;
	points++;
	hash = (hash ^ (ip + current->pid)) * 0x100000001b3ULL;
	if (points % SAMPLE == 0 && points / SAMPLE < N_SAMPLES)
		samples[points / SAMPLE] = hash;
	if (steps && points - trace_from < N_TRACE)
		steps[points - trace_from] = (struct seed_step){ ip, current->pid };
	if (points % STANDSTILL == 0)
		end_standstill();
	/* What happens in there comes to points itself. */
	if (is_decision(ip))
		decide(ip);
}
EXPORT_SYMBOL_GPL(__seed_point);

/* For softirq.c: softirqs are pending. Shall they wait, and run in a task? */
bool notrace seed_softirqs_later(unsigned long ip)
{
	if (!seed_running || seed_random() % later_every)
		return false;
	decisions++;
	if (!kept(decisions))
		return false;
	record(ip, SEED_LATER, 0);
	return true;
}

/* Each system call takes time, so no loop of them is endless. */
void seed_syscall(void)
{
	if (seed_running)
		time_travel_jump(1000 + seed_random() % 2048);
}

static int seed_show(struct seq_file *m, void *v)
{
	seq_printf(m, "seed %llu,%u: %s: %lu points, %lu decisions, %lu jumps, %lu switches, %lu of both, %lu stalls, %lu softirqs later, hash %016llx\n",
		   seed, every, ways[way], points, decisions, done[SEED_JUMP], done[SEED_SWITCH],
		   done[SEED_JUMP_SWITCH], done[SEED_STALL], done[SEED_LATER], hash);
	return 0;
}

static int seed_log_show(struct seq_file *m, void *v)
{
	for (unsigned long i = n_events > N_LOG ? n_events - N_LOG : 0; i < n_events; i++) {
		const struct seed_event *e = &events[i % N_LOG];

		seq_printf(m, "%lu at point %lu, %llu ns: %s %lu ns, %s/%d in %pS\n", e->decision,
			   e->point, e->time, kinds[e->kind], e->ns, e->comm, e->pid, (void *)e->ip);
	}
	return 0;
}

static int seed_samples_show(struct seq_file *m, void *v)
{
	for (unsigned long i = 1; i <= points / SAMPLE && i < N_SAMPLES; i++)
		seq_printf(m, "%lu %016llx\n", i * SAMPLE, samples[i]);
	return 0;
}

static int seed_trace_show(struct seq_file *m, void *v)
{
	for (unsigned long i = 0; steps && i < N_TRACE && trace_from + i <= points; i++)
		seq_printf(m, "%lu %d %pS\n", trace_from + i, steps[i].pid, (void *)steps[i].ip);
	return 0;
}

static int set_keep(char *text)
{
	char *range;

	n_keep = 0;
	while ((range = strsep(&text, ","))) {
		char *last = strchr(range, '-');

		if (n_keep == MAX_KEEP)
			return -E2BIG;
		if (last)
			*last++ = 0;
		if (kstrtoul(range, 0, &keep[n_keep].first) ||
		    kstrtoul(last ?: range, 0, &keep[n_keep].last))
			return -EINVAL;
		n_keep++;
	}
	return 0;
}

static int start(const char *text)
{
	u64 number = given_seed;

	if (*text && kstrtou64(text, 0, &number))
		return -EINVAL;
	begin(number);
	/* Whatever came before: the run begins at a whole second, and with nothing drawn before. */
	time_travel_jump(NSEC_PER_SEC - time_travel_now() % NSEC_PER_SEC);
	random_forget();
	seed_running = true;
	return 0;
}

static int command(char *text)
{
	char *argument = text;
	char *word = strsep(&argument, " ");

	argument = argument ?: "";
	if (!strcmp(word, "keep"))
		return set_keep(argument);
	if (!strcmp(word, "start"))
		return start(argument);
	return strcmp(word, "stop") ? -EINVAL : 0;
}

static ssize_t seed_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char *text;
	int rc;

	if (!seed_given)
		return -EOPNOTSUPP;
	if (len > 16 * MAX_KEEP)
		return -E2BIG;
	seed_running = false;
	text = memdup_user_nul(buf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	rc = command(strim(text));
	kfree(text);
	return rc ?: len;
}

static int seed_open(struct inode *inode, struct file *file)
{
	return single_open(file, seed_show, NULL);
}

static const struct proc_ops seed_ops = {
	.proc_open	= seed_open,
	.proc_read	= seq_read,
	.proc_lseek	= seq_lseek,
	.proc_release	= single_release,
	.proc_write	= seed_write,
};

static int __init seed_init(void)
{
	if (!seed_given)
		return 0;
	samples = kcalloc(N_SAMPLES, sizeof(*samples), GFP_KERNEL);
	if (trace_from != ULONG_MAX)
		steps = kcalloc(N_TRACE, sizeof(*steps), GFP_KERNEL);
	if (!samples || (trace_from != ULONG_MAX && !steps))
		return -ENOMEM;
	kmemleak_not_leak(samples);
	kmemleak_no_scan(samples);
	if (steps)
		kmemleak_no_scan(steps);
	proc_create("seed", 0644, NULL, &seed_ops);
	proc_create_single("seed_log", 0444, NULL, seed_log_show);
	proc_create_single("seed_samples", 0444, NULL, seed_samples_show);
	proc_create_single("seed_trace", 0444, NULL, seed_trace_show);
	return 0;
}
late_initcall(seed_init);

static int __init seed_setup(char *text)
{
	char *more = strchr(text, ',');

	if (more)
		*more++ = 0;
	if (kstrtou64(text, 0, &given_seed) || (more && kstrtou32(more, 0, &given_every)))
		panic("seed=%s is not a number", text);
	begin(given_seed);
	seed_given = true;
	return 1;
}
__setup("seed=", seed_setup);

static int __init seed_trace_setup(char *text)
{
	return !kstrtoul(text, 0, &trace_from);
}
__setup("seed_trace=", seed_trace_setup);
