"""Pairs of columns: each of the two has to add something beside the other."""

import numpy as np
import pandas as pd
import pytest

from infosieve import MISelector, PermutationTest, Step, permutation_test
from infosieve._core.documents import plain, typed


def one_weak_column(seed):
    """What is weak by itself, and noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(80, 12))).rename(columns="x{}".format)
    return X, 0.42 * X["x0"] + rng.normal(size=80)


def xor(seed, n=150, m=8):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, m))).rename(columns="x{}".format)
    return X, np.sign(X["x1"] * X["x2"]) + 0.5 * rng.normal(size=n)


@pytest.mark.filterwarnings("ignore:No column was selected")
@pytest.mark.parametrize("seed", [14, 18, 20, 29, 40, 43, 51, 89, 92])
def test_a_pair_carries_no_free_rider(seed):
    """In these the weak column had passed in the company of one of noise."""
    X, y = one_weak_column(seed)
    result = MISelector(random_state=0, max_features=2).fit(X, y).result_
    assert all(len(step.features) == 1 for step in result.steps)


@pytest.mark.parametrize("given", [[], ["x7"]])
def test_a_pair_of_a_strong_column_and_noise_does_not_pass(given):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 8))).rename(columns="x{}".format)
    y = X["x0"] + 0.5 * rng.normal(size=150)
    names = ["x0", "x1", "x2", "x3"]
    test = permutation_test(X, y, names, pairs=True, given=given, random_state=0)
    best = int(test.observed.argmax())
    assert "x0" in test.candidates[best]
    second = test.followed[best]
    assert second.weaker in test.candidates[best]
    assert second.weaker != "x0"
    assert test.p_value > 0.1
    assert test.p_value == (1 + (second.null >= second.observed).sum()) / 200
    again = PermutationTest.from_json(test.to_json())
    assert again.p_values.tolist() == test.p_values.tolist()
    assert again.followed[best].weaker == second.weaker


@pytest.mark.parametrize("seed", range(3))
def test_both_columns_of_an_exclusive_or_add_something(seed):
    X, y = xor(seed)
    found = MISelector(random_state=0).fit(X, y)
    assert set(found.path_["feature"][:2]) == {"x1", "x2"}  # others may pass by chance
    test = permutation_test(X, y, list(X.columns), pairs=True, random_state=0)
    assert set(test.candidates[int(test.observed.argmax())]) == {"x1", "x2"}
    assert test.p_value == 0.005


def test_a_pair_behind_one_with_a_free_rider_is_found():
    """The pairs of a strong column with noise come first; those with it are passed over."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(200, 6))).rename(columns="x{}".format)
    y = 0.9 * X["x0"] + 0.8 * np.sign(X["x1"] * X["x2"]) + 0.4 * rng.normal(size=200)
    found = MISelector(random_state=0, correction="max").fit(X, y)
    assert {"x0", "x1", "x2"} <= set(found.get_feature_names_out())


def test_the_test_of_pairs_given_columns_is_that_of_the_search():
    X, y = xor(0)
    y = y + 2 * X["x0"]
    steps = MISelector(random_state=0, screen=None).fit(X, y).result_.steps
    pair = next(step for step in steps if len(step.features) == 2)
    assert steps[0].features == (0,)
    rest = [name for name in X.columns if name != "x0"]
    test = permutation_test(
        X, y, rest, given="x0", pairs=True, alpha=pair.level, max_samples="auto", random_state=0
    )
    at = test.candidates.index(tuple(X.columns[list(pair.features)]))
    assert test.observed[at] == pair.gain
    assert test.p_values[at] == pair.p_value


def test_a_step_keeps_which_column_is_weaker():
    step = Step(action="add", features=(3, 5), mi=0.1, gain=0.1, n_candidates=9, weaker=5)
    assert typed(plain(step), Step) == step
