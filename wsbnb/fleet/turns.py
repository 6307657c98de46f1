"""Threads take turns by user: who shares no user does not wait."""

import contextlib
import threading

import numpy as np

#: Users whose number has the same remainder share a lock.
_LOCKS = 64


class Turns:
    """Locks for users, everybody and what is drawn; scratch for each thread."""

    def __init__(self):
        self.drawing = threading.Lock()
        self.own = threading.local()
        self._locks = [threading.RLock() for _ in range(_LOCKS)]

    def of(self, who):
        """Hold the locks of some users, by number."""
        return self._held(np.unique(who % _LOCKS).tolist())

    def everybody(self):
        """Hold all locks."""
        return self._held(range(_LOCKS))

    @contextlib.contextmanager
    def _held(self, numbers):
        with contextlib.ExitStack() as held:  # an interrupted wait gives back the rest
            for number in numbers:  # always in this order: nobody waits in a circle
                held.enter_context(self._locks[number])
            yield
