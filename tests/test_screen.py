"""Screening: cells against plain loops, what is kept, and that nothing but the data matters."""

import math
from itertools import combinations

import numpy as np
import pytest
from conftest import columns
from hypothesis import given
from hypothesis import strategies as st

from infosieve import MISelector, permutation_test
from infosieve._core.categories import codes_of
from infosieve._engines.numba.screen import COARSE, FINE, fixed_k_log_k, n_bits
from infosieve._executors.threads import Threads
from infosieve._resampling.permutations import permutations_of
from infosieve._scoring.screened import block_sizes, screen_of
from infosieve._scoring.screening import Cells, Screen

ONE = Threads(1)
KINDS = st.sampled_from(["normal", "heavy", "binary", "integers", "category"])


def naive_cells(values, tied, n_cells):
    """The cell of each sample, by the middle of its run of equal values."""
    n = len(values)
    order = sorted(range(n), key=lambda i: (values[i], i))
    least = 1e-9 * np.std(values) if tied else -1.0
    runs = [[order[0]]]
    for before, i in zip(order, order[1:], strict=False):
        if values[i] - values[before] > least:
            runs.append([])
        runs[-1].append(i)
    codes, at = np.empty(n, int), 0
    for number, run in enumerate(runs):
        twice = 2 * at + len(run)  # the middle of the run, in half samples
        if len(runs) <= n_cells:
            cell = number
        elif twice < n:
            cell = n_cells * twice // (2 * n)
        else:  # the mirror image
            cell = n_cells - 1 - (n_cells * (2 * n - twice) - 1) // (2 * n)
        codes[run] = cell
        at += len(run)
    return codes


def k_log_k(counts):
    return sum(k * math.log(k) for k in np.ravel(counts) if k > 1)


def table(*codes):
    out = np.zeros([c.max() + 1 for c in codes])
    np.add.at(out, codes, 1)
    return out


def naive_score(x, y):
    """n times the information of two columns of codes, less what chance adds."""
    counts = table(x, y)
    free = ((counts.sum(1) > 0).sum() - 1) * ((counts.sum(0) > 0).sum() - 1)
    margins = k_log_k(counts.sum(1)) + k_log_k(counts.sum(0))
    return k_log_k(counts) + k_log_k([len(x)]) - margins - free / 2


def naive_split(x, y, s):
    """The same inside the groups of a third column."""
    total = 0.0
    for group in np.unique(s):
        inside = s == group
        counts = table(x[inside], y[inside])
        free = (len(np.unique(x)) - 1) * ((counts.sum(0) > 0).sum() - 1)
        margins = k_log_k(counts.sum(1)) + k_log_k(counts.sum(0))
        total += k_log_k(counts) + k_log_k([inside.sum()]) - margins - free / 2
    return total


def coarse_of(codes):
    """Categories: the two most frequent, and the rest."""
    sizes = np.bincount(codes)
    place = np.full(sizes.size, COARSE - 1)
    order = np.argsort(-sizes, kind="stable")
    place[order[:COARSE]] = np.arange(min(COARSE, sizes.size))
    return place[codes]


def codes_by_hand(x, screen, n_cells):
    """What a column is cut into: categories as they are, numbers less what is fitted."""
    out = []
    for j, values in enumerate(x.values):
        if x.categorical[j]:
            codes = codes_of(values)
            out.append(codes if n_cells == FINE else coarse_of(codes))
            continue
        left = values
        if screen.fits is not None:
            left = screen.fits.residuals(values[None], screen.fits.fitted(values[None]))[0]
        elif screen.labels is not None:
            means = [values[screen.labels == k].mean() for k in range(screen.labels.max() + 1)]
            left = values - np.array(means)[screen.labels]
        out.append(naive_cells(left, x.n_distinct[j] < x.n_samples, n_cells))
    return out


@given(
    n=st.integers(8, 150),
    kinds=st.lists(KINDS, min_size=2, max_size=6),
    target=st.lists(KINDS, min_size=1, max_size=2),
    selected=st.lists(KINDS, max_size=2),
    null=st.sampled_from(["local", "global"]),
    seed=st.integers(0, 1000),
)
def test_scores_are_those_of_plain_tables(n, kinds, target, selected, null, seed):
    rng = np.random.default_rng(seed)
    x, y, s = columns(kinds, n, rng), columns(target, n, rng), columns(selected, n, rng)
    drawn = permutations_of(null, (seed, "test", 0), s, "euclidean", 1)
    screen = screen_of(4, y, s, drawn, "euclidean")
    cells = screen.encode(x, ONE)
    orders = np.concatenate([np.arange(n, dtype=np.int32)[None], drawn.draw(0, 2)])
    fine, coarse = codes_by_hand(x, screen, FINE), codes_by_hand(x, screen, COARSE)
    scores = screen.scores(cells, orders, ONE)
    split = screen.split_scores(cells, orders, ONE) if s.n_columns else None
    bits = fixed_k_log_k(n)[1]
    for p, order in enumerate(orders):
        for j in range(len(kinds)):
            want = sum(naive_score(fine[j][order], t) for t in screen.target[0])
            assert scores[p, j] / 2**bits == pytest.approx(want, abs=1e-4)
            if split is not None:
                moved = coarse[j][order]
                want = max(
                    sum(naive_split(moved, t, g) for t in screen.coarse[0])
                    for g in screen.splits[0]
                )
                assert split[p, j] / 2**bits == pytest.approx(want, abs=1e-4)
    for p, pairs in enumerate(screen.best_pairs(cells, orders, ONE)):
        want = {
            (i, j): sum(
                naive_score(coarse[i][orders[p]] * COARSE + coarse[j][orders[p]], t)
                for t in screen.coarse[0]
            )
            for i, j in combinations(range(len(kinds)), 2)
        }
        best = sorted(want.values(), reverse=True)[: len(pairs)]
        assert [want[pair] for pair in pairs] == pytest.approx(best, abs=1e-4)
        assert len(pairs) == min(4, len(want))
