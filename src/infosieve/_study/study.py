"""A table that is opened once: what all questions about it share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from infosieve._core.progress import Progress
from infosieve._core.rules import ends_of, seed_of
from infosieve._core.settings import Settings, neighbors_among
from infosieve._core.types import (
    Columns,
    ColumnSet,
    Criterion,
    Engine,
    Executor,
    IntArray,
)
from infosieve._engines.devices import engine_of, require_device
from infosieve._executors import executor_of
from infosieve._input.problem import Prepared, Problem, Reading, read_tables
from infosieve._resampling.layout import Layout, laid_out
from infosieve._scoring.jobs import Scoring
from infosieve._scoring.measure import Measure

if TYPE_CHECKING:
    from infosieve._core.provenance import Provenance
    from infosieve._resampling.nulls import NullHypothesis
    from infosieve._scoring.question import Question

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, kw_only=True)
class Study(Generic[S]):
    """An opened table with its layout, seed, engine and executor.

    Columns are prepared and laid out when they are first needed. ``ordered``: they will be scored
    alone, for which it pays to know what sorts them.
    """

    settings: S
    reading: Reading
    problem: Problem
    executor: Executor
    seed: int
    ordered: bool = True

    @classmethod
    @contextmanager
    def open(
        cls,
        settings: S,
        X: Any,
        y: Any,
        *,
        condition: Any = None,
        groups: Any = None,
        ordered: bool = True,
    ) -> "Iterator[Study[S]]":
        """Open X, y and the columns to condition on; the executor ends with the context."""
        seed = seed_of(settings.random_state)
        with (
            Progress(settings.verbose) as progress,
            executor_of(settings.executor, settings.n_jobs, progress) as executor,
        ):
            require_device(settings.device, executor)
            reading = read_tables(
                X, y, settings, condition=condition, groups=groups, executor=executor
            )
            yield cls(
                settings=settings,
                reading=reading,
                problem=reading.problem(),
                executor=executor,
                seed=seed,
                ordered=ordered,
            )

    def of_rows(self, rows: IntArray) -> "Study[S]":
        """The study of some samples of this one, by their numbers; nothing is opened again."""
        return replace(self, problem=self.reading.problem(among=self.problem.rows[rows]))

    def with_seed(self, seed: int) -> "Study[S]":
        """The same study with another seed; what is prepared stays so."""
        other = copy(self)
        vars(other)["seed"] = seed
        return other

    @property
    def progress(self) -> Progress:
        return self.executor.progress  # type: ignore[no-any-return]

    @cached_property
    def prepared(self) -> Prepared:
        """Columns before they are laid out."""
        scale = self.reading.settings.prepared_scale
        return self.problem.prepare(scale, self.executor.here, with_order=self.ordered)

    @cached_property
    def _laid_out(self) -> tuple[Prepared, Layout]:
        return laid_out(self.prepared, self.settings.max_samples)

    @property
    def columns(self) -> Prepared:
        """Columns whose samples stand by parts."""
        return self._laid_out[0]

    @property
    def layout(self) -> Layout:
        return self._laid_out[1]

    @property
    def x(self) -> ColumnSet:
        return self.columns.x  # type: ignore[no-any-return]

    @property
    def target(self) -> Columns:
        return self.columns.target

    @cached_property
    def scoring(self) -> Scoring:
        return Scoring(self.x, self.executor)

    @property
    def n_neighbors(self) -> tuple[int, int]:
        """The range of K, capped by the samples that can be neighbours."""
        return self.n_neighbors_among(self.layout.n_together(self.problem.n_samples))

    def n_neighbors_among(self, n_samples: int) -> tuple[int, int]:
        """The range of K, capped by so many samples."""
        return neighbors_among(self.settings.n_neighbors, n_samples)

    def engine(self, n_scored: int, largest_k: int | None = None) -> Engine:
        """Where so many candidates are scored, permuted ones included."""
        k = ends_of(self.settings.n_neighbors)[1] if largest_k is None else largest_k
        return engine_of(self.settings.device, self.executor, self.problem.n_samples, n_scored, k)

    def measure(self, criterion: Criterion, engine: Engine, **more: Any) -> Measure:
        """How candidates are measured."""
        how: dict[str, Any] = {"edges": self.layout.edges}
        if "n_neighbors" not in more:
            how["n_neighbors"] = self.n_neighbors
        return Measure(
            target=self.target,
            criterion=criterion,
            method=self.settings.method,
            metric=self.settings.metric,
            engine=engine,
            **how | more,
        )

    def null(self, name: str) -> "NullHypothesis":
        """What makes permuted copies."""
        from infosieve._resampling.nulls import NULLS

        return NULLS[name](
            seed=self.seed,
            metric=self.settings.metric,
            layout=self.layout,
            n_workers=self.executor.here.n_workers,
        )

    def question(self, null: str, **about: Any) -> "Question":
        """What candidates tell, compared with copies that a null hypothesis makes."""
        from infosieve._scoring.question import Question

        return Question(scoring=self.scoring, columns=self.columns, null=self.null(null), **about)

    def combined(self, engine: Engine, **about: Any) -> "Question":
        """The same, asked in several ways at once, of what the known columns leave."""
        from infosieve._scoring.combined import Combined

        statistic = Combined(target=self.target, layout=self.layout, engine=engine)
        return self.question("residual", statistic=statistic, **about)

    def tests(self, null: str, measure: Measure, **about: Any) -> "Question":
        """The same, asked by the statistic that the settings name."""
        settings: Any = self.settings
        if settings.combined:
            return self.combined(measure.engine, **about)
        return self.of_measure(null, measure, **about)

    def of_measure(self, null: str, measure: Measure, **about: Any) -> "Question":
        """The same, asked for information."""
        return self.question(null, statistic=measure, **about)

    def provenance(self, call: Callable[..., Any], **used: Any) -> "Provenance":
        """Where a result of this study comes from: the data, and what ``call`` was asked.

        ``used``: what became of settings, such as a device that was found.
        """
        from infosieve._study.provenance import provenance_of

        asked = {**self.settings.asked, "executor": self.executor.text, **used}
        return provenance_of(self.problem, self.seed, asked, call)
