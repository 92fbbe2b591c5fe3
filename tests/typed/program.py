"""A program of a user who checks types: it runs, and mypy --strict accepts it.

``assert_type`` states what a user needs to know of a value. See ``tests/test_typing.py``.
"""

from pathlib import Path
from typing import Any, Literal, assert_type

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from infosieve import (
    CurveFeatures,
    CVScores,
    FeatureClustering,
    KChoice,
    MISelector,
    PermutationTest,
    RelevanceTest,
    SelectionResult,
    Stability,
    Step,
    choose_k,
    datasets,
    entropy,
    false_neighbors,
    mutual_information,
    open_columns,
    permutation_test,
    plots,
    relevance,
    relevance_test,
    stability,
)
from infosieve.results import Provenance

Floats = NDArray[np.float64]


def table() -> tuple[pd.DataFrame, "pd.Series[float]"]:
    X, y = datasets.make_friedman(60, 6, random_state=0, return_X_y=True, as_frame=True)
    return X, y


def select(
    X: pd.DataFrame, y: "pd.Series[float]", stop: Literal["fdr", "cv"]
) -> tuple[MISelector, list[str]]:
    selector = MISelector(stop=stop, lookahead=1, max_features=2, random_state=0).fit(X, y)
    assert_type(selector, MISelector)
    assert_type(selector.path_, pd.DataFrame)
    assert_type(selector.support_, NDArray[np.bool_])
    assert_type(selector.relevance_, Floats)
    assert_type(selector.n_neighbors_, tuple[int, int])
    assert_type(selector.k_choice_, KChoice | None)
    assert_type(selector.result_, SelectionResult)
    return selector, [str(X.columns[j]) for j in selector.selected_]


def gains(result: SelectionResult) -> dict[str, float]:
    """What columns add, and a p-value only where there was a test."""
    added: dict[str, float] = {}
    for step in result.steps:
        assert_type(step, Step)
        assert_type(step.action, Literal["add", "remove", "refuse", "stop"])
        if step.action == "add" and step.p_value is not None and step.p_value <= 0.05:
            added[" and ".join(str(result.features[j]) for j in step.features)] = step.gain
    return added


def kept(result: SelectionResult, folder: Path) -> SelectionResult:
    """The same from disk, beside its page."""
    place = folder / "result.json"
    place.write_text(result.to_json(), encoding="utf-8")
    result.report(folder / "report.html")
    again = SelectionResult.from_json(place.read_text(encoding="utf-8"))
    assert_type(again, SelectionResult)
    assert_type(again.to_frame(), pd.DataFrame)
    assert_type(again.provenance, Provenance)
    assert_type(again.provenance.versions["infosieve"], str)
    return again


def scores(result: SelectionResult) -> float:
    found = result.cv_scores
    assert_type(found, CVScores | None)
    if found is None:
        raise ValueError("no model has chosen the number of columns")
    assert_type(found.mean, Floats)
    return found.best_score


def estimates(X: pd.DataFrame, y: "pd.Series[float]") -> float:
    nats = relevance(X, y, n_neighbors=4)
    assert_type(nats, "pd.Series[float]")  # a frame has names
    values: Floats = X.to_numpy(np.float64)
    assert_type(relevance(values, y), Floats)
    assert_type(false_neighbors(X, y), pd.DataFrame)
    best = nats.sort_values(ascending=False).index[:2]
    together = mutual_information(X[best], y, n_neighbors=(3, 6), max_samples=None)
    assert_type(together, float)
    return together - entropy(y)


def tests(X: pd.DataFrame, y: "pd.Series[float]", folder: Path) -> list[str]:
    test = permutation_test(X, y, ["X2"], given=["X4"], n_permutations=19, random_state=0)
    assert_type(test, PermutationTest)
    assert_type(test.p_values, Floats)
    assert_type(test.p_value, float | Floats)
    assert_type(test.to_frame(), pd.DataFrame)
    assert_type(PermutationTest.from_json(test.to_json()), PermutationTest)
    each = relevance_test(X, y, alpha=0.1, n_permutations=99, random_state=0)
    assert_type(each, RelevanceTest)
    assert_type(each.relevant, NDArray[np.bool_])
    assert_type(each.q_values, Floats)
    each.report(folder / "relevant.html")
    return [str(name) for name in X.columns[each.relevant]]


def again(X: pd.DataFrame, y: "pd.Series[float]") -> tuple[int, ...]:
    selector = MISelector(n_features_to_select=2, lookahead=1)
    found = stability(selector, X, y, n_resamples=2, random_state=0)
    assert_type(found, Stability)
    assert_type(found.frequencies, Floats)
    assert_type(found.index_interval, tuple[float, float])
    assert_type(found.to_frame(), pd.DataFrame)
    return found.stable(max_false=1.0)


def neighbors(X: pd.DataFrame, y: "pd.Series[float]") -> int:
    choice = choose_k(X[["X1", "X4"]], y, n_neighbors=(2, 6), n_folds=3, random_state=0)
    assert_type(choice, KChoice)
    assert_type(choice.ks, NDArray[np.signedinteger[Any]])
    assert_type(choice.to_frame(), pd.DataFrame)
    plots.KChoiceDisplay.from_choice(choice).plot()
    return choice.k


def spectra() -> Floats:
    meat = datasets.load_tecator()
    absorbances: Floats = meat.data[:40]
    curves = CurveFeatures(meat.axis, unit="nm", kinds=["slope"]).fit(absorbances)
    assert_type(curves, CurveFeatures)
    assert_type(curves.describe(), pd.DataFrame)
    assert_type(curves.get_feature_names_out(), NDArray[np.object_])
    slopes = curves.transform(absorbances)
    assert_type(slopes, Floats)
    clusters = FeatureClustering(3, random_state=0).fit(slopes[:, ::10], meat.target[:40])
    assert_type(clusters, FeatureClustering)
    assert_type(clusters.labels_, NDArray[np.signedinteger[Any]])
    assert_type(clusters.n_clusters_, int)
    plots.DendrogramDisplay.from_result(clusters.result_).plot()
    return clusters.transform(slopes[:, ::10])


def picture(result: SelectionResult, place: Path) -> None:
    display = plots.PathDisplay.from_result(result).plot()
    assert_type(display, plots.PathDisplay)
    assert_type(display.ax_, Axes)
    assert_type(display.figure_, Figure)
    display.ax_.set_title("What columns add")
    plots.RelevanceDisplay.from_result(result, max_features=4).plot(display.figure_.add_subplot())
    display.figure_.savefig(place)


def main(folder: Path) -> None:
    X, y = table()
    selector, names = select(X, y, "fdr")
    result = kept(selector.result_, folder)
    print("selected:", ", ".join(names), gains(result))
    print("predicts:", round(scores(select(X, y, "cv")[0].result_), 2))
    print("estimates:", round(estimates(X, y), 2), "K:", neighbors(X, y))
    print("by themselves:", tests(X, y, folder), "again:", again(X, y))
    print("spectra:", spectra().shape)
    picture(result, folder / "path.png")
    X.to_parquet(folder / "table.parquet")
    source = open_columns(folder / "table.parquet")
    print("on disk:", source.shape, MISelector(n_features_to_select=1).fit(source, y).selected_)
