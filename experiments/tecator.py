"""Tecator from end to end: features drawn from curves, selected, and a kernel regressor behind.

    python experiments/tecator.py [--splits 30] [--workers 2] [--seed 1] [--show]

Prints the table of docs/tecator.md, writes it, its figure and the raw results. --show only prints
what was kept.
"""

import argparse
import os
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
from spectra import HERE, errors, keep, kept, load, pls_errors, shown, splits, write_between

from infosieve import CurveFeatures, MISelector
from infosieve.datasets import load_tecator

AXIS = load_tecator().axis


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
    keep("tecator", rows)


def table_of(results):
    """Errors, and how many times smaller than those of PLS on the same splits."""
    wide = results.pivot(index="split", columns="model", values="nmse")
    base = wide["PLS, all channels"]
    head = ["model", "features (median)", "NMSE, random splits: median (95 % interval)"]
    head += ["times below PLS: median (95 % interval)", "published split"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for model in dict.fromkeys(results["model"]):
        some = results[results["model"] == model].set_index("split")
        ratio = (base / wide[model]).drop(0)
        cells = [model, f"{some['k'].drop(0).median():.0f}", shown(some["nmse"].drop(0))]
        cells += [shown(ratio, 1), f"{some.loc[0, 'nmse']:.4f} ({some.loc[0, 'k']})"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


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
    stopped = "Gaussian process, MISelector()"
    some = results[(results["model"] == stopped) & (results["split"] > 0)]
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
        "Gaussian process,\nMISelector()": stopped,
        "Gaussian process,\nfirst ten": ten,
        "Gaussian process,\nall 441": "Gaussian process, all curve features",
    }
    base = wide["PLS, all channels"]
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
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    if not arguments.show:
        run(arguments)
    results = pd.DataFrame(kept("tecator"))
    text = table_of(results)
    print(text)
    draw(results, HERE.parent / "docs" / "tecator.png")
    write_between(HERE.parent / "docs" / "tecator.md", "experiments/tecator.py", text)


if __name__ == "__main__":
    main()
