"""The automatic number of clusters: does it depend on the seed, and what does it cost in error?

    python experiments/cluster_number.py --data FOLDER [--runs 20] [--minutes 60]
        [--seed 0] [--show]

Tecator comes with the package. FOLDER has gasoline.csv (R package pls), and in real/ bodyfat,
chemical_yield and riboflavin (csv.gz); blood_brain.csv.gz (BloodBrain of the R package caret,
logBBB as "target") is looked for in both; tables that are not there are left out.
Keeps experiments/results/cluster_number.json, which grows by runs and can be taken up, and writes
docs/cluster-number.md. --show only writes the page.
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
from sklearn.model_selection import KFold
from spectra import (
    APART,
    HERE,
    PLSRegressionCV,
    called,
    interval,
    keep,
    seed_number,
    table,
    told,
)

from infosieve import FeatureClustering
from infosieve._executors.threads import Threads
from infosieve._input.tables import read_table
from infosieve.clustering._constraints import Constraints
from infosieve.clustering._number_of_clusters import numbers_to_try
from infosieve.datasets import load_tecator

PAGE = HERE.parent / "docs" / "cluster-number.md"
N_SHUFFLES = 3  # of the folds that choose the components of a model that is tested
HELD_OUT = 0.25
RULES = {
    "one": "one cut: the best",
    "one, within error": "one cut: within one standard error",
    "five, best": "five cuts: the best",
    "five, more": "five cuts: at most 5 % more error",
    "five": "five cuts: the middle of draws",
    "five, within error": "five cuts: within one standard error",
}


# ---- tables


def tables(folder):
    """Name, columns and target of those that are there."""
    X, fat = load_tecator(return_X_y=True, as_frame=True)
    yield "Tecator", X, fat
    file = folder / "gasoline.csv"
    if file.exists():
        data = pd.read_csv(file)
        yield "gasoline", data.drop(columns="octane"), data["octane"]
    for name in ("blood_brain", "bodyfat", "chemical_yield", "riboflavin"):
        places = [folder / f"{name}.csv.gz", folder / "real" / f"{name}.csv.gz"]
        for file in [place for place in places if place.exists()][:1]:
            data = pd.read_csv(file)
            X, y = data.drop(columns="target"), data["target"]
            if name == "riboflavin":  # those that vary most
                X = X[X.var().nlargest(400).index]
            yield name, X, y


# ---- rules


def numbers(X, y, seed):
    """What each rule chooses, the range that the data leave, and seconds."""
    start = time.perf_counter()
    scores, tried = one_cut(X, y, seed)
    seconds = {"one": time.perf_counter() - start}
    best = int(np.argmax(scores.mean(axis=0)))
    differences = scores[:, [best]] - scores
    error = differences.std(axis=0, ddof=1) / np.sqrt(len(scores))
    within = tried[differences.mean(axis=0) <= error]
    start = time.perf_counter()
    result = FeatureClustering(random_state=seed, n_jobs=1).fit(X, y).result_
    seconds["five"] = time.perf_counter() - start
    low, high = result.n_clusters_range
    errors = 1 - result.cv_results["mean_test_score"]
    some = result.cv_results["n_clusters"]
    chosen = {
        "one": int(tried[best]),
        "one, within error": int(within[0]),
        "five, best": int(some[np.argmin(errors)]),
        "five, more": int(some[np.argmax(errors <= 1.05 * errors.min())]),
        "five": len(result.clusters),
        "five, within error": low,
    }
    return {"numbers": chosen, "range": [low, high], "seconds": seconds}


def one_cut(X, y, seed):
    """Scores of folds and numbers: 4 folds, components chosen anew by 4 folds in each of them."""
    values, target = plain(X, y)
    tried = numbers_to_try(1, min(values.shape[1], len(values)))
    scores = []
    for train, test in KFold(4, shuffle=True, random_state=seed).split(values):
        tree = grown(values[train], target[train])
        each = []
        for number in tried:
            columns = tree.cut(number).transform(values)
            model = PLSRegressionCV(random_state=seed).fit(columns[train], target[train])
            each.append(1 - np.mean((model.predict(columns[test]) - target[test]) ** 2))
        scores.append(each)
    return np.array(scores), tried


def plain(X, y):
    """Numbers without gaps, and the target on a standard scale."""
    values = X.to_numpy(float)
    values = np.where(np.isnan(values), np.nanmedian(values, axis=0), values)
    return values, (y.to_numpy(float) - y.mean()) / y.std(ddof=0)


def grown(values, target):
    """The tree of the default settings, copies being nothing special."""
    tables = [read_table(values, "X", False), read_table(target, "y", False)]
    how, threads = FeatureClustering()._agglomeration, Threads(1)
    return how.join(how.prepare(tables, threads), Constraints(None, []), threads)


# ---- runs


def one_seed(X, y, run):
    return numbers(X, y, run)


def one_split(X, y, run):
    """Chosen on three quarters of the samples, tested on the others."""
    order = np.random.default_rng([11, run]).permutation(len(X))
    n_test = round(HELD_OUT * len(X))
    test, train = order[:n_test], order[n_test:]
    found = numbers(X.iloc[train], y.iloc[train], run)
    values, target = plain(X, y)
    tree = grown(values[train], target[train])
    errors = {}
    for rule, number in found["numbers"].items():
        columns = tree.cut(number).transform(values)
        models = [
            PLSRegressionCV(random_state=s).fit(columns[train], target[train])
            for s in range(N_SHUFFLES)
        ]
        mse = np.mean([(model.predict(columns[test]) - target[test]) ** 2 for model in models])
        errors[rule] = float(mse / target[test].var())
    return found | {"errors": errors}


KINDS = {"seeds": one_seed, "splits": one_split}


def collect(kept, folder, n_runs, minutes, seed):
    """Runs that are not there yet: a few of each table, then more."""
    end = time.monotonic() + 60 * minutes
    there = list(tables(folder))
    for name, X, _ in there:
        kept["shapes"][name] = list(X.shape)
    for kind, run_one in KINDS.items():
        for goal in range(5, n_runs + 5, 5):
            for name, X, y in there:
                known = kept[kind].setdefault(name, [])
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    for run in range(len(known), min(goal, n_runs)):
                        known.append(run_one(X, y, APART * seed + run))
                        if time.monotonic() > end:
                            return
                keep(called("cluster_number", seed), kept)
                print(kind, name, len(known), flush=True)


# ---- the page

HEAD = """# How many clusters: does the number depend on the seed?

Written by [`experiments/cluster_number.py`](../experiments/cluster_number.py){seed}.
`FeatureClustering()` chooses the number of clusters by
how well partial least squares predicts samples that were left out, behind clusters that were found
without them. How samples are cut into folds is up to the seed. This page asks how much of the
number is, and what a steadier rule costs in error.

Rules that were compared:

- **one cut: the best** (0.1.0). Samples are cut into four folds once; components are chosen inside
  each fold by four more. The number with the best mean score is taken.
- **one cut: within one standard error**. The smallest number whose score is within one standard
  error of the best, from the differences between folds.
- **five cuts: the best**. Samples are cut into four folds five times. Components are those with the
  least error in all twenty folds, so that one fit of partial least squares serves all of them.
- **five cuts: at most 5 % more error**. From the same scores, the smallest number whose error,
  1 - score, is at most 5 % more than the least.
- **five cuts: the middle of draws** (the default). The twenty folds are drawn with replacement, a
  thousand times, and each draw asks for a number by the rule before. The number that was tried
  which is closest to the geometric mean of these is taken.
- **five cuts: within one standard error**. The smallest such number, from the same scores; the
  standard error is that of Nadeau and Bengio ([2003](references.md#clusters)), which allows for
  training sets that overlap.

Tables: Tecator (fat from channels), gasoline (octane from channels), blood_brain (the logarithm of
a ratio of concentrations from descriptors of molecules), bodyfat, chemical_yield (with gaps),
riboflavin (the 400 genes that vary most).
"""


def page(kept, seed=0):
    names = [name for name in kept["shapes"] if kept["seeds"].get(name)]
    head = HEAD.format(seed=told(seed))
    parts = [head, seeds_part(kept, names), errors_part(kept, names), said_part(kept, names)]
    return "\n".join([*parts, time_part(kept, names)])


def size(kept, name):
    n, m = kept["shapes"][name]
    return f"{name}, {n} × {m}"  # noqa: RUF001


def chosen(kept, name, rule):
    return np.array([run["numbers"][rule] for run in kept["seeds"][name]])


def factor(numbers):
    """By how much two seeds differ: the geometric mean over all pairs."""
    logs = np.log(numbers)
    pairs = np.abs(logs[:, None] - logs)[np.triu_indices(logs.size, 1)]
    return float(np.exp(pairs.mean()))


def seeds_part(kept, names):
    head = ["rule", *(size(kept, name) for name in names)]
    spread = []
    for rule, words in RULES.items():
        cells = []
        for name in names:
            found = chosen(kept, name, rule)
            cells.append(f"{np.median(found):.0f} ({found.min()} to {found.max()})")
        spread.append([words, *cells])
    factors = [
        [words, *(f"{factor(chosen(kept, name, rule)):.2f}" for name in names)]
        for rule, words in RULES.items()
    ]
    before, now = (
        np.exp(np.mean([np.log(factor(chosen(kept, name, rule))) for name in names]))
        for rule in ("one", "five")
    )
    runs = counts(kept["seeds"], names)
    return f"""## The number over seeds

The median, smallest and largest number of {runs} seeds, all samples:

{table(head, spread)}

By which factor the numbers of two seeds differ (the geometric mean over all pairs of seeds; 1 if
all seeds agree):

{table(head, factors)}

On average over the tables, two seeds differ by a factor of {before:.2f} with "one cut: the best",
and of {now:.2f} with the default.
"""


def counts(runs, names):
    sizes = sorted({len(runs.get(name, ())) for name in names})
    return str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"


def errors_part(kept, names):
    names = [name for name in names if kept["splits"].get(name)]
    if not names:
        return ""
    ratios = {
        (rule, name): np.log(
            [run["errors"][rule] / run["errors"]["one"] for run in kept["splits"][name]]
        )
        for rule in RULES
        for name in names
    }
    rows = []
    for rule, words in RULES.items():
        cells = []
        for name in names:
            middle, low, high = np.exp(interval(ratios[rule, name], statistic=np.mean))
            cells.append("1" if rule == "one" else f"{middle:.2f} ({low:.2f} to {high:.2f})")
        mean = np.exp(np.mean([ratios[rule, name].mean() for name in names]))
        rows.append([words, *cells, f"{mean:.2f}"])
    levels = [
        f"{np.median([run['errors']['one'] for run in kept['splits'][name]]):.3f}" for name in names
    ]
    rows.append(["one cut, the best: median error", *levels, ""])
    return f"""## What it costs in error

The number is chosen on three quarters of the samples, by each rule. Then clusters and partial least
squares (components by 4-fold cross-validation, three shuffles) are fitted to these, and predict the
other quarter. Errors relative to those of "one cut: the best" on the same split, geometric means
over {counts(kept["splits"], names)} random splits with 95 % bootstrap intervals; in the last column
over the tables. The last row has errors over the variance of the target.

{table(["rule", *names, "all"], rows)}

One standard error is the usual way to fewer clusters. It was not taken: curves of scores are flat,
and standard errors of so few samples wide, so the smallest number inside costs most error.
"""


def said_part(kept, names):
    rows = []
    for name in names:
        runs = kept["seeds"][name]
        lows, highs = np.array([run["range"] for run in runs]).T
        found = chosen(kept, name, "five")
        limits = f"{np.median(lows):.0f} to {np.median(highs):.0f}"
        lows, highs = np.minimum(lows, found), np.maximum(highs, found)
        inside = (lows[:, None] <= found) & (found <= highs[:, None])
        others = inside[~np.eye(len(runs), dtype=bool)].mean()
        undecided = np.mean(highs > np.maximum(lows + 1, 1.25 * lows))
        rows.append([size(kept, name), limits, f"{undecided:.0%}", f"{others:.0%}"])
    head = ["table", "within one standard error (medians)", "said to be undecided"]
    head.append("numbers of other seeds inside")
    return f"""## What the result says

`result_.n_clusters_range` has the numbers whose scores are within one standard error of the best.
Where, of these and the number that was taken, the largest exceeds the smallest by more than a
quarter, and by more than one, `result_.decided` is False, and report and terminal say that the data
do not decide on the number. The last column: how often the number that one seed took is between the
smallest and the largest of another.

{table(head, rows)}

So on such tables the number is a choice, not a finding: many serve as well, as far as so few
samples can tell. Where you have a reason to prefer one, pass it.
"""


def time_part(kept, names):
    rows = []
    for name in names:
        each = {
            rule: np.median([run["seconds"][rule] for run in kept["seeds"][name]])
            for rule in ("one", "five")
        }
        cells = [f"{each['one']:.1f}", f"{each['five']:.1f}", f"{each['five'] / each['one']:.1f}"]
        rows.append([size(kept, name), *cells])
    head = ["table", "one cut", "five cuts (the default)", "ratio"]
    return f"""## Time

Seconds of one thread, medians over the seeds, in the same run on a busy machine. "One cut" is
without the tree of all samples. With more than 500 columns, where trees take longest, samples are
cut twice; with a `model` of your own, too.

{table(head, rows)}
"""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("."))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=seed_number, default=0)
    parser.add_argument("--show", action="store_true", help="write the page from what is kept")
    options = parser.parse_args()
    name = called("cluster_number", options.seed)
    file = HERE / "results" / f"{name}.json"
    empty = {"shapes": {}} | {kind: {} for kind in KINDS}
    kept = json.loads(file.read_text()) if file.exists() else empty
    if not options.show:
        collect(kept, options.data, options.runs, options.minutes, options.seed)
        keep(name, kept)
    PAGE.write_text(page(kept, options.seed), encoding="utf-8")


if __name__ == "__main__":
    main()
