"""Forgetting without knowing how much the parameter moves.

Policies around any of the algorithms that take a discount: a mixture of discounts
weighted by how well each predicts, EXP3 over discounts in blocks, a restart when the
rewards surprise, and a belief about when the present began.

MASTER, for those who want a proof, is here and not at the front door.
"""

from wsbnb.adaptive.master import Master

__all__ = ["Master"]
