"""Partial least squares behind clusters of channels, as Verleysen, Rossi and François (2009) did.

    python experiments/clustering.py --data DIR [--splits 30] [--workers 2] [--seed 1]
        [--show]

Prints the tables of docs/clustering.md, writes it, its figure and the raw results. Tecator comes
with the package; Wine is read from DIR/wine.csv and left out without it. --show only prints what
was kept.
"""

import argparse
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold, cross_val_predict
from spectra import (
    HERE,
    PLSRegressionCV,
    interval,
    keep,
    kept,
    load,
    pls_errors,
    second_derivative,
    shown,
    snv,
    splits,
    write_between,
)

from infosieve import FeatureClustering

SPECTRA = {"as measured": lambda X: X, "SNV": snv, "second derivative": second_derivative}
VARIANTS = {
    "": {},
    ", Spearman": {"correlation": "spearman"},
    ", PLS": {"representative": "pls"},
    ", chain": {"connectivity": "chain"},
    ", PLS, chain": {"representative": "pls", "connectivity": "chain"},
}
METHODS = {
    similarity + name: {"similarity": similarity} | options
    for similarity in ("unsupervised", "supervised")
    for name, options in VARIANTS.items()
}
NUMBERS = (4, 8, 16, 32, 64)
CHAPTER = {
    ("Tecator", "all"): (100, 0.02658),
    ("Tecator", "unsupervised"): (17, 0.02574),
    ("Tecator", "supervised"): (8, 0.02550),
    ("Wine", "all"): (256, 0.00578),
    ("Wine", "unsupervised"): (19, 0.0111),
    ("Wine", "supervised"): (33, 0.00546),
}


def one(name, folder, number, n_splits, seed):
    """All methods on one split: rows of results."""
    warnings.simplefilter("ignore")
    X, y, train = load(name, folder)
    train, test = list(splits(X, train, n_splits, seed))[number]
    rows = []
    groups = np.unique(X[train], axis=0, return_inverse=True)[1]  # identical spectra stay together
    folds = list(GroupKFold(4, shuffle=True, random_state=0).split(train, groups=groups))
    for kind, change in SPECTRA.items():
        Z = change(X)
        pls = PLSRegressionCV(random_state=0)
        predicted = cross_val_predict(pls, Z[train], y[train], cv=folds)
        in_folds = np.mean((predicted - y[train]) ** 2) / y[train].var()
        base = {"data": name, "split": number, "spectra": kind}
        error = pls_errors(Z, y, train, test)
        rows.append(
            base | {"method": "all", "rule": "auto", "k": Z.shape[1], "cv": in_folds}
            | {"nmse": error[0], "nmse_all": error[1]}
        )  # fmt: skip
        for method, options in METHODS.items():
            auto = FeatureClustering(**options, random_state=0, cv=folds).fit(Z[train], y[train])
            best = 1 - auto.cv_results_["mean_test_score"].max()
            for k in (None, *NUMBERS):
                c = auto if k is None else FeatureClustering(k, **options).fit(Z[train], y[train])
                error = pls_errors(c.transform(Z), y, train, test)
                rows.append(
                    base | {"method": method, "rule": "number" if k else "auto"}
                    | {"k": int(c.n_clusters_), "cv": None if k else best}
                    | {"nmse": error[0], "nmse_all": error[1]}
                )  # fmt: skip
    return rows


def run(arguments):
    names = ["Tecator"]
    if arguments.data and (arguments.data / "wine.csv").exists():
        names.append("Wine")
    else:
        print("Wine is left out: pass --data DIR with wine.csv (R package cggd).")
    jobs = [
        (name, arguments.data, number, arguments.splits, arguments.seed)
        for name in names
        for number in range(arguments.splits + 1)
    ]
    rows, start = [], time.perf_counter()
    with ProcessPoolExecutor(arguments.workers) as pool:
        futures = [pool.submit(one, *job) for job in jobs]
        for done, future in enumerate(as_completed(futures), start=1):
            rows += future.result()
            print(f"{done} of {len(jobs)}, {time.perf_counter() - start:.0f} s", flush=True)
    if (HERE / "results" / "clustering.json").exists():
        rows += [row for row in kept("clustering") if row["data"] not in names]
    rows.sort(key=lambda row: (row["data"], row["split"]))
    keep("clustering", rows)


def chosen(table, methods):
    """For each split, the row whose cross-validation on the training data is best."""
    some = table[table["method"].isin(methods) & (table["rule"] == "auto")]
    best = some.loc[some.groupby("split")["cv"].idxmin()]
    return best.set_index("split")


def table_of(title, rows):
    """A markdown table from lists of texts."""
    head, *body = rows
    lines = [f"| {' | '.join(row)} |" for row in body]
    return "\n".join(
        [f"### {title}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|", *lines, ""]
    )


def published(table, name):
    """The method as published: means of scaled channels, spectra as measured."""
    head = ["features", "number (median)", "NMSE, random splits: median (95 % interval)"]
    head += ["published split", "the same, over the variance of all", "published figure"]
    rows = [head]
    raw = table[(table["spectra"] == "as measured") & (table["rule"] == "auto")]
    for method in ("all", "unsupervised", "supervised", "unsupervised, chain", "supervised, chain"):
        some = raw[raw["method"] == method].set_index("split")
        random, first = some.drop(0), some.loc[0]
        known = CHAPTER.get((name, method))
        row = [method, f"{random['k'].median():.0f}", shown(random["nmse"])]
        row += [f"{first['nmse']:.4f} ({first['k']:.0f})", f"{first['nmse_all']:.4f}"]
        rows.append([*row, f"{known[1]} ({known[0]})" if known else ""])
    return table_of(f"{name}: as published", rows)


SUPERVISED = [m for m in METHODS if m.startswith("supervised")]
UNSUPERVISED = [m for m in METHODS if m.startswith("unsupervised")]


def by_training_data(table, name):
    """Preprocessing, chain and representative chosen on the training data, for each on its own."""
    rows = [["features", "number (median)", "NMSE, random splits: median (95 % interval)",
             "published split", "ratio to all", "chosen most often"]]  # fmt: skip
    every = chosen(table, ["all"])
    for title, methods in (
        ("all", ["all"]),
        ("unsupervised", UNSUPERVISED),
        ("supervised", SUPERVISED),
    ):
        best = chosen(table, methods)
        random = best.drop(0)
        ratio = (best["nmse"] / every["nmse"]).drop(0)
        words = random["method"].where(random["method"] != "all", "") + "; " + random["spectra"]
        often = words.str.removeprefix("; ").value_counts()
        row = [title, f"{random['k'].median():.0f}", shown(random["nmse"])]
        row += [f"{best.loc[0, 'nmse']:.4f} ({best.loc[0, 'k']:.0f})", shown(ratio, 2)]
        rows.append([*row, f"{often.index[0]} ({often.iloc[0]} of {len(random)})"])
    return table_of(f"{name}: spectra, chain and representative chosen by cross-validation", rows)


def same_number(table, name):
    """Supervised over unsupervised clusters of the same number: ratios on the same splits."""
    fixed = table[(table["rule"] == "number") & (table["split"] > 0)]
    numbers = list(NUMBERS)
    rows = [["spectra", "supervised", *(f"{k} clusters" for k in numbers)]]
    for kind in SPECTRA:
        wide = fixed[fixed["spectra"] == kind].pivot(
            index=["split", "k"], columns="method", values="nmse"
        )
        for method in SUPERVISED:
            ratio = wide[method] / wide["un" + method]  # the same variant
            rows.append([kind, method.removeprefix("supervised").strip(", ") or "mean"]
                        + [shown(ratio.xs(k, level="k"), 2) for k in numbers])  # fmt: skip
    return table_of(
        f"{name}: error of supervised over unsupervised clusters of the same number", rows
    )


def draw(results, names, file):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, ScalarFormatter

    styles = {
        "unsupervised, chain": ("#888888", "-", "unsupervised, means"),
        "unsupervised, PLS, chain": ("#888888", "--", "unsupervised, PLS directions"),
        "supervised, chain": ("#1f6feb", "-", "supervised, means"),
        "supervised, PLS, chain": ("#1f6feb", "--", "supervised, PLS directions"),
    }
    figure, axes = plt.subplots(
        len(names), len(SPECTRA), figsize=(12, 3.6 * len(names)), sharex=True, squeeze=False
    )
    for row, name in zip(axes, names, strict=True):
        for ax, kind in zip(row, SPECTRA, strict=True):
            some = results[(results["data"] == name) & (results["spectra"] == kind)]
            some = some[some["split"] > 0]
            middle, low, high = interval(some.loc[some["method"] == "all", "nmse"])
            ax.axhspan(low, high, color="#2b8a3e", alpha=0.15, lw=0)
            ax.axhline(middle, color="#2b8a3e", label="all channels (band: 95 % interval)")
            for method, (color, line, label) in styles.items():
                mine = some[(some["method"] == method) & (some["rule"] == "number")]
                median = mine.groupby("k")["nmse"].median()
                ax.plot(median.index, median, line, color=color, label=label, marker="o", ms=3)
            ax.set(xscale="log", yscale="log", title=f"{name}, {kind}")
            ax.set_xticks(NUMBERS, labels=[str(k) for k in NUMBERS], minor=False)
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.yaxis.set_major_formatter(ScalarFormatter())
            ax.minorticks_off()
            ax.grid(alpha=0.25)
    for ax in axes[-1]:
        ax.set_xlabel("number of clusters")
    for row in axes:
        row[0].set_ylabel("median NMSE on test samples")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=3, frameon=False)
    figure.tight_layout(rect=(0, 0.08 if len(names) > 1 else 0.15, 1, 1))
    figure.savefig(file, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--splits", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    if not arguments.show:
        run(arguments)
    results = pd.DataFrame(kept("clustering"))
    names = list(dict.fromkeys(results["data"]))
    parts = []
    for name in names:
        table = results[results["data"] == name]
        parts += [published(table, name), by_training_data(table, name), same_number(table, name)]
    text = "\n".join(parts)
    print(text)
    draw(results, names, HERE.parent / "docs" / "clustering.png")
    write_between(HERE.parent / "docs" / "clustering.md", "experiments/clustering.py", text)


if __name__ == "__main__":
    main()
