"""What was left out: does a likelihood ratio, given the selected columns, find more in it?

    python experiments/left_out.py --data DIR [--searches 3] [--seed 0] [--show]

DIR has five tables as csv.gz, with columns of many kinds. Keeps experiments/results/left_out.json
and writes docs/left-out.md. One thread.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd
from scipy.stats import chi2, f
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from spectra import APART, HERE, called, keep, kept, seed_number, table, told
from weak import t_tests

from infosieve import MISelector

CODES = ", codes"  # whole numbers with more than two values are read as categories
TABLES = ["credit_gaps", "german", "heart", "hepatic_injury", "permeability"]
READINGS = [*TABLES, "german" + CODES, "heart" + CODES]
PROCEDURES = ["default", "estimates only", "t tests"]
LEVEL, MOST_CLASSES, KNOTS = 0.01, 15, 5


def read(name, folder):
    X = pd.read_csv(folder / f"{name.removesuffix(CODES)}.csv.gz")
    y = X.pop("target").to_numpy()
    if name.endswith(CODES):
        X = X.astype({c: "category" for c in X if X[c].dtype.kind == "i" and X[c].nunique() > 2})
    return X, y if y.dtype.kind == "f" and np.unique(y).size > MOST_CLASSES else y.astype(str)


def natural_spline(x):
    """Cubic between knots, linear beyond; the knots are quantiles of the distinct values."""
    values = np.unique(x[~np.isnan(x)])
    few = len(values) <= KNOTS
    knots = values if few else np.quantile(values, np.linspace(0.05, 0.95, KNOTS))
    u, t = ((v - values[0]) / (np.ptp(values) or 1) for v in (x, knots))
    cubes = [np.clip(u - knot, 0, None) ** 3 for knot in t]
    slopes = [(cubes[k] - cubes[-1]) / (t[-1] - t[k]) for k in range(len(t) - 1)]
    return np.column_stack([u, *(slope - slopes[-1] for slope in slopes[:-1])])


def coded(column):
    """What a model has of a column: a spline and where gaps are, or indicators of its levels."""
    if not pd.api.types.is_numeric_dtype(column):
        codes = pd.factorize(column, sort=True)[0]
        return (codes[:, None] == np.unique(codes)[1:]).astype(float)
    basis, gaps = natural_spline(column.to_numpy(float)), column.isna().to_numpy()
    return np.c_[np.where(gaps[:, None], np.nanmean(basis, axis=0), basis), gaps]


def beside(known, basis):
    """What a basis adds to known columns, orthonormal: as many as that has dimensions."""
    basis = basis - basis.mean(axis=0)
    size = np.linalg.norm(basis, axis=0)
    basis = basis[:, size > 0] / size[size > 0]
    for _ in range(2):
        basis = basis - known @ (known.T @ basis) / len(known)
    u, size, _ = np.linalg.svd(basis, full_matrices=False)
    return u[:, size > 1e-6] * np.sqrt(len(known))


def deviance(Z, y):
    """That of a multinomial logistic model; a tiny ridge keeps what separates classes finite."""
    model = LogisticRegression(C=1e6, fit_intercept=False, solver="newton-cholesky", tol=1e-7)
    return 2 * log_loss(y, model.fit(Z, y).predict_proba(Z), normalize=False)


class Base:
    """A model of the selected columns: logistic for classes, linear for a number."""

    def __init__(self, X, y, selected):
        self.Z = np.ones((len(y), 1))
        for name in selected:
            self.Z = np.column_stack([self.Z, beside(self.Z, coded(X[name]))])
        self.y, self.classes = y, y.dtype.kind not in "fiu"
        self.left = deviance(self.Z, y) if self.classes else self.squares(self.Z)
        self.separates = bool(self.classes and self.left < 1e-3 * len(y))

    def squares(self, Z):
        return float(((self.y - Z @ (Z.T @ self.y) / len(Z)) ** 2).sum())

    def test(self, column):
        """The p-value of what a column adds; None where the model has that already."""
        more = beside(self.Z, coded(column))
        larger, added = np.column_stack([self.Z, more]), more.shape[1]
        if not added:
            return None
        if self.classes:
            free = added * (np.unique(self.y).size - 1)
            return float(chi2.sf(self.left - deviance(larger, self.y), free))
        rest, free = self.squares(larger), len(more) - larger.shape[1]
        return float(f.sf((self.left - rest) / added / (rest / free), added, free))


def one(name, procedure, number, folder):
    """A row: what a procedure selected, and what passes of the rest."""
    X, y = read(name, folder)
    distinct = X.columns[(X.nunique(dropna=False) > 1) & ~X.T.duplicated()]
    start, words, end = time.process_time(), {}, None
    if procedure == "t tests":
        selected = [X.columns[j] for j in t_tests(X, y, number)]
    else:
        how = {} if procedure == "default" else {"statistic": "ksg"}
        result = MISelector(random_state=number, **how).fit(X, y).result_
        selected, end = [X.columns[j] for j in result.selected], result.steps[-1].p_value
        words = {row[0]: [*row[2:]] for row in result.remaining_frame().itertuples(index=False)}
    seconds, base = time.process_time() - start, Base(X, y, selected)
    tests = sorted(
        (p, c) for c in distinct.difference(selected) if (p := base.test(X[c])) is not None
    )
    found = [[c, p, *words.get(c, [])] for p, c in tests if p * len(tests) <= LEVEL]
    size = len(y), X.shape[1], len(tests)
    return [name, procedure, number, *size, selected, end, base.separates, found, seconds]


TEXT = """# What was left out

Written by [`experiments/left_out.py`](../experiments/left_out.py){seed}, of tables that do not come
with the package. Each column that a search left out (but constant ones and copies) is added to a
model of the selected columns: logistic for classes, linear for a number. Numbers are natural
splines with four degrees of freedom, categories indicators, gaps an indicator beside the mean. A
column *passes* if the likelihood ratio (of a number, the F test) has p ≤ 1 % after Bonferroni.

Each cell: how many columns were selected / how many of the others pass, search by search.
*Estimates only*: `statistic="ksg"`. *t tests*: forward selection by the smallest p-value in a
linear model; it draws nothing, so there is one search. "Codes": whole numbers are declared as
categories. Seconds are those of one search with one thread, as the processor counts them.

{table}

Of the five tables as they are, columns that pass after the default: {totals}, search by search.
Tables whose classes the selected columns separate, so that nothing can be tested: {separated}.

## What the result says of them

Columns that pass after the default, each in the first search in which it does. *Own p*, *q* and
*view* are those of `result_.remaining_frame()`; the last p ended the search.

{words}
"""


def page(rows, seed):
    of = {}
    for row in rows:
        of.setdefault((row[0], row[1]), []).append(row)
    lines, words, totals = [], [], {}
    for name in READINGS:
        each = [of[name, procedure] for procedure in PROCEDURES]
        cells = [", ".join(f"{len(r[6])} / {len(r[9])}" for r in some) for some in each]
        cells += [f"{np.mean([r[10] for r in some]):.2g}" for some in each]
        lines.append([name, *each[0][0][3:5], *cells])
        first = {found[0]: (row, found) for row in each[0][::-1] for found in row[9]}
        for column, ((*_, m, _, end, _, _, _), (_, p, own, q, view)) in first.items():
            each_p = (f"{some:.2g}" for some in (p, p * m, own, q, end))
            words.append([name, column, view, *each_p])
        for row in each[0] if name in TABLES else []:
            totals[row[2]] = totals.get(row[2], 0) + len(row[9])
    separated = ", ".join(sorted({row[0] for row in rows if row[8]})) or "none"
    seconds = [f"seconds, {procedure}" for procedure in PROCEDURES]
    head = ["table", "column", "view", "p", "times columns", "own p", "q", "last p"]
    return TEXT.format(
        seed=told(seed), totals=", ".join(map(str, totals.values())), separated=separated,
        table=table(["table", "samples", "columns", *PROCEDURES, *seconds], lines),
        words=table(head, words, 3),
    )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(), help="where the tables are")
    parser.add_argument("--searches", type=int, default=3)
    parser.add_argument("--seed", type=seed_number, default=0)
    parser.add_argument("--show", action="store_true", help="write the page from what is kept")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    file = called("left_out", options.seed)
    if not options.show:
        numbers = range(options.seed * APART, options.seed * APART + options.searches)
        jobs = [(name, how, k) for name in READINGS for how in PROCEDURES for k in numbers]
        jobs = [job for job in jobs if job[1] != "t tests" or job[2] == numbers[0]]
        keep(file, [one(*job, options.data) for job in jobs])
    text = page(kept(file), options.seed)
    (HERE.parent / "docs" / "left-out.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
