# SPDX-License-Identifier: GPL-2.0
"""How many guests run at a time, and where."""
import contextlib
import os
import threading

# A guest that waits takes no processor, so there are more of them than processors; not many more, as
# each pushes the others out of the caches.
GUESTS = 4
# What does not bear to be kept waiting comes first, and its processes do not wait for those of others.
FIRST = 1000
BEFORE_OTHERS = {"SMC_NICE": "-10"}


class Slots:
    """GUESTS at a time, each on the processor that has the fewest. What takes longest comes first."""

    def __init__(self):
        self.guests = [0] * (os.cpu_count() or 1)
        self.wanted = []
        self.free = threading.Condition()

    @contextlib.contextmanager
    def one(self, seconds=0):
        """The number of a processor, when there is room for a guest that takes so long."""
        with self.free:
            self.wanted.append(seconds)
            self.free.wait_for(lambda: sum(self.guests) < GUESTS and seconds == max(self.wanted))
            self.wanted.remove(seconds)
            cpu = min(range(len(self.guests)), key=self.guests.__getitem__)
            self.guests[cpu] += 1
            self.free.notify_all()
        try:
            yield cpu
        finally:
            with self.free:
                self.guests[cpu] -= 1
                self.free.notify_all()


slots = Slots()
