"""How large the code is, and how far a call goes through it.

    python benchmarks/house.py [--list] [--keep | --show] [--seed 0]

Prints a table: what the code weighs today, the bar for it and the goal. Nothing is timed. --list
adds what was counted, with file and line, so that a reader can judge it. --keep writes the figures
to house.json and into docs/architecture.md, --show writes that page from what is kept.
"""

import argparse
import ast
import json
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from common import DOCS, HERE, seed_number

SRC = (HERE.parent / "src" / "infosieve").resolve()
KEPT, PAGE = HERE / "house.json", DOCS / "architecture.md"
# Whose parameters have a kind: typed Any, nothing but their name says which.
PACKAGES = ("report", "selection", "cli")
NAMES = ("selector", "result", "table", "x", "y", "X")
# Names that these packages export are public, and so are the methods of their classes: what users
# may pass is an array, a frame or a file, which is Any; and parameters of users are as many as
# users need.
PUBLIC = (".", "clustering", "curves", "datasets", "estimators", "plots", "results", "selection",
          "significance")  # fmt: skip
READERS = ("compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn")
# Patterns that read what is not ours. A new one counts until someone has judged it.
READ_OTHERS = {
    "names of columns": [
        r"(\D*)(\d+(?:\.\d+)?)(\D*)",
        r"(?<=\w[_/|\\=])(?=\w)|(?<=[a-zA-Z][-.:])(?=[a-zA-Z])|(?<=[a-z])(?=[A-Z][a-z])",
    ],
    "names of files": [r"\.infosieve-[0-9a-f]{16}\.new", r"(\d+)"],
    "users' files: what separates values": [r"[\r\n\t \"%s][+-]?0[0-9xX]"],
    "users' files: JSON": [r'\{\s*["}]|\[\s*[\[{"]'],
    "users' files: dates and times": [
        r"(?:{'|'.join(_DATES)})(?:(?:T|,? ){_CLOCK}{_ZONE})?|{_CLOCK}",
    ],
    "what pandas and Arrow call columns without a name": [r"$|Unnamed: |__index_level_"],
    "users' files: numbers": [
        r"0\d+|0x[\da-f]+",
        r"(.*\d) ?([^\W\d_]{1,10})",
        r"[+-]?(?:[\d.,'_ ]+(?:e[+-]?\d+)?|inf|infinity|nan)",
        r"[+-]?(?:{number}|inf|infinity|nan)",
        r"-?\d+",
    ],
    "what Python shows of users' objects": [
        r"<(?:[^<>]|<[^<>]*>)* at 0x[0-9a-fA-F]+>|<lambda>|\w+\(\w+\) at 0x[0-9a-fA-F]+",
        r" at 0x[0-9a-fA-F]+",
        r"<function (\w+) at 0x[0-9a-fA-F]+>",
        r"<lambda>|<locals>| object>",
        r"\b{re.escape(name)}\b",
        r"\b{name}\(",
    ],
}

FIT = """
import json, os, sys, threading
import numpy as np
import infosieve
from infosieve import MISelector

seed = int(sys.argv[1])
rng = np.random.default_rng(seed)
X = rng.normal(size=(40, 4))
y = X[:, 0] + 0.5 * X[:, 2] + 0.3 * rng.normal(size=40)
home = os.path.dirname(infosieve.__file__) + os.sep
functions, deepest = set(), 0


def ours(frame):
    return frame.f_code.co_filename.startswith(home)


def entered(frame, event, argument):
    global deepest
    if event != "call" or not ours(frame):
        return
    functions.add(frame.f_code)
    depth = 0
    while frame is not None:
        depth += ours(frame)
        frame = frame.f_back
    deepest = max(deepest, depth)


threading.setprofile(entered)
sys.setprofile(entered)
MISelector(random_state=seed).fit(X, y)
sys.setprofile(None)
threading.setprofile(None)
functions = {code for code in functions if code.co_name != "<module>"}
print(json.dumps([len(functions), len({code.co_filename for code in functions}), deepest]))
"""
LOADED = """
import json, sys
import numpy as np
from infosieve import mutual_information

x = np.random.default_rng(int(sys.argv[1])).normal(size=(40, 2))
mutual_information(x[:, 0], x[:, 1])
print(json.dumps(sum(name.partition(".")[0] == "infosieve" for name in sys.modules)))
"""


@dataclass(frozen=True)
class Function:
    """A function, and whether users call it or Typer does."""

    node: ast.FunctionDef
    path: Path
    public: bool
    command: bool

    @property
    def place(self):
        return f"{self.path.relative_to(SRC.parent)}:{self.node.lineno} {self.node.name}"

    @property
    def parameters(self):
        known = self.node.args
        several = [*known.posonlyargs, *known.args, *known.kwonlyargs]
        return [one for one in several if one.arg not in ("self", "cls")]

    @property
    def n_lines(self):
        """Of the body, from the first statement after the docstring."""
        body = self.node.body[ast.get_docstring(self.node) is not None :]
        return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def modules():
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SRC.rglob("*.py"))}


def exported(trees):
    """Names in __all__ of public packages."""
    names = set()
    for package in PUBLIC:
        tree = trees.get((SRC / package / "__init__.py").resolve())
        for node in tree.body if tree else ():
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                names |= set(ast.literal_eval(node.value))
    return names


def commands(trees):
    """Names of functions that are registered with Typer: app.command(...)(module.name)."""
    names = set()
    for node in (node for tree in trees.values() for node in ast.walk(tree)):
        if isinstance(node, ast.Call) and ".command(" in ast.unparse(node.func):
            names |= {ast.unparse(one).rpartition(".")[2] for one in node.args}
    return names


def functions(trees):
    """All of them, those of classes and those inside others, too."""
    public, typer = exported(trees), commands(trees)

    def inside(node, path, known):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                yield from inside(child, path, known and child.name in public)
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                method = isinstance(node, ast.ClassDef)
                name = child.name
                special = name.startswith("__") and name.endswith("__")
                open_to = known and (
                    (special or not name.startswith("_")) if method else name in public
                )
                ran = path.parent.name == "cli" and name in typer
                yield Function(child, path, open_to, ran)
                yield from inside(child, path, False)
            else:
                yield from inside(child, path, known)

    return [one for path, tree in trees.items() for one in inside(tree, path, True)]


def any_parameters(known):
    """Parameters that are a selector, a result or a table, and typed Any."""
    return [
        f"{one.place}({parameter.arg})"
        for one in known
        if one.path.relative_to(SRC).parts[0] in PACKAGES and not one.public
        for parameter in one.parameters
        if parameter.arg in NAMES
        and parameter.annotation is not None
        and ast.unparse(parameter.annotation).strip("'\"") == "Any"
    ]


def patterns(trees):
    """Regular expressions: where they stand, and how they are written."""
    for path, tree in trees.items():
        parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call):
                continue
            function, place = ast.unparse(call.func), path.relative_to(SRC.parent)
            if function == "warnings.filterwarnings" and len(call.args) > 1:
                yield place, call.args[1]
            elif function in [f"re.{name}" for name in READERS]:
                pattern = call.args[0]
                for one in _several(pattern, call, parents):
                    yield place, one


def _several(pattern, call, parents):
    """Those that a comprehension makes of a tuple, or the one itself."""
    node = call
    while isinstance(pattern, ast.Name) and node in parents:
        node = parents[node]
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            over = node.generators[0].iter
            if isinstance(over, ast.Tuple | ast.List):
                return [one.elts[0] if isinstance(one, ast.Tuple) else one for one in over.elts]
    return [pattern]


def as_written(pattern):
    """The text of a pattern, with what is put into it in braces."""
    if isinstance(pattern, ast.JoinedStr):
        parts = (
            one.value if isinstance(one, ast.Constant) else f"{{{ast.unparse(one.value)}}}"
            for one in pattern.values
        )
        return "".join(parts)
    if isinstance(pattern, ast.BinOp):  # bytes % bytes
        pattern = pattern.left
    text = getattr(pattern, "value", None)
    text = text.decode("latin-1") if isinstance(text, bytes) else text
    return text if isinstance(text, str) else ast.unparse(pattern)


def of_ours(trees):
    """Patterns that read sentences of ours, and those that do not, with the reason."""
    reasons = {text: reason for reason, several in READ_OTHERS.items() for text in several}
    ours, others = [], []
    for place, pattern in patterns(trees):
        text = as_written(pattern)
        line = f"{place}:{pattern.lineno} {text}"
        if text in reasons:
            others.append(f"{line} ({reasons[text]})")
        else:
            ours.append(line)
    return ours, others


def read_otherwise(trees):
    """Where a text of several words is looked for in another: no regular expression, but alike."""
    methods = ("startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition")
    for path, tree in trees.items():
        for node in ast.walk(tree):
            text = None
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
                text = node.left
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                text = node.args[0] if node.func.attr in methods and node.args else None
            several = isinstance(text, ast.Constant) and str(text.value).split()[1:]
            if several:
                yield f"{path.relative_to(SRC.parent)}:{node.lineno} {ast.unparse(text)}"


def measured(code, seed):
    """What a fresh interpreter prints; the kernels are compiled and kept before."""
    run = [sys.executable, "-W", "ignore", "-c", code, str(seed)]
    subprocess.run(run, capture_output=True, check=True)
    return json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)


def files_of_a_parameter():
    """Source files that the worked example of CONTRIBUTING.md changes, which a test does, too."""
    page = (HERE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.partition("\n## A new parameter\n")[2].partition("\n## ")[0]
    return len(set(re.findall(r"^--- (src/\S+)$", section, re.MULTILINE)))


def rows(trees, seed):
    """The table, each row with its numbers, bars and goals, and what was counted for it."""
    known = functions(trees)
    inner = [one for one in known if not one.public and not one.command]
    longest = sorted(known, key=lambda one: -one.n_lines)
    widest = sorted(inner, key=lambda one: -len(one.parameters))
    anything, (ours, others) = any_parameters(known), of_ours(trees)
    n_lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in trees)
    n_functions, n_modules, depth = measured(FIT, seed)
    table = [
        ("lines of Python in `src`", [n_lines], [26_500], [24_000]),
        ("modules that `from infosieve import mutual_information` and one call load",
         [measured(LOADED, seed)], [60], [40]),
        ("functions of ours that run in `MISelector().fit` on 40 by 4 / modules / depth",
         [n_functions, n_modules, depth], [300, 45, 20], [200, 35, 15]),
        (f"parameters typed `Any` in {', '.join(f'`{name}`' for name in PACKAGES)} "
         f"({', '.join(NAMES)})", [len(anything)], [20], [0]),
        ("source files touched by a new parameter of `MISelector` with its option, check, help, "
         "provenance", [files_of_a_parameter()], [3], [2]),
        ("regular expressions that read our own sentences", [len(ours)], [0], [0]),
        ("longest body (lines without docstring)", [longest[0].n_lines], [70], [50]),
        ("parameters of an internal function", [len(widest[0].parameters)], [10], [7]),
    ]  # fmt: skip
    counted = {
        "Typed Any": anything,
        "Regular expressions that read our own sentences": ours,
        "Regular expressions that read something else": others,
        "Texts looked for in others without a regular expression": list(read_otherwise(trees)),
        "Longest bodies": [f"{one.n_lines} {one.place}" for one in longest[:20]],
        "Most parameters": [f"{len(one.parameters)} {one.place}" for one in widest[:20]],
    }
    names = ("name", "today", "bar", "goal")
    return [dict(zip(names, row, strict=True)) for row in table], counted


# Bars whose figures take a machine for minutes: nothing is kept of them here.
ELSEWHERE = """\
| `make test`, two cores, cold | `time make test` | 6 min | 5 min | not measured here |
| geometric mean of benchmarks | `make bench-compare` | within 3 % | faster | not measured here |"""


def verdict(row):
    """What a row has reached."""
    today, bar, goal = row["today"], row["bar"], row["goal"]
    if all(a <= b for a, b in zip(today, goal, strict=True)):
        return "goal"
    return "bar" if all(a <= b for a, b in zip(today, bar, strict=True)) else "**missed**"


def table_text(table):
    """The table, as a page has it."""
    lines = ["| | today | bar | goal | reached |", "|---|---:|---:|---:|---|"]
    for row in table:
        cells = [" / ".join(f"{n:,}" for n in row[which]) for which in ("today", "bar", "goal")]
        lines.append(f"| {' | '.join([row['name'], *cells])} | {verdict(row)} |")
    return "\n".join([*lines, ELSEWHERE])


def write_page(kept):
    """The figures, below the architecture."""
    missed = [row["name"] for row in kept["rows"] if verdict(row) == "**missed**"]
    those = "every row that is counted here meets its bar"
    if missed:
        rows = "row misses its bar" if len(missed) == 1 else "rows miss their bars"
        those = f"{len(missed)} {rows}: {'; '.join(missed)}"
    PAGE.write_text(f"""```{{include}} ../ARCHITECTURE.md
:relative-docs: docs/
:relative-images:
```

## How large it is

Written by [`benchmarks/house.py`](../benchmarks/house.py) with Python {kept["python"]}.
A bar is what the code has to keep to, a goal is where it should get. Today {those}.

{table_text(kept["rows"])}
""", encoding="utf-8")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="also what was counted, and where")
    parser.add_argument("--keep", action="store_true", help="write the figures and the page")
    parser.add_argument("--show", action="store_true", help="write the page from what is kept")
    parser.add_argument("--seed", type=seed_number, default=0, help="of the data")
    options = parser.parse_args()
    if options.show:
        write_page(json.loads(KEPT.read_text(encoding="utf-8")))
        return
    table, counted = rows(modules(), options.seed)
    found = {"python": platform.python_version(), "rows": table}
    print(f"Python {found['python']}\n\n{table_text(table)}")
    for title, lines in counted.items() if options.list else ():
        print(f"\n{title}: {len(lines)}\n")
        print("\n".join(lines))
    if options.keep:
        KEPT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        write_page(found)


if __name__ == "__main__":
    main()
