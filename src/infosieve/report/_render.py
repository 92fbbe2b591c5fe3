"""From a dict to a page, or to what a notebook shows."""

import os
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from infosieve._core.files import write_atomically
from infosieve.report._data import GROUPS
from infosieve.report._summarize import summarize


@lru_cache(maxsize=1)
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("infosieve.report"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def page(result: Any, curves: Any = None, clusters: Any = None) -> str:
    """The whole report: one file that needs nothing else."""
    from plotly.offline import get_plotlyjs

    summary = summarize(result, curves, clusters)
    shown = [figure for section in summary["sections"] for figure in section["figures"]]
    template = _templates().get_template("report.html")
    return template.render(page=summary, figures=shown, groups=GROUPS, plotly=get_plotlyjs())


def fragment(result: Any) -> str:
    """What a notebook shows: the words and the table."""
    return _templates().get_template("fragment.html").render(page=summarize(result))


def write(
    result: Any, path: str | os.PathLike[str], curves: Any = None, clusters: Any = None
) -> None:
    """Write the report to a file, whole or not at all."""
    write_atomically(path, page(result, curves, clusters))
