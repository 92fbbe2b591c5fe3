"""The page of a selection: what was selected and how sure, then the questions that come next."""

from collections.abc import Sequence
from typing import Any

from infosieve.report import _answers as answers
from infosieve.report import _asking as asking
from infosieve.report import _data, _words
from infosieve.report import _figures as figures
from infosieve.report._doubt import near_level
from infosieve.report._pairs import against_target
from infosieve.report._parts import (
    Page,
    counted,
    fact,
    listed,
    name_text,
    names,
    percent,
    section,
    short_names,
)
from infosieve.report._prediction import broken_off, no_better, predicted


def selection_page(
    result: Any, clusters: Any = None, relevance: Any = None, stability: Any = None
) -> Page:
    """A selection, with what else was asked about its columns."""
    asked = {"relevance": relevance, "stability": stability}
    answers.check_kinds(asked | {"clusters": clusters})
    answers.check_same_columns(result, asked)
    tested = _is_tested(result)
    scores = predicted(result)
    first = [] if scores is None else [scores]
    redundant = answers.redundant(result, clusters)
    answered = [
        *answers.how_many_predict(result),
        answers.stand_ins(result, clusters),
        redundant,
        answers.informative(result, relevance),
        answers.stable(result, stability),
        answers.excluded(result),
    ]
    sections = [*(a.section for a in first), _steps_section(result)]
    sections += [*(a.section for a in answered if a is not redundant), *_details(result)]
    sections.append(redundant.section)  # last: a tree may be long
    return {
        "kind": "Selection",
        "title": _title(result, tested),
        "words": _words_of(result, tested),
        "facts": [
            *(a.fact for a in first),
            _sureness(result, tested),
            *(a.fact for a in answered),
        ],
        "table_title": "What was selected, and how sure",
        "table_text": _how_to_read(result),
        **_table(result),
        "table_notes": _ending(result),
        "sections": [part for part in sections if part is not None],
    }


def _is_tested(result: Any) -> bool:
    """Whether all steps have a test; where cross-validation chose, the first has one, if any."""
    steps = result.steps if result.cv_scores is None else result.steps[:1]
    return all(step.p_value is not None for step in steps)


def _title(result: Any, tested: bool) -> str:
    found = short_names(result, result.selected)
    target = " and ".join(name_text(name) for name in result.excerpt.target)
    if not result.steps:
        return f"Unfinished: no column was looked at for {target} yet"
    if not found:
        return f"No column was found to be informative about {target}"
    if result.cv_scores is not None:
        return f"Chosen to predict {target}: {listed(found, 4)}"
    if not tested:
        return f"Most informative about {target}, untested: {listed(found, 4)}"
    if not result.corrected:
        return f"Informative about {target}, if tested alone: {listed(found, 4)}"
    verb = "is" if len(found) == 1 else "are"
    return f"{listed(found, 4)} {verb} informative about {target}"


def _words_of(result: Any, tested: bool) -> list[str]:
    n, m, selected = result.provenance.n_samples, _data.n_candidates(result), len(result.selected)
    verb = "was" if selected == 1 else "were"
    left_out = len(result.features) - m
    more = f"; {left_out:,} more {'was' if left_out == 1 else 'were'} left out" if left_out else ""
    words = [f"{selected:,} of {counted(m, 'column')} {verb} selected, from {n:,} samples{more}."]
    words += _words.unfinished(result)
    words += _words.nearly_the_target(result)
    if no_better(result):
        words.append(
            "But the model predicts no better with columns than without: there may be nothing to "
            "predict from."
        )
    if broken_off(result):
        words.append("The tests were broken off: which of them are certain is not known.")
    elif not tested:
        words.append("No test was asked for: the last of them may add nothing.")
    words += _words.of_columns_alone(result)
    if result.steps and not selected:
        words.append(
            "More samples may show a weak dependence; so may a larger alpha, at the price of more "
            "false columns. Columns of few values, such as 0 and 1, show more as categories "
            f"({_words.setting(result.provenance, 'discrete_features')}), and the target more as "
            "a number than cut into classes. The figures below show how close the best column came."
        )
    return words


def _ending(result: Any) -> list[str]:
    """Why columns were refused, and why the search ended there."""
    notes = [f"Stop reason: {result.stop_reason}. {_words.last_level(result)}".strip()]
    return [*_words.refused(result), *notes, *near_level(result)]


# --- how sure


def _sureness(result: Any, tested: bool) -> Page:
    """The first of the short answers."""
    question, anchor, ask = "How sure is that?", "selected", ""
    added = [step for step in result.steps if step.action == "add"]
    passed = [step for step in added if step.significant]
    n_kept = sum(len(step.features) for step in added if tested and not step.significant)
    if not result.steps:
        answer = "Nothing was tested yet."
    elif not result.selected:
        answer = "No column passed its test." if tested else "No column adds anything."
    elif not tested:
        answer = "Not tested: columns were taken in the order of what they add."
        if result.cv_scores is not None and not broken_off(result):
            ask = asking.tests(result)
    elif not passed:
        answer = f"No column passed its test; they were kept {_why_kept(result)}."
    else:
        who = "Each" if not n_kept or result.cv_scores is None else _so_many(passed)
        answer = f"{who} passed a permutation test, {_p_range(passed)}. {_promise(result)}".strip()
        if n_kept:
            others = "another was" if n_kept == 1 else f"{n_kept} others were"
            answer = f"{answer} But {others} kept {_why_kept(result)}, not by a test."
    return fact(question, answer, anchor, ask)


def _so_many(steps: Sequence[Any]) -> str:
    n = sum(len(step.features) for step in steps)
    return "One" if n == 1 else f"{n}"


def _why_kept(result: Any) -> str:
    """Why columns are selected that did not pass."""
    return "on request" if result.cv_scores is None else "for prediction"


def _p_range(steps: Sequence[Any]) -> str:
    low, high = (f"{f(s.p_value for s in steps):.2g}" for f in (min, max))
    return f"p = {low}" if low == high else f"p = {low} to {high}"


def _promise(result: Any) -> str:
    """What the rule says of all selected columns together."""
    alpha = _words.alpha_of(result)
    if not result.corrected:
        return "Each was tested alone, although it is the best of many."
    if alpha is None:
        return ""
    if _words.rule_of_tests(result) == "fdr":
        return f"The rule aims at {percent(alpha)} false columns among them, at most."
    return f"In each step a false column passes in {percent(alpha)} of cases, at most."


def _how_to_read(result: Any) -> str:
    """One sentence for what would otherwise stand in each row."""
    text = f"Each column adds so much information about the target {_words.added_to(result)[0]}."
    p_values = [step.p_value for step in result.steps if step.p_value is not None]
    if not p_values:
        return text
    who = "permuted columns" if result.corrected else "its own permuted copies"
    p = min(p_values)
    text += (
        f" p says how often {who}, which know nothing of the target, do as well by chance: p = "
        f"{p:.2g} is {1000 * p:.0f} of 1,000 cases. A column passes if p is at most what is "
        "allowed."
    )
    reasons = "" if _words.last_level(result) else _words.why_not_alpha(result)
    if reasons:
        text += f" That is not alpha = {_words.alpha_of(result):g}: {reasons}."
    if _drawn(result):
        text += f" {_as_large(result)}"
    return f"{text}{_tested_up_to(result)}"


def _tested_up_to(result: Any) -> str:
    """That tests ended before the path did."""
    some = [step for step in result.steps if step.action == "add" and step.p_value is None]
    if result.cv_scores is None or not some:
        return ""
    return " Columns after the first that does not pass were not tested."


def _table(result: Any) -> Page:
    tested = any(step.p_value is not None for step in result.steps)
    heads = ["", "column", "adds (nats)"] + ["chance (95 %)", "p", "allowed"] * tested
    heads += ["surrogates as large"] * _drawn(result)
    largest = max((step.gain for step in result.steps), default=0.0)
    rows = [_row(result, step, largest, tested) for step in result.steps]
    return {"heads": heads, "rows": rows, "numeric": list(range(2, len(heads)))}


def _row(result: Any, step: Any, largest: float, tested: bool) -> list[Any]:
    share = max(step.gain, 0.0) / largest if largest > 0 else 0.0
    row = [
        _outcome(result, step),
        _column(result, step),
        {"text": _data.nats(step.gain, "+"), "bar": share},
    ]
    if tested:
        row += [
            _data.nats(step.null_quantiles[2]) if step.null else "",
            _data.p_text(step.p_value, step.lower_limit, plain=True).replace(">=", "≥ ")
            or "no test",
            "" if step.level is None else f"{step.level:.3g}",
        ]
    if _drawn(result):
        row.append(_larger(step))
    return row


def _drawn(result: Any) -> bool:
    """Whether it is known how many surrogates were drawn."""
    return any(step.n_permutations for step in result.steps)


def _larger(step: Any) -> str:
    if step.n_permutations is None:
        return ""
    return f"{step.exceedances:,} of {step.n_permutations:,}"


def _as_large(result: Any) -> str:
    """Of how many surrogates it is said how many are as large, and why these may be few."""
    text = (
        "Surrogates as large: how many of the permuted columns that were drawn add at least as much"
    )
    if any(step.sequential for step in result.steps):
        text += (
            ". A test stops drawing as soon as it has surely passed or failed, so that strong "
            "columns have the same p; it is exact for such a test. How strong a column is, shows "
            "what it adds beside what chance adds"
        )
    return f"{text}."


def _column(result: Any, step: Any) -> str:
    column = " and ".join(names(result, step.features))
    if step.action != "refuse":
        return column
    return f"{column}, which follows {' and '.join(names(result, step.follows))}"


def _outcome(result: Any, step: Any) -> Page:
    if step.action == "stop":
        text = "adds nothing" if step.p_value is None else "did not pass"
        return {"text": text, "tone": "refused"}
    if step.action == "remove":
        return {"text": "removed", "tone": "third"}
    if step.action == "refuse":
        return {"text": "refused", "tone": "third"}
    if result.cv_scores is not None and _is_tested(result):
        if step.significant:
            return {"text": "certain", "tone": "found"}
        return {"text": _data.uncertain(result.cv_scores), "tone": "soft"}
    if step.significant is False:
        return {"text": "kept on request", "tone": "soft"}
    return {"text": "selected", "tone": "found"}


# --- pictures


def _steps_section(result: Any) -> Page:
    if not _data.path_beside_chance(result):
        text = f"What each column adds {_words.added_to(result)[0]}."
        return section("Step by step", text, figures.path(result))
    who = "the best of the permuted columns adds" if result.corrected else "permuted copies add"
    text = (
        "Each dot is what a column adds, given those before it; the grey box is what "
        f"{who} at the same step. Each step has the scale of its own chance, so that small ones "
        "can be seen beside large ones: 0 is the middle of chance, and 95 % of it ends at 1. "
        "Larger distances are compressed."
    )
    removed = [step for step in result.steps if step.action == "remove"]
    if removed:
        text += " Columns that were removed again are in the table above."
    text += _tested_up_to(result)
    return section("Step by step, beside chance", text, figures.path(result))


def _details(result: Any) -> list[Page]:
    """The selected columns as they are, and how the search went about it."""
    sections = []
    if result.selected:
        n, used = result.provenance.n_samples, len(result.excerpt.rows)
        text = f"Drawn from {used:,} of {n:,} samples, evenly spaced." if used < n else ""
        title = "The selected columns and the target"
        sections.append(section(title, text, *against_target(result), small=True))
    if result.k_choice is not None:
        sections.append(k_section(result.k_choice))
    notes = list(_words.estimated(result))
    if notes:
        sections.append(section("How it was estimated", "", notes=notes))
    return sections


def k_section(choice: Any) -> Page:
    """What K was chosen from."""
    return section(
        "The number of neighbours",
        f"With K = {choice.k} the information of {name_text(choice.feature)} stands farthest above "
        "that with the target permuted.",
        figures.smoothing(choice),
    )
