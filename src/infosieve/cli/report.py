"""``infosieve report``: the page of a result that was kept."""

from typing import Annotated

import typer


def report(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="what --json wrote; - is standard input")
    ],
    out: Annotated[str, typer.Option(help="the page")] = "report.html",
) -> None:
    """Write the HTML report of a result that was kept as JSON."""
    from infosieve.cli.places import check, write_page
    from infosieve.cli.tables import read_result

    check({"FILE": file, "--out": out}, pages=["--out"])
    write_page(read_result(file), out)
