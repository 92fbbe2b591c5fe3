"""What pages are made of: sections, tables, and names as they are read.

A page is a dict: ``kind``, ``title``, ``words``, the table (``heads``, ``rows``, ``numeric``) and
``sections``. Cells and words are plain text; templates escape them.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import count, takewhile
from typing import Any

from infosieve._core.files import printable

Page = dict[str, Any]

# First strong isolate, and its end: a name written from right to left keeps to its place.
_ISOLATE, _END = "\u2068", "\u2069"
_FROM_RIGHT = {"R", "AL"}
# Marks that a letter keeps where names are cut: enough for every script, not for hostile names.
_MARKS = 4
_SKIN_TONES = range(0x1F3FB, 0x1F400)


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
    return name_text(cut(name, length))


def short_names(result: Any, columns: Iterable[int], length: int = 32) -> list[str]:
    """Names of some columns of a result that fit a headline, each different from the others."""
    return [name_text(text) for text in shortened([result.features[j] for j in columns], length)]


def cut(name: Any, length: int) -> str:
    """A name in at most so many letters: its beginning and its end, where names differ."""
    letters = _letters(printable(name))
    if len(letters) <= length:
        return "".join(letters)
    head = (length - 1) // 2
    return "".join([*letters[:head], "…", *letters[head + 1 - length :]])


def shortened(names: Iterable[Any], length: int) -> list[str]:
    """Names in at most so many letters each; different ones stay different.

    Those that are alike at both ends show where they differ, or have a number. The page does the
    same where a figure is narrow (``shortened`` in its script).
    """
    texts = [printable(name) for name in names]
    shown = {text: cut(text, length) for text in texts}
    for alike in _alike(shown):
        letters = {text: _letters(text) for text in alike}
        together = zip(*letters.values(), strict=False)
        first = sum(1 for _ in takewhile(lambda some: len(set(some)) == 1, together))
        shown |= {text: _from(letters[text], first, length) for text in alike}
    taken = set(shown.values())
    for alike in _alike(shown):
        ends = (f" #{i}" for i in count(1))
        for text in alike:
            tried = (cut(text, length - len(end)) + end for end in ends)
            shown[text] = next(label for label in tried if label not in taken)
            taken.add(shown[text])
    return [shown[text] for text in texts]


def _alike(shown: Mapping[str, str]) -> list[list[str]]:
    """Different texts that are shown alike."""
    by_label = defaultdict(list)
    for text, label in shown.items():
        by_label[label].append(text)
    return [texts for texts in by_label.values() if len(texts) > 1]


def _from(letters: Sequence[str], first: int, length: int) -> str:
    """How a name begins, and what it has shortly before a letter and from there on."""
    rest = letters[max(first - 2, 2) :]
    rest = rest if len(rest) <= length - 3 else [*rest[: length - 4], "…"]
    return "".join([*letters[:2], "…", *rest])


def _letters(text: str) -> list[str]:
    """Letters with their marks, which are not cut apart."""
    letters: list[str] = []
    for c in text:
        if letters and (unicodedata.category(c)[0] == "M" or ord(c) in _SKIN_TONES):
            letters[-1] += c if len(letters[-1]) <= _MARKS else ""
        else:
            letters.append(c)
    return letters


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
