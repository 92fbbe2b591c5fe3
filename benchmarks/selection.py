"""Speed of the selection against loops over other libraries' estimators, in one run.

    make bench       # or: python benchmarks/selection.py [--quick] [--seed 0]
    python benchmarks/selection.py --show        # the page from the kept results

Writes benchmarks/selection.json and docs/benchmarks-selection.md. One thread. The others' loops
compute what ours does, with the fastest estimator that another library has for it. The default
setting as a whole is timed by default.py.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import json
import time
import warnings

import common
import ennemi
import infomeasure
import npeet_plus
import numpy as np
from common import DOCS, HERE, best_times, micro, state
from run import K, machine
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


def friedman(number, n=100, m=10):
    """The data (F) of Verleysen, Rossi and François (2009), columns standardised."""
    X, y = make_friedman(n, m, random_state=state(number), return_X_y=True)
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
    ours = best_times({"ours": lambda: choose_k(X, y, random_state=state())}, 9)["ours"]
    theirs, _ = timed(lambda: loop_choose_k(X, y, PEERS[name], np.random.default_rng(state())))
    return {"case": "choose_k, N = 100, M = 10, 20 splits, K = 2 to 20", "peer": name} | ratio(
        ours, theirs
    )


def compare_test(null):
    X, y = friedman(0, n=1000)
    name = fastest(X[:, :5], y, FOR_SETS)
    options = {"given": [0, 1, 2, 3], "n_neighbors": K, "n_permutations": 200, "null": null}
    options |= {"criterion": "mi", "correction": None}
    times = best_times(
        {"ours": lambda: permutation_test(X, y, 4, **options, random_state=state())}, 7
    )
    theirs = min(
        timed(lambda: [PEERS[name](X[:, :5], y, K) for _ in range(201)])[0] for _ in range(2)
    )
    case = f"permutation test ({null}), N = 1,000, 4 selected, P = 200"
    return {"case": case, "peer": name} | ratio(times["ours"], theirs)


def compare_chapter(n_sets, n_theirs):
    data = [friedman(number) for number in range(n_sets)]
    one = fastest(data[0][0][:95, [3]], data[0][1][:95], PEERS)
    sets = fastest(data[0][0][:, :4], data[0][1], FOR_SETS)
    fits = [MISelector(**CHAPTER, random_state=state()) for _ in data]
    ours, _ = timed(lambda: [fit.fit(*d) for fit, d in zip(fits, data, strict=True)])
    theirs, found = timed(
        lambda: [
            loop_chapter(*d, PEERS[one], PEERS[sets], np.random.default_rng(state()))
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


def ratio(ours, theirs):
    return {"ours": ours, "theirs": theirs, "ratio": theirs / ours}


def shown(seconds):
    return f"{seconds:,.1f} s" if seconds > 10 else micro(seconds)


def times(ratio):
    return f"{ratio:,.0f}" if ratio > 10 else f"{ratio:.2g}"


def write(result):
    """docs/benchmarks-selection.md, from the results alone."""
    m, rows = result["machine"], result["rows"]
    lines = [
        "# Benchmarks of the selection",
        "",
        "Written by [`benchmarks/selection.py`](../benchmarks/selection.py)"
        f" on {m['processor']}, {m['cores']} cores, "
        f"Python {m['python']}{common.told(result.get('seed'))}.",
        "One thread. The others' time is that of a loop over the fastest estimator of another",
        "library that does the same (see the script). The default setting as a whole has",
        "[a page of its own](benchmarks-default.md).",
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
    (DOCS / "benchmarks-selection.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, print, write nothing")
    parser.add_argument("--seed", type=common.seed_number, default=0, help="of the data")
    parser.add_argument("--show", action="store_true", help="write the docs from the kept results")
    arguments = parser.parse_args()
    common.SEED = arguments.seed
    warnings.simplefilter("ignore")
    kept = HERE / "selection.json"
    if arguments.show:
        write(json.loads(kept.read_text()))
        return
    X, y = friedman(0)
    MISelector(**CHAPTER, random_state=state()).fit(X, y)  # compile
    permutation_test(X, y, 1, given=[0], null="local", n_permutations=5)
    quick = arguments.quick
    rows = [compare_choose_k(), compare_test("global"), compare_test("local")]
    print(*map(json.dumps, rows), sep="\n", flush=True)
    rows.append(compare_chapter(10 if quick else 100, 1 if quick else 4))
    print(json.dumps(rows[-1]), flush=True)
    if not quick:
        result = {"machine": machine(), "seed": common.SEED, "rows": rows}
        kept.write_text(json.dumps(result, indent=1) + "\n")
        write(json.loads(kept.read_text()))


if __name__ == "__main__":
    main()
