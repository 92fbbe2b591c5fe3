"""Arguments and options that several commands share."""

from typing import Annotated, Any

import typer

from infosieve.cli.config import configure

_PATH = (
    "a CSV, TSV, Excel, Parquet or Arrow file with a header, also packed (.gz, .bz2, .xz, .zip), "
    "or a directory of Parquet files; Parquet also on a remote filesystem (s3://...); - is "
    "standard input"
)
FilePath = Annotated[str, typer.Argument(metavar="FILE", help=_PATH)]
Target = Annotated[str, typer.Option(help="the column to predict")]
Features = Annotated[
    list[str] | None, typer.Option(help="columns to look at (globs, may be repeated); default: all")
]
Exclude = Annotated[list[str] | None, typer.Option(help="columns to leave out (globs)")]
Categorical = Annotated[
    list[str] | None, typer.Option(help="columns of numbers that are categories (globs)")
]
_MISSING = (
    "what becomes of gaps: value (a gap is a value of its own), median (filled with it), drop "
    "(only complete rows), error (refused); auto: value, and median in the columns beside it"
)
Missing = Annotated[str, typer.Option(metavar="WAY", help=_MISSING)]
_GROUPS = (
    "the column that says which rows belong together, such as those of one patient; it is no "
    "candidate"
)
Groups = Annotated[str | None, typer.Option(metavar="COLUMN", help=_GROUPS)]
Series = Annotated[bool, typer.Option("--series", help="rows are in order of time")]
SeriesWindow = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="of a series: so many rows belong together; default: found"
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(help="what separates the values of a CSV file; default: what all its rows have"),
]
_DECIMAL = (
    "the decimal mark of a CSV file, . or , and then what separates thousands, if anything "
    "does: '. ' reads 1 234.5; '.,' reads 1,234.5; ',.' reads 1.234,5; default: a point, or a "
    "comma where numbers are written so"
)
Decimal = Annotated[str | None, typer.Option(help=_DECIMAL)]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="of a CSV file, such as latin-1; default: UTF-8, or Windows-1252 if it is not"
    ),
]
Sheet = Annotated[str | None, typer.Option(help="the sheet of an Excel file that has several")]
Dates = Annotated[
    str, typer.Option(metavar="WAY", help="columns of dates: error, or ordinal (days, a number)")
]
_NEIGHBORS = "K: one number, a range such as 3,15 whose estimates are averaged, or auto"
Neighbors = Annotated[str, typer.Option(help=_NEIGHBORS)]
_CRITERION = (
    "cmi: given the selected columns; mi: of the set; cmim, jmi: given one selected column at a "
    "time, the least or the mean of that; auto: cmi, and with --stop cv the better of cmi and cmim"
)
Criterion = Annotated[str, typer.Option(help=_CRITERION)]
Search = Annotated[str, typer.Option(help="forward or forward-backward")]
_STOP = (
    "fdr, permutation, max-mi, none, cv (as many as a model predicts well with, by "
    "cross-validation), or auto: fdr, unless --n-features-to-select is given"
)
Stop = Annotated[str, typer.Option(help=_STOP)]
Alpha = Annotated[float, typer.Option(help="the significance level of the tests")]
_PERMUTATIONS = "permutations of a test, or auto: up to 199, and more for a smaller --alpha"
Permutations = Annotated[str, typer.Option(help=_PERMUTATIONS)]
Exactly = Annotated[int | None, typer.Option(help="exactly so many")]
AtMost = Annotated[int | None, typer.Option(help="at most so many")]
Lookahead = Annotated[int, typer.Option(help="2: try pairs where no single column passes")]
Checkpoint = Annotated[str | None, typer.Option(help="a file that a killed run goes on from")]
Method = Annotated[str, typer.Option(help="ksg1 or ksg2")]
Metric = Annotated[str, typer.Option(help="euclidean or chebyshev")]
Scale = Annotated[str, typer.Option(help="standard, normal-scores or none")]
Seed = Annotated[int | None, typer.Option(help="the same seed gives the same result")]
Jobs = Annotated[int, typer.Option(help="threads; -1, the default, for all cores")]
Dask = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="compute on a Dask cluster: its scheduler's address; or local, to start one here",
    ),
]
Device = Annotated[
    str, typer.Option(help="cpu, cuda (an NVIDIA GPU), or auto: a GPU where it pays")
]
Json = Annotated[bool, typer.Option("--json", help="the whole result as JSON, instead of a table")]
Html = Annotated[str | None, typer.Option(help="write a report, a page to look at")]
Quiet = Annotated[bool, typer.Option("--quiet", help="no progress; warnings stay")]
Config = Annotated[
    str | None,
    typer.Option(is_eager=True, callback=configure, help="a TOML file of options, by their names"),
]


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
