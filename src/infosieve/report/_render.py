"""From a dict to a page, or to what a notebook shows."""

import os
import re
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from infosieve._core.files import write_atomically
from infosieve.report._data import GROUPS
from infosieve.report._relevance import relevance_notes
from infosieve.report._stability import stability_notes
from infosieve.report._summarize import summarize
from infosieve.report._words import cluster_notes, selection_notes, test_notes

_NOTES: dict[str, Any] = {
    "ClusterResult": cluster_notes,
    "PermutationTest": test_notes,
    "RelevanceTest": relevance_notes,
    "SelectionResult": selection_notes,
    "Stability": stability_notes,
}
# Where a name may be broken: after _ / | \\ =, after - and . between letters, before a capital.
_JOINTS = re.compile(
    r"(?<=\w[_/|\\=])(?=\w)|(?<=[a-zA-Z][-.:])(?=[a-zA-Z])|(?<=[a-z])(?=[A-Z][a-z])"
)


@lru_cache(maxsize=1)
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("infosieve.report"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = _breakable
    return environment


def page(result: Any, **beside: Any) -> str:
    """The whole report: one file that needs nothing else. ``beside``: as ``summarize`` has it."""
    from plotly.offline import get_plotlyjs

    summary = summarize(result, **beside)
    shown = [figure for section in summary["sections"] for figure in section["figures"]]
    template = _templates().get_template("report.html")
    return template.render(page=summary, figures=shown, groups=GROUPS, plotly=get_plotlyjs())


def fragment(result: Any) -> str:
    """What a notebook shows: the words and the table."""
    return _templates().get_template("fragment.html").render(page=summarize(result))


def notes(result: Any) -> tuple[str, ...]:
    """What a reader should know of a result, a sentence each."""
    return tuple(_NOTES[type(result).__name__](result))


def write(result: Any, path: str | os.PathLike[str], **beside: Any) -> None:
    """Write the report to a file, whole or not at all."""
    write_atomically(path, page(result, **beside))


def _breakable(text: Any) -> Markup:
    """Text whose names are broken at their joints; only what is longer than a line, elsewhere."""
    return Markup("<wbr>").join(_JOINTS.split(str(text)))
