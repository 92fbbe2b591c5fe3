"""The combined statistic: one question asked in several ways, and the answers put together.

Candidate and target are what smoothers leave of them given the known columns, as orthonormal
functions (:mod:`.functions`). Correlations between functions, squared and added up, are the views:

- a *line*: of the first order on both sides;
- a *curve*: the square of the candidate, by itself and together with the line;
- a *spread*: the square of the target, against the candidate or its square;
- *any shape*: cosines of both, weighted by how smooth they are, as a sum and each by itself;
- an *interaction* with a known column: the candidate against the target times that column.

Each view has a p-value as if correlations were normal, with the skewness that permuted ones have,
and the statistic is the logarithm of the weighted mean of their inverses, in decimal digits (the
harmonic mean of p-values, Wilson 2019, https://doi.org/10.1073/pnas.1814092116). So all candidates
share one yardstick. Nothing is claimed of these p-values: the statistic is compared with that of
permuted functions, whatever its distribution. All permutations are matrix products.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np
from threadpoolctl import ThreadpoolController

from infosieve._core.chunks import chunks
from infosieve._core.types import BoolArray, Columns, Engine, FloatArray, IntArray, Runner, View
from infosieve._engines.numba.columns import LIFT
from infosieve._engines.numba.engine import NumbaEngine
from infosieve._engines.numba.functions import fingerprints, ways_of_asking
from infosieve._resampling.layout import Layout, memory
from infosieve._resampling.ranks import one_order
from infosieve._scoring.by_group import ByGroup
from infosieve._scoring.functions import (
    LINE,
    SQUARE,
    Functions,
    Past,
    functions_of,
    marks_of,
    moments_of,
    orthonormal,
    raw_functions,
)
from infosieve._scoring.smoothers import Smoothers
from infosieve._scoring.statistic import Statistic

# The highest order of the functions of a candidate, and of a target.
CANDIDATE_ORDER, TARGET_ORDER = 8, 3
# How much each view counts: a line is what most real effects are.
WEIGHTS = {"line": 8.0, "curve": 2.0, "spread": 1.0, "any shape": 3.0, "interaction": 1.0}
# Of any shape, only such pairs of functions are asked for whose fourth moments have a product of
# this share of the samples at most: correlations of others hang on few samples, and are not normal.
_HEAVIEST = 0.2
# So much, or n / 10, is the fourth moment of a square at most; of normal scores it is below 15.
_OF_A_SQUARE = 16.0
# Permutations from which scales are taken where rows belong together.
_SCALED_BY = 64
# Functions of a target of a series whose slopes are known.
_SLOPES = 3
# Numbers of one matrix product's factor.
_PRODUCT = 1 << 22
# Numbers of columns whose functions are made together, so that these stay near the processor, but
# of so many columns at least.
_MADE, _AT_LEAST = 1 << 17, 16
# Bytes of functions that are kept for the next permutations.
_KEPT_BYTES = 1 << 30

_BLAS = ThreadpoolController()


@dataclass(frozen=True)
class Asked:
    """What all candidates of a question share.

    ``values`` are functions of the target (n_functions, n_samples), with their ``orders``; behind
    these are its lines times each of the known columns, whose number is in ``beside``. ``moments``
    are those of all of them; ``inflations``: what smoothers do to correlations of lines.
    ``known``: which columns of the table these are. ``drawn``: permutations that scales of series
    are taken from. ``by_group``: the same functions where rows belong together in groups.
    ``digest`` is of the known columns.
    """

    smoothers: Smoothers | None
    past: Past | None
    values: FloatArray
    orders: IntArray
    beside: IntArray
    moments: FloatArray
    inflations: FloatArray | None
    known: tuple[int, ...]
    drawn: IntArray | None
    by_group: ByGroup | None
    digest: bytes

    def moved(self, permutations: IntArray) -> FloatArray:
        """Permuted functions of the target: (n_permutations, n_functions, n_samples)."""
        if self.by_group is not None:
            return self.by_group.moved(permutations)
        moved = np.empty((len(permutations), *self.values.shape))
        for number, rows in enumerate(permutations):
            moved[number][:, rows] = self.values
            if self.past is not None:
                moved[number] = self.past.taken_again(moved[number])
        return moved


@dataclass(frozen=True, kw_only=True, eq=False)
class Combined(Statistic):
    """Tests asked in several ways at once."""

    target: Columns
    layout: Layout = field(default_factory=Layout)
    engine: Engine = field(default_factory=NumbaEngine)
    asked: Asked | None = None
    estimates = False
    # What was made for the same columns and the same known ones, shared by all questions.
    made: dict[bytes, list[Functions]] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "made": {}}

    def prepared(self, question: Any) -> Self:
        drawn = None
        if self.layout.time is not None:
            drawn = question.null.given(question.given, "scale").draw(0, _SCALED_BY)
        take = question.columns.take_given
        parts = [take([j]).with_flags(LIFT) for j in question.known]
        known = [j for j, part in zip(question.known, parts, strict=True) for _ in part.values]
        asked = self._asked(question.given.with_flags(LIFT), known, drawn)
        if self.layout.slots is not None:
            by_group = ByGroup.of(asked.values, self.layout, question.permutations)
            asked = replace(asked, by_group=by_group)
        return replace(self, asked=asked)

    def _asked(self, given: Columns, known: Sequence[int], drawn: IntArray | None) -> Asked:
        sorted_by = one_order(given)
        given, target = given.upright().take(sorted_by), self.target
        if self.layout.slots is not None:
            given, target = (columns.rows(self.layout.once[0]) for columns in (given, target))
        n = target.n_samples
        independent = float(n)
        if self.layout.time is not None:
            rows = [*target.filled().values, *given.filled().values]
            independent = n / max(2 * memory(row[self.layout.time]) for row in rows)
        if self.layout.slots is not None:
            independent = float(self.layout.slots[1])
        past, smoothers = None, None
        if self.layout.time is not None:
            past = Past.of(self.layout.time, given)
        if given.n_columns:
            smoothers = Smoothers.of(given, independent, lines=self.layout.dependent)
        rows, orders, inflations = [], [], None
        for _, some, order, chosen in raw_functions(target, smoothers, TARGET_ORDER):
            rows += [*some.reshape(-1, n)]
            orders += [*np.tile(order, len(some))]
            if smoothers is not None and chosen is not None:
                inflations = smoothers.inflations(int(chosen[0]))
        by_order = np.argsort(orders, kind="stable")
        functions, at = np.array(rows)[by_order], np.array(orders)[by_order]
        if past is not None:
            past = past.beside(given, functions[:_SLOPES])
        values, kept = orthonormal(functions[None], at, past)
        found, at = values[0][kept[0]], at[kept[0]]
        lines, beside = found[at == LINE], []
        for j, marks in enumerate(marks_of(given)):
            rows = [line * mark for line in lines for mark in marks]
            if not rows:  # of an identifier
                continue
            more, there = orthonormal(np.array(rows)[None], np.full(len(rows), LINE), past)
            found = np.concatenate([found, more[0][there[0]]])
            beside += [j] * int(there.sum())
        named = tuple(known[j] for j in sorted_by)
        digest = hashlib.blake2b(given.values.data, digest_size=16).digest()
        return Asked(
            smoothers=smoothers,
            past=past,
            values=found,
            orders=at,
            beside=np.array(beside, np.int64),
            moments=moments_of(found[None])[:, 0],
            inflations=inflations,
            known=named,
            drawn=drawn,
            by_group=None,
            digest=digest,
        )

    def __call__(
        self, candidates: Columns, given: Columns, runner: Runner, *, width: int = 1
    ) -> FloatArray:
        n = candidates.n_samples if self.layout.slots is None else self.layout.slots[1]
        every = np.arange(n, dtype=np.int32)[None]
        return self.of_permuted(candidates, given, runner, every)

    def of_permuted(
        self, candidates: Columns, given: Columns, runner: Runner, permutations: IntArray
    ) -> FloatArray:
        """In decimal digits: all candidates under the first permutation, then the second, ..."""
        asked = self.asked
        assert asked is not None
        found = self._functions(candidates, runner)
        p, (b, n) = len(permutations), asked.values.shape
        out = np.zeros((p, candidates.n_columns))
        if not b:  # nothing is left of the target
            return out.ravel()

        def some(at: slice) -> None:
            moved = asked.moved(permutations[at])
            for one in found:
                out[at, one.places] = _together(
                    _log_views(_products(one, moved, asked), one, asked)
                )

        size = max(1, min(_PRODUCT // (b * n), -(-p // runner.n_workers)))
        with _BLAS.limit(limits=1, user_api="blas"):
            runner.run([partial(some, at) for at in chunks(p, size)])
        return out.ravel()

    def _functions(self, candidates: Columns, runner: Runner) -> list[Functions]:
        asked = self.asked
        assert asked is not None
        m = candidates.n_columns
        numbers = np.empty(m, np.uint64)
        fingerprints(candidates.values.view(np.uint64), numbers)
        digest = asked.digest + numbers.tobytes()
        known = self.made.get(digest)
        if known is not None:
            return known
        if self.layout.slots is not None:
            candidates = candidates.rows(self.layout.once[0])

        def some(at: slice) -> list[Functions]:
            found = functions_of(
                candidates.take(at), asked.smoothers, asked.inflations, asked.past, CANDIDATE_ORDER
            )
            return [replace(one, places=one.places + at.start) for one in found]

        size = max(_AT_LEAST, _MADE // candidates.n_samples)
        size = max(1, min(size, -(-m // (2 * runner.n_workers))))
        with _BLAS.limit(limits=1, user_api="blas"):
            parts = runner.run([partial(some, at) for at in chunks(m, size)])
        found = [replace(one, scale=self._scale(one)) for part in parts for one in part]
        for other in [key for key in self.made if not key.startswith(asked.digest)]:
            del self.made[other]  # of a step before
        bytes_made = sum(one.values.nbytes for one in found)
        bytes_kept = sum(one.values.nbytes for some in self.made.values() for one in some)
        if bytes_made + bytes_kept <= _KEPT_BYTES:
            self.made[digest] = found
        return found

    def _scale(self, one: Functions) -> FloatArray | None:
        """The size of permuted correlations, where rows belong together."""
        asked = self.asked
        assert asked is not None
        if asked.by_group is not None:
            return asked.by_group.scale(one.values)
        if asked.drawn is None:
            return None
        total = np.zeros((*one.values.shape[:2], len(asked.values)))
        for rows in asked.drawn:
            total += _sums(one.values, asked.moved(rows[None]))[:, :, 0] ** 2
        return np.asarray(np.sqrt(total / len(asked.drawn) / asked.values.shape[1]))

    def nearest(self, candidates: Columns, runner: Runner) -> list[View | None]:
        """Of each candidate the view that adds most to its statistic."""
        asked = self.asked
        assert asked is not None
        found: list[View | None] = [View("")] * candidates.n_columns
        for one in self._functions(candidates, runner) if len(asked.values) else ():
            plain, beside = _products(one, asked.values[None], asked)
            views = _log_views((plain, beside), one, asked)[0]
            lines = plain[:, one.orders == LINE, 0][:, :, asked.orders == LINE]
            for place, best, *of_one in zip(
                one.places.tolist(), views.argmax(axis=1), lines, beside[:, :, 0], strict=True
            ):
                found[place] = self._view(list(WEIGHTS)[best], one, *of_one)
        return found

    def _view(self, name: str, one: Functions, lines: FloatArray, beside: FloatArray) -> View:
        """A view with the sign of a line, or the known column of an interaction."""
        asked = self.asked
        assert asked is not None
        if name == "interaction":
            return View(name, asked.known[asked.beside[(beside**2).sum(axis=0).argmax()]])
        if name == "line" and one.gaps and (lines[0] ** 2).sum() > (lines[1] ** 2).sum():
            return View("gaps")
        if name == "line" and lines.shape != (1 + one.gaps, 1) and self.target.n_columns == 1:
            return View("differs")
        if name != "line" or self.target.n_columns > 1:
            return View(name)
        return View("rises" if lines[-1, 0] > 0 else "falls")

    @property
    def kind(self) -> str:
        return " combined"


def _products(one: Functions, moved: FloatArray, asked: Asked) -> tuple[FloatArray, FloatArray]:
    """Sums over the samples: of all functions and the target's, and of lines and what is beside."""
    n_plain, n_lines = asked.orders.size, int((one.orders == LINE).sum())
    return _sums(one.values, moved[:, :n_plain]), _sums(one.values[:, :n_lines], moved[:, n_plain:])


def _sums(values: FloatArray, moved: FloatArray) -> FloatArray:
    """Of products of functions: (n_columns, n_functions, n_times, n_of_target)."""
    m, k, n = values.shape
    p, b = moved.shape[:2]
    found = values.reshape(m * k, n) @ moved.reshape(p * b, n).T
    return np.asarray(found.reshape(m, k, p, b))


def _together(views: FloatArray) -> FloatArray:
    """The logarithm of the sum of weight / p, in decimal digits; sums go from view to view."""
    most = views.max(axis=2)
    total = np.zeros(most.shape)
    for place in range(views.shape[2]):
        total += np.exp(views[:, :, place] - most)
    return np.asarray((most + np.log(total)) / np.log(10))


def _log_views(products: tuple[FloatArray, FloatArray], one: Functions, asked: Asked) -> FloatArray:
    """The logarithm of weight / p of each view: (n_times, n_columns, n_views)."""
    n_plain, n_lines, n = asked.orders.size, products[1].shape[1], one.values.shape[2]
    groups, weights, of_views = _plan(one.orders, asked.orders)
    of_shape = of_views.get("any shape", [-1])[0]
    fourth = one.moments[1][:, :, None] * asked.moments[1]
    heavy = (fourth[:, :, :n_plain] > n * _HEAVIEST) & (groups == of_shape)
    most = max(_OF_A_SQUARE, n / 10)
    heavy |= ((one.moments[1] > most) & (one.orders == SQUARE))[:, :, None]
    heavy |= (asked.moments[1, :n_plain] > most) & (asked.orders == SQUARE)
    logs = _logs(products[0], one, asked, slice(n_plain), (groups, weights, heavy), of_views)
    if asked.beside.size:
        known, groups = np.unique(asked.beside, return_inverse=True)
        groups = np.tile(groups, (n_lines, 1))
        # Where two rare levels meet in one row, that row would decide.
        heavy = fourth[:, :n_lines, n_plain:] > n
        plan = groups, np.ones(groups.shape), heavy
        more = _logs(products[1], one, asked, slice(n_plain, None), plan, {})
        of_views["interaction"] = [logs.shape[2] + j for j in range(known.size)]
        logs = np.concatenate([logs, more], axis=2)
    found = np.full((*logs.shape[:2], len(WEIGHTS)), -np.inf)
    total = sum(WEIGHTS[name] for name in of_views)
    for place, name in enumerate(WEIGHTS):
        if name in of_views:
            some = logs[:, :, of_views[name]]
            least = np.minimum(some.min(axis=2) + np.log(some.shape[2]), 0.0)
            found[:, :, place] = np.log(WEIGHTS[name] / total) - least
    return found


def _logs(
    products: FloatArray,
    one: Functions,
    asked: Asked,
    of_target: slice,
    plan: tuple[IntArray, FloatArray, BoolArray],
    of_views: dict[str, list[int]],
) -> FloatArray:
    """The logarithm of the p-value of each group of products: (n_times, n_columns, n_groups)."""
    m, k, p, b = products.shape
    n = one.values.shape[2]
    if one.scale is not None:
        scale = one.scale[:, :k, of_target]
        factors = 1 / np.where(scale > 0, scale, np.inf)
    else:
        factors = np.ones((m, k, b))
        if of_views:
            lines = (one.orders == LINE)[:, None] & (asked.orders == LINE)
            factors[:, lines] = one.deflation[:, None]
    line, curve, shape = (of_views.get(name, [-1])[0] for name in ("line", "curve", "any shape"))
    found = np.zeros((p, m, 1 + int(max(plan[0].max(), curve + 1))))
    skewness = one.moments[0, :, :k] / np.sqrt(n)
    ways_of_asking(
        products,
        factors / np.sqrt(n),
        skewness,
        asked.moments[0, of_target],
        *plan,
        (line, curve if line >= 0 else -1, shape),
        found,
    )
    return found


def _plan(
    orders: IntArray, of_target: IntArray
) -> tuple[IntArray, FloatArray, dict[str, list[int]]]:
    """To which group each pair of functions belongs, its weight, and the groups of each view."""
    groups, weights = (
        np.full((orders.size, of_target.size), -1),
        np.ones((orders.size, of_target.size)),
    )
    views = dict[str, list[int]]()

    def group(view: str, pairs: BoolArray) -> None:
        if pairs.any():
            views.setdefault(view, []).append(sum(map(len, views.values())))
            groups[pairs] = views[view][-1]

    line, square = (orders == LINE)[:, None], (orders == SQUARE)[:, None]
    group("line", line & (of_target == LINE))
    group("curve", square & (of_target == LINE))
    if "curve" in views and "line" in views:  # together
        views["curve"].append(views["curve"][0] + 1)
    group("spread", line & (of_target == SQUARE))
    group("spread", square & (of_target == SQUARE))
    cosine, other = (orders > SQUARE)[:, None], of_target > SQUARE
    shape = (cosine & (other | (of_target == LINE))) | (line & other)
    weights[shape] = (1 / (np.maximum(orders[:, None], 1) * np.maximum(of_target, 1)))[shape]
    group("any shape", shape)
    return groups, weights, views
