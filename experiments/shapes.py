"""One column, one target: which shapes does a single test see, beside the tests of others?

    python experiments/shapes.py [--sets 300] [--seed 0] [--show]

The shapes and their strengths were written down before anything was run on them. How cosines and
squares go together in the default was chosen by the first ones afterwards; the others chose
nothing. Keeps the shares that were found in experiments/results/shapes.json, and writes
docs/shapes.md. Minutes.
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


def diamond(x, rng):
    return rng.choice([-1, 1], x.size) * np.maximum(2 - np.abs(x), 0) + 0.2 * rng.normal(
        size=x.size
    )


def skewness(x, rng):
    """The more of the column, the more the noise leans to one side; mean and spread stay."""
    share = np.tanh(x) * min(1, (60 / x.size) ** 0.25)
    leaning = rng.exponential(size=x.size) - 1
    straight = np.sqrt(1 - share**2) * rng.normal(size=x.size)
    return np.sign(share) * np.abs(share) * leaning + straight


def of_extremes(x, rng):
    """Where the column is far from its middle, the target is, on the same side or the other."""
    return np.where(np.abs(x) > 1.5, 1.5 * rng.choice([-1, 1], x.size), 0) + rng.normal(size=x.size)


# Written down when the default was what it is, and not changed since.
JUDGES = {
    "stairs": signal(lambda x: np.floor(4 * norm.cdf(x)), 13),
    "sawtooth": signal(lambda x: 2 * norm.cdf(x) % 1, 24),
    "square wave": signal(lambda x: np.sign(np.cos(3 * np.pi * norm.cdf(x))), 26),
    "a bump aside": signal(lambda x: np.exp(-(((x - 1) / 0.4) ** 2)), 20),
    "growth and fall": signal(
        lambda x: np.maximum(x + 1, 0) * np.exp(-2 * np.maximum(x + 1, 0)), 18
    ),
    "spread of a bump": spread(lambda x: np.exp(-((x / 0.5) ** 2)), 34),
    "skewness": skewness,
    "diamond": mixed(diamond, 50),
    "extremes": of_extremes,
}
NOTHING = "nothing"


def drawn(n, n_sets, seed):
    """Columns of all shapes and data sets, each in the order of its own target: they share one."""
    columns = []
    for number, of in enumerate([*SHAPES.values(), None, *JUDGES.values()]):
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
            yield [n, name, n_sets, dict(zip([*SHAPES, NOTHING, *JUDGES], found, strict=True))]
            print(n, name, f"{np.mean(found[: len(SHAPES)]):.3f}", flush=True)


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

How the default puts cosines and squares together was chosen by the {shapes} shapes that come first,
after others had found circles and checkerboards that it missed. The {judges} others were written
down afterwards, and chose nothing.
"""


def page(rows, seed):
    counts = {"shapes": len(SHAPES), "judges": len(JUDGES)}
    parts = [TEXT.format(seed=told(seed), sets=rows[0][2], **counts)]
    for shapes, which in ((SHAPES, ""), (JUDGES, " that chose nothing")):
        means = [[n, *(f"{mean_of(rows, n, name, shapes):.1%}" for name in TESTS)] for n in SIZES]
        every = [np.mean([mean_of(rows, n, name, shapes) for n in SIZES]) for name in TESTS]
        means.append(["**mean**", *(f"**{mean:.1%}**" for mean in every)])
        head = f"## Means of {len(shapes)} shapes{which}"
        parts.append(f"{head}\n\n{table(['samples', *TESTS], means)}\n")
    for n in SIZES:
        of = {name: found for size, name, _, found in rows if size == n}
        each = [*SHAPES, *JUDGES, NOTHING]
        lines = [[shape, *(f"{of[name][shape]:.0%}" for name in TESTS)] for shape in each[:-1]]
        lines.append(["nothing there", *(f"{of[name][NOTHING]:.1%}" for name in TESTS)])
        parts.append(f"## {n} samples\n\n{table(['shape', *TESTS], lines)}\n")
    return "\n".join(parts)


def mean_of(rows, n, test, shapes):
    (found,) = [found for size, name, _, found in rows if (size, name) == (n, test)]
    return np.mean([found[shape] for shape in shapes])


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
