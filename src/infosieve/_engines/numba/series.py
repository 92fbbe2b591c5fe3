"""Autoregressions of columns whose rows are in order of time, and surrogates made with them.

What they are for: :class:`infosieve._resampling.surrogates.Series`.
"""

import math
from typing import Any

import numpy as np

from infosieve._engines.numba.jit import kernel
from infosieve._engines.numba.surrogates import order_of

# A column is rigid if its innovations have less than this share of its variance.
_RIGID = 1e-3


@kernel
def autoregression(values: Any, most: Any) -> Any:
    """Coefficients of an autoregression: x[t] = sum of c[i] x[t - 1 - i] + innovation.

    By Burg's method, the order, up to ``most``, by Akaike's criterion (corrected for few samples).
    ``values`` have the mean zero.
    """
    n = values.size
    forward, backward = values.copy(), values.copy()
    a, spare, best = np.zeros(most + 1), np.zeros(most + 1), np.zeros(most)
    a[0] = 1.0
    power = 0.0
    for x in values:
        power += x * x / n
    if power <= 0.0:
        return best[:0]
    least, n_best = n * math.log(power), 0
    for p in range(1, most + 1):
        if n - p - 2 <= 0:
            break
        cross, squares = 0.0, 0.0
        for t in range(n - 1, p - 1, -1):
            f, b = forward[t], backward[t - 1]
            cross += f * b
            squares += f * f + b * b
        if squares <= 0.0:
            break
        k = -2.0 * cross / squares
        power *= 1.0 - k * k
        if power <= 0.0:
            break
        for t in range(n - 1, p - 1, -1):
            f, b = forward[t], backward[t - 1]
            forward[t], backward[t] = f + k * b, b + k * f
        for i in range(p + 1):
            spare[i] = a[i] + k * a[p - i]
        a[: p + 1] = spare[: p + 1]
        criterion = n * math.log(power) + 2.0 * (p + 1) * n / (n - p - 2)
        if criterion < least:
            least, n_best = criterion, p
            for i in range(p):
                best[i] = -a[i + 1]
    return best[:n_best]


@kernel
def persistence(coefficients: Any, n_samples: Any) -> Any:
    """The sum of the coefficients, with what short series lose of it (Kendall 1954), and a margin.

    Half a standard error is added: surrogates had better be too persistent than too little. One or
    more: the column does not return to its mean.
    """
    total = 0.0
    for c in coefficients:
        total += c
    if total <= 0.0:
        return total
    margin = 0.5 * math.sqrt(max(1.0 - total * total, 0.0) / n_samples)
    return total + (1.0 + 3.0 * total) / n_samples + margin


@kernel
def innovations_of(values: Any, coefficients: Any, out: Any) -> None:
    """What an autoregression does not predict; the mean is zero.

    Of the first samples, whose past is unknown, their values, brought to the size of innovations.
    """
    n, p = values.size, coefficients.size
    size, whole = 0.0, 0.0
    for t in range(n):
        whole += values[t] * values[t] / n
        out[t] = values[t]
        if t >= p:
            for i in range(p):
                out[t] -= coefficients[i] * values[t - 1 - i]
            size += out[t] * out[t] / (n - p)
    mean = 0.0
    for t in range(n):
        if t < p and whole > 0.0:
            out[t] *= math.sqrt(size / whole)
        mean += out[t] / n
    for t in range(n):
        out[t] -= mean


@kernel
def whiten(values: Any, n_known: Any, most: Any, out: Any) -> Any:
    """Innovations (m, n) of the rows of ``values``; coefficients of surrogates; who is rigid.

    ``n_known`` says how many values of each row are no gaps that were filled.
    The coefficients (m, most) are stretched so that their sum is :func:`persistence`, less than
    one. A row is rigid if it hardly has innovations (a trend, a wave): those that it has are
    rounding, and nothing can be made of them. Then ``out`` has the row itself.
    """
    m, n = values.shape
    coefficients, rigid = np.zeros((m, most)), np.zeros(m, np.bool_)
    for j in range(m):
        row = values[j] - values[j].mean()
        found = autoregression(row, most)
        innovations_of(row, found, out[j])
        whole, left = 0.0, 0.0
        for t in range(n):
            whole += row[t] * row[t]
            left += out[j, t] * out[j, t]
        if left < _RIGID * whole:
            rigid[j], out[j] = True, row
            continue
        total = found.sum()
        wanted = min(persistence(found, n_known[j]), 1.0 - 0.5 / n)
        stretch = wanted / total if total > 0.0 else 1.0
        for i in range(found.size):
            coefficients[j, i] = found[i] * stretch
    return coefficients, rigid


@kernel
def series_copies(
    fitted: Any,
    scale: Any,
    ordered: Any,
    parts: Any,
    time: Any,
    permutations: Any,
    which: Any,
    numbers: Any,
    out: Any,
) -> None:
    """Surrogate ``c``: column ``which[c]``, its innovations permuted by ``numbers[c]``.

    ``parts`` are the innovations (m, n), in order of time, the coefficients, where gaps are, and
    which columns are rigid; ``time`` has the row of each moment. What came before the first moment
    is made of the same innovations, backwards. Gaps, and rigid columns, move all by the same time,
    in a circle. The column's own values, ``ordered``,
    are put in the order of what comes out, ``scale`` times that beside what is ``fitted``.
    """
    innovations, coefficients, missing, rigid = parts
    n, most = time.size, coefficients.shape[1]
    past, new, order = np.empty(2 * n), np.empty(n), np.empty(n, np.int32)
    scratch = np.empty((2, n + 1), np.int32)
    for c in range(which.size):
        own, values, moves = innovations[which[c]], ordered[which[c]], permutations[numbers[c]]
        weights, gap, fit = coefficients[which[c]], missing[which[c]], fitted[which[c]]
        n_weights = most
        while n_weights > 0 and weights[n_weights - 1] == 0.0:
            n_weights -= 1
        for t in range(n if rigid[which[c]] else 0):
            past[n + t] = own[(t + moves[0]) % n]
        for t in range(0 if rigid[which[c]] else 2 * n):
            x = own[moves[n - 1 - t]] if t < n else own[moves[t - n]]
            for i in range(min(t, n_weights)):
                x += weights[i] * past[t - 1 - i]
            past[t] = x
        for t in range(n):
            row = time[t]
            new[row] = np.inf if gap[(t + moves[0]) % n] else fit[row] + scale[row] * past[n + t]
        order_of(new, order, scratch)
        for i in range(n):
            out[c, order[i]] = values[i]


@kernel
def shifted(values: Any, time: Any, permutations: Any, which: Any, numbers: Any, out: Any) -> None:
    """Copy ``c``: column ``which[c]`` moved in time, in a circle; permutations say how far."""
    n = time.size
    for c in range(which.size):
        column, by = values[which[c]], permutations[numbers[c], 0]
        for t in range(n):
            out[c, time[t]] = column[time[(t + by) % n]]
