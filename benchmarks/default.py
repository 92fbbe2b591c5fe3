"""Seconds that users wait: whole selections by the default setting, and by the command.

    make bench                                    # or: python benchmarks/default.py [--quick]
    python benchmarks/default.py --cases wide     # this case anew; the others are kept
    python benchmarks/default.py --all            # also all samples of 50,000 in one estimate
    python benchmarks/default.py --seed 1         # other data; rows have their seed
    python benchmarks/default.py --show           # the page from the kept results

Writes benchmarks/default.json and docs/benchmarks-default.md. Rows are kept by case, each with the
machine it was measured on. Two cases are for another machine: "threads" (16 cores) runs only where
it is named, "gpu" only with --gpu; they need no other library's estimators:

    python benchmarks/default.py --cases threads gpu --gpu --out there.json    # on that machine
    python benchmarks/default.py --merge there.json                            # on this one
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import common
import numpy as np
import pandas as pd
from common import DOCS, HERE, machine, micro, peak_memory, state

from infosieve import MISelector
from infosieve.datasets import make_friedman

KEPT = HERE / "default.json"
PAGE = DOCS / "benchmarks-default.md"
PACKAGES = (
    "infosieve",
    "numpy",
    "numba",
    "scikit-learn",
    "pandas",
    "Boruta",
    "npeet-plus",
    "cupy-cuda12x",
    "cupy-cuda13x",
)
PANEL_SEED = 9  # of the panel: not one of those on which anything was chosen or judged
ONE_PASS = "mutual_info_regression"
# What is generated, (samples, columns): as published, and with --quick.
SIZES = {
    "command": ((400, 300), (60, 8)),
    "wide": ((500, 1_000), (80, 20)),
    "wider": ((500, 20_000), (80, 60)),
    "mixed": ((5_000, 15), (150, 15)),
    "classes": ((2_600, 500), (100, 12)),
    "rows": ((50_000, 100), (300, 8)),
    "all-rows": ((50_000, 100), (300, 8)),
    "million": ((1_000_000, 20), (400, 8)),
    "threads": ((500, 1_000), (80, 20)),
    "gpu": (((500, 20_000), (20_000, 50)), ((80, 60), (200, 8))),
}


# ------------------------------------------------------------------------------------ the data


def wide(n, m):
    """Normal columns, five of which add up to the target."""
    rng = np.random.default_rng(state())
    X = rng.normal(size=(n, m))
    return X, X[:, :5].sum(axis=1) + 0.3 * rng.normal(size=n), list(range(5))


def friedman(n, m):
    """The data (F) of Verleysen, Rossi and François (2009): five columns, and noise."""
    return *make_friedman(n, m, random_state=state(), return_X_y=True), list(range(5))


def mixed(n, _):
    """Seven numbers, eight categories of 2 to 12 levels; classes by two of each."""
    rng = np.random.default_rng(state())
    numbers = rng.normal(size=(n, 7))
    levels = (2, 3, 4, 5, 6, 8, 10, 12)
    codes = [rng.integers(c, size=n) for c in levels]
    columns = {f"number{j}": numbers[:, j] for j in range(7)}
    for c, code in zip(levels, codes, strict=True):
        columns[f"category{c}"] = pd.Categorical([f"level {i}" for i in code])
    effects = {c: rng.normal(scale=1.5, size=c) for c in (4, 8)}
    scores = np.c_[
        1.5 * numbers[:, 0] + effects[4][codes[2]],
        1.5 * numbers[:, 1] + effects[8][codes[5]],
        np.zeros(n),
    ]
    y = np.array(["a", "b", "c"])[np.argmax(scores + rng.gumbel(size=(n, 3)), axis=1)]
    return pd.DataFrame(columns), y, ["number0", "number1", "category4", "category8"]


def classes(n, m):
    """Normal columns and two classes: three columns act alone, two through their product."""
    rng = np.random.default_rng(state())
    X = rng.normal(size=(n, m))
    score = X[:, 0] + X[:, 1] ** 2 - 1 + X[:, 2] + X[:, 3] * X[:, 4] + 0.5 * rng.normal(size=n)
    return X, np.where(score > 0, "a", "b"), list(range(5))


DATA = {"wide": wide, "friedman": friedman, "mixed": mixed, "classes": classes}


# ------------------------------------------------------------------------------------ measuring


def best(function, at_most=3, within=20.0):
    """The best time of up to so many calls, as long as they took no longer together; the result."""
    seconds = []
    while len(seconds) < at_most and (not seconds or sum(seconds) + min(seconds) < within):
        start = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def columns(fit):
    """What was selected: names if there are any, else numbers."""
    selected = fit.selected_.tolist()
    return [str(fit.feature_names_in_[j]) if hasattr(fit, "feature_names_in_") else j
            for j in sorted(selected)]  # fmt: skip


def compiled(X, y, **options):
    """The kernels that a fit needs, by a small one: parts of the samples where it has parts."""
    small = X.iloc[:600] if isinstance(X, pd.DataFrame) else X[:600, :30]
    if len(X) >= 8_000 and "max_samples" not in options:
        options["max_samples"] = 200
    MISelector(**options, random_state=state()).fit(small, y[:600])


def job(data, size, options):
    """One fit, or one pass of scikit-learn (options: None), in this process."""
    X, y, relevant = DATA[data](*size)
    if options is None:
        from sklearn.feature_selection import mutual_info_regression

        return {"seconds": best(lambda: mutual_info_regression(X, y), within=5.0)[0]}
    compiled(X, y, **options)
    memory = Path("/proc/self/clear_refs").exists() and isinstance(X, np.ndarray)
    before = peak_memory(reset=True) if memory else 0
    seconds, fit = best(lambda: MISelector(**options, random_state=state()).fit(X, y))
    copies = (peak_memory() - before) / X.nbytes if memory else None
    found = {"selected": columns(fit), "relevant": relevant}
    return {"seconds": seconds, "copies of the data": copies, **found}


def alone(data, size, options):
    """A job in a process of its own, so that its memory is its own, too."""
    command = [sys.executable, __file__, "--seed", str(common.SEED)]
    command += ["--job", json.dumps([data, size, options])]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def sized(size):
    return "N = {:,}, M = {:,}".format(*size)


def fitted(case, data, size, jobs, against=False, **options):
    """A row: the default on such data, and perhaps one pass of scikit-learn beside it."""
    ours = alone(data, size, {"n_jobs": jobs, **options})
    seconds = {"infosieve": ours.pop("seconds")}
    if against:
        seconds[ONE_PASS] = alone(data, size, None)["seconds"]
    return {"case": case, "jobs": jobs, "seconds": seconds, **ours}


# ------------------------------------------------------------------------------------ the cases


def case_command(size, quick):
    X, y, relevant = friedman(*size)
    names = [f"x{j}" for j in range(size[1])]
    start = [sys.executable, "-c", "import gc; gc.disable(); from infosieve.cli import select, "
             "data, places, workers; from infosieve.selection import MISelector"]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        pd.DataFrame(X, columns=names).assign(y=y).to_csv(path, index=False)
        command = [sys.executable, "-m", "infosieve", "select", str(path), "--target", "y"]
        command += ["--jobs", "2", "--seed", str(state())]

        def run(*arguments):
            return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout

        found = json.loads(run(*command, "--json"))  # compiles, too
        whole, _ = best(lambda: run(*command))
        imports, _ = best(lambda: run(*start))
    seconds = {"infosieve select": whole, "infosieve, Python and imports alone": imports}
    return [{"case": f"infosieve select, {sized(size)}", "jobs": 2, "seconds": seconds,
             "selected": sorted(found["selected"]), "relevant": relevant}]  # fmt: skip


def case_wide(size, quick):
    return [fitted(f"numbers, {sized(size)}", "wide", size, 2, against=True)]


def case_wider(size, quick):
    return [fitted(f"numbers, {sized(size)}", "wide", size, 1, against=True)]


def case_mixed(size, quick):
    case = f"7 numbers and 8 categories, 3 classes, {sized(size)}"
    return [fitted(case, "mixed", size, 2)]


def case_classes(size, quick):
    return [fitted(f"numbers, 2 classes, {sized(size)}", "classes", size, 2)]


def case_rows(size, quick):
    return [fitted(f"(F) and noise, {sized(size)}", "friedman", size, 2)]


def case_all_rows(size, quick):
    first = {"n_jobs": 2, "lookahead": 1, "max_features": 1}
    parts = alone("friedman", size, first)
    whole = alone("friedman", size, {**first, "max_samples": None})
    seconds = {
        'infosieve, max_samples="auto"': parts["seconds"],
        "infosieve, max_samples=None": whole["seconds"],
    }
    found = {key: whole[key] for key in ("selected", "relevant")}
    case = f"(F) and noise, {sized(size)}, the first step (lookahead=1, max_features=1)"
    return [{"case": case, "jobs": 2, "seconds": seconds, **found,
             "selected from parts": parts["selected"]}]  # fmt: skip


def case_million(size, quick):
    return [fitted(f"(F) and noise, {sized(size)}", "friedman", size, 2)]


def case_panel(_, quick):
    """The problems of experiments/panel.py, and others that select, on the same data."""
    sys.path.append(str(HERE.parent / "experiments"))  # behind this folder: both have a run.py
    import panel
    import procedures

    sets = 1 if quick else 3
    who = {
        "infosieve": (procedures.ours({}), sets),
        "kNN wrapper": (procedures.wrapper, sets),
        "Boruta": (procedures.boruta, 1),
    }
    for problem in ("xor", "classes"):  # compile
        procedures.ours({})(*panel.data(problem, PANEL_SEED, state(sets))[:2], 0)
    problems = []
    for problem in list(panel.PANEL)[: 2 if quick else None]:
        data = [panel.data(problem, PANEL_SEED, state(number)) for number in range(sets)]
        seconds, found = {}, {}
        for name, (select, n) in who.items():
            spent, found[name] = [], []
            for number, (X, y, _) in enumerate(data[:n]):
                start = time.perf_counter()
                selected = select(X, y, number)
                spent.append(time.perf_counter() - start)
                found[name].append(sorted(int(j) for j in selected))
            seconds[name] = float(np.mean(spent))
            if name == "infosieve":
                seconds["infosieve, first data set"] = spent[0]
        row = {"case": problem, "seconds": seconds, "selected": found}
        problems.append(row | {"relevant": sorted(data[0][2])})
        print(json.dumps(row), flush=True)
    means = {name: float(np.mean([row["seconds"][name] for row in problems]))
             for name in problems[0]["seconds"]}  # fmt: skip
    case = f"mean of {len(problems)} problems of the panel, {sets} data sets each (Boruta: 1)"
    return [{"case": case, "jobs": 1, "seconds": means, "problems": problems}]


def case_local(_, quick):
    import selection

    row = selection.compare_test("local")
    seconds = {"infosieve": row["ours"], row["peer"]: row["theirs"]}
    return [{"case": row["case"], "jobs": 1, "seconds": seconds}]


def case_threads(size, quick):
    X, y, relevant = wide(*size)
    compiled(X, y)
    counts = [j for j in (1, 2, 4, 8, 16) if j <= cores()]
    seconds = {}
    for j in counts:
        seconds[f"infosieve, {j} threads"], fit = best(
            lambda j=j: MISelector(n_jobs=j, random_state=state()).fit(X, y)
        )
    found = {"selected": columns(fit), "relevant": relevant}
    return [{"case": f"threads, {sized(size)}", "seconds": seconds, **found}]


def case_gpu(sizes, quick):
    rows = []
    for size, data in zip(sizes, ("wide", "friedman"), strict=True):
        X, y, relevant = DATA[data](*size)
        compiled(X, y, n_jobs=-1)

        def fit(device, X=X, y=y):
            return MISelector(n_jobs=-1, device=device, random_state=state()).fit(X, y)

        fit("cuda")  # compile
        gpu, ours = best(lambda: fit("cuda"), 2, within=60.0)
        cpu, theirs = best(lambda: fit("cpu"), 2, within=60.0)
        if columns(ours) != columns(theirs):
            raise AssertionError(f"{columns(ours)} on the GPU, {columns(theirs)} on the CPU")
        seconds = {"infosieve, GPU": gpu, f"infosieve, {cores()} threads": cpu}
        case = f"GPU, {'numbers' if data == 'wide' else '(F) and noise'}, {sized(size)}"
        rows.append({"case": case, "gpu": gpu_name(), "seconds": seconds,
                     "selected": columns(ours), "relevant": relevant})  # fmt: skip
    return rows


CASES = {
    "command": case_command,
    "wide": case_wide,
    "wider": case_wider,
    "mixed": case_mixed,
    "classes": case_classes,
    "rows": case_rows,
    "all-rows": case_all_rows,
    "million": case_million,
    "panel": case_panel,
    "local": case_local,
    "threads": case_threads,
    "gpu": case_gpu,
}
NAMED_ONLY = ("all-rows", "threads", "gpu")


def cores():
    """Those that this process may use."""
    known = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if known else os.cpu_count()


def gpu_name():
    import cupy

    return cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()


def measure(name, quick):
    """The rows of a case, with where and when they were measured."""
    size = SIZES[name][quick] if name in SIZES else None
    here = machine(PACKAGES)
    today = datetime.date.today().isoformat()
    rows = CASES[name](size, quick)
    more = {"seed": common.SEED, "machine": here, "date": today}
    return [{"name": name, **row, **more} for row in rows]


# ------------------------------------------------------------------------------------ the results


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []


def merged(kept, new):
    """New rows in the place of kept ones of the same case, in the order of the cases."""
    names = {row["name"] for row in new}
    rows = [row for row in kept if row["name"] not in names] + new
    return sorted(rows, key=lambda row: list(CASES).index(row["name"]))


def keep(rows, path):
    path.write_text(json.dumps({"rows": rows}, indent=1) + "\n", encoding="utf-8")


def shown(seconds):
    return f"{seconds:,.1f} s" if seconds >= 10 else f"{seconds:.2f} s" if seconds >= 0.1 else (
        micro(seconds))  # fmt: skip


def times(ratio):
    return f"**{ratio:,.0f}**" if ratio > 10 else f"**{ratio:.2g}**"


def listed(columns):
    """Columns in words: 0 to 4, or one after the other."""
    numbers = all(isinstance(column, int) for column in columns)
    if numbers and len(columns) > 2 and columns[-1] - columns[0] == len(columns) - 1:
        return f"{columns[0]} to {columns[-1]}"
    return ", ".join(map(str, columns)) or "none"


def f1(found, relevant):
    return 2 * len(set(found) & set(relevant)) / (len(found) + len(relevant))


def where(row):
    m = row["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in m["versions"].items())
    gpu = f"one {row['gpu']}, " if "gpu" in row else ""
    return (
        f"{gpu}{m['processor']}, {m['cores']} cores, Python {m['python']}, {versions}"
        f"{common.told(row.get('seed'))}"
    )


def table_of(head, rows):
    """Lines of a table; the first column holds words, others numbers unless they end with *."""
    align = ["---" if i == 0 or cell.endswith("*") else "---:" for i, cell in enumerate(head)]
    heads = [cell.removesuffix("*") for cell in head]
    return ["| " + " | ".join(cells) + " |" for cells in (heads, align, *rows)]


def page(rows):
    """The page, from the results alone."""
    by = {name: [row for row in rows if row["name"] == name] for name in CASES}
    lines = [
        "# Benchmarks of the default",
        "",
        "Written by [`benchmarks/default.py`](../benchmarks/default.py)"
        ". Whole selections by `MISelector()`, all",
        "steps and tests included, other settings only where they are named. Kernels are compiled.",
        "The best of three runs, of fewer where they take longer than 20 seconds together. The",
        "relevant columns are known: the data are generated (see the script). Parts of a selection",
        "have [a page of their own](benchmarks-selection.md).",
        "",
        "*Times of the panel, of threads and of the GPU were taken when tests compared*",
        '*estimates of information by default, which is now `statistic="ksg"`.*',
    ]
    for row in by["command"]:
        whole, imports = row["seconds"].values()
        lines += [
            "",
            "## The command",
            "",
            f"`infosieve select` on a CSV file ({row['case'].partition(', ')[2]}), two threads, "
            f"from the start of the process to the table: **{shown(whole)}**, of which "
            f"{shown(imports)} are the start of Python and imports. Selected: "
            f"{listed(row['selected'])}; relevant: {listed(row['relevant'])}.",
        ]
    fits = [row for name in ("wide", "wider", "mixed", "classes", "rows", "million")
            for row in by[name]]  # fmt: skip
    if fits:
        lines += ["", "## The default", ""]
        lines += [
            f"Beside it, where the target is a number, one pass of scikit-learn's `{ONE_PASS}` "
            "over the same table in the same run, one thread: the relevance of single columns, "
            "without any test. Memory: the peak beyond the data, in copies of the data.",
            "",
        ]
        cells = []
        for row in fits:
            ours, one = row["seconds"]["infosieve"], row["seconds"].get(ONE_PASS)
            copies = row["copies of the data"]
            cells.append([
                row["case"], str(row["jobs"]), shown(ours), shown(one) if one else "",
                times(one / ours) if one else "", "" if copies is None else f"{copies:.1f}",
                listed(row["selected"]), listed(row["relevant"]),
            ])  # fmt: skip
        head = ("data", "threads", "infosieve", ONE_PASS, "times faster", "memory", "selected*")
        lines += table_of((*head, "relevant*"), cells)
    for row in by["all-rows"]:
        parts, whole = row["seconds"].values()
        lines += [
            "",
            "Above 8,000 samples, estimates are means over parts (`max_samples`). All samples in "
            f"one estimate: {row['case']}, two threads, `max_samples=None` {shown(whole)} "
            f'(selected {listed(row["selected"])}), `max_samples="auto"` {shown(parts)} '
            f"(selected {listed(row['selected from parts'])}).",
        ]
    for row in by["panel"]:
        lines += panel_lines(row)
    for row in by["local"]:
        (_, ours), (peer, theirs) = row["seconds"].items()
        lines += [
            "",
            "## One test",
            "",
            f"{row['case']}: {shown(ours)}; as many estimates in a loop over {peer}, the fastest "
            f"other library, {shown(theirs)}: {times(theirs / ours)} times faster. One thread.",
        ]
    for row in by["threads"]:
        one = row["seconds"]["infosieve, 1 threads"]
        head = [name.removeprefix("infosieve, ") for name in row["seconds"]]
        head[0] = "1 thread"
        lines += ["", "## Threads", ""]
        lines += [f"{row['case'].partition(', ')[2]}, on {row['machine']['processor']}, "
                  f"{row['machine']['cores']} cores. Selected: {listed(row['selected'])}; "
                  f"relevant: {listed(row['relevant'])}.", ""]  # fmt: skip
        cells = [["seconds", *(shown(s) for s in row["seconds"].values())]]
        cells += [["times faster than one", *(f"{one / s:.1f}" for s in row["seconds"].values())]]
        lines += table_of(("", *head), cells)
    if by["gpu"]:
        lines += ["", "## GPU", ""]
        lines += [
            f'`device="cuda"` on one {by["gpu"][0]["gpu"]}, and all '
            f"{by['gpu'][0]['machine']['cores']} cores of the same machine; the best of two runs "
            "after one to compile. The same columns were selected.",
            "",
        ]
        cells = []
        for row in by["gpu"]:
            gpu, cpu = row["seconds"].values()
            cells.append([row["case"].partition(", ")[2], shown(gpu), shown(cpu), times(cpu / gpu),
                          listed(row["selected"]), listed(row["relevant"])])  # fmt: skip
        head = ("data", "GPU", "CPU", "times faster", "selected*", "relevant*")
        lines += table_of(head, cells)
    places = {}
    for row in rows:
        places.setdefault((where(row), row["date"]), []).append(row["case"])
    lines += ["", "## Where and when", ""]
    lines += [f"- {place}, {date}: {'; '.join(dict.fromkeys(cases))}."
              for (place, date), cases in places.items()]  # fmt: skip
    return "\n".join(lines) + "\n"


def panel_lines(row):
    means = row["seconds"]
    ours, first = means["infosieve"], means["infosieve, first data set"]
    names = ("infosieve", "kNN wrapper", "Boruta")
    cells = []
    for problem in row["problems"]:
        relevant, found = problem["relevant"], problem["selected"]
        cells.append([
            problem["case"], listed(relevant), *(shown(problem["seconds"][n]) for n in names),
            *(f"{np.mean([f1(f, relevant) for f in found[n]]):.2f}" for n in names),
            *(listed(found[n][0]) for n in names),
        ])  # fmt: skip
    head = ["problem", "relevant*", *names, *(f"F1, {name}" for name in names)]
    head += [f"selected by {name}*" for name in names]
    return [
        "",
        "## Against procedures that select",
        "",
        f"The {row['case']}, one thread: infosieve **{shown(ours)}**; forward selection by "
        f"cross-validated nearest neighbours {shown(means['kNN wrapper'])}, "
        f"{times(means['kNN wrapper'] / ours)} times as long; Boruta {shown(means['Boruta'])}, "
        f"{times(means['Boruta'] / first)} times as long (as ours on the data that it had, "
        f"{shown(first)}). Columns selected are those of the first data set, F1 is the mean of all "
        "(a few; [the default setting](default.md) has many).",
        "",
        *table_of(head, cells),
    ]


def arguments_of(given=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, print, write nothing")
    parser.add_argument("--cases", nargs="+", choices=CASES, metavar="NAME", help=", ".join(CASES))
    parser.add_argument("--all", action="store_true", help="also all-rows, which takes very long")
    parser.add_argument("--gpu", action="store_true", help="also the GPU against the CPU")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write there, and no page")
    parser.add_argument("--merge", type=Path, metavar="FILE", help="take the cases of that file")
    parser.add_argument("--seed", type=common.seed_number, default=0, help="of the data")
    parser.add_argument("--show", action="store_true", help="write the docs from the kept results")
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args(given)
    if "gpu" in (options.cases or ()) and not options.gpu:
        parser.error("the case gpu needs --gpu, and a GPU")
    if options.merge and not options.merge.exists():
        parser.error(f"{options.merge} does not exist")
    if not options.cases:
        more = {"all-rows": options.all, "gpu": options.gpu}
        options.cases = [name for name in CASES if name not in NAMED_ONLY or more.get(name)]
    return options


def main():
    options = arguments_of()
    common.SEED = options.seed
    warnings.simplefilter("ignore")
    if options.job:
        print(json.dumps(job(*options.job)))
        return
    path = options.out or KEPT
    rows = load(path)
    if options.merge:
        rows = merged(rows, load(options.merge))
        keep(rows, path)
    elif not options.show:
        for name in options.cases:
            new = measure(name, options.quick)
            for row in new:
                print(json.dumps({k: v for k, v in row.items() if k != "problems"}), flush=True)
            rows = merged(rows, new)
            if not options.quick:
                keep(rows, path)  # each at once: a later one may be broken off
    if options.quick:
        page(rows)
    elif not options.out:
        PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
