"""The pictures of docs/guide.md, docs/start.md and docs/report.md, and the figures beside them.

    python experiments/guide.py [--seed 0]     # all of it: some minutes
    python experiments/guide.py start report   # what these functions draw

Draws docs/pictures/*.png from calls of the library, prints what is quoted, and puts it between the
marks ``<!-- written by experiments/guide.py: name -->`` and ``<!-- end -->`` of docs/guide.md,
docs/limits.md and docs/start.md. Pictures of the report need chromium, its driver and selenium.
"""

import argparse
import base64
import contextlib
import io
import itertools
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import warnings
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from scipy.special import digamma
from spectra import APART, seed_number, table

from infosieve import (
    CurveFeatures,
    FeatureClustering,
    MISelector,
    choose_k,
    false_neighbors,
    mutual_information,
    permutation_test,
    relevance,
)
from infosieve._engines.numba.engine import NumbaEngine
from infosieve._executors.threads import Threads
from infosieve._input.scaling import prepare
from infosieve._resampling.permutations import global_permutations, local_permutations
from infosieve._scoring.measure import Measure
from infosieve.datasets import load_tecator, make_friedman, make_xor
from infosieve.plots import PathDisplay
from infosieve.report._clusters import cluster_parts
from infosieve.report._columns import feature_parts

DOCS = Path(__file__).resolve().parents[1] / "docs"
# Colours that can be told apart by all, from Okabe and Ito; chance is grey.
FOUND, REFUSED, OTHER, CHANCE = "#0072b2", "#d55e00", "#009e73", "#9aa0a6"
SEVERAL = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"]
WIDTH = 7.0
ONE = Threads(1)
# The plain test that the first pictures are about.
PLAIN = {"criterion": "mi", "null": "global", "correction": None}

mpl.rcParams |= {
    "figure.dpi": 110,
    "savefig.dpi": 110,
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.labelsize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "0.4",
    "xtick.color": "0.3",
    "ytick.color": "0.3",
    "legend.frameon": False,
    "legend.fontsize": 9,
}


FIRST = 0  # of the seeds; main() says


def state(number):
    """The seed of this number: pictures have their own, which --seed moves."""
    return FIRST + number


def panels(n, height, **options):
    return plt.subplots(1, n, figsize=(WIDTH, height), layout="constrained", **options)


def save(figure, name):
    figure.savefig(DOCS / "pictures" / f"{name}.png", facecolor="white")
    plt.close(figure)


def bare(ax):
    ax.set(xticks=[], yticks=[])


# What mutual information sees ---------------------------------------------------------------


def sees():
    rng = np.random.default_rng(state(1))
    n = 500
    x = rng.uniform(-1, 1, n)
    angle = rng.uniform(0, 2 * np.pi, n)
    shapes = {
        "a line": (x, x + 0.35 * rng.normal(size=n)),
        "a bow": (x, x**2 + 0.08 * rng.normal(size=n)),
        "a ring": tuple(f(angle) + 0.08 * rng.normal(size=n) for f in (np.cos, np.sin)),
        "a spread": (x, (0.05 + np.abs(x)) * rng.normal(size=n)),
        "nothing": (x, rng.normal(size=n)),
    }
    figure, axes = panels(5, 1.95)
    rows = ["| | correlation | mutual information (nats) |", "|---|---:|---:|"]
    for ax, (name, (a, b)) in zip(axes, shapes.items(), strict=True):
        r, mi = np.corrcoef(a, b)[0, 1], mutual_information(a, b)
        ax.plot(a, b, ".", ms=2.2, color=FOUND if name != "nothing" else CHANCE, mew=0)
        bare(ax)
        ax.set_title(name)
        ax.set_xlabel(f"correlation {r:.2f}\ninformation {mi:.2f}".replace("-0.00", "0.00"))
        rows.append(f"| {name} | {r:.2f} | {mi:.2f} |")
    save(figure, "sees")
    return "\n".join(rows)


# Scaling ------------------------------------------------------------------------------------


def scaling():
    rng = np.random.default_rng(state(2))
    x = rng.normal(size=300)
    y = 0.75 * x + np.sqrt(1 - 0.75**2) * rng.normal(size=300)
    truth = -np.log(1 - 0.75**2) / 2
    units = np.logspace(-3, 3, 25)
    raw = np.array([mutual_information(x * u, y, scale=None) for u in units])
    scaled = np.array([mutual_information(x * u, y) for u in units])
    figure, (left, right) = panels(2, 2.7, width_ratios=[1, 1.25])
    here = int(np.argmin(np.hypot(x - 0.4, y - 0.4)))
    for unit, color in ((1.0, FOUND), (12.0, REFUSED)):
        points = np.c_[x * unit, y]
        distance = np.abs(points - points[here]).max(axis=1)
        e = np.sort(distance)[8]
        half = e / unit  # in what is drawn
        box = (x[here] - half, y[here] - e), 2 * half, 2 * e
        label = "x and y in like units" if unit == 1 else f"x in units {unit:.0f} times smaller"
        left.add_patch(plt.Rectangle(*box, fill=False, ec=color, lw=1.8, zorder=3, label=label))
    left.plot(x, y, ".", ms=3, color=CHANCE, mew=0)
    left.plot(x[here], y[here], "o", ms=5, color="black", zorder=4)
    bare(left)
    left.set(xlabel="x", ylabel="y", title="the 8 nearest of one sample")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), fontsize=8.5)
    right.axhline(truth, color="0.4", lw=1, ls=":")
    right.annotate("truth", (units[0], truth), (2, -12), textcoords="offset points", color="0.3")
    right.semilogx(units, scaled, color=FOUND, lw=2)
    right.semilogx(units, raw, color=REFUSED, lw=2)
    right.annotate("scaled (the default)", (units[-1], scaled[0]), (0, 5), color=FOUND,
                   textcoords="offset points", ha="right")  # fmt: skip
    right.annotate("scale=None", (units[20], raw[20]), (-6, -2), color=REFUSED,
                   textcoords="offset points", ha="right", va="top")  # fmt: skip
    right.set(xlabel="x multiplied by", ylabel="information (nats)", title="the same data")
    right.set_ylim(min(0, raw.min()) - 0.02, scaled.max() + 0.07)
    save(figure, "scaling")
    return (
        f"The truth is {truth:.2f} nats. Scaled, the estimate is {scaled[0]:.2f} whatever the "
        f"unit. Unscaled, it is {raw[12]:.2f} with x as it is, {raw[-1]:.2f} with x multiplied by "
        f"1,000, and {raw[0]:.2f} with x divided by 1,000."
    )


# K ------------------------------------------------------------------------------------------


def smoothing():
    """Estimates of two relations for each K, over many data sets, and their average over K."""
    ks = np.array([1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 30])
    relations = {"weak": 0.4, "strong": 0.95}
    figure, axes = panels(2, 2.8)
    text = []
    for ax, (name, rho) in zip(axes, relations.items(), strict=True):
        truth = -np.log(1 - rho**2) / 2
        each, averaged = [], []
        for seed in range(60):
            rng = np.random.default_rng(state(seed))
            x = rng.normal(size=100)
            y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=100)
            each.append([mutual_information(x, y, n_neighbors=int(k)) for k in ks])
            averaged.append(mutual_information(x, y, n_neighbors=(3, 15)))
        each = np.array(each)
        low, high = np.percentile(each, (5, 95), axis=0)
        ax.fill_between(ks, low, high, color=FOUND, alpha=0.18, lw=0)
        ax.plot(ks, each.mean(axis=0), color=FOUND, lw=2)
        ax.axhline(truth, color="0.4", lw=1, ls=":")
        ax.annotate("truth", (30, truth), (0, 3), textcoords="offset points", color="0.3",
                    ha="right")  # fmt: skip
        span = np.percentile(averaged, (5, 95))
        ax.plot([34, 34], span, color=OTHER, lw=2)
        ax.plot(34, np.mean(averaged), "o", color=OTHER, ms=7)
        ax.set_xticks([1, 5, 10, 15, 20, 25, 30, 34], [1, 5, 10, 15, 20, 25, 30, "3–15"])  # noqa: RUF001
        ax.get_xticklabels()[-1].set(color=OTHER, weight="bold")
        ax.set(xlabel="K", title=f"a {name} relation (correlation {rho})")
        error = np.sqrt(np.mean((each - truth) ** 2, axis=0))
        best = int(np.argmin(error))
        mean = np.sqrt(np.mean((np.array(averaged) - truth) ** 2))
        text.append(
            f"| {name} | {error[0]:.2f} | K = {ks[best]}: {error[best]:.2f} | {error[-1]:.2f} "
            f"| {mean:.2f} |"
        )
    axes[0].set_ylabel("estimate (nats)")
    save(figure, "smoothing")
    heads = ["| relation | K = 1 | best single K | K = 30 | averaged, 3 to 15 |"]
    return "\n".join([*heads, "|---|---:|---:|---:|---:|", *text])


def choice():
    X, y = make_friedman(100, random_state=state(4), return_X_y=True, as_frame=True)
    found = choose_k(X, y, random_state=state(0))
    figure, ax = plt.subplots(figsize=(WIDTH * 0.72, 2.6), layout="constrained")
    for j, name in enumerate(found.features):
        relevant = j < 5
        best = name == found.feature
        color = FOUND if best else ("#7fb8d8" if relevant else "0.8")
        ax.plot(found.ks, found.t[j], color=color, lw=2.2 if best else 1.3, zorder=2 + relevant)
    for label, color in ((found.feature, FOUND), ("relevant", "#7fb8d8"), ("noise", "0.8")):
        ax.plot([], [], color=color, lw=2.2, label=label)
    ax.axvline(found.k, color=FOUND, lw=1, ls="--")
    ax.set(xlabel="K", ylabel="t (standard deviations)", ylim=(None, found.t.max() * 1.12))
    ax.set_xticks(range(2, 21, 2))
    ax.annotate(f"K = {found.k}", (found.k, found.t.max() * 1.1), (4, -4), color=FOUND,
                textcoords="offset points", va="top")  # fmt: skip
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    save(figure, "choice")
    return f"Here `choose_k` takes K = {found.k}, by `{found.feature}`."


# Permutations -------------------------------------------------------------------------------


def chance(ax, null, observed, color, bins=16):
    ax.hist(null, bins=bins, color="0.82", ec="white", lw=0.5)
    top = ax.get_ylim()[1] * 1.25
    ax.set(ylim=(0, top), yticks=[], xlabel="information (nats)")
    ax.spines["left"].set_visible(False)
    ax.plot([observed, observed], [0, top * 0.8], color=color, lw=2.2)


def null():
    """The same estimate from few samples and from many."""
    rng = np.random.default_rng(state(3))
    figure, axes = panels(2, 2.4)
    text = []
    for ax, n, slope in ((axes[0], 60, 0.0), (axes[1], 2000, 0.35)):
        # the first data set whose estimate is about 0.06
        while True:
            x = rng.normal(size=(n, 1))
            y = slope * x[:, 0] + rng.normal(size=n)
            if abs(mutual_information(x, y) - 0.06) < 0.002:
                break
        test = permutation_test(x, y, 0, n_permutations=999, random_state=state(0), **PLAIN)
        passed = test.p_value <= 0.05
        chance(ax, test.null[:, 0], test.observed[0], FOUND if passed else REFUSED,
               np.arange(-0.2, 0.25, 0.01))  # fmt: skip
        ax.set_title(f"{n:,} samples")
        ax.annotate(f"p = {test.p_value:.3f}", (test.observed[0], ax.get_ylim()[1] * 0.82),
                    ha="center", color=FOUND if passed else REFUSED)  # fmt: skip
        text.append(
            f"{test.observed[0]:.3f} nats from {n:,} samples: {test.exceedances[0]} of "
            f"{test.n_permutations} surrogates reach it, p = {test.p_value:.3f}."
        )
        ax.set_xlim(-0.2, 0.25)
    save(figure, "null")
    return "\n".join(f"- {line}" for line in text)


def largest():
    rng = np.random.default_rng(state(5))
    X, y = rng.normal(size=(100, 50)), rng.normal(size=100)
    best = int(np.argmax(relevance(X, y)))
    alone = permutation_test(X, y, best, random_state=state(0), **PLAIN)
    among = permutation_test(
        X, y, list(range(50)), random_state=state(0), **PLAIN | {"correction": "max"}
    )
    figure, axes = panels(2, 2.4, sharex=True)
    for ax, test, title in (
        (axes[0], alone, "against its own surrogates"),
        (axes[1], among, "against the best surrogate of all columns"),
    ):
        observed = test.observed.max()
        color = FOUND if test.p_value <= 0.05 else REFUSED
        chance(ax, test.null[:, 0], observed, color, np.arange(-0.1, 0.2, 0.0075))
        ax.set_title(title)
        ax.annotate(f"p = {test.p_value:.3f}", (observed, ax.get_ylim()[1] * 0.82), ha="center",
                    color=color)  # fmt: skip
    save(figure, "largest")
    return (
        f"The best of 50 columns of noise scores {alone.observed[0]:.3f} nats. Against its own "
        f"surrogates p = {alone.p_value:.3f}; against the best surrogate of all columns "
        f"p = {among.p_value:.3f}."
    )


# Copies -------------------------------------------------------------------------------------


def with_copy(seed, n=300, copy_noise=0.12):
    rng = np.random.default_rng(state(seed))
    X = pd.DataFrame(rng.uniform(-1, 1, (n, 3)), columns=list("abc"))
    X["copy"] = X["a"] + copy_noise * rng.normal(size=n)
    y = np.sin(3 * X["a"]) + X["b"] + X["c"] ** 2 + 0.2 * rng.normal(size=n)
    return X, y


def copies():
    X, y = with_copy(0)
    y = np.sin(3 * X["a"]) + 0.2 * np.random.default_rng(state(0)).normal(size=len(X))
    copy = prepared(X[["copy"]])
    anywhere = global_permutations((state(0), "guide", 0), len(X))
    local = local_permutations((state(0), "guide", 0), prepared(X[["a"]]), "euclidean")
    drawn = {
        "as it is": copy.values[0],
        "permuted globally": anywhere.surrogates(copy, ONE)(anywhere.draw(0, 1)).values[0],
        "permuted locally, given a": local.surrogates(copy, ONE)(local.draw(0, 1)).values[0],
    }
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4.3), layout="constrained",
                                height_ratios=[1.15, 1])  # fmt: skip
    for ax, (title, values), color in zip(
        axes[0], drawn.items(), (FOUND, CHANCE, OTHER), strict=True
    ):
        ax.plot(X["a"], values, ".", ms=3, mew=0, color=color)
        ax.set_title(title)
        bare(ax)
        ax.set_xlabel("a")
    axes[0, 0].set_ylabel("copy")
    axes[1, 0].axis("off")
    axes[1, 0].text(
        0.02, 0.5,
        "Information of a and copy\ntogether (the line), and of\na and surrogates of copy\n(grey)",
        va="center", fontsize=9.5, transform=axes[1, 0].transAxes,
    )  # fmt: skip
    how = PLAIN | {"random_state": state(0), "n_permutations": 499}
    found = []
    for ax, kind in ((axes[1, 1], "global"), (axes[1, 2], "local")):
        test = permutation_test(X, y, "copy", given="a", **how | {"null": kind})
        color = FOUND if test.p_value <= 0.05 else REFUSED
        chance(ax, test.null[:, 0], test.observed[0], color)
        ax.annotate(f"p = {test.p_value:.3f}", (test.observed[0], ax.get_ylim()[1] * 0.82),
                    ha="center", color=color)  # fmt: skip
        ax.set_title(f'null="{kind}"')
        found.append(test.p_value)
    for ax in axes[1, 1:]:
        ax.set_xlim(
            min(a.get_xlim()[0] for a in axes[1, 1:]), max(a.get_xlim()[1] for a in axes[1, 1:])
        )
    save(figure, "copies")
    return (
        f'The copy given `a`: p = {found[0]:.3f} with `null="global"`, p = {found[1]:.3f} with '
        '`null="local"`.'
    )


def prepared(frame):
    """Columns as the selector holds them: scaled."""
    values = np.ascontiguousarray(frame.to_numpy().T)
    return prepare(values, np.zeros(len(values), bool), "standard", 0, ONE)


def crowded(runs=40, n_permutations=99):
    """How often a copy of a column passes, if near samples exchange values, or residuals."""
    kinds, moves = (0.05, 0.12, 0.3), ("values", "residuals of local linear fits")
    rows = []
    for selected in (["a"], ["a", "b"], ["a", "b", "c"]):
        passed = np.zeros((len(moves), len(kinds)), int)
        for seed in range(runs):
            for i, noise in enumerate(kinds):
                X, y = with_copy(seed, copy_noise=noise)
                given, copy, target = (
                    prepared(f) for f in (X[selected], X[["copy"]], y.to_frame())
                )
                measure = Measure(
                    target=target,
                    criterion="gain",
                    method="ksg1",
                    metric="euclidean",
                    n_neighbors=(3, 15),
                    engine=NumbaEngine(),
                )
                observed = measure(copy, given, ONE)[0]
                local = local_permutations((state(seed), "guide", 0), given, "euclidean")
                drawn = local.draw(0, n_permutations)
                for move, how in enumerate((replace(local, fits=None), local)):
                    null = measure(how.surrogates(copy, ONE)(drawn), given, ONE)
                    p = (1 + np.sum(null >= observed)) / (1 + n_permutations)
                    passed[move, i] += p <= 0.05
        for move, counts in zip(moves, passed, strict=True):
            rows.append([", ".join(selected), move, *(f"{v} of {runs}" for v in counts)])
    return table(["selected", "exchanged", *(f"noise {noise}" for noise in kinds)], rows, 2)


# Pairs --------------------------------------------------------------------------------------


def pairs():
    X, y = make_xor(200, 8, random_state=state(1), return_X_y=True, as_frame=True)
    one, two = (MISelector(lookahead=k, min_features=0, random_state=state(0)) for k in (1, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # nothing selected: that is the point
        one.fit(X, y)
    two.fit(X, y)
    figure, (left, right) = panels(2, 2.8, width_ratios=[1, 1.3])
    for label, color, marker in (("same", FOUND, "o"), ("different", "#e69f00", "^")):
        at = y == label
        left.plot(X["X1"][at], X["X2"][at], marker, ms=3.5, mew=0, color=color, label=label)
    bare(left)
    left.set(xlabel="X1", ylabel="X2")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, 1.17), ncols=2, handletextpad=0.2)
    alone = relevance(X, y)
    step = two.result_.steps[0]
    names = [*X.columns, "X1\nand X2"]
    values = [*alone, step.gain]
    right.bar(names, values, color=[CHANCE] * 8 + [FOUND])
    right.axhline(0, color="0.4", lw=0.8)
    right.hlines(step.null_quantiles[2], 7.5, 8.5, color="black", lw=1.5)
    right.annotate("best permuted pair\n(95 %)", (7.4, step.null_quantiles[2]), (-4, 0),
                   textcoords="offset points", ha="right", va="center", fontsize=8.5)  # fmt: skip
    right.set_ylabel("information (nats)")
    save(figure, "pairs")
    chosen = [list(s.get_feature_names_out()) for s in (one, two)]
    words = [", ".join(f"`{c}`" for c in names) or "nothing" for names in chosen]
    return (
        f"`X1` by itself scores {alone['X1']:.2f} nats, `X2` {alone['X2']:.2f}, the pair "
        f"{step.gain:.2f}. `lookahead=1` selects {words[0]}, `lookahead=2` {words[1]} "
        f"(p = {step.p_value:.3f})."
    )


# Ties ---------------------------------------------------------------------------------------


def strict(x, y, k=5):
    """Kraskov's first estimate as it is written, for one K: the sample and what is closer."""
    dx, dy = (cdist(v[:, None], v[:, None]) for v in (x, y))
    joint = np.maximum(dx, dy)
    np.fill_diagonal(joint, np.inf)
    radius = np.sort(joint, axis=1)[:, k - 1][:, None]
    counts = [np.maximum((d < radius).sum(axis=1), 1) for d in (dx, dy)]
    return digamma(k) + digamma(len(x)) - np.mean(digamma(counts[0]) + digamma(counts[1]))


def ties():
    rng = np.random.default_rng(state(8))
    grids = np.array([0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5])
    plain, ours = np.zeros((2, 10, len(grids)))
    for i in range(10):
        x, y = rng.normal(size=(2, 300))
        for j, grid in enumerate(grids):
            a, b = np.round(x / grid), np.round(y / grid)
            plain[i, j] = strict(a, b)
            ours[i, j] = mutual_information(a, b, n_neighbors=5)
    figure, (left, right) = panels(2, 2.6, width_ratios=[1, 1.35])
    left.plot(np.round(x / 0.3) * 0.3, np.round(y / 0.3) * 0.3, "o", ms=3, alpha=0.35, mew=0,
              color=CHANCE)  # fmt: skip
    bare(left)
    left.set(title="independent, rounded to 0.3", xlabel="x", ylabel="y")
    right.plot(grids, plain.mean(axis=0), "o-", color=REFUSED, lw=2, ms=4)
    right.plot(grids, ours.mean(axis=0), "o-", color=FOUND, lw=2, ms=4)
    right.axhline(0, color="0.4", lw=1, ls=":")
    at = int(np.flatnonzero(grids == 0.3)[0])
    right.annotate("strict counting", (0.3, plain.mean(axis=0)[at]), (-8, 2), color=REFUSED,
                   textcoords="offset points", ha="right")  # fmt: skip
    right.annotate("infosieve", (0.4, 0), (0, 7), color=FOUND, textcoords="offset points")
    right.set(xlabel="rounded to (standard deviations)", ylabel="information (nats), truth 0")
    save(figure, "ties")
    return (
        f"Rounded to 0.3 standard deviations, two independent columns score "
        f"{plain.mean(axis=0)[at]:.1f} nats by strict counting and "
        f"{ours.mean(axis=0)[at]:.2f} here (means of 10 data sets of 300 samples, K = 5)."
    )


# Pages whose own code makes their pictures ----------------------------------------------------


def run_page(name, until=None):
    """What the Python of a page defines, run in the current folder, until a name is there."""
    known = {"__name__": "__main__"}
    for block in re.finditer(r"^```python\n(.*?)^```", (DOCS / name).read_text(), re.M | re.S):
        with contextlib.redirect_stdout(io.StringIO()):
            exec(block[1], known)
        if until in known:
            break
    return known


def start():
    """The path that docs/start.md finds."""
    known = run_page("start.md", until="selector")
    figure, ax = plt.subplots(figsize=(WIDTH * 0.9, 2.7), layout="constrained")
    PathDisplay.from_result(known["selector"].result_).plot(ax)
    save(figure, "start")
    return "(a picture only)"


def command():
    """What the command of docs/start.md prints for the table of that page."""
    known = run_page("start.md", until="X")
    line = re.search(r"^infosieve (select diabetes.*)$", (DOCS / "start.md").read_text(), re.M)[1]
    with tempfile.TemporaryDirectory() as folder:
        known["X"].assign(progression=known["y"]).to_csv(f"{folder}/diabetes.csv", index=False)
        call = [sys.executable, "-m", "infosieve", *line.split()]
        done = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=True)
    lines = (textwrap.wrap(line, 84) if len(line) > 84 else [line.rstrip()]
             for line in done.stdout.splitlines())  # fmt: skip
    return "\n".join(["```text", *itertools.chain(*lines), "```"])


# What is shown of the pages that the code of docs/report.md writes: sections by their titles, or
# from one element to another.
SHOTS = {
    "report-answers": ("report.html", "//p[@class='kind']", "//dl[@class='facts']"),
    "report-selected": ("report.html", "//h2[@id='selected']", "//section[1]/preceding::p[1]"),
    "report-steps": ("report.html", "Step by step, beside chance"),
    "report-stand-ins": ("report.html", "What could stand in"),
    "report-informative": ("report.html", "What else is informative"),
    "report-stable": ("report.html", "How stable it is"),
    "report-target": ("report.html", "The selected columns and the target"),
    "report-predict": ("predict.html", "How many columns predict"),
}


@contextlib.contextmanager
def browser(chromium, chromedriver, profile):
    """A window of 900 pixels that nobody sees."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in ("headless=new", "no-sandbox", "disable-gpu", f"user-data-dir={profile}"):
        options.add_argument(f"--{flag}")
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    light = [{"name": "prefers-color-scheme", "value": "light"}]
    size = {"width": 900, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": light})
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        yield driver
    finally:
        driver.quit()


def opened(driver, page):
    """A page of the current folder, when all of its figures are drawn."""
    driver.get(Path(page).resolve().as_uri())
    while not driver.execute_script("return document.documentElement.dataset.drawn"):
        time.sleep(0.1)
    time.sleep(1)  # until they have grown into their places
    return page


def shoot(driver, first, last=None, margin=12):
    """A picture of an open page, of a section or from one element to another."""
    if last is None:
        first = last = f"//section[h2='{first}']"
    top, bottom = (driver.find_element("xpath", path).rect for path in (first, last))
    height = bottom["y"] + bottom["height"] - top["y"]
    clip = {"x": 0, "y": top["y"] - margin, "width": 900, "height": height + 2 * margin, "scale": 1}
    how = {"format": "png", "captureBeyondViewport": True, "clip": clip}
    return base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", how)["data"])


def report():
    """The pages that the code of docs/report.md writes, section by section."""
    found = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in found:
        return "(no chromium and chromedriver here: pictures are left as they were)"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        run_page("report.md")
        with browser(*found, f"{folder}/profile") as driver:
            shown = None
            for name, (page, *where) in SHOTS.items():
                shown = page if page == shown else opened(driver, page)
                (DOCS / "pictures" / f"{name}.png").write_bytes(shoot(driver, *where))
    return "(pictures only)"


# Clusters and curves ------------------------------------------------------------------------


def clusters():
    meat = load_tecator()
    X, fat = meat.data, meat.target
    found = FeatureClustering(5, connectivity="chain").fit(X, fat)
    figure, (left, right) = panels(2, 3.0, width_ratios=[1.5, 1])
    left.plot(meat.axis, X[::18].T, color="0.25", lw=0.5)
    for start, end, label in cluster_parts(found.result_, meat.axis):
        left.axvspan(start, end, color=SEVERAL[label], alpha=0.35, lw=0)
    left.set(xlabel="wavelength (nm)", ylabel="absorbance", xlim=(meat.axis[0], meat.axis[-1]))
    left.set_title("five clusters")
    similar = np.corrcoef(false_neighbors(X, fat).T)
    box = (meat.axis[0], meat.axis[-1]) * 2
    image = right.imshow(similar, cmap="cividis", vmin=0, vmax=1, origin="lower", extent=box)
    for edge in np.flatnonzero(np.diff(found.labels_)):
        at = (meat.axis[edge] + meat.axis[edge + 1]) / 2
        right.axhline(at, color="white", lw=0.8)
        right.axvline(at, color="white", lw=0.8)
    right.set(xlabel="wavelength (nm)", title="alike in their mistakes")
    right.spines[:].set_visible(False)
    figure.colorbar(image, ax=right, shrink=0.75, pad=0.02)
    save(figure, "clusters")
    sizes = np.bincount(found.labels_)
    return (
        f"{X.shape[1]} channels, {found.n_clusters_} clusters of neighbours: "
        f"{', '.join(map(str, sizes))} channels."
    )


def curves():
    meat = load_tecator()
    X, fat = meat.data, meat.target
    drawn = CurveFeatures(meat.axis, unit="nm").set_output(transform="pandas").fit(X)
    Z = drawn.transform(X)
    selector = MISelector(stop=None, max_features=3).fit(Z, fat)
    first = selector.selected_[0]
    channel = int(np.argmax(relevance(X, fat)))
    figure, axes = panels(3, 2.7, width_ratios=[1.7, 1, 1])
    axes[0].plot(meat.axis, X[::18].T, color="0.25", lw=0.5)
    parts = feature_parts(drawn.describe().iloc[selector.selected_], meat.axis)
    top, height = X[::18].max(), np.ptp(X[::18])
    for i, ((start, end, name), color) in enumerate(zip(parts, SEVERAL, strict=False)):
        at = top + (0.12 + 0.13 * i) * height
        axes[0].axvspan(start, end, color=color, alpha=0.22, lw=0)
        axes[0].plot([start, end], [at, at], color=color, lw=5, solid_capstyle="butt")
        axes[0].text(max(e for _, e, _ in parts) + 6, at, name, va="center", fontsize=9)
    axes[0].set(xlabel="wavelength (nm)", ylabel="absorbance", xlim=meat.axis[[0, -1]])
    axes[0].set_ylim(X[::18].min() - 0.05 * height, top + 0.5 * height)
    told = []
    for ax, values, name, color in (
        (axes[1], X[:, channel], f"sample[{meat.axis[channel]:.0f}nm]", CHANCE),
        (axes[2], Z.iloc[:, first], Z.columns[first], FOUND),
    ):
        mi = mutual_information(np.asarray(values), fat)
        told.append((name, mi))
        ax.plot(values, fat, ".", ms=3, color=color, mew=0)
        ax.set_title(f"{mi:.2f} nats", color="0.3" if color == CHANCE else color)
        ax.set(xlabel=name, xticks=[])
    axes[1].set_ylabel("fat (%)")
    axes[2].set_yticklabels([])
    save(figure, "curves")
    names = ", ".join(f"`{Z.columns[j]}`" for j in selector.selected_)
    return (
        f"Of {Z.shape[1]} features, the first three that are chosen are {names}. The best channel, "
        f"`{told[0][0]}`, has {told[0][1]:.2f} nats about fat; the first feature has "
        f"{told[1][1]:.2f}."
    )


# For docs/limits.md ---------------------------------------------------------------------------


def few():
    """Where nine tenths of the estimates of independent columns lie."""
    rows = ["| samples | 5 % | 95 % |", "|---:|---:|---:|"]
    for n in (20, 50, 100, 500, 2000):
        rng = np.random.default_rng(state(n))
        values = [relevance(rng.normal(size=(n, 20)), rng.normal(size=n)) for _ in range(20)]
        low, high = np.percentile(values, (5, 95))
        rows.append(f"| {n:,} | {low:.3f} | {high:.3f} |")
    return "\n".join(rows)


def dimensions():
    """X and Y of d columns each, normal, all correlations 0.5."""
    rows = [
        "| columns of X and of Y | truth | 200 samples | 2,000 samples |",
        "|---:|---:|---:|---:|",
    ]
    for d in (1, 2, 3, 5, 10, 25):
        matrix = np.full((2 * d, 2 * d), 0.5) + 0.5 * np.eye(2 * d)
        whole, part = (np.linalg.slogdet(m)[1] for m in (matrix, matrix[:d, :d]))
        found = []
        for n in (200, 2000):
            rng = np.random.default_rng(state(d))
            each = rng.multivariate_normal(np.zeros(2 * d), matrix, (20, n))
            mean = np.mean([mutual_information(z[:, :d], z[:, d:]) for z in each])
            found.append(f"{mean:.2f}")
        rows.append(f"| {d} | {part - whole / 2:.2f} | {found[0]} | {found[1]} |")
    return "\n".join(rows)


def ceiling():
    """Y = X + noise, the noise getting smaller."""
    levels = (0.1, 0.01, 0.001, 0.0)
    rows = ["| noise | truth | 100 samples | 1,000 samples | 10,000 samples |"]
    rows.append("|---:|---:|---:|---:|---:|")
    for noise in levels:
        found = []
        for n in (100, 1000, 10000):
            rng = np.random.default_rng(state(n))
            x = rng.normal(size=n)
            near = x + noise * rng.normal(size=n)
            found.append(f"{mutual_information(x, near, max_samples=None):.1f}")
        truth = f"{np.log1p(noise**-2) / 2:.1f}" if noise else "∞"
        rows.append(f"| {noise:g} | {truth} | " + " | ".join(found) + " |")
    return "\n".join(rows)


def series(runs=100, n=200):
    """Independent series, each value near the one before: how often they seem to be related."""
    rows = ["| correlation with the value before | p ≤ 0.05 |", "|---:|---:|"]
    for memory in (0.0, 0.5, 0.9):
        rng = np.random.default_rng(state(0))
        passed = 0
        for seed in range(runs):
            steps = rng.normal(size=(2, n + 100))
            for t in range(1, steps.shape[1]):
                steps[:, t] += memory * steps[:, t - 1]
            x, y = steps[:, 100:]
            test = permutation_test(
                x[:, None], y, 0, n_permutations=99, random_state=state(seed), **PLAIN
            )
            passed += test.p_value <= 0.05
        rows.append(f"| {memory:g} | {passed} of {runs} |")
    return "\n".join(rows)


PICTURES = [sees, scaling, smoothing, choice, null, largest, copies, crowded, pairs, ties]
PICTURES += [start, command, report, clusters, curves, few, dimensions, ceiling, series]


def write(page, name, text):
    """Put ``text`` between the marks of this name, where a page has them."""
    start = f"<!-- written by experiments/guide.py: {name} -->"
    old = page.read_text()
    marked = re.compile(re.escape(start) + r".*?<!-- end -->", re.DOTALL)
    new = marked.sub(lambda _: f"{start}\n{text}\n<!-- end -->", old)
    if new != old:
        page.write_text(new)


def main():
    global FIRST
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=seed_number, default=0)
    names = {draw.__name__: draw for draw in PICTURES}
    parser.add_argument("names", nargs="*", metavar="NAME")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(names):
        parser.error(f"no picture is called {', '.join(sorted(unknown))}; there are {[*names]}")
    FIRST = APART * asked.seed
    (DOCS / "pictures").mkdir(exist_ok=True)
    for draw in [names[name] for name in asked.names] or PICTURES:
        began = time.perf_counter()
        text = draw()
        text = re.sub(r"(?<!\d)-(0\.0+)(?!\d)", r"\1", text)
        print(f"{draw.__name__} ({time.perf_counter() - began:.1f} s)\n{text}\n", flush=True)
        for page in ("guide.md", "limits.md", "start.md"):
            write(DOCS / page, draw.__name__, text)


if __name__ == "__main__":
    main()
