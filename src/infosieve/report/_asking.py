"""How to ask what was not asked: calls and commands that know what the data are.

They carry over what says which columns are categories, which rows belong together, what becomes of
gaps and how a file is read; not how the search was made, unless the same search is asked for more.
"""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from infosieve.results import SelectionResult

# Options that say what the data are.
_OF_DATA: tuple[str, ...] = ("file", "target", "features", "exclude", "categorical", "missing")
_OF_DATA += ("groups", "series", "series_window", "delimiter", "decimal", "encoding", "sheet")
_OF_DATA += ("dates",)
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


def alternatives(result: SelectionResult) -> str:
    """How to ask for what could stand in."""
    if result.provenance.options:
        return _again(result.provenance, alternatives=True)
    data = ", ".join(["X", "y", *_groups(result.provenance)])
    return f'selector.alternatives({data}); selector.result_.report("report.html")'


def tests(result: SelectionResult) -> str:
    """How to ask which columns that a model wants are certain."""
    known = result.provenance
    if known.options:
        return _again(known, test=True)
    data = ", ".join(["X", "y", *_groups(known)])
    return (
        f"selector.set_params(test=True, random_state={known.seed}).fit({data}).result_"
        '.report("report.html")'
    )


def relevance(result: SelectionResult) -> str:
    """How to ask which columns are informative by themselves."""
    known = result.provenance
    if known.options:
        if is_series(known):  # which has no halves, and so no --full
            return _of_the_same(known, "relevance-test", html="relevance.html")
        return _full(known)
    call = f"relevance_test({', '.join(['X', 'y', *_groups(known), *_of_data(known)])})"
    report = f'selector.result_.report("report.html", relevance={call})'
    return f"from infosieve import relevance_test; {report}"


def stability(result: SelectionResult) -> str:
    """How to ask what halves of the samples choose; a selector knows the rest."""
    known = result.provenance
    if known.options:
        return _full(known)
    call = f"stability({', '.join(['selector', 'X', 'y', *_groups(known)])})"
    report = f'selector.result_.report("report.html", stability={call})'
    return f"from infosieve import stability; {report}"


def prediction(result: SelectionResult) -> str:
    """How to ask how many columns predict best."""
    known = result.provenance
    if known.options:
        more = {"stop": "cv", "seed": known.seed, "html": "predict.html"}
        return _of_the_same(known, "select", **more)
    settings = ", ".join(['stop="cv"', *_of_data(known), f"random_state={known.seed}"])
    fit = f"fit({', '.join(['X', 'y', *_groups(known)])})"
    call = f'MISelector({settings}).{fit}.result_.report("predict.html")'
    return f"from infosieve import MISelector; {call}"


def clusters(result: SelectionResult) -> str:
    """How to ask which columns are redundant; empty where all are categories."""
    known = result.provenance
    if known.options:
        if known.options.get("full") or is_series(known) or len(result.features) > CLUSTERED:
            return _clusters(known)
        return _full(known)
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


def _declared(result: SelectionResult) -> list[Any]:
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
    value = known.options.get(name, [])
    return list(map(str, value)) if isinstance(value, (list, tuple)) else [str(value)]


def _command(name: str, options: Mapping[str, Any]) -> str:
    """A command line, as a shell reads it; without a file there is none."""
    file = str(options.get("file", ""))
    words, last = ["infosieve", name, file], list[str]()
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


def _again(known: Any, **more: Any) -> str:
    """The same command with more options."""
    return _command("select", known.options | more)


def _full(known: Any) -> str:
    """The same command, with all questions: one document has no room for them, a page has."""
    more: dict[str, Any] = {"full": True}
    if known.options.get("json") and not known.options.get("html"):
        more |= {"json": False, "html": "report.html"}
    return _again(known, **more)


def _of_the_same(known: Any, name: str, *but: str, **more: Any) -> str:
    """Another command about the same data."""
    data = {one: value for one, value in known.options.items() if one in _OF_DATA}
    return _command(name, {one: data[one] for one in data if one not in but} | more)


def _clusters(known: Any) -> str:
    """Clusters of the same columns, on a page of their own; a gap is no value of its own there."""
    own = ("missing",) if known.options.get("missing") == "value" else ()
    more = REDUNDANT | {"html": "clusters.html"}
    return _of_the_same(known, "cluster", "series", "series_window", *own, **more)
