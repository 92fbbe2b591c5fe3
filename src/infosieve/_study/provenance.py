"""Where a result comes from: its data, settings and versions, and the call that repeats it."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from infosieve._core.model_text import PAIRS, described, import_lines, imports_of, portable, written
from infosieve._core.provenance import Excerpt, Provenance, versions
from infosieve._core.settings import OF_NO_MATTER
from infosieve._input.problem import Problem
from infosieve._input.tables import fingerprint

# Samples of an excerpt, at most.
EXCERPT = 1000


def provenance_of(
    problem: Problem, seed: int, parameters: Mapping[str, Any], call: Callable[..., Any]
) -> Provenance:
    """Where a result comes from; ``call`` is the public function or estimator that was called."""
    groups = problem.together.groups
    known = dict(parameters)
    if groups is not None:  # how many, instead of one for each sample
        known["groups"] = int(groups.max()) + 1
    code = _code(call, known, seed)
    known = {name: plain_parameter(value) for name, value in known.items()}
    return Provenance(
        data=fingerprint(*problem.tables, groups=groups),
        n_samples=problem.n_samples,
        seed=seed,
        parameters=known,
        versions=dict(versions()),
        code=code,
        n_left_out=problem.n_left_out,
        by_changes=problem.by_changes,
        by_order=tuple(str(problem.x.names[j]) for j in sorted(problem.by_order)),
    )


def _code(call: Callable[..., Any], parameters: Mapping[str, Any], seed: int) -> str:
    """The call that gives the result again, with what differs from the defaults.

    Groups are a value for each sample: they are named, as X and y are.
    """
    known, changed = inspect.signature(call).parameters, []
    for name, value in parameters.items():
        if name in OF_NO_MATTER or name == "groups" or name not in known:
            continue
        default = known[name].default
        if value is not default and (text := _written(value)) != repr(default):
            changed.append(f"{name}={text}")
    data = ["X", "y", *(["groups=groups"] if parameters.get("groups") is not None else [])]
    fitted = isinstance(call, type)
    arguments = [*([] if fitted else data), *changed, f"random_state={seed}"]
    name, method = call.__name__, f".fit({', '.join(data)})" if fitted else ""
    homes = {"infosieve": {name}}
    for value in parameters.values():
        if _is_object(value):
            homes = imports_of(value, homes)
    lines, rest = import_lines(homes), [one.partition("=")[0] for one in changed if "..." in one]
    if rest:
        lines += (
            f"\n# ... stands for what cannot be written: put in what was passed ({', '.join(rest)})"
        )
    return f"{lines}\n\n{name}({', '.join(arguments)}){method}"


def _is_object(value: Any) -> bool:
    """Whether a parameter is a model, a splitter or the like, or a function."""
    return callable(value) or hasattr(value, "get_params") or hasattr(value, "get_n_splits")


def plain_parameter(value: Any) -> Any:
    """A parameter as records keep it: objects by name and parameters, or by name."""
    if not _is_object(value):
        return value
    return described(value) if hasattr(value, "get_params") else portable(value)


def _written(value: Any) -> str:
    """A parameter as Python reads it again: arrays and indexes as lists."""
    if _is_object(value):
        return written(value)
    if isinstance(value, str) and value == PAIRS:
        return "..."
    if isinstance(value, (np.ndarray, np.generic, pd.Index, pd.Series)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        items = [_written(item) for item in value]
        if isinstance(value, list):
            return f"[{', '.join(items)}]"
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    return repr(value)


def excerpt_of(problem: Problem, selected: list[int]) -> Excerpt:
    """Some samples of the selected columns and the targets."""
    x, y = problem.x, problem.y
    n = x.n_samples
    rows = np.unique(np.linspace(0, n - 1, min(n, EXCERPT)).round().astype(np.int64))
    at = problem.as_passed[rows]
    names = y.names if y.named else ["y"] if y.n_columns == 1 else [f"y{j}" for j in y.names]
    return Excerpt(
        rows=rows,
        features={j: _shown_values(x, j, at) for j in selected},
        target={name: _shown_values(y, j, at) for j, name in enumerate(names)},
    )


def _shown_values(table: Any, j: int, rows: Any) -> list[Any]:
    """Numbers, or the texts of categories."""
    values = table.column(j)[rows].tolist()
    if table.categorical[j]:
        return ["(missing)" if v is None else str(v) for v in values]
    return [None if v != v else v for v in values]
