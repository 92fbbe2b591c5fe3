"""The command ``infosieve``: arguments to estimators, results to the screen and to files.

Nothing heavy is imported before a command needs it.
"""

import sys
import warnings
from typing import Annotated

import typer

from infosieve.cli import demo, questions, report, select
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
for _command in (
    select.select,
    questions.relevance_test,
    questions.permutation_test,
    questions.stability,
    questions.choose_k,
    questions.cluster,
    report.report,
    demo.demo,
):
    app.command(cls=Command)(_command)


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
