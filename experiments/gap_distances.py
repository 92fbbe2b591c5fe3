"""Distances between rows with gaps, in plain NumPy: a prototype to choose by.

A forward search that adds the column of the largest gain, so many times, without tests; only the
distances differ. The first word is how the candidate's gaps are taken, the second those of the
columns beside it.
"""

import numpy as np
from scipy.special import digamma

KS = range(6, 13, 2)
WAYS = {
    "values": ("value", "value"),
    "values beside medians": ("value", "median"),
    "values beside medians and flags": ("value", "flagged"),
    "medians": ("median", "median"),
    "what both rows have": ("both", "both"),
}


def squared(columns, way, n):
    """Squared distances between all rows over some columns (scaled, gaps NaN)."""
    total, common = np.zeros((n, n)), np.zeros((n, n))
    for column in columns:
        gap = np.isnan(column)
        filled = np.where(gap, np.nanmedian(column), column)
        step = (filled[:, None] - filled[None]) ** 2
        there = ~gap[:, None] & ~gap[None]
        if way == "value":
            step = np.where(there, step, np.where(gap[:, None] & gap[None], 0.0, np.inf))
        elif way == "both":
            step = np.where(there, step, 0.0)
        elif way == "flagged":
            step = step + (gap[:, None] != gap[None])
        total, common = total + step, common + there
    if way == "both" and columns:
        with np.errstate(divide="ignore", invalid="ignore"):
            total = np.where(common > 0, total * len(columns) / common, np.inf)
    return total


def gain(selected, candidate, target, ways):
    """I(candidate; target | selected), candidate and selected columns in one block."""
    n = len(target)
    d_s = squared(selected, ways[1], n)
    if ways[0] == "both":
        d_sx = squared([*selected, candidate], "both", n)
    else:
        d_sx = d_s + squared([candidate], ways[0], n)
    d_y = (target[:, None] - target[None]) ** 2
    joint = np.maximum(d_sx, d_y)
    np.fill_diagonal(joint, np.inf)
    nearest = np.sort(joint, axis=1)
    total = 0.0
    for k in KS:
        found = np.minimum(np.isfinite(nearest).sum(axis=1), k)
        at = nearest[np.arange(n), np.maximum(found, 1) - 1]
        radius = np.where(found > 0, at, np.inf)[:, None]
        counts = [
            np.maximum((d < radius).sum(axis=1), 1) for d in (d_s, d_sx, np.maximum(d_s, d_y))
        ]
        terms = digamma(np.maximum(found, 1)) + digamma(counts[0])
        total += np.mean(terms - digamma(counts[1]) - digamma(counts[2]))
    return total / len(KS)


def ranked(X, y, way, n_features):
    """The first columns of a forward search."""
    columns = [(c - np.nanmean(c)) / np.nanstd(c) for c in X.T]
    target, selected = (y - y.mean()) / y.std(), []
    while len(selected) < n_features:
        rest = [j for j in range(len(columns)) if j not in selected]
        given = [columns[j] for j in selected]
        scores = [gain(given, columns[j], target, WAYS[way]) for j in rest]
        selected.append(rest[int(np.argmax(scores))])
    return selected
