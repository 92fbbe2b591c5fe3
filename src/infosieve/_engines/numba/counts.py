"""Tables of counts: the information of categories, and how much of it chance explains.

Counting cells that hold one or two samples finds information where there is none. How much
of it is known exactly: if the labels x are permuted among the samples of a stratum, each cell
of a table with fixed margins is hypergeometric (Vinh, Epps and Bailey 2010,
https://www.jmlr.org/papers/v11/vinh10a.html, use the same expectation to adjust the
information of clusterings).
"""

import math
from typing import Any

import numpy as np

from infosieve._engines.numba.jit import kernel

# Cells whose probability is below this part of all that came before are not visited.
_NEGLIGIBLE = 1e-18


@kernel
def expected_cell(n: Any, a: Any, b: Any, psi: Any) -> Any:
    """The mean of k psi(k), where k of ``a`` samples drawn from ``n`` are among ``b`` marked ones.

    From the most probable k outwards, by ratios of neighbouring probabilities: neither
    factorials nor logarithms.
    """
    low, high = max(0, a + b - n), min(a, b)
    mode = min(max(int((a + 1.0) * (b + 1.0) / (n + 2.0)), low), high)
    total, mean = 1.0, mode * psi[mode]
    weight, k = 1.0, mode
    while k < high and weight > _NEGLIGIBLE * total:
        weight *= (a - k) * float(b - k) / ((k + 1.0) * (n - a - b + k + 1.0))
        k += 1
        total += weight
        mean += weight * k * psi[k]
    weight, k = 1.0, mode
    while k > low and weight > _NEGLIGIBLE * total:
        weight *= k * float(n - a - b + k) / ((a - k + 1.0) * (b - k + 1.0))
        k -= 1
        total += weight
        mean += weight * k * psi[k]
    return mean / total


@kernel
def _tally(labels: Any, counts: Any, seen: Any) -> Any:
    """Count labels; ``seen`` gets those that occur, and their number is returned."""
    m = 0
    for label in labels:
        if counts[label] == 0:
            seen[m] = label
            m += 1
        counts[label] += 1
    return m


@kernel
def _expected(n: Any, sizes_x: Any, sizes_y: Any, psi: Any, bits: Any) -> Any:
    """The mean over permutations of the sum of k psi(k) over a table's cells, in fixed point.

    ``sizes`` has how many margins there are of each size. Rounded for each pair of sizes, so
    that the order of the levels does not matter.
    """
    total = np.int64(0)
    for a in np.flatnonzero(sizes_x):
        for b in np.flatnonzero(sizes_y):
            cells = sizes_x[a] * float(sizes_y[b])
            total += np.int64(np.rint(math.ldexp(cells * expected_cell(n, a, b, psi), bits)))
    return total


@kernel
def contingency(x: Any, y: Any, strata: Any, levels: Any, joined: Any, psi: Any, bits: Any) -> Any:
    """Sums over the samples, in fixed point: information of counts, by chance, and two entropies.

    ``x`` (n_candidates, n_samples) and ``y`` have labels below ``levels``; ``strata`` is (the
    samples by stratum, where each begins and the last ends). ``joined`` asks for the information
    of stratum and x together about y, otherwise that of x about y inside the strata. ``psi`` is
    psi(k) in fixed point of ``bits`` bits. Returns (n_candidates, 4): information, its mean over
    permutations of the labels, the entropy of x (and strata) and that of y.
    """
    m, n = x.shape
    order, edges = strata
    exact = np.ldexp(psi.astype(np.float64), -bits)
    count_x, count_y = np.zeros(levels[0], np.int64), np.zeros(levels[1], np.int64)
    count_xy = np.zeros(levels[1], np.int64)
    seen_x, seen_y = np.empty(n, np.int64), np.empty(n, np.int64)
    by_x, starts = np.empty(n, np.int64), np.zeros(levels[0] + 1, np.int64)
    out = np.zeros((m, 4), np.int64)
    for candidate in range(m):
        sizes_x, sizes_y = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
        cells = np.int64(0)
        for s in range(edges.size - 1):
            rows = order[edges[s] : edges[s + 1]]
            n_s, labels = rows.size, x[candidate][rows]
            n_x = _tally(labels, count_x, seen_x)
            at = 0
            for i in range(n_x):  # the samples of the stratum by x
                starts[seen_x[i]] = at
                at += count_x[seen_x[i]]
            for i in range(n_s):
                by_x[starts[labels[i]]] = y[rows[i]]
                starts[labels[i]] += 1
            at = 0
            for i in range(n_x):
                size = count_x[seen_x[i]]
                n_y = _tally(by_x[at : at + size], count_xy, seen_y)
                for j in range(n_y):
                    cells += count_xy[seen_y[j]] * psi[count_xy[seen_y[j]]]
                    count_xy[seen_y[j]] = 0
                sizes_x[size] += 1
                count_x[seen_x[i]] = 0
                at += size
            if joined and s < edges.size - 2:
                continue  # one table for all strata
            if joined:
                n_s, rows = n, order
            n_y = _tally(y[rows], count_y, seen_y)
            for j in range(n_y):
                sizes_y[count_y[seen_y[j]]] += 1
                count_y[seen_y[j]] = 0
            margin_x = margin_y = np.int64(0)
            for size in np.flatnonzero(sizes_x):
                margin_x += sizes_x[size] * size * psi[size]
            for size in np.flatnonzero(sizes_y):
                margin_y += sizes_y[size] * size * psi[size]
            whole = n_s * psi[n_s]
            out[candidate, 0] += whole + cells - margin_x - margin_y
            expected = cells  # where a margin is one level, nothing can be exchanged
            if sizes_x[n_s] == 0 and sizes_y[n_s] == 0:
                expected = _expected(n_s, sizes_x, sizes_y, exact, bits)
            out[candidate, 1] += whole + expected - margin_x - margin_y
            out[candidate, 2] += whole - margin_x
            out[candidate, 3] += whole - margin_y
            sizes_x[: n_s + 1] = 0
            sizes_y[: n_s + 1] = 0
            cells = np.int64(0)
    return out
