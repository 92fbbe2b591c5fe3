"""Run procedures on problems and keep what each selected, as JSON.

    python experiments/run.py results.json --seed 2 --sets 20 --problems "F, M = 10" ...

Rows already in the file are not computed again.
"""

import argparse
import json
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

from panel import PANEL, PROBLEMS, data
from procedures import PROCEDURES


def one(problem, procedure, seed, number):
    warnings.simplefilter("ignore")
    X, y, relevant = data(problem, seed, number)
    start = time.process_time()  # others may be busy
    selected = [int(j) for j in PROCEDURES[procedure](X, y, number)]
    seconds = round(time.process_time() - start, 4)
    return [problem, procedure, seed, number, selected, sorted(relevant), seconds]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PANEL))
    parser.add_argument("--procedures", nargs="+", choices=PROCEDURES, default=["default"])
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    rows = json.loads(arguments.file.read_text()) if arguments.file.exists() else []
    known = {tuple(row[:4]) for row in rows}
    jobs = [
        (problem, procedure, arguments.seed, number)
        for number in range(arguments.sets)
        for problem in arguments.problems
        for procedure in arguments.procedures
    ]
    jobs = [job for job in jobs if job not in known]
    start, last = time.perf_counter(), 0.0
    with ProcessPoolExecutor(arguments.workers) as pool:
        futures = [pool.submit(one, *job) for job in jobs]
        for done, future in enumerate(as_completed(futures), start=1):
            rows.append(future.result())
            seconds = time.perf_counter() - start
            if seconds - last > 20 or done == len(jobs):
                last = seconds
                write(arguments.file, rows)
                print(f"{done} of {len(jobs)}, {seconds:.0f} s", flush=True)


def write(file, rows):
    lines = ",\n".join(json.dumps(row) for row in sorted(rows))
    fresh = file.with_suffix(".new")
    fresh.write_text(f"[\n{lines}\n]\n")
    fresh.replace(file)


if __name__ == "__main__":
    main()
