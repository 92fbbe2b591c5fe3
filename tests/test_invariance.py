"""What must not matter: who comes first, in which unit, and who does the work."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infosieve import (
    MISelector,
    choose_k,
    mutual_information,
    permutation_test,
    relevance,
    relevance_test,
)

METHODS = [
    {"method": e, "metric": m, "scale": s}
    for e in ("ksg1", "ksg2")
    for m in ("euclidean", "chebyshev")
    for s in ("standard", "normal-scores", None)
]


@pytest.fixture
def data(rng):
    X = rng.normal(size=(120, 3))
    X[:, 1] += X[:, 0]
    return X, X @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=120)


@pytest.mark.parametrize("method", METHODS)
def test_symmetry(data, method):
    X, y = data
    assert mutual_information(X, y, **method) == mutual_information(y, X, **method)
    assert mutual_information(X[:, 0], y, **method) == mutual_information(y, X[:, 0], **method)
    if method["method"] == "ksg1":
        given = X[:, 2]
        there = mutual_information(X[:, :2], y, condition=given, **method)
        assert there == mutual_information(y, X[:, :2], condition=given, **method)


@pytest.mark.parametrize("method", METHODS)
def test_order_of_the_rows(data, method, rng):
    X, y = data
    order = rng.permutation(len(y))
    for columns in (X, X[:, :1]):
        assert mutual_information(columns[order], y[order], **method) == mutual_information(
            columns, y, **method
        )


@pytest.mark.parametrize("method", METHODS)
def test_order_of_the_columns(data, method):
    X, y = data
    forward, backward = (mutual_information(x, y, **method) for x in (X, X[:, ::-1]))
    if method["metric"] == "chebyshev":
        assert forward == backward
    # Sums of squares in another order round differently; counts hardly ever notice.
    assert forward == pytest.approx(backward, abs=1e-3)
    assert (relevance(X, y, **method)[::-1] == relevance(X[:, ::-1], y, **method)).all()


@pytest.mark.parametrize("kind", ["continuous", "rounded", "integers"])
@pytest.mark.parametrize("method", [m for m in METHODS if m["scale"]])
def test_shift_scale_and_sign(data, method, kind):
    X, y = data
    if kind != "continuous":
        X, y = np.round(X, 1 if kind == "rounded" else 0), np.round(y, 1)
    reference = mutual_information(X, y, **method)
    # Powers of two and shifts that lose no digit change no bit.
    assert mutual_information(4 * X, y / 1024, **method) == reference
    if kind == "integers":
        assert mutual_information(X + 1e9, y, **method) == reference
        assert mutual_information(-X, y, **method) == pytest.approx(reference, abs=1e-12)
    for a, b in ((1e-300, 0.0), (3e200, 0.0), (-1.0, 1.0), (0.1, 7.0)):
        assert mutual_information(a * X + b, y, **method) == pytest.approx(reference, abs=2e-2)


def of_many_kinds(seed, n=91, m=24):
    """Columns of all kinds, of an odd number of rows: one stands in the middle of each."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    X[:, 1::6] = np.round(X[:, 1::6])
    X[:, 2::6] = X[:, 2::6] > 0
    X[:, 3::6] = np.where(rng.uniform(size=X[:, 3::6].shape) < 0.1, np.nan, X[:, 3::6])
    gaps = rng.uniform(size=X[:, 4::6].shape) < 0.1
    X[:, 4::6] = np.where(gaps, np.nan, np.round(2 * X[:, 4::6]) / 2)
    X[:, 5::6] = np.sort(X[:, 5::6], axis=0)
    X[:, 11] = np.arange(n)
    known = np.nan_to_num(X)
    noise = 0.3 * rng.normal(size=n)
    return X, known[:, 0] * known[:, 3] + np.sin(known[:, 1]) + known[:, 4] + known[:, 2] + noise


def without_direction(view):
    return view.split()[0] if view and view not in ("rises", "falls") else "line"


def steps_of(result):
    """Steps, of which only the direction depends on signs."""
    return [replace(step, view=without_direction(step.view)) for step in result.steps]


def path(**parameters):
    def found(X, y):
        result = MISelector(random_state=0, screen=6, **parameters).fit(X, y).result_
        return steps_of(result), result.relevance.tolist(), result.duplicates

    return found


def in_groups(X, y):
    groups = np.arange(len(y)) % 20
    return steps_of(MISelector(random_state=0, screen=6).fit(X, y, groups=groups).result_)


def beside_given_columns(X, y):
    how = {"given": [6, 9, 10], "n_permutations": 39, "random_state": 0}
    test = permutation_test(X, y, [0, 1, 2, 3, 4], correction=None, **how)
    return test.observed.tolist(), test.null.tolist()


def each(X, y):
    frame = relevance_test(X, y, random_state=0).to_frame()
    return frame.assign(view=frame.view.map(without_direction)).to_dict("list")


SEARCHES = {
    "default": path(),
    "normal scores": path(scale="normal-scores"),
    "no scale": path(scale=None),
    "chebyshev": path(metric="chebyshev"),
    "gaps as values": path(missing="value"),
    "gaps as medians": path(missing="median"),
    "global": path(null="global", max_features=2),
    "there and back": path(search="forward-backward"),
    "one by one": path(criterion="cmim", stop=None, max_features=3),
    "K by the data": path(n_neighbors="auto", max_features=1),
    "series": path(series=True),
    "groups": in_groups,
    "given": beside_given_columns,
    "relevance": each,
    "K": lambda X, y: choose_k(X[:, :3], y, n_folds=5, random_state=0).t.tolist(),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("search", SEARCHES)
def test_signs_change_no_number(search):
    """Of the columns, all or some, or of the target: steps, p-values, permuted values, all bits."""
    X, y = of_many_kinds(0)
    signs = np.where(np.arange(X.shape[1]) % 3, -1.0, 1.0)
    found = SEARCHES[search](X, y)
    assert SEARCHES[search](X * signs, y) == found
    assert SEARCHES[search](-X, -y) == found


def test_a_mean_of_a_billion_and_a_size_of_nothing(rng):
    x, e = rng.normal(size=(2, 400))
    y = x + e
    reference = mutual_information(x, y)
    assert mutual_information(x + 1e9, y) == pytest.approx(reference, abs=1e-2)
    assert mutual_information(x * 1e-300, y) == pytest.approx(reference, abs=1e-9)
    assert mutual_information(x * 1e300, y * 1e-308) == pytest.approx(reference, abs=1e-2)


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_number_of_threads(rng, n_jobs):
    X = rng.normal(size=(150, 40))
    X[:, ::3] = np.round(X[:, ::3])
    y = X[:, 0] + rng.normal(size=150)
    for given_columns in (None, X[:, :2]):
        one = relevance(X, y, condition=given_columns)
        np.testing.assert_array_equal(one, relevance(X, y, condition=given_columns, n_jobs=n_jobs))


def test_each_column_as_if_it_were_alone(rng):
    X = np.round(rng.normal(size=(200, 12)), 1)
    X[:, 4] = rng.normal(size=200)
    y = X[:, 0] + np.sin(X[:, 4])
    together = relevance(X, y)
    alone = [mutual_information(X[:, j], y) for j in range(12)]
    np.testing.assert_array_equal(together, alone)


def test_columns_larger_than_one_chunk(rng, monkeypatch):
    from infosieve._input import scaling

    X = np.round(rng.normal(size=(50, 30)), 1)
    y = rng.normal(size=50)
    reference = relevance(X, y)
    monkeypatch.setattr(scaling, "_CHUNK_BYTES", 1)
    np.testing.assert_array_equal(relevance(X, y), reference)


@given(st.integers(0, 10**6))
def test_equal_columns_stay_equal(seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, 40)
    y = rng.normal(size=40) + x
    if x.min() == x.max():
        return
    frame = pd.DataFrame({"a": x, "b": 2.0 * x - 7, "c": x.astype(np.float32), "d": -x})
    scores = relevance(frame, y)
    assert scores["a"] == scores["b"] == scores["c"]
    assert scores["d"] == pytest.approx(scores["a"], abs=1e-12)


def test_the_same_on_every_run(rng):
    X, y = np.round(rng.normal(size=(2, 100, 5)), 1)[0], rng.normal(size=100)
    state = np.random.get_state()[1].copy()
    np.testing.assert_array_equal(relevance(X, y), relevance(X, y))
    np.testing.assert_array_equal(np.random.get_state()[1], state)


def test_order_of_tied_rows_moves_little(rng):
    # What separates repeated values belongs to the column as it stands, rows in order.
    x = rng.integers(0, 2, 300)
    y = np.where(rng.uniform(size=300) < 0.1, 1 - x, x)
    orders = [rng.permutation(300) for _ in range(20)]
    estimates = [mutual_information(x[order], y[order]) for order in orders]
    assert np.std(estimates) < 0.03
