"""Texts that are numbers, written as people write them: 4,268 and 1.234,5 and 5 364.

What a mark means is a matter of country: a text has as many readings as there are pairs of a
decimal mark and a thousands mark under which it is a number. A column has those that all of its
texts have.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TypeAlias

from infosieve._core.dialect import either

Marks: TypeAlias = tuple[str, str]  # decimal and thousands

THOUSANDS = ",.'_ "
MARKS: tuple[Marks, ...] = tuple((d, t) for d in ".," for t in THOUSANDS if t != d)
# How truth values are written.
FLAGS = ("True", "true", "TRUE", "False", "false", "FALSE")
# Whole numbers of so few kinds may be the codes of categories.
CODES = 20
# Dates: 2024-05-31, 31.5.2024 and 5/31/24, 31 May 2024, May 31, 2024; with a time, or that alone.
_M, _D = r"(?:0?[1-9]|1[012])", r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATES = (
    rf"[12]\d{{3}}(?P<a>[-/.]){_M}(?P=a){_D}|(?:1[89]|20)\d{{2}}-(?:0[1-9]|1[012])",
    rf"(?:{_M}(?P<b>[-/.]){_D}|{_D}(?P<c>[-/.]){_M})(?:[-/.]\d{{4}}|[/.]\d{{2}})",
    rf"{_D}[. -]+{_MONTH}[ ,-]+\d{{2}}(?:\d{{2}})?|{_MONTH} {_D}(?:st|nd|rd|th)?,? \d{{4}}",
)
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[ap]m)?"
_ZONE = r"(?: ?(?:Z|[+-]\d{2}:?\d{2}|UTC|GMT))?"
_DATE = re.compile(
    rf"(?:{'|'.join(_DATES)})(?:(?:T|,? ){_CLOCK}{_ZONE})?|{_CLOCK}", re.ASCII | re.IGNORECASE
)
_CODE = re.compile(r"0\d+|0x[\da-f]+", re.ASCII | re.IGNORECASE)
# What stands around numbers. What it means for them is not ours to say.
_SIGNS = "()%‰$¢£¤¥₩₪₫€₱₴₹₺₽₿ "
_UNIT = re.compile(r"(.*\d) ?([^\W\d_]{1,10})")
_DIGITS = re.compile(
    r"[+-]?(?:[\d.,'_ ]+(?:e[+-]?\d+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE
)
_ALIKE = str.maketrans(
    {"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2007": " ", "\u2019": "'", "\u2212": "-"}
)


def tidied(text: str) -> str:
    """All kinds of spaces, apostrophes and minus signs alike, and none around."""
    return (text if text.isascii() else text.translate(_ALIKE)).strip()


@cache
def _pattern(marks: Marks) -> re.Pattern[str]:
    decimal, thousands = map(re.escape, marks)
    digits = rf"(?:0|[1-9]\d*|[1-9]\d{{0,2}}(?:{thousands}\d{{3}})+)"
    number = rf"(?:{digits}(?:{decimal}\d+)?|{decimal}\d+)(?:e[+-]?\d+)?"
    return re.compile(rf"[+-]?(?:{number}|inf|infinity|nan)", re.ASCII | re.IGNORECASE)


def readings(text: str) -> frozenset[Marks]:
    """The marks under which a tidied text is a number; codes such as 01234 are none."""
    if not _DIGITS.fullmatch(text):  # most texts, in one look
        return frozenset()
    return frozenset(marks for marks in MARKS if _pattern(marks).fullmatch(text))


def adorned(text: str) -> bool:
    """Whether a tidied text is a number with a currency, a percent sign or brackets around."""
    inner = text.lstrip("+-" + _SIGNS).rstrip(_SIGNS)
    return inner != text and bool(readings(inner)) and not readings(text)


def is_code(text: str) -> bool:
    """Whether a tidied text has digits only, the first of them 0, as a zip code; or is 0x1F."""
    return bool(_CODE.fullmatch(text))


def is_date(text: str) -> bool:
    """Whether a text is a date or a time."""
    return len(text) < 40 and bool(_DATE.fullmatch(text.strip()))


def plain(text: str, marks: Marks) -> str:
    """A tidied number as programs write it."""
    return text.replace(marks[1], "").replace(marks[0], ".")


def meanings(texts: Iterable[str], default: str) -> list[Marks]:
    """The readings that tidied texts have in common, less marks that none of them uses.

    Where the decimal mark is not used, it is ``default``, unless that separates thousands.
    """
    common = frozenset(MARKS)
    used: set[str] = set()
    for text in texts:
        common &= readings(text)
        used.update(text)
    found = set()
    for decimal, thousands in common:
        apart = thousands if thousands in used else ""
        found.add((decimal if decimal in used or default == apart else default, apart))
    return sorted(found)


def seems_numbers(levels: Sequence[object], look_at: int = 100) -> bool:
    """Whether most of a column's texts, by its first levels, are numbers and no codes."""
    texts = [tidied(text) for text in levels[:look_at] if isinstance(text, str)]
    if not texts or any(is_code(text) for text in texts):
        return False
    if len(levels) <= CODES and all(re.fullmatch(r"-?\d+", text) for text in texts):
        return False
    if len(levels) > CODES and _of_one_unit(texts):
        return True
    return 2 * sum(bool(readings(text)) or adorned(text) for text in texts) > len(texts)


def _of_one_unit(texts: Sequence[str]) -> bool:
    """Whether all texts are numbers that one word follows: 12 kg, 15.5 kg."""
    found = [_UNIT.fullmatch(text) for text in texts]
    return len({one and one[2] for one in found}) == 1 and all(
        one and readings(one[1]) for one in found
    )


def way_to_numbers(levels: Sequence[object], look_at: int = 100) -> str:
    """How a column's texts become numbers, for a message."""
    texts = [tidied(text) for text in levels[:look_at] if isinstance(text, str)]
    marks = meanings((text for text in texts if not adorned(text)), ".")
    if len(marks) != 1 or any(map(adorned, texts)):
        return "Take out what is no part of the numbers" + either(
            "; pandas.to_numeric makes numbers of the rest", " in the file"
        )
    decimal, thousands = marks[0]
    replaced = f".str.replace({thousands!r}, '')" if thousands else ""
    replaced += ".str.replace(',', '.')" if decimal == "," else ""
    return f"pandas.to_numeric(column{replaced}) makes numbers of it"


def seems_dates(levels: Sequence[object], look_at: int = 100) -> bool:
    """Whether a column's texts, by its first levels, are dates."""
    texts = [text for text in levels[:look_at] if isinstance(text, str)]
    return bool(texts) and all(map(is_date, texts))
