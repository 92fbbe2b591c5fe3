"""Which engine a device has."""

from typing import Any, Literal, TypeAlias, get_args

from infosieve._types import Engine
from infosieve._validate import check_choice
from infosieve.engines.cuda.engine import MAX_K, CudaEngine, problem
from infosieve.engines.numba.engine import NumbaEngine

Device: TypeAlias = Literal["cpu", "cuda", "auto"]

# Samples times candidates, permuted copies included, from which on a GPU pays: docs/gpu.md.
WORTHWHILE = 2e7


def check_device(device: Any) -> None:
    """The name of a device, and whether it is there."""
    check_choice(device, "device", get_args(Device))
    reason = problem() if device == "cuda" else None
    if reason is not None:
        raise RuntimeError(
            f"The 'device' parameter is 'cuda', but {reason}. Otherwise, use device='cpu', or "
            "'auto', which takes a GPU where there is one."
        )


def engine_of(device: Device, work: float, largest_k: int) -> Engine:
    """The engine of a device, which was checked.

    ``work`` is the number of samples times that of the candidates, permuted copies included.
    """
    if device == "auto":
        pays = work >= WORTHWHILE and largest_k <= MAX_K
        device = "cuda" if pays and problem() is None else "cpu"
    if device == "cpu":
        return NumbaEngine()
    if largest_k > MAX_K:
        raise ValueError(
            f"The 'device' parameter must be 'cpu' for more than {MAX_K} neighbours: the GPU's "
            f"kernels have room for no more. Got {largest_k}; use fewer, or the CPU."
        )
    return CudaEngine()
