"""What is imported when it is first used: names of a package, and the report for records."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package.

    ``homes`` has the modules of the package, and which names come from each. A module whose name
    has no underscore is a name, too.
    """
    home = {name: module for module, names in homes.items() for name in names}
    home |= {module: module for module in homes if not module.startswith("_")}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{home[name]}")
        value = module if home[name] == name else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted({*vars(sys.modules[package]), *home})


# Who gives the functions that say what a record holds.
_report: list[Callable[[], Any]] = []


def provide_report(load: Callable[[], Any]) -> None:
    """Say where the report is: the package does, which may import from all of its parts."""
    _report[:] = [load]


def report() -> Any:
    """The functions of the report, for records, which stand below it."""
    return _report[0]()
