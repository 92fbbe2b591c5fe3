"""Parameters, checked: every error names the parameter, the rule and the value."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from infosieve._core import rules
from infosieve._core.rules import is_flag, is_int, is_text
from infosieve._core.settings import of_no_matter, permutations_asked, stop_asked

__all__ = ["is_flag", "is_int"]

WITHOUT_EFFECT = of_no_matter()
stop_of, n_permutations_of = stop_asked, permutations_asked


def is_sequential(n_permutations: Any) -> bool:
    return is_text(n_permutations, "auto")


def check_choice(value: Any, parameter: str, choices: Iterable[Any]) -> None:
    rules.one_of(*choices).check(parameter, value)


def check_jobs(n_jobs: Any) -> None:
    rules.jobs().check("n_jobs", n_jobs)


def check_verbose(verbose: Any) -> None:
    rules.verbosity().check("verbose", verbose)


def check_folds(cv: Any) -> None:
    rules.folds().check("cv", cv)


def check_seed(random_state: Any) -> Any:
    rules.seed().check("random_state", random_state)
    return int(random_state) if is_int(random_state) else random_state


def check_count(value: Any, parameter: str, least: int, optional: bool = False) -> None:
    rules.count(least, optional).check(parameter, value)


def check_number(
    value: Any, parameter: str, least: float, most: float, optional: bool = False
) -> None:
    rules.between(least, most, optional).check(parameter, value)


def check_x(X: Any) -> None:
    """A table of features has two dimensions."""
    if getattr(X, "ndim", len(np.shape(X)) if isinstance(X, (list, tuple)) else 2) == 1:
        raise ValueError(
            "X must be a table with a column for each feature; got one column. Expected 2D "
            "array, got 1D array instead. Reshape your data: X.reshape(-1, 1), or X.to_frame() in "
            "pandas."
        )


# What "auto" keeps of the candidates when they are screened: so many of up to a thousand samples,
# half as many for each four times that, and so many at least.
SCREENED, FEWEST_SCREENED = 32, 8


def screen_size(screen: Any, n_samples: int) -> int | None:
    """How many screened candidates get an estimate; None: all."""
    if not is_text(screen, "auto"):
        return None if screen is None else int(screen)
    size = SCREENED
    while n_samples > 1000 and size > FEWEST_SCREENED:
        size, n_samples = size // 2, n_samples // 4
    return size
