"""Two runs of the benchmarks are compared time by time. Nothing is timed here."""

import copy
import importlib.util
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
FILES = sorted(BENCHMARKS.glob("*.json"))
KEPT = [path for path in FILES if path.stem != "house"]  # which has no times
# Floats that are no times, or times over something: the same ratio would count twice.
NO_TIMES = {
    "ratio", "nanoseconds over N log2 N", "peak bytes a sample", "copies of the data",
    "largest difference of a similarity", "speed-up of two workers", "overhead of one worker",
    "overhead of two workers", "cpu scaled by",
}  # fmt: skip


def script(name):
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


compare = script("compare")

MACHINE = {"processor": "some", "cores": 2, "python": "3.11.7", "versions": {"numpy": "2.0.0"}}
RESULTS = {
    "machine": MACHINE,
    "K": 5,
    "relevance": [
        {
            "n": n, "columns": 50, "one column": 2e-4,
            "seconds": {"infosieve": 1e-5 * n, "infosieve, K = 3 to 10": 2e-5, "ennemi": 4e-4},
            "fastest peer": "ennemi", "ratio": 16.4,
        }
        for n in (100, 1000)
    ],
    "threads": [{"case": "relevance, 64 columns", "one": 0.28, "two": 0.14, "ratio": 2.0}],
    "growth": [
        {"n": 100000, "seconds": 0.03, "nanoseconds over N log2 N": 17.5,
         "peak bytes a sample": 97.0},
    ],
}  # fmt: skip
SELECTION = {
    "machine": MACHINE,
    "rows": [
        {"case": "choose_k", "peer": "ennemi", "ours": 0.01, "theirs": 4.0, "ratio": 400.0},
        {"case": "the chapter's procedure", "peer": "npeet-plus", "ours": 3.0, "theirs": 500.0,
         "theirs was timed on": 4, "features selected: data sets": {"3": 3, "4": 40},
         "features selected by theirs": [4, 4]},
        {"case": "five steps", "peer": "scikit-learn", "ours": 30.0, "theirs": 40.0,
         "copies of the data": 3.7, "selected": [0, 1, 2]},
    ],
}  # fmt: skip
CLUSTERING = {
    "machine": MACHINE,
    "rows": [{"case": "full tree", "peer": "plain NumPy", "ours": 0.9, "theirs": 15.0,
              "largest difference of a similarity": 1e-16}],
    "growth": [{"n": 100, "nanoseconds a value": 183.0}],
    "large": [{"case": "average", "seconds": 15.0, "bytes beyond the data": 1000}],
}  # fmt: skip
WORKERS = {
    "machine": MACHINE,
    "race": {"n": 2000, "m": 2000, "permutations": 200,
             "seconds": {"1 threads": 448.0, "2 workers": 258.0},
             "overhead of one worker": 0.02},
    "by M": [{"n": 1000, "m": m, "threads": 1.0, "workers": 2.0} for m in (125, 250)],
    "costs": [{"n": 500, "seconds given 0": 3e-4, "seconds given 4": 2e-4}],
}  # fmt: skip
GPU = {
    "date": "2020-01-01", "gpu": "some", "cpu cores": 16,
    "copies": [{"case": "1,000 copies", "n": 1000, "candidates": 1000, "met": 197, "cpu share": 1,
                "kernels": {"lists": 3e-4, "fill": 2e-5}, "gpu": 0.002, "cpu": 0.04,
                "pairs": 1000000}],
    "calls": [{"case": "choose_k", "gpu": 0.15, "cpu": 0.5, "cpu scaled by": 1.0}],
    "auto": [{"n": 200, "candidates": 10, "selected": s, "gpu": 7e-4, "cpu": 1e-3} for s in (0, 3)],
    "first use": {"start": 0.3, "compiled": 0.0},
}  # fmt: skip
DEFAULT = {
    "rows": [
        {"name": "command", "case": "infosieve select, N = 400, M = 300", "jobs": 2,
         "seconds": {"infosieve select": 2.0, "infosieve, Python and imports alone": 0.9},
         "selected": [0, 1, 3], "relevant": [0, 1, 2, 3, 4]},
        {"name": "wide", "case": "numbers, N = 500, M = 1,000", "jobs": 2,
         "seconds": {"infosieve": 4.0, "mutual_info_regression": 2.0},
         "copies of the data": 3.5, "selected": [0, 1, 2, 3, 4], "relevant": [0, 1, 2, 3, 4]},
        {"name": "mixed", "case": "7 numbers and 8 categories", "jobs": 2,
         "seconds": {"infosieve": 6.0}, "copies of the data": None,
         "selected": ["number0", "category4"], "relevant": ["number0"]},
        {"name": "all-rows", "case": "(F), N = 50,000", "jobs": 2,
         "seconds": {'infosieve, max_samples="auto"': 9.0, "infosieve, max_samples=None": 900.0},
         "selected": [3], "relevant": [0, 1, 2, 3, 4], "selected from parts": [2]},
        {"name": "panel", "case": "mean of 1 problems of the panel", "jobs": 1,
         "seconds": {"infosieve": 0.1, "infosieve, first data set": 0.2, "kNN wrapper": 1.5,
                     "Boruta": 10.0},
         "problems": [{"case": "xor", "relevant": [0, 1, 2],
                       "seconds": {"infosieve": 0.1, "infosieve, first data set": 0.2,
                                   "kNN wrapper": 1.5, "Boruta": 10.0},
                       "selected": {"infosieve": [[0, 1, 2], [0, 1, 2]],
                                    "kNN wrapper": [[], [2]], "Boruta": [[2, 7]]}}]},
        {"name": "local", "case": "permutation test", "jobs": 1,
         "seconds": {"infosieve": 0.01, "npeet-plus": 1.25}},
        {"name": "threads", "case": "threads, N = 500, M = 1,000",
         "seconds": {"infosieve, 1 threads": 6.0, "infosieve, 16 threads": 0.5},
         "selected": [0], "relevant": [0, 1, 2, 3, 4]},
        *({"name": "gpu", "case": f"GPU, numbers, M = {m}", "gpu": "some GPU",
           "seconds": {"infosieve, GPU": 0.5, "infosieve, 16 threads": 5.5},
           "selected": [0], "relevant": [0]} for m in (20, 50)),
    ],
}  # fmt: skip
for row in DEFAULT["rows"]:
    row |= {"machine": MACHINE, "date": "2020-01-01"}
MADE = {
    "results": (RESULTS, 11, 2),  # how many times it has, and how many of them are peers'
    "selection": (SELECTION, 6, 3),
    "default": (DEFAULT, 23, 6),
    "clustering": (CLUSTERING, 4, 1),
    "workers": (WORKERS, 8, 0),
    "gpu": (GPU, 12, 0),
}


def write(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def slower(content, factor, only=None):
    """All times of a file, or those of one description, multiplied."""
    content = copy.deepcopy(content)

    def visit(part):
        for key, value in part.items() if isinstance(part, dict) else enumerate(part):
            if isinstance(value, dict | list):
                visit(value)
            elif isinstance(value, float) and key not in NO_TIMES and only in (None, key):
                part[key] = factor * value

    visit(content)
    return content


def ratios(text):
    """What was printed: description -> ratio."""
    rows = re.findall(r"^ *([\d.]+|inf) +\S+ +\S+ +(?:slower|faster)? +(.*)$", text, re.M)
    return {what: float(ratio) for ratio, what in rows}


@pytest.mark.parametrize("name", MADE)
def test_each_format(name, tmp_path, capsys):
    content, times, peers = MADE[name]
    found = compare.entries(content)
    assert len(found) == times
    assert sum(entry.peer for entry in found) == peers
    old = write(tmp_path / "old.json", content)
    new = write(tmp_path / "new.json", slower(content, 1.5))
    assert compare.main([old, new]) == 0
    shown = ratios(capsys.readouterr().out)
    assert len(shown) == times
    zero = [ratio for what, ratio in shown.items() if "compiled" in what]
    assert set(shown.values()) == ({1.5, 1.0} if zero else {1.5})
    assert compare.main([old, old]) == 0
    assert set(ratios(capsys.readouterr().out).values()) == {1.0}


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_the_kept_files(path, capsys):
    assert compare.main([str(path), str(path), "--relative", "--fail-above", "1"]) == 0
    output = capsys.readouterr().out
    assert set(ratios(output).values()) == {1.0}
    assert "geometric mean of the ratios 1.000" in output
    assert "only in" not in output
    assert "(no. 2)" not in output


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_no_time_is_forgotten(path):
    """Each float of a file is a time that is compared, or known to be none."""
    content = json.loads(path.read_text(encoding="utf-8"))
    floats = []

    def visit(part):
        for key, value in part.items() if isinstance(part, dict) else enumerate(part):
            if isinstance(value, dict | list):
                visit(value)
            elif isinstance(value, float) and key not in NO_TIMES:
                floats.append(1e-9 * value if key.startswith("nanoseconds") else value)

    visit(content)
    assert sorted(compare.entries(content).values()) == sorted(floats)


def test_the_folders(tmp_path, capsys):
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "both.json", SELECTION)
        write(tmp_path / name / f"{name}.json", SELECTION)
    folders = [str(tmp_path / name) for name in ("old", "new")]
    assert compare.main(folders) == 0
    output = capsys.readouterr().out
    assert ratios(output)["both: rows: choose_k: ours"] == 1
    assert f"only in {folders[0]}: old.json" in output
    assert f"only in {folders[1]}: new.json" in output


def test_the_table(tmp_path, capsys):
    changed = copy.deepcopy(SELECTION)
    changed["rows"].reverse()  # order tells nothing
    for row, factor in zip(changed["rows"], (1.05, 0.5, 2.0), strict=True):
        row["ours"] *= factor
    changed["rows"][0]["peer"] = "ennemi"
    changed["machine"] = MACHINE | {"cores": 4}
    paths = [write(tmp_path / f"{n}.json", c) for n, c in (("old", SELECTION), ("new", changed))]
    assert compare.main(paths) == 0
    output = capsys.readouterr().out
    ours = output.partition("Ours, seconds")[2]
    assert list(ratios(ours).items()) == [
        ("rows: choose_k: ours", 2.0),
        ("rows: five steps: ours", 1.05),
        ("rows: the chapter's procedure: ours", 0.5),
    ]
    assert re.search(r"2\.000 .*slower  rows: choose_k", ours)
    assert re.search(r"0\.500 .*faster  rows: the chapter", ours)
    assert not re.search(r"(slower|faster) +rows: five steps", ours)
    mean = f"{math.prod((2, 1.05, 0.5)) ** (1 / 3):.3f}"
    assert f"geometric mean of the ratios {mean}; outside of 10 %: 1 slower, 1 faster" in ours
    assert "only in the old file: rows: five steps: scikit-learn" in output
    assert "only in the new file: rows: five steps: ennemi" in output
    assert "cores: 2 -> 4" in output
    compare.main([*paths, "--tolerance", "0.01"])
    assert re.search(r"slower +rows: five steps", capsys.readouterr().out)


def test_the_exit_status(tmp_path, capsys):
    old = write(tmp_path / "old.json", SELECTION)
    new = write(tmp_path / "new.json", slower(SELECTION, 1.5, "ours"))
    assert compare.main([old, new, "--fail-above", "1.6"]) == 0
    assert compare.main([old, new, "--fail-above", "1.4"]) == 1
    assert "3 of ours above 1.4" in capsys.readouterr().out
    peers = write(tmp_path / "peers.json", slower(SELECTION, 9, "theirs"))
    assert compare.main([old, peers, "--fail-above", "1.4"]) == 0  # not our fault


def test_relative_to_the_peers(tmp_path, capsys):
    """A machine half as fast, and ours slower by a tenth on top of it."""
    old = write(tmp_path / "old.json", SELECTION)
    new = write(tmp_path / "new.json", slower(slower(SELECTION, 2), 1.1, "ours"))
    assert compare.main([old, new, "--relative", "--fail-above", "1.2"]) == 0
    output = capsys.readouterr().out
    assert "divided by 2.000, the peers' median" in output
    shown = ratios(output)
    assert shown["rows: choose_k: ours"] == 1.1
    assert shown["rows: choose_k: ennemi"] == 1.0
    alone = write(tmp_path / "workers.json", WORKERS)
    compare.main([alone, alone, "--relative"])
    assert "no times of peers in both: ratios are not divided" in capsys.readouterr().out


def test_rows_of_one_description_are_told_apart():
    row = {"case": "twice", "seconds": 1.0}
    found = compare.entries({"rows": [row, row | {"seconds": 2.0}]})
    assert {entry.what: s for entry, s in found.items()} == {
        "rows: twice": 1.0,
        "rows: twice (no. 2)": 2.0,
    }


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("made.json", "missing.json"), "missing.json does not exist"),
        (("made.json", "."), "must be two files or two folders"),
        (("made.json", "broken.json"), "broken.json is not JSON"),
        (("made.json", "list.json"), "it must hold an object"),
        (("made.json", "empty.json"), "have no times in common"),
    ],
)
def test_messages(names, message, tmp_path, capsys):
    write(tmp_path / "made.json", SELECTION)
    write(tmp_path / "list.json", [])
    write(tmp_path / "empty.json", {})
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(SystemExit) as stopped:
        compare.main([str(tmp_path / name) for name in names])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_one_command_runs_all():
    every = script("all")
    kept = [["workers.py", "--show"], ["gpu.py", "--show"]]
    always = [["run.py"], ["selection.py"], ["relevance.py"], ["default.py"], ["clustering.py"]]
    gpu = [["gpu.py"], ["default.py", "--cases", "gpu", "--gpu"]]
    assert every.plan() == always + kept
    assert every.plan(workers=True, gpu=True) == [*always, ["workers.py"], *gpu]
    assert every.plan(quick=True) == [[*command, "--quick"] for command in always]
    for name, *options in every.plan() + every.plan(quick=True) + gpu:
        text = (BENCHMARKS / name).read_text(encoding="utf-8")
        assert all(f'"{option}"' in text for option in options)


def test_the_page_of_how_large_the_code_is(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    house = script("house")
    page, house.PAGE = house.PAGE, tmp_path / "page.md"
    kept = json.loads(house.KEPT.read_text(encoding="utf-8"))
    house.write_page(kept)
    assert house.PAGE.read_text(encoding="utf-8") == page.read_text(encoding="utf-8")
    trees = house.modules()
    ours, _ = house.of_ours(trees)
    assert not ours
    assert not list(house.read_otherwise(trees))
    assert house.files_of_a_parameter() == 3


@pytest.fixture
def default(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(variable, "1")  # as the script does; restored after the test
    return script("default")


def test_the_page_of_the_default(default):
    page = default.page(DEFAULT["rows"])
    for line in (
        "**2.00 s**, of which 0.90 s are the start of Python and imports. Selected: 0, 1, 3;",
        "| numbers, N = 500, M = 1,000 | 2 | 4.00 s | 2.00 s | **0.5** | 3.5 | 0 to 4 | 0 to 4 |",
        "| 7 numbers and 8 categories | 2 | 6.00 s |  |  |  | number0, category4 | number0 |",
        '`max_samples=None` 900.0 s (selected 3), `max_samples="auto"` 9.00 s (selected 2)',
        "nearest neighbours 1.50 s, **15** times as long; Boruta 10.0 s, **50** times as long",
        "| 1.00 | 0.25 | 0.40 | 0 to 2 | none | 2, 7 |",
        "the fastest other library, 1.25 s: **125** times faster",
        "| times faster than one | 1.0 | 12.0 |",
        "| numbers, M = 50 | 0.50 s | 5.50 s | **11** | 0 | 0 |",
        "- one some GPU, some, 2 cores, Python 3.11.7, numpy 2.0.0, 2020-01-01: GPU",
    ):
        assert line in page
    for row in DEFAULT["rows"]:  # a part of the cases is a page, too
        assert default.page([row]).startswith("# Benchmarks of the default")


def test_cases_are_replaced_one_by_one(default, tmp_path):
    some = (DEFAULT["rows"][1], DEFAULT["rows"][-1])
    rows = default.merged(DEFAULT["rows"], [row | {"date": "2021-01-01"} for row in some])
    assert [row["name"] for row in rows] == [
        "command", "wide", "mixed", "all-rows", "panel", "local", "threads", "gpu"
    ]  # fmt: skip
    assert {row["name"] for row in rows if row["date"] == "2021-01-01"} == {"wide", "gpu"}
    default.keep(rows, tmp_path / "kept.json")
    assert default.load(tmp_path / "kept.json") == rows
    assert default.load(tmp_path / "none.json") == []


def test_which_cases_are_run(default, capsys):
    always = default.arguments_of([]).cases
    assert set(default.CASES) - set(always) == {"all-rows", "threads", "gpu"}
    assert set(default.arguments_of(["--all", "--gpu"]).cases) - set(always) == {"all-rows", "gpu"}
    assert default.arguments_of(["--cases", "threads"]).cases == ["threads"]
    for wrong in (["--cases", "gpu"], ["--cases", "unknown"], ["--merge", "missing.json"]):
        with pytest.raises(SystemExit):
            default.arguments_of(wrong)
    assert "the case gpu needs --gpu" in capsys.readouterr().err


def test_another_machine_is_said_row_by_row(tmp_path, capsys):
    changed = copy.deepcopy(DEFAULT)
    changed["rows"][6]["machine"] = MACHINE | {"cores": 16}
    paths = [write(tmp_path / f"{n}.json", c) for n, c in (("old", DEFAULT), ("new", changed))]
    assert compare.main(paths) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if " -> " in line]
    assert len(said) == 1
    assert said[0].startswith("threads, N = 500, M = 1,000: ")
    assert "cores 2;" in said[0].partition(" -> ")[0]
    assert "cores 16;" in said[0].partition(" -> ")[2]


def test_small_sizes_run():
    """Without other libraries, as on a machine that is lent; nothing is written."""
    before = {path: path.read_bytes() for path in FILES}
    command = [sys.executable, str(BENCHMARKS / "default.py"), "--quick", "--cases"]
    done = subprocess.run(
        [*command, "mixed", "threads"],
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if k != "NUMBA_DISABLE_JIT"},
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["name"] for row in rows] == ["mixed", "threads"]
    assert all(row["seconds"] and row["selected"] and row["relevant"] for row in rows)
    assert {path: path.read_bytes() for path in sorted(BENCHMARKS.glob("*.json"))} == before


def test_the_kept_results_are_copied(tmp_path):
    script("all").keep(tmp_path / "before")
    assert {path.name for path in (tmp_path / "before").iterdir()} == {p.name for p in FILES}
