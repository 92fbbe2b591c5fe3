"""Write docs/default.md from what run.py kept: python experiments/write_docs.py"""

import json
from pathlib import Path

import numpy as np
from panel import EXTRA, JUDGES, PANEL
from procedures import SETTINGS
from scipy.stats import binomtest
from summarize import by_problem, difference, f1

HERE = Path(__file__).parent
OTHERS = ["kNN wrapper", "Boruta", "univariate MI", "RFECV", "mRMR"]
PUBLISHED, ESTIMATES = "the chapter's, K 3 to 10", "estimates only"
PAIR = ("default", "kNN wrapper")
NEAR = 0.01  # of F1: settings that are no further apart are called near
TEXT = """# The default setting of MISelector

*Written by [`experiments/write_docs.py`](../experiments/write_docs.py)
from the raw results in `experiments/results/`; what each
procedure selected on each data set is kept there.*

Settings were compared on data whose relevant columns are known (`experiments/panel.py`), first
with one seed, to choose, then with another, to judge. What is below is the judging. F1 is
2 TP / (2 TP + FP + FN), pooled over the data sets of a problem. What screening and tests that end
early changed afterwards is on [a page of its own](before-after.md).

What was chosen from is kept, too: {n_explored} fits with seed 1
(`experiments/results/explore.json`). The tests have changed since: they end early, candidates are
screened, residuals are permuted instead of values ([why](guide.md#copies-what-to-permute)). So the
default is judged below as it is now, beside what else could be set, on the same data. By default
tests [ask in several ways at once](how.md#asking-in-several-ways). *Estimates only* is
`statistic="ksg"`: the default when the settings were chosen, which all others vary. {verdict}

## The whole panel

Mean F1 over {n_problems} problems, seed {seed}. "Data sets" is the smallest number over the
problems; (F) with N = 100 has more for some. Rows with few data sets are there to be compared with
the default on the same data, not with each other.

{means}

{table}

"False share" is the mean share of false features among those that the default selects: what
`stop="fdr"` aims to hold below 5 %. Seconds are those of a fit with one thread, as the processor
counts them; rows of others are older than those of infosieve, and partly by the clock: a rough
guide.

## Problems that chose nothing

{n_judges} problems that were written down after the default was fixed, and changed nothing: wide
tables, ten and more relevant columns, products only, counts, rounded values, classes by
interactions, categories, correlated columns (`experiments/panel.py`, `JUDGES`). F1, and in brackets
the number of data sets. Text is codes for those that know none. Empty: not run.

{judges}

{judges_means}

## (F) against a wrapper, paired

The wrapper is scikit-learn's forward selection with a cross-validated nearest-neighbour model
(`StandardScaler`, `KNeighborsRegressor(6)`, tol = 0.001, r2, 5 folds); it tests nothing.
Differences of F1 on the same data sets, with 95 % bootstrap intervals:

{paired}

## Error rates

Runs in which anything is selected although nothing matters (N = 100), and in which a noisy copy
is accepted together with its original (x1 normal, y = sin 2 x1 + 0.3 e, x2 = x1 + 0.2 e',
N = 100 unless said), with 95 % intervals. "Published" is the procedure of Verleysen, Rossi and
François ([2009](references.md)); "published test" has K averaged from 3 to 10.

{errors}

Of a column and a copy with little noise one is selected, which may be the copy.

The data must not choose K and be tested as if they had not. Ten columns of noise, the maximum
test at 5 %, no pairs: {fixed} with K fixed, {auto} with `n_neighbors="auto"`.

## Again

```sh
python experiments/run.py experiments/results/judge.json --seed {seed} --sets 100 \\
    --procedures default "kNN wrapper" Boruta ...
python experiments/write_docs.py
```
"""


def title(name):
    """What the page calls a procedure, or data."""
    return name.replace("the chapter's", "published").replace("copy alone", "original and copy")


def table(rows, head):
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def scores(found, name):
    """F1 of a procedure on each problem of the panel, on data that the default has seen, too."""
    return {p: f1(shared(found[p], name, "default")) for p in PANEL if name in found[p]}


def shared(procedures, name, other):
    """What a procedure found on the data sets that another one was run on, too."""
    return [tally for i, tally in procedures[name].items() if i in procedures[other]]


def on_same_sets(found, name):
    """Mean F1 of the default on the data sets that a procedure was run on."""
    return np.mean([f1(shared(found[p], "default", name)) for p in PANEL if name in found[p]])


def false_share(procedures):
    """The mean share of false features among those that the default selects."""
    shares = [t[1] / max(1, t[0] + t[1]) for t in procedures["default"].values()]
    return f"{np.mean(shares):.1%}"


def cell(tallies):
    return f"{f1(list(tallies.values())):.3f} ({len(tallies)})" if tallies else ""


def judges(found):
    """F1 of each procedure on the problems that chose nothing, and in words the means."""
    shown = ["default", ESTIMATES, *[n for n in OTHERS if any(n in found[p] for p in JUDGES)]]
    rows = [
        [p, *[cell(found[p].get(n)) for n in shown], false_share(found[p])]
        for p in JUDGES
        if "default" in found[p]
    ]
    words = []
    for name in shown[1:]:
        both = [p for p in JUDGES if name in found[p]]
        means = [
            np.mean([f1(shared(found[p], one, other)) for p in both])
            for one, other in ((name, "default"), ("default", name))
        ]
        words.append(
            f"- {name}: mean F1 {means[0]:.3f} on {len(both)} of them, the default on the same "
            f"data {means[1]:.3f}."
        )
    return table(rows, ["problem", *map(title, shown), "false share"]), "\n".join(words)


def judged(found):
    """Mean F1 of the default on the problems that chose nothing."""
    there = [p for p in JUDGES if "default" in found[p]]
    return np.mean([f1(list(found[p]["default"].values())) for p in there])


def verdict(found, full):
    """How the other settings stand to tests by estimates, on the same data."""
    older = {"classical stop", *(n for n in SETTINGS if "chapter" in n)}
    ours = [n for n in full if n in SETTINGS.keys() - older and len(full[n]) == len(PANEL)]
    apart = {
        n: np.mean(
            [f1(shared(found[p], n, ESTIMATES)) - f1(shared(found[p], ESTIMATES, n)) for p in PANEL]
        )
        for n in ours
        if n not in ("default", ESTIMATES)
    }
    near = [n for n in apart if abs(apart[n]) <= NEAR]
    said = [f"Within {NEAR} of the mean F1 of estimates only: {', '.join(near)}."]
    for word, sign in (("Ahead", 1), ("Behind", -1)):
        far = [n for n in apart if sign * apart[n] > NEAR]
        if far:
            said.append(f"{word}: {', '.join(f'{n} ({apart[n]:+.3f})' for n in far)}.")
    return " ".join(said)


def anything(tally):
    return tally[:2].sum()


def both_copies(tally):
    return tally[0] and tally[1]


def rate(found, problem, name, accepted):
    """How often: (hits of runs, share with its interval), empty where it was not run."""
    tallies = found[problem].get(name, {}).values()
    if not tallies:
        return "", ""
    hits = sum(bool(accepted(t)) for t in tallies)
    low, high = binomtest(hits, len(tallies)).proportion_ci(method="wilson")
    return f"{hits} of {len(tallies)}", f"{hits / len(tallies):.1%} ({low:.1%} to {high:.1%})"


def main():
    rows = json.loads((HERE / "results/judge.json").read_text())
    explored = json.loads((HERE / "results/explore.json").read_text())
    found = by_problem(rows)
    names = [n for n in [*SETTINGS, *OTHERS] if any(n in found[p] for p in PANEL)]
    full = {n: scores(found, n) for n in names}
    names.sort(key=lambda n: -np.mean(list(full[n].values())))
    seconds = {n: np.mean([r[6] for r in rows if r[1] == n and r[0] in PANEL]) for n in names}
    means = table(
        [
            [
                title(n),
                f"{np.mean(list(full[n].values())):.3f}",
                f"{on_same_sets(found, n):.3f}",
                str(min(len(found[p][n]) for p in PANEL)),
                f"{seconds[n]:.2f}",
            ]
            for n in names
            if len(full[n]) == len(PANEL)
        ],
        ["procedure", "mean F1", "the default on the same data", "data sets", "seconds"],
    )
    shown = ["default", ESTIMATES, *[n for n in OTHERS[:2] if n in full], "the chapter's"]
    details = table(
        [
            [
                p,
                *[f"{full[n][p]:.3f}" if p in full[n] else "" for n in shown],
                false_share(found[p]),
            ]
            for p in PANEL
        ],
        ["problem", *map(title, shown), "false share"],
    )
    paired = []
    for p in ("F, M = 10", "F, M = 50"):
        n, d, low, high = difference(*(found[p][name] for name in PAIR))
        both = [f1(shared(found[p], *who)) for who in (PAIR, PAIR[::-1])]
        paired.append(
            [p, str(n), *[f"{v:.3f}" for v in both], f"{d:+.3f} ({low:+.3f} to {high:+.3f})"]
        )
    errors = []
    for p in EXTRA:
        accepted = both_copies if p.startswith("copy") else anything
        rates = [rate(found, p, name, accepted) for name in ("default", ESTIMATES, PUBLISHED)]
        errors.append([title(p), *rates[0], rates[1][1], rates[2][1]])
    text = TEXT.format(
        n_explored=len(explored),
        verdict=verdict(found, full),
        n_problems=len(PANEL),
        seed=rows[0][2],
        means=means,
        table=details,
        n_judges=len(JUDGES),
        judges=judges(found)[0],
        judges_means=judges(found)[1],
        paired=table(paired, ["problem", "data sets", "default", "wrapper", "difference"]),
        fixed=rate(found, "nothing, M = 10", "no pairs, each test at alpha", anything)[1],
        auto=rate(found, "nothing, M = 10", "no pairs, each test at alpha, K auto", anything)[1],
        errors=table(errors, ["data", "runs", "default", ESTIMATES, "published test"]),
    )
    (HERE.parent / "docs/default.md").write_text(text)


if __name__ == "__main__":
    main()
