"""Speed of feature clustering: against plain versions of the same, and scikit-learn's own.

    make bench       # or: python benchmarks/clustering.py [--quick] [--seed 0]

Writes benchmarks/clustering.json and docs/benchmarks-clustering.md. One thread, except where it
says two.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import json
import subprocess
import sys
import warnings
from pathlib import Path

import common
import numpy as np
from run import DOCS, HERE, machine, peak_memory
from selection import shown, timed, times
from sklearn.cluster import FeatureAgglomeration

from infosieve import FeatureClustering, false_neighbors
from infosieve._executors.threads import Threads
from infosieve._input.scaling import prepare

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import naive


def data(n, m):
    """Columns in twenty groups, two of which matter."""
    rng = np.random.default_rng(common.state())
    base = rng.normal(size=(20, n))
    X = base[rng.integers(0, 20, m)] + rng.normal(size=(m, n))
    return X.T, base[0] + base[1] ** 2 + 0.3 * rng.normal(size=n)


def standard(v):
    return (v - v.mean(axis=-1, keepdims=True)) / v.std(axis=-1, keepdims=True)


def numpy_counts(x, y):
    """The C vector by N x N matrices."""
    gaps = np.abs(x[:, None] - x)
    squares = gaps**2 + (y[:, None] - y) ** 2
    np.fill_diagonal(squares, np.inf)
    nearest = gaps[np.arange(len(x)), squares.argmin(axis=1)]
    return (gaps < nearest[:, None]).sum(axis=1) - (nearest > 0)


def numpy_clustering(X, y):
    """What one would write with NumPy in an afternoon: similarities of the merges."""
    z, y = standard(X.T), standard(y)
    columns = z.copy()
    profiles = standard(np.array([numpy_counts(row, y) for row in z], float))
    n, m = X.shape
    similar = profiles @ profiles.T / n
    np.fill_diagonal(similar, -np.inf)
    members, found = {j: [j] for j in range(m)}, []
    for _ in range(m - 1):
        i, j = sorted(divmod(int(similar.argmax()), m))
        found.append(similar[i, j])
        members[i] = sorted(members[i] + members.pop(j))
        signs = np.sign(z[members[i]] @ z[i])
        columns[i] = standard(signs @ z[members[i]])
        profiles[i] = standard(numpy_counts(columns[i], y).astype(float))
        similar[j] = similar[:, j] = -np.inf
        fresh = profiles @ profiles[i] / n
        fresh[np.isneginf(similar[i])] = -np.inf
        similar[i] = similar[:, i] = fresh
        similar[i, i] = -np.inf
    return np.array(found)


def loop_clustering(X, y):
    """The twin of the tests, in plain loops."""
    x, target = (
        prepare(np.atleast_2d(v), np.zeros(len(np.atleast_2d(v)), bool), "standard", 0, Threads(1),
                separate=False).values for v in (X.T, y)
    )  # fmt: skip

    def rescale(column):
        return prepare(
            column[None], np.zeros(1, bool), "standard", 0, Threads(1), separate=False
        ).values[0]

    merges = naive.agglomerate(
        x, list(target), False, "representative", "mean", None, rescale, target[0]
    )
    return np.array([similarity for _, _, similarity in merges])


def best(function, repeats=5):
    results = [timed(function) for _ in range(repeats)]
    return min(seconds for seconds, _ in results), results[0][1]


def against_plain(title, plain, n, m):
    X, y = data(n, m)
    ours, fit = best(lambda: FeatureClustering(5).fit(X, y), 3)
    theirs, similarities = timed(lambda: plain(X, y))
    worst = float(np.abs(fit.similarities_ - similarities).max())
    assert worst <= (0 if plain is loop_clustering else 1e-12), worst
    return {
        "case": f"counts and full tree with representatives, N = {n:,}, M = {m:,}",
        "ours": ours, "theirs": theirs, "ratio": theirs / ours, "peer": title,
        "largest difference of a similarity": worst,
    }  # fmt: skip


def against_twin(n, m):
    """The twin would take days: its counts and correlations, timed one by one, make most of it."""
    X, y = data(n, m)
    ours, _ = best(lambda: FeatureClustering(5).fit(X, y), 3)
    x, target = standard(X.T[:2]), standard(y)[None]
    count, _ = timed(lambda: naive.false_neighbors(x[0], target))
    correlation, _ = timed(lambda: naive.correlation(x[0], x[1], False))
    theirs = (2 * m - 1) * count + m * (m - 1) * correlation
    return {
        "case": f"the same, N = {n:,}, M = {m:,}",
        "ours": ours, "theirs": theirs, "ratio": theirs / ours,
        "peer": "tests/naive.py: one count and one correlation timed, times their number",
    }  # fmt: skip


def against_scikit_learn(n, m, n_jobs, linkage="representative", repeats=5):
    X, y = data(n, m)
    fit = FeatureClustering(5, linkage=linkage, n_jobs=n_jobs).fit
    ours, _ = best(lambda: fit(X, y), repeats)
    linkage = "ward" if linkage == "representative" else linkage
    peer = FeatureAgglomeration(5, linkage=linkage, compute_full_tree=True)
    theirs, _ = best(lambda: peer.fit(X), repeats)
    threads = "one thread" if n_jobs == 1 else f"{n_jobs} threads"
    return {
        "case": f"full tree ({linkage}), N = {n:,}, M = {m:,}, {threads}",
        "ours": ours, "theirs": theirs, "ratio": theirs / ours,
        "peer": f"FeatureAgglomeration ({linkage}), which looks at no target",
    }  # fmt: skip


def counts(n, m):
    X, y = data(n, m)
    seconds, _ = best(lambda: false_neighbors(X, y))
    return {"n": n, "nanoseconds a value": 1e9 * seconds / (n * m)}


def wide(n, m, linkage):
    """In a process of its own, for its memory."""
    X, y = data(n, 50)
    FeatureClustering(5, linkage=linkage).fit(X, y)  # compile
    X, y = data(n, m)
    before = peak_memory(reset=True)
    seconds, _ = timed(lambda: FeatureClustering(5, linkage=linkage, n_jobs=2).fit(X, y))
    return {
        "case": f"{linkage}, N = {n:,}, M = {m:,}, two threads",
        "seconds": seconds,
        "bytes beyond the data": peak_memory() - before,
        "bytes of the similarities": 8 * m * (m - 1) // 2,
    }


def in_a_process(*arguments):
    command = [sys.executable, __file__, "--seed", str(common.SEED), "--wide", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def write(rows, growth, large):
    m = machine()
    lines = [
        "# Benchmarks of feature clustering",
        "",
        "Written by [`benchmarks/clustering.py`](../benchmarks/clustering.py)"
        f" on {m['processor']}, {m['cores']} cores, "
        f"Python {m['python']}{common.told(common.SEED)}. One thread except where it says two.",
        "",
        "| what | ours | theirs | whose | times faster |",
        "|---|---:|---:|---|---:|",
    ]
    for row in rows:
        cells = (row["case"], shown(row["ours"]), shown(row["theirs"]), row["peer"])
        lines.append("| " + " | ".join(cells) + f" | **{times(row['ratio'])}** |")
    lines += ["", "False neighbours, nanoseconds a value:", ""]
    lines += ["| samples | " + " | ".join(f"{g['n']:,}" for g in growth) + " |"]
    lines += ["|---" * (len(growth) + 1) + "|"]
    lines += ["| ns | " + " | ".join(f"{g['nanoseconds a value']:.0f}" for g in growth) + " |"]
    lines += ["", "Many columns: time, and memory beyond the data (of which similarities):", ""]
    lines += ["| what | time | memory |", "|---|---:|---:|"]
    for row in large:
        used, own = (row[f"bytes {w}"] / 2**20 for w in ("beyond the data", "of the similarities"))
        lines.append(f"| {row['case']} | {row['seconds']:.0f} s | {used:.0f} MiB ({own:.0f}) |")
    (DOCS / "benchmarks-clustering.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    content = {"machine": m, "seed": common.SEED, "rows": rows, "growth": growth, "large": large}
    (HERE / "clustering.json").write_text(json.dumps(content, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, print, write nothing")
    parser.add_argument("--seed", type=common.seed_number, default=0, help="of the data")
    parser.add_argument("--wide", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    common.SEED = arguments.seed
    warnings.simplefilter("ignore")
    if arguments.wide:
        n, m, linkage = arguments.wide
        print(json.dumps(wide(int(n), int(m), linkage)))
        return
    X, y = data(100, 30)
    for linkage in ("representative", "average"):
        FeatureClustering(5, linkage=linkage).fit(X, y)  # compile
    size = (300, 200) if arguments.quick else (1000, 1000)
    rows = [
        against_plain("tests/naive.py, plain loops", loop_clustering, 100, 40),
        against_twin(*size),
        against_plain("plain NumPy", numpy_clustering, *size),
        against_scikit_learn(*size, 1),
        against_scikit_learn(*size, 2),
        against_scikit_learn(*size, 2, "average"),
    ]
    print(*map(json.dumps, rows), sep="\n", flush=True)
    growth = [counts(n, max(1, 100_000 // n)) for n in (100, 1000, 10_000, 100_000, 1_000_000)]
    print(*map(json.dumps, growth), sep="\n", flush=True)
    m = 1000 if arguments.quick else 10_000
    large = [in_a_process(1000, m, a) for a in ("average", "complete", "representative")]
    print(*map(json.dumps, large), sep="\n", flush=True)
    if not arguments.quick:
        write(rows, growth, large)


if __name__ == "__main__":
    main()
