"""stop="cv": as many columns of a ranking as a cross-validated model wants."""

import json
import re
import signal
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from command import run_code
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score, make_scorer, mean_absolute_error
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from infosieve import (
    MISelector,
    SelectionResult,
    mutual_information,
    open_columns,
    permutation_test,
    stability,
)
from infosieve.report import _figures as figures
from infosieve.report._prediction import Prediction
from infosieve.selection._checkpoint import Fold
from infosieve.selection._prediction import n_chosen, sizes_up_to

QUICK = {"stop": "cv", "cv": 3, "max_features": 5, "random_state": 0}


def additive(n=120, m=8, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, m)), columns=[f"x{j}" for j in range(m)])
    return X, (X["x0"] + X["x2"] - X["x4"] + 0.2 * rng.normal(size=n)).to_numpy(copy=True)


@parametrize_with_checks([
    MISelector(stop="cv", cv=2, max_features=2),
    MISelector(stop="cv", cv=2, max_features=2, criterion="jmi"),
    MISelector(stop="cv", cv=2, max_features=2, model=KNeighborsRegressor(2), test=True,
               n_permutations=39, lookahead=1, criterion="cmi"),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*distinct whole numbers")  # classes 0, 1, 2 as numbers
@pytest.mark.filterwarnings("ignore:.* is a copy of y")
@pytest.mark.filterwarnings("ignore:.*predicts no better with columns than without")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_rare_classes_are_told_unless_the_score_is_named(rng):
    X, y = rng.normal(size=(100, 3)), np.where(np.arange(100) % 10 < 1, "rare", "often")
    search = MISelector(stop="cv", cv=2, max_features=1, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, y)
    assert "y has a class with 10 of 100 samples, which accuracy" in str(caught[0].message)
    for scoring, target in (("accuracy", y), (None, np.where(np.arange(100) % 4 < 1, "a", "b"))):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            search.set_params(scoring=scoring).fit(X, target)
        assert not any("hardly sees" in str(warning.message) for warning in caught)


def test_sizes_grow():
    assert sizes_up_to(50) == [1, 2, 3, 4, 6, 8, 11, 15, 21, 29, 41, 50]
    assert sizes_up_to(13) == [1, 2, 3, 4, 6, 8, 11, 13]
    assert sizes_up_to(12) == [*range(1, 13)]
    assert sizes_up_to(1) == [1]
    assert sizes_up_to(20, least=9) == [1, 2, 3, 4, 6, 8, 9, 11, 15, 20]


# ---- the whole, against plain loops


def plain(X, y, model, splits, sizes, rank):
    """The mean scores and the number of columns, one fit after the other."""
    scores = []
    for learn, judge in splits:
        order = rank(X.iloc[learn], y[learn])
        row = [0.0]
        for k in sizes:
            names = [X.columns[j] for j in order[:k]]
            fitted = clone(model).fit(X[names].iloc[learn], y[learn])
            row.append(fitted.score(X[names].iloc[judge], y[judge]))
        scores.append(row[1:])
    mean = np.mean(scores, axis=0)
    enough = [k for k, s in zip(sizes, mean, strict=True) if 1 - s <= 1.05 * (1 - mean.max())]
    return scores, enough[0]


@pytest.mark.parametrize("criterion", ["cmi", "jmi"])
def test_it_is_a_loop_over_folds_and_numbers(criterion):
    X, y = additive()
    splits = list(KFold(4, shuffle=True, random_state=3).split(X))
    model, how = SVR(C=10), {"criterion": criterion, "lookahead": 1, "random_state": 0}
    selector = MISelector(stop="cv", model=model, cv=splits, max_features=6, **how).fit(X, y)

    def rank(X, y):
        return MISelector(stop=None, max_features=6, **how).fit(X, y).selected_

    sizes = [1, 2, 3, 4, 5, 6]
    scores, n = plain(X, y, model, splits, sizes, rank)
    found = selector.result_.cv_scores
    assert found.sizes == (0, *sizes)
    np.testing.assert_allclose(np.array(found.scores)[:, 1:], scores, rtol=1e-12)
    assert found.n_chosen == n == 3
    assert list(found.order) == rank(X, y).tolist()
    assert selector.selected_.tolist() == rank(X, y)[:3].tolist()
    whole = cross_val_score(model, X, y, cv=splits)
    np.testing.assert_allclose(found.all_columns, whole)
    means = [y[learn].mean() for learn, _ in splits]
    none = [1 - ((y[j] - m) ** 2).mean() / y[j].var() for (_, j), m in zip(splits, means)]  # noqa: B905
    np.testing.assert_allclose(np.array(found.scores)[:, 0], none)


def test_the_fewest_columns_within_five_percent_of_the_smallest_error():
    sizes = [0, 1, 2, 3, 4]

    def chosen(mean, optimum=1.0, least=0):
        folds = [Fold(criterion="cmi", order=(), scores=tuple(mean), whole=None)]
        return n_chosen(sizes, folds, optimum, least)

    assert chosen([0.0, 0.5, 0.79, 0.80, 0.7]) == 2
    assert chosen([0.0, 0.5, 0.788, 0.80, 0.7]) == 3
    assert chosen([0.0, 0.5, 0.79, 0.80, 0.7], least=3) == 3
    assert chosen([0.0, 0.5, 0.79, 0.80, 0.7], optimum=None) == 3
    assert chosen([-10, -5, -2.05, -2.0, -3], optimum=0.0) == 2
    assert chosen([-10, -5, -2.2, -2.0, -3], optimum=0.0) == 3
    assert chosen([0.0, -0.2, -0.3, -0.4, -0.5]) == 1  # none at all is no choice
    assert chosen([0.0, 0.01, 0.01, 0.04, 0.04]) == 3  # at most half of the gain is given away
    assert chosen([0.0, 0.3, 0.1 + 0.2, 0.1, 0.1]) == 1  # rounding is no gain
    assert chosen([0.5, 0.9, 1.0, 1.0, 1.0]) == 2  # nothing is left to be wrong


@pytest.mark.parametrize("criterion", ["cmi", "jmi"])
def test_of_many_columns_a_pool_is_estimated(criterion, monkeypatch):
    """All when the number has doubled (one by one: beside fewer than four), else the best then."""
    monkeypatch.setattr("infosieve.selection._strategies._POOL", 4)
    monkeypatch.setattr("infosieve.selection._strategies._POOL_ONE_BY_ONE", 4)
    X, y = additive(n=60, m=14)
    how = {"criterion": criterion, "lookahead": 1, "random_state": 0}
    found = MISelector(stop="cv", cv=2, min_features=10, max_features=10, **how).fit(X, y)
    selected, pool, left = [], [], list(X)
    alone = {name: mutual_information(X[name], y, n_neighbors=(3, 15)) for name in X}

    def value(name):
        if not selected:
            return mutual_information(X[name], y, n_neighbors=(3, 15))
        sets = [selected] if criterion == "cmi" else [[s] for s in selected]
        each = [
            mutual_information(X[name], y, condition=X[s], criterion="cmi", n_neighbors=(3, 15))
            for s in sets
        ]
        return np.mean(each)

    for n, step in enumerate(found.result_.steps):
        full = n in (0, 1, 2, 4, 8) if criterion == "cmi" else n < 4
        few = len(left) <= 4 or not set(pool) & set(left)
        among = left if full or few else [name for name in left if name in pool]
        values = {name: (value(name), alone[name]) for name in among}
        best = max(among, key=values.get)
        if full or few:
            pool = sorted(left, key=values.get, reverse=True)[:5]
            pool.remove(best)
        assert X.columns[step.features[0]] == best
        assert step.n_screened == (None if full or few else len(among))
        selected.append(best)
        left.remove(best)


def test_of_two_rankings_the_one_that_predicts_better():
    X, y = additive(n=60)
    how = {"stop": "cv", "cv": 3, "max_features": 6, "random_state": 0}
    both = MISelector(**how).fit(X, y).result_
    each = {c: MISelector(**how, criterion=c).fit(X, y).result_ for c in ("cmi", "cmim")}
    best = max(each, key=lambda c: each[c].cv_scores.best_score)
    assert both.criterion == both.cv_scores.criterion == best
    assert both.selected == each[best].selected
    assert both.steps == each[best].steps
    assert both.cv_scores.scores == each[best].cv_scores.scores
    (other,) = both.cv_scores.others
    assert {best, other} == {"cmi", "cmim"}
    assert both.cv_scores.others[other] == tuple(each[other].cv_scores.mean.tolist())
    assert MISelector(random_state=0).fit(X, y).result_.criterion == "cmi"  # of the tests


def test_a_pool_of_least_values_may_run_dry(monkeypatch):
    monkeypatch.setattr("infosieve.selection._strategies._POOL_ONE_BY_ONE", 4)
    X, y = additive(n=60, m=14)
    how = {"criterion": "cmim", "cv": 2, "random_state": 0}
    found = MISelector(stop="cv", min_features=14, max_features=14, **how).fit(X, y)
    assert sorted(found.selected_) == list(range(14))


def test_the_order_of_columns_does_not_matter():
    """Also where a set has so many columns that all estimates vanish."""
    X, y = additive(n=80, m=40)
    how = {"stop": None, "max_features": 30, "random_state": 0}
    there = MISelector(**how).fit(X, y)
    back = MISelector(**how).fit(X[X.columns[::-1]], y)
    assert (there.path_["gain"] == 0).sum() > 5
    assert there.path_["feature"].tolist() == back.path_["feature"].tolist()


def test_models_draw_from_seeds_they_take():
    X, y = additive(n=60)
    MISelector(**QUICK | {"random_state": None}, model=ExtraTreesRegressor(5)).fit(X, y)


def test_scores_are_what_they_are_called():
    X, y = additive(n=60)
    model = GridSearchCV(SVR(), {"C": [1, 10]}, scoring="neg_mean_absolute_error", cv=2)
    found = MISelector(**QUICK, model=model).fit(X, y).result_.cv_scores
    assert found.scoring == "r2"
    assert found.best_score > 0.5


# ---- what is there and what is not


def test_it_finds_the_columns_that_predict():
    X, y = additive()
    for model in (None, SVR(C=10), LinearRegression()):
        selector = MISelector(stop="cv", model=model, random_state=0).fit(X, y)
        assert set(selector.get_feature_names_out()) == {"x0", "x2", "x4"}


def test_noise_is_told():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 6)), rng.normal(size=100)
    with pytest.warns(UserWarning, match=r"KNeighborsRegressor predicts no better .* without any"):
        selector = MISelector(**QUICK).fit(X, y)
    assert selector.selected_.size >= 1
    scores = selector.result_.cv_scores
    assert selector.result_.stop_reason.endswith(f", and {scores.without:.3f} without any")
    assert not any("gain over none" in note for note in selector.result_.notes)


def test_notes_say_with_how_many_columns_most_is_gained():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = X @ [3.0, 1.0, 0.7, 0, 0] + 0.1 * rng.normal(size=200)
    result = MISelector(stop="cv", model=LinearRegression(), random_state=0).fit(X, y).result_
    scores = result.cv_scores
    gain = np.asarray(scores.mean) - scores.without
    chosen = gain[scores.sizes.index(scores.n_chosen)]
    fewest = min(n for n, g in zip(scores.sizes, gain, strict=True) if n and g >= 0.9 * chosen)
    said = [note for note in result.notes if "gain over none" in note]
    assert fewest < scores.n_chosen
    assert len(said) == 1
    assert f"there with {fewest} column" in said[0]


def test_pairs_that_predict_only_together_are_found():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(300, 8)), columns=list("abcdefgh"))
    y = np.where(X["b"] * X["f"] > 0, "same", "other")
    selector = MISelector(stop="cv", random_state=0).fit(X, y)
    assert set(selector.get_feature_names_out()[:2]) == {"b", "f"}
    assert len(selector.result_.steps[0].features) == 2
    assert selector.result_.cv_scores.best_score > 0.85


def test_a_pair_is_not_torn():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4))
    y = X[:, 1] * X[:, 2] > 0
    selector = MISelector(stop="cv", max_features=1, min_features=1, random_state=0)
    selector.set_params(model=SVC(C=1e-6))  # the most common class, whatever is known
    with pytest.warns(UserWarning, match="predicts no better"):
        selector.set_params(max_features=3).fit(X, y)
    assert sorted(selector.selected_) == [1, 2]
    assert selector.result_.cv_scores.n_chosen == 1


# ---- which of them are certain


def test_tests_are_those_of_the_default():
    X, y = additive(n=100)
    how = {"n_permutations": 99, "random_state": 0, "statistic": "ksg"}
    selector = MISelector(stop="cv", min_features=5, max_features=5, cv=2, test=True, **how)
    selector.fit(X, y)
    path = selector.path_
    assert path["feature"].tolist() == [X.columns[j] for j in selector.result_.cv_scores.order[:5]]
    assert path["significant"].tolist() == [True, True, True, False, pd.NA]
    assert pd.isna(path["p_value"].iloc[4])  # nobody asks after the first that did not pass
    default = MISelector(**how).fit(X, y)
    same = ["action", "feature", "gain", "p_value", "level", "exceedances"]
    pd.testing.assert_frame_equal(path[same].head(3), default.path_[same].head(3))
    fourth = path.iloc[3]
    left = [name for name in X if name not in path["feature"].tolist()[:3]]
    test = permutation_test(
        X, y, left, given=path["feature"].tolist()[:3], alpha=fourth["level"], n_permutations=99,
        screen="auto", max_samples="auto", random_state=0, n_neighbors=(3, 15), statistic="ksg",
    )  # fmt: skip
    observed = test.observed[left.index(fourth["feature"])]
    assert fourth["gain"] == observed
    n = int(fourth["permutations"])
    assert fourth["exceedances"] == (test.null[:n, 0] >= observed).sum()


def test_after_the_first_that_fails_only_the_wanted_column_is_estimated():
    X, y = additive(n=100, m=40)
    how = {"cv": 2, "min_features": 7, "max_features": 7, "n_permutations": 99, "random_state": 0}
    how["statistic"] = "ksg"
    selector = MISelector(stop="cv", criterion="cmi", lookahead=1, test=True, **how).fit(X, y)
    path = selector.path_
    last = int(np.flatnonzero(~path["significant"].fillna(True))[0])
    assert last < 6
    assert (path["screened"][: last + 1] > 1).sum() >= last
    assert (path["screened"][last + 1 :] == 1).all()
    names = path["feature"].tolist()
    for n in range(last + 1, 7):
        given, new = X[names[:n]], X[names[n]]
        asked = {"n_neighbors": (3, 15), "max_samples": "auto"}
        gain = mutual_information(new, y, condition=given, criterion="cmi", **asked)
        assert path["gain"][n] == gain
        assert path["mi"][n] == mutual_information(X[names[: n + 1]], y, **asked)


@pytest.mark.parametrize("criterion", ["cmim", "mi"])
def test_columns_of_any_ranking_are_tested(criterion):
    X, y = additive(n=100)
    selector = MISelector(**QUICK, criterion=criterion, test=True).fit(X, y)
    first = selector.path_.head(3)
    assert set(first["feature"]) == {"x0", "x2", "x4"}
    assert first["significant"].all()


def test_nothing_is_tested_unless_asked(monkeypatch):
    X, y = additive(n=60)
    monkeypatch.setattr("infosieve.selection._strategies.tested", None)
    selector = MISelector(**QUICK).fit(X, y)
    assert selector.path_["p_value"].isna().all()


def test_noise_is_rarely_certain():
    """Columns that a model keeps although nothing is there: one run in twenty has a certain one."""
    certain = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(40):
            rng = np.random.default_rng(seed)
            X, y = rng.normal(size=(60, 6)), rng.normal(size=60)
            selector = MISelector(
                stop="cv", cv=2, min_features=2, max_features=2, lookahead=1, test=True,
                n_permutations=39, random_state=seed,
            ).fit(X, y)  # fmt: skip
            certain += bool(selector.path_["significant"].iloc[0])
    assert certain <= 7  # of 40 at 5 %: 7 or more in one of 200 times


# ---- tables as they are


def test_gaps_categories_and_classes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    X["text"] = rng.choice(["red", "green", "blue"], 200)
    y = np.where(X["a"] + 2 * (X["text"] == "red") > 0.7, "yes", "no")
    X.loc[::9, "a"] = np.nan
    X.loc[::11, "text"] = None
    selector = MISelector(stop="cv", random_state=0).fit(X, y)
    assert set(selector.get_feature_names_out()[:2]) == {"a", "text"}
    assert selector.result_.cv_scores.scoring == "accuracy"
    assert selector.result_.cv_scores.best_score > 0.85
    with pytest.raises(ValueError, match=r"SVC with 1 column cannot be fitted .* pass a pipeline"):
        MISelector(stop="cv", model=SVC(), random_state=0).fit(X, y)


@pytest.mark.parametrize("kind", ["frame", "polars", "list", "array", "disk"])
def test_any_table_gives_the_same(kind, tmp_path):
    X, y = additive(n=80)
    if kind == "disk":
        X.to_parquet(tmp_path / "table.parquet")
    given = {
        "frame": lambda: X,
        "polars": lambda: pl.from_pandas(X),
        "list": lambda: X.to_numpy().tolist(),
        "array": lambda: X.to_numpy(),
        "disk": lambda: open_columns(tmp_path / "table.parquet"),
    }[kind]()
    for model in (None, SVR(C=10)):
        expected = MISelector(**QUICK, model=model).fit(X, y)
        found = MISelector(**QUICK, model=model).fit(given, y)
        assert found.selected_.tolist() == expected.selected_.tolist()
        assert found.result_.cv_scores.scores == expected.result_.cv_scores.scores
        known = found.result_.cv_scores.all_columns
        assert known == (None if kind == "disk" else expected.result_.cv_scores.all_columns)


@pytest.mark.filterwarnings("ignore:.*missing values in")
@pytest.mark.filterwarnings("ignore:.*have missing values")
def test_samples_that_are_left_out_are_so_everywhere():
    X, y = additive(n=100)
    y[::10] = np.nan
    X.iloc[1::10, 3] = np.nan
    for model in (None, SVR(C=10)):
        how = QUICK | {"model": model, "missing": "drop"}
        kept = X.notna().all(axis=1).to_numpy() & ~np.isnan(y)
        found, expected = MISelector(**how).fit(X, y), MISelector(**how).fit(X[kept], y[kept])
        assert found.result_.cv_scores == expected.result_.cv_scores
    rows = np.flatnonzero(kept)
    some = [(rows[:40], rows[40:]), (rows[40:], rows[:40])]
    place = {row: i for i, row in enumerate(rows)}
    among = [tuple(np.array([place[r] for r in part]) for part in pair) for pair in some]
    found = MISelector(**how | {"cv": some}).fit(X, y)
    expected = MISelector(**how | {"cv": among}).fit(X[kept], y[kept])
    assert found.result_.cv_scores == expected.result_.cv_scores


class Watcher(RegressorMixin, BaseEstimator):
    """Tells which samples it learns from, and which it is judged on."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.learnt_ = np.asarray(y)
        return self

    def predict(self, X):
        return np.zeros(len(X))


def watched(model, X, y):
    if isinstance(model, Watcher):
        Watcher.seen.append((model.learnt_, np.asarray(y)))
    return 0.5


@pytest.mark.filterwarnings("ignore:Watcher predicts no better")
@pytest.mark.filterwarnings("ignore:The .* smallest p")
def test_groups_stay_together_and_time_goes_on():
    X, _ = additive(n=120)
    y = np.arange(120.0)
    groups = np.arange(120) // 6
    Watcher.seen = []
    MISelector(**QUICK, model=Watcher(), scoring=watched).fit(X, y, groups=groups)
    assert Watcher.seen
    for learnt, judged in Watcher.seen:
        assert not set(groups[learnt.astype(int)]) & set(groups[judged.astype(int)])
        assert len(learnt) + len(judged) == 120
    Watcher.seen = []
    rng = np.random.default_rng(0)
    wave = np.sort(rng.normal(size=120))[np.argsort(rng.normal(size=120))]  # numbers, each once
    MISelector(**QUICK, model=Watcher(), scoring=watched, series=True).fit(X, wave)
    when = {value: i for i, value in enumerate(wave)}
    for learnt, judged in Watcher.seen:
        assert max(when[v] for v in learnt) < min(when[v] for v in judged)


def test_folds_are_ranked_without_their_samples():
    """A column that tells the target in the samples of one fold only is no help there."""
    X, y = additive(n=90)
    splits = list(KFold(3).split(X))
    X["leak"] = np.random.default_rng(5).normal(size=90)
    X.loc[splits[0][1], "leak"] = y[splits[0][1]]
    found = MISelector(**QUICK | {"cv": splits}).fit(X, y).result_.cv_scores
    leak = X.columns.get_loc("leak")
    assert leak not in found.fold_orders[0][:3]


# ---- models, scores, folds


def test_classifiers_say_that_the_target_has_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5))
    y = (X[:, 1] > 0).astype(int) + (X[:, 3] > 0)
    selector = MISelector(**QUICK, model=SVC()).fit(X, y)
    assert set(selector.selected_[:2]) == {1, 3}
    assert selector.result_.cv_scores.scoring == "accuracy"
    expected = MISelector(**QUICK, model=SVC(), discrete_target=True).fit(X, y)
    assert selector.result_.cv_scores.scores == expected.result_.cv_scores.scores


def test_scoring_is_scikit_learns():
    X, y = additive()
    splits = list(KFold(3).split(X))
    scores = {}
    for scoring in (
        "neg_mean_absolute_error",
        make_scorer(mean_absolute_error, greater_is_better=False),
    ):
        selector = MISelector(stop="cv", model=SVR(), cv=splits, scoring=scoring, random_state=0)
        found = scores[str(scoring)] = selector.fit(X, y).result_.cv_scores
        expected = cross_val_score(SVR(), X, y, cv=splits, scoring="neg_mean_absolute_error")
        np.testing.assert_allclose(found.all_columns, expected)
    one, other = scores.values()
    assert (one.scoring, one.n_chosen) == ("neg_mean_absolute_error", other.n_chosen)

    def own(model, X, y):
        return -np.abs(model.predict(X) - y).max()

    found = MISelector(stop="cv", model=SVR(), cv=splits, scoring=own, random_state=0).fit(X, y)
    assert found.result_.cv_scores.scoring == "own"
    assert found.result_.cv_scores.n_chosen == found.result_.cv_scores.best


def test_folds_may_be_a_generator():
    X, y = additive(n=60)
    expected = MISelector(**QUICK | {"cv": list(KFold(3).split(X))}).fit(X, y)
    folds = KFold(3).split(X)
    selector = MISelector(**QUICK | {"cv": folds}).fit(X, y)
    assert selector.cv is folds
    assert selector.result_.cv_scores == expected.result_.cv_scores
    assert selector.alternatives(X, y).equals(expected.alternatives(X, y))
    masks = [
        (~np.isin(range(60), judge), np.isin(range(60), judge)) for _, judge in KFold(3).split(X)
    ]
    found = MISelector(**QUICK | {"cv": masks}).fit(X, y)
    assert found.result_.cv_scores == expected.result_.cv_scores
    with pytest.raises(ValueError, match=r"Got none: a generator gives its folds once"):
        selector.fit(X, y)


def test_models_have_seeds_and_results_do_not_depend_on_threads():
    X, y = additive(n=80)
    model = ExtraTreesRegressor(10)
    found = [MISelector(**QUICK, model=model, n_jobs=n).fit(X, y).result_ for n in (1, 1, 3)]
    assert found[0].cv_scores == found[1].cv_scores == found[2].cv_scores
    assert model.random_state is None
    assert not hasattr(model, "estimators_")
    assert found[0].cv_scores.model["parameters"]["random_state"] is not None


def test_many_samples_are_thinned_for_the_default_model(monkeypatch):
    monkeypatch.setattr("infosieve.selection._prediction._LEARNT", 30)
    monkeypatch.setattr("infosieve.selection._prediction._JUDGED", 20)
    sizes = []

    class Neighbors(KNeighborsRegressor):
        def fit(self, X, y):
            sizes.append(len(y))
            return super().fit(X, y)

    monkeypatch.setattr("infosieve.selection._models.KNeighborsRegressor", Neighbors)
    X, y = additive(n=150)
    first, again = (MISelector(**QUICK).fit(X, y).result_.cv_scores for _ in range(2))
    assert set(sizes) == {30}
    assert first.scores == again.scores


class Bare:
    """What has the methods of a model, and nothing by which scikit-learn knows one."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def get_params(self, deep=True):
        return {}


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"model": SVR}, TypeError, "'model' parameter must be None, or a regressor or classifier"),
        ({"model": "svm"}, TypeError, "Got 'svm' instead"),
        ({"model": StandardScaler()}, TypeError, "'model' parameter must be None, or a regressor"),
        (
            {"model": SVC(), "discrete_target": False},
            ValueError,
            "pass a regressor, or one of neighbors",
        ),
        ({"cv": 1}, ValueError, "'cv' parameter must be an int of at least 2"),
        ({"cv": "five"}, ValueError, "'cv' parameter must be an int of at least 2, a splitter"),
        (
            {"cv": 70},
            ValueError,
            "asks for 70 folds, but there are 60 samples. Use fewer folds (cv=60)",
        ),
        ({"cv": []}, ValueError, "'cv' parameter must give two folds or more. Got none"),
        ({"cv": ShuffleSplit(1)}, ValueError, "must give two folds or more. Got 1."),
        ({"cv": [([0, 1], [60])] * 2}, ValueError, "whole numbers from 0 to 59. Got ([0, 1], [60]"),
        ({"cv": [([0, 1], [-1])] * 2}, ValueError, "whole numbers from 0 to 59"),
        ({"cv": [([0, 1], [0.5])] * 2}, ValueError, "whole numbers from 0 to 59"),
        ({"cv": [[0, 1, 2]] * 2}, ValueError, "pairs of rows, to learn from and to judge on"),
        ({"cv": [([0, 1], [])] * 2}, ValueError, "gives no sample to judge on in fold 1"),
        ({"scoring": "beauty"}, ValueError, "'scoring' parameter 'beauty' is no score of"),
        ({"scoring": "acuracy"}, ValueError, "do you mean accuracy or"),
        ({"scoring": ["r2"]}, TypeError, "'scoring' parameter must be None, the name of a score"),
        ({"scoring": {"r2": "r2"}}, TypeError, "function of model, X and y. Got {'r2': 'r2'}"),
        ({"scoring": "roc_auc"}, ValueError, "'roc_auc' cannot judge predictions of y, which has"),
        ({"scoring": "accuracy"}, ValueError, "which has numbers: continuous is not supported"),
        (
            {"model": SVR(C=-1)},
            ValueError,
            "48 samples and judged by r2 (fold 1): The",
        ),
        ({"model": SVC()}, ValueError, "is SVC, but y has numbers: pass a regressor, or"),
        ({"model": Bare()}, TypeError, "scikit-learn has them (a BaseEstimator), such as SVR()"),
        ({"test": 1}, ValueError, "'test' parameter must be True or False. Got 1"),
        ({"n_features_to_select": 3}, ValueError, "which chooses the number; 'min_features' and"),
        ({"search": "forward-backward"}, ValueError, "must be 'forward' with stop='cv'"),
        ({"min_features": 6, "max_features": 5}, ValueError, "must not exceed 'max_features'"),
        ({"test": True, "n_permutations": 10}, ValueError, "n_permutations"),
    ],
)
def test_bad_parameters(change, kind, message):
    X, y = additive(n=60)
    with pytest.raises(kind, match=re.escape(message)):
        MISelector(**{"stop": "cv"} | change).fit(X, y)


def refusal(X, y, groups=None, **change):
    with pytest.raises(ValueError, match=r"\.$") as error:
        MISelector(**{"stop": "cv", "random_state": 0} | change).fit(X, y, groups)
    return str(error.value)


def test_what_fails_says_with_what_and_the_way_out():
    X, y = additive(n=60)
    gaps = X.assign(x0=X["x0"].mask(X.index % 5 == 0))
    start = r"SVR with \d columns? cannot be fitted to 48 samples and judged by r2 \(fold 1\): "
    for table in (gaps, X.assign(text=np.where(y > 0, "u", "v"))):
        message = refusal(table, y, model=SVR())
        assert re.match(start, message)
        assert "for text or gaps pass a pipeline that prepares them" in message
    both = np.column_stack([y, y**2])
    for message in (refusal(X, both, model=SVR()), refusal(X, y, model=SVR(C=-1))):
        assert re.match(start, message)
        assert ". Pass another 'model' or 'scoring'" in message
    few = refusal(X[:24], y[:24], series=True)
    assert few.startswith("KNeighborsRegressor with 1 column cannot be fitted to 4 samples")
    assert few.endswith(" Use fewer folds (cv).")

    def of_coefficients(model, X, y):
        return model.score(X, y) - 0.01 * len(model.coef_)

    message = refusal(X, y, model=LinearRegression(), scoring=of_coefficients)
    assert "DummyRegressor with 0 columns cannot be fitted to 48 samples and judged by " in message
    assert "of_coefficients (fold 1): 'DummyRegressor' object has no attribute 'coef_'" in message
    classes = np.where(y > 0, "yes", "no")
    message = refusal(X, classes, model=SVC(), scoring="neg_log_loss")
    assert "SVC with 1 column cannot be fitted to 48 samples and judged by neg_log_loss" in message
    for scoring in ("f1", "r2"):
        message = refusal(X, classes, scoring=scoring)
        assert f"{scoring!r} cannot judge predictions of y, which has classes: " in message


def test_scores_know_classes_by_their_names():
    """The first in the table is not the one that a score is about."""
    X, y = additive(n=60)
    asked = {"scoring": make_scorer(f1_score, pos_label="yes")} | QUICK
    found = MISelector(**asked).fit(X, np.where(y > 0.8, "yes", "no")).result_.cv_scores
    asked["scoring"] = "f1"
    for low, high in ((2, 1), (0, 1)):
        codes = np.where(y > 0.8, high, low)
        for rows in (slice(None), np.argsort(-codes, kind="stable")):
            kind = {"cv": PredefinedSplit(np.arange(60)[rows] % 3)}
            other = MISelector(**asked | kind, discrete_target=True).fit(X.iloc[rows], codes[rows])
            again = MISelector(**QUICK | kind, scoring=make_scorer(f1_score, pos_label="yes"))
            again.fit(X.iloc[rows], np.where(codes == 1, "yes", "no")[rows])
            assert other.result_.cv_scores.scores == again.result_.cv_scores.scores
    assert found.scoring == "f1_score"


def test_several_columns_of_classes_are_refused():
    X, y = additive(n=60)
    both = pd.DataFrame({"a": np.where(y > 0, "u", "v"), "b": np.digitize(y, [-1, 1]).astype(str)})
    assert "y has 2 columns of classes. With stop='cv', pass one" in refusal(X, both)


def test_fewer_groups_than_folds():
    X, y = additive(n=60)
    groups = np.arange(60) // 20
    for target in (y, np.where(y > 0, "u", "v")):
        message = refusal(X, target, groups)
        assert "asks for 5 folds, but there are 3 groups, which stay together" in message
        assert message.endswith("Use fewer folds (cv=3).")


@pytest.mark.parametrize("name", ["model", "scoring", "test"])
def test_what_is_about_another_stop_is_refused(name):
    X, y = additive(n=60)
    value = {"model": SVR(), "scoring": "r2", "test": True}[name]
    for stop in ("auto", None, "fdr", "max-mi"):
        with pytest.raises(ValueError, match=f"The '{name}' parameter is about stop='cv'"):
            MISelector(stop=stop, max_features=2, **{name: value}).fit(X, y)


@pytest.mark.parametrize("criterion", ["auto", "cmim"])
def test_few_groups_are_told_once(criterion):
    X, y = additive(n=60)
    groups = np.arange(60) // 15
    asked = QUICK | {"cv": 2, "criterion": criterion, "statistic": "ksg"}
    with pytest.warns(UserWarning, match="4 groups can be arranged in 24 diff") as told:
        MISelector(**asked, test=True).fit(X, y, groups)
    assert sum("groups can be arranged" in str(one.message) for one in told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MISelector(**asked).fit(X, y, groups)


def test_a_regressor_for_classes_is_refused():
    X, y = additive(n=60)
    with pytest.raises(ValueError, match="is SVR, but y has classes: pass a classifier"):
        MISelector(stop="cv", model=SVR()).fit(X, np.where(y > 0, "a", "b"))
    both = pd.DataFrame({"a": y, "b": np.where(y > 0, "a", "b")})
    with pytest.raises(ValueError, match="y has classes and numbers"):
        MISelector(stop="cv").fit(X, both)


def test_scores_that_are_no_numbers_are_refused():
    X, y = additive(n=60)

    def nothing(model, X, y):
        return np.nan

    with pytest.raises(ValueError, match=r"score of .* is nan \(fold 1, 20 samples\)"):
        MISelector(**QUICK, scoring=nothing).fit(X, y)


# ---- inside scikit-learn, and beside the rest of the library


def test_pipelines_and_grid_searches():
    X, y = additive(n=90)
    pipeline = make_pipeline(MISelector(**QUICK, model=SVR()), StandardScaler(), SVR(C=10))
    search = GridSearchCV(
        pipeline,
        {"miselector__model__C": [0.1, 10], "miselector__criterion": ["cmi", "cmim"]},
        cv=2,
    )
    search.fit(X, y)
    assert search.best_score_ > 0.7
    chosen = search.best_estimator_[0]
    assert chosen.result_.provenance.parameters["model"]["name"] == "sklearn.svm.SVR"
    assert chosen.result_.cv_scores.model["parameters"]["C"] == chosen.model.C


def test_stability_and_stand_ins():
    X, y = additive(n=100)
    X["copy"] = X["x0"] + 0.01 * np.random.default_rng(1).normal(size=100)
    selector = MISelector(**QUICK)
    found = stability(selector, X, y, n_resamples=2, random_state=0)
    assert found.frequencies[X.columns.get_loc("x2")] == 1
    selector.set_params(model=SVR(C=10), cv=KFold(3)).fit(X, y)
    others = selector.alternatives(X, y)
    pairs = {frozenset(row) for row in others[["feature", "stand_in"]].to_numpy()}
    assert frozenset({"x0", "copy"}) in pairs


# ---- records


def test_records_have_models_by_name_and_parameters():
    X, y = additive(n=80)
    model = make_pipeline(StandardScaler(), SVR(C=3))
    selector = MISelector(**QUICK, model=model, test=True).fit(X, y)
    result = selector.result_
    text = result.to_json()
    read = SelectionResult.from_json(text)
    assert read.cv_scores == result.cv_scores
    assert read.to_json() == text
    known = json.loads(text)["provenance"]["parameters"]["model"]
    assert known["name"] == "sklearn.pipeline.Pipeline"
    assert known["parameters"]["svr__C"] == 3
    scope = {"X": X, "y": y}
    exec(result.provenance.code.replace("MISelector(", "again = MISelector("), scope)
    assert scope["again"].result_.cv_scores == result.cv_scores


def test_a_checkpoint_goes_on_where_it_was(tmp_path):
    X, y = additive(n=80)
    path = tmp_path / "folds.json"
    how = QUICK | {"test": True, "n_permutations": 99}
    whole = MISelector(**how, checkpoint=path).fit(X, y).result_
    kept = json.loads(path.read_text())
    assert [next(iter(part)) for part in kept["parts"]] == ["fold"] * 6 + ["step"] * len(
        whole.steps
    )
    again = MISelector(**how, checkpoint=path).fit(X, y).result_
    assert (again.steps, again.cv_scores) == (whole.steps, whole.cv_scores)
    with pytest.raises(ValueError, match=r"is of another run: model was None and is"):
        MISelector(**how, checkpoint=path, model=SVR()).fit(X, y)


def top_score(model, X, y):
    return -np.abs(model.predict(X) - y).max()


def test_a_checkpoint_of_other_folds_is_refused(tmp_path):
    X, y = additive(n=60)
    for first, other in (
        (list(KFold(3).split(X)), list(KFold(3, shuffle=True, random_state=1).split(X))),
        (PredefinedSplit(np.arange(60) % 3), PredefinedSplit(np.arange(60) // 20)),
        (KFold(3, shuffle=True), KFold(3, shuffle=True)),  # which draw
    ):
        how = QUICK | {"checkpoint": tmp_path / "folds.json"}
        whole = MISelector(**how | {"cv": first}).fit(X, y).result_
        with pytest.raises(ValueError, match=r"is of another run: .*folds was"):
            MISelector(**how | {"cv": other}).fit(X, y)
        if not getattr(first, "shuffle", False):
            again = MISelector(**how | {"cv": first}).fit(X, y).result_
            assert again.cv_scores == whole.cv_scores
        (tmp_path / "folds.json").unlink()


def test_a_checkpoint_needs_names(tmp_path):
    X, y = additive(n=60)
    how = QUICK | {"checkpoint": tmp_path / "folds.json"}

    def inside(model, X, y):
        return top_score(model, X, y)

    for name, value in (
        ("scoring", lambda model, X, y: 0.5),
        ("scoring", inside),
        ("scoring", make_scorer(lambda a, b: 0.5)),
        ("model", make_pipeline(FunctionTransformer(lambda x: x), SVR())),
        ("model", ExtraTreesRegressor(random_state=np.random.RandomState(0))),
    ):
        with pytest.raises(ValueError, match=f"'{name}' parameter has .* or leave 'checkpoint' ou"):
            MISelector(**how | {name: value}).fit(X, y)
        assert not (tmp_path / "folds.json").exists()
    assert MISelector(**how, scoring=top_score).fit(X, y).result_.cv_scores.scoring == "top_score"
    MISelector(**QUICK | {"cv": 2}, scoring=inside, model=SVR()).fit(X, y)  # without a checkpoint


def test_code_runs_or_says_what_to_fill_in():
    X, y = additive(n=60)

    def code(**change):
        return MISelector(**QUICK | change).fit(X, y).result_.provenance.code

    scoring = make_scorer(mean_absolute_error, greater_is_better=False)
    for change in ({"scoring": scoring}, {"cv": PredefinedSplit(np.arange(60) % 3)}):
        whole = MISelector(**QUICK | change).fit(X, y).result_
        scope = {"X": X, "y": y}
        exec(whole.provenance.code.replace("MISelector(cv", "again = MISelector(cv"), scope)
        assert scope["again"].result_.cv_scores == whole.cv_scores
    assert whole.cv_scores.scoring == "r2"
    drawn = KFold(3, shuffle=True, random_state=np.random.RandomState(0))
    for change, names in (
        ({"cv": list(KFold(3).split(X))}, "cv"),
        ({"cv": drawn, "scoring": lambda model, X, y: -1 / (1 + len(X))}, "cv, scoring"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = code(**change)
        compile(text, "code", "exec")
        assert f"# ... stands for what cannot be written: put in what was passed ({names})" in text
        assert "0x" not in text
        assert "lambda" not in text


KILLED = """
import sys
import numpy as np
from infosieve import MISelector
from sklearn.svm import SVR
class Slow(SVR):
    def fit(self, X, y):
        open(sys.argv[2], "a").write(".")
        return super().fit(X, y)
x = np.random.default_rng(0).normal(size=(60, 5))
found = MISelector(stop="cv", cv=4, model=Slow(), random_state=0, checkpoint=sys.argv[1], test=True)
print(found.fit(x, x[:, 1] + x[:, 3]).result_.cv_scores.scores)
"""


def test_killed_after_any_number_of_fits_it_ends_with_the_same(tmp_path):
    """Killed after so many fits; whoever runs again does the folds that are left."""
    script = KILLED.replace(
        'open(sys.argv[2], "a").write(".")',
        'open(sys.argv[2], "a").write("."); import os, signal\n'
        "        if len(open(sys.argv[2]).read()) == int(sys.argv[3]): "
        "os.kill(os.getpid(), signal.SIGKILL)",
    )

    def run(name, limit):
        return run_code(script, tmp_path / name, tmp_path / f"{name}.n", limit)

    whole = run("whole", -1)
    n_fits = len((tmp_path / "whole.n").read_text())
    killed = run("killed", n_fits // 2)
    assert killed.returncode == -signal.SIGKILL
    again = run("killed", -1)
    assert again.stdout == whole.stdout != ""
    assert len((tmp_path / "killed.n").read_text()) < n_fits // 2 + n_fits


def test_interrupted_it_says_what_is_kept(tmp_path):
    X, y = additive(n=60)

    class Interrupts(LinearRegression):
        count = 0

        def fit(self, X, y):
            Interrupts.count += 1
            if Interrupts.count == 9:
                raise KeyboardInterrupt
            return super().fit(X, y)

    selector = MISelector(**QUICK, model=Interrupts(), checkpoint=tmp_path / "kept.json")
    with pytest.raises(
        KeyboardInterrupt, match=r"1 of 6 folds were finished; the checkpoint .* go on"
    ):
        selector.fit(X, y)
    assert not hasattr(selector, "result_")


def test_a_fold_that_was_not_yet_written_is_kept(tmp_path, ctrl_c_while_writing):
    X, y = additive(n=60)
    path = tmp_path / "kept.json"
    ctrl_c_while_writing(3)  # first without folds, then the first
    with pytest.raises(KeyboardInterrupt, match=r"2 of 6 folds were finished; the checkpoint"):
        MISelector(**QUICK, checkpoint=path).fit(X, y)
    assert len(json.loads(path.read_text())["parts"]) == 2


def test_the_axis_of_a_page_is_named_below_all_names():
    X, y = additive(n=60)
    drawn = Prediction(MISelector(**QUICK).fit(X, y).result_)
    title = figures.prediction(drawn)["layout"]["xaxis"]["title"]
    assert title["text"] == "number of columns"
    assert title["standoff"] > 0  # without one it dodges only the names that it would cover


def test_logistic_regression_of_booleans():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    selector = MISelector(**QUICK, model=LogisticRegression(), scoring="roc_auc")
    selector.fit(X, X[:, 2] > 0)
    assert selector.selected_.tolist() == [2]
    assert selector.result_.cv_scores.without == 0.5


class Odd(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_a_model_of_anybody():
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="Odd predicts no better"):
        MISelector(**QUICK, model=Odd()).fit(rng.normal(size=(60, 3)), list("ab") * 30)
