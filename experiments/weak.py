"""Weak effects, mostly lines: does the default find what simple tests find?

    python experiments/weak.py [--data DIR] [--sets 40] [--minutes 30] [--procedures NAME ...]
        [--seed 0] [--show]

The problems were written down before anything was run on them. Keeps what each procedure selected
in experiments/results/weak.json, which can be taken up, and writes docs/weak.md. --data is a folder
with heart, german and spambase as csv.gz: without it the problems on real columns are left out.
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
from procedures import boruta
from scipy.stats import chi2, f, norm
from sklearn.feature_selection import SelectFdr, f_classif, f_regression
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from spectra import APART, HERE, called, keep, seed_number, table, told

from infosieve import MISelector

ALPHA = 0.05


# ---- problems: (table, target, the relevant columns)


def noisy(signal, share, rng, noise=None):
    """A target of which the signal explains a share of the variance."""
    noise = rng.normal(size=signal.size) if noise is None else noise
    return signal / signal.std() * np.sqrt(share) + noise / noise.std() * np.sqrt(1 - share)


def autoregressive(n, m, rho, rng):
    """Normal columns, each correlated with its neighbours."""
    X = rng.normal(size=(n, m))
    for j in range(1, m):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


def few_lines(rng, data):
    X = rng.normal(size=(200, 30))
    return X, noisy(X[:, :5] @ rng.choice([-1, 1], 5), 0.3, rng), range(5)


def many_lines(rng, data):
    X = rng.normal(size=(300, 40))
    return X, noisy(X[:, :10] @ rng.choice([-1, 1], 10), 0.45, rng), range(10)


def correlated_lines(rng, data):
    X = autoregressive(250, 40, 0.6, rng)
    which = [2, 10, 18, 26, 34]
    return X, noisy(X[:, which] @ rng.choice([-1, 1], 5), 0.4, rng), which


def lines_wide(rng, data):
    X = rng.normal(size=(200, 300))
    return X, noisy(X[:, :6] @ rng.choice([-1, 1], 6), 0.5, rng), range(6)


def heavy_noise(rng, data):
    X = rng.normal(size=(250, 30))
    signal = X[:, :5] @ rng.choice([-1, 1], 5)
    return X, signal / signal.std() * 0.9 + rng.standard_t(3, size=250), range(5)


def curves(rng, data):
    X = rng.normal(size=(300, 30))
    shapes = [X[:, 0] > 0.5, np.tanh(2 * X[:, 1]), np.exp(0.7 * X[:, 2]), X[:, 3], -X[:, 4]]
    signal = sum((s - np.mean(s)) / np.std(s) for s in shapes)
    return X, noisy(signal, 0.4, rng), range(5)


def curves_and_waves(rng, data):
    X = rng.normal(size=(300, 25))
    shapes = [X[:, 0], X[:, 1], -X[:, 2], X[:, 3] ** 2, np.sin(3 * X[:, 4])]
    signal = sum((s - np.mean(s)) / np.std(s) for s in shapes)
    return X, noisy(signal, 0.5, rng), range(5)


def logistic(rng, data):
    X = rng.normal(size=(300, 30))
    chance = 1 / (1 + np.exp(-X[:, :6] @ rng.choice([-0.8, 0.8], 6)))
    return X, np.where(rng.random(300) < chance, "yes", "no"), range(6)


def ordered_answers(rng, data):
    hidden = rng.normal(size=(300, 25)) + 0.4 * rng.normal(size=(300, 1))
    X = np.digitize(hidden, [-1.2, -0.4, 0.4, 1.2]).astype(float)
    y = noisy(hidden[:, :4] @ rng.choice([-1, 1], 4), 0.35, rng)
    return X, np.digitize(y, [-1, -0.3, 0.3, 1]).astype(float), range(4)


def binary_and_skewed(rng, data):
    m = 24
    X = np.exp(rng.normal(size=(400, m)))
    X[:, ::2] = rng.random(size=(400, m // 2)) < rng.uniform(0.1, 0.5, m // 2)
    each = (X - X.mean(axis=0)) / X.std(axis=0)
    signal = 0.7 * np.clip(each[:, :6], -2, 2) @ rng.choice([-1, 1], 6)
    return X, np.where(rng.random(400) < 1 / (1 + np.exp(-signal)), "yes", "no"), range(6)


def counts(rng, data):
    X = rng.poisson(rng.uniform(0.3, 4, 30), size=(300, 30)).astype(float)
    each = (X - X.mean(axis=0)) / X.std(axis=0)
    y = rng.poisson(np.exp(0.5 + 0.18 * np.clip(each[:, :5] @ rng.choice([-1, 1], 5), -4, 4)))
    return X, y.astype(float), range(5)


def gaps_and_categories(rng, data):
    n, letters = 300, np.array(list("abcde"))
    X = pd.DataFrame(rng.normal(size=(n, 12)), columns=[f"n{j}" for j in range(12)])
    codes = rng.integers(0, 4, size=(n, 8))
    means = np.array([-1.0, -0.4, 0.3, 1.1])
    signal = X["n0"] - X["n1"] + X["n2"] + means[codes[:, 0]] - means[codes[:, 1]]
    y = noisy(signal.to_numpy(), 0.35, rng)
    X = X.mask(rng.random(X.shape) < 0.15)
    for j in range(8):
        X[f"c{j}"] = letters[codes[:, j]]
    return X, y, [0, 1, 2, 12, 13]


def three_classes(rng, data):
    n = 300
    X, codes = rng.normal(size=(n, 25)), rng.permutation(np.arange(n) % 3)
    for j, means in enumerate([(0, 0.5, 0), (-0.3, 0, 0.3), (0.4, 0, 0), (0, 0, 0.6)]):
        X[:, j] += np.array(means)[codes]
    return X, np.array(list("abc"))[codes], range(4)


def real_columns(name, n_relevant, share, n=None):
    """Columns of a real table with a target of lines in some of them."""

    def problem(rng, data):
        X = pd.read_csv(data / f"{name}.csv.gz").drop(columns="target")
        X = X.to_numpy(float)[:, X.nunique().to_numpy() > 3]
        rows = rng.permutation(len(X))[:n]
        X = X[rows][:, X[rows].std(axis=0) > 0]
        which = rng.choice(X.shape[1], n_relevant, replace=False)
        scores = norm.ppf((X[:, which].argsort(0).argsort(0) + 0.5) / len(X))
        return X, noisy(scores @ rng.choice([-1, 1], n_relevant), share, rng), which

    return problem


PROBLEMS = {
    "five lines of 30": few_lines,
    "ten lines of 40": many_lines,
    "five of 40, correlated": correlated_lines,
    "six of 300": lines_wide,
    "five lines, heavy noise": heavy_noise,
    "threshold, saturation, exp, lines": curves,
    "lines, a parabola, a wave": curves_and_waves,
    "two classes, logistic": logistic,
    "five-point answers": ordered_answers,
    "two classes, binary and skewed": binary_and_skewed,
    "counts": counts,
    "gaps and categories": gaps_and_categories,
    "three classes": three_classes,
    "columns of heart": real_columns("heart", 3, 0.25),
    "columns of german": real_columns("german", 4, 0.15, 400),
    "columns of spambase": real_columns("spambase", 5, 0.4, 400),
}
REAL = [name for name in PROBLEMS if name.startswith("columns of")]


# ---- procedures


def coded(values):
    """Numbers as they are; indicators of all classes but one."""
    if values.dtype.kind in "fiu":
        return values.astype(float)[:, None]
    return (values[:, None] == np.unique(values)[1:]).astype(float)


def matrices(X):
    """Of each column what a linear model has of it: numbers, indicators of levels and of gaps."""
    each = []
    for _, column in pd.DataFrame(X).items():
        if column.dtype.kind in "fiu":
            gaps = column.isna().to_numpy()
            value = column.fillna(column.mean()).to_numpy(float)[:, None]
            each.append(np.c_[value, gaps] if gaps.any() else value)
        else:
            each.append(coded(column.to_numpy(dtype=str)))
    return each


def residuals(values, given):
    values = values - values.mean(axis=0)
    if given is None:
        return values
    return values - given @ np.linalg.lstsq(given, values, rcond=None)[0]


def t_tests(X, y, seed):
    """Forward selection: the column with the smallest p-value, while that passes Bonferroni.

    The F test of the column's coefficients in a linear model of the target (t tests where it has
    one); of several classes, n times Pillai's trace against its chi-square.
    """
    columns, target = matrices(X), coded(np.asarray(y))
    n, selected, known = len(target), [], None
    while len(selected) < len(columns):
        v = residuals(target, known)
        q = 0 if known is None else known.shape[1]
        left = [j for j in range(len(columns)) if j not in selected]
        p = [of_coefficients(residuals(columns[j], known), v, n - 1 - q) for j in left]
        if min(p) * len(left) > ALPHA:
            break
        selected.append(left[int(np.argmin(p))])
        known = np.column_stack([columns[j] - columns[j].mean(axis=0) for j in selected])
    return selected


def of_coefficients(u, v, free):
    u, size, _ = np.linalg.svd(u, full_matrices=False)
    u = u[:, size > 1e-9]
    w, size, _ = np.linalg.svd(v, full_matrices=False)
    w = w[:, size > 1e-9]
    d, k = u.shape[1], w.shape[1]
    if d == 0:
        return 1.0
    trace = float(((u.T @ w) ** 2).sum())
    if k == 1:
        return float(f.sf(trace / d / ((1 - trace) / (free - d)), d, free - d))
    return float(chi2.sf(free * trace, d * k))


def lasso(X, y, seed):
    """The coefficients that are not zero, at one standard error of the smallest error."""
    columns = matrices(X)
    owner = np.repeat(np.arange(len(columns)), [c.shape[1] for c in columns])
    Z = np.column_stack(columns)
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    y = np.asarray(y)
    if y.dtype.kind in "fiu":
        fit = LassoCV(cv=5, random_state=seed).fit(Z, y)
        errors = fit.mse_path_.mean(axis=1)
        se = fit.mse_path_.std(axis=1, ddof=1) / np.sqrt(fit.mse_path_.shape[1])
        best = int(np.argmin(errors))
        within = np.flatnonzero(errors <= errors[best] + se[best])
        from sklearn.linear_model import Lasso

        found = Lasso(alpha=fit.alphas_[within].max()).fit(Z, y).coef_ != 0
    else:
        fit = LogisticRegressionCV(
            Cs=15, cv=5, penalty="l1", solver="saga", scoring="neg_log_loss", max_iter=300, tol=1e-3
        ).fit(Z, y)
        scores = next(iter(fit.scores_.values()))
        means, se = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
        best = int(np.argmax(means))
        within = np.flatnonzero(means >= means[best] - se[best])
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(
            C=fit.Cs_[within].min(), penalty="l1", solver="saga", max_iter=300, tol=1e-3
        )
        found = (model.fit(Z, y).coef_ != 0).any(axis=0)
    return np.unique(owner[found])


def select_fdr(X, y, seed):
    """scikit-learn's F tests of single columns, at a false discovery rate of 5 %."""
    Z, owner = (
        np.column_stack(matrices(X)),
        np.repeat(np.arange(np.shape(X)[1]), [c.shape[1] for c in matrices(X)]),
    )
    score = f_regression if np.asarray(y).dtype.kind in "fiu" else f_classif
    return np.unique(owner[SelectFdr(score, alpha=ALPHA).fit(Z, y).get_support()])


def forest(X, y, seed):
    """Boruta, of what linear models have."""
    columns = matrices(X)
    owner = np.repeat(np.arange(len(columns)), [c.shape[1] for c in columns])
    return np.unique(owner[boruta(np.column_stack(columns), np.asarray(y), seed)])


def ours(**how):
    def select(X, y, seed):
        return MISelector(**how, random_state=seed).fit(X, y).selected_

    return select


PROCEDURES = {
    "default": ours(),
    "estimates only": ours(statistic="ksg"),
    "t tests": t_tests,
    "Lasso": lasso,
    "SelectFdr": select_fdr,
    "Boruta": forest,
}
# Of how many data sets at most.
AT_MOST = {"Boruta": 5, "estimates only": 20}


def one(problem, procedure, number, data):
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([list(PROBLEMS).index(problem), number])
    X, y, relevant = PROBLEMS[problem](rng, data)
    start = time.process_time()
    found = sorted(int(j) for j in PROCEDURES[procedure](X, y, number))
    seconds = round(time.process_time() - start, 3)
    return [problem, procedure, number, found, sorted(map(int, relevant)), seconds]


# ---- the page


def f1(rows):
    """Pooled over the data sets of a problem."""
    right = sum(len({*row[3]} & {*row[4]}) for row in rows)
    return 2 * right / max(1, sum(len(row[3]) + len(row[4]) for row in rows))


def page(rows, seed):
    of = {}
    for row in rows:
        of.setdefault((row[0], row[1]), []).append(row)
    names = [name for name in PROCEDURES if any(key[1] == name for key in of)]
    problems = [name for name in PROBLEMS if (name, "default") in of]
    lines = []
    for problem in problems:
        each = [of.get((problem, name)) for name in names]
        cells = [f"{f1(some):.3f} ({len(some)})" if some else "" for some in each]
        lines.append([problem, *cells, false_share(of[problem, "default"])])
    means = [[f1(of[p, name]) for p in problems if (p, name) in of] for name in names]
    lines.append(["**mean**", *(f"**{np.mean(some):.3f}**" for some in means), ""])
    seconds = [[r[5] for r in rows if r[1] == name] for name in names]
    lines.append(["seconds", *(f"{np.mean(some):.2f}" for some in seconds), ""])
    found = table(["problem", *names, "false share of the default"], lines)
    return TEXT.format(seed=told(seed), table=found)


def false_share(rows):
    shares = [len({*row[3]} - {*row[4]}) / max(1, len(row[3])) for row in rows]
    return f"{np.mean(shares):.1%}"


TEXT = """# Weak effects

Written by [`experiments/weak.py`](../experiments/weak.py){seed}, which has the problems: they were
written down before anything was run on them.

Most tables have effects that are weak and mostly monotone. Here the default competes with the
tools that are made for these. F1 is 2 TP / (2 TP + FP + FN), pooled over the data sets of a
problem, whose number is in brackets. *t tests*: forward selection by the smallest p-value in a
linear model, while it passes Bonferroni at 5 %. *Lasso*: at one standard error of the smallest
cross-validated error. *SelectFdr*: scikit-learn's F tests of single columns. *Estimates only*:
`statistic="ksg"`. Others than ours receive categories as indicators, and gaps as the mean and an
indicator. The target of "columns of" a real table is made of lines in the normal scores of some of
its columns.

{table}

The false share is the mean share of columns without information among those that the default
selects. Seconds are those of a fit with one thread, as the processor counts them.
"""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--procedures", nargs="+", choices=PROCEDURES, default=list(PROCEDURES))
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seed", type=seed_number, default=0)
    parser.add_argument("--show", action="store_true", help="write the page from what is kept")
    options = parser.parse_args()
    name = called("weak", options.seed)
    file = HERE / "results" / f"{name}.json"
    rows = json.loads(file.read_text()) if file.exists() else []
    known = {tuple(row[:3]) for row in rows}
    jobs = [
        (problem, procedure, APART * options.seed + number)
        for number in range(0 if options.show else options.sets)
        for problem in PROBLEMS
        for procedure in options.procedures
        if number < AT_MOST.get(procedure, options.sets) and (options.data or problem not in REAL)
    ]
    jobs = [job for job in jobs if job not in known]
    start = last = time.perf_counter()
    with ProcessPoolExecutor(options.workers) as pool:
        futures = [pool.submit(one, *job, options.data) for job in jobs]
        for done, future in enumerate(as_completed(futures), start=1):
            if future.cancelled():
                continue
            rows.append(future.result())
            now = time.perf_counter()
            if now - start > 60 * options.minutes:
                for waiting in futures:
                    waiting.cancel()
            if now - last > 20 or done == len(jobs):
                last = now
                keep(name, sorted(rows))
                print(f"{done} of {len(jobs)}, {now - start:.0f} s", flush=True)
    keep(name, sorted(rows))
    (HERE.parent / "docs" / "weak.md").write_text(page(rows, options.seed), encoding="utf-8")


if __name__ == "__main__":
    main()
