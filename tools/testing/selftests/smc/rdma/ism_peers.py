# SPDX-License-Identifier: GPL-2.0
"""More participants in a region than the two machines: what they do must not disturb the machines.
The program is tools/testing/ism/peers.c; the first machine has a serial line to it."""
import contextlib
import os
import random
import select
import threading
import time
import tty

from lib import smc_netlink as netlink
from lib.slow import slow
from lib.wait import holds
from ism_machine import plug
from ism_strangers import STRANGERS, strangers
from machine import run

SLOTS = 16
IDS = range(10, 10 + SLOTS - 1)		# all slots but one
BESIDE = IDS[:SLOTS - 2]		# two slots belong to the machines
FULL = f"{SLOTS} slots, {SLOTS} taken, {SLOTS} ready"
OUTSIDER = IDS[0]
SEED = 30
# For how long a machine waits for a slot before one is freed: a dead participant is dead after 10 s.
BEATS = {"leave": 3, "bury": 12}
MIB = 1 << 20


class Peers:
    """The program; it answers each line with one line."""

    def __init__(self):
        self.line = os.open(os.environ["SMC_PEERS"], os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.line)

    def ask(self, *words):
        os.write(self.line, " ".join(map(str, words)).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            if not select.select([self.line], [], [], slow(60))[0]:
                raise RuntimeError(f"the peers do not answer {words}")
            answer += os.read(self.line, 256)
        return answer.decode().strip()

    def until(self, wanted, *words):
        """Repeats a command until the answer begins with this; a machine that leaves needs a
        moment."""
        until = time.monotonic() + slow(20)
        while not (answer := self.ask(*words)).startswith(wanted):
            if time.monotonic() > until:
                raise RuntimeError(f"the peers answer {words} with {answer} instead of {wanted}")
            self.ask("beats", 1)

    def join(self, *ids):
        for ident in ids:
            self.until("slot", "join", ident)

    def leave(self, *ids):
        return [self.ask("leave", ident) for ident in ids]


# ---- while connections run

class Busy:
    """Takes a step over and over while connections run."""

    def __init__(self, peers, step):
        self.peers, self.step, self.done, self.over, self.problem = peers, step, [], False, None
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        chance = random.Random(SEED)
        try:
            while not self.over:
                self.done.append(self.step(self.peers, chance))
        except (RuntimeError, OSError) as error:
            self.problem = error

    def end(self):
        self.over = True
        self.thread.join()
        print(f"# meanwhile: {len(self.done)} commands, the last one {self.done[-1:]}", flush=True)
        if self.problem or not self.done:
            raise RuntimeError(f"the other participants: {self.problem or 'did nothing'}")


def beside(ids, step=None, shows=None):
    """Lets these participants join, and take steps."""
    @contextlib.contextmanager
    def around(machine):
        if not machine.is_server:
            yield
            return
        with Peers() as peers:
            try:
                peers.join(*ids)
                if shows:
                    peers.until(shows, "look")
                busy = Busy(peers, step) if step else None
                try:
                    yield
                finally:
                    if busy:
                        busy.end()
            finally:
                peers.leave(*IDS)
    return around


def come_and_go(peers, chance):
    """A random participant joins, leaves or dies. A dead one keeps its slot until it is buried."""
    who, what = chance.choice(BESIDE), chance.choice(("leave", "leave", "die", "bury", "join", "join", "join"))
    return f"{what} {who}: {peers.ask(what, who)}"


def scribbles(what):
    return lambda peers, _chance: f"{what}: {peers.ask('scribble', what, OUTSIDER, 1)}"


# ---- a machine that has to wait for a slot

def makes_room(session, how):
    """The first machine: takes all slots before the other machine returns, then frees one. The slot
    of a dead participant is free only when its machine is known to have ended: it might be
    paused."""
    with Peers() as peers:
        session.exchange({"machine": "left"})
        peers.join(*IDS)
        peers.until(FULL, "look")
        session.exchange({"slots": "taken"})
        session.exchange({"machine": "waits"})
        if how == "bury":
            peers.ask("die", OUTSIDER)
        peers.ask("beats", BEATS[how])
        session.exchange({"beats": BEATS[how]})
        peers.ask(how, OUTSIDER)
        session.exchange({"slot": how})
        seconds = session.exchange({})["seconds"]
        ends = peers.leave(*IDS)
    lost = [what for what in ends if what == "lost"]
    print(f"# got a slot after {seconds:.1f} s; {len(lost)} of the others had lost theirs",
          flush=True)
    if len(lost) != 1 or seconds > slow(20):
        return f"got a slot after {seconds:.1f} s; the others report {ends}"
    return ""


def waits(session, machine):
    """The second machine: until a slot is free it has no device and no SMC connections."""
    plug(False)
    session.exchange({"machine": "left"})
    session.exchange({"slots": "taken"})
    plug(True)
    said = run("busybox dmesg | grep 'waiting for one of' | tail -n 1", check=False)
    session.exchange({"machine": "waits"})
    session.exchange({"beats": 3})
    devices = netlink.ism_devices()
    session.exchange({"slot": "free"})
    began = time.monotonic()
    machine.wait_for_device()
    session.exchange({"seconds": time.monotonic() - began})
    if devices or f"one of {SLOTS} slots" not in said:
        return f"without a slot the machine has the devices {devices}, and its log {said!r}"
    return ""


def waiting(how):
    return lambda machine, session: makes_room(session, how) if machine.is_server else \
        waits(session, machine)


# ---- a participant that writes where it must not

def scribble(what):
    def do(machine):
        if machine.is_server:
            with Peers() as peers:
                peers.join(OUTSIDER)
                print(f"# {peers.ask('scribble', what, OUTSIDER, 3)}", flush=True)
    return do


def begin_anew(machine):
    """No slot is valid any more: whatever looks like an owner first has to be considered dead."""
    if machine.is_server:
        with Peers() as peers:
            peers.leave(OUTSIDER)
    plug(False)
    plug(True)
    machine.wait_for_device()


# ---- a server that gives the id of a machine to another one

LOST = "its slot was taken away: the server has given peer ID 0 to another machine"


def log_tells(what):
    return int(run(f"busybox dmesg | grep -c '{what}'", check=False) or 0)


def take_id(machine):
    """Takes the slot as this machine would after a reboot. It leaves the slot, and says what to
    do."""
    before = log_tells(LOST)
    with Peers() as peers:
        peers.join(machine.index - 1)
    if not holds(lambda: log_tells(LOST) > before, slow(20)):
        raise AssertionError("the machine does not say that it has lost its slot")
    if not holds(lambda: not netlink.ism_devices(), slow(20)):
        raise AssertionError(f"it still has {netlink.ism_devices()}")


def give_id_back(machine):
    with Peers() as peers:
        left = peers.leave(machine.index - 1)
    if left != ["left"]:
        raise AssertionError(f"the machine has taken its slot back: {left}")
    plug(False)
    plug(True)
    machine.wait_for_device()


def share(machine, session):
    """Others could have peers here, too, and a stranger in the name of one peer leaves them half of
    the memory."""
    return strangers(machine, session, STRANGERS // 2)


def cases(case, disturbance):
    """case: the class of a case. disturbance: the class of what happens in the middle of one."""
    def scribbled(what, role):
        d = disturbance(scribble(what), begin_anew)
        return case(f"peers_scribble_{what}", role, around=d.around, look=d.look, timeout=90,
                    quick=False, look_on="smcd")

    def contested():
        d = disturbance(take_id, give_id_back, client=False)
        return case("peers_same_id", "disturbed", around=d.around, look=d.look, timeout=90,
                    quick=False, look_on="smcd")

    def with_others(name, role, around, **args):
        return case(f"peers_{name}", role, around=around, quick=False, **args)
    return [
        with_others("full", "transfer", beside(BESIDE, shows=FULL), bytes=4 * MIB),
        with_others("come_and_go", "duplex", beside(BESIDE, come_and_go), count=150, threads=2,
                    timeout=180),
        with_others("scribble_own", "duplex", beside([OUTSIDER], scribbles("own")), count=150,
                    threads=2, timeout=180),
        with_others("scribble_marks", "duplex", beside([OUTSIDER], scribbles("marks")), count=150,
                    threads=2, timeout=180),
        *(case(f"peers_wait_{how}", program=waiting(how), expect="any", quick=False)
          for how in BEATS),
        case("peers_share", program=share, expect="any", quick=False),
        contested(),
        scribbled("directory", "disturbed"),
        scribbled("all", "scribbled"),
    ]


# After each case that removes a device, after_tcp checks that it carries connections again.
NAMES = ("peers_full", "peers_come_and_go", "peers_scribble_own", "peers_scribble_marks",
         "peers_wait_leave", "after_tcp", "peers_wait_bury", "after_tcp", "peers_same_id", "after_tcp",
         "peers_scribble_directory", "after_tcp", "peers_scribble_all", "after_tcp", "peers_share")
