"""Workers of a local Dask cluster against threads: speed-up, overhead, growth with M and N.

    make bench-workers                       # or: python benchmarks/workers.py [--quick] [--seed 0]

Writes benchmarks/workers.json, docs/benchmarks-workers.md and docs/benchmarks-workers.png. About
fifteen minutes, of which the race takes six.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import json
from contextlib import contextmanager

import common
import numpy as np
from run import DOCS, HERE, machine
from selection import timed

from infosieve import permutation_test
from infosieve.datasets import make_friedman

STEPS = 6  # of a search that selects five columns and stops
PERMUTATIONS = 199


@contextmanager
def workers(n):
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    with (
        LocalCluster(n_workers=n, silence_logs=50, **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def step(n, m, permutations, selected=0, **who):
    """The test of one step: all columns, each permutation moving all of them."""
    X, y = make_friedman(n, m + selected, random_state=common.state(), return_X_y=True)
    columns = list(range(selected, m + selected))
    known = list(range(selected))
    how = {"given": known, "correction": "max", "max_samples": None, "null": "local"}
    how |= {"criterion": "cmi", "random_state": common.state()}
    few = columns[:20]
    permutation_test(X, y, few, n_permutations=3, **how, **who)  # compiled, loaded
    return timed(lambda: permutation_test(X, y, columns, n_permutations=permutations, **how, **who))


def race(n, m, permutations):
    """The same test by threads and workers, one and two of them."""
    seconds, null = {}, None
    for count in (1, 2):
        seconds[f"{count} threads"], test = step(n, m, permutations, n_jobs=count)
        assert null is None or np.array_equal(null, test.null)
        null = test.null
        print(f"{count} threads: {seconds[f'{count} threads']:.1f} s", flush=True)
    for count in (1, 2):
        with workers(count) as client:
            seconds[f"{count} workers"], test = step(n, m, permutations, executor=client)
        assert np.array_equal(null, test.null)
        print(f"{count} workers: {seconds[f'{count} workers']:.1f} s", flush=True)
    row = {"n": n, "m": m, "permutations": permutations, "seconds": seconds}
    row["speed-up of two workers"] = seconds["1 workers"] / seconds["2 workers"]
    row["overhead of one worker"] = seconds["1 workers"] / seconds["1 threads"] - 1
    row["overhead of two workers"] = seconds["2 workers"] / seconds["2 threads"] - 1
    return row


def growth(sizes, permutations):
    """Seconds of one test by two threads and by two workers."""
    rows = []
    with workers(2) as client:
        for n, m in sizes:
            threads, _ = step(n, m, permutations, n_jobs=2)
            spread, _ = step(n, m, permutations, executor=client)
            rows.append({"n": n, "m": m, "threads": threads, "workers": spread})
            print(f"N = {n}, M = {m}: {threads:.2f} s, {spread:.2f} s", flush=True)
    return rows


def costs(sizes):
    """Seconds to score one candidate on one thread, with nothing and four columns selected."""
    rows = []
    for n, candidates in sizes:
        row = {"n": n}
        for selected in (0, 4):
            m = min(candidates, 256)
            p = max(1, candidates // m)
            seconds, _ = step(n, m, p, selected, n_jobs=1)
            row[f"seconds given {selected}"] = seconds / (m * (p + 1))
        rows.append(row)
        print(f"N = {n}: {row}", flush=True)
    return rows


def cost(rows, n, selected):
    """Between measured sizes: straight lines of logarithms. Beyond: trees, N log N."""
    x = np.log([row["n"] for row in rows])
    y = np.log([row[f"seconds given {selected}"] for row in rows])
    if np.log(n) > x[-1]:
        return float(np.exp(y[-1]) * n * np.log(n) / (np.exp(x[-1]) * x[-1]))
    return float(np.exp(np.interp(np.log(n), x, y)))


def hours(rows, n, m, permutations):
    """Core hours of a search that takes five columns and stops, without its pairs."""
    first = cost(rows, n, 0)
    later = cost(rows, n, 4)
    scored = m * (1 + permutations)
    return (scored * first + (STEPS - 1) * scored * later) / 3600


def draw(by_m, by_n):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
    for axis, rows, key, fixed in ((axes[0], by_m, "m", "n"), (axes[1], by_n, "n", "m")):
        x = [row[key] for row in rows]
        axis.loglog(x, [r["threads"] for r in rows], "o-", color="#4477AA", label="two threads")
        axis.loglog(x, [r["workers"] for r in rows], "s--", color="#EE6677", label="two workers")
        guide = np.array([x[0], x[-1]], float)
        axis.loglog(guide, rows[-1]["threads"] * guide / x[-1], ":", color="gray", label="linear")
        axis.set_xticks(x, [f"{value:,}" for value in x])
        axis.set_xticks([], minor=True)
        axis.set_xlabel({"m": "columns M", "n": "samples N"}[key])
        axis.set_title(f"{fixed.upper()} = {rows[0][fixed]:,}")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("seconds, 20 permutations of all columns")
    axes[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(DOCS / "benchmarks-workers.png", dpi=120)


def write(content):
    m, row = content["machine"], content["race"]
    seconds = row["seconds"]
    lines = [
        "# Benchmarks of workers",
        "",
        "Written by [`benchmarks/workers.py`](../benchmarks/workers.py)"
        f" on {m['processor']}, {m['cores']} cores, Python "
        f"{m['python']}{common.told(content.get('seed'))}. "
        "Workers are processes with one thread each; scheduler and client run on "
        "the same cores.",
        "",
        f"One test of all columns, N = {row['n']:,}, M = {row['m']:,}, P = {row['permutations']} "
        f"({row['m'] * (row['permutations'] + 1):,} estimates), nothing selected yet:",
        "",
        "| | one | two | times faster |",
        "|---|---:|---:|---:|",
    ]
    for who in ("threads", "workers"):
        one, two = seconds[f"1 {who}"], seconds[f"2 {who}"]
        lines.append(f"| {who} | {one:.1f} s | {two:.1f} s | **{one / two:.2f}** |")
    lines += [
        "",
        f"Overhead of workers against threads: {100 * row['overhead of one worker']:+.1f} % with "
        f"one, {100 * row['overhead of two workers']:+.1f} % with two.",
        "",
        "![Seconds against columns and samples](benchmarks-workers.png)",
        "",
        "| N | M | two threads | two workers |",
        "|---:|---:|---:|---:|",
    ]
    for r in [*content["by M"], *content["by N"]]:
        lines.append(f"| {r['n']:,} | {r['m']:,} | {r['threads']:.2f} s | {r['workers']:.2f} s |")
    lines += ["", "One estimate on one core, measured:", ""]
    lines += ["| samples | nothing selected | four columns selected |", "|---:|---:|---:|"]
    for r in content["costs"]:
        cells = (f"{1e3 * r[f'seconds given {s}']:.2f} ms" for s in (0, 4))
        lines.append(f"| {r['n']:,} | " + " | ".join(cells) + " |")
    lines += ["", *sizing(content["costs"], row["speed-up of two workers"] / 2)]
    (DOCS / "benchmarks-workers.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def sizing(rows, efficiency):
    """Columns and rows -> workers, memory, time; ``efficiency``: of a worker, one of two."""
    measured = {row["n"] for row in rows}
    lines = [
        "## Sizing",
        "",
        "**Extrapolated**: the times of one estimate above, multiplied by the number of estimates "
        f"of a search that selects five columns and stops ({STEPS} steps), on cores like these. "
        "Rows with a measured number of samples are marked *; all others lie between measured "
        "points or, above the largest, grow as N log N, as searches by trees do. "
        "Pairs (`lookahead=2`) are not counted. A search that has fewer signals than five ends "
        "sooner.",
        "",
        f"All: every column in each of {PERMUTATIONS} permutations, all samples in one estimate "
        "(`screen=None, max_samples=None, n_permutations=199`). **The default does far less**: it "
        "screens the columns, ends its tests early and estimates many samples in parts "
        "([measured](benchmarks-default.md)). Lighter: `correction=None` tests the best column "
        "only, without allowance for having been chosen.",
        "",
        "Memory is reckoned from the sizes of pieces and surrogates: what each thread of a "
        "worker needs, at most, in addition to the worker's own ([Python, its libraries, and the "
        "description of a table of very many columns](cluster.md#memory)), and what all workers "
        "hold together where columns must be sent to them because they cannot read the "
        "file.",
        "",
        "| columns | rows | all, core hours | workers for 8 hours | lighter, core hours | "
        "a thread | all, if sent |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for m, n in [(1_000, 1_000), (10_000, 500), (10_000, 5_000), (20_000, 1_000), (100_000, 500),
                 (100_000, 2_000), (1_000, 50_000), (1_000, 200_000)]:  # fmt: skip
        everything, light = hours(rows, n, m, PERMUTATIONS), hours(rows, n, m, 0)
        workers = max(1, round(everything / 8 / efficiency))
        mark = "*" if n in measured else ""
        each = (3 * 2**26 + 6 * 2**24 + 60 * 8 * n) / 1e6
        lines.append(
            f"| {m:,} | {n:,}{mark} | {shown(everything)} | {workers:,} | {shown(light)} | "
            f"{each:.0f} MB | {12e-9 * m * n:.2g} GB |"
        )
    return lines


def shown(hours):
    if hours < 0.95 / 60:
        return f"{3600 * hours:.0f} s"
    return f"{60 * hours:.0f} min" if hours < 1.95 else f"{hours:,.0f} h"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the work; writes nothing")
    parser.add_argument("--seed", type=common.seed_number, default=0, help="of the data")
    parser.add_argument("--show", action="store_true", help="write the docs from the kept results")
    arguments = parser.parse_args()
    common.SEED = arguments.seed
    quick = arguments.quick
    if arguments.show:
        content = json.loads((HERE / "workers.json").read_text())
        draw(content["by M"], content["by N"])
        write(content)
        return
    content = {"machine": machine(), "seed": common.SEED}
    content["race"] = race(2_000, 1_000, 10 if quick else 100)
    print({k: round(v, 3) for k, v in content["race"].items() if isinstance(v, float)})
    m = [125, 250, 500, 1000] if quick else [125, 250, 500, 1000, 2000, 4000]
    n = [250, 500, 1000] if quick else [250, 500, 1000, 2000, 4000, 8000]
    content["by M"] = growth([(1000, j) for j in m], 20)
    content["by N"] = growth([(i, 250) for i in n], 20)
    sizes = [(500, 2048), (1000, 1024), (2000, 512), (5000, 256), (10_000, 256), (20_000, 256)]
    content["costs"] = costs(sizes[:3] if quick else [*sizes, (50_000, 8)])
    if quick:
        return
    (HERE / "workers.json").write_text(json.dumps(content, indent=1) + "\n")
    draw(content["by M"], content["by N"])
    write(content)


if __name__ == "__main__":
    main()
