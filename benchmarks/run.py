"""Speed against other libraries, on the same data, in one run, as ratios.

    make bench                                   # or: python benchmarks/run.py [--quick] [--seed 0]

Writes benchmarks/results.json, docs/benchmarks.md, and docs/benchmarks.png. Everything
runs in one thread, except where threads are what is measured. A time is
the best of several, our own and the others' taken in turn.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import json
import math
import subprocess
import sys
import warnings
from pathlib import Path

import common
import ennemi
import infomeasure
import matplotlib.pyplot as plt
import npeet_plus
import numpy as np
from common import DOCS, HERE, best_times, micro, peak_memory
from sklearn.feature_selection import mutual_info_regression

from infosieve import mutual_information, relevance
from infosieve._core.types import Batch
from infosieve._engines.numba.engine import NumbaEngine
from infosieve._executors.threads import Threads
from infosieve._input.scaling import prepare

K = 5
# All samples in one estimate, as in the other libraries: one K, and a range whose mean is taken.
ONE = {"n_neighbors": K, "max_samples": None}
RANGE = {"n_neighbors": (3, 10), "max_samples": None}
PEERS = ("scikit-learn", "ennemi", "npeet-plus", "infomeasure")
COLOURS = dict(zip(("infosieve", *PEERS), ("#c1272d", "C0", "C1", "C2", "C4"), strict=True))


def machine():
    """Where this ran."""
    return common.machine(("infosieve", "numpy", "numba", *PEERS))


def table(n, m, seed=0):
    """Columns of which some matter."""
    rng = np.random.default_rng(common.state(seed))
    X = rng.normal(size=(n, m))
    return X, X[:, : m // 2 + 1].sum(axis=1) + rng.normal(size=n)


def relevance_of_columns(n, m, repeats):
    """Seconds per column of a table, and of one call with one column."""
    X, y = table(n, m)
    functions = {
        "infosieve": lambda: relevance(X, y, **ONE),
        "infosieve, K = 3 to 10": lambda: relevance(X, y, **RANGE),
        "scikit-learn": lambda: mutual_info_regression(X, y, n_neighbors=K),
        "ennemi": lambda: ennemi.estimate_mi(y, X, k=K, max_threads=1),
        "npeet-plus": lambda: [npeet_plus.mi(X[:, [j]], y[:, None], k=K) for j in range(m)],
        "infomeasure": lambda: [
            infomeasure.mutual_information(X[:, j], y, approach="ksg", k=K) for j in range(m)
        ],
    }
    seconds = {name: t / m for name, t in best_times(functions, repeats).items()}
    one = best_times({"one": lambda: relevance(X[:, :1], y, **ONE)}, repeats)["one"]
    return {"n": n, "columns": m, "seconds": seconds, "one column": one, **ratios(seconds)}


def columns_given_four(n, repeats):
    """Seconds per candidate: MI of four selected columns and one more with the target."""
    m = 200
    some = {100: 20, 1000: 5, 10_000: 1}[n]  # as many as the others need for a fair mean
    X, y = table(n, m)
    S = np.random.default_rng(common.state(1)).normal(size=(n, 4))
    y = y / y.std() + S.sum(axis=1)
    sets = [np.c_[S, X[:, j]] for j in range(some)]
    seconds = best_times(
        {
            "infosieve": lambda: given_four(X, S, y, "mi", (K, K)),
            "infosieve, K = 3 to 10": lambda: given_four(X, S, y, "mi", (3, 10)),
            "infosieve, conditional": lambda: given_four(X, S, y, "cmi", (K, K)),
        },
        repeats,
    )
    seconds = {name: t / m for name, t in seconds.items()}
    others = best_times(
        {
            "npeet-plus": lambda: [npeet_plus.mi(x, y[:, None], k=K) for x in sets],
            "infomeasure": lambda: [
                infomeasure.mutual_information(x, y, approach="ksg", k=K) for x in sets
            ],
            # It has one-column x only; a condition is its way to take others into account.
            "ennemi": lambda: ennemi.estimate_mi(y, X[:, :some], cond=S, k=K, max_threads=1),
        },
        min(repeats, 3),
    )
    seconds |= {name: t / some for name, t in others.items()}
    return {"n": n, "candidates": m, "seconds": seconds, **ratios(seconds)}


def given_four(X, S, y, criterion, ks):
    """What a search step does: prepare the columns, score all candidates."""
    executor = Threads(1)
    parts = [np.ascontiguousarray(part.T) for part in (X, S, y[:, None])]
    prepared = [prepare(part, np.zeros(len(part), bool), "standard", 0, executor) for part in parts]
    return NumbaEngine().score(Batch(*prepared, criterion, n_neighbors=ks), executor)


def one_set(n, d):
    """Seconds for one call: MI of d columns together with the target."""
    X, y = table(n, d)
    seconds = best_times(
        {
            "infosieve": lambda: mutual_information(X, y, **ONE),
            "infosieve, K = 3 to 10": lambda: mutual_information(X, y, **RANGE),
            "npeet-plus": lambda: npeet_plus.mi(X, y[:, None], k=K),
            "infomeasure": lambda: infomeasure.mutual_information(X, y, approach="ksg", k=K),
        },
        3,
    )
    return {"n": n, "columns": d, "seconds": seconds, **ratios(seconds)}


def ratios(seconds):
    """How many times faster than the fastest of the others."""
    fastest = min((name for name in seconds if name in PEERS), key=seconds.get)
    return {"fastest peer": fastest, "ratio": seconds[fastest] / seconds["infosieve"]}


def growth(sizes):
    """One column at growing N, each in a process of its own: time and memory."""
    rows = []
    for n in sizes:
        command = [sys.executable, __file__, "--one", str(n), "--seed", str(common.SEED)]
        if not Path("/proc/self/clear_refs").exists():
            return rows
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        rows.append(json.loads(output))
    return rows


def one_column(n):
    """Time over N log N, and what the call needed beyond the data, of one column."""
    relevance(*table(100, 1), **ONE)
    X, y = table(n, 1)
    before = peak_memory(reset=True)
    seconds = best_times({"one": lambda: relevance(X, y, **ONE)}, 2)["one"]
    after = peak_memory()
    return {
        "n": n,
        "seconds": seconds,
        "nanoseconds over N log2 N": 1e9 * seconds / (n * math.log2(n)),
        "peak bytes a sample": (after - before) / n,
    }


def threads():
    """Two threads against one."""
    X, y = table(10_000, 64)
    given = table(1000, 200)
    S = np.random.default_rng(common.state(1)).normal(size=(1000, 4))
    cases = {
        "relevance, N = 10,000, 64 columns": lambda j: relevance(X, y, n_jobs=j, **RANGE),
        "200 columns given 4, N = 1,000": lambda j: relevance(
            *given, condition=S, n_jobs=j, **RANGE
        ),
    }
    rows = []
    for name, function in cases.items():
        times = best_times({j: lambda j=j, f=function: f(j) for j in (1, 2)}, 5)
        rows.append({"case": name, "one": times[1], "two": times[2], "ratio": times[1] / times[2]})
    return rows


def write_page(result):
    """docs/benchmarks.md, from the results alone."""
    m = result["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in m["versions"].items())
    lines = [
        "# Benchmarks",
        "",
        "Written by [`benchmarks/run.py`](../benchmarks/run.py)"
        f" on {m['processor']}, {m['cores']} cores, Python {m['python']}"
        f"{common.told(result.get('seed'))};",
        f"{versions}. One thread, K = {K}, best of several runs taken in turn.",
        "",
        "![Time per column against the number of samples](benchmarks.png)",
        "",
        "## Relevance: one column against the target, time per column of a table",
        "",
        "| N | columns | infosieve | "
        + " | ".join(PEERS)
        + " | times faster than the fastest | ours, K = 3 to 10 | a call with one column |",
        "|" + "---:|" * (6 + len(PEERS)),
    ]
    for row in result["relevance"]:
        s = row["seconds"]
        cells = [f"{row['n']:,}", row["columns"], micro(s["infosieve"])]
        cells += [micro(s[peer]) for peer in PEERS]
        cells += [f"**{row['ratio']:.0f}**", micro(s["infosieve, K = 3 to 10"])]
        cells += [micro(row["one column"])]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += [
        "",
        "## A search step: 200 candidate columns given 4 selected ones, time per candidate",
        "",
        "MI of the five columns together with the target. ennemi measures the candidate only,",
        "conditional on the four; scikit-learn has neither.",
        "",
        "| N | infosieve | npeet-plus | infomeasure | ennemi | times faster than the fastest |"
        " ours, conditional | ours, K = 3 to 10 |",
        "|" + "---:|" * 8,
    ]
    for row in result["given four"]:
        s = row["seconds"]
        cells = [f"{row['n']:,}", micro(s["infosieve"])]
        cells += [micro(s[peer]) for peer in ("npeet-plus", "infomeasure", "ennemi")]
        cells += [f"**{row['ratio']:.0f}**", micro(s["infosieve, conditional"])]
        cells += [micro(s["infosieve, K = 3 to 10"])]
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        "",
        "## One set, one call",
        "",
        "| N | columns | infosieve | npeet-plus | infomeasure | times faster than the fastest |"
        " ours, K = 3 to 10 |",
        "|" + "---:|" * 7,
    ]
    for row in result["one set"]:
        s = row["seconds"]
        cells = [f"{row['n']:,}", str(row["columns"])]
        cells += [micro(s[name]) for name in ("infosieve", "npeet-plus", "infomeasure")]
        cells += [f"**{row['ratio']:.1f}**", micro(s["infosieve, K = 3 to 10"])]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "## Growth: one column, and the memory beyond the data", ""]
    lines += ["| N | time | ns over N log2 N | peak bytes a sample |", "|---:|---:|---:|---:|"]
    for row in result["growth"]:
        over, memory = row["nanoseconds over N log2 N"], row["peak bytes a sample"]
        lines.append(f"| {row['n']:,} | {micro(row['seconds'])} | {over:.0f} | {memory:.0f} |")
    lines += ["", "## Threads", "", "| case | one | two | ratio |", "|---|---:|---:|---:|"]
    for row in result["threads"]:
        cells = (row["case"], micro(row["one"]), micro(row["two"]), f"{row['ratio']:.2f}")
        lines.append("| " + " | ".join(cells) + " |")
    (DOCS / "benchmarks.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def draw(result):
    """docs/benchmarks.png: time per column against N, for both tasks."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    titles = ("One column against the target", "One more column, given four")
    for ax, key, title in zip(axes, ("relevance", "given four"), titles, strict=True):
        rows = result[key]
        for name in ("infosieve", *PEERS):
            points = [(r["n"], r["seconds"][name]) for r in rows if name in r["seconds"]]
            if points:
                ours = name == "infosieve"
                ax.loglog(
                    *zip(*points, strict=True),
                    marker="o",
                    linewidth=3 if ours else 1.5,
                    color=COLOURS[name],
                    label=name,
                    zorder=3 if ours else 2,
                )
        for row in rows:
            at = (row["n"], row["seconds"]["infosieve"])
            ax.annotate(
                f"{row['ratio']:.0f}x",
                at,
                xytext=(0, -16),
                textcoords="offset points",
                ha="center",
                color=COLOURS["infosieve"],
            )
        ax.set(title=title, xlabel="samples", ylabel="seconds per column")
        low, high = ax.get_ylim()
        ax.set_ylim(low / 3, high)
        ax.grid(True, which="major", alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False)
    figure.savefig(DOCS / "benchmarks.png", dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="small sizes only, print, write nothing"
    )
    parser.add_argument("--seed", type=common.seed_number, default=0, help="of the data")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    common.SEED = arguments.seed
    if arguments.one:
        print(json.dumps(one_column(arguments.one)))
        return
    quick = arguments.quick
    warnings.simplefilter("ignore")
    relevance(*table(50, 4), **ONE)  # compile
    given_four(*table(50, 4)[:1], np.eye(50, 2), table(50, 4)[1], "mi", (K, K))
    mutual_information(*table(50, 2), **RANGE)
    sizes = [(100, 50, 9), (1000, 20, 7)] + ([] if quick else [(10_000, 6, 5), (100_000, 2, 3)])
    result = {"machine": machine(), "seed": common.SEED, "K": K, "relevance": [], "given four": []}
    for n, m, repeats in sizes:
        result["relevance"].append(relevance_of_columns(n, m, repeats))
        print(json.dumps(result["relevance"][-1]), flush=True)
    for n in (100, 1000) if quick else (100, 1000, 10_000):
        result["given four"].append(columns_given_four(n, 5 if n < 10_000 else 2))
        print(json.dumps(result["given four"][-1]), flush=True)
    cases = [(n, d) for n in ((100, 1000) if quick else (100, 1000, 10_000)) for d in (2, 5)]
    result["one set"] = [one_set(n, d) for n, d in cases]
    print(json.dumps(result["one set"]), flush=True)
    result["threads"] = threads()
    print(json.dumps(result["threads"]), flush=True)
    result["growth"] = growth(
        (10_000, 100_000) if quick else (100_000, 300_000, 1_000_000, 3_000_000)
    )
    print(json.dumps(result["growth"]), flush=True)
    if not quick:
        (HERE / "results.json").write_text(json.dumps(result, indent=1) + "\n")
        write_page(result)
        draw(result)


if __name__ == "__main__":
    main()
