"""Select from a Parquet table of 4 GB, and watch the memory of every process.

    python benchmarks/out_of_memory.py --folder DIR [--rows 5000] [--columns 100000] [--dask]

Makes the table in DIR unless it is there, runs ``infosieve select`` on it, and prints the most
resident memory that any process of it held. Exits with 1 if that is 1 GB or more, or if what was
selected is wrong.
"""

import argparse
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

LIMIT = 1e9


def make(path, n, m, groups=2):
    """Noise, of which two columns make the target; a row group at a time."""
    names = [f"gene_{j:06d}" for j in range(m)]
    schema = pa.schema([(name, pa.float64()) for name in [*names, "target"]])
    rng = np.random.default_rng(0)
    partial = path.with_suffix(".partial")
    with pq.ParquetWriter(partial, schema, compression="none", use_dictionary=False) as writer:
        for i in range(groups):
            rows = n * (i + 1) // groups - n * i // groups
            columns = [rng.normal(size=rows) for _ in range(m)]
            y = np.sin(2 * columns[m // 3]) + 0.5 * columns[m // 2] + 0.2 * rng.normal(size=rows)
            writer.write_table(pa.Table.from_arrays([*map(pa.array, [*columns, y])], schema=schema))
    partial.rename(path)
    return [names[m // 3], names[m // 2]]


def watched(command):
    """The result of a command, the most memory of each of its processes, and its seconds."""
    start = time.perf_counter()
    run = psutil.Popen(command, stdout=subprocess.PIPE)
    most, output = {}, []
    reader = threading.Thread(target=lambda: output.append(run.stdout.read()))
    reader.start()
    while run.poll() is None:
        for process in [run, *run.children(recursive=True)]:
            try:
                status = Path(f"/proc/{process.pid}/status").read_text()
                name = " ".join(process.cmdline())[-60:]
            except (OSError, psutil.Error):
                continue
            peak = 1024 * int((status.partition("VmHWM:")[2].split() or [0])[0])
            most[process.pid] = max(peak, most.get(process.pid, (0, ""))[0]), name
        time.sleep(0.2)
    reader.join()
    if run.returncode:
        sys.exit(f"{' '.join(command)} failed")
    return json.loads(output[0]), most, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--columns", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=1, help="how many to select: a pass each")
    parser.add_argument("--dask", action="store_true", help="two workers instead of two threads")
    arguments = parser.parse_args()
    n, m = arguments.rows, arguments.columns
    path = arguments.folder / f"table-{n}-{m}.parquet"
    expected = [f"gene_{m // 3:06d}", f"gene_{m // 2:06d}"]
    if not path.exists():
        make(path, n, m)
    print(
        f"{n:,} x {m:,}: {8e-9 * n * m:.1f} GB in memory, {path.stat().st_size / 1e9:.1f} on disk"
    )
    command = [sys.executable, "-m", "infosieve", "select", str(path), "--target", "target"]
    command += ["--correction", "none", "--stop", "permutation", "--lookahead", "1"]
    command += ["--n-permutations", "99", "--seed", "0", "--json"]
    command += ["--max-features", str(arguments.features)]
    command += ["--jobs", "2", *(["--dask", "local"] if arguments.dask else [])]
    result, most, seconds = watched(command)
    selected = [result["features"][j] for j in result["selected"]]
    for peak, name in sorted(most.values(), reverse=True):
        print(f"{peak / 1e6:6.0f} MB  ...{name}")
    largest = max(peak for peak, _ in most.values())
    verdict = "under" if largest < LIMIT else "NOT under"
    print(f"{seconds:.0f} s; selected {selected}; {verdict} {LIMIT / 1e9:.0f} GB a process")
    sys.exit(not set(selected) <= set(expected) or not selected or largest >= LIMIT)


if __name__ == "__main__":
    main()
