"""MISelector: its search against a plain one, its promises, and scikit-learn's checks."""

import json
import pickle
import re
import signal
import sys
import warnings

import naive
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_choose_k import friedman

from infosieve import MISelector, SelectionResult, mutual_information, relevance
from infosieve._core.progress import Progress
from infosieve._core.settings import screen_size
from infosieve._executors.threads import Threads
from infosieve._input.scaling import prepare
from infosieve._resampling.nulls import global_permutations, local_permutations
from infosieve._resampling.permutations import key_of
from infosieve.selection._one_by_one import CMIM
from infosieve.selection._progress import PermutationProgress, shorter

CHAPTER = {
    "n_neighbors": "auto",
    "criterion": "mi",
    "stop": "permutation",
    "null": "global",
    "correction": None,
    "lookahead": 1,
}
FEW = {"random_state": 0, "n_permutations": 39, "lookahead": 1}


def named(X):
    return pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(X.shape[1])])


@parametrize_with_checks([MISelector(), MISelector(**CHAPTER | {"n_permutations": 19})])
@pytest.mark.filterwarnings("ignore:No column was selected")
@pytest.mark.filterwarnings("ignore:No features were selected")
@pytest.mark.filterwarnings("ignore:.*distinct whole numbers")  # classes 0, 1, 2 as numbers
@pytest.mark.filterwarnings("ignore:.* is a copy of y")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("criterion", ["cmim", "jmi"])
def test_one_by_one_agrees_with_plain_loops(criterion):
    """Each candidate against each selected column, estimated anew in each step."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(60, 40)), columns=[f"x{j}" for j in range(40)])
    table["x5"] = table["x0"] + 0.3 * rng.normal(size=60)  # says the same
    table.loc[::7, "x8"] = np.nan
    table["x9"] = pd.Categorical(rng.integers(3, size=60).astype(str))
    y = table["x0"] + table["x1"] ** 2 + table["x3"] * table["x4"] + 0.3 * rng.normal(size=60)
    how = {"n_neighbors": (3, 6)}
    selector = MISelector((3, 6), criterion=criterion, stop=None, max_features=12).fit(table, y)
    combined = min if criterion == "cmim" else np.mean
    selected, left = [], list(table)
    for step in selector.result_.steps:
        if selected:
            conditional = how | {"criterion": "cmi"}
            values = [
                combined([
                    mutual_information(table[c], y, condition=table[s], **conditional)
                    for s in selected
                ])
                for c in left
            ]  # fmt: skip
        else:
            values = [mutual_information(table[c], y, **how) for c in left]
        best = int(np.argmax(values))
        assert step.gain == pytest.approx(values[best], abs=1e-12)
        assert step.n_candidates == len(left)
        selected.append(left.pop(best))
        assert step.mi == mutual_information(table[selected], y, **how)
    assert [selector.result_.features[j] for j in selector.selected_] == selected


def test_least_values_are_brought_up_to_date_only_where_they_may_be_largest():
    asked = []

    def added(columns, selected):
        asked.append((selected, len(columns)))
        return np.linspace(1, 0, 1000)[columns] if selected == 0 else np.full(len(columns), 0.5)

    def by_value(columns, values):
        return np.argsort(-values, kind="stable")

    search = CMIM(np.linspace(1, 0, 1000))
    assert search.best(range(1000), [], added, by_value) == (0, 1.0)
    assert not asked
    assert search.best(range(1, 1000), [0], added, by_value)[0] == 1
    assert asked == [(0, 999)]
    assert search.best(range(2, 1000), [0, 1], added, by_value) == (2, 0.5)
    assert sum(n for _, n in asked[1:]) < 600  # those below 0.5 cannot be largest


@pytest.mark.parametrize("criterion", ["cmim", "jmi"])
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({}, "has no test of what they add to all of them, which stop='auto' asks for"),
        ({"stop": "permutation"}, "stop='permutation' asks for. Use criterion='cmi'"),
        ({"stop": None, "search": "forward-backward"}, "must be 'forward' with criterion="),
        ({"stop": None, "method": "ksg2"}, "must be 'ksg1' with criterion="),
    ],
)
def test_one_by_one_refuses_what_it_cannot(criterion, setting, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        MISelector(criterion=criterion, **setting).fit(np.eye(30), np.arange(30.0))


@pytest.mark.parametrize("criterion", ["mi", "cmi"])
@pytest.mark.parametrize("null", ["global", "local"])
@pytest.mark.parametrize("correction", ["max", None])
def test_search_agrees_with_plain_loops(criterion, null, correction):
    rng = np.random.default_rng(5)
    n, ks, seed = 24, (2, 3), 11
    X = rng.normal(size=(n, 4))
    y = X[:, 2] + X[:, 0] ** 2 + 0.1 * rng.normal(size=n)
    selector = MISelector(
        ks,
        criterion=criterion,
        null=null,
        correction=correction,
        stop="permutation",
        alpha=0.2,
        n_permutations=9,
        statistic="ksg",
        lookahead=1,
        random_state=seed,
    ).fit(X, y)
    x, target = (
        prepare(v, np.zeros(len(v), bool), "standard", 0, Threads(1)) for v in (X.T, y[None])
    )

    def copy(step, selected, number, j):
        given = x.take(selected)
        key = key_of(seed, "test", given)
        if null == "global" or not selected:
            return x.values[j, global_permutations(key, n).draw(number, 1)[0]]
        orders = local_permutations(key, given, "euclidean").draw(number, 1)
        return naive.surrogates(x.values[j], given.values, given.categorical, orders)[0]

    measured = {"mi": "mi", "cmi": "gain"}[criterion]
    selected, steps = naive.forward(x.values, target.values, ks, measured, copy, 9, 0.2, correction)
    assert selector.selected_.tolist() == selected
    path = selector.path_
    assert path["feature"].tolist() == [j for j, _ in steps]
    certain = ~path["early_stopped"].to_numpy()
    assert path["exceedances"][certain].tolist() == [
        b for (_, b), sure in zip(steps, certain, strict=True) if sure
    ]


def test_chapters_table():
    """(F), the chapter's setting: mostly 4 or 5 features; the classical stop mostly 2 or 3."""
    sizes, classical = [], []
    for seed in range(40):
        X, y = friedman(np.random.default_rng(5000 + seed))
        sizes.append(len(MISelector(**CHAPTER, random_state=seed).fit(X, y).selected_))
        setting = CHAPTER | {"stop": "max-mi"}
        classical.append(len(MISelector(**setting, random_state=seed).fit(X, y).selected_))
    sizes, classical = np.array(sizes), np.array(classical)
    assert np.isin(sizes, [4, 5]).mean() > 0.6
    assert np.isin(classical, [2, 3]).mean() > 0.5
    assert classical.mean() < sizes.mean() - 1


def test_default_finds_what_matters_and_says_how_sure():
    X, y = friedman(np.random.default_rng(3), n=200, m=20)
    selector = MISelector(random_state=0).fit(named(X), y)
    assert set(selector.get_feature_names_out()) == {"x1", "x2", "x3", "x4", "x5"}
    assert selector.selected_[0] == 3
    path = selector.path_
    assert path["action"].tolist() == ["add"] * 5 + ["stop"]
    assert path["candidates"].tolist() == [20, 19, 18, 17, 16, 15]
    assert (path["p_value"][:5] <= path["level"][:5]).all()
    assert path["p_value"][5] > path["level"][5]
    assert path["significant"].tolist() == [True] * 5 + [False]
    np.testing.assert_array_equal(selector.relevance_, relevance(X, y))
    first_two = selector.selected_[:2]
    assert path["mi"][1] == mutual_information(X[:, first_two], y)
    assert isinstance(selector.result_, SelectionResult)
    assert "p = " in selector.result_.stop_reason
    fixed = MISelector(random_state=0, n_permutations=199).fit(named(X), y)
    assert fixed.selected_.tolist() == selector.selected_.tolist()
    assert "p ≥ " in fixed.result_.stop_reason


def test_nothing_relevant_is_a_normal_outcome(rng):
    X, y = rng.normal(size=(50, 4)), rng.normal(size=50)
    with pytest.warns(UserWarning, match=r"the best of 4 candidates, 'x\d'"):
        selector = MISelector(random_state=0).fit(named(X), y)
    assert selector.selected_.size == 0
    assert not selector.support_.any()
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(named(X)).shape == (50, 0)
    assert selector.path_["action"].tolist() == ["stop"]
    kept = MISelector(min_features=2, random_state=0).fit(X, y)
    assert kept.selected_.size == 2
    assert kept.path_["significant"].tolist() == [False] * 3


def test_global_null_holds_its_level():
    chosen, runs = 0, 120
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 6)), rng.normal(size=40)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "No column was selected")
            selector = MISelector(4, n_permutations=99, random_state=seed).fit(X, y)
        chosen += selector.selected_.size > 0
    assert chosen <= 15  # 99.9 % of binomials with rate 5 %


@pytest.mark.parametrize("setting", [{}, CHAPTER, {"search": "forward-backward", "resample": "cv"}])
def test_the_same_for_any_threads_and_order_of_columns(setting):
    X, y = friedman(np.random.default_rng(8), m=7)
    X = np.round(X, 2)
    frame = named(X)
    options = setting | {"random_state": 5, "n_permutations": 99, "max_features": 4}
    one = MISelector(**options).fit(frame, y)
    assert one.selected_.size > 1
    for other, data in [
        (MISelector(**options, n_jobs=2), frame),
        (MISelector(**options, n_jobs=3), frame[frame.columns[::-1]]),
        (MISelector(**options), frame[["x4", "x7", "x1", "x2", "x6", "x3", "x5"]]),
    ]:
        other.fit(data, y)
        pd.testing.assert_frame_equal(one.path_, other.path_)
        np.testing.assert_array_equal(
            pd.Series(one.relevance_, frame.columns),
            pd.Series(other.relevance_, data.columns)[frame.columns],
        )


def test_chunks_of_permutations_change_nothing(monkeypatch):
    X, y = friedman(np.random.default_rng(8), m=6)
    one = MISelector(random_state=5, n_permutations=99).fit(X, y)
    for copies in (1, 7, 10_000):
        monkeypatch.setattr("infosieve._engines.numba.engine.NumbaEngine.at_once", copies)
        monkeypatch.setattr("infosieve._scoring.jobs._FIRST_SURROGATES", 1 + copies // 3)
        other = MISelector(random_state=5, n_permutations=99).fit(X, y)
        pd.testing.assert_frame_equal(one.path_, other.path_)
    monkeypatch.setattr("infosieve._engines.numba.engine.NumbaEngine.surrogate_bytes", 1)
    monkeypatch.setattr("infosieve._scoring.jobs._PIECE_BYTES", 1)
    other = MISelector(random_state=5, n_permutations=99).fit(X, y)
    pd.testing.assert_frame_equal(one.path_, other.path_)


def test_forward_backward_removes_what_others_made_superfluous():
    """A noisy sum is best alone; its two terms together make it superfluous."""
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 400))
    X = np.c_[a + b + 0.5 * rng.normal(size=400), a, b, rng.normal(size=(400, 2))]
    y = a + b + 0.2 * rng.normal(size=400)
    forward = MISelector(random_state=0).fit(X, y)
    assert forward.selected_.tolist()[0] == 0
    for removal in ("test", "mi"):
        both = MISelector(search="forward-backward", removal=removal, random_state=0).fit(X, y)
        assert sorted(both.selected_) == [1, 2]
        removed = both.path_[both.path_["action"] == "remove"]
        assert removed["feature"].tolist() == [0]
        assert removed["p_value"].isna().all() == (removal == "mi")


def test_a_set_seen_before_ends_the_search():
    X, y = friedman(np.random.default_rng(0))
    selector = MISelector(
        search="forward-backward", removal="mi", criterion="mi", stop=None, random_state=0
    ).fit(X, y)
    assert selector.result_.stop_reason == "the search came back to a set it had seen"


def test_pairs_that_matter_only_together():
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, size=(200, 8))
    y = np.sign(X[:, 2] * X[:, 5]) + 0.3 * rng.normal(size=200)
    with pytest.warns(UserWarning, match="No column was selected"):
        MISelector(random_state=0, lookahead=1).fit(X, y)
    pairs = MISelector(random_state=0).fit(named(X), y)
    assert set(pairs.selected_) == {2, 5}
    assert pairs.path_["step"].tolist()[:2] == [1, 1]
    assert pairs.path_["candidates"][0] == 28


def test_a_noisy_copy_is_not_selected_and_an_exact_one_is_reported(rng):
    x = rng.normal(size=200)
    y = np.sin(2 * x) + 0.3 * rng.normal(size=200)
    frame = pd.DataFrame({"x": x, "near": x + 0.2 * rng.normal(size=200), "same": 3 - 2.5 * x})
    frame["one"] = 7
    frame["copy"] = frame["near"] * 1e-6 + 1e3
    selector = MISelector(random_state=0).fit(frame, y)
    assert selector.get_feature_names_out().tolist() == ["x"]
    assert selector.duplicates_ == {0: (2,), 1: (4,)}
    assert selector.result_.constant == (3,)
    assert selector.relevance_[2] == selector.relevance_[0]
    assert selector.relevance_[3] == 0
    assert selector.path_["candidates"][0] == 2


@pytest.mark.parametrize("scale", ["standard", "normal-scores", None])
def test_duplicates(scale, rng):
    x, z = rng.normal(size=(2, 80))
    X = np.c_[x, z, -x, x * 1e9, z + 0.1 * x, 1e6 + z, np.round(x, 1), -3 * np.round(x, 1)]
    with pytest.warns(UserWarning, match="No column"):
        selector = MISelector(scale=scale, **FEW).fit(X, rng.normal(size=80))
    scaled = {0: (2, 3), 1: (5,), 6: (7,)}
    # Without scaling, scaled copies do not measure the same.
    assert selector.duplicates_ == (scaled if scale else {0: (2,), 1: (5,)})


def test_categories_with_the_same_classes_are_duplicates(rng):
    group = rng.integers(0, 3, 90)
    X = pd.DataFrame({"a": np.array(list("xyz"))[group], "b": np.array(list("qpr"))[group]})
    y = group + 0.1 * rng.normal(size=90)
    selector = MISelector(random_state=0).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["a"]
    assert selector.duplicates_ == {0: (1,)}


def test_classification_and_mixed_columns():
    X, y = make_classification(
        300, 8, n_informative=3, n_redundant=0, shuffle=False, random_state=1
    )
    frame = named(X).assign(
        group=np.where(y + np.random.default_rng(0).normal(size=300) > 0.5, "u", "v")
    )
    selector = MISelector(random_state=0, n_permutations=99).fit(frame, np.array(["no", "yes"])[y])
    chosen = set(selector.get_feature_names_out())
    assert chosen & {"x1", "x2", "x3"}
    assert not chosen & {"x5", "x6", "x7", "x8"}


def test_several_targets(rng):
    X = rng.normal(size=(150, 5))
    Y = np.c_[X[:, 1] + 0.1 * rng.normal(size=150), X[:, 3] ** 2]
    selector = MISelector(random_state=0, n_permutations=99).fit(X, Y)
    assert sorted(selector.selected_) == [1, 3]


def test_a_rare_class_is_no_obstacle(rng):
    X = named(rng.normal(size=(60, 2)))
    y = np.where(X["x1"] > 0, "a", "b").astype(object)
    y[7] = "rare"
    selector = MISelector(**FEW).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["x1"]
    assert selector.path_["singletons"][0] == 1


def test_number_of_features():
    X, y = friedman(np.random.default_rng(1))
    options = FEW
    assert MISelector(n_features_to_select=7, **options).fit(X, y).selected_.size == 7
    assert MISelector(max_features=2, **options).fit(X, y).selected_.size == 2
    everything = MISelector(stop=None, **options).fit(X, y)
    assert everything.selected_.size == 10
    assert everything.path_["p_value"].isna().all()
    assert everything.result_.stop_reason == "no column is left"


def test_pandas_polars_and_pipelines():
    X, y = friedman(np.random.default_rng(2))
    frame = named(X)
    setting = FEW
    plain = MISelector(**setting).fit(X, y)
    for data in (frame, pl.DataFrame(frame)):
        selector = MISelector(**setting).fit(data, y)
        np.testing.assert_array_equal(selector.selected_, plain.selected_)
        assert selector.feature_names_in_.tolist() == frame.columns.tolist()
    out = MISelector(**setting).set_output(transform="pandas").fit_transform(frame, y)
    assert isinstance(out, pd.DataFrame)
    assert out.columns.tolist() == frame.columns[plain.support_].tolist()
    out = MISelector(**setting).set_output(transform="polars").fit_transform(pl.DataFrame(frame), y)
    assert out.columns == frame.columns[plain.support_].tolist()
    np.testing.assert_array_equal(plain.transform(X), X[:, plain.support_])
    model = make_pipeline(MISelector(**setting), KNeighborsRegressor())
    search = GridSearchCV(model, {"miselector__max_features": [1, 3]}, cv=3).fit(frame, y)
    assert search.best_params_ == {"miselector__max_features": 3}


def test_clone_and_pickle():
    X, y = friedman(np.random.default_rng(2), m=6)
    selector = MISelector(**FEW).fit(X, y)
    again = pickle.loads(pickle.dumps(selector))
    pd.testing.assert_frame_equal(again.path_, selector.path_)
    np.testing.assert_array_equal(again.transform(X), selector.transform(X))
    assert clone(selector).get_params() == selector.get_params()
    assert not hasattr(clone(selector), "support_")


def test_result_is_frozen_and_signed():
    X, y = friedman(np.random.default_rng(2), m=6)
    result = MISelector(**FEW).fit(X, y).result_
    with pytest.raises(AttributeError):
        result.selected = ()
    with pytest.raises(ValueError, match="read-only"):
        result.relevance[0] = 1
    assert result.provenance.seed == 0
    assert result.provenance.parameters["alpha"] == 0.05
    assert repr(result).startswith("SelectionResult(")


def test_ctrl_c_keeps_the_finished_steps(monkeypatch, ctrl_c):
    """A real signal, in the middle of the third step."""
    X, y = friedman(np.random.default_rng(0))
    whole = MISelector(random_state=0).fit(X, y)

    def tick(step, done, total):
        if step == 3:
            signal.raise_signal(signal.SIGINT)

    selector = MISelector(random_state=0)
    monkeypatch.setattr(MISelector, "_listener", lambda *_: tick)
    message = "the 2 steps that were finished are kept: 2 features selected"
    with pytest.raises(KeyboardInterrupt, match=message):
        selector.fit(X, y)
    np.testing.assert_array_equal(selector.selected_, whole.selected_[:2])
    pd.testing.assert_frame_equal(selector.path_, whole.path_[:2])
    assert selector.result_.stop_reason == "interrupted"
    assert selector.transform(X).shape == (100, 2)


# What has a part in keeping what was found.
KEEPING = ("_run", "_keep", "steps", "_take", "keep", "write", "write_atomically", "atomic")


class Interrupted:
    """Ctrl-C before the n-th line of what keeps steps, counted from where the search begins."""

    def __init__(self, number):
        self.number, self.count = number, 0
        self.began = False

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self.entered)
        return self

    def __exit__(self, *_):
        sys.settrace(self.before)

    def entered(self, frame, event, argument):
        code = frame.f_code
        search = code.co_name == "_run" and "_selector" in code.co_filename
        self.began = self.began or search
        if self.began and code.co_name in KEEPING and "infosieve" in code.co_filename:
            return self.line
        return None

    def line(self, frame, event, argument):
        self.count += event == "line"
        if event == "line" and self.count == self.number:
            raise KeyboardInterrupt
        return self.line


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of a file that was just being opened
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_wherever_ctrl_c_comes_nothing_is_lost(tmp_path, capsys):
    """What was told is kept, and the checkpoint has what the message says it has."""
    X, y = friedman(np.random.default_rng(2), n=50, m=5)
    how = {"stop": None, "max_features": 3, "lookahead": 1, "random_state": 0, "verbose": 1}
    with Interrupted(None) as counted:
        whole = MISelector(**how, checkpoint=tmp_path / "whole.json").fit(X, y).result_
    assert counted.count > 100
    capsys.readouterr()
    for number in range(1, counted.count + 1):
        path = tmp_path / f"{number}.json"
        selector = MISelector(**how, checkpoint=path)
        interrupted = pytest.raises(KeyboardInterrupt, match="fit was interrupted; the ")
        with interrupted as error, Interrupted(number):
            selector.fit(X, y)
        n = int(re.search(r"the (\d) steps", str(error.value))[1])
        assert selector.result_.steps == whole.steps[:n]
        assert capsys.readouterr().err.count("infosieve: add") in (n - 1, n)
        assert len(json.loads(path.read_text())["steps"]) == n
        assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_verbose_tells_each_step(capsys):
    X, y = friedman(np.random.default_rng(2), m=5)
    MISelector(**FEW, verbose=1).fit(named(X), y)
    said = capsys.readouterr()
    assert said.out == ""
    assert "infosieve: add x4 (best of 5)" in said.err
    assert "alone" not in said.err


class Clock:
    """A clock that somebody else moves."""

    now = 0.0

    def __call__(self):
        return self.now


def permutations_told(seconds, capsys, n_steps=None, pairs=False, total=200):
    """What is said of a test whose permutations take so many seconds each."""
    clock = Clock()
    with Progress(1) as progress:
        ticker = PermutationProgress(progress, n_steps, lambda pairs: f"pairs={pairs}", clock)
        if pairs:
            ticker(3, 0, total)  # of single columns: no time at all
        ticker(3, 0, total)
        clock.now += 1000  # compiled
        for done in range(4, 20, 4):
            ticker(3, done, total)
            clock.now += 4 * seconds
    said = capsys.readouterr().err
    return [line for line in said.splitlines() if "takes" in line]


def test_a_long_run_is_told_of_once(capsys):
    assert permutations_told(0.04, capsys) == []
    assert permutations_told(0.6, capsys) == [
        "infosieve: the test of a step takes 2 min at most, each further step about as long; "
        "shorter: pairs=False"
    ]
    assert permutations_told(0.04, capsys, n_steps=6) == [
        "infosieve: the test of a step takes 8 s at most, the 4 steps that are left about 32 s; "
        "shorter: pairs=False"
    ]
    assert permutations_told(30, capsys, n_steps=3) == [
        "infosieve: the test of a step takes 1.7 h at most; shorter: pairs=False"
    ]
    assert permutations_told(1, capsys, pairs=True) == [
        "infosieve: the test of pairs takes 3 min at most; shorter: pairs=True"
    ]


@pytest.mark.parametrize(
    ("change", "n_threads", "pairs", "advice"),
    [
        ({}, 1, False, "n_jobs=-1"),
        ({}, 8, False, "screen=16"),
        ({}, None, True, "lookahead=1"),
        ({"screen": None}, 8, True, "screen='auto'"),
        ({"screen": 8}, 8, False, "max_features"),
        ({"max_samples": None}, 8, False, "max_samples='auto'"),
        ({"n_permutations": 199}, 8, False, "n_permutations='auto'"),
        ({"resample": "cv"}, 8, False, "resample=None"),
    ],
)
def test_what_would_make_it_shorter(change, n_threads, pairs, advice, monkeypatch):
    monkeypatch.setattr("infosieve.selection._progress.cpu_count", lambda: 4)
    selector = MISelector(**change)
    kept = screen_size(selector.screen, 900)
    assert shorter(selector, 10_000, kept, n_threads)(pairs).startswith(advice)


def test_who_asks_for_no_correction_is_told(capsys):
    X, y = friedman(np.random.default_rng(2), m=5)
    selector = MISelector(**FEW, correction=None, verbose=1).fit(named(X), y)
    said = capsys.readouterr().err
    assert "infosieve: correction=None: p is that of a column alone" in said
    assert re.search(r"add x4 .* p = 0.\d+ of this column alone", said)
    assert not selector.result_.corrected
    assert "not of the best of 5 candidates" in selector.result_.notes[-1]
    assert "p-values uncorrected" in repr(selector.result_)
    free = MISelector(correction=None, n_features_to_select=2).fit(X, y).result_
    assert free.corrected  # nothing is tested
    assert free.notes == ()


def test_what_was_used_is_in_the_result():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(303, 20))
    y = np.sin(2 * X[:, 3]) + 0.3 * rng.normal(size=303)
    how = {"screen": 4, "max_samples": 100, "max_features": 1, "lookahead": 1, "random_state": 0}
    how["statistic"] = "ksg"
    result = MISelector(**how).fit(X, y).result_
    assert (result.n_parts, result.n_samples_used) == (3, 303)
    assert result.notes == (
        "To save time, 20 candidates were ranked by tables of counts, and the 4 best were "
        "estimated, in each permutation anew.",
        "Estimates are means over 3 parts of 101 samples.",
    )
    again = SelectionResult.from_json(result.to_json())
    assert again.notes == result.notes
    whole = MISelector(**how | {"screen": None, "max_samples": None}).fit(X, y).result_
    assert (whole.n_parts, whole.n_samples_used, whole.notes) == (1, 303, ())
    rough = MISelector(**how | {"correction": None}).fit(X, y).result_
    assert rough.notes[0].endswith("best were estimated.")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 0}, "'alpha' parameter must be a number between 0 and 1"),
        ({"alpha": 1.0}, "'alpha' parameter must be a number between 0 and 1"),
        ({"alpha": "5%"}, "Got '5%' instead"),
        (
            {"stop": "permutation", "n_permutations": 18, "lookahead": 1},
            "'n_permutations' parameter must be at least 19, or 'auto', for a level of 0.05: p",
        ),
        (
            {"n_permutations": 10, "lookahead": 1},
            "'n_permutations' parameter must be at least 20, or 'auto', for a level of 0.04877: p",
        ),
        (
            {"n_permutations": 39},
            "82, or 'auto', for a level of 0.01219 for pairs (lookahead=1 leaves them out)",
        ),
        (
            {"n_permutations": 1.5},
            "'n_permutations' parameter must be 'auto' or an int of at least",
        ),
        ({"lookahead": 3}, "'lookahead' parameter must be one of 1, 2"),
        ({"lookahead": True}, "'lookahead' parameter must be one of 1, 2"),
        (
            {"stop": None, "n_permutations": 1.5},
            "'n_permutations' parameter must be 'auto' or an int",
        ),
        ({"n_neighbors": "best"}, "ints with lo <= hi, or 'auto'. Got 'best'"),
        ({"n_neighbors": 60}, "'n_neighbors' parameter asks for 60 neighbours, but 60 samples"),
        (
            {"n_neighbors": (5, 2)},
            "'n_neighbors' parameter must be an int of at least 1, or a pair",
        ),
        (
            {"criterion": "relief"},
            "'criterion' parameter must be one of 'auto', 'mi', 'cmi', 'cmim', 'jmi'",
        ),
        ({"search": "backward"}, "'search' parameter must be one of 'forward', 'forward-backward'"),
        ({"removal": "p"}, "'removal' parameter must be one of 'test', 'mi'"),
        (
            {"stop": "never"},
            "'stop' parameter must be one of 'auto', 'fdr', 'permutation', 'max-mi', 'cv', None",
        ),
        ({"null": None}, "'null' parameter must be one of 'local', 'global'"),
        ({"correction": True}, "'correction' parameter must be one of 'max', None"),
        ({"resample": "loo"}, "'resample' parameter must be one of 'cv', None"),
        ({"method": "ksg2"}, "Use criterion='mi' with it"),
        ({"n_features_to_select": 9}, "The 'n_features_to_select' parameter asks for 9 features"),
        ({"min_features": 9}, "'min_features' parameter asks for 9 features, but X has 6"),
        ({"min_features": 3, "max_features": 2}, "'min_features' parameter (3) must not exceed"),
        ({"max_features": 0}, "'max_features' parameter must be None or an int of at least 1"),
        ({"random_state": -1}, "'random_state' parameter must be None, an int of at least 0"),
    ],
)
def test_bad_parameters(change, message):
    X, y = friedman(np.random.default_rng(0), n=60, m=6)
    with pytest.raises(ValueError) as caught:
        MISelector(**change).fit(X, y)
    assert message in str(caught.value)


def test_degenerate_data(rng):
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    with pytest.raises(ValueError, match="y is constant"):
        MISelector().fit(X, np.ones(30))
    with pytest.raises(ValueError, match="All 3 columns of X are constant"):
        MISelector().fit(np.ones((30, 3)), y)
    with pytest.raises(ValueError, match="'n_neighbors' parameter asks for 10 neighbours"):
        MISelector(10).fit(X[:8], y[:8])
    with pytest.raises(ValueError, match="X has 30 samples and y has 29"):
        MISelector().fit(X, y[:29])
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"X has missing values \(NaN\) in 1 of its columns: 1"):
        MISelector(missing="error").fit(X, y)
    with pytest.warns(UserWarning, match="No column was selected"):
        MISelector(random_state=0).fit(rng.normal(size=(6, 2)), rng.normal(size=6))
    same = np.c_[y, -y, 2 * y]
    with pytest.warns(UserWarning, match="column 0 of X is a copy of y"):
        selector = MISelector(random_state=0).fit(same, y)
    assert selector.selected_.tolist() == [0]
    assert selector.duplicates_ == {0: (1, 2)}
    ties = rng.integers(0, 2, size=(50, 4)).astype(float)
    tied = MISelector(random_state=0, min_features=1).fit(
        ties, (ties[:, 1] + rng.normal(size=50)) > 0.5
    )
    assert tied.selected_.size >= 1


def test_more_features_than_differ(rng):
    x, y = rng.normal(size=(2, 40))
    X = np.c_[x, -x, np.ones(40), y + rng.normal(size=40)]
    with pytest.raises(ValueError, match="3 features are asked for, but only 2 columns of X vary"):
        MISelector(n_features_to_select=3).fit(X, y)


def test_removals_need_permutations_too():
    with pytest.raises(
        ValueError, match=r"at least 19, or 'auto', for a level of 0\.05 for removals"
    ):
        MISelector(stop=None, search="forward-backward", n_permutations=5).fit([[1.0], [2]], [1, 2])


def test_samples_that_share_their_categories_with_nobody_are_counted(rng):
    X = pd.DataFrame({"a": np.repeat(list("uvw"), 20), "b": rng.normal(size=60)})
    X.loc[5, "a"] = "alone"
    y = (X["a"] == "u") + 0.1 * rng.normal(size=60)
    selector = MISelector(**FEW).fit(X, y)
    assert selector.path_["singletons"][0] == 1


def test_numpy_integers_and_lists_of_k():
    X, y = friedman(np.random.default_rng(0), n=60, m=5)
    for k in (np.int64(3), (np.int32(3), np.int64(5)), [3, 5]):
        MISelector(k, stop=None, max_features=1).fit(X, y)
    search = GridSearchCV(
        make_pipeline(MISelector(stop=None, max_features=1), KNeighborsRegressor()),
        {"miselector__n_neighbors": np.arange(3, 5)},
        cv=2,
    )
    assert search.fit(X, y).best_params_["miselector__n_neighbors"] in (3, 4)


def test_ranges_of_k_are_capped_and_a_single_k_is_not(rng):
    X, y = rng.normal(size=(8, 2)), rng.normal(size=8)
    for k in ((3, 15), (3, 10), [3, 99]):
        assert MISelector(k, stop=None).fit(X, y).n_neighbors_ == (3, 7)
    assert MISelector((9, 10), stop=None).fit(X, y).n_neighbors_ == (7, 7)
    with pytest.raises(ValueError, match="asks for 10 neighbours"):
        MISelector(10, stop=None).fit(X, y)


def test_columns_that_keep_their_scale_are_scored_as_they_are(rng):
    x, z = rng.normal(size=(2, 100))
    y = x + 0.3 * rng.normal(size=100)
    X = np.c_[1000 * x, z, x]
    how = {"scale": None, "statistic": "ksg", **FEW}
    one = MISelector(**how).fit(X, y)
    other = MISelector(**how).fit(X[:, ::-1], y)
    np.testing.assert_array_equal(one.relevance_, other.relevance_[::-1])
    assert one.selected_.tolist() == [2]
    assert other.selected_.tolist() == [0]


@pytest.mark.parametrize("criterion", ["mi", "cmi"])
def test_classical_stop_ends_where_information_falls(criterion):
    X, y = friedman(np.random.default_rng(3))
    path = MISelector(criterion=criterion, stop="max-mi", lookahead=1).fit(X, y).path_
    rises = np.diff(path["mi"], prepend=0)
    assert (rises[:-1] > 0).all()
    assert rises[-1] <= 0


def test_removal_may_leave_one_column():
    """A noisy image of x is best alone in some samples; x makes it superfluous."""
    paths = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = rng.uniform(-1, 1, 200)
        X = np.c_[np.sin(4 * x) + 0.1 * rng.normal(size=200), x]
        y = np.sin(4 * x) + 0.3 * rng.normal(size=200)
        options = {"search": "forward-backward", "stop": None, "random_state": seed}
        paths.append(MISelector(**options, max_features=2).fit(X, y).path_)
    removed = [path for path in paths if "remove" in path["action"].tolist()]
    assert removed
    for path in removed:
        assert path["action"].tolist()[:3] == ["add", "add", "remove"]
        assert path["feature"][2] == path["feature"][0]


def test_as_many_as_asked_for_with_removals():
    X, y = friedman(np.random.default_rng(0), m=8)
    for removal in ("mi", "test"):
        selector = MISelector(
            search="forward-backward",
            removal=removal,
            n_features_to_select=6,
            criterion="mi",
            **FEW,
        ).fit(X, y)
        assert selector.selected_.size == 6


def test_pairs_are_tried_before_columns_are_forced():
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, size=(200, 8))
    y = np.sign(X[:, 2] * X[:, 5]) + 0.3 * rng.normal(size=200)
    assert set(MISelector(n_features_to_select=2, random_state=0).fit(X, y).selected_) == {2, 5}


def test_an_interrupted_refit_keeps_nothing_of_the_last_fit(monkeypatch):
    X, y = friedman(np.random.default_rng(0), m=5)
    selector = MISelector("auto", stop=None).fit(X, y)

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("infosieve.selection._start.choose", interrupt)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X[:, :3], y)
    assert not hasattr(selector, "support_")


def test_rare_combinations_of_categories_in_later_steps_are_told(rng):
    X = pd.DataFrame({c: rng.choice(list("abcdefghij"), 100) for c in "uvw"})
    y = (X["u"] > "e") + 0.1 * rng.normal(size=100)
    with pytest.warns(UserWarning, match="90 of 100 samples share their combination"):
        MISelector(n_features_to_select=3, stop=None).fit(X, y)


def test_columns_of_one_name_are_refused(rng):
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "b"])
    with pytest.raises(ValueError, match=r"several columns of the same name: 'b' \(2 times\)"):
        MISelector().fit(X, X["a"])


def test_identifiers_are_left_out_unless_declared(rng):
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    X["name"] = [f"sample {i}" for i in range(60)]
    y = X["a"] + 0.1 * rng.normal(size=60)
    with pytest.warns(UserWarning, match="Left out as identifiers, .* of the 60 samples: 'name'"):
        selector = MISelector(random_state=0).fit(X, y)
    assert selector.result_.identifiers == (2,)
    assert all(2 not in step.features for step in selector.result_.steps)
    assert selector.result_.steps[0].n_candidates == 2
    with pytest.warns(UserWarning, match="column 'name' of X has 60 categories in 60 samples"):
        declared = MISelector(random_state=0, discrete_features=["name"]).fit(X, y)
    assert declared.result_.identifiers == ()
    assert declared.result_.steps[0].n_candidates == 3
