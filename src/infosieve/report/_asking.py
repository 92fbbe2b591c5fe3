"""How to ask what was not asked: calls and commands that know what the data are."""

import shlex
from collections.abc import Mapping
from typing import Any

from infosieve.results import Provenance, SelectionResult

# Options that say what the data are.
_OF_DATA: tuple[str, ...] = ("file", "target", "features", "exclude", "categorical", "missing")
_OF_DATA += ("groups", "series", "series_window", "delimiter", "decimal", "encoding", "sheet")
_OF_DATA += ("dates",)
# Parameters that a cross-validated stop does not go with, and what they are without it.
_NOT_WITH_CV = {"n_features_to_select": None, "search": "forward"}


def everything(result: SelectionResult) -> str:
    """How to ask all questions but what predicts."""
    known = result.provenance
    if not known.options:
        data = f"X, y, selector.set_params(random_state={known.seed}){_groups(known)}"
        return f'from infosieve import examine; examine({data}).report("report.html")'
    more: dict[str, Any] = {"full": True}
    if known.options.get("json") and not known.options.get("html"):
        more |= {"json": False, "html": "report.html"}  # one document has no room for all answers
    return _command({**known.options, **more})


def alternatives(result: SelectionResult) -> str:
    """How to ask for what could stand in."""
    known = result.provenance
    if known.options:
        return _command({**known.options, "alternatives": True})
    return f'selector.alternatives(X, y{_groups(known)}); selector.result_.report("report.html")'


def tests(result: SelectionResult) -> str:
    """How to ask which columns that a model wants are certain."""
    known = result.provenance
    if known.options:
        return _command({**known.options, "test": True})
    return _fitted_again(known, "report.html", {"test": True})


def prediction(result: SelectionResult) -> str:
    """How to ask how many columns predict best."""
    known = result.provenance
    if known.options:
        data = {name: value for name, value in known.options.items() if name in _OF_DATA}
        return _command(data | {"stop": "cv", "seed": known.seed, "html": "predict.html"})
    others = {k: v for k, v in _NOT_WITH_CV.items() if known.parameters.get(k, v) != v}
    return _fitted_again(known, "predict.html", {"stop": "cv", **others})


def given(known: Provenance, name: str) -> list[str]:
    """The values of an option of the command that gave a result; none without a command."""
    value = known.options.get(name, [])
    return list(map(str, value)) if isinstance(value, (list, tuple)) else [str(value)]


def _groups(known: Provenance) -> str:
    return ", groups=groups" if known.parameters.get("groups") is not None else ""


def _fitted_again(known: Provenance, page: str, asked: Mapping[str, Any]) -> str:
    """The call that fits the selector again, asked for something else."""
    settings = ", ".join(f"{k}={v!r}" for k, v in {**asked, "random_state": known.seed}.items())
    fit = f"selector.set_params({settings}).fit(X, y{_groups(known)})"
    return f'{fit}.result_.report("{page}")'


def _command(options: Mapping[str, Any]) -> str:
    """A command line, as a shell reads it; without a file there is none."""
    file = str(options.get("file", ""))
    words, last = ["infosieve", "select", file], list[str]()
    if file.startswith("-") and file != "-":
        words, last = words[:-1], ["--", file]
    for option, value in options.items():
        flag = f"--{option.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif option != "file" and value is not False:
            several = value if isinstance(value, (list, tuple)) else [value]
            words += [word for one in several for word in (flag, str(one))]
    return shlex.join([*words, *last]) if file else ""
