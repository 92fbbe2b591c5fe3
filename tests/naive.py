"""Plain twins of everything fast: every sample against every other, short and easy to believe.

Arrays are (n_columns, n_samples), prepared: scaled, ties broken, categories coded far apart.
"""

import math
from collections import Counter
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma
from scipy.stats import hypergeom, norm, rankdata

FAR = 1e150
GAPS = 2
AT_ONCE = 400  # samples whose distances to all others are kept at a time


def distances(columns, rows, metric):
    """Distances of all samples to those of ``rows`` in one block; squared if Euclidean."""
    d = np.zeros((len(rows), columns.shape[1]))
    for column in columns:
        step = np.abs(column - column[rows, None])
        with np.errstate(over="ignore"):
            d = d + step * step if metric == "euclidean" else np.maximum(d, step)
    return d


def inside(d, radius):
    """How many samples are strictly closer than the radius, or at distance zero."""
    return np.count_nonzero((d < radius[:, None]) | (d == 0), axis=1)


def k_nearest(d, rows, ks):
    """For each K, the K-th nearest finite distances, and how many neighbours that really are.

    Where nobody is at a finite distance, the radius is infinite and K is 1.
    """
    others = d.copy()
    others[np.arange(len(rows)), rows] = np.inf  # nobody is a neighbour of itself
    others.sort(axis=1)
    finite = np.count_nonzero(others < FAR, axis=1)
    for k in ks:
        found = np.minimum(k, finite)
        radius = others[np.arange(len(rows)), np.maximum(found, 1) - 1]
        yield np.where(found > 0, radius, FAR), np.maximum(found, 1)


def information(x, s, y, k, criterion="mi", method="ksg1", metric="euclidean", categorical=None):
    """MI(s and x; y), or I(x; y | s), for one K or each of a list.

    Lists of categorical flags go with x, s, y. Columns of numbers with gaps have the flag GAPS; a
    gap is 1e200.
    """
    n = x.shape[1]
    ks = np.atleast_1d(k)
    if n < 2:
        return np.zeros(np.shape(k))
    conditional = criterion != "mi" and len(s) > 0
    if max(len(x) + (0 if criterion == "cmi" else len(s)), len(s), len(y)) == 1:
        metric = "chebyshev"  # one column a block: both norms are |d|
    total = np.zeros(len(ks))
    for start in range(0, n, AT_ONCE):
        rows = np.arange(start, min(start + AT_ONCE, n))
        if conditional:
            terms = conditional_terms(x, s, y, rows, ks, criterion, metric)
        else:
            terms = joint_terms(np.concatenate([s, x]), y, rows, ks, method, metric)
        total += [each.sum() for each in terms]
    found = total / n + (0.0 if conditional else digamma(n))
    if categorical is not None:
        flags = [np.asarray(f, int) for f in categorical]
        if conditional:
            strata = np.array(labels(s, flags[1])).T
            found = beyond_chance(found, x, y, strata, flags[0], flags[2])
        else:
            joined = np.concatenate([flags[1], flags[0]])
            found = beyond_chance(found, np.concatenate([s, x]), y, s[:0], joined, flags[2])
    return found.reshape(np.shape(k))[()]


def labels(columns, flags):
    """The categories of each sample: codes, and of numbers with gaps, whether it is a gap."""
    each = [c if flag == 1 else c == 1e200 for c, flag in zip(columns, flags, strict=True) if flag]
    return [tuple(row) for row in np.array(each).T] if each else [()] * columns.shape[1]


def beyond_chance(found, x, y, strata, flags_x, flags_y):
    """Estimates less what counts of categories owe to chance."""
    chance, h_x, h_y = 0.0, 0.0, 0.0
    n = x.shape[1]
    of_sample = [tuple(row) for row in strata.T] if len(strata) else [()] * n
    of_x, of_y = labels(x, flags_x), labels(y, flags_y)
    for stratum in set(of_sample):
        rows = [i for i in range(n) if of_sample[i] == stratum]
        a, b = (Counter(of_block[i] for i in rows) for of_block in (of_x, of_y))
        m = len(rows)
        of_a, of_b = (sum(c * digamma(c) for c in sizes.values()) for sizes in (a, b))
        cells = sum(expected_cell(m, i, j) for i in a.values() for j in b.values())
        chance += (m * digamma(m) + cells - of_a - of_b) / n
        h_x += (m * digamma(m) - of_a) / n
        h_y += (m * digamma(m) - of_b) / n
    limits = [h for h, flags in ((h_x, flags_x), (h_y, flags_y)) if (flags == 1).all()]
    limit = min(limits, default=math.inf)
    if not 1e-12 < limit < math.inf or chance <= 0:
        return found - chance
    return np.array([stretched(each - chance, chance, limit, n) for each in found])


def stretched(beyond, chance, limit, n):
    """An estimate less chance, brought to where the limit can be reached."""
    r = chance / limit
    u, size = 1 - r, abs(beyond) / limit
    power = 1 + u**2 / (4 * r)
    solved = 1 + size - u
    if size < u:
        solved = brentq(lambda i: i - r * i**power - size, 0, 1, xtol=1e-15)
    variance = chance / n / limit**2
    share = u**2 / (u**2 + variance)
    return math.copysign(limit * (share * solved + (1 - share) * size), beyond)


@lru_cache(100_000)
def expected_cell(n, a, b):
    """The mean of k psi(k), k of a samples out of n being among b marked ones."""
    ks = np.arange(max(0, a + b - n), min(a, b) + 1)
    terms = np.where(ks > 0, ks * digamma(np.maximum(ks, 1)), 0.0)
    return float(hypergeom.pmf(ks, n, a, b) @ terms)


def joint_terms(a, b, rows, ks, method, metric):
    d_a, d_b = distances(a, rows, metric), distances(b, rows, metric)
    d = np.maximum(d_a, d_b)
    for radius, k in k_nearest(d, rows, ks):
        k = np.where(radius == 0, inside(d, radius), k)
        terms = digamma(k) - digamma(inside(d_a, radius)) - digamma(inside(d_b, radius))
        if method == "ksg2":
            there = (radius > 0) & (radius < FAR)
            blocks = (v[there] for v in (d, d_a, d_b))
            terms[there] = rectangles(*blocks, radius[there], rows[there], k[there])
        yield terms


def rectangles(d, d_a, d_b, radius, rows, k):
    others = np.arange(d.shape[1]) != rows[:, None]
    near = others & (d <= radius[:, None])
    counts = []
    for v in (d_a, d_b):
        side = np.where(near, v, 0).max(axis=1)
        counts.append(np.count_nonzero(others & (v <= side[:, None]), axis=1))
    return digamma(k) - 1 / k - digamma(counts[0]) - digamma(counts[1])


def conditional_terms(x, z, y, rows, ks, criterion, metric):
    d_x, d_y, d_z = (distances(block, rows, metric) for block in (x, y, z))
    d_xz, d_yz = np.maximum(d_x, d_z), np.maximum(d_y, d_z)
    if criterion == "gain":  # one block, one norm
        d_xz = distances(np.concatenate([z, x]), rows, metric)
    d = np.maximum(d_xz, d_y)
    for radius, k in k_nearest(d, rows, ks):
        k = np.where(radius == 0, inside(d, radius), k)
        counts = [inside(v, radius) for v in (d_z, d_xz, d_yz)]
        yield digamma(k) + digamma(counts[0]) - digamma(counts[1]) - digamma(counts[2])


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
    return np.mean(information(x, s, y, np.arange(ks[0], ks[1] + 1), criterion))


def near_to(i, points, alike, metric="euclidean"):
    """Samples of those ``alike``, the nearest to sample i first; ``points`` is (n, d)."""
    steps = np.abs(points - points[i])
    with np.errstate(over="ignore"):
        gaps = np.sqrt((steps**2).sum(axis=1)) if metric == "euclidean" else steps.max(axis=1)
    return sorted(alike, key=lambda j: gaps[j])


def plane(i, points, alike, metric="euclidean"):
    """What the samples weigh in the value at sample i of a plane through those near it.

    Least squares with a ridge: the value is linear in theirs.
    """
    d = points.shape[1]
    k = min(max(8, 6 * (d + 1)), len(alike))
    near = near_to(i, points, alike, metric)[:k]
    weights = np.zeros(len(points))
    weights[near] = 1 / k
    if k < 2 * (d + 1):
        return weights
    around = points[near] - points[i]
    middle = around.mean(axis=0)
    around -= middle
    unit = np.sqrt((around**2).sum() / k) or 1.0
    rows = np.vstack([around / unit, np.sqrt(1e-6 * k) * np.eye(d)])
    right = np.vstack([np.eye(k) - 1 / k, np.zeros((d, k))])  # of each sample's value alone
    slopes = np.linalg.lstsq(rows, right, rcond=None)[0]
    weights[near] -= middle / unit @ slopes
    return weights


def locally_fitted(x, points, alike, metric="euclidean"):
    """Local linear fits of x, outliers winsorised, and the residual deviation of noise."""
    n = len(x)
    planes = np.array([plane(i, points, alike[i], metric) for i in range(n)])
    spread = np.maximum(1e-3, np.sqrt(((np.eye(n) - planes) ** 2).sum(axis=1)))
    drawn_in = x
    for _ in range(3):
        ahead = planes @ drawn_in
        far = 1.5 * spread * np.median(np.abs(x - ahead) / spread) / 0.6745
        drawn_in = ahead + np.clip(x - ahead, -far, far)
    return planes @ drawn_in, spread


def surrogates(x, selected, categorical, orders, metric="euclidean"):
    """``x`` with what planes leave of it in new orders; its values, ranked as those are."""
    n = len(x)
    points, codes = selected[~categorical].T, selected[categorical]
    if points.shape[1] == 0:
        return [x[order] for order in orders]
    codes = np.concatenate([codes, points.T == 1e200])
    alike = [[j for j in range(n) if (codes[:, i] == codes[:, j]).all()] for i in range(n)]
    gaps = x == 1e200
    known = np.where(gaps, np.median(x[~gaps]) if not gaps.all() else 0.0, x)
    ahead, spread = locally_fitted(known, points, alike, metric)
    for _ in range(2 if gaps.any() else 0):  # what is fitted to a gap must not matter
        ahead, spread = locally_fitted(np.where(gaps, ahead, known), points, alike, metric)
    residuals = np.where(gaps, np.inf, (known - ahead) / spread)
    copies = np.empty((len(orders), n))
    for copy, order in zip(copies, orders, strict=True):
        new = ahead + spread * residuals[order]
        copy[np.argsort(new, kind="stable")] = np.sort(x)
    return copies


def forward(x, y, ks, criterion, copy, n_permutations, alpha, correction):
    """Forward search, each test at alpha: selected columns, and (column, b) of each step.

    ``copy(step, selected, p, j)`` gives column j in permutation number p of a step.
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
            copies = [copy(len(steps), selected, p, j)[None] for j in tried]
            permuted = max(averaged(c, s, y, ks, criterion) for c in copies)
            b += permuted >= scores[best] - 1e-12
        steps.append((remaining[best], b))
        if (b + 1) / (n_permutations + 1) > alpha:
            break
        selected.append(remaining[best])
    return selected, steps


def false_neighbors(x, targets, equal=1e-8):
    """The C vector of one feature: ``x`` is (n_samples,), ``targets`` (n_targets, n_samples).

    Distances that differ by less than ``equal``, relatively, are equal.
    """
    counts = []
    for i in range(len(x)):
        gaps = np.delete(np.abs(x - x[i]), i)  # to all others
        with np.errstate(over="ignore"):
            squares = gaps * gaps
            for y in targets:
                steps = np.delete(y - y[i], i)
                squares = squares + steps * steps
        near = squares <= squares.min() * (1 + equal)
        radius = gaps[near].min() * (1 - equal)
        counts.append(np.count_nonzero(gaps < radius))
    return np.array(counts)


def exact_false_neighbors(x, y):
    """The same in rational arithmetic, from unscaled columns: no rounding, no tolerance."""
    from fractions import Fraction

    def of_unit_variance(column):
        exact = [Fraction(v) for v in column]  # texts such as "0.1" are exact, too
        mean = sum(exact) / len(exact)
        return exact, sum((v - mean) ** 2 for v in exact) / len(exact)

    (x, square_x), (y, square_y) = of_unit_variance(x), of_unit_variance(y)
    counts = []
    for i in range(len(x)):
        others = [j for j in range(len(x)) if j != i]
        gaps = {j: abs(x[j] - x[i]) for j in others}
        squares = {j: gaps[j] ** 2 / square_x + (y[j] - y[i]) ** 2 / square_y for j in others}
        nearest = min(squares.values())
        radius = min(gaps[j] for j in others if squares[j] == nearest)
        counts.append(sum(1 for j in others if gaps[j] < radius))
    return np.array(counts)


def dot(a, b):
    """Sixteen interleaved sums, added pairwise: the order of additions is part of the result."""
    products = np.asarray(a, float) * np.asarray(b, float)
    parts = np.zeros(16)
    for start in range(0, len(products), 16):
        some = products[start : start + 16]
        parts[: len(some)] += some
    while len(parts) > 1:
        half = len(parts) // 2
        parts = parts[:half] + parts[half:]
    return float(parts[0])


def centred(row):
    if min(row) == max(row):
        return np.zeros(len(row))
    return np.array(row) - dot(row, np.ones(len(row))) / len(row)


def correlation(a, b, absolute):
    """Of centred rows; -1 if one is constant."""
    if dot(a, a) == 0 or dot(b, b) == 0:
        return -1.0
    r = min(1.0, max(-1.0, dot(a, b) / math.sqrt(dot(a, a) * dot(b, b))))
    return abs(r) if absolute else r


def ranks(row):
    """Ranks from 1, equal values sharing the mean of theirs."""
    below = [sum(1 for w in row if w < v) for v in row]
    equal = [sum(1 for w in row if w == v) for v in row]
    return np.array([b + (e + 1) / 2 for b, e in zip(below, equal, strict=True)])


def profile(x, targets, spearman):
    """What a scaled column is compared by, brought into range by a power of two."""
    row = x if targets is None else false_neighbors(x, targets)
    row = centred(ranks(row) if spearman else row)
    return np.ldexp(row, -math.frexp(max(np.abs(row)))[1])


def medoid(rows, profiles, members, absolute):
    perfect = [j for j in members if dot(profiles[j], profiles[j]) == 0 < dot(rows[j], rows[j])]
    if perfect:
        return perfect[0]
    members = [j for j in members if dot(profiles[j], profiles[j]) > 0] or members[:1]
    first = profiles[members[0]]
    if dot(first, first) == 0:
        return members[0]
    signs = [-1 if absolute and dot(profiles[j], first) < 0 else 1 for j in members]
    sizes = [math.sqrt(dot(profiles[j], profiles[j])) for j in members]
    lengths = [s * size for s, size in zip(signs, sizes, strict=True)]
    mean = np.zeros(len(first))
    for j, length in zip(members, lengths, strict=True):
        mean = mean + 1 / length * profiles[j]
    close = [dot(profiles[j], mean) / length for j, length in zip(members, lengths, strict=True)]
    return members[max(range(len(members)), key=lambda i: (close[i], -i))]


def representative(rows, profiles, members, kind, target, absolute):
    """The column that stands for a cluster."""
    if kind == "medoid":
        return rows[medoid(rows, profiles, members, absolute)]
    if kind == "pls":
        weights = [dot(rows[j], centred(target)) / len(target) for j in members]
        total = np.abs(np.array(weights)).sum()
    if kind == "mean" or total == 0:
        varying = [j for j in members if dot(rows[j], rows[j]) > 0] or members
        signs = [(-1 if dot(rows[j], rows[varying[0]]) < 0 else 1) for j in members]
        weights = [s * (j in varying) for s, j in zip(signs, members, strict=True)]
        total = len(varying)
    weights = [w / total for w in weights]
    column = np.zeros(rows.shape[1])
    for w, j in zip(weights, members, strict=True):
        column = column + w * rows[j]
    return column


def copies(x, neighbors):
    """Groups of columns that are equal or opposite but for a shift, joined through neighbours."""

    def same(i, j):
        a, b = (x[k] - np.median(x[k]) for k in (i, j))
        near = min(np.abs(a - b).max(), np.abs(a + b).max()) < 1e-6 * np.std(a)
        return near and (neighbors is None or (i, j) in neighbors)

    groups = []
    for j in range(len(x)):
        near = [group for group in groups if any(same(i, j) for i in group)]
        groups = [group for group in groups if group not in near]
        groups.append(sorted([j, *(i for group in near for i in group)]))
    return sorted(group for group in groups if len(group) > 1)


def agglomerate(x, targets, spearman, linkage, kind, neighbors, rescale, y):
    """Merges [(members, members, similarity)] of scaled columns x; all is computed anew each time.

    ``targets`` is None without supervision; ``neighbors`` is a set of pairs, or None; ``rescale``
    scales a representative; ``y`` is the target that "pls" looks at.
    """
    absolute = targets is None
    rows = np.array([centred(row) for row in x])
    profiles = [profile(row, targets, spearman) for row in x]
    clusters = [[j] for j in range(len(x))]
    similar = {
        (a, b): correlation(profiles[a], profiles[b], absolute)
        for a in range(len(x))
        for b in range(a + 1, len(x))
    }
    found = {j: profiles[j] for j in range(len(x))}
    merges = []
    first = [(group[0], j) for group in copies(x, neighbors) for j in group[1:]]
    while len(clusters) > 1:
        best, copied = None, len(merges) < len(first)
        if copied:  # copies join before all others, and their representative stays as it is
            i, j = first[len(merges)]
            best = (next(c for c in clusters if c[0] == i), [j], 1.0)
        for a in clusters if best is None else []:  # in the order of their first features
            for b in clusters:
                near = neighbors is None or any((i, j) in neighbors for i in a for j in b)
                if a[0] < b[0] and near:
                    value = similar[a[0], b[0]]
                    if best is None or value > best[2]:
                        best = (a, b, value)
        a, b, value = best or (*clusters[:2], -1.0)
        merges.append((a, b, value))
        joined = sorted(a + b)
        rest = [c for c in clusters if c not in (a, b)]
        if linkage == "representative" and not copied:
            column = representative(rows, profiles, joined, kind, y, absolute)
            if kind == "medoid":
                found[joined[0]] = profiles[medoid(rows, profiles, joined, absolute)]
            else:
                found[joined[0]] = profile(rescale(column), targets, spearman)
        for c in rest:
            pairs = [similar[min(c[0], d[0]), max(c[0], d[0])] for d in (a, b)]
            if linkage == "representative":
                value = correlation(found[joined[0]], found[c[0]], absolute)
            elif linkage == "complete":
                value = min(pairs)
            else:
                value = (len(a) * pairs[0] + len(b) * pairs[1]) / (len(a) + len(b))
            similar[min(c[0], joined[0]), max(c[0], joined[0])] = value
        clusters = sorted([*rest, joined])
    return merges


# ---- several ways of asking: see infosieve._scoring.combined


def functions(x, most):
    """Orthonormal functions of numbers, and their orders."""
    most = min(most, len(np.unique(x)) - 1)
    u = (rankdata(x) - 0.5) / len(x)
    return of_scores(norm.ppf(u), u, most)


def of_scores(scores, u, most):
    """A line, a square, and cosines of the ranks of so many half waves."""
    if most < 2:
        return orthonormal([scores], [0])
    waves = [np.cos(np.pi * a * u) for a in range(2, most + 1)]
    return orthonormal([scores, scores**2, *waves], range(most + 1))


def levels(x):
    """Those of classes: a function for each but the most frequent; of two, but the first."""
    codes = np.unique(x, return_inverse=True)[1]
    counts = np.bincount(codes)
    order = np.argsort(-counts, kind="stable") if len(counts) > 2 else [0, 1]
    return orthonormal([(codes == c).astype(float) for c in order[1:]], [0] * len(order))


def orthonormal(rows, orders):
    """Rows without their means and those before them, at length one, but for those made up.

    Cosines keep what they have of squares.
    """
    found, kept = [], []
    for row, order in zip(rows, orders, strict=False):
        left = row - row.mean()
        whole = (left**2).sum()
        for other in [f for f, o in zip(found, kept, strict=True) if order < 2 or o != 1]:
            left = left - (left @ other) / (other @ other) * other
        if (left**2).sum() > 1e-3 * whole:
            found.append(np.rint(left * np.sqrt(len(left) / (left**2).sum()) * 4096) / 4096)
            kept.append(order)
    return np.array(found), kept


def log_p(squares, weights=None):
    """Of a weighted sum of squared normal deviates, by the cube root if there are several."""
    w = np.ones(len(squares)) if weights is None else np.array(weights)
    scale = w.sum() / (w**2).sum()
    k, x = w.sum() * scale, float(np.dot(w, squares) * scale)
    if k == 1:
        return norm.logsf(np.sqrt(x)) + np.log(2)
    part = 2 / (9 * k)
    return norm.logsf(((x / k) ** (1 / 3) - 1 + part) / np.sqrt(part))


def views(of_x, of_y, deflation=1.0, beside=(), scale=None):
    """The logarithm of the p-value of each view, from functions and their orders.

    ``beside``: for each given column, functions of the target that are multiplied by it.
    ``scale``: of each pair of functions the size of permuted correlations, if it is not one.
    """
    (f, one), (g, other) = of_x, of_y
    n = f.shape[1]
    found = {}

    def square(a, b, g=g):
        value = f[a] @ g[b] / np.sqrt(n) / (1 if scale is None else scale[a][b])
        if one[a] == other[b] == 0 and g is of_y[0]:
            value *= deflation
        skewness = (f[a] ** 3).mean() * (g[b] ** 3).mean() / np.sqrt(n)
        if abs(skewness) >= 1e-3:
            root = max(1 + skewness * value / 2, 0) ** (1 / 3)
            found = 6 / skewness * (root - 1) + skewness / 6
            value = value if value * skewness < 0 and abs(found) > abs(value) else found
        return value**2

    def settled(a, b):
        most = max(16, n / 10)
        fourth = (f[a] ** 4).mean(), (g[b] ** 4).mean()
        if (one[a] > 1 or other[b] > 1) and fourth[0] * fourth[1] > n / 5:
            return False
        return not any(o == 1 and m > most for o, m in zip((one[a], other[b]), fourth, strict=True))

    def light(a, b):
        return (a**4).mean() * (b**4).mean() <= n

    def of(orders):
        pairs = [(a, b) for a in range(len(one)) for b in range(len(other))]
        return [(a, b) for a, b in pairs if (one[a], other[b]) in orders and settled(a, b)]

    def joint(orders):
        return log_p([square(a, b) for a, b in of(orders)]) if of(orders) else 0.0

    found["line"] = joint({(0, 0)})
    if 1 in one:
        each = [joint({(1, 0)}), joint({(0, 0), (1, 0)}) if of({(1, 0)}) else 0.0]
        found["curve"] = min(min(each) + np.log(2), 0)
    spreads = [joint({(order, 1)}) for order in (0, 1) if order in one and 1 in other]
    if spreads:
        found["spread"] = min(min(spreads) + np.log(len(spreads)), 0)
    higher = {(o, p) for o in one for p in other if 1 not in (o, p) and max(o, p) > 1}
    if higher:
        found["any shape"] = 0.0
    if of(higher):
        weights = [1 / (max(one[a], 1) * max(other[b], 1)) for a, b in of(higher)]
        squares = [square(a, b) for a, b in of(higher)]
        shares = np.array(weights) / sum(weights)
        best = min(log_p([s]) - np.log(w) for s, w in zip(squares, shares, strict=True))
        found["any shape"] = min(min(log_p(squares, weights), best) + np.log(2), 0)
    if beside:
        first = [a for a in range(len(one)) if one[a] == 0]
        each = []
        for h in beside:
            few = [(a, b) for a in first for b in range(len(h)) if light(f[a], h[b])]
            each.append(log_p([square(a, b, h) for a, b in few]) if few else 0.0)
        found["interaction"] = min(min(each) + np.log(len(beside)), 0)
    return found


def exchanged(values, groups, drawn):
    """Each row has the mean of another group, and what it has beside its own, with a sign.

    ``drawn``: for each group the other one, or ~ the other one with a minus.
    """
    means = [np.mean([v for v, h in zip(values, groups, strict=True) if h == g])
             for g in range(len(drawn))]  # fmt: skip
    found = []
    for value, group in zip(values, groups, strict=True):
        other = drawn[group]
        left = value - means[group]
        found.append(means[other] + left if other >= 0 else means[~other] - left)
    return found


def scale_of_groups(f, g, groups):
    """The size of correlations of two functions, if groups exchange means and have signs.

    Hoeffding's mean and variance of the sum over groups, and the squares of sums within them.
    """
    n_groups = max(groups) + 1
    mine = [[i for i, h in enumerate(groups) if h == group] for group in range(n_groups)]
    sums = np.array([sum(f[i] for i in rows) for rows in mine])
    means = np.array([sum(g[i] for i in rows) / len(rows) for rows in mine])
    within = [sum(f[i] * (g[i] - m) for i in rows) for rows, m in zip(mine, means, strict=True)]
    mean = sums.sum() * means.sum() / n_groups
    variance = n_groups * sums.var() * n_groups * means.var() / (n_groups - 1)
    return np.sqrt((mean**2 + variance + sum(w**2 for w in within)) / len(f))


def evidence(*of, **how):
    """The weighted mean of weight / p, in decimal digits."""
    weights = {"line": 8, "curve": 2, "spread": 1, "any shape": 3, "interaction": 1}
    found = views(*of, **how)
    total = sum(weights[name] for name in found)
    return np.log10(sum(weights[name] / total * np.exp(-p) for name, p in found.items()))


def cut(values, farthest=4):
    """Standardised, and nothing farther than so many standard deviations."""
    return np.clip((values - values.mean()) / values.std(), -farthest, farthest)


def smoothers(S):
    """Of columns of numbers: a kernel for each basis, and how much each may shrink."""
    n, d = S.shape
    rows = []  # (column, order, function)
    for j in range(d):
        scores = norm.ppf((rankdata(S[:, j]) - 0.5) / n)
        waves = [np.cos(np.pi * a * norm.cdf(scores / 1.7)) for a in range(2, 17)]
        each = [cut(S[:, j], 8), scores, *waves]
        rows += [(j, max(k, 1), (f - f.mean()) / f.std()) for k, f in enumerate(each)]

    def of(some):
        return sum(np.outer(f, f) / (1e-2 if order == 1 else order**4) for _, order, f in some)

    def products(most, pairs):
        few = [row for row in rows if row[1] <= most]
        both = [(a, b) for i, j in pairs for a in few for b in few if (a[0], b[0]) == (i, j)]
        found = 0
        for (_, one, f), (_, other, g) in both:
            h = f * g - (f * g).mean()
            found = found + np.outer(h, h) / h.var() / (one**2 + other**2) ** 2
        return len(both), found

    room = int(n / 3)
    each = min(room // d, 10)
    additive = of([row for row in rows if row[1] <= each])
    pairs = [(i, j) for j in range(d) for i in range(j)]
    kernels = [of([row for row in rows if row[1] == 1]), additive]
    for most in (3, 2, 1):
        count, found = products(most, pairs)
        if 0 < count <= room:
            kernels.append(additive + found)
            break
    if d > 1:
        for j in range(d):
            kernels.append(of([row for row in rows if row[0] == j and row[1] <= min(16, room)]))
    for pair in sorted(pairs) if d > 2 else ():
        both = of([row for row in rows if row[0] in pair and row[1] <= min(10, room // 4)])
        kernels.append(both + products(min(8, int(np.sqrt(room / 2))), [pair])[1])
    shrink = [[1e-4]] + [[1e-6, 1e-5, 1e-4, 1e-3, 1e-2]] * (len(kernels) - 1)
    eye = np.eye(n)
    return [
        [k @ np.linalg.inv(k + n * way * eye) for way in ways]
        for k, ways in zip(kernels, shrink, strict=True)
    ]


def residuals(values, hats):
    """What the best of smoothers leaves, by generalised cross-validation; its matrix, and error."""
    n, left = len(values), values - values.mean()
    least, best = (left**2).sum() / n, None
    whole = least
    for ways in hats:
        for way, hat in enumerate(ways):
            rest = left - hat @ left
            error = (rest**2).sum() / n / max(1 - 1.2 * (1 + np.trace(hat)) / n, 1e-9) ** 2
            if 1.2 * (1 + np.trace(hat)) / n < 0.9 and error < least:
                least, best = error, ways[max(way - 1, 0)]
    return (left if best is None else left - best @ left), best, least / whole


def functions_given(x, hats, most):
    """Those of what smoothers leave, divided by its spread; and the smoother."""
    n = len(x)
    scores, values = norm.ppf((rankdata(x) - 0.5) / n), cut(x, 8)
    left, hat, error = residuals(scores, hats)
    also, other, less = residuals(values, hats)
    far = values - values.mean()
    heavy = (far**4).mean() > 6 * (far**2).mean() ** 2
    if error < 0.95 and less < (0.8 if heavy else 1) * error:
        left, hat = also, other
    logs = np.log(np.abs(left) + 0.05 * np.abs(left).mean())
    fitted = logs - residuals(logs, hats)[0]
    left = left / np.exp(np.clip(fitted - fitted.mean(), -2.5, 2.5))
    u = (rankdata(left) - 0.5) / n
    return of_scores(cut(left), u, most), hat


def evidence_given(x, y, S):
    """Of numbers, given columns of numbers."""
    n, hats = len(x), smoothers(S)
    of_x, hat = functions_given(x, hats, 8)
    of_y, other = functions_given(y, hats, 3)
    deflation = 1.0
    if hat is not None and other is not None:
        one, two = 2 * hat - hat @ hat, 2 * other - other @ other
        left, rest = n - 1 - np.trace(one), n - 1 - np.trace(two)
        shared = (n - 1) * (left + rest - n + 1 + np.trace(one @ two)) / (left * rest)
        deflation = 1 / np.sqrt(max(shared, 1))
    beside = [orthonormal([of_y[0][0] * cut(s)], [0])[0] for s in S.T]
    return evidence(of_x, of_y, deflation, beside)
