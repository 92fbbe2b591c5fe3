"""The types that users get: a program of theirs against the installed package, by mypy --strict."""

import inspect
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pytest
from test_packaging import ROOT, build

from infosieve import relevance
from infosieve.estimators._information import RelevanceOptions

pytest.importorskip("mypy", reason="mypy checks types: pip install --group dev")

TYPED = ROOT / "tests" / "typed"


class User:
    """Somebody who has installed the wheel; all other packages are those of the tests."""

    def __init__(self, folder: Path) -> None:
        builder = venv.EnvBuilder(symlinks=os.name != "nt")
        builder.create(folder / "env")
        self.python = builder.ensure_directories(folder / "env").env_exe
        env = {"base": str(folder / "env"), "platbase": str(folder / "env")}
        site = Path(sysconfig.get_path("purelib", "venv", vars=env))
        shutil.unpack_archive(build(ROOT, folder / "dist")[0], site, "zip")
        # What .pth files say that are there is not followed: an editable infosieve is not seen.
        others = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
        (site / "others.pth").write_text("\n".join(others), encoding="utf-8")
        self.package, self.folder = site / "infosieve", folder

    def errors(self, *names: str) -> list[tuple[str, int, str]]:
        """What mypy refuses in files of the folder: file, line, code."""
        for name in names:
            shutil.copy(TYPED / name, self.folder)
        done = subprocess.run(
            [
                *(sys.executable, "-m", "mypy", "--strict", "--python-executable", self.python),
                *("--config-file", os.devnull, "--cache-dir", "cache", *names),
            ],
            cwd=self.folder,
            env={k: v for k, v in os.environ.items() if k not in ("MYPYPATH", "PYTHONPATH")},
            capture_output=True,
            text=True,
        )
        assert done.returncode in (0, 1), done.stdout + done.stderr
        lines = [line for line in done.stdout.splitlines() if ": error: " in line]
        found = [re.fullmatch(r"(.+?):(\d+): error: .*\[([\w-]+)\]", line) for line in lines]
        assert None not in found, done.stdout
        assert bool(found) == bool(done.returncode), done.stdout + done.stderr
        return [(m[1], int(m[2]), m[3]) for m in found if m is not None]


@pytest.fixture(scope="module")
def user(tmp_path_factory):
    return User(tmp_path_factory.mktemp("user"))


def test_right_programs_pass_and_mistakes_are_refused(user):
    """Both in one run, which reads the types of numpy, pandas and matplotlib once."""
    lines = (TYPED / "mistakes.py").read_text(encoding="utf-8").splitlines()
    marked = [(i, line.partition("# refused: ")[2]) for i, line in enumerate(lines, start=1)]
    wrong = [("mistakes.py", i, code) for i, code in marked if code]
    assert len(wrong) > 5
    assert sorted(set(user.errors("program.py", "mistakes.py"))) == wrong


def test_without_the_marker_nothing_is_checked(user):
    """It is py.typed that makes type checkers look at the package."""
    (user.package / "py.typed").rename(user.folder / "py.typed")
    try:
        found = user.errors("mistakes.py")
    finally:
        (user.folder / "py.typed").rename(user.package / "py.typed")
    assert {code for _, _, code in found} == {"import-untyped"}


def test_the_program_runs(tmp_path, capsys):
    try:
        runpy.run_path(str(TYPED / "program.py"))["main"](tmp_path)
    finally:
        plt.close("all")
    assert "selected: X4" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {
        "path.png", "relevant.html", "report.html", "result.json", "table.parquet"
    }  # fmt: skip


def test_type_checkers_know_all_keywords_of_relevance():
    """Its keywords are written twice: what it returns depends on the type of X."""
    parameters = inspect.signature(relevance).parameters.values()
    keywords = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    assert list(RelevanceOptions.__annotations__) == keywords
