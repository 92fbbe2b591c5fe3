"""Given selected columns: what do the test of a candidate and those of others see?

    python experiments/conditional.py [--sets 200] [--minutes 60] [--workers 2] [--seed 0] [--show]

The cases and their strengths were written down before anything was run on them. Keeps the p-values
in experiments/results/conditional.json, which can be taken up, and writes docs/conditional.md.
"""

import json
import os
import time
import warnings
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from itertools import product
from multiprocessing import Pool

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd
from causallearn.utils.cit import CIT
from scipy.linalg import eigh
from scipy.stats import binomtest, norm
from spectra import APART, HERE, called, keep, seed_number, table, told
from tigramite.independence_tests.cmiknn import CMIknn

from infosieve import permutation_test

SIZES, GIVEN, AT_ONCE = (100, 300, 1000), (1, 3, 7), 5
ROW, NAMED = ["effect", "course", "given", "samples"], "{}, {}, given {}, {} samples"


# ---- cases: (effect, course, number of given columns). Candidate and target follow the given
# columns along the same course. Of the effect, what these do not tell is strength / n of the
# noise's variance, so that who knows everything but its size finds it equally often for any n.

COURSES = {
    "lines": lambda S: S.sum(axis=1),
    "parabola": lambda S: S[:, 0] ** 2,
    "wave": lambda S: np.sin(2 * S[:, 0]),
    "product": lambda S: S[:, 0] * S[:, 1],
}
EFFECTS = {
    "line": (lambda x, S: x, 10),
    "square": (lambda x, S: x**2, 20),
    "bump": (lambda x, S: np.exp(-((x / 0.4) ** 2)), 24),
    "product": (lambda x, S: x * S[:, 0], 20),
    "spread": (lambda x, S: x, 24),
}
CASES = [("nothing", c, d) for c in COURSES for d in GIVEN if d > 1 or c != "product"]
CASES += [(e, c, d) for e in EFFECTS for c in ("lines", "parabola") for d in GIVEN]


def drawn(case, n, number):
    effect, course, d = case
    rng = np.random.default_rng([CASES.index(case), n, number])
    S, noise = rng.normal(size=(n, d)), rng.normal(size=n)
    followed = COURSES[course](S)
    followed = (followed - followed.mean()) / followed.std()
    x = (followed + rng.normal(size=n)) / np.sqrt(2)
    if effect == "nothing":
        return x, S, followed + noise
    of, strength = EFFECTS[effect]
    others = (followed + rng.normal(size=(100, n))) / np.sqrt(2)  # as the given columns tell it
    found = of(x, S)
    found = (found - found.mean()) / (found - of(others, S).mean(axis=0)).std()
    if effect == "spread":
        return x, S, followed + np.exp(np.sqrt(strength / (2 * n)) * found) * noise
    return x, S, followed + np.sqrt(strength / n) * found + noise


# ---- tests: the p-value of the candidate


def ours(x, S, y, number, statistic="auto"):
    how = {"given": range(1, S.shape[1] + 1), "n_permutations": 199, "random_state": number}
    return permutation_test(np.c_[x, S], y, 0, statistic=statistic, **how).p_value


def kci(x, S, y, number, **how):
    return CIT(np.c_[x, y, S], "kci", **how)(0, 1, list(range(2, S.shape[1] + 2)))


def cmiknn(x, S, y, number):
    how = {"sig_samples": 99, "workers": 1, "seed": number}
    return CMIknn(**how).run_test_raw(x[:, None], y[:, None], S)[1]


def gcm(x, S, y, number):  # ridge regressions of the least error in leaving out one sample
    Z = (S - S.mean(axis=0)) / S.std(axis=0)
    squares, best = (Z[:, None] - Z) ** 2 / 2, {}
    for of, width in product((squares, squares.mean(axis=2, keepdims=True)), (0.5, 1, 2, 4)):
        values, vectors = eigh(np.exp(-of / width**2).mean(axis=2))
        for name, v in (("x", x - x.mean()), ("y", y - y.mean())):
            for penalty in 10.0 ** np.arange(-3, 3):
                share = values / (values + penalty)
                rest = v - vectors @ (share * (vectors.T @ v))
                error = np.mean((rest / (1 - vectors**2 @ share)) ** 2)
                if name not in best or error < best[name][0]:
                    best[name] = error, rest
    products = best["x"][1] * best["y"][1]
    return 2 * norm.sf(np.sqrt(x.size) * abs(products.mean()) / products.std())


TESTS = {  # each with its number of data sets, at most, of 100, 300 and 1,000 samples
    "infosieve": (ours, 1000, 1000, 1000),
    "estimates only": (lambda *data: ours(*data, statistic="ksg"), 100, 100, 100),
    "KCI": (kci, 100, 100, 40),
    "KCI, learned": (lambda *data: kci(*data, use_gp=True), 100, 20, 0),
    "GCM": (gcm, 100, 100, 40),
    "CMIknn": (cmiknn, 100, 40, 10),
}


def begin():  # what others compile is compiled before time is taken
    warnings.simplefilter("ignore")
    for test, *_ in TESTS.values():
        for case in CASES[: len(GIVEN)]:
            test(*drawn(case, 50, 0), 0)


def some(job):
    *case, n, name, first = job
    sets = [drawn(tuple(case), n, number) for number in range(first, first + AT_ONCE)]
    start = time.process_time()
    p = [round(float(TESTS[name][0](*one, first + i)), 5) for i, one in enumerate(sets)]
    return [*job, p, round((time.process_time() - start) / AT_ONCE, 4)]


# ---- the page

TEXT = """# Given other columns

Written by [`experiments/conditional.py`](../experiments/conditional.py){seed}, which has the cases
and their strengths: they were written down before anything was run on them.

Does a column tell something about the target that 1, 3 or 7 given columns do not? Tests at 5 %.
Given columns and noise are normal. Candidate and target follow the given columns along the same
course, half of the candidate's variance: *lines* in all, a *parabola* or a *wave* in one, or the
*product* of two. If there is something to find, the target also follows the candidate: by a line, a
square, a bump, its product with a given column, or a rising spread, weaker with more samples.

*infosieve*: `permutation_test` with 199 permutations. *Estimates only*: with `statistic="ksg"`.
*KCI*: of causal-learn, as it comes, with the gamma approximation; *learned*: with kernel widths
that Gaussian processes learn. *GCM*: the generalised covariance measure, written in the script,
with kernel ridge regression: one kernel of all given columns,
or a sum of one each, whichever errs less. It looks for a covariance of what these leave, which most
squares, bumps, products and spreads do not have. *CMIknn*: of tigramite, as it comes, but with 99
permutations. KCI, learned, and the sums of kernels were added after a first run, in which KCI and
GCM missed their level. Slow tests had fewer data sets; what takes more than ten seconds a call is
left out: with 1,000 samples, KCI, learned, and CMIknn given 7 columns. Intervals are those of 95 %
(Wilson); then comes the number of data sets. Seconds are of a call, processor time of one thread.
The level is the share of p ≤ 0.05 with nothing to find. Power is the mean of the {shared} rows that
all tests were run on; with 1,000 samples, of those that all but KCI, learned, had.

{verdict}

{means}

Beside each of the others, on the same data sets: mean power, and in how many rows infosieve found
more, or less; in brackets, by more than two standard errors. "Both hold" leaves out rows where the
level of one of the two, of the same course, given columns and samples, is surely above 7 %.

{pairs}

Where both hold, infosieve finds less by more than two standard errors in these rows: {behind}.
"""


def share(found):  # and whether it is surely above 7 %
    low, high = binomtest(int(found.sum()), len(found)).proportion_ci(method="wilson")
    return f"{found.mean():.1%} ({low:.1%} to {high:.1%}), {len(found)}", low > 0.07


def page(rows, seed):
    frame = pd.DataFrame(rows, columns=[*ROW, "test", "first", "p", "seconds"]).explode("p")
    frame["number"] = frame["first"] + frame.groupby([*ROW, "test", "first"]).cumcount()
    frame["found"] = (frame["p"] <= 0.05).astype(float)
    sets = frame.pivot(index=[*ROW, "number"], columns="test", values="found")[list(TESTS)]
    nothing = sets.index.get_level_values("effect") == "nothing"
    power = sets[~nothing].groupby(ROW).mean()
    shared = power.dropna()
    shares = frame.groupby([*ROW, "test"])["found"].agg(share)
    high = {key for key, (_, above) in shares.items() if above}
    seconds = frame.groupby(["test", "samples"])["seconds"].mean()
    verdict, pairs, behind = [], [], []
    for name in TESTS:
        null = sets.loc[nothing, name].dropna()
        rates = null.groupby(ROW).mean()
        worst = f"{rates.max():.0%} ({NAMED.format(*rates.idxmax())[9:]})"
        times = [f"{seconds[name, n]:.3f}" if (name, n) in seconds else "" for n in SIZES]
        verdict.append([name, f"{shared[name].mean():.1%}", share(null)[0], worst, *times])
        if name == "infosieve":
            continue
        both = sets.loc[~nothing, ["infosieve", name]].dropna()
        gain = both["infosieve"] - both[name]
        errors = gain.groupby(ROW).sum() / gain.abs().groupby(ROW).sum().clip(lower=1) ** 0.5
        mean = both.groupby(ROW).mean()
        hold = [not any(("nothing", *row[1:], t) in high for t in both) for row in mean.index]
        for which, of in (("all", slice(None)), ("both hold", np.array(hold, bool))):
            counts = [f"{(z > 0).sum()} ({(z > 2).sum()})" for z in (errors[of], -errors[of])]
            a, b = mean[of].mean()
            pairs.append([name, which, len(mean[of]), f"{a:.1%}", f"{b:.1%}", *counts])
        for row, (mine, theirs) in mean[(errors < -2) & of].iterrows():
            behind.append(f"{NAMED.format(*row)} ({mine:.0%}, {name} {theirs:.0%})")
    groups = [(f"{key}: {v}", g) for key in ("effect", "given") for v, g in shared.groupby(key)]
    for n, g in power.groupby("samples"):
        groups.append((f"samples: {n}", g.dropna(axis=1, how="all").dropna()))
    means = [[v, *(f"{g[t].mean():.1%}" if t in g else "" for t in TESTS)] for v, g in groups]
    head = ["test", "power", "level", "worst row", *(f"seconds, {n} samples" for n in SIZES)]
    side = ["the other", "rows", "number", "infosieve", "the other", "more", "less"]
    text = TEXT.format(
        seed=told(seed), shared=len(shared), verdict=table(head, verdict),
        means=table(["mean power", *TESTS], means), pairs=table(side, pairs, left=2),
        behind="; ".join(behind) or "none",
    )  # fmt: skip
    for n in SIZES:
        lines = [[*c, *(shares.get((*c, n, t), [""])[0] for t in TESTS)] for c in CASES]
        text += f"\n## {n} samples\n\n{table([*ROW[:3], *TESTS], lines, left=2)}\n"
    return text


def main():
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--tests", nargs="+", choices=TESTS, default=list(TESTS))
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seed", type=seed_number, default=0)
    parser.add_argument("--show", action="store_true", help="write the page from what is kept")
    options = parser.parse_args()
    name = called("conditional", options.seed)
    file = HERE / "results" / f"{name}.json"
    rows = json.loads(file.read_text()) if file.exists() else []
    known = {tuple(row[:6]) for row in rows}
    jobs = [
        (*case, n, test, APART * options.seed + first)
        for first in range(0, 0 if options.show else options.sets, AT_ONCE)
        for case in CASES
        for n in SIZES
        for test, (_, *most) in TESTS.items()
        if test in options.tests
        if first < most[SIZES.index(n)] and (test, n, case[2]) != ("CMIknn", 1000, 7)
        if (*case, n, test, APART * options.seed + first) not in known
    ]
    start = last = time.monotonic()
    with Pool(options.workers, begin if jobs else None) as pool:
        for done, row in enumerate(pool.imap_unordered(some, jobs), start=1):
            rows.append(row)
            if time.monotonic() > last + 20:
                last = time.monotonic()
                keep(name, sorted(rows))
                print(f"{done} of {len(jobs)}, {last - start:.0f} s", flush=True)
            if time.monotonic() > start + 60 * options.minutes:
                break
    keep(name, sorted(rows))
    (HERE.parent / "docs" / "conditional.md").write_text(page(rows, options.seed), encoding="utf-8")


if __name__ == "__main__":
    main()
