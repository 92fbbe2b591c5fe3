"""Was anything lost by the faster default? docs/before-after.md, from kept results.

"today" is the default as it was (every candidate scored in each of 199 permutations), "default"
screens the candidates and ends each test as soon as its outcome is sure. Both on the same data,
of a seed that no choice has seen (3). Rows that are there are not computed again, so any of these
can be stopped, taken up, or run with fewer --sets:

    R="python experiments/run.py experiments/results/before_after.json"
    $R --seed 3 --sets 100 --procedures today default       # the panel
    $R --seed 3 --sets 300 --procedures today default --problems "F, M = 10" "F, M = 50"
    $R --seed 3 --sets 100 --procedures today default --problems counts categories
    $R --seed 3 --sets 40 --procedures today default --problems "F, N = 150, M = 300" \\
        "through one, sign" "through one, sine" "xor, M = 300" "variance, M = 300" \\
        "heavy tails, M = 300"
    $R --seed 3 --sets 40 --procedures today default --problems "F, N = 150, M = 2000"
    $R --seed 3 --sets 20 --procedures "fixed number" "all candidates" --problems \\
        "F, M = 50" counts categories "through one, sign" "through one, sine"  # which of the two?
    $R --seed 3 --sets 1000 --procedures default --problems "nothing, M = 10" "nothing, M = 50" \\
        "nothing, M = 200" "nothing, M = 2000" "nothing, classes, M = 50" "nothing given two" \\
        "copy alone" "copy alone, N = 300"
    $R --seed 2 --sets 20 --procedures today "today, other permutations"  # as before?
    python experiments/epistasis.py --data DIR
    python experiments/calibration.py --tests "local, information" "local, information added"
    python experiments/before_after.py --show [--seed 3]

The last one writes the page, of what there is of that seed. Seed 2 is compared with
results/before.json: the rows that the version before left in judge.json.
"""

import argparse
import json
from collections import defaultdict

import numpy as np
from calibration import ADDED, CURVES, LOCAL, passed, values_of
from calibration import kept as calibrated
from epistasis import RELEVANT
from epistasis import kept as loci
from panel import PANEL, PROBLEMS
from scipy.stats import binomtest
from spectra import HERE, table

SEED, JUDGED = 3, 2
TODAY, DEFAULT = "today", "estimates only"
AGAIN = "today, other permutations"
OTHERS = ("fixed number", "all candidates")
COPIES = [name for name in PROBLEMS if name.startswith("copy alone")]
NOTHING = [name for name in PROBLEMS if name.startswith("nothing")]
TEXT = """# The faster default, before and after

*Tests on this page compare estimates of information (`statistic="ksg"`). Those of the default
[ask in several ways](how.md#asking-in-several-ways): [levels](levels.md),
[weak effects](weak.md), [shapes](shapes.md).*

*Written by [`experiments/before_after.py`](../experiments/before_after.py)
from the raw results in `experiments/results/`; what each
procedure selected on each data set is kept there.*

The default [screens the candidates](how.md) inside every permutation and ends a test as soon as its
outcome is sure. Before, every candidate was scored in each of 199 permutations, which
`MISelector(screen=None, n_permutations=199)` still does. Was anything lost? "Before" is that
setting, "default" is `MISelector()`, both of this version and on the same data
(`experiments/panel.py`, seed {seed}, which no choice has seen).

## Where the answer is known

F1 is 2 TP / (2 TP + FP + FN) of a data set, averaged over the data sets of a problem; the
difference is paired, with its standard error. "Any false": the share of runs that select a column
which does not matter. Seconds are those of a fit with one thread, as a rough guide.

{panel}

{panel_words}

Wide tables, interactions, variance, heavy tails, counts and categories, each on its own:

{later}

All that matters was found, and nothing missed, in so many runs ("fixed number":
`n_permutations=199`; "all candidates": `screen=None`):

{all_found}

## Where nothing matters

Runs of the default that select anything, with 95 % intervals (Wilson); N = 100. The version before
saw other data sets (seed {judged}). "Given two": two columns tell nearly all about the target, and
48 nothing; what counts is a column beyond the two.

{nothing}

A noisy copy accepted together with its original:

{copies}

## The setting of before, and the version before

`screen=None, n_permutations=199` is meant to decide as the version before did, on data that it has
seen (seed {judged}, `experiments/results/before.json`). Surrogates and random numbers are made in
another way, so decisions that hang on a p-value near its level may differ; the last column has how
often the setting agrees with itself if only the permutations are others.

{same}

{same_words}

## The local test

[Calibrated](calibration.md#local-permutation) before and after: how often p is at most 5 % where
the candidate has nothing to add. "Above 8 %": cases whose share is, and those where the whole 95 %
interval is.

{local}

## Two loci among a thousand

`epistasis1000` of PMLB (GAMETES): 1,600 samples, genotypes of 1,000 loci, two classes. Two loci
matter, only together: {relevant}.

{epistasis}
"""


def f1(row):
    selected, relevant = set(row[4]), set(row[5])
    both = len(selected) + len(relevant)
    return 2 * len(selected & relevant) / both if both else 1.0


def any_false(row):
    return bool(set(row[4]) - set(row[5]))


def all_found(row):
    return set(row[5]) <= set(row[4])


def selects(row):
    return bool(row[4])


def both_copies(row):
    return len(row[4]) == 2


def rows_of(name):
    """{(seed, problem, procedure): {number: row}}"""
    file, found = HERE / "results" / f"{name}.json", defaultdict(dict)
    for row in json.loads(file.read_text()) if file.exists() else []:
        found[row[2], row[0], row[1]][row[3]] = row
    return found


def paired(found, *cases):
    """The rows of several cases on the data sets that all of them have."""
    numbers = sorted(set.intersection(*(set(found[case]) for case in cases)))
    return [[found[case][number] for number in numbers] for case in cases]


def mean(values):
    """The mean, and its standard error."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return np.mean(values), error


def share(hits, n):
    low, high = binomtest(int(hits), n).proportion_ci(method="wilson")
    return f"{hits / n:.1%} ({low:.1%} to {high:.1%})"


def signed(value, error):
    return f"{value:+.3f} ± {error:.3f}"


# ---- tables; each is a sentence where there is nothing to show


def made(head, rows, left=1):
    return table(head, rows, left) if rows else "*Not run yet.*"


def compared(found, problems, seed):
    """Rows of a table, and the mean difference of each problem with its error."""
    rows, differences = [], []
    for problem in problems:
        before, after = paired(found, (seed, problem, TODAY), (seed, problem, DEFAULT))
        if not before:
            continue
        scores = [[f1(row) for row in of] for of in (before, after)]
        differences.append(mean(np.subtract(*scores[::-1])))
        rows.append(
            [
                problem,
                len(before),
                *(f"{np.mean(of):.3f}" for of in scores),
                signed(*differences[-1]),
                *(f"{np.mean([any_false(row) for row in of]):.1%}" for of in (before, after)),
                *(f"{np.mean([row[6] for row in of]):.2f}" for of in (before, after)),
            ]
        )
    return rows, differences


HEAD = ["problem", "data sets", "before", "default", "difference"]
HEAD += ["any false, before", "default", "seconds, before", "default"]


def panel_words(differences):
    if not differences:
        return ""
    value = np.mean([d for d, _ in differences])
    error = np.sqrt(np.sum([e**2 for _, e in differences])) / len(differences)
    return f"Mean difference over {len(differences)} problems: **{signed(value, error)}**."


def all_found_table(found, problems, seed):
    rows = []
    for problem in problems:
        runs = [found[seed, problem, name].values() for name in (TODAY, DEFAULT, *OTHERS)]
        if runs[1]:
            cells = [share(sum(map(all_found, of)), len(of)) if of else "" for of in runs]
            rows.append([problem, *cells])
    return made(["problem", "before", "default", *OTHERS], rows)


def rates(found, judged, problems, accepted, seed):
    """How often: by the version before, on other data sets, and now."""
    rows = []
    for problem in problems:
        wrong = any_false if "given" in problem else accepted
        cells = []
        for runs in (judged[JUDGED, problem, DEFAULT], found[seed, problem, DEFAULT]):
            hits, n = sum(map(wrong, runs.values())), len(runs)
            cells += [f"{hits} of {n}", share(hits, n)] if runs else ["", ""]
        if cells[-1]:
            rows.append([problem, *cells])
    return made(["data", "version before", "share", "default", "share"], rows)


def decisions(found, judged):
    """(rows, words): today's setting on the data sets of the version before."""
    rows, everything = [], []
    for problem in PROBLEMS:
        case = (JUDGED, problem, TODAY)
        old = {i: judged[JUDGED, problem, DEFAULT].get(i) for i in found[case]}
        both = [(old[i], row) for i, row in found[case].items() if old[i]]
        if not both:
            continue
        everything += both
        again = list(zip(*paired(found, case, (JUDGED, problem, AGAIN)), strict=True))
        rows.append(
            [
                problem,
                *agreement(both),
                f"{sum(same(*of) for of in again)} of {len(again)}" if again else "",
            ]
        )
    if not rows:
        return made([], []), ""
    number, before, after, difference = agreement(everything)
    words = (
        f"Over all data sets, {number} decide the same; mean F1 is {before} before and {after} "
        f"now ({difference})."
    )
    head = ["problem", "decide the same", "F1, version before", "this version", "difference"]
    return made([*head, "with itself"], rows), words


def same(one, other):
    return set(one[4]) == set(other[4])


def agreement(both):
    """How many decide the same, mean F1 of each, and the difference."""
    scores = [[f1(row) for row in of] for of in zip(*both, strict=True)]
    return [
        f"{sum(same(*of) for of in both)} of {len(both)}",
        *(f"{np.mean(of):.3f}" for of in scores),
        signed(*mean(np.subtract(*scores[::-1]))),
    ]


def local():
    """The cases that were run before and after, by test and number of samples."""
    cases = defaultdict(list)
    for row in calibrated():
        test, kind, n = row["case"][:3]
        if test in (LOCAL, ADDED) and kind not in CURVES and values_of(row) and "before" in row:
            cases[test, n].append((row["before"], passed(row["values"])))
    rows = []
    for (test, n), counts in sorted(cases.items()):
        for when, of in zip(("before", "after"), zip(*counts, strict=True), strict=True):
            shares = [hits / sets for hits, sets in of]
            lows = [binomtest(*c).proportion_ci(method="wilson").low for c in of]
            rows.append(
                [
                    test,
                    n,
                    when,
                    len(of),
                    f"{np.mean([sets for _, sets in of]):.0f}",
                    f"{np.mean(shares):.1%}",
                    f"{max(shares):.1%}",
                    f"{sum(s > 0.08 for s in shares)}, {sum(low > 0.08 for low in lows)}",
                ]
            )
    head = ["test", "N", "", "cases", "data sets each", "mean share", "largest", "above 8 %"]
    return made(head, rows, 3)


def epistasis():
    rows = [
        [
            row["genotypes"],
            row["seed"],
            ", ".join(row["selected"]) or "nothing",
            f"{row['seconds']:.0f}",
            row["jobs"],
        ]
        for row in loci()
    ]
    return made(["genotypes as", "seed", "selected", "seconds", "threads"], rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--show", action="store_true", help="nothing is computed, with or without")
    parser.add_argument("--seed", type=int, default=SEED, help="of the rows that are compared")
    seed = parser.parse_args().seed
    found, judged = rows_of("before_after"), rows_of("before")
    panel, differences = compared(found, PANEL, seed)
    later = [p for p in PROBLEMS if p not in PANEL and p not in COPIES and p not in NOTHING]
    same_table, same_words = decisions(found, judged)
    text = TEXT.format(
        seed=seed,
        judged=JUDGED,
        panel=made(HEAD, panel),
        panel_words=panel_words(differences),
        later=made(HEAD, compared(found, later, seed)[0]),
        all_found=all_found_table(
            found, ["F, M = 10", "F, M = 50", "xor", "classes", *later], seed
        ),
        nothing=rates(found, judged, NOTHING, selects, seed),
        copies=rates(found, judged, COPIES, both_copies, seed),
        same=same_table,
        same_words=same_words,
        local=local(),
        relevant=" and ".join(RELEVANT),
        epistasis=epistasis(),
    )
    print(text)
    (HERE.parent / "docs" / "before-after.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
