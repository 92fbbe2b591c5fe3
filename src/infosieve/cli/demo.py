"""``infosieve demo``: data where the answer is known, or at least agreed upon."""

import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from infosieve.cli.options import DEBUG

if TYPE_CHECKING:
    import pandas as pd

Example = Literal["friedman", "tecator"]


def demo(
    data: Annotated[Example | None, typer.Argument(help="one of them; default: both")] = None,
    html: Annotated[str, typer.Option(help="the page to write")] = "infosieve-demo.html",
    debug: Annotated[bool, DEBUG] = False,
) -> None:
    """Select where the answer is known, and write a report."""
    from infosieve.cli.places import check, writing
    from infosieve.cli.workers import collect_again

    check({"--html": html})
    collect_again()
    for example in [data] if data else ("friedman", "tecator"):
        result, curves = (_friedman if example == "friedman" else _tecator)()
    with writing(html):
        result.report(html, curves=curves)
    print(f"infosieve: the report of this selection is in {html}", file=sys.stderr)


def _select(
    before: list[str], X: "pd.DataFrame", y: "pd.Series[float]", after: str, **how: Any
) -> Any:
    """Print the question, what is selected, and what is known."""
    from infosieve import MISelector
    from infosieve.cli.show import console, show

    console().print(*before, "", sep="\n", markup=False)
    result = MISelector(random_state=0, n_jobs=-1, verbose=1, **how).fit(X, y).result_
    show(result)
    found = sorted(str(result.features[j]) for j in result.selected)
    console().print("", f"found: {', '.join(found)}", after, "", sep="\n", markup=False)
    return result


def _friedman() -> tuple[Any, Any]:
    from infosieve.datasets import make_friedman

    data = make_friedman(random_state=1, as_frame=True)
    question = [
        "Which of ten columns are informative about Y?",
        "Y = 10 sin(X1 X2) + 20 (X3 - 0.5)^2 + 10 X4 + 5 X5 + noise.",
    ]
    truth = ", ".join(data.feature_names[j] for j in data.relevant)
    return _select(question, data.data, data.target, f"truth: {truth}"), None


def _tecator() -> tuple[Any, Any]:
    from infosieve import CurveFeatures
    from infosieve.datasets import load_tecator

    meat = load_tecator(as_frame=True)
    curves = CurveFeatures(meat.axis, unit="nm", kinds=["slope", "curvature"])
    features = curves.set_output(transform="pandas").fit_transform(meat.data)
    question = "Where are near infrared spectra of meat informative about its fat? Tecator, 215"
    known = "known: fat absorbs around 930 nm"
    result = _select([f"{question} samples."], features, meat.target, known, max_features=4)
    return result, (curves, meat.data)
