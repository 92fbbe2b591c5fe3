"""Two runs of the benchmarks are compared time by time. Nothing is timed here."""

import copy
import importlib.util
import json
import math
import re
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
KEPT = sorted(BENCHMARKS.glob("*.json"))
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
MADE = {
    "results": (RESULTS, 11, 2),  # how many times it has, and how many of them are peers'
    "selection": (SELECTION, 6, 3),
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
    always = [["run.py"], ["selection.py"], ["clustering.py"]]
    assert every.plan() == always + kept
    assert every.plan(workers=True, gpu=True) == [*always, ["workers.py"], ["gpu.py"]]
    assert every.plan(quick=True) == [[*command, "--quick"] for command in always]
    for name, *options in every.plan() + every.plan(quick=True):
        text = (BENCHMARKS / name).read_text(encoding="utf-8")
        assert all(f'"{option}"' in text for option in options)


def test_the_kept_results_are_copied(tmp_path):
    script("all").keep(tmp_path / "before")
    assert {path.name for path in (tmp_path / "before").iterdir()} == {p.name for p in KEPT}
