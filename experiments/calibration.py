"""Do the tests hold their error rate? p-values where nothing is to be found, and power where it is.

    python experiments/calibration.py [--sets 1000] [--samples 50 100 500] [--tests TEST ...]
        [--minutes 60] [--workers 2] [--seed 2] [--show]

Keeps how many of 99 surrogates reached the observed value, for every data set, in
results/calibration.json; what is there already is not computed again, and all cases grow at the
same pace, so that it can be stopped and taken up. Data sets have a seed. When
the tests have changed, SEED is one more: what was kept is replaced, case by case, and its share
stays as "before". Another --seed has a file of its own. --show only rebuilds docs/calibration.md
and its figures.
"""

import argparse
import json
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd
from scipy.stats import binomtest, chisquare, pearsonr
from spectra import HERE, called, keep, seed_number, table

from infosieve import choose_k, permutation_test

P = 99
SEED = 2  # of the data, unless another is asked for; one more when the tests have changed
SIZES = (50, 100, 500)
M = 5  # candidates of the maximum test
LETTERS = np.array(list("abcd"))
KINDS = ("continuous", "heavy tails", "tied", "classes", "categories")
# Two selected columns are alike, and the candidates are copies of their difference.
ALIKE = "alike"
# Candidates that follow the original along a curve, as relatives.py has them now.
CURVES = {"a parabola": lambda s: s**2, "a wave": lambda s: np.sin(2 * s)}
# What is selected: nothing; two columns that have nothing to do with the candidates; a column
# that the candidates are noisy copies of; the same and two more, or one.
GIVEN = (
    "nothing",
    "others",
    "the original",
    "the original and two more",
    "the original and one more",
)


# ---- data


def draw(kind, n, given, number, rng):
    """(table, y, candidates, selected). No candidate is informative given what is selected."""
    noise = partial(rng.standard_t, 2) if kind == "heavy tails" else rng.normal
    n_selected, near = (0, 2, 1, 3, 2)[GIVEN.index(given)], (0.2, 0.5, 1.0)[number % 3]
    if kind == "categories":
        s, x = rng.integers(0, 4, size=(n, n_selected)), rng.integers(0, 4, size=(n, M))
        if "original" in given:
            x = np.where(rng.uniform(size=(n, M)) < 0.7, s[:, :1], x)
    else:
        s, x = noise(size=(n, n_selected)), noise(size=(n, M))
        s = rounded(s) if kind == "tied" else s
        if kind == ALIKE:
            x = s[:, 1:2] + near * x
            s[:, 1] = s[:, 0] + 0.1 * s[:, 1]
        elif "original" in given:
            x = CURVES.get(kind, lambda s: s)(s[:, :1]) + near * x
        x = rounded(x) if kind == "tied" else x
    y = noise(size=n)
    if kind == ALIKE:
        y = 10 * (s[:, 1] - s[:, 0]) + 0.3 * s[:, 0] + 0.3 * y
    elif n_selected:
        y = np.sin(2 * s[:, 0]) + 0.5 * s[:, 1:2].sum(axis=1) + 0.3 * y
    if kind == "tied":
        y = rounded(y)
    if kind in ("classes", "categories"):
        y = LETTERS[np.argsort(np.argsort(y)) * 3 // n]
    names = [f"x{j}" for j in range(M)], [f"s{j}" for j in range(n_selected)]
    table = pd.DataFrame(np.c_[x, s], columns=[*names[0], *names[1]])
    return table.map(lambda code: LETTERS[code]) if kind == "categories" else table, y, *names


def rounded(values):
    return np.round(2 * values) / 2


# ---- tests: how many surrogates reach the observed value

# The plain test, of which each case says what differs.
PLAIN = {
    "statistic": "ksg",
    "criterion": "mi",
    "null": "global",
    "correction": None,
    "n_neighbors": (3, 10),
}


def reached(table, y, candidates, selected, seed, **how):
    test = permutation_test(
        table,
        y,
        candidates,
        given=selected,
        n_permutations=P,
        random_state=seed,
        **how,
    )
    best = int(np.argmax(np.atleast_1d(test.observed)))
    return int(np.atleast_1d(test.exceedances)[best])


def one(seed, test, kind, n, given, number):
    """One data set, one test."""
    kinds = [*KINDS, *CURVES, ALIKE]
    rng = np.random.default_rng([seed, kinds.index(kind), n, GIVEN.index(given), number])
    table, y, candidates, selected = draw(kind, n, given, number, rng)
    if test in SEVERAL:
        how = {"correction": SEVERAL[test]}
        candidates = candidates[: M if SEVERAL[test] else 1]
        return reached(table, y, candidates, selected, number, **how)
    how = PLAIN | ({"n_neighbors": (3, 15)} if "local" in test else {})
    if test.endswith("K chosen"):
        how["n_neighbors"] = choose_k(
            table, y, n_neighbors=(2, min(20, n // 4)), random_state=number
        ).k
    if test.startswith("maximum"):
        how["correction"] = "max"
    else:
        candidates = candidates[:1]
    if "local" in test:
        how |= {"null": "local", "criterion": "cmi" if "added" in test else "mi"}
    return reached(table, y, candidates, selected, number, **how)


LOCAL, ADDED = "local, information", "local, information added"
DEFAULT = "maximum, local, information added"  # what MISelector asks by default
CASES = [
    (test, kind, n, given)
    for n in SIZES
    for kind in KINDS
    for test, which in {
        "global": GIVEN[:2],
        "maximum": GIVEN[:2],
        LOCAL: GIVEN[1:],
        ADDED: GIVEN[1:],
    }.items()
    for given in which
]
CASES += [
    (test, "continuous", n, given)
    for n in SIZES
    for test, given in {
        "maximum, K chosen": GIVEN[0],
        f"{ADDED}, K chosen": GIVEN[2],
    }.items()
]
CASES += [
    (DEFAULT, kind, n, given)
    for n in SIZES
    for kind in KINDS
    for given in GIVEN[1:4]
    if n < 500 or kind == "continuous"  # the others are slow
]
CASES += [(test, ALIKE, n, given) for n in SIZES for test in (LOCAL, ADDED) for given in GIVEN[3:]]
# Asked in several ways, as the default does: one candidate, and the best of several.
SEVERAL = {"several ways": None, "several ways, maximum": "max"}
CASES += [
    (test, kind, n, given)
    for n in SIZES
    for test in SEVERAL
    for kind, which in {**dict.fromkeys(KINDS, GIVEN[:4]), ALIKE: GIVEN[3:]}.items()
    for given in which
]
PART = 50  # data sets that a process takes at once


# ---- power

POWER = "power"

SHAPES = {
    "a line": lambda x: x,
    "a wave": lambda x: np.sin(2 * x),
    "a spread": None,
    "beside another column": None,
}
TITLES = {"beside another column": "given another column"}  # as the page has it
EFFECTS, POWER_SIZES = (0.0, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8), (50, 100, 200, 500)


def power(seed, shape, effect, n, number):
    """(p of ours, p of the correlation) for a signal of ``effect`` times its noise."""
    rng = np.random.default_rng([seed, list(SHAPES).index(shape), int(100 * effect), n, number])
    x, s, e = rng.normal(size=(3, n))
    if shape == "a spread":
        y = np.exp(effect * x) * e
    elif shape == "beside another column":
        y = np.sin(2 * s) + effect * x + 0.3 * e
        table = np.c_[x + s, s]  # x is hidden behind the column that is known
        known = {"given": 1, "null": "local", "criterion": "cmi", "n_neighbors": (3, 15)}
        known |= {"correction": None, "statistic": "ksg"}
        test = permutation_test(table, y, 0, n_permutations=P, random_state=number, **known)
        left = [v - np.polyval(np.polyfit(s, v, 1), s) for v in (table[:, 0], y)]
        return float(test.p_value), float(pearsonr(*left).pvalue)
    else:
        y = effect * SHAPES[shape](x) / SHAPES[shape](x).std() + e
    test = permutation_test(x, y, 0, n_permutations=P, random_state=number, **PLAIN)
    return float(test.p_value), float(pearsonr(x, y).pvalue)


# ---- running and keeping


def some(seed, case, first, last):
    warnings.simplefilter("ignore")
    if case[0] == POWER:
        return [power(seed, *case[1:], number) for number in range(first, last)]
    return [one(seed, *case, number) for number in range(first, last)]


def wanted(arguments):
    """(case, data sets), of the tests and numbers of samples that are asked for."""
    cases = [(case, arguments.sets) for case in CASES]
    cases += [
        ((POWER, shape, effect, n), arguments.sets // 5)
        for shape in SHAPES
        for n in POWER_SIZES
        for effect in EFFECTS
    ]
    for case, n_sets in cases:
        n = case[3] if case[0] == POWER else case[2]
        if case[0] in arguments.tests and n in arguments.samples:
            yield case, n_sets


def run(arguments):
    seed = arguments.seed
    name, rows = called("calibration", seed, SEED), {tuple(row["case"]): row for row in kept(seed)}
    jobs = sorted(
        (i, number, case, min(i + PART, n_sets))
        for number, (case, n_sets) in enumerate(wanted(arguments))
        for i in range(len(values_of(rows.get(case), seed)), n_sets, PART)
    )
    start, last = time.perf_counter(), 0.0
    done = {}
    with ProcessPoolExecutor(arguments.workers) as pool:
        futures = {pool.submit(some, seed, case, i, end): (case, i) for i, _, case, end in jobs}
        for number, future in enumerate(as_completed(futures), start=1):
            if future.cancelled():
                continue
            case, first = futures[future]
            done[case, first] = future.result()
            while (case, len(values_of(rows.get(case), seed))) in done:
                values = values_of(rows.get(case), seed)
                values = values + done.pop((case, len(values)))
                more = before(rows, case, seed)
                rows[case] = {"case": case, "seed": seed, "values": values, **more}
            seconds = time.perf_counter() - start
            if seconds > 60 * arguments.minutes:
                for waiting in futures:
                    waiting.cancel()
            if seconds - last > 20 or number == len(jobs):
                last = seconds
                keep(name, list(rows.values()))
                print(f"{number} of {len(jobs)}, {seconds:.0f} s", flush=True)
    keep(name, list(rows.values()))


def values_of(row, seed=SEED):
    """What a case has of this seed."""
    return row["values"] if row and row.get("seed") == seed else []


def before(rows, case, seed):
    """How often p was at most 5 %, and of how many, with the seed before this one."""
    row = rows.get(case)
    if row is None or case[0] == POWER:
        return {}
    if values_of(row, seed):
        return {"before": row["before"]} if "before" in row else {}
    return {"before": passed(row["values"])}


def kept(seed=SEED):
    file = HERE / "results" / f"{called('calibration', seed, SEED)}.json"
    return json.loads(file.read_text()) if file.exists() else []


# ---- showing

TEXT = """# Do the tests hold their error rate?

*Written by [`experiments/calibration.py`](../experiments/calibration.py)
from `experiments/results/{file}.json`, which keeps
how many of {p} surrogates reached the observed value, for each data set.*

A test at 5 % must say yes in 5 % of cases where there is nothing to find. Here that is the case by
construction, {sets} times each, for N = 50, 100 and 500 samples and five kinds of data: normal
columns; heavy tails (Student, 2 degrees of freedom); ties (normal, rounded to half a standard
deviation); a target of three classes; nothing but categories. In brackets: 95 % intervals of the
share (Wilson). p = (b + 1) / {p1}, when b of {p} surrogates score at least as much.
Rows that belong together, in groups and in series, have a [page of their own](together.md), and so
have [missing values](missing.md#where-nothing-is-to-be-found).{earlier}

## The default, which asks in several ways

One candidate, and the best of {m}, [asked in several ways](how.md#asking-in-several-ways),
{several_sets} data sets each. What is selected is as [below](#local-permutation). More cases, with
fewer and with more samples, are on the page of [levels](levels.md). All other sections are about
tests that compare estimates of information (`statistic="ksg"`).

{several}

{several_verdict}

## Global and maximum test

One column of noise against its surrogates (global), and the best of {m} columns of noise against
the best of their surrogates (maximum). Either nothing is selected, or two columns that are
informative about the target and independent of the candidates. Both tests are exact, so p must be
uniform.

{exact}

{uniform}

![p-values against what uniform ones would be](calibration-p.png)

Dashed lines: two columns are selected. The grey band holds 95 % at each p for itself. Both tests
saw the same data sets.

## Local permutation

The candidate has no information about the target given what is selected. "Others": it is noise.
"The original": it is a noisy copy of the selected column (noise of 0.2, 0.5 and 1 times that of
the column, in turn; 70 % of a category's values). So it is informative about the target, but
redundant. "... and one more", "... and two more": so many other columns are selected, too; the
first of them is informative about the target. "Alike": two selected columns differ by a tenth, the
target follows their difference, and the candidate is a noisy copy of that difference.
K is averaged from 3 to 15. "Information" is that of the whole set (`criterion="mi"`),
"information added" is I(X; Y | S) (`criterion="cmi"`, the default). This test is not exact: it is
as good as local linear fits predict the candidate from the selected columns.

{local}

{local_verdict}

**As `MISelector` asks by default**: the best of {m} candidates, information added, local
permutation, against the best surrogate.

{default}

By the noise of the copy (with ties, copies with little noise are the selected column itself but for
a few samples):

{crowded}

**Copies along a curve** are asked a second time:
[how often they pass](limits.md#copies-along-a-curve).

## K chosen from the data

`choose_k` looks at the target, and the test afterwards uses the same target. Normal columns:

{chosen}

## Power

The share of {power_sets} data sets in which p is at most 5 %, against the size of the effect;
dashed, the test of the correlation. A straight line is found by the correlation with fewer
samples; that is what not knowing the shape costs. "A spread": y = exp(effect · x) · noise. "Given
another column": y = sin(2 s) + effect · x + 0.3 noise, where s is selected and the candidate is
x + s; local permutation, against the partial correlation.

![Power against effect](calibration-power.png)

{power}
"""


def passed(reached_by):
    """In how many cases p is at most 5 %, and of how many."""
    return sum(b + 1 <= 0.05 * (P + 1) for b in reached_by), len(reached_by)


def share(reached_by):
    """How often p is at most 5 %, with its interval."""
    hits, n = passed(reached_by)
    low, high = binomtest(hits, n).proportion_ci(method="wilson")
    return hits / n, low, high


def said(reached_by):
    rate, low, high = share(reached_by)
    return f"{100 * rate:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def rates(found, tests, given):
    """A row for each test, kind of data and set of selected columns; a column for each N."""
    rows = []
    for test in tests:
        for kind in (*KINDS, ALIKE):
            for known in given:
                cells = [found.get((test, kind, n, known)) for n in SIZES]
                if any(cells):
                    words = [said(cell) if cell else "" for cell in cells]
                    rows.append([test, kind, known, *words])
    return rows


def head(*first):
    return [*first, *(f"N = {n}" for n in SIZES)]


def uniformity(found):
    """Of global and maximum tests: 20 bins of equal size, chi-square."""
    cases = [c for c in found if c[0] in ("global", "maximum")]
    fits = {}
    for case in cases:
        counts = np.bincount(np.array(found[case]) * 20 // (P + 1), minlength=20)
        fits[case] = chisquare(counts).pvalue
    inside = sum(share(found[c])[1] <= 0.05 <= share(found[c])[2] for c in cases)
    worst = min(fits, key=fits.get)
    n, low = len(cases), sum(p < 0.05 for p in fits.values())
    return (
        f"In {inside} of {n} cases the interval holds 5 % ({0.95 * n:.0f} are expected of exact "
        f"tests). Uniform over 20 bins (chi-square): {low} of {n} cases have p < 0.05 "
        f"({0.05 * n:.0f} expected), the smallest {fits[worst]:.4f} "
        f"({', '.join(map(str, worst))}; {min(1.0, fits[worst] * n):.2f} after Bonferroni)."
    )


def local_verdict(found):
    cases = [c for c in found if c[0] in (LOCAL, ADDED) and c[1] not in CURVES]
    worst = max(cases, key=lambda c: share(found[c])[0])
    above = [c for c in cases if share(found[c])[0] > 0.08]
    words = (
        "none is above 8 %"
        if not above
        else f"{len(above)} are above 8 %: "
        + "; ".join(f"{c[0]}, {c[1]}, N = {c[2]}, {c[3]}" for c in above)
    )
    where = ", ".join(map(str, worst))
    beyond = sum(share(found[c])[1] > 0.08 for c in cases)
    return (
        f"Of {len(cases)} cases, {words}; {beyond or 'none'} by more than the error of the "
        f"share (the interval lies above 8 %). The largest is {said(found[worst])}: {where}."
    )


def by_noise(found, test, kind, given):
    """A row for each noise of the candidate."""
    for i, noise in enumerate((0.2, 0.5, 1.0)):
        cells = [found.get((test, kind, n, given), [])[i::3] for n in SIZES]
        yield [noise, *(said(c) if c else "" for c in cells)]


def crowded(found):
    rows = [
        [test, kind, given, *row]
        for test in (LOCAL, ADDED)
        for kind in ("continuous", "tied")
        for given in GIVEN[2:4]
        for row in by_noise(found, test, kind, given)
    ]
    return table(head("test", "data", "selected", "noise of the copy"), rows, 3)


def chosen(found):
    rows = []
    for test, given in (("maximum", GIVEN[0]), (ADDED, GIVEN[2])):
        for name in (test, f"{test}, K chosen"):
            cells = [found.get((name, "continuous", n, given)) for n in SIZES]
            rows.append([name, given, *(said(c) if c else "" for c in cells)])
    return table(head("test", "selected"), rows, 2)


def power_table(found):
    rows = []
    for shape in SHAPES:
        for who, name in enumerate(("infosieve", "correlation")):
            cells = []
            for n in POWER_SIZES:
                values = np.array(found[(POWER, shape, 0.45, n)])
                cells.append(f"{100 * np.mean(values[:, who] <= 0.05):.0f} %")
            rows.append([TITLES.get(shape, shape), name, *cells])
    names = ["effect of 0.45", "test", *(f"N = {n}" for n in POWER_SIZES)]
    return table(names, rows, 2)


def pictures(found):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams |= {"axes.spines.top": False, "axes.spines.right": False}
    colors = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000")
    figure, axes = plt.subplots(2, 3, figsize=(11, 6.4), sharex=True, sharey=True)
    p = (1 + np.arange(P + 1)) / (P + 1)
    for row, test in zip(axes, ("global", "maximum"), strict=True):
        for ax, n in zip(row, SIZES, strict=True):
            ax.axhline(0, color="#888888", lw=1)
            for kind, color in zip(KINDS, colors, strict=True):
                for given, line in zip(GIVEN[:2], ("-", "--"), strict=True):
                    values = found.get((test, kind, n, given))
                    if values:
                        ecdf = np.cumsum(np.bincount(values, minlength=P + 1)) / len(values)
                        label = kind if line == "-" else None
                        ax.plot(p, ecdf - p, line, color=color, lw=1, label=label)
            sets = min(len(v) for c, v in found.items() if c[0] == test and c[2] == n)
            band = 1.96 * np.sqrt(p * (1 - p) / sets)
            ax.fill_between(p, -band, band, color="#888888", alpha=0.2, lw=0)
            ax.set_title(f"{test}, N = {n}", fontsize=10)
    axes[0, 0].legend(frameon=False, fontsize=8)
    for ax in axes[-1]:
        ax.set_xlabel("p")
    for row in axes:
        row[0].set_ylabel("share of p below, minus p")
    figure.tight_layout()
    figure.savefig(HERE.parent / "docs" / "calibration-p.png", dpi=110)
    figure, axes = plt.subplots(1, 4, figsize=(12, 3.6), sharey=True)
    for ax, shape in zip(axes, SHAPES, strict=True):
        for n, color in zip(POWER_SIZES, colors, strict=False):
            values = np.array([found[(POWER, shape, e, n)] for e in EFFECTS])
            both = np.mean(values <= 0.05, axis=1)
            ax.plot(EFFECTS, both[:, 0], "-o", ms=3, color=color, label=f"N = {n}")
            ax.plot(EFFECTS, both[:, 1], "--", lw=1, color=color)
        ax.axhline(0.05, color="#888888", lw=1, ls=":")
        ax.set(title=TITLES.get(shape, shape), xlabel="effect", ylim=(0, 1.02))
    axes[0].set_ylabel("share of data sets with p ≤ 0.05")
    axes[0].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(HERE.parent / "docs" / "calibration-power.png", dpi=110)


def several_verdict(found):
    each = {c: share(v) for c, v in found.items() if c[0] in SEVERAL}
    worst = max(each, key=lambda c: each[c][0])
    above, beyond = (sum(rate[i] > 0.08 for rate in each.values()) for i in (0, 1))
    mean = np.mean([rate[0] for rate in each.values()])
    return (
        f"Of {len(each)} cases, {above or 'none'} {'is' if above == 1 else 'are'} above 8 %, "
        f"{beyond or 'none'} by more than the error of the share. The mean is {100 * mean:.1f} %, "
        f"the largest {said(found[worst])}: {', '.join(map(str, worst))}."
    )


def times(found):
    sets = {len(v) for case, v in found.items() if case[0] not in (POWER, *SEVERAL)}
    return " to ".join(f"{n:,}" for n in sorted({min(sets), max(sets)}))


def earlier(seed):
    """Which cases have not been run with this seed."""
    which = {}
    for row in kept(seed):
        if not values_of(row, seed) and row["case"][1] not in CURVES:
            test, n = row["case"][0], row["case"][3 if row["case"][0] == POWER else 2]
            which.setdefault(test, set()).add(n)
    if not which:
        return ""
    words = [f"{test} (N = {', '.join(map(str, sorted(ns)))})" for test, ns in which.items()]
    return "\n\nNot run again since the tests were last changed: " + "; ".join(words) + "."


def show(seed=SEED):
    found = {tuple(row["case"]): row["values"] for row in kept(seed)}
    text = TEXT.format(
        file=called("calibration", seed, SEED),
        p=P,
        p1=P + 1,
        m=M,
        sets=times(found),
        earlier=earlier(seed),
        exact=table(
            head("test", "data", "selected"), rates(found, ("global", "maximum"), GIVEN[:2]), 3
        ),
        uniform=uniformity(found),
        several=table(head("test", "data", "selected"), rates(found, SEVERAL, GIVEN), 3),
        several_verdict=several_verdict(found),
        several_sets=min(len(v) for c, v in found.items() if c[0] in SEVERAL),
        local=table(
            head("test", "data", "selected"),
            rates(found, (LOCAL, ADDED), (*GIVEN[1:3], *GIVEN[:2:-1])),
            3,
        ),
        local_verdict=local_verdict(found),
        default=table(head("test", "data", "selected"), rates(found, (DEFAULT,), GIVEN[1:4]), 3),
        crowded=crowded(found),
        chosen=chosen(found),
        power_sets=len(found[(POWER, "a line", 0.45, 100)]),
        power=power_table(found),
    )
    print(text)
    docs = HERE.parent / "docs"
    (docs / "calibration.md").write_text(text, encoding="utf-8")
    pictures(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=1000)
    tests = list(dict.fromkeys([*(case[0] for case in CASES), POWER]))
    samples = sorted({*SIZES, *POWER_SIZES})
    parser.add_argument("--samples", type=int, nargs="+", choices=samples, default=samples)
    parser.add_argument("--tests", nargs="+", choices=tests, default=tests)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seed", type=seed_number, default=SEED)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    if not arguments.show:
        run(arguments)
    show(arguments.seed)


if __name__ == "__main__":
    main()
