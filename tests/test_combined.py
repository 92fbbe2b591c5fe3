"""Several ways of asking at once: the views, their sum, levels, power, the same bits."""

import naive
import numpy as np
import pandas as pd
import pytest

from infosieve import MISelector, SelectionResult, permutation_test, relevance_test
from infosieve._core.tails import FLOOR, strength, strengths
from infosieve._core.types import Columns
from infosieve._input.problem import Prepared
from infosieve._input.together import Together
from infosieve._resampling.layout import laid_out
from infosieve._resampling.permutations import Permutations
from infosieve._scoring.by_group import ByGroup
from infosieve._scoring.smoothers import products_of, rounded, without

KEY = (0, "test", 0)


def numbers(x):
    return naive.functions(x, 8)


def target(y):
    return naive.functions(y, 3)


# ---- against plain loops


@pytest.mark.parametrize("n", [27, 80, 300])
@pytest.mark.parametrize("kind", ["numbers", "rounded", "two values", "classes", "categories"])
def test_evidence_agrees_with_plain_loops(kind, n):
    rng = np.random.default_rng([n, len(kind)])
    x, y = rng.normal(size=(2, n))
    y = y + 0.3 * x**2
    of_x, of_y = numbers, target
    if kind == "rounded":
        x, y = np.round(x), np.round(2 * y) / 2
    elif kind == "two values":
        x, of_x = (x > 0.5).astype(float), naive.levels
    elif kind == "classes":
        y, of_y = np.where(y > 1, "c", np.where(y > 0, "b", "a")), naive.levels
    elif kind == "categories":
        x, of_x = np.array(list("pqr"))[np.digitize(x, [-0.5, 1])], naive.levels
    how = {"scale": "standard", "n_permutations": 19, "random_state": 0}
    found = relevance_test(pd.DataFrame({"x": x}), y, **how)
    assert found.statistic[0] == pytest.approx(naive.evidence(of_x(x), of_y(y)), abs=0.01)
    views = naive.views(of_x(x), of_y(y))
    weights = {"line": 8, "curve": 2, "spread": 1, "any shape": 3}
    best = max(views, key=lambda name: np.log(weights[name]) - views[name])
    shown = found.views[0].split()[0]
    shown = "line" if shown in ("rises", "falls", "higher", "differs") else found.views[0]
    assert shown == best


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("kind", ["line", "interaction", "wave", "tails"])
def test_evidence_given_columns_agrees_with_plain_loops(kind, d):
    rng = np.random.default_rng([d, len(kind)])
    S, (x, y) = rng.normal(size=(90, d)), rng.normal(size=(2, 90))
    if kind == "tails":
        S = rng.standard_t(2, size=(90, d))
    x = x + (np.sin(2 * S[:, 0]) if kind == "wave" else 0.7 * S[:, -1])
    y = y + S.sum(axis=1) + (0.8 * x * S[:, 0] if kind == "interaction" else 0.4 * x)
    table = np.c_[x, S]
    test = permutation_test(table, y, 0, given=range(1, d + 1), n_permutations=19, random_state=0)
    assert test.observed[0] == pytest.approx(naive.evidence_given(x, y, S), abs=0.01)


def of_groups(sizes, rng):
    """A layout of groups, and permutations of their means and signs in two strata."""
    groups = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    one = Columns(rng.normal(size=(1, groups.size)), np.zeros(1, bool), np.full(1, groups.size))
    together = Together(groups, places=np.arange(groups.size))
    prepared = Prepared(x=one, target=one, given=one.take([]), together=together)
    _, layout = laid_out(prepared, None)
    order, edges = rng.permutation(len(sizes)), np.array([0, len(sizes) // 2, len(sizes)])
    return groups, layout, Permutations(KEY, order, edges, signed=True)


def test_groups_exchange_means_and_signs(rng):
    """By plain loops; the sizes of many permuted correlations are those of the closed form."""
    groups, layout, drawn = of_groups([5] * 9 + [1, 2, 3, 4, 1, 2] + [5] * 9, rng)
    once, starts = layout.once
    assert sorted(layout.rows[once]) == list(range(groups.size))
    mine = groups[layout.rows[once]]  # rows go group by group
    columns = np.searchsorted(starts, np.arange(groups.size), side="right") - 1
    assert (np.flatnonzero(np.r_[True, np.diff(mine) != 0]) == starts).all()
    f, g = rng.normal(size=(2, 3, groups.size)), rng.normal(size=(2, groups.size))
    f, g = f + rng.normal(size=24)[mine], g + rng.normal(size=24)[mine]
    f, g = (np.rint(4096 * (part - part.mean(axis=-1, keepdims=True))) / 4096 for part in (f, g))
    by_group = ByGroup.of(g, layout, drawn)
    assert (by_group.moved(np.arange(24)[None])[0] == g).all()
    permutations = drawn.draw(0, 4000)
    moved = by_group.moved(permutations)
    for number in range(5):
        for some, found in zip(g, moved[number], strict=True):
            want = naive.exchanged(some, columns, permutations[number])
            np.testing.assert_allclose(found, want, atol=2.0**-11)
    strata = np.split(drawn.order, drawn.edges[1:-1])
    givers = np.where(permutations < 0, ~permutations, permutations)
    assert all((np.sort(givers[:, some]) == np.sort(some)).all() for some in strata)
    assert abs((permutations < 0).mean(axis=0) - 0.5).max() < 0.05
    assert (drawn.draw(7, 3) == permutations[7:10]).all()
    squares = [(f @ some.T) ** 2 for some in moved]
    found = by_group.scale(f) ** 2 * groups.size
    np.testing.assert_allclose(np.mean(squares, axis=0), found, rtol=0.15)


@pytest.mark.parametrize("sizes", [[5] * 16, [1, 2, 3, 4, 5, 5, 5, 5]])
@pytest.mark.parametrize("kind", ["numbers", "categories", "the same in a group"])
def test_evidence_of_groups_agrees_with_plain_loops(kind, sizes, rng):
    """Groups are of one size, or too few for sets of like size: all exchange with all."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    x, y = (rng.normal(size=len(sizes))[groups] + rng.normal(size=groups.size) for _ in range(2))
    of_x = numbers
    if kind == "categories":
        x, of_x = np.array(list("pqr"))[np.digitize(x, [-0.5, 1])], naive.levels
    elif kind == "the same in a group":
        x = rng.normal(size=len(sizes))[groups]
    order = rng.permutation(groups.size)
    how = {"n_permutations": 19, "random_state": 0, "groups": groups[order]}
    test = permutation_test(pd.DataFrame({"x": x[order]}), y[order], "x", **how)
    f, g = of_x(x), target(y)
    scale = [[naive.scale_of_groups(a, b, groups) for b in g[0]] for a in f[0]]
    assert test.observed[0] == pytest.approx(naive.evidence(f, g, scale=scale), abs=0.01)


# ---- what is found, and how


def shapes(rng, n=300):
    X = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    noise = rng.normal(size=n)
    y = X["a"] - 0.8 * X["b"] + 0.6 * X["c"] ** 2 + 0.7 * X["a"] * X["d"]
    return X, y + np.exp(0.6 * X["e"]) * noise


def test_results_say_how_columns_tell_something(rng):
    X, y = shapes(rng)
    result = MISelector(random_state=0, lookahead=1).fit(X, y).result_
    frame = result.to_frame().set_index("feature")
    views = frame["view"].to_dict()
    assert views["a"] == "rises"
    assert views["b"] == "falls"
    assert views["c"] == "curve"
    assert views["d"] == "interaction with a"
    assert views["e"] == "spread"
    assert (frame["strength"][:3] < frame["p_value"][:3]).all()
    again = SelectionResult.from_json(result.to_json())
    assert again.to_frame().equals(result.to_frame())
    assert again.remaining_frame().equals(result.remaining_frame())


def test_a_gap_that_tells_something_is_named(rng):
    x, y = rng.normal(size=(2, 200))
    x = np.where(rng.random(200) < 0.2 + 0.4 * (y > 0), np.nan, x)
    assert relevance_test(x[:, None], y, random_state=0).views == ("gaps",)


def test_what_is_left_has_a_test_of_its_own(rng):
    X, y = shapes(rng)
    selector = MISelector(random_state=0, lookahead=1).fit(X, y)
    left = selector.result_.remaining_frame()
    assert set(left["feature"]) == {*X} - {*selector.get_feature_names_out()}
    assert left["p_value"].is_monotonic_increasing
    assert (left["q_value"] >= left["p_value"]).all()
    ranked = MISelector(n_features_to_select=2).fit(X, y).result_
    assert ranked.remaining is None
    assert ranked.remaining_frame().empty


def test_cosines_see_what_squares_miss(rng):
    angle = rng.uniform(0, 2 * np.pi, size=(60, 20))
    X = np.cos(angle) + 0.15 * rng.normal(size=angle.shape)
    y = np.sin(angle) + 0.15 * rng.normal(size=angle.shape)
    found = [
        permutation_test(x[:, None], target, 0, n_permutations=199, random_state=0)
        for x, target in zip(X.T, y.T, strict=True)
    ]
    assert sum(test.p_values[0] <= 0.01 for test in found) >= 16
    assert {test.views[0] for test in found} == {"any shape"}


# ---- the same bits


def test_products_and_sums_of_functions_have_the_same_bits_in_any_order(rng):
    functions = rounded(np.linalg.qr(rng.normal(size=(301, 40)))[0].T)
    values = rng.normal(size=(25, 301)) * 10.0 ** rng.integers(-8, 8, size=(25, 1))
    products = products_of(values)(functions)
    left = without(functions, products, values)
    size = np.sqrt((values**2).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(products / size, values / size @ functions.T, rtol=0, atol=1e-6)
    order = rng.permutation(301)
    for one in range(25):
        row, moved = values[one : one + 1], functions[:, order]
        assert (products_of(row[:, order])(moved) == products[one]).all()
        assert (without(moved, products[one : one + 1], row[:, order])[0] == left[one, order]).all()


# ---- levels


def passes(case, runs=100, **more):
    """How many of so many data sets have p <= 0.05."""
    found = 0
    for run in range(runs):
        x, s, y = case(np.random.default_rng(run))
        table = np.c_[x, s]
        test = permutation_test(
            table, y, [0], given=range(1, table.shape[1]), n_permutations=39, random_state=run,
            **more,
        )  # fmt: skip
        found += test.p_value <= 0.05
    return found


def copy_of_a_wave(rng):
    s = rng.normal(size=(100, 3))
    y = np.sin(2 * s[:, 0]) + 0.3 * rng.normal(size=100)
    return np.sin(2 * s[:, 0]) + 0.2 * rng.normal(size=100), s, y


def shared_spread(rng):
    s = rng.normal(size=(100, 3))
    x, y = s[:, 0] * rng.normal(size=(2, 100))
    return x, s, y


@pytest.mark.parametrize("case", [copy_of_a_wave, shared_spread])
def test_what_selected_columns_tell_does_not_pass(case):
    assert passes(case) <= 16  # 5 expected; more has a chance below 0.01 %


def test_what_they_do_not_tell_passes():
    def case(rng):
        x, s, y = copy_of_a_wave(rng)
        return x, s, y + x

    assert passes(case, 20) == 20


# ---- strength


def test_strength_of_chance_is_seldom_small(rng):
    """At most 0.001 in at most 0.2 % of cases."""
    null = -np.log10(rng.random((62, 20_000)))  # as p-values have it
    seen = -np.log10(rng.random(20_000))
    assert (strengths(seen, null)[0] <= 0.001).mean() <= 0.002


def test_strength_goes_on_where_p_ends(rng):
    null = -np.log10(rng.random(99))
    weak, strong, beyond = (strength(value, null) for value in (3.0, 6.0, 40.0))
    assert weak.p_value > strong.p_value > beyond.p_value == FLOOR
    assert strong.low < strong.p_value < strong.high
    assert strong.p_value == pytest.approx(1e-6, rel=20)
    assert strength(0.1, null).p_value == ((null >= 0.1).sum() + 1) / 100


# ---- what cannot be asked


def test_settings_that_need_estimates_are_refused():
    x = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(ValueError, match="statistic"):
        MISelector(statistic="combined", null="global").fit(x, x[:, 0])
    with pytest.raises(ValueError, match="'auto', 'combined', 'ksg'"):
        permutation_test(x, x[:, 0], 1, statistic="t")
    y = x[:, 0] + 0.5 * x[:, 1] ** 2
    found = MISelector(null="global", criterion="mi", random_state=0).fit(x, y)
    assert "view" not in found.path_
