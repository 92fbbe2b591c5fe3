"""The command ``infosieve``: arguments to estimators, results to the screen and to files.

Nothing heavy is imported before a command needs it.
"""

import sys
import warnings
from typing import Annotated

import typer

from infosieve.cli import (
    choose_k,
    cluster,
    demo,
    permutation_test,
    relevance_test,
    report,
    select,
    stability,
)  # fmt: skip
from infosieve.cli.command import Command
from infosieve.cli.errors import STATUS, begin_anew, fail, reported, show_warning
from infosieve.cli.options import DEBUG

app = typer.Typer(
    name="infosieve",
    help="Which columns of a table matter for one of them, and how sure is that?",
    epilog=STATUS,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command(cls=Command)(select.select)
app.command(cls=Command)(relevance_test.relevance_test)
app.command(cls=Command)(permutation_test.permutation_test)
app.command(cls=Command)(stability.stability)
app.command(cls=Command)(choose_k.choose_k)
app.command(cls=Command)(cluster.cluster)
app.command(cls=Command)(report.report)
app.command(cls=Command)(demo.demo)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="print the version")] = False,
    debug: Annotated[bool, DEBUG] = False,
) -> None:
    if version:
        import infosieve

        print(infosieve.__version__)
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command; the exit status is one of :data:`STATUS`."""
    given = sys.argv[1:] if arguments is None else arguments
    begin_anew()
    warnings.showwarning = show_warning  # type: ignore[assignment]
    with reported():
        code = app(given or ["--help"], prog_name="infosieve", standalone_mode=False)
        sys.stdout.flush()
        if code == 130:  # typer has caught Ctrl-C
            fail("interrupted", 130)
        sys.exit(code if isinstance(code, int) else 0)
