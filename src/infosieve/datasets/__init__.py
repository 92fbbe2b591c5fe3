"""Data whose truth is known, and real spectra."""

from infosieve.datasets._generators import (
    make_copies,
    make_friedman,
    make_normal,
    make_uniform,
    make_xor,
)
from infosieve.datasets._spectra import load_spectra, load_tecator

__all__ = [
    "load_spectra",
    "load_tecator",
    "make_copies",
    "make_friedman",
    "make_normal",
    "make_uniform",
    "make_xor",
]
