"""Pictures: what is drawn is what the results say."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from infosieve import CurveFeatures, FeatureClustering, MISelector, choose_k, false_neighbors, plots
from infosieve.datasets import load_tecator, make_friedman
from infosieve.report import _figures


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def friedman():
    return make_friedman(80, 6, random_state=0, return_X_y=True, as_frame=True)


def texts(ax):
    return [t.get_text() for t in ax.texts]


def test_t_and_boxes_of_k():
    choice = choose_k(*friedman(), random_state=0)
    display = plots.KChoiceDisplay.from_choice(choice, max_features=3).plot()
    lines = {line.get_label(): line.get_ydata() for line in display.ax_.lines}
    j = choice.features.index(choice.feature)
    np.testing.assert_array_equal(lines[choice.feature], choice.t[j])
    assert f"K = {choice.k}" in texts(display.ax_)
    ax = plt.figure().add_subplot()
    display = plots.InformationDisplay.from_choice(choice, "X4").plot(ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert len(ax.patches) == 2 * len(choice.ks)
    with pytest.raises(ValueError, match="'feature' parameter must be one of"):
        plots.InformationDisplay.from_choice(choice, "Z")


@pytest.mark.parametrize("criterion", ["cmi", "mi"])
def test_the_path_shows_gains_beside_their_own_chance(criterion):
    result = MISelector(random_state=0, criterion=criterion).fit(*friedman()).result_
    ax = plots.PathDisplay.from_result(result).plot().ax_
    dots = [line for line in ax.lines if line.get_marker() == "o" and len(line.get_ydata())]
    places = [float(line.get_xdata()[0]) for line in dots]
    known = 0.0
    for place, step in zip(places, result.steps, strict=True):
        # By hand: 0 is the middle of the permuted values, 1 is where 95 % of them end.
        null = np.array(step.null) - (known if criterion == "mi" else 0.0)
        middle, high = np.quantile(null, [0.5, 0.95])
        assert place == pytest.approx((step.gain - middle) / (high - middle))
        known = step.mi
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[0] == f"1. {result.features[result.selected[0]]}"
    beside = [f"{step.gain:+.3f} nats, p = {step.p_value:.3g}" for step in result.steps]
    assert texts(ax) == beside
    assert len(ax.patches) == len(result.steps)
    assert places[0] > 1  # beyond its chance
    assert ax.get_xscale() == "asinh"


def test_a_path_without_tests_is_bars_of_nats():
    result = MISelector(stop=None, max_features=3).fit(*friedman()).result_
    ax = plots.PathDisplay.from_result(result).plot().ax_
    assert [bar.get_width() for bar in ax.patches] == [step.gain for step in result.steps]
    assert ax.get_xlabel() == "adds, given those before (nats)"


@pytest.mark.parametrize("criterion", ["cmi", "mi"])
def test_pictures_and_pages_show_the_same_numbers(criterion):
    result = MISelector(random_state=0, criterion=criterion).fit(*friedman()).result_
    ax = plots.PathDisplay.from_result(result).plot().ax_
    boxes = [trace for trace in _figures.path(result)["data"] if trace["type"] == "box"]
    first = [np.arcsinh(patch.get_x()) for patch in ax.patches]
    np.testing.assert_allclose(first, [box["q1"][0] for box in boxes])
    third = [np.arcsinh(patch.get_x() + patch.get_width()) for patch in ax.patches]
    np.testing.assert_allclose(third, [box["q3"][0] for box in boxes], atol=1e-12)
    ax = plots.RelevanceDisplay.from_result(result).plot().ax_
    bars = _figures.relevance(result)["data"][0]["x"]
    assert [bar.get_width() for bar in ax.patches] == bars


def test_relevance_bars():
    result = MISelector(random_state=0).fit(*friedman()).result_
    ax = plots.RelevanceDisplay.from_result(result, max_features=4).plot().ax_
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_array_equal(widths, np.sort(result.relevance)[::-1][:4])


def test_trees_and_curves():
    tecator = load_tecator()
    clusters = FeatureClustering(5, connectivity="chain").fit(tecator.data, tecator.target)
    ax = plots.DendrogramDisplay.from_result(clusters.result_).plot().ax_
    assert ax.get_title() == "5 clusters of 100 features"
    colors = {tuple(c.get_color()[0]) for c in ax.collections}
    assert len(colors) == 6  # of the clusters, and of what joins them
    display = plots.CurvesDisplay.from_clusters(tecator.data, clusters.result_, axis=tecator.axis)
    assert len(display.parts) == 5
    assert display.plot().ax_.get_xlim() == (850, 1050)
    about = CurveFeatures(tecator.axis, unit="nm").fit(tecator.data).describe()
    some = about[about["feature"].isin(["slope[937nm]", "sample[850nm]"])]
    display = plots.CurvesDisplay.from_features(tecator.data, some, axis=tecator.axis, xlabel="nm")
    assert [part[3] for part in display.parts] == ["sample[850nm]", "slope[937nm]"]
    assert all(start < end for start, end, _, _ in display.parts)
    assert display.plot().ax_.get_xlabel() == "nm"


def test_false_neighbours_are_those_that_are_counted():
    X, y = friedman()
    display = plots.FalseNeighborsDisplay.from_data(X, y, "X4").plot()
    counts = false_neighbors(X, y)["X4"]
    assert counts[display.sample] == counts.max()
    words = [t.get_text() for t in display.ax_.get_legend().get_texts()]
    assert f"{counts.max()} false neighbours" in words
    other = plots.FalseNeighborsDisplay.from_data(X.to_numpy(), y.to_numpy(), 2, sample=7).plot()
    words = [t.get_text() for t in other.ax_.get_legend().get_texts()]
    assert f"{false_neighbors(X, y)['X3'][7]} false neighbours" in words
