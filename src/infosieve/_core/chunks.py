"""Work in pieces: slices that cover a range."""


def chunks(n: int, size: int) -> list[slice]:
    """The slices of at most ``size`` that cover ``range(n)``, in order.

    Parameters
    ----------
    n : int
        How many there are; none make no slice.
    size : int
        How many a slice has, the last one at most so many. Less than 1 counts as 1.

    Returns
    -------
    list of slice
        Each with a start and a stop.
    """
    size = max(1, size)
    return [slice(start, min(n, start + size)) for start in range(0, n, size)]
