"""The README is short, and what it names is there. Its code runs in test_docs.py."""

import re
from pathlib import Path

import pytest
from typer import Context
from typer.main import get_command

import infosieve
from infosieve.cli import app

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_short():
    assert len(TEXT.splitlines()) <= 150


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)", TEXT))))
def test_links_lead_somewhere(target):
    assert target.startswith("https://doi.org/") or (ROOT / target).exists()


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\((docs/[^)]+#[^)]+)", TEXT))))
def test_links_lead_to_headings(target):
    page, _, anchor = target.partition("#")
    heads = re.findall(r"^#+ (.*)$", (ROOT / page).read_text(encoding="utf-8"), re.M)
    slugs = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
    assert anchor in slugs


def test_calls_exist():
    """Every call of the table of questions, and every name in it."""
    questions = TEXT[TEXT.index("| question |") : TEXT.index("Certain is not")]
    names = set(re.findall(r"`([A-Za-z_]+)(?:\(|`)", questions))
    assert {"MISelector", "relevance_test", "stability", "FeatureClustering"} <= names
    assert names <= {*infosieve.__all__, "infosieve"}
    parameters = set(re.findall(r"[(,] ?([a-z_]+)=", questions))
    assert "stop" in parameters
    known = infosieve.MISelector().get_params() | infosieve.FeatureClustering().get_params()
    assert parameters <= set(known)


COMMANDS = get_command(app).commands


def test_options_exist():
    options = set(re.findall(r"(?<![-|])--[a-z][a-z-]+", TEXT))
    assert "--alternatives" in options
    every = (p for c in COMMANDS.values() for p in c.get_params(Context(c)))
    assert options <= {word for p in every for word in p.opts}


def test_commands_exist():
    named = set(re.findall(r"`infosieve ([a-z-]+)", TEXT))
    assert {"select", "relevance-test", "stability"} <= named
    assert named <= set(COMMANDS)
