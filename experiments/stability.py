"""Stability: does the promised number of false columns hold?

    python experiments/stability.py [--runs 20] [--minutes 25] [--data FOLDER] [--seed 0]
        [--show]

Data sets whose relevant columns are known, three selectors, 25 pairs of halves each. Keeps
experiments/results/stability.json, which grows by runs and can be taken up, and writes
docs/stability.md. FOLDER has the tables bodyfat, heart and riboflavin (csv.gz); without it what is
kept of them stays.
"""

import argparse
import json
import os
import time
import warnings
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd
from scipy.linalg import toeplitz
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LassoCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from spectra import APART, HERE, called, seed_number, table, told

from infosieve import MISelector, stability
from infosieve._core.stability_bounds import false_bound
from infosieve.datasets import make_friedman

DOCS = HERE.parent / "docs"
PAIRS = 25
ASSUMPTIONS = ("r-concave", "unimodal", None)
SELECTORS = ("MISelector", "lasso", "trees")
# What takes longest has fewer runs; the lasso is not for classes.
FEWER = {"Friedman, more columns/MISelector": 0.4, "correlated noise/lasso": 0.4}
FEWER |= {"three classes/lasso": 0}
LOWEST, THRESHOLDS, NOISE_THRESHOLDS = 0.6, (0.6, 0.8), (0.56, 0.6, 0.7, 0.8, 0.9, 1.0)


# ---- data


def friedman(n, m, rng):
    X, y = make_friedman(n, m, random_state=rng, return_X_y=True)
    return X, y, range(5)


def correlated_noise(n, m, rng):
    """Friedman's five, and noise whose columns are correlated at 0.8 with each other."""
    X, y = make_friedman(n, 10, random_state=rng, return_X_y=True)
    noise = np.sqrt(0.8) * rng.normal(size=(n, 1)) + np.sqrt(0.2) * rng.normal(size=(n, m - 5))
    return np.c_[X[:, :5], noise], y, range(5)


def relatives(n, m, rng):
    """Neighbouring columns are correlated at 0.9; every tenth of the first thirty is relevant."""
    root = np.linalg.cholesky(toeplitz(0.9 ** np.arange(m)))
    X = rng.normal(size=(n, m)) @ root.T
    relevant = [5, 15, 25]
    return X, X[:, relevant].sum(axis=1) + rng.normal(size=n), relevant


def nothing(n, m, rng):
    return rng.normal(size=(n, m)), rng.normal(size=n), []


def classes(n, m, rng):
    """Three classes: by thirds of a sum of two columns, one of them bent, and noise."""
    X = rng.normal(size=(n, m))
    value = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n)
    codes = np.searchsorted(np.quantile(value, (1 / 3, 2 / 3)), value)
    return X, np.array(["low", "middle", "high"])[codes], [0, 1]


CASES = {
    "Friedman": (friedman, 100, 20),
    "Friedman, more columns": (friedman, 200, 100),
    "correlated noise": (correlated_noise, 100, 50),
    "relatives": (relatives, 100, 50),
    "nothing relevant": (nothing, 100, 50),
    "three classes": (classes, 100, 20),
}


def selector_of(name, y):
    discrete = isinstance(y[0], str)
    if name == "MISelector":
        return MISelector(statistic="ksg")
    if name == "lasso":
        return SelectFromModel(LassoCV(cv=5))
    trees = ExtraTreesClassifier if discrete else ExtraTreesRegressor
    return SelectFromModel(trees(50))


# ---- runs


def one(case, name, run):
    """Of one data set: how often each column was chosen, and what all samples choose."""
    make, n, m = CASES[case]
    X, y, _ = make(n, m, np.random.default_rng([11, run, n, m, list(CASES).index(case)]))
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = stability(selector_of(name, y), X, y, n_resamples=PAIRS, random_state=run)
        seconds = time.process_time() - start
        whole = clone(selector_of(name, y))
        seeds = [key for key in whole.get_params() if key.endswith("random_state")]
        whole.set_params(**dict.fromkeys(seeds, run)).fit(X, y)
    return {
        "counts": [int(c) for c in np.rint(found.frequencies * found.n_halves)],
        "index": None if np.isnan(found.index) else round(found.index, 4),
        "whole": np.flatnonzero(whole.get_support()).tolist(),
        "seconds": round(seconds, 1),
    }


REAL = [(name, which) for name in ("bodyfat", "heart", "riboflavin") for which in SELECTORS[:2]]


def real(folder, name, which, seed):
    """What is chosen from halves of a real table."""
    X = pd.read_csv(folder / f"{name}.csv.gz")
    y = X.pop("target")
    chooser = selector_of(which, y.to_numpy())
    if which == "lasso":
        chooser = make_pipeline(StandardScaler(), chooser)
    elif name == "heart":
        y = y.astype(str)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = stability(chooser, X, y, n_resamples=PAIRS, random_state=seed)
    frame = found.to_frame().sort_values("frequency", ascending=False, kind="stable")
    threshold = found.threshold()
    return {
        "table": name,
        "selector": which,
        "samples": len(X),
        "columns": X.shape[1],
        "mean": round(found.n_selected_mean, 2),
        "index": round(found.index, 3),
        "interval": [round(v, 3) for v in found.index_interval],
        "sets": len(found.sets),
        "threshold": None if np.isnan(threshold) else threshold,
        "stable": [str(found.features[j]) for j in found.stable()],
        "often": [[str(r.feature), r.frequency] for r in frame.head(6).itertuples()],
        "seconds": round(time.process_time() - start, 1),
    }


# ---- noise, and the columns that are most correlated with it: fast, so very many samples

NOISE = {  # samples, columns, chosen, correlation of the columns
    "independent": (100, 20, 5, 0.0),
    "more columns": (100, 200, 10, 0.0),
    "correlated at 0.8": (100, 50, 5, 0.8),
}


def noise(name, n_runs, seed):
    """How many columns were chosen that often or more, by count; sums over the runs."""
    n, m, k, rho = NOISE[name]
    rng = np.random.default_rng([12, n, m, k, *([seed] if seed else [])])
    reached = np.zeros((n_runs, 2 * PAIRS + 1), int)
    for run in reached:
        common = np.sqrt(rho) * rng.normal(size=(n, 1))
        X, y = common + np.sqrt(1 - rho) * rng.normal(size=(n, m)), rng.normal(size=n)
        counts = np.zeros(m, int)
        for _ in range(PAIRS):
            order = rng.permutation(n)
            for rows in (order[: n // 2], order[n // 2 :]):
                x, z = X[rows] - X[rows].mean(axis=0), y[rows] - y[rows].mean()
                size = abs(z @ x) / np.sqrt((x**2).sum(axis=0))
                counts[np.argpartition(-size, k)[:k]] += 1
        run[:] = (counts[:, None] >= np.arange(2 * PAIRS + 1)).sum(axis=0)
    error = reached.std(axis=0, ddof=1) / np.sqrt(n_runs)
    return {
        "runs": n_runs,
        "mean": reached.mean(axis=0).round(5).tolist(),
        "error": error.round(5).tolist(),
    }


def noise_rows(kept):
    rows = []
    for name, known in kept["noise"].items():
        n, m, k, _ = NOISE[name]
        for share in NOISE_THRESHOLDS:
            count = round(share * 2 * PAIRS)
            mean, half = known["mean"][count], 1.96 * known["error"][count]
            bounds = [false_bound(m, k, PAIRS, count, a) for a in ASSUMPTIONS]
            found = f"{mean:.3f} ({max(0, mean - half):.3f} to {mean + half:.3f})"
            rows.append(
                [f"{name}, {n} by {m}", k, f"{share:.0%}", *(f"{b:.2g}" for b in bounds), found]
            )
    return rows


# ---- what was promised, and what was found


def bound(run, m, count, assumption):
    return false_bound(m, sum(run["counts"]) / (2 * PAIRS), PAIRS, count, assumption)


def threshold_of(run, m, assumption):
    """As Stability.threshold for one false column; None where there is none."""
    counts = range(round(2 * PAIRS * LOWEST), 2 * PAIRS + 1)
    return next((c for c in counts if bound(run, m, c, assumption) <= 1), None)


def kinds_of(case):
    """Columns that are alike by design have one kind: they are chosen with one probability."""
    m, relevant = CASES[case][2], sorted(relevant_of(case))
    if case == "relatives":  # by how far the nearest relevant column is
        return [min(abs(j - r) for r in relevant) for j in range(m)]
    return [-1 - j if j in relevant else 0 for j in range(m)]


def low_columns(runs, case):
    """What is bounded: columns that halves choose with a probability of q / p or less.

    The probability is that of all columns of a kind, in all runs.
    """
    kinds = np.array(kinds_of(case))
    share = np.array([run["counts"] for run in runs]).mean(axis=0) / (2 * PAIRS)
    each = np.array([share[kinds == kind].mean() for kind in kinds])
    return set(np.flatnonzero(each <= share.mean() + 1e-12).tolist())


def mean_text(values):
    """A mean of counts, and its interval of 95 %: if all are 0, that of Poisson's distribution."""
    values = np.asarray(values, float)
    if not values.any():
        return f"0 (to {-np.log(0.025) / len(values):.2f})"
    if len(values) < 2:
        return f"{values.mean():.2f}"
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    low, high = max(0.0, values.mean() - half), values.mean() + half
    return f"{values.mean():.2f} ({low:.2f} to {high:.2f})"


def chosen_at(run, count):
    return {j for j, c in enumerate(run["counts"]) if count is not None and c >= count}


def relevant_of(case):
    make, n, m = CASES[case]
    return set(make(n, m, np.random.default_rng(0))[2])


def each_case(kept):
    """Case, selector, their runs, and which columns are of low probability."""
    for case in CASES:
        for name in SELECTORS:
            runs = kept["runs"].get(f"{case}/{name}", [])
            if runs:
                yield case, name, runs, low_columns(runs, case)


def label(case):
    _, n, m = CASES[case]
    return f"{case}, {n} by {m}"


def main_rows(kept):
    """The default: what the threshold for one false column promises, lets in and keeps."""
    rows = []
    for case, name, runs, low in each_case(kept):
        m, relevant = CASES[case][2], relevant_of(case)
        at = [threshold_of(run, m, "r-concave") for run in runs]
        sets = [chosen_at(run, count) for run, count in zip(runs, at, strict=True)]
        reached = [(run, count) for run, count in zip(runs, at, strict=True) if count]
        promised = [bound(run, m, count, "r-concave") for run, count in reached]
        shares = [count / (2 * PAIRS) for _, count in reached]
        n_relevant = [len(s & relevant) for s in sets]
        of_all = [len(set(run["whole"]) & relevant) for run in runs]
        rows.append(
            [
                label(case), name, len(runs),
                f"{np.mean([sum(r['counts']) for r in runs]) / (2 * PAIRS):.1f}",
                f"{np.mean(shares):.2f}" if shares else "none",
                f"{np.mean(promised):.2f}" if promised else "",
                mean_text([len(s & low) for s in sets]),
                mean_text([len(s - relevant) for s in sets]),
                mean_text([len(set(r["whole"]) - relevant) for r in runs]),
                f"{np.mean(n_relevant):.1f}, {np.mean(of_all):.1f} of {len(relevant)}"
                if relevant else "",
                index_text(runs),
            ]
        )  # fmt: skip
    return rows


def index_text(runs):
    known = [run["index"] for run in runs if run["index"] is not None]
    return f"{np.mean(known):.2f}" if known else ""


def bound_rows(kept):
    """At fixed thresholds: each bound, and what was found."""
    rows = []
    for case, name, runs, low in each_case(kept):
        row = [label(case), name]
        for share in THRESHOLDS:
            count, m = round(share * 2 * PAIRS), CASES[case][2]
            row += [f"{np.mean([bound(r, m, count, a) for r in runs]):.2g}" for a in ASSUMPTIONS]
            row.append(mean_text([len(chosen_at(r, count) & low) for r in runs]))
        rows.append(row)
    return rows


def broken(kept):
    """How many means of what was found are above the bound, by assumption, and of how many.

    Pairs: all such means, and those that are above by more than their interval.
    """
    worse, n = {a: [0, 0] for a in ASSUMPTIONS}, 0
    for case, _, runs, low in each_case(kept):
        for count in range(PAIRS + 1, 2 * PAIRS + 1):
            found = np.array([len(chosen_at(r, count) & low) for r in runs], float)
            half = student.ppf(0.975, len(found) - 1) * found.std(ddof=1) / np.sqrt(len(found))
            n += 1
            for a in ASSUMPTIONS:
                promised = np.mean([bound(r, CASES[case][2], count, a) for r in runs])
                worse[a][0] += found.mean() > promised
                worse[a][1] += found.mean() - half > promised
    return worse, n


def page(kept, seed=0):
    parts = [TEXT["head"].format(seed=told(seed))]
    head = ["data, samples by columns", "selector", "runs", "chosen from a half", "threshold",
            "promised", "found, low", "found, irrelevant", "all samples: irrelevant",
            "relevant: kept, of all samples", "index"]  # fmt: skip
    parts += [TEXT["main"], table(head, main_rows(kept), left=2)]
    worse, n = broken(kept)
    words = "; ".join(
        f"{a or 'no assumption'}: {worse[a][0]}, by more than the interval {worse[a][1]}"
        for a in ASSUMPTIONS
    )
    which = f"Of {n} such means (all data, selectors and thresholds above one half), so many are"
    parts += [TEXT["bounds"], f"{which} above the bound. {words[0].upper()}{words[1:]}."]
    head = ["data, samples by columns", "selector"]
    for share in THRESHOLDS:
        head += [f"{share:.0%}: r-concave", "unimodal", "no assumption", "found, low"]
    parts += [table(head, bound_rows(kept), left=2)]
    if kept.get("noise"):
        runs = next(iter(kept["noise"].values()))["runs"]
        head = ["columns, samples by columns", "chosen", "threshold", "r-concave", "unimodal",
                "no assumption", "found"]  # fmt: skip
        parts += [TEXT["noise"].format(runs=runs), table(head, noise_rows(kept), left=1)]
    if kept.get("real"):
        head = ["table", "samples by columns", "selector", "chosen from a half", "index",
                "different sets", "threshold", "stable", "most frequent", "seconds"]  # fmt: skip
        rows = [
            [f"`{r['table']}`", f"{r['samples']} by {r['columns']}", r["selector"], r["mean"],
             f"{r['index']:.2f} ({r['interval'][0]:.2f} to {r['interval'][1]:.2f})",
             f"{r['sets']} of {2 * PAIRS}",
             "none" if r["threshold"] is None else f"{r['threshold']:.2f}", len(r["stable"]),
             ", ".join(f"{name} {share:.0%}" for name, share in r["often"]), r["seconds"]]
            for r in kept["real"]
        ]  # fmt: skip
        parts += [TEXT["real"], table(head, rows, left=3)]
    return "\n\n".join(parts) + "\n"


TEXT = {
    "head": f"""# Would another sample choose the same?

*Tests on this page compare estimates of information (`statistic="ksg"`). Those of the default
[ask in several ways](how.md#asking-in-several-ways): [levels](levels.md),
[weak effects](weak.md), [shapes](shapes.md).*

Written by [`experiments/stability.py`](../experiments/stability.py){{seed}}.
`stability` fits a selector on both halves of the samples,
many times, and says how often each column is chosen. For a threshold on that frequency there are
bounds on the number of false columns: q² / ((2 t - 1) p) without assumptions (Meinshausen and
Bühlmann 2010), and tighter ones for complementary halves, if the frequencies of false columns have
one peak, or fall as Shah and Samworth (2013) saw them fall (r-concave, the default). This page asks
whether the bounds hold on data whose relevant columns are known, and what they cost.

What is bounded is the expected number of columns of *low* probability: those that the selector
chooses from a half with a probability of q / p or less, where q of p columns are chosen on
average. "Found, low" counts these. Columns that are alike by design (noise; relatives that are as
far from a relevant column) have one probability, estimated from all of them. "Found, irrelevant"
counts all columns that tell nothing beside the relevant ones: what users care about, and no bound
covers.

{PAIRS} pairs of halves each. `MISelector` has its defaults; lasso is
`SelectFromModel(LassoCV(cv=5))`, trees is `SelectFromModel(ExtraTreesRegressor(50))` (of classes,
its classifier). Intervals are those of 95 % of a mean.""",
    "main": """## One false column

The threshold is the smallest (at least 0.6) at which the r-concave bound is no more than 1, as
`Stability.stable()` has it. "All samples": what one fit on all samples chooses; the price of
stability is in the relevant columns that it keeps, beside those that a fit on all samples finds.

- Friedman: five relevant columns, noise beside them. Correlated noise: the same, noise columns
  correlated at 0.8 with each other.
- Relatives: each column is correlated at 0.9 with the next; three are relevant. Their neighbours
  tell nothing beside them, but are often chosen in their place: they are irrelevant, and not of
  low probability.
- Nothing relevant: normal columns and a normal target. Three classes: two relevant columns.""",
    "bounds": """## The bounds at fixed thresholds

Means over the runs of the bounds, and of the columns of low probability that were found. With few
runs, one false column in one of them may exceed a small bound. The bounds are about the number of
columns that halves of all samples choose on average; `expected_false` has that of one sample.""",
    "noise": """## Very many samples of noise

The columns that are most correlated with a target that none of them tells anything of: all are of
low probability, and all that are found are false. {runs:,} samples.""",
    "real": """## Three real tables

Body fat (one column is the density that it is computed from), heart disease (two classes; for the
lasso, the numbers 0 and 1) and riboflavin (4,088 genes). For the lasso columns are scaled. What is
relevant is not known here: the page shows how much selections depend on the sample. Where a
selector chooses most of the columns, chance would, too, and no threshold promises anything.""",
}  # fmt: skip


def write(kept, file):
    file.write_text(json.dumps(kept).replace("}, {", "},\n{") + "\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=25)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seed", type=seed_number, default=0)
    parser.add_argument("--show", action="store_true", help="write the page from what is kept")
    options = parser.parse_args()
    seed, file = options.seed, HERE / "results" / f"{called('stability', options.seed)}.json"
    kept = json.loads(file.read_text()) if file.exists() else {"runs": {}, "real": []}
    end = time.monotonic() + 60 * options.minutes
    if "noise" not in kept:
        kept["noise"] = {name: noise(name, 2000, seed) for name in NOISE}
        write(kept, file)
    if options.data is not None:
        kept["real"] = []
        for name, which in REAL:
            kept["real"].append(real(options.data, name, which, APART * seed))
            write(kept, file)
    for run in range(options.runs) if not options.show else ():
        for case in CASES:
            for name in SELECTORS:
                key = f"{case}/{name}"
                known = kept["runs"].setdefault(key, [])
                wanted = options.runs * FEWER.get(key, 1)
                if len(known) == run < wanted and time.monotonic() < end:
                    known.append(one(case, name, APART * seed + run))
                    write(kept, file)
        print(run + 1, f"{(end - time.monotonic()) / 60:.1f} minutes left", flush=True)
    write(kept, file)
    (DOCS / "stability.md").write_text(page(kept, seed), encoding="utf-8")


if __name__ == "__main__":
    main()
