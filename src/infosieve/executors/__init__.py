"""Who spreads jobs over threads or workers. No mathematics lives here."""

import copy
from typing import Any

from infosieve.executors.threads import Threads
from infosieve.progress import Progress


def executor_of(executor: Any, n_jobs: int | None, progress: Progress | None = None) -> Any:
    """Threads, or the workers of a Dask client or address: a context.

    ``progress`` hears how far it is, and of the workers.
    """
    threads = Threads(n_jobs, progress)
    if executor is None:
        return threads
    known = type(executor).__module__.partition(".")[0] == "distributed"
    if not known and not isinstance(executor, str):
        raise TypeError(
            "The 'executor' parameter must be None (threads of this process), a "
            "dask.distributed.Client, or the address of a Dask scheduler such as "
            f"'tcp://10.0.0.1:8786'. Got {executor!r} instead."
        )
    try:
        from infosieve.executors.dask import Dask
    except ImportError as error:
        raise ImportError(
            f"The 'executor' parameter asks for Dask, which is not here ({error}): "
            "pip install 'infosieve[dask]'."
        ) from None
    return Dask(executor, threads, threads.progress)


class KeepsExecutor:
    """An estimator whose parameter ``executor`` may be a Dask client, which cannot be copied.

    Clones share it; a pickled estimator has the scheduler's address instead.
    """

    executor: Any

    def __sklearn_clone__(self) -> Any:
        plain = copy.copy(self)
        plain.executor = None
        fresh = super(KeepsExecutor, plain).__sklearn_clone__()  # type: ignore[misc]
        fresh.executor = self.executor
        return fresh

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        if state["executor"] is not None and not isinstance(state["executor"], str):
            state["executor"] = state["executor"].scheduler.address
        return state
