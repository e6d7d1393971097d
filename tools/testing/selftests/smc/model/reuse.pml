/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reuse of an element on a mapped ISM device. The owner gives the element to another connection when
 * the former writer has said its last word. The writer has two senders, which copy into the element
 * under tx_lock, and a bottom half that sets the flag and says the word unless a sender copies.
 *
 * A copy that hits the next owner's data fails an assertion. If the word is never said, the owner
 * waits for ever, which is an invalid end state.
 */
#define CPUS	4
#define VARS	7

#define SPEAKER	0	/* number of processors */
#define FIRST	1	/* the senders */
#define SECOND	2
#define OWNER	3

#define FLAG	0	/* the variables: smc_conn.tx_flags, as far as the last word is concerned */
#define TX_LOCK	1	/* smc_conn.tx_lock, as those see it that do not take it */
#define OWED	2	/* smc_conn.tx_owed */
#define SAY_LOCK 3	/* smcd_conn.say_lock */
#define WORD	4	/* the last word, in the element */
#define DATA	5	/* the element */
#define MUTEX	6	/* smc_conn.tx_lock, as its owners see it */

#define OLD	1	/* data of the former writer, and of the next connection */
#define NEW	2

#include "memory.pml"

bool disabled;		/* smc_msg_conn.tx_disabled, under SAY_LOCK */

/* smcd_say() */
inline say(cpu)
{
	lock(SAY_LOCK);
	if
	:: !disabled ->
		disabled = true;
		store(cpu, WORD, 1);
		skip
	:: else
	fi;
	unlock(cpu, SAY_LOCK)
}

/* no_sender_copies(), smc_conn_owe() */
inline last_word(cpu, r)
{
#ifdef NO_LOOK
	say(cpu);
#else
#ifndef NO_MB_SAY
	mb(cpu);	/* step "look for a sender": after the flag is set */
#endif
	load(cpu, TX_LOCK, r);
	if
	:: r ->
		store(cpu, OWED, 1);
#ifndef NO_MB_OWE
		mb(cpu);
#endif
#ifndef NO_SECOND_LOOK
		load(cpu, TX_LOCK, r);
#endif
		skip
	:: else
	fi;
	if
	:: !r -> say(cpu)
	:: else -> r = 0
	fi
#endif
}

/* smc_conn_own_event(), in a bottom half */
proctype speaker()
{
	byte r;

	store(SPEAKER, FLAG, 1);
	last_word(SPEAKER, r)
}

/* smc_conn_sendmsg(), smc_conn_tx_unlock(), smc_conn_settle_tx() */
proctype sender(byte cpu)
{
	byte r;

	lock(MUTEX);
	store(cpu, TX_LOCK, 1);		/* an acquire: later loads may overtake it */
#ifndef NO_MB_TAKE
	mb(cpu);	/* step "take the lock": before the look at the flag */
#endif
#ifdef NO_CHECK
	store(cpu, DATA, OLD);
#else
	load(cpu, FLAG, r);
	if
	:: !r -> store(cpu, DATA, OLD); skip
	:: else -> r = 0
	fi;
#endif
	unlock(cpu, TX_LOCK);
	unlock(cpu, MUTEX);
#ifndef NO_MB_RELEASE
	mb(cpu);
#endif
	load(cpu, OWED, r);
	if
	:: r ->
		mb(cpu);	/* test_and_clear_bit() */
		d_step { r = mem[OWED]; mem[OWED] = 0 };
		if
		:: r -> r = 0; last_word(cpu, r)
		:: else
		fi
	:: else
	fi
}

/* smc_ism_has_last_word(), smcd_hear(), then another connection */
proctype owner()
{
	byte r;

	mem[WORD] == 1;
	store(OWNER, DATA, NEW);
	mb(OWNER);
	load(OWNER, DATA, r);
	assert(r == NEW)
}

init {
	atomic {
		run owner();
		run speaker();
		run sender(FIRST);
		run sender(SECOND)
	}
}
