"""Folds and permutations of the rows.

Random numbers come from a counter-based generator whose key is made of the seed, a purpose and
the given columns. Permutation number p of a test is the same in whatever batch, thread or worker
it is drawn, wherever the tested column stands, and whoever asks: a search or a single test.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from infosieve._core.types import Columns, ColumnSet, Engine, IntArray, Runner, WritableArrays
from infosieve._engines.numba.shuffle import shuffle, shuffle_near
from infosieve._resampling.layout import Layout
from infosieve._resampling.random_bits import Key, random_order, random_words
from infosieve._resampling.surrogates import LocalFits, Series, Surrogates

# Samples among which a local permutation exchanges: a sample and its five nearest.
N_NEAR = 6


def key_of(seed: int, purpose: str, given: Columns) -> Key:
    """What the random numbers of a test are made of: not of order, names or signs of columns."""
    if given.n_columns == 0:
        return seed, purpose, 0
    rows = given.upright().values.astype("<f8")
    digests = [hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in rows]
    together = hashlib.blake2b(b"".join(sorted(digests)), digest_size=8).digest()
    return seed, purpose, int.from_bytes(together, "little")


@dataclass(frozen=True)
class Permutations(WritableArrays):
    """The row permutations of one test: row i receives the value of row ``draw(...)[p, i]``.

    Inside strata, or, with ``near``, among the neighbours of each row; then it is not the value
    that moves, but the residual of a local linear fit (``fits``). ``local``: rows exchange only
    with rows that are like them in the given columns. With ``by_place`` it is groups that exchange
    all their rows, each for that at its place, see :class:`.layout.Layout`; ``order``, ``edges``
    and ``near`` are those of groups then. Of a ``series`` it is innovations that move.
    ``signed`` groups exchange no rows but means, and have a random sign each: ``draw`` numbers
    groups then, and ~g is group g with the other sign (:mod:`infosieve._scoring.by_group`).
    """

    key: Key
    order: IntArray
    edges: IntArray
    near: IntArray | None = None
    fits: LocalFits | None = None
    local: bool = False
    by_place: IntArray | None = None
    series: Series | None = None
    signed: bool = False

    @property
    def n_samples(self) -> int:
        return self.order.size if self.by_place is None else self.by_place.size

    def draw(self, first: int, count: int) -> IntArray:
        n = self.order.size
        if self.signed:
            words = random_words(self.key, first, count, 3 * n)
            groups = self._exchanged(words)
            return np.where(words[:, 2 * n :] >> np.uint64(63), ~groups, groups)
        if self.by_place is None:
            width = n if self.near is None else 2 * n
            return self._exchanged(random_words(self.key, first, count, width))
        groups = self._exchanged(random_words(self.key, first, count, 2 * n))
        place = np.argsort(self.by_place, axis=0)
        rows = self.by_place[place, groups[:, None, :]] * n + groups[:, None, :]
        return np.ascontiguousarray(rows.reshape(count, -1), np.int32)

    def _exchanged(self, words: Any) -> IntArray:
        n = self.order.size
        if self.near is None:
            return np.asarray(shuffle(np.ascontiguousarray(words[:, :n]), self.order, self.edges))
        return np.asarray(shuffle_near(np.ascontiguousarray(words), self.near))

    def moves_rows(self, columns: ColumnSet) -> bool:
        """Whether what the given columns leave of surrogates is that of the columns, permuted.

        Not where categories and gaps of a series move in a circle while innovations are permuted.
        """
        return self.series is None or not bool(columns.labelled.any())

    @property
    def plain(self) -> bool:
        """Whether surrogates are nothing but permuted columns."""
        return self.fits is None and self.series is None

    def surrogates(
        self, columns: Columns, runner: Runner, engine: Engine | None = None
    ) -> Surrogates:
        """What makes surrogates of the columns from drawn permutations."""
        return Surrogates(columns, self.fits, runner, engine, self.series)


def put_first(found: IntArray, rows: IntArray | None = None) -> None:
    """Each row among its nearest, also where too many are at distance zero: it changes places."""
    own = np.arange(len(found)) if rows is None else rows
    for i in np.flatnonzero((found[:, :N_NEAR] != own[:, None]).all(axis=1)):
        found[i, found[i] == own[i]] = found[i, 0]
        found[i, 0] = own[i]


def random_folds(key: Key, n_samples: int, n_parts: int, layout: Layout | None = None) -> IntArray:
    """A fold for each sample, at random; sizes differ by one at most.

    A group has one fold; those of a series are stretches of time.
    """
    if layout is not None and layout.slots is not None:
        n_slots, n = layout.slots
        return np.tile(random_folds(key, n, n_parts), n_slots)
    if layout is not None and layout.time is not None:
        folds = np.empty(n_samples, np.int64)
        folds[layout.time] = np.arange(n_samples) * n_parts // n_samples
        return folds
    return np.asarray(random_order(key, n_samples) % n_parts)
