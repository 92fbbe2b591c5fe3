"""Tables from the rows that run.py keeps: python experiments/summarize.py results.json"""

import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np


def counts(row):
    selected, relevant = set(row[4]), set(row[5])
    hits = len(selected & relevant)
    return np.array([hits, len(selected) - hits, len(relevant) - hits])


def f1(tallies):
    hits, false, missed = np.sum(tallies, axis=0)
    return 2 * hits / max(1, 2 * hits + false + missed)


def by_problem(rows):
    """{problem: {procedure: {number: counts}}}"""
    found = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        found[row[0]][row[1]][row[3]] = counts(row)
    return found


def difference(ours, others, n_resamples=2000):
    """F1 of ours minus F1 of others on the same data sets, with a 95 % bootstrap interval."""
    numbers = sorted(set(ours) & set(others))
    a, b = (np.array([of[i] for i in numbers]) for of in (ours, others))
    rng = np.random.default_rng(0)
    draws = rng.integers(len(numbers), size=(n_resamples, len(numbers)))
    values = [f1(a[draw]) - f1(b[draw]) for draw in draws]
    return len(numbers), f1(a) - f1(b), *np.quantile(values, [0.025, 0.975])


def main():
    rows = [row for file in sys.argv[1:] for row in json.loads(Path(file).read_text())]
    found = by_problem(rows)
    seconds = defaultdict(list)
    for row in rows:
        seconds[row[0], row[1]].append(row[6])
    for problem, procedures in found.items():
        print(problem)
        for name, tallies in sorted(
            procedures.items(), key=lambda item: -f1(list(item[1].values()))
        ):
            hits, false, missed = np.mean(list(tallies.values()), axis=0)
            some = np.mean([t[:2].sum() > 0 for t in tallies.values()])
            print(
                f"  {name:32s} F1 {f1(list(tallies.values())):.3f}  found {hits:.2f}"
                f"  false {false:.2f}  missed {missed:.2f}  any {some:.3f}  n {len(tallies)}"
                f"  {np.mean(seconds[problem, name]):.2f} s"
            )
    scores = defaultdict(dict)
    for problem, procedures in found.items():
        for name, tallies in procedures.items():
            scores[name][problem] = f1(list(tallies.values()))
    print("mean F1")
    most = max(len(v) for v in scores.values())
    for name, values in sorted(scores.items(), key=lambda item: -np.mean(list(item[1].values()))):
        note = "" if len(values) == most else f"  (only {len(values)} of {most} problems)"
        print(f"  {name:32s} {np.mean(list(values.values())):.3f}{note}")


if __name__ == "__main__":
    main()
