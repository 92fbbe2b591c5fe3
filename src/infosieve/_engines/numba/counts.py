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
# Samples are sorted by cell instead of counted where there are more cells, and more than four a
# sample.
_CELLS = 1 << 14


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
        seen[m] = label
        m += counts[label] == 0
        counts[label] += 1
    return m


@kernel
def _sizes(seen: Any, counts: Any, of_size: Any, sizes: Any, m: Any) -> Any:
    """How many of the labels ``seen`` have which size; their counts become zero again.

    ``of_size`` goes on from what is there, as do the ``m`` distinct ``sizes`` before.
    """
    for label in seen:
        size = counts[label]
        sizes[m] = size
        m += of_size[size] == 0
        of_size[size] += 1
        counts[label] = 0
    return m


@kernel
def _margins(y: Any, edges: Any) -> Any:
    """The sizes of the levels of y in each table, how many have each, where each table begins."""
    n, n_tables = y.size, edges.size - 1
    counts, seen = np.zeros(y.max() + 1, np.int64), np.empty(n, np.int64)
    of_size = np.zeros(n + 1, np.int64)
    sizes, times = np.empty(n, np.int64), np.empty(n, np.int64)
    begins = np.zeros(n_tables + 1, np.int64)
    for t in range(n_tables):
        n_seen = _tally(y[edges[t] : edges[t + 1]], counts, seen)
        end = _sizes(seen[:n_seen], counts, of_size, sizes, begins[t])
        for i in range(begins[t], end):
            times[i] = of_size[sizes[i]]
            of_size[sizes[i]] = 0
        begins[t + 1] = end
    return sizes, times, begins


@kernel
def _expected(n: Any, margins: Any, before: Any, psi: Any, bits: Any) -> Any:
    """The mean over permutations of the sum of k psi(k) over a table's cells, in fixed point.

    ``margins`` are distinct sizes of the levels of x and how many have each, by size, and the
    same of y, one after the other. Rounded for each pair of sizes, so that the order of the
    levels does not matter. ``before`` keeps what was found for each size of x and how many there
    were: copies of a column have the same margins.
    """
    sizes_x, of_size, sizes_y, times_y = margins
    times_before, found = before
    total = np.int64(0)
    for a in sizes_x:
        times = of_size[a]
        if times_before[a - 1] != times:
            times_before[a - 1], found[a - 1] = times, 0
            for j in range(sizes_y.size):
                mean = times * float(times_y[j]) * expected_cell(n, a, sizes_y[j], psi)
                found[a - 1] += np.int64(np.rint(math.ldexp(mean, bits)))
        total += found[a - 1]
    return total


@kernel
def _cells(x: Any, y: Any, counts: Any, weighted: Any) -> Any:
    """The sum of k psi(k) over the cells of a table; ``weighted`` has k psi(k).

    ``counts`` has a zero for each cell, or is empty: then cells are sorted.
    """
    total = np.int64(0)
    if counts.size == 0:
        cells = np.sort(x * (y.max() + 1) + y)
        first = 0
        for i in range(cells.size):
            if i + 1 == cells.size or cells[i + 1] != cells[i]:
                total += weighted[i + 1 - first]
                first = i + 1
        return total
    for i in range(x.size):
        k = counts[x[i], y[i]]
        total += weighted[k + 1] - weighted[k]
        counts[x[i], y[i]] = k + 1
    for i in range(x.size):
        counts[x[i], y[i]] = 0
    return total


@kernel
def contingency(x: Any, y: Any, strata: Any, joined: Any, psi: Any, bits: Any) -> Any:
    """Sums over the samples, in fixed point: information of counts, by chance, and two entropies.

    ``strata`` is (``rows``, where each stratum begins and the last ends). ``x`` (n_columns,
    n_samples) has labels 0, 1, ...; a candidate is a column in the order of one of the ``rows``
    (n_times, n_samples), which put the samples by stratum, permuted or not. The labels ``y`` are
    in that order already. ``joined`` asks for the information of stratum and x together about y,
    otherwise that of x about y inside the strata. ``psi`` is psi(k) in fixed point of ``bits``
    bits. Returns (n_times, n_columns, 4): information, its mean over permutations of the
    labels, the entropy of x (and strata) and that of y.
    """
    rows, edges = strata
    n_times, n = rows.shape
    exact, weighted = np.ldexp(psi.astype(np.float64), -bits), np.arange(n + 1) * psi
    tables = np.array([0, n]) if joined else edges
    sizes_y, times_y, begins = _margins(y, tables)
    counts, seen = np.zeros(x.max() + 1, np.int64), np.empty(n, np.int64)
    of_size, sizes = np.zeros(n + 1, np.int64), np.empty(n, np.int64)
    levels = counts.size, y.max() + 1
    few = levels[0] * levels[1] <= max(_CELLS, 4 * n)
    cell_counts = np.zeros(levels if few else (0, 0), np.int64)
    times_before, found = np.zeros(n, np.int64), np.empty(n, np.int64)
    labels, out = np.empty(n, np.int64), np.zeros((n_times, len(x), 4), np.int64)
    for candidate in range(len(x) * n_times):  # the copies of a column one after the other
        column, time = divmod(candidate, n_times)
        for i in range(n):
            labels[i] = x[column, rows[time, i]]
        stratum = 0
        for t in range(tables.size - 1):
            inside, of_y = slice(tables[t], tables[t + 1]), slice(begins[t], begins[t + 1])
            cells, m = np.int64(0), 0
            while stratum < edges.size - 1 and edges[stratum] < inside.stop:
                at = slice(edges[stratum], edges[stratum + 1])
                cells += _cells(labels[at], y[at], cell_counts, weighted)
                n_seen = _tally(labels[at], counts, seen)
                m = _sizes(seen[:n_seen], counts, of_size, sizes, m)
                stratum += 1
            n_t = inside.stop - inside.start
            expected = cells  # where a margin is one level, nothing can be exchanged
            if sizes[0] < n_t and sizes_y[of_y][0] < n_t:
                margins = sizes[:m], of_size, sizes_y[of_y], times_y[of_y]
                before = times_before[inside], found[inside]
                expected = _expected(n_t, margins, before, exact, bits)
            margin_x = margin_y = np.int64(0)
            for size in sizes[:m]:
                margin_x += of_size[size] * weighted[size]
                of_size[size] = 0
            for j in range(of_y.start, of_y.stop):
                margin_y += times_y[j] * weighted[sizes_y[j]]
            total = out[time, column]
            total[0] += weighted[n_t] + cells - margin_x - margin_y
            total[1] += weighted[n_t] + expected - margin_x - margin_y
            total[2] += weighted[n_t] - margin_x
            total[3] += weighted[n_t] - margin_y
    return out
