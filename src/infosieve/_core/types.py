"""Records and protocols that the rest of the package is written against.

This module imports nothing of ours.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.signedinteger]
BoolArray: TypeAlias = NDArray[np.bool_]
NameArray: TypeAlias = NDArray[np.object_]

Criterion: TypeAlias = Literal["mi", "cmi", "gain"]
Method: TypeAlias = Literal["ksg1", "ksg2"]
Metric: TypeAlias = Literal["euclidean", "chebyshev"]
Scale: TypeAlias = Literal["standard", "normal-scores"] | None
# How columns can be prepared, of which nobody can ask for the last: see _input.scaling.prepare.
PreparedScale: TypeAlias = Scale | Literal["spread-scores"]
Neighbors: TypeAlias = int | tuple[int, int]
Device: TypeAlias = Literal["cpu", "cuda", "auto"]
Missing: TypeAlias = Literal["auto", "value", "median", "drop", "error"]

# What stands for a gap in a prepared column of numbers: the code of one category. Numbers have 0.
GAP = 1e200

T = TypeVar("T")
Which: TypeAlias = Sequence[int] | IntArray | BoolArray | slice


class WritableArrays:
    """A record of arrays that other processes may be sent, where it can be worked on as here.

    Arrays arrive read-only, and kernels would be compiled once more for such.
    """

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            self.__dict__[name] = _writable(value)


def _writable(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_writable(part) for part in value)
    fixed = isinstance(value, np.ndarray) and not value.flags.writeable
    return value.copy() if fixed else value


def _contiguous(values: Any) -> Any:
    """Of an array, here or on a device."""
    return np.ascontiguousarray(values) if isinstance(values, np.ndarray) else values.copy()


class View(NamedTuple):
    """How a candidate tells something: of an interaction, ``beside`` which column."""

    name: str
    beside: int | None = None


@dataclass(frozen=True)
class Columns(WritableArrays):
    """Columns that are ready to be measured: scaled, ties broken, categories coded.

    Attributes
    ----------
    values : ndarray of shape (n_columns, n_samples), C order
    categorical : ndarray of bool, of shape (n_columns,)
        These hold codes so far apart that unequal ones count as infinitely distant.
    n_distinct : ndarray of int, of shape (n_columns,)
        Distinct values before ties were broken; 1 means constant.
    known_order : ndarray of shape (n_columns, n_samples), optional
        What sorts each column, where that is known already.
    dominated : ndarray of bool, of shape (n_columns,), optional
        Whether one value makes up the standard deviation; known at the door only.
    gaps : ndarray of bool, of shape (n_columns,), optional
        Which columns of numbers have gaps. A gap is a value of its own (:data:`GAP`), infinitely
        far from numbers, as unequal categories are.
    """

    values: FloatArray
    categorical: BoolArray
    n_distinct: IntArray
    known_order: IntArray | None = None
    dominated: BoolArray | None = None
    gaps: BoolArray | None = None

    @property
    def n_columns(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_samples(self) -> int:
        return int(self.values.shape[1])

    @cached_property
    def order(self) -> IntArray:
        """What sorts each column."""
        if self.known_order is not None:
            return self.known_order
        return np.argsort(self.values, axis=1).astype(np.int32)

    @property
    def constant(self) -> BoolArray:
        return np.asarray(self.n_distinct == 1)

    @property
    def labelled(self) -> BoolArray:
        """Which columns have infinite distances: categories, and numbers with gaps."""
        return self.categorical if self.gaps is None else self.categorical | self.gaps

    @property
    def missing(self) -> BoolArray | None:
        """Where the gaps are; None where there are none."""
        if self.gaps is None or not self.gaps.any():
            return None
        return np.asarray((self.values == GAP) & self.gaps[:, None])

    def filled(self) -> "Columns":
        """The same with the median of its numbers in the gaps of a column."""
        missing = self.missing
        if missing is None:
            return self
        values = self.values.copy()
        for j in np.flatnonzero(missing.any(axis=1)):
            there = values[j, ~missing[j]]
            values[j, missing[j]] = np.median(there) if there.size else 0.0
        return replace(self, values=values, known_order=None, gaps=None)

    def with_flags(self, unit: float) -> "Columns":
        """Filled, and beside each column with gaps where these are: 0, or ``unit``."""
        missing = self.missing
        if missing is None:
            return self
        filled, values, at = self.filled().values, [], []
        for j in range(self.n_columns):
            values.append(filled[j])
            at.append(j)
            if missing[j].any() and not missing[j].all():
                values.append(np.where(missing[j], unit, 0.0))
                at.append(j)
        flags = np.diff(at, prepend=-1) == 0
        n_distinct = np.where(flags, 2, self.n_distinct[at])
        return Columns(np.array(values), self.categorical[at], n_distinct)

    @property
    def signs(self) -> FloatArray:
        """Those of the first number of each column that is not zero: (n_columns, 1)."""
        numbers = self.values if self.missing is None else np.where(self.missing, 0.0, self.values)
        first = np.take_along_axis(numbers, (numbers != 0).argmax(axis=1)[:, None], axis=1)
        return np.where(first < 0, -1.0, 1.0)

    def upright(self) -> "Columns":
        """The same but, of columns whose sign is negative, the negatives.

        What depends on the values of a column in any other way than on their differences (random
        numbers, ties between neighbours) is then that of its negative, too.
        """
        values = self.values * self.signs + 0.0
        if self.missing is not None:
            values[self.missing] = GAP
        return replace(self, values=values, known_order=None)

    def take(self, columns: Which, with_order: bool = True) -> "Columns":
        """Some of the columns, with what sorts them where that is known and wanted."""
        order = self.known_order if with_order else None
        if not isinstance(columns, slice):
            columns = np.asarray(columns, None if len(columns) else np.int64)
            if columns.size and columns.dtype != bool and (np.diff(columns) == 1).all():
                columns = slice(int(columns[0]), int(columns[-1]) + 1)  # which copies nothing
        return Columns(
            _contiguous(self.values[columns]),
            self.categorical[columns],
            self.n_distinct[columns],
            None if order is None else np.ascontiguousarray(order[columns]),
            gaps=None if self.gaps is None else self.gaps[columns],
        )

    def rows(self, rows: IntArray | BoolArray) -> "Columns":
        """The same columns on some of the samples (scaling and ties as before).

        A sample may be there several times; then nobody knows any more what sorts the columns.
        """
        values, order = np.ascontiguousarray(self.values[:, rows]), None
        once = rows.dtype == bool or np.bincount(rows).max(initial=0) <= 1
        if self.known_order is not None and once:
            place = np.full(self.n_samples, -1, np.int32)
            place[rows] = np.arange(values.shape[1], dtype=np.int32)
            moved = place[self.known_order]
            order = moved[moved >= 0].reshape(values.shape)
        return Columns(values, self.categorical, self.n_distinct, order, gaps=self.gaps)

    def span(self, first: int, last: int, order: IntArray | None = None) -> "Columns":
        """The same columns on neighbouring samples; ``order`` is what sorts them there."""
        values = _contiguous(self.values[:, first:last])
        return Columns(values, self.categorical, self.n_distinct, order, gaps=self.gaps)

    def permuted(self, permutations: IntArray) -> "Columns":
        """All columns permuted by the first permutation, then all by the second, ..."""
        n_times, n = permutations.shape
        values = self.values[:, permutations].transpose(1, 0, 2).reshape(-1, n)
        order = None
        if self.known_order is not None:
            back = np.empty_like(permutations)
            np.put_along_axis(back, permutations, np.arange(n, dtype=np.int32)[None], axis=1)
            order = back[:, self.known_order].reshape(-1, n)
        return Columns(
            values=np.ascontiguousarray(values),
            categorical=np.tile(self.categorical, n_times),
            n_distinct=np.tile(self.n_distinct, n_times),
            known_order=order,
            gaps=None if self.gaps is None else np.tile(self.gaps, n_times),
        )

    def beside(self, other: "Columns") -> "Columns":
        """These columns and those of another table of the same samples."""
        gaps = np.concatenate([c.labelled & ~c.categorical for c in (self, other)])
        return Columns(
            np.concatenate([self.values, other.values]),
            np.concatenate([self.categorical, other.categorical]),
            np.concatenate([self.n_distinct, other.n_distinct]),
            gaps=gaps if gaps.any() else None,
        )


@dataclass(frozen=True)
class Batch:
    """The one question everything else asks: how informative is each candidate?

    Each of the ``candidates`` is scored on its own, given the ``given`` columns and the
    ``target``: MI(given and candidate; target) under the criterion "mi", and
    I(candidate; target | given) under "cmi" and "gain". Under "cmi" the candidate and the
    given columns are two blocks, the larger distance counting; under "gain" they are one
    block with one norm, as under "mi": the difference that the candidate makes to the set
    (both are the same in the maximum norm). A candidate is one column, or ``width``
    neighbouring ones. One neighbour search serves every K from the first to the second of
    ``n_neighbors``. ``folds`` numbers a fold for each sample: the question is then asked of the
    samples without each fold. With ``permutations`` (n_times, n_samples) the question is asked
    of permuted columns: all candidates permuted by the first, then by the second, ...

    What counts of categories owe to chance is not the engine's business: see
    :mod:`infosieve._scoring.mixed`.
    """

    candidates: Columns
    given: Columns
    target: Columns
    criterion: Criterion = "mi"
    method: Method = "ksg1"
    metric: Metric = "euclidean"
    n_neighbors: tuple[int, int] = (3, 10)
    folds: IntArray | None = None
    width: int = 1
    permutations: IntArray | None = None

    @property
    def conditional(self) -> bool:
        """Whether there is something to condition on."""
        return self.criterion != "mi" and self.given.n_columns > 0

    @property
    def n_candidates(self) -> int:
        times = 1 if self.permutations is None else len(self.permutations)
        return times * self.candidates.n_columns // self.width

    def materialised(self) -> "Batch":
        """The same question with the permuted columns as candidates."""
        if self.permutations is None:
            return self
        permuted = self.candidates.permuted(self.permutations)
        return replace(self, candidates=permuted, permutations=None)

    def rows(self, rows: IntArray | BoolArray) -> "Batch":
        """The same question asked of some of the samples."""
        return replace(
            self,
            candidates=self.candidates.rows(rows),
            given=self.given.rows(rows),
            target=self.target.rows(rows),
            folds=None,
        )

    def span(self, first: int, last: int, order: IntArray | None = None) -> "Batch":
        """The same question asked of neighbouring samples; ``order`` sorts the candidates there."""
        return replace(
            self,
            candidates=self.candidates.span(first, last, order),
            given=self.given.span(first, last),
            target=self.target.span(first, last),
            folds=None if self.folds is None else self.folds[first:last],
        )

    def without_folds(self) -> "list[IntArray]":
        """The rows that remain without each fold."""
        assert self.folds is not None
        return [np.flatnonzero(self.folds != fold) for fold in range(self.folds.max() + 1)]

    def only(self, candidates: IntArray) -> "Batch":
        """The same question asked of some of the candidates."""
        columns = (candidates[:, None] * self.width + np.arange(self.width)).ravel()
        return replace(self, candidates=self.candidates.take(columns))


class ColumnSet(Protocol):
    """Prepared columns, at hand (:class:`Columns`) or read when somebody takes them."""

    @property
    def n_columns(self) -> int: ...

    @property
    def n_samples(self) -> int: ...

    @property
    def categorical(self) -> BoolArray: ...

    @property
    def n_distinct(self) -> IntArray: ...

    @property
    def constant(self) -> BoolArray: ...

    @property
    def labelled(self) -> BoolArray: ...

    def take(self, columns: Which, with_order: bool = True) -> Columns: ...


class Runner(Protocol):
    """Runs tasks that share the memory of this process. Contains no maths."""

    n_workers: int

    def run(self, tasks: Sequence[Callable[[], T]]) -> list[T]:
        """The tasks' results, in the order of the tasks."""
        ...


class ColumnNumbers(Sequence[int]):
    """Numbers of columns, ascending, each once: results come in this order, whoever asks.

    No tuple, because numpy would take one for an index of several dimensions.
    """

    __slots__ = ("_numbers",)

    def __init__(self, columns: Iterable[int]) -> None:
        self._numbers = tuple(sorted(set(map(int, columns))))

    def __getitem__(self, at: Any) -> Any:
        return self._numbers[at]

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColumnNumbers) and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(self._numbers)


class Executor(Protocol):
    """Who distributes jobs, which do not talk to each other. Contains no maths.

    A job is a function whose first argument is a :class:`Runner` to work with. The others may
    be what :meth:`share` and :meth:`place` gave: the function gets the value itself.

    Attributes
    ----------
    here : Runner
        For what is done in this process.
    remote : bool
        Whether jobs run in other processes.
    text : str or None
        What a result says of it.
    progress : Progress
        Who hears how far it is.
    """

    here: Runner
    remote: bool
    text: str | None
    progress: Any

    def share(self, value: T) -> T:
        """What stands for a value that many jobs need."""
        ...

    def place(self, x: ColumnSet) -> Any:
        """Columns where jobs find them: see :class:`infosieve._executors.threads.Whole`."""
        ...

    def can_read(self, source: Any) -> bool:
        """Whether jobs can read a column source themselves."""
        ...

    def missing_requirement(self, check: Callable[[], str | None]) -> str | None:
        """What ``check`` says where jobs run: None if it finds none."""
        ...

    def batch_size(self, kind: str, total: int, whole: int, fewest: int) -> int:
        """How many candidates a job of this kind should score.

        Of ``total``, where a whole table has ``whole``; ``fewest`` are worth a job.
        """
        ...

    def map(
        self, job: Callable[..., T], many: Iterable[tuple[int, tuple[Any, ...]]], kind: str = ""
    ) -> Iterator[T]:
        """The jobs' results, in order, as they are asked for.

        ``many`` has, for each job, how many candidates it scores and its arguments; it is read
        as the work goes on. A caller who stops asking cancels what is under way.
        """
        ...


class Engine(Protocol):
    """Where a batch is scored: neighbours are found and counted.

    Attributes
    ----------
    name : str
        What a result says of it.
    at_once : int
        How many candidates it wants to score together.
    surrogate_bytes, piece_bytes : int
        How large permuted columns may become, and how much of a table it wants at once.
    """

    name: str
    at_once: int
    surrogate_bytes: int
    piece_bytes: int

    def score(self, batch: Batch, runner: Runner) -> FloatArray:
        """Nats, of shape (n_folds, n_candidates, n_K); n_folds is 1 without folds."""
        ...
