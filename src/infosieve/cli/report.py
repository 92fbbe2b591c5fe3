"""``infosieve report``: the page of a result that was kept."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from infosieve.cli.errors import InputError


def report(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="what --json wrote; - is standard input")
    ],
    html: Annotated[str, typer.Option(help="the page to write")] = "report.html",
) -> None:
    """Write the HTML report of a result that was kept as JSON."""
    from infosieve.cli.places import check, write_page

    check({"FILE": file, "--html": html})
    write_page(_read_result(file), html)


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
