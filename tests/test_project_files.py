"""Files about the project agree with the rest: citation, security, forms, what CI runs."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import infosieve

yaml = pytest.importorskip("yaml", reason="PyYAML comes with Dask: pip install --group dev")

ROOT = Path(__file__).parent.parent
GITHUB = ROOT / ".github"
WORKFLOW = GITHUB / "workflows" / "ci.yml"
FORMS = sorted((GITHUB / "ISSUE_TEMPLATE").glob("[!c]*.yml"))  # all but config.yml
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]

# A source archive has no hidden folders.
in_a_clone = pytest.mark.skipif(not GITHUB.exists(), reason="no .github here: no clone")


def read(path):
    return path.read_text(encoding="utf-8")


def pythons():
    """The versions of Python that the classifiers name, oldest first."""
    named = [re.fullmatch(r"Programming .* (3\.\d+)", text) for text in PROJECT["classifiers"]]
    return sorted((m[1] for m in named if m), key=lambda text: int(text[2:]))


# Functions that do more than fits one screen: a kernel, whose loop is one for the compiler, too.
LONG = {"best_pairs"}


def lines_of(function):
    """How many lines a function has, docstring and parameters apart."""
    first = function.body[1 if ast.get_docstring(function) and len(function.body) > 1 else 0]
    return function.body[-1].end_lineno - first.lineno + 1


def test_functions_fit_a_screen_and_most_files_are_short():
    """As CONTRIBUTING.md says."""
    sources = [read(path) for path in (ROOT / "src").rglob("*.py")]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    assert {f.name for f in functions if lines_of(f) > 60} == LONG
    assert sum(len(source.splitlines()) < 400 for source in sources) > 0.75 * len(sources)


def test_the_order_of_imports_is_the_one_that_is_checked():
    (found,) = re.findall(r"^_core <[^`]+", read(ROOT / "ARCHITECTURE.md"), re.MULTILINE)
    (contract,) = SETTINGS["tool"]["importlinter"]["contracts"]
    assert [" ".join(layer.split()) for layer in found.split("<")] == contract["layers"][::-1]


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load(read(ROOT / "CITATION.cff"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["title"] == PROJECT["name"]
    assert citation["version"] == infosieve.__version__
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]
    assert citation["keywords"] == PROJECT["keywords"]
    assert citation["message"]
    # What is not known is not made up: nobody has released it, nor said where it will be.
    assert not {"doi", "url", "repository-code", "date-released"} & set(citation)


def test_the_chapter_is_cited_as_on_the_page_of_references():
    (chapter,) = yaml.safe_load(read(ROOT / "CITATION.cff"))["references"]
    entries = read(ROOT / "docs" / "references.md").split("\n- ")
    (entry,) = [text for text in entries if f"https://doi.org/{chapter['doi']})" in text]
    entry = " ".join(entry.split())
    assert chapter["title"].lower() in entry.lower()
    assert f"({chapter['year']})" in entry
    assert f"*{chapter['collection-title']}*" in entry
    assert f" {chapter['volume']}, {chapter['start']}-{chapter['end']}." in entry
    names = [f"{one['given-names'][0]}. {one['family-names']}" for one in chapter["authors"]]
    assert entry.startswith(f"{', '.join(names[:-1])} and {names[-1]} ")


def test_the_page_of_security_leads_somewhere():
    text = read(ROOT / "SECURITY.md")
    assert "Report a vulnerability" in text
    for file, place in re.findall(r"\]\(([\w/.]+)#([\w-]+)\)", text):
        heads = re.findall(r"^#+ (.+)$", read(ROOT / file), re.MULTILINE)
        assert place in [re.sub(r"\W+", "-", head.lower()) for head in heads]


def test_source_archives_have_them():
    included = SETTINGS["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {"/CITATION.cff", "/SECURITY.md"} <= set(included)


@in_a_clone
@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_are_forms(path):
    form = yaml.safe_load(read(path))
    assert set(form) <= {"name", "description", "labels", "title", "body"}
    assert form["name"]
    assert form["description"]
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    assert {part["type"] for part in asked} <= {"input", "textarea", "dropdown", "checkboxes"}
    ids = [part["id"] for part in asked]
    assert len(set(ids)) == len(ids)
    assert all(part["attributes"]["label"] for part in asked)
    assert any(part.get("validations", {}).get("required") for part in asked)
    for page in re.findall(r"\bdocs/[\w-]+\.md", read(path)):
        assert (ROOT / page).exists()


@in_a_clone
def test_there_are_forms():
    assert [path.stem for path in FORMS] == ["bug_report", "feature_request"]
    assert set(yaml.safe_load(read(GITHUB / "ISSUE_TEMPLATE" / "config.yml"))) == {
        "blank_issues_enabled"
    }
    assert "make test" in read(GITHUB / "pull_request_template.md")


def jobs():
    return yaml.safe_load(read(WORKFLOW))["jobs"]


def commands(job):
    return [line for step in job["steps"] for line in step.get("run", "").splitlines()]


def targets():
    """What make can be asked for."""
    lines = read(ROOT / "Makefile").splitlines()
    (phony,) = [line.partition(":")[2].split() for line in lines if line.startswith(".PHONY:")]
    return {name for name in phony if any(line.startswith(f"{name}:") for line in lines)}


@in_a_clone
def test_ci_runs_targets_that_there_are():
    asked = [
        target
        for job in jobs().values()
        for command in commands(job)
        for target in re.findall(r"\bmake ([\w-]+)", command)
    ]
    assert len(set(asked)) == len(asked)
    assert set(asked) <= targets()
    assert set(asked) == {"test", "test-oldest", "test-newest", "docs", "dist"}


@in_a_clone
def test_ci_has_both_ends_of_python():
    oldest, *_, newest = pythons()
    found = jobs()
    assert found["test"]["strategy"]["matrix"]["python"] == [oldest, newest]
    makefile = read(ROOT / "Makefile")
    for name, python in (("oldest", oldest), ("newest", newest)):
        (version,) = versions(found[name])
        assert version == python
        assert f"test-{name}: PYTHON = python{python}\n" in makefile
    all_named = {v for job in found.values() for v in versions(job) if not v.startswith("$")}
    assert all_named <= set(pythons())


def versions(job):
    return [
        s["with"]["python-version"] for s in job["steps"] if "setup-python" in s.get("uses", "")
    ]


@in_a_clone
def test_ci_may_only_read_and_ends():
    workflow = yaml.safe_load(read(WORKFLOW))
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]["group"]
    assert True in workflow  # "on", which YAML 1.1 takes for a truth value
    known = {"actions/checkout@v4", "actions/setup-python@v5", "actions/upload-artifact@v4"}
    for job in workflow["jobs"].values():
        assert "permissions" not in job
        assert 0 < job["timeout-minutes"] <= 90
        assert {step["uses"] for step in job["steps"] if "uses" in step} <= known
        assert all(("run" in step) != ("uses" in step) for step in job["steps"])
