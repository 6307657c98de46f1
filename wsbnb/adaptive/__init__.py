"""Forgetting without knowing how much the parameter moves.

Policies around any of the algorithms that take a discount: a mixture of discounts
weighted by how well each predicts, EXP3 over discounts in blocks, and a restart when
the rewards surprise.
"""
