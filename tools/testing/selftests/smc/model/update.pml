/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A window update over RDMA: a sender whose ring is full tells the peer, and the peer reports what
 * has been consumed.
 *
 * On the peer's host the handler of messages, the receiver, and whatever posts for the link run at
 * the same time.  The element there is so much larger than the ring that only a blocked sender gets
 * an update.  window.pml shows what the sender's own host does with the message.  If the sender
 * gets too few updates it waits for ever, which is an invalid end state.
 */
#define CPUS	3
#define VARS	4

#define SIZE	4	/* size of the sender's ring */
#define LOW	2	/* smc_conn_low_room() */
#define TOTAL	5	/* how much it has to send */
#define SHARE	2	/* the peer reports a SHARE-th of what the sender waits for */

#define HANDLER	0	/* number of processors */
#define READER	1
#define POSTER	2

#define PROD	0	/* the variables: smc_conn.rx_prod */
#define CONS	1	/* smc_conn.rx_cons */
#define WAITS	2	/* smc_msg_conn.peer_waits */
#define TOLD	3	/* smc_msg_conn.cons_advertised */

#include "memory.pml"

/* smc_link.tx_lock protects these two and the posts. */
bool force;		/* smc_link_sender.force_update */
bool queued;		/* smc_link_sender.pend */
#define LOCKED	atomic

chan to_peer = [1] of { byte, bool };	/* CDC messages: the producer's cursor; is it blocked? */

byte to_sender;		/* the consumer's cursor in the last message to the sender */

hidden byte was;

/*
 * The sender's host, in one step: smc_conn_sendmsg() writes as much as there is room for, or less;
 * smc_cdc_fill() announces it; smc_cdc_rx() learns what was consumed.
 */
#define ROOM	(SIZE - (prod - cons))

active proctype sender()
{
	byte prod, cons;
	bool waiting;

	do
	:: prod == TOTAL -> break
	:: atomic {
		prod < TOTAL && !waiting && nfull(to_peer);
		if
		:: prod++
		:: prod = (cons + SIZE < TOTAL -> cons + SIZE : TOTAL)
		fi;
		waiting = (ROOM == 0);
		to_peer!prod, (ROOM < LOW)
	   }
	:: atomic {
		cons != to_sender;
		cons = to_sender;
		waiting = waiting && ROOM < LOW
	   }
	od
}

/* smc_cdc_fill(), smc_msg_look(), smc_msg_said(), __post_pending(): with tx_lock */
inline fill(cpu, x)
{
	if
	:: force ->
		load(cpu, CONS, x);
		to_sender = x;
		store(cpu, TOLD, x)
	:: else
	fi;
#ifndef CLEAR_LATE
	force = false;		/* step "look and clear": under the lock */
	queued = false
#endif
}

/* step "force": force_update(), cdc_say(), queue_sender(); the send queue may be full just now */
inline force_update(cpu, x)
{
	LOCKED {
		force = true;
		queued = true;
		if
#ifndef CLEAR_LATE
		:: fill(cpu, x)
#endif
		:: true
		fi;
		x = 0
	}
}

/* take_cursors(), take_msg() */
active proctype handler()
{
	byte prod, x;
	bool blocked;

end:	do
	:: atomic {
		to_peer?prod, blocked;
		store(HANDLER, PROD, prod);
		store(HANDLER, WAITS, blocked);
		prod = 0
	   };
	   atomic {
#ifndef NO_MB_TAKE
		mb(HANDLER);	/* step "judge the message": by the cursor of the receiver */
#endif
		d_step {
			load_now(HANDLER, CONS, x);
			load_now(HANDLER, TOLD, was);
			x = (blocked && x != was);
			blocked = false
		}
	   };
	   if
#ifndef NO_ANSWER
	   :: x -> force_update(HANDLER, x)
#endif
	   :: else
	   fi
	od
}

/* worth_telling() for a peer that waits: at the latest when everything has been read */
inline worth_telling(x)
{
	d_step {
		load_now(READER, TOLD, was);
		load_now(READER, PROD, x);
		x = (cons - was >= (x - was) / SHARE);
		load_now(READER, WAITS, was);
		x = x && was
	}
}

/* smc_conn_recvmsg(), smc_recv_consume(), smc_msg_consumed() */
active proctype reader()
{
	byte cons, x;

	do
	:: cons == TOTAL -> break
	:: else ->
		atomic {
			mem[PROD] > cons;
			if
			:: cons++
			:: cons = mem[PROD]
			fi;
			store(READER, CONS, cons)
		};
		atomic {
#ifndef NO_MB_CONSUMED
			mb(READER);	/* step "look whether the peer waits" */
#endif
			worth_telling(x)
		};
		if
		:: x -> force_update(READER, x)
		:: else
		fi
	od
}

/* retire_posts(): there is room in the send queue again */
active proctype poster()
{
	byte x;

end:	do
	:: queued ->
		LOCKED { fill(POSTER, x); x = 0 };
#ifdef CLEAR_LATE
		LOCKED { force = false; queued = false }
#endif
	od
}
