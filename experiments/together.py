"""Rows that belong together: do tests hold their level, and what do they still find?

    python experiments/together.py [--runs 400] [--minutes 30] [--workers 2] [--data FOLDER]
        [--seed 0] [--show]

Series: autoregressions of order one, each column on its own. Groups: effects of groups in all
columns. Keeps experiments/results/together.json, which grows by runs and can be taken up, and
writes docs/together.md. FOLDER has the tables mayonnaise_triplicates, musk1 and wind (csv.gz);
without it what is kept of them stays. --shuffles NAME adds what is selected of the same rows in
twenty orders, under a name for the version that did it; --show with it adds nothing else, and
--tables names some of the tables. --default NAME does the same for tests of the default: who passes
among groups, and twenty orders.
"""

import argparse
import json
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd
from scipy.signal import lfilter
from scipy.stats import binomtest
from spectra import APART, HERE, called, seed_number, table, told

from infosieve import MISelector, permutation_test

DOCS = HERE.parent / "docs"
P = 99
LEVEL = 0.05
# Groups: how many, and their smallest and largest size.
GROUPS = ((20, 30, 30), (20, 2, 30), (50, 5, 5), (50, 2, 30), (60, 20, 100), (200, 2, 5))
# What is to be found, by the number of groups, and shares of the variance between groups.
EFFECTS = {60: 0.12, 200: 0.3}
OTHER_SHARES = {(50, 5, 5): (0.0, 0.5, 0.9), (60, 20, 100): (0.1, 0.5)}
MATCHED = ((50, 2), (150, 2), (50, 4))  # groups, rows of each
SHARES = (0.5, 0.9)  # of the variance, between groups
PHIS, SIZES = (0.0, 0.5, 0.9, 0.99), (200, 1000)
STEPS = ("first", "beside")
M_WIDE = 50  # columns of noise of a whole search
# Series of columns of several kinds: coefficient, samples, columns, share of missing values.
KINDS = {
    "categories": ([0.5, 200, 1, 0.0], [0.5, 200, 20, 0.0], [0.5, 200, 300, 0.0]),
    "persistent categories": ([0.9, 200, 1, 0.0], [0.9, 200, 60, 0.0]),
    "missing": ([0.9, 200, 1, 0.2], [0.9, 200, 1, 0.4], [0.9, 200, 10, 0.2], [0.9, 200, 60, 0.2]),
    "missing in stretches": ([0.9, 200, 1, 0.3], [0.9, 200, 60, 0.3]),
    "both": ([0.9, 200, 10, 0.2], [0.9, 200, 100, 0.2]),
}
# Groups given a category that is the same in all rows of a group: groups, smallest and largest
# size, share between; 1: no sizes in between.
GIVEN = (
    [50, 5, 5, 0.9, 0], [50, 2, 30, 0.9, 0], [60, 1, 41, 0.0, 1], [100, 2, 50, 0.0, 1],
    [40, 1, 60, 0.3, 1],
)  # fmt: skip
# Both halves of each group, in order, with effects of their own.
HALVES = ([20, 20, 20, 0.5, 0], [50, 2, 30, 0.8, 0], [20, 20, 20, 0.95, 0])
SHUFFLES = 20
VISITS = "visits (simulated)"
RELEVANT = ("lab0", "lab1", "lab2", "lab3", "trait0", "kind0")  # that visits depend on
# Tests of the default: groups, and their smallest and largest size.
SIZES_OF_GROUPS = {
    "20 of 30": (20, 30, 30), "50 of 5": (50, 5, 5), "200 of 2 to 5": (200, 2, 5),
    "60 of 20 to 100": (60, 20, 100), "20 of 2 to 30": (20, 2, 30), "50 of 2 to 30": (50, 2, 30),
}  # fmt: skip
# What there is, groups, the share of the variance between them, and an effect to be found.
OF_THE_DEFAULT = (
    ("plain", "20 of 30", 0.5, 0.15), ("plain", "50 of 5", 0.0, 0.2),
    ("plain", "50 of 5", 0.5, 0.2), ("plain", "50 of 5", 0.9, 0.35),
    ("plain", "200 of 2 to 5", 0.5, 0.12), ("plain", "60 of 20 to 100", 0.5, 0.08),
    ("plain", "20 of 2 to 30", 0.9, 0.5), ("heavy tails", "50 of 5", 0.5, 0.2),
    ("beside", "20 of 30", 0.5, 0.3), ("beside", "50 of 5", 0.5, 0.4),
    ("beside", "20 of 2 to 30", 0.9, 0.8),
    ("given a category of groups", "50 of 2 to 30", 0.9, 0.4),
    ("rare groups", "50 of 5", 0.5, 0.5), ("half of the groups", "50 of 2 to 30", 0.9, 0.3),
    ("rare rows", "50 of 5", 0.5, 0.4), ("missing", "50 of 5", 0.5, 0.2),
    ("matched", "50 of 5", 0.9, 0.05), ("a square", "50 of 5", 0.5, 0.2),
    ("halves", "20 of 30", 0.9, 0.4), ("halves", "50 of 2 to 30", 0.8, 0.25),
    ("visits", "50 of 2 to 30", 0.5, 0.2), ("drifting", "50 of 2 to 30", 0.3, 0.15),
    ("drifting, given the place", "50 of 2 to 30", 0.3, 0.2),
    ("a course", "20 of 30", 0.5, 0.15), ("a course, given the place", "20 of 30", 0.5, 0.15),
)  # fmt: skip
# Runs of a cell; where nothing is to be found, of those near 8 %; and in another order of rows.
RUNS_OF_THE_DEFAULT, RUNS_NEAR_THE_LEVEL, RUNS_IN_ORDERS = 100, 200, 60
NEAR_THE_LEVEL = ("beside", "heavy tails", "rare rows", "missing", "visits", "drifting")
# Real tables with groups: the column of these, and columns that tell nothing of what was measured.
GROUPED = {
    "mayonnaise_triplicates": ("sample", []),
    "musk1": ("molecule_name", ["conformation_name"]),
}


# ---- data


def grouped(case, step, effect, rng):
    """(X, y, groups): the first column is the candidate, the second is given if beside."""
    n_groups, low, high, share = case
    sizes = rng.integers(low, high + 1, n_groups)
    groups = np.repeat(np.arange(n_groups), sizes)

    def noise():
        own = rng.normal(size=groups.size)
        return np.sqrt(share) * rng.normal(size=n_groups)[groups] + np.sqrt(1 - share) * own

    x, y, s = noise(), noise(), noise()
    if step == "beside":
        return np.c_[s + 0.5 * x, s], s + 0.7 * y + effect * 0.5 * x, groups
    return np.c_[x, s], y + effect * x, groups


def matched(n_groups, size, share, effect, rng):
    """(X, y, groups): the target is the place in the group, in every group."""
    X, _, groups = grouped((n_groups, size, size, share), "first", 0.0, rng)
    y = np.tile(np.arange(size), n_groups)
    X[:, 0] += effect * y
    return X, y.astype(str), groups


def autoregressive(phi, n, rng):
    """Of variance one."""
    values = lfilter([1], [1, -phi], rng.normal(size=n + 1000))[-n:]
    return values * np.sqrt(1 - phi**2)


def series(phi, n, step, effect, rng):
    x, y, s = (autoregressive(phi, n, rng) for _ in range(3))
    if step == "beside":
        return np.c_[s + 0.5 * x, s], s + 0.7 * y + effect * 0.5 * x
    return np.c_[x, s], y + effect * x


def of_kinds(kind, phi, n, m, share, rng):
    """(X, y): columns of a series that have nothing to do with the target."""

    def category(wide):
        if kind == "persistent categories":
            return np.digitize(wide, [-0.7, 0.0, 0.7]).astype(str)
        return rng.choice(list("abcd"), n)

    columns = {}
    for j in range(m):
        wide = autoregressive(phi, n, rng)
        if "categories" in kind or (kind == "both" and j % 2):
            columns[f"x{j}"] = category(wide)
        elif kind == "missing in stretches":
            columns[f"x{j}"] = np.where(np.repeat(rng.random(n // 10) < share, 10), np.nan, wide)
        else:
            columns[f"x{j}"] = np.where(rng.random(n) < share, np.nan, wide)
    return pd.DataFrame(columns), autoregressive(phi, n, rng)


def in_groups(what, n_groups, low, high, share, either, rng):
    """(X, y, groups) of groups of the smaller or the larger size, or of sizes in between."""
    sizes = rng.choice([low, high], n_groups) if either else rng.integers(low, high + 1, n_groups)
    groups = np.repeat(np.arange(n_groups), sizes)
    alike = groups
    if what == "halves":
        place = np.concatenate([np.arange(size) for size in sizes])
        alike = 2 * groups + (2 * place >= sizes[groups])

    def noise():
        own = rng.normal(size=groups.size)
        return np.sqrt(share) * rng.normal(size=alike.max() + 1)[alike] + np.sqrt(1 - share) * own

    x, y = noise(), noise()
    kind = rng.choice(["a", "b"], n_groups)[groups]
    return pd.DataFrame({"x": x, "kind": kind}), y + (0.7 * (kind == "a")), groups


def visits(rng):
    """(X, y, groups): 312 patients of one to sixteen visits, values that drift, some missing."""
    sizes = np.minimum(rng.geometric(0.16, 312), 16)
    groups = np.repeat(np.arange(312), sizes)
    n = groups.size

    def drifting(size):
        steps = rng.normal(size=n) * size
        starts = np.cumsum(sizes) - sizes
        total = np.cumsum(steps)
        return rng.normal(size=312)[groups] + total - total[starts][groups]

    X = pd.DataFrame({f"lab{j}": drifting(0.4) for j in range(8)})
    for j in range(4):
        X[f"trait{j}"] = rng.normal(size=312)[groups]
    for j in range(4):
        X[f"kind{j}"] = rng.choice(["p", "q"], 312)[groups]
    y = 0.8 * X["lab0"] + 0.5 * X["lab1"] + 0.3 * X["lab2"] + 0.3 * X["lab3"].abs()
    y = y + 0.4 * X["trait0"] + 0.4 * (X["kind0"] == "p") + drifting(0.5)
    for name in ("lab1", "lab3", "lab4", "trait1"):
        X[name] = X[name].mask(rng.random(n) < 0.2)
    return X, y, groups


# ---- runs: who passes


def one(key, run):
    """Which tests pass, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _one(json.loads(key), run)


def _one(case, run):
    rng = np.random.default_rng([7, run, *(int(1000 * v) for v in case["numbers"])])
    if case["what"] == "groups":
        X, y, groups = grouped(case["numbers"][:4], case["step"], case["effect"], rng)
        order = rng.permutation(groups.size)
        first = order[np.unique(groups[order], return_index=True)[1]]
        return {
            "groups": passes(X, y, case, run, groups=groups),
            "one row of each": passes(X[first], y[first], case, run),
            "as if independent": passes(X, y, case, run),
        }
    if case["what"] == "matched":
        n_groups, size, share = case["numbers"]
        X, y, groups = matched(int(n_groups), int(size), share, case["effect"], rng)
        return {
            "groups": passes(X, y, case, run, groups=groups),
            "as if independent": passes(X, y, case, run),
        }
    if case["what"] == "series":
        phi, n = case["numbers"][:2]
        X, y = series(phi, int(n), case["step"], case["effect"], rng)
        return {
            "series": passes(X, y, case, run, series=True),
            "as if independent": passes(X, y, case, run),
        }
    if case["what"].startswith("kinds"):
        phi, n, m, share = case["numbers"]
        kind = case["what"].partition(": ")[2]
        X, y = of_kinds(kind, phi, int(n), int(m), share, rng)
        if m == 1:
            return {"series": passes(X, y, case, run, series=True)}
        found = MISelector(series=True, statistic="ksg", random_state=run, max_features=1).fit(X, y)
        return {"series": bool(found.selected_.size)}
    if case["what"] in ("given", "halves"):
        X, y, groups = in_groups(case["what"], *case["numbers"], rng)
        how = {"groups": groups, "n_permutations": P, "random_state": run}
        given = ["kind"] if case["what"] == "given" else []
        return {
            "groups": bool(
                permutation_test(X, y, "x", given=given, statistic="ksg", **how).p_value <= LEVEL
            )
        }
    return searches(case, run, rng)


def passes(X, y, case, run, **how):
    given = [1] if case["step"] == "beside" else []
    test = permutation_test(
        X, y, 0, given=given, n_permutations=P, random_state=run, statistic="ksg", **how
    )
    return bool(test.p_value <= LEVEL)


def searches(case, run, rng):
    """A whole search among noise: does it select anything?"""
    if case["what"] == "search in groups":
        _, y, groups = grouped(case["numbers"][:4], "first", 0.0, rng)
        columns = [grouped_again(groups, case["numbers"][3], rng) for _ in range(M_WIDE)]
        how, fit = {}, {"groups": groups}
    else:
        phi, n = case["numbers"][:2]
        y = autoregressive(phi, int(n), rng)
        columns = [autoregressive(phi, int(n), rng) for _ in range(M_WIDE)]
        how, fit = {"series": True}, {}
    X = np.array(columns).T
    found = MISelector(random_state=run, statistic="ksg", max_features=1, **how).fit(X, y, **fit)
    plain = MISelector(random_state=run, statistic="ksg", max_features=1).fit(X, y)
    return {"default": bool(found.selected_.size), "as if independent": bool(plain.selected_.size)}


def grouped_again(groups, share, rng):
    own = rng.normal(size=groups.size)
    return np.sqrt(share) * rng.normal(size=groups.max() + 1)[groups] + np.sqrt(1 - share) * own


def cases():
    """Each with its part of the runs."""
    every = []
    for phi in PHIS:
        for n in SIZES:
            for step in STEPS:
                for effect in (0.0, 0.3 if n == 200 else 0.15):
                    every.append(("series", step, effect, [phi, n], 1.0 if n == 200 else 0.5))
    for group in GROUPS:
        for share in OTHER_SHARES.get(group, SHARES):
            for step in STEPS:
                for effect in (0.0, EFFECTS.get(group[0], 0.5)):
                    every.append(("groups", step, effect, [*group, share], 0.5))
    for n_groups, size in MATCHED:
        for share in SHARES:
            for effect in (0.0, 0.5):
                every.append(("matched", "first", effect, [n_groups, size, share], 1.0))
    for numbers in ([0.5, 200], [0.9, 200], [0.9, 1000]):
        every.append(("search in series", "first", 0.0, numbers, 0.5))
    for numbers in ([50, 5, 5, 0.5], [50, 2, 30, 0.9]):
        every.append(("search in groups", "first", 0.0, numbers, 0.5))
    for kind, numbers in KINDS.items():
        every += [(f"kinds: {kind}", "first", 0.0, some, 1.0) for some in numbers]
    for what, numbers in (("given", GIVEN), ("halves", HALVES)):
        every += [(what, "first", 0.0, some, 1.0) for some in numbers]
    return [
        (json.dumps({"what": w, "step": s, "effect": e, "numbers": numbers}), share)
        for w, s, e, numbers, share in every
    ]


# ---- tests of the default


def columns_of(what, size, share, rng):
    """(places, groups, a function that makes a column) of some groups."""
    n_groups, low, high = SIZES_OF_GROUPS[size]
    sizes = rng.integers(low, high + 1, n_groups)
    groups = np.repeat(np.arange(n_groups), sizes)
    place = np.arange(groups.size) - (np.cumsum(sizes) - sizes)[groups]
    alike = 2 * groups + (2 * place >= sizes[groups]) if what == "halves" else groups
    draw = (lambda size: rng.standard_t(2, size)) if what == "heavy tails" else rng.normal

    def column():
        own, of_groups = draw(size=groups.size), draw(size=alike.max() + 1)[alike]
        if "drifting" in what or what == "visits":
            own = np.cumsum(own)
            own -= own[place == 0][groups]
            if what == "visits":
                return of_groups + 0.45 * own
            own /= np.sqrt(sizes.mean() / 2)
        return np.sqrt(share) * of_groups + np.sqrt(1 - share) * own

    return place, groups, column


def of_default(what, size, share, effect, rng):
    """(X, y, groups, what is given) of which the first column is tested."""
    place, groups, column = columns_of(what, size, share, rng)
    x, y, other = column(), column(), column()
    n_groups, given = groups.max() + 1, None
    X = pd.DataFrame({"x": x})
    if what == "beside":
        X["x"], X["given"] = other + 0.5 * x, other
        return X, other + 0.7 * y + 0.5 * effect * x, groups, ["given"]
    if what in ("rare groups", "half of the groups"):
        means = np.bincount(groups, x) / np.bincount(groups)
        order = np.argsort(rng.normal(size=n_groups) + 2 * effect * means)
        share = 0.1 if what == "rare groups" else 0.5
        return X, np.where(np.isin(groups, order[: round(share * n_groups)]), "a", "b"), groups, []
    if what == "rare rows":
        y = y + effect * x
        return X, np.where(y > np.quantile(y, 0.9), "a", "b"), groups, []
    if what == "matched":
        return pd.DataFrame({"x": x + effect * place}), place + 0.5, groups, []
    if what == "given a category of groups":
        X["given"] = rng.choice(["a", "b"], n_groups)[groups]
        y, given = y + 0.7 * (X["given"] == "a"), ["given"]
    if "the place" in what:
        X["given"], given = place, ["given"]
    if "a course" in what:
        X["x"], y = x + 0.05 * place, y + 0.05 * place
    if what == "missing":
        X["x"] = X["x"].mask(rng.random(groups.size) < (0.1 + 0.3 * rng.random(n_groups))[groups])
    return X, y + effect * (x**2 if what == "a square" else x), groups, given or []


def test_of_default(key, run):
    """Whether the first column passes, in the order of the rows and in another one."""
    what, size, share, effect = json.loads(key)
    rng = np.random.default_rng([8, run, *map(ord, what + size), round(1000 * share)])
    X, y, groups, given = of_default(what, size, share, effect, rng)
    how = {"given": given, "n_permutations": P, "random_state": run}
    found = []
    orders = [np.arange(groups.size), rng.permutation(groups.size)]
    for order in orders if effect == 0 and run < RUNS_IN_ORDERS else orders[:1]:
        x = X.iloc[order].reset_index(drop=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            test = permutation_test(x, np.asarray(y)[order], "x", groups=groups[order], **how)
        found.append(bool(test.p_value <= LEVEL))
    return found


def default_measured(kept, folder, pool, wanted, save):
    """Who passes of all cells, and what is selected of tables in twenty orders.

    Of spectra, of which it selects thirty, that takes an hour.
    """
    for what, size, share, effect in OF_THE_DEFAULT:
        for power in (0, 1):
            key = json.dumps([what, size, share, effect * power])
            near = not power and what.partition(",")[0] in NEAR_THE_LEVEL
            n_runs = RUNS_NEAR_THE_LEVEL if near else RUNS_OF_THE_DEFAULT
            runs = kept.setdefault("runs", {}).setdefault(key, [])
            jobs = [pool.submit(test_of_default, key, run) for run in range(len(runs), n_runs)]
            runs += [job.result() for job in jobs]
            save()
    for name in wanted:
        if name == "mayonnaise_triplicates":
            continue
        X, y, groups = _in_groups(name, folder)
        sets = _in_orders(X, y, groups, statistic="auto", lookahead=1)
        kept.setdefault("orders", {})[name] = sets


# ---- real tables


def real(folder, seed):
    """What is selected of tables whose rows belong together, with and without knowing it."""
    rows = []
    mayonnaise = pd.read_csv(folder / "mayonnaise_triplicates.csv.gz")
    groups, y = mayonnaise.pop("sample"), mayonnaise.pop("target").astype(str)
    for name, fit in (("groups", {"groups": groups}), ("as if independent", {})):
        start = time.process_time()
        found = MISelector(random_state=seed, statistic="ksg").fit(mayonnaise, y, **fit)
        rows.append(_told("mayonnaise_triplicates", name, found, start))
    wind = pd.read_csv(folder / "wind.csv.gz")
    y = wind.pop("target")
    for name, how in (("series", {"series": True}), ("as if independent", {})):
        start = time.process_time()
        found = MISelector(random_state=seed, statistic="ksg", **how).fit(wind, y)
        rows.append(_told("wind", name, found, start))
    return rows


def _told(name, test, found, start):
    known = found.result_.provenance
    return {
        "table": name,
        "test": test,
        "samples": known.n_samples,
        "columns": found.n_features_in_,
        "selected": [str(n) for n in found.get_feature_names_out()],
        "order": [str(found.feature_names_in_[j]) for j in found.selected_],
        "parts": found.result_.n_parts,
        "seconds": round(time.process_time() - start, 1),
    }


# ---- the same rows in other orders


def shuffled(folder, wanted):
    """What is selected of the same rows in twenty orders, from tables with groups."""
    return {name: _in_orders(*_in_groups(name, folder)) for name in wanted}


def _in_groups(name, folder):
    if name == VISITS:
        return visits(np.random.default_rng(5))
    if folder is None:
        raise SystemExit(f"{name} is in a folder of tables: --data FOLDER")
    (groups, others), table = GROUPED[name], pd.read_csv(folder / f"{name}.csv.gz")
    y, groups = table.pop("target").astype(str), table.pop(groups).to_numpy()
    return table.drop(columns=others), y, groups


def _in_orders(X, y, groups, **how):
    sets, how = [], {"statistic": "ksg", **how}
    for number in range(SHUFFLES):
        order = np.random.default_rng(number).permutation(len(y))
        selector = MISelector(random_state=0, **how)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector.fit(
                X.iloc[order].reset_index(drop=True),
                y.iloc[order].reset_index(drop=True),
                groups=groups[order],
            )
        sets.append([str(name) for name in selector.get_feature_names_out()])
    return sets


def agreement(sets):
    """The mean share of columns that two of the sets have in common."""
    sets = [set(some) for some in sets]
    pairs = [(a, b) for i, a in enumerate(sets) for b in sets[:i]]
    return float(np.mean([len(a & b) / max(1, len(a | b)) for a, b in pairs]))


# ---- the page


def from_to(sets):
    """How many columns sets have."""
    sizes = sorted(map(len, sets))
    return f"{sizes[0]} to {sizes[-1]}" if sizes[0] < sizes[-1] else f"{sizes[0]}"


def true_and_false(name, sets):
    """How many columns were found that matter, and that do not, where that is known."""
    if name != VISITS:
        return ["", ""]
    false = np.mean([len(set(some) - set(RELEVANT)) for some in sets])
    return [f"{n_true(sets):.1f} of {len(RELEVANT)}", f"{false:.1f}"]


def n_true(sets):
    """How many of the columns that matter were found, on average."""
    return np.mean([len(set(some) & set(RELEVANT)) for some in sets])


def power_lost(versions):
    """A sentence, where fewer of the columns that matter are found than before."""
    before, now = (versions.get(name, {}).get(VISITS) for name in ("before", "now"))
    if not before or not now or n_true(now) >= n_true(before):
        return ""
    times = {name: sum(name in some for some in before) for name in RELEVANT}
    lost = [name for name in RELEVANT if times[name] and not any(name in some for some in now)]
    each = " or ".join(f"`{name}` ({times[name]} of {len(before)} did)" for name in lost)
    found = f": no order finds {each} any more" if each else ""
    return f"\nPower was lost there{found}."


def of_the_default(kept):
    """Tables of cells, and of twenty orders, of each version."""
    kept = kept.get("default", {})
    versions = [name for name in ("before", "now") if name in kept]
    tables = []
    for power in (0, 1):
        rows = []
        for what, size, share, effect in OF_THE_DEFAULT:
            key = json.dumps([what, size, share, effect * power])
            found = [kept[name]["runs"].get(key) for name in versions]
            if not all(found):
                continue
            each = []
            for runs in found:
                each += [len(runs), share_of(runs, 0)]
                some = [run for run in runs if len(run) == 2]
                each += [] if power else [share_of(some, 1)]
            rows.append([what, size, f"{share:.0%}", *([effect] if power else []), *each])
        head = ["what", "groups", "variance between", *(["effect"] if power else [])]
        for name in versions:
            head += ["runs", name, *([] if power else [f"{name}, other order"])]
        tables.append(table(head, rows, left=2))
    rows = [
        [name, version, from_to(sets), f"{agreement(sets):.2f}", *true_and_false(name, sets)]
        for name in (VISITS, *GROUPED)
        for version in versions for sets in [kept[version].get("orders", {}).get(name)] if sets
    ]  # fmt: skip
    head = ["table", "version", "columns selected", "mean agreement of two orders", "true found",
            "false found"]  # fmt: skip
    return [*tables, table(head, rows, left=2)]


def share_of(runs, name):
    passed = [run[name] for run in runs]
    low, high = binomtest(sum(passed), len(passed)).proportion_ci(method="wilson")
    return f"{np.mean(passed):.1%} ({low:.0%} to {high:.0%})"


def rows_of(kept, what, effect):
    out = []
    for key, runs in kept["runs"].items():
        case = json.loads(key)
        if case["what"] == what and (case["effect"] > 0) == effect and runs:
            out.append((case, runs))
    return out


def page(kept, seed=0):
    parts = [TEXT["head"].format(seed=told(seed))]
    head = ["coefficient", "samples", "step", "runs", "`series=True`", "as if independent"]
    for effect, title in ((False, "series"), (True, "series power")):
        rows = [
            [c["numbers"][0], int(c["numbers"][1]), c["step"], len(runs),
             share_of(runs, "series"), share_of(runs, "as if independent")]
            for c, runs in rows_of(kept, "series", effect)
        ]  # fmt: skip
        parts += [TEXT[title], table(head, rows, left=0)]
    head = ["groups", "rows of each", "variance between", "step", "runs", "`groups`",
            "one row of each", "as if independent"]  # fmt: skip
    for effect, title in ((False, "groups"), (True, "groups power")):
        rows = []
        for c, runs in rows_of(kept, "groups", effect):
            n, low, high, share = c["numbers"]
            sizes = f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"
            each = [share_of(runs, k) for k in ("groups", "one row of each", "as if independent")]
            rows.append([int(n), sizes, f"{share:.0%}", c["step"], len(runs), *each])
        others = ", ".join(f"{effect} with {n} groups" for n, effect in EFFECTS.items())
        effects = f"0.5 times the candidate ({others})"
        parts += [TEXT[title].format(effects=effects), table(head, rows, left=0)]
    head = ["groups", "rows of each", "variance between", "effect", "runs", "`groups`",
            "as if independent"]  # fmt: skip
    rows = [
        [int(c["numbers"][0]), int(c["numbers"][1]), f"{c['numbers'][2]:.0%}", c["effect"],
         len(runs), share_of(runs, "groups"), share_of(runs, "as if independent")]
        for effect in (False, True)
        for c, runs in rows_of(kept, "matched", effect)
    ]  # fmt: skip
    parts += [TEXT["matched"], table(head, rows, left=0)]
    rows = [
        [c["what"].partition(": ")[2], c["numbers"][0], int(c["numbers"][1]), int(c["numbers"][2]),
         f"{c['numbers'][3]:.0%}", len(runs), share_of(runs, "series")]
        for kind in KINDS for c, runs in rows_of(kept, f"kinds: {kind}", False)
    ]  # fmt: skip
    head = ["columns", "coefficient", "samples", "columns", "missing", "runs", "`series=True`"]
    parts += [TEXT["kinds"], table(head, rows, left=0)]
    for what in ("given", "halves"):
        rows = []
        for c, runs in rows_of(kept, what, False):
            n, low, high, share, either = c["numbers"]
            sizes = f"{low} {'or' if either else 'to'} {high}" if low < high else low
            rows.append([n, sizes, f"{share:.0%}", len(runs), share_of(runs, "groups")])
        head = ["groups", "rows of each", "variance between", "runs", "`groups`"]
        parts += [TEXT[what], table(head, rows, left=0)]
    rows = [
        [name, version, from_to(sets), f"{agreement(sets):.2f}", *true_and_false(name, sets)]
        for name in (VISITS, *GROUPED)
        for version, found in kept.get("shuffles", {}).items() for sets in [found.get(name)] if sets
    ]  # fmt: skip
    head = ["table", "version", "columns selected", "mean agreement of two orders", "true found",
            "false found"]  # fmt: skip
    power = power_lost(kept.get("shuffles", {}))
    parts += [TEXT["shuffles"].format(power=power), table(head, rows, left=2)]
    level, effects, orders = of_the_default(kept)
    parts += [TEXT["default"], level, TEXT["default power"], effects, TEXT["orders"], orders]
    rows = []
    for what in ("search in series", "search in groups"):
        for c, runs in rows_of(kept, what, False):
            numbers = c["numbers"]
            words = f"coefficient {numbers[0]}, {numbers[1]} samples"
            if what.endswith("groups"):
                words = f"{numbers[0]} groups of {numbers[1]} to {numbers[2]}, {numbers[3]:.0%}"
            each = [share_of(runs, k) for k in ("default", "as if independent")]
            rows.append([what.split()[-1], words, len(runs), *each])
    head = ["", "", "runs", "`groups`, `series`", "as if independent"]
    parts += [TEXT["search"], table(head, rows, left=2)]
    if kept.get("real"):
        head = ["table", "samples", "test", "parts", "selected, in order", "seconds"]
        rows = [
            [f"`{r['table']}`", r["samples"], r["test"], r["parts"],
             f"{len(r['order'])} of {r['columns']}: {', '.join(r['order'][:12])}"
             + (" ..." if len(r["order"]) > 12 else ""), r["seconds"]]
            for r in kept["real"]
        ]  # fmt: skip
        parts += [TEXT["real"], table(head, rows, left=1)]
    return "\n\n".join(parts) + "\n"


TEXT = {
    "head": """# Rows that belong together

*Tests on this page compare estimates of information (`statistic="ksg"`), but for those
[of the default with groups](#the-default-with-groups-nothing-to-be-found), which
[ask in several ways](how.md#asking-in-several-ways); more of these: [levels](levels.md),
[weak effects](weak.md), [shapes](shapes.md). p-values of estimates, and of pairs, depend on the
order in which the rows of a group are passed ([why](limits.md#what-the-tests-assume)), those of the
default do not.*

Written by [`experiments/together.py`](../experiments/together.py){seed}.
Tests assume that rows can be exchanged. Several rows of one
patient, or rows in order of time, cannot: what is alike in them looks like information. `groups`
and `series` say so ([how](how.md#rows-that-belong-together)). This page asks two things of the
tests, at a level of 5 %: do columns pass that tell nothing, and do columns that tell something
still pass? Intervals are those of 95 %. "First": one candidate, nothing selected. "Beside": the
candidate is a noisy copy of a selected column that the target depends on, and tells nothing
more.""",
    "series": """## Series: nothing to be found

Candidate, selected column and target are autoregressions, x[t] = c x[t - 1] + noise, each on its
own. The last column is the test that takes rows as independent.""",
    "series power": """## Series: something to be found

The target has 0.3 times the candidate added (0.15 among 1,000 samples); all of variance one. At a
coefficient of 0 rows are independent: what is lost there is the price of saying `series=True` where
it is not needed. Shares of the last column at 0.9 and more are no power: there columns pass that
tell nothing.""",
    "groups": """## Groups: nothing to be found

All columns have effects of groups: the share of the variance between groups is given. At 0 % rows
are independent.""",
    "groups power": """## Groups: something to be found

The target has {effects} added. "One row of each" is
what can be done without `groups`: a valid test of a random row of each group.""",
    "matched": """## Matched rows

Every group has the same values of the target in the same order, such as control and case of a
pair. Rows are then taken in random order within their group, and tests exchange these orders. The
candidate has effects of groups, and the effect times the place in the group added. Effects of
groups hide a difference if rows are taken as independent; tests pass too rarely then.""",
    "kinds": """## Series of categories, and with missing values

White noise in four categories, autoregressions cut into four categories, autoregressions with
values missing at random or in stretches of ten, and tables of half categories, half columns with
missing values. Of one column: a test of it. Of more: whether `MISelector` selects any.""",
    "given": """## Groups, given a category of theirs

The target depends on a category that is the same in all rows of a group, and given; the candidate
tells nothing. Sizes differ, because groups are exchanged with groups of like size only, in each
category.""",
    "halves": """## Groups whose halves have effects of their own

As visits before and after an operation. Rows are passed in order, first half first; which rows are
alike could not be known if they were shuffled.""",
    "shuffles": f"""## The same rows in another order

The rows of a table with groups, in {SHUFFLES} orders, all else equal: how many columns are
selected, and which share of them two orders have in common (columns that both select, of those that
one of them does). "Visits": 312 patients with one to sixteen visits each, values that drift from
visit to visit, some missing. "Before": when the first rows of all groups were compared with each
other, then the second ones, and so on.

Of the 16 columns of the visits {len(RELEVANT)} matter. "True found": how many of these were
selected, the mean over the orders; "false found": how many others.{{power}}
musk1 has 476 shapes of 92 molecules, up to 40 of each.""",
    "default": f"""## The default with groups: nothing to be found

Tests of the default exchange means of groups, and give what rows have beside the mean of their
group a random sign, one for each group ([how](how.md#rows-that-belong-together)). "Before" they
exchanged rows, the first of a group for the first of another, and so on. Each test is done with
rows as they were made, in order, and some ({RUNS_IN_ORDERS} runs) in another order as well.

"Plain": effects of groups in all columns; "beside": a noisy copy of a selected column; "rare
groups": a target that is the same in all rows of a group, and differs in a tenth of them; "rare
rows": one that differs in a tenth of the rows. "Halves" of groups have effects of their own, as
visits before and after an operation. "Drifting": a random walk in each group, from its first row
on, so that all columns spread alike as time goes on; "visits": the same, as in the simulated visits
below. "A course": all columns rise from row to row. Columns that take the same course in all groups
have something in common, unless it is known who came when: "given the place".""",
    "default power": """## The default with groups: something to be found

The target has the effect times the candidate, or its square, added; of matched rows the candidate
has the effect times the place in the group added.""",
    "orders": f"""## The default: the same rows in another order

What `MISelector` selects by single columns (`lookahead=1`) in {SHUFFLES} orders of the rows, as
above for estimates.""",
    "search": f"""## A whole search

How often `MISelector` selects anything among {M_WIDE} columns that tell nothing, with all defaults
(level 5 %, candidates screened).""",
    "real": """## Two real tables

Near-infrared spectra of mayonnaise, each sample measured three times, and daily wind speeds at
twelve stations. In both, information is plentiful; what changes is how much of it counts.""",
}


def write(kept, file):
    file.write_text(json.dumps(kept).replace("}], ", "}],\n") + "\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--shuffles", metavar="NAME", help="of this version, twenty orders of rows")
    parser.add_argument("--default", metavar="NAME", help="of this version, tests of the default")
    parser.add_argument("--tables", nargs="+", choices=(VISITS, *GROUPED), help="for both")
    parser.add_argument("--only", help="cases whose key has this text")
    parser.add_argument("--seed", type=seed_number, default=0)
    parser.add_argument("--show", action="store_true", help="write the page from what is kept")
    options = parser.parse_args()
    first = APART * options.seed
    file = HERE / "results" / f"{called('together', options.seed)}.json"
    kept = json.loads(file.read_text()) if file.exists() else {"runs": {}, "real": []}
    end = time.monotonic() + 60 * options.minutes
    if options.data is not None and not options.show:
        kept["real"] = real(options.data, first)
    if options.shuffles is not None:
        every = (VISITS, *(GROUPED if options.data else ()))
        found = shuffled(options.data, options.tables or every)
        kept.setdefault("shuffles", {}).setdefault(options.shuffles, {}).update(found)
    if options.default is not None:
        some = kept.setdefault("default", {}).setdefault(options.default, {})
        with ProcessPoolExecutor(options.workers) as pool:
            every = (VISITS, *(GROUPED if options.data else ()))
            tables = options.tables or every
            default_measured(some, options.data, pool, tables, partial(write, kept, file))
    wanted = [(key, share) for key, share in cases() if (options.only or "") in key]
    with ProcessPoolExecutor(options.workers) as pool:
        step = 20
        for goal in range(step, options.runs + step, step) if not options.show else ():
            jobs = {}
            for key, share in wanted:
                known = kept["runs"].setdefault(key, [])
                for run in range(len(known), round(goal * share)):
                    jobs[pool.submit(one, key, first + run)] = key, run
            found = {}
            for job in as_completed(jobs):
                found[jobs[job]] = job.result()
            for key, run in sorted(found):
                kept["runs"][key].append(found[key, run])
            write(kept, file)
            print(goal, f"{(end - time.monotonic()) / 60:.1f} minutes left", flush=True)
            if time.monotonic() > end:
                break
    write(kept, file)
    (DOCS / "together.md").write_text(page(kept, options.seed), encoding="utf-8")


if __name__ == "__main__":
    main()
