"""The significance levels of the steps of a search."""

import math
from collections.abc import Sequence


def forward_stop_level(p_values: Sequence[float], alpha: float) -> float:
    """The largest p-value with which the next step passes, after steps of these p-values.

    ForwardStop (G'Sell, Wager, Chouldechova and Tibshirani 2016,
    https://doi.org/10.1111/rssb.12122) goes on while the mean of -log(1 - p) over the steps is at
    most ``alpha``: the false discovery rate of a sequence of tests. At most twice ``alpha``.
    """
    spent = sum(-math.log1p(-p) for p in p_values)
    budget = (len(p_values) + 1) * alpha - spent
    return min(-math.expm1(-max(budget, 0.0)), 2 * alpha)
