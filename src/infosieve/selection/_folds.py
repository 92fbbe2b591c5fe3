"""Which samples a model learns from, and which it is judged on, fold by fold."""

import hashlib
import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from infosieve._core import rules
from infosieve._core.dialect import bare, parameter, setting
from infosieve._core.files import first_line
from infosieve._core.messages import brief, shown
from infosieve._core.rules import is_int
from infosieve._core.types import IntArray
from infosieve._input.problem import Problem

# Rows to learn from and to judge on, among those that are used.
Split: TypeAlias = tuple[IntArray, IntArray]


def folds_of(cv: Any, problem: Problem) -> list[Split] | None:
    """The folds of a splitter or an iterable; None of a number: they are drawn from the seed.

    They are made once: a generator gives its pairs once, and a splitter may draw.
    """
    if cv is None or is_int(cv):
        return None
    rules.FOLDS.check("cv", cv)
    if hasattr(cv, "split"):
        return _split_by(cv, problem, problem.as_passed)
    n = problem.n_samples + problem.n_left_out
    place = np.full(n, -1)
    place[problem.rows] = np.arange(problem.n_samples)
    pairs = [tuple(place[rows] for rows in _pair(pair, i, n)) for i, pair in enumerate(cv, 1)]
    return _checked([(learn[learn >= 0], judge[judge >= 0]) for learn, judge in pairs])


def digest_of(folds: Sequence[Split]) -> str:
    """A short text that other folds do not have."""
    digest = hashlib.blake2b(digest_size=8)
    for rows in (rows for fold in folds for rows in fold):
        digest.update(np.array([rows.size, *rows], np.int64).tobytes())
    return digest.hexdigest()


def drawn_folds(cv: int | None, problem: Problem, classes: bool, seed: int) -> list[Split]:
    """So many folds, by a seed; in order of time where rows are."""
    n_folds, groups = 5 if cv is None else cv, problem.together.groups
    n, what = problem.n_samples, "samples"
    if groups is not None:
        n, what = int(groups.max()) + 1, "groups, which stay together"
    if n_folds > n:
        raise ValueError(
            f"{parameter('cv')} asks for {n_folds} folds, but there are {n} {what}. Use fewer "
            f"folds ({setting('cv', n)})."
        )
    if problem.together.in_order:
        return _split_by(TimeSeriesSplit(n_folds), problem)
    kind: Any = StratifiedKFold if classes else KFold
    if groups is not None:
        kind = StratifiedGroupKFold if classes else GroupKFold
    return _split_by(kind(n_folds, shuffle=True, random_state=seed % 2**32), problem)


def _split_by(splitter: Any, problem: Problem, order: IntArray | None = None) -> list[Split]:
    """Folds of the samples, in an order in which the splitter sees them."""
    y, groups = problem.y, problem.together.groups
    order = np.arange(problem.n_samples) if order is None else order
    strata = np.unique(y.values, axis=1, return_inverse=True)[1].ravel()
    target = (strata if y.categorical.all() else y.values[0])[order]
    groups = None if groups is None else groups[order]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes that not every fold has
        try:
            pairs = list(splitter.split(np.zeros(problem.n_samples), target, groups))
        except ValueError as error:
            raise ValueError(
                f"{parameter('cv')} asks for folds that these samples cannot be split into: "
                f"{brief(first_line(error), 300).rstrip('.')}. Use fewer folds "
                f"({bare('cv')})."
            ) from error
    found = [_pair(pair, i, problem.n_samples) for i, pair in enumerate(pairs, 1)]
    return _checked([(order[learn], order[judge]) for learn, judge in found])


def _pair(pair: Any, number: int, n: int) -> Split:
    """The rows of a fold, if they are rows."""
    parts: Any = [np.asarray(rows) for rows in pair] if isinstance(pair, (tuple, list)) else []
    parts = [np.flatnonzero(p) if p.shape == (n,) and p.dtype == bool else p for p in parts]
    parts = [p.astype(np.intp) if p.size == 0 else p for p in parts]
    whole = all(p.ndim == 1 and p.dtype.kind in "iu" for p in parts)
    if len(parts) != 2 or not whole or any(((p < 0) | (p >= n)).any() for p in parts):
        raise ValueError(
            f"{parameter('cv')} must give pairs of rows, to learn from and to judge on, that are "
            f"whole numbers from 0 to {n - 1}. Got {shown(pair)} as fold {number}."
        )
    return parts[0], parts[1]


def _checked(folds: list[Split]) -> list[Split]:
    """Two folds or more, with samples on both sides."""
    if len(folds) < 2:
        once = "" if folds else ": a generator gives its folds once, pass list(...) of it"
        raise ValueError(
            f"{parameter('cv')} must give two folds or more. Got {len(folds) or 'none'}{once}."
        )
    for number, (learn, judge) in enumerate(folds, start=1):
        if not (learn.size and judge.size):
            what = "judge on" if learn.size else "learn from"
            raise ValueError(
                f"{parameter('cv')} gives no sample to {what} in fold {number}. Use fewer folds "
                f"({bare('cv')}), or others."
            )
    return folds
