"""Workers of a Dask cluster: jobs are submitted, results gathered in order. No maths.

What jobs need is sent once. Workers that can read the files of a table read its columns
themselves; else blocks of columns are scattered among them. Nothing is lost with a worker: what
it held is sent again, what it was doing is done by another.
"""

import gc
import pickle
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any, Self, TypeVar
from weakref import WeakSet

import dask
import distributed
import numpy as np
from dask.utils import parse_timedelta

from infosieve._core.chunks import chunks
from infosieve._core.dialect import parameter
from infosieve._core.documents import versions
from infosieve._core.errors import MissingRequirementError
from infosieve._core.files import first_line
from infosieve._core.types import ColumnNumbers, ColumnSet, Which
from infosieve._executors import WorkersLostError
from infosieve._executors.threads import Threads, Whole
from infosieve._sources import ColumnSource

T = TypeVar("T")

# What a job should take, in seconds: scheduling one costs a few milliseconds.
_JOB_SECONDS = 0.5
# Candidates of a job, before it is known how long one takes.
_FIRST = 256
# Jobs under way for each thread of the cluster.
_AHEAD = 3
# Values up to this size are sent with each job: bytes.
_SMALL = 1 << 16
# A block of scattered columns: bytes at most, columns at least.
_BLOCK_BYTES, _BLOCK_COLUMNS = 1 << 24, 32
# How often a job whose data were lost is sent again.
_TRIES = 10
# How often a wait looks around: seconds.
_LOOK = 1.0
# What was shared last is kept, in case it is shared again.
_KEPT = 8

_GONE = (distributed.CancelledError, distributed.comm.CommClosedError)


class Dask:
    """Distributes jobs among the workers of a Dask cluster.

    See :class:`infosieve._core.types.Executor`.

    Parameters
    ----------
    client : dask.distributed.Client or str
        A client, or the address of a scheduler. Security is Dask's own: that of the client, or
        of Dask's configuration.
    here : Threads
        For what is done in this process; its progress hears of workers that come and go.
    """

    remote = True

    def __init__(self, client: Any, here: Threads) -> None:
        self.here, self.progress = here, here.progress
        self._given = client
        self._recent: OrderedDict[int, tuple[Any, Any]] = OrderedDict()
        self._seconds: dict[str, deque[float]] = {}
        self._readable: dict[int, tuple[ColumnSource, bool]] = {}
        self._unfit: set[str] = set()  # workers that came later and cannot do what is asked
        self._live: set[_Job] = set()
        self._sent: WeakSet[_Shared] = WeakSet()
        self._numbers = count()
        self._threads: dict[str, int] = {}
        self._looked = 0.0
        self._lines: dict[str, int] = {}

    def __enter__(self) -> Self:
        self.client = self._connected()
        try:
            self._wait_for_workers()
            self._greet()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._recent.clear()
        for shared in self._sent:  # somebody may keep a traceback, and with it all of this
            shared.forget()
        if self.client.status == "running":
            with suppress(Exception):
                self._cancel(self._live)
                self._look_around()
                self._show_logs()
        if isinstance(self._given, str):
            with suppress(Exception):
                self.client.close(timeout=5)

    @property
    def text(self) -> str:
        return f"dask, {len(self._threads)} workers"

    # What jobs need

    def share(self, value: T) -> T:
        """What stands for a value on all workers; a small one stands for itself."""
        known = self._recent.pop(id(value), None)
        if known is None:
            shared: Any = value
            if _size(value) > _SMALL:
                shared = self._sending(lambda: value, broadcast=True)
            known = value, shared
        self._recent[id(value)] = known
        while len(self._recent) > _KEPT:
            self._recent.popitem(last=False)
        return known[1]  # type: ignore[no-any-return]

    def can_read(self, source: ColumnSource) -> bool:
        """Whether all workers can read a source themselves."""
        if id(source) not in self._readable:
            readable = False
            if source.visible():  # if not even here, it need not be sent
                answers = self._ask(_can_read, source)
                readable = all(answers.values())
            self._readable[id(source)] = source, readable
            if not readable:
                self.progress.say(
                    f"not all workers can read {source.where}: columns are sent to them"
                )
        return self._readable[id(source)][1]

    def missing_requirement(self, check: Callable[[], str | None]) -> str | None:
        """What a worker is missing; of several, the first one."""
        answers = self._ask(check)
        return next((f"on {who}: {text}" for who, text in answers.items() if text), None)

    def place(self, x: ColumnSet) -> Any:
        """Columns on the workers: read there, or sent in blocks."""
        source = getattr(x, "source", None)
        if source is not None and self.can_read(source):
            return Whole(self.share(x), x.n_columns)
        return _Blocks(x, max(1, sum(self._threads.values())), self._sending)

    def _sending(self, make: Callable[[], Any], broadcast: bool) -> "_Shared":
        shared = _Shared(make, broadcast)
        self._sent.add(shared)
        return shared

    # Jobs

    def batch_size(self, kind: str, total: int, whole: int, fewest: int) -> int:
        """So many that a job takes about half a second, and all workers have some."""
        known = self._seconds.get(kind)
        size = _FIRST if not known else int(_JOB_SECONDS / max(min(known), 1e-9))
        mine = -(-total // (_AHEAD * max(1, sum(self._threads.values()))))
        return max(1, min(max(size, fewest), max(mine, fewest // 4)))

    def map(
        self, job: Callable[..., T], many: Iterable[tuple[int, tuple[Any, ...]]], kind: str = ""
    ) -> Iterator[T]:
        """The jobs' results, in order; some are always under way."""
        self._wait_for_workers()
        waiting: deque[_Job] = deque()
        unread = iter(many)
        try:
            while True:
                while len(waiting) < max(2, _AHEAD * sum(self._threads.values())):
                    item = next(unread, None)
                    if item is None:
                        break
                    weight, arguments = item
                    waiting.append(_Job(function=job, weight=weight, arguments=arguments))
                    self._live.add(waiting[-1])
                    self._submit(waiting[-1])
                if not waiting:
                    return
                if time.monotonic() > self._looked + _LOOK:
                    self._wait_for_workers()
                result, seconds = self._result(waiting[0])
                done = waiting.popleft()
                done.future.release()  # a traceback may keep it, but not the result on a worker
                self._live.discard(done)
                known = self._seconds.setdefault(kind, deque(maxlen=8))
                known.append(seconds / max(1, done.weight))
                yield result
        finally:  # the caller has enough, or something went wrong
            if waiting and self.client.status == "running":
                with suppress(Exception):
                    self._cancel(waiting)
            if hasattr(unread, "close"):
                unread.close()

    def _cancel(self, jobs: Iterable["_Job"]) -> None:
        jobs = list(jobs)
        self.client.cancel([job.future for job in jobs if job.future is not None], force=True)
        self._live.difference_update(jobs)

    def _submit(self, job: "_Job") -> None:
        name = job.function.__name__.strip("_")
        key = f"infosieve-{name}-{next(self._numbers)}-{time.time_ns():x}"
        while True:
            job.tries += 1
            try:
                arguments = [
                    a.future(self.client) if isinstance(a, _Shared) else a for a in job.arguments
                ]
                job.future = self.client.submit(
                    _run,
                    job.function,
                    *arguments,
                    key=key,
                    pure=False,
                    workers=list(self._threads) if self._unfit else None,
                )
                return
            except (distributed.TimeoutError, *_GONE):
                if job.tries >= _TRIES:
                    raise WorkersLostError(
                        "The Dask workers could not be sent their data."
                    ) from None
                self._wait_for_workers()

    def _result(self, job: "_Job") -> tuple[Any, float]:
        while True:
            try:
                # Only to wait ends after a look: requests for results are gathered by Dask, and one
                # that was given up may take the next one with it.
                job.future.exception(timeout=_LOOK)
                return job.future.result(timeout=_patience())  # type: ignore[no-any-return]
            except distributed.TimeoutError:
                if job.future.status == "error":  # the job's own
                    raise
                self._wait_for_workers()
            except distributed.KilledWorker as error:
                raise WorkersLostError(
                    f"A job ended the workers that ran it, one after the other ({error}). They "
                    "may have too little memory: give them more, or fewer threads each. Their "
                    "logs may have the reason."
                ) from None
            except _GONE as error:
                if job.tries >= _TRIES:
                    raise WorkersLostError(
                        f"A job was lost {job.tries} times with the workers that had its data "
                        f"({error}). Look at the workers' logs."
                    ) from None
                self._wait_for_workers()
                self._submit(job)

    # Workers

    def _connected(self) -> Any:
        if not isinstance(self._given, str):
            if getattr(self._given, "asynchronous", False):
                raise TypeError(
                    f"{parameter('executor')} is an asynchronous client, which cannot be waited "
                    "for. Pass a plain one: Client(address)."
                )
            if self._given.status != "running":
                raise WorkersLostError(
                    f"{parameter('executor')} is a Dask client that is {self._given.status}. "
                    "Pass one that is connected."
                )
            return self._given
        check_address(self._given)
        reason = None
        try:
            return distributed.Client(self._given, set_as_default=False)
        except KeyboardInterrupt:
            pass
        except (OSError, ValueError, TypeError) as error:
            reason = first_line(error)
        # A client that is half made closes now, when nothing refers to it; at the end of the
        # process it would wait for its own thread, which is gone, and complain.
        gc.collect()
        if reason is None:
            raise KeyboardInterrupt
        raise WorkersLostError(
            f"No Dask scheduler answers at {self._given!r} ({reason}). Check the address, which "
            "'dask scheduler' prints, or wait longer (distributed.comm.timeouts.connect in Dask's "
            "configuration)."
        )

    def _greet(self) -> None:
        """The workers must run this version, or their bits might differ."""
        mine = versions()["infosieve"]
        for address, theirs in self._ask(_version).items():
            if theirs != mine:
                raise MissingRequirementError(
                    f"The Dask worker {address} has infosieve {theirs}, this process has {mine}. "
                    "Install the same version everywhere."
                )
        if self.progress.verbose:
            self._lines = {a: len(lines) for a, lines in self.client.get_worker_logs().items()}
        workers, threads = len(self._threads), sum(self._threads.values())
        link = self.client.dashboard_link
        self.progress.say(f"{workers} Dask workers, {threads} threads; {link}")

    def _ask(self, question: Callable[..., T], *arguments: Any) -> dict[str, T]:
        """Ask all workers, once; again, if one is lost meanwhile."""
        for _ in range(_TRIES):
            try:
                return self.client.run(question, *arguments)  # type: ignore[no-any-return]
            except ModuleNotFoundError as error:
                raise MissingRequirementError(
                    f"A Dask worker cannot import what it needs ({error}). Install infosieve, in "
                    "the same version, wherever workers run."
                ) from None
            except (OSError, *_GONE):
                self._wait_for_workers()
        raise WorkersLostError("The Dask workers do not answer.")

    def _look_around(self) -> None:
        """Note which workers there are; report those that came and went."""
        first, self._looked = self._looked == 0.0, time.monotonic()
        now = dict(self.client.nthreads())
        for address in self._threads.keys() - now.keys():
            self.progress.say(f"the worker {address} is gone; others do its work")
        if not first:
            for address in now.keys() - self._threads.keys() - self._unfit:
                self._meet(address)
        self._unfit &= now.keys()
        self._threads = {who: n for who, n in now.items() if who not in self._unfit}

    def _meet(self, address: str) -> None:
        """A worker that comes later must be of use, or gets no jobs."""
        sources = [source for source, readable in self._readable.values() if readable]
        fit = False
        with suppress(Exception):
            answer = self.client.run(_introduce, sources, workers=[address])[address]
            fit = answer == (versions()["infosieve"], True)
        if not fit:
            self._unfit.add(address)
        self.progress.say(
            f"the worker {address} has come"
            + ("" if fit else ", but has another version of infosieve or cannot read the table")
        )

    def _wait_for_workers(self) -> None:
        """Until the scheduler answers and somebody works for it; for a while, not for ever."""
        patience = _patience()
        deadline = time.monotonic() + patience
        announced = False
        while True:
            reached = False
            with suppress(OSError, distributed.TimeoutError, *_GONE):
                if self.client.status == "running":
                    self._look_around()
                    reached = True
            if reached and self._threads:
                return
            if self.client.status in ("closed", "closing") or time.monotonic() > deadline:
                raise WorkersLostError(
                    f"No worker has been at the Dask scheduler for {patience:.0f} seconds. Start "
                    "some, or wait longer (distributed.comm.timeouts.connect in Dask's "
                    "configuration)."
                    if reached
                    else "The Dask scheduler is gone."
                )
            if not announced:
                self.progress.say("waiting for " + ("a worker" if reached else "the scheduler"))
                announced = True
            time.sleep(0.2)

    def _show_logs(self) -> None:
        """Show what workers logged: warnings, or all at a verbosity of 2."""
        if not self.progress.verbose:
            return
        levels = ("WARNING", "ERROR", "CRITICAL")
        for address, lines in self.client.get_worker_logs().items():
            known = self._lines.get(address, 0)  # newest first
            for level, text in reversed(lines[: len(lines) - known]):
                if self.progress.verbose > 1 or level in levels:
                    self.progress.say(f"{address}: {text}")


def check_address(address: str, name: str = "") -> None:
    """Refuse what can be no address: to wait for an answer would be in vain."""
    scheme, place = distributed.comm.parse_address(address)
    with suppress(ValueError):
        backend = distributed.comm.registry.get_backend(scheme)
        try:
            host, port = backend.get_address_host_port(place)
        except NotImplementedError:  # of a kind without ports
            return
        if host and host == "".join(host.split()) and 0 < port < 1 << 16:
            return
    raise ValueError(
        f"{name or parameter('executor')} must be the address of a Dask scheduler, such as "
        f"'tcp://10.0.0.1:8786'; 'dask scheduler' prints its own. Got {address!r} instead."
    )


class _Job:
    """What was asked for, so that it can be asked for again."""

    def __init__(
        self, *, function: Callable[..., Any], weight: int, arguments: tuple[Any, ...]
    ) -> None:
        self.function, self.weight, self.arguments = function, weight, arguments
        self.future: Any = None
        self.tries = 0


class _Shared:
    """A value on the workers; sent again if they have lost it."""

    def __init__(self, make: Callable[[], Any], broadcast: bool) -> None:
        self._make, self._broadcast, self._future = make, broadcast, None

    def future(self, client: Any) -> Any:
        if self._future is None or self._future.status != "finished":
            # In a list, or a value that is one itself would be taken apart.
            made = [self._make()]
            (self._future,) = client.scatter(made, broadcast=self._broadcast, hash=False)
        return self._future

    def forget(self) -> None:
        if self._future is not None:
            self._future.release()
        self._future = None


class _Blocks:
    """Columns in blocks among the workers. See :class:`infosieve._core.types.Place`."""

    def __init__(self, x: ColumnSet, n_threads: int, sending: Callable[..., _Shared]) -> None:
        fitting = max(1, _BLOCK_BYTES // (8 * x.n_samples))
        self.widest = min(fitting, max(_BLOCK_COLUMNS, -(-x.n_columns // (2 * n_threads))))
        self.x, self._sending = x, sending
        self.blocks = [
            sending(partial(x.take, columns), broadcast=False)
            for columns in chunks(x.n_columns, self.widest)
        ]

    def pieces(self, columns: ColumnNumbers, size: int) -> Iterator[tuple[Any, Which]]:
        wanted = np.asarray(columns, np.int64)
        number = wanted // self.widest
        for run in np.split(wanted, np.flatnonzero(np.diff(number)) + 1):
            for part in chunks(run.size, size):
                some = run[part]
                yield self.blocks[some[0] // self.widest], some % self.widest

    def together(self, columns: Sequence[int]) -> tuple[Any, Which]:
        taken = self.x.take(list(columns), with_order=False)
        return self._sending(lambda: taken, broadcast=False), slice(None)


def _size(value: Any) -> int:
    """Bytes of a value that is sent."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, 5, buffer_callback=buffers.append)
    return len(head) + sum(buffer.raw().nbytes for buffer in buffers)


def _run(job: Callable[..., T], *arguments: Any) -> tuple[T, float]:
    """On a worker: a job, and how long it took."""
    start = time.perf_counter()
    result = job(Threads(1), *arguments)
    return result, time.perf_counter() - start


def _patience() -> float:
    """How long a worker or the scheduler may be away: seconds."""
    return float(parse_timedelta(dask.config.get("distributed.comm.timeouts.connect")))


def _can_read(source: ColumnSource) -> bool:
    return source.visible()


def _version() -> str:
    return versions()["infosieve"]


def _introduce(sources: list[ColumnSource]) -> tuple[str, bool]:
    return _version(), all(source.visible() for source in sources)
