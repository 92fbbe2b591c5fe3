"""Threads of this process: the kernels release the GIL."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from operator import call
from typing import Any, TypeVar

import numpy as np
from joblib import cpu_count, effective_n_jobs

from infosieve._core.chunks import chunks
from infosieve._core.progress import Progress
from infosieve._core.types import ColumnNumbers, ColumnSet, Runner, Which

T = TypeVar("T")


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    """The threads of the whole library; they start when first needed."""
    return ThreadPoolExecutor(max(32, os.cpu_count() or 1), thread_name_prefix="infosieve")


if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=_pool.cache_clear)


class Whole:
    """Columns in one place; ``widest``: the most of a piece."""

    def __init__(self, x: Any, n_columns: int) -> None:
        self.x, self.widest = x, n_columns

    def pieces(self, columns: ColumnNumbers, size: int) -> Iterator[tuple[Any, Which]]:
        """All the columns, in order, at most ``size`` at a time: who has them, and which."""
        if len(columns) == self.widest <= size:
            yield self.x, slice(None)
            return
        for part in chunks(len(columns), size):
            yield self.x, np.array(columns[part], np.int64)

    def together(self, columns: Sequence[int]) -> tuple[Any, Which]:
        """The columns for one job."""
        return self.x, np.array(columns, np.int64)


class Threads:
    """Runs tasks in threads that the whole library shares, and jobs one after the other.

    ``n_jobs`` is as scikit-learn's users expect: None is 1 unless a joblib context says otherwise.
    """

    def __init__(self, n_jobs: int | None = None, progress: Progress | None = None) -> None:
        if n_jobs is None:
            n_jobs = effective_n_jobs(None)
        self.n_workers: int = n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs)
        self.here: Runner = self
        self.progress = Progress(0) if progress is None else progress

    remote: bool = False
    text: str | None = None

    def share(self, value: T) -> T:
        """The value itself."""
        return value

    def place(self, x: ColumnSet) -> Whole:
        """Where the columns are already."""
        return Whole(x, x.n_columns)

    def can_read(self, source: Any) -> bool:
        """True: this process has opened the source."""
        return True

    def missing_requirement(self, check: Callable[[], str | None]) -> str | None:
        """What this process is missing."""
        return check()

    def batch_size(self, kind: str, total: int, whole: int, fewest: int) -> int:
        """Whole tables, or as many surrogates of few columns as the engine takes at once."""
        return whole

    def map(
        self, job: Callable[..., T], many: Iterable[tuple[int, tuple[Any, ...]]], kind: str = ""
    ) -> Iterator[T]:
        """The jobs' results, one after the other."""
        for _, arguments in many:
            yield job(self, *arguments)

    def run(self, tasks: Sequence[Callable[[], T]]) -> list[T]:
        """The tasks' results, in their order. An error ends the rest and is raised."""
        if self.n_workers == 1 or len(tasks) < 2:
            return list(map(call, tasks))
        results: dict[int, T] = {}
        queue: Iterator[tuple[int, Callable[[], T]]] = iter(enumerate(tasks))
        lock, failed = threading.Lock(), threading.Event()

        def work() -> None:
            while not failed.is_set():
                with lock:
                    item = next(queue, None)
                if item is None:
                    return
                try:
                    results[item[0]] = item[1]()
                except BaseException:
                    failed.set()
                    raise

        try:
            futures = [_pool().submit(work) for _ in range(min(self.n_workers, len(tasks)))]
            for future in futures:
                future.result()
        finally:
            failed.set()  # after Ctrl-C, too, no thread takes another task
        return [results[i] for i in range(len(tasks))]
