"""Each parameter stands once: its rule, its help and its option derive from there."""

import inspect
import pickle

import numpy as np
import pytest

import infosieve
from infosieve._core.dialect import PYTHON, Dialect, mention, parameter, row, setting, speaking
from infosieve._core.rules import ParameterError, ParameterTypeError
from infosieve._core.settings import (
    OF_NO_MATTER,
    ChoiceSettings,
    ClusteringSettings,
    InformationSettings,
    RelevanceSettings,
    SelectorSettings,
    Settings,
    StabilitySettings,
    TestSettings,
)

DOORS = {
    infosieve.mutual_information: InformationSettings,
    infosieve.relevance: InformationSettings,
    infosieve.choose_k: ChoiceSettings,
    infosieve.permutation_test: TestSettings,
    infosieve.relevance_test: RelevanceSettings,
    infosieve.MISelector: SelectorSettings,
    infosieve.FeatureClustering: ClusteringSettings,
    infosieve.stability: StabilitySettings,
}
# What is asked about, which no rule of a parameter judges.
DATA = {"X", "y", "candidates", "selector"}
WRONG = object()


def parameters(door):
    return {
        name: one.default
        for name, one in inspect.signature(door).parameters.items()
        if name not in DATA and one.kind is not one.VAR_KEYWORD
    }


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_every_parameter_has_its_settings_and_a_default_that_obeys_them(door):
    known = DOORS[door].parameters()
    asked = parameters(door)
    assert asked.keys() - known.keys() <= {"given"}  # names of columns
    settings = DOORS[door].of(asked)
    for name in asked.keys() & known.keys():
        assert getattr(settings, name) is asked[name]
        known[name].rule.check(name, asked[name])
    assert dict(settings.asked) == asked


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_a_wrong_value_is_refused_by_name_before_work_begins(door):
    known = DOORS[door].parameters()
    for name in parameters(door).keys() & known.keys():
        if known[name].rule.accepts(WRONG):  # whoever uses it looks at it
            continue
        with pytest.raises((ParameterError, ParameterTypeError)) as caught:
            DOORS[door].of({name: WRONG})
        error = caught.value
        assert (error.parameter, error.rule) == (name, known[name].rule.text)
        assert str(error).startswith(f"The {name!r} parameter must be {error.rule}. Got ")


def test_errors_name_the_option_where_the_command_speaks():
    with speaking(Dialect({"random_state": "--seed"})), pytest.raises(ValueError) as caught:
        Settings.of({"random_state": -1})
    assert str(caught.value).startswith("--seed must be a whole number of at least 0. Got -1")
    assert caught.value.value == "-1"


@pytest.mark.parametrize(
    ("name", "value", "python", "command"),
    [
        ("n_permutations", "auto", "n_permutations='auto'", "--n-permutations auto"),
        ("n_neighbors", (3, 15), "n_neighbors=(3, 15)", "--n-neighbors 3,15"),
        ("screen", None, "screen=None", "--screen none"),
        ("test", True, "test=True", "--test"),
        ("test", False, "test=False", "no --test"),
    ],
)
def test_a_setting_in_both_dialects(name, value, python, command):
    assert setting(name, value) == python
    with speaking(Dialect({})):
        assert setting(name, value) == command


def test_the_dialect_ends_with_its_block():
    with speaking(Dialect({"n_jobs": "--jobs"})):
        assert (parameter("n_jobs"), mention("n_jobs"), row(0)) == ("--jobs", "--jobs", "row 1")
        with speaking(PYTHON):
            assert row(0) == "row 0"
        assert row(0) == "row 1"
    assert (parameter("n_jobs"), mention("n_jobs")) == ("The 'n_jobs' parameter", "'n_jobs'")


@pytest.mark.parametrize(("name", "value"), [("alpha", 2), ("model", 3)])
def test_an_error_that_crosses_processes_keeps_its_facts(name, value):
    with pytest.raises((ValueError, TypeError)) as caught:
        SelectorSettings.of({name: value, "stop": "cv"})
    error = pickle.loads(pickle.dumps(caught.value))
    assert type(error) is type(caught.value)
    assert str(error) == str(caught.value)
    assert (error.parameter, error.value) == (name, repr(value))


def test_values_of_numpy_are_those_of_python():
    SelectorSettings.of({"lookahead": np.int64(1), "alpha": np.float64(0.1), "test": np.False_})


def test_settings_cannot_be_changed():
    settings = SelectorSettings.of({"alpha": 0.1})
    with pytest.raises(AttributeError):
        settings.alpha = 0.2
    with pytest.raises(TypeError):
        settings.asked["alpha"] = 0.2


def test_what_does_not_matter():
    assert {
        "checkpoint", "device", "executor", "n_jobs", "random_state", "verbose"
    } == OF_NO_MATTER  # fmt: skip
