"""Gaps: which way of measuring them finds the right columns?

    python experiments/missing.py [--runs 20] [--minutes 30] [--workers 2] [--data FOLDER]
        [--seed 0] [--show]

Values are removed from problems whose relevant columns are known, at random and depending on the
value, and from real tables, where a model behind the selection is judged on rows held out. Keeps
experiments/results/missing.json, which grows by runs and can be taken up, and writes
docs/missing.md. FOLDER has real tables (csv.gz); without it what is kept of them stays.
"""

import argparse
import json
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd
from gap_distances import WAYS as DISTANCES
from gap_distances import ranked
from panel import blocks, classes, friedman1, heavy_tails, redundant, spread
from scipy.stats import binomtest
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from spectra import APART, HERE, called, seed_number, table, told

from infosieve import MISelector, mutual_information, permutation_test

DOCS = HERE.parent / "docs"
PROBLEMS = {
    "Friedman": friedman1,
    "a noisy copy": redundant,
    "blocks": blocks,
    "heavy tails": heavy_tails,
    "spread": spread,
    "classes": classes,
}
SHARES = (0.0, 0.1, 0.3, 0.5)
KINDS = ("at random", "by value")
WAYS = ("auto", "value", "median", "drop", "mean first", "iterative first")
REAL = {"bodyfat": "r", "chemical_yield": "r", "heart": "c", "scat_gaps": "c", "credit_gaps": "c"}
REAL_SHARES = (0.0, 0.2)
NULLS = (
    "independent",
    "gaps of X and y together",
    "gaps by the selected column",
    "gaps with those of the selected column",
)


def removed(X, share, kind, rng):
    """A copy with gaps: anywhere, or more where values are large."""
    out = X.copy()
    for j in range(X.shape[1]):
        p = np.full(len(X), share)
        if kind == "by value":
            ranks = pd.Series(X[:, j]).rank(method="first").to_numpy() / len(X)
            p = np.clip(2 * share * ranks, 0, 1)
        out[rng.random(len(X)) < p, j] = np.nan
    return out


def selected(X, y, way, seed):
    """By infosieve, perhaps after an imputation."""
    missing = way if way in WAYS[:4] else "error"
    if way == "mean first":
        X = SimpleImputer(keep_empty_features=True).fit_transform(X)
    elif way == "iterative first":
        X = IterativeImputer(random_state=0, keep_empty_features=True).fit_transform(X)
    try:
        return (
            MISelector(random_state=seed, missing=missing, statistic="ksg")
            .fit(X, y)
            .selected_.tolist()
        )
    except ValueError as error:
        if way == "drop":  # no row is complete, or one class is left
            return []
        raise error


def f1(found, relevant):
    hits = len(set(found) & relevant)
    return 2 * hits / (len(found) + len(relevant)) if found else 0.0


def known(problem, share, kind, run):
    """F1 of each way."""
    rng = np.random.default_rng([5, list(PROBLEMS).index(problem), int(100 * share), run])
    X, y, relevant = PROBLEMS[problem](rng)
    gaps = removed(X, share, kind, rng)
    return {way: f1(selected(gaps, y, way, run), relevant) for way in WAYS}


def real(name, share, run, folder):
    """The error on held-out rows of a model that takes gaps, behind each way: 1 - R2, or errors."""
    frame = pd.read_csv(Path(folder) / f"{name}.csv.gz")
    y = frame.pop("target").to_numpy()
    rng = np.random.default_rng([6, list(REAL).index(name), int(100 * share), run])
    texts = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    X = frame.copy()
    for c in texts:
        X[c] = pd.factorize(X[c])[0].astype(float)
        X.loc[X[c] < 0, c] = np.nan
    X = X.to_numpy(float)
    few = rng.permutation(len(X))[:1000]
    X, y = X[few], y[few]
    gaps = X.copy()
    gaps[rng.random(X.shape) < share] = np.nan
    order = rng.permutation(len(X))
    train, test = order[: len(X) * 2 // 3], order[len(X) * 2 // 3 :]
    out, models = {}, {}
    for way in (*WAYS, "all columns"):
        chosen = tuple(range(X.shape[1]))
        if way != "all columns":
            chosen = tuple(sorted(selected(gaps[train], y[train], way, run)))
        if chosen not in models:
            models[chosen] = error(gaps[:, list(chosen)], y, train, test, REAL[name])
        out[way] = [models[chosen], len(chosen)]
    return out


def error(X, y, train, test, task):
    if X.shape[1] == 0:
        if task == "r":
            return 1.0
        values, counts = np.unique(y[train], return_counts=True)
        return float(np.mean(y[test] != values[np.argmax(counts)]))
    if task == "r":
        model = HistGradientBoostingRegressor(random_state=0).fit(X[train], y[train])
        return float(np.mean((model.predict(X[test]) - y[test]) ** 2) / y[test].var())
    model = HistGradientBoostingClassifier(random_state=0).fit(X[train], y[train])
    return float(np.mean(model.predict(X[test]) != y[test]))


def null(kind, share, run):
    """Whether a column that tells nothing passes at 5 %: alone, or beside a selected one."""
    rng = np.random.default_rng([8, NULLS.index(kind), int(100 * share), run])
    n = 150
    s, x = rng.normal(size=(2, n))
    y = s + 0.5 * rng.normal(size=n)
    gaps = rng.random(n) < share
    given = []
    if kind == "gaps of X and y together":
        y = np.where(gaps & (rng.random(n) < 0.5), np.nan, y)
    if kind == "gaps by the selected column":
        gaps = rng.random(n) < np.clip(2 * share * (np.argsort(np.argsort(s)) / n), 0, 1)
        x, given = s + 0.5 * x, [1]
    # The selected column is complete: with gaps, it explains less of a copy than it could.
    X = np.c_[np.where(gaps, np.nan, x), s]
    if kind == "gaps with those of the selected column":
        gaps = rng.random(n) < np.clip(2 * share * (np.argsort(np.argsort(s)) / n), 0, 1)
        X, given = np.where(gaps[:, None], np.nan, np.c_[x, s]), [1]
    out = {}
    for way in ("auto", "value", "median"):
        test = permutation_test(
            X,
            y,
            0,
            given=given,
            n_permutations=99,
            random_state=run,
            missing=way,
            statistic="ksg",
        )
        out[way] = bool(test.p_value <= 0.05)
    return out


def estimate(share, n, run):
    """Of one column with gaps at random, less (1 - share) of the truth."""
    rng = np.random.default_rng([9, int(100 * share), n, run])
    x, e = rng.normal(size=(2, n))
    r = 0.8
    truth = -0.5 * np.log(1 - r * r) * (1 - share)
    gaps = np.where(rng.random(n) < share, np.nan, x)
    y = r * x + np.sqrt(1 - r * r) * e
    how = {"n_neighbors": (3, 10)}
    return {w: mutual_information(gaps, y, missing=w, **how) - truth for w in ("auto", "median")}


def distances(share, kind, run):
    """Which share of the first five columns is relevant, by distances."""
    rng = np.random.default_rng([10, int(100 * share), KINDS.index(kind), run])
    X, y = make_friedman1(250, 10, noise=1.0, random_state=int(rng.integers(2**31)))
    gaps = removed(X, share, kind, rng)
    return {way: len(set(ranked(gaps, y, way, 5)) & set(range(5))) / 5 for way in DISTANCES}


DO = {"known": known, "real": real, "null": null, "estimate": estimate, "distances": distances}


def one(key, run, folder):
    what, *numbers = json.loads(key)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        more = [folder] if what == "real" else []
        return DO[what](*numbers, run, *more)


def cases(folder):
    """Each with the runs it gets for each one asked for."""
    for share in SHARES:
        for kind in KINDS if share else KINDS[:1]:
            for problem in PROBLEMS:
                yield json.dumps(["known", problem, share, kind]), 1
    for share in (0.2, 0.5):
        for kind in NULLS:
            yield json.dumps(["null", kind, share]), 20
    for share in (0.0, 0.2, 0.5):
        for n in (100, 1000):
            yield json.dumps(["estimate", share, n]), 5
    for share in SHARES[1:]:
        for kind in KINDS:
            yield json.dumps(["distances", share, kind]), 2
    if folder is not None:
        for name in REAL:
            for share in REAL_SHARES:
                yield json.dumps(["real", name, share]), 0.5


# ---- the page

NAMES = [f"`{way}`" if way in WAYS[:4] else way for way in WAYS]
TESTED = ("auto", "value", "median")


def mean(rows, way, digits=2):
    return f"{np.mean([row[way] for row in rows]):.{digits}f}"


def page(kept, seed=0):
    runs = {tuple(json.loads(key)): rows for key, rows in kept.items() if rows}

    def of(*start):
        return [row for key, rows in runs.items() if key[: len(start)] == start for row in rows]

    parts = [TEXT["head"].format(seed=told(seed))]
    rows = []
    for share in SHARES:
        for kind in KINDS if share else KINDS[:1]:
            some = [row for name in PROBLEMS for row in of("known", name, share, kind)]
            if some:
                each = [mean(some, way, 3) for way in WAYS]
                rows.append([f"{share:.0%}", kind if share else "", len(some), *each])
    some = [row for name in PROBLEMS for share in SHARES[1:] for row in of("known", name, share)]
    if some:
        rows.append(["10 to 50%", "both", len(some), *(mean(some, way, 3) for way in WAYS)])
    parts += [TEXT["known"], table(["gaps", "", "data sets", *NAMES], rows, left=2)]
    rows = []
    for problem in PROBLEMS:
        for share in SHARES[1:]:
            some = of("known", problem, share)
            if some:
                each = [mean(some, way) for way in WAYS]
                rows.append([problem, f"{share:.0%}", len(some), *each])
    parts += [TEXT["each"], table(["problem", "gaps", "data sets", *NAMES], rows, left=2)]
    rows = []
    for share in SHARES[1:]:
        for kind in KINDS:
            some = of("distances", share, kind)
            if some:
                each = [mean(some, way) for way in DISTANCES]
                rows.append([f"{share:.0%}", kind, len(some), *each])
    parts += [TEXT["distances"], table(["gaps", "", "data sets", *DISTANCES], rows, left=2)]
    rows = []
    for name in REAL:
        for share in REAL_SHARES:
            some = of("real", name, share)
            if some:
                each = []
                for way in (*WAYS, "all columns"):
                    wrong, n = np.mean([row[way] for row in some], axis=0)
                    each.append(f"{wrong:.3f} ({n:.1f})")
                rows.append([f"`{name}`", f"{share:.0%}", len(some), *each])
    head = ["table", "removed", "splits", *NAMES, "all columns"]
    if rows:
        parts += [TEXT["real"], table(head, rows, left=2)]
    rows = []
    for kind in NULLS:
        for share in (0.2, 0.5):
            some = of("null", kind, share)
            if some:
                each = [_share(some, way) for way in TESTED]
                rows.append([kind, f"{share:.0%}", len(some), *each])
    parts += [TEXT["null"], table(["", "gaps", "runs", *(f"`{w}`" for w in TESTED)], rows, left=2)]
    rows = []
    for share in (0.0, 0.2, 0.5):
        for n in (100, 1000):
            some = of("estimate", share, n)
            if some:
                truth = -0.5 * np.log(1 - 0.64) * (1 - share)
                each = []
                for way in ("auto", "median"):
                    errors = [row[way] for row in some]
                    each.append(f"{np.mean(errors):+.3f} ± {np.std(errors):.3f}")
                rows.append([f"{share:.0%}", f"{n:,}", len(some), f"{truth:.3f}", *each])
    head = ["gaps", "samples", "runs", "truth", "`auto`", "`median`"]
    parts += [TEXT["estimate"], table(head, rows, left=0)]
    return "\n\n".join(parts) + "\n"


def _share(some, way):
    passed = sum(r[way] for r in some)
    low, high = binomtest(passed, len(some)).proportion_ci(method="wilson")
    return f"{passed / len(some):.1%} ({low:.0%} to {high:.0%})"


TEXT = {
    "head": """# Missing values

*Tests on this page compare estimates of information (`statistic="ksg"`). Those of the default
[ask in several ways](how.md#asking-in-several-ways): [levels](levels.md),
[weak effects](weak.md), [shapes](shapes.md).*

Written by [`experiments/missing.py`](../experiments/missing.py){seed}.
What becomes of gaps is said by `missing`
([how](how.md#missing-values)). `value`: a gap is a value of its own, infinitely far from numbers.
`median`: gaps are filled. `auto`, the default: `value` for the candidate, and for the columns that
are selected already the median, beside a column that says where gaps are. `drop`: complete rows
only. "Mean first" and "iterative first" are scikit-learn's `SimpleImputer` and `IterativeImputer`
before the selection.""",
    "known": """## Relevant columns that are known

F1 of the selected columns, mean over six problems of 10 to 20 columns and 100 to 300 samples. Gaps
are anywhere (at random), or more often where values are large (by value). A noisy copy counts as
wrong, although it does tell something where the original is missing. Where columns are related,
iterative imputation fills a column from its relatives, which then tell nothing more; where they are
not, it has nothing to fill from, and gaps that tell something are lost.""",
    "distances": """## Other distances

Doquire and Verleysen (2012, [doi](https://doi.org/10.1016/j.neucom.2012.02.031)) compare rows by
the columns that both have. A prototype in plain NumPy (`experiments/gap_distances.py`), without
tests: which share of the first five columns is relevant, Friedman's problem with 250 samples and
ten columns.""",
    "each": """## Each problem""",
    "real": """## Real tables

The error of gradient boosted trees (which take gaps as they are) behind the selected columns, on a
third of the rows that was held out: mean squared error by variance, or the share of wrong classes.
In parentheses, how many columns were selected. A share of all values was removed at random, in
addition to what was missing already.""",
    "null": """## Where nothing is to be found

How often a column passes a test at 5 % that tells nothing: independent of all; with gaps in X and
in the target together; a noisy copy of a selected column, with gaps where that one is large; and
noise with gaps in the rows where the selected column has its own, which are those where it is
large.""",
    "estimate": """## Estimates

Of gaps at random, a share g of the values, the information of the column is (1 - g) times that of
the whole column. Mean error and standard deviation of estimates, for two normal variables
correlated by 0.8, in nats (K from 3 to 10).""",
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seed", type=seed_number, default=0)
    parser.add_argument("--show", action="store_true", help="write the page from what is kept")
    options = parser.parse_args()
    file = HERE / "results" / f"{called('missing', options.seed)}.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    end = time.monotonic() + 60 * options.minutes
    folder = None if options.data is None else str(options.data)
    with ProcessPoolExecutor(options.workers) as pool:
        for goal in range(2, options.runs + 2, 2) if not options.show else ():
            jobs = {}
            for key, times in cases(folder):
                rows = kept.setdefault(key, [])
                for run in range(len(rows), round(goal * times)):
                    number = APART * options.seed + run
                    jobs[pool.submit(one, key, number, folder)] = key, run
            found = {jobs[job]: job.result() for job in as_completed(jobs)}
            for key, run in sorted(found):
                kept[key].append(found[key, run])
            file.write_text(json.dumps(kept).replace("}], ", "}],\n") + "\n")
            print(goal, f"{(end - time.monotonic()) / 60:.1f} minutes left", flush=True)
            if time.monotonic() > end:
                break
    (DOCS / "missing.md").write_text(page(kept, options.seed), encoding="utf-8")


if __name__ == "__main__":
    main()
