"""Parameters, checked: every error names the parameter, the rule and the value."""

import math
import numbers
from collections.abc import Iterable
from typing import Any, get_args

import numpy as np

from infosieve._core.messages import shown
from infosieve._core.types import Method, Metric, Missing

# K of an estimate; of a selection (docs/default.md); and the values that choose_k tries.
DEFAULT_NEIGHBORS, SELECTION_NEIGHBORS, NEIGHBORS_TRIED = (3, 10), (3, 15), (2, 20)
# K of tests of single columns (docs/relevant.md).
TEST_NEIGHBORS = (3, 25)
# Parameters that do not change a result.
WITHOUT_EFFECT = ("checkpoint", "device", "executor", "n_jobs", "random_state", "verbose")
# What becomes of gaps in X.
MISSING = get_args(Missing)
# A target of so many distinct whole numbers, from the first to the second, may be classes.
CLASS_CODES = (3, 20)
# Folds of resampled estimates.
N_FOLDS = 20
# Permutations of a test, at least, and for each unit of 1 / alpha.
N_PERMUTATIONS, _PERMUTATIONS_EACH = 199, 10


def is_flag(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def is_int(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def check_neighbors(n_neighbors: Any, n_samples: int, also: str = "") -> tuple[int, int]:
    """The range of K as (lo, hi). A range is capped by the sample, a single K is not.

    ``also`` names what else the parameter may be.
    """
    lo, hi = check_range(n_neighbors, also)
    most = n_samples - 1
    if isinstance(n_neighbors, (tuple, list)):
        return min(lo, most), min(hi, most)
    if hi > most:
        raise ValueError(
            f"The 'n_neighbors' parameter asks for {hi} neighbours, but {n_samples} samples have "
            f"only {most}. Use a smaller K, or a range, which is capped."
        )
    return lo, hi


def check_range(n_neighbors: Any, also: str = "") -> tuple[int, int]:
    """One K, or the two ends of a range."""
    pair = n_neighbors if isinstance(n_neighbors, (tuple, list)) else (n_neighbors,) * 2
    valid = len(pair) == 2 and all(is_int(k) for k in pair) and 1 <= pair[0] <= pair[1]
    if not valid:
        raise ValueError(
            "The 'n_neighbors' parameter must be an int of at least 1, or a pair (lo, hi) of such "
            f"ints with lo <= hi{also}. Got {n_neighbors!r} instead."
        )
    return int(pair[0]), int(pair[1])


def check_choice(value: Any, parameter: str, choices: Iterable[Any]) -> None:
    """A parameter that is one of a few words."""
    allowed = list(choices)
    if not any(value is c or (isinstance(value, str) and value == c) for c in allowed):
        words = ", ".join(repr(c) for c in allowed)
        raise ValueError(
            f"The {parameter!r} parameter must be one of {words}. Got {value!r} instead."
        )


def check_method(method: Any, metric: Any, scale: Any, conditional: bool) -> None:
    """The names of method, metric and scale."""
    check_choice(method, "method", get_args(Method))
    check_choice(metric, "metric", get_args(Metric))
    check_choice(scale, "scale", ("standard", "normal-scores", None))
    if conditional and method == "ksg2":
        raise ValueError(
            "The 'method' parameter must be 'ksg1' with 'given' or criterion='cmi': conditional "
            "information is Frenzel and Pompe's estimate, which generalises that form only. "
            "Got 'ksg2' instead."
        )


def check_jobs(n_jobs: Any) -> None:
    """As in scikit-learn: None, or an int other than 0."""
    if n_jobs is not None and (not is_int(n_jobs) or n_jobs == 0):
        raise ValueError(
            "The 'n_jobs' parameter must be None, a positive int, or a negative one to count "
            f"from all cores (-1 is all). Got {n_jobs!r} instead."
        )


def check_flag(value: Any, parameter: str) -> None:
    """A parameter that is true or false."""
    if not is_flag(value):
        raise ValueError(
            f"The {parameter!r} parameter must be True or False. Got {value!r} instead."
        )


def check_verbose(verbose: Any) -> None:
    """As in scikit-learn: a bool, or an int of at least 0."""
    if not is_flag(verbose) and not (is_int(verbose) and verbose >= 0):
        raise ValueError(
            "The 'verbose' parameter must be a bool, or an int of at least 0 (0: silent; 1: how "
            f"far a run is; 2: more). Got {verbose!r} instead."
        )


def check_folds(cv: Any) -> None:
    """Folds, as in scikit-learn, whether or not they are needed."""
    if cv is None or (is_int(cv) and cv >= 2):
        return
    splits = hasattr(cv, "split") and not isinstance(cv, str)
    if not splits and (isinstance(cv, (str, dict)) or not isinstance(cv, Iterable)):
        raise ValueError(
            "The 'cv' parameter must be an int of at least 2, a splitter as scikit-learn has "
            f"them, or pairs of rows to learn from and to judge on. Got {shown(cv)} instead."
        )


def check_seed(random_state: Any) -> Any:
    """As in scikit-learn: None, a non-negative int, a RandomState or a Generator."""
    known = (np.random.RandomState, np.random.Generator)
    if random_state is None or isinstance(random_state, known):
        return random_state
    if is_int(random_state) and random_state >= 0:
        return int(random_state)
    raise ValueError(
        "The 'random_state' parameter must be None, an int of at least 0, a NumPy RandomState "
        f"or a NumPy Generator. Got {random_state!r} instead."
    )


def check_count(value: Any, parameter: str, least: int, optional: bool = False) -> None:
    """A parameter that counts something."""
    if optional and value is None:
        return
    if not is_int(value) or value < least:
        none = "None or " if optional else ""
        raise ValueError(
            f"The {parameter!r} parameter must be {none}an int of at least {least}. "
            f"Got {value!r} instead."
        )


def check_number(
    value: Any, parameter: str, least: float, most: float, optional: bool = False
) -> None:
    """A parameter that is a number in a range."""
    if optional and value is None:
        return
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not least <= float(value) <= most:
        none = "None or " if optional else ""
        raise ValueError(
            f"The {parameter!r} parameter must be {none}a number from {least} to {most}. "
            f"Got {value!r} instead."
        )


def check_x(X: Any) -> None:
    """A table of features has two dimensions."""
    if getattr(X, "ndim", len(np.shape(X)) if isinstance(X, (list, tuple)) else 2) == 1:
        raise ValueError(
            "X must be a table with a column for each feature; got one column. Expected 2D "
            "array, got 1D array instead. Reshape your data: X.reshape(-1, 1), or X.to_frame() in "
            "pandas."
        )


def check_alpha(alpha: Any) -> None:
    """An error rate."""
    number = isinstance(alpha, numbers.Real) and not isinstance(alpha, bool)
    if not number or not 0 < float(alpha) < 1:
        raise ValueError(
            "The 'alpha' parameter must be a number between 0 and 1 (0.05 accepts one false "
            f"feature in twenty tests). Got {alpha!r} instead."
        )


def stop_of(stop: Any, n_features_to_select: int | None) -> Any:
    """The stop that "auto" means: no test where the number of features is given."""
    if isinstance(stop, str) and stop == "auto":
        return "fdr" if n_features_to_select is None else None
    return stop


def is_sequential(n_permutations: Any) -> bool:
    """Whether tests end as soon as they have surely passed or failed: where no number is given."""
    return isinstance(n_permutations, str) and n_permutations == "auto"


def n_permutations_of(n_permutations: Any, alpha: float | None) -> int:
    """The number of permutations; "auto" is enough for tests at ``alpha`` and fractions of it."""
    if is_sequential(n_permutations):
        wanted = 0 if alpha is None else math.ceil(_PERMUTATIONS_EACH / alpha) - 1
        return max(N_PERMUTATIONS, wanted)
    if isinstance(n_permutations, str):
        raise ValueError(
            "The 'n_permutations' parameter must be 'auto' or an int of at least 1. Got "
            f"{n_permutations!r} instead."
        )
    check_count(n_permutations, "n_permutations", 1)
    return int(n_permutations)


def check_permutations(n_permutations: int, alpha: float, note: str) -> None:
    """Enough permutations for a p-value that can be as small as ``alpha``."""
    least = math.ceil(1 / alpha) - 1
    while 1 / (least + 1) > alpha:
        least += 1
    if n_permutations < least:
        raise ValueError(
            f"The 'n_permutations' parameter must be at least {least}, or 'auto', for a level of "
            f"{alpha:.4g}{note}: p = (b + 1) / (n_permutations + 1) cannot get lower than "
            f"{1 / (n_permutations + 1):.4g} with {n_permutations}."
        )


# What "auto" keeps of the candidates when they are screened: so many of up to a thousand samples,
# half as many for each four times that, and so many at least.
SCREENED, FEWEST_SCREENED = 32, 8


def screen_size(screen: Any, n_samples: int) -> int | None:
    """How many screened candidates get an estimate; None: all."""
    if screen is None:
        return None
    if isinstance(screen, str) and screen == "auto":
        size = SCREENED
        while n_samples > 1000 and size > FEWEST_SCREENED:
            size, n_samples = size // 2, n_samples // 4
        return size
    if not is_int(screen) or screen < 2:
        raise ValueError(
            "The 'screen' parameter must be 'auto', an int of at least 2 (how many candidates get "
            f"an estimate in each permutation), or None (all). Got {screen!r} instead."
        )
    return int(screen)
