"""Slices that cover a range."""

from hypothesis import given
from hypothesis import strategies as st

from infosieve._core.chunks import chunks


@given(st.integers(0, 50), st.integers(-1, 60))
def test_chunks_cover_everything_once_and_in_order(n, size):
    parts = chunks(n, size)
    assert [i for part in parts for i in range(n)[part]] == list(range(n))
    assert all(0 < part.stop - part.start <= max(1, size) for part in parts)


def test_only_the_last_chunk_is_shorter():
    assert chunks(7, 3) == [slice(0, 3), slice(3, 6), slice(6, 7)]
    assert chunks(6, 3) == [slice(0, 3), slice(3, 6)]
    assert chunks(0, 3) == []
