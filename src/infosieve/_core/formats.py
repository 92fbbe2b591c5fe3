"""Numbers and lists as sentences, tables and progress lines have them."""

from collections.abc import Sequence
from typing import Any


def p_text(p_value: float | None, lower_limit: bool, *, plain: bool = False) -> str:
    """ "p = 0.005", or "p ≥ 0.12" where that is a lower limit; nothing without a test.

    ``plain`` is for the cell of a table: "0.005", ">=0.12".
    """
    if p_value is None:
        return ""
    if plain:
        return f"{'>=' if lower_limit else ''}{p_value:.3g}"
    return f"p {'≥' if lower_limit else '='} {p_value:.3g}"


def nats(value: float, sign: str = "") -> str:
    """Information in three decimals, and what is below them in two digits; ``sign``: "+", or none.

    What is less than rounding errors of an estimate is zero.
    """
    if abs(value) < 1e-9:
        value = 0.0
    return f"{value:{sign}.{'3f' if value == 0 or abs(value) >= 0.001 else '2g'}}"


def counted(n: int, one: str, many: str | None = None) -> str:
    """ "1 column", "2,000 columns"."""
    return f"1 {one}" if n == 1 else f"{n:,} {many or one + 's'}"


def percent(share: float) -> str:
    """ "5 %", "0.1 %", on one line."""
    return f"{100 * share:.3g}\u00a0%"


def listed(names: Sequence[str], most: int = 6) -> str:
    """ "a, b and c", or "a, b and 7 more"."""
    if len(names) > most:
        return ", ".join(names[:most]) + f" and {len(names) - most:,} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def direction_text(view: str, column: Sequence[Any] | None, target: Sequence[Any] | None) -> str:
    """Where a target is higher, by the levels of a column, or of the target, that has two.

    "rises" and "falls" are those of codes, in the order of the levels.
    """
    if view not in ("rises", "falls"):
        return view
    up = view == "rises"
    if target is None:
        return view if column is None else f"higher for {_level(column[up])}"
    if column is None:
        return f"higher in {_level(target[up])}"
    return f"more {_level(target[up])} for {_level(column[1])}"


def _level(level: Any) -> str:
    return f"{level:g}" if isinstance(level, float) else str(level)
