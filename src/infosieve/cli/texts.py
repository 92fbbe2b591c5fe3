"""Columns of text that are numbers: read where that is safe, else refused with a way out."""

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

import pandas as pd
import pyarrow as pa

from infosieve._core.command_line import quoted
from infosieve._core.messages import brief, shown
from infosieve._input.number_texts import (
    THOUSANDS,
    Marks,
    adorned,
    is_code,
    is_flag,
    meanings,
    plain,
    readings,
    seems_numbers,
    tidied,
)
from infosieve._input.numbers import beyond_rounding
from infosieve.cli.dates import is_date
from infosieve.cli.errors import InputError

# How a gap is written in a column of numbers, in small letters.
GAPS = {"", "na", "n/a", "n.a.", "#n/a", "#na", "nan", "-nan", "<na>", "null", "none", "nil"}
GAPS |= {"missing", "?", "-", "--", "---", "\u2013", "\u2014", ".", "..", "...", ":", "#nv"}
GAPS |= {"#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!"}  # of spreadsheets


@dataclass(frozen=True)
class NumberFormat:
    """How a text file writes numbers, as far as --decimal has it.

    Attributes
    ----------
    decimal : str
        The decimal mark.
    thousands : str
        What separates thousands; empty: not known.
    separator : str
        What separates values.
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


@dataclass(frozen=True)
class _Texts:
    """The texts of a column, by their rows."""

    name: Any
    column: "pd.Series[Any]"

    @cached_property
    def gaps(self) -> "pd.Series[Any]":
        """Those that say that there is no number."""
        different = self.column.drop_duplicates()
        return self.column[self.column.isin([text for text in different if is_gap(text)])]

    @cached_property
    def known(self) -> "pd.Series[Any]":
        """The others."""
        return self.column.drop(self.gaps.index)

    @cached_property
    def levels(self) -> "pd.Series[Any]":
        """The different ones of these, tidied, by their first rows."""
        return self.known.drop_duplicates().map(tidied)

    @property
    def code(self) -> Any:
        """The row of the first code, of a column that would be numbers without codes; or None."""
        if not all(is_number(text) for text in self.levels):
            return None
        return next((row for row, text in self.levels.items() if is_code(text)), None)

    def are_numbers(self) -> bool:
        """Whether all but gaps are numbers, written somehow. A few that are not are refused."""
        odd = self.levels[[not is_number(text) for text in self.levels]]
        if 2 * len(odd) >= len(self.known):  # as words do, in many rows; or there are none
            return False
        n_odd = int(self.known.isin(self.known[odd.index]).sum())
        if n_odd == 0:
            return self.code is None
        if 2 * n_odd < len(self.known):
            raise InputError(
                f"column {shown(self.name)} holds numbers but for {self.at(odd.index[0])}; mend "
                f"it, write NA for what is missing, or {self.way_out}"
            )
        return False

    def at(self, row: Any) -> str:
        """A text and where it is."""
        return f"{shown(self.column[row])} in row {row + 1}"

    @property
    def way_out(self) -> str:
        return f"declare it with --categorical {quoted(self.name)}"


def refuse_text(frame: pd.DataFrame, declared: Sequence[str]) -> None:
    """Refuse numbers in columns of text, of files that could have had columns of numbers."""
    for texts in _texts_of(frame, declared):
        if texts.are_numbers() and seems_numbers(texts.levels.tolist()):
            raise InputError(
                f"column {shown(texts.name)} is text, but holds numbers "
                f"({texts.at(texts.levels.index[0])}); write it as numbers, or {texts.way_out}"
            )


def without_gaps(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[Any, str]]:
    """The table of a text file less texts that say that nothing is there; and these, in words.

    They do beside numbers, codes, truth values and dates, and may be levels beside other texts:
    none, missing.
    """
    new: dict[Any, Any] = {}
    told: dict[Any, str] = {}
    for texts in _texts_of(frame, ()):
        if len(texts.gaps) == 0 or len(texts.known) == 0:
            continue
        if all(is_number(text) or is_flag(text) or is_date(text) for text in texts.levels):
            first = f"{shown(texts.gaps.iloc[0])} in row {texts.gaps.index[0] + 1}"
            told[texts.name] = f"{first}, {len(texts.gaps)} in all"
            new[texts.name] = texts.known.reindex(frame.index)
    if not new:
        return frame, told
    return pd.DataFrame({name: new.get(name, frame[name]) for name in frame}), told


def read_text(
    frame: pd.DataFrame,
    declared: Sequence[str],
    form: NumberFormat,
    found: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """The table of a text file, with numbers in place of texts that can be read in one way.

    And truth values in place of True and False.

    Those with several readings, or with another than --decimal allows, are refused. ``found`` are
    gaps of columns that have been read already, in words.
    """
    new: dict[Any, Any] = {}
    read: list[str] = []
    gaps = [f"{shown(name)}: {text}" for name, text in (found or {}).items() if name in frame]
    codes: list[str] = []
    for texts in _texts_of(frame, declared):
        if len(texts.levels) and all(map(is_flag, texts.levels)):
            flags = texts.column.map(lambda text: tidied(text).lower() == "true")
            new[texts.name] = flags.astype(object).reindex(frame.index)
            continue
        if not texts.are_numbers():
            if texts.code is not None:
                codes.append(f"{shown(texts.name)}: {texts.at(texts.code)}")
            continue
        marks, row = _only_reading(texts, form), texts.levels.index[0]
        written = texts.known.map(lambda text, marks=marks: plain(tidied(text), marks))
        new[texts.name] = _as_numbers(written, texts.name).reindex(frame.index)
        if texts.name not in (found or {}) or marks != (".", ""):
            example = f"{shown(texts.column[row])} is {brief(written[row])}"
            read.append(f"{shown(texts.name)}: {example}")
    _tell("text read as numbers", read)
    _tell("digits that begin with 0 taken as categories", codes)
    _tell("text taken as missing", gaps)
    if not new:
        return frame
    return pd.DataFrame({name: new.get(name, frame[name]) for name in frame})


def _tell(what: str, examples: list[str]) -> None:
    if examples:
        n = len(examples)
        columns = "column" if n == 1 else f"{n} columns, such as"
        print(f"infosieve: {what} in {columns} {examples[0]}", file=sys.stderr)


def exact_numbers(texts: Sequence[str | None], name: Any) -> Any:
    """An Arrow array of decimals, if float64 loses digits of these numbers that matter; or None."""
    try:
        decimals = [None if text is None else Decimal(text) for text in texts]
    except InvalidOperation:
        return None
    known = [value for value in decimals if value is not None and not value.is_nan()]
    if not beyond_rounding(known):
        return None
    try:
        return pa.array(decimals)
    except pa.ArrowInvalid:
        raise InputError(
            f"column {shown(name)} has numbers of more than 76 digits; subtract one of them from "
            f"all, or declare it with --categorical {quoted(name)}"
        ) from None


def refuse_doubtful(texts: Sequence[str | None], name: Any, form: NumberFormat) -> None:
    """Refuse decimal commas that seem to separate thousands: 961 beside 1,244 and never 1,24."""
    levels = {tidied(text): row for row, text in reversed(list(enumerate(texts))) if text}
    with_comma = [text for text in levels if "," in text]
    if not with_comma or len(with_comma) == len(levels) or form.thousands:
        return
    if (".", ",") in meanings(levels, form.decimal):
        row = min(levels[text] for text in with_comma)
        text = tidied(str(texts[row]))
        raise InputError(
            f"column {shown(name)} holds {shown(text)} in row {row + 1}; pass --decimal '.,' to "
            f"read {plain(text, ('.', ','))} or --decimal ',.' to read "
            f"{plain(text, (',', '.'))}, or "
            f"declare it with --categorical {quoted(name)}"
        )


def _texts_of(frame: pd.DataFrame, declared: Sequence[str]) -> Iterator[_Texts]:
    """The columns of text that were not declared categories."""
    known = set(declared)
    for name, dtype in frame.dtypes.items():
        if name not in known and pd.api.types.is_string_dtype(dtype):
            texts = frame[name].dropna()
            # Lists, dates and the like are refused where their column is named.
            if len(texts) and all(isinstance(text, str) for text in texts):
                yield _Texts(name, texts)


def is_gap(text: str) -> bool:
    """Whether a text says that there is no number."""
    return len(text) < 20 and tidied(text).lower() in GAPS


def is_number(text: str) -> bool:
    """Whether a tidied text is a number, written somehow, or a code of digits."""
    return bool(readings(text)) or adorned(text) or is_code(text)


def _only_reading(texts: _Texts, form: NumberFormat) -> Marks:
    signed = next((row for row, text in texts.levels.items() if adorned(text)), None)
    if signed is not None:
        raise InputError(
            f"column {shown(texts.name)} holds {texts.at(signed)}; write plain numbers, or "
            f"{texts.way_out}"
        )
    levels = texts.levels.tolist()
    found = meanings(levels, form.decimal)
    for marks in ((form.decimal, ""), (form.decimal, form.thousands)):
        if marks in found:
            return marks
    # A space also stands in phone numbers: thousands that it separates must be declared.
    sure = len(found) == 1 and found[0][0] == form.decimal and not form.thousands
    if sure and found[0][1] != " ":
        return found[0]
    usual = [(form.decimal, "")]
    odd = [meanings([text], form.decimal) != usual for text in levels]
    row = texts.levels.index[odd.index(True)]
    if not found:
        raise InputError(
            f"column {shown(texts.name)} holds numbers written in different ways, such as "
            f"{texts.at(row)}; write them alike, or {texts.way_out}"
        )
    ways = " or ".join(_way(tidied(texts.column[row]), marks, form) for marks in found)
    raise InputError(
        f"column {shown(texts.name)} holds {texts.at(row)}; {ways}, or {texts.way_out}"
    )


def _way(text: str, marks: Marks, form: NumberFormat) -> str:
    """The option under which a text is read so."""
    value = brief(plain(text, marks))
    if marks[0] == form.separator:
        return f"write {value} if that is meant"
    option = "".join(marks)
    quoted = shlex.quote(option) if len(option) == 1 or "'" in option else f"'{option}'"
    return f"pass --decimal {quoted} to read {value}"


def _as_numbers(written: "pd.Series[Any]", name: Any) -> "pd.Series[Any]":
    exact = exact_numbers(written.tolist(), name)
    if exact is not None:
        return pd.Series(exact.to_pandas().to_numpy(), written.index)
    return pd.to_numeric(written.astype(object))
