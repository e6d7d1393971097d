/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory as seen by the models: each processor has a FIFO buffer of stores that the others do not
 * see yet.  It sees its own stores at once.  A full barrier waits until the buffer is empty.  This
 * is x86, except that here taking a lock does not imply a full barrier.
 *
 * A model defines CPUS and VARS before it includes this file, and numbers for its variables.
 */
#define DEPTH	4

typedef buffer {
	byte n;
	byte var[DEPTH];
	byte val[DEPTH]
};

byte mem[VARS];
buffer pending[CPUS];
hidden byte at;

inline store(cpu, v, x)
{
	d_step {
		pending[cpu].n < DEPTH;
		pending[cpu].var[pending[cpu].n] = v;
		pending[cpu].val[pending[cpu].n] = x;
		pending[cpu].n++
	}
}

/* For use as a statement in a d_step. */
inline load_now(cpu, v, x)
{
	x = mem[v];
	at = 0;
	do
	:: at < pending[cpu].n ->
		if
		:: pending[cpu].var[at] == v -> x = pending[cpu].val[at]
		:: else
		fi;
		at++
	:: else -> break
	od
}

inline load(cpu, v, x)
{
	d_step { load_now(cpu, v, x) }
}

inline mb(cpu)
{
	pending[cpu].n == 0
}

/* The owner's release is a normal store, behind those of the critical section. */
inline lock(l)
{
	d_step { mem[l] == 0; mem[l] = 1 }
}

inline unlock(cpu, l)
{
	store(cpu, l, 0)
}

/* At any time, the oldest store of a buffer becomes visible. */
inline drain(cpu)
{
	d_step {
		pending[cpu].n > 0;
		mem[pending[cpu].var[0]] = pending[cpu].val[0];
		pending[cpu].n--;
		at = 0;
		do
		:: at < pending[cpu].n ->
			pending[cpu].var[at] = pending[cpu].var[at + 1];
			pending[cpu].val[at] = pending[cpu].val[at + 1];
			at++
		:: else -> break
		od;
		pending[cpu].var[at] = 0;
		pending[cpu].val[at] = 0
	}
}

active proctype memory()
{
end:	do
	:: drain(0)
	:: drain(1)
	:: drain(2)
#if CPUS > 3
	:: drain(3)
#endif
	od
}
