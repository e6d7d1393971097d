/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A task that needs tx_lock or rx_lock but must not wait for it (smc_conn_trylock()), and two other
 * owners of the lock, which do after their unlock what they find owed (smc_conn_settle_tx()).
 *
 * If what the task needs the lock for is never done, that is an invalid end state.
 */
#define CPUS	3
#define VARS	2

#define TRIER	0	/* number of processors */
#define FIRST	1
#define SECOND	2

#define LOCK	0	/* the variables: the mutex */
#define OWED	1	/* a bit of smc_conn.tx_owed or rx_owed */

#include "memory.pml"

bool done;

/* mutex_trylock() */
inline trylock(ok)
{
	d_step {
		ok = (mem[LOCK] == 0);
		if
		:: ok -> mem[LOCK] = 1
		:: else
		fi
	}
}

/* smc_conn_trylock() */
inline try(cpu, ok)
{
	trylock(ok);
	if
	:: !ok ->
		store(cpu, OWED, 1);	/* step "owe" */
#ifndef NO_MB_OWE
		mb(cpu);
#endif
#ifndef NO_SECOND_TRY
		trylock(ok)
#endif
	:: else
	fi
}

/* smc_conn_tx_unlock(), smc_conn_rx_unlock() */
inline release(cpu, ok)
{
	do
	:: true ->
		unlock(cpu, LOCK);
#ifndef NO_MB_UNLOCK
		mb(cpu);
#endif
		load(cpu, OWED, ok);	/* step "look for what is owed" */
		if
		:: ok
		:: else -> break
		fi;
		mb(cpu);
		d_step {		/* test_and_clear_bit() */
			ok = mem[OWED];
			mem[OWED] = 0
		};
		if
		:: ok
		:: else -> break
		fi;
		try(cpu, ok);
		if
		:: ok -> done = true
		:: else -> break
		fi
	od
}

active proctype trier()
{
	bool ok;

	try(TRIER, ok);
	if
	:: ok ->
		done = true;
		release(TRIER, ok)
	:: else
	fi
}

proctype owner(byte cpu)
{
	bool ok;

	lock(LOCK);
	release(cpu, ok)
}

active proctype judge()
{
	done
}

init {
	atomic {
		run owner(FIRST);
		run owner(SECOND)
	}
}
