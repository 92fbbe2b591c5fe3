"""The CPU engine: Numba kernels and the choice among them."""
