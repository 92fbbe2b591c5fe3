"""The order of candidates, columns and rows changes no name and no bit, whoever does the work."""

import json

import numpy as np
import pandas as pd
import pytest
from command import run

from infosieve import (
    FeatureClustering,
    MISelector,
    choose_k,
    entropy,
    examine,
    mutual_information,
    open_columns,
    permutation_test,
    relevance,
    relevance_test,
    stability,
)
from infosieve._core.types import ColumnNumbers
from infosieve.selection._search import Search

N = 60


@pytest.fixture(scope="module", params=["number", "class"])
def table(request):
    """Numbers, ties, categories and gaps; nearly all rows are distinct by numbers."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(N, 5)), columns=list("abcde"))
    X["d"] = X["d"].round()
    X["e"] = X["e"].mask(rng.random(N) < 0.2)
    X["f"] = rng.choice(["u", "v", "w"], N)
    y = np.sin(2 * X["a"]) + X["b"] + (X["f"] == "u") + 0.3 * rng.normal(size=N)
    return X, pd.Series(np.where(y > 0.3, "high", "low") if request.param == "class" else y)


def by_name(test):
    """What a permutation test found, under the name of each candidate."""
    frame = test.to_frame()
    frame["feature"] = [frozenset(n) if isinstance(n, tuple) else n for n in frame["feature"]]
    return {row["feature"]: tuple(row)[1:] for _, row in frame.iterrows()}


def rows_of(frame):
    return sorted(tuple(map(str, row)) for row in frame.itertuples(index=False))


def of_k(choice):
    return choice.k, choice.feature, dict(zip(choice.features, choice.t.tolist(), strict=True))


def answers(found):
    """All numbers of an examination, by name."""
    shares = found.stability.frequencies.tolist()
    clusters = found.clusters.members
    return (
        [[found.selection.features[j] for j in step.features] for step in found.selection.steps],
        [(step.gain, step.p_value) for step in found.selection.steps],
        dict(zip(found.relevance.features, found.relevance.p_values.tolist(), strict=True)),
        dict(zip(found.stability.features, shares, strict=True)),
        {frozenset(map(str, some)) for some in clusters},
    )


def steps(selector):
    frame = selector.path_.drop(columns=["follows", "weaker"])
    return [tuple(map(str, row)) for row in frame.itertuples(index=False)]


TESTED = ["b", "c", "d", "e", "f"]
QUICK = {"n_permutations": 19, "random_state": 0}
CALLS = {
    "test": lambda X, y, **how: by_name(permutation_test(X, y, TESTED, **QUICK, **how)),
    "uncorrected": lambda X, y, **how: by_name(
        permutation_test(X, y, TESTED, correction=None, given="a", **QUICK, **how)
    ),
    "given": lambda X, y, **how: by_name(
        permutation_test(X, y, ["c", "d", "f"], given=["a", "b"], **QUICK, **how)
    ),
    "screened": lambda X, y, **how: by_name(
        permutation_test(X, y, TESTED, screen=2, **QUICK, **how)
    ),
    "pairs": lambda X, y, **how: by_name(
        permutation_test(X, y, ["b", "c", "d"], pairs=True, given="a", **QUICK, **how)
    ),
    "relevance": lambda X, y, **how: relevance(X, y, **how).to_dict(),
    "in parts": lambda X, y, **how: relevance(X, y, max_samples=50, **how).to_dict(),
    "relevance_test": lambda X, y, **how: dict(
        zip(X.columns, relevance_test(X, y, random_state=0, **how).p_values, strict=True)
    ),
    "select": lambda X, y, **how: steps(MISelector(random_state=0, **how).fit(X, y)),
    "rank": lambda X, y, **how: steps(MISelector(n_features_to_select=3, **how).fit(X, y)),
    "cmim": lambda X, y, **how: steps(
        MISelector(n_features_to_select=5, criterion="cmim", **how).fit(X, y)
    ),
    "predict": lambda X, y, **how: (
        MISelector(stop="cv", random_state=0, **how).fit(X, y).cv_scores_["mean"].tolist()
    ),
    "choose_k": lambda X, y, **how: of_k(choose_k(X, y, random_state=0, **how)),
    "alternatives": lambda X, y, **how: rows_of(
        MISelector(n_features_to_select=2, random_state=0, **how)
        .fit(X.assign(near=X["a"] + X["b"] / 9), y)
        .alternatives(X.assign(near=X["a"] + X["b"] / 9), y)
    ),
    "examine": lambda X, y, **how: answers(
        examine(X, y, MISelector(random_state=0, **how), n_resamples=2)
    ),
}  # fmt: skip


FEW = pytest.mark.filterwarnings("ignore:From .* halves nothing was selected")


@FEW
@pytest.mark.parametrize("call", CALLS)
def test_any_order_of_the_rows(call, table):
    X, y = table
    rows = np.random.default_rng(1).permutation(N)
    there = CALLS[call](X, y)
    again = CALLS[call](X.iloc[rows].reset_index(drop=True), y.iloc[rows].reset_index(drop=True))
    assert again == there


@FEW
@pytest.mark.parametrize("call", CALLS)
def test_any_order_of_the_columns(call, table):
    X, y = table
    assert CALLS[call](X[list("fbdaec")], y) == CALLS[call](X, y)


@pytest.fixture(scope="module", params=["numbers", "counts"])
def exclusive_or(request):
    """Columns that tell something together, of which one tells no more alone than the other."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("pqrs"))
    y = pd.Series(np.sign(X["p"] * X["s"]) + 0.3 * rng.normal(size=200))
    if request.param == "numbers":
        return X, y
    X["p"], X["s"] = np.tile(["u", "v"], 100), np.tile(["u", "u", "v", "v"], 50)
    return X, pd.Series(np.where(X["p"] != X["s"], "yes", "no"))


def pairs_in_order(X, y):
    test = permutation_test(X, y, list(X.columns), pairs=True, screen=2, **QUICK)
    values = zip(test.observed.tolist(), test.p_values.tolist(), strict=True)
    return dict(zip(test.candidates, values, strict=True))


@pytest.mark.parametrize("call", ["select", "predict", "rank", "pairs"])
def test_any_order_of_an_exclusive_or(call, exclusive_or):
    """Which of the two came first went by their places in the table."""
    X, y = exclusive_or
    ask = pairs_in_order if call == "pairs" else CALLS[call]
    there = ask(X, y)
    rows = np.random.default_rng(1).permutation(len(X))
    for order in ("srqp", "rspq", "qsrp"):
        x = X[list(order)]
        assert ask(x, y) == there
        x, target = (part.iloc[rows].reset_index(drop=True) for part in (x, y))
        assert ask(x, target) == there


def test_the_command_in_any_order(exclusive_or, tmp_path):
    X, y = exclusive_or
    found = []
    for order in ("pqrs", "srqp"):
        X[list(order)].assign(y=y).to_csv(tmp_path / f"{order}.csv", index=False)
        words = ("select", f"{order}.csv", "--target", "y", "--seed", "0", "--quiet", "--json")
        told = json.loads(run(*words, cwd=tmp_path).stdout)
        found.append([[told["features"][j] for j in step["features"]] for step in told["steps"]])
    assert found[0] == found[1]
    assert sorted(found[0][0]) == ["p", "s"]


@pytest.mark.parametrize("order", ["pqrs", "srqp"])
def test_a_search_goes_on_from_a_pair(order, exclusive_or, tmp_path, monkeypatch):
    X, y = exclusive_or
    whole = MISelector(random_state=0).fit(X, y)
    X, pair = X[list(order)], steps(whole)[:2]
    how, original = {"random_state": 0, "checkpoint": tmp_path / "steps.json"}, Search._next

    def interrupted(search, remaining):
        if search.path:
            raise KeyboardInterrupt
        return original(search, remaining)

    monkeypatch.setattr(Search, "_next", interrupted)
    begun = MISelector(**how)
    with pytest.raises(KeyboardInterrupt, match="the 1 steps that were finished"):
        begun.fit(X, y)
    assert steps(begun) == pair
    monkeypatch.undo()
    assert steps(MISelector(**how).fit(X, y)) == steps(whole)


def test_entropy_in_any_order():
    """Rounding went by the order in one of ten tables."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(N, 4))
        there = entropy(X)
        assert entropy(X[rng.permutation(N)]) == there
        assert entropy(X[:, rng.permutation(4)]) == there


def test_rows_that_only_categories_tell_apart():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.choice(list("pqr"), size=(N, 3)), columns=list("abc"))
    y = pd.Series(np.where((X["a"] == "p") ^ (rng.random(N) < 0.2), "yes", "no"))
    rows = rng.permutation(N)
    there = permutation_test(X, y, ["a", "b", "c"], **QUICK)
    X, y = (part.iloc[rows].reset_index(drop=True) for part in (X, y))
    assert (permutation_test(X, y, ["a", "b", "c"], **QUICK).null == there.null).all()


def test_rows_of_classes_by_columns_of_two_values():
    """Turned or not, a column of two values tells rows apart."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(N, 12)).astype(float)
    X[: N // 2, 0], X[N // 2 :, 0] = 0.0, 1.0
    y, rows = rng.choice(["u", "v"], N), rng.permutation(N)
    there = permutation_test(X, y, range(12), **QUICK)
    assert (permutation_test(X[rows], y[rows], range(12), **QUICK).null == there.null).all()


@pytest.mark.parametrize("how", [{}, {"n_jobs": 3}, {"correction": None}, {"screen": 2}])
@pytest.mark.parametrize("given", [[], ["a"]])
def test_any_order_of_the_candidates(table, how, given):
    """All columns of a table in another order had the results of their places."""
    X, y = table
    names = TESTED if given else ["a", *TESTED]
    there = permutation_test(X, y, names, given=given, **QUICK, **how)
    for order in (names[::-1], names[2:] + names[:2]):
        other = permutation_test(X, y, order, given=given, **QUICK, **how)
        assert by_name(other) == by_name(there)
        if "screen" not in how:
            assert list(other.candidates) == order


def test_candidates_in_an_order_of_their_own_have_their_own_names():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc"))
    y = X["a"] + 0.1 * rng.normal(size=80)
    test = permutation_test(X, y, ["c", "b", "a"], random_state=0)
    assert test.candidates[int(test.observed.argmax())] == "a"


@FEW
@pytest.mark.parametrize("call", ["test", "uncorrected", "given", "relevance_test", "select"])
@pytest.mark.parametrize("kind", ["drifting", "matched", "in stretches"])
def test_any_order_of_the_rows_of_groups(call, kind, table):
    """Of any group, too: which place a row has in its group must not matter."""
    X, y = table
    rng = np.random.default_rng(4)
    sizes = [20, 10, 8, 6, 5, 4, 3, 2, 1, 1] if kind == "in stretches" else [4] * 15
    groups = np.repeat(np.arange(len(sizes)), sizes)
    if kind == "drifting":
        X = X.assign(b=X["b"].cumsum(), c=groups % 3)
    if kind == "matched":  # the target, and a column, by the place in the group
        y = pd.Series(np.tile([0.0, 1.5, 2.2, 3.1], 15))
        X = X.assign(a=y + X["a"], c=y.round())
    fit = CALLS[call] if call != "select" else selected_in_groups
    found = []
    for rows in (np.arange(N), rng.permutation(N), np.lexsort((rng.random(N), groups))):
        x, target = (part.iloc[rows].reset_index(drop=True) for part in (X, y))
        found.append(fit(x, target, groups=groups[rows]))
    assert found[0] == found[1] == found[2]


def selected_in_groups(X, y, groups):
    return steps(MISelector(random_state=0, min_features=1).fit(X, y, groups=groups))


def test_any_order_of_the_given_columns(table):
    X, y = table
    there = permutation_test(X, y, ["b", "c"], given=["a", "e", "f"], **QUICK)
    again = permutation_test(X, y, ["b", "c"], given=["f", "a", "e"], **QUICK)
    assert again.observed.tolist() == there.observed.tolist()
    assert again.null.tolist() == there.null.tolist()
    one, two = (
        mutual_information(X[s], y, condition=X[g])
        for s, g in (("b", ["a", "f"]), ("b", ["f", "a"]))
    )
    assert one == two


@pytest.fixture(scope="module")
def client():
    """Workers in threads of this process."""
    from distributed import Client, LocalCluster

    options = {"processes": False, "dashboard_address": ":0", "threads_per_worker": 1}
    with (
        LocalCluster(n_workers=2, silence_logs=50, **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.mark.filterwarnings("ignore:Port .* is already in use")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("how", [{}, {"screen": 2}, {"pairs": True, "screen": 2}])
def test_any_order_of_the_candidates_on_dask(table, how, client, monkeypatch):
    from infosieve._executors import dask as executor

    monkeypatch.setattr(executor, "_JOB_SECONDS", 0.02)
    monkeypatch.setattr(executor, "_SMALL", 100)
    X, y = table
    there = permutation_test(X, y, TESTED, given="a", **QUICK, **how)
    for order in (TESTED[::-1], TESTED[2:] + TESTED[:2]):
        other = permutation_test(X, y, order, given="a", executor=client, **QUICK, **how)
        assert by_name(other) == by_name(there)


def test_clusters_in_any_order(table):
    X, y = table
    X = X[list("abcd")]
    rows, found = np.random.default_rng(1).permutation(N), []
    for x, target in ((X, y), (X[list("dbca")], y), (X.iloc[rows], y.iloc[rows])):
        names = FeatureClustering(n_clusters=2).fit(x, pd.factorize(target)[0]).result_.members
        found.append({frozenset(map(str, some)) for some in names})
    assert found[0] == found[1]


def test_halves_in_any_order(table):
    X, y = table
    there = stability(MISelector(n_features_to_select=2), X, y, n_resamples=4, random_state=0)
    rows = np.random.default_rng(1).permutation(N)
    again = stability(
        MISelector(n_features_to_select=2),
        X.iloc[rows].reset_index(drop=True),
        y.iloc[rows].reset_index(drop=True),
        n_resamples=4,
        random_state=0,
    )
    assert again.frequencies.tolist() == there.frequencies.tolist()


def test_rows_on_disk_in_any_order(table, tmp_path, monkeypatch):
    """The same order as in memory, whatever the order in the file, also of classes alone."""
    monkeypatch.setattr("infosieve._input.lazy_columns.SMALL", 0)
    X, y = table
    X = X.drop(columns="f")
    rows, found = np.random.default_rng(1).permutation(N), []
    for number, order in enumerate((np.arange(N), rows)):
        X.iloc[order].to_parquet(tmp_path / f"{number}.parquet")
        source = open_columns(tmp_path / f"{number}.parquet")
        found.append(permutation_test(source, y.iloc[order].to_numpy(), ["a", "b"], **QUICK).null)
    monkeypatch.undo()
    found.append(permutation_test(X, y, ["a", "b"], **QUICK).null)
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


def test_numbers_of_columns_have_one_order():
    assert list(ColumnNumbers([3, 1, 1, np.int64(2)])) == [1, 2, 3]
    assert (np.arange(5)[ColumnNumbers([4, 0])] == [0, 4]).all()
    assert ColumnNumbers([1, 0]) == ColumnNumbers((0, 1))
