// SPDX-License-Identifier: GPL-2.0
/* What every case needs: transcript, control channel, sockets, data. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "role.h"
#include "task_state.h"

struct role me;
volatile sig_atomic_t signals_seen;

/* ---- recording results ---- */

const char *err_name(int err)
{
	const char *name = strerrorname_np(err);

	return name ? name : "E?";
}

static void vrec(const char *fmt, va_list ap)
{
	size_t room = me.log_size - me.log_used;
	int n = vsnprintf(me.log + me.log_used, room, fmt, ap);

	if (n < 0 || (size_t)n + 2 > room) {
		fprintf(stderr, "# the transcript is full\n");
		_exit(3);
	}
	me.log_used += n;
	me.log[me.log_used++] = '\n';
	me.log[me.log_used] = 0;
}

void rec(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vrec(fmt, ap);
	va_end(ap);
}

long rec_call(const char *text, long ret, int err, bool is_fd)
{
	if (ret < 0)
		rec("%s: %s", text, err_name(err));
	else if (is_fd)
		rec("%s: a descriptor", text);
	else
		rec("%s: %ld", text, ret);
	errno = err;
	return ret;
}

void die_at(const char *file, int line, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	rec("!! %s:%d: %s", file, line, text);
	_exit(1);
}

long must_succeed(const char *file, int line, const char *text, long ret)
{
	if (ret < 0)
		die_at(file, line, "%s: %s", text, err_name(errno));
	return ret;
}

const char *mask_name(unsigned int mask)
{
	static const struct { unsigned int bit; const char *name; } bits[] = {
		{ POLLIN, "IN" }, { POLLPRI, "PRI" }, { POLLOUT, "OUT" },
		{ POLLERR, "ERR" }, { POLLHUP, "HUP" }, { POLLNVAL, "NVAL" },
		{ POLLRDHUP, "RDHUP" },
	};
	static char text[4][64];
	static int turn;
	char *out = text[turn++ % 4];

	out[0] = 0;
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		if (!(mask & bits[i].bit))
			continue;
		if (out[0])
			strcat(out, "|");
		strcat(out, bits[i].name);
	}
	return out[0] ? out : "none";
}

/* ---- meeting the peer ---- */

/* What the roles tell each other, over a socketpair or over TCP to the other machine. */
struct message {
	char barrier[56];	/* name of the barrier; empty: the message carries a value */
	int64_t value;
};

static void tell(const struct message *m)
{
	if (send(me.ctl, m, sizeof(*m), MSG_NOSIGNAL) != sizeof(*m))
		die("the peer has ended");
}

/* If the peer died, recv() sees end of file, so nobody waits for a dead peer. */
static void hear(struct message *m)
{
	size_t got = 0;
	ssize_t n;

	while (got < sizeof(*m)) {
		n = recv(me.ctl, (char *)m + got, sizeof(*m) - got, 0);
		if (n > 0)
			got += n;
		else if (!n || errno != EINTR)
			die("the peer has ended");
	}
}

void barrier(const char *name)
{
	struct message mine = { 0 }, theirs;

	snprintf(mine.barrier, sizeof(mine.barrier), "%s", name);
	tell(&mine);
	hear(&theirs);
	if (strcmp(mine.barrier, theirs.barrier))
		die("at barrier \"%s\" while the peer is at \"%s\"", name, theirs.barrier);
}

void ctl_put(long value)
{
	tell(&(struct message){ .value = value });
}

long ctl_get(void)
{
	struct message m;

	hear(&m);
	if (m.barrier[0])
		die("the peer is at barrier \"%s\" instead of sending a value", m.barrier);
	return m.value;
}

int many(int n)
{
	return getenv("SMC_DEBUG_KERNEL") ? n / 5 : n;
}

/* ---- sockets ---- */

int make_kind(const struct kind *kind, int flags)
{
	return X(socket(kind->family, SOCK_STREAM | flags, kind->protocol));
}

int make_socket(int flags)
{
	return make_kind(&me.kind, flags);
}

int make_tcp(int flags)
{
	return X(socket(me.var->ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | flags,
			IPPROTO_TCP));
}

/* Between two machines: the server's address, or this role's own if bind() chooses the port. */
static in_addr_t machine4(int port)
{
	return MACHINE_NET + (port || me.is_server ? 1 : 2);
}

static struct in6_addr machine6(int port)
{
	return (struct in6_addr){ .s6_addr = { 0xfd, [15] = port || me.is_server ? 1 : 2 } };
}

static struct addr make_addr(int port, bool any)
{
	struct addr a;

	memset(&a, 0, sizeof(a));
	if (me.var->ipv6) {
		a.in6.sin6_family = AF_INET6;
		a.in6.sin6_port = htons(port);
		a.in6.sin6_addr = any ? in6addr_any : me.between ? machine6(port) :
						      in6addr_loopback;
		a.len = sizeof(a.in6);
	} else {
		a.in.sin_family = AF_INET;
		a.in.sin_port = htons(port);
		a.in.sin_addr.s_addr = htonl(any ? INADDR_ANY :
					     me.between ? machine4(port) :
					     me.rdma ? RDMA_SERVER : INADDR_LOOPBACK);
		a.len = sizeof(a.in);
	}
	return a;
}

struct addr loopback(int port)
{
	return make_addr(port, false);
}

struct addr wildcard(int port)
{
	return make_addr(port, true);
}

int addr_port(const struct addr *a)
{
	return ntohs(a->sa.sa_family == AF_INET6 ? a->in6.sin6_port : a->in.sin_port);
}

struct addr name_of(int fd)
{
	struct addr a = { .len = sizeof(a.ss) };

	X(getsockname(fd, &a.sa, &a.len));
	return a;
}

const char *addr_kind(const struct addr *a)
{
	static char text[2][INET6_ADDRSTRLEN + 32];
	static int turn;
	char ip[INET6_ADDRSTRLEN] = "?";
	char *out = text[turn++ % 2];

	if (a->sa.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &a->in6.sin6_addr, ip, sizeof(ip));
	else if (a->sa.sa_family == AF_INET)
		inet_ntop(AF_INET, &a->in.sin_addr, ip, sizeof(ip));
	snprintf(out, sizeof(text[0]), "family %d len %d %s", a->sa.sa_family,
		 (int)a->len, ip);
	return out;
}

/* Where the option is unknown, report what plain TCP would. */
static struct smc_sock_info_u smc_info(int fd)
{
	struct smc_sock_info_u info = { .mode = MODE_TCP };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, SOL_SMC, SMC_SOCK_INFO, &info, &len) < 0 &&
	    errno != ENOPROTOOPT && errno != EOPNOTSUPP)
		die("SMC_SOCK_INFO: %s", err_name(errno));
	return info;
}

int smc_mode(int fd)
{
	return smc_info(fd).mode;
}

unsigned int smc_reason(int fd)
{
	return smc_info(fd).reason;
}

void check_mode(int fd)
{
	struct smc_sock_info_u info;

	if (me.any_mode)
		return;
	AWAIT((info = smc_info(fd)).mode != MODE_UNDECIDED);
	if (me.var->smc && info.mode == MODE_TCP)
		die("this connection fell back to TCP, reason 0x%08x, peer's 0x%08x",
		    info.reason, info.peer_diagnosis);
	if (me.var->smc && me.rdma && info.mode != (me.ism ? MODE_SMCD : MODE_SMCR))
		die("this connection is not SMC-%c", me.ism ? 'D' : 'R');
	if (!me.var->smc && info.mode != MODE_TCP)
		die("this connection is SMC although one end is plain TCP");
}

int listen_on(int backlog)
{
	struct addr a = loopback(0);
	int fd = make_socket(SOCK_CLOEXEC);

	X(bind(fd, &a.sa, a.len));
	X(listen(fd, backlog));
	return fd;
}

int listen_tcp(int backlog, struct addr *a)
{
	int fd = make_tcp(0);

	*a = loopback(0);
	X(bind(fd, &a->sa, a->len));
	X(listen(fd, backlog));
	*a = name_of(fd);
	return fd;
}

void tell_port(int fd)
{
	struct addr a = name_of(fd);

	ctl_put(addr_port(&a));
}

int serve(void)
{
	int fd = listen_on(SOMAXCONN);

	tell_port(fd);
	return fd;
}

int accept_one(int lfd)
{
	int fd = X(accept4(lfd, NULL, NULL, SOCK_CLOEXEC));

	check_mode(fd);
	return fd;
}

int connect_any(int port)
{
	struct addr a = loopback(port);
	int fd = make_socket(0);

	X(connect(fd, &a.sa, a.len));
	return fd;
}

int connect_to(int port, int flags)
{
	struct addr a = loopback(port);
	int fd = make_socket(flags);

	X(connect(fd, &a.sa, a.len));
	check_mode(fd);
	return fd;
}

int accept_fallback(int lfd)
{
	int fd = X(accept(lfd, NULL, NULL));

	recv_bytes(fd, 0, 10, 10);
	CHECK(me.any_mode || smc_mode(fd) == MODE_TCP);
	return fd;
}

void connect_fallback(int fd, int port)
{
	struct addr a = loopback(port);
	char buf[10];

	fill(buf, sizeof(buf), 0);
	X(sendto(fd, buf, sizeof(buf), MSG_FASTOPEN, &a.sa, a.len));
	AWAIT(poll_mask(fd, POLLOUT) & POLLOUT);
	CHECK(me.any_mode || smc_mode(fd) == MODE_TCP);
}

int pair_with(void (*prepare)(int fd))
{
	struct addr a = loopback(0);
	int fd = make_socket(SOCK_CLOEXEC), lfd;

	if (prepare)
		prepare(fd);
	if (!me.is_server) {
		a = loopback(ctl_get());
		X(connect(fd, &a.sa, a.len));
		check_mode(fd);
		barrier("connected");
		return fd;
	}
	lfd = fd;
	X(bind(lfd, &a.sa, a.len));
	X(listen(lfd, 5));
	tell_port(lfd);
	fd = accept_one(lfd);
	X(close(lfd));
	barrier("connected");
	return fd;
}

int pair(void)
{
	return pair_with(NULL);
}

void set_nonblock(int fd, bool on)
{
	int fl = X(fcntl(fd, F_GETFL));

	X(fcntl(fd, F_SETFL, on ? fl | O_NONBLOCK : fl & ~O_NONBLOCK));
}

int set_int(int fd, int level, int opt, int value)
{
	return setsockopt(fd, level, opt, &value, sizeof(value));
}

int get_int(int fd, int level, int opt)
{
	socklen_t len = sizeof(int);
	int value = 0;

	if (getsockopt(fd, level, opt, &value, &len) < 0)
		return -1;
	return value;
}

double clock_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

void set_timeo(int fd, int opt, int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	X(setsockopt(fd, SOL_SOCKET, opt, &tv, sizeof(tv)));
}

unsigned int poll_mask(int fd, unsigned int events)
{
	struct pollfd p = { .fd = fd, .events = events };

	/* A signal that the case waits for may be pending. */
	X(TEMP_FAILURE_RETRY(poll(&p, 1, 0)));
	return p.revents;
}

unsigned int await_mask(int fd, unsigned int want)
{
	const unsigned int all = POLLIN | POLLPRI | POLLOUT | POLLRDHUP;
	unsigned int mask;

	/* TCP sets these bits one after another when a connection ends */
	if (want & (POLLERR | POLLHUP))
		want |= POLLHUP | POLLRDHUP;
	AWAIT(((mask = poll_mask(fd, all)) & want) == want);
	return mask;
}

int ask(int fd, unsigned long cmd)
{
	int n = -7;

	return ioctl(fd, cmd, &n) < 0 ? -1 : n;
}

void reset(int fd)
{
	struct linger l = { .l_onoff = 1 };

	X(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
	close(fd);
}

void await_inq(int fd, int bytes)
{
	int n = -1;

	AWAIT(X(ioctl(fd, SIOCINQ, &n)) == 0 && n >= bytes);
}

void await_sent(int fd)
{
	int n = -1;

	AWAIT(X(ioctl(fd, SIOCOUTQ, &n)) == 0 && n == 0);
}

/* ---- BPF programs ---- */

int bpf_call(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

int bpf_program(int type, int attach_type, const struct bpf_insn *insns, int n)
{
	union bpf_attr attr = {
		.prog_type = type,
		.insns = (uintptr_t)insns,
		.insn_cnt = n,
		.license = (uintptr_t)"GPL",
		.expected_attach_type = attach_type,
	};

	return X(bpf_call(BPF_PROG_LOAD, &attr));
}

int bpf_returns(int type, int value)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = value },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_program(type, 0, insns, 2);
}

void bpf_attach(int target, int prog, int attach_type)
{
	union bpf_attr attr = {
		.target_fd = target,
		.attach_bpf_fd = prog,
		.attach_type = attach_type,
	};

	X(bpf_call(BPF_PROG_ATTACH, &attr));
	close(prog);
}

void bpf_load_attach(int cgroup, int prog_type, int attach_type, const struct bpf_insn *insns, int n)
{
	bpf_attach(cgroup, bpf_program(prog_type, attach_type, insns, n), attach_type);
}

int bpf_map(int type, int entries)
{
	union bpf_attr attr = {
		.map_type = type, .key_size = 4, .value_size = 4, .max_entries = entries,
	};

	return X(bpf_call(BPF_MAP_CREATE, &attr));
}

int bpf_map_put(int map, uint32_t key, uint32_t value)
{
	union bpf_attr attr = {
		.map_fd = map, .key = (uintptr_t)&key, .value = (uintptr_t)&value, .flags = BPF_ANY,
	};

	return bpf_call(BPF_MAP_UPDATE_ELEM, &attr);
}

/* Both roles may be the first that need cgroups. */
static void mount_cgroups(void)
{
	struct statfs fs;
	int fd;

	mkdir("/tmp/smc-cgroup", 0755);
	fd = X(open("/tmp/smc-cgroup", O_RDONLY | O_DIRECTORY));
	X(flock(fd, LOCK_EX));
	/* A guest may see the same folder of its host, where cgroups are mounted, as files. */
	if (statfs("/tmp/smc-cgroup", &fs) || fs.f_type != CGROUP2_SUPER_MAGIC)
		X(mount("none", "/tmp/smc-cgroup", "cgroup2", 0, NULL));
	close(fd);
}

int own_cgroup(void)
{
	char path[100], pid[20];
	int fd;

	mount_cgroups();
	snprintf(path, sizeof(path), "/tmp/smc-cgroup/%d", getpid());
	X(mkdir(path, 0755));
	strcat(path, "/cgroup.procs");
	fd = X(open(path, O_WRONLY));
	snprintf(pid, sizeof(pid), "%d", getpid());
	X(write(fd, pid, strlen(pid)));
	close(fd);
	*strrchr(path, '/') = 0;
	return X(open(path, O_RDONLY | O_DIRECTORY));
}

/* ---- data ---- */

#define TABLE_LEN	1048573		/* a prime, so nothing repeats in step */

static const unsigned char *table(void)
{
	static unsigned char *bytes;
	static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
	uint64_t x = 0x9e3779b97f4a7c15ULL;

	pthread_mutex_lock(&once);
	if (!bytes) {
		unsigned char *b = malloc(TABLE_LEN);

		CHECK(b);
		for (size_t i = 0; i < TABLE_LEN; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			b[i] = x >> 32;
		}
		bytes = b;
	}
	pthread_mutex_unlock(&once);
	return bytes;
}

void fill(void *buf, size_t len, uint64_t pos)
{
	const unsigned char *t = table();
	size_t at = pos % TABLE_LEN, n;

	for (; len; len -= n, buf = (char *)buf + n, at = 0) {
		n = TABLE_LEN - at < len ? TABLE_LEN - at : len;
		memcpy(buf, t + at, n);
	}
}

void verify(const void *buf, size_t len, uint64_t pos)
{
	const unsigned char *t = table(), *b = buf;
	size_t at = pos % TABLE_LEN, n;

	for (; len; len -= n, b += n, pos += n, at = 0) {
		n = TABLE_LEN - at < len ? TABLE_LEN - at : len;
		if (!memcmp(b, t + at, n))
			continue;
		for (size_t i = 0; i < n; i++)
			if (b[i] != t[at + i])
				die("wrong byte at stream position %llu: %02x, not %02x",
				    (unsigned long long)(pos + i), b[i], t[at + i]);
	}
}

void send_bytes(int fd, uint64_t pos, size_t len, size_t chunk)
{
	char *buf = malloc(chunk);

	CHECK(buf);
	while (len) {
		size_t n = chunk < len ? chunk : len;
		ssize_t sent;

		fill(buf, n, pos);
		sent = X(send(fd, buf, n, MSG_NOSIGNAL));
		CHECK((size_t)sent <= n);
		pos += sent;
		len -= sent;
	}
	free(buf);
}

void recv_bytes(int fd, uint64_t pos, size_t len, size_t chunk)
{
	char *buf = malloc(chunk);

	CHECK(buf);
	while (len) {
		size_t n = chunk < len ? chunk : len;
		ssize_t got = X(recv(fd, buf, n, 0));

		if (!got)
			die("end of file %zu bytes too early, at position %llu", len,
			    (unsigned long long)pos);
		verify(buf, got, pos);
		pos += got;
		len -= got;
	}
	free(buf);
}

/*
 * TCP keeps sending after it has returned EAGAIN, until the peer's window is closed. This happens
 * over a wire, and also on a busy host.
 */
static bool still_moving(int fd)
{
	int unacked = 0, unsent = 0;

	if (smc_mode(fd) != MODE_TCP)
		return false;
	X(ioctl(fd, SIOCOUTQ, &unacked));
	X(ioctl(fd, SIOCOUTQNSD, &unsent));
	return unacked > unsent;
}

size_t fill_up(int fd)
{
	size_t total = 0;
	char buf[16384];
	ssize_t n;

	for (;;) {
		/* Check before send(): an acknowledgment that arrives after this EAGAIN would make
		 * room again.
		 */
		bool moving = still_moving(fd);

		fill(buf, sizeof(buf), total);
		n = send(fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0) {
			CHECK(errno == EAGAIN);
			if (!moving)
				return total;
			usleep(500);
			continue;
		}
		total += n;
	}
}

uint64_t recv_to_end(int fd, uint64_t pos)
{
	char buf[16384];
	ssize_t n;

	while ((n = X(recv(fd, buf, sizeof(buf), 0))) > 0) {
		verify(buf, n, pos);
		pos += n;
	}
	return pos;
}

/* Sends one byte each way and reads it, so nothing is left unread. */
void ping_pong(int fd)
{
	char c;

	if (!me.is_server)
		CHECK(send(fd, "p", 1, MSG_NOSIGNAL) == 1);
	CHECK(recv(fd, &c, 1, MSG_WAITALL) == 1);
	CHECK(c == 'p');
	if (me.is_server)
		CHECK(send(fd, "p", 1, MSG_NOSIGNAL) == 1);
}

void ping_pong_local(int a, int b)
{
	char c;

	for (int i = 0; i < 2; i++) {
		CHECK(send(i ? a : b, "q", 1, MSG_NOSIGNAL) == 1);
		CHECK(recv(i ? b : a, &c, 1, MSG_WAITALL) == 1);
		CHECK(c == 'q');
	}
}

/* ---- threads and signals ---- */

pid_t this_tid(void)
{
	return syscall(SYS_gettid);
}

/*
 * If a thread has announced a call and then sleeps, it sleeps in that call: it
 * makes no other system call in between.
 */
void await_blocked(pid_t pid, pid_t tid)
{
	char state;

	do {
		usleep(500);
		state = task_state(pid, tid);
		CHECK(state);
	} while (state != SLEEPS);
}

static void count_signal(int sig)
{
	signals_seen++;
}

void on_signal(int sig, int flags)
{
	struct sigaction sa = { .sa_handler = count_signal, .sa_flags = flags };

	X(sigaction(sig, &sa, NULL));
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	w->tid = this_tid();
	return w->run(w);
}

void worker_start(struct worker *w)
{
	w->tid = 0;
	CHECK(!pthread_create(&w->thread, NULL, worker_main, w));
	AWAIT(w->tid);
}

void worker_join(struct worker *w)
{
	pthread_join(w->thread, NULL);
}

void *worker_send(struct worker *w)
{
	send_bytes(w->fd, w->pos, w->len, w->chunk);
	return NULL;
}

void *worker_recv(struct worker *w)
{
	recv_bytes(w->fd, w->pos, w->len, w->chunk);
	return NULL;
}
