"""One column, one target: which shapes does a single test see, beside the tests of others?

    python experiments/shapes.py [--sets 300] [--seed 0] [--show]

The shapes and their strengths were written down before anything was run on them. Keeps the shares
that were found in experiments/results/shapes.json, and writes docs/shapes.md. Minutes.
"""

import argparse
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
from relevant import centred
from scipy.stats import norm, pearsonr
from spectra import HERE, called, keep, kept, seed_number, table, told

from infosieve import relevance_test

SIZES, LEVEL = (50, 100, 200, 400), 0.01
# Permutations that all columns of a size share: normal scores have one null distribution.
DRAWS = 4999


# ---- shapes: the target of a normal column. Of n samples, a signal explains strength / n of the
# noise's variance, so that who knows the shape finds it about equally often for any n.


def signal(of, strength):
    def target(x, rng):
        found = of(x)
        size = np.sqrt(strength / x.size)
        return size * (found - found.mean()) / found.std() + rng.normal(size=x.size)

    return target


def waves(number):
    return lambda x: np.cos(np.pi * number * norm.cdf(x))


def spread(of, strength):
    def target(x, rng):
        found = of(x)
        size = np.sqrt(strength / (2 * x.size))
        return np.exp(size * (found - found.mean()) / found.std()) * rng.normal(size=x.size)

    return target


def cross(x, rng):
    return rng.choice([-1, 1], x.size) * (24 / x.size) ** 0.25 * x + rng.normal(size=x.size)


def mixed(of, strength):
    """Some samples have the shape, the others nothing of it."""

    def target(x, rng):
        shaped = rng.random(x.size) < np.sqrt(strength / x.size)
        return np.where(shaped, of(x, rng), rng.normal(size=x.size))

    return target


def circle(x, rng):
    rest = np.sqrt(np.maximum(2.25 - x**2, 0))
    return rng.choice([-1, 1], x.size) * rest + 0.2 * rng.normal(size=x.size)


def checkerboard(x, rng):
    """Fields of a third of the samples: the target is in one of those of the same colour."""
    column = np.minimum((3 * norm.cdf(x)).astype(int), 2)
    of_white = 2 * rng.integers(0, 2, x.size)
    field = np.where(column % 2 == 0, of_white, 1)
    return norm.ppf((field + rng.random(x.size)) / 3)


SHAPES = {
    "line": signal(lambda x: x, 12),
    "step": signal(lambda x: x > 0.7, 14),
    "saturation": signal(lambda x: np.tanh(3 * x), 13),
    "exponential": signal(np.exp, 14),
    "hinge": signal(lambda x: np.maximum(x, 0.5), 14),
    "parabola": signal(lambda x: x**2, 20),
    "cubic": signal(lambda x: x**3 - 3 * x, 24),
    "bump": signal(lambda x: np.exp(-((x / 0.4) ** 2)), 24),
    "wave": signal(waves(2), 20),
    "wave and a half": signal(waves(3), 24),
    "two waves": signal(waves(4), 30),
    "four waves": signal(waves(8), 70),
    "spread rises": spread(lambda x: x, 24),
    "spread at both ends": spread(lambda x: x**2, 28),
    "cross": cross,
    "circle": mixed(circle, 50),
    "checkerboard": mixed(checkerboard, 60),
}
NOTHING = "nothing"


def drawn(n, n_sets, seed):
    """Columns of all shapes and data sets, each in the order of its own target: they share one."""
    columns = []
    for number, of in enumerate([*SHAPES.values(), None]):
        rng = np.random.default_rng([seed, number, n])
        for _ in range(n_sets):
            x = rng.normal(size=n)
            y = rng.normal(size=n) if of is None else of(x, rng)
            columns.append(x[np.argsort(y)])
    scores = norm.ppf((np.argsort(np.argsort(np.array(columns), axis=1), axis=1) + 0.5) / n)
    return scores.T, norm.ppf((np.arange(n) + 0.5) / n)


# ---- tests: p-values of columns


def ours(**how):
    def p_values(X, y, rng):
        return relevance_test(X, y, n_permutations=DRAWS, random_state=0, **how).p_values

    return p_values


def correlation(X, y, rng):
    return pearsonr(X, y[:, None], axis=0).pvalue


def permuted(statistic):
    """By the null distribution that all columns share."""

    def p_values(X, y, rng):
        orders = np.argsort(rng.random((DRAWS, len(y))), axis=1)
        null = np.sort(statistic(y[orders].T, y))
        above = DRAWS - np.searchsorted(null, statistic(X, y) * (1 - 1e-12))
        return (above + 1) / (DRAWS + 1)

    return p_values


def of_matrices(made):
    """The sum of the products of two matrices, one of the column and one of the target."""

    def statistic(X, y):
        b = made(y)
        whole, places = made(y), np.searchsorted(y, X)  # columns are permutations of the target
        return np.array(
            [(whole[np.ix_(some, some)] * b).sum() for some in np.clip(places, 0, len(y) - 1).T]
        )

    return statistic


def kernel(values):
    """A Gaussian one of median width, centred."""
    d = (values[:, None] - values) ** 2
    k = np.exp(-d / np.median(d[d > 0]))
    return k - k.mean(axis=0) - k.mean(axis=1)[:, None] + k.mean()


def xi(X, y):
    """The larger one of both directions; y is sorted."""
    n = len(y)
    ranks = np.argsort(np.argsort(X, axis=0), axis=0)
    one = np.abs(np.diff(ranks, axis=0)).sum(axis=0)
    back = np.argsort(X, axis=0)
    other = np.abs(np.diff(back, axis=0)).sum(axis=0)
    return 1 - 3 * np.minimum(one, other) / (n**2 - 1) + 1


TESTS = {
    "infosieve": ours(),
    "estimates only": ours(statistic="ksg"),
    "correlation": correlation,
    "distance correlation": permuted(of_matrices(centred)),
    "HSIC": permuted(of_matrices(kernel)),
    "xi": permuted(xi),
}


def measured(n_sets, seed):
    for n in SIZES:
        X, y = drawn(n, n_sets, seed)
        for name, test in TESTS.items():
            p = np.asarray(test(X, y, np.random.default_rng([seed, n])))
            found = (p <= LEVEL).reshape(-1, n_sets).mean(axis=1).round(4).tolist()
            yield [n, name, n_sets, dict(zip([*SHAPES, NOTHING], found, strict=True))]
            print(n, name, f"{np.mean(found[:-1]):.3f}", flush=True)


# ---- the page

TEXT = """# Shapes

Written by [`experiments/shapes.py`](../experiments/shapes.py){seed}, which has the shapes and their
strengths: they were written down before anything was run on them.

One column, one target, one test at 1 %: shares of {sets} data sets a cell in which the column was
found. Columns are normal. The more samples, the weaker the effect: who knows its shape would find
it about equally often. *infosieve*: `relevance_test`. *Estimates only*: the same with
`statistic="ksg"`, information by nearest neighbours. *Correlation*: of normal scores. *HSIC*: a
Gaussian kernel of median width. *xi*: Chatterjee's rank correlation, the larger one of both
directions. All but the correlation compare with permutations.
"""


def page(rows, seed):
    parts = [TEXT.format(seed=told(seed), sets=rows[0][2])]
    means = []
    for n in SIZES:
        of = {name: found for size, name, _, found in rows if size == n}
        lines = [[shape, *(f"{of[name][shape]:.0%}" for name in TESTS)] for shape in SHAPES]
        each = [np.mean([of[name][shape] for shape in SHAPES]) for name in TESTS]
        means.append([n, *(f"{mean:.1%}" for mean in each)])
        lines.append(["**mean**", *(f"**{mean:.0%}**" for mean in each)])
        lines.append(["nothing there", *(f"{of[name][NOTHING]:.1%}" for name in TESTS)])
        parts.append(f"## {n} samples\n\n{table(['shape', *TESTS], lines)}\n")
    parts.insert(1, f"## Means of {len(SHAPES)} shapes\n\n{table(['samples', *TESTS], means)}\n")
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", type=int, default=300)
    parser.add_argument("--seed", type=seed_number, default=0)
    parser.add_argument("--show", action="store_true", help="write the page from what is kept")
    options = parser.parse_args()
    name = called("shapes", options.seed)
    if not options.show:
        keep(name, list(measured(options.sets, options.seed)))
    page_of = HERE.parent / "docs" / "shapes.md"
    page_of.write_text(page(kept(name), options.seed), encoding="utf-8")


if __name__ == "__main__":
    main()
