"""Work in pieces: slices that cover a range."""


def chunks(n: int, size: int) -> list[slice]:
    """The slices of at most ``size``, or 1, that cover ``range(n)``, in order."""
    size = max(1, size)
    return [slice(start, min(n, start + size)) for start in range(0, n, size)]
