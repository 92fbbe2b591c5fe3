"""Golden records: facts of small cases with every setting spelled out (see record.py)."""

import inspect
import shutil

import pytest
from cases import CASES, COMPLETE, facts
from facts import record_of
from record import changes, kept

pytestmark = [
    pytest.mark.filterwarnings("ignore:Port .* is already in use"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
# What a case passes by itself.
PASSED = {"X", "y", "candidates", "selector", "self"}


@pytest.mark.parametrize("name", CASES)
def test_the_facts_are_those_on_record(name):
    if name == "gpu" and shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    lines = changes(kept().get(name), record_of(facts(name)))
    assert not lines, "\n".join(
        [f"the facts of the case {name!r} have changed", *lines,
         "If that is meant: python tests/golden/record.py --write, and the reason in CHANGELOG."]
    )  # fmt: skip


def test_each_record_has_a_case():
    assert list(kept()) == list(CASES)


@pytest.mark.parametrize(
    ("function", "settings"), COMPLETE, ids=lambda one: getattr(one, "__name__", "")
)
def test_cases_spell_out_every_setting(function, settings):
    """Else a record would change with a default."""
    assert set(inspect.signature(function).parameters) - PASSED == set(settings)
