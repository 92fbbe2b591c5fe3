"""The kernels as plain Python: what the vector code claims to do, and what coverage sees."""

import os
import subprocess
import sys

SCRIPT = """
import numpy as np, warnings
warnings.simplefilter("ignore")
from infosieve import FeatureClustering, MISelector, choose_k, false_neighbors
from infosieve import mutual_information, permutation_test, relevance
from infosieve._engines.numba import engine
rng = np.random.default_rng(0)
X, y = np.round(rng.normal(size=(24, 5)), 1), rng.normal(size=24)
X[:, 0] = rng.normal(size=24)
print(relevance(X, y, method="ksg1").tolist())
print(relevance(X, y, method="ksg2").tolist())
print(relevance(X, y, condition=X[:, :2]).tolist())
print(relevance(X, np.c_[y, X[:, 1]], metric="chebyshev").tolist())
print(relevance(X, y > 0, method="ksg2").tolist())
print(relevance(X[:, 1:], np.c_[y, X[:, 0]], method="ksg2").tolist())
engine._list_lengths = lambda n, batch: (3, 2)
print(relevance(X, y, condition=X[:, :2], n_neighbors=2).tolist())
print(mutual_information(X, y), mutual_information(X, y, method="ksg2"))
print(mutual_information(X[:, :2], y, condition=X[:, 2:]))
print(choose_k(X, y, n_neighbors=(2, 4), n_folds=8, random_state=0).t.tolist())
for null in ("global", "local"):
    options = dict(given=[1, 2], null=null, criterion="cmi", n_permutations=5, random_state=0)
    print(permutation_test(X, y, [0, 3], **options).null.tolist())
print(false_neighbors(X, y).tolist(), false_neighbors(X, np.c_[y, X[:, 1]]).tolist())
for options in ({}, {"linkage": "average"}, {"representative": "medoid"}):
    print(FeatureClustering(2, connectivity="chain", **options).fit(X, y).linkage_matrix_.tolist())
print(MISelector(stop=None, max_features=3, random_state=0).fit(X, y).path_.to_csv())
"""


def test_same_results_with_and_without_the_compiler():
    outputs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=os.environ | {"NUMBA_DISABLE_JIT": flag},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for flag in ("0", "1")
    ]
    assert len(set(outputs)) == 1
    assert outputs[0].count("\n") == 9 + 3 + 4 + 5
