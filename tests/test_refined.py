"""Columns that follow selected ones along a curve: what predicts them; they do not pass."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from conftest import columns

from infosieve import MISelector, PermutationTest, SelectionResult, permutation_test
from infosieve._core.categories import APART
from infosieve._core.types import GAP, Columns
from infosieve._resampling import refined as module
from infosieve._resampling.nulls import local_permutations
from infosieve._resampling.refined import refined
from infosieve._resampling.surrogates import fit_weights
from infosieve.results._tests import Followed
from infosieve.significance._refinements import refinements

KEY = (7, "test", 0)


def curve(points, values, at):
    """The value at one point of a surface of second degree, by least squares."""
    around = points - at
    d = around.shape[1]
    products = [around[:, i] * around[:, j] for i in range(d) for j in range(i, d)]
    design = np.column_stack([np.ones(len(around)), around, *products])
    return np.linalg.lstsq(design, values, rcond=None)[0][0]


def nearest(points, i, n):
    return np.argsort(((points - points[i]) ** 2).sum(axis=1), kind="stable")[:n]


def naive_followed(x, given):
    """All by loops: the columns, and the errors of what predicts them without the sample itself."""
    n, d = len(x), len(given)

    def line(i):
        near = nearest(given.T, i, 6 * (d + 1))[1:]
        design = np.column_stack([np.ones(near.size), given.T[near] - given.T[i]])
        return np.linalg.lstsq(design, x[near], rcond=None)[0][0]

    least = np.mean([abs(x[i] - line(i)) for i in range(n)])
    subsets = [s for size in (1, 2) for s in combinations(range(d), size)]
    means = []
    for some in subsets:
        points = given[list(some)].T
        near = [nearest(points, i, 6)[1:] for i in range(n)]
        means.append(np.mean([abs(x[i] - x[near[i]].mean()) for i in range(n)]))
    best = None
    for k in np.argsort(means, kind="stable")[:3]:
        points = given[list(subsets[k])].T
        for each in (6, 12):
            size = each * {1: 3, 2: 6}[points.shape[1]]
            if 4 * size > 3 * n:
                continue
            left = []
            for i in range(n):
                near = nearest(points, i, size)[1:]
                left.append(abs(x[i] - curve(points[near], x[near], points[i])))
            if np.mean(left) < least:
                least, best = np.mean(left), (subsets[k], size)
    return best


@pytest.mark.parametrize("seed", range(6))
def test_what_is_followed_is_what_plain_loops_find(seed):
    rng = np.random.default_rng(seed)
    given = rng.normal(size=(3, 80))
    shape = [given[0] ** 2, np.sin(2 * given[1]), given[0] * given[2]][seed % 3]
    x = shape + 0.2 * rng.normal(size=80)
    best = naive_followed(x, given)
    table = Columns(given, np.zeros(3, bool), np.full(3, 80))
    base = local_permutations(KEY, table, "euclidean")
    found = refined(Columns(x[None], np.zeros(1, bool), np.array([80])), table, base, "euclidean")
    assert found is not None
    assert (found.columns, found.permutations.fits.near.shape[1]) == best
    assert found.columns == [(0,), (1,), (0, 2)][seed % 3]
    np.testing.assert_array_equal(found.permutations.near, base.near)


def test_curves_are_least_squares():
    rng = np.random.default_rng(0)
    points, x = rng.normal(size=(60, 2)), rng.normal(size=60)
    near = np.array([nearest(points, i, 36) for i in range(60)])
    fitted = (x[near] * fit_weights(points, near, curved=True)).sum(axis=1)
    want = [curve(points[near[i]], x[near[i]], points[i]) for i in range(60)]
    np.testing.assert_allclose(fitted, want, atol=1e-3)  # the ridge is small, not zero
    some = np.array([3, 50])
    again = fit_weights(points, near[some], some, curved=True)
    np.testing.assert_array_equal(again, fit_weights(points, near, curved=True)[some])


def test_a_category_changes_places_with_samples_near_in_what_it_follows():
    rng = np.random.default_rng(0)
    given = rng.normal(size=(3, 200))
    codes = np.digitize(given[1], [-0.7, 0, 0.7])
    table = Columns(given, np.zeros(3, bool), np.full(3, 200))
    candidate = Columns(codes[None] * APART, np.ones(1, bool), np.array([4]))
    base = local_permutations(KEY, table, "euclidean")
    found = refined(candidate, table, base, "euclidean")
    assert found is not None
    assert found.columns == (1,)
    want = [set(nearest(given[1:2].T, i, 6)) for i in range(200)]
    assert [set(row) for row in found.permutations.near.tolist()] == want


@pytest.mark.parametrize("kind", ["category", "gaps", "binary"])
def test_other_given_columns(kind):
    """Strata, gaps and ties among what is given: an answer, of number columns, or none."""
    rng = np.random.default_rng(1)
    given = columns([kind, "normal", "normal"], 120, rng).filled()
    x = columns(["normal"], 120, rng)
    base = local_permutations(KEY, given, "euclidean")
    found = refined(x, given, base, "euclidean")
    assert found is None or not given.categorical[list(found.columns)].any()
    only = given.take(np.flatnonzero(given.categorical))
    if only.n_columns:  # nothing but strata: permutations are exact
        assert refined(x, only, local_permutations(KEY, only, "euclidean"), "euclidean") is None


# Tests of estimates need second questions; those that ask in several ways do not.
KSG = {"statistic": "ksg"}


def data(kind, n, seed, effect=0.0):
    rng = np.random.default_rng([seed, n])
    s, e = rng.normal(size=(n, 3)), rng.normal(size=n)
    course = s[:, 0] * s[:, 1] if kind == "product" else np.sin(2 * s[:, 0])
    x = pd.DataFrame(s, columns=list("abc"))
    x["relative"] = course + 0.2 * e
    if kind == "category":
        quarter = np.digitize(s[:, 0] + 0.2 * e, [-0.67, 0, 0.67])
        x["relative"] = np.array(list("pqrs"))[quarter]
    y = course + 0.5 * s[:, 2] + 0.3 * rng.normal(size=n) + effect * e
    return x, y


def passes(kind, effect=0.0):
    """How often of 40, at 5 %: the test that is told, and the first of the two."""
    both = first = 0
    for seed in range(40):
        x, y = data(kind, 100, seed, effect)
        test = permutation_test(
            x, y, "relative", given=list("abc"), n_permutations=39, random_state=seed, **KSG
        )
        both += test.p_value <= 0.05
        first += replace(test, followed={}).p_value <= 0.05
    return both, first


@pytest.mark.parametrize("kind", ["wave", "product", "category"])
def test_relatives_do_not_pass_but_informative_ones_do(kind):
    both, first = passes(kind)
    assert both <= 7  # 2 expected; more than 7 has a chance below 0.1 %
    assert first >= 20
    if kind != "category":
        assert passes(kind, effect=0.3)[0] >= 36


def with_a_wave():
    rng = np.random.default_rng(24)
    X = pd.DataFrame(rng.normal(size=(150, 4)), columns=list("abcd"))
    X["wave"] = np.sin(2 * X["a"]) + 0.5 * rng.normal(size=150)
    y = np.sin(2 * X["a"]) + 0.7 * X["b"] + 0.7 * X["c"] + 0.2 * X["d"]
    return X, y + 0.1 * rng.normal(size=150)


def test_a_search_refuses_a_relative_and_goes_on(tmp_path):
    """Beside three columns that are better than it, the wave is refused, and the next is found."""
    X, y = with_a_wave()
    steps = {}
    for asked in (True, False):
        selector = MISelector(random_state=0, lookahead=1, **KSG)
        with pytest.MonkeyPatch.context() as patch:
            if not asked:
                patch.setattr("infosieve._resampling.nulls.refined", lambda *_: None)
            steps[asked] = selector.fit(X, y).path_
        if asked:
            whole = selector
    refused = steps[True][steps[True]["action"] == "refuse"]
    assert refused["feature"].tolist() == ["wave"]
    assert refused["follows"].tolist() == ["a"]
    assert (refused["p_value"] > refused["level"]).all()
    assert "wave" in steps[False].loc[steps[False]["action"] == "add", "feature"].tolist()
    chosen = steps[True].loc[steps[True]["action"] == "add", "feature"].tolist()
    assert set(chosen) == set("abcd")
    # its last row is the test of the step, number by number
    number = refused.index[0]
    step = whole.result_.steps[number]
    before = [X.columns[j] for s in whole.result_.steps[:number] for j in s.features]
    left = [c for c in X.columns if c not in before]
    how = {"alpha": step.level, "screen": "auto", "max_samples": "auto", "random_state": 0}
    test = permutation_test(X, y, left, given=before, **how, **KSG)
    place = test.candidates.index("wave")
    assert test.p_values[place] == step.p_value
    assert test.followed[place].columns == ("a",)
    np.testing.assert_array_equal(test.followed[place].null, step.null)
    assert test.to_frame()["follows"][place] == "a"
    # documents and checkpoints know it
    again = SelectionResult.from_json(whole.result_.to_json())
    assert again.steps == whole.result_.steps
    file = tmp_path / "steps.json"
    how = {"random_state": 0, "lookahead": 1, "checkpoint": file, **KSG}
    MISelector(max_features=len(before), **how).fit(X, y)
    file.unlink()
    kept, resumed = (MISelector(**how).fit(X, y) for _ in range(2))
    pd.testing.assert_frame_equal(resumed.path_, kept.path_)
    pd.testing.assert_frame_equal(kept.path_, whole.path_)


def test_the_best_of_several_relatives_is_compared_with_the_best_of_them():
    """Of four waves the best passes beside what they follow, if it is compared with itself only."""
    alone = best = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        s = rng.normal(size=(100, 3))
        X = pd.DataFrame(s, columns=list("abc"))
        names = [f"w{j}" for j in range(6)]
        for name in names:
            X[name] = np.sin(2 * s[:, 0]) + 0.5 * rng.normal(size=100)
        y = np.sin(2 * s[:, 0]) + 0.5 * s[:, 1] + 0.3 * rng.normal(size=100)
        how = {"given": list("abc"), "n_permutations": 39, "random_state": seed}
        test = permutation_test(X, y, names, **how)
        best += test.p_value <= 0.1
        place = int(np.argmax(test.observed))
        single = permutation_test(X, y, names[place], **how)
        alone += single.p_value <= 0.1
    assert best <= 6 < alone


@pytest.mark.parametrize("share", [0.2, 0.7, 0.97])
def test_a_candidate_with_gaps(share):
    """Gaps are predicted from nothing; with hardly any values, nothing is said."""
    rng = np.random.default_rng(0)
    given = rng.normal(size=(3, 200))
    x = np.sin(2 * given[1]) + 0.2 * rng.normal(size=200)
    x[rng.uniform(size=200) < share] = GAP
    table = Columns(given, np.zeros(3, bool), np.full(3, 200))
    gaps = np.ones(1, bool)
    candidate = Columns(x[None], np.zeros(1, bool), np.array([150]), gaps=gaps)
    base = local_permutations(KEY, table, "euclidean")
    found = refined(candidate, table, base, "euclidean")
    if share > 0.9:
        assert found is None
    else:
        assert found is not None
        assert found.columns == (1,)


@pytest.mark.parametrize("n", [4, 5, 7, 19])
def test_few_samples_have_no_relatives(n):
    """Fewer than are near: this raised an IndexError."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
        y = X["a"] + X["c"]
        X["half"] = np.where(np.arange(n) % 2, "u", "v")
        for name in ("c", "half"):
            how = {"given": ["a", "b"], "n_neighbors": 1, "n_permutations": 9}
            assert not permutation_test(X, y, name, random_state=seed, **how).followed
    table = Columns(rng.normal(size=(2, n)), np.zeros(2, bool), np.full(2, n))
    assert module.predicted_by_any(table, table, "euclidean").shape == (2,)


def test_a_pair_is_asked_again():
    """A pair whose surrogates follow the selected column as it does has to beat these, too."""
    X, y = data("category", 100, 1)
    selector = MISelector(random_state=0, lookahead=2)
    asked = []

    def spy(question, candidate, observed):
        for further in refinements(question, candidate, observed):
            asked.append((len(candidate), further))
            yield further

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("infosieve.selection._strategies.refinements", spy)
        xor = np.random.default_rng(0).choice([-1.0, 1.0], size=(100, 2))
        table = X.assign(left=xor[:, 0], right=xor[:, 1])
        path = selector.fit(table, y + 2 * xor.prod(axis=1)).path_
    pairs = path[path["action"] == "add"].groupby("step").size()
    assert (pairs == 2).any()
    columns = [further.column for size, further in asked if size == 2]
    assert {X.shape[1], X.shape[1] + 1} <= {*columns}
    added = path.loc[path["step"] == pairs[pairs == 2].index[0], "feature"].tolist()
    assert set(added) == {"left", "right"}


def test_min_features_keeps_a_relative_on_request():
    X, y = with_a_wave()
    path = MISelector(random_state=0, lookahead=1, min_features=4, **KSG).fit(X, y).path_
    kept = path[path["feature"] == "wave"].iloc[0]
    assert (kept["action"], kept["follows"], kept["significant"]) == ("add", "a", False)


def test_the_larger_p_value_counts():
    test = PermutationTest(
        candidates=("x",),
        given=("s",),
        observed=[0.5],
        null=[[0.1]] * 9,
        followed={0: Followed(columns=("s",), null=[0.6, 0.4, 0.7] + [0.1] * 6)},
    )
    assert test.p_value == 0.3
    assert test.exceedances.tolist() == [2]
    assert test.to_frame()["follows"].tolist() == ["s"]
    assert PermutationTest.from_json(test.to_json()).p_value == 0.3
    assert replace(test, followed={}).p_value == 0.1


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({1: Followed(columns=("s",), null=[0.1])}, r"none has the numbers; it is \{1\}"),
        ({0: Followed(columns=("s",), null=[np.inf])}, r"finite numbers - at"),
    ],
)
def test_second_tests_that_cannot_be_are_refused(change, rule):
    test = PermutationTest(candidates=("x",), given=("s",), observed=[0.5], null=[[0.1]] * 9)
    object.__setattr__(test, "followed", change)
    with pytest.raises(ValueError, match=rf"damaged: .*{rule}"):
        PermutationTest.from_json(test.to_json())


def test_the_same_bits_for_any_number_of_threads():
    x, y = data("wave", 100, 0)
    p = [
        permutation_test(x, y, "relative", given=list("abc"), random_state=0, n_jobs=n, **KSG)
        for n in (1, 3)
    ]
    p = [test.followed[0] for test in p]
    np.testing.assert_array_equal(p[0].null, p[1].null)


def test_judged_by_some_samples_where_there_are_many(monkeypatch):
    monkeypatch.setattr(module, "_JUDGED", 40)
    rng = np.random.default_rng(0)
    given = rng.normal(size=(3, 400))
    table = Columns(given, np.zeros(3, bool), np.full(3, 400))
    x = Columns(
        (np.sin(2 * given[2]) + 0.2 * rng.normal(size=400))[None],
        np.zeros(1, bool),
        np.array([400]),
    )
    found = refined(x, table, local_permutations(KEY, table, "euclidean"), "euclidean")
    assert found is not None
    assert found.columns == (2,)
    assert len(found.permutations.fits.near) == 400
