"""The GPU against the CPU of the same machine, all its threads: kernels, and whole calls.

    python benchmarks/gpu.py [--out FILE] [--seed 0]   # on a machine with an NVIDIA GPU; 5 minutes
    python benchmarks/gpu.py --show              # docs/benchmarks-gpu.md from the kept results

Bits are compared wherever both are run.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import ClassVar

import common
import numpy as np

from infosieve import choose_k, false_neighbors, permutation_test, relevance
from infosieve._core.types import Batch
from infosieve._engines.cuda import engine as cuda
from infosieve._engines.devices import WORTHWHILE
from infosieve._engines.numba.engine import NumbaEngine
from infosieve._executors.threads import Threads
from infosieve._input.scaling import prepare

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
ALL = Threads(-1)
# Instructions on float64 that the GPU can issue in a second, and those of one pair at least:
# a difference, two maxima, a comparison with the K-th.
F64, PAIR = 132 * 64 * 1.98e9, 4


def columns(m, n, seed):
    rng = np.random.default_rng(seed)
    return prepare(rng.normal(size=(m, n)), np.zeros(m, bool), "standard", 0, ALL, m > 0)


def batch(n, m, selected, permutations=0, seed=0, **how):
    seed = common.state(seed)
    rng = np.random.default_rng(seed)
    drawn = None
    if permutations:
        drawn = np.array([rng.permutation(n) for _ in range(permutations)], np.int32)
    parts = (columns(c, n, seed + i) for i, c in enumerate((m, selected, 1)))
    return Batch(*parts, permutations=drawn, **how)


def best(function, rounds):
    function()
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


class Timed:
    """A module whose kernels are timed by events."""

    seconds: ClassVar[dict] = {}

    def __init__(self, module):
        self.module = module

    def get_function(self, name):
        import cupy

        kernel = self.module.get_function(name)

        class Kernel:
            def __call__(self, *arguments, **options):
                first, last = cupy.cuda.Event(), cupy.cuda.Event()
                first.record()
                kernel(*arguments, **options)
                last.record()
                last.synchronize()
                spent = cupy.cuda.get_elapsed_time(first, last) / 1e3
                Timed.seconds[name] = Timed.seconds.get(name, 0.0) + spent

            def __setattr__(self, name, value):
                setattr(kernel, name, value)

        return Kernel()


def kernels(question):
    """Seconds of each kernel, by CUDA events."""
    original = cuda._module
    cuda._module = lambda form: Timed(original(form))
    try:
        Timed.seconds.clear()
        cuda.CudaEngine().score(question, ALL)
        return dict(Timed.seconds)
    finally:
        cuda._module = original


def pairs_met(question):
    """How many pairs of samples the kernels look at, over all candidates: counted in one run."""
    if question.given.n_columns == 0:
        return None
    form = cuda.form_of(question)
    module = cuda._module((*form, ("COUNT", 1)))
    original = cuda._module
    cuda._module = lambda _: module
    try:
        cuda.CudaEngine().score(question, ALL)
    finally:
        cuda._module = original
    import cupy

    counter = cupy.ndarray(1, np.uint64, module.get_global("met"))
    return int(counter[0]) * cuda.LANES


def first_use():
    """Seconds until a process has scored its first batch on the GPU, and how many compile."""
    code = (
        "import time, numpy as np\n"
        "from infosieve import relevance\n"
        "X = np.random.default_rng(0).normal(size=(200, 5))\n"
        "relevance(X, X[:, 0])\n"
        "start = time.perf_counter()\n"
        "relevance(X, X[:, 0], device='cuda')\n"
        "print(time.perf_counter() - start)\n"
    )

    def seconds():
        run = [sys.executable, "-c", code]
        done = subprocess.run(run, capture_output=True, text=True, check=True, env=own_cache)
        return float(done.stdout)

    with tempfile.TemporaryDirectory() as folder:
        own_cache = os.environ | {"CUPY_CACHE_DIR": folder}
        fresh, kept = seconds(), seconds()
    return {"start": kept, "compiled": max(0.0, fresh - kept)}


def engines(case, question, rounds=3, cpu_share=1):
    """One batch on both engines; the CPU may get a share of it."""
    whole, ours = best(lambda: cuda.CudaEngine().score(question, ALL), rounds)
    each = kernels(question)
    part = question
    if cpu_share > 1 and question.permutations is not None:
        few = question.permutations[: len(question.permutations) // cpu_share]
        part = Batch(question.candidates, question.given, question.target, question.criterion,
                     question.method, question.metric, question.n_neighbors,
                     permutations=few)  # fmt: skip
    theirs, reference = best(lambda: NumbaEngine().score(part, ALL), 1)
    assert np.array_equal(ours[:, : reference.shape[1]], reference), case
    met = pairs_met(question)
    row = {
        "case": case, "n": question.target.n_samples, "candidates": question.n_candidates,
        "met": met,
        "kernels": each, "gpu": whole, "cpu": theirs * cpu_share, "cpu share": cpu_share,
        "pairs": question.n_candidates * question.target.n_samples**2,
    }  # fmt: skip
    print(case, {k: round(v, 4) for k, v in row.items() if isinstance(v, float)}, each, flush=True)
    return row


def calls(case, function, cpu=None, scale=1.0, same=None):
    """A whole call of the library, data in the host's memory."""
    gpu, ours = best(lambda: function("cuda"), 2)
    seconds, theirs = best(lambda: (cpu or function)("cpu"), 1)  # after one to compile
    seconds *= scale
    if cpu is None:
        assert np.array_equal(same(ours), same(theirs)), case
    print(case, round(gpu, 4), round(seconds, 3), flush=True)
    return {"case": case, "gpu": gpu, "cpu": seconds, "cpu scaled by": scale}


def measure():
    import cupy

    maximum = {"metric": "chebyshev", "n_neighbors": (5, 5)}
    default = {"criterion": "gain", "metric": "euclidean", "n_neighbors": (3, 15)}
    copies = [
        engines(f"1,000 permuted columns given 4, N = {n:,}, maximum norm, K = 5",
                batch(n, 1, 4, 1000, **maximum), cpu_share=1 if n < 10_000 else 5)
        for n in (1_000, 4_000, 10_000)
    ]  # fmt: skip
    copies += [
        engines(f"the same as MISelector asks by default, N = {n:,}",
                batch(n, 1, 4, 1000, **default), cpu_share=1 if n < 10_000 else 5)
        for n in (1_000, 10_000)
    ]  # fmt: skip
    plain = {"n_neighbors": (5, 5)}
    rest = [
        engines("relevance of 10,000 features, N = 10,000, K = 5",
                batch(10_000, 10_000, 0, **plain), 2),
        engines("the maximum of 1,000 features, N = 1,000, 1,000 permutations, K = 5",
                batch(1_000, 1_000, 0, 1000, **plain), 2, cpu_share=20),
        engines("one feature, N = 100,000, K = 5", batch(100_000, 1, 0, **plain)),
        engines("100 features, N = 100,000, K = 5", batch(100_000, 100, 0, **plain), 2),
        engines("100 features given 2, N = 100,000, K = 5",
                batch(100_000, 100, 2, **plain), 1),
    ]  # fmt: skip
    rng = np.random.default_rng(common.state())
    X = rng.normal(size=(2000, 100))
    y = X[:, 0] + np.sin(X[:, 1]) + rng.normal(size=2000)
    table = rng.normal(size=(1000, 1000))
    wide = table, table[:, 0] + rng.normal(size=1000), list(range(1000))
    tall = rng.normal(size=(10_000, 10_000))
    tall_y = tall[:, 0] + rng.normal(size=10_000)
    how = {"correction": "max", "random_state": common.state(), "n_neighbors": 5, "n_jobs": -1}
    one = {"n_neighbors": 5, "max_samples": None}
    whole = [
        calls("choose_k, 100 features, N = 2,000, 20 splits, K = 2 to 20",
              lambda d: choose_k(X, y, random_state=how["random_state"], device=d, n_jobs=-1),
              same=lambda r: r.mi),
        calls("permutation_test, correction max, N = 1,000, M = 1,000, P = 1,000",
              lambda d: permutation_test(*wide, n_permutations=1000, device=d, **how),
              lambda d: permutation_test(*wide, n_permutations=50, **how), 20.0),
        calls("relevance, 10,000 features, N = 10,000",
              lambda d: relevance(tall, tall_y, **one, device=d, n_jobs=-1),
              same=lambda r: r),
        calls("false_neighbors, 1,000 features, N = 10,000",
              lambda d: false_neighbors(tall[:, :1000], tall_y, device=d, n_jobs=-1),
              same=lambda r: r),
    ]  # fmt: skip
    auto = []
    for n in (200, 1_000, 5_000):
        for selected in (0, 3):
            for candidates in (10, 100, 1_000, 10_000):
                question = batch(n, 1, selected, candidates, n_neighbors=(3, 15),
                                 criterion="gain")  # fmt: skip
                gpu, ours = best(lambda q=question: cuda.CudaEngine().score(q, ALL), 3)
                cpu, theirs = best(lambda q=question: NumbaEngine().score(q, ALL), 2)
                assert np.array_equal(ours, theirs)
                auto.append({"n": n, "candidates": candidates, "selected": selected,
                             "gpu": gpu, "cpu": cpu})  # fmt: skip
                print(auto[-1], flush=True)
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return {
        "date": datetime.date.today().isoformat(),
        "seed": common.SEED,
        "gpu": device,
        "cpu cores": os.cpu_count(),
        "python": platform.python_version(),
        "cupy": cupy.__version__,
        "copies": copies,
        "rest": rest,
        "calls": whole,
        "auto": auto,
        "first use": first_use(),
    }


def milliseconds(seconds):
    return f"{1e3 * seconds:,.1f}" if seconds < 1 else f"{1e3 * seconds:,.0f}"


def write(r):
    first = r["first use"]
    lines = [
        "# Benchmarks of the GPU",
        "",
        "Written by [`benchmarks/gpu.py`](../benchmarks/gpu.py)"
        f" from a run of {r['date']} on one {r['gpu']} and the "
        f"{r['cpu cores']} CPU cores of the same machine (all threads), CuPy {r['cupy']}, Python "
        f"{r['python']}{common.told(r.get('seed'))}. "
        "Milliseconds, the best of a few runs. Kernels: the sum of all launches, "
        "by CUDA events. Call: the engine's, with transfers both ways. Results of both are "
        "compared bit by bit.",
        "",
        "| what | kernels | call | CPU | CPU / call |",
        "|---|---:|---:|---:|---:|",
    ]
    for row in [*r["copies"], *r["rest"]]:
        scaled = f" (a {row['cpu share']}th timed)" if row["cpu share"] > 1 else ""
        lines.append(
            f"| {row['case']} | {milliseconds(sum(row['kernels'].values()))} | "
            f"{milliseconds(row['gpu'])} | {milliseconds(row['cpu'])}{scaled} | "
            f"**{row['cpu'] / row['gpu']:.0f}** |"
        )
    lines += [
        "", "Whole calls of the library, checks and preparation on the CPU included:", "",
        "| what | device=\"cuda\" | CPU | CPU / GPU |", "|---|---:|---:|---:|",
    ]  # fmt: skip
    for row in r["calls"]:
        times = row["cpu scaled by"]
        scaled = f" (a {times:.0f}th timed)" if times > 1 else ""
        lines.append(
            f"| {row['case']} | {milliseconds(row['gpu'])} | {milliseconds(row['cpu'])}{scaled} | "
            f"**{row['cpu'] / row['gpu']:.1f}** |"
        )
    lines += [
        "",
        "## How near to what the chip can do",
        "",
        "Without lists, a kernel meets all N² pairs of samples for each candidate. Lists of "
        "neighbours by what all candidates share make most pairs superfluous. The floors count "
        f"pairs, {PAIR} float64 instructions each (a difference, two maxima, a comparison; the "
        f"chip issues {F64 / 1e12:.0f}e12 a second), and nothing else: no list is made, nothing is "
        "kept in order, nothing is waited for. Microseconds a permuted column given 4 columns:",
        "",
        "| samples | floor, all pairs | ours, kernels | pairs met | their floor | ours / floor |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for row in r["copies"][:3]:
        ours = 1e6 * sum(row["kernels"].values()) / row["candidates"]
        floor = 1e6 * row["n"] ** 2 * PAIR / F64
        least = floor * row["met"] / row["pairs"]
        met = 100 * row["met"] / row["pairs"]
        lines.append(
            f"| {row['n']:,} | {floor:.2f} | {ours:.2f} | {met:.1f} % | "
            f"{least:.2f} | {ours / least:.0f} |"
        )
    parts = r["copies"][2]["kernels"]
    lines += [
        "",
        "At N = 10,000: " + ", ".join(f"{k} {milliseconds(v)} ms" for k, v in parts.items()) + ".",
        "",
        "## When a GPU pays",
        "",
        "Times of the CPU, all threads, over those of a GPU call; K = 3 to 15. "
        f'`device="auto"` takes the GPU from {WORTHWHILE / 1e6:.0f} million samples times '
        "candidates on. The first use of a GPU in a process takes "
        f"{first['start']:.1f} s to begin, and {first['compiled']:.1f} s more for a form of the "
        "kernels that was never compiled on that machine.",
        "",
        "| samples | selected | "
        + " | ".join(f"{c:,} candidates" for c in (10, 100, 1000, 10_000))
        + " |",
        "|---:|---:|" + "---:|" * 4,
    ]
    for i in range(0, len(r["auto"]), 4):
        some = r["auto"][i : i + 4]
        cells = " | ".join(f"{row['cpu'] / row['gpu']:.1f}" for row in some)
        lines.append(f"| {some[0]['n']:,} | {some[0]['selected']} | {cells} |")
    (DOCS / "benchmarks-gpu.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE / "gpu.json")
    parser.add_argument("--seed", type=common.seed_number, default=0, help="of the data")
    parser.add_argument("--show", action="store_true", help="write the docs from the kept results")
    arguments = parser.parse_args()
    common.SEED = arguments.seed
    if not arguments.show:
        arguments.out.write_text(json.dumps(measure(), indent=1) + "\n")
    write(json.loads(arguments.out.read_text()))


if __name__ == "__main__":
    main()
