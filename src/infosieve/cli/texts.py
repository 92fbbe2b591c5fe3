"""Columns of files without types: numbers, however they are written, truth values, or text.

What can be read in several ways is refused, with the options for each.
"""

import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from infosieve._core.messages import brief, quoted, shown
from infosieve._input.number_texts import (
    FLAGS,
    THOUSANDS,
    Marks,
    adorned,
    is_code,
    is_date,
    meanings,
    plain,
    readings,
    seems_numbers,
    tidied,
)
from infosieve._input.numbers import EXACT, beyond_rounding
from infosieve.cli.errors import InputError

# How a gap is written in a column of numbers, in small letters.
_GAPS = {"", "na", "n/a", "n.a.", "#n/a", "#na", "nan", "-nan", "<na>", "null", "none", "nil"}
_GAPS |= {"missing", "?", "-", "--", "---", "\u2212", "\u2013", "\u2014", ".", "..", "...", ":"}
_GAPS |= {"#nv", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!"}  # of spreadsheets
# What is missing beside other text, too.
_MISSING = pa.array(["", "NA", "N/A", "NaN", "nan", "null", "NULL", "#N/A"])
_NULL = pa.scalar(None, pa.string())
# Numbers whose range is less, of their size, may have lost digits as float64.
_NARROW = 2.0**-30

# What was taken for something else: columns and examples for each kind of it.
Notes = dict[str, list[str]]


@dataclass(frozen=True)
class NumberFormat:
    """How a file without types writes numbers: marks, as --decimal has them, and what separates.

    ``thousands`` is empty where it is not known.
    """

    decimal: str
    thousands: str
    separator: str

    @classmethod
    def of(cls, option: str, separator: str) -> "NumberFormat":
        """From the value of --decimal."""
        decimal, thousands = option[:1], tidied(f"|{option[1:]}|")[1:-1]
        known = decimal in (".", ",") and thousands in ("", *THOUSANDS) and decimal != thousands
        if not known or decimal == separator:
            raise InputError(
                "--decimal must be . or , and not the delimiter; what separates thousands may "
                f"follow, as in --decimal '.,'; got {shown(option)}"
            )
        return cls(decimal, thousands, separator)


def read_texts(frame: pd.DataFrame, declared: Sequence[str], form: NumberFormat) -> pd.DataFrame:
    """The table of a file without types: each column of text as what its values are; said."""
    notes: Notes = {}
    columns = {
        name: read_text(column, form, name in declared, notes) if is_text(column) else column
        for name, column in frame.items()
    }
    for what, examples in notes.items():
        n = len(examples)
        where = "column" if n == 1 else f"{n} columns, such as"
        print(f"infosieve: {what} in {where} {examples[0]}", file=sys.stderr)
    return pd.DataFrame(columns)


def is_text(column: "pd.Series[Any]") -> bool:
    """Whether all values of a column are texts, or there are none, whatever its type."""
    typed = isinstance(column.dtype, pd.StringDtype)
    return typed or pd.api.types.infer_dtype(column, skipna=True) in ("string", "empty")


def read_text(
    column: "pd.Series[Any]", form: NumberFormat, declared: bool, notes: Notes
) -> "pd.Series[Any]":
    """What a column of text holds.

    What is declared a category stays text, unless it is plain numbers or truth values.
    """
    texts = pa.array(column, pa.string(), from_pandas=True)
    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    texts = pc.if_else(pc.is_in(texts, value_set=_MISSING), _NULL, texts)
    found = _plain_numbers(texts, (form.decimal, ""))
    if found is None:
        column = pd.Series(texts.to_pandas(), name=column.name)
        found = _other_than_plain_numbers(column, form, declared, notes)
    n_gaps = len(found) - int(found.count()) - texts.null_count
    if n_gaps:
        gaps = found.isna().to_numpy() & texts.is_valid().to_numpy(zero_copy_only=False)
        what = f"{_at(column, int(gaps.argmax()))}, {n_gaps} in all"
        _note(notes, "text taken as missing", column.name, what)
    return found


def _other_than_plain_numbers(
    column: "pd.Series[Any]", form: NumberFormat, declared: bool, notes: Notes
) -> "pd.Series[Any]":
    """Truth values, numbers with other marks, or texts."""
    known, levels = _known(column)
    if len(levels) == 0:
        return column
    if levels.isin(FLAGS).all():
        return known.map(lambda text: tidied(text) in FLAGS[:3]).reindex(column.index)
    if all(is_number(text) or text in FLAGS or is_date(text) for text in levels):
        column = known.reindex(column.index)  # beside which gaps have other spellings, too
    if declared:
        return column
    if _hold_numbers(column.name, known, levels):
        marks, row = _only_reading(known, levels, form), levels.index[0]
        what = f"{shown(known[row])} is {brief(plain(levels[row], marks))}"
        _note(notes, "text read as numbers", column.name, what)
        texts = pa.array(column.map(tidied, "ignore"), pa.string(), from_pandas=True)
        found = _plain_numbers(texts, marks)
        return column if found is None else found
    if all(map(is_number, levels)):
        row = next(row for row, text in levels.items() if is_code(text))
        _note(notes, "digits that begin with 0 taken as categories", column.name, _at(known, row))
    return column


def _note(notes: Notes, kind: str, name: Any, what: str) -> None:
    notes.setdefault(kind, []).append(f"{shown(name)}: {what}")


def refuse_numbers(frame: pd.DataFrame, declared: Sequence[str]) -> None:
    """Refuse numbers in columns of text, of files that could have had columns of numbers."""
    for name, column in frame.items():
        if name in declared or not is_text(column):
            continue
        known, levels = _known(column)
        if _hold_numbers(name, known, levels) and seems_numbers(levels.tolist()):
            raise InputError(
                f"column {shown(name)} is text, but holds numbers "
                f"({_at(known, levels.index[0])}); write it as numbers, or {_way_out(name)}"
            )


def is_gap(text: str) -> bool:
    """Whether a text says that there is no number."""
    return tidied(text).lower() in _GAPS


def is_number(text: str) -> bool:
    """Whether a tidied text is a number, written somehow, or a code of digits."""
    return bool(readings(text)) or adorned(text) or is_code(text)


def _plain_numbers(texts: Any, marks: Marks) -> "pd.Series[Any] | None":
    """The numbers of an array of texts that are nothing but them and gaps, with such marks."""
    if texts.null_count == len(texts):
        return pd.Series(np.nan, range(len(texts)))
    numbers = _cast(texts, marks)
    if numbers is None:
        texts = pc.utf8_trim_whitespace(texts)
        gaps = pc.is_in(pc.utf8_lower(texts), value_set=pa.array(sorted(_GAPS)))
        texts = pc.if_else(gaps, _NULL, texts)
        numbers = _cast(texts, marks) if texts.null_count < len(texts) else None
    return numbers


def _cast(texts: Any, marks: Marks) -> "pd.Series[Any] | None":
    """Texts as numbers; None if some are none, or may be something else."""
    decimal, thousands = marks
    texts = pc.replace_substring(texts, thousands, "") if thousands else texts
    written = pc.replace_substring(texts, ",", ".") if decimal == "," else texts
    for kind in (pa.int64(), pa.float64()):
        with suppress(pa.ArrowInvalid):
            numbers = written.cast(kind)
            break
    else:
        return None
    # Arrow reads 007 and 0x1F, too.
    if _any(texts, rf"^[+-]?0[0-9xX]|[{'.' if decimal == ',' else ','}]"):
        return None
    whole = {pa.int64(): pd.Int64Dtype()} if numbers.null_count else {}  # floats would lose digits
    exact = _exact_numbers(written, numbers) if kind == pa.float64() else None
    return pd.Series(numbers.to_pandas(types_mapper=whole.get)) if exact is None else exact


def _any(texts: Any, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())


def _exact_numbers(written: Any, floats: Any) -> "pd.Series[Any] | None":
    """Plain numbers with all their digits, where floats lose some that matter."""
    ends = pc.min_max(floats)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    size = max(abs(low), abs(high))
    narrow = size > EXACT or high - low <= _NARROW * size
    if not narrow or not _any(written, r"[0-9](?:\.?[0-9]){15}"):
        return None
    decimals = [None if text is None else Decimal(text) for text in written.to_pylist()]
    lost = beyond_rounding([value for value in decimals if value is not None])
    return pd.Series(decimals, dtype=object) if lost else None


def _known(column: "pd.Series[Any]") -> "tuple[pd.Series[Any], pd.Series[Any]]":
    """The texts that are no gaps; and the different ones, tidied, by their first rows."""
    column = column.dropna()
    known = column[~column.isin([text for text in column.drop_duplicates() if is_gap(text)])]
    return known, known.drop_duplicates().map(tidied)


def _hold_numbers(name: Any, known: "pd.Series[Any]", levels: "pd.Series[Any]") -> bool:
    """Whether all texts are numbers and no codes. A few that are none are refused."""
    odd = levels[[not is_number(text) for text in levels]]
    if 2 * len(odd) >= len(known):  # as words do, in many rows; or there are none
        return False
    n_odd = int(known.isin(known[odd.index]).sum())
    if 0 < 2 * n_odd < len(known):
        header = " (a second row of names, or units?)" if odd.index[0] == 0 else ""
        raise InputError(
            f"column {shown(name)} holds numbers but for {_at(known, odd.index[0])}{header}; mend "
            f"it, write NA for what is missing, or {_way_out(name)}"
        )
    return n_odd == 0 and not any(map(is_code, levels))


def _at(column: "pd.Series[Any]", row: Any) -> str:
    """A text and where it is."""
    return f"{shown(column[row])} in row {row + 1}"


def _way_out(name: Any) -> str:
    return f"declare it with --categorical {quoted(name)}"


def _only_reading(known: "pd.Series[Any]", levels: "pd.Series[Any]", form: NumberFormat) -> Marks:
    """The marks under which all texts are numbers, if --decimal leaves no doubt about them."""
    found = meanings(levels, form.decimal)
    for marks in ((form.decimal, ""), (form.decimal, form.thousands)):
        if marks in found:
            return marks
    # A space also stands in phone numbers: thousands that it separates must be declared.
    sure = len(found) == 1 and found[0][0] == form.decimal and not form.thousands
    if sure and found[0][1] != " ":
        return found[0]
    usual = [(form.decimal, "")]
    row: Any = next(row for row, text in levels.items() if meanings([text], usual[0][0]) != usual)
    ways = " or ".join(_way(levels[row], marks, form) for marks in found)
    ways = ways or "write plain numbers, all alike"
    where = f"column {shown(known.name)} holds {_at(known, row)}"
    raise InputError(f"{where}; {ways}, or {_way_out(known.name)}")


def _way(text: str, marks: Marks, form: NumberFormat) -> str:
    """The option under which a text is read so."""
    value, option = brief(plain(text, marks)), "".join(marks)
    if marks[0] == form.separator:
        return f"write {value} if that is meant"
    option = shlex.quote(option) if len(option) == 1 or "'" in option else f"'{option}'"
    return f"pass --decimal {option} to read {value}"
