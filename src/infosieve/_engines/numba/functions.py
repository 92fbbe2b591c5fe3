"""Functions of columns, and what smoothers leave of them: every sum goes in the order of the rows.

So a column has the same bits in whatever company it is computed. What it is for:
:mod:`infosieve._scoring.combined`.
"""

import math
from typing import Any

import numpy as np

from infosieve._engines.numba.jit import inner_kernel, kernel

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
def functions(scores: Any, ranks: Any, waves: Any, out: Any) -> None:
    """Scores (m, n), their squares, and waves (k - 2, 2 n) of the doubled ranks: (m, k, n)."""
    m, k, n = out.shape
    for j in range(m):
        out[j, 0] = scores[j]
        if k > 1:
            for i in range(n):
                out[j, 1, i] = scores[j, i] ** 2
        for a in range(2, k):
            wave = waves[a - 2]
            for i in range(n):
                out[j, a, i] = wave[ranks[j, i]]


@inner_kernel
def product_of(one: Any, other: Any) -> Any:
    """The sum of products of two rows, in four parts, which do not wait for each other."""
    n = one.size
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for i in range(0, n - 3, 4):
        a += one[i] * other[i]
        b += one[i + 1] * other[i + 1]
        c += one[i + 2] * other[i + 2]
        d += one[i + 3] * other[i + 3]
    for i in range(n - n % 4, n):
        a += one[i] * other[i]
    return (a + b) + (c + d)


@kernel
def orthonormalise(functions: Any, apart: Any, unit: Any, kept: Any) -> None:
    """Functions (m, k, n) of m columns, centred and each without those before it, in place.

    Of those that stand ``apart`` (k) only others that do are without them. Mean squares become
    one, and values are rounded to multiples of ``unit``, so that sums of products are exact in any
    order. Not ``kept`` are those that others make up.
    """
    m, k, n = functions.shape
    for j in range(m):
        for a in range(k):
            f = functions[j, a]
            total = 0.0
            for i in range(n):
                total += f[i]
            for i in range(n):
                f[i] -= total / n
            whole = product_of(f, f)
            for b in range(a):
                if kept[j, b] and (apart[a] or not apart[b]):
                    g = functions[j, b]
                    product = product_of(f, g) / n
                    for i in range(n):
                        f[i] -= product * g[i]
            left = product_of(f, f)
            kept[j, a] = left > _ANOTHER * whole and whole > 1e-12 * n
            scale = np.sqrt(n / left) if kept[j, a] else 0.0
            for i in range(n):
                f[i] = np.rint(f[i] * scale / unit) * unit


@kernel
def fingerprints(words: Any, out: Any) -> None:
    """A number for each row of 64-bit words (m, n), which others hardly share."""
    m, n = words.shape
    odd = np.uint64(0x9E3779B97F4A7C15)
    for j in range(m):
        row = words[j]
        a, b = np.uint64(n), odd
        for i in range(0, n - 1, 2):
            a = (a ^ row[i]) * odd
            b = (b ^ row[i + 1]) * odd
            a ^= a >> np.uint64(29)
            b ^= b >> np.uint64(29)
        if n % 2:
            a = (a ^ row[n - 1]) * odd
        out[j] = (a ^ (b >> np.uint64(32))) * odd + b


@kernel
def moments(functions: Any, out: Any) -> None:
    """The mean third and fourth power of functions (m, k, n): (2, m, k)."""
    m, k, n = functions.shape
    for j in range(m):
        for a in range(k):
            third, fourth = 0.0, 0.0
            for value in functions[j, a]:
                square = value * value
                third += square * value
                fourth += square * square
            out[0, j, a], out[1, j, a] = third / n, fourth / n


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
    named: Any,
    out: Any,
) -> None:
    """The p-values of views, as logarithms: (n_times, n_columns, n_groups).

    ``products`` (n_columns, k, n_times, b) are those of k functions of a candidate with b of the
    target. With their ``factors`` (n_columns, k, b) they are standardised correlations,
    and have a skewness that is the product of that of both functions. ``groups`` (k, b) says to
    which view each belongs (-1: none; ``heavy`` ones are left out): its squares are added up, with
    ``weights``. Of the groups that are ``named`` (-1: none), line, curve and shape, shape is also
    asked for its largest one, and the group after curve is line and curve together.
    """
    line, curve, shape = named
    m, k, times, b = products.shape
    n_groups = out.shape[2]
    sums, first, second = np.zeros(n_groups), np.zeros(n_groups), np.zeros(n_groups)
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
                    if group == shape and (z > square or share > weight):
                        one = log_tail(z, 1.0) - math.log(share / first[shape])
                        if one < best:
                            best, square, weight = one, z, share
            if both:
                sums[curve + 1] = sums[line] + sums[curve]
            for group in range(n_groups):
                if first[group] > 0.0:
                    scale = first[group] / second[group]
                    out[t, j, group] = log_tail(sums[group] * scale, first[group] * scale)
                else:
                    out[t, j, group] = 0.0
            if shape >= 0 and first[shape] > 0.0:
                out[t, j, shape] = min(min(best, out[t, j, shape]) + math.log(2.0), 0.0)


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
