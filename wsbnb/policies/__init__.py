"""Policies: an estimator, an exploration rule and a width make an algorithm."""

from wsbnb.policies.base import LinearPolicy, Policy
from wsbnb.policies.baselines import (
    Greedy,
    LinTS,
    LinUCB,
    Oracle,
    RestartLinUCB,
    SWLinUCB,
    Uniform,
)
from wsbnb.policies.checking import check_policy
from wsbnb.policies.saving import load, register
from wsbnb.policies.theory import TheoryWarning, outside_on_purpose
from wsbnb.policies.wrls import DLinTS, DLinUCB, DRandLinUCB, LBWeightUCB
from wsbnb.policies.wsb import WSBLinTS, WSBLinUCB, WSBRandLinUCB

__all__ = [
    "DLinTS",
    "DLinUCB",
    "DRandLinUCB",
    "Greedy",
    "LBWeightUCB",
    "LinTS",
    "LinUCB",
    "LinearPolicy",
    "Oracle",
    "Policy",
    "RestartLinUCB",
    "SWLinUCB",
    "TheoryWarning",
    "Uniform",
    "WSBLinTS",
    "WSBLinUCB",
    "WSBRandLinUCB",
    "check_policy",
    "load",
    "outside_on_purpose",
    "register",
]
