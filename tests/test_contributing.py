"""The worked examples of CONTRIBUTING.md fit the code, and its map has every file of tests."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def section(title):
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def blocks(title, language):
    return re.findall(rf"^```{language}\n(.*?)^```", section(title), re.MULTILINE | re.DOTALL)


def apply(diff, folder):
    """Change files as a diff says, each of whose runs of lines stands once in its file."""
    touched = []
    for part in diff.split("--- ")[1:]:
        name, *lines = part.splitlines()
        path = folder / name
        text = path.read_text(encoding="utf-8")
        for run in re.findall(r"(?:^[ -].*\n)+(?:^\+.*\n?)+", "\n".join(lines), re.MULTILINE):
            marked = run.splitlines()
            before, after = (
                "".join(f"{line[1:]}\n" for line in marked if line[0] in (" ", sign))
                for sign in "-+"
            )
            assert text.count(before) == 1, (name, before)
            text = text.replace(before, after)
        path.write_text(text, encoding="utf-8")
        touched.append(name)
    return touched


def run(folder, *arguments):
    done = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": str(folder / "src"), "COLUMNS": "200"},
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def copy(tmp_path):
    """The sources, which an example may change."""
    shutil.copytree(
        ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.nbi")
    )
    return tmp_path


USE_OF_A_PARAMETER = """
from infosieve import MISelector
from infosieve.selection._selector import settings_of

assert MISelector().get_params()["duplicates"] == "drop"
assert settings_of(MISelector(duplicates="keep")).duplicates == "keep"
try:
    settings_of(MISelector(duplicates="join"))
except ValueError as error:
    print(error)
"""


def test_a_new_parameter_takes_what_the_page_says(copy):
    (diff,) = blocks("A new parameter", "diff")
    assert len(apply(diff, copy)) == 3
    assert "Three source files change" in section("A new parameter")
    said = run(copy, "-c", USE_OF_A_PARAMETER)
    assert said.startswith("The 'duplicates' parameter must be one of 'drop', 'keep'. Got 'join'")
    assert "--duplicates" not in run(copy, "-m", "infosieve", "select", "--help")
    assert "copies of a column: drop or keep" in run(
        copy, "-m", "infosieve", "select", "--help-all"
    )


USE_OF_A_STATISTIC = """
import numpy as np
from infosieve import MISelector, permutation_test, relevance_test

x, how = np.random.default_rng(0).normal(size=(60, 2)), {"statistic": "ranks", "random_state": 0}
print(permutation_test(x, x[:, 0], [0, 1], **how).observed)
print(relevance_test(x, x[:, 0], **how).statistic)
search = [MISelector(statistic=name, random_state=0).fit(x, x[:, 0]) for name in ("ranks", "ksg")]
print(*(found.path_["null_q95"][0] > 0.2 for found in search))
"""


def test_a_new_statistic_is_the_one_that_is_tested(copy):
    (code,) = blocks("A new statistic, or a new null hypothesis", "python")
    assert code == (ROOT / "tests" / "rank_correlation.py").read_text(encoding="utf-8")
    (diff,) = blocks("A new statistic, or a new null hypothesis", "diff")
    (copy / "src/infosieve/_scoring/rank_correlation.py").write_text(code, encoding="utf-8")
    assert len(apply(diff, copy)) == 2
    assert re.fullmatch(
        r"(\[1\.\s+0\.\d+\]\s*){2}True False\s*", run(copy, "-c", USE_OF_A_STATISTIC)
    )


def test_a_new_statistic_has_types(copy):
    pytest.importorskip("mypy", reason="mypy checks types: pip install --group dev")
    (code,) = blocks("A new statistic, or a new null hypothesis", "python")
    (copy / "rank_correlation.py").write_text(code, encoding="utf-8")
    how = ["--strict", "--follow-imports=silent", "--config-file", str(ROOT / "pyproject.toml")]
    run(copy, "-m", "mypy", *how, "rank_correlation.py")


def test_every_file_of_tests_is_on_the_map():
    named = set(re.findall(r"test_\w+\.py", section("To change X, look at Y")))
    assert named == {path.name for path in (ROOT / "tests").rglob("test_*.py")}


def test_every_module_on_the_map_is_there():
    """Modules of a row may be named without the package of the one before."""
    rows = [line.split("|") for line in section("To change X, look at Y").splitlines()]
    named = [name for row in rows if len(row) > 2 for name in re.findall(r"`([^` ]+)`", row[2])]
    roots = [ROOT, ROOT / "src" / "infosieve", ROOT / "tests" / "golden"]
    # A source archive has no hidden folders.
    paths = [name for name in named if re.search(r"/|\.py$", name) and name[0] != "."]
    assert not [name for name in paths if not any((root / name).exists() for root in roots)]
