"""One number, one name: what a search shows can be asked for with one public call."""

import inspect
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from infosieve import (
    MISelector,
    choose_k,
    entropy,
    mutual_information,
    permutation_test,
    relevance,
)
from infosieve._core.sequential import sequential_rule
from infosieve.estimators import three_entropies
from infosieve.significance._tested import forward_stop_level


def table(rng, n=150):
    X = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    X["kind"] = np.where(rng.uniform(size=n) < 0.5, "u", "v")
    X["tied"] = np.round(X["a"] + rng.normal(size=n))
    y = np.sin(2 * X["a"]) + X["b"] + (X["kind"] == "u") + 0.3 * rng.normal(size=n)
    return X, y


def check_path(X, y, selector, **how):
    """Every row of a path by public calls."""
    seed, before = 7, []
    for row, step in zip(selector.path_.itertuples(), selector.result_.steps, strict=True):
        name = row.feature
        if row.action == "remove":
            before.remove(name)
            tried, given = name, before
            change = mutual_information(X[[name]], y, condition=X[before], criterion="mi")
            assert -change == row.gain
            assert mutual_information(X[before], y) == row.mi
        else:
            tried, given = [c for c in X if c not in before], before
            assert mutual_information(X[[*before, name]], y) == row.mi
            known = {"condition": X[before]} if before else {}
            criterion = {"criterion": selector.result_.criterion}
            gain = mutual_information(X[[name]], y, **known, **criterion)
            assert gain == pytest.approx(row.gain, abs=1e-15)
            scores = relevance(X[tried], y, **known, **criterion)
            assert step.view or scores.idxmax() == name
            assert scores[name] == gain
        if pd.notna(row.p_value):
            test = permutation_test(
                X, y, tried, given=given, alpha=row.level, random_state=seed, **how
            )
            at = test.candidates.index(name)
            assert at == test.observed.argmax()
            told = row.mi if how.get("criterion") == "mi" else row.gain
            assert row.action == "remove" or test.information[at] == pytest.approx(told)
            assert not step.view or test.views[at] == row.view
            assert test.p_values[at] == row.p_value
            assert test.exceedances[at] == row.exceedances
            assert test.permutations_used[at] == row.permutations
            assert test.null[: row.permutations, 0].tolist() == list(step.null)
        before = [*before, name] if row.action == "add" else before


@pytest.mark.parametrize("name", ["n_neighbors", "max_samples", "method", "metric", "scale"])
def test_one_default_for_how_informative_columns_are(name):
    doors = (mutual_information, relevance, permutation_test, MISelector)
    assert len({inspect.signature(door).parameters[name].default for door in doors}) == 1
    others = (entropy, three_entropies)
    defaults = [inspect.signature(door).parameters["n_neighbors"].default for door in others]
    assert defaults == [(3, 10), (3, 10)]


@pytest.mark.parametrize(
    "kind", ["plain", "categories", "gaps", "groups", "series", "a walk", "rounded", "many"]
)
@pytest.mark.filterwarnings("ignore:y is not stationary")
def test_relevance_is_that_of_a_selector(kind, rng):
    X, y = table(rng, 9000 if kind == "many" else 150)
    X = X.assign(copy=7 - 3 * X["a"], constant=1.0)
    groups, how = None, {}
    if kind == "categories":
        y = np.where(y > 0, "high", "low")
    elif kind == "gaps":
        X = X.mask(rng.uniform(size=X.shape) < 0.1)
    elif kind == "groups":
        groups = np.arange(150) // 3
    elif kind == "series":
        how["series"] = 4
    elif kind == "a walk":
        y, how["series"] = y.cumsum(), True
    elif kind == "rounded":
        X[list("abc")] = X[list("abc")].round(1)
    selector = MISelector(n_features_to_select=1, random_state=0, **how).fit(X, y, groups)
    found = relevance(X, y, groups=groups, **how)
    assert found.tolist() == selector.relevance_.tolist()
    assert (selector.result_.n_parts > 1) == (kind in ("groups", "series", "many"))


@pytest.mark.parametrize("criterion", ["cmi", "mi"])
def test_every_number_of_a_path(criterion, rng):
    X, y = table(rng)
    how = {"criterion": criterion, "n_permutations": 59}
    selector = MISelector(random_state=7, lookahead=1, **how).fit(X, y)
    assert selector.selected_.size >= 2
    assert selector.path_["action"].iloc[-1] == "stop"
    check_path(X, y, selector, **how)


def test_every_number_of_a_path_with_the_defaults(rng):
    X, y = table(rng, 100)
    X = X[["a", "b", "c", "kind"]]
    selector = MISelector(random_state=7, lookahead=1).fit(X, y)
    assert selector.path_["level"].iloc[0] < 0.05
    check_path(X, y, selector)


def test_every_number_of_a_path_that_removes(rng):
    X, y = table(rng)
    X = X[["a", "b", "c", "kind"]].assign(copy=X["a"] + 0.5 * rng.normal(size=len(X)))
    y = y + X["copy"]
    selector = MISelector(
        random_state=7, lookahead=1, n_permutations=59, search="forward-backward", max_features=3
    ).fit(X, y)
    check_path(X, y, selector, n_permutations=59)


def test_a_removal_by_public_calls(rng):
    """The sum of two columns is taken first, and is redundant once both are there."""
    a, b, noise = rng.normal(size=(3, 300))
    X = pd.DataFrame({"sum": a + b + 0.6 * rng.normal(size=300), "a": a, "b": b, "noise": noise})
    y = a + b + 0.2 * rng.normal(size=300)
    how = {"n_permutations": 39, "alpha": 0.05}
    selector = MISelector(random_state=7, lookahead=1, search="forward-backward", **how).fit(X, y)
    assert "remove" in selector.path_["action"].tolist()
    check_path(X, y, selector, n_permutations=39)


def test_a_pair_by_public_calls():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.uniform(-1, 1, size=(300, 5)), columns=list("abcde"))
    y = np.sign(X["b"] * X["d"]) + 0.2 * rng.normal(size=300)
    selector = MISelector(random_state=0).fit(X, y)
    pair = selector.path_.iloc[:2]
    assert set(pair["feature"]) == {"b", "d"}
    names = pair["feature"].tolist()
    assert mutual_information(X[names], y) == pair["mi"].iloc[0]
    assert pair["gain"].iloc[0] == pair["mi"].iloc[0]  # nothing was selected before
    row, step = pair.iloc[0], selector.result_.steps[0]
    how = {"alpha": row["level"], "random_state": 0, "screen": "auto"}
    test = permutation_test(X, y, list(X), pairs=True, **how)
    at = test.candidates.index(tuple(names))
    assert test.observed[at] == row["gain"]
    assert test.p_values[at] == test.p_value == row["p_value"]
    assert test.null[: len(step.null), 0].tolist() == list(step.null)
    again = type(test).from_json(test.to_json())
    assert again.candidates == test.candidates
    assert again.p_value == test.p_value
    with pytest.raises(ValueError, match="needs correction='max'"):
        permutation_test(X, y, list(X), pairs=True, correction=None)
    with pytest.raises(ValueError, match="must have two columns"):
        permutation_test(X, y, "a", pairs=True)


def test_information_of_several_columns_given_others(rng):
    X, y = table(rng)
    parts = [
        mutual_information(X["b"], y, condition=X["a"], criterion="cmi"),
        mutual_information(X["c"], y, condition=X[["a", "b"]], criterion="cmi"),
    ]
    together = mutual_information(X[["b", "c"]], y, condition=X["a"], criterion="cmi")
    assert together == pytest.approx(sum(parts), abs=0.2)  # two estimates of one quantity
    assert together == mutual_information(X[["c", "b"]], y, condition=X["a"], criterion="cmi")
    difference = mutual_information(X[["a", "b"]], y) - mutual_information(X["a"], y)
    assert mutual_information(X["b"], y, condition=X["a"], criterion="mi") == difference
    given = relevance(X[["b", "c"]], y, condition=X["a"], criterion="mi")
    assert given["b"] == pytest.approx(difference, abs=1e-15)
    with pytest.raises(ValueError, match="'criterion' parameter must be one of 'frenzel-pompe'"):
        mutual_information(X["b"], y, condition=X["a"], criterion="gain")


def test_random_numbers_belong_to_the_given_columns(rng):
    """Neither their order nor their names nor the company of the candidates matters."""
    X, y = table(rng)
    how = {"n_permutations": 19, "correction": None, "random_state": 1}
    one = permutation_test(X, y, ["c", "d"], given=["a"], **how)
    other = permutation_test(X[["d", "a"]].set_axis(["x", "y"], axis=1), y, "x", given="y", **how)
    np.testing.assert_array_equal(one.null[:, 1], other.null[:, 0])
    two = {null: permutation_test(X, y, "c", given=given, null="global", **how).null
           for null, given in (("ab", ["a", "b"]), ("ba", ["b", "a"]), ("a", ["a"]))}  # fmt: skip
    np.testing.assert_array_equal(two["ab"], two["ba"])
    assert not np.array_equal(two["ab"], two["a"])


def test_p_value_of_several_candidates_is_corrected_or_an_array(rng):
    X, y = rng.normal(size=(60, 5)), rng.normal(size=60)
    how = {"n_permutations": 39, "random_state": 0}
    best = permutation_test(X, y, range(5), **how)
    assert best.p_value == best.p_values[np.argmax(best.observed)]
    each = permutation_test(X, y, range(5), correction=None, **how)
    np.testing.assert_array_equal(each.p_value, each.p_values)
    assert isinstance(permutation_test(X, y, 0, correction=None, **how).p_value, float)


def test_a_small_alpha_alone_works(rng):
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=80)
    selector = MISelector(alpha=0.01, random_state=0).fit(X, y)
    level = selector.path_["level"][0]
    assert selector.path_["permutations"][0] == sequential_rule(level, 999).first_acceptance
    assert selector.selected_.tolist() == [0]
    fixed = MISelector(random_state=0, n_permutations=199).fit(X, y)
    assert fixed.path_["permutations"][0] == 199
    with pytest.raises(ValueError, match="'n_permutations' parameter must be 'auto' or an int"):
        MISelector(n_permutations="many").fit(X, y)


def test_a_number_of_features_alone_runs_no_test(rng):
    X, y = table(rng)
    selector = MISelector(n_features_to_select=3, random_state=0).fit(X, y)
    assert selector.selected_.size == 3
    assert selector.path_["p_value"].isna().all()
    tested = MISelector(n_features_to_select=3, stop="fdr", random_state=0, n_permutations=99)
    assert tested.fit(X, y).path_["p_value"].notna().all()


@pytest.mark.parametrize("criterion", ["cmi", "mi"])
def test_a_number_of_features_finds_pairs(criterion):
    found = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, size=(200, 12))
        y = np.sign(X[:, 4] * X[:, 9]) + 0.2 * rng.normal(size=200)
        wanted = {4, 9}
        if criterion == "cmi":  # beside a column that is informative by itself
            y, wanted = y + X[:, 1], {1, 4, 9}
        selector = MISelector(n_features_to_select=len(wanted), criterion=criterion).fit(X, y)
        found += set(selector.selected_) == wanted
    assert found >= 9


def test_single_columns_stay_single_without_tests(rng):
    """A pair must add twice what two columns add one by one."""
    X = rng.normal(size=(200, 8))
    y = X[:, 0] + X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=200)
    selector = MISelector(n_features_to_select=3).fit(X, y)
    assert set(selector.selected_) == {0, 1, 2}
    assert selector.path_["step"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("form", ["array", "list", "pandas", "Int64", "polars", "floats"])
def test_codes_of_classes_are_told(form, rng):
    X = rng.normal(size=(60, 2))
    codes = rng.integers(0, 3, 60)
    y = {
        "array": codes,
        "list": codes.tolist(),
        "pandas": pd.Series(codes, name="kind"),
        "Int64": pd.Series(codes, dtype="Int64"),
        "polars": pl.Series("kind", codes),
        "floats": codes.astype(float),  # as of a file where some are missing
    }[form]
    message = "3 distinct whole numbers, and is taken as numbers.*discrete_target=True"
    calls = (
        lambda **how: relevance(X, y, **how),
        lambda **how: mutual_information(X, y, **how),
        lambda **how: MISelector(stop=None, max_features=1, **how).fit(X, y),
        lambda **how: choose_k(X, y, n_neighbors=(2, 3), n_folds=3, **how),
    )
    for call in calls:
        with pytest.warns(UserWarning, match=message):
            call()
        for known in (True, False):
            call(discrete_target=known)


def test_other_targets_are_not_told(rng):
    X = rng.normal(size=(60, 2))
    targets = (
        rng.integers(0, 2, 60),
        rng.integers(0, 40, 60) * np.arange(60) % 50,
        np.round(rng.normal(size=60), 1),
        rng.integers(0, 3, 60).astype(bool),
        rng.permutation(60),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for y in targets:
            relevance(X, y)
        relevance(X[:18], np.arange(18))  # all distinct: no classes


def test_levels_of_forward_stop():
    assert forward_stop_level([], 0.05) == pytest.approx(-np.expm1(-0.05))
    assert forward_stop_level([0.0, 0.0], 0.05) == pytest.approx(0.1)
    spent = [0.03, 0.06]
    level = forward_stop_level(spent, 0.05)
    assert np.mean(-np.log1p(-np.array([*spent, level]))) == pytest.approx(0.05)
    assert forward_stop_level([0.2], 0.05) == 0.0
