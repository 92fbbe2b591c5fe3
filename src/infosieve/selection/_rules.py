"""The parameters of a selector: checked, and turned into the rules of a search."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from infosieve._core.dialect import mention, parameter
from infosieve._core.parameters import screen_size
from infosieve._core.settings import Correction, Null, SelectorSettings, Stop
from infosieve.selection._models import MOST
from infosieve.selection._one_by_one import ONE_BY_ONE, OneByOne

# Where the number of columns is cross-validated, pairs are looked for beside fewer columns only.
_PAIRS_BESIDE = 4
# There, of many candidates, so many are estimated in most steps; one by one, so many.
_POOL, _POOL_ONE_BY_ONE = 256, 1024


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How to search and when to stop: the parameters of the selector, checked.

    ``pairs_by_gain``: pairs are looked for although nothing is tested. ``one_by_one``: how
    candidates are held against single selected columns, instead of all together.
    ``pairs_beside``: pairs are looked for as long as fewer columns are selected. ``order``: which
    columns are tested in each step, up to the first that does not pass; None: the best. ``pool``:
    of more candidates, so many are estimated in most steps; None: all, always.
    """

    backward: bool
    one_by_one: OneByOne | None
    removal: Literal["test", "mi"]
    stop: Stop
    null: Null
    correction: Correction
    alpha: float
    n_permutations: int
    sequential: bool
    screen: int | None
    min_features: int
    max_features: int
    lookahead: int
    pairs_by_gain: bool
    seed: int
    pairs_beside: float = np.inf
    order: tuple[tuple[int, ...], ...] | None = None
    pool: int | None = None

    @property
    def tested(self) -> bool:
        return self.stop in ("permutation", "fdr")


def rules_of(settings: SelectorSettings, table: Any, seed: int) -> Rules:
    """The parameters that depend on the size of the table, and the rest."""
    m = table.n_columns
    by_cv = settings.stop == "cv"
    most = m if settings.max_features is None else min(settings.max_features, m)
    if by_cv and settings.max_features is None:
        most = min(m, max(MOST, settings.min_features))
    least = settings.min_features
    if settings.n_features_to_select is not None:
        least = most = settings.n_features_to_select
    for name in ("n_features_to_select", "min_features"):
        value = getattr(settings, name)
        if value is not None and value > m:
            raise ValueError(f"{parameter(name)} asks for {value} features, but X has {m} columns.")
    if least > most:
        raise ValueError(
            f"{parameter('min_features')} ({least}) must not exceed "
            f"{mention('max_features')} ({most})."
        )
    one_by_one: Any = settings.criterion if settings.one_by_one else None
    pool = _POOL if one_by_one is None else _POOL_ONE_BY_ONE
    by_number = settings.stop == "auto" and settings.n_features_to_select is not None
    by_gain = (by_number or by_cv) and settings.lookahead == 2 and one_by_one is None
    stop = settings.stop_rule
    return Rules(
        one_by_one=one_by_one,
        backward=settings.search == "forward-backward",
        removal=settings.removal,
        stop=None if by_cv else stop,
        null=settings.null,
        correction=settings.correction,
        alpha=float(settings.alpha),
        n_permutations=settings.most_permutations,
        sequential=settings.sequential,
        screen=screen_size(settings.screen, table.n_samples),
        min_features=least,
        max_features=most,
        lookahead=1 if one_by_one else settings.lookahead,
        pairs_by_gain=by_gain,
        seed=seed,
        pairs_beside=_PAIRS_BESIDE if by_cv else np.inf,
        pool=pool if by_cv else None,
    )


def with_criterion(rules: Rules, criterion: str) -> Rules:
    """Rules of a ranking whose criterion was open, now that it is known."""
    if criterion not in ONE_BY_ONE or rules.one_by_one is not None:
        return rules
    one_by_one: Any = criterion
    return replace(
        rules, one_by_one=one_by_one, lookahead=1, pairs_by_gain=False, pool=_POOL_ONE_BY_ONE
    )


def rules_of_tests(rules: Rules, order: tuple[tuple[int, ...], ...], lookahead: int) -> Rules:
    """The tests of the default, along columns that are chosen already."""
    n = sum(map(len, order))
    return replace(
        rules,
        stop="fdr",
        one_by_one=None,
        min_features=n,
        max_features=n,
        lookahead=lookahead,
        pairs_by_gain=False,
        order=order,
        pool=None,
    )
