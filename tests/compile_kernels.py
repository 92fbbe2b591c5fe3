"""Compile the kernels that most tests need, once, before two processes of tests would do it each.

    python tests/compile_kernels.py    # part of make test, beside the linters

Nothing is tested here; the machine code is kept where Numba keeps it.
"""

import warnings

import numpy as np
import pandas as pd

from infosieve import FeatureClustering, MISelector, choose_k, permutation_test, relevance_test


def main():
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.normal(size=(120, 40))).add_prefix("x")
    text = numbers.assign(kind=rng.choice(list("abc"), 120), tied=numbers["x0"].round())
    gaps = text.mask(rng.random(text.shape) < 0.1)
    y = np.sin(2 * numbers["x0"]) + numbers["x1"] + (text["kind"] == "a")
    classes = np.where(y > 0, "high", "low")
    for X in (numbers, text, gaps):
        for target in (y, classes):
            MISelector(random_state=0, max_features=3).fit(X, target)
    MISelector(n_features_to_select=2, max_samples=60).fit(text, y)
    MISelector(random_state=0, max_features=2).fit(numbers, y, groups=np.arange(120) // 2)
    MISelector(random_state=0, max_features=2, series=True).fit(numbers, y)
    MISelector(stop="cv", cv=2, max_features=3).fit(text, classes)
    relevance_test(text, y, random_state=0)
    permutation_test(numbers, y, ["x2", "x3"], given=["x0"], criterion="mi", random_state=0)
    choose_k(numbers, y, n_neighbors=(2, 4), n_folds=4, random_state=0)
    FeatureClustering(4).fit(numbers, y)


if __name__ == "__main__":
    main()
