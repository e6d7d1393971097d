/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wait queue of the socket, and a peer that moves the cursor and checks whether the queue is
 * empty. The waiters are poll() and a reader in the kernel, which stays in the queue.
 *
 * Both wait for the first byte.  If one of them does not learn of it, that is an invalid end state.
 */
#define CPUS	3
#define VARS	4

#define POLLER	0	/* number of processors */
#define READER	1
#define PEER	2

#define PROD	0	/* the variables: smc_conn.rx_prod */
#define WQ_LOCK	1	/* the lock of the wait queue */
#define QUEUED	2	/* in the wait queue: two bits */

#include "memory.pml"

bool triggered;		/* poll_wqueues.triggered */
bool work;		/* smc_reader.work is queued */

/* add_wait_queue() */
inline queue(i)
{
	lock(WQ_LOCK);
	store(i, QUEUED + i, 1);
	unlock(i, WQ_LOCK)
}

/* smc_poll(), from the system call to its end */
active proctype poller()
{
	byte prod;

	queue(POLLER);
#ifndef NO_MB_POLL
	mb(POLLER);		/* sock_poll_wait() */
#endif
	load(POLLER, PROD, prod);	/* smc_conn_poll() */
	if
	:: prod
	:: else -> triggered
	fi
}

/* smc_conn_read_sock(), then reader_work() */
active proctype reader()
{
	byte prod;

	queue(READER);		/* __reader_join() */
#ifndef NO_MB_ATTACH
	mb(READER);		/* step "look for data" */
#endif
	load(READER, PROD, prod);	/* feed() */
	if
	:: prod
	:: else -> work
	fi
}

/* smc_conn_readable() */
active proctype peer()
{
	byte first, second;

	store(PEER, PROD, 1);
#ifndef NO_MB_READABLE
	mb(PEER);		/* step "look into the queue" */
#endif
	d_step {		/* waitqueue_active() */
		load_now(PEER, QUEUED + POLLER, first);
		load_now(PEER, QUEUED + READER, second);
		first = first || second
	};
	if
	:: first ->
		lock(WQ_LOCK);
		load(PEER, QUEUED + POLLER, first);
		load(PEER, QUEUED + READER, second);
		if
		:: first -> triggered = true	/* pollwake() */
		:: else
		fi;
		if
		:: second -> work = true	/* wake_reader() */
		:: else
		fi;
		unlock(PEER, WQ_LOCK)
	:: else
	fi
}
