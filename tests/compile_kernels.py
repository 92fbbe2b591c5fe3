"""Compile the kernels that most tests need, once, before two processes of tests would do it each.

    python tests/compile_kernels.py    # part of make test, beside the linters

Two processes call the same functions, one of them from the last to the first: what one has compiled
the other finds on disk, until they meet. Nothing is tested here; the machine code is kept where
Numba keeps it.
"""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd

from infosieve import (
    FeatureClustering,
    MISelector,
    choose_k,
    permutation_test,
    relevance,
    relevance_test,
)


def calls():
    """Functions without arguments."""
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.normal(size=(120, 40))).add_prefix("x")
    text = numbers.assign(kind=rng.choice(list("abc"), 120), tied=numbers["x0"].round())
    gaps = text.mask(rng.random(text.shape) < 0.1)
    y = np.sin(2 * numbers["x0"]) + numbers["x1"] + (text["kind"] == "a")
    classes = np.where(y > 0, "high", "low")

    def select(X, target, fit=None, **how):
        return lambda: MISelector(**how).fit(X, target, **fit or {})

    three, two = ({"random_state": 0, "max_features": n} for n in (3, 2))
    return [  # what takes longest first and last: both ends are at work on it at the same time
        lambda: relevance(numbers, y, condition=numbers[["x0"]]),
        lambda: permutation_test(
            numbers, y, ["x2", "x3"], given=["x0"], criterion="mi", random_state=0
        ),
        *(select(X, target, **three) for X in (numbers, text, gaps) for target in (y, classes)),
        select(text, y, n_features_to_select=2, max_samples=60),
        select(text, classes, stop="cv", cv=2, max_features=3),
        select(numbers, y, {"groups": np.arange(120) // 2}, **two),
        select(numbers, y, series=True, **two),
        lambda: choose_k(numbers, y, n_neighbors=(2, 4), n_folds=4, random_state=0),
        lambda: FeatureClustering(4).fit(numbers, y),
        lambda: relevance_test(text, y, random_state=0),
    ]


def main():
    if sys.argv[1:] == ["--backwards"]:
        return call(calls()[::-1])
    other = subprocess.Popen([sys.executable, __file__, "--backwards"])
    call(calls())
    return other.wait()


def call(functions):
    warnings.simplefilter("ignore")
    for function in functions:
        function()


if __name__ == "__main__":
    sys.exit(main())
