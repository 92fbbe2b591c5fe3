"""How far a long run is: one bar for terminals and notebooks, a line now and then elsewhere."""

import importlib.util
import sys
import time
from types import TracebackType
from typing import Any, Self

# Where no bar can be drawn, a line at most every so many seconds.
_LINE_SECONDS = 5.0
# How often a bar is drawn anew: more would cost more than 1 % of a run.
_PER_SECOND = 3
# Where no bar says it, what is left is said from so many seconds on.
_LONG = 20.0
# And from such a part on: the first pieces may have been compiled first.
_KNOWN = 0.1


class Progress:
    """Tells how far a run is, on standard error; silent where ``verbose`` is 0.

    Used as a context. ``begin`` starts a piece of work, ``advance`` says how much of it is done,
    ``say`` prints a line.
    """

    def __init__(self, verbose: int) -> None:
        from infosieve._core import rules

        rules.VERBOSITY.check("verbose", verbose)
        self.verbose = verbose
        self._bar: Any = None
        self._task: Any = None
        self._text, self._last = "", time.monotonic()
        self._began = self._last

    def __enter__(self) -> Self:
        if self.verbose:
            from rich.console import Console
            from rich.progress import MofNCompleteColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            console = Console(stderr=True)
            widgets = importlib.util.find_spec("ipywidgets") is not None
            if console.is_terminal or (console.is_jupyter and widgets):
                self._bar = Bar(
                    *Bar.get_default_columns(),
                    MofNCompleteColumn(),
                    TimeElapsedColumn(),
                    console=console,
                    transient=True,
                    refresh_per_second=_PER_SECOND,
                )
                self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self, text: str, total: int) -> None:
        """A piece of work of ``total`` parts; what came before is over."""
        if not self.verbose:
            return
        self._text, self._began = text, time.monotonic()
        if self._bar is not None:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(text, total=total)

    def advance(self, done: int, total: int) -> None:
        """So many parts of the piece are done."""
        if not self.verbose:
            return
        if self._bar is not None:
            self._bar.update(self._task, completed=done)
        elif time.monotonic() - self._last > _LINE_SECONDS:
            self._last = time.monotonic()
            left = (self._last - self._began) / max(done, 1) * (total - done)
            known = done >= _KNOWN * total and left > _LONG
            more = f", {spoken(left)} left" if known else ""
            self.say(f"{self._text}, {done} of {total} at most{more}")

    def say(self, text: str) -> None:
        """A line."""
        if not self.verbose:
            return
        if self._bar is not None:
            self._bar.console.print(f"infosieve: {text}", markup=False, highlight=False)
        else:
            print(f"infosieve: {text}", file=sys.stderr, flush=True)


def spoken(seconds: float) -> str:
    """12 s, 3 min, 2.5 h."""
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    if seconds < 6000:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
