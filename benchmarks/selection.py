"""Speed of the selection against loops over other libraries' estimators, in one run.

    make bench                                   # or: python benchmarks/selection.py [--quick]

Writes benchmarks/selection.json and docs/benchmarks-selection.md. One thread, except where it says
two. The others' loops compute what ours does, with the fastest estimator that another library has
for it.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import json
import subprocess
import sys
import time
import warnings

import ennemi
import infomeasure
import npeet_plus
import numpy as np
from run import DOCS, HERE, K, best_times, machine, micro, peak_memory
from sklearn.feature_selection import mutual_info_regression

from infosieve import MISelector, choose_k, permutation_test
from infosieve.datasets import make_friedman

CHAPTER = {
    "n_neighbors": "auto",
    "criterion": "mi",
    "stop": "permutation",
    "null": "global",
    "correction": None,
    "lookahead": 1,
}
# Information of a set of columns, (n, d), with the target, (n,).
PEERS = {
    "scikit-learn": lambda x, y, k: mutual_info_regression(x, y, n_neighbors=k)[0],
    "ennemi": lambda x, y, k: ennemi.estimate_mi(y, x[:, 0], k=k, max_threads=1)[0, 0],
    "npeet-plus": lambda x, y, k: npeet_plus.mi(x, y[:, None], k=k),
    "infomeasure": lambda x, y, k: infomeasure.mutual_information(x, y, approach="ksg", k=k),
}
FOR_SETS = ("npeet-plus", "infomeasure")


def friedman(seed, n=100, m=10):
    """The data (F) of Verleysen, Rossi and François (2009), columns standardised."""
    X, y = make_friedman(n, m, random_state=seed, return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


def fastest(x, y, names):
    """The other library that is fastest on such data."""
    functions = {name: lambda f=PEERS[name]: f(x, y, K) for name in names}
    times = best_times(functions, 7)
    return min(times, key=times.get)


def timed(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def loop_choose_k(X, y, mi, rng):
    """The published choice of K with an estimator of one K."""
    n = len(y)
    parts = np.array_split(rng.permutation(n), 20)
    permuted = rng.permutation(y)
    t = np.empty((X.shape[1], 19))
    for j in range(X.shape[1]):
        for k in range(2, 21):
            values = [
                [mi(np.delete(X[:, [j]], p, axis=0), np.delete(target, p), k) for p in parts]
                for target in (y, permuted)
            ]
            a, b = np.array(values)
            t[j, k - 2] = (a.mean() - b.mean()) / np.sqrt(a.var(ddof=1) + b.var(ddof=1))
    return 2 + int(np.argmax(t.max(axis=0)))


def loop_test(X, y, selected, candidate, k, mi, rng, n_permutations=199):
    """The published permutation test; ends when p <= 0.05 has become impossible."""
    x = X[:, [*selected, candidate]]
    observed = mi(x, y, k)
    exceedances = 0
    for _ in range(n_permutations):
        x[:, -1] = rng.permutation(X[:, candidate])
        exceedances += mi(x, y, k) >= observed
        if (exceedances + 1) / (n_permutations + 1) > 0.05:
            return False
    return True


def loop_chapter(X, y, mi_one, mi_set, rng):
    """The whole published procedure."""
    k = loop_choose_k(X, y, mi_one, rng)
    selected = []
    while len(selected) < X.shape[1]:
        left = [j for j in range(X.shape[1]) if j not in selected]
        mi = mi_set if selected else mi_one
        best = max(left, key=lambda j: mi(X[:, [*selected, j]], y, k))
        if not loop_test(X, y, selected, best, k, mi, rng):
            break
        selected.append(best)
    return selected


def compare_choose_k():
    X, y = friedman(0)
    name = fastest(X[:95, [3]], y[:95], PEERS)
    ours = best_times({"ours": lambda: choose_k(X, y, random_state=0)}, 9)["ours"]
    theirs, _ = timed(lambda: loop_choose_k(X, y, PEERS[name], np.random.default_rng(0)))
    return {"case": "choose_k, N = 100, M = 10, 20 splits, K = 2 to 20", "peer": name} | ratio(
        ours, theirs
    )


def compare_test(null):
    X, y = friedman(0, n=1000)
    name = fastest(X[:, :5], y, FOR_SETS)
    options = {"given": [0, 1, 2, 3], "n_neighbors": K, "n_permutations": 200, "null": null}
    options |= {"criterion": "mi", "correction": None}
    times = best_times({"ours": lambda: permutation_test(X, y, 4, **options, random_state=0)}, 7)
    theirs = min(
        timed(lambda: [PEERS[name](X[:, :5], y, K) for _ in range(201)])[0] for _ in range(2)
    )
    case = f"permutation test ({null}), N = 1,000, 4 selected, P = 200"
    return {"case": case, "peer": name} | ratio(times["ours"], theirs)


def compare_chapter(n_sets, n_theirs):
    data = [friedman(seed) for seed in range(n_sets)]
    one = fastest(data[0][0][:95, [3]], data[0][1][:95], PEERS)
    sets = fastest(data[0][0][:, :4], data[0][1], FOR_SETS)
    fits = [MISelector(**CHAPTER, random_state=0) for _ in data]
    ours, _ = timed(lambda: [fit.fit(*d) for fit, d in zip(fits, data, strict=True)])
    theirs, found = timed(
        lambda: [
            loop_chapter(*d, PEERS[one], PEERS[sets], np.random.default_rng(0))
            for d in data[:n_theirs]
        ]
    )
    sizes = np.bincount([fit.selected_.size for fit in fits], minlength=8).tolist()
    row = {
        "case": f"the published procedure, {n_sets} data sets of (F)",
        "peer": f"{one}, {sets}",
        "features selected: data sets": {i: size for i, size in enumerate(sizes) if size},
        "theirs was timed on": n_theirs,
        "features selected by theirs": [len(f) for f in found],
    }
    return row | ratio(ours, theirs * n_sets / n_theirs)


def compare_wide(m):
    """Each in a process of its own, so that the memory is its own, too."""
    rows = {}
    for name in ("scikit-learn", "no correction", "no correction, two threads", "default"):
        columns = m if name != "default" else min(m, 1000)  # an hour and more at 20,000
        command = [sys.executable, __file__, "--wide", name, "--columns", str(columns)]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        rows[name] = json.loads(output.splitlines()[-1])
    theirs = rows["scikit-learn"]["seconds"]
    cases = {
        "no correction": f"five steps, N = 500, M = {m:,}, correction=None, against one "
        "relevance pass of scikit-learn",
        "no correction, two threads": "the same with two threads",
        "default": "N = 500, M = 1,000, the default (two threads)",
    }
    return [
        {"case": case, "peer": "scikit-learn's mutual_info_regression"}
        | ratio(rows[name]["seconds"], theirs * (min(1, 1000 / m) if name == "default" else 1))
        | {"copies of the data": rows[name]["copies"], "selected": rows[name]["selected"]}
        for name, case in cases.items()
    ]


def wide(name, m):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, m))
    y = X[:, :5].sum(axis=1) + 0.3 * rng.normal(size=500)
    setting = {
        "no correction": {"correction": None, "stop": "permutation", "lookahead": 1},
        "no correction, two threads": {
            "correction": None,
            "stop": "permutation",
            "lookahead": 1,
            "n_jobs": 2,
        },
        "default": {"n_jobs": 2},
    }
    if name == "scikit-learn":
        seconds, _ = timed(lambda: mutual_info_regression(X, y))
        return {"seconds": seconds}
    options = setting[name]
    steps = {} if name == "default" else {"n_features_to_select": 5}
    MISelector(**options, random_state=0).fit(X[:, :30], y)  # compile
    before = peak_memory(reset=True)
    seconds, fit = timed(lambda: MISelector(**options, **steps, random_state=0).fit(X, y))
    return {
        "seconds": seconds,
        "copies": (peak_memory() - before) / X.nbytes,
        "selected": sorted(fit.selected_.tolist()),
    }


def ratio(ours, theirs):
    return {"ours": ours, "theirs": theirs, "ratio": theirs / ours}


def shown(seconds):
    return f"{seconds:,.1f} s" if seconds > 10 else micro(seconds)


def times(ratio):
    return f"{ratio:,.0f}" if ratio > 10 else f"{ratio:.2g}"


def write(rows):
    m = machine()
    lines = [
        "# Benchmarks of the selection",
        "",
        f"Written by `benchmarks/selection.py` on {m['processor']}, {m['cores']} cores, "
        f"Python {m['python']}.",
        "One thread except where it says two. The others' time is that of a loop over the fastest",
        "estimator of another library that does the same (see the script).",
        "",
        "| what | ours | theirs | whose | times faster |",
        "|---|---:|---:|---|---:|",
    ]
    for row in rows:
        cells = (row["case"], shown(row["ours"]), shown(row["theirs"]), row["peer"])
        lines.append("| " + " | ".join(cells) + f" | **{times(row['ratio'])}** |")
    chapter = next(row for row in rows if "features selected by theirs" in row)
    found = chapter["features selected: data sets"]
    lines += [
        "",
        "The procedure of Verleysen, Rossi and François (2009) selected "
        + ", ".join(f"{i} features in {n} data sets" for i, n in found.items())
        + f"; the loop's time is that of {chapter['theirs was timed on']} data sets, scaled.",
    ]
    for row in rows:
        if "copies of the data" in row:
            lines += [
                "",
                f"{row['case']}: {row['copies of the data']:.1f} times the memory of the data "
                f"in addition to it; selected {row['selected']} (relevant are 0 to 4).",
            ]
    (DOCS / "benchmarks-selection.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (HERE / "selection.json").write_text(json.dumps({"machine": m, "rows": rows}, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, print, write nothing")
    parser.add_argument("--wide", help=argparse.SUPPRESS)
    parser.add_argument("--columns", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.wide:
        print(json.dumps(wide(arguments.wide, arguments.columns)))
        return
    X, y = friedman(0)
    MISelector(**CHAPTER, random_state=0).fit(X, y)  # compile
    permutation_test(X, y, 1, given=[0], null="local", n_permutations=5)
    quick = arguments.quick
    rows = [compare_choose_k(), compare_test("global"), compare_test("local")]
    print(*map(json.dumps, rows), sep="\n", flush=True)
    rows.append(compare_chapter(10 if quick else 100, 1 if quick else 4))
    print(json.dumps(rows[-1]), flush=True)
    rows += compare_wide(1000 if quick else 20_000)
    print(*map(json.dumps, rows[-3:]), sep="\n", flush=True)
    if not quick:
        write(rows)


if __name__ == "__main__":
    main()
