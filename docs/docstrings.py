"""numpydoc's validation of every public name: python docs/docstrings.py [NAME ...]

Part of ``make lint``. What is not asked for has a reason below.
"""

import importlib
import inspect
import re
import sys

from numpydoc.validate import validate

import infosieve

PACKAGES = (
    "infosieve",
    "infosieve.datasets",
    "infosieve.estimators",
    "infosieve.plots",
    "infosieve.results",
)
IGNORED = {
    "ES01": "a summary that says all needs no extension",
    "PR04": "types of shared parameters ('As in ...') are those where they are described",
    "RT03": "a returned array is described by its shape",
}
# The class has the example, and says what to see also.
OF_A_CLASS = "EX01", "SA01"


def public_names() -> list[str]:
    """Functions, classes, and the methods that the classes define."""
    names = []
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.ismodule(value) or isinstance(value, str):
                continue
            names.append(f"{package}.{name}")
            if inspect.isclass(value):
                for method, member in vars(value).items():
                    callable_ = inspect.isroutine(member) or isinstance(member, classmethod)
                    theirs = method.startswith("_") or method.endswith("_request")  # scikit-learn's
                    if callable_ and not theirs:
                        names.append(f"{package}.{name}.{method}")
    return names


def shared(name: str) -> set[str]:
    """What a docstring describes together ("a, b" on a line), or, of a record, as attributes."""
    value = infosieve
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    several = r"^ +(\w+(?:, \w+)+)(?: :.*)?$"
    one = r"^ +(\w+) : .*$"
    lines = re.findall(several, value.__doc__ or "", re.MULTILINE)
    lines += re.findall(one, value.__doc__ or "", re.MULTILINE)
    return {parameter for line in lines for parameter in line.split(", ")}


def problems(name: str) -> list[str]:
    """What numpydoc finds, less what is not asked for."""
    parts = name.split(".")
    of_a_class = parts[-2][0].isupper()
    found = []
    for code, text in validate(name)["errors"]:
        if code in IGNORED or (of_a_class and code in OF_A_CLASS):
            continue
        if code == "PR01" and not set(re.findall(r"'([a-z]\w*)'", text)) - shared(name):
            continue
        found.append(f"{name}: {code} {text}")
    return found


def main() -> int:
    found = [text for name in sys.argv[1:] or public_names() for text in problems(name)]
    print("\n".join(found) or f"{len(public_names())} docstrings are complete")
    return bool(found)


if __name__ == "__main__":
    assert infosieve.__version__
    sys.exit(main())
