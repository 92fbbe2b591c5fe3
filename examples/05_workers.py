"""
Workers of a Dask cluster
=========================

A test of many columns is many small pieces of work. The workers of a Dask cluster can do them, on
this machine or on others. The result is the same to the last bit, whoever computes.
"""

import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client, LocalCluster

from infosieve import MISelector, permutation_test, plots
from infosieve.datasets import make_friedman

friedman = make_friedman(n_samples=200, n_features=30, random_state=0, as_frame=True)
X, y = friedman.data, friedman.target

# %%
# A small cluster
# ---------------
# ``processes=False`` keeps the workers inside this process. A script that starts processes has to
# hide everything behind ``if __name__ == "__main__":``, because each new process reads the script
# again. For real work, start processes there, or connect to a cluster: ``Client("tcp://...")``.

cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
client = Client(cluster)
print(len(client.scheduler_info()["workers"]), "workers")

# %%
# A selection
# -----------
# The argument ``executor`` gives a selection to the workers. ``checkpoint="run.json"`` would keep
# each finished step, for runs that take long.

selector = MISelector(executor=client, random_state=0).fit(X, y)
print("selected:", ", ".join(selector.get_feature_names_out()))

# %%
# One test, twice
# ---------------
# Which of the columns have more marginal information than the best of all permuted columns? Once by
# the workers, once by threads. ``relevance``, ``choose_k`` and ``FeatureClustering`` have the same
# argument.

by_workers = permutation_test(X, y, list(X), executor=client, random_state=0)
by_threads = permutation_test(X, y, list(X), random_state=0)
print("the same bits:", np.array_equal(by_workers.null, by_threads.null))

table = by_workers.to_frame().sort_values("observed", ascending=False)
table[["feature", "observed", "p_value"]].head(6).round(3)

# %%
# Each grey bar counts permutations: the largest value that any permuted column reached. A line is a
# column that chance does not explain. The selection above found more: given others, less of the
# target is unexplained, and what a column adds can be seen.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.hist(by_workers.null[:, 0], bins=30, color=plots.CHANCE, label="best permuted column")
passed = by_workers.p_values <= 0.05
for name, value in zip(X.columns[passed], by_workers.observed[passed], strict=True):
    ax.axvline(value, color=plots.FOUND)
    ax.text(
        value, 0.97, f" {name}", color=plots.FOUND, va="top", transform=ax.get_xaxis_transform()
    )
ax.margins(x=0.1)
ax.set(xlabel="information about the target (nats)", ylabel="permutations")
ax.legend(frameon=False, loc="center right")

# %%

client.close()
cluster.close()
plt.show()
