"""The code of the documentation runs as it stands there, page by page."""

import ast
import contextlib
import inspect
import io
import re
import textwrap
from itertools import pairwise
from pathlib import Path

import pytest
from sklearn.datasets import load_diabetes

import infosieve

ROOT = Path(__file__).parent.parent
MADE = {"api", "gallery"}  # folders that the documentation's build writes
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if page.relative_to(ROOT / "docs" if page.name != "README.md" else ROOT).parts[0] not in MADE
]
FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>`{3,})(?P<what>[^`\n]*)\n(?P<code>.*?)^ *(?P=ticks) *$", re.M | re.S
)
# What needs a cluster or the like is compiled, and says so in its first line.
NOT_RUN = "{code-block} python"
# Older versions of scikit-learn have other last digits (4.803999999999999), and so other ties.
SAME_DIABETES = 4.804 in load_diabetes(scaled=False).data[:, 8]
# In README.md: what tests/test_readme.py runs and looks at.
ELSEWHERE = ("FeatureClustering(8", '"heat"')


def blocks(page):
    """Language, code and tree of each piece of code on a page, and what it is said to print.

    Errors have the page's lines.
    """
    text = page.read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    for match, after in pairwise([*found, None]):
        what, code, tree, printed = match["what"], textwrap.dedent(match["code"]), None, None
        if what in ("python", NOT_RUN):
            above = text.count("\n", 0, match.start("code"))
            tree = ast.parse("\n" * above + code, str(page))
        if after and after["what"] == "text" and not text[match.end() : after.start()].strip():
            printed = after["code"]
        yield what, code, tree, printed


def words(text):
    """What is printed, but for spaces and the names of types, which differ between versions."""
    return re.sub(r"dtype: \w+|datetime64\[\w+\]", "", text).split()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page, as_a_reader):
    names = {"__name__": "__main__"}
    compared = SAME_DIABETES or "load_diabetes" not in page.read_text(encoding="utf-8")
    for what, code, tree, printed in blocks(page):
        if what == NOT_RUN:
            assert code.startswith("# needs "), f"{page.name}: why is this not run?\n{code}"
            compile(tree, page, "exec")
        elif what == "python":
            if page.name == "README.md" and any(word in code for word in ELSEWHERE):
                kinds = ast.Import, ast.ImportFrom
                tree.body = [statement for statement in tree.body if isinstance(statement, kinds)]
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile(tree, page, "exec"), names)
            if printed is not None and compared:
                assert words(output.getvalue()) == words(printed), f"{page.name}\n{code}"
        else:  # no code that goes by another name
            assert not re.match(r"\{?(py|Py|code)", what), f"{page.name}: ```{what}\n{code}"


def test_the_reference_has_every_public_name():
    listed = set()
    module = None
    for line in (ROOT / "docs" / "api.md").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   \w+", line):
            listed.add(f"{module}.{line.strip()}")
    wanted = {f"infosieve.{name}" for name in infosieve.__all__}
    wanted.remove("infosieve.__version__")
    for package in (infosieve.datasets, infosieve.estimators, infosieve.plots, infosieve.results):
        wanted.discard(package.__name__)
        short = set(infosieve.__all__)  # listed under their short names
        wanted |= {f"{package.__name__}.{name}" for name in package.__all__ if name not in short}
    assert listed == wanted


@pytest.mark.skipif(not SAME_DIABETES, reason="other last digits in the table")
def test_the_table_of_settings_has_every_parameter_with_its_default():
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    table = text.partition("\n## All parameters of MISelector\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", table, re.MULTILINE)
    found = {name: ast.literal_eval(default) for name, default in rows}
    signature = inspect.signature(infosieve.MISelector).parameters
    assert found == {name: one.default for name, one in signature.items()}


def test_the_decision_of_the_first_five_minutes_has_the_figures_above_it(as_a_reader):
    page = ROOT / "docs" / "start.md"
    names = {"__name__": "__main__"}
    for what, _, tree, _ in blocks(page):
        if what == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(tree, page, "exec"), names)
    text = " ".join(page.read_text(encoding="utf-8").split())
    selected = set(names["selector"].get_feature_names_out())
    relevant = set(names["alone"].query("relevant")["feature"])
    assert (len(relevant), len(names["X"].columns)) == (9, 10)
    assert "Nine of ten measurements are informative." in text
    assert len(relevant - selected) == 5
    assert "Five of these were not selected" in text
    others = names["selector"].alternatives(names["X"], names["y"])
    assert others.empty
    assert "No column could take the place of a selected one" in text
    mean = names["scores"].set_index("n_features")["mean"]
    assert f"With them alone R² is {mean[2]:.2f}, where all ten have {mean[10]:.2f}." in text
    assert f"R² only rises to {mean[3]:.2f} with it." in text
    assert selected == {"bmi", "triglycerides", "bp", "sex", "hdl"}
    assert 0.45 < 1 - mean[10] < 0.55
    error = names["lost"].loc[3].agg(["mean", "sem"])
    assert f"all seven add {error['mean']:.3f} ± {error['sem']:.3f} to R²." in text
