"""The quantities in the paper's proofs, as numbers.

Every function is pure: numbers and arrays in, numbers and arrays out. Where the
paper slips, ``form`` chooses between the printed, the corrected and a sharper
version; the docstring says which of them is a theorem.
"""

from wsbnb.bounds.decomposition import ErrorParts, error_parts, surrogate_mean
from wsbnb.bounds.drift import (
    drift_bound,
    drift_bound_path,
    drift_bound_wrls,
    drift_sum_bound,
)
from wsbnb.bounds.noise import (
    failure_probability,
    noise_radius,
    noise_radius_determinant,
    noise_radius_wrls,
    static_prior_penalty,
)
from wsbnb.bounds.orders import regret_order, trivial_bound
from wsbnb.bounds.potential import (
    determinant_bound,
    forgetting_sum,
    log_det_term,
    log_determinant_ratio,
    potential_bound,
    potential_sum,
    width_constant,
)
from wsbnb.bounds.prior import (
    prior_penalty,
    prior_penalty_at_start,
    prior_penalty_floor,
    prior_penalty_maximiser,
)
from wsbnb.bounds.regret import (
    ExplorationConstants,
    RegretBound,
    randomised_constants,
    regret_bound_randomised,
    regret_bound_ucb,
)
from wsbnb.bounds.sums import squared_weight_sum, weight_sum
from wsbnb.bounds.tuning import tuned_discount

__all__ = [
    "ErrorParts",
    "ExplorationConstants",
    "RegretBound",
    "determinant_bound",
    "drift_bound",
    "drift_bound_path",
    "drift_bound_wrls",
    "drift_sum_bound",
    "error_parts",
    "failure_probability",
    "forgetting_sum",
    "log_det_term",
    "log_determinant_ratio",
    "noise_radius",
    "noise_radius_determinant",
    "noise_radius_wrls",
    "potential_bound",
    "potential_sum",
    "prior_penalty",
    "prior_penalty_at_start",
    "prior_penalty_floor",
    "prior_penalty_maximiser",
    "randomised_constants",
    "regret_bound_randomised",
    "regret_bound_ucb",
    "regret_order",
    "squared_weight_sum",
    "static_prior_penalty",
    "surrogate_mean",
    "trivial_bound",
    "tuned_discount",
    "weight_sum",
    "width_constant",
]
