// SPDX-License-Identifier: GPL-2.0
/*
 * How a run of the machine gets the lock of its socket.
 *
 * A socket with a file may be locked for as long as a program likes, in a call that reads
 * memory which the program provides.  A runner that works on its own socket waits for the
 * lock in each step, as any system call does.  All others, which must not be stalled by that
 * program, only try.  There are two ways:
 *
 *  the socket's lock	taken before the run and held throughout; the steps then do not lock
 *			the socket again (smc_handshake.sk_locked)
 *  the child lock	a child that has not been accepted has no owner, and gets none while
 *			@child_lock is held, so each step can lock it for itself.  What arrives
 *			in between need not go through the backlog, which costs as much as a
 *			message.
 */
#include "internal.h"

/*
 * lock_sock() that does not wait.  The kernel has none: lock_sock_fast() waits for the owner,
 * and what holds the spinlock alone cannot sleep, as sending may.  So this does what
 * lock_sock() does when there is no owner, and tells lockdep the same.  release_sock() undoes
 * it.
 *
 * If the socket has an owner, and with @defer, smc_release_cb() has the worker try again.
 */
static bool trylock_sock(struct sock *sk, bool defer)
{
	bool mine;

	spin_lock_bh(&sk->sk_lock.slock);
	mine = !sk->sk_lock.owned;
	if (mine)
		sk->sk_lock.owned = 1;
	else if (defer)
		smc_sk(sk)->hs_on_release = true;
	spin_unlock_bh(&sk->sk_lock.slock);
	if (mine)
		mutex_acquire(&sk->sk_lock.dep_map, 0, 1, _RET_IP_);
	return mine;
}

/* Keep accept() from a pending child, unless it is at it just now. */
static bool trylock_pending_child(struct smc_handshake *hs)
{
	const struct smc_sock *smc = smc_sk(hs->sk);

	if (!rcu_access_pointer(smc->pending_in) || smc_hs_may_wait(hs))
		return false;
	/*
	 * The packet that made this child has woken the task in accept().  Let it run now: the
	 * first lock_sock() of a step would, and it would come back at once to wait for ours.
	 */
	cond_resched();
	if (!mutex_trylock(&hs->child_lock))
		return false;
	if (rcu_access_pointer(smc->pending_in))
		return true;
	mutex_unlock(&hs->child_lock);
	return false;
}

/**
 * smc_hs_trylock_run() - get the locks for a run on the socket of another task, without waiting
 * @hs: the handshake; its lock is held
 * @defer: if the socket has an owner, the worker is to run when it gives the lock back
 *
 * Return: false if that cannot be done now.
 */
bool smc_hs_trylock_run(struct smc_handshake *hs, bool defer)
{
	lockdep_assert_held(&hs->lock);
	hs->child_locked = trylock_pending_child(hs);
	hs->sk_locked = !hs->child_locked && trylock_sock(hs->sk, defer);
	return hs->child_locked || hs->sk_locked;
}

/**
 * smc_hs_unlock_run() - undo smc_hs_trylock_run()
 * @hs: the handshake; its lock is held
 */
void smc_hs_unlock_run(struct smc_handshake *hs)
{
	lockdep_assert_held(&hs->lock);
	smc_hs_unlock_sock(hs);
	if (hs->child_locked)
		mutex_unlock(&hs->child_lock);
	hs->child_locked = false;
}

/**
 * smc_hs_unlock_sock() - give the socket's lock back before the end of the run
 * @hs: the handshake; its lock is held
 */
void smc_hs_unlock_sock(struct smc_handshake *hs)
{
	if (!hs->sk_locked)
		return;
	hs->sk_locked = false;
	release_sock(hs->sk);
}

/**
 * smc_hs_lock_sock() - lock the socket of a handshake for a step
 * @hs: the handshake; its lock is held
 *
 * Return: false, and the socket not locked, if the handshake is not its own any more: it
 * may have been connected anew.
 */
bool smc_hs_lock_sock(struct smc_handshake *hs)
{
	lockdep_assert_held(&hs->lock);
	if (!hs->sk_locked)
		lock_sock(hs->sk);
	if (rcu_access_pointer(smc_sk(hs->sk)->hs) == hs)
		return true;
	smc_hs_release_sock(hs);
	return false;
}

/**
 * smc_hs_release_sock() - undo smc_hs_lock_sock()
 * @hs: the handshake
 */
void smc_hs_release_sock(struct smc_handshake *hs)
{
	if (!hs->sk_locked)
		release_sock(hs->sk);
}

/**
 * smc_hs_lock_child() - wait for a run that relies on the child having no file
 * @sk: the child, not locked
 *
 * Context: process.
 * Return: its handshake, for smc_hs_unlock_child(), or NULL if it is over.
 */
struct smc_handshake *smc_hs_lock_child(struct sock *sk)
{
	struct smc_handshake *hs = smc_hs_get(sk);

	if (hs)
		mutex_lock(&hs->child_lock);
	return hs;
}

/**
 * smc_hs_unlock_child() - undo smc_hs_lock_child()
 * @hs: the handshake, or NULL
 */
void smc_hs_unlock_child(struct smc_handshake *hs)
{
	if (!hs)
		return;
	mutex_unlock(&hs->child_lock);
	smc_hs_put(hs);
}
