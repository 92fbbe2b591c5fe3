"""The bytes of a file: unpacked, as UTF-8 if they are text, and refused if they are no table."""

import bz2
import codecs
import difflib
import gzip
import io
import lzma
import os
import re
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from infosieve._core.messages import shown
from infosieve.cli.errors import InputError

_PANDAS = "write it as Parquet, in Python: pandas.{}({!r}).to_parquet('table.parquet')"
_LINES = _PANDAS.format("read_json", "{name}").replace("')", "', lines=True)", 1)
# Endings of other formats: what they are, and how they become a table that can be read.
_FOREIGN = {
    ".json": ("JSON", _PANDAS.format("read_json", "{name}")),
    ".jsonl": ("JSON, line by line", _LINES),
    ".ndjson": ("JSON, line by line", _LINES),
    ".xls": ("an Excel file of before 2007", "save it as .xlsx or CSV"),
    ".xlsb": ("a binary Excel file", "save it as .xlsx or CSV"),
    ".ods": ("an OpenDocument spreadsheet", "save it as .xlsx or CSV"),
    ".numbers": ("a spreadsheet of Numbers", "save it as .xlsx or CSV"),
    ".sav": ("an SPSS file", _PANDAS.format("read_spss", "{name}")),
    ".zsav": ("an SPSS file", _PANDAS.format("read_spss", "{name}")),
    ".por": ("an SPSS file", "save it as CSV"),
    ".dta": ("a Stata file", _PANDAS.format("read_stata", "{name}")),
    ".sas7bdat": ("a SAS file", _PANDAS.format("read_sas", "{name}")),
    ".xpt": ("a SAS file", _PANDAS.format("read_sas", "{name}")),
    ".mat": ("a Matlab file", "write it as CSV there: writetable(T, 'table.csv')"),
    ".rds": ("an R file", "write it as CSV there: write.csv(readRDS({name!r}), 'table.csv')"),
    ".rda": ("an R file", "write its table as CSV there: write.csv(x, 'table.csv')"),
    ".rdata": ("an R file", "write its table as CSV there: write.csv(x, 'table.csv')"),
    ".h5": ("an HDF5 file", _PANDAS.format("read_hdf", "{name}")),
    ".hdf5": ("an HDF5 file", _PANDAS.format("read_hdf", "{name}")),
    ".hdf": ("an HDF5 file", _PANDAS.format("read_hdf", "{name}")),
    ".pkl": ("a Python pickle", _PANDAS.format("read_pickle", "{name}")),
    ".pickle": ("a Python pickle", _PANDAS.format("read_pickle", "{name}")),
    ".npy": ("an array without names", "pass it to infosieve.MISelector, in Python"),
    ".npz": ("arrays without names", "pass them to infosieve.MISelector, in Python"),
    ".orc": ("an ORC file", _PANDAS.format("read_orc", "{name}")),
    ".arff": ("a Weka file", "write it as CSV: scipy.io.arff reads it, in Python"),
    ".sqlite": ("a database", "write its table as CSV"),
    ".db": ("a database", "write its table as CSV"),
    ".xml": ("XML", _PANDAS.format("read_xml", "{name}")),
    ".html": ("a web page", "download the table itself"),
    ".htm": ("a web page", "download the table itself"),
    ".pdf": ("a PDF file", "a table is CSV, Excel, Parquet or Arrow"),
    ".doc": ("a text document", "save its table as CSV"),
    ".docx": ("a text document", "save its table as CSV"),
    ".tar": ("an archive", "unpack it, and name the file inside"),
    ".tgz": ("an archive", "unpack it, and name the file inside"),
    ".7z": ("an archive", "unpack it, and name the file inside"),
    ".rar": ("an archive", "unpack it, and name the file inside"),
    ".zst": ("compressed by Zstandard", "unpack it: unzstd {name}"),
}
# First bytes that give formats away, whatever the ending says.
_MAGIC = {
    b"\xd0\xcf\x11\xe0": ".xls",
    b"\x89HDF": ".h5",
    b"MATLAB 5.0 MAT-file": ".mat",
    b"$FL2@(#)": ".sav",
    b"$FL3@(#)": ".zsav",
    b"<stata_dta>": ".dta",
    b"RDX2\n": ".rda",
    b"RDX3\n": ".rda",
    b"X\n\x00": ".rds",
    b"\x93NUMPY": ".npy",
    b"SQLite format 3\x00": ".sqlite",
    b"%PDF-": ".pdf",
    b"7z\xbc\xaf": ".7z",
    b"Rar!\x1a": ".rar",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"<?xml": ".xml",
    b"<!doctype html": ".html",
    b"<html": ".html",
}
_JSON = re.compile(rb'\{\s*["}]|\[\s*[\[{"]')
_PACKED = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zip": "zip"}
EXCEL = (".xlsx", ".xlsm")
# What no text has: control characters but for tabs, line ends and the end of a DOS file.
_CONTROL = bytes(set(range(32)) - {9, 10, 12, 13, 26})


@dataclass(frozen=True)
class Content:
    """What is in a file.

    Attributes
    ----------
    name : str
        What messages call it.
    suffix : str
        The ending of its name, without that of what packed it.
    data : bytes
        Unpacked.
    """

    name: str
    suffix: str
    data: bytes


def content_of(path: str) -> Content:
    """Read a file, or standard input ("-"), and unpack it."""
    name = "standard input" if path == "-" else path
    if path != "-" and not Path(path).exists():
        raise InputError(f"{name}: no such file{_nearest(Path(path))}")
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from None
    content = _unpacked(Content(name, Path(path).suffix.lower() if path != "-" else "", data))
    if not content.data.strip():
        raise InputError(f"{name} is empty")
    _refuse_foreign(content)
    return content


def _nearest(path: Path) -> str:
    names = os.listdir(path.parent) if path.parent.is_dir() else []
    near = difflib.get_close_matches(path.name, names, 1)
    return f"; is it {near[0]!r}?" if near else ""


def _unpacked(content: Content) -> Content:
    """What a packed file has in it."""
    name, data = content.name, content.data
    inner = Path(name[: -len(content.suffix)]) if content.suffix in _PACKED else Path(name)
    suffix = inner.suffix.lower() if content.suffix in _PACKED else content.suffix
    try:
        if data[:2] == b"\x1f\x8b":
            return Content(name, suffix, gzip.decompress(data))
        if data[:3] == b"BZh":
            return Content(name, suffix, bz2.decompress(data))
        if data[:6] == b"\xfd7zXZ\x00":
            return Content(name, suffix, lzma.decompress(data))
        if data[:4] == b"PK\x03\x04" and suffix not in _FOREIGN:
            return _member(content)
    except (OSError, EOFError, ValueError, lzma.LZMAError, zipfile.BadZipFile, RuntimeError) as bad:
        if isinstance(bad, InputError):
            raise
        raise InputError(f"{name} cannot be unpacked: {bad}; is the download complete?") from None
    return content


def _member(content: Content) -> Content:
    """The file in a zip archive, if there is one; a workbook is such an archive, too."""
    with zipfile.ZipFile(io.BytesIO(content.data)) as archive:
        every = [one.filename for one in archive.infolist() if not one.is_dir()]
        if "[Content_Types].xml" in every:
            kind = ".xlsx" if "xl/workbook.xml" in every else content.suffix
            return Content(content.name, kind, content.data)
        names = [n for n in every if not n.startswith("__MACOSX/") and Path(n).name[:1] != "."]
        if len(names) != 1:
            listed = ", ".join(map(shown, names[:5])) + (", ..." if len(names) > 5 else "")
            raise InputError(
                f"{content.name} has {len(names)} files ({listed}): unpack it, and name one of them"
                if names
                else f"{content.name} has no file in it"
            )
        inner = Content(f"{content.name}/{names[0]}", "", archive.read(names[0]))
        return _unpacked(Content(inner.name, Path(names[0]).suffix.lower(), inner.data))


def _refuse_foreign(content: Content) -> None:
    """Name a format that is not read, and the way out."""
    start = content.data[:200].lstrip(b"\xef\xbb\xbf \t\r\n")
    found = next((end for first, end in _MAGIC.items() if start[: len(first)] == first), None)
    found = found or next((e for f, e in _MAGIC.items() if start.lower().startswith(f)), None)
    if found is None and content.suffix not in _FOREIGN and _JSON.match(start):
        found = ".json"
    suffix = found or content.suffix
    if suffix in _FOREIGN:
        what, way_out = _FOREIGN[suffix]
        way_out = way_out.replace("{name}", Path(content.name).name)
        way_out = way_out.replace("{name!r}", repr(Path(content.name).name))
        raise InputError(f"{content.name} is {what}, which is not read here: {way_out}")


def as_utf8(content: Content, encoding: str | None) -> bytes:
    """A text in UTF-8, whatever it was in: what --encoding says, UTF-8, UTF-16 or Windows-1252."""
    data, name = content.data, content.name
    if encoding is not None:
        return _decoded(data, name, encoding).encode()
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return _decoded(data, name, "utf-16").encode()
    try:
        data.decode()  # or an error that says where
    except UnicodeDecodeError as error:
        _refuse_binary(data, name, _CONTROL)
        text = _decoded(data, name, "cp1252")
        line = data.count(b"\n", 0, error.start) + 1
        word = shown(_word_at(data, error.start).decode("cp1252", "replace"))
        print(
            f"infosieve: {name} is no UTF-8 (line {line}), and is read as Windows-1252, a kind of "
            f"Latin-1: {word}; --encoding names another",
            file=sys.stderr,
        )
        return text.encode()
    _refuse_binary(data, name, b"\0")
    return data.removeprefix(codecs.BOM_UTF8)


def _refuse_binary(data: bytes, name: str, characters: bytes) -> None:
    """Refuse what has characters that no text has."""
    if data.translate(None, characters) != data:
        raise InputError(
            f"{name} is no text: it has control characters; a table is CSV, TSV, Excel, Parquet or "
            "Arrow, and --encoding names the encoding of a text"
        )


def _word_at(data: bytes, place: int) -> bytes:
    """What stands there, between separators."""
    start, end = max(0, place - 30), place + 30
    before = data[start:place].replace(b";", b",").replace(b"\t", b",").replace(b"\n", b",")
    after = data[place:end].replace(b";", b",").replace(b"\t", b",").replace(b"\n", b",")
    return (before.rpartition(b",")[2] + after.partition(b",")[0]).strip(b'\r"')


def _decoded(data: bytes, name: str, encoding: str) -> str:
    try:
        codecs.lookup(encoding)
        return data.decode(encoding).removeprefix("\ufeff")
    except LookupError:
        raise InputError(
            f"--encoding {shown(encoding)} is none that Python knows; common ones are utf-8, "
            "latin-1, cp1252, cp1251, shift_jis and gb18030"
        ) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name} is no text in {encoding} (line {line}); pass --encoding and its name, such as "
            "latin-1, cp1251, shift_jis or gb18030"
        ) from None
