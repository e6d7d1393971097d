/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receivers that go to sleep, and a peer that moves the cursor and checks whether one sleeps.
 *
 * With TWO, two receivers want one byte each.  The first one gets the slot for a single waiter
 * (rx_waiter), the other one waits in the queue of the socket.  The peer writes two bytes, one at a
 * time.  Without TWO there is one receiver, which a signal may end. Besides the peer, another
 * process wakes all waiters without any event.
 *
 * A receiver that sleeps for ever is an invalid end state.  A waker that accesses a waiter after it
 * has left its function violates an assertion.
 */
#define CPUS	4
#define VARS	9

#define PEER	2	/* number of processors; those of the receivers are 0 and 1 */
#define OTHER	3

#define PROD	0	/* the variables: smc_conn.rx_prod */
#define WAITER	1	/* smc_conn.rx_waiter: 0, or the number of the receiver plus one */
#define WAIT_LOCK 2	/* smc_conn.wait_lock */
#define WQ_LOCK	3	/* the lock of the wait queue */
#define QUEUED	4	/* in the wait queue: two bits */
#define STATE	6	/* of the task: two bits */
#define RX_LOCK	8	/* smc_conn.rx_lock */

#define RUNNING	0
#define SLEEPS	1

#include "memory.pml"

byte cons;		/* smc_conn.rx_cons, under rx_lock */
bool alive[2];		/* struct smc_wait is on the stack of its function */
bool signal;		/* a signal is about to come */

/* try_to_wake_up(): a full barrier, then the state. */
inline wake(cpu, i, woken)
{
	mb(cpu);
	d_step {
		woken = (mem[STATE + i] == SLEEPS);
		mem[STATE + i] = RUNNING
	}
}

/* smc_slot_wake() */
inline slot_wake(cpu, w, woken)
{
	load(cpu, WAITER, w);
	if
	:: w == 0
	:: else ->
		lock(WAIT_LOCK);
		load(cpu, WAITER, w);
		if
		:: w == 0
		:: else ->
#ifdef NO_RELEASE
			store(cpu, WAITER, 0);
#endif
			wake(cpu, w - 1, woken);
			assert(alive[w - 1]);
			woken = 0;
#ifndef NO_RELEASE
			/* step "let go": a release, which is through with the waiter before */
			store(cpu, WAITER, 0)
#endif
		fi;
		unlock(cpu, WAIT_LOCK)
	fi;
	w = 0
}

/* __wake_up() and wake_if_meant() */
inline queue_wake_one(cpu, i, w, woken)
{
	load(cpu, QUEUED + i, w);
	if
	:: w ->
		wake(cpu, i, woken);
		if
		:: woken -> store(cpu, QUEUED + i, 0)
		:: else
		fi
	:: else
	fi
}

inline queue_wake(cpu, w, woken)
{
	d_step {
		load_now(cpu, QUEUED, w);
		load_now(cpu, QUEUED + 1, woken);
		w = w || woken
	};
	if
	:: w ->
		lock(WQ_LOCK);
		queue_wake_one(cpu, 0, w, woken);
		queue_wake_one(cpu, 1, w, woken);
		unlock(cpu, WQ_LOCK)
	:: else
	fi;
	w = 0;
	woken = 0
}

/* smc_conn_readable(), after the store of the cursor; smc_conn_wake_all() */
inline readable(cpu, w, woken)
{
#ifndef NO_MB_READABLE
	mb(cpu);	/* step "look for a sleeper" */
#endif
	slot_wake(cpu, w, woken);
	queue_wake(cpu, w, woken)
}

/* prepare_to_wait(), in smc_wait_arm() */
inline arm(i)
{
	lock(WQ_LOCK);
	store(i, QUEUED + i, 1);
	store(i, STATE + i, SLEEPS);
#ifndef NO_MB_ARM
	mb(i);
#endif
	unlock(i, WQ_LOCK)
}

/* finish_wait(), in smc_wait_end() */
inline disarm(i, w)
{
	store(i, STATE + i, RUNNING);
	load(i, QUEUED + i, w);
	if
	:: w ->
		lock(WQ_LOCK);
		store(i, QUEUED + i, 0);
		unlock(i, WQ_LOCK)
	:: else
	fi;
	w = 0
}

/* step "take the place": smc_slot_take(); cmpxchg() is a full barrier where it succeeds */
inline slot_take(i, w, slot)
{
	load(i, WAITER, w);
	if
	:: w != 0 -> slot = false
	:: else ->
#ifndef NO_MB_TAKE
		mb(i);
#endif
		d_step {
			slot = (mem[WAITER] == 0);
			if
			:: slot -> mem[WAITER] = i + 1
			:: else
			fi
		}
	fi;
	w = 0
}

/* step "leave the place": smc_slot_leave() */
inline slot_leave(i, w)
{
	load(i, WAITER, w);
	if
	:: w != i + 1
	:: else ->
#ifndef NO_WAIT_LOCK
		lock(WAIT_LOCK);
#endif
		load(i, WAITER, w);
		if
		:: w == i + 1 -> store(i, WAITER, 0)
		:: else
		fi;
#ifndef NO_WAIT_LOCK
		unlock(i, WAIT_LOCK)
#endif
	fi;
	w = 0
}

/* schedule() */
inline sleep(i, interrupted)
{
	mb(i);
	if
	:: mem[STATE + i] == RUNNING
	:: signal ->
		d_step { signal = false; interrupted = true; mem[STATE + i] = RUNNING }
	fi
}

/* sleep_for_data() */
inline sleep_for_data(i, seq, w, slot, interrupted)
{
	alive[i] = true;
#ifndef STATE_LATE
	store(i, STATE + i, SLEEPS);	/* step "be asleep" */
#endif
	slot_take(i, w, slot);
#ifdef STATE_LATE
	store(i, STATE + i, SLEEPS);
	mb(i);
#endif
	if
	:: !slot -> arm(i)
	:: else
	fi;
	load(i, PROD, w);		/* step "look for data": nothing_at() */
	if
	:: w <= seq -> w = 0; sleep(i, interrupted)
	:: else -> w = 0
	fi;
	if
	:: slot ->
		store(i, STATE + i, RUNNING);
		slot_leave(i, w)
	:: else -> disarm(i, w)
	fi;
	slot = false;
	seq = 0;
	alive[i] = false
}

/* smc_conn_recvmsg() */
proctype receiver(byte i)
{
	byte w, seq;
	bool slot, interrupted;

	do
	:: interrupted -> break
	:: else ->
		lock(RX_LOCK);
		load(i, PROD, w);
		seq = cons;
		if
		:: w > seq -> cons++; unlock(i, RX_LOCK); break
		:: else -> w = 0; unlock(i, RX_LOCK)
		fi;
		sleep_for_data(i, seq, w, slot, interrupted)
	od
}

/* lo_commit(), smc_cdc_rx() */
proctype peer()
{
	byte w, woken;

	store(PEER, PROD, 1);
	readable(PEER, w, woken);
#ifdef TWO
	store(PEER, PROD, 2);
	readable(PEER, w, woken)
#endif
}

/* smc_conn_wake_all() */
proctype other()
{
	byte w, woken;

	readable(OTHER, w, woken)
}

init {
	atomic {
		run peer();
		run receiver(0);
#ifdef TWO
		run receiver(1)
#else
		run other();
		if
		:: signal = true
		:: true
		fi
#endif
	}
}
