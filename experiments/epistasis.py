"""Two loci among 1,000 that matter only together: does MISelector() find them?

    python experiments/epistasis.py --data DIR [--categories] [--jobs 1] [--seed 0 1 2]

DIR has epistasis1000.csv.gz of PMLB (GAMETES): 1,600 samples, genotypes 0, 1 and 2, the classes in
"target"; the loci that matter are P1 and P2. Keeps what was selected, and in what time, in
results/epistasis.json; before_after.py --show puts it into docs/before-after.md.
"""

import argparse
import json
import time
from pathlib import Path

import pandas as pd
from spectra import HERE, keep

from infosieve import MISelector

RELEVANT = ["P1", "P2"]


def load(folder, categories):
    table = pd.read_csv(folder / "epistasis1000.csv.gz")
    y = table.pop("target").map({0: "control", 1: "case"})
    return table.astype(str) if categories else table, y


def kept():
    file = HERE / "results" / "epistasis.json"
    return json.loads(file.read_text()) if file.exists() else []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--categories", action="store_true", help="genotypes are not numbers")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, nargs="+", default=[0], help="one or more")
    arguments = parser.parse_args()
    X, y = load(arguments.data, arguments.categories)
    genotypes = "categories" if arguments.categories else "numbers"
    for seed in arguments.seed:
        start = time.perf_counter()
        selector = MISelector(n_jobs=arguments.jobs, random_state=seed).fit(X, y)
        seconds = round(time.perf_counter() - start, 1)
        selected = list(selector.get_feature_names_out())
        about = {"genotypes": genotypes, "seed": seed}
        others = [row for row in kept() if not about.items() <= row.items()]
        row = about | {"jobs": arguments.jobs, "selected": selected, "seconds": seconds}
        keep("epistasis", [*others, row])
        print(row, flush=True)


if __name__ == "__main__":
    main()
