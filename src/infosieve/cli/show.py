"""Results for people: aligned text, with a little colour where that is a terminal."""

import sys
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from infosieve.report._render import CELL, HEADING, INDENTED, ROW, terminal
from infosieve.results._base import Document


def show(result: Document) -> None:
    """Any result."""
    out = console()
    for mark, pieces in groupby(terminal(result), key=lambda piece: piece[0]):
        texts = [text for _, text in pieces]
        if mark == ROW:
            heads, *rows = [text.split(CELL) for text in texts]
            out.print(table(heads, rows))
            continue
        for text in texts:
            shown = Text(text, style="bold" if mark == HEADING else "")
            out.print(Padding(shown, (0, 0, 0, 2), expand=False) if mark == INDENTED else shown)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """As for everything else that is printed; rich would end the process."""
        raise


def console() -> Console:
    """Standard output; wide enough for anything where it is no terminal."""
    terminal = sys.stdout.isatty()
    return _Console(width=None if terminal else 10_000, highlight=False, soft_wrap=False)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Text in columns; those whose heads begin with ">" are aligned at the right.

    The last column has bars, if it has no head.
    """
    shown = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for number, head in enumerate(heads):
        right, head = head.startswith(">"), head.removeprefix(">")
        widest = max(len(cell) for cell in [head, *(row[number] for row in rows)])
        bars = not head and number == len(heads) - 1
        room: dict[str, Any] = {"min_width": widest if right else min(12, widest)}
        if bars:
            room = {"min_width": 0, "overflow": "crop"}
        shown.add_column(head, justify="right" if right else "left", no_wrap=True, **room)
    for row in rows:
        shown.add_row(*(Text(cell) for cell in row))
    return shown
