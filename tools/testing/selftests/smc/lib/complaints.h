/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel messages that report a problem, as extended regexes. This is the only list of them: klog.c
 * includes it, and tools/testing/vm/judge-log and tools/testing/vm/verdict.py parse it. Each entry
 * is a single line, without a quotation mark or a backslash in the regex.
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

/* Harmless messages that match one of the regexes above. */
HEALTHY("INFO: NMI handler")
HEALTHY("kcsan: non-strict mode configured")
