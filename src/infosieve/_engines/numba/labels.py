"""Candidates of categories beside numbers: the neighbours are shared, labels choose among them.

A category is at distance zero or infinitely far, so all candidates share the distances, and with
them, for each point, one list of the others by rising distance. A candidate's K-th neighbour is
the K-th in that list that has the point's label, and what is counted without the candidate depends
on the place in the list alone. So a search is a walk along the list that counts equal labels: of
many candidates at a time, in vectors of small integers.
"""

from functools import partial
from typing import Any

import numpy as np

from infosieve._core.categories import category_labels, codes_of
from infosieve._core.chunks import chunks
from infosieve._core.types import Batch, BoolArray, IntArray, Runner
from infosieve._engines.ksg import psi_table
from infosieve._engines.numba.jit import kernel
from infosieve._engines.numba.nearest import FAR, ZERO_RADIUS
from infosieve._engines.numba.rows import limit_of, n_below

# Candidates whose labels are compared together.
TOGETHER = 256
# A multiple of what a vector register holds: the rest of a loop is slow.
_VECTOR = 32
# A label is rare if fewer than one in so many samples have it: searched for one by one.
_RAREST = 64


@kernel
def _distances(columns: Any, here: Any, first: Any, squared: Any, out: Any) -> None:
    """Distances of the points from ``first`` on to one: sums of squares, or the largest step."""
    out[:] = 0.0
    for c in range(columns.shape[0]):
        x, x0 = columns[c, first : first + out.size], columns[c, here]
        if squared:
            for j in range(out.size):
                out[j] += (x[j] - x0) * (x[j] - x0)
        else:
            for j in range(out.size):
                out[j] = max(out[j], abs(x[j] - x0))


@kernel
def _part(classes: Any, own: Any, d: Any) -> None:
    """Points of other classes are infinitely far."""
    for j in range(d.size):
        if classes[j] != own:
            d[j] = np.inf


@kernel
def _list_near(d: Any, here: Any, limit: Any, index: Any, value: Any, scratch: Any) -> Any:
    """The others closer than ``limit`` by rising distance; returns how many there are."""
    m = 0
    for j in range(d.size):
        scratch[m], value[m] = j, d[j]
        m += d[j] < limit and j != here
    order = np.argsort(value[:m])
    value[:m] = value[:m][order]
    for i in range(m):
        index[i] = scratch[order[i]]
    return m


@kernel
def _place(value: Any, m: Any, d: Any) -> Any:
    """How many of the first ``m`` sorted values are not above ``d``."""
    low, n = 0, m
    while n > 0:
        half = n // 2
        if value[low + half] <= d:
            low += half + 1
            n -= half + 1
        else:
            n = half
    return low


@kernel
def _sorted_by_place(
    d: Any, value: Any, m: Any, skip: Any, index: Any, ends: Any, scratch: Any
) -> None:
    """Points by where they come among the values: ``ends[p]`` counts those below ``value[p]``."""
    who, place = scratch
    n_in, limit = 0, value[m - 1]
    for j in range(d.size):
        who[n_in] = j
        n_in += d[j] < limit and j != skip
    ends[: m + 1] = 0
    for i in range(n_in):
        place[i] = _place(value, m, d[who[i]])
        ends[place[i] + 1] += 1
    for p in range(m):
        ends[p + 1] += ends[p]
    for i in range(n_in):
        index[ends[place[i]]] = who[i]
        ends[place[i]] += 1


@kernel
def _walk(x: Any, here: Any, listed: Any, ks: Any, count: Any, places: Any) -> None:
    """How many listed points come before each candidate's K-th of the same label."""
    first, index, m = listed
    lo, hi = ks
    own = x[here]
    count[:] = 0
    places[:] = 0
    for t in range(m):
        other = x[first + index[t]]
        for c in range(own.size):
            count[c] += np.uint16(other[c] == own[c])
        for k in range(lo, hi + 1):
            place, enough = places[k - 1], np.uint16(k)
            for c in range(own.size):
                place[c] += np.uint16(count[c] < enough)
        if t % 16 == 15 and count.min() >= hi:
            break


@kernel
def _accumulate(x: Any, here: Any, listed: Any, counts: Any) -> None:
    """How many of the first t listed points have each candidate's own label: row t."""
    first, index, m = listed
    own = x[here]
    counts[0] = 0
    for t in range(m):
        other, before, after = x[first + index[t]], counts[t], counts[t + 1]
        for c in range(own.size):
            after[c] = before[c] + np.uint16(other[c] == own[c])


@kernel
def _without_candidate(
    value: Any, m: Any, ends: Any, conditional: Any, psi: Any, rest: Any
) -> None:
    """The terms of the counts without the candidate, for each place in the list as the K-th."""
    ends_s, ends_b = ends
    before = 0
    for p in range(m):
        if value[p] > value[before]:
            before = p
        if conditional:
            rest[p] = psi[ends_s[p] + 1] - psi[before + 1]
        else:
            rest[p] = -psi[ends_b[p] + 1]


@kernel
def _add_terms(found: Any, inside: Any, rest: Any, ks: Any, psi: Any, sums: Any) -> None:
    """Add the terms of the candidates that found somebody: K is at most how many they found."""
    (places, count), (ends, counts), (lo, hi) = found, inside, ks
    for k in range(lo, hi + 1):
        for c in range(count.size):
            if count[c] > 0:
                kn = min(k, count[c])
                p = places[kn - 1, c]
                sums[k - lo, c] += psi[kn] + rest[p] - psi[counts[ends[p], c] + 1]


@kernel
def _one_by_one(
    labels: Any, own: Any, here: Any, d: Any, ks: Any, psi: Any, nearest: Any, sums: Any
) -> None:
    """Add the terms of one point and candidate, without a list.

    ``labels`` are those of the stratum, ``here`` the point's place in it.
    """
    d_s, d_j, d_b, conditional = d
    lo, hi = ks
    nearest[:] = np.inf
    zeros = 1
    for j in range(labels.size):
        if labels[j] == own and j != here and d_j[j] < nearest[hi - 1]:
            zeros += d_j[j] == 0.0
            i = hi - 1
            while i > 0 and nearest[i - 1] > d_j[j]:
                nearest[i] = nearest[i - 1]
                i -= 1
            nearest[i] = d_j[j]
    found = hi
    while found > 1 and nearest[found - 1] >= FAR:
        found -= 1
    if nearest[hi - 1] == 0.0:  # more may be there than the nearest
        zeros = 1
        for j in range(labels.size):
            zeros += labels[j] == own and j != here and d_j[j] == 0.0
    term = np.int64(0)
    for k in range(lo, hi + 1):
        kn = min(k, found)
        if k == lo or k <= found:
            radius, term = min(nearest[kn - 1], FAR), psi[kn]
            if radius == 0.0:
                radius, term = ZERO_RADIUS, psi[zeros]
            n_a = 0
            for j in range(labels.size):
                n_a += labels[j] == own and d_s[j] < radius
            term -= psi[n_a] + psi[n_below(d_b, radius)]
            if conditional:
                term += psi[n_below(d_s, radius)]
        sums[k - lo] += term


@kernel
def labelled(
    blocks: Any, numbers: Any, strata: Any, span: Any, ks: Any, form: Any, want: Any, psi: Any
) -> Any:
    """Sums over the points of ``span`` of the psi terms, in fixed point: (n_blocks, n_K, width).

    The samples are by stratum of the given categories; ``strata`` has where each begins and the
    last ends, and the categories of the target. ``numbers`` are those of the given columns and of
    the target; ``blocks`` (n_blocks, n_samples, width) the labels; ``form`` is (squared,
    conditional); ``want`` the length of the lists.
    """
    (given, target), (edges, classes), (squared, conditional), (lo, hi) = numbers, strata, form, ks
    n, width = blocks.shape[1:]
    all_s, all_y, all_j = np.empty(n), np.empty(n), np.empty(n)
    value, index_j, index_s = np.empty(n + 1), np.empty(n + 1, np.int32), np.empty(n + 1, np.int32)
    ends_s, ends_b = np.empty(n + 2, np.int32), np.empty(n + 2, np.int32)
    scratch = np.empty(n + 1, np.int32), np.empty(n + 1, np.int32)
    rest = np.empty(n + 1, np.int64)
    count, places = np.empty(width, np.uint16), np.empty((hi, width), np.uint16)
    counts = np.empty((n + 1, width), np.uint16)
    nearest = np.empty(hi)
    sums = np.zeros((blocks.shape[0], hi - lo + 1, width), np.int64)
    stratum, limit = 0, FAR
    for here in range(span[0], span[1]):
        while edges[stratum + 1] <= here:
            stratum += 1
        first, last = edges[stratum], edges[stratum + 1]
        inside = slice(first, last)
        d_s, d_j = all_s[inside], all_j[inside]
        _distances(given, here, first, squared, d_s)
        if conditional:
            _distances(target, here, first, squared, all_y[inside])
            _part(classes[inside], classes[here], all_y[inside])
        else:
            _distances(target, here, 0, squared, all_y)
            _part(classes, classes[here], all_y)
        for j in range(last - first):
            d_j[j] = max(d_s[j], all_y[first + j])
        d_b = d_j if conditional else all_y
        limit = limit_of(d_j, want, limit)
        m = _list_near(d_j, here - first, limit, index_j, value, scratch[0])
        usable = m > 0 and value[0] > 0.0
        complete = limit >= FAR
        lowest = 1 if complete else lo
        if usable:
            _sorted_by_place(d_s, value, m, here - first, index_s, ends_s, scratch)
            if not conditional:  # who they are is not asked
                _sorted_by_place(all_y, value, m, here, scratch[0], ends_b, scratch)
            _without_candidate(value, m, (ends_s, ends_b), conditional, psi, rest)
        for block in range(blocks.shape[0]):
            x = blocks[block]
            count[:] = 0
            if usable:
                _walk(x, here, (first, index_j, m), (lowest, hi), count, places)
                reach = 0
                for c in range(width):
                    found = min(hi, count[c])
                    if found == hi or (complete and found > 0):
                        reach = max(reach, ends_s[places[found - 1, c]])
                _accumulate(x, here, (first, index_s, reach), counts)
            for c in range(width):
                found = min(hi, count[c])
                if found == 0 or (found < hi and not complete):
                    d = (d_s, d_j, d_b, conditional)
                    into = sums[block, :, c]
                    _one_by_one(x[inside, c], x[here, c], here - first, d, ks, psi, nearest, into)
                    count[c] = 0
            _add_terms((places, count), (ends_s, counts), rest, ks, psi, sums[block])
    return sums


def suited(batch: Batch) -> BoolArray:
    """Which candidates :func:`by_labels` is made for: few of their labels are rare."""
    n, m = batch.target.n_samples, batch.n_candidates
    numbers = not (batch.given.categorical.all() and batch.target.categorical.all())
    fits = batch.width == 1 and batch.method == "ksg1" and numbers and n < 1 << 16
    fits = fits and batch.given.n_columns > 0  # otherwise strips are as fast
    if not (fits and batch.candidates.categorical.any()):
        return np.zeros(m, bool)
    out = batch.candidates.categorical.copy()
    for j in np.flatnonzero(out):
        sizes = np.bincount(codes_of(batch.candidates.values[j]))
        out[j] = sizes[sizes * _RAREST < n].sum() < 0.05 * n
    # Microseconds a sample: distances and lists, against a search for each.
    return np.asarray(out & (3.0 * out.sum() > 25 + 0.002 * n))


def by_labels(batch: Batch, runner: Runner) -> IntArray:
    """Sums of psi terms in fixed point, of shape (n_candidates, n_K)."""
    n, m = batch.target.n_samples, batch.n_candidates
    z, classes = category_labels(batch.given), category_labels(batch.target)
    order = np.argsort(z, kind="stable")
    edges = np.concatenate([[0], np.cumsum(np.bincount(z))])
    numbers = tuple(
        np.ascontiguousarray(block.values[~block.categorical][:, order])
        for block in (batch.given, batch.target)
    )
    width = -(-m // (-(-m // TOGETHER) * _VECTOR)) * _VECTOR
    blocks = np.empty((-(-m // width), n, width), np.uint16)
    # Those of similar numbers of levels together: they walk as far as the last of them has to.
    alike = np.argsort(batch.candidates.n_distinct, kind="stable")
    alike = np.pad(alike, (0, blocks.shape[0] * width - m), mode="edge")
    rarest = n
    for at, j in enumerate(alike):
        labels = codes_of(batch.candidates.values[j])
        blocks[at // width, :, at % width] = labels[order]
        sizes = np.bincount(labels)
        rarest = min(rarest, sizes[sizes * _RAREST >= n].min(initial=n))
    k = batch.n_neighbors[1]
    want = int((k + 3 * k**0.5) * n / rarest) + 16
    form = batch.metric == "euclidean", batch.conditional
    psi = psi_table(n)[0]

    def task(span: slice) -> IntArray:
        strata, bounds = (edges, classes[order]), (span.start, span.stop)
        return labelled(blocks, numbers, strata, bounds, batch.n_neighbors, form, want, psi)  # type: ignore[no-any-return]

    spans = chunks(n, n if runner.n_workers == 1 else -(-n // (4 * runner.n_workers)))
    sums = np.sum(runner.run([partial(task, span) for span in spans]), axis=0)
    out = np.empty((m, sums.shape[1]), np.int64)
    out[alike] = sums.transpose(0, 2, 1).reshape(alike.size, -1)
    return out
