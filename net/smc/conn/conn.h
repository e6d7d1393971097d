/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The connection engine: two rings, cursors, flags, states. It is independent of socket addresses,
 * handshakes and fabrics.
 *
 * Cursors are 64-bit counts of bytes since the connection began. They never wrap, and the
 * difference of two cursors is the number of bytes between them. ring.h translates a count into a
 * position in the ring. The fields that the peer writes are on separate cache lines.
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

struct mem_cgroup;
struct smc_conn_ops;
struct smc_reader;
struct smc_rmbe;
struct smc_stamps;

/* A task that sleeps on a socket, waiting for certain events. */
struct smc_wait {
	struct wait_queue_entry	entry;
	__poll_t		mask;
};

/* Flags that an end sends to its peer (RFC 7609, A.4), and two that are never sent. */
enum smc_conn_flag {
	SMC_FLAG_DONE,		/* sending done */
	SMC_FLAG_CLOSED,	/* connection closed: neither writes nor reads */
	SMC_FLAG_ABORT,		/* abnormal close */
	SMC_FLAG_GIVEN_UP,	/* set only in rx_flags: this end aborted */
	SMC_FLAG_BROKEN,	/* the abort came after the end of the stream */
};

/* Events of urgent data that a fabric reports to the peer. */
enum smc_urgent_event {
	SMC_URGENT_COMING,	/* urgent data will come, but there is no room for it yet */
	SMC_URGENT_NOT_COMING,	/* urgent data was announced, but will not be sent */
	SMC_URGENT_HERE,	/* urgent data ends at tx_urg; also does what commit does */
	SMC_URGENT_TAKEN,	/* the peer's urgent byte has been read from the element */
};

/*
 * What the next task that releases tx_lock or rx_lock has to do. A task that must not wait for the
 * lock calls smc_conn_trylock().
 */
enum smc_conn_owed {
	SMC_OWED_GROW,		/* rx_lock: the peer's ring may grow now */
	SMC_OWED_ROOM,		/* tx_lock: poll() may enlarge the ring now */
	SMC_OWED_CORK,		/* tx_lock: publish what has been corked for too long */
	SMC_OWED_READ,		/* rx_lock: call the in-kernel reader again */
	SMC_OWED_PART,		/* either: part from a peer that has ended */
	SMC_OWED_LAST_WORD,	/* tx_lock: say that we write no more */
};

/* Per-call statistics, counted without touching cache lines outside the connection. */
struct smc_conn_counts {
	u64	tx_bytes;
	u64	rx_bytes;
	u64	tx_calls;
	u64	rx_calls;
};

/* Calls of up to this many bytes are counted in smc_conn_counts, larger ones in stats.h. */
#define SMC_CONN_SMALL_CALL	(8u << 10)

/**
 * struct smc_conn - one SMC connection, embedded by its fabric
 * @ops:	operations of the fabric that carries it
 * @ref:	reference count; @ops->free runs when the last reference is dropped
 * @wq:		the socket's wait queue, where system calls sleep; RCU; NULL if there is none
 * @next:	link in smc_sock.old_conns
 * @rmbe:	the element of this side's RMB or DMB: the receive ring
 * @rx_buf:	memory of @rmbe
 * @rx_size:	size of @rx_buf in bytes; need not be a power of two
 * @rx_lock:	one receiver at a time
 * @rx_cons:	count of bytes that the application has read; written under @rx_lock
 * @rx_lap:	the count at which a lap of the ring began, at most @rx_cons, see ring.h; under
 *		@rx_lock
 * @rx_calls:	number of small calls that received something; under @rx_lock
 * @rx_sure:	size to which @rx_size grows before a sender has to wait, see grow.c; 0 for never
 * @rx_most:	size up to which @rx_size grows while the receiver keeps up
 * @rx_grown:	@rx_cons when the element last grew; under the sender's tx_lock
 * @payer:	the cgroup that pays for a larger element while no socket has the connection: before
 *		the end of the handshake, and for a child before accept(). Referenced; may be NULL
 * @reader:	the user in the kernel, or NULL; set once, under @state_lock
 * @rx_owed:	enum smc_conn_owed: what to do after @rx_lock has been released
 * @rx_idle:	receives since busy polling last found data, see recv.c; a hint without a lock
 * @rx_cmsgs:	a receiver may want control messages, see stamp.c; never cleared
 * @tx_lock:	one sender at a time
 * @tx_buf:	where the sender writes: the peer's element or a local send ring
 * @tx_size:	size of @tx_buf in bytes; need not be a power of two
 * @tx_stamping: a sender may want time stamps, see stamp.c; never cleared
 * @tx_written:	count of bytes copied into the ring; written under @tx_lock
 * @tx_lap:	the count at which a lap of the ring began, at most @tx_written; under @tx_lock
 * @tx_prod:	count of bytes announced to the peer; equals @tx_written unless corked
 * @tx_flags:	enum smc_conn_flag that we have sent to the peer; under @state_lock
 * @tx_calls:	number of small calls that had something to send; under @tx_lock
 * @tx_urg:	the count just after the last urgent byte; written under @tx_lock before @tx_prod
 * @tx_owed:	enum smc_conn_owed: what to do after @tx_lock has been released
 * @tx_grows:	@tx_buf is the peer's element and may be replaced by a larger one
 * @peer_size:	size of the ring in the peer's element in bytes, at least @tx_size
 * @tx_how:	SMC_RMBE_*: how the send ring was obtained; 0 if @tx_buf is the peer's element
 * @dev:	name of the device, for display
 * @version:	SMC_CLC_V1 or SMC_CLC_V2, for statistics and display
 * @flushed:	counts that the namespace's counters already include; under @wait_lock
 * @counted_in:	the namespace that counts @rx_size and @tx_size as in use; under @wait_lock
 * @stopped:	no more data may be announced to the peer; under @tx_lock
 * @late_fin:	the FIN of the TCP connection may overtake data, so only the peer's flags tell the
 *		end of the stream, see smc_conn_ops.fin_in_order
 * @shut_rd:	with @late_fin: the application has shut down reading
 * @notify:	called when the fabric has made progress or the peer has ended; called under
 *		@state_lock
 * @notify_sk:	argument of @notify
 * @tx_timer:	publishes data that has been corked for 200 ms; also looks whether the peer reads,
 *		see tx_timer.c
 * @tx_timed:	@tx_timer has been started; never cleared
 * @tx_watched:	@tx_timer looks whether the peer reads
 * @tx_refused:	@tx_written when a sender last found no room, or SMC_NO_COUNT; under @tx_lock
 * @tx_stalled:	@tx_cons plus @tx_size when @tx_timer last saw that it had changed, or
 *		SMC_NO_COUNT; this and @tx_stalled_at belong to @tx_timer
 * @tx_stalled_at: the time of that, in jiffies
 * @state_lock:	protects @state and @tx_flags
 * @state:	enum smc_conn_state
 * @rx_prod:	count of bytes that the peer has written; moved by the peer or its messages. At most
 *		@rx_cons if unread bytes were lost, see smc_conn_lose_unread()
 * @tx_cons:	count of bytes that the peer's application has read; moved by the peer
 * @rx_flags:	enum smc_conn_flag the peer has set; under @state_lock
 * @rx_waiter:	the sleeping receiver; set by the receiver, cleared by the waker
 * @wait_lock:	held while a waker uses @rx_waiter; also protects @flushed and changes of the buffer
 *		usage counts
 * @urg_data:	the peer's urgent byte with TCP_URG_*, 0 if there is none; this and the urg_* fields
 *		below are under @state_lock, see urgent.c
 * @urg_kept:	@urg_data contains the byte, so its place in the element may be overwritten
 * @urg_announced: the peer has announced urgent data
 * @urg_seq:	the count just before the urgent byte
 * @urg_hole:	bytes before this count must not be read any more
 * @stamps:	time stamps, see stamp.c; NULL if the program has never asked for any
 * @rx_unwanted: we have closed: data that arrives now resets the connection
 * @rx_odd:	@stamps or @rx_unwanted is set; never cleared
 * @rx_lost:	unread bytes were lost, and no receiver has been told
 * @rx_low_water: the program has set SO_RCVLOWAT, so ask poll() before a wake-up; never cleared
 * @tx_blocked:	a sender or poll() waits for room in the ring
 * @tx_may_grow: the receiver has been busy when the ring should grow, and is not any more
 */
struct smc_conn {
	const struct smc_conn_ops *ops;
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
	struct mem_cgroup	*payer;
	struct smc_reader	*reader;
	unsigned long		rx_owed;
	u8			rx_idle;
	bool			rx_cmsgs;

	struct mutex		tx_lock;
	u8			*tx_buf;
	u32			tx_size;
	bool			tx_stamping;
	aligned_u64		tx_written;
	u64			tx_lap;
	aligned_u64		tx_prod;
	u64			tx_calls;
	aligned_u64		tx_urg;
	unsigned long		tx_owed;
	bool			stopped;
	bool			late_fin;
	bool			shut_rd;
	bool			tx_grows;
	bool			tx_timed;
	bool			tx_watched;
	struct delayed_work	tx_timer;
	aligned_u64		tx_refused;
	aligned_u64		tx_stalled;
	unsigned long		tx_stalled_at;

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
	struct smc_stamps	*stamps;
	bool			rx_unwanted;
	bool			rx_odd;
	bool			rx_low_water;
	bool			rx_lost;
	aligned_u64		tx_cons ____cacheline_aligned_in_smp;
	bool			tx_blocked;
	bool			tx_may_grow;
};

static inline u64 smc_conn_unread(const struct smc_conn *c)
{
	u64 prod = smc_count_read_acquire(&c->rx_prod), cons = smc_count_read(&c->rx_cons);

	return prod > cons ? prod - cons : 0;
}

static inline u64 smc_conn_unacked(const struct smc_conn *c)
{
	return smc_count_read(&c->tx_written) - smc_count_read_acquire(&c->tx_cons);
}

static inline u64 smc_conn_room(const struct smc_conn *c)
{
	return READ_ONCE(c->tx_size) - smc_conn_unacked(c);
}

/* A sender that found the ring full is woken only once this much is free again. */
static inline u32 smc_conn_low_room(const struct smc_conn *c)
{
	return READ_ONCE(c->tx_size) / 4;
}

/*
 * From here on, smc_conn_writable() notifies sleepers in the wait queue and SIGIO users when there
 * is room again. The release orders the SIGIO request before tx_blocked.
 * model/window.pml: ask for SIGIO.
 */
static inline void smc_conn_ask_for_room(struct smc_conn *c)
{
	smp_store_release(&c->tx_blocked, true);
	/*
	 * Set tx_blocked before looking at the room. Pairs with the barrier between tx_cons and
	 * tx_blocked. model/window.pml: ask.
	 */
	smp_mb();
}

/*
 * Limits one copy to a quarter of the @ring before it is announced to the other end, so that both
 * ends can work at the same time.
 */
static inline size_t smc_conn_piece(u32 ring, size_t len)
{
	if (unlikely(len > SMC_CLC_SIZE_MIN))
		len = min_t(size_t, len, max_t(size_t, ring / 4, SMC_CLC_SIZE_MIN));
	return len;
}

/* Has the peer closed or aborted? Our own abort does not count. */
static inline bool smc_conn_peer_ended(const struct smc_conn *c)
{
	return READ_ONCE(c->rx_flags) & (BIT(SMC_FLAG_CLOSED) | BIT(SMC_FLAG_ABORT));
}

static inline bool smc_conn_peer_gone(const struct smc_conn *c)
{
	return READ_ONCE(c->rx_flags) & (BIT(SMC_FLAG_CLOSED) | BIT(SMC_FLAG_ABORT) |
					 BIT(SMC_FLAG_GIVEN_UP));
}

/*
 * Did the stream end in good order before any reset? @flags is @rx_flags for the peer's stream and
 * @tx_flags for ours. Without @late_fin, SOCK_DONE of the TCP socket may say so, too.
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

/* Has reading been shut down, by the application or by a FIN that is in order with the data? */
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

/* The socket, while it has a file, or NULL; the caller holds state_lock. */
static inline struct sock *__smc_conn_sk(const struct smc_conn *c)
{
	struct socket_wq *wq = rcu_dereference_protected(c->wq,
							 lockdep_is_held(&c->state_lock));

	/* c->wq is cleared under this lock before the file goes away. */
	return wq ? container_of(wq, struct socket, wq)->sk : NULL;
}

static inline struct smc_conn *smc_conn_get(struct smc_conn *c)
{
	refcount_inc(&c->ref);
	return c;
}

/* conn.c */
void smc_conn_init(struct smc_conn *c, const struct smc_conn_ops *ops,
		   struct smc_rmbe *rmbe);
void smc_conn_set_rmbe(struct smc_conn *c, struct smc_rmbe *rmbe);
void smc_conn_destroy(struct smc_conn *c);
void smc_conn_drop_rmbe(struct smc_conn *c);
void smc_conn_free(struct smc_conn *c);
void smc_conn_set_notify(struct smc_conn *c, void (*fn)(struct sock *sk),
			 struct sock *sk);

static inline void smc_conn_put(struct smc_conn *c)
{
	if (refcount_dec_and_test(&c->ref))
		smc_conn_free(c);
}

/* What is left to the owners of tx_lock (send.c) and rx_lock (recv.c). */
void smc_conn_settle_tx(struct smc_conn *c);
void smc_conn_settle_rx(struct smc_conn *c);

/* Tell the owner of a lock what to do after it has released the lock. */
static inline void smc_conn_owe(unsigned long *owed, enum smc_conn_owed what)
{
	set_bit(what, owed);
	/* Pairs with the barrier in smc_conn_tx_unlock(). model/owed.pml: owe. */
	smp_mb__after_atomic();
}

/*
 * Try a lock. If this fails, the owner does @what after it has released the lock. It may also be
 * done after a success, which is harmless.
 *
 * Context: process, with bottom halves enabled. To release a mutex takes a spinlock that must not
 * be taken inside of locks that softirqs take.
 */
static inline bool smc_conn_trylock(struct mutex *lock, unsigned long *owed,
				    enum smc_conn_owed what)
{
	lockdep_assert(!in_interrupt());
	if (mutex_trylock(lock))
		return true;
	smc_conn_owe(owed, what);
	/* The owner may have released the lock before it could see the bit. */
	return mutex_trylock(lock);
}

/**
 * smc_conn_tx_unlock() - release tx_lock, and do what others have left to its owner
 * @c:	the connection; the caller has a reference, or a system call in progress has one
 *
 * Context: process, nothing but locks that nest outside tx_lock is held.
 */
static __always_inline void smc_conn_tx_unlock(struct smc_conn *c)
{
	mutex_unlock(&c->tx_lock);
	/* The unlock is an atomic operation. model/owed.pml: look for what is owed. */
	smp_mb__after_atomic();
	if (unlikely(READ_ONCE(c->tx_owed)))
		smc_conn_settle_tx(c);
}

/* As smc_conn_tx_unlock(), for rx_lock. */
static __always_inline void smc_conn_rx_unlock(struct smc_conn *c)
{
	mutex_unlock(&c->rx_lock);
	smp_mb__after_atomic();
	if (unlikely(READ_ONCE(c->rx_owed)))
		smc_conn_settle_rx(c);
}

/* Events reported by a fabric; any context, bottom halves included. */
void smc_conn_readable(struct smc_conn *c);
void smc_conn_writable(struct smc_conn *c);
void smc_conn_wake_senders(struct smc_conn *c);
void smc_conn_wake_all(struct smc_conn *c);
void smc_conn_notify(struct smc_conn *c);
void smc_conn_urgent(struct smc_conn *c, u64 end);
void smc_conn_urgent_pending(struct smc_conn *c, bool pending);
u64 smc_urgent_taken(const struct smc_conn *c);
void smc_stamps_arrived(struct smc_conn *c, u64 prod);
bool smc_stamps_posted(struct smc_conn *c, u64 prod, u16 seqno);
void smc_stamps_acked(struct smc_conn *c, u16 seqno);

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

/* send.c, recv.c, poll.c */
int smc_conn_sendmsg(struct sock *sk, struct smc_conn *c, struct msghdr *msg,
		     size_t len);
void smc_conn_uncork(struct smc_conn *c);
bool smc_conn_publish_held(struct smc_conn *c);
void smc_conn_stop(struct smc_conn *c);
void smc_conn_tx_timer(struct work_struct *work);
int smc_conn_recvmsg(struct sock *sk, struct smc_conn *c, struct msghdr *msg,
		     size_t len, int flags);
int smc_conn_rx_end(struct sock *sk, struct smc_conn *c);
__poll_t smc_conn_poll(struct sock *sk, struct smc_conn *c);
bool smc_conn_enough(const struct sock *sk, struct smc_conn *c, u64 unread);

/* What TCP calls. TCP's own callbacks are the same for all sockets. */
struct smc_callbacks {
	void (*data_ready)(struct sock *sk);
	void (*state_change)(struct sock *sk);
	void (*write_space)(struct sock *sk);
	void (*error_report)(struct sock *sk);
};

extern struct smc_callbacks smc_tcp_callbacks, smc_own_callbacks;

/* reader.c */
bool smc_has_kernel_user(const struct sock *sk);
void smc_conn_set_wq(struct smc_conn *c, struct socket_wq *wq);
int smc_conn_attach_user(struct sock *sk, struct smc_conn *c);
void smc_conn_call_reader(struct smc_conn *c);
int smc_conn_read_sock(struct sock *sk, struct smc_conn *c, read_descriptor_t *desc,
		       sk_read_actor_t actor);

/* tx_timer.c */
#define SMC_NO_COUNT	U64_MAX

void smc_conn_start_tx_timer(struct smc_conn *c);
void smc_conn_run_tx_timer(struct smc_conn *c);
void smc_conn_watch(const struct sock *sk, struct smc_conn *c);
void smc_conn_user_timeout_set(const struct sock *sk, struct smc_conn *c);
bool smc_conn_keep_watch(struct smc_conn *c);

/* grow.c */
void smc_conn_may_grow(struct smc_conn *c, u32 sure, u32 most);
bool smc_conn_grow(struct smc_conn *tx, struct smc_conn *rx);
void smc_conn_retry_grow(struct smc_conn *tx);

/* close.c */
int __smc_conn_event(struct smc_conn *c, enum smc_conn_event event);
void smc_conn_established(struct smc_conn *c);
void smc_conn_done(struct smc_conn *c);
void smc_conn_close(struct smc_conn *c);
void smc_conn_own_event(struct smc_conn *c, enum smc_conn_event event);
void smc_conn_peer_event(struct smc_conn *c, enum smc_conn_event event);
void smc_conn_lose_unread(struct smc_conn *c);
void smc_conn_abort(struct smc_conn *c);
void smc_conn_refuse(struct smc_conn *c);
void smc_conn_tcp_was_reset(struct sock *sk, struct smc_conn *c);

/* abort.c */
void smc_tcp_reset(struct sock *sk, int err);
void smc_tcp_await_reset(struct sock *sk);
void __smc_conn_reset_tcp(struct sock *sk, const struct smc_conn *c);
void smc_conn_reset_tcp(struct sock *sk, const struct smc_conn *c);
struct sock *smc_conn_hold_sk(struct smc_conn *c);
bool smc_conn_try_reset_tcp(struct smc_conn *c);
bool smc_conn_try_time_out(struct smc_conn *c);
void smc_conn_handle_peer_abort(struct sock *sk, const struct smc_conn *c, unsigned long flags);

#endif
