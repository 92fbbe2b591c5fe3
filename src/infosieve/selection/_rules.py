"""The parameters of a selector: checked, and turned into the rules of a search."""

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from infosieve._core.parameters import (
    check_alpha,
    check_choice,
    check_count,
    check_flag,
    check_folds,
    check_jobs,
    check_method,
    check_permutations,
    check_verbose,
    is_int,
    is_sequential,
    n_permutations_of,
    screen_size,
    stop_of,
)
from infosieve._engines.devices import check_device
from infosieve._resampling.permutations import seed_of
from infosieve._resampling.subsamples import part_size
from infosieve.selection._models import MOST, check_prediction, refuse_prediction
from infosieve.selection._one_by_one import ONE_BY_ONE, OneByOne
from infosieve.significance._levels import level_share
from infosieve.significance._permutation_test import MEASURED, Correction, Null

Stop: TypeAlias = Literal["fdr", "permutation", "max-mi", "cv"] | None
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


def check_parameters(selector: Any) -> int:
    """Refuse what cannot be, before work begins; the seed."""
    check_choice(selector.criterion, "criterion", ("auto", *MEASURED, *ONE_BY_ONE))
    check_choice(selector.search, "search", ("forward", "forward-backward"))
    check_choice(selector.removal, "removal", ("test", "mi"))
    check_choice(selector.stop, "stop", ("auto", "fdr", "permutation", "max-mi", "cv", None))
    check_choice(selector.null, "null", ("local", "global"))
    check_choice(selector.correction, "correction", ("max", None))
    check_choice(selector.resample, "resample", ("cv", None))
    check_method(selector.method, selector.metric, selector.scale, conditional=False)
    if selector.criterion != "mi" and selector.method == "ksg2":
        criterion = "cmi" if selector.criterion == "auto" else selector.criterion
        raise ValueError(
            f"The 'method' parameter must be 'ksg1' with criterion={criterion!r}: "
            "conditional information is defined for that form only. Got 'ksg2' instead; use "
            "criterion='mi' with it."
        )
    if selector.criterion in ONE_BY_ONE:
        _check_one_by_one(selector)
    check_flag(selector.test, "test")
    check_verbose(selector.verbose)
    if selector.stop == "cv":
        check_prediction(selector)
    else:
        refuse_prediction(selector)
        check_folds(selector.cv)
    check_alpha(selector.alpha)
    check_count(selector.n_features_to_select, "n_features_to_select", 1, optional=True)
    check_count(selector.min_features, "min_features", 0)
    check_count(selector.max_features, "max_features", 1, optional=True)
    if not is_int(selector.lookahead) or selector.lookahead not in (1, 2):
        raise ValueError(f"The 'lookahead' parameter must be 1 or 2. Got {selector.lookahead!r}.")
    _check_permutations(selector)
    screen_size(selector.screen, 1)
    part_size(selector.max_samples, 1)
    check_jobs(selector.n_jobs)
    check_device(selector.device)
    return seed_of(selector.random_state)


def _check_one_by_one(selector: Any) -> None:
    """A test conditional on all selected columns needs a criterion that is."""
    stop = stop_of(selector.stop, selector.n_features_to_select)
    if stop in ("fdr", "permutation"):
        raise ValueError(
            f"The 'criterion' parameter {selector.criterion!r} holds candidates against one "
            "selected column at a time; it has no test of what they add to all of them, which "
            f"stop={selector.stop!r} asks for. Use criterion='cmi' with it; or stop='cv', "
            "stop=None or n_features_to_select with this criterion."
        )
    if selector.search != "forward":
        raise ValueError(
            f"The 'search' parameter must be 'forward' with criterion={selector.criterion!r}, "
            f"which ranks candidates only. Got {selector.search!r} instead."
        )


def _check_permutations(selector: Any) -> None:
    """Enough permutations for the smallest level there is."""
    n = n_permutations_of(selector.n_permutations, selector.alpha)
    stop = stop_of(selector.stop, selector.n_features_to_select)
    stop = "fdr" if stop == "cv" and selector.test else stop
    if stop in ("fdr", "permutation"):
        level = selector.alpha if stop == "permutation" else -np.expm1(-selector.alpha)
        pairs = selector.lookahead == 2
        note = " for pairs (lookahead=1 leaves them out)" if pairs else ""
        check_permutations(n, level * level_share(selector.lookahead, of_pairs=pairs), note)
    elif selector.search == "forward-backward" and selector.removal == "test":
        check_permutations(n, selector.alpha, " for removals")


def rules_of(selector: Any, table: Any, seed: int) -> Rules:
    """The parameters that depend on the size of the table, and the rest."""
    m = table.n_columns
    by_cv = selector.stop == "cv"
    most = m if selector.max_features is None else min(selector.max_features, m)
    if by_cv and selector.max_features is None:
        most = min(m, max(MOST, selector.min_features))
    least = selector.min_features
    if selector.n_features_to_select is not None:
        least = most = selector.n_features_to_select
    for name in ("n_features_to_select", "min_features"):
        value = getattr(selector, name)
        if value is not None and value > m:
            raise ValueError(
                f"The {name!r} parameter asks for {value} features, but X has {m} columns."
            )
    if least > most:
        raise ValueError(
            f"The 'min_features' parameter ({least}) must not exceed 'max_features' ({most})."
        )
    one_by_one = selector.criterion if selector.criterion in ONE_BY_ONE else None
    pool = _POOL if one_by_one is None else _POOL_ONE_BY_ONE
    by_number = selector.stop == "auto" and selector.n_features_to_select is not None
    by_gain = (by_number or by_cv) and selector.lookahead == 2 and one_by_one is None
    stop = stop_of(selector.stop, selector.n_features_to_select)
    return Rules(
        one_by_one=one_by_one,
        backward=selector.search == "forward-backward",
        removal=selector.removal,
        stop=None if by_cv else stop,
        null=selector.null,
        correction=selector.correction,
        alpha=float(selector.alpha),
        n_permutations=n_permutations_of(selector.n_permutations, selector.alpha),
        sequential=is_sequential(selector.n_permutations),
        screen=screen_size(selector.screen, table.n_samples),
        min_features=least,
        max_features=most,
        lookahead=1 if one_by_one else selector.lookahead,
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
