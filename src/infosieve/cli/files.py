"""The bytes of a file: unpacked and, of a text, in UTF-8."""

import bz2
import codecs
import gzip
import io
import lzma
import os
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from infosieve._core.messages import shown
from infosieve.cli.config import meant
from infosieve.cli.errors import InputError

EXCEL = (".xlsx", ".xlsm")
# Endings of formats that are not read, and what of pandas reads them.
_PANDAS = {".json": "json", ".xml": "xml", ".xls": "excel", ".ods": "excel", ".sav": "spss"}
_PANDAS |= {".dta": "stata", ".sas7bdat": "sas", ".h5": "hdf", ".pkl": "pickle"}
# And those that other programs read.
_OTHERS = {".rds": "R", ".rdata": "R", ".mat": "Matlab"}
# What packed files begin with, and how they are unpacked.
_PACKED = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ\0": lzma.decompress}
_DAMAGED = (OSError, EOFError, ValueError, lzma.LZMAError, zipfile.BadZipFile, RuntimeError)


@dataclass(frozen=True)
class Content:
    """The bytes of a file, unpacked; its ending is without that of what packed it."""

    name: str
    suffix: str
    data: bytes


def content_of(path: str) -> Content:
    """Read a file, or standard input ("-"), and unpack it."""
    place, name = Path(path), "standard input" if path == "-" else path
    suffix = place.suffix.lower()
    if suffix in _PANDAS or suffix in _OTHERS:
        way = f"in {_OTHERS.get(suffix)}, write it as CSV"
        if suffix in _PANDAS:
            reader = f"pandas.read_{_PANDAS[suffix]}({place.name!r})"
            way = f"in Python, {reader}.to_parquet('table.parquet')"
        raise InputError(f"{name}: {suffix} files are not read here; write a table: {way}")
    try:
        data = sys.stdin.buffer.read() if path == "-" else place.read_bytes()
    except FileNotFoundError:
        names = os.listdir(place.parent) if place.parent.is_dir() else []
        raise InputError(f"{name}: no such file{meant(place.name, names)}") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from None
    if suffix in (".gz", ".bz2", ".xz", ".zip"):
        suffix = place.with_suffix("").suffix.lower()
    try:
        content = _unpacked(Content(name, suffix, data))
    except InputError:
        raise
    except _DAMAGED as error:
        raise InputError(f"{name} cannot be unpacked: {error}; is the download complete?") from None
    if not content.data.strip():
        raise InputError(f"{name} is empty")
    return content


def _unpacked(content: Content) -> Content:
    """What a packed file has in it; a workbook is a zip archive, too."""
    name, data = content.name, content.data
    unpack = next((unpack for first, unpack in _PACKED.items() if data.startswith(first)), None)
    if unpack is not None:
        return Content(name, content.suffix, unpack(data))
    if not data.startswith(b"PK\x03\x04"):
        return content
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [one for one in archive.namelist() if one[-1] != "/"]
        if "xl/workbook.xml" in names:
            return Content(name, EXCEL[0], data)
        names = [one for one in names if not one.startswith("__MACOSX/")]
        if len(names) != 1:
            listed = ", ".join(map(shown, names[:5])) + (", ..." if len(names) > 5 else "")
            raise InputError(f"{name} has {len(names)} files ({listed}): unpack it, and name one")
        return Content(f"{name}/{names[0]}", Path(names[0]).suffix.lower(), archive.read(names[0]))


def as_utf8(content: Content, encoding: str | None) -> bytes:
    """A text in UTF-8, whatever it was in: what --encoding says, UTF-8, UTF-16 or Windows-1252."""
    data, name = content.data, content.name
    utf_16 = data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    if encoding is None and not utf_16 and b"\0" in data:
        raise InputError(
            f"{name} is no text: it has control characters; a table is CSV, TSV, Excel, Parquet or "
            "Arrow, and --encoding names the encoding of a text"
        )
    try:
        text = data.decode(encoding or ("utf-16" if utf_16 else "utf-8"))
    except LookupError:
        raise InputError(
            f"--encoding {shown(encoding)} is none that Python knows; common ones are utf-8, "
            "latin-1, cp1252, cp1251, shift_jis and gb18030"
        ) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        if encoding is None and not utf_16:
            found = as_utf8(content, "cp1252")
            example = data[max(0, error.start - 15) : error.start + 15].decode("cp1252", "replace")
            print(
                f"infosieve: {name} is no UTF-8 (line {line}), and is read as Windows-1252, a kind "
                f"of Latin-1: {shown(example)}; --encoding names another",
                file=sys.stderr,
            )
            return found
        raise InputError(
            f"{name} is no text in {encoding} (line {line}); pass --encoding and its name, such as "
            "latin-1, cp1251, shift_jis or gb18030"
        ) from None
    return (text.removeprefix("\ufeff") + "\n").encode()


def in_arrow(data: bytes) -> pa.BufferReader:
    """A file in memory that is Arrow's own.

    Arrow's threads may release a file after it was read, when Python is ending: an object of
    Python would need the interpreter then, and the process is aborted.
    """
    copy = pa.BufferOutputStream()
    copy.write(data)
    return pa.BufferReader(copy.getvalue())
