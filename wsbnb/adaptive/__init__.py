"""Forgetting without knowing how much the parameter moves.

Three policies around any of the algorithms that take a discount: a mixture of
discounts weighted by how well each predicts, EXP3 over discounts in blocks, and a
restart when the rewards surprise.
"""

from wsbnb.adaptive.bandit import BanditOverDiscounts
from wsbnb.adaptive.grid import discount_grid
from wsbnb.adaptive.mixture import DiscountMixture
from wsbnb.adaptive.surprise import SurpriseRestart

__all__ = [
    "BanditOverDiscounts",
    "DiscountMixture",
    "SurpriseRestart",
    "discount_grid",
]
