"""Do columns pass that follow selected ones along a curve, and do informative ones still pass?

    python experiments/relatives.py [--sets 200] [--minutes 20] [--panel 20] [--seed 0] [--show]

Keeps p-values in results/relatives.json, with and without the second test ("first": what the test
of all given columns says alone), and F1 on the panel with and without it in
results/relatives_panel.json; writes the tables of docs/limits.md.
"""

import argparse
import json
import os
import time
import warnings
from itertools import product

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd
from panel import PANEL, data
from scipy.stats import binomtest
from spectra import APART, HERE, called, keep, seed_number, table, told, write_between

from infosieve import MISelector, permutation_test
from infosieve.selection._strategies import ByTests

P = 99
STREAM = 5
SIZES = (50, 100, 500)
NOISES = (0.2, 0.5)
# What the candidate is, without noise, of the selected columns.
RELATIVES = {
    "a parabola": lambda s: s[:, 0] ** 2,
    "a wave": lambda s: np.sin(2 * s[:, 0]),
    "a product": lambda s: s[:, 0] * s[:, 1],
    "a category": lambda s: s[:, 0],
}
GIVEN = {1: "the original", 3: "the original and two more", 5: "the original and four more"}
GIVEN_TWO = {3: "both and one more", 5: "both and three more"}
# How much of the candidate's noise is in the target, too: then it is informative. And how many
# data sets tell enough about power.
EFFECTS = (0.0, 0.3)
POWER_SETS = 60


KSG = {"statistic": "ksg", "n_jobs": 1}


def draw(kind, noise, n, n_given, effect, number):
    """A table and a target. Without an effect, the candidate adds nothing to what is given."""
    rng = np.random.default_rng([STREAM, [*RELATIVES].index(kind), n, n_given, number])
    s, e = rng.normal(size=(n, n_given)), rng.normal(size=n)
    followed = RELATIVES[kind](s)
    c = followed + noise * e
    course = followed if kind == "a product" else np.sin(2 * s[:, 0])
    y = course + 0.5 * s[:, 1:2].sum(axis=1) + 0.3 * rng.normal(size=n) + effect * e
    x = pd.DataFrame(s, columns=[f"s{j}" for j in range(n_given)])
    x["c"] = np.array(list("abcd"))[np.digitize(c, [-0.67, 0, 0.67])] if "cat" in kind else c
    return x, y


def one(kind, noise, n, n_given, effect, number):
    """Exceedances of the first test, and the p-value of both."""
    x, y = draw(kind, noise, n, n_given, effect, number)
    given = [f"s{j}" for j in range(n_given)]
    test = permutation_test(x, y, "c", given=given, n_permutations=P, random_state=number, **KSG)
    first = (int((test.null[:, 0] >= test.observed[0]).sum()) + 1) / (P + 1)
    return [round(first, 4), round(float(test.p_value), 4)]


def cases():
    for effect, n, kind, noise in product(EFFECTS, SIZES, RELATIVES, NOISES):
        for n_given in given_of(kind):
            yield kind, noise, n, n_given, effect


def given_of(kind):
    """How many columns are selected, and what they are called."""
    return GIVEN_TWO if kind == "a product" else GIVEN


def share(values):
    """Passed at 5 %, with its 95 % interval."""
    passed, n = sum(p <= 0.05 for p in values), len(values)
    low, high = binomtest(passed, n).proportion_ci(method="wilson")
    return f"{passed / n:.1%} ({100 * low:.1f} to {100 * high:.1f})".replace("%", " %")


def rows_of(found, effect):
    rows = []
    for kind in RELATIVES:
        for (n_given, words), noise in product(given_of(kind).items(), NOISES):
            row = [kind, words, noise]
            for n in SIZES:
                values = found[json.dumps([kind, noise, n, n_given, effect])]
                if effect:
                    first, both = ([v[i] for v in values] for i in (0, 1))
                    texts = [f"{np.mean(np.array(p) <= 0.05):.0%}" for p in (first, both)]
                    row.append(" / ".join(texts).replace("%", " %"))
                else:
                    row.append(share([v[1] for v in values]))
            rows.append(row)
    return rows


def panel(sets, seed):
    """F1 and process time on the panel without the second test and with it, and what it refuses."""
    name = called("relatives_panel", seed)
    file = HERE / "results" / f"{name}.json"
    rows = json.loads(file.read_text()) if file.exists() else []
    known = {tuple(row[:2]) for row in rows}
    ask = ByTests._refined
    first = APART * seed
    for number, problem in product(range(first, first + sets), PANEL):
        if (problem, number) in known:
            continue
        X, y, relevant = data(problem, 77, number)
        row = [problem, number]
        for second in (lambda self, search, question, step, *_: step, ask):
            ByTests._refined = second
            start = time.process_time()
            fitted = MISelector(random_state=number, **KSG).fit(X, y)
            seconds = round(time.process_time() - start, 3)
            steps = fitted.result_.steps
            refused = [step.features[0] for step in steps if step.action == "refuse"]
            row += [round(f1(set(fitted.selected_.tolist()), set(relevant)), 6), seconds, refused]
        ByTests._refined = ask
        rows.append(row)
        keep(name, rows)


def searches(sets, seed):
    """How often a search selects relatives of a column after it, if there are several of them."""
    name = called("relatives_search", seed)
    file = HERE / "results" / f"{name}.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    for kind, n_relatives, n in product(("a wave", "a category"), (1, 4, 12), (100, 300)):
        cells = kept.setdefault(json.dumps([kind, n_relatives, n]), [])
        for number in range(APART * seed + len(cells), APART * seed + sets):
            rng = np.random.default_rng([STREAM, n_relatives, n, number])
            s = rng.normal(size=(n, 3))
            x = pd.DataFrame(s, columns=list("abc"))
            for j in range(n_relatives):
                relative = s[:, 0] + 0.3 * rng.normal(size=n)
                x[f"r{j}"] = np.sin(2 * relative)
                if kind == "a category":
                    x[f"r{j}"] = np.array(list("pqrs"))[np.digitize(relative, [-0.67, 0, 0.67])]
            y = 2 * s[:, 0] + s[:, 1] + s[:, 2] + 0.3 * rng.normal(size=n)
            path = MISelector(random_state=number, **KSG).fit(x, y).path_
            added = path.loc[path["action"] == "add", "feature"].tolist()
            after = added[added.index("a") + 1 :] if "a" in added else []
            cells.append(
                [
                    int(any(name[0] == "r" for name in after)),
                    int((path["action"] == "refuse").sum()),
                ]
            )
        keep(name, kept)


def search_table(seed):
    kept = results("relatives_search", seed)
    rows = []
    for key, cells in kept.items():
        kind, n_relatives, n = json.loads(key)
        rows.append([kind, n_relatives, n, share([0.0 if cell[0] else 1.0 for cell in cells])])
        rows[-1].append(sum(cell[1] for cell in cells))
    heads = ["relatives", "how many", "N", "selected after the original", "refused"]
    sets = min(map(len, kept.values()))
    return f"{table(heads, rows, 1)}\n\n{sets} data sets a row{told(seed)}.\n"


def f1(selected, relevant):
    if not selected and not relevant:
        return 1.0
    return 2 * len(selected & relevant) / (len(selected) + len(relevant))


def results(name, seed):
    return json.loads((HERE / "results" / f"{called(name, seed)}.json").read_text())


def panel_words(seed):
    rows = results("relatives_panel", seed)
    before, after = (np.mean([row[i] for row in rows]) for i in (2, 5))
    time_before, time_after = (sum(row[i] for row in rows) for i in (3, 6))
    return (
        f"On the panel ({len(rows)} data sets of {len({row[0] for row in rows})} problems)"
        f"{told(seed)}, F1 is "
        f"{before:.4f} without the second test and {after:.4f} with it, which refused "
        f"{sum(len(row[7]) for row in rows)} columns and took "
        f"{time_after / time_before - 1:.0%} more time.\n"
    ).replace("%", " %")


def show(found, seed):
    heads = ["candidate", "selected", "its noise", *(f"N = {n}" for n in SIZES)]
    sets = [min(len(found[json.dumps([*c])]) for c in cases() if c[4] == e) for e in EFFECTS]
    null, power = (table(heads, rows_of(found, effect), 2) for effect in EFFECTS)
    docs = HERE.parent / "docs" / "limits.md"
    write_between(
        docs,
        "experiments/relatives.py: null",
        f"{null}\n\n{sets[0]} data sets a cell{told(seed)}.\n",
    )
    write_between(docs, "experiments/relatives.py: panel", panel_words(seed))
    write_between(docs, "experiments/relatives.py: search", search_table(seed))
    write_between(
        docs,
        "experiments/relatives.py: power",
        f"{power}\n\n{sets[1]} data sets a cell{told(seed)}.\n",
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--panel", type=int, default=20)
    parser.add_argument("--seed", type=seed_number, default=0)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    seed, name = arguments.seed, called("relatives", arguments.seed)
    file = HERE / "results" / f"{name}.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    if not arguments.show:
        panel(arguments.panel, seed)
        searches(40, seed)
    end = time.monotonic() + 60 * arguments.minutes
    for number in range(0 if arguments.show else arguments.sets):
        for case in cases():
            values = found.setdefault(json.dumps(list(case)), [])
            enough = case[4] and number >= POWER_SETS
            if len(values) <= number and not enough and time.monotonic() < end:
                values.append(one(*case, APART * seed + number))
        if number % 10 == 9:
            keep(name, found)
            print(number + 1, f"{end - time.monotonic():.0f} s left", flush=True)
        if time.monotonic() > end:
            break
    if not arguments.show:
        keep(name, found)
    show(found, seed)


if __name__ == "__main__":
    main()
