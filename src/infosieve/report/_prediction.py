"""How well a model predicts with the selected columns, where that chose their number."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from infosieve._core.parameters import is_int
from infosieve.report import _data
from infosieve.report import _figures as figures
from infosieve.report._answers import Answer
from infosieve.report._parts import counted, fact, listed, section, short
from infosieve.report._words import default_judge, fewer_columns, setting

# So many names in a sentence.
_NAMES = 12
# Scores whose error is what they lack of 1.
_UP_TO_ONE = ("r2", "accuracy")


def predicted(result: Any) -> Answer | None:
    """The scores along the ranking; nothing where nobody asked for them."""
    if result.cv_scores is None:
        return None
    drawn = _data.prediction(result)
    text = (
        f"{drawn.scoring} of {drawn.model} with the first columns of the ranking, on samples that "
        "neither has seen: each fold has a ranking and a model of its own. Names are those of "
        "the ranking of all samples; squares are the selected columns."
    )
    notes = [
        " ".join([*_chosen(result, drawn), *fewer_columns(result), *default_judge(result)]),
        " ".join(_compared(result, drawn)),
        " ".join(_certain(result, drawn)),
        *_folds(result),
        f"The score of the chosen number is too good, because {_what_it_chose(drawn)} by "
        "it. Samples that the selection has not seen give a fair one.",
    ]
    title, anchor = "How many columns predict", "predict"
    part = section(title, text, figures.prediction(drawn), notes=notes, anchor=anchor)
    return Answer(fact=fact("How well do they predict?", _short(drawn), anchor), section=part)


def _what_it_chose(drawn: _data.Prediction) -> str:
    return "number and ranking were chosen" if drawn.others else "the number was chosen"


def no_better(result: Any) -> bool:
    """Whether the model predicts no better with columns than without."""
    scores = result.cv_scores
    return scores is not None and scores.best_score <= scores.without


def broken_off(result: Any) -> bool:
    """Whether tests of columns that a model has chosen were asked for, and are not there."""
    wanted = result.cv_scores is not None and result.provenance.parameters.get("test") is True
    return wanted and all(step.p_value is None for step in result.steps)


def _short(drawn: _data.Prediction) -> str:
    every = ""
    if drawn.every is not None and drawn.n_selected < drawn.n_features:
        every = f", {drawn.text(drawn.every)} with all {drawn.n_features:,}"
    columns = counted(drawn.n_chosen, "column")
    return (
        f"{drawn.scoring} {drawn.text(drawn.score)} with {columns}{every}, "
        f"{drawn.text(drawn.without)} with none ({drawn.model}, {len(drawn.folds)} folds)."
    )


def _chosen(result: Any, drawn: _data.Prediction) -> Iterator[str]:
    """Who chose the number, and why that one."""
    scores, known = result.cv_scores, result.provenance.parameters
    own = ", the default model," if known.get("model") is None else ""
    error = drawn.text(float(drawn.error[drawn.sizes == drawn.n_chosen][0]))
    text = (
        f"{drawn.model}{own} chose {counted(drawn.n_chosen, 'column')}: {drawn.scoring} "
        f"{drawn.text(drawn.score)}, the mean of {len(drawn.folds)} folds (standard error {error})"
    )
    if drawn.n_chosen == scores.best:
        yield f"{text}. No other number of columns that was tried has a larger mean."
    elif drawn.n_chosen < scores.best:
        yield (
            f"{text}. That is the smallest number with which it predicts nearly as well as with "
            f"any: {scores.best:,} columns have {drawn.text(scores.best_score)}"
            f"{_more_error(drawn, scores.best_score)}."
        )
    else:
        yield (
            f"{text}. {counted(scores.best, 'column')} would predict better, "
            f"{drawn.text(scores.best_score)}, but {known.get('min_features')} at least were asked "
            f"for ({setting(result.provenance, 'min_features')})."
        )
    if drawn.others:
        best = [f"{name} has {drawn.text(float(m[1:].max()))}" for name, m in drawn.others.items()]
        yield (
            f"The ranking is by the criterion {drawn.criterion}, whose largest mean is "
            f"{drawn.text(scores.best_score)}; {listed(best)}."
        )
    if len(result.selected) == drawn.n_chosen + 1:
        yield "One more was selected, because the last two are a pair."


def _more_error(drawn: _data.Prediction, best: float) -> str:
    """How much smaller the error of the best number is, where it is known what an error is."""
    top = 0.0 if drawn.scoring.startswith("neg_") else 1.0
    if (top == 1.0 and drawn.scoring not in _UP_TO_ONE) or not drawn.score < best < top:
        return ""
    less = 100 * (best - drawn.score) / (top - drawn.score)
    return f", an error that is {less:.2g}\u00a0% smaller"


def _compared(result: Any, drawn: _data.Prediction) -> Iterator[str]:
    """The chosen number beside all columns, and beside none."""
    scores, every = result.cv_scores, result.cv_scores.all_columns
    if drawn.n_selected == drawn.n_features:
        yield "These are all columns that were looked at."
    elif every is None:
        yield "All columns together were not tried."
    else:
        own = drawn.folds[:, drawn.sizes == drawn.n_chosen][:, 0]
        n, better = len(every), int(np.sum(own > np.array(every)))
        yield (
            f"With all {drawn.n_features:,} columns it is {drawn.text(drawn.every or 0.0)}; the "
            f"chosen ones are better in {better} of {n} folds."
        )
    base = f"Without columns it is {drawn.text(drawn.without)}"
    if not no_better(result):
        yield f"{base}."
    else:
        yield (
            f"{base}, and no number of columns is better, {drawn.text(scores.best_score)} at best: "
            "there may be nothing to predict from, or another model may see it."
        )


def _certain(result: Any, drawn: _data.Prediction) -> Iterator[str]:
    """Which selected columns are certain, and which only help prediction."""
    if drawn.certain is None:
        ask = f"was not asked ({setting(result.provenance, 'test', True)})"
        why = "is not known: the tests were broken off" if broken_off(result) else ask
        yield f"Which of them are certain {why}."
        return
    found = list(zip(result.selected, drawn.certain, strict=True))
    sure = [short(result.features[j]) for j, c in found if c]
    useful = [short(result.features[j]) for j, c in found if not c]
    if not useful:
        what = "It is certain: it" if len(sure) == 1 else "All of them are certain: each"
        yield f"{what} passed a permutation test."
        return
    if sure:
        verb = "is" if len(sure) == 1 else "are"
        yield f"{listed(sure, _NAMES)} {verb} certain, by permutation tests."
    one = len(useful) == 1
    if no_better(result):
        yield f"No test shows that {listed(useful, _NAMES)} {'adds' if one else 'add'} anything."
        return
    yield (
        f"{listed(useful, _NAMES)} {'is' if one else 'are'} here because the model predicts with "
        f"{'it' if one else 'them'}; no test shows that {'it adds' if one else 'they add'} "
        "anything. Tests go along this ranking and try no pairs: a selection by tests alone may "
        "call other columns certain."
    )


def _folds(result: Any) -> Iterator[str]:
    """Which samples are apart, where folds are not drawn from all alike."""
    known = result.provenance.parameters
    if not is_int(known.get("cv")):
        return
    if is_int(known.get("groups")):
        yield "Folds are made of whole groups: no group is both learnt from and judged on."
    elif known.get("series", False) is not False:
        yield "Each fold is judged on rows that come after those it learns from."
