/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory as the models see it: each processor has a buffer of stores that the others do not see
 * yet, first in first out.  It sees its own stores at once.  A full barrier waits until the buffer
 * is empty.  That is x86, but for locks: taking one does not imply a full barrier here.
 *
 * A model defines CPUS and VARS before it includes this, and numbers for its variables.
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

/* As a statement in a d_step. */
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

/* Its owner's release is a store like others, behind those of the critical section. */
inline lock(l)
{
	d_step { mem[l] == 0; mem[l] = 1 }
}

inline unlock(cpu, l)
{
	store(cpu, l, 0)
}

/* The oldest store of a buffer becomes visible, at any time. */
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
