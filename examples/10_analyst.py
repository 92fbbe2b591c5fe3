"""
For analysts: a business table as it comes
==========================================

Which customers leave, and what announces it? The table has what such tables have: identifiers,
numbers and dates as text, codes, categories with many levels, gaps, and several rows for each
customer. What does infosieve make of each, and what has to be said? The table is simulated, so that
the answer is known. At the end there is a list of columns, and a report to send around.
"""

import re
import tempfile
import textwrap
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from infosieve import MISelector, plots

# %%
# The truth
# ---------
# Customers leave when they are unhappy, when the first year of the contract ends, and rather from
# the basic plan than from the others. Unhappy customers call, and do not answer the survey. Nothing
# else has to do with it: neither fee nor income, age, distance, city or sector.


def records(n_customers, seed):
    """A row for each customer and quarter, and whether the customer left in the end."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(n_customers), rng.integers(1, 4, n_customers))
    n = len(of)
    unhappy = rng.normal(size=n_customers)
    months = rng.integers(1, 48, n_customers)
    plan = rng.choice(["basic", "plus", "pro"], n_customers, p=[0.5, 0.3, 0.2])
    end_of_year = np.exp(-(((months - 12) / 5) ** 2))
    odds = np.exp(-3 + 2 * unhappy + 4 * end_of_year + 2 * (plan == "basic"))
    left = np.where(rng.uniform(size=n_customers) < odds / (1 + odds), "left", "stayed")

    satisfaction = np.clip(np.round(7 - 1.2 * unhappy[of] + rng.normal(0, 1.2, n)), 1, 10)
    silent = 1 / (1 + np.exp(1.5 - 1.5 * unhappy[of]))
    satisfaction[rng.uniform(size=n) < silent] = np.nan  # no answer
    income = rng.lognormal(10.4, 0.4, n_customers)[of].round(-2)
    income[rng.uniform(size=n) < 0.3] = np.nan  # lost on the way, at random
    fee = rng.choice([9.9, 14.9, 19.9, 29.9, 49.9], n_customers)[of] + rng.integers(0, 20, n) / 10
    signed_up = pd.Timestamp("2024-12-31") - pd.to_timedelta(30 * months[of], unit="D")
    table = pd.DataFrame(
        {
            "invoice": [f"INV-{number:06d}" for number in rng.permutation(n)],
            "customer": [f"C{number:04d}" for number in of],
            "currency": "EUR",
            "plan": plan[of],
            "signed up": signed_up.strftime("%d.%m.%Y"),
            "fee": [f"{value:.2f}".replace(".", ",") for value in fee],
            "fee a year": 12 * fee,
            "city": [f"city {number:02d}" for number in rng.integers(0, 60, n_customers)[of]],
            "sector": rng.integers(1, 10, n_customers)[of],
            "age": rng.integers(18, 80, n_customers)[of],
            "distance": rng.gamma(2, 4, n_customers)[of].round(1),
            "income": income,
            "calls": rng.poisson(np.exp(0.2 + 0.7 * unhappy[of])),
            "satisfaction": satisfaction,
        }
    )
    return table, pd.Series(left[of], name="outcome")


table, y = records(400, seed=0)
print(len(table), "rows of", table["customer"].nunique(), "customers")
table.head(3).T

# %%
# As it comes
# -----------
# Somebody has to try it. Warnings are worth reading: they name the column and say what to do.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    careless = MISelector(random_state=0).fit(table, y)
for warning in caught:
    print(textwrap.fill(f"- {warning.message}", 80, subsequent_indent="  "))
careless.path_[["action", "feature", "gain", "p_value"]].round(3)

# %%
# The number of the invoice was left out: each occurs once, and nothing can be learnt from it. But
# the number of the customer was taken, because it comes with several rows and one answer. It
# "predicts" well, and tells nothing about new customers. The warning asks the right question; only
# you know the answer.
#
# Mend the table
# --------------
# - The fee becomes a number.
# - A date as text is a category like any other. Say what matters about it: how long ago it was.
# - The sector is a number that is none. It stays as it is, and is declared a category.
# - Sixty cities have a few customers each. They are joined to regions, before anything is tested.
# - The customer is no column. It says which rows belong together.


def mended(table):
    """Numbers as numbers, a duration for a date, regions for cities, no identifiers."""
    X = table.drop(columns=["invoice", "customer", "signed up", "city"])
    X["fee"] = X["fee"].str.replace(",", ".").astype(float)
    date = pd.to_datetime(table["signed up"], format="%d.%m.%Y")
    X["months"] = (pd.Timestamp("2024-12-31") - date).dt.days // 30
    X["region"] = "region " + table["city"].str[-1]
    return X


X, customer = mended(table), table["customer"]
codes = ["currency", "plan", "sector", "region"]

# %%
# Rows are not customers
# ----------------------
# Without ``groups`` every row counts as a sample of its own. Age, distance and sector do not change
# from row to row, and neither does the answer: so they seem to go together. (``lookahead=1`` leaves
# out the search for pairs of columns, which takes time.)

settings = {"discrete_features": codes, "lookahead": 1, "random_state": 0}
by_rows = MISelector(**settings).fit(X, y)
by_rows.path_[["action", "feature", "gain", "p_value", "level"]].round(3)

# %%
# With ``groups`` rows of one customer are not compared with each other, and whole customers are
# permuted. What is left is what can be said about customers.

selector = MISelector(**settings).fit(X, y, groups=customer)
selector.path_[["action", "feature", "gain", "p_value", "level"]].round(3)

# %%
# Four columns, and all four are right. A dot is the evidence for a column given those above it, a
# grey box that of the best of all permuted columns.

plots.PathDisplay.from_result(selector.result_).plot()

# %%
# What became of the rest
# -----------------------
# The result says what it made of the table: constant columns, copies, gaps, groups.

print("constant:", ", ".join(X.columns[j] for j in selector.result_.constant))
for first, others in selector.duplicates_.items():
    print("copies:", X.columns[first], "and", ", ".join(X.columns[j] for j in others))
for note in selector.result_.notes:
    print(textwrap.fill(f"- {note}", 80, subsequent_indent="  "))

# %%
# Two columns have gaps, and they differ. The income is missing by accident. Who does not answer the
# survey says something by that: the last note is about it. ``gap_gain`` has the number, what it
# would tell alone that there is no answer.

for step in selector.result_.steps:
    if step.gap_gain is not None:
        name = X.columns[step.features[0]]
        print(f"{name}: {step.gain:.3f} nats, {step.gap_gain:.3f} of the gaps alone")

# %%
# The four columns, seen: shares of rows whose customer left. Dashed is the share of all.

ranges = {
    "months": ([0, 6, 18, 30, 48], ["1 to 6", "7 to 18", "19 to 30", "31 to 47"]),
    "calls": ([-1, 0, 2, 5, 99], ["0", "1 or 2", "3 to 5", "6 or more"]),
    "satisfaction": ([0, 4, 6, 8, 10], ["1 to 4", "5 or 6", "7 or 8", "9 or 10"]),
}
figure, axes = plt.subplots(1, 4, figsize=(10, 3.4), layout="constrained", sharey=True)
for ax, name in zip(axes, selector.get_feature_names_out(), strict=True):
    values = X[name]
    if name in ranges:
        edges, words = ranges[name]
        values = pd.cut(values, edges, labels=words).cat.add_categories("no answer")
        values = values.fillna("no answer")
    share = 100 * (y == "left").groupby(values, observed=True).mean()
    colors = [plots.REFUSED if level == "no answer" else plots.FOUND for level in share.index]
    ax.bar(share.index.astype(str), share, color=colors)
    ax.axhline(100 * (y == "left").mean(), color=plots.CHANCE, ls="--")
    ax.tick_params(axis="x", rotation=60)
    ax.set_title(name)
axes[0].set_ylabel("left (%)")

# %%
# What the cities cost
# --------------------
# A column of sixty levels has many ways to look good by chance. Each column is compared by its own
# chance, so that the cities hide no other column: the same four are found with them in the table.
# But sixty levels of a few customers each could hardly pass themselves, which is why they were
# joined to regions, before anything was tested. To join until something passes would be no test
# any more.

with_cities = X.assign(city=table["city"])
cities = MISelector(**settings | {"discrete_features": [*codes, "city"]})
cities.fit(with_cities, y, groups=customer)
print("with cities:", ", ".join(cities.path_.query("action == 'add'")["feature"]))
print("with regions:", ", ".join(selector.path_.query("action == 'add'")["feature"]))

# %%
# Columns that predict
# --------------------
# A test keeps what is certain. For a list of customers to call, one may want all that helps to
# predict, certain or not: ``stop="cv"``. Folds keep the rows of a customer together. ``test=True``
# tells which of the columns are certain, too.

useful = MISelector(
    stop="cv", scoring="roc_auc", test=True, criterion="cmi", max_features=8, **settings
)
useful.fit(X, y, groups=customer)
print(textwrap.fill(useful.result_.stop_reason, 80))
plots.CVScoresDisplay.from_result(useful.result_).plot()

# %%
# A longer list: the four that are certain, and more. Cross-validation promises no more than that
# these folds were predicted better with them. In truth the others have nothing to do with it.
#
# New customers
# -------------
# In a simulation they cost nothing. A forest learns from the old customers, with each list of
# columns, and ranks the new ones by how likely they are to leave. (The area under the curve is 0.5
# for a random order, and 1 for the right one.)

new, new_y = records(1000, seed=1)
new = mended(new)
scores = {}
for words, found in {"as rows": by_rows, "certain": selector, "useful": useful}.items():
    names = list(found.get_feature_names_out())
    texts = [name for name in names if name in codes]
    numbers = [name for name in names if name not in codes]
    forest = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), texts),
            (SimpleImputer(strategy="median", add_indicator=True), numbers),
        ),
        RandomForestClassifier(min_samples_leaf=5, random_state=0),
    )
    forest.fit(X[names], y)
    area = roc_auc_score(new_y == "left", forest.predict_proba(new[names])[:, 0])
    scores[words] = {"columns": len(names), "area under the curve": round(area, 2)}
pd.DataFrame(scores).T.astype({"columns": int})

# %%
# A report to send around
# -----------------------
# One file that needs nothing else, with these headings:

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "leaving.html"
    selector.result_.report(path)
    page = path.read_text(encoding="utf-8")
print("\n".join("- " + title for title in re.findall(r"<h[12][^>]*>([^<]+)", page)))

# %%
# Read the first one aloud: it is the answer. Below it stand questions that people ask next, each
# with its answer or with the call that would give it. "What was selected, and how sure" has the
# p-values. "What was excluded, and why" is for whoever misses a column, and has what gaps tell.
# "To repeat it" has the call, the seed and a fingerprint of the data.
#
# What to decide
# --------------
# - **Whom to call.** Customers on the basic plan, around the end of their first year. Customers who
#   called three times and more in a quarter. And those who do not answer the survey.
# - **Keep the gaps.** Do not leave out rows without an answer. A model that needs numbers gets a
#   column beside them that says where answers are missing.
# - **Take the short list.** Four columns rank new customers as well as the longer list does. The
#   others need not be collected for this purpose.
# - **Say what a sample is.** Counting rows instead of customers brought four useless columns in,
#   and ranked new customers a little worse. Identifiers, dates as text and long lists
#   of levels are for you to mend, before the first test.
#
# That customers who call leave more often does not mean that the calls drive them away:
# informative is not the same as causal. More about :doc:`gaps </missing>`,
# :doc:`rows that belong together </together>`, :doc:`categories </categories>`, and
# :doc:`which stop for what </settings>`.

# sphinx_gallery_thumbnail_number = 2

# %%

plt.show()
