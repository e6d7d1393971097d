// SPDX-License-Identifier: GPL-2.0
/*
 * Hands out the memory and the doorbells of QEMU's ivshmem-doorbell.  A client gets its id, the
 * memory, and an eventfd for each vector of each client.  Afterwards it is told which clients come
 * and go.  Each message is a little-endian 64-bit word, with or without a file descriptor.  Clients
 * send nothing.
 *
 * A machine owns a part of the memory by its id, and may run without a connection to the server:
 * after the server was restarted, or has dropped it.  So a memory never gets a second machine with
 * the same id.  It has no name by which another server could hand it out again, and is replaced
 * whenever ids begin anew.  Whoever still has the former memory shares it with nobody new.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define PROTOCOL	0
#define NO_FD		-1
#define MEMORY		-1	/* in place of an id: the file descriptor is the memory */
#define MAX_CLIENTS	256
#define MAX_IDS		65536
#define MAX_VECTORS	64
#define SEND_SECONDS	2	/* a client that does not read for this long is dropped */
#define FAILURE		1	/* exit status */
#define USAGE		2

/* The words of SMC-D that the server knows: Documentation/ism-ivshmem.md */
#define SMC_MAGIC	0x314d53492d434d53ull
#define SMC_VERSION	2
#define SMC_SLOTS_AT	32	/* in the header */
#define SMC_SLOTS_MAX	64
#define SMC_BLOCK	65536	/* of the header, and of each slot */
#define SMC_OWNER_AT	0	/* in a slot */
#define SMC_BOOT_AT	8

struct client {
	int fd;			/* NO_FD: the entry is free */
	unsigned int id;
	bool broken;
	bool over;		/* it has closed its end: it does not run any more */
	int bells[MAX_VECTORS];
};

static const char *path = "/run/smc-ivshmem";
static uid_t owner = -1;	/* of the socket, if it is not the server's user */
static uint64_t size = 64 << 20;
static unsigned int vectors = 1;
static struct client clients[MAX_CLIENTS];
static unsigned int next_id;
static int memory = NO_FD;
static char *mapped;
static volatile sig_atomic_t stopped;

__attribute__((format(printf, 2, 3), noreturn))
static void die(int status, const char *format, ...)
{
	va_list args;

	fputs("smc-ivshmem-server: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(status);
}

/* Machines go on without their server. */
static void say_what_remains(const char *which)
{
	fprintf(stderr,
		"smc-ivshmem-server: %s keep their memory, and share nothing with machines that start from now on; to change that, shut them down and start them again\n",
		which);
}

static void say(struct client *c, int64_t word, int fd)
{
	uint64_t wire = htole64(word);
	struct iovec iov = { .iov_base = &wire, .iov_len = sizeof(wire) };
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd != NO_FD) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	if (!c->broken && sendmsg(c->fd, &msg, MSG_NOSIGNAL) != sizeof(wire))
		c->broken = true;
}

/* Send one client the doorbells of another client, or its own. */
static void say_bells(struct client *to, const struct client *of)
{
	unsigned int i;

	for (i = 0; i < vectors; i++)
		say(to, of->id, of->bells[i]);
}

static bool make_bells(struct client *c)
{
	unsigned int i;

	for (i = 0; i < vectors; i++) {
		c->bells[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (c->bells[i] == NO_FD) {
			while (i--)
				close(c->bells[i]);
			return false;
		}
	}
	return true;
}

/* Replace the memory.  Returns false, and keeps the former one, if that fails. */
static bool make_memory(void)
{
	int fd = memfd_create("smc-ivshmem", MFD_CLOEXEC);
	char *at = MAP_FAILED;

	if (fd != NO_FD && !ftruncate(fd, size))
		at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		fprintf(stderr, "smc-ivshmem-server: cannot create %llu bytes of memory: %s\n",
			(unsigned long long)size, strerror(errno));
		if (fd != NO_FD)
			close(fd);
		return false;
	}
	if (memory != NO_FD) {
		munmap(mapped, size);
		close(memory);
	}
	memory = fd;
	mapped = at;
	return true;
}

static unsigned int count_clients(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < MAX_CLIENTS; i++)
		n += clients[i].fd != NO_FD;
	return n;
}

/*
 * Ids begin anew with a new memory, when nobody is connected.  That nobody with the same id has the
 * same memory is also good for QEMU 10.0, which has a use-after-free when it hears of an id again.
 */
static bool has_id(void)
{
	if (count_clients())
		return next_id < MAX_IDS;
	if (next_id && make_memory())
		next_id = 0;
	return !next_id;
}

static struct client *new_client(int fd)
{
	struct client *c;

	if (!has_id())
		return NULL;
	for (c = clients; c < clients + MAX_CLIENTS; c++) {
		if (c->fd == NO_FD) {
			if (!make_bells(c))
				return NULL;
			c->fd = fd;
			c->id = next_id++;
			c->broken = c->over = false;
			return c;
		}
	}
	return NULL;
}

static void welcome(int listener)
{
	struct timeval patience = { .tv_sec = SEND_SECONDS };
	struct client *c, *other;
	int fd;

	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd == NO_FD)
		return;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	c = new_client(fd);
	if (!c) {
		fputs("smc-ivshmem-server: another machine cannot join\n", stderr);
		close(fd);
		return;
	}
	say(c, PROTOCOL, NO_FD);
	say(c, c->id, NO_FD);
	say(c, MEMORY, memory);
	for (other = clients; other < clients + MAX_CLIENTS; other++) {
		if (other->fd == NO_FD || other == c)
			continue;
		say_bells(c, other);
		say_bells(other, c);
	}
	say_bells(c, c);
}

static uint64_t *word(uint64_t offset)
{
	return (uint64_t *)(mapped + offset);
}

static uint64_t load(uint64_t offset)
{
	return le64toh(__atomic_load_n(word(offset), __ATOMIC_ACQUIRE));
}

/*
 * A machine that does not run any more writes to nobody's memory. Participants cannot tell that
 * from a machine that is paused, so release its slot.
 */
static void release_slots(unsigned int id)
{
	uint64_t slots = load(SMC_SLOTS_AT), at, i;

	if (load(0) != SMC_MAGIC || load(8) != SMC_VERSION || slots > SMC_SLOTS_MAX ||
	    (1 + slots) * SMC_BLOCK > size)
		return;
	for (i = 0; i < slots; i++) {
		at = SMC_BLOCK * (1 + i);
		if ((uint32_t)load(at + SMC_OWNER_AT) != id + 1)
			continue;
		__atomic_store_n(word(at + SMC_BOOT_AT), 0, __ATOMIC_SEQ_CST);
		__atomic_store_n(word(at + SMC_OWNER_AT), 0, __ATOMIC_SEQ_CST);
	}
}

static void farewell(struct client *c)
{
	struct client *other;
	unsigned int i;

	if (c->over)
		release_slots(c->id);
	close(c->fd);
	c->fd = NO_FD;
	for (i = 0; i < vectors; i++)
		close(c->bells[i]);
	for (other = clients; other < clients + MAX_CLIENTS; other++)
		if (other->fd != NO_FD)
			say(other, c->id, NO_FD);
}

/* Sending a farewell may reveal that more clients are broken, so repeat until none is left. */
static void let_go(void)
{
	struct client *c;
	bool again;

	do {
		again = false;
		for (c = clients; c < clients + MAX_CLIENTS; c++) {
			if (c->fd != NO_FD && c->broken) {
				farewell(c);
				again = true;
			}
		}
	} while (again);
}

static void serve(int listener)
{
	struct pollfd polled[1 + MAX_CLIENTS];
	struct client *who[1 + MAX_CLIENTS];
	struct client *c;
	sigset_t none;
	nfds_t n, i;

	sigemptyset(&none);
	while (!stopped) {
		polled[0] = (struct pollfd){ .fd = listener, .events = POLLIN };
		n = 1;
		for (c = clients; c < clients + MAX_CLIENTS; c++) {
			if (c->fd == NO_FD)
				continue;
			who[n] = c;
			polled[n++] = (struct pollfd){ .fd = c->fd, .events = POLLIN };
		}
		if (ppoll(polled, n, NULL, &none) < 0)
			continue;
		/* Drop clients that hang up, or send data, which the protocol does not allow. */
		for (i = 1; i < n; i++) {
			if (polled[i].revents)
				who[i]->broken = true;
			if (polled[i].revents & POLLHUP)
				who[i]->over = true;
		}
		let_go();
		if (polled[0].revents)
			welcome(listener);
		let_go();
	}
}

static int make_listener(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(name.sun_path))
		die(FAILURE, "the path of the socket is too long");
	memcpy(name.sun_path, path, strlen(path) + 1);
	if (!connect(fd, (struct sockaddr *)&name, sizeof(name)))
		die(FAILURE, "%s: another server uses it", path);
	/* Remove the socket of a server that was killed. */
	if (errno == ECONNREFUSED && !unlink(path))
		say_what_remains("machines of the former server, which was killed,");
	umask(0077);
	if (bind(fd, (struct sockaddr *)&name, sizeof(name)) || listen(fd, SOMAXCONN))
		die(FAILURE, "%s: %s", path, strerror(errno));
	if (owner != (uid_t)-1 && chown(path, owner, -1))
		die(FAILURE, "cannot change the owner of %s: %s", path, strerror(errno));
	return fd;
}

static unsigned int parse_vectors(const char *text)
{
	unsigned long value;
	char *end;

	value = strtoul(text, &end, 10);
	if (!value || value > MAX_VECTORS || *end)
		die(USAGE, "not a number of doorbells: %s", text);
	return value;
}

static uid_t user_named(const char *name)
{
	const struct passwd *entry = getpwnam(name);

	if (!entry)
		die(USAGE, "there is no user %s", name);
	return entry->pw_uid;
}

static uint64_t parse_size(const char *text)
{
	static const char units[] = "KMG";
	uint64_t value, power = 4096;
	unsigned int shift = 0;
	const char *unit;
	char *end;

	value = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (unit && !end[1])
		shift = 10 * (unit - units + 1);
	else if (*end)
		value = 0;
	if (!value || value > (1ull << 46) >> shift)
		die(USAGE, "not a size: %s", text);
	value <<= shift;
	/* The size of a BAR must be a power of two. */
	while (power < value)
		power <<= 1;
	return power;
}

static void on_signal(int number)
{
	stopped = 1;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t caught;

	/* Deliver signals only while ppoll() waits, so none is missed. */
	sigemptyset(&caught);
	sigaddset(&caught, SIGTERM);
	sigaddset(&caught, SIGINT);
	sigprocmask(SIG_BLOCK, &caught, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
}

static const char help[] =
	"Usage: smc-ivshmem-server [options]\n"
	"Hands out memory and doorbells to QEMU's ivshmem-doorbell.\n\n"
	"  -S PATH     socket that QEMU connects to (/run/smc-ivshmem)\n"
	"  -l SIZE     size of the memory, with K, M or G, rounded up to a power of two (64M)\n"
	"  -n VECTORS  doorbells of each client, 1 to 64 (1)\n"
	"  -u USER     user that may connect, besides the one that starts the server\n"
	"  -F          stay in the foreground\n"
	"  -h          this text\n"
	"  -v, -V      version\n";

static bool parse(int argc, char **argv)
{
	bool foreground = false;
	int option;

	while ((option = getopt(argc, argv, "S:l:n:u:M:FhvV")) != -1) {
		switch (option) {
		case 'S':
			path = optarg;
			break;
		case 'l':
			size = parse_size(optarg);
			break;
		case 'n':
			vectors = parse_vectors(optarg);
			break;
		case 'u':
			owner = user_named(optarg);
			break;
		case 'M':
			/* Units of earlier versions have it. */
			fputs("smc-ivshmem-server: -M is ignored: each server has a memory of its own\n",
			      stderr);
			break;
		case 'F':
			foreground = true;
			break;
		case 'h':
			fputs(help, stdout);
			exit(0);
		case 'v':
		case 'V':
			puts("smc-ivshmem-server " SMC_TOOLS_VERSION);
			exit(0);
		default:
			fputs(help, stderr);
			exit(USAGE);
		}
	}
	if (optind < argc) {
		fputs(help, stderr);
		exit(USAGE);
	}
	return foreground;
}

int main(int argc, char **argv)
{
	bool foreground = parse(argc, argv);
	struct rlimit files;
	unsigned int i;
	int listener;

	for (i = 0; i < MAX_CLIENTS; i++)
		clients[i].fd = NO_FD;
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (!make_memory())
		return FAILURE;
	listener = make_listener();
	catch_signals();
	if (!foreground && daemon(0, 0))
		die(FAILURE, "cannot run in the background: %s", strerror(errno));
	serve(listener);
	unlink(path);
	if (count_clients())
		say_what_remains("connected machines");
	return 0;
}
