"""The table of the README, and what is below its picture: python experiments/readme.py"""

import json

import numpy as np
import pandas as pd
import weak
from panel import JUDGES, PANEL
from quality_page import ALL, CV, CV_MODEL, OURS, compared, overall
from spectra import HERE, kept, write_between
from summarize import by_problem, f1
from write_docs import PUBLISHED, anything, judged, rate, shared

BENCHMARKS = HERE.parent / "benchmarks"
WHOLE = "[whole jobs](docs/benchmarks-default.md)"


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
        other = ""
        if others:
            name_of, seconds = others[0]
            other = f"{spoken(seconds)}: one pass of scikit-learn's {name_of}, one thread"
        what = "a selection"
        if name == "command":
            what = "the command, from start to table"
        size = row["case"][row["case"].index("N = ") :]
        if name == "command":
            other = ""
        rows.append(f"| {what}, {size}, {jobs} | **{spoken(ours)}** | {other} | {WHOLE} |")
    return rows


def of_panel():
    """Seconds of the default and of others on the problems of the panel, the means."""
    kept_rows = json.loads((BENCHMARKS / "default.json").read_text())["rows"]
    row = next(r for r in kept_rows if r["name"] == "panel")
    ours, wrapper, boruta = (row["seconds"][n] for n in ("infosieve", "kNN wrapper", "Boruta"))
    return (
        f"| a selection, mean of {len(PANEL)} problems, one thread | **{ours:.1f} s** | forward "
        f"selection with nearest neighbours {wrapper:.1f} s, Boruta {boruta:.1f} s | {WHOLE} |"
    )


def real_tables():
    """Error on real tables over that of all columns, and the share of columns kept."""
    found, names, selectors, _ = compared()
    result = overall(found, selectors)

    def cell(selector):
        row = result.loc[selector]
        return f"{row['all']:.2f} with {100 * row['share']:.0f} %"

    others = [s for s in result.index if s not in (*OURS, ALL)]
    best = sorted(others, key=lambda s: result.loc[s, "all"])[:5]
    return [
        f"| {len(names)} real tables: prediction error relative to that of all columns, and the "
        'share of columns kept; first `stop="cv"` with the model that predicts, then without | '
        f"**{cell(CV_MODEL)}**; "
        f"**{cell(CV)}** | "
        + ", ".join(f"{s.replace(', number by CV', '')} {cell(s)}" for s in best)
        + " | [real tables](docs/quality.md) |"
    ]


def parts():
    """The range of ratios against the fastest of other libraries."""
    speed = json.loads((BENCHMARKS / "results.json").read_text())
    selection = json.loads((BENCHMARKS / "selection.json").read_text())["rows"]
    rows = {
        "a column of a table": next(r for r in speed["relevance"] if r["n"] == 1000),
        "a column given four": next(r for r in speed["given four"] if r["n"] == 1000),
        "a set of five": next(r for r in speed["one set"] if (r["n"], r["columns"]) == (1000, 5)),
        "a permutation test": selection[2],  # local, the default
        "the choice of K": selection[0],
    }
    ratios = [f"{what} {number(row['ratio'])}" for what, row in rows.items()]
    return (
        f"| times faster than the fastest other library, N = 1,000 (K: 100) | {', '.join(ratios)} "
        "| scikit-learn, ennemi, npeet-plus, infomeasure | [estimates](docs/benchmarks.md), "
        "[tests and K](docs/benchmarks-selection.md) |"
    )


def spoken(seconds):
    return f"{seconds:.0f} s" if seconds > 10 else f"{seconds:.1f} s"


def number(ratio):
    return f"{ratio:.0f}" if ratio > 10 else f"{ratio:.1f}"


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
    rows = [
        f"| finds the right columns: mean F1, {len(PANEL)} problems | **{ours:.2f}** | forward "
        f"selection with nearest neighbours {wrapper:.2f}, Boruta {boruta:.2f}, the published "
        f"procedure {published:.2f} | [panel](docs/default.md#the-whole-panel) |",
        f"| … {len(JUDGES)} problems written after the default was fixed | "
        f"**{judged(found):.2f}** | {judged_others(found)} | "
        "[the same](docs/default.md#problems-that-chose-nothing) |",
        weak_effects(),
        f"| selects something among 50 columns of noise | **{alone[0]}** | the published "
        f"test {alone[1]} | [error rates](docs/default.md#error-rates) |",
        *real_tables(),
        of_panel(),
        *whole_jobs(),
        parts(),
    ]
    text = "\n".join(["| | infosieve | others | evidence |", "|---|---|---|---|", *rows]) + "\n"
    print(text)
    write_between(HERE.parent / "README.md", "experiments/readme.py", text)
    write_between(HERE.parent / "README.md", "experiments/readme.py: picture", caption())


def weak_effects():
    """Beside the tools that are made for them."""
    rows, means = kept("weak"), {}
    for name in ("default", "t tests", "SelectFdr", "Lasso"):
        each = [[row for row in rows if row[:2] == [problem, name]] for problem in weak.PROBLEMS]
        means[name] = np.mean([weak.f1(some) for some in each if some])
    mean = {name: f"{value:.2f}" for name, value in means.items()}
    return (
        f"| … {len(weak.PROBLEMS)} problems with weak effects, mostly lines | "
        f"**{mean['default']}** | stepwise t tests {mean['t tests']}, `SelectFdr` with F tests "
        f"{mean['SelectFdr']}, Lasso {mean['Lasso']} | [weak effects](docs/weak.md) |"
    )


def caption():
    """Of the picture of the README."""
    rows = pd.DataFrame(kept("tecator"))
    pls = rows[rows["model"] == "PLS, all channels"]
    return (
        "*Near infrared spectra of meat; how much fat? Left: where features were selected, on "
        f"{pls['split'].nunique() - 1} random splits. Right: how many\ntimes smaller the error is "
        f"than that of partial least squares on all {pls['k'].max()} channels, behind the few "
        "features that tests\nselect, behind the first ten, and behind all that were computed from "
        "the curves ([docs/tecator.md](docs/tecator.md)).*\n"
    )


def judged_others(found):
    """Others where they were run, beside the default on the same data."""
    said = []
    for name in ("kNN wrapper", "Boruta", "mRMR"):
        both = [p for p in JUDGES if name in found[p]]
        if not both:
            continue
        theirs, ours = (
            np.mean([f1(shared(found[p], *who)) for p in both])
            for who in ((name, "default"), ("default", name))
        )
        n_sets = sum(len(found[p][name]) for p in both)
        said.append(f"{name} {theirs:.2f} ({n_sets} data sets, infosieve {ours:.2f})")
    return ", ".join(said)


if __name__ == "__main__":
    main()
