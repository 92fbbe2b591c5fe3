"""What is in the wheel and in the source archive, the same bytes wherever they are built."""

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path, PurePosixPath

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import infosieve

pytest.importorskip("hatchling", reason="hatchling builds the archives: pip install --group dev")

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NAME = f"infosieve-{infosieve.__version__}"
TEMPLATES = ROOT / "src" / "infosieve" / "report" / "templates"
NEEDED = [
    "py.typed",
    "_engines/cuda/kernels.cu",
    *(f"report/templates/{path.name}" for path in TEMPLATES.iterdir()),
    "datasets/data/tecator.csv",
    "datasets/data/TECATOR-NOTE.txt",  # the data must not be passed on without it
]


def build(root, out, **environment):
    """Wheel and source archive of a tree, by the backend alone: nothing is fetched."""
    inherited = {k: v for k, v in os.environ.items() if k != "SOURCE_DATE_EPOCH"}
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(out)],
        cwd=root,
        env=inherited | environment,
        capture_output=True,
        check=True,
        umask=0o077 if environment else 0o022,
    )
    return out / f"{NAME}-py3-none-any.whl", out / f"{NAME}.tar.gz"


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    return build(ROOT, tmp_path_factory.mktemp("built"))


def names_in(archive):
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.namelist()
    with tarfile.open(archive) as sdist:
        return [member.name for member in sdist]


def unwanted(name):
    """Caches, hidden files, and kinds of files that do not belong to a package."""
    path = PurePosixPath(name)
    return (
        any(part == "__pycache__" or part.startswith(".") for part in path.parts)
        or path.suffix in {".nbi", ".nbc", ".pyc", ".pyo", ".so", ".log", ".tmp", ".egg-info"}
        or path.parts[0] in {"build", "dist"}
    )


def test_the_wheel_has_the_package_and_nothing_else(archives):
    package = ROOT / "src" / "infosieve"
    on_disk = {path.relative_to(package).as_posix() for path in package.rglob("*.py")}
    info = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
    expected = {f"infosieve/{name}" for name in on_disk | set(NEEDED)}
    names = names_in(archives[0])
    assert sorted(names) == sorted(expected | {f"{NAME}.dist-info/{name}" for name in info})
    assert not [name for name in names if unwanted(name)]


def test_the_source_archive_has_what_its_tests_need(archives):
    names = {name.removeprefix(f"{NAME}/") for name in names_in(archives[1])}
    assert {f"src/infosieve/{name}" for name in NEEDED} <= names
    needed = {"README.md", "LICENSE", "CHANGELOG.md", "Makefile", "pyproject.toml", "PKG-INFO"}
    for pattern in ("tests/**/*.*", "benchmarks/*.*", "examples/*.*"):
        needed |= {path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern)}
    assert {name for name in needed if not unwanted(name)} <= names
    # It tells what to leave out of a wheel that is built from the archive.
    assert [name for name in names if unwanted(name)] == [".gitignore"]


def test_the_same_bytes_anywhere(archives, tmp_path):
    """Built again from the source archive: elsewhere, other times, modes and zone, with caches."""
    with tarfile.open(archives[1]) as sdist:
        sdist.extractall(tmp_path, filter="data")
    tree = tmp_path / "elsewhere"
    (tmp_path / NAME).rename(tree)
    for cache in (tree / "src/infosieve/__pycache__", tree / "tests/__pycache__"):
        cache.mkdir()
        for suffix in ("nbi", "nbc", "pyc"):
            (cache / f"kernel.{suffix}").write_bytes(b"0")
    for i, path in enumerate(sorted(tree.rglob("*"))):
        path.chmod(0o700 if path.is_dir() else 0o600)
        os.utime(path, (10**9 + i, 10**9 + i))
    again = build(tree, tmp_path / "out", TZ="Pacific/Auckland", LC_ALL="C", PYTHONHASHSEED="1")
    for first, second in zip(archives, again, strict=True):
        assert names_in(first) == names_in(second)
        assert first.read_bytes() == second.read_bytes()


def test_the_metadata(archives):
    project = PROJECT["project"]
    with zipfile.ZipFile(archives[0]) as wheel:
        info = f"{NAME}.dist-info/"
        metadata = Parser().parsestr(wheel.read(info + "METADATA").decode())
        commands = wheel.read(info + "entry_points.txt").decode()
        assert wheel.read(info + "licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
    assert metadata["Name"] == "infosieve"
    assert metadata["Version"] == infosieve.__version__
    assert metadata["Requires-Python"] == project["requires-python"]
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata.get_all("License-File") == ["LICENSE"]
    assert sorted(metadata.get_all("Provides-Extra")) == ["dask", "excel", "gpu"]
    assert "infosieve = infosieve.__main__:main" in commands
    required = {Requirement(text) for text in metadata.get_all("Requires-Dist")}
    plain = {r for r in required if r.marker is None}
    assert plain == {Requirement(text) for text in project["dependencies"]}
    for extra, texts in project["optional-dependencies"].items():
        asked = {r.name for r in required - plain if r.marker.evaluate({"extra": extra})}
        assert asked == {Requirement(text).name for text in texts}


SCRIPT = """
import sys, warnings
import infosieve
from infosieve import MISelector
from infosieve.datasets import load_tecator, make_friedman
from infosieve._engines.cuda import engine
from pathlib import Path
assert Path(infosieve.__file__).is_relative_to(sys.argv[1]), infosieve.__file__
assert load_tecator().data.shape == (215, 100)
assert Path(engine.__file__).with_name("kernels.cu").exists()
X, y = make_friedman(30, 5, random_state=0, return_X_y=True)
MISelector(stop=None, max_features=2, random_state=0).fit(X, y).result_.report("report.html")
"""


def test_the_package_of_the_wheel_works(archives, tmp_path):
    """Unpacked as an installer does, in an empty folder; the kernels as plain Python."""
    site, empty = tmp_path / "site", tmp_path / "empty"
    shutil.unpack_archive(archives[0], site, "zip")
    empty.mkdir()
    how = {
        "cwd": empty,
        "env": os.environ | {"PYTHONPATH": str(site), "NUMBA_DISABLE_JIT": "1"},
        "capture_output": True,
        "text": True,
    }
    done = subprocess.run([sys.executable, "-m", "infosieve", "--version"], **how)
    assert (done.stdout.strip(), done.stderr) == (infosieve.__version__, "")
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(site)], **how)
    assert done.returncode == 0, done.stderr
    assert "</html>" in (empty / "report.html").read_text(encoding="utf-8")


def lower_bound(requirement):
    (least,) = [s.version for s in requirement.specifier if s.operator == ">="]
    return Version(least)


def test_the_oldest_versions_are_those_that_are_allowed():
    """tests/oldest.txt, which make test-oldest installs, and pyproject.toml agree."""
    project = PROJECT["project"]
    extras = project["optional-dependencies"]
    texts = project["dependencies"] + extras["dask"] + extras["excel"]
    dev = [Requirement(text) for text in PROJECT["dependency-groups"]["dev"]]
    asked = [Requirement(text) for text in texts] + [r for r in dev if r.name == "polars"]
    lines = (ROOT / "tests" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    oldest = [Requirement(line) for line in lines if not line.startswith("#")]
    assert all([s.operator for s in r.specifier] == ["=="] for r in oldest)
    assert len(oldest) == len(asked)
    assert {r.name: Version(str(r.specifier)[2:]) for r in oldest} == {
        r.name: lower_bound(r) for r in asked
    }
    # What the tests install beside it asks for the same.
    least = {r.name: lower_bound(r) for r in asked}
    assert all(lower_bound(r) == least[r.name] for r in dev if r.name in least)


def test_the_versions_of_python():
    names = [text.split(" :: ") for text in PROJECT["project"]["classifiers"]]
    versions = [Version(n[2]) for n in names if n[:2] == ["Programming Language", "Python"]]
    tested = sorted(version for version in versions if version > Version("3"))
    assert PROJECT["project"]["requires-python"] == f">={tested[0]}"
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{tested[0]}".replace(".", "")
