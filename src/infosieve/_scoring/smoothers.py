"""What some columns predict of any other: the best of a family of linear smoothers.

A smoother is a mean, plus a projection on functions of the given columns, each shrunk by how rough
it is (a ridge). Bases are: lines; curves of all columns; these and products of two columns; curves
of one column, or surfaces of two, in finer detail. How much they shrink, and which of them serves
a column, is chosen by generalised cross-validation (Craven and Wahba 1979,
https://doi.org/10.1007/BF01404567). Bases depend on the given columns only, so they are made once.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import TypeAlias

import numpy as np
from scipy.linalg import eigh
from scipy.special import ndtr
from threadpoolctl import threadpool_limits

from infosieve._core.types import BoolArray, Columns, FloatArray, IntArray, WritableArrays
from infosieve._engines.numba.columns import LIFT
from infosieve._resampling.ranks import levels_of, ranks_of, scores_of

# Functions of one column among others, of one alone, and of each of two, at most.
_EACH, _ALONE, _EACH_OF_TWO, _EACH_IN_PRODUCTS = 10, 16, 8, 3
# Samples for each function of a basis.
_SAMPLES_EACH = 3
# Functions of a basis, at most.
_MOST = 240
# How much smoothers shrink; lines hardly do.
_SHRINKAGE, _OF_LINES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2), 1e-4
# Cosines are of normal scores through a normal distribution that is so many times as wide: they
# have room for the tails.
_WIDER = 1.7
# Each degree of freedom counts so many times where smoothers are compared.
_PRICE = 1.2
# Spreads are fitted to logarithms of absolute residuals plus this share of their mean, and lie
# within a factor of e to this power.
_LEAST_SPREAD, _LARGEST_LOG = 0.05, 2.5
# Bits of the values of orthonormal functions. Products of them with columns, and combinations of
# them, are sums of whole numbers below 2 ** 53 (by the inequality of Cauchy and Schwarz): the same
# bits in any order, in whatever company and by whatever library they are added up.
_BITS = 24
# Columns themselves are smoothed, instead of their normal scores, if that errs less; of heavy tails
# (of which the fourth moment is larger than this) by a factor, because smoothers fit a few rows.
_HEAVY, _MUCH_LESS = 6.0, 0.8
# They are tried where the error is a smaller share of the variance than this.
_PREDICTED = 0.95
# Columns are winsorised at so many standard deviations; less so before they are smoothed, because
# the product of two columns has long tails.
FARTHEST, FARTHEST_SMOOTHED = 4.0, 8.0


# Orthonormal functions (n_functions, n_samples), and how much of them each way of shrinking keeps.
Basis: TypeAlias = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Smoothers(WritableArrays):
    """The family, given some columns.

    Attributes
    ----------
    functions : ndarray of shape (n_functions, n_samples)
        Those of all bases, which are orthonormal in each.
    kept : ndarray of shape (n_smoothers, n_functions)
        What each smoother keeps of them: of its own basis only.
    spans : ndarray of int, of shape (n_smoothers, 2)
        Where that begins, and ends.
    rougher : ndarray of int, of shape (n_smoothers,)
        Of each smoother the next one of the same basis that shrinks less.
    n_independent : float
        How many samples are independent of each other, which is fewer than there are where rows
        belong together.
    least : int
        The smoother that serves where none is better; -1: the mean.
    """

    functions: FloatArray
    kept: FloatArray
    spans: IntArray
    rougher: IntArray
    n_independent: float
    least: int = -1

    @classmethod
    def of(cls, given: Columns, n_independent: float, lines: bool = False) -> "Smoothers":
        """With ``lines``, where rows belong together, at least lines are taken out.

        Few of the samples may be independent, so that what they have in common with the given
        columns cannot be told from chance; but left where it is, it would be found.
        """
        with threadpool_limits(1, "blas"):  # whose sums depend on the number of its threads
            bases = _bases(given, n_independent, lines)
        ends = np.cumsum([len(functions) for functions, _ in bases])
        kept, spans, rougher = np.zeros((sum(len(k) for _, k in bases), ends[-1])), [], list[int]()
        for (functions, ways), end in zip(bases, ends.tolist(), strict=True):
            first, span = len(rougher), (end - len(functions), end)
            kept[first : first + len(ways), slice(*span)] = ways
            rougher += [first + max(way - 1, 0) for way in range(len(ways))]
            spans += [span] * len(ways)
        found = rounded(np.concatenate([functions for functions, _ in bases]))
        least = 0 if lines else -1
        return cls(found, kept, np.array(spans), np.array(rougher), n_independent, least)

    def better(self, one: FloatArray, other: FloatArray) -> tuple[FloatArray, IntArray]:
        """What is left of columns in the one form, or in the other if that errs less.

        Much less, if it has heavy tails; and it is not tried where next to nothing is predicted.
        """
        left, chosen, error = self._smoothed(one)
        tried = np.flatnonzero(error < _PREDICTED)
        if tried.size:
            also, served, less = self._smoothed(other[tried])
            better = less < np.where(_heavy(other[tried]), _MUCH_LESS, 1.0) * error[tried]
            left[tried[better]], chosen[tried[better]] = also[better], served[better]
        return left, chosen

    def residuals(
        self, values: FloatArray, least: int | None = None
    ) -> tuple[FloatArray, IntArray]:
        """What is left of columns (n_columns, n_samples), and which smoother served each."""
        return self._smoothed(values, least)[:2]

    def _smoothed(
        self, values: FloatArray, least: int | None = None
    ) -> tuple[FloatArray, IntArray, FloatArray]:
        """The same, and the error that is expected of new samples, as a share of the variance."""
        least = self.least if least is None else least
        left = np.ascontiguousarray(values - _means(values))
        n, whole = left.shape[1], _squares(left)[:, None]
        coefficients = products_of(left)(self.functions)
        unit = _unit(whole[:, 0], 26)
        explained = np.rint(coefficients**2 / unit) @ self._explained.T * unit
        free = 1 - _PRICE * (1 + self.kept.sum(axis=1)) / self.n_independent
        errors = (whole - explained) / n / np.maximum(free, 1e-9) ** 2
        errors[:, free <= 0.1] = np.inf
        best = errors.argmin(axis=1)
        error = errors[np.arange(len(left)), best]
        # Somewhat rougher than is best: what two smoothers leave must not be the same.
        chosen = self.rougher[best]
        if least < 0:
            none = error >= whole[:, 0] / n
            chosen[none], error[none] = -1, whole[none, 0] / n
        for span in np.unique(self.spans[chosen[chosen >= 0]], axis=0):
            mine = (chosen >= 0) & (self.spans[chosen] == span).all(axis=1)
            at = slice(*span)
            shrunk = coefficients[mine, at] * self.kept[chosen[mine], at]
            left[mine] = without(self.functions[at], shrunk, left[mine])
        return left, chosen, error / np.maximum(whole[:, 0] / n, 1e-300)

    @cached_property
    def _explained(self) -> FloatArray:
        """What each smoother takes of the square of each coefficient, in 26 bits."""
        return np.ldexp(np.rint(np.ldexp(self.kept * (2 - self.kept), 26)), -26)

    def spreads(self, residuals: FloatArray) -> FloatArray:
        """How large residuals are, as the given columns predict it."""
        size = np.abs(residuals)
        logs = np.log(size + _LEAST_SPREAD * _means(size) + 1e-300)
        left, _ = self.residuals(logs, -1)
        fitted = logs - left
        return np.exp(np.clip(fitted - _means(fitted), -_LARGEST_LOG, _LARGEST_LOG))

    def inflations(self, of_target: int) -> FloatArray:
        """How much larger the square of a correlation is beside what a smoother leaves of a target.

        For each smoother of the other column, and for the mean, which comes last. Residuals of n
        samples lie in fewer than n dimensions, mostly the same ones; those of permuted columns do
        not. It is that of columns that nothing predicts.
        """
        found = np.ones(len(self.kept) + 1)
        if of_target >= 0:
            at, n = slice(*self.spans[of_target]), self.n_independent
            taken = self.kept * (2 - self.kept)
            too = taken[of_target]
            with threadpool_limits(1, "blas"):
                alike = (self.functions @ self.functions[at].T) ** 2
                shared = taken @ alike @ too[at]
            left, rest = n - 1 - taken.sum(axis=1), n - 1 - too.sum()
            found[:-1] = (n - 1) * (left + rest - n + 1 + shared) / (left * rest)
        return np.asarray(np.maximum(found, 1.0))


def rounded(functions: FloatArray) -> FloatArray:
    """Orthonormal functions, of which products add up exactly, in any order."""
    return np.ldexp(np.rint(np.ldexp(functions, _BITS)), -_BITS)


def products_of(values: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """What makes products of columns (m, n) with rounded functions (p, n): (m, p)."""
    n = values.shape[1]
    unit = _unit(np.sqrt(_squares(values) / n), 52 - _BITS - math.ceil(math.log2(n) / 2))
    whole = np.rint(values / unit)
    return lambda functions: np.asarray((whole @ functions.T) * unit)


def without(functions: FloatArray, coefficients: FloatArray, values: FloatArray) -> FloatArray:
    """Columns (m, n) less combinations of rounded functions (p, n)."""
    unit = _unit(np.sqrt(_squares(values)), 52 - _BITS)
    return np.asarray(values - (np.rint(coefficients / unit) @ functions) * unit)


def _unit(size: FloatArray, bits: int) -> FloatArray:
    """A power of two for each row, so that multiples of it have so many bits at this size."""
    return np.asarray(np.ldexp(1.0, np.frexp(size)[1] - bits)[:, None])


def _means(values: FloatArray) -> FloatArray:
    return np.asarray(_sums(values)[:, None] / values.shape[1])


def _squares(values: FloatArray) -> FloatArray:
    return _sums(values**2)


def _heavy(values: FloatArray) -> BoolArray:
    left = values - _means(values)
    return np.asarray(_sums(left**4) * left.shape[1] > _HEAVY * _squares(left) ** 2)


def _sums(values: FloatArray) -> FloatArray:
    """Of each row, whatever rows are beside it."""
    return np.asarray(np.ascontiguousarray(values).sum(axis=1))


def _curves(values: FloatArray, scores: FloatArray, most: int) -> FloatArray:
    """A column, its scores and cosines of them, each with a mean of zero and a variance of one."""
    place = ndtr(scores / _WIDER)
    waves = [np.cos(np.pi * a * place) for a in range(2, most + 1)]
    return _standardised(np.array([winsorised(values, FARTHEST_SMOOTHED), scores, *waves]))


def winsorised(values: FloatArray, farthest: float = FARTHEST) -> FloatArray:
    """A column, or several, of variance one, and nothing farther than some standard deviations."""
    left = values - _means(np.atleast_2d(values)).reshape(*values.shape[:-1], 1)
    size = np.sqrt(_squares(np.atleast_2d(left)) / values.shape[-1])
    left = left / np.where(size > 0, size, 1.0).reshape(*values.shape[:-1], 1)
    return np.clip(left, -farthest, farthest)


def _standardised(rows: FloatArray) -> FloatArray:
    rows = rows - rows.mean(axis=1, keepdims=True)
    size = np.sqrt((rows**2).mean(axis=1, keepdims=True))
    return np.where(size > 1e-9, rows / np.where(size > 1e-9, size, 1.0), 0.0)


def _basis(functions: FloatArray, roughness: FloatArray, shrinkage: tuple[float, ...]) -> Basis:
    n = functions.shape[1]
    scaled = functions / np.sqrt(roughness)[:, None]
    squares, turn = eigh(scaled @ scaled.T)
    there = squares > 1e-9 * squares.max()
    squares, turn = squares[there], turn[:, there]
    kept = squares / (squares + n * np.array(shrinkage)[:, None])
    return (turn / np.sqrt(squares)).T @ scaled, kept


def _bases(given: Columns, n_independent: float, lines: bool) -> list[Basis]:
    """Bases of functions of the given columns, smooth ones first."""
    d, room = given.n_columns, int(np.clip(n_independent / _SAMPLES_EACH, 1, _MOST))
    rows, at, order = _functions(given, max(_ALONE, _EACH))
    roughness = np.where(order == 0, 0.1, order.astype(float) ** 4)
    roughness[order == 1] = 1e-2

    def some(which: BoolArray, shrinkage: tuple[float, ...] = _SHRINKAGE) -> Basis:
        return _basis(rows[which], roughness[which], shrinkage)

    n_numbers = int((~given.categorical).sum())
    n_lines = int((order <= 1).sum())
    each = int(np.clip((room - (order == 0).sum()) // max(1, n_numbers), 1, _EACH))
    lines |= n_lines < n_independent / 2
    bases = [some(order <= 1, (_OF_LINES,))] if lines else []
    additive = order <= each
    if each > 1:
        bases.append(some(additive))
    pairs = list(combinations(range(d), 2))
    for most in range(_EACH_IN_PRODUCTS, 0, -1):
        few = order <= most
        products, rough = _products(rows, at, order, few, pairs)
        if 0 < len(products) <= room:
            both = np.concatenate([rows[additive], products])
            bases.append(_basis(both, np.concatenate([roughness[additive], rough]), _SHRINKAGE))
            break
    if d > 1:
        for j in range(d):
            mine = (at == j) & (order <= min(_ALONE, room))
            bases.append(some(mine))
    if d > 2:
        for pair in pairs:
            mine = np.isin(at, pair) & (order <= min(_EACH, max(room // 4, 1)))
            few = np.isin(at, pair) & (order <= min(_EACH_OF_TWO, max(1, int(np.sqrt(room / 2)))))
            products, rough = _products(rows, at, order, few, [pair])
            both = np.concatenate([rows[mine], products])
            bases.append(_basis(both, np.concatenate([roughness[mine], rough]), _SHRINKAGE))
    return bases


def _functions(given: Columns, most: int) -> tuple[FloatArray, IntArray, IntArray]:
    """Functions of the given columns, the column of each, its order (0: a level of a category)."""
    rows, at, order = [], [], []
    for j in range(given.n_columns):
        one = given.take([j])
        if one.categorical[0]:
            codes = levels_of(one.values[0])
            marks = (codes == np.arange(codes.max() + 1)[:, None]).astype(float)
            found, orders = _standardised(marks), [0] * len(marks)
        else:
            ranks = ranks_of(one)[0]
            found = _curves(
                one.values[0] / LIFT, scores_of(ranks), min(most, int(one.n_distinct[0]) - 1)
            )
            orders = [1, *range(1, len(found))]
        rows.append(found)
        at += [j] * len(found)
        order += orders
    return np.concatenate(rows), np.array(at), np.array(order)


def _products(
    rows: FloatArray,
    at: IntArray,
    order: IntArray,
    few: BoolArray,
    pairs: list[tuple[int, int]],
) -> tuple[FloatArray, FloatArray]:
    """Products of some functions of two columns, and how rough they are."""
    which = np.flatnonzero(few)
    found = [
        (a, b) for i, j in pairs for a, b in product(which[at[which] == i], which[at[which] == j])
    ]
    if not found:
        return np.empty((0, rows.shape[1])), np.empty(0)
    one, other = np.array(found).T
    rough = (np.maximum(order[one], 1) ** 2 + np.maximum(order[other], 1) ** 2).astype(float) ** 2
    return _standardised(rows[one] * rows[other]), rough
