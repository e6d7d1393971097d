/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The connection engine: two rings, cursors, flags, states.  It knows nothing
 * of sockets' addresses, handshakes or fabrics.
 *
 * Cursors are 64-bit counts of bytes since the connection began, so they never
 * wrap and their difference is the number of bytes between.  ring.h has the position in a ring.
 * The fields that the peer writes have cache lines of their own.
 */
#ifndef SMC_CONN_H
#define SMC_CONN_H

#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/poll.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include "../wire/clc.h"
#include "count.h"
#include "state.h"

struct smc_fabric;
struct smc_reader;
struct smc_rmbe;

/* A task that sleeps on a socket for one kind of event. */
struct smc_wait {
	struct wait_queue_entry	entry;
	__poll_t		mask;
};

/* Busy polling that never pays ends at this fraction of its time, as a shift. */
#define SMC_CONN_MAX_IDLE	4

/* Flags that either end has sent (RFC 7609, A.4), and two that it never sends. */
enum smc_conn_flag {
	SMC_FLAG_DONE,		/* sending done */
	SMC_FLAG_CLOSED,	/* connection closed: neither writes nor reads */
	SMC_FLAG_ABORT,		/* abnormal close */
	SMC_FLAG_GIVEN_UP,	/* only in rx_flags: this end aborted */
	SMC_FLAG_BROKEN,	/* never sent: the abort came after the end of the stream */
};

/* Events of urgent data, which a fabric reports to the peer. */
enum smc_urgent_event {
	SMC_URGENT_COMING,	/* there is no room for it yet */
	SMC_URGENT_NOT_COMING,	/* it was announced, and is not sent */
	SMC_URGENT_HERE,	/* it ends at tx_urg; as commit */
	SMC_URGENT_TAKEN,	/* the peer's urgent byte has been read out of the element */
};

/* Statistics of each message, counted without leaving the connection's cache lines. */
struct smc_conn_counts {
	u64	tx_bytes;
	u64	rx_bytes;
	u64	tx_calls;
	u64	rx_calls;
};

/* Calls of up to this many bytes are counted there, larger ones in stats.h. */
#define SMC_CONN_SMALL_CALL	(8u << 10)

/**
 * struct smc_conn - one SMC connection, embedded by its fabric
 * @fabric:	the fabric that carries it
 * @ref:	references; the last one frees through fabric->ops->free
 * @wq:		where system calls on the socket sleep; RCU, NULL while none can
 * @next:	link in smc_sock.old_conns
 * @rmbe:	the element of this side's RMB or DMB: the receive ring
 * @rx_buf:	its memory
 * @rx_size:	its size in bytes, any
 * @rx_lock:	one receiver at a time
 * @rx_cons:	bytes that the application has read; written under @rx_lock
 * @rx_lap:	a count at which a lap of the ring began, @rx_cons at most, see ring.h;
 *		under @rx_lock
 * @rx_calls:	small calls that have received something; under @rx_lock
 * @rx_sure:	size to which @rx_size grows before a sender waits, see grow.c; 0: never
 * @rx_most:	size to which it grows at most, while the receiver keeps up
 * @rx_grown:	@rx_cons when it grew last; under the sender's tx_lock
 * @reader:	a reader in the kernel, or NULL; set once, under lock_sock
 * @rx_idle:	how many times in a row busy polling found nothing; a hint, without a lock
 * @tx_lock:	one sender at a time
 * @tx_buf:	where the sender writes: the peer's element or a local send ring
 * @tx_size:	its size in bytes, any
 * @tx_written:	bytes copied into the ring; written under @tx_lock
 * @tx_lap:	a count at which a lap of the ring began, @tx_written at most; under @tx_lock
 * @tx_prod:	bytes announced to the peer; @tx_written unless corked
 * @tx_flags:	enum smc_conn_flag we have told the peer; under @state_lock
 * @tx_calls:	small calls that had something to send; under @tx_lock
 * @tx_urg:	the count behind the last urgent byte; written under @tx_lock before
 *		@tx_prod
 * @tx_grows:	@tx_buf is the peer's element, and may be exchanged for a larger one
 * @peer_size:	size of the ring in the peer's element in bytes, at least @tx_size
 * @tx_how:	SMC_RMBE_*: how the send ring was found, 0 if it is the peer's element
 * @dev:	name of the device, for people
 * @version:	SMC_CLC_V1 or SMC_CLC_V2, for statistics
 * @flushed:	counts that the namespace's counters include already; under @wait_lock
 * @counted_in:	the namespace that counts @rx_size and @tx_size as in use; under @wait_lock
 * @stopped:	no more data may be published; under @tx_lock
 * @late_fin:	a FIN of the TCP connection says nothing of the data: the peer's
 *		flags do, see smc_fabric_ops.fin_in_order
 * @shut_rd:	with @late_fin: the application has shut down reading
 * @notify:	called when the fabric has made progress or the peer has ended;
 *		under @state_lock
 * @notify_sk:	its argument
 * @cork_work:	publishes what a cork has held back for 200 ms
 * @state_lock:	protects @state and @tx_flags
 * @state:	enum smc_conn_state
 * @version:	SMC_CLC_V1 or SMC_CLC_V2, to be shown
 * @rx_prod:	bytes that the peer has written; the peer, or its messages, move it
 * @tx_cons:	bytes that the peer's application has read; the peer moves it
 * @rx_flags:	enum smc_conn_flag the peer has set; under @state_lock
 * @rx_waiter:	the receiver that sleeps; it sets this, and the waker clears it
 * @wait_lock:	held while a waker uses @rx_waiter, for @flushed, and while what is in use changes
 * @urg_data:	the peer's urgent byte with TCP_URG_*, 0 if there is none; with those
 *		below under @state_lock, see urgent.c
 * @urg_kept:	@urg_data has the byte, so its place in the element may be written again
 * @urg_announced: the peer has said that urgent data will come
 * @urg_seq:	the count in front of it
 * @urg_hole:	bytes before this count are no longer read
 * @tx_blocked:	a sender or poll() waits for room
 */
struct smc_conn {
	struct smc_fabric	*fabric;
	refcount_t		ref;
	struct socket_wq __rcu	*wq;
	struct smc_conn		*next;
	struct smc_rmbe		*rmbe;

	struct mutex		rx_lock;
	u8			*rx_buf;
	u32			rx_size;
	aligned_u64		rx_cons;
	u64			rx_lap;
	u64			rx_calls;
	u32			rx_sure;
	u32			rx_most;
	u64			rx_grown;
	struct smc_reader	*reader;
	u8			rx_idle;

	struct mutex		tx_lock;
	u8			*tx_buf;
	u32			tx_size;
	aligned_u64		tx_written;
	u64			tx_lap;
	aligned_u64		tx_prod;
	u64			tx_calls;
	aligned_u64		tx_urg;
	bool			stopped;
	bool			late_fin;
	bool			shut_rd;
	bool			tx_grows;
	struct delayed_work	cork_work;

	spinlock_t		state_lock;
	unsigned long		tx_flags;
	void			(*notify)(struct sock *sk);
	struct sock		*notify_sk;
	u8			state;
	u8			version;
	u8			tx_how;
	u32			peer_size;
	const char		*dev;
	struct smc_conn_counts	flushed;
	struct net		*counted_in;

	aligned_u64		rx_prod ____cacheline_aligned_in_smp;
	unsigned long		rx_flags;
	struct smc_wait		*rx_waiter;
	spinlock_t		wait_lock;
	u16			urg_data;
	bool			urg_kept;
	bool			urg_announced;
	aligned_u64		urg_seq;
	aligned_u64		urg_hole;
	aligned_u64		tx_cons ____cacheline_aligned_in_smp;
	bool			tx_blocked;
};

static inline u64 smc_conn_unread(const struct smc_conn *c)
{
	return smc_count_read_acquire(&c->rx_prod) - smc_count_read(&c->rx_cons);
}

static inline u64 smc_conn_unacked(const struct smc_conn *c)
{
	return smc_count_read(&c->tx_written) - smc_count_read_acquire(&c->tx_cons);
}

static inline u64 smc_conn_room(const struct smc_conn *c)
{
	return READ_ONCE(c->tx_size) - smc_conn_unacked(c);
}

/* A sender that found the ring full is told once so much is free again. */
static inline u32 smc_conn_low_room(const struct smc_conn *c)
{
	return READ_ONCE(c->tx_size) / 4;
}

/*
 * From here on smc_conn_writable() tells whoever is in the queue, or has asked for SIGIO, when
 * there is room again.  The release is for the latter (model/window.pml: ask for SIGIO).
 */
static inline void smc_conn_ask_for_room(struct smc_conn *c)
{
	smp_store_release(&c->tx_blocked, true);
	/*
	 * Before the look at the room.  Pairs with the barrier between tx_cons and tx_blocked.
	 * model/window.pml: ask.
	 */
	smp_mb();
}

/*
 * No more than this is copied before the other end hears of it: a quarter of the @ring, so
 * that both work at the same time.
 */
static inline size_t smc_conn_piece(u32 ring, size_t len)
{
	if (unlikely(len > SMC_CLC_SIZE_MIN))
		len = min_t(size_t, len, max_t(size_t, ring / 4, SMC_CLC_SIZE_MIN));
	return len;
}

static inline bool smc_conn_peer_gone(const struct smc_conn *c)
{
	return READ_ONCE(c->rx_flags) & (BIT(SMC_FLAG_CLOSED) | BIT(SMC_FLAG_ABORT) |
					 BIT(SMC_FLAG_GIVEN_UP));
}

/*
 * Did the stream end in good order, before anything was reset?  @flags are @rx_flags for the
 * peer's stream, @tx_flags for ours.  Only with @late_fin: TCP's own answer, SOCK_DONE, holds
 * otherwise.
 */
static inline bool smc_conn_end_came_first(unsigned long flags)
{
	return flags & BIT(SMC_FLAG_BROKEN) ||
	       (flags & (BIT(SMC_FLAG_DONE) | BIT(SMC_FLAG_ABORT))) == BIT(SMC_FLAG_DONE);
}

static inline bool smc_conn_signaled(const struct smc_conn *c, enum smc_conn_flag flag)
{
	return READ_ONCE(c->tx_flags) & BIT(flag);
}

/* Has reading been shut down, by the application or by a FIN that counts? */
static inline bool smc_conn_rcv_shutdown(const struct smc_conn *c,
					 const struct sock *sk)
{
	return READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN &&
	       (!c->late_fin || READ_ONCE(c->shut_rd));
}

static inline bool smc_conn_rx_ended(const struct smc_conn *c)
{
	return READ_ONCE(c->rx_flags) != 0;
}

static inline struct smc_conn *smc_conn_get(struct smc_conn *c)
{
	refcount_inc(&c->ref);
	return c;
}

/* conn.c */
void smc_conn_init(struct smc_conn *c, struct smc_fabric *fabric,
		   struct smc_rmbe *rmbe);
void smc_conn_set_rmbe(struct smc_conn *c, struct smc_rmbe *rmbe);
void smc_conn_destroy(struct smc_conn *c);
void smc_conn_free(struct smc_conn *c);
void smc_conn_set_wq(struct smc_conn *c, struct socket_wq *wq);
void smc_conn_set_notify(struct smc_conn *c, void (*fn)(struct sock *sk),
			 struct sock *sk);

static inline void smc_conn_put(struct smc_conn *c)
{
	if (refcount_dec_and_test(&c->ref))
		smc_conn_free(c);
}

/* events a fabric reports: any context, bottom halves included */
void smc_conn_readable(struct smc_conn *c);
void smc_conn_writable(struct smc_conn *c);
void smc_conn_wake_all(struct smc_conn *c);
void smc_conn_notify(struct smc_conn *c);
void smc_conn_urgent(struct smc_conn *c, u64 end);
void smc_conn_urgent_pending(struct smc_conn *c, bool pending);

/* wait.c */
void smc_wait_begin(struct smc_wait *w, __poll_t mask);
void smc_wait_arm(struct smc_wait *w, struct sock *sk);
long smc_wait_sleep(long timeo);
void smc_wait_end(struct smc_wait *w, struct sock *sk);
bool smc_slot_take(struct smc_conn *c, struct smc_wait *w);
void smc_slot_leave(struct smc_conn *c, struct smc_wait *w);
void smc_slot_wake(struct smc_conn *c);

/* wake_sync.c */
extern int smc_wake_sync;
void smc_wait_init(void);

/* send.c, recv.c, reader.c, poll.c */
int smc_conn_sendmsg(struct sock *sk, struct smc_conn *c, struct msghdr *msg,
		     size_t len);
void smc_conn_uncork(struct smc_conn *c);
void smc_conn_stop(struct smc_conn *c);
void smc_conn_cork_expired(struct work_struct *work);
int smc_conn_recvmsg(struct sock *sk, struct smc_conn *c, struct msghdr *msg,
		     size_t len, int flags);
int smc_conn_read_sock(struct sock *sk, struct smc_conn *c, read_descriptor_t *desc,
		       sk_read_actor_t actor);
__poll_t smc_conn_poll(struct sock *sk, struct smc_conn *c);

/* grow.c */
void smc_conn_may_grow(struct smc_conn *c, u32 sure, u32 most);
bool smc_conn_grow(struct smc_conn *tx, struct smc_conn *rx);

/* close.c */
int __smc_conn_event(struct smc_conn *c, enum smc_conn_event event);
void smc_conn_established(struct smc_conn *c);
void smc_conn_done(struct smc_conn *c);
void smc_conn_close(struct smc_conn *c);
void smc_conn_own_event(struct smc_conn *c, enum smc_conn_event event);
void smc_conn_peer_event(struct smc_conn *c, enum smc_conn_event event);

/* abort.c */
void smc_conn_abort(struct smc_conn *c);
void smc_tcp_reset(struct sock *sk, int err);
void smc_conn_reset_tcp(struct sock *sk, const struct smc_conn *c);
void smc_conn_tcp_was_reset(struct sock *sk, struct smc_conn *c);
void smc_conn_handle_peer_abort(struct sock *sk, const struct smc_conn *c, unsigned long flags);

#endif
