"""The parameters of a selector, checked."""

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
    n_permutations_of,
    screen_size,
    stop_of,
)
from infosieve._engines.devices import check_device
from infosieve._resampling.parts import part_size
from infosieve._resampling.permutations import seed_of
from infosieve.selection._models import check_prediction, refuse_prediction
from infosieve.selection._one_by_one import ONE_BY_ONE
from infosieve.significance._levels import level_share
from infosieve.significance._permutation_test import MEASURED

Stop: TypeAlias = Literal["fdr", "permutation", "max-mi", "cv"] | None


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
