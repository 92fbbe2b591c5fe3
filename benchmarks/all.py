"""All comparisons of speed, one after the other; their JSON, tables and curves.

    make bench                                   # or: python benchmarks/all.py [--quick]
    make bench ARGS="--workers --keep before"    # options of this script; --seed 1: other data

Runs run.py, selection.py, relevance.py, default.py and clustering.py (about 40 minutes), which
write benchmarks/*.json, docs/benchmarks*.* and the table of the README. --workers adds Dask against
threads (25 minutes more), --gpu the GPU against the CPU (10 minutes, needs an NVIDIA GPU and
infosieve[gpu]). The pages of those that were not asked for are written anew from their kept JSON.
compare.py compares two runs.
"""

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
ALWAYS = ("run.py", "selection.py", "relevance.py", "default.py", "clustering.py")


def plan(quick=False, workers=False, gpu=False, seed=0):
    """The commands, as lists of a script and its options."""
    small = ["--quick"] if quick else []
    commands = [[script, *small] for script in ALWAYS]
    if workers:
        commands.append(["workers.py", *small])
    elif not quick:
        commands.append(["workers.py", "--show"])
    if gpu:
        commands += [["gpu.py"], ["default.py", "--cases", "gpu", "--gpu"]]
    elif not quick:
        commands.append(["gpu.py", "--show"])
    more = ["--seed", str(seed)] if seed else []
    return [command if "--show" in command else [*command, *more] for command in commands]


def keep(folder):
    """Copies the kept results, to compare the new ones with."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in HERE.glob("*.json"):
        shutil.copy(path, folder)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, print, write nothing")
    parser.add_argument("--workers", action="store_true", help="also Dask against threads")
    parser.add_argument("--gpu", action="store_true", help="also the GPU against the CPU")
    parser.add_argument("--seed", type=int, default=0, help="of the data")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="first copy the results of before there"
    )
    options = parser.parse_args()
    if options.quick and options.gpu:
        parser.error("--gpu has no small sizes: leave out --quick")
    if options.keep:
        keep(options.keep)
    failed = []
    for script, *arguments in plan(options.quick, options.workers, options.gpu, options.seed):
        command = " ".join((f"benchmarks/{script}", *arguments))
        print(f"== {command}", flush=True)
        start = time.perf_counter()
        done = subprocess.run([sys.executable, str(HERE / script), *arguments])
        print(f"== {command}: {time.perf_counter() - start:.0f} s", flush=True)
        if done.returncode:
            failed.append(command)
    if not options.quick:
        readme = HERE.parent / "experiments" / "readme.py"
        failed += ["experiments/readme.py"] * bool(
            subprocess.run([sys.executable, readme]).returncode
        )
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")
    if options.keep:
        print(f"python benchmarks/compare.py {options.keep} {HERE} compares them")


if __name__ == "__main__":
    main()
