/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pairing: a client of this kernel, and the child that a listener of this kernel may create for it.
 *
 * The program connects, makes one more call that owns the socket, and may close or disconnect the
 * socket.  The listener may or may not have seen the SYN. The child may come late or never. Its end
 * may be set up at once, or by its work, and the child may be destroyed before that. A reset may
 * arrive.  At the end the client is settled, nothing of its handshake is left, and the child has
 * reached the same decision.
 *
 * All locks are full barriers here: the subject of this model is who decides, not memory, except
 * for the store of the decision.
 */
mtype = { CONNECTING, UP, TCP, CLC, GONE };		/* decision for the client */
mtype = { NONE, CLAIMING, PENDING, REFUSED, KILLED };	/* for the child, which may be UP or CLC */

mtype phase = CONNECTING;
mtype child = NONE;

/* The client's socket */
bool slock;		/* its spin lock */
bool owned;		/* owned by a system call */
bool on_release;	/* smc_sock.hs_on_release */
bool established;	/* TCP */
bool closing;		/* smc_sock.closing */
bool linked = true;	/* smc_sock.hs */
bool synack, reset;	/* in the backlog */

/* Its handshake */
byte refs = 1;
bool freed, timer, work;
bool near, await, claimed, decided, dead, again;	/* SMC_HS_* */
bool conn;		/* smc_handshake.conn */
mtype verdict = NONE;

/* The table */
bool bucket;		/* pair_bucket.lock */
bool hashed;

bool syn, ack;		/* tokens have been sent */
byte decisions;
bool taken, aborted;	/* the client's end of the connection */

#define SPIN_LOCK(l)	atomic { !l; l = true }

#ifdef NO_BUCKET_LOCK
#define BUCKET_LOCK
#define BUCKET_UNLOCK
#else
#define BUCKET_LOCK	SPIN_LOCK(bucket);
#define BUCKET_UNLOCK	bucket = false;
#endif

/* smc_hs_put() */
inline put()
{
	d_step {
		assert(refs > 0 && !freed);
		refs--;
		if
		:: refs == 0 ->
			freed = true;
			aborted = conn;
			conn = false
		:: else
		fi
	}
}

/* smc_hs_put_later() */
inline put_later()
{
	d_step {
		assert(refs > 0);
		if
		:: refs > 1 -> refs--
		:: else -> work = true
		fi
	}
}

/* smc_hs_kick() */
inline kick()
{
	d_step {
		assert(refs > 0);
		if
		:: work
		:: else -> work = true; refs++
		fi
	}
}

/* smc_hs_kick_at(), for a handshake that is linked: arm_timer() has nothing to undo */
inline kick_at()
{
	again = true;
	d_step {
		assert(refs > 0);
		if
		:: timer
		:: else -> timer = true; refs++
		fi
	}
}

/* smc_left_to_owner(): with the spin lock, or as the owner */
inline left_to_owner(left)
{
	d_step {
		left = owned;
#ifndef NO_RELEASE_CB
		on_release = on_release || owned
#endif
	}
}

/* step "withdraw": smc_pair_withdraw(); the caller looks at claimed afterwards */
inline withdraw()
{
	BUCKET_LOCK
	hashed = false;
	BUCKET_UNLOCK
}

/* smc_hs_unlink(), and the put of the socket's reference */
inline unlink()
{
	linked = false;
	withdraw();
	dead = true;
	if
	:: atomic { timer -> timer = false }; put()
	:: else
	fi;
	put()
}

/* smc_negotiate(): CLC begins and ends at once */
inline negotiate()
{
	assert(!claimed);
	phase = CLC;
	unlink()
}

/* smc_pair_take(): with the spin lock while the socket has no owner, or as the owner */
inline take(c)
{
	if
	:: linked && decided ->
		/* step "take the decision": behind the look at decided */
#ifndef NO_RMB
		c = conn;
#endif
		if
		:: !c || closing -> kick()
		:: else ->
			conn = false;
			taken = true;
			phase = UP;
			unlink()
		fi
	:: else
	fi;
	c = false
}

/* smc_pair_await() */
inline pair_await(left, c)
{
	BUCKET_LOCK
	c = hashed && near;
	if
	:: c -> await = true
	:: else -> hashed = false
	fi;
	BUCKET_UNLOCK
	if
	:: c ->
		left_to_owner(left);
		if
		:: !left -> kick_at()
		:: else
		fi
	:: else -> negotiate()
	fi;
	left = false;
	c = false
}

/* smc_state_change(), connecting_changed(): the SYN-ACK has come */
inline syn_ack_came(left, c)
{
	if
	:: phase == CONNECTING && !claimed -> established = true; pair_await(left, c)
	:: else
	fi;
	ack = true
}

/* the same for a reset */
inline reset_came()
{
	if
	:: phase == CONNECTING && !claimed ->
		/* A child that claims it here decides for nobody. */
		phase = GONE;
		unlink()
	:: else
	fi
}

inline lock_sock()
{
	atomic { !slock && !owned; owned = true }
}

/* release_sock(), smc_release_cb(), smc_pair_released() */
inline release_sock(left, c)
{
	SPIN_LOCK(slock);
	do
	:: synack ->
		synack = false;
		slock = false;
		syn_ack_came(left, c);
		SPIN_LOCK(slock)
	:: !synack && reset ->
		reset = false;
		slock = false;
		reset_came();
		SPIN_LOCK(slock)
	:: else -> break
	od;
	if
	:: on_release ->
		on_release = false;
		if
		:: !linked
		:: linked && decided ->
#ifdef NO_RMB
			c = conn;
#endif
			take(c)
		:: else ->
			if
			:: await -> kick_at()
			:: else -> kick()
			fi
		fi
	:: else
	fi;
	atomic { owned = false; slock = false }
}

/* The program */
active proctype program()
{
	bool left, c, orphan;

	lock_sock();			/* smc_connect() */
	BUCKET_LOCK			/* smc_pair_register() */
	hashed = true;
	BUCKET_UNLOCK
	syn = true;
	release_sock(left, c);
	lock_sock();			/* any call that owns the socket */
	release_sock(left, c);
	if
	:: true				/* it waits: smc_wait_negotiated() */
	:: true ->			/* smc_release(), close_after_handshake() */
		lock_sock();
#ifdef NO_RMB
		c = conn;
#endif
		take(c);
		orphan = (claimed && linked);
		closing = orphan;
		release_sock(left, c);
		if
		:: !orphan -> goto detach
		:: else
		fi
	:: true ->			/* smc_disconnect(), close() with SO_LINGER and 0 */
detach:
		lock_sock();
		if
		:: linked -> unlink()	/* smc_hs_detach() */
		:: else
		fi;
		phase = GONE;
		release_sock(left, c)
	fi
}

/* Bottom half of the client's TCP connection */
active proctype network()
{
	bool left, c;

	syn;
	if				/* smc_pair_seen() */
	:: near = true
	:: true
	fi;
	SPIN_LOCK(slock);
	if
	:: owned -> synack = true
	:: else -> syn_ack_came(left, c)
	fi;
	slock = false;
	if
	:: true
	:: established ->
		SPIN_LOCK(slock);
		if
		:: owned -> reset = true
		:: else -> reset_came()
		fi;
		slock = false
	fi
}

/* step "decide": decide(), tell_client(); the reference of the claim goes */
inline decide(made, left, c)
{
	assert(!freed);
#ifdef NO_WMB
	decided = true;
	conn = made;
#else
	conn = made;
	decided = true;
#endif
	decisions++;
#ifdef NO_RMB
	c = conn;
#endif
	if
	:: atomic { !slock -> slock = true };
		left_to_owner(left);
		if
		:: !left -> take(c)
		:: else
		fi;
		slock = false
	:: atomic { slock }
#ifndef NO_KICK
		-> kick()
#endif
	fi;
	put_later();
	left = false
}

/* settle_child(), pair_with_client() in a bottom half, and decide_for_both() in the child's work */
active proctype listener()
{
	bool left, c;

	if
	:: ack
	:: ack -> goto unborn
	fi;
	BUCKET_LOCK			/* step "claim": smc_pair_claim() */
	c = hashed && await;
	if
	:: c ->
#ifndef NO_BUCKET_LOCK
		refs++;
#else
		if
		:: freed -> refs = 1
		:: else -> refs++
		fi;
#endif
		hashed = false;
		claimed = true
	:: else
	fi;
	BUCKET_UNLOCK
	if
	:: !c -> child = CLC
	:: else ->
		c = false;
		child = CLAIMING;
		if			/* smc_pair_now(), smc_pair_by_worker(), smc_pair_refuse() */
		:: child = UP
		:: child = REFUSED
		:: child = PENDING
		fi;
		if
		:: child == PENDING ->
			if		/* smc_pair_later(), or detach_conn() */
			:: child = UP
			:: child = REFUSED
			:: child = KILLED
			fi
		:: else
		fi;
		decide((child == UP), left, c)
	fi;
unborn:	skip
}

/* hs_timer() */
active proctype clock()
{
	bool once;

end:	do
	:: atomic { timer -> timer = false };
		d_step { once = again; again = false };
		await = false;
		if
		:: once -> kick()
		:: else
		fi;
		put()
	od
}

/* smc_hs_settle() */
inline settle(left, c)
{
	SPIN_LOCK(slock);
	left = true;
	if
	:: linked -> left_to_owner(left)
	:: else
	fi;
	if
	:: !left ->
		if
		:: verdict == UP ->
			assert(conn);
			conn = false;
			taken = true;
			phase = UP
		:: else -> phase = TCP
		fi;
		unlink();
		if
		:: closing -> phase = GONE; closing = false
		:: else
		fi
	:: else
	fi;
	slock = false;
	left = false
}

/* step "give up": give_up_pairing() */
inline give_up(left)
{
	SPIN_LOCK(slock);
	left = true;
	if
	:: linked -> left_to_owner(left)
	:: else
	fi;
	if
	:: !left ->
		withdraw();
		if
#ifndef NO_CLAIMED
		:: claimed
#endif
		:: else -> negotiate()
		fi
	:: else
	fi;
	slock = false;
	left = false
}

/* hs_work(), smc_client_connect() */
active proctype worker()
{
	bool left, c;

end:	do
	:: atomic { work -> work = false };
		do
		:: dead -> break
		:: !dead && verdict != NONE -> settle(left, c); break
		:: !dead && verdict == NONE ->
#ifdef NO_RMB
			c = conn;
#endif
			if
			:: decided ->	/* take_decision() */
#ifndef NO_RMB
				c = conn;
#endif
				if
				:: c -> verdict = UP
				:: else -> verdict = TCP
				fi;
				c = false
			:: !decided && (!established || await) -> break
			:: !decided && established && !await -> give_up(left); break
			fi
		od;
		put()
	od
}

#define LEFT	(phase == GONE)

active proctype judge()
{
	timeout;
	assert(!slock && !owned && !bucket);
	assert(phase != CONNECTING && !closing);	/* no one waits for ever */
	assert(!hashed && !linked && freed);		/* nothing is left over */
	assert(decisions == claimed);			/* exactly one decides */
	assert(phase != UP || child == UP);
	assert(phase != TCP || child == REFUSED || child == KILLED);
	assert(phase != CLC || child == CLC || child == NONE);
	assert(child != UP || phase == UP || LEFT);	/* both come to the same decision */
	assert(child != CLC || phase == CLC || LEFT);
	assert(child != UP || taken != aborted)		/* the client's end has one owner */
}
