"""Are the columns that could stand in for a selected one the right ones, and what do they cost?

    python experiments/alternatives.py [--sets 20] [--minutes 20] [--data FOLDER]
        [--seed 0] [--show]

Three columns matter. Copies: each has 2 or 10 noisy copies. Blocks: each is one of five columns
that are all correlated. Stand-ins are right if they are of the family of the selected column. Keeps
experiments/results/alternatives.json and writes docs/alternatives.md. FOLDER has riboflavin.csv.gz.
"""

import argparse
import json
import os
import time
import warnings
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd
from spectra import APART, HERE, called, seed_number, table, told

from infosieve import MISelector
from infosieve.datasets import load_tecator
from infosieve.selection import _alternatives

DOCS = HERE.parent / "docs"
SIZES = (100, 300)
N_NOISE = 40
SHARES = (0.3, 0.5, 0.7)
STRANGERS = {
    "waves": "waves of another selected column",
    "categories": "categories made from another selected column",
    "left out": "columns that matter by themselves, which `max_features` left out",
}
# What is among the columns: how many relatives each of the three has, and their noise (copies) or
# correlation (blocks).
CASES = [("copies", n, noise) for n in (2, 10) for noise in (0.1, 0.3, 0.5)]
CASES += [("blocks", 4, rho) for rho in (0.7, 0.9)]


def draw(kind, n_relatives, size, n, number):
    """A table whose first part has the families, one after the other, and the target."""
    rng = np.random.default_rng([11, kind == "blocks", n_relatives, int(100 * size), n, number])
    width = 1 + n_relatives
    families = []
    for _ in range(3):
        if kind == "copies":
            own = rng.normal(size=(n, 1))
            families.append(np.c_[own, own + size * rng.normal(size=(n, n_relatives))])
        else:
            common = rng.normal(size=(n, 1))
            own = rng.normal(size=(n, width))
            families.append(np.sqrt(size) * common + np.sqrt(1 - size) * own)
    a, b, c = (family[:, 0] for family in families)
    y = np.sin(2 * a) + b + 0.7 * c**2 + 0.3 * rng.normal(size=n)
    return np.c_[(*families, rng.normal(size=(n, N_NOISE)))], y, width


def one(kind, n_relatives, size, n, number):
    """Times, families that were selected once, and (family found right, share) of stand-ins."""
    X, y, width = draw(kind, n_relatives, size, n, number)
    start = time.process_time()
    selector = MISelector(random_state=number, statistic="ksg", n_jobs=1).fit(X, y)
    between = time.process_time()
    found = selector.alternatives(X, y)
    seconds = between - start, time.process_time() - between

    def family(j):
        return int(j) // width if j < 3 * width else 3

    chosen = [family(j) for j in selector.selected_]
    once = [f for f in range(3) if chosen.count(f) == 1]
    rows = [
        [bool(family(a) == family(b)), round(float(share), 3)]
        for a, b, share in zip(found["feature"], found["stand_in"], found["share"], strict=True)
        if family(a) in once
    ]
    false = [
        round(float(share), 3)
        for a, share in zip(found["feature"], found["share"], strict=True)
        if family(a) == 3
    ]
    return {
        "seconds": [round(s, 3) for s in seconds],
        "once": len(once),
        "twice": sum(chosen.count(f) > 1 for f in range(3)),
        "rows": rows,
        "false": chosen.count(3),
        "of false": false,
    }


def strangers(kind, n, number):
    """Selected columns, and stand-ins listed for them, where none of what is left could stand in.

    "left out": columns that matter by themselves, but only three may be selected. Otherwise four
    columns are selected, and four relatives of the first are left: they could stand in for that.
    """
    rng = np.random.default_rng([12, n, number, len(kind)])
    x = rng.normal(size=(n, 5))
    y = 2 * x[:, 0] + x[:, 1] + 0.5 * x[:, 2] + 0.5 * x[:, 3] + 0.2 * rng.normal(size=n)
    columns = pd.DataFrame(x, columns=list("abcde"))
    if kind == "left out":
        selector = MISelector(max_features=3, random_state=number, statistic="ksg", n_jobs=1).fit(
            columns, y
        )
        return [len(selector.selected_), len(selector.alternatives(columns, y))]
    for j in range(4):
        relative = x[:, 0] + 0.3 * rng.normal(size=n)
        columns[f"r{j}"] = np.sin(2 * relative)
        if kind == "categories":
            columns[f"r{j}"] = np.array(list("pqrs"))[np.digitize(relative, [-0.67, 0, 0.67])]
    selector = MISelector(random_state=number, statistic="ksg", n_jobs=1).fit(columns, y)
    found = selector.alternatives(columns, y)
    others = [name for name in selector.get_feature_names_out() if name in "bcd"]
    return [len(others), int(found["feature"].isin(others).sum())]


def real(folder, seed):
    """Tecator: how far stand-ins are along the spectrum. Genes: how alike they are."""
    X, fat = load_tecator(return_X_y=True, as_frame=True)
    tables = {"Tecator": (X, fat)}
    if folder is not None:
        genes = pd.read_csv(Path(folder) / "riboflavin.csv.gz")
        tables["riboflavin"] = genes.drop(columns=genes.columns[-1]), genes[genes.columns[-1]]
    out = {}
    for name, (x, y) in tables.items():
        start = time.process_time()
        selector = MISelector(random_state=seed, statistic="ksg", n_jobs=1).fit(x, y)
        between = time.process_time()
        found = selector.alternatives(x, y)
        seconds = [round(between - start, 2), round(time.process_time() - between, 2)]
        places = {column: j for j, column in enumerate(x.columns)}
        correlation = np.abs(np.corrcoef(x.to_numpy().T))
        rows = []
        for chosen in selector.get_feature_names_out():
            others = found.loc[found["feature"] == chosen, "stand_in"].tolist()
            rows.append(
                {
                    "column": str(chosen),
                    "stand-ins": [str(other) for other in others],
                    "places": [places[other] - places[chosen] for other in others],
                    "correlation": [
                        round(float(correlation[places[chosen], places[o]]), 3) for o in others
                    ],
                }
            )
        out[name] = {"shape": list(x.shape), "seconds": seconds, "rows": rows}
    return out


# ---- the page

PAGE = """# What could stand in

*Tests on this page compare estimates of information (`statistic="ksg"`). Those of the default
[ask in several ways](how.md#asking-in-several-ways): [levels](levels.md),
[weak effects](weak.md), [shapes](shapes.md).*

Written by [`experiments/alternatives.py`](../experiments/alternatives.py).

`selector.alternatives(X, y)` lists, for each selected column, those that could stand in for it
([how](how.md#stand-ins)): they are significant in its place, and it adds less than half beside
them of what it adds beside permuted copies of them. Three columns matter here, y = sin(2 a) + b +
0.7 c² + noise, among {noise} columns of noise. They have *copies* with noise of the given
standard deviation (their own is one), or stand in *blocks* of five columns that are all
correlated, of which only the first acts. Of families from which one column was selected (where
two were, the second may be right: two noisy copies know more than one): **recall** is the share
of the other members that are listed, **precision** the share of listed columns that are members.
{sets} data sets in each row{seed}.

{found}

## How much may remain

"Less than half" is a choice. With other shares, all rows together:

{shares}

## Columns that cannot stand in

Fewer than 16 columns are left, so that all are tried, and none of them can stand in for the
selected columns that are counted:

{strangers}

Above, {n_false} columns of noise were selected; stand-ins were listed for {n_false_with} of them.

## What it costs

Process time, one thread, as a share of that of the selection: {cost}.

## Real tables

{real}

A stand-in is no proof that a column does not matter: it says that these samples do not tell the
two apart.
"""


def rates(cells, share):
    """Recall and precision over data sets of one case."""
    rows = [row for cell in cells for row in cell["rows"] if row[1] < share]
    right = sum(row[0] for row in rows)
    wanted = sum(cell["once"] * cell["n"] for cell in cells)
    return right / wanted if wanted else np.nan, right / len(rows) if rows else np.nan


def percent(value):
    return "" if np.isnan(value) else f"{100 * value:.0f} %"


def show(kept, seed):
    cells = {tuple(json.loads(key)): value for key, value in kept["sets"].items()}
    rows, every = [], []
    for kind, n_relatives, size in CASES:
        row = [kind, n_relatives, size]
        for n in SIZES:
            some = [v | {"n": n_relatives} for v in cells[(kind, n_relatives, size, n)]]
            every += some
            row += [percent(rate) for rate in rates(some, 0.5)]
            row.append(f"{sum(v['once'] for v in some)} / {sum(v['twice'] for v in some)}")
        rows.append(row)
    heads = ["relatives", "of each", "noise or correlation"]
    for n in SIZES:
        heads += [f"N = {n}: recall", "precision", "selected once / twice"]
    shares = [
        [f"{100 * share:.0f} %", *(percent(rate) for rate in rates(every, share))]
        for share in SHARES
    ]
    cost = np.array([v["seconds"][1] / v["seconds"][0] for v in every])
    low, middle, high = np.quantile(cost, [0.05, 0.5, 0.95])
    false = [value for v in every for value in v["of false"] if value < 0.5]
    text = PAGE.format(
        noise=N_NOISE,
        sets=min(len(v) for v in cells.values()),
        seed=told(seed),
        found=table(heads, rows, 1),
        shares=table(["less than", "recall", "precision"], shares, 1),
        strangers=table(
            ["left are", *(f"N = {n}: stand-ins / selected" for n in SIZES)],
            [
                [words, *(" / ".join(map(str, totals(kept, kind, n))) for n in SIZES)]
                for kind, words in STRANGERS.items()
            ],
            1,
        ),
        n_false=sum(v["false"] for v in every),
        n_false_with=len(false),
        cost=f"{percent(middle)} in the middle, most between {percent(low)} and {percent(high)}",
        real="\n\n".join(listed(name, one) for name, one in kept["real"].items()),
    )
    (DOCS / "alternatives.md").write_text(text, encoding="utf-8")
    print(text)


def totals(kept, kind, n):
    """Stand-ins listed, and for how many selected columns."""
    cells = kept["strangers"][json.dumps([kind, n])]
    return sum(cell[1] for cell in cells), sum(cell[0] for cell in cells)


def listed(name, found):
    n, m = found["shape"]
    fit, more = found["seconds"]
    times = f"selection {fit:.1f} s, stand-ins {more:.1f} s"
    text = f"**{name}** ({n:,} samples, {m:,} columns; {times}):\n\n"
    rows = []
    for row in found["rows"]:
        alike = row["correlation"]
        places = ", ".join(f"{p:+d}" for p in sorted(row["places"]))
        if m > 200:
            places = ", ".join(row["stand-ins"])
        span = f"{min(alike):.2f} to {max(alike):.2f}" if alike else ""
        rows.append([row["column"], len(row["stand-ins"]), span, places])
    last = "places from it" if m <= 200 else "names"
    return text + table(["selected", "stand-ins", "correlation with it", last], rows, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--data", default=None)
    parser.add_argument("--seed", type=seed_number, default=0)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    file = HERE / "results" / f"{called('alternatives', arguments.seed)}.json"
    first = APART * arguments.seed
    kept = json.loads(file.read_text()) if file.exists() else {"sets": {}, "real": {}}
    if not arguments.show:
        kept["real"] |= real(arguments.data, first)
        for kind in STRANGERS:
            for n in SIZES:
                cells = kept.setdefault("strangers", {}).setdefault(json.dumps([kind, n]), [])
                cells += [strangers(kind, n, first + k) for k in range(len(cells), arguments.sets)]
        _alternatives.LARGEST_SHARE = 1.0  # what a smaller one leaves is seen in the results
        end = time.monotonic() + 60 * arguments.minutes
        for number in range(arguments.sets):
            for case in CASES:
                for n in SIZES:
                    cells = kept["sets"].setdefault(json.dumps([*case, n]), [])
                    if len(cells) <= number and time.monotonic() < end:
                        cells.append(one(*case, n, first + number))
            file.write_text(json.dumps(kept) + "\n")
            print(number + 1, f"{end - time.monotonic():.0f} s left", flush=True)
    show(kept, arguments.seed)


if __name__ == "__main__":
    main()
