"""How far estimates of sets of categories are from the truth.

    python experiments/categories.py [--sets 10] [--seed 0] [--two] [--show]

Corrections of plain counts against each other, on tables whose information is known. Keeps every
estimate in results/categories.json and writes docs/categories.md (25 minutes; --two: only what is
of columns of two values).
"""

import argparse
import itertools
import os
import time
import warnings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd
from scipy.special import digamma, gammaln, polygamma
from scipy.stats import fisher_exact
from spectra import HERE, keep, kept, table

from infosieve import MISelector, mutual_information, permutation_test

DOCS = HERE.parent / "docs"
RANGE = {"n_neighbors": (3, 10)}
SIZES, LEVELS, TARGETS, COLUMNS = (200, 1000, 5000), (2, 3, 7, 20), (2, 7), (1, 2, 3, 4, 5)
KINDS = {
    "independent": [0.0],
    "one column": [0.5, 0.9],
    "two columns together": [0.5, 0.9],
    "noisy copies": [0.7],
}


# ---- entropies of counts; n_cells is how many cells there could be


def plain(counts, n_cells):
    p = counts / counts.sum()
    return -(p * np.log(p)).sum()


def miller_madow(counts, n_cells):
    return plain(counts, n_cells) + (counts.size - 1) / (2 * counts.sum())


def psi_counts(counts, n_cells):
    """Kraskov's psi in the place of the logarithm: what neighbours at distance zero amount to."""
    n = counts.sum()
    return digamma(n) - (counts * digamma(counts)).sum() / n


def grassberger(counts, n_cells):
    n = counts.sum()
    odd = 0.5 * (-1.0) ** counts * (digamma((counts + 1) / 2) - digamma(counts / 2))
    return np.log(n) - (counts * (digamma(counts) + odd)).sum() / n


def chao_shen(counts, n_cells):
    n, single = counts.sum(), (counts == 1).sum()
    p = (1 - min(single, n - 1) / n) * counts / n
    return -(p * np.log(p) / -np.expm1(n * np.log1p(-p))).sum()


def shrinkage(counts, n_cells):
    n = counts.sum()
    p, t, empty = counts / n, 1 / n_cells, n_cells - counts.size
    spread = (n - 1) * (((p - t) ** 2).sum() + empty * t * t)
    share = 1.0 if spread <= 0 else min(1.0, (1 - (p**2).sum()) / spread)
    q = share * t + (1 - share) * p
    rest = empty * share * t * np.log(share * t) if share > 0 and empty else 0.0
    return -(q * np.log(q)).sum() - rest


def nsb(counts, n_cells):
    """Nemenman, Shafee and Bialek: the mean over Dirichlet priors of all concentrations."""
    n, (sizes, times) = counts.sum(), np.unique(counts, return_counts=True)
    log_b = np.linspace(np.log(1e-6 / n_cells), np.log(1e4), 400)
    b = np.exp(log_b)
    evidence = gammaln(b * n_cells) - gammaln(n + b * n_cells)
    mean = (n_cells - counts.size) * b / (n + b * n_cells) * digamma(b + 1)
    for size, many in zip(sizes, times, strict=True):
        evidence += many * (gammaln(size + b) - gammaln(b))
        mean += many * (size + b) / (n + b * n_cells) * digamma(size + b + 1)
    prior = n_cells * polygamma(1, b * n_cells + 1) - polygamma(1, b + 1)
    weight = evidence + np.log(np.maximum(prior, 1e-300)) + log_b
    weight = np.exp(weight - weight.max())
    return (weight * (digamma(n + b * n_cells + 1) - mean)).sum() / weight.sum()


ENTROPIES = {
    "plain counts": plain,
    "psi of counts": psi_counts,
    "Miller-Madow": miller_madow,
    "Grassberger": grassberger,
    "Chao-Shen": chao_shen,
    "shrinkage": shrinkage,
    "NSB": nsb,
}
OURS = "infosieve"


def labels(columns):
    return np.unique(columns, axis=0, return_inverse=True)[1].ravel()


def by_entropies(entropy, x, y, levels_x, levels_y, given=None, levels_given=1):
    """I(x; y | given) as a sum of four entropies."""

    def of(parts, n_cells):
        if not parts:
            return 0.0
        return entropy(np.bincount(labels(np.column_stack(parts))), n_cells)

    s = [] if given is None else [given]
    return (
        of([x, *s], levels_x * levels_given)
        + of([y, *s], levels_y * levels_given)
        - of([x, y, *s], levels_x * levels_y * levels_given)
        - of(s, levels_given)
    )


# ---- tables whose information is known


def information(joint):
    outer = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    inside = joint > 0
    return float((joint[inside] * np.log(joint[inside] / outer[inside])).sum())


def draw(kind, strength, n, m, levels, levels_y, skewed, rng):
    """Columns, a target, the information of all columns, and of the last given the others."""
    p = 1 / np.arange(1, levels + 1) if skewed else np.ones(levels)
    p = p / p.sum()
    X = rng.choice(levels, size=(n, m), p=p)
    random, obeys = rng.integers(levels_y, size=n), rng.uniform(size=n) < strength
    if kind == "independent":
        return X, random, 0.0, 0.0
    if kind == "two columns together":
        source, weight = X[:, 0] + X[:, -1], np.outer(p, p).ravel()
        causes = np.add.outer(np.arange(levels), np.arange(levels)).ravel()
    else:
        source, weight, causes = X[:, 0], p, np.arange(levels)
    y = np.where(obeys, source % levels_y, random)
    joint = np.full((causes.size, levels_y), (1 - strength) / levels_y)
    joint[np.arange(causes.size), causes % levels_y] += strength
    joint *= weight[:, None]
    truth = information(joint)
    adds = truth if m == 1 else 0.0
    if kind == "two columns together":
        one = joint.reshape(levels, levels, levels_y).sum(axis=1)
        adds = truth - information(one)
    if kind == "noisy copies":
        for j in range(1, m):
            copied = rng.uniform(size=n) < 0.7
            X[:, j] = np.where(copied, X[:, 0], X[:, j])
    return X, y, truth, adds


def run(arguments):
    rng = np.random.default_rng(arguments.seed)
    rows = []
    grid = itertools.product(SIZES, LEVELS, TARGETS, COLUMNS, KINDS)
    for n, levels, levels_y, m, kind in grid:
        if kind == "two columns together" and m == 1:
            continue
        for strength, number in itertools.product(KINDS[kind], range(arguments.sets)):
            X, y, truth, adds = draw(kind, strength, n, m, levels, levels_y, number % 2, rng)
            known = [kind, strength, n, m, levels, levels_y, number]
            texts, target = X.astype(str), y.astype(str)
            x = labels(X)
            cells = levels**m
            for name, entropy in ENTROPIES.items():
                rows.append(
                    [*known, "set", name, truth, by_entropies(entropy, x, y, cells, levels_y)]
                )
            rows.append([*known, "set", OURS, truth, mutual_information(texts, target, **RANGE)])
            z = rng.normal(size=n)
            beside = pd.DataFrame(texts).assign(z=z).set_axis([*range(m), m], axis=1)
            rows.append(
                [*known, "and a number", OURS, truth, mutual_information(beside, target, **RANGE)]
            )
            if m > 1:
                s, last = labels(X[:, :-1]), X[:, -1]
                for name, entropy in ENTROPIES.items():
                    how = last, y, levels, levels_y, s, levels ** (m - 1)
                    rows.append([*known, "given", name, adds, by_entropies(entropy, *how)])
                found = mutual_information(texts[:, -1], target, condition=texts[:, :-1], **RANGE)
                rows.append([*known, "given", OURS, adds, found])
    keep("categories", {"seed": arguments.seed, "groups": grouped(rows)} | of_two_values(arguments))


def of_two_values(arguments):
    return {
        "two values": two_values(arguments.seed, 20 * arguments.sets),
        "searches": searches(arguments.seed, 2 * arguments.sets),
    }


# What is declared, of the column and of the target, and what tests compare.
PASSED = {
    "as numbers": (False, False, "ksg"),
    "target as classes": (False, True, "ksg"),
    "as categories": (True, True, "ksg"),
    "by default": ("auto", "auto", "auto"),
}
PAIRED, SHARES = 200, {"nothing there": (0.3, 0.3), "20 and 40 %": (0.2, 0.4)}


def two_values(seed, sets):
    """How often 0/1 columns pass at 5 % against a 0/1 target, by how they are measured."""
    rng = np.random.default_rng([seed, 1])
    found = {there: dict.fromkeys([*PASSED, "Fisher's exact test"], 0) for there in SHARES}
    for there, number in itertools.product(SHARES, range(sets)):
        x = rng.integers(0, 2, PAIRED)
        y = (rng.random(PAIRED) < np.take(SHARES[there], x)).astype(int)
        for name in PASSED:
            how = {"n_permutations": 99, "random_state": number} | declared(name, [0])
            test = permutation_test(x[:, None], y, 0, **how)
            found[there][name] += bool(test.p_value <= 0.05)
        counts = np.bincount(2 * x + y, minlength=4).reshape(2, 2)
        found[there]["Fisher's exact test"] += bool(fisher_exact(counts)[1] <= 0.05)
    return {"sets": sets, "passed": found}


def declared(name, columns):
    """How columns of two numbers, and the target, are passed."""
    x, y, statistic = PASSED[name]
    features = columns if x is True else x
    return {"discrete_features": features, "discrete_target": y, "statistic": statistic}


# Searches among 30 columns, half of them numbers where numbers count: which are selected?
SEARCHED, OF = (200, 500), 30
SEARCHES = {
    "a sum of eight": 8,
    "a sum of three": 3,
    "one differs from the other": 2,
    "a sum of three, one in ten": 3,
    "two and two numbers": 4,
    "one says which number counts": 3,
    "nothing": 0,
}


def searched(kind, n, rng):
    """A table whose first columns decide on a target of zeros and ones."""
    X = (rng.random((n, OF)) < (0.1 if kind.endswith("ten") else 0.5)).astype(float)
    relevant = SEARCHES[kind]
    if kind.startswith(("two", "one says")):
        numbers = [*range(relevant - 2, relevant), *range(17, OF)]
        X[:, numbers] = rng.normal(size=(n, len(numbers)))
    share = {
        "a sum of eight": lambda: 1.5 * (X[:, :8].sum(axis=1) - 4),
        "a sum of three": lambda: 2 * (X[:, :3].sum(axis=1) - 1.5),
        "one differs from the other": lambda: 4 * (X[:, 0] != X[:, 1]) - 2.0,
        "a sum of three, one in ten": lambda: 2 * X[:, :3].sum(axis=1) - 1,
        "two and two numbers": lambda: 4 * (X[:, 0] + X[:, 1] - 1) + 2 * (X[:, 2] + X[:, 3]),
        "one says which number counts": lambda: 4 * np.where(X[:, 0], X[:, 1], X[:, 2]),
        "nothing": lambda: np.full(n, -1.0),
    }[kind]()
    return X, (rng.random(n) < 1 / (1 + np.exp(-share))).astype(int)


def searches(seed, sets):
    """What searches select among columns of two values, by how these are passed: counts."""
    rows = []
    for kind, n, name in itertools.product(SEARCHES, SEARCHED, PASSED):
        times = sets if SEARCHES[kind] else 10 * sets
        row = {"kind": kind, "n": n, "name": name, "sets": times, "right": 0, "wrong": 0, "any": 0}
        start = time.process_time()
        for number in range(times):
            X, y = searched(kind, n, np.random.default_rng([seed, 2, number, n]))
            two = [j for j in range(OF) if np.unique(X[:, j]).size == 2]
            how = {"random_state": number} | declared(name, two)
            selected = MISelector(**how).fit(X, y).get_support(indices=True)
            right = int((selected < SEARCHES[kind]).sum())
            row["right"] += right
            row["wrong"] += selected.size - right
            row["any"] += int(selected.size > 0)
        row["seconds"] = round((time.process_time() - start) / times, 3)
        rows.append(row)
        print(row, flush=True)
    return rows


CELLS, EDGES = ["10 and more", "1 to 10", "0.01 to 1", "less"], [10, 1, 0.01]


def grouped(rows):
    """For each quantity, estimator and number of samples a cell: how many, mean error and RMSE."""
    names = ["kind", "strength", "n", "m", "levels", "levels_y", "number", "what", "by", "truth"]
    rows = pd.DataFrame(rows, columns=[*names, "nats"])
    rows["error"] = rows["nats"] - rows["truth"]
    share = rows["n"] / (rows["levels"].astype(float) ** rows["m"] * rows["levels_y"])
    rows["cell"] = np.select([share >= e for e in EDGES], CELLS[:3], CELLS[3])
    rows["there"] = np.where(rows["truth"] == 0, "nothing", "something")
    groups = rows.groupby(["what", "there", "by", "cell"])
    out = groups["error"].agg(n="size", mean="mean", rmse=lambda e: np.sqrt((e**2).mean()))
    out["truth"] = groups["truth"].mean()
    return out.round(5).reset_index().to_dict("records")


# ---- the page

TEXT = """# Sets of categories

*Written by [`experiments/categories.py`](../experiments/categories.py)
from `experiments/results/categories.json`.*

A table of counts finds information where there is none: with many levels, or several columns
together, most cells hold one sample or none, and every such cell looks like a perfect prediction.
Four independent columns of seven levels and an independent target of seven levels, all equally
frequent, {n_chance:,} samples: plain counts give {chance:.2f} nats. infosieve subtracts what chance
adds to the counts.

- *e* is the mean of the estimate over all permutations of the labels. It has a closed form: with
  fixed margins, each cell is hypergeometric (Vinh, Epps and Bailey 2010,
  [JMLR 11:2837](https://www.jmlr.org/papers/v11/vinh10a.html)). For I(X; Y | S), labels are
  permuted inside the strata of S.
- If the columns determine the target (I = h, the smaller entropy), chance adds nothing. In between
  the bias is taken to be e (1 - (I / h)^p). With many samples a cell it hardly depends on I, with
  few it falls in proportion to I. Both are described by p = 1 + u² / (4 r), r = e / h, u = 1 - r.
  The estimate is the I that, with its bias, gives what was found.
- Where nearly every sample has a cell of its own, u is close to zero, and solving for I would
  multiply noise by 1 / u. So a share v / (u² h² + v) of what was found beyond chance is not
  rescaled, as in a ridge regression: v = e / N is the variance of the estimate under permutations.

Sets of categories and numbers have the same bias, that of their categories, and get the same
correction. No sample is excluded: one in a singleton stratum counts as a cell of one sample.

## Against other corrections

{n_tables} tables: {sizes} samples, one to five columns of {levels} levels, targets of {targets}
levels, equally frequent or in proportion to 1, 1/2, 1/3, ... The target depends on nothing, on one
column, on two columns together (their sum modulo the number of levels), or on one column of a table
that also has noisy copies of it. Tables are grouped by the number of samples for each possible cell
of columns and target. Mean error in nats, and root mean squared error in brackets.

### Where nothing is there

{null}

### Where something is there (on average {mean_truth:.2f} nats)

{something}

### What the last column adds to the others, I(X; Y | S)

Nothing is there:

{given_null}

Something is there:

{given}

Only infosieve stays around zero where nothing is there, however few samples a cell has. Where
something is there, its error for sets is close to the smallest as long as there is a hundredth of
a sample for each cell. With fewer, the estimate goes to zero rather than to the entropy of the
target: the information of such sets is *under*estimated. With one to ten samples a cell,
dependences are a little overestimated.

## Together with a number that is noise

The same tables with a column of normal noise in the set (K from 3 to 10). Mean error (root mean
squared error):

{number}

## Two values against two values

A column of zeros and ones and a target of zeros and ones, {paired} samples. The target is one with
the same probability in both (nothing there), or in 20 and 40 % of cases. How often each test passes
at 5 %, of {sets} data sets. Taken as numbers, equal values are separated by small noise, and their
neighbours are those of the noise. So two different numbers are categories, in X and y, unless
somebody says that they are numbers. *By default* tests ask in several ways; the other columns of
this table are tests of estimates (`statistic="ksg"`).

{two}

Searches among {of} columns of zeros and ones, by `MISelector` in the same ways; where numbers
count, half of the columns are normal. The target is drawn with a probability that follows what is
named (`experiments/categories.py`). F1 of {sets_searched} data sets, in brackets the seconds of a
fit. In estimates categories cut the samples into cells, and many columns make many cells of few
samples, where numbers still have neighbours. Tests by default smooth the target, which needs no
cells.

{searches}

{false}
"""


def chance(n, columns=4, levels=7):
    """What plain counts say of independent columns and target."""
    drawn = np.random.default_rng(0).integers(0, levels, (n, columns + 1))

    def entropy(rows):
        counts = np.unique(rows, axis=0, return_counts=True)[1]
        return np.log(n) - counts @ np.log(counts) / n

    return entropy(drawn[:, :-1]) + entropy(drawn[:, -1:]) - entropy(drawn)


def show():
    groups = pd.DataFrame(kept("categories")["groups"])
    at = groups.set_index(["what", "there", "by", "cell"])

    def line(what, there, by, label):
        some = [at.loc[(what, there, by, cell)] for cell in CELLS]
        return [label, *(f"{g['mean']:+.3f} ({g['rmse']:.3f})" for g in some)]

    def page(what, there):
        names = [*ENTROPIES, OURS]
        labels = [f"**{name}**" if name == OURS else name for name in names]
        lines = [line(what, there, n, label) for n, label in zip(names, labels, strict=True)]
        return table(["samples a cell", *CELLS], lines)

    ours = groups[(groups["what"] == "set") & (groups["by"] == OURS)]
    something = ours[ours["there"] == "something"]
    number = [line("and a number", t, OURS, f"{t} there") for t in ("nothing", "something")]
    two = kept("categories")["two values"]
    names = [*PASSED, "Fisher's exact test"]
    passed = [
        [there, *(f"{some[name] / two['sets']:.1%}" for name in names)]
        for there, some in two["passed"].items()
    ]
    rows = pd.DataFrame(kept("categories")["searches"])
    relevant = rows["kind"].map(SEARCHES) * rows["sets"]
    rows["f1"] = 2 * rows["right"] / (rows["right"] + rows["wrong"] + relevant).clip(lower=1)
    search = rows.set_index(["kind", "n", "name"])
    found = [
        [
            kind,
            n,
            *("{f1:.3f} ({seconds:.2g})".format(**search.loc[kind, n, k]) for k in PASSED),
        ]
        for kind, n in itertools.product(SEARCHES, SEARCHED)
        if SEARCHES[kind]
    ]
    nothing = rows[rows["kind"] == "nothing"].groupby("name")[["any", "sets"]].sum()
    false = ", ".join(
        "{any} of {sets} runs {name}".format(name=name, **nothing.loc[name]) for name in PASSED
    )
    text = TEXT.format(
        of=OF,
        sets_searched=int(rows["sets"].min()),
        searches=table(["target", "samples", *PASSED], found),
        false=f"Where nothing is there, a column is selected in {false}.",
        n_chance=max(SIZES),
        chance=chance(max(SIZES)),
        n_tables=f"{int(ours['n'].sum()):,}",
        sizes=", ".join(f"{n:,}" for n in SIZES),
        levels=", ".join(map(str, LEVELS)),
        targets=" and ".join(map(str, TARGETS)),
        mean_truth=np.average(something["truth"], weights=something["n"]),
        null=page("set", "nothing"),
        something=page("set", "something"),
        given_null=page("given", "nothing"),
        given=page("given", "something"),
        number=table(["samples a cell", *CELLS], number),
        paired=PAIRED,
        sets=two["sets"],
        two=table(["", *names], passed),
    )
    print(text)
    (DOCS / "categories.md").write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--two", action="store_true", help="columns of two values only")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    if not arguments.show:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of samples that share their categories with nobody
            if arguments.two:
                known = kept("categories")
                assert known["seed"] == arguments.seed, "the kept tables have another seed"
                keep("categories", known | of_two_values(arguments))
            else:
                run(arguments)
    show()


if __name__ == "__main__":
    main()
