"""The one table of the README, from kept results: python experiments/readme.py"""

import json

import numpy as np
from panel import PANEL
from spectra import HERE, kept, write_between
from summarize import by_problem, f1
from write_docs import PUBLISHED, anything, rate

BENCHMARKS = HERE.parent / "benchmarks"


def whole_jobs():
    """Seconds of whole selections, and of one pass of scikit-learn's over the same table."""
    kept_rows = json.loads((BENCHMARKS / "default.json").read_text())["rows"]
    rows = []
    for name in ("command", "wide", "wider", "rows", "million"):
        row = next((r for r in kept_rows if r["name"] == name), None)
        if row is None:
            continue
        (_, ours), *others = row["seconds"].items()
        jobs = "one thread" if row["jobs"] == 1 else "two threads"
        other = f"{others[0][1]:.0f} s: one pass of scikit-learn's {others[0][0]}" if others else ""
        what = "the command, from start to table" if name == "command" else "the default"
        size = row["case"][row["case"].index("N = ") :]
        if name == "command":
            other = ""
        rows.append(f"| {what}, {size}, {jobs} | **{ours:.0f} s** | {other} |")
    return rows


def main():
    found = by_problem(kept("judge"))
    ours, wrapper, boruta, published = (
        np.mean([f1(list(found[p][name].values())) for p in PANEL])
        for name in ("default", "kNN wrapper", "Boruta", "the chapter's")
    )
    alone = [
        rate(found, "nothing, M = 50", name, anything)[1].split()[0]
        for name in ("default", PUBLISHED)
    ]
    speed = json.loads((BENCHMARKS / "results.json").read_text())
    selection = json.loads((BENCHMARKS / "selection.json").read_text())["rows"]
    times = {
        "a column of a table of 20, N = 1,000, K = 5": next(
            r for r in speed["relevance"] if r["n"] == 1000
        ),
        "a candidate of 200 given four columns, N = 1,000, K = 5": next(
            r for r in speed["given four"] if r["n"] == 1000
        ),
        "a single set of five columns, N = 1,000, K = 5": next(
            r for r in speed["one set"] if (r["n"], r["columns"]) == (1000, 5)
        ),
        "the choice of K, N = 100, 10 columns": selection[0],
        "a permutation test, N = 1,000, four selected, 200 permutations": selection[1],
    }
    rows = [
        f"| finds the right columns (mean F1, {len(PANEL)} problems) | **{ours:.2f}** | forward "
        f"selection with nearest neighbours {wrapper:.2f}, Boruta {boruta:.2f}, the published "
        f"procedure {published:.2f} |",
        f"| selects something among 50 columns of noise | **{alone[0]}** | the published "
        f"test {alone[1]} |",
    ]
    for what, row in times.items():
        peer = f"a loop over {row['peer']}" if "peer" in row else row["fastest peer"]
        number = f"{row['ratio']:.0f}" if row["ratio"] > 10 else f"{row['ratio']:.1f}"
        rows.append(f"| {what} | **{number} times faster** | than {peer} |")
    rows += whole_jobs()
    text = "\n".join(["| | infosieve | others |", "|---|---|---|", *rows]) + "\n"
    print(text)
    write_between(HERE.parent / "README.md", "experiments/readme.py", text)


if __name__ == "__main__":
    main()
