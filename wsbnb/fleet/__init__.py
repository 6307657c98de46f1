"""Many users at once: one small row of numbers each, and a prior that they share.

The rooms: `events` checks what comes in, `turns` lets threads take turns by user,
`sharing` estimates the prior that users share, `files` reads and writes, `known` holds
the rows and answers questions, and `base` is the fleet itself, which plays and learns.
"""

from wsbnb.fleet.base import Fleet

__all__ = ["Fleet"]
