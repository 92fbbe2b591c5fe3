"""What each column that is left would add, once tests have ended a search."""

import numpy as np

from infosieve._core.types import ColumnNumbers
from infosieve.results import Remaining
from infosieve.selection._search import Search
from infosieve.significance._own import own_draws

# Permutations of each column, at most; fewer, once so many have reached it.
_DRAWS, _ENOUGH = 999, 10


def remaining(search: Search) -> Remaining | None:
    """All candidates that are left, each with a test of its own."""
    left = ColumnNumbers(j for j in search.candidates if j not in search.selected)
    if not left or not search.ranks_by_test:
        return None
    question = search.ask(left).but(purpose="remaining", corrected=False)
    observed, which = question.scores(left), np.array(left)
    p_values = own_draws(question, which, observed, _DRAWS, _ENOUGH, 2 * _ENOUGH).p_values(
        _DRAWS, _ENOUGH
    )
    order = np.lexsort((which, -observed, p_values))
    views = [view for view in question.nearest(left) if view is not None]
    return Remaining(
        columns=tuple(which[order].tolist()),
        gains=search.scores(left, question.given)[order],
        p_values=p_values[order],
        views=tuple(views[i].name for i in order),
        beside=tuple(views[i].beside for i in order),
    )
