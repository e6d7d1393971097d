/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control data on a mapped ISM device: one end writes two words while the other one may read them.
 *
 * The writer announces data, then urgent data, then more data, and last the end of the stream. It
 * continues after urgent data only when the reader has received that.  The reader must mark exactly
 * the urgent byte, must not see the end before the last data, and must learn everything in the end.
 * Otherwise an assertion fails, or the reader waits for ever, which is an invalid end state.
 */
#define CPUS	3
#define VARS	4

#define URGENT	2	/* the producer cursor behind the urgent byte */
#define LAST	4

#define WRITER	0	/* number of processors */
#define READER	1

#define PROD	0	/* the variables: smc_control.prod */
#define CONS	1	/* smc_control.cons */
#define SIGNAL	2	/* the peer has been signalled */
#define TAKEN	3	/* the consumer's cursor, as known by the writer */

#define MARK	8	/* SMC_CDC_URG_PRESENT, in the same word as a cursor */
#define DONE	2	/* SMC_CDC_SEND_DONE */

#include "memory.pml"

/* write_control() */
inline write(prod, mark, end)
{
#ifdef END_FIRST
	store(WRITER, CONS, end);
#endif
#ifdef MARK_APART
	store(WRITER, CONS, mark + end);
	store(WRITER, PROD, prod);
#else
	store(WRITER, PROD, prod + mark);
#endif
	store(WRITER, CONS, end);	/* step "the end after the data" */
	store(WRITER, SIGNAL, 1)
}

active proctype writer()
{
	byte taken;

	write(1, 0, 0);
	write(URGENT, MARK, 0);
	do
	:: taken >= URGENT -> break
	:: else -> load(WRITER, TAKEN, taken); skip
	od;
	write(3, 0, 0);
	write(LAST, 0, DONE)
}

/* smc_msg_heard(), as far as data, urgent data and the end of the stream are concerned */
inline take(prod, flags)
{
	d_step {
		assert(prod >= seen);
		if
		:: prod != seen && (flags & MARK) -> assert(prod == URGENT); marked = true
		:: else
		fi;
		assert(prod < URGENT || marked);
		if
		:: flags & DONE -> assert(prod == LAST); ended = true
		:: else
		fi;
		seen = prod
	};
	store(READER, TAKEN, prod)
}

/* read_control() */
active proctype reader()
{
	byte prod, flags, seen;
	bool marked, ended;

	do
	:: ended -> break
	:: else ->
		atomic { mem[SIGNAL] == 1; mem[SIGNAL] = 0 };
#ifdef DATA_FIRST
		load(READER, PROD, prod);
		load(READER, CONS, flags);
#else
		load(READER, CONS, flags);
		load(READER, PROD, prod);	/* step "data after the end" */
#endif
		d_step {
			flags = flags | (prod & MARK);
			prod = prod & (MARK - 1)
		};
		take(prod, flags)
	od
}
