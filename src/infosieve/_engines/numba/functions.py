"""Functions of columns, and what smoothers leave of them: every sum goes in the order of the rows.

So a column has the same bits in whatever company it is computed. What it is for:
:mod:`infosieve._scoring.combined`.
"""

import math
from typing import Any

import numpy as np

from infosieve._engines.numba.jit import kernel

# What is left of a function beside those before it, as a share, for it to be another one.
_ANOTHER = 1e-3


@kernel
def doubled_ranks(ordered: Any, order: Any, n_distinct: Any, out: Any) -> None:
    """Twice the rank of each value less one, 1 to 2n - 1; equal values share the mean.

    ``order`` (m, n) sorts the columns, ``ordered`` are their sorted values. Repeated values were
    separated by a noise smaller than any step between values, of which there are
    ``n_distinct`` - 1.
    """
    m, n = ordered.shape
    for j in range(m):
        row = ordered[j]
        least = 0.0
        if n_distinct[j] < n:
            steps = np.sort(row[1:] - row[:-1])
            least = steps[n - n_distinct[j]] if n_distinct[j] > 1 else np.inf
        first = 0
        for i in range(1, n + 1):
            if i == n or row[i] - row[i - 1] >= least:
                for k in range(first, i):
                    out[j, order[j, k]] = first + i
                first = i


@kernel
def project(basis: Any, values: Any, out: Any) -> None:
    """Products of columns (m, n) with the functions of a basis (n, p): (m, p)."""
    m, n = values.shape
    for j in range(m):
        row, v = out[j], values[j]
        row[:] = 0.0
        for i in range(0, n - 3, 4):  # four at a time: sums are loaded and stored less often
            a, b, c, d = basis[i], basis[i + 1], basis[i + 2], basis[i + 3]
            for k in range(row.size):
                row[k] += (v[i] * a[k] + v[i + 1] * b[k]) + (v[i + 2] * c[k] + v[i + 3] * d[k])
        for i in range(n - n % 4, n):
            for k in range(row.size):
                row[k] += v[i] * basis[i, k]


@kernel
def subtract(basis: Any, coefficients: Any, out: Any) -> None:
    """Take combinations of the functions of a basis (p, n) from columns (m, n), in place."""
    p = basis.shape[0]
    for j in range(out.shape[0]):
        row, v = out[j], coefficients[j]
        for k in range(0, p - 3, 4):
            a, b, c, d = basis[k], basis[k + 1], basis[k + 2], basis[k + 3]
            for i in range(row.size):
                row[i] -= (v[k] * a[i] + v[k + 1] * b[i]) + (v[k + 2] * c[i] + v[k + 3] * d[i])
        for k in range(p - p % 4, p):
            for i in range(row.size):
                row[i] -= v[k] * basis[k, i]


@kernel
def orthonormalise(functions: Any, unit: Any, kept: Any) -> None:
    """Functions (m, k, n) of m columns, centred and each without those before it, in place.

    Their mean square becomes one, and values are rounded to multiples of ``unit``, so that sums of
    products are exact in any order. Not ``kept`` are those that others make up.
    """
    m, k, n = functions.shape
    for j in range(m):
        for a in range(k):
            f = functions[j, a]
            total = 0.0
            for i in range(n):
                total += f[i]
            whole = 0.0
            for i in range(n):
                f[i] -= total / n
                whole += f[i] * f[i]
            left = whole
            for _ in range(2):
                for b in range(a):
                    if kept[j, b]:
                        g, product = functions[j, b], 0.0
                        for i in range(n):
                            product += f[i] * g[i]
                        product /= n
                        for i in range(n):
                            f[i] -= product * g[i]
                left = 0.0
                for i in range(n):
                    left += f[i] * f[i]
            kept[j, a] = left > _ANOTHER * whole and whole > 1e-12 * n
            scale = np.sqrt(n / left) if kept[j, a] else 0.0
            for i in range(n):
                f[i] = np.rint(f[i] * scale / unit) * unit


@kernel
def log_tail(x: Any, k: Any) -> Any:
    """The logarithm of the upper tail of a chi-square with k degrees of freedom.

    Exact for one; for others by the cube root (Wilson and Hilferty 1931).
    """
    if k == 1.0:
        return log_normal_tail(math.sqrt(x)) + math.log(2.0)
    part = 2.0 / (9.0 * k)
    return log_normal_tail(
        (math.exp(math.log(x / k + 1e-300) / 3.0) - 1.0 + part) / math.sqrt(part)
    )


@kernel
def log_normal_tail(z: Any) -> Any:
    """The logarithm of the upper tail of a normal distribution, however small that is."""
    if z < 30.0:
        return math.log(0.5 * math.erfc(z / math.sqrt(2.0)))
    return -0.5 * z * z - math.log(z * math.sqrt(2.0 * math.pi)) - 1.0 / (z * z)


@kernel
def ways_of_asking(
    products: Any,
    factors: Any,
    skewness: Any,
    of_target: Any,
    groups: Any,
    weights: Any,
    heavy: Any,
    line: Any,
    curve: Any,
    out: Any,
) -> None:
    """The p-values of views, as logarithms: (n_times, n_columns, n_groups).

    ``products`` (n_columns, k, n_times, b) are those of k functions of a candidate with b of the
    target. With their ``factors`` (n_columns, k, b) they are standardised correlations,
    and have a skewness that is the product of that of both functions. ``groups`` (k, b) says to
    which view each belongs (-1: none; ``heavy`` ones are left out): its squares are added up, with
    ``weights``. The last group is also asked for its largest one. The group after ``curve``, if
    that is not -1, is ``line`` and ``curve`` together.
    """
    m, k, times, b = products.shape
    last = out.shape[2] - 1
    sums, first, second = np.zeros(last + 1), np.zeros(last + 1), np.zeros(last + 1)
    for j in range(m):
        first[:] = 0.0
        second[:] = 0.0
        for a in range(k):
            for c in range(b):
                if groups[a, c] >= 0 and not heavy[j, a, c]:
                    first[groups[a, c]] += weights[a, c]
                    second[groups[a, c]] += weights[a, c] ** 2
        both = curve >= 0 and first[curve] > 0.0
        if both:
            first[curve + 1] = first[line] + first[curve]
            second[curve + 1] = second[line] + second[curve]
        for t in range(times):
            sums[:] = 0.0
            best, square, weight = 0.0, -1.0, 0.0
            for a in range(k):
                for c in range(b):
                    group, share = groups[a, c], weights[a, c]
                    if group < 0 or heavy[j, a, c]:
                        continue
                    value = products[j, a, t, c] * factors[j, a, c]
                    z = deviate(value, skewness[j, a] * of_target[c])
                    z *= z
                    sums[group] += share * z
                    if group == last and (z > square or share > weight):
                        one = log_tail(z, 1.0) - math.log(share / first[last])
                        if one < best:
                            best, square, weight = one, z, share
            if both:
                sums[curve + 1] = sums[line] + sums[curve]
            for group in range(last + 1):
                if first[group] > 0.0:
                    scale = first[group] / second[group]
                    out[t, j, group] = log_tail(sums[group] * scale, first[group] * scale)
                else:
                    out[t, j, group] = 0.0
            if first[last] > 0.0:
                out[t, j, last] = min(min(best, out[t, j, last]) + math.log(2.0), 0.0)


@kernel
def deviate(value: Any, skewness: Any) -> Any:
    """The normal deviate for that of a Pearson III of some skewness (Wilson and Hilferty 1931)."""
    if abs(skewness) < 1e-3:
        return value
    root = 1.0 + skewness * value / 2.0
    root = math.exp(math.log(root) / 3.0) if root > 0.0 else 0.0
    found = 6.0 / skewness * (root - 1.0) + skewness / 6.0
    # The short tail ends somewhere, which is no evidence.
    return value if value * skewness < 0.0 and abs(found) > abs(value) else found
