"""Partial least squares behind clusters of channels, as Verleysen, Rossi and François (2009) did.

    python experiments/clustering.py --data DIR [--splits 30] [--workers 2] [--seed 1]
        [--show]

Keeps results/clustering.json and writes docs/clustering.md with its figure: tables, and sentences
that depend on the numbers. Tecator comes with the package; Wine is read from DIR/wine.csv and left
out without it. --show only writes the page from what was kept. About half an hour.
"""

import argparse
import os
import textwrap
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
    N_SHUFFLES,
    PLSRegressionCV,
    called,
    interval,
    keep,
    kept,
    load,
    pls_errors,
    second_derivative,
    shown,
    snv,
    splits,
    told,
)

from infosieve import FeatureClustering

SEED = 1  # of the random splits, unless another is asked for
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
    file = called("clustering", arguments.seed, SEED)
    if (HERE / "results" / f"{file}.json").exists():
        rows += [row for row in kept(file) if row["data"] not in names]
    rows.sort(key=lambda row: (row["data"], row["split"]))
    keep(file, rows)


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


# ---- words: each sentence is chosen by the numbers

TEXT = """# Clusters of features: what they are good for, measured

*Written by [`experiments/clustering.py`](../experiments/clustering.py){seed}
from `experiments/results/{file}.json`.*

When too many columns matter, as in spectra, the set of them is too large for any estimate of mutual
information. The answer of Verleysen, Rossi and François ([2009](references.md)) is to join columns
that are redundant *as far as the target is concerned*: those that misjudge the same samples.
[`FeatureClustering`](api.md#clusters-of-columns) does that. This page checks their claim that a few
supervised clusters predict as well as all columns, and better than clusters found without the
target.

The experiment is the published one: partial least squares (PLS) on all channels, and on the
clusters' representatives. The number of components is chosen by 4-fold cross-validation. The number
of clusters is chosen by cross-validation on the training data, with clusters found anew without
each fold. Errors are NMSE, the test error over the variance of the target in the test set, averaged
over {shuffles} shuffles of PLS's folds. There are {n} random splits
in addition to the published one. Identical spectra stay on the same side.
Medians are over the random splits, intervals of 95 % are those of the bootstrap. Run it with

    python experiments/clustering.py --data DIR     # Wine: DIR/wine.csv (R package cggd)

![Error against the number of clusters](clustering.png)

## What was found

{as_published}

{few}

{derivatives}

How steady such a number is, and when the data do not decide on one:
[cluster-number.md](cluster-number.md).

So: use clusters to see which channels are redundant with each other, and to reduce columns for a
model that needs few. For the best prediction from few columns, compute curve features and select
([tecator.md](tecator.md)).

{tables}"""


def in_words(items):
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


def ratios(table, kind, variant):
    """Supervised over unsupervised clusters of the same number: an interval for each number."""
    fixed = table[(table["rule"] == "number") & (table["split"] > 0) & (table["spectra"] == kind)]
    wide = fixed.pivot(index=["split", "k"], columns="method", values="nmse")
    ratio = wide["supervised" + variant] / wide["unsupervised" + variant]
    return [interval(ratio.xs(k, level="k")) for k in NUMBERS]


def counted(found):
    """At how many numbers of clusters the whole interval is below one, and above."""
    return sum(high < 1 for _, _, high in found), sum(low > 1 for _, low, _ in found)


def span(found):
    """The medians, and where their intervals are."""
    middles, (below, above) = [middle for middle, _, _ in found], counted(found)
    text = f"{min(middles):.2f} to {max(middles):.2f}"
    return (
        f"{text} (below 1 at {below or 'none'} of {len(found)} numbers, above at {above or 'none'})"
    )


def listed(title, items):
    """A title and a list, in lines of a page."""
    how = {"width": 110, "break_long_words": False, "break_on_hyphens": False}
    lines = [textwrap.fill(f"- {item}", subsequent_indent="  ", **how) for item in items]
    return textwrap.fill(title, **how) + "\n\n" + "\n".join(lines)


def as_published(tables):
    """Is the claim seen with spectra as measured and means of channels?"""
    numbers, compared, once, seen = [], [], [], []
    for name, table in tables.items():
        raw = table[(table["spectra"] == "as measured") & (table["rule"] == "auto")]
        by = {method: some.set_index("split") for method, some in raw.groupby("method")}
        asked, known = by["supervised"]["k"].drop(0).median(), CHAPTER[name, "supervised"][0]
        numbers.append(
            f"{asked:.0f} for {by['all']['k'][0]} channels on {name} (published: {known})"
        )
        plain, chain = (ratios(table, "as measured", variant) for variant in ("", ", chain"))
        compared.append(f"{name} {span(plain)}, with a chain {span(chain)}")
        first = [f"{by[m]['nmse'][0]:.4f}" for m in ("all", "unsupervised", "supervised")]
        once.append(f"{in_words(first)} on {name}")
        below, above = counted(plain)
        if asked <= known and below > above:
            seen.append(name)
    verdict = f"replicates on {in_words(seen)}" if seen else "does not replicate"
    return listed(
        f"**As published, the claim {verdict}.** Spectra as measured, means as representatives:",
        [
            "Cross-validation on the training data asks for this many supervised clusters, in the "
            f"median: {in_words(numbers)}.",
            "Errors of supervised clusters over those of unsupervised ones of the same number, "
            f"{NUMBERS[0]} to {NUMBERS[-1]} (in brackets, where the intervals are): "
            f"{'; '.join(compared)}.",
            "On the published split, errors of all channels, unsupervised and supervised clusters "
            f"are {'; '.join(once)}.",
        ],
    )


def against(ratio, what):
    """A ratio of errors in words."""
    middle, low, high = interval(ratio.drop(0))
    how = "less error than" if high < 1 else "more error than" if low > 1 else "about the error of"
    return f"{how} {what} ({middle:.2f} times, {low:.2f} to {high:.2f})"


def few_are_enough(tables):
    """With everything chosen by cross-validation: how many clusters, and what they cost."""
    enough, texts = [], []
    for name, table in tables.items():
        every = chosen(table, ["all"])
        raw = table[(table["spectra"] == "as measured") & (table["method"] == "all")]
        raw = raw.set_index("split")
        for words, methods in (("supervised", SUPERVISED), ("unsupervised", UNSUPERVISED)):
            best = chosen(table, methods)
            k, both = best["k"].drop(0).median(), (best["nmse"] / x["nmse"] for x in (every, raw))
            both = list(both)
            texts.append(
                f"{name}: {k:.0f} {words} clusters have "
                f"{against(both[0], f'all {every.k[0]} channels treated by the same rule')}, and "
                f"{against(both[1], 'all channels as measured')}."
            )
            worse = any(interval(ratio.drop(0))[1] > 1 for ratio in both)
            if words == "supervised" and k <= every["k"][0] / 4 and not worse:
                enough.append(name)
    title = (
        f"is enough on {in_words(enough)}, once spectra are treated"
        if enough
        else "is not enough, however spectra are treated"
    )
    return listed(
        f"**A quarter of the columns or less {title}.** The treatment of the spectra, the chain, "
        "the correlation and the representative are all chosen by cross-validation on the training "
        "data:",
        texts,
    )


def on_derivatives(tables):
    """Supervised against unsupervised clusters of second derivatives, and PLS directions."""
    kind, texts, few, seen, helped = "second derivative", [], [], [], []
    for name, table in tables.items():
        plain, spearman = (ratios(table, kind, variant) for variant in ("", ", Spearman"))
        texts.append(f"{name} {span(plain)}, with Spearman's correlation {span(spearman)}")
        seen += [below > above for below, above in map(counted, (plain, spearman))]
        some = table[(table["rule"] == "number") & (table["split"] > 0)]
        some = some[(some["k"] == NUMBERS[0]) & (some["spectra"] == kind)]
        middle = some.groupby("method")["nmse"].median()
        for similarity in ("supervised", "unsupervised"):
            mean, pls = middle[similarity], middle[f"{similarity}, PLS"]
            few.append(f"{pls:.3f} instead of {mean:.3f} ({name}, {similarity})")
            helped.append(pls < mean)
    title = "pays" if all(seen) else "pays in some cases" if any(seen) else "does not pay"
    items = [
        "Errors of supervised clusters over those of unsupervised ones of the same number: "
        f"{'; '.join(texts)}."
    ]
    if all(seen):
        items.append(
            "A derivative is small and noisy where a spectrum is flat. Similarity by correlation "
            "of the columns joins that noise with anything, similarity by false neighbours does "
            "not."
        )
    less = "less" if all(helped) else "in some cases less" if any(helped) else "no less"
    items.append(
        f'PLS directions as representatives (`representative="pls"`) have {less} error than means '
        f"where there are {NUMBERS[0]} clusters: {', '.join(few)}."
    )
    return listed(f"**On second derivatives, supervision {title}.**", items)


def page(results, seed=SEED):
    names = list(dict.fromkeys(results["data"]))
    tables = {name: results[results["data"] == name] for name in names}
    parts = []
    for name, table in tables.items():
        parts += [published(table, name), by_training_data(table, name), same_number(table, name)]
    return TEXT.format(
        seed=told(seed, SEED),
        file=called("clustering", seed, SEED),
        shuffles=N_SHUFFLES,
        n=results["split"].nunique() - 1,
        as_published=as_published(tables),
        few=few_are_enough(tables),
        derivatives=on_derivatives(tables),
        tables="\n".join(parts),
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
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    if not arguments.show:
        run(arguments)
    results = pd.DataFrame(kept(called("clustering", arguments.seed, SEED)))
    text = page(results, arguments.seed)
    print(text)
    docs = HERE.parent / "docs"
    draw(results, list(dict.fromkeys(results["data"])), docs / "clustering.png")
    (docs / "clustering.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
