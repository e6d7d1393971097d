/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a kernel in trouble says: extended regexes, the only list of them. klog.c includes it;
 * tools/testing/vm/judge-log and tools/testing/vm/verdict.py read its lines. Each is one line,
 * without a quotation mark or a backslash in the regex.
 */
COMPLAINT("WARNING:")
COMPLAINT("BUG[: ]")
COMPLAINT("Oops")
COMPLAINT("KASAN|KCSAN|UBSAN|KFENCE|ODEBUG")
COMPLAINT("DEBUG_LOCKS_WARN")
COMPLAINT("[Kk]ernel panic")
COMPLAINT("general protection")
COMPLAINT("stack segment|stack-protector|stack guard")
COMPLAINT("unable to handle")
COMPLAINT("refcount_t:")
COMPLAINT("possible (recursive|circular|irq lock inversion)|circular locking")
COMPLAINT("inconsistent lock state|bad unlock balance|held lock freed|lock held when returning")
COMPLAINT("suspicious RCU|rcu: .*detected")
COMPLAINT("scheduling while atomic|sleeping function called")
COMPLAINT("soft lockup|hard LOCKUP|self-detected stall|detected stalls|blocked for more than")
COMPLAINT("INFO: ")
COMPLAINT("Call Trace")
COMPLAINT("list_(add|del) corruption")
COMPLAINT("unregister_netdevice: waiting|leaked reference")
COMPLAINT("Attempt to release (TCP|alive)|alive inet socket")
COMPLAINT("still has .* (users|objects)|Objects remaining")
COMPLAINT("kmemleak: [0-9]+ new")
COMPLAINT("Bad page state")

/* A complaint by its looks, said by a kernel in good health. */
HEALTHY("INFO: NMI handler")
HEALTHY("kcsan: non-strict mode configured")
