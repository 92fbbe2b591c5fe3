"""Select from a Parquet table of 4 GB, and watch the memory of every process.

    python benchmarks/out_of_memory.py --folder DIR [--dask] [--rows 5000] [--columns 100000]
        [--seed 0]
    python benchmarks/out_of_memory.py --show

Makes the table in DIR unless it is there, runs ``infosieve select`` on it (and before on a small
one, so that kernels are compiled), and prints the most resident memory that any process of it held.
Exits with 1 if that is 1 GB or more, or if what was selected is wrong. With the sizes above, what
was measured is kept in benchmarks/out_of_memory.json (with --dask beside what is kept without) and
put into docs/cluster.md. --show only does the latter.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from common import DOCS, HERE, machine, seed_number, told

from infosieve._engines.numba.screen import COARSE, FINE

LIMIT = 1e9
SIZE = 5_000, 100_000
KEPT = HERE / "out_of_memory.json"
PAGE = DOCS / "cluster.md"
MARKS = (
    "<!-- written by benchmarks/out_of_memory.py -->",
    "<!-- end of benchmarks/out_of_memory.py -->",
)
WHO = {False: "two threads", True: "`--dask local`, two workers"}


def make(path, n, m, seed, groups=2):
    """Noise, of which two columns make the target; a row group at a time."""
    names = [f"gene_{j:06d}" for j in range(m)]
    schema = pa.schema([(name, pa.float64()) for name in [*names, "target"]])
    rng = np.random.default_rng(seed)
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
    """Its result, the most memory of each of its processes (its own first), and its seconds."""
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
    peaks = [most.pop(run.pid), *sorted(most.values(), reverse=True)]
    return json.loads(output[0]), peaks, time.perf_counter() - start


def parts(path):
    """Bytes of Python with its libraries, and of the description of the table."""
    code = (
        "import sys\n"
        "from infosieve.cli import data, places, select, workers\n"
        "from infosieve import MISelector, open_columns\n"
        "def most():\n"
        "    text = open('/proc/self/status').read()\n"
        "    return 1024 * int(text.partition('VmHWM:')[2].split()[0])\n"
        "before = most()\n"
        "table = open_columns(sys.argv[1])\n"
        "print(before, most() - before)\n"
    )
    run = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    return dict(zip(("libraries", "description"), map(int, done.stdout.split()), strict=True))


def keep(row):
    """Beside the row of the other way, if it is of the same table."""
    rows = json.loads(KEPT.read_text())["rows"] if KEPT.exists() else []
    same = ("n", "m", "seed")
    rows = [r for r in rows if r["case"] != row["case"] and all(r[k] == row[k] for k in same)]
    rows = sorted([*rows, row], key=lambda r: list(WHO.values()).index(r["case"]))
    content = {"machine": machine(("infosieve", "numpy", "pyarrow", "distributed")), "rows": rows}
    KEPT.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def page(content):
    """What stands between the marks, from the results alone."""
    m, rows = content["machine"], content["rows"]
    n, columns = rows[0]["n"], rows[0]["m"]
    lines = [
        f"Measured on {m['processor']}, {m['cores']} cores, {n:,} rows and {columns:,} columns "
        f"({8e-9 * n * columns:.0f} GB){told(rows[0]['seed'])}:",
        "",
        "| | the command | each worker | time |",
        "|---|---:|---:|---:|",
    ]
    for row in rows:
        own, *others = row["bytes"]
        worker = f"{max(others) / 1e6:.0f} MB" if row["case"] == WHO[True] else ""
        cells = (row["case"], f"{own / 1e6:.0f} MB", worker, f"{row['seconds']:.0f} s")
        lines.append(f"| {' | '.join(cells)} |")
    known = rows[0]["parts"]
    rest = rows[0]["bytes"][0] - known["libraries"] - known["description"]
    lines += [
        "",
        f"Of the command's memory, {known['libraries'] / 1e6:.0f} MB are Python and its libraries "
        f"and {known['description'] / 1e6:.0f} MB the description of {columns:,} columns. The "
        f"other {rest / 1e6:.0f} MB are blocks, which do not grow with the table. Tests of the "
        'best of all columns (`correction="max"`, the default) keep the cells of '
        f"[screening](how.md#screening), too, {(FINE + COARSE) / 8:.1f} bytes a value, and twice "
        "that while they are put together; `screen=None` (`--screen none`) needs none.",
    ]
    return "\n".join(lines)


def write():
    first, last = MARKS
    before, rest = PAGE.read_text(encoding="utf-8").split(first)
    after = rest.split(last)[1]
    text = page(json.loads(KEPT.read_text(encoding="utf-8")))
    PAGE.write_text(f"{before}{first}\n{text}\n{last}{after}", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="where the table is, or is made")
    parser.add_argument("--rows", type=int, default=SIZE[0])
    parser.add_argument("--columns", type=int, default=SIZE[1])
    parser.add_argument("--features", type=int, default=1, help="how many to select: a pass each")
    parser.add_argument("--dask", action="store_true", help="two workers instead of two threads")
    parser.add_argument("--seed", type=seed_number, default=0, help="of the table")
    parser.add_argument("--show", action="store_true", help="write the docs from the kept results")
    arguments = parser.parse_args()
    if arguments.show:
        if KEPT.exists():
            write()
        return
    if arguments.folder is None:
        parser.error("--folder must say where the table is, or may be made: it takes 4 GB")
    n, m, seed = arguments.rows, arguments.columns, arguments.seed
    path = arguments.folder / f"table-{n}-{m}{f'-seed{seed}' if seed else ''}.parquet"
    expected = [f"gene_{m // 3:06d}", f"gene_{m // 2:06d}"]
    if not path.exists():
        make(path, n, m, seed)
    print(
        f"{n:,} x {m:,}: {8e-9 * n * m:.1f} GB in memory, {path.stat().st_size / 1e9:.1f} on disk"
    )
    command = [sys.executable, "-m", "infosieve", "select", str(path), "--target", "target"]
    command += ["--correction", "none", "--stop", "permutation", "--lookahead", "1"]
    command += ["--n-permutations", "99", "--seed", str(seed), "--json"]
    command += ["--max-features", str(arguments.features)]
    command += ["--jobs", "2", *(["--dask", "local"] if arguments.dask else [])]
    with tempfile.TemporaryDirectory() as folder:  # kernels are compiled, which takes memory, too
        small = Path(folder) / "small.parquet"
        make(small, 300, 60, seed)
        subprocess.run([*command[:4], str(small), *command[5:]], check=True, capture_output=True)
    result, peaks, seconds = watched(command)
    selected = [result["features"][j] for j in result["selected"]]
    for peak, name in peaks:
        print(f"{peak / 1e6:6.0f} MB  ...{name}")
    largest = max(peak for peak, _ in peaks)
    verdict = "under" if largest < LIMIT else "NOT under"
    print(f"{seconds:.0f} s; selected {selected}; {verdict} {LIMIT / 1e9:.0f} GB a process")
    if (n, m, arguments.features) == (*SIZE, 1):
        case = {"case": WHO[arguments.dask], "n": n, "m": m, "seed": seed, "seconds": seconds}
        keep(case | {"bytes": [peak for peak, _ in peaks], "parts": parts(path)})
        write()
    sys.exit(not set(selected) <= set(expected) or not selected or largest >= LIMIT)


if __name__ == "__main__":
    main()
