"""What could stand in for a selected column."""

import gc
import pickle
import weakref
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from infosieve import MISelector, SelectionResult, mutual_information, permutation_test
from infosieve._core.settings import Settings
from infosieve._executors.threads import Threads
from infosieve._input.problem import open_problem
from infosieve._resampling import nulls
from infosieve._resampling.nulls import local_permutations
from infosieve._resampling.permutations import key_of
from infosieve.selection import _alternatives as module

COLUMNS = ["feature", "stand_in", "information", "in_place", "p_value"]
COLUMNS += ["without", "remaining", "share"]
# What is called to compute them.
ASKED = "infosieve.selection._selector.find_alternatives"


def copies(n=200, n_noise=4, seed=0):
    """Three columns that matter, two copies of each, and noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    X = pd.DataFrame(x, columns=list("abc"))
    for name in "abc":
        for noise in (0.2, 0.3):
            X[f"{name}{noise}"] = X[name] + noise * rng.normal(size=n)
    for j in range(n_noise):
        X[f"noise{j}"] = rng.normal(size=n)
    return X, np.sin(2 * x[:, 0]) + x[:, 1] + 0.7 * x[:, 2] ** 2 + 0.3 * rng.normal(size=n)


@pytest.fixture(scope="module")
def fitted():
    X, y = copies()
    return MISelector(random_state=0).fit(X, y), X, y


def test_every_number_is_that_of_public_functions(fitted, monkeypatch):
    """The naive twin: one call for each number, and a loop for what stands in."""
    selector, X, y = fitted
    frame = selector.alternatives(X, y)
    monkeypatch.setattr(nulls, "key_of", lambda seed, _, given: key_of(seed, "stand-in", given))
    chosen = list(selector.get_feature_names_out())
    others = [name for name in X.columns if name not in chosen]
    assert len(others) <= module.N_TRIED  # all are tried
    rows = []

    def added(name, given):
        known = {"condition": X[given], "criterion": "cmi"} if given else {}
        return mutual_information(X[name], y, n_neighbors=(3, 15), **known)

    def added_beside(name, copy, rest):
        known = np.column_stack([X[rest], copy])
        return mutual_information(X[name], y, n_neighbors=(3, 15), condition=known, criterion="cmi")

    for name in selector.result_.selected:
        name = X.columns[name]
        rest = [other for other in chosen if other != name]
        test = permutation_test(X, y, others, given=rest, alpha=0.05, random_state=0)
        alone, of_one = added(name, rest), []
        for other in others:
            left = added(name, [*rest, other])
            p = test.p_values[test.candidates.index(other)]
            beside = [added_beside(name, copy, rest) for copy in permuted(X, y, other, rest)]
            without = np.mean(beside)
            if max(left, 0) < 0.5 * min(alone, without) and p <= 0.05:
                share = max(left, 0) / without
                of_one.append([name, other, alone, added(other, rest), p, without, left, share])
        rows += sorted(of_one, key=lambda row: -row[3])
    want = pd.DataFrame(rows, columns=COLUMNS)
    first = ["feature", "stand_in"]
    pd.testing.assert_frame_equal(frame[first], want[first])
    np.testing.assert_allclose(frame[COLUMNS[2:]], want[COLUMNS[2:]], rtol=1e-12)


def permuted(X, y, other, rest):
    """Three local surrogates of a column, scaled as columns are."""
    problem = open_problem(X, y, Settings())
    scaled = problem.prepare("standard", Threads(1), with_order=False).x
    given = scaled.take([X.columns.get_loc(name) for name in rest])
    drawn = local_permutations(key_of(0, "stand-in", given), given, "euclidean")
    column = scaled.take([X.columns.get_loc(other)])
    copies = drawn.surrogates(column, Threads(1))(drawn.draw(0, 3)).values
    return copies[:, problem.as_passed]


def test_relatives_of_other_selected_columns_do_not_stand_in():
    """Waves of a are near in no way to b and c, but estimates of more columns are lower."""
    listed = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.normal(size=(150, 4)), columns=list("abcd"))
        X["wave"] = np.sin(2 * X["a"] + 0.3 * rng.normal(size=150))
        y = 2 * X["a"] + X["b"] + 0.5 * X["c"] + 0.5 * X["d"] + 0.2 * rng.normal(size=150)
        found = MISelector(random_state=seed).fit(X, y).alternatives(X, y)
        listed += found["feature"].isin(list("bcd")).sum()
    assert listed <= 1


def test_copies_stand_in_and_nothing_else_does(fitted):
    selector, X, y = fitted
    assert set(selector.get_feature_names_out()) == set("abc")
    found = selector.alternatives(X, y)
    for name in "abc":
        of_one = found.loc[found["feature"] == name, "stand_in"].tolist()
        assert of_one[0] == f"{name}0.2"  # the closer copy first
        assert set(of_one) <= {f"{name}0.2", f"{name}0.3"}
    assert found["share"].between(0, 0.5).all()


def test_columns_that_matter_by_themselves_do_not_stand_in():
    """Two columns that each tell about the target, independently, cannot replace each other."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 6))
    y = X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=300)
    selector = MISelector(max_features=1, random_state=0).fit(X, y)
    assert len(selector.selected_) == 1
    found = selector.alternatives(X, y)
    assert found.empty
    assert list(found.columns) == COLUMNS


def test_noise_does_not_stand_in():
    """Nothing matters but what was asked for: 30 columns of noise, 20 data sets."""
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(80, 30)), rng.normal(size=80)
        selector = MISelector(n_features_to_select=2, random_state=seed).fit(X, y)
        found += len(selector.alternatives(X, y)) > 0
    assert found <= 5


def test_nothing_selected():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    with pytest.warns(UserWarning, match="No column was selected"):
        selector = MISelector(random_state=0).fit(X, y)
    assert selector.alternatives(X, y).empty
    assert selector.result_.alternatives == ()


@pytest.mark.parametrize("kind", ["classes", "category", "gaps", "groups", "series", "fixed"])
def test_kinds_of_tables(kind):
    X, y = copies(n=240)
    groups, how = None, {}
    if kind == "classes":
        y = np.where(y > np.median(y), "high", "low")
    elif kind == "category":
        X["b"] = np.array(list("pqrs"))[np.digitize(X["b"], [-0.67, 0, 0.67])]
    elif kind == "gaps":
        X = X.mask(np.random.default_rng(5).uniform(size=X.shape) < 0.05)
    elif kind == "groups":
        groups = np.arange(240) // 2
    elif kind == "series":
        how["series"] = True
    else:
        how |= {"n_permutations": 99, "stop": "permutation"}
    selector = MISelector(random_state=0, **how).fit(X, y, groups)
    found = selector.alternatives(X, y, groups)
    chosen = set(selector.get_feature_names_out())
    pairs = [(a, b) for a, b in zip(found["feature"], found["stand_in"], strict=True)]
    assert pairs
    assert all(a in chosen and b not in chosen for a, b in pairs)
    assert all(a[0] == b[0] for a, b in pairs)  # copies of the same column


def test_more_columns_than_are_tried(monkeypatch):
    """Those that have most in common with the selected one are tried: copies are among them."""
    X, y = copies(n_noise=60, seed=1)
    whole = MISelector(random_state=0).fit(X, y).alternatives(X, y)
    assert {(a, b) for a, b in zip(whole["feature"], whole["stand_in"], strict=True)} >= {
        (name, f"{name}0.2") for name in "ab"
    }
    monkeypatch.setattr(module, "N_TRIED", 2)
    few = MISelector(random_state=0).fit(X, y).alternatives(X, y)
    assert few.groupby("feature").size().max() <= 2
    assert set(few["stand_in"]) <= {f"{name}{noise}" for name in "abc" for noise in (0.2, 0.3)}


def test_the_same_for_threads_and_order_of_columns(fitted):
    selector, X, y = fitted
    threads = MISelector(random_state=0, n_jobs=3).fit(X, y).alternatives(X, y)
    pd.testing.assert_frame_equal(threads, selector.alternatives(X, y))
    backwards = X[X.columns[::-1]]
    turned = MISelector(random_state=0).fit(backwards, y).alternatives(backwards, y)
    by = ["feature", "stand_in"]
    pd.testing.assert_frame_equal(
        turned.sort_values(by, ignore_index=True),
        selector.alternatives(X, y).sort_values(by, ignore_index=True),
    )


def test_computed_once_and_kept_with_the_result(fitted, monkeypatch):
    _, X, y = fitted
    other = MISelector(random_state=0).fit(X, y)
    assert other.result_.alternatives is None
    assert SelectionResult.from_json(other.result_.to_json()).alternatives is None
    first = other.alternatives(X, y)
    monkeypatch.setattr(ASKED, lambda *_: pytest.fail("again"))
    pd.testing.assert_frame_equal(other.alternatives(X, y), first)
    again = SelectionResult.from_json(other.result_.to_json())
    assert again.alternatives == other.result_.alternatives
    assert len(again.alternatives) == len(first)


def test_asks_about_the_data_and_the_parameters_of_fit():
    X, y = copies(n=100)
    with pytest.raises(NotFittedError):
        MISelector().alternatives(X, y)
    selector = MISelector(random_state=0, max_features=1).fit(X, y)
    with pytest.raises(NotFittedError):
        clone(selector).alternatives(X, y)
    kept = pickle.loads(pickle.dumps(selector))
    found = selector.alternatives(X, y)
    pd.testing.assert_frame_equal(kept.alternatives(X, y), found)
    assert kept.result_.alternatives == selector.result_.alternatives
    pd.testing.assert_frame_equal(clone(selector).fit(X, y).alternatives(X, y), found)
    selector.set_params(alpha=0.01)
    with pytest.raises(ValueError, match=r"alpha was 0.05 and is 0.01: call fit again"):
        selector.alternatives(X, y)
    selector.set_params(alpha=0.05, n_jobs=2)
    pd.testing.assert_frame_equal(selector.alternatives(X, y), found)


@pytest.mark.parametrize(
    "other",
    [
        lambda X, y, groups: (X + 1e-9, y, groups),
        lambda X, y, groups: (X, y + 1e-9, groups),
        lambda X, y, groups: (X, y, None),
        lambda X, y, groups: (X, y, groups // 2),
        lambda X, y, groups: (X[X.columns[::-1]], y, groups),
        lambda X, y, groups: (X[:98], y[:98], groups[:98]),
    ],
    ids=["X", "y", "no groups", "groups", "order", "rows"],
)
@pytest.mark.parametrize("asked", [False, True])
def test_other_data_than_those_of_fit_are_refused(other, asked):
    X, y = copies(n=100)
    groups = np.arange(100) // 2
    selector = MISelector(random_state=0, n_features_to_select=1).fit(X, y, groups)
    if asked:
        selector.alternatives(X, y, groups)
    data = selector.result_.provenance.data[:8]
    with pytest.raises(ValueError, match=f"100 samples with the fingerprint {data}.*X, y and gro"):
        selector.alternatives(*other(X, y, groups))
    assert (selector.result_.alternatives is None) != asked


def test_no_data_are_kept_alive():
    X, y = copies(n=100)
    selector = MISelector(random_state=0, max_features=1).fit(X, y)
    selector.alternatives(X, y)
    assert not any(value is X or value is y for value in vars(selector).values())
    seen = weakref.ref(X)
    del X
    gc.collect()
    assert seen() is None


def test_showing_a_selector_computes_nothing(monkeypatch):
    X, y = copies(n=100)
    monkeypatch.setattr(ASKED, lambda *_: pytest.fail("computed"))
    selector = MISelector(random_state=0, max_features=1).fit(X, y)
    assert "MISelector" in selector._repr_html_()
    assert "MISelector" in make_pipeline(selector)._repr_html_()
    repr(selector)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"feature": 99}, r"none has the numbers; it is \{99\}"),
        ({"p_value": 2.0}, r"at `\$.alternatives\[0\].p_value`"),
        ({"information": 0.0}, r"at `\$.alternatives\[0\].information`"),
        ({"without": 0.0}, r"at `\$.alternatives\[0\].without`"),
    ],
)
def test_documents_that_cannot_be_are_refused(fitted, change, rule):
    selector, X, y = fitted
    selector.alternatives(X, y)
    first = selector.result_.alternatives[0]
    wrong = replace(selector.result_, alternatives=(replace(first, **change),))
    with pytest.raises(ValueError, match=rule):
        SelectionResult.from_json(wrong.to_json())
