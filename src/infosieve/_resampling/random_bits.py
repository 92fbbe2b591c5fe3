"""Random bits: a counter-based generator, whose key says what they are for."""

import hashlib
from typing import Any, TypeAlias

import numpy as np

from infosieve._core.types import IntArray
from infosieve._engines.numba.shuffle import shuffle

Key: TypeAlias = tuple[int, str, int]


def random_words(key: Key, first: int, count: int, width: int) -> Any:
    """Random 64-bit words number ``first`` to ``first + count``, each a row of ``width``."""
    digest = hashlib.blake2b(repr(key).encode(), digest_size=16).digest()
    generator = np.random.Philox(key=int.from_bytes(digest, "little"))
    blocks = -(-width // 4)  # the generator's counter moves by four words
    generator.advance(first * blocks)
    return generator.random_raw(count * blocks * 4).reshape(count, blocks * 4)[:, :width]


def random_order(key: Key, n: int) -> IntArray:
    """The numbers up to n, in random order."""
    return np.asarray(
        shuffle(random_words(key, 0, 1, n), np.arange(n, dtype=np.int32), np.array([0, n]))[0]
    )
