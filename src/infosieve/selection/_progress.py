"""What a search tells while it runs: its steps, its permutations, and how long they take."""

import time
from collections.abc import Callable
from typing import Any

from joblib import cpu_count

from infosieve._core.dialect import bare, setting
from infosieve._core.files import printable
from infosieve._core.formats import p_text
from infosieve._core.progress import Progress, spoken
from infosieve._core.rules import is_text
from infosieve._core.settings import FEWEST_SCREENED, SelectorSettings
from infosieve._input.problem import AnyTable
from infosieve._resampling.subsamples import PART
from infosieve.results import Step

# Seconds: a test that takes longer is announced.
_LONG = 10.0

Clock = Callable[[], float]


def in_words(step: Step, table: AnyTable, uncorrected: bool) -> str:
    """A step in words; ``uncorrected``: p is that of the column alone."""
    names = " and ".join(printable(table.names[j]) for j in step.features)
    text = f"{step.action} {names} (best of {step.n_candidates}): {step.gain:+.3f} nats"
    if step.p_value is not None:
        text += f", {p_text(step.p_value, step.lower_limit)}"
        text += " of this column alone" if uncorrected else ""
    if step.action == "refuse":
        text += f" beside {' and '.join(printable(table.names[j]) for j in step.follows)}"
        text += ", which it follows"
    return text


class PermutationProgress:
    """Hears of the permutations of a search; tells once how long they will take, if that is long.

    ``n_steps`` is how many steps there can be at most, where that is asked for. ``shorter`` says
    which setting would save time; it is asked whether the test is one of pairs.
    """

    def __init__(
        self,
        progress: Progress,
        n_steps: int | None,
        shorter: Callable[[bool], str],
        clock: Clock = time.monotonic,
    ) -> None:
        self.progress, self.n_steps, self.shorter, self.clock = progress, n_steps, shorter, clock
        self._step, self._pairs, self._said = 0, False, False
        self._since: tuple[int, float] | None = None

    def __call__(self, step: int, done: int, total: int) -> None:
        """So many permutations of a test are done; none: it begins."""
        if done == 0:
            self._pairs = step == self._step  # they are tested after single columns
            self._step, self._since = step, None
            what = "pairs, " if self._pairs else ""
            self.progress.begin(f"step {step}, {what}permutations", total)
            return
        self.progress.advance(done, total)
        if self._since is None:  # what came before may have been compiled
            self._since = done, self.clock()
        elif not self._said:
            first, then = self._since
            self._tell((self.clock() - then) / (done - first) * total)

    def _tell(self, seconds: float) -> None:
        """How long a test takes at most, if it or the whole is long."""
        steps_left = 1 if self.n_steps is None else max(1, self.n_steps - self._step + 1)
        whole = seconds * (1 if self._pairs else steps_left)
        if whole <= _LONG:
            return
        self._said = True
        what = "pairs" if self._pairs else "a step"
        text = f"the test of {what} takes {spoken(seconds)} at most"
        if not self._pairs and self.n_steps is None:
            text += ", each further step about as long"
        elif not self._pairs and steps_left > 1:
            text += f", the {steps_left} steps that are left about {spoken(whole)}"
        self.progress.say(f"{text}; shorter: {self.shorter(self._pairs)}")


def shorter(
    selector: SelectorSettings, n_samples: int, n_kept: int | None, n_threads: int | None
) -> Any:
    """Which setting of a selector saves time: a function of whether pairs are tested.

    ``n_kept`` is how many candidates screening keeps, ``n_threads`` how many threads compute
    (None: others do).
    """

    def saving(pairs: bool) -> str:
        if n_threads == 1 and cpu_count() > 1:
            return f"{setting('n_jobs', -1)}, all cores"
        if selector.resample is not None:
            return f"{setting('resample', None)}, one estimate where there are 20"
        if selector.max_samples is None and n_samples >= 2 * PART:
            return f"{setting('max_samples', 'auto')}, estimates of parts of the samples"
        if n_kept is None and selector.correction == "max":
            return f"{setting('screen', 'auto')}, estimates of the best candidates only"
        if pairs:
            return f"{setting('lookahead', 1)}, no pairs"
        if not is_text(selector.n_permutations, "auto"):
            return f"{setting('n_permutations', 'auto')}, tests that end when they are sure"
        if n_kept is not None and n_kept > FEWEST_SCREENED:
            return f"{setting('screen', max(FEWEST_SCREENED, n_kept // 2))}, fewer estimates"
        return f"{bare('max_features')}, an end after so many steps, or fewer columns"

    return saving
