"""Jobs are distributed among threads or workers. Nothing is computed here."""

import copy
from contextlib import nullcontext
from typing import Any

from infosieve._core.dialect import parameter
from infosieve._core.progress import Progress
from infosieve._core.rules import ParameterTypeError
from infosieve._executors.threads import Threads


class WorkersLostError(ConnectionError):
    """The cluster is gone, or its workers are.

    Raised by whatever was given an ``executor``. A search keeps the steps that were finished:
    ``path_``, ``result_`` and the checkpoint have them.

    See Also
    --------
    MISelector : Its parameters ``executor`` and ``checkpoint``.

    Examples
    --------
    >>> from infosieve import MISelector, WorkersLostError
    >>> selector = MISelector(executor="tcp://10.0.0.1:8786", checkpoint="steps.json")
    >>> def fit_or_wait(X, y):
    ...     try:
    ...         return selector.fit(X, y)
    ...     except WorkersLostError as error:
    ...         print(f"{error} Start it again, and call again.")
    """


def executor_of(executor: Any, n_jobs: int | None, progress: Progress | None = None) -> Any:
    """Threads, or the workers of a Dask client or address: a context.

    ``progress`` is told how far a run is, and of workers that come and go.
    """
    threads = Threads(n_jobs, progress)
    if executor is None:
        return nullcontext(threads)
    if not (isinstance(executor, str) or _is_client(executor)):
        rule = (
            "None (threads of this process), a dask.distributed.Client, or the address of a Dask "
            "scheduler such as 'tcp://10.0.0.1:8786'"
        )
        cluster = "Of a cluster, pass Client(cluster)." if hasattr(executor, "scale") else ""
        raise ParameterTypeError("executor", rule, executor, cluster)
    return _dask(parameter("executor")).Dask(executor, threads)


def check_address(address: str, name: str) -> None:
    """Refuse what can be no address of a Dask scheduler; ``name`` is the parameter or option."""
    _dask(name).check_address(address, name)


def _dask(name: str) -> Any:
    try:
        from infosieve._executors import dask
    except ImportError as error:
        raise ImportError(
            f"{name} asks for Dask, which is not here ({error}): "
            "pip install dask distributed fsspec."
        ) from None
    return dask


def _is_client(executor: Any) -> bool:
    if type(executor).__module__.partition(".")[0] != "distributed":
        return False
    import distributed

    return isinstance(executor, distributed.Client)


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
        state: Any = dict(super().__getstate__())  # type: ignore[call-overload]
        if _is_client(state["executor"]):
            scheduler = state["executor"].scheduler  # None once the client is closed
            state["executor"] = None if scheduler is None else scheduler.address
        return state
