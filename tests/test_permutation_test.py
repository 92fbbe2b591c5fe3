"""Permutation tests: arithmetic, error rates and the flaws of the published test."""

import naive
import numpy as np
import pandas as pd
import pytest
from conftest import in_order

from infosieve import PermutationTest, permutation_test
from infosieve._executors.threads import Threads
from infosieve._input.scaling import prepare
from infosieve._resampling.nulls import global_permutations, local_permutations
from infosieve._resampling.permutations import key_of, random_folds


def redundant(rng, n):
    """SPEC: the second column is a noisy copy of the first."""
    x = rng.normal(size=n)
    y = np.sin(2 * x) + 0.3 * rng.normal(size=n)
    return np.c_[x, x + 0.2 * rng.normal(size=n)], y


@pytest.mark.parametrize("criterion", ["mi", "cmi"])
@pytest.mark.parametrize("null", ["global", "local"])
@pytest.mark.parametrize("resample", [None, "cv"])
def test_agrees_with_plain_loops(rng, criterion, null, resample):
    n, ks = 22, (2, 4)
    X = rng.normal(size=(n, 4))
    X, y = in_order(X, X[:, 0] + X[:, 1] + rng.normal(size=n))
    options = {"criterion": criterion, "null": null, "resample": resample, "n_neighbors": ks}
    options |= {"correction": None, "n_permutations": 5, "random_state": 9, "statistic": "ksg"}
    found = permutation_test(X, y, [1, 2], given=[0, 3], **options)
    x, target = (
        prepare(v, np.zeros(len(v), bool), "standard", 0, Threads(1)) for v in (X.T, y[None])
    )
    s = x.take([0, 3])
    key = key_of(9, "test", s)
    drawn = (
        local_permutations(key, s, "euclidean") if null == "local" else global_permutations(key, n)
    )
    orders = drawn.draw(0, 5)

    def copies(j):
        if null == "global":
            return [x.values[j], *x.values[j][orders]]
        return [x.values[j], *naive.surrogates(x.values[j], s.values, s.categorical, orders)]

    measured = {"mi": "mi", "cmi": "gain"}[criterion]
    rows = [np.arange(n)]
    if resample:
        parts = random_folds((9, "parts", 0), n, 20)
        rows = [np.flatnonzero(parts != p) for p in range(20)]
    want = np.array(
        [
            [
                np.mean(
                    [
                        naive.averaged(
                            copy[None, r], s.values[:, r], target.values[:, r], ks, measured
                        )
                        for r in rows
                    ]
                )
                for copy in copies(j)
            ]
            for j in (1, 2)
        ]
    ).T
    np.testing.assert_allclose(found.observed, want[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.null, want[1:], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found.exceedances, (want[1:] >= want[0] - 1e-12).sum(axis=0))
    np.testing.assert_array_equal(found.p_values, (found.exceedances + 1) / 6)


def test_max_compares_each_with_the_best_of_the_permuted(rng):
    X, y = rng.normal(size=(60, 5)), rng.normal(size=60)
    each = permutation_test(X, y, range(5), correction=None, n_permutations=49, random_state=2)
    best = permutation_test(X, y, range(5), correction="max", n_permutations=49, random_state=2)
    np.testing.assert_array_equal(best.observed, each.observed)
    np.testing.assert_array_equal(best.null[:, 0], each.null.max(axis=1))
    assert (best.p_values >= each.p_values).all()
    assert best.p_value == best.p_values.min()


def test_the_same_for_any_threads_and_company(rng):
    X, y = rng.normal(size=(80, 6)), rng.normal(size=80)
    options = {"given": [5], "correction": None, "n_permutations": 30, "random_state": 4}
    together = permutation_test(X, y, [0, 1, 2, 3, 4], **options)
    threaded = permutation_test(X, y, [0, 1, 2, 3, 4], n_jobs=3, **options)
    np.testing.assert_array_equal(together.null, threaded.null)
    for j in range(5):
        alone = permutation_test(X, y, j, **options)
        np.testing.assert_array_equal(alone.null[:, 0], together.null[:, j])
        assert alone.observed[0] == together.observed[j]


def test_published_test_accepts_a_copy_and_the_local_one_does_not():
    accepted = {"global": 0, "local": 0}
    for seed in range(40):
        X, y = redundant(np.random.default_rng(seed), 100)
        for null in accepted:
            found = permutation_test(
                X,
                y,
                1,
                given=0,
                null=null,
                criterion="mi",
                n_permutations=99,
                random_state=seed,
            )
            accepted[null] += found.p_value <= 0.05
    assert accepted["global"] == 40
    assert accepted["local"] <= 7  # 99.8 % of binomials with rate 8 %


@pytest.mark.parametrize("target", ["number", "class"])
def test_error_rate_of_the_max_test(target):
    """Nothing is relevant: the best of eight columns passes in about 5 % of the cases."""
    passed, runs = 0, 150
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 8)), rng.normal(size=40)
        y = y if target == "number" else np.where(y > 0, "a", "b")
        found = permutation_test(
            X, y, range(8), correction="max", n_permutations=19, n_neighbors=4, random_state=seed
        )
        passed += found.p_value <= 0.05
    assert 1 <= passed <= 17  # 99.9 % of binomials with rate 5 %: 1 to 17


def test_columns_by_name_number_or_mask(rng):
    X = pd.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "b"])
    y = rng.normal(size=30)
    few = {"n_permutations": 3, "random_state": 0}
    for which in (0, "a", ["a"], np.array([0]), [True, False, False], np.array([1, 0, 0], bool)):
        assert permutation_test(X, y, which, **few).candidates == ("a",)
    with pytest.raises(ValueError, match="names 'b', but 2 columns of X have that name"):
        permutation_test(X, y, "b", **few)
    levels = X.set_axis(pd.MultiIndex.from_tuples([("u", 1), ("u", 2), ("v", 1)]), axis=1)
    found = permutation_test(levels, y, [("u", 2), ("v", 1)], **few)
    assert found.to_frame()["feature"].tolist() == [("u", 2), ("v", 1)]
    assert permutation_test(levels, y, ("u", 2), **few).candidates == (("u", 2),)


def test_record(rng):
    X = pd.DataFrame(rng.normal(size=(50, 3)), columns=["heat", "light", "noise"])
    y = X["light"] + 0.3 * rng.normal(size=50)
    found = permutation_test(
        X, y, ["heat", "light"], given="noise", n_permutations=39, random_state=0
    )
    assert isinstance(found, PermutationTest)
    assert found.candidates == ("heat", "light")
    assert found.n_permutations == 39
    assert found.p_value == 1 / 40
    frame = found.to_frame()
    assert frame["feature"].tolist() == ["heat", "light"]
    assert (frame["null_q05"] <= frame["null_q95"]).all()
    assert "'light'" in repr(found)
    with pytest.raises(AttributeError):
        found.null = 1
    with pytest.raises(ValueError, match="read-only"):
        found.observed[0] = 1


def test_categories_in_the_selected_columns_bound_the_exchange():
    """x differs between groups and so does y; inside the groups they have nothing in common."""
    accepted = {"global": 0, "local": 0}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        level = np.repeat([0.0, 3.0, 6.0], 20)
        X = pd.DataFrame(
            {"group": np.repeat(["a", "b", "c"], 20), "x": level + rng.normal(size=60)}
        )
        y = level + rng.normal(size=60)
        for null in accepted:
            found = permutation_test(
                X,
                y,
                "x",
                given="group",
                null=null,
                criterion="mi",
                n_permutations=39,
                random_state=seed,
            )
            accepted[null] += found.p_value <= 0.05
    assert accepted["global"] == 40
    assert accepted["local"] <= 7  # exact inside groups: 99.9 % of binomials with rate 5 %


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"candidates": [7]},
            "each a number from 0 to 2, or a mask of 3 bools. There is no column 7",
        ),
        ({"candidates": ["a"]}, "There is no column 'a'"),
        ({"candidates": []}, "'candidates' parameter is empty"),
        ({"candidates": [0, 0]}, "'candidates' parameter has column 0 of X twice"),
        (
            {"candidates": [0], "given": [0]},
            "column 0 of X is both in 'candidates' and in 'given'",
        ),
        ({"candidates": [2]}, "column 2 of X is constant: permuted, it is itself"),
        ({"criterion": "jmi"}, "'criterion' parameter must be one of 'mi', 'cmi'. Got 'jmi'"),
        ({"null": "none"}, "'null' parameter must be one of 'local', 'global'"),
        ({"correction": "bonferroni"}, "'correction' parameter must be one of 'max', None"),
        ({"resample": "bootstrap"}, "'resample' parameter must be one of 'cv', None"),
        (
            {"n_permutations": 0},
            "'n_permutations' parameter must be 'auto' or an int of at least",
        ),
        ({"n_neighbors": 30}, "'n_neighbors' parameter asks for 30 neighbours"),
        (
            {"criterion": "cmi", "given": [1], "method": "ksg2"},
            "'method' parameter must be 'ksg1'",
        ),
    ],
)
def test_errors(rng, change, message):
    X = np.c_[rng.normal(size=(30, 2)), np.ones(30)]
    arguments = {"candidates": [0]} | change
    with pytest.raises(ValueError) as caught:
        permutation_test(X, rng.normal(size=30), **arguments)
    assert message in str(caught.value)
