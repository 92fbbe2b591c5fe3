"""How to ask what was not asked: calls and commands that know what the data are.

They carry over what says which columns are categories, which rows belong together, what becomes of
gaps and how a file is read; not how the search was made, unless the same search is asked for more.
"""

import shlex
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from infosieve._core.command_line import Unit, units_of, with_options

# Options that say what the data are, and have a value.
_OF_DATA: tuple[str, ...] = ("target", "features", "exclude", "categorical", "missing", "groups")
_OF_DATA += ("series-window", "delimiter", "decimal", "encoding", "sheet", "dates", "config")
# Values of parameters that are longer are not written out.
_LONG = 60
# Columns are redundant whose ranks share about half of their variance, whatever the target.
REDUNDANT: dict[str, Any] = {
    "similarity": "unsupervised",
    "correlation": "spearman",
    "linkage": "complete",
    "similarity_threshold": 0.7,
}
# Of more columns, --full does not ask.
CLUSTERED = 2000
# Clusters have gaps as medians: a value of their own is nothing that can be asked for.
_NOT_OF_CLUSTERS = (("--missing", "value"), ("--missing=value",))


def alternatives(result: Any) -> str:
    """How to ask for what could stand in."""
    if result.provenance.command:
        return _and(result.provenance.command, "--alternatives")
    data = ", ".join(["X", "y", *_groups(result.provenance)])
    return f'selector.alternatives({data}); selector.result_.report("report.html")'


def tests(result: Any) -> str:
    """How to ask which columns that a model wants are certain."""
    known = result.provenance
    if known.command:
        return _and(known.command, "--test")
    data = ", ".join(["X", "y", *_groups(known)])
    return (
        f"selector.set_params(test=True, random_state={known.seed}).fit({data}).result_"
        '.report("report.html")'
    )


def relevance(result: Any) -> str:
    """How to ask which columns are informative by themselves."""
    known = result.provenance
    if known.command:
        if is_series(known):  # which has no halves, and so no --full
            return _command(known.command, "relevance", "--html", "relevance.html")
        return _full(known.command)
    call = f"relevance_test({', '.join(['X', 'y', *_groups(known), *_of_data(known)])})"
    report = f'selector.result_.report("report.html", relevance={call})'
    return f"from infosieve import relevance_test; {report}"


def stability(result: Any) -> str:
    """How to ask what halves of the samples choose; a selector knows the rest."""
    known = result.provenance
    if known.command:
        return _full(known.command)
    call = f"stability({', '.join(['selector', 'X', 'y', *_groups(known)])})"
    report = f'selector.result_.report("report.html", stability={call})'
    return f"from infosieve import stability; {report}"


def prediction(result: Any) -> str:
    """How to ask how many columns predict best."""
    known = result.provenance
    if known.command:
        more = ("--stop", "cv", "--seed", str(known.seed), "--html", "predict.html")
        return _command(known.command, "select", *more)
    settings = ", ".join(['stop="cv"', *_of_data(known), f"random_state={known.seed}"])
    fit = f"fit({', '.join(['X', 'y', *_groups(known)])})"
    call = f'MISelector({settings}).{fit}.result_.report("predict.html")'
    return f"from infosieve import MISelector; {call}"


def clusters(result: Any) -> str:
    """How to ask which columns are redundant; empty where all are categories."""
    known = result.provenance
    if known.command:
        full = "full" in (name for name, _ in _read(known.command))
        if full or is_series(known) or len(result.features) > CLUSTERED:
            return _command_for_clusters(known.command)
        return _full(known.command)
    declared = _declared(result)
    if len(declared) == len(result.features):
        return ""
    settings = [f"{name}={value!r}" for name, value in {"n_clusters": None, **REDUNDANT}.items()]
    settings += _gaps_of_clusters(known)
    columns = "X"
    if any(isinstance(name, str) for name in result.features):
        columns = 'X.select_dtypes("number")'
    elif declared:
        columns = "pd.DataFrame(X)"
    if declared:
        columns += f'.drop(columns={_literal(declared)}, errors="ignore")'
    pandas = "import pandas as pd; " if "pd." in columns else ""
    call = f"FeatureClustering({', '.join(settings)}).fit({columns}).result_"
    report = f'selector.result_.report("report.html", clusters={call})'
    return f"{pandas}from infosieve import FeatureClustering; {report}"


# --- in Python


def _groups(known: Any) -> list[str]:
    return ["groups=groups"] if known.parameters.get("groups") is not None else []


def is_series(known: Any) -> bool:
    return known.parameters.get("series", False) is not False


def _of_data(known: Any) -> Iterator[str]:
    """Parameters that say what the data are, where they are not the defaults."""
    defaults = {"discrete_features": "auto", "discrete_target": "auto", "missing": "auto"}
    for name, default in {**defaults, "series": False}.items():
        value = known.parameters.get(name, default)
        if value is None or _literal(value) == repr(default):
            continue
        text = _literal(value)
        yield f"{name}={text if len(text) <= _LONG else f'selector.{name}'}"


def _gaps_of_clusters(known: Any) -> Iterator[str]:
    """What becomes of gaps, as far as clusters know it: a value of its own is nothing there."""
    missing = known.parameters.get("missing", "auto")
    if missing not in ("auto", "value"):
        yield f"missing={missing!r}"


def _literal(value: Any) -> str:
    """A value as Python reads it."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return repr(list(value)) if isinstance(value, (list, tuple)) else repr(value)


def _declared(result: Any) -> list[Any]:
    """The names of columns that were declared categories."""
    value = result.provenance.parameters.get("discrete_features", "auto")
    value = value.tolist() if hasattr(value, "tolist") else value
    names = list(result.features)
    if isinstance(value, (bool, np.bool_)):
        return names if value else []
    if value is None or isinstance(value, str):
        return []
    if not isinstance(value, (list, tuple)):  # in a record that somebody wrote
        return []
    if value and all(isinstance(item, (bool, np.bool_)) for item in value):
        return [name for name, yes in zip(names, value, strict=False) if yes]
    places = range(-len(names), len(names))
    whole = [item for item in value if isinstance(item, (int, np.integer)) and item in places]
    named = [item for item in value if isinstance(item, str) and item in names]
    return named + [names[item] for item in whole]


# --- on the command line


def given(known: Any, name: str) -> list[str]:
    """The values of an option of the command that gave a result; none without a command."""
    units = _read(known.command) if known.command else []
    return [
        words[1] if words[1:] else words[0].partition("=")[2] for one, words in units if one == name
    ]


def _read(command: str) -> list[Unit]:
    """The name of each option of a selection, and its words; that of the file is empty.

    Empty where a record has something else for a command.
    """
    try:
        words = shlex.split(command)
    except ValueError:  # a quote without an end, in a record that somebody wrote
        return []
    if words[:2] != ["infosieve", "select"]:
        return []
    return list(units_of(words[2:]))


def _and(command: str, *more: str) -> str:
    """The same command with more options."""
    units = _read(command)
    if not units or units[-1][1][0] != "--":
        return " ".join([command, *more])
    return shlex.join(with_options(shlex.split(command), *more))


def _written(command: str, units: Iterable[Unit], *more: str) -> str:
    words = [word for _, some in units for word in some]
    return shlex.join(["infosieve", command, *with_options(words, *more)])


def _full(command: str) -> str:
    """The same command, with all questions: one document has no room for them, a page has."""
    units = _read(command)
    names = [name for name, _ in units]
    if "full" in names:  # it was asked, and broken off
        return command
    if "json" not in names or "html" in names:
        return _and(command, "--full")
    kept = [unit for unit in units if unit[0] != "json"]
    return _written("select", kept, "--full", "--html", "report.html")


def _command(command: str, name: str, *more: str) -> str:
    """Another command about the same data."""
    kept = [unit for unit in _read(command) if unit[0] in ("", "series", *_OF_DATA)]
    return _written(name, kept, *more) if kept else ""


def _command_for_clusters(command: str) -> str:
    """Clusters of the same columns, on a page of their own."""
    units = [unit for unit in _read(command) if unit[0] in ("", *_OF_DATA)]
    kept = [
        unit for unit in units if unit[0] != "series-window" and unit[1] not in _NOT_OF_CLUSTERS
    ]
    more = list[str]()
    for name, value in REDUNDANT.items():
        more += [f"--{name.replace('_', '-')}", str(value)]
    return _written("cluster", kept, *more, "--html", "clusters.html") if kept else ""
