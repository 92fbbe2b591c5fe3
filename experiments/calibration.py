"""Do the tests hold their error rate? p-values where nothing is to be found, and power where it is.

    python experiments/calibration.py [--sets 1000] [--workers 2] [--show]

Keeps how many of 99 permuted copies reached the observed value, for every data set, in
results/calibration.json; what is there already is not computed again. --show only rebuilds
docs/calibration.md and its figures.
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
from scipy.stats import pearsonr
from spectra import HERE, keep

from infosieve import choose_k, permutation_test

P = 99
SIZES = (50, 100, 500)
M = 5  # candidates of the maximum test
LETTERS = np.array(list("abcd"))
KINDS = ("continuous", "heavy tails", "tied", "classes", "categories")
# What is selected: nothing; two columns that have nothing to do with the candidates; a column
# that the candidates are noisy copies of; the same and two more.
GIVEN = ("nothing", "others", "the original", "the original and two more")


# ---- data


def draw(kind, n, given, number, rng):
    """(table, y, candidates, selected). Given what is selected, no candidate tells of y."""
    noise = partial(rng.standard_t, 2) if kind == "heavy tails" else rng.normal
    n_selected = {"nothing": 0, "others": 2, "the original": 1}.get(given, 3)
    if kind == "categories":
        s, x = rng.integers(0, 4, size=(n, n_selected)), rng.integers(0, 4, size=(n, M))
        if "original" in given:
            x = np.where(rng.uniform(size=(n, M)) < 0.7, s[:, :1], x)
    else:
        s, x = noise(size=(n, n_selected)), noise(size=(n, M))
        s = rounded(s) if kind == "tied" else s
        if "original" in given:
            x = s[:, :1] + (0.2, 0.5, 1.0)[number % 3] * x
        x = rounded(x) if kind == "tied" else x
    y = noise(size=n)
    if n_selected:
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


# ---- tests: how many permuted copies reach the observed value


def reached(table, y, candidates, selected, seed, **how):
    test = permutation_test(
        table, y, candidates, selected=selected, n_permutations=P, random_state=seed, **how
    )
    best = int(np.argmax(np.atleast_1d(test.observed)))
    return int(np.atleast_1d(test.exceedances)[best])


def one(test, kind, n, given, number):
    """One data set, one test."""
    rng = np.random.default_rng([KINDS.index(kind), n, GIVEN.index(given), number])
    table, y, candidates, selected = draw(kind, n, given, number, rng)
    how = {"n_neighbors": (3, 15)} if test.startswith("local") else {}
    if test.endswith("K chosen"):
        how["n_neighbors"] = choose_k(table, y, random_state=number, k_max=min(20, n // 4)).k
    if test.startswith("maximum"):
        how["correction"] = "max"
    else:
        candidates = candidates[:1]
    if test.startswith("local"):
        how |= {"null": "local", "criterion": "cmi" if "added" in test else "mi"}
    return reached(table, y, candidates, selected, number, **how)


LOCAL, ADDED = "local, information", "local, information added"
CASES = [
    (test, kind, n, given)
    for n in SIZES
    for kind in KINDS
    for test, which in {
        "global": GIVEN[:2],
        "maximum": GIVEN[:2],
        LOCAL: GIVEN[1:3],
        ADDED: GIVEN[1:3],
    }.items()
    for given in which
]
CASES += [
    (test, "continuous", n, given)
    for n in SIZES
    for test, given in {
        LOCAL: GIVEN[3],
        ADDED: GIVEN[3],
        "maximum, K chosen": GIVEN[0],
        f"{ADDED}, K chosen": GIVEN[2],
    }.items()
]


# ---- power


SHAPES = {
    "a line": lambda x: x,
    "a wave": lambda x: np.sin(2 * x),
    "a spread": None,
    "beside another column": None,
}
EFFECTS, POWER_SIZES = (0.0, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8), (50, 100, 200, 500)


def power(shape, effect, n, number):
    """(p of ours, p of the correlation) for a signal of ``effect`` times its noise."""
    rng = np.random.default_rng([list(SHAPES).index(shape), int(100 * effect), n, number])
    x, s, e = rng.normal(size=(3, n))
    if shape == "a spread":
        y = np.exp(effect * x) * e
    elif shape == "beside another column":
        y = np.sin(2 * s) + effect * x + 0.3 * e
        table = np.c_[x + s, s]  # x is hidden behind the column that is known
        known = {"selected": 1, "null": "local", "criterion": "cmi", "n_neighbors": (3, 15)}
        test = permutation_test(table, y, 0, n_permutations=P, random_state=number, **known)
        left = [v - np.polyval(np.polyfit(s, v, 1), s) for v in (table[:, 0], y)]
        return float(test.p_value), float(pearsonr(*left).pvalue)
    else:
        y = effect * SHAPES[shape](x) / SHAPES[shape](x).std() + e
    test = permutation_test(x, y, 0, n_permutations=P, random_state=number)
    return float(test.p_value), float(pearsonr(x, y).pvalue)


# ---- running and keeping


def some(case, first, last):
    warnings.simplefilter("ignore")
    if case[0] == "power":
        return [power(*case[1:], number) for number in range(first, last)]
    return [one(*case, number) for number in range(first, last)]


def run(arguments):
    rows = {tuple(row["case"]): row["values"] for row in kept()}
    wanted = [(case, arguments.sets) for case in CASES]
    wanted += [
        (("power", shape, effect, n), arguments.sets // 5)
        for shape in SHAPES
        for n in POWER_SIZES
        for effect in EFFECTS
    ]
    jobs = [
        (case, i, min(i + 50, n_sets))
        for case, n_sets in wanted
        for i in range(len(rows.get(case, [])), n_sets, 50)
    ]
    start, last = time.perf_counter(), 0.0
    done = {}
    with ProcessPoolExecutor(arguments.workers) as pool:
        futures = {pool.submit(some, *job): job for job in jobs}
        for number, future in enumerate(as_completed(futures), start=1):
            case, first, _ = futures[future]
            done[case, first] = future.result()
            while (case, len(rows.get(case, []))) in done:
                rows[case] = rows.get(case, []) + done.pop((case, len(rows.get(case, []))))
            seconds = time.perf_counter() - start
            if seconds - last > 20 or number == len(jobs):
                last = seconds
                keep("calibration", [{"case": c, "values": v} for c, v in rows.items()])
                print(f"{number} of {len(jobs)}, {seconds:.0f} s", flush=True)


def kept():
    file = HERE / "results" / "calibration.json"
    return json.loads(file.read_text()) if file.exists() else []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    if not arguments.show:
        run(arguments)


if __name__ == "__main__":
    main()
