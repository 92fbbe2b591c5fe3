"""
For analysts: customers who leave, and a table as it comes
==========================================================

A telephone company has three quarters of 260 customers in a table: text, categories with many
levels, gaps, an identifier, and three rows of each customer. Which columns are informative about
who leaves? Which should be asked for in the next survey? The table is simulated, so that the answer
is known.
"""

import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from infosieve import MISelector, plots

rng = np.random.default_rng(1)
customers, quarters = 260, 3
n = customers * quarters
who = np.repeat(np.arange(customers), quarters)


def of_customer(values):
    """What does not change from quarter to quarter."""
    return np.asarray(values)[who]


mood = of_customer(rng.normal(size=customers))  # which nobody has in a table
bill = of_customer(rng.gamma(6, 8, customers)) + 3 * rng.normal(size=n)
calls = rng.poisson(np.exp(0.3 * mood + 0.2))
plan = of_customer(
    rng.choice(["basic", "family", "flat", "business"], customers, p=[0.4, 0.3, 0.2, 0.1])
)
risk = (
    1.3 * mood + 0.9 * np.minimum(calls, 4) - 1.2 * (plan == "business") + 0.8 * (plan == "basic")
)
leaves = risk + 0.03 * np.abs(bill - 50) + rng.logistic(scale=0.5, size=n) > 2.2

table = pd.DataFrame(
    {
        "customer": of_customer([f"K{j:04d}" for j in range(customers)]),
        "invoice": [f"R-{j}" for j in rng.permutation(10_000)[:n]],
        "plan": plan,
        "bill": bill.round(2),
        "calls to support": calls,
        "satisfaction": np.clip(np.round(3 - mood + 0.7 * rng.normal(size=n)), 1, 5),
        "minutes": rng.gamma(2, 90, n).round(),
        "data volume": rng.lognormal(1, 1, n).round(2),
        "branch": of_customer(rng.choice([f"branch {j}" for j in range(25)], customers)),
        "distance to branch": of_customer(rng.gamma(2, 4, customers).round(1)),
        "age": of_customer(rng.integers(18, 80, customers)).astype(float),
        "newsletter": rng.random(n) < 0.4,
    }
)
# Who is about to leave does not answer the survey; the age and the volume are missing at random.
table.loc[rng.random(n) < np.where(mood > 0.8, 0.7, 0.1), "satisfaction"] = np.nan
table.loc[rng.random(n) < 0.15, "age"] = np.nan
table.loc[rng.random(n) < 0.1, "data volume"] = np.nan
leaves = pd.Series(np.where(leaves, "leaves", "stays"), name="next quarter")
table.head()

# %%
# As it comes
# -----------
# Nothing is coded, filled or scaled by hand. ``groups`` says which rows belong to one customer:
# they are not compared with each other, and whole customers are permuted. The customer's number
# itself is no candidate.

X, customer = table.drop(columns="customer"), table["customer"]
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    selector = MISelector(random_state=0).fit(X, leaves, groups=customer)
for warning in told:
    print(warning.message)

# %%
# The warning names a column that could not be used: each invoice has a number of its own.

selector.path_[["action", "feature", "gain", "null_q95", "p_value"]].round(3)

# %%
# ``gap_gain`` of a step is what the gaps of its column tell by themselves: whether there is an
# answer.

gaps = [step.gap_gain for step in selector.result_.steps]
selector.path_[["feature", "gain"]].assign(gap_gain=gaps).round(3)

# %%
# The satisfaction is informative also where it is missing: those who are about to leave do not
# answer. Filled with a mean, that would be lost.

# %%
# What groups are for
# -------------------
# The same without ``groups``. Three rows of one customer are alike in everything that belongs to
# the customer, so a column that is constant for each of them looks informative about whatever is
# constant, too.

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    naive = MISelector(random_state=0).fit(X, leaves)
print("as if rows were independent:", list(naive.get_feature_names_out()))

# %%
# The branch, its distance and the age were drawn at random, and pass all the same. A campaign for
# the customers of some branches would have followed from that.
#
# In a picture: what each column adds, in the scale of what chance adds at the same step.

figure, (above, below) = plt.subplots(2, 1, figsize=(8, 7.5), layout="constrained")
plots.PathDisplay.from_result(naive.result_).plot(ax=above)
plots.PathDisplay.from_result(selector.result_).plot(ax=below)
above.set_title("as if rows were independent", loc="left", pad=24)
below.set_title("three rows of each customer", loc="left", pad=24)

# %%
# What predicts
# -------------
# Certain is not the same as useful. ``stop="cv"`` keeps as many columns as a model predicts well
# with; customers stay together in its folds. ``test=True`` says which of these columns are
# certain.

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    useful = MISelector(stop="cv", test=True, random_state=0).fit(X, leaves, groups=customer)
print("useful:", list(useful.get_feature_names_out()))
useful.cv_scores_[["n_features", "added", "mean", "standard_error", "chosen"]].round(3)

# %%

plots.CVScoresDisplay.from_result(useful.result_).plot()

# %%
# The model wants the same three columns. It is usually ahead of the test with more columns; here,
# more of them do not predict better. Without any column (the first row) it always says "stays".
#
# The page for those who decide
# -----------------------------
# One file: what was selected and how sure that is, what was left out and why, each column against
# the target.

with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "customers.html"
    selector.result_.report(page)
    print(page.name, "is written:", page.exists())

# %%
# The decision
# ------------
# - **Watch calls to support, by plan.** They come first, and are far from chance.
# - **Keep the question about satisfaction in the survey, and count who does not answer.** It adds
#   to the other two, and no answer is an answer.
# - **Do nothing about branches and age.** Once the rows of a customer are taken together, neither
#   is better than chance.
# - **Nothing is said about the bill.** It matters a little here (who pays much more or less than
#   50 leaves more often), but 780 rows of 260 customers do not show it: a test that does not pass
#   is no proof that a column does not matter.

plt.show()
