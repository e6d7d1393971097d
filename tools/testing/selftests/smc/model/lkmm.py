# SPDX-License-Identifier: GPL-2.0
"""A small reader of litmus tests, which judges them by the kernel's memory model.

The tests have herd's format (tools/memory-model in a kernel tree describes it). This program
supports only what our tests use: READ_ONCE(), WRITE_ONCE(), acquire, release, the three barriers,
xchg() and cmpxchg() with their relaxed forms, and conditions. It does not support RCU, locks, plain
accesses, and addresses that were read. The axioms are those of linux-kernel.cat for the supported
part. All executions are enumerated.
"""
import itertools
import re

ONE = re.compile(r"""(?P<store>WRITE_ONCE|smp_store_release)\(\*?(?P<to>\w+),\s*(?P<value>\w+)\);
    |(?:(?P<reg>\w+)\s*=\s*)?(?P<load>READ_ONCE|smp_load_acquire)\(\*?(?P<of>\w+)\);
    |(?:(?P<old>\w+)\s*=\s*)?(?P<rmw>xchg|cmpxchg)(?P<how>_relaxed)?\((?P<at>\w+),\s*(?P<args>[\w, ]+)\);
    |smp_(?P<fence>mb|rmb|wmb)\(\);
    |if\s*\((?P<cond>[^)]*)\)\s*\{
    |(?P<end>\})
    |(?P<decl>int\s+[\w, ]+;)
    |\s+""", re.X)


class Test:
    """Name, threads (lists of statements), initial values, and the outcome in the exists clause."""

    def __init__(self, text):
        text = re.sub(r"\(\*.*?\*\)|//[^\n]*", " ", text, flags=re.S)
        self.name = re.match(r"\s*C\s+(\S+)", text)[1]
        self.first = dict((var, int(value)) for var, value in
                          re.findall(r"(\w+)\s*=\s*(\d+);", re.search(r"\{([^}]*)\}", text)[1]))
        bodies = re.findall(r"^P\d+\([^)]*\)\s*\{\n(.*?)^\}", text, re.S | re.M)
        self.threads = [statements(body) for body in bodies]
        asked = re.search(r"^exists\s*\((.*)\)\s*\Z", text, re.S | re.M)[1]
        self.asked = [tuple(part.strip(" ()").split("=")) for part in asked.split("/\\")]
        self.constants = {0} | {int(n) for n in re.findall(r"\b\d+\b", "".join(bodies))} | \
            set(self.first.values())


def statements(body):
    """Parses statements into nested lists: an if is ("if", condition, statements)."""
    stack, at = [[]], 0
    while at < len(body):
        found = ONE.match(body, at)
        if not found:
            raise ValueError(f"what is this? {body[at:at + 40]!r}")
        at = found.end()
        got = {key: value for key, value in found.groupdict().items() if value is not None}
        if "cond" in got:
            inner = []
            stack[-1].append(("if", got["cond"].strip(), inner))
            stack.append(inner)
        elif "end" in got:
            stack.pop()
        elif got and "decl" not in got:
            stack[-1].append(got)
    return stack[0]


class Event:
    """One access to memory, or a fence. deps: the reads that its value depends on; ctrl: the reads
    that decided whether it is executed."""

    def __init__(self, kind, thread, var=None, value=None, flavour="", deps=(), ctrl=()):
        self.kind, self.thread, self.var, self.value = kind, thread, var, value
        self.flavour, self.deps, self.ctrl, self.partner = flavour, tuple(deps), tuple(ctrl), None


class Thread:
    """One path through a thread: its events, and the final values of its registers."""

    def __init__(self, number, constants):
        self.number, self.constants = number, constants
        self.events, self.registers, self.sources, self.ctrl = [], {}, {}, []

    def copy(self):
        """Copies the thread. Events are shared, since they never change after their creation."""
        other = Thread(self.number, self.constants)
        other.events, other.ctrl = list(self.events), list(self.ctrl)
        other.registers, other.sources = dict(self.registers), dict(self.sources)
        return other

    def value(self, word):
        """Returns (value, the reads that it depends on)."""
        if word.isdigit():
            return int(word), ()
        return self.registers[word], self.sources[word]

    def add(self, kind, var=None, value=None, flavour="", deps=()):
        event = Event(kind, self.number, var, value, flavour, deps, self.ctrl)
        self.events.append(event)
        return event

    def read(self, register, var, value, flavour):
        event = self.add("R", var, value, flavour)
        if register:
            self.registers[register], self.sources[register] = value, (event,)
        return event


def holds(thread, condition):
    """Returns (is the condition true?, the reads that it depends on)."""
    words = re.fullmatch(r"(!?)\s*(\w+)(?:\s*(==|!=)\s*(\w+))?", condition)
    value, deps = thread.value(words[2])
    if words[3]:
        other, more = thread.value(words[4])
        return (value == other) == (words[3] == "=="), (*deps, *more)
    return bool(value) != bool(words[1]), deps


def exchange(thread, got, found):
    """Performs an xchg() or cmpxchg() that reads this value. If it succeeds and is not relaxed, it
    is a full barrier before and after."""
    args = [word.strip() for word in got["args"].split(",")]
    done = got["rmw"] == "xchg" or thread.value(args[0])[0] == found
    full = done and "how" not in got
    if full:
        thread.add("F", flavour="mb")
    read = thread.read(got.get("old"), got["at"], found, "")
    if done:
        value, deps = thread.value(args[-1])
        read.partner = thread.add("W", got["at"], value, "", deps)
    if full:
        thread.add("F", flavour="mb")


def ways(thread, todo):
    """Yields all paths through these statements, for any values that reads return."""
    if not todo:
        yield thread
        return
    got, rest = todo[0], todo[1:]
    if isinstance(got, tuple):
        true, deps = holds(thread, got[1])
        thread.ctrl = [*thread.ctrl, *deps]
        yield from ways(thread, (got[2] if true else []) + rest)
    elif "store" in got:
        value, deps = thread.value(got["value"])
        thread.add("W", got["to"], value, "release" if "release" in got["store"] else "", deps)
        yield from ways(thread, rest)
    elif "fence" in got:
        thread.add("F", flavour=got["fence"])
        yield from ways(thread, rest)
    else:
        for found in thread.constants:
            branch = thread.copy()
            if "rmw" in got:
                exchange(branch, got, found)
            else:
                branch.read(got.get("reg"), got["of"], found,
                            "acquire" if "acquire" in got["load"] else "")
            yield from ways(branch, rest)


# ---- relations, as sets of pairs

def then(*relations):
    result = relations[0]
    for relation in relations[1:]:
        after = {}
        for a, b in relation:
            after.setdefault(a, set()).add(b)
        result = {(a, c) for a, b in result for c in after.get(b, ())}
    return result


def closure(relation):
    """Returns the transitive closure."""
    result = set(relation)
    while True:
        more = then(result, relation) - result
        if not more:
            return result
        result |= more


def cyclic(relation):
    return any(a is b for a, b in closure(relation))


class Execution:
    """The accesses of all threads, with the write that each read reads from (rf) and the order of
    the writes to each variable (co)."""

    def __init__(self, threads, first, rf, co):
        self.events = [*first, *(e for t in threads for e in t.events if e.kind != "F")]
        self.itself = {(e, e) for e in self.events}
        self.threads, self.rf, self.co = threads, rf, co
        self.fr = {(r, w) for a, r in rf for b, w in co if b is a}

    def between(self, fence, before, after):
        """Yields the pairs that a fence orders."""
        for thread in self.threads:
            events = thread.events
            for at, event in enumerate(events):
                if event.kind == "F" and event.flavour == fence:
                    yield from ((a, b) for a in events[:at] if a.kind in before
                                for b in events[at:] if b.kind in after)

    def allowed(self):
        po = {(t.events[i], t.events[j]) for t in self.threads for j in range(len(t.events))
              for i in range(j) if "F" not in (t.events[i].kind, t.events[j].kind)}
        rf, co, fr = self.rf, self.co, self.fr
        if cyclic({(a, b) for a, b in po if a.var == b.var} | rf | co | fr):
            return False
        rmw = {(e, e.partner) for e in self.events if e.partner}
        ext = {(a, b) for a, b in rf | co | fr if a.thread != b.thread}
        if rmw & then(fr & ext, co & ext):
            return False
        return self.ordered(po, rmw, ext)

    def ordered(self, po, rmw, ext):
        """Checks happens-before and propagation."""
        rf, itself = self.rf, self.itself
        rfe, rfi = rf & ext, rf - ext
        overwrite = self.co | self.fr
        strong = set(self.between("mb", "RW", "RW"))
        wmb = set(self.between("wmb", "W", "W"))
        release = {(a, b) for a, b in po if b.flavour == "release"}
        acquire = {(a, b) for a, b in po if a.flavour == "acquire"}
        data = {(r, e) for e in self.events for r in e.deps}
        ctrl = {(r, e) for e in self.events for r in e.ctrl if e.kind == "W"}
        ppo = strong | wmb | set(self.between("rmb", "R", "R")) | release | acquire | data | ctrl | \
            (overwrite - ext) & po | then(data, rfi)
        through = itself | closure(then(rf, rmw))
        fences = then(then(itself | rfe, strong | release) | wmb, through)
        prop = then(itself | overwrite & ext, itself | closure(fences), itself | rfe)
        inner = {(a, b) for a, b in prop if a is not b and a.thread == b.thread}
        hb = ppo | rfe | inner
        if cyclic(hb):
            return False
        return not cyclic(then(prop, strong, itself | closure(hb)))


def sources(reads, writes):
    """Yields all choices of writes from which the reads can get their values."""
    choices = [[w for w in writes if w.var == r.var and w.value == r.value and w is not r.partner]
               for r in reads]
    for chosen in itertools.product(*choices):
        yield set(zip(chosen, reads))


def orders(first, writes):
    """Yields all orders of the writes to each variable."""
    each = [[(start, *rest) for rest in itertools.permutations(
        [w for w in writes if w.var == start.var])] for start in first]
    for chosen in itertools.product(*each):
        yield chosen, {(line[i], line[j]) for line in chosen for j in range(len(line))
                       for i in range(j)}


def is_asked(test, threads, lines):
    last = {line[0].var: line[-1].value for line in lines}
    for name, value in test.asked:
        thread, _, register = name.strip().rpartition(":")
        found = threads[int(thread)].registers.get(register) if thread else last[register]
        if found != int(value):
            return False
    return True


def happens(test):
    """Does the model allow the outcome?"""
    each = [list(ways(Thread(number, test.constants), body))
            for number, body in enumerate(test.threads)]
    for threads in itertools.product(*each):
        accesses = [e for t in threads for e in t.events if e.kind != "F"]
        first = [Event("W", -1, var, test.first.get(var, 0))
                 for var in sorted({e.var for e in accesses} | set(test.first))]
        writes = [e for e in accesses if e.kind == "W"]
        for lines, co in orders(first, writes):
            if not is_asked(test, threads, lines):
                continue
            for rf in sources([e for e in accesses if e.kind == "R"], first + writes):
                if Execution(threads, first, rf, co).allowed():
                    return True
    return False


# ---- faults

WEAKER = (("smp_load_acquire(", "READ_ONCE(*"), ("smp_store_release(", "WRITE_ONCE(*"),
          ("cmpxchg(", "cmpxchg_relaxed("), ("xchg(", "xchg_relaxed("))


def weakened(text):
    """Yields each way to remove one barrier of a test: (what, the test without it)."""
    for found in re.finditer(r"\bsmp_r?w?mb\(\);", text):
        yield found[0][:-1], text[:found.start()] + text[found.end():]
    for strong, weak in WEAKER:
        for found in re.finditer(rf"\b{re.escape(strong)}", text):
            yield strong + ")", text[:found.start()] + weak + text[found.end():]
