"""The demo: data where the answer is known, or at least agreed upon."""

import sys
from typing import Any

from rich.text import Text

from infosieve import CurveFeatures, MISelector
from infosieve.cli.places import writing
from infosieve.cli.show import console, show
from infosieve.cli.workers import collect_again
from infosieve.datasets import load_tecator, make_friedman


def run(names: list[str], html: str) -> None:
    """Select on each, print what was found beside the truth, write a report of the last."""
    collect_again()
    for name in names:
        result, curves = (_friedman if name == "friedman" else _tecator)()
    with writing(html):
        result.report(html, curves=curves)
    print(f"infosieve: the report of this selection is in {html}", file=sys.stderr)


def _print(*lines: str) -> None:
    for line in lines:
        console().print(Text(line))


def _friedman() -> tuple[Any, Any]:
    _print(
        "Which of ten columns are informative about Y?",
        "Y = 10 sin(X1 X2) + 20 (X3 - 0.5)^2 + 10 X4 + 5 X5 + noise.",
        "",
    )
    data = make_friedman(random_state=0, as_frame=True)
    fitted = MISelector(random_state=0, n_jobs=-1, verbose=1).fit(data.data, data.target)
    show(fitted.result_)
    truth = sorted(data.feature_names[j] for j in data.relevant)
    found = sorted(fitted.get_feature_names_out())
    _print("", f"found: {', '.join(found)}", f"truth: {', '.join(truth)}", "")
    return fitted.result_, None


def _tecator() -> tuple[Any, Any]:
    _print(
        "Where are near infrared spectra of meat informative about its fat? Tecator, 215 samples.",
        "",
    )
    meat = load_tecator(as_frame=True)
    kinds = ["slope", "curvature"]
    curves = CurveFeatures(meat.axis, unit="nm", kinds=kinds).set_output(transform="pandas")
    features = curves.fit_transform(meat.data)
    selector = MISelector(random_state=0, n_jobs=-1, verbose=1, max_features=4)
    fitted = selector.fit(features, meat.target)
    show(fitted.result_)
    _print("", "known: fat absorbs around 930 nm", "")
    return fitted.result_, (curves, meat.data)
