"""What pages are made of: sections, tables, and names as they are read.

A page is a dict: ``kind``, ``title``, ``words``, the table (``heads``, ``rows``, ``numeric``) and
``sections``. Cells and words are plain text; templates escape them.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from infosieve._core.files import printable

Page = dict[str, Any]

# First strong isolate, and its end: a name written from right to left keeps to its place.
_ISOLATE, _END = "\u2068", "\u2069"
_FROM_RIGHT = {"R", "AL"}


def section(
    title: str,
    text: str,
    *shown: Page,
    small: bool = False,
    table: Page | None = None,
    notes: Iterable[str] = (),
    anchor: str = "",
) -> Page:
    """A part of a page: a heading, words, a table, figures; ``notes`` are sentences below them.

    ``small`` figures stand side by side. ``anchor`` is what a link on the page leads to.
    """
    return {
        "title": title,
        "text": text,
        "figures": list(shown),
        "small": small,
        "table": table,
        "notes": list(notes),
        "anchor": anchor,
    }


def table(heads: Sequence[str], rows: Sequence[Any], numeric: Sequence[int] = ()) -> Page:
    """Rows of cells. A cell is a text, or a dict: its text, and a bar from 0 to 1 or a tone."""
    return {"heads": list(heads), "rows": list(rows), "numeric": list(numeric)}


def fact(question: str, answer: str, anchor: str = "", code: str = "") -> Page:
    """A short answer: the section that has more, or the call that would ask for it."""
    return {"question": question, "answer": answer, "anchor": anchor, "code": code}


def name_text(name: Any) -> str:
    """A name as sentences and tables have it: on one line, and in its own direction."""
    text = printable(name)
    if any(unicodedata.bidirectional(c) in _FROM_RIGHT for c in text):
        return f"{_ISOLATE}{text}{_END}"
    return text


def names(result: Any, columns: Iterable[int]) -> list[str]:
    """Names of some columns of a result."""
    return [name_text(result.features[j]) for j in columns]


def short(name: Any, length: int = 32) -> str:
    """A name that fits a headline."""
    text = printable(name)
    return name_text(text if len(text) <= length else text[: length - 1] + "…")


def listed(names: Sequence[str], most: int = 6) -> str:
    """ "a, b and c", or "a, b and 7 more"."""
    if len(names) > most:
        return ", ".join(names[:most]) + f" and {len(names) - most:,} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def counted(n: int, one: str, many: str | None = None) -> str:
    """ "1 column", "2,000 columns"."""
    return f"1 {one}" if n == 1 else f"{n:,} {many or one + 's'}"


def percent(share: float) -> str:
    """ "5 %", "0.1 %", on one line."""
    return f"{100 * share:.3g}\u00a0%"
