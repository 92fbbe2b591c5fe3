"""Errors that have a name of their own."""


class MissingRequirementError(RuntimeError):
    """What is asked for needs something that is not where it would run, such as a GPU."""
