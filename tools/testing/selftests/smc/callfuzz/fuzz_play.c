// SPDX-License-Identifier: GPL-2.0
/* The threads that play a program, and the watcher that ends it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kselftest.h"
#include "slow.h"
#include "sock_mode.h"
#include "call_fuzz.h"

#define TICK_NS		5000000
/* A call that takes more than 5 ms gets a signal; after this many signals it counts as hanging. */
#define PATIENCE	slow(12000)

struct board *board;

static struct player {
	sem_t go;
	int number;
} players[THREADS];
static sem_t done;
static const struct program *playing;

/* Counts sockets that have become SMC: a run without any would show nothing. */
void count_smc(int fd)
{
	if (mode_is_smc(fd))
		board->smc++;
}

static __thread int fail_nth;

void arm_fault(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (fail_nth >= 0 && pwrite(fail_nth, text, len, 0) != len)
		ksft_exit_fail_msg("fail-nth: %s\n", strerror(errno));
}

static void play_step(struct place *place, const struct step *s)
{
	const struct call *c = call_number(s->call);

	place->call = c->name;
	place->calls++;
	if (c->run(s) < 0)
		board->failed++;
	else
		board->succeeded++;
}

/* When the others are done, the first thread closes all slots, in a call that may be interrupted,
 * too.
 */
static void play_end(struct place *place)
{
	place->call = "close";
	for (int i = 0; i < SLOTS; i++) {
		place->calls++;
		close(slot_fd(i));
	}
}

static void *player(void *arg)
{
	struct player *p = arg;
	struct place *place = &board->places[p->number];
	int home = setting.home;

	calls_thread();
	place->tid = syscall(SYS_gettid);
	for (;;) {
		while (sem_wait(&p->go))
			;
		if (!playing) {
			play_end(place);
		} else {
			for (unsigned int i = 0; i < playing->n; i++)
				if (playing->step[i].thread == p->number)
					play_step(place, &playing->step[i]);
			arm_fault(0);
			uring_close();
			/* Leaves a namespace that the program may have entered. */
			setns(home, CLONE_NEWNET);
		}
		place->call = NULL;
		sem_post(&done);
	}
	return NULL;
}

/* Waits until @n threads are done; sends signals to calls that wait. */
static bool await_players(int n)
{
	uint64_t seen[THREADS] = { 0 };
	long ticks = 0;

	while (n) {
		struct timespec ts;

		clock_gettime(CLOCK_REALTIME, &ts);
		ts.tv_nsec += TICK_NS;
		ts.tv_sec += ts.tv_nsec / 1000000000;
		ts.tv_nsec %= 1000000000;
		if (!sem_timedwait(&done, &ts)) {
			n--;
			continue;
		}
		for (int i = 0; i < THREADS; i++) {
			struct place *place = &board->places[i];

			if (place->calls != seen[i])
				ticks = 0;
			else if (place->call)
				syscall(SYS_tgkill, getpid(), place->tid, SIGUSR1);
			seen[i] = place->calls;
		}
		if (++ticks > PATIENCE)
			return false;
	}
	return true;
}

/**
 * play() - play a program
 * @p:	the program
 *
 * Return: false if a call does not return, in spite of signals.
 */
bool play(const struct program *p)
{
	playing = p;
	for (int i = 0; i < THREADS; i++)
		sem_post(&players[i].go);
	if (!await_players(THREADS))
		return false;
	playing = NULL;
	sem_post(&players[0].go);
	return await_players(1);
}

static void nothing(int sig)
{
}

void calls_thread(void)
{
	buf = mmap(NULL, BUF_SIZE + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		   -1, 0);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (buf == MAP_FAILED || mprotect(buf + BUF_SIZE, 4096, PROT_NONE) || epoll_fd < 0 ||
	    pipe2(pipe_fd, O_NONBLOCK | O_CLOEXEC))
		ksft_exit_fail_msg("cannot prepare a thread: %s\n", strerror(errno));
}

void players_start(void)
{
	struct sigaction sa = { .sa_handler = nothing };	/* no SA_RESTART */
	pthread_t thread;

	sigaction(SIGUSR1, &sa, NULL);
	signal(SIGIO, SIG_IGN);
	signal(SIGURG, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sem_init(&done, 0, 0);
	for (int i = 0; i < THREADS; i++) {
		players[i].number = i;
		sem_init(&players[i].go, 0, 0);
		if (pthread_create(&thread, NULL, player, &players[i]))
			ksft_exit_fail_msg("cannot start a thread\n");
	}
}
