"""Generated data whose relevant columns are known: (X, y, relevant) from a generator.

Column 3 of Friedman's second and third problem enters through 1 / (x1 x3), less than a
thousandth of the other term: it is not counted as relevant.
"""

import numpy as np
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


def heavy_tails(rng, n=200):
    X = rng.standard_t(2, size=(n, 15))
    y = X[:, 0] + np.abs(X[:, 1]) + np.sign(X[:, 2]) * X[:, 3] + 0.5 * rng.standard_t(2, size=n)
    return X, y, {0, 1, 2, 3}


def spread(rng, n=300):
    """The second column moves the spread of y, not its mean."""
    X = rng.normal(size=(n, 12))
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
PROBLEMS = PANEL | EXTRA


def data(problem, seed, number):
    """Data set ``number`` of a problem: the same for every procedure."""
    rng = np.random.default_rng([seed, list(PROBLEMS).index(problem), number])
    return PROBLEMS[problem](rng)
