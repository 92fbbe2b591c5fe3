"""Do tests that ask in several ways at once hold their level?

    python experiments/levels.py [--sets 400] [--minutes 20] [--seed 0] [--show]

In each case the candidate tells nothing that the selected columns do not. The cases were written
down before anything was run on them. Keeps how often p was at most 5 % in
experiments/results/levels.json, which can be taken up, and writes docs/levels.md.
"""

import argparse
import json
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd
from scipy.signal import lfilter
from scipy.stats import binomtest
from spectra import APART, HERE, called, seed_number, table, told

from infosieve import permutation_test

ALPHA, DRAWS, AT_ONCE = 0.05, 99, 20


# ---- cases: (candidates, selected columns, target, more of the call)


def independent(rng, n, d):
    s = rng.normal(size=(n, d))
    y = np.sin(2 * s[:, 0]) + 0.5 * s[:, 1:].sum(axis=1) if d else 0
    return rng.normal(size=n), s, y + 0.3 * rng.normal(size=n), {}


def relative(course, d):
    """The candidate follows the first of d selected columns, or two of them, along a curve."""

    def case(rng, n):
        s = rng.normal(size=(n, d))
        x = course(s) + 0.2 * rng.normal(size=n)
        y = np.sin(2 * s[:, 0]) + 0.5 * s[:, 0] + 0.3 * rng.normal(size=n)
        if course is product:
            y = product(s) + 0.3 * rng.normal(size=n)
        return x, s, y, {}

    return case


def product(s):
    return s[:, 0] * s[:, 1]


def shared_spread(of, d):
    """Candidate and target have nothing in common but a spread, which a selected column tells."""

    def case(rng, n):
        s = rng.normal(size=(n, d))
        size = of(s[:, 0])
        return size * rng.normal(size=n), s, size * rng.normal(size=n), {}

    return case


def rare_class(rng, n):
    s = rng.normal(size=(n, 2))
    hidden = s[:, 0] + 0.5 * rng.normal(size=n)
    y = np.where(hidden > np.quantile(hidden, 0.95), "rare", "other")
    return s[:, 0] + 0.5 * rng.normal(size=n), s, y, {}


def heavy_tails(rng, n):
    s = rng.standard_t(1.5, size=(n, 2))
    return s[:, 0] + rng.standard_t(1.5, size=n), s, s.sum(axis=1) + rng.standard_t(1.5, size=n), {}


def counts(rng, n):
    s = rng.poisson(1.0, size=(n, 2)).astype(float)
    return rng.poisson(0.3 + s[:, 0]), s, rng.poisson(0.5 + s.sum(axis=1)), {}


def categories(rng, n):
    s = rng.integers(0, 4, size=n)
    x = np.where(rng.random(n) < 0.7, s, rng.integers(0, 4, n))
    y = np.where(rng.random(n) < 0.6, s, rng.integers(0, 4, n))
    letters = np.array(list("abcd"))
    return letters[x], pd.DataFrame({"s": letters[s]}), letters[y], {}


def gaps(rng, n):
    s = rng.normal(size=(n, 2))
    x = np.where(rng.random(n) < 0.2, np.nan, s[:, 0] + 0.5 * rng.normal(size=n))
    s[rng.random((n, 2)) < 0.2] = np.nan  # what is missing tells nothing of the target either
    return x, s, np.nan_to_num(s[:, 0]) + 0.5 * rng.normal(size=n), {}


def groups(rng, n):
    """Five rows each, of which half of the noise is the group's."""
    which = np.arange(n) // 5

    def noise():
        return rng.normal(size=n // 5 + 1)[which] + rng.normal(size=n)

    s = noise()
    return s + noise(), s[:, None], np.sin(s) + noise(), {"groups": which}


def unequal_groups(d, of_group=False, halves=False):
    """From 2 to 30 rows each, a fifth of all at most; half of the noise is the group's.

    With ``halves`` it is that of their halves.

    The selected column is of the same kind, or says to which of three classes a group belongs.
    """

    def case(rng, n):
        sizes = rng.integers(2, min(31, n // 5), n)
        which = np.repeat(np.arange(n), sizes)[:n]
        place = np.concatenate([np.arange(size) / size for size in sizes])[:n]
        part = 2 * which + (place >= 0.5) if halves else which

        def noise():
            return rng.normal(size=2 * n)[part] + rng.normal(size=n)

        x, y, more = noise(), noise(), {"groups": which}
        if not d:
            return x, np.empty((n, 0)), y, more
        if of_group:
            letter = rng.integers(0, 3, n)[which]
            s = pd.DataFrame({"s": np.array(list("abc"))[letter]})
            return x + letter, s, y + letter, more
        s = noise()
        return x + s, s[:, None], y + s, more

    return case


def series(rho, d, missing=0.0, categories=False):
    """Autoregressions, and one more that both follow; or four classes by their size."""

    def case(rng, n):
        x, s, y = lfilter([1], [1, -rho], rng.normal(size=(3, n + 500)))[:, 500:]
        if d:
            x, y = x + s, y + s
        gaps = rng.random(n) < missing
        if categories:
            letters = np.array(list("abcd"), object)
            x = letters[np.digitize(x, np.quantile(x, [0.25, 0.5, 0.75]))]
            x = np.where(gaps, None, x)
        else:
            x = np.where(gaps, np.nan, x)
        return x, s[:, None][:, :d], y, {"series": True}

    return case


def best_of(m):
    def case(rng, n):
        return rng.normal(size=(n, m)), np.empty((n, 0)), rng.normal(size=n), {}

    return case


def given(case, *arguments):
    return lambda rng, n: case(rng, n, *arguments)


CASES = {
    **{f"the best of {m}, nothing selected": best_of(m) for m in (1, 10, 50, 200, 2000)},
    **{f"independent, {d} selected": given(independent, d) for d in (1, 3, 5, 8)},
    **{f"a noisy copy, {d} selected": relative(lambda s: s[:, 0], d) for d in (1, 3, 5)},
    **{f"a wave, {d} selected": relative(lambda s: np.sin(2 * s[:, 0]), d) for d in (1, 3, 5)},
    **{f"a parabola, {d} selected": relative(lambda s: s[:, 0] ** 2, d) for d in (1, 3, 5)},
    **{f"a product, {d} selected": relative(product, d) for d in (2, 3, 5)},
    **{f"shared spread s, {d} selected": shared_spread(lambda s: s, d) for d in (1, 3, 5, 8)},
    **{f"shared spread exp s, {d} selected": shared_spread(np.exp, d) for d in (1, 3, 5, 8)},
    "a copy, a class of 5 %": rare_class,
    "a copy, heavy tails": heavy_tails,
    "counts": counts,
    "categories": categories,
    "missing values": gaps,
    "groups of five": groups,
    "unequal groups, nothing selected": unequal_groups(0),
    "unequal groups, 1 selected": unequal_groups(1),
    "unequal groups, a class of the group selected": unequal_groups(1, of_group=True),
    "unequal groups with halves of their own": unequal_groups(0, halves=True),
    "a series (0.9), nothing selected": series(0.9, 0),
    "a series (0.9), 1 selected": series(0.9, 1),
    "a series (0.99), nothing selected": series(0.99, 0),
    "a series (0.99), 1 selected": series(0.99, 1),
    "a series (0.9), 30 % missing": series(0.9, 0, missing=0.3),
    "a series (0.9), categories": series(0.9, 0, categories=True),
    "a series (0.9), categories, 30 % missing": series(0.9, 0, missing=0.3, categories=True),
}
SIZES = (30, 60, 100, 300, 1000)


def passed(case, n, number, seed):
    """Whether p is at most 5 %."""
    rng = np.random.default_rng([list(CASES).index(case), n, APART * seed + number])
    x, s, y, more = CASES[case](rng, n)
    X = pd.DataFrame(x).add_prefix("x")
    s = pd.DataFrame(s).add_prefix("s")
    test = permutation_test(
        pd.concat([X, s], axis=1), y, list(X), given=list(s), alpha=ALPHA,
        n_permutations=DRAWS, random_state=number, **more,
    )  # fmt: skip
    return bool(np.min(test.p_values) <= ALPHA)


def block(case, n, first, seed):
    """Of how many data sets, from one on."""
    warnings.simplefilter("ignore")
    return sum(passed(case, n, first + i, seed) for i in range(AT_ONCE))


def keep(kept, file):
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(kept, indent=0) + "\n")
    fresh.replace(file)


TEXT = """# Levels

Written by [`experiments/levels.py`](../experiments/levels.py){seed}, which has the cases: they were
written down before anything was run on them.

Tests that ask in several ways at once compare with permutations, so without selected columns their
level is exact. Given selected columns, a candidate may depend on these in any way, and the test is
as good as smoothers take that out. In each case here the candidate tells nothing that the selected
columns do not, and p ≤ 0.05 should come in 5 % of data sets. Shares, with 95 % intervals (Wilson),
and the number of data sets; {draws} permutations.

{table}

Shares above 8 % whose interval does not reach down to it: {above}.
"""


def page(kept, seed):
    lines, above = [], []
    for case in CASES:
        cells = []
        for n in SIZES:
            runs, found = kept.get(json.dumps([case, n]), (0, 0))
            if not runs:
                cells.append("")
                continue
            low, high = binomtest(found, runs).proportion_ci(method="wilson")
            cells.append(f"{found / runs:.1%} ({low:.1%} to {high:.1%}), {runs}")
            if low > 0.08:
                above.append(f"{case}, {n} samples ({found / runs:.0%})")
        lines.append([case, *cells])
    found = table(["the candidate", *(f"{n} samples" for n in SIZES)], lines)
    named = "; ".join(above) or "none"
    return TEXT.format(seed=told(seed), draws=DRAWS, table=found, above=named)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seed", type=seed_number, default=0)
    parser.add_argument("--show", action="store_true", help="write the page from what is kept")
    options = parser.parse_args()
    file = HERE / "results" / f"{called('levels', options.seed)}.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    blocks = [
        (case, n, first)
        for first in range(0, 0 if options.show else options.sets, AT_ONCE)
        for case, n in ((case, n) for case in CASES for n in SIZES)
        if kept.get(json.dumps([case, n]), (0, 0))[0] <= first
        and not (case.startswith("the best of 2000") and n == 1000)
    ]
    end, last = time.monotonic() + 60 * options.minutes, time.monotonic()
    with ProcessPoolExecutor(options.workers) as pool:
        futures = [pool.submit(block, *some, options.seed) for some in blocks]
        for (case, n, _), future in zip(blocks, futures, strict=True):
            if time.monotonic() > end:
                future.cancel()
            if future.cancelled():
                continue
            runs, found = kept.get(json.dumps([case, n]), (0, 0))
            kept[json.dumps([case, n])] = (runs + AT_ONCE, found + future.result())
            if time.monotonic() - last > 20:
                last = time.monotonic()
                keep(kept, file)
    keep(kept, file)
    text = page(kept, options.seed)
    (HERE.parent / "docs" / "levels.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
