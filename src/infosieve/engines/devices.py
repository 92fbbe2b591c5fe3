"""Where batches are scored: on the CPU, or on a GPU."""

from typing import Any, Literal, TypeAlias

from infosieve.engines.cuda.engine import MAX_K, CudaEngine, problem
from infosieve.engines.numba.engine import NumbaEngine

Device: TypeAlias = Literal["cpu", "cuda", "auto"]

# Samples times candidates from which on a GPU pays ("auto").
WORTHWHILE = 2e7


def engine_of(device: Device, work: float, largest_k: int) -> Any:
    """The engine of a device.

    ``work`` is the number of samples times that of the candidates, permuted copies included.
    """
    if device == "auto":
        device = "cuda" if work >= WORTHWHILE and largest_k <= MAX_K and not problem() else "cpu"
    if device == "cpu":
        return NumbaEngine()
    reason = problem()
    if reason is not None:
        raise RuntimeError(
            f"The 'device' parameter is 'cuda', but {reason}; or use device='cpu' (or 'auto')."
        )
    if largest_k > MAX_K:
        raise ValueError(
            f"The 'device' parameter must be 'cpu' for more than {MAX_K} neighbours. Got "
            f"{largest_k}; use fewer, or the CPU."
        )
    return CudaEngine()
