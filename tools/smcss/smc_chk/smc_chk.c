// SPDX-License-Identifier: GPL-2.0
/* smc_chk: tries a connection over SMC and reports what happened at each step. */
#include <errno.h>
#include <getopt.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <linux/smc_reason.h>

#include "complain.h"
#include "echo_server.h"
#include "interface_pnetid.h"
#include "netns.h"
#include "number.h"
#include "smc_socket.h"
#include "steps.h"
#include "which_module.h"

/* As in smcss --why: 3 means that the connection is TCP. */
enum { EXIT_TCP = 3 };

#define DEFAULT_TIMEOUT	10

static const char usage_text[] =
	"Usage: smc_chk [-6] [-e] [-t SECONDS] [-j] HOST[:PORT]\n"
	"       smc_chk -C HOST [-p PORT]     the same, in the syntax of smc-tools\n"
	"       smc_chk -S [-p PORT]          an echo server for these tests\n"
	"       smc_chk -i INTERFACE          the PNETID of an interface\n"
	"Tries a connection over SMC and says step by step what happened, and what to do.\n"
	"\n"
	"  -C, --connect HOST         name or address; IPv6 with a port: [fd00::1]:7000\n"
	"  -p, --port PORT            " SMC_CHK_PORT ", unless given with the host\n"
	"  -6, --ipv6                 IPv6 only\n"
	"  -e, --echo                 send data too: the other side must be smc_chk -S\n"
	"  -t, --timeout SECONDS      for the connection, and for the data (10)\n"
	"  -S, --server, -i, --pnetid INTERFACE\n"
	"  -N, --net NETNS            from another network namespace, by name, path or process\n"
	"  -j, --json                 as JSON, see smc_chk(8) for the keys\n"
	"  -d, --debug                accepted; everything is shown anyway\n"
	"  -h, --help, -v, --version\n"
	"Exit code 0: SMC, 1: no connection or no answer, 2: wrong usage, 3: the connection is TCP.\n";

struct options {
	char *host;
	const char *port;
	const char *interface;
	bool server;
	bool ipv6;
	bool echo;
	bool json;
	double timeout;		/* seconds; 0: not given */
};

static void take_option(struct options *o, int option)
{
	switch (option) {
	case 'C':
		o->host = optarg;
		break;
	case 'p':
		o->port = optarg;
		break;
	case 'N':
		netns_enter(optarg);
		break;
	case 'i':
		o->interface = optarg;
		break;
	case 'S':
		o->server = true;
		break;
	case '6':
		o->ipv6 = true;
		break;
	case 'e':
		o->echo = true;
		break;
	case 't':
		o->timeout = parse_seconds(optarg);
		break;
	case 'j':
		o->json = true;
		break;
	case 'd':
		break;
	default:
		other_option(option, usage_text);
	}
}

/* "host", "host:7000", "[fd00::1]", "[fd00::1]:7000", "fd00::1"; cuts the text in place. */
static void split_port(struct options *o, char *text)
{
	char *end = strrchr(text, ']');
	char *colon = strrchr(text, ':');

	if (*text == '[' && end) {
		*end = '\0';
		o->host = text + 1;
		if (end[1] == ':')
			o->port = end + 2;
		else if (end[1])
			usage_error("unexpected '%s' after the address", end + 1);
		return;
	}
	o->host = text;
	if (colon && strchr(text, ':') == colon) {
		*colon = '\0';
		o->port = colon + 1;
	}
}

/*
 * getaddrinfo() would take any number, modulo 65536. The name of a service is accepted, but not for
 * a server, which takes the next number if a port is in use.
 */
static void check_port(const char *text, bool server)
{
	unsigned long port;

	if (!server && text[0] && text[strspn(text, "0123456789")])
		return;
	if (!read_number(text, 1, 65535, &port))
		usage_error("'%s' is not a port: 1 to 65535", text);
}

static void check_options(const struct options *o)
{
	int ways = !!o->host + o->server + !!o->interface;

	if (!ways)
		usage_error("name a host, or use -S or -i INTERFACE");
	if (ways > 1)
		usage_error("a host, -S and -i exclude each other");
	if (o->server && (o->echo || o->json || o->timeout))
		usage_error("a server reports nothing: -S cannot be combined with -e, -j or -t");
	if (o->interface && (o->ipv6 || o->echo || o->port || o->timeout))
		usage_error("-i makes no connection: it cannot be combined with -6, -e, -p or -t");
}

static void parse_options(int argc, char **argv, struct options *o)
{
	static const struct option names[] = {
		{ "connect", required_argument, NULL, 'C' },
		{ "port", required_argument, NULL, 'p' },
		{ "pnetid", required_argument, NULL, 'i' },
		{ "server", no_argument, NULL, 'S' },
		{ "ipv6", no_argument, NULL, '6' },
		{ "echo", no_argument, NULL, 'e' },
		{ "timeout", required_argument, NULL, 't' },
		{ "json", no_argument, NULL, 'j' },
		{ "net", required_argument, NULL, 'N' },
		{ "debug", no_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ }
	};
	int option;

	*o = (struct options){ };
	while ((option = getopt_long(argc, argv, "C:p:i:S6et:jdN:hvV", names, NULL)) != -1)
		take_option(o, option);
	if (optind < argc && !o->host)
		o->host = argv[optind++];
	if (optind < argc)
		usage_error("unexpected argument '%s'", argv[optind]);
	check_options(o);
	if (o->host)
		split_port(o, o->host);
	if (!o->port)
		o->port = SMC_CHK_PORT;
	if (!o->timeout)
		o->timeout = DEFAULT_TIMEOUT;
	check_port(o->port, o->server);
}

/* ---- the steps ----------------------------------------------------------------- */

static void on_alarm(int number)
{
}

/* 0: without a limit */
static void limit_time(double seconds)
{
	struct sigaction action = { .sa_handler = on_alarm };	/* no SA_RESTART */
	struct itimerval timer = { };

	timer.it_value.tv_sec = seconds;
	timer.it_value.tv_usec = (seconds - timer.it_value.tv_sec) * 1e6;
	timer.it_interval = timer.it_value;	/* again, if the first came before the call */
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static struct addrinfo *resolve(const struct options *o, struct check *check)
{
	struct addrinfo hints = {
		.ai_family = o->ipv6 ? AF_INET6 : AF_UNSPEC, .ai_socktype = SOCK_STREAM
	};
	struct addrinfo *found;
	int error = getaddrinfo(o->host, o->port, &hints, &found);

	if (!error)
		return found;
	check_step(check, STEP_TCP, FAILED, "%s port %s: %s", o->host, o->port,
		   gai_strerror(error));
	if (error == EAI_SERVICE)
		snprintf(check->remedy, sizeof(check->remedy),
			 "give a port number, or a name that 'getent services %s' knows", o->port);
	else if (error == EAI_ADDRFAMILY && o->ipv6)
		snprintf(check->remedy, sizeof(check->remedy), "leave out -6, or give an IPv6 address");
	else
		snprintf(check->remedy, sizeof(check->remedy),
			 "give an address, or a name that 'getent ahosts %s' resolves", o->host);
	return NULL;
}

static void note_address(struct check *check, const struct addrinfo *to)
{
	char host[NI_MAXHOST], port[NI_MAXSERV];

	if (!getnameinfo(to->ai_addr, to->ai_addrlen, host, sizeof(host), port, sizeof(port),
			 NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(check->address, sizeof(check->address), to->ai_family == AF_INET6 ?
			 "[%.64s]:%.8s" : "%.64s:%.8s", host, port);
}

static int make_socket(struct check *check, int family)
{
	const char *how;
	int fd = smc_socket(family, &how);

	if (fd >= 0) {
		check_step(check, STEP_SOCKET, PASSED, "%s%s", how,
			   module_is_kernels() ? ", of the kernel's own module" : "");
		return fd;
	}
	check_step(check, STEP_SOCKET, FAILED, "no SMC socket: %s", strerror(errno));
	snprintf(check->remedy, sizeof(check->remedy), "load the module, as root: modprobe smc");
	return -1;
}

static bool try_connect(struct check *check, int fd, const struct addrinfo *to, double limit)
{
	struct timespec begin, end;
	int error;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	limit_time(limit);
	error = connect(fd, to->ai_addr, to->ai_addrlen) ? errno : 0;
	limit_time(0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (error) {
		check_step(check, STEP_TCP, FAILED, "%s", error == EINTR ?
			   "no answer in time" : strerror(error));
		snprintf(check->remedy, sizeof(check->remedy), "%s", connect_remedy(error));
		return false;
	}
	check->remedy[0] = '\0';
	check_step(check, STEP_TCP, PASSED, "connected within %.1f ms",
		   (end.tv_sec - begin.tv_sec) * 1e3 + (end.tv_nsec - begin.tv_nsec) / 1e6);
	return true;
}

/* Finds the kernel's record of a socket. */
static bool find_record(int fd, struct record *record)
{
	struct records all = { };
	struct stat stat;
	bool found = false;
	size_t i;

	if (fstat(fd, &stat) || query(ASK(SMC_DIAG_FALLBACK) | ASK(SMC_DIAG_LGRINFO) |
				      ASK(SMC_DIAG_DMBINFO), &all))
		return false;
	for (i = 0; i < all.count; i++) {
		if (all.list[i].msg.diag_inode == stat.st_ino) {
			*record = all.list[i];
			found = true;
		}
	}
	free(all.list);
	return found;
}

/* Finds the interface with this address. */
static bool find_interface(const struct sockaddr_storage *address, char name[IF_NAMESIZE])
{
	const struct sockaddr_in *v4 = (const void *)address;
	const struct sockaddr_in6 *v6 = (const void *)address;
	struct ifaddrs *all, *i;
	bool found = false;

	if (getifaddrs(&all))
		return false;
	for (i = all; i && !found; i = i->ifa_next) {
		const struct sockaddr_in *i4 = (const void *)i->ifa_addr;
		const struct sockaddr_in6 *i6 = (const void *)i->ifa_addr;

		if (!i->ifa_addr || i->ifa_addr->sa_family != address->ss_family)
			continue;
		found = address->ss_family == AF_INET ?
			i4->sin_addr.s_addr == v4->sin_addr.s_addr :
			!memcmp(&i6->sin6_addr, &v6->sin6_addr, sizeof(i6->sin6_addr));
		if (found)
			snprintf(name, IF_NAMESIZE, "%s", i->ifa_name);
	}
	freeifaddrs(all);
	return found;
}

/* If there was nothing to propose, name the interface that lacks a device. */
static void name_device(struct check *check, int fd)
{
	struct sockaddr_storage local = { };
	socklen_t size = sizeof(local);
	char interface[IF_NAMESIZE], host[NI_MAXHOST];

	if (check->fallback.reason != SMC_REASON_NO_DEVICE || check->fallback.peer_diagnosis ||
	    getsockname(fd, (struct sockaddr *)&local, &size) ||
	    !find_interface(&local, interface) ||
	    getnameinfo((struct sockaddr *)&local, size, host, sizeof(host), NULL, 0,
			NI_NUMERICHOST))
		return;
	if (if_nametoindex(interface) == if_nametoindex("lo"))
		snprintf(check->remedy, sizeof(check->remedy),
			 "this kernel's SMC cannot serve connections within the host: 'smcd device' lists no device");
	else
		snprintf(check->remedy, sizeof(check->remedy),
			 "no RDMA device serves %.64s, the address of %s: add one with 'rdma link add rxe0 type rxe netdev %s', or name one on the same network with smc_pnet",
			 host, interface, interface);
}

static void check_socket(struct check *check, int fd)
{
	struct record record;

	if (find_record(fd, &record)) {
		check_record(check, &record);
		if (check->has_fallback)
			name_device(check, fd);
		return;
	}
	check_step(check, STEP_OPTION, FAILED, "the kernel does not list this socket");
	snprintf(check->remedy, sizeof(check->remedy), "load smc_diag, as root: modprobe smc_diag");
}

static void check_data(struct check *check, int fd, const struct options *o)
{
	static const char text[] = "smc_chk asks for an echo";
	char back[sizeof(text)];
	ssize_t sent, got = -1;

	if (!o->echo) {
		check_step(check, STEP_DATA, NOT_TRIED,
			   "not tried; it requires the server 'smc_chk -S' (--echo)");
		return;
	}
	limit_time(o->timeout);
	sent = send(fd, text, sizeof(text), MSG_NOSIGNAL);
	if (sent == (ssize_t)sizeof(text))
		got = recv(fd, back, sizeof(back), MSG_WAITALL);
	limit_time(0);
	if (got == (ssize_t)sizeof(text) && !memcmp(text, back, sizeof(text))) {
		check_step(check, STEP_DATA, PASSED, "%zu bytes were sent and came back",
			   sizeof(text));
		return;
	}
	check_step(check, STEP_DATA, FAILED, "the echo did not come back");
	snprintf(check->remedy, sizeof(check->remedy), "run 'smc_chk -S' as the server there");
}

/* Tries all addresses of a name in order, as programs do. Returns a connected socket, or -1. */
static int try_all(struct check *check, const struct addrinfo *to, double limit)
{
	for (; to; to = to->ai_next) {
		int fd;

		note_address(check, to);
		fd = make_socket(check, to->ai_family);
		if (fd < 0)
			return -1;
		if (try_connect(check, fd, to, limit))
			return fd;
		close(fd);
	}
	return -1;
}

static int run_check(const struct options *o)
{
	struct check check = { .host = o->host };
	struct addrinfo *to = resolve(o, &check);
	int fd = to ? try_all(&check, to, o->timeout) : -1;

	if (fd >= 0) {
		check_socket(&check, fd);
		if (check.mode)
			check_data(&check, fd, o);
		close(fd);
	}
	if (to)
		freeaddrinfo(to);
	(o->json ? check_json : check_print)(stdout, &check);
	if (check.has_fallback)
		return EXIT_TCP;
	return check.mode && check.steps[STEP_DATA].result != FAILED ? 0 : EXIT_REFUSED;
}

int main(int argc, char **argv)
{
	struct options options;

	need_descriptors();
	parse_options(argc, argv, &options);
	if (options.server)
		return run_server(options.port, options.ipv6);
	if (options.interface)
		return finish_output(print_pnetid(options.interface, options.json));
	return finish_output(run_check(&options));
}
