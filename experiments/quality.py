"""Selection on real data: a fixed model behind different selectors, nested cross-validation.

    python experiments/quality.py --data DIR [--repeats 1] [--workers 2] [--show]

Each selector sees the training samples of each of five folds (repeated), and chooses its columns,
and their number, there; the same model is then fitted to them and judged on the test samples.
Gasoline, sonar and ionosphere are read from DIR; the others come with the package and with
scikit-learn. Keeps what was selected in results/quality.json (rows that are there are not computed
again) and writes docs/quality.md and its figure.
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
from panel import PANEL
from procedures import boruta, first_of, folds, minimal_redundancy, recursive, univariate
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from spectra import HERE, keep, kept, table
from summarize import by_problem, f1

from infosieve import MISelector
from infosieve.datasets import load_tecator

DOCS = HERE.parent / "docs"
FOLDS = 5


def from_file(file, target):
    def load(folder):
        table = pd.read_csv(folder / file)
        return table.drop(columns=target).to_numpy(float), table[target].to_numpy()

    return load


DATA = {
    "Tecator": lambda _: load_tecator(return_X_y=True),
    "gasoline": from_file("gasoline.csv", "octane"),
    "diabetes": lambda _: load_diabetes(return_X_y=True),
    "sonar": from_file("sonar.csv", "Class"),
    "ionosphere": from_file("ionosphere.csv", "Class"),
    "breast cancer": lambda _: named(*load_breast_cancer(return_X_y=True)),
}
FILES = ("gasoline", "sonar", "ionosphere")


def named(X, y):
    return X, np.array(["malignant", "benign"])[y]


def model_of(y):
    """Support vectors, with settings that nobody tunes."""
    if y.dtype.kind in "fiu":
        model = make_pipeline(StandardScaler(), SVR(C=10, epsilon=0.05))
        return TransformedTargetRegressor(model, transformer=StandardScaler())
    return make_pipeline(StandardScaler(), SVC(C=10))


def wrapper(X, y, seed):
    """scikit-learn's forward selection with the model that is used afterwards."""
    found = SequentialFeatureSelector(model_of(y), tol=1e-3, cv=folds(y)).fit(X, y)
    return np.flatnonzero(found.get_support())


def ours(X, y, seed):
    return MISelector(random_state=seed).fit(X, y).selected_


def ours_tuned(X, y, seed):
    """As many of the first twenty as cross-validation wants; nothing is tested."""

    def ranked(X, y):
        most = min(20, X.shape[1])
        search = MISelector(stop=None, max_features=most, lookahead=1, random_state=seed)
        return search.fit(X, y).selected_

    return first_of(ranked, X, y, model_of(y))


SELECTORS = {
    "all columns": lambda X, y, seed: np.arange(X.shape[1]),
    "MISelector()": ours,
    "MISelector(stop=None), number by CV": ours_tuned,
    "univariate MI, number by CV": lambda X, y, seed: univariate(X, y, seed, model_of(y)),
    "sequential selector": wrapper,
    "RFECV": recursive,
    "Boruta": boruta,
    "mRMR, number by CV": lambda X, y, seed: minimal_redundancy(X, y, seed, model_of(y)),
}


def one(name, folder, selector, repeat, fold):
    """A selection and the error behind it, on one fold."""
    warnings.simplefilter("ignore")
    X, y = DATA[name](folder)
    _, group = np.unique(X, axis=0, return_inverse=True)  # equal samples stay together
    numbers = y.dtype.kind in "fiu"
    kind = GroupKFold if numbers else StratifiedGroupKFold
    parts = kind(FOLDS, shuffle=True, random_state=repeat).split(X, y, group)
    learn, judge = list(parts)[fold]
    start = time.process_time()  # of this process alone: others may be busy
    selected = np.asarray(SELECTORS[selector](X[learn], y[learn], repeat))
    seconds = time.process_time() - start
    if selected.size:
        model = model_of(y).fit(X[learn][:, selected], y[learn])
        guess = model.predict(X[judge][:, selected])
    elif numbers:
        guess = np.full(len(judge), y[learn].mean())
    else:
        values, counts = np.unique(y[learn], return_counts=True)
        guess = np.full(len(judge), values[np.argmax(counts)])
    error = np.mean((guess - y[judge]) ** 2) / y.var() if numbers else np.mean(guess != y[judge])
    return {
        "data": name, "selector": selector, "repeat": repeat, "fold": fold,
        "selected": sorted(int(j) for j in selected), "of": X.shape[1], "error": float(error),
        "seconds": round(seconds, 2),
    }  # fmt: skip


def key(row):
    return row["data"], row["selector"], row["repeat"], row["fold"]


def run(arguments):
    rows = kept("quality") if (HERE / "results" / "quality.json").exists() else []
    done = {key(row) for row in rows}
    names = [n for n in DATA if arguments.data is not None or n not in FILES]
    jobs = [
        (name, arguments.data, selector, repeat, fold)
        for repeat in range(arguments.repeats)
        for fold in range(FOLDS)
        for name in names
        for selector in SELECTORS
        if (name, selector, repeat, fold) not in done
    ]
    start = last = time.perf_counter()
    with ProcessPoolExecutor(arguments.workers) as pool:
        futures = [pool.submit(one, *job) for job in jobs]
        for number, future in enumerate(as_completed(futures), start=1):
            rows.append(future.result())
            if time.perf_counter() - last > 20 or number == len(jobs):
                last = time.perf_counter()
                keep("quality", sorted(rows, key=key))
                print(f"{number} of {len(jobs)}, {last - start:.0f} s", flush=True)


# ---- showing

TEXT = """# Selection on real data

*Written by `experiments/quality.py` from `experiments/results/quality.json`, which keeps what each
selector chose on each fold.*

Six tables: three with a number to predict, three with classes. Each selector sees the training
samples of each of {folds}. There it chooses its columns and, if it needs that, their number, by a
cross-validation inside the training samples. The same model is then fitted to the chosen columns
and judged on the test samples: support vectors with a Gaussian kernel, C = 10, columns (and
numbers to predict) standardised, nothing tuned. Equal samples stay in the same outer fold.

Errors are mean squared error over the variance of the target (numbers), or the share of wrong
classes. **Stability** is Nogueira's index of the sets chosen on the folds: 1 when they are all
the same, 0 when they agree as chance would (the training sets share three quarters of their
samples, which flatters everybody). ± is the standard error over the folds, as if they were
independent. Seconds are those of one selection, one thread, as the processor counts them: a rough
guide.

{means}

{verdict}

## Each table

{each}

"number by CV" takes the first 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50 or 100 columns of a ranking
(of ours: at most 20), as 5-fold cross-validation of the model wants. "Sequential selector" is
scikit-learn's, forward, with the model itself, tol = 0.001. "RFECV" is scikit-learn's, with a
random forest, a tenth of the columns at a time. "Boruta" is boruta_py with forests of depth 5,
"mRMR" the package mrmr_selection (F statistic and correlation).

![Errors and how many columns are kept](quality.png)

{panel}
"""


def stability(sets, m):
    """Nogueira, Sechidis and Brown (2018); None where it is not defined."""
    chosen = np.zeros((len(sets), m))
    for row, columns in zip(chosen, sets, strict=True):
        row[columns] = 1
    share = chosen.mean(axis=1).mean()
    if share in (0.0, 1.0):
        return None
    return 1 - chosen.var(axis=0, ddof=1).mean() / (share * (1 - share))


def summary(rows):
    """A row for each table and selector."""
    found = []
    for (name, selector), some in rows.groupby(["data", "selector"], sort=False):
        index = stability(some["selected"].tolist(), some["of"].iloc[0])
        found.append({
            "data": name, "selector": selector, "error": some["error"].mean(),
            "deviation": some["error"].std() / np.sqrt(len(some)),
            "kept": some["selected"].map(len).median(), "of": some["of"].iloc[0],
            "stability": index, "seconds": some["seconds"].mean(),
        })  # fmt: skip
    return pd.DataFrame(found)


def means_of(found):
    """Over the tables: errors relative to all columns, share kept, stability, time."""
    whole = found[found["selector"] == "all columns"].set_index("data")["error"]
    rows = []
    for selector in SELECTORS:
        some = found[found["selector"] == selector].set_index("data")
        ratio = np.exp(np.log(some["error"] / whole).mean())
        best = (some["error"] <= found.groupby("data")["error"].min()).sum()
        index = pd.to_numeric(some["stability"]).mean()
        rows.append([
            selector, f"{ratio:.2f}", best, f"{100 * (some['kept'] / some['of']).mean():.0f} %",
            "" if np.isnan(index) else f"{index:.2f}", f"{some['seconds'].mean():.1f}",
        ])  # fmt: skip
    head = ["selector", "error over that of all columns", "tables with the least error"]
    return table([*head, "columns kept", "stability", "seconds"], rows)


def verdict(found):
    """Who wins where: no word that the numbers do not say."""
    said = []
    for name in DATA:
        some = found[found["data"] == name].set_index("selector")
        if some.empty:
            continue
        least = some.index[some["error"] <= some["error"].min() + 1e-12]
        best = least[0]
        mine = some.loc["MISelector()"]
        said.append(
            f"- **{name}**: least error with {' and '.join(least)} ({some.loc[best, 'error']:.3f}, "
            f"{some.loc[best, 'kept']:.0f} columns); `MISelector()` {mine['error']:.3f} with "
            f"{mine['kept']:.0f} of {mine['of']:.0f}, all columns "
            f"{some.loc['all columns', 'error']:.3f}."
        )
    return "\n".join(said)


def each_of(found):
    parts = []
    for name in DATA:
        some = found[found["data"] == name]
        if some.empty:
            continue
        rows = [
            [
                row["selector"], f"{row['error']:.3f} ± {row['deviation']:.3f}",
                f"{row['kept']:.0f} of {row['of']}",
                "" if pd.isna(row["stability"]) else f"{row['stability']:.2f}",
                f"{row['seconds']:.1f}",
            ]
            for _, row in some.sort_values("error").iterrows()
        ]  # fmt: skip
        kind = "error" if name in ("Tecator", "gasoline", "diabetes") else "share wrong"
        head = ["selector", f"{kind} (± standard error)", "kept (median)", "stability", "seconds"]
        parts.append(f"### {name}\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def panel():
    """The same rivals where the answer is known, from what run.py kept."""
    found = by_problem(kept("judge"))
    rivals = ["default", "kNN wrapper", "univariate MI", "RFECV", "Boruta", "mRMR"]
    rows = []
    for name in rivals:
        problems = [p for p in PANEL if name in found[p]]
        if len(problems) < len(PANEL):
            continue
        tallies = [list(found[p][name].values()) for p in problems]
        hits, false, missed = np.mean([np.mean(t, axis=0) for t in tallies], axis=0)
        fewest = min(len(t) for t in tallies)
        score = np.mean([f1(t) for t in tallies])
        words = "MISelector()" if name == "default" else name
        rows.append([words, f"{score:.2f}", *(f"{v:.2f}" for v in (hits, false, missed)), fewest])
    if len(rows) < 2:
        return ""
    rows.sort(key=lambda row: row[1], reverse=True)
    head = ["selector", "mean F1", "found", "false", "missed", "data sets a problem, at least"]
    return (
        "## Where the answer is known\n\nThe panel of [the default setting](default.md): "
        f"{len(PANEL)} problems whose relevant columns are known. F1 is pooled over the data sets "
        "of a problem; found, false and missed are columns a data set. The number of columns is "
        "chosen by cross-validation with nearest neighbours where a selector needs one. Real "
        "tables reward columns that help a model a little; here those that do not matter are wrong."
        f"\n\n{table(head, rows)}"
    )


def draw(found):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    colors = (
        "#999999",
        "#c1272d",
        "#e69f00",
        "#56b4e9",
        "#0072b2",
        "#009e73",
        "#cc79a7",
        "#000000",
    )
    names = [n for n in DATA if n in set(found["data"])]
    figure, axes = plt.subplots(2, 3, figsize=(11, 6.6), squeeze=False)
    for ax, name in zip(axes.flat, names, strict=False):
        some = found[found["data"] == name].set_index("selector")
        for (selector, row), color in zip(
            some.loc[list(SELECTORS)].iterrows(), colors, strict=True
        ):
            ax.errorbar(max(row["kept"], 0.7), row["error"], row["deviation"], fmt="o", color=color,
                        label=selector, capsize=2)  # fmt: skip
        ax.set(title=name, xscale="log", ylim=(0, None))
        ax.set_xlabel("columns kept (median)")
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter("")
        ax.grid(alpha=0.25)
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[:, 0]:
        ax.set_ylabel("error")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=4, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    figure.savefig(DOCS / "quality.png", dpi=110)


def show():
    rows = pd.DataFrame(kept("quality"))
    order = {name: i for i, name in enumerate(SELECTORS)}
    rows = rows.sort_values(["data", "selector"], key=lambda c: c.map(order).fillna(0))
    found = summary(rows)
    repeats = rows["repeat"].nunique()
    folds = f"{FOLDS} folds" + (f", {repeats} times" if repeats > 1 else "")
    text = TEXT.format(
        folds=folds,
        means=means_of(found),
        verdict=verdict(found),
        each=each_of(found),
        panel=panel(),
    )
    print(text)
    (DOCS / "quality.md").write_text(text, encoding="utf-8")
    draw(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    if not arguments.show:
        run(arguments)
    show()


if __name__ == "__main__":
    main()
