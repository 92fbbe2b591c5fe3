"""
For engineers: sensors in time, and a delay
===========================================

A dryer, eight sensors, a reading every ten minutes. The moisture of the product is measured, too.
Which sensors tell something about it, and how long before? Readings that follow each other are no
independent samples, and whoever takes them as such finds a relation everywhere. The plant is
simulated, so that the answer is known.
"""

import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from infosieve import MISelector, permutation_test, plots

n = 1500  # ten days and some hours
units = {
    "steam": "kg/min",
    "room": "°C",
    "coolant": "°C",
    "pump": "A",
    "vibration": "mm/s",
    "pressure": "bar",
    "load": "kg",
    "pH": "1",
}


def drift(rng, memory):
    """Readings that return to their mean slowly: each is ``memory`` times the last, and noise."""
    x = np.zeros(n + 300)
    for t, push in enumerate(rng.normal(size=n + 299), start=1):
        x[t] = memory * x[t - 1] + push
    x = x[300:]  # without the start
    return (x - x.mean()) / x.std()


def plant(seed):
    """Sensors, and the moisture: of all sensors only the steam acts, half an hour later."""
    rng = np.random.default_rng(seed)
    steam = drift(rng, 0.85)
    sensors = pd.DataFrame(
        {
            "steam": 40 + 4 * steam,
            "room": 20 + 3 * drift(rng, 0.98),
            "coolant": 12 + 2 * drift(rng, 0.97),
            "pump": 30 + 1.5 * drift(rng, 0.96),
            "vibration": 2 + 0.3 * drift(rng, 0.97),
            "pressure": 6 + 0.4 * drift(rng, 0.96),
            "load": 60 + 3 * drift(rng, 0.97),
            "pH": 7 + 0.1 * drift(rng, 0.3),
        }
    )
    before = pd.Series(steam).shift(3)
    fouling = drift(rng, 0.96)  # which nobody measures
    moisture = 8 + 2 * np.tanh(before**2 / 1.5) + 0.6 * fouling + 0.2 * rng.normal(size=n)
    return sensors, moisture.rename("moisture")


sensors, moisture = plant(0)

# %%
# Too much steam and too little both leave the product moist, half an hour later. That is no line,
# and a correlation would not see it. The other sensors wander about on their own. So does something
# that is not measured, and the moisture with it. Three of the sensors:

hours = np.arange(n) / 6
figure, axes = plt.subplots(4, 1, figsize=(8, 5.4), layout="constrained", sharex=True)
for ax, name in zip(axes[:3], list(sensors)[:3], strict=True):
    ax.plot(hours, sensors[name], lw=0.8, color=plots.CHANCE)
    ax.set_ylabel(f"{name}\n({units[name]})")
axes[-1].plot(hours, moisture, lw=0.8, color=plots.FOUND)
axes[-1].set(xlabel="time (hours)", ylabel="moisture\n(%)", xlim=(0, hours[-1]))
figure.align_ylabels()

# %%
# Delays are columns
# ------------------
# Nothing here knows about lags, and nothing has to: a delayed sensor is one more column. pandas
# makes it with ``shift``. The first rows have no past, and are left out. The first four days are
# learned from, the other six are put aside, to judge by.

delays = range(6)  # rows: 0 to 50 minutes


def with_delays(sensors, moisture):
    """A column for each sensor and delay, and the moisture of the same rows."""
    columns = {
        f"{name} -{10 * lag} min" if lag else f"{name} now": sensors[name].shift(lag)
        for name in sensors
        for lag in delays
    }
    return pd.DataFrame(columns).iloc[max(delays) :], moisture.iloc[max(delays) :]


X, y = with_delays(sensors, moisture)
past, later = X.index[X.index < 600], X.index[X.index >= 600]
print(X.shape[1], "columns,", len(past), "readings to learn from,", len(later), "to judge by")

# %%
# The wrong answer
# ----------------
# As a table of independent rows. Each test compares a column with permuted columns. But a permuted
# column jumps from value to value, and no sensor does. Next to those, two curves that both wander
# look alike, whatever they are.

independent = MISelector(max_features=8, random_state=0).fit(X.loc[past], y[past])
independent.path_[["action", "feature", "gain", "p_value", "level", "null_q95"]].round(3)

# %%
# Seven sensors passed their tests, and only the first acts on the moisture. In the picture they are
# far above chance (the grey boxes).

plots.PathDisplay.from_result(independent.result_).plot()

# %%
# The right one
# -------------
# ``series=True`` says that rows are in order of time. Then readings that are near in time are not
# compared with each other, and the surrogates wander as much as the sensors do. So chance is
# allowed what it can really do: compare ``null_q95`` with the table above.

series = MISelector(series=True, random_state=0).fit(X.loc[past], y[past])
series.path_[["action", "feature", "gain", "p_value", "level", "null_q95"]].round(3)

# %%
# What was done, in words:

for note in series.result_.notes:
    print(textwrap.fill(f"- {note}", 80, subsequent_indent="  "))

# %%
# The steam of half an hour ago is clearly above what chance can do. The best of the rest is not.

plots.PathDisplay.from_result(series.result_).plot()

# %%
# Once is no evidence
# -------------------
# Eight other plants of the same kind, with other weather and other fouling. In each of them the
# steam of half an hour ago is tested, and all other sensors as they are now. In how many do they
# pass, at 5 %?

asked = ["steam -30 min", *(f"{name} now" for name in sensors if name != "steam")]
passed = []
for seed in range(1, 9):
    table, target = with_delays(*plant(seed))
    table, target = table.loc[past, asked], target[past]
    for words, series_or_not in {"independent": False, "in time": True}.items():
        test = permutation_test(
            table, target, asked, series=series_or_not, n_permutations=99, random_state=0
        )
        passed += [(words, name, p <= 0.05) for name, p in zip(asked, test.p_values, strict=True)]
passed = pd.DataFrame(passed, columns=["rows", "sensor", "passed"])
table = passed.pivot_table(index="sensor", columns="rows", values="passed", aggfunc="sum")
table = table.loc[asked].astype(int)

figure, ax = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
colors = {"independent": plots.REFUSED, "in time": plots.FOUND}
for shift, (words, color) in zip((-0.2, 0.2), colors.items(), strict=True):
    ax.barh(np.arange(len(asked)) + shift, table[words], 0.36, color=color, label=f"rows {words}")
ax.set_yticks(range(len(asked)), asked)
ax.set(xlabel="passed, of 8 plants", xlim=(0, 8))
ax.invert_yaxis()
ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))

# %%
# The steam passes in all eight, either way. With rows in time one of the other sensors passes,
# once in 56 tests at 5 %, which is what chance does.
#
# Does it matter?
# ---------------
# A model learns from the first four days, and predicts the other six. With the columns of the first
# search it learns coincidences, too, and coincidences end. (Scores are R²: 1 is perfect, 0 is what
# the mean predicts.)

model = make_pipeline(StandardScaler(), SVR())
scores = {}
for words, found in {"independent": independent, "in time": series}.items():
    names = found.get_feature_names_out()
    model.fit(X.loc[past, names], y[past])
    scores[words] = {
        "columns": len(names),
        "first four days": model.score(X.loc[past, names], y[past]),
        "other six days": model.score(X.loc[later, names], y[later]),
    }
scores = pd.DataFrame(scores).T.astype({"columns": int})
scores.round(2)

# %%
# The relation that was found, and the best of those that were not. Blue and orange are the readings
# that were learned from, black are the later ones. The first relation is still there.

best = series.get_feature_names_out()[0]
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
wrong = next(name for name in independent.path_["feature"] if not name.startswith("steam"))
for ax, name, color in zip(axes, (best, wrong), (plots.FOUND, plots.REFUSED), strict=True):
    ax.plot(X.loc[later, name], y[later], "o", ms=2, color="black", label="other six days")
    ax.plot(X.loc[past, name], y[past], "o", ms=3, color=color, alpha=0.6, label="first four days")
    ax.set(xlabel=f"{name} ({units[name.split()[0]]})")
    ax.legend(frameon=False, fontsize="small")
axes[0].set_ylabel("moisture (%)")

# %%
# What to decide
# --------------
# - **Keep the steam meter, and use it with a delay of 30 minutes.** A controller has that much time
#   to act. The best setting is in the middle of the bow, at about 40 kg/min.
# - **For the other sensors these readings are no reason.** They may be needed for safety or for
#   maintenance. As far as the moisture is concerned, they can go, or be read by hand.
# - **Look for what nobody measures.** The steam explains about half of the moisture. What is left
#   wanders, so it has a cause that lasts for hours: here, the fouling.
# - **Say** ``series=True`` **whenever rows follow each other.** It costs power where it is not
#   needed, and saves you from a plan with six useless sensors in it.
#
# How often independent series pass with it, and how often related ones do, is
# :doc:`measured </together>`. A season that sensor and target share is a relation, and is found:
# take it out first, if it is not what you ask for. A target that never comes back to its mean has
# no levels to compare: then infosieve measures changes, and warns. More of that:
# :doc:`limits </limits>`.

# sphinx_gallery_thumbnail_number = 5

# %%

plt.show()
