"""Scripts of experiments and benchmarks: seeds, and the list of them. Nothing is run here."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXPERIMENTS = sorted((ROOT / "experiments").glob("*.py"))
BENCHMARKS = sorted((ROOT / "benchmarks").glob("*.py"))
README = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
# They read what others kept, or compare two files.
DRAW_NOTHING = {"quality_rules.py", "readme.py", "summarize.py", "write_docs.py", "compare.py"}


def options(path):
    """What a script's parser takes, from its source: no library needs to be there."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            found |= {part.value for part in node.args if isinstance(part, ast.Constant)}
    return found


def is_script(path):
    return any(
        isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)
        for node in ast.parse(path.read_text(encoding="utf-8")).body
    )


def name(path):
    return f"{path.parent.name}/{path.name}"


SCRIPTS = [path for path in (*EXPERIMENTS, *BENCHMARKS) if is_script(path)]


@pytest.mark.parametrize(
    "path", [path for path in SCRIPTS if path.name not in DRAW_NOTHING], ids=name
)
def test_takes_a_seed(path):
    assert "--seed" in options(path)


def test_what_draws_nothing_draws_nothing():
    for path in SCRIPTS:
        if path.name in DRAW_NOTHING - {"summarize.py"}:  # bootstrap intervals only
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"default_rng|random_state|np\.random", text), path


def test_the_list_of_experiments():
    named = set(re.findall(r"`(\w+\.py)[ `]", README))
    assert named == {path.name for path in EXPERIMENTS}


@pytest.mark.parametrize("path", [p for p in SCRIPTS if p in EXPERIMENTS], ids=name)
def test_the_command_in_the_list(path):
    """One row of the table has the command, with --seed and --data where the script takes them."""
    rows = [line for line in README.splitlines() if f"| `{path.name}" in line]
    assert len(rows) == 1
    command = re.search(rf"\| `{re.escape(path.name)}([^`]*)` \|", rows[0])[1]
    known = options(path)
    assert set(re.findall(r"--\w+", command)) <= known
    assert {"--seed", "--data"} & known <= set(command.split())


def made():
    """The lines of the Makefile that `make experiments` runs."""
    target = re.search(
        r"^experiments:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M
    )
    return re.findall(r"experiments/(\w+\.py)(.*)", target[1])


def test_make_redraws_every_page():
    """What takes minutes is run, as the list says; all others that write a page are redrawn."""
    run = {script for script, more in made() if "--show" not in more}
    drawn = {script for script, more in made() if "--show" in more}
    pages = {path.name for path in EXPERIMENTS if is_script(path) and "--show" in options(path)}
    assert drawn <= pages <= run | drawn
    for line in README.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        script = re.match(r"`(\w+\.py)", cells[2]) if len(cells) == 7 else None
        if script:
            says = cells[5]
            assert (script[1] in run | drawn) == (says in ("runs it", "redraws")), line
            if script[1] in pages:
                assert (script[1] in run) == (says == "runs it"), line
