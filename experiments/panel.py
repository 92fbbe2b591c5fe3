"""Generated data whose relevant columns are known: (X, y, relevant) from a generator.

Column 3 of Friedman's second and third problem enters through 1 / (x1 x3), less than a
thousandth of the other term: it is not counted as relevant.
"""

import numpy as np
import pandas as pd
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3

from infosieve.datasets import make_friedman


def equation_f(rng, n=100, m=10):
    """The data (F) of Verleysen, Rossi and François (2009)."""
    X, y = make_friedman(n, m, random_state=rng, return_X_y=True)
    return X, y, {0, 1, 2, 3, 4}


def friedman1(rng, n=200):
    X, y = make_friedman1(n, 15, noise=1.0, random_state=int(rng.integers(2**31)))
    return X, y, {0, 1, 2, 3, 4}


def friedman2(rng, n=200):
    X, y = make_friedman2(n, noise=50.0, random_state=int(rng.integers(2**31)))
    return np.c_[X, rng.uniform(size=(n, 11))], y, {0, 1, 2}


def friedman3(rng, n=200):
    X, y = make_friedman3(n, noise=0.1, random_state=int(rng.integers(2**31)))
    return np.c_[X, rng.uniform(size=(n, 11))], y, {0, 1, 2}


def redundant(rng, n=100, m=10, noise=0.2):
    """One relevant column, a noisy copy of it, and noise."""
    x = rng.normal(size=n)
    y = np.sin(2 * x) + 0.3 * rng.normal(size=n)
    return np.c_[x, x + noise * rng.normal(size=n), rng.normal(size=(n, m - 2))], y, {0}


def blocks(rng, n=200):
    """Five blocks of four columns, correlated by 0.8; one relevant column in each of three."""
    shared = np.repeat(rng.normal(size=(n, 5)), 4, axis=1)
    X = np.sqrt(0.8) * shared + np.sqrt(0.2) * rng.normal(size=(n, 20))
    y = X[:, 0] + X[:, 4] * X[:, 8] + 0.5 * rng.normal(size=n)
    return X, y, {0, 4, 8}


def heavy_tails(rng, n=200, m=15):
    X = rng.standard_t(2, size=(n, m))
    y = X[:, 0] + np.abs(X[:, 1]) + np.sign(X[:, 2]) * X[:, 3] + 0.5 * rng.standard_t(2, size=n)
    return X, y, {0, 1, 2, 3}


def spread(rng, n=300, m=12):
    """The second column moves the spread of y, not its mean."""
    X = rng.normal(size=(n, m))
    return X, X[:, 0] + np.exp(0.8 * X[:, 1]) * rng.normal(size=n), {0, 1}


def xor(rng, n=200):
    """Two columns that are informative only jointly, and one by itself."""
    X = rng.uniform(-1, 1, size=(n, 10))
    y = np.sign(X[:, 0] * X[:, 1]) + X[:, 2] + 0.3 * rng.normal(size=n)
    return X, y, {0, 1, 2}


def classes(rng, n=300):
    X = rng.normal(size=(n, 15))
    score = X[:, 0] + X[:, 1] ** 2 - 1 + 0.5 * rng.normal(size=n)
    return X, np.where(score > 0.7, "a", np.where(X[:, 2] > 0, "b", "c")), {0, 1, 2}


def nothing(rng, n=100, m=10):
    return rng.normal(size=(n, m)), rng.normal(size=n), set()


def nothing_of_classes(rng, n=100, m=50):
    return rng.normal(size=(n, m)), rng.choice(list("abc"), n), set()


def nothing_more(rng, n=100, m=50):
    """Two columns tell nearly all, the others nothing."""
    X = rng.normal(size=(n, m))
    return X, X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=n), {0, 1}


def through_one(rng, together, n=300, m=300):
    """The second column acts only together with the first, which also acts by itself."""
    X = rng.normal(size=(n, m))
    return X, X[:, 0] + together(X[:, 0], X[:, 1]) + 0.3 * rng.normal(size=n), {0, 1}


def xor_alone(rng, n=300, m=300):
    """Two columns that are informative only jointly, and nothing else."""
    X = rng.uniform(-1, 1, size=(n, m))
    return X, np.sign(X[:, 0] * X[:, 1]) + 0.3 * rng.normal(size=n), {0, 1}


def counts(rng, n=300, m=15):
    X = rng.poisson(2, size=(n, m))
    y = rng.poisson(np.exp(0.4 * X[:, 0] - 0.3 * X[:, 1]))
    return X.astype(float), y.astype(float), {0, 1}


def categories(rng, n=400):
    """Ten columns of 2 to 8 levels and five of numbers; two of the former and one matter."""
    letters = np.array(list("abcdefgh"))
    levels = (3, 4, 2, 2, 3, 4, 5, 6, 7, 8)
    codes = np.column_stack([rng.integers(0, k, n) for k in levels])
    numbers = rng.normal(size=(n, 5))
    X = pd.DataFrame({f"c{j}": letters[codes[:, j]] for j in range(len(levels))})
    X = X.assign(**{f"x{j}": numbers[:, j] for j in range(5)})
    score = codes[:, 0] - 1 + numbers[:, 0] + 0.5 * rng.normal(size=n)
    y = np.where(codes[:, 1] == 0, "c", np.where(score > 0, "a", "b"))
    return X, y, {0, 1, len(levels)}


def additive(rng, n, m, k):
    """k columns, each by a curve of its own: lines, parabolas, waves, steps."""
    X = rng.uniform(-1, 1, size=(n, m))
    curves = (lambda x: 1.5 * x, lambda x: 3 * x**2, lambda x: np.sin(3 * x), np.sign)
    y = sum(curves[j % 4](X[:, j]) for j in range(k)) + 0.5 * rng.normal(size=n)
    return X, y, set(range(k))


def products(rng, n=300, m=20):
    """Two products of two columns each, and nothing else."""
    X = rng.normal(size=(n, m))
    return X, X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=n), {0, 1, 2, 3}


def many_zeros(rng, n=400, m=60):
    """Counts of which most are zero, as in single cells; the target is a count, too."""
    rate = rng.gamma(1.0, 1.0, size=(n, m))
    X = rng.poisson(rate).astype(float)
    y = rng.poisson(np.exp(0.5 * np.minimum(X[:, 0], 4) - 0.6 * np.minimum(X[:, 1], 4)) + X[:, 2])
    return X, y.astype(float), {0, 1, 2}


def rounded(rng, n=250, m=30):
    """Values rounded to a quarter of a standard deviation, the target as well."""
    X = np.round(4 * rng.normal(size=(n, m))) / 4
    y = X[:, 0] + np.cos(2 * X[:, 1]) + np.abs(X[:, 2]) + 0.4 * rng.normal(size=n)
    return X, np.round(4 * y) / 4, {0, 1, 2}


def classes_by_two(rng, n=400, m=30):
    """Three classes: by the signs of two columns together, and by the size of a third."""
    X = rng.normal(size=(n, m))
    y = np.where(np.abs(X[:, 2]) > 1, "far", np.where(X[:, 0] * X[:, 1] > 0, "same", "other"))
    flipped = rng.uniform(size=n) < 0.05
    return X, np.where(flipped, rng.permutation(y), y), {0, 1, 2}


def which_matters(rng, n=400, m=25):
    """A category says which of two numbers the target follows; further categories and numbers."""
    kind = rng.integers(0, 3, n)
    numbers = rng.normal(size=(n, m - 5))
    y = np.where(kind == 0, numbers[:, 0], np.where(kind == 1, numbers[:, 1], 1.5))
    letters = np.array(list("abcdef"))
    X = pd.DataFrame({"kind": letters[kind]})
    X = X.assign(**{f"c{k}": letters[rng.integers(0, k, n)] for k in (2, 3, 4, 6)})
    X = X.assign(**{f"x{j}": numbers[:, j] for j in range(m - 5)})
    return X, y + 0.3 * rng.normal(size=n), {0, 5, 6}


def neighbours_alike(rng, n=300, m=100):
    """Columns correlated by 0.7 with the next, as channels are; every 25th matters."""
    X = rng.normal(size=(n, m))
    for j in range(1, m):
        X[:, j] = 0.7 * X[:, j - 1] + np.sqrt(1 - 0.7**2) * X[:, j]
    a, b, c, d = (X[:, j] for j in (10, 35, 60, 85))
    return X, a + np.sin(2 * b) + np.abs(c) + d + 0.5 * rng.normal(size=n), {10, 35, 60, 85}


def factors(rng, n=300, m=60):
    """All columns share three factors (half of the variance); three of them matter."""
    shared = rng.normal(size=(n, 3)) @ rng.normal(size=(3, m)) / np.sqrt(3)
    X = shared + rng.normal(size=(n, m))
    y = np.tanh(X[:, 0]) + 0.5 * X[:, 1] ** 2 + X[:, 2] + 0.5 * rng.normal(size=n)
    return X, y, {0, 1, 2}


def two_groups(rng, n=150, m=1000, k=5):
    """Two classes that differ in five of a thousand log-normal columns."""
    sick = np.arange(n) % 2
    X = rng.normal(size=(n, m))
    X[:, :k] += 1.2 * sick[:, None]
    return np.exp(X), np.where(sick, "sick", "well"), set(range(k))


PANEL = {
    "F, M = 10": equation_f,
    "F, M = 50": lambda rng: equation_f(rng, 100, 50),
    "F, M = 10, N = 1000": lambda rng: equation_f(rng, 1000, 10),
    "friedman1": friedman1,
    "friedman2": friedman2,
    "friedman3": friedman3,
    "redundant copy": redundant,
    "redundant copy, N = 300": lambda rng: redundant(rng, 300),
    "correlated blocks": blocks,
    "correlated blocks, N = 500": lambda rng: blocks(rng, 500),
    "heavy tails": heavy_tails,
    "spread": spread,
    "xor": xor,
    "classes": classes,
    "classes, N = 100": lambda rng: classes(rng, 100),
}
EXTRA = {
    "nothing, M = 10": nothing,
    "nothing, M = 50": lambda rng: nothing(rng, 100, 50),
    "nothing, M = 200": lambda rng: nothing(rng, 100, 200),
    "copy alone": lambda rng: redundant(rng, 100, 2),
    "copy alone, N = 300": lambda rng: redundant(rng, 300, 2),
    "copy alone, noise 0.1": lambda rng: redundant(rng, 100, 2, 0.1),
    "copy alone, noise 0.05": lambda rng: redundant(rng, 100, 2, 0.05),
    "copy alone, noise 0.02": lambda rng: redundant(rng, 100, 2, 0.02),
}
# A problem's place seeds its data: what is new goes to the end.
LATER = {
    "F, N = 150, M = 300": lambda rng: equation_f(rng, 150, 300),
    "F, N = 150, M = 2000": lambda rng: equation_f(rng, 150, 2000),
    "through one, sign": lambda rng: through_one(rng, lambda a, b: np.sign(a * b)),
    "through one, sine": lambda rng: through_one(rng, lambda a, b: np.sin(2 * (a + b))),
    "xor, M = 300": xor_alone,
    "variance, M = 300": lambda rng: spread(rng, 300, 300),
    "heavy tails, M = 300": lambda rng: heavy_tails(rng, 200, 300),
    "counts": counts,
    "categories": categories,
    "nothing, M = 2000": lambda rng: nothing(rng, 100, 2000),
    "nothing, classes, M = 50": nothing_of_classes,
    "nothing given two": nothing_more,
}
# Not there when any default was chosen: they judge.
JUDGES = {
    "ten of 300": lambda rng: additive(rng, 600, 300, 10),
    "twelve of 40": lambda rng: additive(rng, 500, 40, 12),
    "four of 1000": lambda rng: additive(rng, 200, 1000, 4),
    "three of 5000": lambda rng: additive(rng, 200, 5000, 3),
    "products only": products,
    "counts, many zeros": many_zeros,
    "rounded values": rounded,
    "classes by two columns": classes_by_two,
    "a category says which": which_matters,
    "neighbours alike": neighbours_alike,
    "three factors": factors,
    "two groups, M = 1000": two_groups,
}
PROBLEMS = PANEL | EXTRA | LATER | JUDGES


def data(problem, seed, number):
    """Data set ``number`` of a problem: the same for every procedure."""
    rng = np.random.default_rng([seed, list(PROBLEMS).index(problem), number])
    return PROBLEMS[problem](rng)
