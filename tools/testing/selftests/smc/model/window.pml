/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Senders that wait for room, and what moves the cursor of the peer's consumer: over loopback the
 * peer's receiver (lo_consumed()), over RDMA a message of the peer (take_cursors()).
 *
 * Two threads send on one socket.  One of them, if there is no room, sleeps in the queue until LOW
 * is free, as poll() does.  The other one gets EAGAIN and waits for SIGIO.  If a sender waits for
 * ever, that is an invalid end state.
 */
#define CPUS	3
#define VARS	8

#define SIZE	3	/* size of the ring */
#define LOW	2	/* smc_conn_low_room() */
#define EACH	3	/* how much a sender has to send */
#define TOTAL	(2 * EACH)

#define SLEEPER	0	/* number of processors */
#define ASYNC	1
#define CONSUMER 2

#define WRITTEN	0	/* the variables: smc_conn.tx_written, and tx_prod */
#define CONS	1	/* smc_conn.tx_cons */
#define BLOCKED	2	/* smc_conn.tx_blocked */
#define WQ_LOCK	3	/* the lock of the wait queue */
#define QUEUED	4	/* the sleeper is in the wait queue */
#define STATE	5	/* of its task */
#define TX_LOCK	6	/* smc_conn.tx_lock */
#define NOSPACE	7	/* SOCKWQ_ASYNC_NOSPACE */

#define RUNNING	0
#define SLEEPS	1

#include "memory.pml"

bool sigio;

/* smc_conn_room() */
inline room(cpu, r)
{
	d_step {
		load_now(cpu, WRITTEN, r);
		load_now(cpu, CONS, at_cons);
		r = SIZE - (r - at_cons)
	}
}
hidden byte at_cons;

/* One unit, if there is room: smc_conn_sendmsg() */
inline send(cpu, r, sent)
{
	lock(TX_LOCK);
	room(cpu, r);
	if
	:: r > 0 ->
		d_step { load_now(cpu, WRITTEN, r); r++ };
		store(cpu, WRITTEN, r);
		sent++;
		r = 1
	:: else
	fi;
	unlock(cpu, TX_LOCK)
}

/* From here on the sender is notified of room; wait_for_room(), smc_conn_poll() */
inline ask(cpu)
{
	store(cpu, BLOCKED, 1);
#ifndef NO_MB_ASK
	mb(cpu)		/* step "ask": before the look at the room */
#endif
}

/* smc_conn_sendmsg() of the thread that may sleep */
proctype sleeper()
{
	byte r, sent;

	do
	:: sent == EACH -> break
	:: else ->
		send(SLEEPER, r, sent);
		if
		:: r > 0 -> r = 0
		:: else ->
			do	/* wait_for_room() */
			:: true ->
#ifdef ASK_EARLY
				ask(SLEEPER);
#endif
				lock(WQ_LOCK);		/* smc_wait_arm() */
				store(SLEEPER, QUEUED, 1);
				store(SLEEPER, STATE, SLEEPS);
				mb(SLEEPER);
				unlock(SLEEPER, WQ_LOCK);
#ifndef ASK_EARLY
				ask(SLEEPER);
#endif
				room(SLEEPER, r);
				if
				:: r >= LOW -> r = 0; break
				:: else -> r = 0
				fi;
				mb(SLEEPER);		/* schedule() */
				mem[STATE] == RUNNING
			od;
			store(SLEEPER, STATE, RUNNING);	/* smc_wait_end() */
			load(SLEEPER, QUEUED, r);
			if
			:: r ->
				r = 0;
				lock(WQ_LOCK);
				store(SLEEPER, QUEUED, 0);
				unlock(SLEEPER, WQ_LOCK)
			:: else
			fi
		fi
	od
}

/* smc_conn_sendmsg() of the thread that gets EAGAIN */
proctype async()
{
	byte r, sent;

	do
	:: sent == EACH -> break
	:: else ->
		send(ASYNC, r, sent);
		if
		:: r > 0 -> r = 0
		:: else ->
#if !defined(NOSPACE_LATE) && !defined(NO_RELEASE)
			mem[NOSPACE] = 1;	/* step "ask for SIGIO": before the release of ask() */
#endif
			ask(ASYNC);
#ifdef NO_RELEASE
			mem[NOSPACE] = 1;
#endif
			room(ASYNC, r);
			if
			:: r >= LOW
			:: else ->
#ifdef NOSPACE_LATE
				mem[NOSPACE] = 1;
#endif
				sigio;
				sigio = false
			fi;
			r = 0
		fi
	od
}

/* smc_conn_writable() */
inline writable(r)
{
	room(CONSUMER, r);
	if
	:: r < LOW
	:: else ->
		store(CONSUMER, BLOCKED, 0);
#ifndef NO_MB_WRITABLE
		mb(CONSUMER);	/* step "look for a sleeper": in skwq_has_sleeper() */
#endif
		load(CONSUMER, QUEUED, r);
		if
		:: r ->
			lock(WQ_LOCK);
			load(CONSUMER, QUEUED, r);
			if
			:: r ->
				mb(CONSUMER);	/* try_to_wake_up() */
				d_step {
					r = (mem[STATE] == SLEEPS);
					mem[STATE] = RUNNING
				};
				if
				:: r -> store(CONSUMER, QUEUED, 0)
				:: else
				fi
			:: else
			fi;
			unlock(CONSUMER, WQ_LOCK)
		:: else
		fi;
		d_step {	/* sock_wake_async() */
			sigio = sigio || mem[NOSPACE];
			mem[NOSPACE] = 0
		}
	fi;
	r = 0
}

/* lo_consumed(), take_cursors() */
proctype consumer()
{
	byte r, cons;

	do
	:: cons == TOTAL -> break
	:: else ->
		mem[WRITTEN] > cons;
		cons++;
		store(CONSUMER, CONS, cons);
#ifndef NO_MB_CONSUMED
		mb(CONSUMER);		/* step "look for a blocked sender" */
#endif
		load(CONSUMER, BLOCKED, r);
		if
		:: r -> writable(r)
		:: else
		fi
	od
}

init {
	atomic {
		run consumer();
		run sleeper();
		run async()
	}
}
