"""The GPU engine: lays the data out, cuts what does not fit, launches, adds the sums."""

import threading
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from infosieve._core.chunks import chunks
from infosieve._core.dialect import setting
from infosieve._core.files import first_line
from infosieve._core.types import Batch, Columns, IntArray, Runner
from infosieve._engines.ksg import CountingEngine, bivariate, psi_table
from infosieve._engines.numba.engine import NumbaEngine

# Neighbours that a candidate may ask for.
MAX_K = 32
LANES, WARPS = 32, 4
# The share of the free memory that a batch may take, and the least that is worth a try: bytes.
_SHARE, _LEAST = 0.7, 1 << 24
# Listed neighbours of a sample, at most: what shared memory sorts.
_MAX_ROOM = 4096
_BINS = 1024
# From here on a target of few values is left to the CPU: samples.
_MANY = 20_000
# Kernels and memory are shared by the threads of a process.
_lock = threading.Lock()
# Surrogates that are made at once.
_MOST_COPIES = 32_768


def why_no_gpu() -> str | None:
    """Why there is no GPU to use, and what to do about it; None if there is one."""
    try:
        import cupy
    except ImportError as error:
        return f"CuPy is not here ({error}): pip install 'cupy-cuda13x[ctk]'"
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
        cupy.cuda.nvrtc.getVersion()
        driver, runtime = (
            cupy.cuda.runtime.driverGetVersion(),
            cupy.cuda.runtime.runtimeGetVersion(),
        )
    except Exception as error:  # CuPy raises its own, or whatever loading a library raises
        text = first_line(error)
        return (
            f"no NVIDIA GPU, or no compiler for it, answers ({text}). Check nvidia-smi, the "
            "driver, and that CuPy finds NVRTC (pip install 'cupy-cuda13x[ctk]' brings it)"
        )
    if n_devices == 0:
        return "no NVIDIA GPU is visible. Check nvidia-smi and CUDA_VISIBLE_DEVICES"
    if driver // 1000 < runtime // 1000:
        return (
            f"the driver is for CUDA {driver // 1000}, CuPy for CUDA {runtime // 1000}. Update the "
            f"driver, or install cupy-cuda{driver // 1000}x"
        )
    return None


class CudaEngine(CountingEngine):
    """Scores batches on the current NVIDIA GPU. See :class:`infosieve._core.types.Engine`.

    ``or_cpu``: the CPU may do what the GPU has no memory for.
    """

    at_once = 1 << 16
    surrogate_bytes = 1 << 32
    piece_bytes = 1 << 29

    def __init__(self, or_cpu: bool = False) -> None:
        self.or_cpu = or_cpu

    @property
    def name(self) -> str:
        if why_no_gpu() is not None:
            return "cuda (of workers)"
        import cupy

        number = cupy.cuda.runtime.getDevice()
        return f"cuda ({cupy.cuda.runtime.getDeviceProperties(number)['name'].decode()})"

    def sums(self, batch: Batch, runner: Runner) -> IntArray:
        """Sums of psi terms in fixed point; what does not fit into memory is cut smaller."""
        if _better_on_the_cpu(batch):
            return NumbaEngine().sums(_on_the_host(batch.materialised()), runner)
        try:
            return _within_memory(lambda budget: _sums(batch, budget))  # type: ignore[no-any-return]
        except MemoryError:
            if not self.or_cpu:
                raise
            return NumbaEngine().sums(_on_the_host(batch.materialised()), runner)

    def surrogates(
        self, parts: tuple[Any, ...], permutations: IntArray, which: IntArray, numbers: IntArray
    ) -> Any:
        """Copies on the device: (n_copies, n_samples). None where it has no room for them.

        ``parts`` is (values,) of columns that are permuted, or (fitted, residuals, ordered,
        residual_std): see :func:`infosieve._engines.numba.surrogates.copies`.
        """
        try:
            return _within_memory(lambda _: _surrogates(parts, permutations, which, numbers))
        except MemoryError:
            return None

    def false_counts(self, x: Columns, target: Columns) -> IntArray:
        """The C vectors of all columns, of shape (n_columns, n_samples)."""
        return _within_memory(lambda budget: _false_counts(x, target, budget))  # type: ignore[no-any-return]


def _surrogates(
    parts: tuple[Any, ...], permutations: IntArray, which: IntArray, numbers: IntArray
) -> Any:
    import cupy as cp

    kernels, (n_copies, n) = _module(()), (which.size, permutations.shape[1])
    moves, column, number = (
        cp.asarray(np.ascontiguousarray(array, np.int32))
        for array in (permutations, which, numbers)
    )
    out = cp.empty((n_copies, n), np.float64)
    for first in range(0, n_copies, _MOST_COPIES):  # a grid has so many rows
        at = slice(first, first + _MOST_COPIES)
        some = column[at], number[at], out[at]
        grid = min(256, -(-n // 128)), len(out[at])
        arguments: tuple[Any, ...]
        if len(parts) == 1:
            arguments = cp.asarray(parts[0]), moves, some[0], some[1], np.int32(n), some[2]
            kernels.get_function("gather")(grid, (128,), arguments)
            continue
        fitted, residuals, ordered, deviation = (cp.asarray(part) for part in parts)
        moved = cp.empty(some[2].shape, np.float64)
        arguments = fitted, residuals, deviation, moves, some[0], some[1], np.int32(n), moved
        kernels.get_function("move")(grid, (128,), arguments)
        arguments = moved, ordered, some[0], np.int32(n), some[2]
        kernels.get_function("put_in_order")(grid, (128,), arguments)
    return out


def _better_on_the_cpu(batch: Batch) -> bool:
    """Sets of columns; and large tables whose target has few values.

    Neighbours are looked for along the target: among many samples of one class, that is all of
    them, while the CPU looks along the column.
    """
    n = batch.target.n_samples
    few = bivariate(batch) and 4 * int(batch.target.n_distinct[0]) < n
    return batch.width > 1 or (few and n > _MANY)


def _on_the_host(batch: Batch) -> Batch:
    """Candidates that were made on the device, for the CPU."""
    if isinstance(batch.candidates.values, np.ndarray):
        return batch
    import cupy as cp

    values = cp.asnumpy(batch.candidates.values)
    return replace(batch, candidates=replace(batch.candidates, values=values))


def _within_memory(work: Any) -> Any:
    """Do some work with as much memory as there is; one at a time."""
    import cupy

    with _lock:
        pool = cupy.get_default_memory_pool()
        free = cupy.cuda.runtime.memGetInfo()[0] + pool.free_bytes()
        budget = int(_SHARE * free)
        while True:
            try:
                return work(budget)
            except MemoryError:  # CuPy's own is one, too
                budget //= 4
            pool.free_all_blocks()
            if budget < _LEAST:
                raise MemoryError(
                    f"The GPU has too little free memory ({free / 1e6:.0f} MB) for this table. "
                    f"Free some, or use {setting('device', 'cpu')}."
                )


@lru_cache(maxsize=128)
def _module(form: tuple[tuple[str, int], ...]) -> Any:
    """The kernels for one form; CuPy keeps the machine code on disk."""
    import cupy

    source = (Path(__file__).parent / "kernels.cu").read_text(encoding="utf-8")
    options = ("--fmad=false", "--std=c++17", *(f"-D{name}={value}" for name, value in form))
    return cupy.RawModule(code=source, options=options)


def form_of(batch: Batch) -> tuple[tuple[str, int], ...]:
    """What the kernels are compiled for."""
    squared, joined = batch.metric == "euclidean", batch.criterion != "cmi"
    return (
        ("LO", batch.n_neighbors[0]),
        ("HI", batch.n_neighbors[1]),
        ("SQUARED", int(squared)),
        ("ADD", int(squared and joined)),
        ("CONDITIONAL", int(batch.conditional)),
        ("RECTANGLE", int(batch.method == "ksg2")),
    )


def _sums(batch: Batch, budget: int) -> IntArray:
    """Columns and permutations in pieces that fit, each scored by :func:`_score`."""
    m, n = batch.candidates.values.shape
    drawn: list[Any] = [None]
    if batch.permutations is not None:
        drawn = [
            batch.permutations[at] for at in chunks(len(batch.permutations), budget // (32 * n))
        ]
    each = []
    for some in chunks(m, budget // (64 * n)):
        part = replace(batch, candidates=batch.candidates.take(some))
        found = [_score(replace(part, permutations=rows), budget) for rows in drawn]
        each.append(
            np.concatenate(found, axis=1).reshape(len(found[0]), -1, some.stop - some.start)
        )
    sums = np.concatenate(each, axis=2)
    return sums.reshape(len(sums), -1).T


def _score(batch: Batch, budget: int) -> IntArray:
    """Sums of shape (n_K, n_candidates)."""
    import cupy as cp

    n, total = batch.target.n_samples, batch.n_candidates
    lo, hi = batch.n_neighbors
    data = _Data(batch, cp)
    sums = cp.zeros((hi - lo + 1, total), np.int64)
    # Stripes take an eighth of the budget, lists another.
    stripes = min(max(1, budget // 8 // (8 * LANES * n)), -(-total // LANES), 65_535)
    if bivariate(batch):
        _by_strips(batch, data, stripes, sums)
    else:
        _beside_selected(batch, data, stripes, budget // 8, sums)
    return cp.asnumpy(sums)  # type: ignore[no-any-return]


class _Data:
    """A batch on the device."""

    def __init__(self, batch: Batch, cp: Any) -> None:
        self.m, self.n = batch.candidates.values.shape
        self.values = cp.asarray(batch.candidates.values)
        self.given = cp.asarray(batch.given.values)
        self.target = cp.asarray(batch.target.values)
        self.permutations = None
        if batch.permutations is not None:
            self.permutations = cp.asarray(np.ascontiguousarray(batch.permutations, np.int32))
        self.psi = cp.asarray(psi_table(self.n))
        self.kernels = _module(form_of(batch))

    def fill(self, stripes: Any, first: int, total: int, order: Any) -> None:
        """Candidates from number ``first`` on, in stripes."""
        _fill(self.kernels, self.values, self.permutations, order, first, total, stripes)


def _fill(
    kernels: Any, values: Any, permutations: Any, order: Any, first: int, total: int, stripes: Any
) -> None:
    m, n = values.shape
    pointers = values, _or_null(permutations), _or_null(order)
    sizes = np.int32(m), np.int32(n), np.int32(first), np.int32(total)
    grid = min(1024, -(-n // 8)), len(stripes)
    kernels.get_function("fill")(grid, (256,), (*pointers, *sizes, stripes))


def _or_null(array: Any) -> Any:
    return np.uintp(0) if array is None else array


def _points(n: int, n_stripes: int) -> int:
    """Samples of a block: several to each warp, if there are blocks enough without."""
    points = 8 * WARPS
    while points > WARPS and n_stripes * n < 2000 * points:
        points //= 2
    return points


def _by_strips(batch: Batch, data: _Data, n_stripes: int, sums: Any) -> None:
    import cupy as cp

    n, total = data.n, batch.n_candidates
    order = cp.argsort(data.target[0]).astype(np.int32)
    y = data.target[0][order]
    values = cp.sort(data.values, axis=1)
    stripes = cp.empty((n_stripes, n, LANES))
    for first in range(0, total, n_stripes * LANES):
        here = stripes[: min(n_stripes, -(-(total - first) // LANES))]
        data.fill(here, first, total, order)
        points = _points(n, len(here))
        sizes = np.int32(data.m), np.int32(n), np.int32(first), np.int32(total)
        data.kernels.get_function("strips")(
            (-(-n // points), len(here)),
            (LANES * WARPS,),
            (here, y, values, *sizes, np.int32(points), data.psi, sums),
        )


def _beside_selected(batch: Batch, data: _Data, n_stripes: int, list_bytes: int, sums: Any) -> None:
    import cupy as cp

    n, total = data.n, batch.n_candidates
    most = _MAX_ROOM
    limit = cp.cuda.Device().attributes.get("MaxSharedMemoryPerBlockOptin", 49_152)
    while _shared_bytes(most) > limit:
        most //= 2
    rooms = [min(most, _room(want, n)) for want in _list_lengths(batch)]
    bases = _bases(batch)
    sorted_y = cp.sort(data.target[0])
    stripes = cp.empty((n_stripes, n, LANES))
    tile = max(1, min(n, list_bytes // (28 * rooms[0] + 12 * rooms[1])))
    shape = np.int32(batch.given.n_columns), data.target, np.int32(batch.target.n_columns)
    lists = [_Lists(tile, room, cp, both=which == 0) for which, room in enumerate(rooms)]
    filled = -1
    for first_point in range(0, n, tile):
        n_points = min(tile, n - first_point)
        for which, (room, base) in enumerate(zip(rooms, bases, strict=True)):
            near = lists[which]
            numbers = np.int32(n), np.int32(first_point), np.int32(which), np.int32(room)
            out = near.index, near.key, near.in_s, near.in_y, near.counts, near.limits
            kernel = data.kernels.get_function("lists")
            kernel.max_dynamic_shared_size_bytes = _shared_bytes(most)
            kernel(
                (n_points,),
                (256,),
                (data.given, *shape, *numbers, np.int64(base), *map(_or_null, out)),
                shared_mem=_shared_bytes(room),
            )
        for first in range(0, total, n_stripes * LANES):
            here = stripes[: min(n_stripes, -(-(total - first) // LANES))]
            if filled != first:
                data.fill(here, first, total, None)
                filled = first
            points = _points(n_points, len(here))
            j, s = lists
            sizes = np.int32(first), np.int32(total), np.int32(first_point)
            data.kernels.get_function("given")(
                (-(-n_points // points), len(here)),
                (LANES * WARPS,),
                (
                    here, data.given, *shape, sorted_y, np.int32(n), *sizes,
                    np.int32(n_points), np.int32(points),
                    np.int32(rooms[0]), j.index, j.key, j.in_s, j.in_y, j.counts, j.limits,
                    np.int32(rooms[1]), s.index, s.key, s.counts, s.limits,
                    data.psi, sums,
                ),
            )  # fmt: skip


class _Lists:
    """Near samples of each sample, and the limit below which all are listed."""

    def __init__(self, n_points: int, room: int, cp: Any, both: bool) -> None:
        self.index = cp.empty((n_points, room), np.int32)
        self.key = cp.empty((n_points, room))
        self.in_s = cp.empty((n_points, room)) if both else None
        self.in_y = cp.empty((n_points, room)) if both else None
        self.counts = cp.empty(n_points, np.int32)
        self.limits = cp.empty(n_points)


def _list_lengths(batch: Batch) -> tuple[int, int]:
    """How many neighbours to list: many times those that independent columns would need.

    Making lists is cheap; to look beyond one is not.
    """
    n, k, s = batch.target.n_samples, batch.n_neighbors[1], batch.given.n_columns
    joint = 56 * k * (n / k) ** (1 / (s + batch.target.n_columns + 1))
    alone = 32 * n * (k / n) ** (s / (s + 2))
    return int(joint) + 16, int(alone) + 16


def _room(want: int, n: int) -> int:
    """A power of two, for the sort, and of four: so many are read at once."""
    return int(min(_MAX_ROOM, max(4, 2 ** int(np.ceil(np.log2(min(want, n)))))))


def _shared_bytes(room: int) -> int:
    """What sorting a list takes of a block's own memory."""
    return 12 * room + 4 * _BINS


def _bases(batch: Batch) -> tuple[int, int]:
    """Where the bins of the lists begin: the largest distance falls into the last."""
    reach = []
    for columns in (batch.given, batch.target):
        spans = np.ptp(columns.filled().values[~columns.categorical], axis=1)
        if batch.metric == "euclidean":
            reach.append(float(np.square(spans).sum()))
        else:
            reach.append(float(spans.max(initial=0.0)))
    in_s, in_y = reach
    bits = np.array([max(in_s, in_y), in_s]).view(np.int64) >> 48
    return tuple(max(0, int(b) - (_BINS - 1)) for b in bits)  # type: ignore[return-value]


def _false_counts(x: Columns, target: Columns, budget: int) -> IntArray:
    import cupy as cp

    m, n = x.values.shape
    order = cp.argsort(cp.asarray(target.values[0])).astype(np.int32)
    targets = cp.ascontiguousarray(cp.asarray(target.values)[:, order])
    columns = LANES * max(1, min(budget // (64 * n * LANES), 65_535))
    kernels = _module(())  # the same for all forms
    out: IntArray = np.empty((m, n), np.int64)
    for i in range(0, m, columns):
        values = cp.asarray(x.values[i : i + columns])
        some = len(values)
        stripes = cp.empty((-(-some // LANES), n, LANES))
        _fill(kernels, values, None, order, 0, some, stripes)
        counts = cp.zeros((some, n), np.int64)
        points = _points(n, len(stripes))
        kernels.get_function("false_neighbors")(
            (-(-n // points), len(stripes)),
            (LANES * WARPS,),
            (
                stripes, targets, np.int32(len(targets)), cp.sort(values, axis=1), order,
                np.int32(n), np.int32(0), np.int32(some), np.int32(points), counts,
            ),
        )  # fmt: skip
        out[i : i + columns] = cp.asnumpy(counts)
    out[np.asarray(x.constant)] = 0
    return out
