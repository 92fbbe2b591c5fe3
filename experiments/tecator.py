"""Tecator from end to end: features drawn from curves, selected, and a kernel regressor behind.

    python experiments/tecator.py [--splits 30] [--workers 2] [--seed 1] [--show]

Keeps results/tecator.json and writes docs/tecator.md with its figure: a table, and sentences that
depend on the numbers. --show only writes the page from what was kept. About 20 minutes.
"""

import argparse
import os
import textwrap
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from spectra import (
    HERE,
    called,
    errors,
    interval,
    keep,
    kept,
    load,
    pls_errors,
    shown,
    splits,
    told,
)

from infosieve import CurveFeatures, MISelector
from infosieve.datasets import load_tecator

AXIS = load_tecator().axis
SEED = 1  # of the random splits, unless another is asked for
BASE = "PLS, all channels"
STOPPED = "Gaussian process, MISelector()"


def gaussian_process(n_scales=1):
    """With a length scale for each of ``n_scales`` features, or one for all."""
    kernel = ConstantKernel(1.0) * RBF(np.full(n_scales, 3.0), (0.1, 1e4))
    process = GaussianProcessRegressor(kernel + WhiteKernel(0.01, (1e-6, 1)), normalize_y=True)
    return make_pipeline(StandardScaler(), process)


def support_vectors():
    grid = {"svr__C": [10, 100, 1000, 10_000], "svr__gamma": [0.001, 0.01, 0.1, 1]}
    return GridSearchCV(make_pipeline(StandardScaler(), SVR()), grid, cv=5)


def one(number, n_splits, seed):
    """All models on one split: rows of results."""
    warnings.simplefilter("ignore")
    X, y, train = load("Tecator")
    train, test = list(splits(X, train, n_splits, seed))[number]
    curves = CurveFeatures(AXIS, unit="nm").fit(X[train])
    Z, names = curves.transform(X), curves.get_feature_names_out()
    rows = []

    def add(model, columns, error, selected=()):
        row = {"split": number, "model": model, "k": columns}
        rows.append(row | {"nmse": error[0], "nmse_all": error[1], "selected": list(selected)})

    def judge(model, table):
        return errors([model.fit(table[train], y[train]).predict(table[test])], y, test)

    add("PLS, all channels", X.shape[1], pls_errors(X, y, train, test))
    add("PLS, all curve features", Z.shape[1], pls_errors(Z, y, train, test))
    add("Gaussian process, all channels", X.shape[1], judge(gaussian_process(), X))
    add("Gaussian process, all curve features", Z.shape[1], judge(gaussian_process(), Z))
    for words, options in (("MISelector()", {}), ("ten", {"stop": None, "max_features": 10})):
        selector = MISelector(random_state=0, **options).fit(Z[train], y[train])
        for k in [len(selector.selected_)] if words != "ten" else (4, 7, 10):
            chosen = selector.selected_[:k]
            title = f"the {k} first that MISelector selects" if words == "ten" else words
            some = names[chosen].tolist()
            add(f"Gaussian process, {title}", k, judge(gaussian_process(k), Z[:, chosen]), some)
            add(f"SVR, {title}", k, judge(support_vectors(), Z[:, chosen]), some)
    return rows


def run(arguments):
    jobs = [(number, arguments.splits, arguments.seed) for number in range(arguments.splits + 1)]
    rows, start = [], time.perf_counter()
    with ProcessPoolExecutor(arguments.workers) as pool:
        futures = [pool.submit(one, *job) for job in jobs]
        for done, future in enumerate(as_completed(futures), start=1):
            rows += future.result()
            print(f"{done} of {len(jobs)}, {time.perf_counter() - start:.0f} s", flush=True)
    rows.sort(key=lambda row: row["split"])
    keep(called("tecator", arguments.seed, SEED), rows)


def table_of(results):
    """Errors, and how many times smaller than those of PLS on the same splits."""
    wide = results.pivot(index="split", columns="model", values="nmse")
    base = wide[BASE]
    head = ["model", "features (median)", "NMSE, random splits: median (95 % interval)"]
    head += ["times below PLS: median (95 % interval)", "published split"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for model in dict.fromkeys(results["model"]):
        some = results[results["model"] == model].set_index("split")
        ratio = (base / wide[model]).drop(0)
        cells = [model, f"{some['k'].drop(0).median():.0f}", shown(some["nmse"].drop(0))]
        cells += [shown(ratio, 1), f"{some.loc[0, 'nmse']:.4f} ({some.loc[0, 'k']})"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


TEXT = """# Tecator, from spectra to a prediction

*Written by [`experiments/tecator.py`](../experiments/tecator.py){seed}
from `experiments/results/{file}.json`.*

{n} spectra of meat, {channels} channels; predict the fat content. Features are computed from the
curves (`CurveFeatures`: {features} of them) and selected (`MISelector`), and a kernel method
predicts from the selected ones: a Gaussian process with a length scale for each feature, or support
vectors with C and gamma by cross-validation. They are compared with what chemists do: partial least
squares (PLS) on all channels, the number of components by 4-fold cross-validation. Splits are those
of [clustering.md](clustering.md): that of Verleysen, Rossi and François ([2009](references.md);
{train} to train, {test} to test) and {splits} random ones, identical spectra on the same side. NMSE
is the test error over the variance of fat in the test set.

    python experiments/tecator.py

![Where the selected features lie, and the errors](tecator.png)

{table}

{words}
"""


def words(results, n_test):
    """What the table says; each sentence is chosen by the numbers."""
    wide = results.pivot(index="split", columns="model", values="nmse").drop(0)
    below = {model: (wide[BASE] / wide[model]) for model in wide}
    middle = {model: float(ratio.median()) for model, ratio in below.items()}
    numbers = results[results["split"] > 0].groupby("model")["k"].median()
    every, channels = "Gaussian process, all curve features", "Gaussian process, all channels"
    low, high = interval(below[STOPPED])[1:]
    said = [
        f"With the {numbers[STOPPED]:.0f} features (in the median) that `MISelector()` chose by "
        f"its tests, the error of a Gaussian process is {middle[STOPPED]:.1f} times below that of "
        f"PLS on all channels ({low:.1f} to {high:.1f})."
    ]
    firsts = [
        m for m in wide if m.startswith("Gaussian process, the ") and numbers[m] > numbers[STOPPED]
    ]
    best = max(firsts, key=middle.get)
    if middle[best] > middle[STOPPED]:
        said.append(
            f"Some more features, which passed no test, lower it further: {middle[best]:.1f} times "
            f"below with the first {numbers[best]:.0f}."
        )
    some = results[(results["model"] == STOPPED) & (results["split"] > 0)]["selected"]
    counts = pd.Series([name for names in some for name in names]).value_counts()
    often = [f"`{name}` ({count} of {len(some)} splits)" for name, count in counts.items()]
    most = counts[counts > len(some) / 2]
    said.append(
        f"Selected in more than half of the splits: {', '.join(often[: len(most)])}."
        if len(most)
        else f"No feature was selected in more than half of the splits; most often {often[0]}."
    )
    said.append(
        f"A kernel on all channels is {middle[channels]:.1f} times below PLS, a kernel on all "
        f"{numbers[every]:.0f} curve features {middle[every]:.1f} times"
    )
    if middle[every] >= middle[STOPPED] > middle[channels]:
        said[-1] += (
            ": most of the improvement comes from the curve features and the kernel, and what the "
            f"tests select keeps most of it with {numbers[STOPPED] / numbers[every]:.1%} of the "
            "columns."
        ).replace("%", " %")
    else:
        said[-1] += "."
    spread = below[STOPPED]
    said.append(
        f"From split to split the ratio varies, from {spread.min():.1f} to {spread.max():.1f}: "
        f"test sets are small ({n_test} samples)."
    )
    return textwrap.fill(" ".join(said), 110, break_long_words=False, break_on_hyphens=False)


def page(results, seed=SEED):
    X, _, train = load("Tecator")
    numbers = results.groupby("model")["k"].median()
    return TEXT.format(
        seed=told(seed, SEED),
        file=called("tecator", seed, SEED),
        n=len(X),
        channels=X.shape[1],
        features=int(numbers["PLS, all curve features"]),
        train=len(train),
        test=len(X) - len(train),
        splits=results["split"].nunique() - 1,
        table=table_of(results),
        words=words(results, len(X) - len(train)),
    )


def draw(results, file):
    """Where the selected features lie on the spectra, and the errors split by split."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, y, train = load("Tecator")
    about = CurveFeatures(AXIS, unit="nm").fit(X).describe().set_index("feature")
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2), width_ratios=[1.5, 1])
    for curve, fat in zip(X[train], y[train], strict=True):
        left.plot(AXIS, curve, color=plt.cm.viridis((fat - y.min()) / np.ptp(y)), lw=0.5, alpha=0.6)
    ten = "Gaussian process, the 10 first that MISelector selects"
    some = results[(results["model"] == STOPPED) & (results["split"] > 0)]
    counts = pd.Series([name for names in some["selected"] for name in names]).value_counts()
    for name, count in counts.items():
        start, end = about.loc[name, ["from", "to"]]
        left.axvspan(start, end, color="#d9480f", alpha=0.5 * count / len(some), lw=0, zorder=0)
    words = [f"{name}: {count} of {len(some)} splits" for name, count in counts.head(5).items()]
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    left.text(0.98, 0.97, "\n".join(words), transform=left.transAxes, ha="right", va="top",
              fontsize=8, bbox=box)  # fmt: skip
    left.set(ylim=(X.min() - 0.1, X.max() + 1.1), xlabel="wavelength (nm)", ylabel="absorbance")
    left.set_title("Spectra by fat, and where MISelector() selects")
    scale = plt.cm.ScalarMappable(plt.Normalize(y.min(), y.max()), "viridis")
    figure.colorbar(scale, ax=left, label="fat (%)")
    wide = results.pivot(index="split", columns="model", values="nmse").drop(0)
    shown_models = {
        "Gaussian process,\nMISelector()": STOPPED,
        "Gaussian process,\nfirst ten": ten,
        "Gaussian process,\nall of them": "Gaussian process, all curve features",
    }
    base = wide[BASE]
    ratios = [base / wide[model] for model in shown_models.values()]
    right.boxplot(ratios, tick_labels=list(shown_models), widths=0.5)
    right.axhline(1, color="#888888", ls=":", lw=1)
    right.set(yscale="log", ylabel="times below PLS on all channels")
    right.set_yticks([1, 2, 5, 10, 20, 50], labels=["1", "2", "5", "10", "20", "50"])
    right.set_title("Error, split by split")
    figure.tight_layout()
    figure.savefig(file, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=30)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    if not arguments.show:
        run(arguments)
    results = pd.DataFrame(kept(called("tecator", arguments.seed, SEED)))
    text = page(results, arguments.seed)
    print(text)
    draw(results, HERE.parent / "docs" / "tecator.png")
    (HERE.parent / "docs" / "tecator.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
