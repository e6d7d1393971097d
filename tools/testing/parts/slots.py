# SPDX-License-Identifier: GPL-2.0
"""Decides how many guests run at a time, and on which processors."""
import contextlib
import os
import threading

# A guest that waits uses no processor time, so more guests than processors run at a time. But not
# many more, because guests evict each other's cache lines.
GUESTS = 4
# Guests that must not wait start first, and their processes do not wait for those of others.
FIRST = 1000
BEFORE_OTHERS = {"SMC_NICE": "-10"}


class Slots:
    """Runs GUESTS guests at a time, each on the processor with the fewest. The longest ones come
    first."""

    def __init__(self):
        self.guests = [0] * (os.cpu_count() or 1)
        self.wanted = []
        self.free = threading.Condition()

    @contextlib.contextmanager
    def one(self, seconds=0):
        """Waits for room for a guest that takes this long, and yields the number of a processor."""
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
