"""Screening: cells against plain loops, what is kept, and that nothing but the data matters."""

import math
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from conftest import columns
from hypothesis import given
from hypothesis import strategies as st

from infosieve import MISelector, permutation_test
from infosieve._core.categories import codes_of
from infosieve._engines.numba.screen import COARSE, FINE, fixed_k_log_k, n_bits
from infosieve._executors.threads import Threads
from infosieve._resampling.nulls import NULLS, LocalNull
from infosieve._scoring.jobs import Scoring
from infosieve._scoring.screened import Screened, block_sizes
from infosieve._scoring.screening import Cells, screen_of

ONE = Threads(1)
LOCAL = LocalNull(seed=0, metric="euclidean")
NO_GAPS = ["normal", "heavy", "binary", "integers", "category"]
KINDS = st.sampled_from([*NO_GAPS, "gaps"])


def naive_cells(values, tied, n_cells):
    """The cell of each sample, by the middle of its run of equal values."""
    n = len(values)
    order = sorted(range(n), key=lambda i: (values[i], i))
    least = 1e-9 * np.std(values) if tied else -1.0
    runs = [[order[0]]]
    for before, i in pairwise(order):
        if values[i] - values[before] > least:
            runs.append([])
        runs[-1].append(i)
    codes, at = np.empty(n, int), 0
    for number, run in enumerate(runs):
        twice = 2 * at + len(run)  # the middle of the run, in half samples
        if len(runs) <= n_cells:
            cell = number
        elif twice < n or (twice == n and n_cells % 2):
            cell = n_cells * twice // (2 * n)
        elif twice > n:  # the mirror image
            cell = n_cells - 1 - n_cells * (2 * n - twice) // (2 * n)
        else:  # between two cells, with as many below as above: to the nearer side
            cell = n_cells // 2 - below_is_nearer(values, order, run)
        codes[run] = cell
        at += len(run)
    return codes


def below_is_nearer(values, order, run):
    """Whether the nearest value on one side only is below; or, by symmetry, the first row is."""
    low, high = values[run[0]], values[run[-1]]
    first = order.index(run[0])
    down = [low - values[i] for i in order[:first][::-1]]
    up = [values[i] - high for i in order[first + len(run) :]]
    if down != up:
        return down < up
    return next(v for v in values if v < low or v > high) < low


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
        gaps = values == 1e200
        values = x.filled().values[j]
        left = values
        if screen.fits is not None:
            fitted = screen.fits.fitted(values[None], gaps[None] if gaps.any() else None)
            left = screen.fits.residuals(values[None], fitted)[0]
        elif screen.labels is not None:
            means = [values[screen.labels == k].mean() for k in range(screen.labels.max() + 1)]
            left = values - np.array(means)[screen.labels]
        codes = np.full(len(left), FINE if n_cells == FINE else COARSE // 2)
        if not gaps.all():
            codes[~gaps] = naive_cells(left[~gaps], x.n_distinct[j] < x.n_samples, n_cells)
        out.append(codes)
    return out


@given(
    n=st.integers(8, 150),
    kinds=st.lists(KINDS, min_size=2, max_size=6),
    target=st.lists(st.sampled_from(NO_GAPS), min_size=1, max_size=2),
    selected=st.lists(KINDS, max_size=2),
    null=st.sampled_from(["local", "global"]),
    seed=st.integers(0, 1000),
)
def test_scores_are_those_of_plain_tables(n, kinds, target, selected, null, seed):
    rng = np.random.default_rng(seed)
    x, y, s = columns(kinds, n, rng), columns(target, n, rng), columns(selected, n, rng)
    drawn = NULLS[null](seed=seed, metric="euclidean").given(s, "test")
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


def wide(n=120, m=60, seed=0):
    """Two columns that matter, one through the other, among noise of several kinds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    X[:, 10:20] = rng.integers(0, 3, size=(n, 10))  # ties, and scores that tie
    X[:, 20] = np.exp(3 * X[:, 20])
    y = X[:, 0] + np.sign(X[:, 0] * X[:, 1]) + 0.3 * rng.normal(size=n)
    return X, y


def same(a, b, names=None):
    """Whether two searches took the same steps; ``names`` are the columns of the second."""
    for one, other in zip(a.result_.steps, b.result_.steps, strict=True):
        features = other.features if names is None else tuple(names[j] for j in other.features)
        assert set(one.features) == set(features)
        assert one.null == other.null
        assert one.p_value == other.p_value
        assert one.gain == pytest.approx(other.gain, abs=1e-12)
        assert one.n_screened == other.n_screened
    return True


def test_neither_the_order_of_columns_nor_threads_matter():
    X, y = wide()
    order = np.random.default_rng(1).permutation(X.shape[1])
    selector = MISelector(screen=8, random_state=0).fit(X, y)
    assert {0, 1} <= set(selector.selected_.tolist())
    assert same(selector, MISelector(screen=8, random_state=0, n_jobs=3).fit(X, y))
    assert same(selector, MISelector(screen=8, random_state=0).fit(X[:, order], y), order)


def test_a_table_on_disk_is_screened_alike(tmp_path, monkeypatch):
    X, y = wide()
    np.save(tmp_path / "x.npy", X)
    monkeypatch.setattr("infosieve._input.lazy_columns.SMALL", 0)
    monkeypatch.setattr("infosieve._scoring.jobs._PIECE_BYTES", 8 * len(X) * 7)
    there = np.load(tmp_path / "x.npy", mmap_mode="r")
    how = {"screen": 8, "random_state": 0, "max_samples": 60}
    assert same(MISelector(**how).fit(X, y), MISelector(**how).fit(there, y))


def test_cells_in_pieces_are_those_of_all():
    rng = np.random.default_rng(2)
    x = columns(["normal", "category", "binary", "gaps", "category"], 90, rng)
    y, s = columns(["normal"], 90, rng), columns(["normal"], 90, rng)
    drawn = LOCAL.given(s, "test")
    screen = screen_of(2, y, s, drawn, "euclidean")
    whole = screen.encode(x, Threads(2))
    pieces = [screen.encode(x.take(at), ONE) for at in ([0, 1], [2], [3, 4])]
    joined = Cells.joined(pieces)
    for name in ("starts", "fine", "sizes", "coarse", "coarse_sizes", "marks"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(joined, name))


def test_a_column_and_its_negative_score_the_same():
    rng = np.random.default_rng(3)
    x, y = columns(["normal", "heavy", "integers"], 100, rng), columns(["normal"], 100, rng)
    nothing = y.take([])
    drawn = LOCAL.given(nothing, "test")
    screen = screen_of(2, y, nothing, drawn, "euclidean")
    mirrored = x.take(slice(None))
    mirrored.values[:] *= -1
    orders = drawn.draw(0, 3)
    cells, other = screen.encode(x, ONE), screen.encode(mirrored, ONE)
    np.testing.assert_array_equal(
        screen.scores(cells, orders, ONE), screen.scores(other, orders, ONE)
    )
    np.testing.assert_array_equal(cells.marks, other.marks)


def test_ties_at_the_last_place_go_by_the_columns_not_by_their_places():
    """Binary columns of equal sizes: many tables are the same."""
    rng = np.random.default_rng(4)
    X = np.array([rng.permutation(np.r_[np.zeros(20), np.ones(20)]) for _ in range(80)]).T
    y = rng.permutation(40) / 40
    order = rng.permutation(80)
    how = {"screen": 4, "random_state": 0, "min_features": 2}
    a = MISelector(**how).fit(X, y)
    b = MISelector(**how).fit(X[:, order], y)
    assert same(a, b, order)


def test_bits_of_words():
    for word in (0, 1, 2**63, 2**64 - 1, 0x0F0F):
        assert n_bits(np.uint64(word)) == bin(word).count("1")


@pytest.mark.parametrize(("n", "first"), [(199, 62), (199, 199), (19, 7), (5, 5), (999, 130)])
def test_blocks_cover_all_permutations_and_stop_where_a_test_may_end(n, first):
    ends = np.cumsum(list(block_sizes(n, first)))
    assert ends[-1] == n
    assert first in ends


def test_few_candidates_are_not_screened():
    X, y = wide(m=24)
    few = MISelector(random_state=0, lookahead=1).fit(X, y)
    assert few.path_["screened"].isna().all()
    every = MISelector(random_state=0, lookahead=1, screen=None).fit(X, y)
    assert same(few, every)


def test_the_test_of_a_screened_step_by_a_public_call():
    X, y = wide()
    selector = MISelector(random_state=3, statistic="ksg").fit(X, y)
    before = []
    for step in selector.result_.steps[:2]:
        rest = [j for j in range(X.shape[1]) if j not in before]
        how = {"alpha": step.level, "random_state": 3, "screen": "auto", "statistic": "ksg"}
        test = permutation_test(X, y, rest, given=before, **how)
        assert len(test.candidates) == step.n_screened
        best = int(np.argmax(test.observed))
        assert test.candidates[best] == step.features[0]
        assert tuple(np.ravel(test.null))[: len(step.null)] == step.null  # others go on
        assert test.p_values[best] == step.p_value
        before += step.features


@pytest.mark.parametrize("screen", [0, 1, 2.5, True, "all", -3])
def test_what_screen_may_be(screen):
    with pytest.raises(ValueError, match="'screen' parameter must be 'auto', an int"):
        MISelector(screen=screen).fit(*wide(m=21))


@pytest.mark.parametrize("n_selected", [0, 1])
def test_what_is_worth_an_estimate_does_not_depend_on_pieces(rng, monkeypatch, n_selected):
    kinds = ["normal", *np.resize([*NO_GAPS, "gaps"], 59)]
    x, target = columns(kinds, 40, rng), columns(["normal"], 40, rng)
    given = x.take(slice(0, n_selected))
    drawn = LOCAL.given(given, "test")
    scoring = Scoring(x, ONE)
    screen = screen_of(8, target, given, drawn, "euclidean")
    whole = Screened(scoring, screen, range(n_selected, 60), given).observed()
    monkeypatch.setattr(scoring, "columns_of_a_piece", lambda: 7)
    in_pieces = Screened(scoring, screen, range(n_selected, 60), given).observed()
    np.testing.assert_array_equal(in_pieces, whole)
    assert 8 - screen.n_split <= whole.size <= 8


def test_what_is_screened_of_a_series_of_categories_is_what_is_estimated():
    """Rows were permuted on screen where surrogates move in a circle: 0.044 nats, not 0.076."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.choice(list("abcd"), (120, 60))).add_prefix("c")
    y = rng.normal(size=120)
    how = {"series": True, "statistic": "ksg", "n_permutations": 39, "random_state": 0}
    every, few = (
        permutation_test(X, y, list(X), screen=screen, **how).null.mean() for screen in (None, 8)
    )
    assert 0.95 * every < few <= every
