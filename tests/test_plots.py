"""Pictures: what is drawn is what the results say."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from infosieve import CurveFeatures, FeatureClustering, MISelector, choose_k, false_neighbors, plots
from infosieve.datasets import load_tecator, make_friedman
from infosieve.report import _figures
from infosieve.report._prediction import Prediction
from infosieve.report._selection import SelectionFacts

PATH = Path(__file__).parent.parent / "experiments" / "displays.py"
SPEC = importlib.util.spec_from_file_location("experiments_displays", PATH)
displays = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(displays)


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
    display = plots.KChoiceDisplay.from_choice(choice).plot(ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    fresh = plt.figure().add_subplot()
    displays.draw_information(fresh, choice, "X4")
    assert len(fresh.patches) == 2 * len(choice.ks)


@pytest.mark.parametrize("criterion", ["cmi", "mi"])
def test_the_path_shows_gains_beside_their_own_chance(criterion):
    result = MISelector(random_state=0, criterion=criterion).fit(*friedman()).result_
    ax = plots.PathDisplay.from_result(result).plot().ax_
    dots = {y: x for line in ax.lines if line.get_marker() == "o" for x, y in line.get_xydata()}
    places = [float(np.sinh(dots[y])) for y in range(len(dots))]
    known = 0.0
    for place, step in zip(places, result.steps, strict=True):
        # By hand: 0 is the middle of the permuted values, 1 is where 95 % of them end.
        null = np.array(step.null) - (known if criterion == "mi" else 0.0)
        middle, high = np.quantile(null, [0.5, 0.95])
        value = step.gain if step.statistic is None else step.statistic
        assert place == pytest.approx((value - middle) / (high - middle))
        known = step.mi
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[0] == f"1. {result.features[result.selected[0]]}"
    beside = [f"{step.gain:+.3f} nats, p = {step.p_value:.3g}" for step in result.steps]
    assert texts(ax) == beside
    assert len(ax.patches) == len(result.steps)
    assert places[0] > 1  # beyond its chance
    ticks = [float(label.get_text()) for label in ax.get_xticklabels()]
    np.testing.assert_allclose(np.sinh(ax.get_xticks()), ticks, atol=1e-9)


def test_a_path_without_tests_is_bars_of_nats():
    result = MISelector(stop=None, max_features=3).fit(*friedman()).result_
    ax = plots.PathDisplay.from_result(result).plot().ax_
    assert [bar.get_width() for bar in ax.patches] == [step.gain for step in result.steps]
    assert ax.get_xlabel() == "adds, given those before (nats)"


def test_paths_have_open_dots_for_what_did_not_pass():
    how = {"random_state": 0, "lookahead": 1, "n_permutations": 99}
    result = MISelector(**how, min_features=6).fit(*friedman()).result_
    ax = plots.PathDisplay.from_result(result).plot().ax_
    dots = {
        y: line.get_markerfacecolor() != "white"
        for line in ax.lines
        if line.get_marker() == "o"
        for y in line.get_ydata()
    }
    filled = [dots[y] for y in range(len(dots))]
    assert filled == [step.action == "stop" or bool(step.significant) for step in result.steps]
    assert not all(filled)
    words = [t.get_text() for t in ax.get_legend().get_texts()]
    assert words[:2] == ["selected", "selected, but did not pass"]
    traces = {
        t["name"]: t
        for t in _figures.path(SelectionFacts(result=result))["data"]
        if t.get("mode") == "markers"
    }
    assert traces["selected"]["marker"]["symbol"] == "circle"
    assert traces["selected, but did not pass"]["marker"]["symbol"] == "circle-open"
    all_passed = MISelector(random_state=0, max_features=2).fit(*friedman()).result_
    words = plots.PathDisplay.from_result(all_passed).plot().ax_.get_legend().get_texts()
    assert [t.get_text() for t in words] == ["selected", "permuted columns (5 to 95 %)"]


@pytest.mark.parametrize(
    ("criterion", "words"), [("cmim", "at least"), ("jmi", "on average"), ("mi", "given those")]
)
def test_axes_say_what_a_column_adds_to(criterion, words):
    result = MISelector(stop=None, max_features=3, criterion=criterion).fit(*friedman()).result_
    assert words in plots.PathDisplay.from_result(result).plot().ax_.get_xlabel()


def predicting(n_columns=10, **options):
    X, y = make_friedman(80, n_columns, random_state=0, return_X_y=True, as_frame=True)
    how = {"stop": "cv", "cv": 3, "random_state": 0, "n_permutations": 99}
    return MISelector(**how, **options).fit(X, y).result_


def drawn_lines(ax):
    return {line.get_label(): line for line in ax.lines}


def test_scores_against_the_number_of_columns():
    result = predicting(test=True, min_features=8)
    scores = result.cv_scores
    ax = plots.CVScoresDisplay.from_result(result).plot().ax_
    lines = drawn_lines(ax)
    folds = lines["folds"].get_ydata()
    np.testing.assert_array_equal(folds[~np.isnan(folds)], np.ravel(scores.scores))
    (bars,) = ax.containers
    np.testing.assert_array_equal(bars.lines[0].get_xdata(), scores.sizes)
    np.testing.assert_array_equal(bars.lines[0].get_ydata(), scores.mean)
    ends = np.array(bars.lines[2][0].get_segments())[:, :, 1]
    np.testing.assert_allclose(ends.mean(axis=1), scores.mean)
    np.testing.assert_allclose(np.ptp(ends, axis=1) / 2, scores.standard_error)
    assert lines[f"no column: {scores.mean[0]:.3f}"].get_ydata()[0] == scores.mean[0]
    every = np.mean(scores.all_columns)
    assert lines[f"all 10 columns: {every:.3f}"].get_ydata()[0] == every
    assert lines[f"chosen: {scores.n_chosen}"].get_xdata()[0] == scores.n_chosen
    # Of eight columns or more, some are noise: these are not certain.
    sure = [i for i, step in enumerate(result.steps, 1) if step.significant]
    others = [i for i, step in enumerate(result.steps, 1) if not step.significant]
    assert 0 < len(sure) < 8 <= len(result.steps)
    assert lines["certain"].get_xdata().tolist() == sure
    assert lines["only useful"].get_xdata().tolist() == others
    assert lines["certain"].get_markerfacecolor() != "white"
    assert lines["only useful"].get_markerfacecolor() == "white"
    low = min(map(min, scores.scores))
    assert ax.get_ylim()[0] < lines["certain"].get_ydata()[0] < low
    names = [result.features[j] for j in scores.order]
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels == ["none", *(f"{i}. {name}" for i, name in enumerate(names, 1))]
    assert ax.get_title() == "KNeighborsRegressor"
    assert ax.get_ylabel() == "r2"


def test_untested_columns_are_neither_certain_nor_useful():
    lines = drawn_lines(plots.CVScoresDisplay.from_result(predicting()).plot().ax_)
    assert "selected" in lines
    assert not {"certain", "only useful"} & set(lines)


def test_names_stand_along_an_axis_where_they_fit():
    result = predicting(34, max_features=34)
    ax = plots.CVScoresDisplay.from_result(result).plot().ax_
    # No names, and many columns share the room of a few: 10 is beyond the middle of 0 and 34.
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0", "1", "2", "5", "10", "20"]
    np.testing.assert_allclose(np.sinh(ax.get_xticks()), [0, 1, 2, 5, 10, 20], atol=1e-9)
    result = predicting()
    small = plt.figure(figsize=(1.5, 2)).add_subplot()
    plots.CVScoresDisplay.from_result(result).plot(small)
    numbers = [int(t.get_text().partition(".")[0]) for t in small.get_xticklabels()[1:]]
    assert len(numbers) < 10  # every second one, or fewer
    assert {*np.diff(numbers)} == {numbers[0]}
    wide = plt.figure(figsize=(30, 2)).add_subplot()
    plots.CVScoresDisplay.from_result(result).plot(wide)
    assert {t.get_rotation() for t in wide.get_xticklabels()} == {0}
    named = {"features": tuple("a name of some length" + name for name in result.features)}
    usual = plots.CVScoresDisplay.from_result(replace(result, **named)).plot().ax_
    assert {t.get_rotation() for t in usual.get_xticklabels()} == {90}
    assert "…" in usual.get_xticklabels()[1].get_text()


def test_scores_that_were_not_tried_or_are_not_there():
    result = predicting()
    alone = replace(result, cv_scores=replace(result.cv_scores, all_columns=None))
    lines = drawn_lines(plots.CVScoresDisplay.from_result(alone).plot().ax_)
    assert not any(str(label).startswith("all ") for label in lines)
    tested = MISelector(random_state=0, max_features=1).fit(*friedman()).result_
    with pytest.raises(ValueError, match=r"no scores of a model \(cv_scores is None\)"):
        plots.CVScoresDisplay.from_result(tested).plot()


@pytest.mark.parametrize("n_columns", [10, 34])
def test_scores_of_pictures_and_pages_are_the_same(n_columns):
    result = predicting(n_columns, max_features=n_columns, test=True)
    ax = plots.CVScoresDisplay.from_result(result).plot().ax_
    figure = _figures.prediction(Prediction(result))
    traces, lines = {trace["name"]: trace for trace in figure["data"]}, drawn_lines(ax)
    (bars,) = ax.containers
    mean = traces[f"{result.criterion}: mean of 3, standard error"]
    (other,) = result.cv_scores.others  # of "cmi" and "cmim"
    for means in (traces[f"{other}: mean"]["y"], lines[f"{other}: mean"].get_ydata()):
        np.testing.assert_array_equal(means, result.cv_scores.others[other])
    np.testing.assert_array_equal(mean["x"], bars.lines[0].get_xdata())
    np.testing.assert_array_equal(mean["y"], bars.lines[0].get_ydata())
    assert mean["error_y"]["array"] == result.cv_scores.standard_error.tolist()
    assert {str(name) for name in lines} >= set(traces) - {mean["name"]}  # the same legend
    for name in traces:
        if name.startswith(("no column", "all")):
            assert traces[name]["y"][0] == lines[name].get_ydata()[0]
        elif name.startswith("chosen"):
            assert traces[name]["x"][0] == lines[name].get_xdata()[0]
        elif name in ("certain", "only useful"):
            np.testing.assert_array_equal(traces[name]["x"], lines[name].get_xdata())
            np.testing.assert_array_equal(traces[name]["y"], lines[name].get_ydata())
    assert "certain" in traces
    folds = [score for score in traces["folds"]["y"] if score is not None]
    np.testing.assert_array_equal(folds, np.ravel(result.cv_scores.scores))
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert figure["layout"]["xaxis"]["ticktext"] == labels
    np.testing.assert_allclose(figure["layout"]["xaxis"]["tickvals"], ax.get_xticks())


def test_scores_have_digits_that_tell_them_apart():
    drawn = Prediction(predicting())
    assert drawn.text(0.12345) == "0.123"
    assert drawn.text(-0.0001) == "0.000"
    scores = tuple(tuple(1e-6 * s for s in fold) for fold in drawn.scores.scores)
    small = replace(drawn.result, cv_scores=replace(drawn.scores, scores=scores))
    assert Prediction(small).text(1.2345e-7) == "1.23e-07"


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
    colors = {line.get_color() for line in ax.lines}
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
    for name, counts in false_neighbors(X, y).items():
        ax = plt.figure().add_subplot()
        displays.draw_false_neighbors(ax, X, y, name)
        words = [t.get_text() for t in ax.get_legend().get_texts()]
        assert f"{counts.max()} false neighbours" in words
