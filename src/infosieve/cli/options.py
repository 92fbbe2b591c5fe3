"""The options of the commands: those of parameters derive from settings, the others stand here."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

import typer

from infosieve.cli.config import configure
from infosieve.cli.errors import show_traceback


def option(kind: Any, text: str, default: Any = None, *names: str, **how: Any) -> inspect.Parameter:
    """An option as Typer reads it from a signature; named when it is put there."""
    return inspect.Parameter(
        "option",
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, typer.Option(*names, help=text, **how)],
    )


Options = Mapping[str, inspect.Parameter]
Names = list[str] | None
Text = str | None

_PATH = (
    "a CSV, TSV, Excel, Parquet or Arrow file with a header, also packed (.gz, .bz2, .xz, .zip), "
    "or a directory of Parquet files; Parquet also on a remote filesystem (s3://...); - is "
    "standard input"
)
_DECIMAL = (
    "the decimal mark of a CSV file, . or , and then what separates thousands, if anything "
    "does: '. ' reads 1 234.5; '.,' reads 1,234.5; ',.' reads 1.234,5; default: a point, or a "
    "comma where numbers are written so"
)
_GROUPS = (
    "the column that says which rows belong together, such as those of one patient; it is no "
    "candidate"
)
_ENCODING = "of a CSV file, such as latin-1; default: UTF-8, or Windows-1252 if it is not"
_SEPARATOR = "what separates the values of a CSV file; default: what all its rows have"
_DATES = "columns of dates: error, or ordinal (days, a number)"
_WINDOW = "of a series: so many rows belong together; default: found"
# Which data: FILE, and which of its columns are what.
DATA: Options = {
    "file": inspect.Parameter(
        "file",
        inspect.Parameter.KEYWORD_ONLY,
        annotation=Annotated[str, typer.Argument(metavar="FILE", help=_PATH)],
    ),
    "target": option(str, "the column to predict", inspect.Parameter.empty),
    "features": option(Names, "columns to look at (globs, may be repeated); default: all"),
    "exclude": option(Names, "columns to leave out (globs)"),
    "categorical": option(Names, "columns of numbers that are categories (globs)"),
    "groups": option(Text, _GROUPS, metavar="COLUMN"),
    "series": option(bool, "rows are in order of time", False, "--series"),
    "series_window": option(int | None, _WINDOW, min=1, metavar="N"),
    "dates": option(str, _DATES, "error", metavar="WAY"),
    "sheet": option(Text, "the sheet of an Excel file that has several"),
    "delimiter": option(Text, _SEPARATOR, hidden=True),
    "decimal": option(Text, _DECIMAL, hidden=True),
    "encoding": option(Text, _ENCODING, hidden=True),
}
# Where results go.
OUTPUT: Options = {
    "html": option(Text, "write a report, a page to look at"),
    "json": option(bool, "the whole result as JSON, instead of a table", False, "--json"),
    "quiet": option(bool, "no progress; warnings stay", False, "--quiet"),
    "config": option(
        Text, "a TOML file of options, by their names", is_eager=True, callback=configure
    ),
}


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted:
        for one in context.command.params:
            one.hidden = False  # type: ignore[attr-defined]
        print(context.get_help())
        raise typer.Exit


DEBUG = typer.Option(
    "--debug", help="show where an error comes from", callback=show_traceback, is_eager=True,
    expose_value=False,
)  # fmt: skip
HELP_ALL = option(bool, "all options, those for experts, too", False, "--help-all", is_eager=True,
                  callback=_show_all, expose_value=False)  # fmt: skip
_DEBUG = inspect.Parameter(
    "debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, DEBUG]
)
# Parameters whose options are among those of the data and of the output.
_ELSEWHERE = ("discrete_features", "discrete_target", "groups", "series", "verbose")
# A command has the machine to itself, and seeds are drawn; what is no text of itself is read.
_OWN_DEFAULTS = {"n_jobs": -1, "random_state": None}
_KINDS = {"text": Text, "words": str, "int": int | None, "float": float | None, "flag": bool}


@dataclass(frozen=True)
class Asks:
    """What a command can be asked."""

    settings: tuple[str, ...]  # classes of infosieve._core.settings, whose parameters are options
    without: tuple[str, ...] = ()  # parameters and options of data that are none here
    out: str = ""  # what --out writes; empty: nothing
    more: Options = field(default_factory=dict)  # options of this command alone

    def parameters(self) -> dict[str, Any]:
        """The parameters of all settings that are options, with their defaults; own ones first."""
        found: dict[str, Any] = {}
        for name in self.settings:
            found |= {one: known for one, known in _own_first(name) if one not in found}
        return {name: found[name] for name in found if name not in (*self.without, *_ELSEWHERE)}

    def signature(self) -> inspect.Signature:
        """All options, as Typer reads them from a function."""
        every = {name: one for name, one in DATA.items() if name not in self.without}
        every |= self.more
        for name, (known, default) in self.parameters().items():
            every[option_name(name, known)[2:].replace("-", "_")] = _of_parameter(
                name, known, default
            )
        if self.out:
            every["out"] = option(Text, f"write {self.out}")
        every |= {**OUTPUT, "debug": _DEBUG, "help_all": HELP_ALL}
        return inspect.Signature([one.replace(name=name) for name, one in every.items()])


def _own_first(settings: str) -> list[tuple[str, Any]]:
    """What is known of each parameter, and its default; of all functions, those come last."""
    from infosieve._core import settings as module  # NumPy, which --help does without

    kind = getattr(module, settings)
    known, default = kind.parameters(), {one.name: one.default for one in fields(kind)}
    shared = [one.name for one in fields(module.Settings)]
    names = sorted((name for name in default if name in known), key=lambda name: name in shared)
    return [(name, (known[name], default[name])) for name in names if known[name].help]


def option_name(name: str, known: Any) -> str:
    """How the command calls a parameter."""
    return known.option or f"--{name.replace('_', '-')}"


def _of_parameter(name: str, known: Any, default: Any) -> inspect.Parameter:
    """The option of a parameter."""
    default = _OWN_DEFAULTS.get(name, default)
    if known.rule.kind == "words":
        default = written(default)
    how = {"metavar": "ADDRESS"} if name == "executor" else {}
    return option(
        _KINDS[known.rule.kind],
        known.help,
        default,
        option_name(name, known),
        hidden=known.expert,
        **how,
    )


def written(value: Any) -> str:
    """A value as an option has it: 3,15 or none."""
    if isinstance(value, (tuple, list)):
        return ",".join(map(written, value))
    return "none" if value is None else str(value)


def literal(text: str | None) -> Any:
    """An option's text as Python has it: 5, 0.1, (3, 15), None, or the text."""
    if text is None or text.lower() == "none":
        return None
    if "," in text:
        return tuple(literal(item.strip()) for item in text.split(","))
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
