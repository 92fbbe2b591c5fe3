"""Several ways of asking at once: the views, their sum, levels, power, the same bits."""

import naive
import numpy as np
import pandas as pd
import pytest

from infosieve import MISelector, SelectionResult, permutation_test, relevance_test
from infosieve._core.tails import FLOOR, strength, strengths
from infosieve._resampling.permutations import Permutations
from infosieve._scoring.combined import _size_of_exchanged
from infosieve._scoring.smoothers import products_of, rounded, without


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


def test_the_size_of_exchanged_groups_is_that_of_many_exchanges(rng):
    n_groups, n_rows = 24, 3
    by_place = np.array([rng.permutation(n_rows) for _ in range(n_groups)]).T
    edges, each = np.array([0, 14, n_groups]), np.array([2, 3])
    order = rng.permutation(n_groups).astype(np.int64)
    drawn = Permutations((0, "x", 0), order, edges, by_place=by_place, local=True, each=each)
    used, n = drawn.used, n_groups * n_rows
    assert used.size == 14 * 2 + 10 * 3
    f, g = rng.normal(size=(2, 3, 1, n)), rng.normal(size=(2, n))
    f = f + np.tile(rng.normal(size=n_groups), n_rows)  # groups differ
    f, g = f.reshape(2, 3, n)[..., used], g[:, used]
    f -= f.mean(axis=-1, keepdims=True)
    f, g = (np.rint(4096 * part) / 4096 for part in (f, g))
    place = np.full(n, n)
    place[used] = np.arange(used.size)
    moved = place[drawn.draw(0, 4000)[:, used]]
    assert (np.sort(moved, axis=1) == np.arange(used.size)).all()
    squares = [(f @ g[:, np.argsort(rows)].T) ** 2 for rows in moved]
    found = _size_of_exchanged(f, g, drawn) ** 2 * used.size
    # Rows of a group are in one order here, and in any in the closed form.
    assert np.mean(squares) == pytest.approx(found.mean(), rel=0.1)


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
