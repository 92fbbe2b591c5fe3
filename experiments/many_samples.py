"""A weak column among many samples: all of them in one estimate, or in parts.

    python experiments/many_samples.py [--runs 40] [--samples 50000] [--seed 0] [--show]

y = c x + noise, c such that a test of all samples finds x in most runs, and the same where two
columns are given that y depends on. Keeps experiments/results/many_samples.json and writes
docs/many-samples.md.
"""

import argparse
import json
import time

import numpy as np
from spectra import APART, HERE, called, seed_number, told

from infosieve import permutation_test

DOCS = HERE.parent / "docs"
SETTINGS = {"one estimate of all (None)": None, "parts (auto)": "auto"}
CASES = {"alone": (0, (0.09, 0.11)), "given two": (2, (0.085,))}


def data(rng, n, n_given, strength):
    X = rng.normal(size=(n, n_given + 1))
    y = X[:, :n_given].sum(axis=1) + strength * X[:, -1] + rng.normal(size=n)
    return X, y


def one(case, strength, n, run):
    n_given = CASES[case][0]
    X, y = data(np.random.default_rng([11, n_given, run]), n, n_given, strength)
    row = {"case": case, "strength": strength, "n": n, "run": run}
    for name, max_samples in SETTINGS.items():
        start = time.process_time()
        test = permutation_test(
            X, y, n_given, given=list(range(n_given)), alpha=0.05, max_samples=max_samples,
            statistic="ksg", random_state=run,
        )  # fmt: skip
        row[name] = [bool(test.p_value <= 0.05), round(time.process_time() - start, 2)]
    return row


def page(rows, seed=0):
    lines = [
        "# Many samples",
        "",
        "Written by [`experiments/many_samples.py`](../experiments/many_samples.py):",
        "how often a weak column passes a test at 5 %,",
        "and how long the test takes (one thread), where all samples are one estimate and where",
        f"they are estimated in [parts](how.md#many-samples). The same data for both{told(seed)}.",
        "",
        "| N | | strength | runs | all in one estimate | in parts | seconds | seconds in parts |",
        "|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    for key in sorted({(r["n"], r["case"], r["strength"]) for r in rows}):
        some = [r for r in rows if (r["n"], r["case"], r["strength"]) == key]
        found, seconds = (
            [np.mean([r[name][at] for r in some]) for name in SETTINGS] for at in range(2)
        )
        n, case, strength = key
        lines.append(
            f"| {n:,} | {case} | {strength} | {len(some)} | {found[0]:.0%} | {found[1]:.0%} "
            f"| {seconds[0]:.1f} | {seconds[1]:.1f} |"
        )
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--samples", type=int, default=50_000)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--seed", type=seed_number, default=0)
    parser.add_argument("--show", action="store_true", help="write the page from what is kept")
    options = parser.parse_args()
    file = HERE / "results" / f"{called('many_samples', options.seed)}.json"
    first = APART * options.seed
    rows = json.loads(file.read_text()) if file.exists() else []
    known = {(r["case"], r["strength"], r["n"], r["run"]) for r in rows}
    for run in range(first, first + (0 if options.show else options.runs)):
        for case in options.cases:
            for strength in CASES[case][1]:
                if (case, strength, options.samples, run) not in known:
                    rows.append(one(case, strength, options.samples, run))
                    print(rows[-1], flush=True)
                    file.write_text("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")
    (DOCS / "many-samples.md").write_text(page(rows, options.seed), encoding="utf-8")


if __name__ == "__main__":
    main()
