"""Names as people read them: on one line, in their own direction, cut so that they differ."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import count, takewhile

from infosieve._core.files import printable

# First strong isolate, and its end: a name written from right to left keeps to its place.
_ISOLATE, _END = "\u2068", "\u2069"
_FROM_RIGHT = {"R", "AL"}
# Marks that a letter keeps where names are cut: enough for every script, not for hostile names.
_MARKS = 4
_SKIN_TONES = range(0x1F3FB, 0x1F400)


def name_text(name: object) -> str:
    """A name as sentences and tables have it: on one line, and in its own direction."""
    text = printable(name)
    if any(unicodedata.bidirectional(c) in _FROM_RIGHT for c in text):
        return f"{_ISOLATE}{text}{_END}"
    return text


def cut(name: object, length: int) -> str:
    """A name in at most so many letters: its beginning and its end, where names differ."""
    letters = _letters(printable(name))
    if len(letters) <= length:
        return "".join(letters)
    head = (length - 1) // 2
    return "".join([*letters[:head], "…", *letters[head + 1 - length :]])


def shortened(names: Iterable[object], length: int) -> list[str]:
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
