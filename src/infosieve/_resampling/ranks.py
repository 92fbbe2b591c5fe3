"""Columns by their ranks: normal scores, cosines, levels of categories.

Ranks are doubled, less one, so that those of equal values are whole numbers, too; a column and its
negative have the same bits but for the sign.
"""

import hashlib
from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from infosieve._core.categories import codes_of
from infosieve._core.types import Columns, FloatArray, IntArray
from infosieve._engines.numba.functions import doubled_ranks

# Levels of a category, at most: the rarest are joined.
MOST_LEVELS = 32


@lru_cache(maxsize=8)
def _scores(n: int) -> FloatArray:
    """Normal scores by doubled ranks."""
    scores = np.zeros(2 * n)
    scores[1:] = ndtri(np.arange(1, 2 * n) / (2 * n))
    scores[:n:-1] = -scores[1:n]
    return scores


@lru_cache(maxsize=32)
def cosines(n: int, order: int) -> FloatArray:
    """Cosines of so many half waves by doubled ranks."""
    waves = np.cos(np.pi * order * np.arange(2 * n) / (2 * n))
    waves[:n:-1] = waves[1:n] * (1 - 2 * (order % 2))  # a negative column has the same bits
    if order % 2:
        waves[n] = 0.0
    return waves


def scores_of(ranks: IntArray) -> FloatArray:
    """Normal scores of doubled ranks, along the last axis."""
    return _scores(ranks.shape[-1])[ranks]


def ranks_of(columns: Columns) -> IntArray:
    """Twice the rank less one of each value of columns of numbers without gaps."""
    order = columns.order
    ordered = np.take_along_axis(columns.values, order, axis=1)
    out = np.empty(columns.values.shape, np.int64)
    doubled_ranks(ordered, order, columns.n_distinct, out)
    return out


def one_order(columns: Columns) -> list[int]:
    """An order of columns that follows from what they hold, whatever their signs."""
    rows = columns.upright().values
    digests = [hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in rows]
    return sorted(range(len(digests)), key=digests.__getitem__)


def in_one_order(given: Columns) -> Columns:
    """The same columns in that order, and with one sign."""
    return given.upright().take(one_order(given))


def levels_of(values: FloatArray) -> IntArray:
    """The codes of a category, the most frequent first, unless there are two.

    The rarest beyond :data:`MOST_LEVELS` are one; so are all, if they are more than half of the
    samples, as identifiers are.
    """
    codes = np.unique(codes_of(values), return_inverse=True)[1]
    sizes = np.bincount(codes)
    if sizes.size > max(2, codes.size / 2):
        return np.zeros_like(codes)
    if sizes.size <= 2:
        return codes
    place = np.empty(sizes.size, np.int64)
    place[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
    return np.minimum(place[codes], MOST_LEVELS - 1)
