"""Where results go: looked at before work begins, printed and written when it is done."""

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from infosieve._core.files import atomic, first_line, printable, special
from infosieve._sources import ARROW
from infosieve.cli.csv_files import SEPARATORS
from infosieve.cli.errors import InputError

if TYPE_CHECKING:
    from infosieve.results._base import Document

_TABLES = (*SEPARATORS, ".parquet", ".pq", *ARROW)
_PAGES = (".html", ".htm")


def check(places: Mapping[str, str | None]) -> None:
    """Refuse places that cannot be written to, or that are one file, before work begins.

    ``places`` are FILE, the input, and what options name: --out a table, --html a page.
    """
    given = {option: path for option, path in places.items() if path is not None}
    for option, endings in (("--out", _TABLES), ("--html", _PAGES)):
        if option in given:
            _check_place(given[option], endings)
    # One file for two purposes: what the one has, the other would overwrite.
    files = {option: _identity(option, path) for option, path in given.items()}
    files["standard output"] = _identity("standard output", "-")
    for one, other in combinations(files, 2):
        if files[one] is None or files[one] != files[other]:
            continue
        first, second = (f"{name} {given.get(name, '')}".strip() for name in (one, other))
        if one == "FILE":
            raise InputError(f"{second} is the input itself ({given[one]}); name another file")
        raise InputError(f"{first} and {second} are the same file; name another for one of them")
    source = given.get("FILE", "-")
    if "--out" in given and source != "-" and Path(source).is_dir():
        out = given["--out"]
        if Path(source).resolve() in Path(out).resolve().parents:
            raise InputError(f"--out {out} is inside the table {source}; name a file elsewhere")


def _check_place(path: str, endings: Iterable[str]) -> None:
    target = Path(path)
    if target.suffix.lower() not in endings:
        raise InputError(f"{path}: the ending must be one of {', '.join(endings)}")
    kind = special(target)
    if kind is not None:
        raise InputError(f"{path} is {kind}; name a file")
    folder = Path(os.path.realpath(path)).parent if target.is_symlink() else target.parent
    if not folder.is_dir():
        raise InputError(f"{path} cannot be written: there is no directory {str(folder)!r}")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path} cannot be written: no permission in {str(folder)!r}")


def _identity(option: str, path: str) -> Any:
    """Equal for names of one file, and for names that would become one; None for a stream."""
    try:
        if path == "-" and option in ("FILE", "standard output"):
            status = os.fstat(0 if option == "FILE" else 1)
        else:
            status = os.stat(path)
    except OSError:
        return None if path == "-" else os.path.normcase(os.path.realpath(path))
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def all_of(tasks: Iterable[Callable[[], None]]) -> None:
    """Do each of them, whatever becomes of the others; the last that fails is raised."""
    failed: list[Exception] = []
    for task in tasks:
        try:
            task()
        except Exception as error:
            failed.append(error)
    # A reader of standard output who has gone away is no error, but others are.
    failed.sort(key=lambda one: not isinstance(one, BrokenPipeError))
    for one in failed[:-1]:
        if not isinstance(one, BrokenPipeError):
            print(f"infosieve: error: {printable(first_line(one))}", file=sys.stderr)
    if failed:
        raise failed[-1]


def show_result(result: "Document", json: bool) -> None:
    """Print a result, whole as JSON or as a table."""
    if hasattr(sys.stdout, "reconfigure"):  # whatever the terminal's encoding
        sys.stdout.reconfigure(encoding="utf-8" if json else None, errors="replace")
    try:
        if json:
            print(result.to_json(), end="")
        else:
            from infosieve.cli.show import show

            show(result)
        sys.stdout.flush()
    except OSError:
        # What could not be written is not tried again when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def write_table(frame: pd.DataFrame, path: str) -> None:
    """A table to a file whose ending says how; whole or not at all."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    suffix = Path(path).suffix.lower()
    with writing(path), atomic(path) as fresh:
        if suffix in (".parquet", ".pq"):
            pyarrow.parquet.write_table(table, fresh)
        elif suffix in ARROW:
            pyarrow.feather.write_feather(table, str(fresh))
        else:
            options = pyarrow.csv.WriteOptions(delimiter=SEPARATORS[suffix])
            pyarrow.csv.write_csv(table, fresh, options)
    print(f"infosieve: {path} written", file=sys.stderr)


def write_page(result: "Document", path: str, **beside: Any) -> None:
    """The report of a result, with others beside it."""
    with writing(path):
        result.report(path, **beside)
    print(f"infosieve: {path} written", file=sys.stderr)


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Say which file it is that cannot be written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{path} cannot be written: {reason}; name another file") from error
