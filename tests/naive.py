"""Plain-loop twins of everything fast: slow, short, and easy to believe.

Arrays are (n_columns, n_samples), prepared: scaled, ties broken, categories coded far apart.
"""

import math

import numpy as np
from scipy.special import digamma

FAR = 1e150


def distances(columns, i, metric):
    """Distances of all samples to sample i in one block; squared if Euclidean."""
    d = np.zeros(columns.shape[1])
    for column in columns:
        step = np.abs(column - column[i])
        with np.errstate(over="ignore"):
            d = d + step * step if metric == "euclidean" else np.maximum(d, step)
    return d


def inside(d, radius, k_from_zero=False):
    """How many samples are strictly closer than the radius (or at distance zero)."""
    return sum(1 for v in d if (v == 0 if k_from_zero else v < radius))


def k_nearest(d, i, k):
    """The K-th nearest finite distance, and how many neighbours that really are."""
    others = sorted(v for j, v in enumerate(d) if j != i and v < FAR)
    k = min(k, len(others))
    return others[k - 1], k


def lonely(categories):
    """Samples whose combination of categories nobody else has."""
    rows = [tuple(row) for row in categories.T]
    return np.array([rows.count(row) == 1 for row in rows])


def information(x, s, y, k, criterion="mi", estimator="ksg1", metric="euclidean", categorical=None):
    """MI(s and x; y), or I(x; y | s), for one K; lists of categorical flags go with x, s, y."""
    if categorical is not None and any(any(flags) for flags in categorical):
        flags = np.concatenate([np.asarray(f, bool) for f in categorical])
        if not flags.all():
            together = np.concatenate([x, s, y])
            keep = ~lonely(together[flags])
        else:  # nothing but categories
            with_y = np.concatenate([s, y]) if criterion != "mi" else y
            keep = ~lonely(np.concatenate([s, x])) & ~lonely(with_y)
        x, s, y = x[:, keep], s[:, keep], y[:, keep]
    n = x.shape[1]
    if n < 2:
        return 0.0
    conditional = criterion != "mi" and len(s) > 0
    if max(len(x) + (0 if criterion == "cmi" else len(s)), len(s), len(y)) == 1:
        metric = "chebyshev"  # one column a block: both norms are |d|
    total = 0.0
    for i in range(n):
        if conditional:
            total += conditional_term(x, s, y, i, k, criterion, metric)
        else:
            total += joint_term(np.concatenate([s, x]), y, i, k, estimator, metric)
    return total / n + (0.0 if conditional else digamma(n))


def joint_term(a, b, i, k, estimator, metric):
    d_a, d_b = distances(a, i, metric), distances(b, i, metric)
    d = np.maximum(d_a, d_b)
    if (np.delete(d, i) >= FAR).all():  # nothing but categories, and nobody else like this
        return digamma(1) - digamma(inside(d_a, 0, True)) - digamma(inside(d_b, 0, True))
    radius, k = k_nearest(d, i, k)
    if radius == 0:
        counts = [inside(v, 0, True) for v in (d, d_a, d_b)]
        return digamma(counts[0]) - digamma(counts[1]) - digamma(counts[2])
    if estimator == "ksg1":
        return digamma(k) - digamma(inside(d_a, radius)) - digamma(inside(d_b, radius))
    near = [j for j in range(len(d)) if j != i and d[j] <= radius]
    r_a, r_b = max(d_a[j] for j in near), max(d_b[j] for j in near)
    n_a = sum(1 for j in range(len(d)) if j != i and d_a[j] <= r_a)
    n_b = sum(1 for j in range(len(d)) if j != i and d_b[j] <= r_b)
    return digamma(k) - 1 / k - digamma(n_a) - digamma(n_b)


def conditional_term(x, z, y, i, k, criterion, metric):
    d_x, d_y, d_z = (distances(block, i, metric) for block in (x, y, z))
    d_xz, d_yz = np.maximum(d_x, d_z), np.maximum(d_y, d_z)
    if criterion == "gain":  # one block, one norm
        d_xz = distances(np.concatenate([z, x]), i, metric)
    d = np.maximum(d_xz, d_y)
    if (np.delete(d, i) >= FAR).all():
        zero, k, radius = True, 1, 0.0
    else:
        radius, k = k_nearest(d, i, k)
        zero = radius == 0
    if zero:
        k = inside(d, 0, True)
    counts = [inside(v, radius, zero) for v in (d_z, d_xz, d_yz)]
    return digamma(k) + digamma(counts[0]) - digamma(counts[1]) - digamma(counts[2])


def entropy(points, k, metric):
    """Kozachenko-Leonenko; ``points`` is (n_samples, n_columns)."""
    n, d = points.shape
    total = 0.0
    for i in range(n):
        gaps = []
        for j in range(n):
            if j != i:
                steps = [abs(points[i, c] - points[j, c]) for c in range(d)]
                gaps.append(max(steps) if metric == "chebyshev" else math.hypot(*steps))
        total += math.log(2 * sorted(gaps)[k - 1])
    ball = 1.0
    if metric == "euclidean":
        ball = math.pi ** (d / 2) / math.gamma(1 + d / 2) / 2**d
    return digamma(n) - digamma(k) + math.log(ball) + d * total / n


def standardise(column):
    """Centre and divide by the standard deviation, in exact rational arithmetic."""
    from fractions import Fraction

    exact = [Fraction(float(v)) for v in column]
    mean = sum(exact) / len(exact)
    variance = sum((v - mean) ** 2 for v in exact) / len(exact)
    scale = Fraction(10) ** 400  # square root of a fraction of any size
    root = Fraction(math.isqrt(int(variance * scale**2)), scale)
    return np.array([float((v - mean) / root) for v in exact])


def choice_statistic(x, y, y_permuted, parts, k):
    """t of one column and one K, and the estimates without each part."""
    values = [[], []]
    for part in range(max(parts) + 1):
        rows = [i for i in range(len(parts)) if parts[i] != part]
        for target, found in zip((y, y_permuted), values, strict=True):
            found.append(information(x[:, rows], x[:0, rows], target[:, rows], k))
    a, b = (np.array(v) for v in values)
    spread = math.sqrt(
        sum((a - a.mean()) ** 2) / (len(a) - 1) + sum((b - b.mean()) ** 2) / (len(b) - 1)
    )
    return (a.mean() - b.mean()) / spread, a, b


def averaged(x, s, y, ks, criterion):
    return np.mean([information(x, s, y, k, criterion) for k in range(ks[0], ks[1] + 1)])


def forward(x, y, ks, criterion, draw, n_permutations, alpha, correction):
    """Forward search, each test at alpha: selected columns, and (column, b) of each step.

    ``draw(step, selected, p)`` gives permutation number p of a step.
    """
    selected, steps = [], []
    while len(selected) < len(x):
        remaining = [j for j in range(len(x)) if j not in selected]
        s = x[selected]
        scores = [averaged(x[[j]], s, y, ks, criterion) for j in remaining]
        best = max(range(len(remaining)), key=lambda i: (scores[i], -i))
        tried = remaining if correction == "max" else [remaining[best]]
        b = 0
        for p in range(n_permutations):
            order = draw(len(steps), selected, p)
            permuted = max(averaged(x[[j]][:, order], s, y, ks, criterion) for j in tried)
            b += permuted >= scores[best] - 1e-12
        steps.append((remaining[best], b))
        if (b + 1) / (n_permutations + 1) > alpha:
            break
        selected.append(remaining[best])
    return selected, steps
