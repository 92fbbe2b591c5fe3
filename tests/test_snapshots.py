"""What pages, notebooks and the terminal say of each kind of result, word for word.

The facts are tested elsewhere; here every sentence of a template is seen once. After a change of
words, write the snapshots anew, and read the difference before it is committed::

    INFOSIEVE_SNAPSHOTS=write python -m pytest -n 0 tests/test_snapshots.py
    git diff tests/snapshots

The records in ``snapshots/records`` are documents that ``to_json`` wrote; nothing is computed here.
"""

import os
from dataclasses import replace
from pathlib import Path

import pytest

import infosieve
from infosieve.cli.show import show
from infosieve.report._render import page

HERE = Path(__file__).parent / "snapshots"
WRITE = os.environ.get("INFOSIEVE_SNAPSHOTS") == "write"
KINDS = {
    "selection": "SelectionResult",
    "prediction": "SelectionResult",
    "clusters": "ClusterResult",
    "relevance-test": "RelevanceTest",
    "permutation-test": "PermutationTest",
    "k-choice": "KChoice",
    "stability": "Stability",
}
# Tests that ask in several ways at once.
COMBINED = {
    "selection-combined": "SelectionResult",
    "relevance-test-combined": "RelevanceTest",
    "permutation-test-combined": "PermutationTest",
}
BESIDE = {"clusters": "ClusterResult", "relevance": "RelevanceTest", "stability": "Stability"}


def read(name, kind):
    text = (HERE / "records" / f"{name}.json").read_text(encoding="utf-8")
    return getattr(infosieve, kind).from_json(text)


def options_of(command):
    """What such a command hands over."""
    words = command.split()[2:]
    options = {"file": words[0]} if words else {}
    for word, value in zip(words[1:], [*words[2:], "--"], strict=False):
        if word.startswith("--"):
            options[word[2:]] = True if value.startswith("--") else value
    return options


def known_as(result, command="", more=(), **parameters):
    """The same result of another call."""
    known = replace(
        result.provenance,
        parameters={**result.provenance.parameters, **parameters},
        command=command,
        options=options_of(command),
        **dict(more),
    )
    return replace(result, provenance=known)


def untested(result, **parameters):
    none = {"p_value": None, "level": None, "exceedances": None, "n_permutations": None}
    steps = [replace(step, **none, null=(), early_stopped=False) for step in result.steps]
    return known_as(replace(result, steps=tuple(steps)), **parameters)


def scored(result, means, n_chosen, every=None):
    """The same columns with other scores: two folds, at 0.1 below and above the means."""
    folds = tuple(tuple(mean + d for mean in means) for d in (-0.1, 0.1))
    order = result.cv_scores.order
    scores = replace(
        result.cv_scores, sizes=tuple(range(len(means))), scores=folds, n_chosen=n_chosen,
        all_columns=every, fold_orders=(order, order), others={},
    )  # fmt: skip
    return replace(result, cv_scores=scores)


def cases():
    """Each kind of result, and what else may be said of it."""
    for name, kind in KINDS.items():
        beside = {}
        result = read(name, kind)
        if name == "selection":
            beside = {other: read(f"beside-{other}", kind) for other, kind in BESIDE.items()}
        yield name, result, beside
    found = read("selection", "SelectionResult")
    alone = replace(found, alternatives=None)
    asked = "infosieve select table.csv --target y --exclude id --seed 0"
    yield "selection-command", known_as(alone, asked, correction=None, unnamed=1), {}
    series = {"by_changes": True, "by_order": ("X6",)}
    yield "selection-series", known_as(alone, f"{asked} --series", series, series=True), {}
    last, first = found.steps[-1], found.steps[0]
    refused = replace(last, action="refuse", follows=found.selected[:1])
    pair = replace(first, features=found.selected[:2], n_screened=5, n_candidates=12)
    removed = replace(first, action="remove")
    near = replace(last, level=0.05, exceedances=8, n_permutations=193, p_value=0.06)
    below = replace(found.steps[2], gain=-0.01, gap_gain=0.2, singletons=60)
    steps = (pair, below, removed, refused, replace(near, singletons=60))
    grouped = replace(found, alternatives=(), steps=steps, n_parts=6, selected=found.selected[:3])
    yield "selection-groups", known_as(grouped, groups=20, missing="drop"), {}
    nothing = replace(found, selected=(), steps=(replace(last, mi=1.0),), alternatives=None)
    yield "selection-nothing", nothing, {"stability": read("beside-stability", "Stability")}
    unfinished = replace(nothing, steps=(), stop_reason="interrupted")
    yield "selection-unfinished", unfinished, {}
    ranked = untested(alone, stop=None, criterion="jmi")
    yield "selection-ranked", ranked, {}
    model = read("prediction", "SelectionResult")
    yield "prediction-untested", untested(model, test=False), {}
    yield "prediction-broken-off", untested(model, test=True, groups=20), {}
    n = len(model.selected)
    worse = [0.0, *(-0.1 * i for i in range(1, n + 1))]
    yield "prediction-chance", known_as(scored(model, worse, n), series=True), {}
    better = [0.0, *(0.1 * i for i in range(1, n)), 0.1 * n, 0.1 * n + 0.02]
    fewer = scored(model, better, n, every=(0.5, 0.6))
    yield "prediction-fewer", fewer, {"relevance": None}
    clusters = read("clusters", "ClusterResult")
    told = {"categories": ["kind"], "connectivity": "chain", "similarity_threshold": 0.5}
    yield "clusters-decided", known_as(replace(clusters, cv_results=None), **told), {}
    test = read("permutation-test", "PermutationTest")
    best = replace(test, correction="max", null=test.null[:, :1], n_candidates=9, given=("X1",))
    yield "permutation-test-best", best, {}
    relevance = read("relevance-test", "RelevanceTest")
    none = replace(relevance, exceedances=relevance.n_draws, shared=~relevance.shared)
    yield "relevance-test-nothing", known_as(none, groups=4), {}
    weak = read("stability", "Stability")
    halves = tuple(tuple(range(len(weak.features) - i % 2)) for i in range(weak.n_halves))
    for name, kind in COMBINED.items():
        yield name, read(name, kind), {}
    yield "stability-weak", known_as(replace(weak, chosen=halves), groups=7), {}


CASES = {name: (result, beside) for name, result, beside in cases()}


def compared(name, text):
    path = HERE / name
    text = "\n".join(line.rstrip() for line in text.splitlines() if line.strip()) + "\n"
    if WRITE:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CASES)
def test_the_page_says_the_same(name):
    result, beside = CASES[name]
    text = page(result, **beside)
    compared(f"{name}.html", text[text.index("<main>") : text.index("</main>")])


@pytest.mark.parametrize("name", CASES)
def test_the_notebook_says_the_same(name):
    shown = CASES[name][0]._repr_html_()
    compared(f"{name}.notebook.html", shown[shown.index("</style>") + len("</style>") :])


@pytest.mark.parametrize("name", CASES)
def test_the_terminal_says_the_same(name, capsys):
    show(CASES[name][0])
    compared(f"{name}.txt", capsys.readouterr().out)


def test_every_snapshot_has_a_case():
    known = {f"{name}.{end}" for name in CASES for end in ("html", "notebook.html", "txt")}
    assert {path.name for path in HERE.iterdir()} == known | {"records"}
