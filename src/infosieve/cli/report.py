"""``infosieve report``: the page of results that were kept."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from infosieve.cli.errors import InputError
from infosieve.cli.options import DEBUG

_FILES = (
    "what --json wrote; - is standard input. After a selection, the relevance test, the stability "
    "and the clusters of the same table become sections of its page"
)
# What can be shown beside a selection: by its schema, what a report calls it.
_BESIDE = {"relevance-test": "relevance", "stability": "stability", "clusters": "clusters"}


def report(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help=_FILES)],
    html: Annotated[str, typer.Option(help="the page to write")] = "report.html",
    debug: Annotated[bool, DEBUG] = False,
) -> None:
    """Write the HTML report of a result that was kept as JSON, with others beside it."""
    from infosieve.cli.places import check, write_page

    for file in files:
        check({"FILE": file, "--html": html})
    if files.count("-") > 1:
        raise InputError("standard input (-) can be read once: name files for the others")
    first, *others = map(_read_result, files)
    beside = {_BESIDE.get(other._schema, other._schema): other for other in others}
    if others and (first._schema != "selection" or not {*beside} <= {*_BESIDE.values()}):
        raise InputError(
            "only a selection has others beside it, and these are: name the selection first, then "
            f"any of {', '.join(_BESIDE)}; got {', '.join(one._schema for one in (first, *others))}"
        )
    if len(beside) < len(others):
        raise InputError("two documents are of one kind: name one of them")
    write_page(first, html, **beside)


def _read_result(path: str) -> Any:
    """A result that was kept as JSON."""
    from infosieve import results

    name = "standard input" if path == "-" else path
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{name} is no text, but --json writes text") from None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    schema = document.get("schema") if isinstance(document, dict) else None
    for kind in (getattr(results, name) for name in results.__all__):
        if schema == f"infosieve/{getattr(kind, '_schema', None)}":
            try:
                return kind.from_json(text)
            except ValueError as error:
                raise InputError(f"{name}: {error}") from None
    raise InputError(f"{name} is no result of infosieve; write one with --json")
