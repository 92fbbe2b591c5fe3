"""Results as JSON: the same again, or an error that says what is wrong."""

import functools
import json
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from infosieve import (
    FeatureClustering,
    MISelector,
    PermutationTest,
    SelectionResult,
    choose_k,
    permutation_test,
    relevance_test,
    stability,
)
from infosieve._input.tables import fingerprint, read_table
from infosieve.cli.show import show
from infosieve.datasets import make_friedman, make_xor
from infosieve.results._selection import cv_scores_frame


def table(**options):
    return make_friedman(80, 6, random_state=0, return_X_y=True, as_frame=True, **options)


def same(a, b):
    """Whether two contents are equal, arrays and all."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b) and a.dtype.kind == np.asarray(b).dtype.kind
    if hasattr(a, "__dataclass_fields__"):
        return type(a) is type(b) and same(vars(a), vars(b))
    return a == b


@functools.cache
def selection():
    return MISelector(n_neighbors="auto", random_state=3, max_features=2).fit(*table()).result_


PREDICTING = {"stop": "cv", "cv": 3, "min_features": 4, "n_permutations": 99, "random_state": 0}


def two_of_six():
    X = pd.DataFrame(np.random.default_rng(5).normal(size=(90, 6)), columns=list("abcdef"))
    return X, X["c"] + 0.8 * X["e"]


@functools.cache
def predicting():
    """Four columns whose number a model has chosen; two of them are certain."""
    return MISelector(**PREDICTING, test=True).fit(*two_of_six()).result_


def results():
    X, y = table()
    yield choose_k(X, y, n_neighbors=(2, 8), n_folds=6, random_state=1)
    auto = MISelector(n_neighbors="auto", random_state=3, max_features=2)
    yield auto.fit(X[["X2", "X4"]], y).result_  # few columns: it is read thousands of times
    yield FeatureClustering(3).fit(X, y).result_
    yield FeatureClustering(random_state=0).fit(X.to_numpy(), y).result_
    yield permutation_test(X, y, ["X4", "X6"], given="X1", n_permutations=39, random_state=0)
    yield permutation_test(X, y, [4, 5], alpha=0.05, correction=None, random_state=0)
    how = {"n_permutations": 19, "max_samples": 50, "random_state": 0}
    twice = pd.concat([X, X + 0.01]).reset_index(drop=True), np.r_[y, y]
    yield permutation_test(*twice, list(range(6)), **how, pairs=True, screen=4)
    yield predicting()


@functools.cache
def made():
    """All of them, once."""
    return tuple(results())


@pytest.mark.parametrize("number", range(8))
def test_what_was_written_is_read_again(number):
    result = made()[number]
    text = result.to_json()
    again = type(result).from_json(text)
    assert again.to_json() == text
    assert same(vars(result), vars(again))
    pd.testing.assert_frame_equal(result.to_frame(), again.to_frame())
    head = json.loads(text)
    assert head["schema"].startswith("infosieve/")
    assert head["schema_version"] == 2
    wanted = {
        "data",
        "n_samples",
        "seed",
        "parameters",
        "versions",
        "command",
        "options",
        "code",
        "n_left_out",
        "by_changes",
        "by_order",
    }
    assert set(head["provenance"]) == wanted
    assert head["provenance"]["versions"]["infosieve"]


def test_names_categories_and_odd_parameters_survive():
    X, y = make_xor(120, 4, random_state=0, return_X_y=True, as_frame=True)
    X.columns = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1), ("<script>", 2)])
    X[("c", 1)] = pd.Categorical.from_codes(np.arange(120) % 2, ["x", "y"])
    selector = MISelector(random_state=np.random.default_rng(0), n_permutations=99, alpha=0.1)
    result = selector.fit(X, y).result_
    again = SelectionResult.from_json(result.to_json())
    assert again.features[:2] == (("a", 1), ("a", 2))
    assert again.excerpt.features == result.excerpt.features
    assert set(next(iter(again.excerpt.target.values()))) == {"same", "different"}
    assert "Generator" in again.provenance.parameters["random_state"]
    json.loads(result.to_json(), parse_constant=pytest.fail)  # no NaN, no Infinity


def test_the_fingerprint_changes_with_any_change():
    X, y = table()
    prints = {FeatureClustering(2).fit(*data).result_.provenance.data for data in (
        (X, y), (X.rename(columns={"X1": "Z"}), y), (X + 1e-12, y), (X, y + 1e-12),
        (X[X.columns[::-1]], y), (X.to_numpy(), y), (X[::-1], y[::-1]),
    )}  # fmt: skip
    assert len(prints) == 7
    assert FeatureClustering(2).fit(X.copy(), y).result_.provenance.data in prints


SAME = {
    "booleans": (
        np.array([True, False] * 20),
        lambda v: pd.array(v, "boolean"),
        lambda v: pd.array(v.tolist(), "bool[pyarrow]"),
        lambda v: np.array(v.tolist(), object),
        lambda v: pd.Categorical(v),
    ),
    "booleans with gaps": (
        np.array([True, False, None, False] * 10, object),
        lambda v: pd.array(v, "boolean"),
        lambda v: pd.array(v, "bool[pyarrow]"),
    ),
    "texts": (
        np.array(["a", "b"] * 20, object),
        lambda v: v.astype(str),
        lambda v: pd.array(v, "string"),
        lambda v: pd.Categorical(v),
    ),
    "zeros": (
        np.array([0.0, 1.0] * 20),
        lambda v: np.where(v == 0, -0.0, v),
        lambda v: v.astype(np.int8),
        lambda v: np.array([Decimal(int(x)) for x in v], object),
    ),
    "numbers as levels": (
        pd.Categorical([0.0, 1.0] * 20),
        lambda v: pd.Categorical([-0.0, 1.0] * 20),
        lambda v: pd.Categorical([0, 1] * 20),
    ),
    "gaps": (
        np.array([0.5, np.nan] * 20),
        lambda v: np.where(np.isnan(v), -np.nan, v),
        lambda v: pd.array(v, "Float64"),
    ),
}


def printed(frame):
    return fingerprint(read_table(frame, "X", missing="auto").completed("auto"))


@pytest.mark.parametrize("kind", SAME)
def test_the_fingerprint_is_of_values_not_of_types(kind):
    plain, *others = SAME[kind]
    prints = {
        printed(pd.DataFrame({"a": column}))
        for column in (plain, *(other(plain) for other in others))
    }
    assert len(prints) == 1
    other = pd.DataFrame({"a": np.roll(np.asarray(plain), 1)})
    assert printed(other) not in prints


def test_the_fingerprint_knows_names_by_what_they_say():
    values = np.random.default_rng(0).normal(size=(10, 2))
    named = [
        pd.DataFrame(values, columns=pd.Index(names, tupleize_cols=False, dtype=object))
        for names in ([("a", 1), 2], [("a", np.int64(1)), np.int64(2)], [(np.str_("a"), 1), 2])
    ]
    assert len({printed(frame) for frame in named}) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:200], "no JSON, or a damaged file"),
        (lambda text: "", "no JSON"),
        (lambda text: "[1]", "this is something else, not a document of"),
        (lambda text: text.replace("infosieve/selection", "infosieve/clusters"), "'infosieve/clus"),
        (lambda text: text.replace('"schema_version": 2', '"schema_version": 9'), "has version 9"),
        (lambda text: text.replace('"relevance"', '"irrelevance"'), "lacks 'relevance'"),
    ],
)
def test_other_documents_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        SelectionResult.from_json(change(selection().to_json()))


def test_excerpts_are_bounded():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=5000)
    excerpt = MISelector(stop=None, max_features=1).fit(X, y).result_.excerpt
    assert excerpt.rows.size == 1000
    assert excerpt.rows[[0, -1]].tolist() == [0, 4999]
    np.testing.assert_array_equal(excerpt.features[0], X[excerpt.rows, 0])
    np.testing.assert_array_equal(excerpt.target["y"], y[excerpt.rows])


def changed(document, place, value):
    """A copy of a document with another value somewhere."""

    def replaced(part, place):
        part = part.copy()
        part[place[0]] = replaced(part[place[0]], place[1:]) if place[1:] else value
        return part

    return json.dumps(replaced(document, place))


def places(value, place=()):
    """All parts of a document; of a list, the first and the last."""
    if place:
        yield place
    keys = value if isinstance(value, dict) else range(len(value) if type(value) is list else 0)
    for key in keys if isinstance(value, dict) else sorted({*keys[:1], *keys[-1:]}):
        yield from places(value[key], (*place, key))


@pytest.mark.parametrize("number", range(8))
def test_whatever_a_document_holds_it_is_shown_or_refused(number, capsys):
    """Each part replaced by each of some values: one clear error, or a result that can be shown."""
    result = made()[number]
    document = json.loads(result.to_json())
    strange = (None, -1, 10**400, 1.5, float("nan"), "x", [], {}, True, [[1]], 99999, {"a": 1})
    said = set()
    for place in places(document):
        for value in strange:
            text = changed(document, place, value)
            try:
                again = type(result).from_json(text)
            except ValueError as error:
                said.add(str(error))
                continue
            again.to_frame()
            again._repr_html_()
            show(again)
    assert all(text.startswith("this ") and "Error" not in text for text in said)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("selected",), [], r"'selected' must be what the steps select, \[3, \d\]; it is \(\)"),
        (("steps", 0, "p_value"), 1.2, r"Expected `float` <= 1.0 - at `\$.steps\[0\].p_value`"),
        (("steps", 0, "p_value"), None, "a step has a part of a test"),
        (("steps", 1, "action"), "stay", r"at `\$.steps\[1\].action`"),
        (("steps", 0, "features"), [6], r"6 columns, and none has the numbers; it is \{6\}"),
        (("relevance",), [1.0], r"'relevance' must have the shape \(6,\); it is \(1,\)"),
        (("relevance",), "x", r"Expected an array of numbers - at `\$.relevance`"),
        (("constant",), [17], r"6 columns, and none has the numbers; it is \{17\}"),
        (("n_parts",), 0, r"Expected `int` >= 1 - at `\$.n_parts`"),
        (("k_choice", "k"), 500, "'k' must be one of 'ks'; it is 500"),
        (("k_choice", "t"), [[0.0]], r"'t' must have the shape \(6, 19\); it is \(1, 1\)"),
        (("provenance", "seed"), "x", r"at `\$.provenance.seed`"),
        (("provenance",), {}, r"missing required field `data` - at `\$.provenance`"),
    ],
)
def test_impossible_results_are_refused(place, value, message):
    text = changed(json.loads(selection().to_json()), place, value)
    with pytest.raises(ValueError, match=f"^this document is damaged: .*{message}"):
        SelectionResult.from_json(text)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("n_chosen",), 0, "'n_chosen' must be one of the sizes; it is 0"),
        (("n_chosen",), 17, "'n_chosen' must be one of the sizes; it is 17"),
        (("n_chosen",), True, r"at `\$.cv_scores.n_chosen`"),
        (("scores",), [], "there must be two folds or more"),
        (("scores", 0), [0.5], "there must be 7 scores of each fold; it is 1"),
        (("scores", 2, 1), "good", r"at `\$.cv_scores.scores\[2\]\[1\]`"),
        (("scores", 2, 1), None, r"at `\$.cv_scores.scores\[2\]\[1\]`"),
        (("fold_orders", 1), [6], r"6 columns, and none has the numbers; it is \{6\}"),
        (("fold_orders",), [], "there must be two folds or more"),
        (("all_columns",), [0.5], "'all_columns' must be a score a fold"),
        (("model",), {}, "'model' must have a name and parameters"),
        (("model", "parameters"), [1], "'model' must have a name and parameters"),
        (("scoring",), 1, r"at `\$.cv_scores.scoring`"),
        (("criterion",), 1, r"at `\$.cv_scores.criterion`"),
        (("others",), {"jmi": [0.5]}, "there must be 7 scores of each fold; it is 1"),
        (("others",), {"jmi": [None] * 6}, r"at `\$.cv_scores.others"),
    ],
)
def test_impossible_scores_are_refused(place, value, message):
    text = changed(json.loads(predicting().to_json()), ("cv_scores", *place), value)
    with pytest.raises(ValueError, match=f"^this document is damaged: .*{message}"):
        SelectionResult.from_json(text)


def test_scores_are_a_frame_of_numbers_of_columns():
    X, y = two_of_six()
    selector = MISelector(**PREDICTING, test=True).fit(X, y)
    scores, frame = selector.result_.cv_scores, selector.cv_scores_
    assert frame["n_features"].tolist() == list(scores.sizes) == [*range(7)]
    names = [X.columns[j] for j in scores.order]
    assert frame["added"].tolist() == [(), *((name,) for name in names)]
    folds = frame[["score_1", "score_2", "score_3"]]
    np.testing.assert_array_equal(folds.to_numpy().T, scores.scores)
    np.testing.assert_allclose(frame["mean"], folds.mean(axis=1))
    np.testing.assert_allclose(frame["standard_error"], folds.std(axis=1) / np.sqrt(3))
    assert frame.loc[frame["chosen"], "n_features"].tolist() == [scores.n_chosen]
    # Tests end with the first that is not passed: what comes later is neither.
    certain = pd.Series([None, True, True, False, None, None, None], dtype="boolean")
    pd.testing.assert_series_equal(frame["certain"], certain, check_names=False)
    untested = MISelector(**PREDICTING).fit(X, y).cv_scores_
    assert untested["certain"].isna().all()
    pd.testing.assert_frame_equal(untested.drop(columns="certain"), frame.drop(columns="certain"))


@pytest.mark.parametrize(
    ("sizes", "certain"),
    [((0, 2, 4, 6), [None, True, None, None]), ((0, 1, 3, 6), [None, True, False, None])],
)
def test_a_number_is_certain_if_all_it_adds_is(sizes, certain):
    result = predicting()
    assert [step.significant for step in result.steps] == [True, True, False, None]
    scores = replace(result.cv_scores, sizes=sizes, scores=((0.0, 0.1, 0.2, 0.3),) * 2, others={})
    found = cv_scores_frame(replace(result, cv_scores=scores), scores)["certain"]
    pd.testing.assert_series_equal(found, pd.Series(certain, dtype="boolean"), check_names=False)


def test_scores_are_there_after_cross_validation_only():
    selector = MISelector(max_features=1, random_state=0)
    with pytest.raises(NotFittedError):
        _ = selector.cv_scores_
    selector.fit(*table())
    assert not hasattr(selector, "cv_scores_")
    with pytest.raises(AttributeError, match=r"after fit with stop='cv'.*stop was 'auto'"):
        _ = selector.cv_scores_


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("null", 0), [0.0, 1.0], r"Expected rows of one length - at `\$.null`"),
        (("observed",), [1.0], "'observed' must be 2 numbers"),
        (("correction",), None, "'null' must be rows of 2 numbers"),
        (("correction",), "fdr", r".* at `\$.correction`"),
        (("alpha",), 2.0, r".* at `\$.alpha`"),
        (("candidates",), [], "'observed' must be 0 numbers"),
        (("n_candidates",), 2.5, r".* at `\$.n_candidates`"),
        (("n_samples_used",), 0, r".* at `\$.n_samples_used`"),
    ],
)
def test_impossible_tests_are_refused(place, value, message):
    X, y = table()
    test = permutation_test(X, y, ["X4", "X6"], given="X1", n_permutations=39, random_state=0)
    with pytest.raises(ValueError, match=f"^this document is damaged: {message}"):
        PermutationTest.from_json(changed(json.loads(test.to_json()), place, value))


def test_the_p_value_is_corrected_or_an_array():
    common = {"candidates": ("a", "b"), "observed": [0.2, 0.5]}
    each = PermutationTest(null=[[0.3, 0.1], [0.1, 0.6], [0.0, 0.0]], **common)
    np.testing.assert_array_equal(each.p_values, [0.5, 0.5])
    np.testing.assert_array_equal(each.p_value, each.p_values)
    assert "p = 0.5 (uncorrected), 2 candidates" in repr(each)
    best = PermutationTest(null=[[0.3], [0.6], [0.0]], correction="max", **common)
    assert best.p_value == 0.5 == best.p_values[1]
    assert best.p_values[0] == 0.75
    one = PermutationTest(candidates=("a",), observed=[0.2], null=[[0.3], [0.1], [0.0]])
    assert one.p_value == 0.5
    assert "1 candidate, 3 permutations" in repr(one)


def test_a_test_that_ended_early_has_the_p_value_of_all_permutations_or_less():
    some = {"candidates": ("a",), "observed": [0.2], "null": [[0.3], [0.4], [0.0]]}
    early = PermutationTest(**some, early_stopped=True, n_permutations_asked=19, alpha=0.1)
    assert early.n_permutations == 3
    assert early.p_value == 3 / 20
    assert "p >= 0.15" in repr(early)
    assert early.to_frame()["early_stopped"].tolist() == [True]
    assert "p ≥ 0.15" in early._repr_html_()


def test_a_test_of_screened_candidates_knows_how_many_there_were():
    some = {"candidates": ("a",), "observed": [0.2], "null": [[0.3], [0.1]], "correction": "max"}
    test = PermutationTest(**some, n_candidates=300)
    assert "300 candidates" in repr(test)
    wanted = (
        "To save time, 300 candidates were ranked by tables of counts, and the best was estimated"
    )
    assert test.notes == (f"{wanted}, in each permutation anew.",)
    assert PermutationTest.from_json(test.to_json()).n_candidates == 300
    assert PermutationTest(**some).n_candidates == 1


def test_records_are_built_with_keywords():
    with pytest.raises(TypeError, match="positional"):
        PermutationTest(("a",), [0.2], [[0.3]])


def test_the_code_of_another_seed_has_that_seed():
    known = selection().provenance
    other = known.with_seed(77)
    assert other.seed == 77
    assert other.code == known.code.replace("random_state=3", "random_state=77")


def test_a_document_too_deep_is_refused():
    text = selection().to_json().replace('"command": ""', f'"command": {"[" * 900}{"]" * 900}')
    with pytest.raises(ValueError, match="damaged"):
        SelectionResult.from_json(text)


NAMES = {
    "tuples": [("a", 1), ("a", 2), ("b", 1)],
    "tuples in tuples": [("a", ("b", 1)), ("a", ("c", 2)), ("d", ("e", 3))],
    "tuples with gaps": [("a", float("nan")), ("b", None), ("c", 1)],
    "numbers": [2, 0, 1],
    "floats": [1.5, float("nan"), float("inf")],
    "mixed": [0, "b", ("c", 2)],
    "odd texts": ["$tuple", "", "alpha=0.1"],
}
RECORDS = {
    "choose_k": lambda X, y: choose_k(X, y, n_neighbors=(2, 4), n_folds=4, random_state=0),
    "auto": lambda X, y: fitted(X, y, n_neighbors="auto", lookahead=1),
    "alternatives": lambda X, y: fitted(X, y, lookahead=1, with_alternatives=True),
    "cv": lambda X, y: fitted(X, y, stop="cv", cv=3, max_features=2, discrete_features=[2]),
    "test": lambda X, y: permutation_test(
        X, y, [True, False, True], given=[False, True, False], n_permutations=19, random_state=0
    ),
    "relevance": lambda X, y: relevance_test(X, y, random_state=0),
    "stability": lambda X, y: stability(
        MISelector(stop=None, max_features=1), X, y, n_resamples=1, random_state=0
    ),
    "clusters": lambda X, y: FeatureClustering(2).fit(X, y).result_,
}


def fitted(X, y, with_alternatives=False, **parameters):
    selector = MISelector(random_state=0, **parameters).fit(X, y)
    if with_alternatives:
        assert selector.alternatives(X, y) is not None
    return selector.result_


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize("names", NAMES)
def test_names_of_any_kind_are_read_again(names, record):
    values = np.random.default_rng(0).normal(size=(40, 3))
    X = pd.DataFrame(values, columns=pd.Index(NAMES[names], tupleize_cols=False))
    y = pd.Series(values[:, 0] ** 2 + 0.1 * values[:, 1], name=NAMES[names][0])
    if names == "mixed" and record not in ("choose_k", "test", "relevance"):
        with pytest.raises((TypeError, ValueError), match="names are only supported if all"):
            RECORDS[record](X, y)
        return
    result = RECORDS[record](X, y)
    again = type(result).from_json(result.to_json())
    assert again.to_json() == result.to_json()
    assert repr(again) == repr(result)
    pd.testing.assert_frame_equal(result.to_frame(), again.to_frame())
    again._repr_html_()
