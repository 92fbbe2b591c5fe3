"""What a test of every column costs, in passes of `relevance` over the same table.

    make bench       # or: python benchmarks/relevance.py [--quick] [--seed 0]
    python benchmarks/relevance.py --cases 2 3   # some of them, beside what is kept of the others
    python benchmarks/relevance.py --show        # the page from the kept results

Writes benchmarks/relevance.json and docs/benchmarks-relevance.md. A pass has the same K and scale
and the same threads, and is timed before and after the test: the shorter time counts. Times are
those of the processor, all threads together, which a busy machine changes little.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import json
import time
import warnings

import common
import numpy as np
import pandas as pd
from common import DOCS, HERE, machine

from infosieve import relevance, relevance_test

PASS = {"scale": "normal-scores", "n_neighbors": (3, 25), "max_samples": None}


def numbers(n, m, rng):
    """Columns without ties, a hundredth of which the target depends on."""
    X = rng.normal(size=(n, m))
    return X, X[:, : max(1, m // 100)].sum(axis=1) + rng.normal(size=n)


def rounded(n, m, rng):
    """The same with two digits: ties, no two columns with the same."""
    X, y = numbers(n, m, rng)
    return X.round(2), y


def mixed(n, m, rng):
    """Halves and quarters: two digits, counts with many zeros, yes or no, categories."""
    X, y = rounded(n, m, rng)
    X = pd.DataFrame(X, columns=[f"x{j}" for j in range(m)])
    for j in range(m // 2, m):
        kind, rate = j % 4, rng.uniform(0.2, 1.5)
        if kind < 2:
            X[f"x{j}"] = rng.poisson(rate, n)
        elif kind == 2:
            X[f"x{j}"] = rng.integers(0, 2, n)
        else:
            X[f"x{j}"] = rng.choice(list("abcd"), n)
    return X, y


CASES = [
    ("numbers without ties", numbers, 500, 20_000, 1),
    ("numbers without ties", numbers, 500, 5000, 2),
    ("numbers of two digits", rounded, 500, 1000, 1),
    ("mixed", mixed, 500, 1000, 1),
]


def timed(function):
    start = time.process_time()
    function()
    return time.process_time() - start


def row_of(what, make, n, m, n_jobs):
    X, y = make(n, m, np.random.default_rng(common.state()))
    found = []

    def one_pass():
        return timed(lambda: relevance(X, y, n_jobs=n_jobs, **PASS))

    before = one_pass()
    test = timed(
        lambda: found.append(relevance_test(X, y, n_jobs=n_jobs, random_state=common.state()))
    )
    one, result = min(before, one_pass()), found[0]
    own = result.tested & ~result.shared
    return {
        "case": f"{what}, {n_jobs} thread{'s' if n_jobs > 1 else ''}",
        "n": n,
        "m": m,
        "seed": common.SEED,
        "ours": test,
        "one": one,
        "ratio": test / one,
        "draws": int(result.n_draws_asked.max()),
        "shared": int(result.shared.sum()),
        "own": int(own.sum()),
        "draws of own, mean": round(result.n_draws[own].mean()) if own.any() else 0,
    }


def write(result):
    """docs/benchmarks-relevance.md, from the results alone."""
    m = result["machine"]
    lines = [
        "# What a test of every column costs",
        "",
        "Written by [`benchmarks/relevance.py`](../benchmarks/relevance.py)"
        f" on {m['processor']}, {m['cores']} cores, Python "
        f"{m['python']}.",
        "The time of `relevance_test` in passes of `relevance` with the same K, scale and threads,",
        "in the same process: times of the processor, all threads together. Shared: columns that",
        "share a null distribution, of so many draws. Own: columns with one each, and the mean of",
        "their draws.",
        "",
        "| table | samples | columns | shared | draws | own | draws | one pass | test | passes |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in filter(None, result["rows"]):
        case = row["case"] + common.told(row.get("seed"))
        cells = [case, row["n"], row["m"], row["shared"], row["draws"], row["own"]]
        cells += [row["draws of own, mean"], f"{row['one']:.1f} s", f"{row['ours']:.0f} s"]
        shown = [f"{cell:,}" if isinstance(cell, int) else cell for cell in cells]
        lines.append(f"| {' | '.join(shown)} | **{row['ratio']:.1f}** |")
    (DOCS / "benchmarks-relevance.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, print, write nothing")
    numbers = range(len(CASES))
    parser.add_argument("--cases", type=int, nargs="+", choices=numbers, default=list(numbers))
    parser.add_argument("--seed", type=common.seed_number, default=0, help="of the data")
    parser.add_argument("--show", action="store_true", help="write the docs from the kept results")
    arguments = parser.parse_args()
    common.SEED = arguments.seed
    warnings.simplefilter("ignore")
    kept = HERE / "relevance.json"
    if arguments.show:
        write(json.loads(kept.read_text()))
        return
    X, y = mixed(60, 40, np.random.default_rng(0))
    relevance_test(X, y, n_permutations=99)  # compile
    rows = json.loads(kept.read_text())["rows"] if kept.exists() else [None] * len(CASES)
    for number in arguments.cases:
        what, make, n, m, n_jobs = CASES[number]
        small = (100, 200) if arguments.quick else (n, m)
        rows[number] = row_of(what, make, *small, n_jobs)
        print(json.dumps(rows[number]), flush=True)
        if not arguments.quick:
            result = {"machine": machine(["numpy", "numba"]), "rows": rows}
            kept.write_text(json.dumps(result, indent=1) + "\n")
    if not arguments.quick:
        write(json.loads(kept.read_text()))


if __name__ == "__main__":
    main()
