"""``infosieve report``: the page of a result that was kept."""

from typing import Annotated

import typer


def report(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="what --json wrote; - is standard input")
    ],
    html: Annotated[str, typer.Option(help="the page to write")] = "report.html",
) -> None:
    """Write the HTML report of a result that was kept as JSON."""
    from infosieve.cli.places import check, write_page
    from infosieve.cli.tables import read_result

    check({"FILE": file, "--html": html})
    write_page(read_result(file), html)
