"""The tables and figures of Verleysen, Rossi and François (2009) again, on data made anew.

    python experiments/chapter.py [--seed 1] [--sets 100] [--data DIR] [--show]

Prints each table beside the published figures, saves the pictures, keeps the raw results in
results/chapter.json and writes docs/chapter.md from them. Tecator comes with the package; Wine is
read from DIR/wine.csv; without it, what was kept of it stays, if it is of the same seed and splits.
--show computes nothing.
"""

import argparse
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from displays import draw_false_neighbors, draw_information
from procedures import CHAPTER
from spectra import HERE, keep, kept, load, pls_errors, splits, table

from infosieve import FeatureClustering, MISelector, choose_k
from infosieve.datasets import make_friedman

DOCS = HERE.parent / "docs"
N, M, X4 = 100, 10, 3
PUBLISHED_K = 10  # where the published figure of t peaks for X4
COUNTS = {
    "K by resampling, stopped by permutation": (CHAPTER, {2: 1, 3: 12, 4: 52, 5: 29, 6: 6}),
    "the same, maximum norm": (CHAPTER | {"metric": "chebyshev"}, None),
    "K by resampling, stopped at the largest information": (CHAPTER | {"stop": "max-mi"}, None),
    "no resampling (K = 6), stopped at the largest information": (
        CHAPTER | {"stop": "max-mi", "n_neighbors": 6},
        {2: 45, 3: 33},
    ),
    "the default of MISelector": ({}, None),
}
# (number of columns, error) as published
CLUSTERS = {
    "Tecator": {"all": (100, 0.02658), "unsupervised": (17, 0.02574), "supervised": (8, 0.02550)},
    "Wine": {"all": (256, 0.00578), "unsupervised": (19, 0.0111), "supervised": (33, 0.00546)},
}
TEXT = """# Verleysen, Rossi and François (2009), reproduced

*Written by [`experiments/chapter.py`](../experiments/chapter.py) (seed {seed}, {sets} data sets)
from
`experiments/results/chapter.json`; `make experiments` runs it.*

Verleysen, Rossi and François, *Advances in Feature Selection with Mutual Information*
([2009](references.md)), is the chapter of a book in which the method was published. Its data (F)
are ten columns, uniform on 0 to 1, and y = 10 sin(x1 x2) + 20 (x3 - 0.5)² + 10 x4 + 5 x5 + e with
standard normal e: five columns matter. N = {n}. Data are drawn anew here; the published figures
are from others. "Published" is what the chapter prints.

## How many neighbours

The information of x4 about the target is estimated without each of 20 folds of the samples, once
with the target as it is and once with the target permuted. t is the number of standard deviations
between the two, and the K with the largest t is taken (François and others 2007).

![t against K](chapter-k.png)

{ks}

{k_verdict}

![Information of x4 and of a permuted target over K](chapter-boxes.png)

Few neighbours give much noise, more give less; the target as it is stays apart from the permuted
one.

## How many features

How many features are selected, in percent of the data sets. (Of the stop at the largest
information only two figures are published, and no K: 6 is ours.)

{counts}

Columns that were selected, in percent of the data sets. x1 to x5 matter.

{which}

## False neighbours

The second idea: a column misjudges a sample if others are nearer in that column than the sample's
neighbour in column and target together. Columns that misjudge the same samples are redundant with
each other as far as the target is concerned.

![False neighbours of one sample](chapter-false.png)

## Clusters of channels

Partial least squares on clusters of spectral channels, with the published numbers of clusters.
NMSE is the mean squared error of the test samples over the variance of the target in all samples
(the chapter does not say in which). First the published split, as far as it is known, then the
median of {n_splits} random ones. ([Clusters](clustering.md) has errors over the variance of the
test samples, and more splits.)

{clusters}

{verdict} [More on clusters](clustering.md), with the number of clusters chosen by cross-validation.
"""


# ---- computing


def data(seed, number):
    return make_friedman(N, M, random_state=np.random.default_rng([seed, number]), return_X_y=True)


def one_set(seed, number):
    """The choice of K and the selections on one data set."""
    warnings.simplefilter("ignore")
    X, y = data(seed, number)
    choice = choose_k(X, y, random_state=number)
    selected = {
        name: MISelector(**setting, random_state=number).fit(X, y).selected_.tolist()
        for name, (setting, _) in COUNTS.items()
    }
    return {"number": number, "k": choice.k, "t": choice.t[X4].tolist(), "selected": selected}


def one_split(name, folder, number, n_splits, seed):
    """Errors on one split, with the published numbers of clusters."""
    warnings.simplefilter("ignore")
    X, y, train = load(name, folder)
    train, test = list(splits(X, train, n_splits, seed))[number]
    rows = []
    for method, (k, _) in CLUSTERS[name].items():
        Z = X
        if method != "all":
            clusters = FeatureClustering(k, similarity=method).fit(X[train], y[train])
            Z = clusters.transform(X)
        _, error = pls_errors(Z, y, train, test)
        rows.append({"data": name, "split": number, "method": method, "nmse": float(error)})
    return rows


def run(arguments):
    start = time.perf_counter()
    known = kept("chapter") if (HERE / "results" / "chapter.json").exists() else {}
    with ProcessPoolExecutor(arguments.workers) as pool:
        sets = list(pool.map(partial(one_set, arguments.seed), range(arguments.sets)))
        print(f"{arguments.sets} data sets: {time.perf_counter() - start:.0f} s", flush=True)
        names = ["Tecator"] + ["Wine"] * (arguments.data is not None)
        how = arguments.splits, arguments.seed
        jobs = [(n, arguments.data, i, *how) for n in names for i in range(arguments.splits + 1)]
        each = pool.map(one_split, *zip(*jobs, strict=True))
        clusters = [row for rows in each for row in rows]
    about = {"seed": arguments.seed, "splits": arguments.splits}
    if about.items() <= known.items():  # rows of another seed are not mixed in
        clusters += [row for row in known["clusters"] if row["data"] not in names]
    keep("chapter", about | {"sets": sets, "clusters": clusters})
    print(f"all: {time.perf_counter() - start:.0f} s", flush=True)


# ---- showing


def k_table(results):
    best = np.array([2 + np.argmax(row["t"]) for row in results["sets"]])
    chosen = np.array([row["k"] for row in results["sets"]])
    rows = [
        [what, *np.quantile(values, [0.25, 0.5, 0.75]).round().astype(int), chapter]
        for what, values, chapter in (
            ("for x4", best, PUBLISHED_K),
            ("over all columns", chosen, ""),
        )
    ]
    return table(["K with the largest t", "lower quartile", "median", "upper", "published"], rows)


def k_verdict(results):
    best = np.array([2 + np.argmax(row["t"]) for row in results["sets"]])
    largest = 1 + len(results["sets"][0]["t"])
    near, end = np.mean(np.abs(best - PUBLISHED_K) <= 2), np.mean(best == largest)
    middle = np.median([row["t"] for row in results["sets"]], axis=0)
    flat = 2 + int(np.argmax(middle >= 0.95 * middle.max()))
    return (
        f"The published K of {PUBLISHED_K}, from one data set, is not typical here: "
        f"{100 * near:.0f} % of the data sets come within 2 of it, and {100 * end:.0f} % have "
        f"their largest t at K = {largest}, the end of the range. The median of t is within 5 % of "
        f"its largest value from K = {flat} on, so that chance decides which K wins."
    )


def count_table(results):
    rows, n_sets = [], len(results["sets"])
    for name, (_, chapter) in COUNTS.items():
        sizes = [len(row["selected"][name]) for row in results["sets"]]
        shares = 100 * np.bincount(sizes, minlength=9) / n_sets
        rows.append([name, *(f"{share:.0f}" for share in shares[:9])])
        if chapter:
            rows.append(["… published", *(chapter.get(size, "") for size in range(9))])
    return table(["selected", *range(9)], rows)


def which_table(results):
    rows = []
    for name in COUNTS:
        found = [j for row in results["sets"] for j in row["selected"][name]]
        shares = 100 * np.bincount(found, minlength=M) / len(results["sets"])
        rows.append([name, *(f"{s:.0f}" for s in shares[:5]), f"{shares[5:].mean():.1f}"])
    return table(["procedure", *(f"x{j + 1}" for j in range(5)), "x6 to x10, each"], rows)


def cluster_rows(results):
    """Errors by data and method: on the published split, and the median of the random ones."""
    found = {}
    for name, methods in CLUSTERS.items():
        for method in methods:
            errors = {
                row["split"]: row["nmse"]
                for row in results["clusters"]
                if (row["data"], row["method"]) == (name, method)
            }
            if errors:
                random = [error for split, error in errors.items() if split]
                found[name, method] = errors[0], float(np.median(random))
    return found


def cluster_table(found):
    rows = []
    for (name, method), (first, random) in found.items():
        k, chapter = CLUSTERS[name][method]
        rows.append([name, method, k, chapter, f"{first:.4f}", f"{random:.4f}"])
    head = ["data", "columns", "number", "published", "published split", "random splits"]
    return table(head, rows)


def verdict(found):
    """What the table says about the published claim."""
    said = []
    for name in dict.fromkeys(name for name, _ in found):
        first, random = (
            mine / whole
            for mine, whole in zip(found[name, "supervised"], found[name, "all"], strict=True)
        )
        word = "is not seen here" if random > 1.02 else "is seen here, too"
        said.append(
            f"That {CLUSTERS[name]['supervised'][0]} supervised clusters predict as well as all "
            f"{CLUSTERS[name]['all'][0]} channels of {name} {word}: {first:.2f} times the error on "
            f"the published split, {random:.2f} times on random ones."
        )
    return " ".join(said)


def draw(results):
    plt.rcParams |= {"axes.spines.top": False, "axes.spines.right": False}
    t = np.array([row["t"] for row in results["sets"]])
    ks = 2 + np.arange(t.shape[1])
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8))
    low, middle, high = np.quantile(t, [0.25, 0.5, 0.75], axis=0)
    left.fill_between(
        ks, low, high, color="#1f6feb", alpha=0.15, lw=0, label="half of the data sets"
    )
    left.plot(ks, middle, color="#1f6feb", label="median")
    left.plot(ks, t[0], color="#57606a", lw=1, label="one data set")
    left.axvline(PUBLISHED_K, color="#d9480f", ls="--", lw=1, label="top of the published figure")
    left.set(xlabel="K (neighbours)", ylabel="t of x4", ylim=(0, None))
    left.legend(frameon=False, fontsize="small")
    right.hist(2 + t.argmax(axis=1), bins=np.arange(1.5, 21), color="#1f6feb", rwidth=0.85)
    right.axvline(PUBLISHED_K, color="#d9480f", ls="--", lw=1)
    right.set(xlabel="K with the largest t of x4", ylabel="data sets")
    for ax in (left, right):
        ax.set_xticks(range(2, 21, 2))
    save(figure, "chapter-k.png")
    figure, ax = plt.subplots(figsize=(9, 4))
    X, y = data(results["seed"], 0)
    X = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(M)])
    choice = choose_k(X, y, random_state=0)
    draw_information(ax, choice, "x4")
    save(figure, "chapter-boxes.png")
    figure, ax = plt.subplots(figsize=(5.6, 4.6))
    draw_false_neighbors(ax, X, y, "x4")
    save(figure, "chapter-false.png")


def save(figure, name):
    figure.tight_layout()
    figure.savefig(DOCS / name, dpi=110)
    plt.close(figure)


def show():
    results = kept("chapter")
    found = cluster_rows(results)
    parts = {
        "ks": k_table(results),
        "k_verdict": k_verdict(results),
        "counts": count_table(results),
        "which": which_table(results),
        "clusters": cluster_table(found),
        "verdict": verdict(found),
    }
    print("\n\n".join(parts.values()))
    text = TEXT.format(
        seed=results["seed"],
        sets=len(results["sets"]),
        n=N,
        n_splits=results["splits"],
        **parts,
    )
    (DOCS / "chapter.md").write_text(text, encoding="utf-8")
    draw(results)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--splits", type=int, default=12)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    if not arguments.show:
        run(arguments)
    show()


if __name__ == "__main__":
    main()
