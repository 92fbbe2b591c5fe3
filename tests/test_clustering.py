"""Feature clustering: twins, truths, invariants, and what users do."""

import pickle
from itertools import product

import naive
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import dendrogram, fcluster, linkage
from scipy.sparse import coo_array
from scipy.spatial.distance import squareform
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneOut, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from infosieve import FeatureClustering, false_neighbors
from infosieve._engines.numba.false_neighbors import count_false, strips_of
from infosieve._executors.threads import Threads
from infosieve._input.scaling import prepare


def prepared(values, scale="standard", categorical=False):
    values = np.atleast_2d(np.asarray(values, float))
    flags = np.full(len(values), categorical)
    return prepare(values, flags, scale, 3, Threads(1), with_order=True, separate=False)


def blocks(rng, n=150, m=12, n_blocks=3):
    """Columns in blocks that are redundant with respect to y, but for noise of their own."""
    latent = rng.normal(size=(n, n_blocks))
    labels = np.sort(np.arange(m) % n_blocks)
    X = latent[:, labels] + 0.15 * rng.normal(size=(n, m))
    y = latent @ [1.0, 0.8, 0.6] + 0.1 * rng.normal(size=n)
    return X, y, labels


def messy(rng, n=40):
    """Constant columns, copies, negated copies, rounded values, repeated rows."""
    a, b, c = rng.normal(size=(3, n))
    X = np.column_stack(
        [a, np.full(n, 3.0), a + 0.1 * c, -a, np.round(b), b, 2 * b + 1, np.round(c), c * a, -b]
    )
    y = a + np.round(b, 1)
    X[n // 2 :: 3], y[n // 2 :: 3] = X[0], y[0]
    return X, y


# --- false neighbours


@pytest.mark.parametrize("kind", ["normal", "rounded", "integers", "binary", "heavy"])
@pytest.mark.parametrize("n", [2, 3, 17, 120])
@pytest.mark.parametrize("width", [1, 4, 1000])
def test_false_neighbours_agree_with_plain_loops(kind, n, width, rng):
    from conftest import column

    for _ in range(3):
        x, y, z = (column(k, n, rng) for k in (kind, kind, "rounded"))
        for targets in (np.array([y]), np.array([y, z])):
            comp = np.empty(n, np.int64)
            order = np.argsort(x).astype(np.int32)
            count_false(x, order, targets, strips_of(targets[0], width), comp)
            np.testing.assert_array_equal(comp, naive.false_neighbors(x, targets))


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-2, 2)), min_size=2, max_size=40))
def test_false_neighbours_of_points_on_a_grid(points):
    x, y = np.array(points, float).T
    comp = np.empty(len(x), np.int64)
    count_false(x, np.argsort(x).astype(np.int32), y[None], strips_of(y, 5), comp)
    np.testing.assert_array_equal(comp, naive.false_neighbors(x, y[None]))


@pytest.mark.parametrize("scale", ["standard", "normal-scores", None])
def test_the_public_function_counts_scaled_columns(scale, rng):
    X, y = messy(rng)
    x, target = (prepared(v, scale) for v in (X.T, y))
    ref = np.array([naive.false_neighbors(row, target.values) for row in x.values]).T
    comp = false_neighbors(X, y, scale=scale)
    np.testing.assert_array_equal(comp[:, 1], 0)  # the constant column
    np.testing.assert_array_equal(comp, ref)


@pytest.mark.parametrize("scale", ["standard", "normal-scores", None])
@pytest.mark.parametrize("kind", ["normal", "rounded", "binary", "heavy"])
def test_a_column_and_its_negative_have_the_same_counts(scale, kind, rng):
    from conftest import column

    for n in (29, 30, 200):
        x, y = column(kind, n, rng), column("rounded", n, rng)
        X = np.column_stack([x, -x, 3 * x, 0.1 * x, x + 1, 7 - 1.1 * x])
        counts = false_neighbors(X, y, scale=scale)
        np.testing.assert_array_equal(counts[:, 0], counts[:, 1])
        if scale is not None:
            for j in range(2, 6 if kind != "heavy" else 3):
                np.testing.assert_array_equal(counts[:, 0], counts[:, j])


@pytest.mark.parametrize("unit", ["1", "0.1", "1/3"])
def test_false_neighbours_of_evenly_spaced_values_are_exact(unit):
    """Against rational arithmetic: rounding must not make equal distances differ."""
    from fractions import Fraction

    rng = np.random.default_rng(5)
    for _ in range(4):
        x, y = (rng.integers(0, 20, 50) for _ in range(2))
        exact = naive.exact_false_neighbors([int(v) * Fraction(unit) for v in x], y.tolist())
        scaled = x * float(Fraction(unit))
        np.testing.assert_array_equal(false_neighbors(scaled[:, None], y)[:, 0], exact)


def test_units_and_order_of_rounded_columns_change_no_cluster():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y, _ = blocks(rng, n=80)
        X, y = np.round(X, 1), np.round(y, 1)
        a = FeatureClustering(4).fit(X, y).labels_
        b = FeatureClustering(4).fit(X * rng.uniform(0.1, 9, size=12) + 3, y).labels_
        np.testing.assert_array_equal(a, b)
    copies = np.column_stack([rng.integers(0, 30, 60)] * 5)
    fit = FeatureClustering(1).fit(copies, rng.integers(0, 30, 60))
    assert fit.similarities_.tolist() == [1.0] * 4


def test_a_column_that_determines_the_target_has_no_false_neighbours(rng):
    x = rng.normal(size=300)
    assert false_neighbors(x[:, None], 2 * x + 1).max() == 0
    assert false_neighbors(x[:, None], rng.normal(size=300)).mean() > 5


def test_false_neighbours_for_classes_are_those_closer_than_the_own_class(rng):
    X, y = rng.normal(size=(60, 2)), np.array(["a", "b", "c"], object)[rng.integers(0, 3, 60)]
    y[0] = "alone"
    comp = false_neighbors(X, y)
    x = prepared(X.T).values
    for j in range(2):
        for i in range(1, 60):
            gaps = np.abs(x[j] - x[j, i])
            own = min(gaps[k] for k in range(60) if k != i and y[k] == y[i])
            assert comp[i, j] == sum(gaps[k] < own for k in range(60) if k != i)
    np.testing.assert_array_equal(comp[0], 0)  # nobody to be compared with


def test_names_threads_and_large_tables_of_false_neighbours(rng):
    X = pd.DataFrame(rng.normal(size=(3000, 40))).add_prefix("c")
    X.index = X.index + 7
    y = X["c0"] + rng.normal(size=3000)
    one, two = (false_neighbors(X, y, n_jobs=jobs) for jobs in (1, 2))
    pd.testing.assert_frame_equal(one, two)
    assert list(one) == list(X)
    assert one.index.equals(X.index)
    frame = pl.DataFrame({"a": X["c0"].to_numpy(), "b": X["c1"].to_numpy()})
    assert list(false_neighbors(frame, y.to_numpy())) == ["a", "b"]


# --- merges


GRAPH = [(0, 1), (1, 2), (2, 3), (0, 3), (4, 5), (5, 6), (6, 8), (7, 9)]  # three components


def merged(clustering):
    """The merges as (members, members, similarity)."""
    m = clustering.n_features_in_
    members = {j: [j] for j in range(m)}
    merges = []
    pairs = zip(clustering.children_.tolist(), clustering.similarities_, strict=True)
    for step, ((a, b), similarity) in enumerate(pairs):
        first, second = sorted([members[a], members[b]])
        merges.append((first, second, similarity))
        members[m + step] = sorted(first + second)
    return merges


OPTIONS = [
    options
    for options in product(
        ["supervised", "unsupervised"],
        ["pearson", "spearman"],
        ["representative", "average", "complete"],
        ["mean", "medoid", "pls"],
    )
    if options[2] == "representative" or options[3] == "mean"
]


@pytest.mark.parametrize(("similarity", "correlation", "linkage", "kind"), OPTIONS)
@pytest.mark.parametrize("connectivity", [None, "chain", "graph"])
@pytest.mark.parametrize("data", ["blocks", "messy"])
def test_merges_agree_with_plain_loops(
    similarity, correlation, linkage, kind, connectivity, data, rng
):
    X, y = messy(rng) if data == "messy" else blocks(rng, n=35, m=10)[:2]
    m = X.shape[1]
    pairs, matrix = None, connectivity
    if connectivity == "chain":
        pairs = [(j, j + 1) for j in range(m - 1)]
    elif connectivity == "graph":
        pairs = GRAPH
        rows, columns = np.array(pairs).T
        matrix = coo_array((np.ones(len(pairs)), (rows, columns)), shape=(m, m))
    comp = FeatureClustering(
        3,
        similarity=similarity,
        correlation=correlation,
        linkage=linkage,
        representative=kind,
        connectivity=matrix,
    ).fit(X, y)
    x, target = prepared(X.T).values, prepared(y).values
    ref = naive.agglomerate(
        x,
        list(target) if similarity == "supervised" else None,
        correlation == "spearman",
        linkage,
        kind,
        pairs and {*pairs, *((b, a) for a, b in pairs)},
        lambda column: prepared(column).values[0],
        target[0],
    )
    assert merged(comp) == ref


@pytest.mark.parametrize("scale", ["normal-scores", None])
@pytest.mark.parametrize("kind", ["mean", "medoid"])
def test_merges_agree_with_plain_loops_in_other_scales(scale, kind, rng):
    X, y = messy(rng)
    comp = FeatureClustering(3, scale=scale, representative=kind).fit(X, y)
    # Without a scale, numbers are brought into range by the largest exponent of all.
    exponent = int(np.frexp(max(np.abs(X).max(), np.abs(y).max()))[1])
    x, target = (
        prepare(np.atleast_2d(v), np.zeros(len(np.atleast_2d(v)), bool), scale, exponent,
                Threads(1), with_order=True, separate=False).values
        for v in (X.T, y)
    )  # fmt: skip

    def rescale(column):
        return prepare(column[None], np.zeros(1, bool), scale, 0, Threads(1), False, False).values[
            0
        ]

    ref = naive.agglomerate(
        x, list(target), False, "representative", kind, None, rescale, target[0]
    )
    assert merged(comp) == ref


@pytest.mark.parametrize("target", ["two", "classes"])
def test_merges_agree_with_plain_loops_for_other_targets(target, rng):
    X, y = messy(rng)
    if target == "two":
        y = np.column_stack([y, np.round(X[:, 5] ** 2, 1)])
        targets = prepared(y.T).values
    else:
        codes = np.digitize(y, [-1, 0, 1])
        y = np.array(["a", "b", "c", "d"], object)[codes]
        first = [list(dict.fromkeys(y)).index(v) for v in y]
        targets = prepared([first], categorical=True).values
    comp = FeatureClustering(3).fit(X, y)
    ref = naive.agglomerate(
        prepared(X.T).values, list(targets), False, "representative", "mean", None,
        lambda column: prepared(column).values[0], None,
    )  # fmt: skip
    assert merged(comp) == ref


@pytest.mark.parametrize("method", ["average", "complete"])
def test_linkage_agrees_with_scipy(method, rng):
    X, y = rng.normal(size=(80, 30)), rng.normal(size=80)
    X += X[:, :5] @ rng.normal(size=(5, 30))
    c = false_neighbors(X, y)
    ref = linkage(squareform(1 - np.corrcoef(c.T), checks=False), method)
    comp = FeatureClustering(4, linkage=method).fit(X, y)
    np.testing.assert_allclose(comp.linkage_matrix_[:, 2:], ref[:, 2:], atol=1e-12)
    np.testing.assert_array_equal(np.sort(comp.linkage_matrix_[:, :2]), np.sort(ref[:, :2]))
    labels = fcluster(ref, 4, "maxclust")
    assert len(set(zip(labels, comp.labels_, strict=True))) == 4


def test_threads_change_nothing(rng):
    X, y = rng.normal(size=(600, 1000)), rng.normal(size=600)
    options = {"n_clusters": 5, "linkage": "representative"}
    one, two = (FeatureClustering(**options, n_jobs=j).fit(X[:, :300], y) for j in (1, 2))
    np.testing.assert_array_equal(one.children_, two.children_)
    np.testing.assert_array_equal(one.similarities_, two.similarities_)
    options["linkage"] = "average"
    one, two = (FeatureClustering(**options, n_jobs=j).fit(X, y) for j in (1, 2))
    np.testing.assert_array_equal(one.similarities_, two.similarities_)


def test_correlations_are_shared_out_among_threads(rng, monkeypatch):
    from infosieve.clustering import _agglomeration

    monkeypatch.setattr(_agglomeration, "_TASK_CELLS", 64)
    X, y = rng.normal(size=(60, 40)), rng.normal(size=60)
    one, three = (FeatureClustering(5, n_jobs=j).fit(X, y) for j in (1, 3))
    np.testing.assert_array_equal(one.linkage_matrix_, three.linkage_matrix_)


@pytest.mark.parametrize("representative", ["mean", "medoid", "pls"])
def test_the_order_of_columns_changes_no_cluster(representative, rng):
    X, y, _ = blocks(rng, m=20)
    order = rng.permutation(20)
    a = FeatureClustering(6, representative=representative).fit(X, y)
    b = FeatureClustering(6, representative=representative).fit(X[:, order], y)
    pairs = set(zip(a.labels_[order], b.labels_, strict=True))
    assert len(pairs) == 6


# --- truths


@pytest.mark.parametrize("similarity", ["supervised", "unsupervised"])
@pytest.mark.parametrize("linkage", ["representative", "average", "complete"])
@pytest.mark.parametrize("representative", ["mean", "medoid", "pls"])
@pytest.mark.parametrize("correlation", ["pearson", "spearman"])
def test_blocks_are_found(similarity, linkage, representative, correlation, rng):
    X, y, labels = blocks(rng, n=300)
    X[:, 1] *= -1
    clusters = FeatureClustering(
        3,
        similarity=similarity,
        linkage=linkage,
        representative=representative,
        correlation=correlation,
    ).fit(X, y)
    np.testing.assert_array_equal(clusters.labels_, labels)
    known = np.corrcoef(clusters.transform(X).T, X.T)[:3, 3:]
    for label, row in enumerate(np.abs(known)):
        assert row[labels == label].min() > 0.95


def test_negated_copies_do_not_cancel(rng):
    x, noise = rng.normal(size=(2, 100))
    y = x + 0.1 * rng.normal(size=100)
    X = np.column_stack([x, -x, noise])
    for similarity in ("supervised", "unsupervised"):
        clusters = FeatureClustering(2, similarity=similarity).fit(X, y)
        assert clusters.labels_.tolist() == [0, 0, 1]
        assert clusters.similarities_[0] == 1.0
        np.testing.assert_allclose(clusters.transform(X)[:, 0], (x - x.mean()) / x.std())


def test_columns_that_cancel_by_their_slopes_do_not(rng):
    n = 16
    x = np.r_[np.arange(1, n + 1), -np.arange(1, n + 1)]
    y = np.tile(rng.integers(0, 12, n), 2)  # no covariance with x
    X = np.column_stack([x, -x, rng.normal(size=2 * n)])
    clusters = FeatureClustering(2, representative="pls").fit(X, y)
    assert clusters.labels_.tolist() == [0, 0, 1]
    np.testing.assert_allclose(np.abs(clusters.transform(X)[:, 0]), np.abs(x) / x.std())


def test_a_perfect_column_is_the_medoid(rng):
    y = rng.normal(size=80)
    X = np.column_stack([rng.normal(size=80), y + rng.normal(size=80), 3 * y])
    assert FeatureClustering(1, representative="medoid").fit(X, y).medoids_.tolist() == [2]


def test_constant_columns_count_nothing(rng):
    x = rng.normal(size=60)
    X = np.column_stack([np.full(60, 1e-5), x, np.ones(60), np.ones(60)])
    clusters = FeatureClustering(1).fit(X, x + rng.normal(size=60))
    np.testing.assert_allclose(clusters.transform(X)[:, 0], (x - x.mean()) / x.std())
    later = X.copy()
    later[:, 0] = 1.0
    np.testing.assert_array_equal(clusters.transform(later), clusters.transform(X))


def test_flags_are_numbers(rng):
    X = pd.DataFrame(rng.normal(size=(60, 3))).add_prefix("c").assign(flag=rng.normal(size=60) > 0)
    y = X["c0"] + X["flag"]
    as_numbers = X.assign(flag=X["flag"].astype(float))
    np.testing.assert_array_equal(false_neighbors(X, y), false_neighbors(as_numbers, y))
    assert FeatureClustering(2).fit(X, y).transform(X).shape == (60, 2)


def test_columns_of_very_different_size_without_a_scale(rng):
    X = rng.normal(size=(100, 5)) * [1e-85, 1e-85, 1e-85, 1, 1]
    clusters = FeatureClustering(2, scale=None, similarity="unsupervised").fit(X)
    ref = FeatureClustering(2, similarity="unsupervised").fit(X)
    np.testing.assert_allclose(clusters.similarities_[0], ref.similarities_[0])


def test_a_failed_fit_leaves_nothing_behind(rng):
    X, y, _ = blocks(rng)
    clusters = FeatureClustering(3).fit(X, y)
    with pytest.raises(ValueError, match="asks for 13"):
        clusters.set_params(n_clusters=13).fit(X, y)
    assert clusters.transform(X).shape == (150, 3)  # refused at the door: the old fit stands


def test_constant_columns_join_last(rng):
    X, y, _ = blocks(rng)
    X[:, [2, 5]] = 7.0
    clusters = FeatureClustering(5).fit(X, y)
    assert (clusters.similarities_[-2:] == -1).all()
    assert np.bincount(clusters.labels_)[clusters.labels_[[2, 5]]].tolist() == [1, 1]
    assert np.isfinite(clusters.transform(X)).all()
    all_constant = np.ones((30, 3))
    assert FeatureClustering(1).fit(all_constant, rng.normal(size=30)).labels_.tolist() == [0] * 3


def test_supervised_clusters_go_by_the_target():
    """Columns 0 and 1 are correlated, but not in what is informative about y."""
    rng = np.random.default_rng(2)
    n = 400
    s, t, e, f = rng.normal(size=(4, n))
    X = np.column_stack([s + 0.1 * e, s + 0.1 * f, t + 0.1 * e, t + 0.1 * f])
    y = e - f  # what matters is e against f, a small part of each column
    wide = FeatureClustering(2, similarity="unsupervised").fit(X, y)
    assert wide.labels_.tolist() == [0, 0, 1, 1]
    c = false_neighbors(X, y)
    plain, supervised = np.corrcoef(X.T), np.corrcoef(c.T)
    assert plain[0, 1] > 0.98
    assert supervised[0, 1] < plain[0, 1] - 0.05


# --- the number of clusters


def test_a_threshold_stops_at_the_first_merge_below_it(rng):
    for seed in range(40):  # find a tree whose similarities rise again after falling
        X, y, _ = blocks(np.random.default_rng(seed), n=40, m=15)
        s = FeatureClustering(1).fit(X, y).similarities_
        rises = np.flatnonzero(np.diff(s) > 0)
        if rises.size:
            break
    at = rises[0]
    threshold = (s[at] + s[at + 1]) / 2
    first = np.flatnonzero(s < threshold)[0]
    clusters = FeatureClustering(None, similarity_threshold=threshold).fit(X, y)
    assert first <= at
    assert clusters.n_clusters_ == 15 - first == len(set(clusters.labels_))
    assert FeatureClustering(None, similarity_threshold=-1).fit(X, y).n_clusters_ == 1
    assert FeatureClustering(None, similarity_threshold=1.0).fit(X, y).n_clusters_ == 15


def test_auto_finds_the_blocks_that_matter(rng):
    X, y, _ = blocks(rng, n=120, m=30)
    clusters = FeatureClustering(random_state=0).fit(X, y)
    assert 3 <= clusters.n_clusters_ <= 10
    results = clusters.cv_results_
    assert results["n_clusters"][0] == 1
    assert results["n_clusters"][-1] == 30
    each = np.array([results[f"split{i}_test_score"] for i in range(20)])
    np.testing.assert_allclose(results["mean_test_score"], each.mean(axis=0))
    np.testing.assert_allclose(results["std_test_score"], each.std(axis=0))
    again = FeatureClustering(random_state=0, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(again.cv_results_["mean_test_score"], results["mean_test_score"])
    other = FeatureClustering(random_state=1).fit(X, y)
    assert (other.cv_results_["mean_test_score"] != results["mean_test_score"]).any()


@pytest.mark.parametrize("classes", [False, True])
def test_auto_agrees_with_plain_loops(classes, rng):
    """Each fold by hand: clusters without it, a model behind each number of them."""
    X, y, _ = blocks(rng, n=60, m=8)
    y = np.where(y > 0, "high", "low") if classes else (y - y.mean()) / y.std()
    model = LogisticRegression() if classes else None
    comp = FeatureClustering(model=model, cv=3, random_state=7).fit(X, y)
    seeds = np.random.SeedSequence(7).generate_state(2 if classes else 5)
    kind = StratifiedKFold if classes else KFold
    each = []
    for seed in seeds.tolist():
        for train, test in kind(3, shuffle=True, random_state=seed).split(X, y):
            row = []
            for number in range(1, 9):
                clusters = FeatureClustering(number).fit(X[train], y[train])
                known, new = clusters.transform(X[train]), clusters.transform(X[test])
                if classes:
                    row.append([model.fit(known, y[train]).score(new, y[test])])
                    continue
                fits = [PLSRegression(c).fit(known, y[train]) for c in range(1, number + 1)]
                errors = [np.mean((fit.predict(new).ravel() - y[test]) ** 2) for fit in fits]
                row.append([1 - e for e in errors + errors[-1:] * (8 - number)])
            each.append(row)
    each = np.array(each)
    columns = each.mean(axis=0).argmax(axis=1)
    scores = np.array([[row[k][c] for k, c in enumerate(columns)] for row in each])
    results, mean = comp.cv_results_, scores.mean(axis=0)
    np.testing.assert_allclose(results["mean_test_score"], mean, atol=1e-9)
    np.testing.assert_allclose(results["std_test_score"], scores.std(axis=0), atol=1e-9)
    words = np.random.Philox(key=0).random_raw(1000 * len(scores)).reshape(1000, -1)
    asked = []
    for drawn in words:
        errors = np.mean([1 - scores[int(word) % len(scores)] for word in drawn], axis=0)
        near = [k for k in range(8) if errors[k] <= 1.05 * errors.min() + 1e-12]
        asked.append(near[0] + 1)
    middle = np.log(asked).mean()
    assert comp.n_clusters_ == min(range(1, 9), key=lambda k: abs(np.log(k) - middle))
    differences = scores[:, [mean.argmax()]] - scores
    error = differences.std(axis=0, ddof=1) * np.sqrt(1 / len(scores) + 20 / 40)
    np.testing.assert_allclose(results["standard_error"], error, atol=1e-9)
    within = 1 + np.flatnonzero(differences.mean(axis=0) <= error)
    assert comp.result_.n_clusters_range == (within[0], within[-1])
    about_as_good = [comp.n_clusters_, *within]
    apart = max(about_as_good) - min(about_as_good)
    assert comp.result_.decided == (apart <= 1 or apart <= min(about_as_good) / 4)


def test_the_number_hardly_depends_on_the_seed():
    """Twelve columns, of which each tells something of its own; one cut chooses 8 to 12."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 12))
    X[:, 6:] = 0.6 * X[:, :6] + 0.8 * X[:, 6:]
    y = X @ np.linspace(0.3, 1, 12) + 2 * rng.normal(size=80)
    found, once = [], []
    for seed in range(8):
        folds = list(KFold(4, shuffle=True, random_state=seed).split(X))
        once.append(FeatureClustering(cv=folds).fit(X, y).n_clusters_)
        found.append(FeatureClustering(random_state=seed).fit(X, y).n_clusters_)
    assert np.ptp(found) <= 2 < np.ptp(once)


def test_the_result_says_where_the_data_do_not_decide():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 3))
    y = x.sum(axis=1)
    # Near copies of three columns: with 3 to 12 clusters nothing is lost.
    X = np.repeat(x, 4, axis=1) + 1e-3 * rng.normal(size=(100, 12))
    many = FeatureClustering(random_state=0).fit(X, y + 0.5 * rng.normal(size=100))
    assert many.n_clusters_ == 3
    low, high = many.result_.n_clusters_range
    assert low == 3
    assert high >= 6
    assert many.result_.decided is False
    assert any("The data do not decide" in note for note in many.result_.notes)
    # Three columns that all matter: two of them predict much worse.
    y = x @ [3, 1, -2] + 0.1 * rng.normal(size=100)
    sure = FeatureClustering(random_state=0).fit(x, y)
    assert sure.n_clusters_ == 3
    assert sure.result_.n_clusters_range == (3, 3)
    assert sure.result_.decided is True
    assert sure.result_.notes == ("No other number has a score within one standard error of that "
                                  "of 3.",)  # fmt: skip
    fixed = FeatureClustering(3).fit(X, y).result_
    assert (fixed.n_clusters_range, fixed.decided, fixed.notes) == (None, None, ())
    split = [(np.arange(70), np.arange(70, 100))]
    once = FeatureClustering(cv=split).fit(X, y).result_
    assert once.n_clusters_range == (1, 12)  # one split cannot tell


def test_folds_that_can_be_cut_in_one_way_are_cut_once(rng):
    X, y, _ = blocks(rng, n=12, m=3)
    assert "split12_test_score" not in FeatureClustering(cv=12).fit(X, y).cv_results_
    ordered = FeatureClustering(series=True).fit(X, y).cv_results_
    assert "split4_test_score" not in ordered
    assert "split19_test_score" in FeatureClustering().fit(X, y).cv_results_


# --- copies


def with_copies(rng, n=60, m=8):
    """Different columns first, then copies of some: scaled, shifted, negated; of one, three."""
    X = rng.normal(size=(n, m)) + rng.normal(size=(n, 1))
    X[:, 1] = np.round(X[:, 1], 1)
    of = np.array([0, 1, 1, 1, 3])
    X = np.column_stack([X, X[:, of] * [3, -1, 0.1, 1.1, -7e5] + [0, 0, 5, -2, 1e4]])
    groups = [{0, 8}, {1, 9, 10, 11}, {3, 12}]
    return X, X[:, :m].sum(axis=1) + rng.normal(size=n), groups


@pytest.mark.parametrize("linkage", ["representative", "average", "complete"])
@pytest.mark.parametrize("similarity", ["supervised", "unsupervised"])
@pytest.mark.parametrize("representative", ["mean", "medoid", "pls"])
@pytest.mark.parametrize("scale", ["standard", "normal-scores"])
def test_copies_never_part(linkage, similarity, representative, scale, rng):
    X, y, groups = with_copies(rng)
    if scale == "normal-scores":
        X[:, 8] = np.exp(X[:, 0])  # whose normal scores are the same
    how = {"linkage": linkage, "similarity": similarity, "representative": representative}
    for number in range(1, 9):
        labels = FeatureClustering(number, scale=scale, **how).fit(X, y).labels_
        assert np.unique(labels).size == number
        assert all(np.unique(labels[list(group)]).size == 1 for group in groups)
    for threshold in (0.9, 1.0):
        cut = FeatureClustering(None, similarity_threshold=threshold, scale=scale, **how)
        labels = cut.fit(X, y).labels_
        assert all(np.unique(labels[list(group)]).size == 1 for group in groups)
    assert cut.n_clusters_ == 8
    assert cut.similarities_[:5].tolist() == [1.0] * 5
    assert cut.result_.duplicates == {0: (8,), 1: (9, 10, 11), 3: (12,)}
    assert cut.result_.to_frame()["copy_of"].tolist() == [None] * 8 + [0, 1, 1, 1, 3]


def test_copies_of_a_column_that_is_always_right_stay_together(rng):
    """Such a column has no false neighbours, and no similarity to anything."""
    y = rng.normal(size=50)
    X = np.column_stack([y, rng.normal(size=(50, 3)), -2 * y])
    assert FeatureClustering(4).fit(X, y).labels_.tolist() == [0, 1, 2, 3, 0]


def test_more_clusters_than_different_columns_are_refused(rng):
    X, y, _ = with_copies(rng)
    frame = pd.DataFrame(X).add_prefix("c")
    message = "only 8 of the 13 columns of X differ: .* such as 'c0' and 'c8'.* at most 8"
    with pytest.raises(ValueError, match=message):
        FeatureClustering(9).fit(frame, y)
    unscaled = FeatureClustering(12, scale=None).fit(X, y)  # where 3 x is no copy of x
    assert unscaled.result_.duplicates == {1: (9,)}


def test_the_automatic_number_counts_copies_once(rng):
    X, y, groups = with_copies(rng)
    fit = FeatureClustering(random_state=0).fit(X, y)
    assert fit.cv_results_["n_clusters"].max() == 8
    assert all(np.unique(fit.labels_[list(group)]).size == 1 for group in groups)


def test_copies_join_through_neighbours_only(rng):
    x = rng.normal(size=(50, 6))
    X = np.column_stack([x[:, 0], x[:, 0], x[:, 1], x[:, 2], 2 * x[:, 0], x[:, 3:]])
    y = x.sum(axis=1)
    chain = FeatureClustering(7, connectivity="chain").fit(X, y)
    assert chain.result_.duplicates == {0: (1,)}
    assert chain.labels_.tolist() == [0, 0, 1, 2, 3, 4, 5, 6]
    free = FeatureClustering(6).fit(X, y)
    assert free.result_.duplicates == {0: (1, 4)}
    apart = np.ones((8, 8))
    apart[0, 1] = apart[1, 0] = 0  # joined by the third
    graph = FeatureClustering(6, connectivity=apart).fit(X, y)
    assert graph.result_.duplicates == {0: (1, 4)}
    np.testing.assert_array_equal(graph.labels_, free.labels_)


def test_copies_change_nothing_else(rng):
    """With one copy of every column, clusters are those of the columns alone."""
    X, y, _ = blocks(rng, n=80, m=9)
    for linkage_ in ("representative", "average", "complete"):
        alone = FeatureClustering(4, linkage=linkage_).fit(X, y)
        both = FeatureClustering(4, linkage=linkage_).fit(np.column_stack([X, 5 - 3 * X]), y)
        np.testing.assert_array_equal(both.labels_, np.r_[alone.labels_, alone.labels_])
        np.testing.assert_allclose(both.similarities_[9:], alone.similarities_, atol=1e-9)


def test_order_and_units_of_copies_change_no_cluster(rng):
    X, y, _ = with_copies(rng)
    ref = FeatureClustering(5).fit(X, y).labels_
    for seed in range(5):
        again = np.random.default_rng(seed)
        order = again.permutation(X.shape[1])
        units = again.choice([-1, 1], X.shape[1]) * again.uniform(0.1, 50, X.shape[1])
        comp = FeatureClustering(5).fit((X * units)[:, order], y).labels_
        assert len(set(zip(ref[order], comp, strict=True))) == 5
        auto, again = (
            FeatureClustering(random_state=seed).fit(table, y).cv_results_["mean_test_score"]
            for table in (X, (X * units)[:, order])
        )
        np.testing.assert_allclose(auto, again, atol=1e-6)


def test_auto_finds_clusters_without_the_fold_that_judges_them():
    """Columns of noise chosen by the target would look good in the fold that chose them."""
    scores = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 40)), rng.normal(size=60)
        clusters = FeatureClustering(representative="pls", random_state=0).fit(X, y)
        scores.append(clusters.cv_results_["mean_test_score"].max())
    assert np.mean(scores) < 0.1


def test_auto_with_a_regressor_a_splitter_several_targets_and_classes(rng):
    X, y, _ = blocks(rng)
    dummy = FeatureClustering(model=DummyRegressor(), cv=3, random_state=0).fit(X, y)
    assert dummy.n_clusters_ == 1
    assert max(dummy.cv_results_["mean_test_score"]) <= 0
    folds = list(GroupKFold(3).split(X, y, np.arange(150) // 2))
    assert len(FeatureClustering(cv=folds).fit(X, y).cv_results_) == 7
    few = FeatureClustering(cv=LeaveOneOut()).fit(X[:12], y[:12])
    assert np.isfinite(few.cv_results_["mean_test_score"]).all()
    with (
        pytest.raises(ValueError, match="not all numbers"),
        pytest.warns(UndefinedMetricWarning, match="R"),
    ):
        FeatureClustering(model=LinearRegression(), cv=LeaveOneOut()).fit(X[:12], y[:12])
    with pytest.raises(ValueError, match=r"at most the number of samples \(3\). Got 4"):
        FeatureClustering().fit(X[:3], y[:3])
    clusters = FeatureClustering(random_state=0).fit(X, np.c_[y, X[:, 0]])
    assert clusters.n_clusters_ >= 3
    classes = np.where(y > 0, "high", "low")
    with pytest.raises(ValueError, match="Pass a classifier as 'model'"):
        FeatureClustering().fit(X, classes)
    clusters = FeatureClustering(model=LogisticRegression(), random_state=0).fit(X, classes)
    assert clusters.cv_results_["mean_test_score"].max() > 0.8
    for labels in (y > 0, pd.Series(y > 0).astype(int).astype("category")):
        again = FeatureClustering(model=LogisticRegression(), random_state=0).fit(X, labels)
        assert again.cv_results_["mean_test_score"].max() > 0.8
    word = FeatureClustering(model="linear", random_state=0).fit(X, classes)
    for name, scores in clusters.cv_results_.items():
        np.testing.assert_array_equal(word.cv_results_[name], scores)
    assert FeatureClustering(3, representative="pls").fit(X, classes).n_clusters_ == 3
    mixed = pd.DataFrame({"number": y, "kind": classes})
    with pytest.raises(ValueError, match="column 'kind' of y holds categories"):
        FeatureClustering().fit(X, mixed)
    big = FeatureClustering(random_state=0).fit(X * 1e200, y * 1e200)
    small = FeatureClustering(random_state=0).fit(X, y)
    np.testing.assert_array_equal(big.labels_, small.labels_)


# --- transform and back


def test_transform_of_new_samples_uses_what_fit_saw(rng):
    X, y, _ = blocks(rng)
    clusters = FeatureClustering(4).fit(X[:100], y[:100])
    np.testing.assert_array_equal(clusters.transform(X[:100]), clusters.representatives_)
    z = (X - X[:100].mean(axis=0)) / X[:100].std(axis=0)
    own = [np.flatnonzero(clusters.labels_ == label) for label in range(4)]
    ref = np.column_stack([z[:, members].mean(axis=1) for members in own])
    np.testing.assert_allclose(clusters.transform(X), ref, atol=1e-12)
    np.testing.assert_allclose(clusters.transform(X[120:121]), ref[120:121], atol=1e-12)


def test_medoids_are_original_columns(rng):
    X, y, _ = blocks(rng)
    frame = pd.DataFrame(X).add_prefix("c")
    clusters = FeatureClustering(4, representative="medoid").fit(frame, y)
    np.testing.assert_array_equal(clusters.labels_[clusters.medoids_], np.arange(4))
    np.testing.assert_array_equal(clusters.transform(frame), X[:, clusters.medoids_])
    assert clusters.get_feature_names_out().tolist() == [f"c{j}" for j in clusters.medoids_]


@pytest.mark.parametrize("scale", ["standard", "normal-scores", None])
@pytest.mark.parametrize("representative", ["mean", "medoid", "pls"])
def test_the_way_back_is_least_squares(scale, representative, rng):
    X, y, _ = blocks(rng)
    X[:, 3] = 5.0
    X[:, 4] *= -1000
    clusters = FeatureClustering(4, scale=scale, representative=representative).fit(X, y)
    reduced = clusters.transform(X)
    comp = clusters.inverse_transform(reduced)
    for j in range(12):
        r = reduced[:, clusters.labels_[j]]
        line = LinearRegression().fit(r[:, None], X[:, j]).predict(r[:, None])
        np.testing.assert_allclose(comp[:, j], line, atol=1e-8)
    with pytest.raises(ValueError, match="X has 2 columns, but there are 4 clusters"):
        clusters.inverse_transform(reduced[:, :2])


def test_normal_scores_of_new_samples_are_interpolated(rng):
    X, y = rng.exponential(size=(50, 2)), rng.normal(size=50)
    clusters = FeatureClustering(2, scale="normal-scores").fit(X, y)
    scores = clusters.transform(X)
    assert (np.argsort(scores[:, 0]) == np.argsort(X[:, 0])).all()
    assert abs(scores.mean()) < 1e-9
    beyond = clusters.transform([[1e9, -1e9]])
    assert beyond.tolist() == [[scores[:, 0].max(), scores[:, 1].min()]]


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_numbers_of_any_size(factor, rng):
    X, y, _ = blocks(rng)
    ref = FeatureClustering(3).fit(X, y)
    comp = FeatureClustering(3).fit(X * factor, y)
    np.testing.assert_array_equal(comp.labels_, ref.labels_)
    np.testing.assert_allclose(comp.transform(X * factor), ref.transform(X), atol=1e-9)
    back = comp.inverse_transform(comp.transform(X * factor))
    np.testing.assert_allclose(back / factor, ref.inverse_transform(ref.transform(X)), atol=1e-9)


# --- names, pipelines, dendrograms


def test_names_of_clusters(rng):
    X, y, _ = blocks(rng, m=12)
    frame = pd.DataFrame(X, columns=[f"abs_{j:03d}" for j in range(12)])
    clusters = FeatureClustering(3).fit(frame, y).set_output(transform="pandas")
    names = ["cluster[abs_000..abs_003]", "cluster[abs_004..abs_007]", "cluster[abs_008..abs_011]"]
    assert list(clusters.transform(frame)) == names
    shuffled = frame[["abs_000", "abs_004", "abs_001", "abs_005", "abs_008", "abs_006", "abs_007",
                      "abs_009", "abs_002", "abs_010", "abs_003", "abs_011"]]  # fmt: skip
    names = FeatureClustering(3).fit(shuffled, y).get_feature_names_out().tolist()
    assert names[0] == "cluster[abs_000,abs_001,abs_002,+1]"
    assert names[1] == "cluster[abs_004,abs_005,abs_006,abs_007]"
    assert FeatureClustering(12).fit(X, y).get_feature_names_out()[11] == "cluster[x11]"


def test_pipelines_grids_clones_and_pickles(rng):
    X, y, _ = blocks(rng)
    pipeline = make_pipeline(FeatureClustering(), LinearRegression())
    grid = GridSearchCV(pipeline, {"featureclustering__n_clusters": [1, 3]}, cv=3).fit(X, y)
    assert grid.best_params_ == {"featureclustering__n_clusters": 3}
    fitted = FeatureClustering(3).fit(X, y)
    assert not hasattr(clone(fitted), "labels_")
    kept = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(kept.transform(X), fitted.transform(X))
    assert len(pickle.dumps(fitted)) < 20_000  # what fit needed is not kept


def test_scipy_draws_the_tree(rng):
    X, y, _ = blocks(rng)
    clusters = FeatureClustering(3).fit(X, y)
    drawn = dendrogram(clusters.linkage_matrix_, no_plot=True)
    assert sorted(map(int, drawn["ivl"])) == list(range(12))
    np.testing.assert_allclose(clusters.linkage_matrix_[:, 2], 1 - clusters.similarities_)
    assert clusters.linkage_matrix_[-1, 3] == 12


def test_components_that_nothing_connects(rng):
    X, y, _ = blocks(rng, m=10)
    matrix = np.zeros((10, 10))
    for a, b in GRAPH:
        matrix[a, b] = 1
    clusters = FeatureClustering(3, connectivity=matrix).fit(X, y)
    assert clusters.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1, 2, 1, 2]
    assert clusters.similarities_[-2:].tolist() == [-1, -1]
    assert FeatureClustering(connectivity=matrix, random_state=0).fit(X, y).n_clusters_ >= 3
    low = FeatureClustering(None, similarity_threshold=-1, connectivity=matrix).fit(X, y)
    assert low.n_clusters_ == 3
    with pytest.raises(ValueError, match="'connectivity' has 3 connected components"):
        FeatureClustering(2, connectivity=matrix).fit(X, y)
    explicit = coo_array((np.zeros(9), (np.arange(9), np.arange(1, 10))), shape=(10, 10))
    assert FeatureClustering(10, connectivity=explicit).fit(X, y).n_clusters_ == 10
    with pytest.raises(ValueError, match="10 connected components"):
        FeatureClustering(9, connectivity=explicit).fit(X, y)
    with pytest.raises(ValueError, match="has NaN"):
        FeatureClustering(9, connectivity=np.full((10, 10), np.nan)).fit(X, y)


def test_chains_join_neighbours_only(rng):
    X, y = rng.normal(size=(100, 20)), rng.normal(size=100)
    X[:, 10] = X[:, 0]
    labels = FeatureClustering(5, connectivity="chain").fit(X, y).labels_
    assert (np.diff(labels) >= 0).all()
    assert labels[-1] == 4


def test_no_target_where_none_is_needed(rng):
    X, _, labels = blocks(rng)
    clusters = FeatureClustering(3, similarity="unsupervised").fit(X)
    np.testing.assert_array_equal(clusters.labels_, labels)
    without = {"similarity": "unsupervised"}
    weighted = without | {"n_clusters": 3, "representative": "pls"}
    for options in ({}, {"n_clusters": 3}, without, weighted):
        with pytest.raises(ValueError, match="requires y to be passed"):
            FeatureClustering(**options).fit(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, "'n_clusters' parameter must be an int of at least 1, 'auto'"),
        ({"n_clusters": 2.0}, "Got 2.0 instead"),
        ({"n_clusters": "all"}, "Got 'all' instead"),
        ({"n_clusters": True}, "Got True instead"),
        ({"n_clusters": 13}, "asks for 13 clusters, but X has 12 columns"),
        ({"n_clusters": None}, "Exactly one of 'n_clusters' and 'similarity_threshold'"),
        ({"similarity_threshold": 0.5}, "with a threshold, pass n_clusters=None"),
        ({"n_clusters": None, "similarity_threshold": 2}, "a number from -1 to 1. Got 2 instead"),
        ({"similarity": "both"}, "'similarity' parameter must be one of 'supervised'"),
        ({"correlation": "kendall"}, "'correlation' parameter must be one of 'pearson'"),
        ({"linkage": "ward"}, "'linkage' parameter must be one of 'representative'"),
        ({"representative": "sum"}, "'representative' parameter must be one of 'mean'"),
        ({"scale": "robust"}, "'scale' parameter must be one of 'standard'"),
        ({"connectivity": "ring"}, "must be None, 'chain', or a matrix.*Got 'ring' instead"),
        ({"connectivity": np.eye(3)}, r"each of the 12 columns of X. Got the shape \(3, 3\)"),
        ({"n_jobs": 0}, "'n_jobs' parameter must be"),
        ({"random_state": -1}, "'random_state' parameter must be"),
    ],
)
def test_bad_parameters_are_named(options, message, rng):
    X, y, _ = blocks(rng)
    with pytest.raises(ValueError, match=message):
        FeatureClustering(**options).fit(X, y)


def test_bad_tables_are_named(rng):
    X, y, _ = blocks(rng)
    frame = pd.DataFrame(X).add_prefix("c")
    with pytest.raises(TypeError, match="column 'c3' of X holds 'red', which is no number"):
        FeatureClustering(3).fit(frame.assign(c3="red"), y)
    frame.loc[5, "c2"] = np.nan
    with pytest.raises(ValueError, match=r"missing values \(NaN\) in 1 of its columns: 'c2' \(1\)"):
        FeatureClustering(3, missing="error").fit(frame, y)
    with pytest.raises(ValueError, match="y is constant"):
        FeatureClustering(3).fit(X, np.ones(150))
    with pytest.raises(ValueError, match="X has 150 samples and y has 149"):
        false_neighbors(X, y[:149])
    fitted = FeatureClustering(3).fit(X, y)
    with pytest.raises(ValueError, match="11 features"):
        fitted.transform(X[:, :11])


@parametrize_with_checks(
    [
        FeatureClustering(),
        FeatureClustering(1, similarity="unsupervised"),
        FeatureClustering(1, linkage="average", representative="medoid"),
        FeatureClustering(1, representative="pls", connectivity="chain", scale="normal-scores"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
