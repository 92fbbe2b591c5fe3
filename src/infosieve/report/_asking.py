"""How to ask what was not asked: calls and commands that know what the data are.

They carry over what says which columns are categories, which rows belong together, what becomes of
gaps and how a file is read; not how the search was made, unless the same search is asked for more.
"""

import shlex
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

# Options that say what the data are, and have a value; those of any command without a value.
_OF_DATA: tuple[str, ...] = ("target", "features", "exclude", "categorical", "missing", "groups")
_OF_DATA += ("series-window", "delimiter", "decimal", "encoding", "sheet", "dates", "config")
_FLAGS = ("alternatives", "full", "json", "quiet", "series", "test")
# Values of parameters that are longer are not written out.
_LONG = 60
# Clusters of columns about classes: no number can be chosen by regression.
_THRESHOLD = 0.5
# Clusters have gaps as medians: a value of their own is nothing that can be asked for.
_NOT_OF_CLUSTERS = (("--missing", "value"), ("--missing=value",))


def alternatives(result: Any) -> str:
    """How to ask for what could stand in."""
    if result.provenance.command:
        return f"{result.provenance.command} --alternatives"
    return '_ = selector.alternatives_; selector.result_.report("report.html")'


def tests(result: Any) -> str:
    """How to ask which columns that a model wants are certain."""
    known = result.provenance
    if known.command:
        return f"{known.command} --test"
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
    known, classes = result.provenance, _has_classes(result)
    if known.command:
        return _commands_for_clusters(known, classes)
    declared = _declared(result)
    if len(declared) == len(result.features):
        return ""
    settings = [f"n_clusters=None, similarity_threshold={_THRESHOLD}"] if classes else []
    settings += _of_clusters(known)
    columns, target = "X", "y"
    if any(isinstance(name, str) for name in result.features):
        columns = 'X.select_dtypes("number")'
    elif declared:
        columns = "pd.DataFrame(X)"
    if declared:
        columns += f'.drop(columns={_literal(declared)}, errors="ignore")'
    if known.parameters.get("discrete_target") is True:
        target = 'pd.Series(y, dtype="category")'
    pandas = "import pandas as pd; " if "pd." in columns + target else ""
    fit = f"fit({', '.join([columns, target, *_groups(known)])})"
    call = f"FeatureClustering({', '.join(settings)}).{fit}.result_"
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


def _of_clusters(known: Any) -> Iterator[str]:
    """The same, as far as clusters know them: gaps have no value of their own there."""
    missing = known.parameters.get("missing", "auto")
    if missing not in ("auto", "value"):
        yield f"missing={missing!r}"
    if is_series(known):
        yield "series=True"


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


def _has_classes(result: Any) -> bool:
    """Whether a target is of categories: an excerpt has their texts."""
    values = [value for some in result.excerpt.target.values() for value in some]
    return any(isinstance(value, str) for value in values)


# --- on the command line


def given(known: Any, name: str) -> list[str]:
    """The values of an option of the command that gave a result; none without a command."""
    units = _read(known.command) if known.command else []
    return [words[-1].removeprefix(f"--{name}=") for one, words in units if one == name]


Unit = tuple[str, tuple[str, ...]]


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
    units: list[Unit] = []
    rest = iter(words[2:])
    for word in rest:
        name = word.removeprefix("--")
        if name == word:
            units.append(("", (word,)))
        elif "=" in name or name in _FLAGS:
            units.append((name.partition("=")[0], (word,)))
        else:
            units.append((name, (word, next(rest, ""))))
    return units


def _written(command: str, units: Iterable[Unit], *more: str) -> str:
    words = [word for _, some in units for word in some]
    return shlex.join(["infosieve", command, *words, *more])


def _full(command: str) -> str:
    """The same command, with all questions: one document has no room for them, a page has."""
    units = _read(command)
    names = [name for name, _ in units]
    if "full" in names:  # it was asked, and broken off
        return command
    if "json" not in names or "html" in names:
        return f"{command} --full"
    kept = [unit for unit in units if unit[0] != "json"]
    return _written("select", kept, "--full", "--html", "report.html")


def _command(command: str, name: str, *more: str) -> str:
    """Another command about the same data."""
    kept = [unit for unit in _read(command) if unit[0] in ("", "series", *_OF_DATA)]
    return _written(name, kept, *more) if kept else ""


def _commands_for_clusters(known: Any, classes: bool) -> str:
    """The selection and the clusters as documents, and the page of both."""
    units = _read(known.command)
    if not units:
        return ""
    kept = [unit for unit in units if unit[0] not in ("full", "json", "html", "out")]
    pages = [words[-1].removeprefix("--html=") for name, words in units if name == "html"]
    asked = {name for name, _ in units}
    stand_ins = ["--alternatives"] if "full" in asked and "alternatives" not in asked else []
    selection = _written("select", kept, *stand_ins, "--json")
    of_data = [unit for unit in kept if unit[0] in ("", "series", *_OF_DATA)]
    of_data = [unit for unit in of_data if unit[1] not in _NOT_OF_CLUSTERS]
    more = ["--similarity-threshold", f"{_THRESHOLD}"] if classes else []
    more += ["--series"] if any(name == "series-window" for name, _ in of_data) else []
    of_data = [unit for unit in of_data if unit[0] != "series-window"]
    clusters = _written("cluster", of_data, *more, "--seed", str(known.seed), "--json")
    if "full" in asked:  # whose page has answers that this one has not
        pages = ["clusters.html"]
    page = shlex.join(["--html", *(pages or ["report.html"])])
    return (
        f"{selection} > selection.json && {clusters} > clusters.json && "
        f"infosieve report selection.json clusters.json {page}"
    )
