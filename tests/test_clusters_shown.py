"""Clusters as people see them: all members, names at the leaves, what the data leave open."""

import json
import re
from dataclasses import replace
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from infosieve import FeatureClustering, plots
from infosieve.cli.show import show
from infosieve.report import _figures
from infosieve.report._clusters import LEAVES, ClusterFacts, tree_of
from infosieve.report._render import fragment, page
from infosieve.results import ClusterResult


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def clustered(m, n_clusters=2, names=None, **options):
    """Columns that follow two others, more and more loosely."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 2))
    X = x[:, np.arange(m) % 2] + np.linspace(0.1, 1, m) * rng.normal(size=(40, m))
    frame = pd.DataFrame(X, columns=names or [f"column_{j:04d}" for j in range(m)])
    return (
        FeatureClustering(n_clusters, random_state=0, **options).fit(frame, x.sum(axis=1)).result_
    )


def chain(m):
    """A result whose every merge adds one column: the deepest tree there is."""
    children = [[0, 1], *([j, m + j - 2] for j in range(2, m))]
    few = clustered(4)
    return ClusterResult(
        features=tuple(f"c{j}" for j in range(m)),
        clusters=("a", "b"),
        labels=np.r_[np.zeros(m - 1, int), 1],
        medoids=np.array([0, m - 1]),
        children=np.array(children),
        similarities=np.linspace(1, 0, m - 1),
        duplicates={},
        cv_results=None,
        provenance=few.provenance,
    )


def tree(result):
    return _figures.tree(ClusterFacts(result))


# --- members


def test_all_members_are_in_the_record_and_in_the_frame():
    result = clustered(60, 3)
    assert sorted(name for some in result.members for name in some) == sorted(result.features)
    frame = result.to_frame()
    for label, some in enumerate(result.members):
        rows = frame[frame["cluster"] == label]
        assert rows["feature"].tolist() == list(some)
        assert rows["size"].unique().tolist() == [len(some)]
        assert rows["medoid"].sum() == 1
        assert rows["feature"][rows["medoid"]].item() == result.features[result.medoids[label]]


def test_all_members_are_on_the_page_the_largest_cluster_first():
    result = clustered(134, 13)
    html = page(result)
    body = html[: html.index("plotly.js v")]
    text = re.sub(r"<wbr>", "", body)
    for name in result.features:
        assert f"<bdi>{name}</bdi>" in text
    sizes = [len(cluster.columns) for cluster in ClusterFacts(result).clusters]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == 134
    assert f"and {sizes[0] - 8} more</summary>" in body
    assert f"and {sizes[0] - 8} more</summary>" in fragment(result)


def test_one_more_column_is_named_not_folded():
    for m, n_named in ((8, 8), (9, 9), (10, 8)):
        (cluster,) = ClusterFacts(clustered(m, 1)).clusters
        assert (len(cluster.columns), cluster.n_named) == (m, n_named)


def test_hostile_names_are_text_everywhere(capsys):
    names = ["<script>alert(1)</script>", "a" * 200, "b & <b>c</b>", "\u202eold", "two\nlines",
             *(f"<i>{j}</i>" for j in range(15))]  # fmt: skip
    result = clustered(20, 1, names)
    html = page(result)
    body = html[: html.index("plotly.js v")]
    assert "<script>alert" not in body
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in re.sub("<wbr>", "", body)
    assert "<i>" not in fragment(result)
    labels = json.dumps(tree(result)["layout"]["yaxis"]["ticktext"])
    assert "<script" not in labels
    assert "&lt;script" in labels
    assert max(map(len, tree(result)["layout"]["yaxis"]["ticktext"])) < 60
    show(result)
    printed = capsys.readouterr().out
    assert "\u202e" not in printed
    assert "two\nlines" not in printed


def test_the_terminal_prints_all_members_and_notes(capsys):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 3))
    X = pd.DataFrame(np.repeat(x, 4, axis=1) + 1e-3 * rng.normal(size=(80, 12))).add_prefix("c")
    X["copy"] = 2 * X["c0"]
    result = FeatureClustering(random_state=0).fit(X, x.sum(axis=1) + rng.normal(size=80)).result_
    assert result.decided is False
    show(result)
    printed = capsys.readouterr().out
    assert "0: c0, c1, c2, c3, copy\n" in printed  # nothing follows on the line
    for j in range(12):
        assert re.search(rf"\bc{j}\b", printed)
    assert ClusterFacts(result).copies == [("copy", "c0")]
    assert len(result.notes) == 2
    assert all(note in printed for note in result.notes)


def test_many_copies_are_counted():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 2))
    X = np.column_stack([x, *(x[:, :1] * s for s in range(2, 9))])
    result = FeatureClustering(2).fit(X, x.sum(axis=1)).result_
    assert ClusterFacts(result).copies == [(j, 0) for j in range(2, 9)]
    (note,) = result.notes
    assert "2 of 0, 3 of 0, 4 of 0, 5 of 0, 6 of 0 and 2 more." in note


def test_words_about_copies_are_those_of_the_settings():
    a, b = np.random.default_rng(0).normal(size=(2, 30))
    X = np.column_stack([a, -a, b, a])  # the last is a copy of the first, but no neighbour
    parted = FeatureClustering(3, connectivity="chain").fit(X, a + b).result_
    assert parted.labels[0] == parted.labels[1] != parted.labels[3]
    assert ClusterFacts(parted).copies == [(1, 0)]
    assert "may be apart" in parted.notes[0]
    plain = FeatureClustering(2, scale=None).fit(X, a + b).result_
    assert ClusterFacts(plain).copies == [(1, 0), (3, 0)]
    assert "scaled" not in plain.notes[0]
    assert "always stay together" in plain.notes[0]


# --- the tree


@pytest.mark.parametrize("m", [2, 5, 50, 134])
def test_leaves_have_names(m):
    result = clustered(m, min(m, 4))
    shown = tree(result)["layout"]["yaxis"]
    assert sorted(shown["ticktext"]) == sorted(result.features)
    assert len(shown["tickvals"]) == m
    height = tree(result)["layout"]["height"]
    assert height / m >= 14  # pixels
    display = plots.DendrogramDisplay.from_result(result).plot()
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == shown["ticktext"]
    display.figure_.canvas.draw()
    boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    assert all(a.y0 >= b.y1 - 1 for a, b in pairwise(boxes))


def test_corners_are_the_merges():
    """Each link joins two nodes at their places, at the height of its merge."""
    result = clustered(12, 3)
    drawn = tree_of(result, 99)
    at = {name: 5.0 + 10 * i for i, (name, _) in enumerate(drawn.leaves)}
    place = [at[name] for name in result.features]
    height = [0.0] * 12
    expected = []
    for (a, b), similarity in zip(result.children.tolist(), result.similarities, strict=True):
        (low, h_low), (high, h_high) = sorted([(place[a], height[a]), (place[b], height[b])])
        top = 1 - similarity
        expected.append(([low, low, high, high], [h_low, top, top, h_high]))
        place.append((low + high) / 2)
        height.append(top)
    comp = sorted((x, y) for x, y, _ in drawn.links)
    for (x, y), (ref_x, ref_y) in zip(comp, sorted(expected), strict=True):
        np.testing.assert_allclose(x, ref_x)
        np.testing.assert_allclose(y, ref_y, atol=1e-12)


def test_links_have_the_colour_of_their_cluster():
    result = clustered(12, 3)
    inside = [cluster for _, _, cluster in tree_of(result, 99).links]
    assert inside.count(None) == 2
    sizes = np.bincount(result.labels)
    assert [inside.count(label) for label in range(3)] == (sizes - 1).tolist()


@pytest.mark.parametrize("make", [chain, lambda m: clustered(m, 3, linkage="average")])
def test_of_many_columns_the_top_of_the_tree_is_drawn(make):
    m = 5000 if make is chain else 400
    result = make(m)
    drawn = tree_of(result, LEAVES)
    assert len(drawn.leaves) == LEAVES
    assert len(drawn.links) == LEAVES - 1
    assert sum(n for _, n in drawn.leaves) == m
    several = [(name, n) for name, n in drawn.leaves if n > 1]
    ticks = tree(result)["layout"]["yaxis"]["ticktext"]
    for name, n in several:
        assert f"{name} + {n - 1:,}" in ticks
    assert len(several) == 1 if make is chain else several
    tops = sorted(1 - result.similarities[-LEAVES + 1 :])
    np.testing.assert_allclose(sorted(max(y) for _, y, _ in drawn.links), tops)
    assert f"the last {LEAVES - 1} of {m - 1:,} merges" in " ".join(page(result).split())
    assert len(plots.DendrogramDisplay.from_result(result).plot().ax_.get_yticks()) == LEAVES


def test_small_axes_show_as_many_leaves_as_fit():
    result = clustered(80, 4)
    _, ax = plt.subplots(figsize=(4, 3))
    plots.DendrogramDisplay.from_result(result).plot(ax)
    n = len(ax.get_yticks())
    assert 10 <= n <= 25
    assert any("+" in label.get_text() for label in ax.get_yticklabels())


def test_a_single_column_is_a_tree():
    result = FeatureClustering(1).fit(np.arange(10.0)[:, None], np.arange(10.0) ** 2).result_
    assert tree(result)["layout"]["yaxis"]["ticktext"] == ["0"]
    plots.DendrogramDisplay.from_result(result).plot()
    assert "1 cluster of 1 column" in page(result)


# --- the number


def test_the_page_shows_how_the_number_was_chosen():
    result = clustered(12, "auto")
    figure = _figures.numbers(ClusterFacts(result))
    scores, taken = figure["data"]
    assert taken["x"] == [len(result.clusters)]
    assert scores["x"] == result.cv_results["n_clusters"].tolist()
    assert taken["y"][0] == scores["y"][scores["x"].index(taken["x"][0])]
    low, high = result.n_clusters_range
    (band,) = figure["layout"]["shapes"]
    assert band["x0"] < low <= high < band["x1"]
    assert str(high) in figure["layout"]["xaxis"]["title"]["text"]


def test_a_number_outside_the_range_has_its_error_told():
    scores = {"n_clusters": np.arange(1, 5), "mean_test_score": np.array([0.1, 0.5, 0.6, 0.5])}
    scores |= {"std_test_score": np.zeros(4), "standard_error": np.array([0.1, 0.01, 0.0, 0.01])}
    two = clustered(6, 2)
    result = replace(two, cv_results=scores)
    assert result.n_clusters_range == (3, 3)
    assert result.decided is True
    facts = ClusterFacts(result)
    assert facts.outside_range
    assert facts.more_error == pytest.approx(25)
    assert result.notes[-1].startswith("No other number")
    assert type(result.notes[-1]) is str
    scores["standard_error"] = np.array([0.1, 0.01, 0.0, 0.2])
    undecided = replace(two, cv_results=scores)
    assert undecided.n_clusters_range == (3, 4)
    assert undecided.decided is False  # 2 were taken
    assert ClusterFacts(undecided).outside_range
    assert undecided.notes[-1].startswith("The data do not decide on the number")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda d: d["duplicates"]["$mapping"][0].__setitem__(0, 9),
            r"none has the numbers; it is \{9\}",
        ),
        (lambda d: d["cv_results"].pop("standard_error"), "scores of numbers of clusters"),
        (lambda d: d["cv_results"].update(n_clusters=[7, 8, 9]), "scores of numbers of clusters"),
    ],
)
def test_records_that_cannot_be_are_refused(change, message):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    X = np.column_stack([x, 2 * x[:, 0]])
    fit = FeatureClustering(random_state=0).fit(X, x @ [3, 1, -2] + 0.1 * rng.normal(size=60))
    text = fit.result_.to_json()
    assert ClusterResult.from_json(text).duplicates == {0: (3,)}
    document = json.loads(text)
    change(document)
    with pytest.raises(ValueError, match=message):
        ClusterResult.from_json(json.dumps(document))


def test_loose_clusters_are_told():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(100, 4)), columns=list("abcd"))
    X["alike"] = X["a"] + 0.1 * rng.normal(size=100)
    how = {"similarity": "unsupervised", "correlation": "spearman"}
    tight = FeatureClustering(None, similarity_threshold=0.7, **how).fit(X).result_
    assert tight.notes == ()
    assert ClusterFacts(tight).threshold == 0.7
    loose = FeatureClustering(4, **how).fit(X).result_
    assert loose.notes == ()  # a and its copy
    assert ClusterFacts(loose).threshold is None
    ((columns, similarity),) = ClusterFacts(FeatureClustering(3, **how).fit(X).result_).loose
    assert len(columns) > 1
    assert similarity < 0.5
    target = X["a"] + 0.5 * X["b"]
    assert ClusterFacts(FeatureClustering(4).fit(X, target).result_).loose == []
    assert len(ClusterFacts(FeatureClustering(1).fit(X, target).result_).loose) == 1
