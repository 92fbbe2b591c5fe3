"""numpydoc's validation of every public name: python docs/docstrings.py [NAME ...]

Part of ``make lint``. What is not asked for has a reason below.
"""

import importlib
import inspect
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
    "PR01": "parameters that several functions share are described once ('As in ...')",
    "PR04": "types of such shared parameters are those of the function that describes them",
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
                    if callable_ and not method.startswith("_"):
                        names.append(f"{package}.{name}.{method}")
    return names


def problems(name: str) -> list[str]:
    """What numpydoc finds, less what is not asked for."""
    parts = name.split(".")
    of_a_class = parts[-2][0].isupper()
    found = []
    for code, text in validate(name)["errors"]:
        if code in IGNORED or (of_a_class and code in OF_A_CLASS):
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
