"""Many samples in parts: means of estimates, evenly spread classes, the same everywhere."""

import numpy as np
import pandas as pd
import pytest
from conftest import columns, in_order

from infosieve import MISelector, mutual_information, permutation_test, relevance
from infosieve._core.categories import codes_of
from infosieve._resampling.subsamples import MOST_PARTS, PART, parts_of


def data(n=600, m=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("given", [None, [2], [2, 3]])
def test_an_estimate_is_the_mean_of_those_of_parts(given):
    X, y = in_order(*data())
    condition = None if given is None else X[:, given]
    how = {"n_neighbors": (3, 6), "scale": None, "criterion": "cmi"}
    found = relevance(X[:, :2], y, condition=condition, max_samples=150, **how)
    rng = np.random.default_rng(0)
    target = columns(["normal"], 600, rng)
    rows, edges = parts_of(150, target)
    each = [
        relevance(X[at][:, :2], y[at], condition=None if given is None else condition[at], **how)
        for at in np.split(rows, edges[1:-1])
    ]
    assert len(each) == 4
    np.testing.assert_allclose(found, np.mean(each, axis=0), atol=1e-12)
    one = mutual_information(X[:, 0], y, condition=condition, max_samples=150, **how)
    assert one == pytest.approx(found[0], abs=1e-12)


def test_parts_cover_all_samples_and_spread_classes_evenly():
    rng = np.random.default_rng(1)
    target = columns(["category"], 1000, rng)
    rows, edges = parts_of(0.1, target)
    assert np.array_equal(np.sort(rows), np.arange(1000))
    sizes = np.diff(edges)
    assert sizes.size == 10
    assert sizes.min() >= 99
    codes = codes_of(target.values[0])
    for label in np.unique(codes):
        counts = [(codes[part] == label).sum() for part in np.split(rows, edges[1:-1])]
        assert max(counts) - min(counts) <= 1


def test_what_auto_means():
    rng = np.random.default_rng(2)
    assert parts_of("auto", columns(["normal"], 2 * PART - 1, rng)) is None
    assert parts_of(None, columns(["normal"], 2 * PART, rng)) is None
    assert len(parts_of("auto", columns(["normal"], 2 * PART, rng))[1]) == 3
    rows, edges = parts_of("auto", columns(["normal"], (MOST_PARTS + 7) * PART, rng))
    assert len(edges) == MOST_PARTS + 1
    assert np.unique(rows).size == rows.size == edges[-1]  # the rest is not used


def test_a_search_in_parts_by_public_calls_and_threads():
    X, y = data(m=6)
    table = pd.DataFrame(X, columns=list("abcdef"))
    selector = MISelector(max_samples=200, random_state=0).fit(table, y)
    assert set(selector.get_feature_names_out()) == {"a", "b"}
    again = MISelector(max_samples=200, random_state=0, n_jobs=2).fit(table, y)
    assert again.result_.steps == selector.result_.steps
    first, second = selector.path_["feature"][:2]
    how = {"n_neighbors": (3, 15), "max_samples": 200}
    path = selector.path_
    assert mutual_information(table[first], y, **how) == path["mi"][0]
    gain = mutual_information(table[second], y, condition=table[first], criterion="cmi", **how)
    assert gain == path["gain"][1]
    rest = [name for name in table if name != first]
    test = permutation_test(
        table, y, rest, given=first, alpha=path["level"][1], random_state=0, max_samples=200
    )
    assert tuple(np.ravel(test.null)) == selector.result_.steps[1].null


@pytest.mark.parametrize("wrong", [0, 10, 1.5, 0.0, -0.1, True, "all"])
def test_what_max_samples_may_be(wrong):
    X, y = data(n=40)
    with pytest.raises(ValueError, match="'max_samples' parameter must be 'auto', an int"):
        MISelector(max_samples=wrong).fit(X, y)
