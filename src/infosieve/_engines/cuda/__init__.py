"""The GPU engine: CUDA kernels, compiled by CuPy at their first use."""
