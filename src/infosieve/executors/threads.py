"""Threads of this process: the kernels release the GIL."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from joblib import effective_n_jobs

T = TypeVar("T")


@cache
def _pool(n_workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_workers, thread_name_prefix="infosieve")


if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=_pool.cache_clear)


class Threads:
    """Runs tasks in threads that the whole library shares.

    Parameters
    ----------
    n_jobs : int or None
        As scikit-learn's users expect: None is 1 unless a joblib context says otherwise,
        -1 is every core.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_workers: int = effective_n_jobs(n_jobs)

    def run(self, tasks: Sequence[Callable[[], T]]) -> list[T]:
        """The tasks' results, in their order. The first error ends the rest."""
        if self.n_workers == 1 or len(tasks) < 2:
            return [task() for task in tasks]
        futures = [_pool(self.n_workers).submit(task) for task in tasks]
        try:
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise
