"""``infosieve demo``: data where the answer is known."""

from enum import StrEnum
from typing import Annotated

import typer

from infosieve.cli.options import DEBUG


class Example(StrEnum):
    """Data of the demo."""

    friedman = "friedman"
    tecator = "tecator"


def demo(
    data: Annotated[Example | None, typer.Argument(help="one of them; default: both")] = None,
    html: Annotated[str, typer.Option(help="the page to write")] = "infosieve-demo.html",
    debug: Annotated[bool, DEBUG] = False,
) -> None:
    """Select where the answer is known, and write a report."""
    from infosieve.cli.places import check

    check({"--html": html})
    from infosieve.cli.examples import run

    run([data.value] if data else [e.value for e in Example], html)
