"""What a record that was read from a file must be, or it is refused: no such search exists.

A checksum shows what a disk or a cable changed, not what a program or a person wrote.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, get_args

import numpy as np

from infosieve._core.documents import plain
from infosieve._core.parameters import is_sequential, n_permutations_of, stop_of
from infosieve._core.sequential import sequential_rule
from infosieve.results._base import Provenance
from infosieve.results._choice import KChoice
from infosieve.results._cv_scores import CVScores
from infosieve.results._relevance_test import ENOUGH, RelevanceTest
from infosieve.results._selection import Action, SelectionResult, Step
from infosieve.results._stability import Stability
from infosieve.results._tests import PermutationTest

# Of a step: all or none where there was a test, and what is counted.
_TEST = ("p_value", "level", "exceedances", "n_permutations")
_COUNTS = [f.name for f in fields(Step) if f.type is int]


class ImpossibleError(ValueError):
    """What a document says cannot be; the message says why."""


def _need(holds: Any, rule: str, *got: Any) -> None:
    if not holds:
        values = "".join(f"; it is {repr(value)[:60]}" for value in got)
        raise ImpossibleError(f"{rule}{values}")


def _count(value: Any, least: int = 0, most: float = sys.float_info.max) -> bool:
    return type(value) is int and least <= value <= most


def _number(value: Any) -> bool:
    """Finite, and no truth value."""
    return type(value) in (int, float) and bool(abs(value) <= sys.float_info.max)


def _columns(value: Any, n: int) -> bool:
    """Some columns of n, each once."""
    return (
        isinstance(value, (tuple, list))
        and all(_count(j, 0, n - 1) for j in value)
        and len(set(value)) == len(value)
    )


def _numbers(array: Any, *shape: int) -> bool:
    """An array of that shape, of finite numbers."""
    return array.shape == shape and array.dtype.kind in "iuf" and bool(np.isfinite(array).all())


def _whole(array: Any, n: int, least: int, most: float) -> bool:
    """n whole numbers between two bounds."""
    return (
        array.shape == (n,)
        and (array.dtype.kind in "iu" or n == 0)
        and bool(((least <= array) & (array <= most)).all())
    )


def check_record(record: Any) -> None:
    """A result that was kept as JSON."""
    if isinstance(record, PermutationTest):
        _check_test(record)
        return
    _check_names(record.features)
    _check_provenance(record.provenance)
    if isinstance(record, SelectionResult):
        _check_selection(record)
    elif isinstance(record, KChoice):
        _check_choice(record)
    elif isinstance(record, RelevanceTest):
        _check_relevance(record)
    elif isinstance(record, Stability):
        check_halves(record.chosen, len(record.features))
        even = record.chosen and len(record.chosen) % 2 == 0
        _need(even, "'chosen' must be pairs of halves, one at least", len(record.chosen))
    else:
        _check_clusters(record)


def check_halves(halves: Sequence[Any], n_features: int) -> None:
    """What was chosen from halves, among so many columns."""
    for number, half in enumerate(halves, start=1):
        sound = _columns(half, n_features) and list(half) == sorted(half)
        _need(sound, f"half {number} must have columns of {n_features}, in their order", half)


def check_scores(what: str, order: Any, scores: Sequence[Any], n_features: int) -> None:
    """A ranking of so many columns, and scores along it."""
    _need(_columns(order, n_features), f"{what} must rank columns of {n_features}", order)
    _need(all(map(_number, scores)), f"the scores of {what} must be finite numbers", scores)


def check_path(steps: Sequence[Step], n_features: int) -> list[int]:
    """The steps of a search among so many columns: which it has selected at their end."""
    selected: list[int] = []
    before: Step | None = None
    for number, step in enumerate(steps, start=1):
        try:
            _check_step(step, n_features)
            _need(before is None or before.action != "stop", "it comes after the search had ended")
            there = [j for j in step.features if j in selected]
            if step.action == "remove":
                _need(there, "it removes a column that is not selected", step.features)
                added = () if before is None or before.action != "add" else before.features
                later = added and there[0] not in added
                _need(later, "a column is removed only after another was added")
                selected.remove(step.features[0])
            else:
                _need(not there, "its column is selected already", there)
                known = set(step.follows) <= set(selected)
                _need(known, "it follows columns that are not selected", step.follows)
                selected += step.features if step.action == "add" else ()
        except ImpossibleError as error:
            raise ImpossibleError(f"step {number}: {error}") from None
        before = step
    return selected


def check_fit(steps: Sequence[Step], parameters: Mapping[str, Any], n_features: int) -> None:
    """That a selector with these parameters can have made these steps."""
    pick = parameters.get
    total = n_permutations_of(parameters["n_permutations"], pick("alpha"))
    stop = stop_of(pick("stop"), pick("n_features_to_select"))
    tested = {"remove": pick("removal") == "test"}
    tested |= dict.fromkeys(("add", "refuse", "stop"), stop in ("fdr", "permutation"))
    may_lack = stop == "cv" and pick("test") is True  # interrupted before they were tested
    asked = pick("n_features_to_select") or pick("max_features") or n_features
    n_selected = 0
    for number, step in enumerate(steps, start=1):
        has = f"step {number}"
        back = step.action != "remove" or pick("search") == "forward-backward"
        _need(back, f"{has} removes a column, which this search does not")
        ends = step.action != "stop" or stop is not None
        _need(ends, f"{has} stops, which this search does not")
        _need(len(step.features) <= parameters["lookahead"], f"{has} has a pair with lookahead=1")
        fits = may_lack or (step.p_value is not None) == tested[step.action]
        _need(fits, f"{has} has a test, or lacks one")
        if step.p_value is not None:
            sequential = is_sequential(parameters["n_permutations"])
            _need(step.sequential == sequential, f"the test of {has} is of another kind")
            _check_p_value(step, has, total)
        n_selected += {"add": 1, "remove": -1}.get(step.action, 0) * len(step.features)
        _need(n_selected <= asked, f"{has} selects more than the {asked} that are asked for")


def _check_p_value(step: Step, has: str, total: int) -> None:
    """The p-value of a step that was tested with up to so many permutations."""
    size, count, level = step.n_permutations or 0, step.exceedances or 0, step.level or 0.0
    early = size == total or (step.early_stopped and size < total)
    _need(early, f"the permutations of {has} must be {total}", size)
    p = (count + 1) / (total + 1)
    if step.sequential:
        _need(1 / (total + 1) <= level < 1, f"the level of {has} is out of reach", level)
        rule = sequential_rule(level, total)
        _need(rule.possible(count, size), f"no test ends as that of {has}", f"{count} of {size}")
        p = rule.p_value(count, size)
    _need(step.p_value == p, f"the p_value of {has} must be {p:.6g}", step.p_value)


def _check_step(step: Step, n: int) -> None:
    _need(
        step.action in get_args(Action),
        f"its action must be {', '.join(get_args(Action))}",
        step.action,
    )
    _need(_columns(step.features, n), f"its columns must be some of {n}, once each", step.features)
    most = 1 if step.action in ("remove", "refuse") else 2
    _need(1 <= len(step.features) <= most, f"its columns are 1 to {most}", step.features)
    follows = _columns(step.follows, n) and len(step.follows) <= 2
    _need(follows, f"what it follows must be one or two columns of {n}", step.follows)
    weaker = step.weaker is None or (len(step.features) == 2 and step.weaker in step.features)
    _need(weaker, "the weaker column must be one of its pair", step.weaker)
    refused = step.action != "refuse" or (step.follows and step.significant is False)
    _need(refused, "it refuses a column that follows none, or passed", step.follows)
    for name in ("mi", "gain"):
        value = getattr(step, name)
        _need(_number(value), f"its {name} must be a finite number", value)
    gap = step.gap_gain
    _need(gap is None or _number(gap), "its gap_gain must be a finite number, or none", gap)
    for name in ("early_stopped", "sequential"):
        value = getattr(step, name)
        _need(isinstance(value, bool), f"its {name} must be true or false", value)
    for name in _COUNTS:
        value = getattr(step, name)
        _need(_count(value), f"its {name} must be a whole number, 0 or more", value)
    screened = step.n_screened
    kept = screened is None or _count(screened, 1, step.n_candidates)
    _need(kept, f"its n_screened must be 1 to {step.n_candidates}", screened)
    if all(getattr(step, name) is None for name in _TEST):
        tested = step.null or step.early_stopped or step.sequential
        _need(not tested, "it has permuted values and no test")
        return
    for name in ("p_value", "level"):
        value = getattr(step, name)
        _need(_number(value) and 0 <= value <= 1, f"its {name} must be between 0 and 1", value)
    size, count = step.n_permutations, step.exceedances
    _need(_count(size, 1), "its n_permutations must be a whole number, 1 or more", size)
    _need(_count(count, 0, size or 0), f"its exceedances must be 0 to {size}", count)
    _need(len(step.null) == size, f"its permuted values must be {size}", len(step.null))
    _need(all(map(_number, step.null)), "its permuted values must be finite numbers")


def _check_selection(result: Any) -> None:
    n = len(result.features)
    selected = check_path(result.steps, n)
    same = _columns(result.selected, n) and list(result.selected) == selected
    _need(same, f"'selected' must be what the steps select, {selected}", result.selected)
    _need(_numbers(result.relevance, n), f"'relevance' must be {n} finite numbers")
    ks = result.n_neighbors
    known = len(ks) == 2 and all(_count(k, 1) for k in ks) and ks[0] <= ks[1]
    _need(known, "'n_neighbors' must be a range", ks)
    _check_parts(result, result.provenance.n_samples)
    duplicates = isinstance(result.duplicates, Mapping) and all(
        _columns([j, *others], n) for j, others in result.duplicates.items()
    )
    _need(duplicates, f"'duplicates' must be columns of {n}", result.duplicates)
    _need(_columns(result.constant, n), f"'constant' must be columns of {n}", result.constant)
    names = _columns(result.identifiers, n)
    _need(names, f"'identifiers' must be columns of {n}", result.identifiers)
    gaps = isinstance(result.missing, Mapping) and _columns(list(result.missing), n)
    most = result.provenance.n_samples
    gaps = gaps and all(_count(count, 1, most) for count in result.missing.values())
    _need(gaps, f"'missing' must be numbers of gaps in columns of {n}", result.missing)
    for other in result.alternatives or ():
        both = other.feature in selected and _columns([other.feature, other.stand_in], n)
        both = both and other.stand_in not in selected
        _need(both, "a stand-in must be for a selected column, and none itself", other)
        sizes = (other.information, other.in_place, other.without, other.remaining)
        nats = all(map(_number, sizes)) and other.information > 0 and other.without > 0
        _need(nats, "its nats must be finite, and more than nothing without it", other)
        p = _number(other.p_value) and 0 <= other.p_value <= 1
        _need(p, "its p_value must be between 0 and 1", other.p_value)
    if result.cv_scores is not None:
        _check_cv_scores(result.cv_scores, selected, n)
    _need(isinstance(result.stop_reason, str), "'stop_reason' must be a text", result.stop_reason)
    _check_excerpt(result.excerpt, selected, result.provenance.n_samples)
    if result.k_choice is not None:
        same = plain(result.k_choice.features) == plain(result.features)
        _need(same, "'k_choice' must be of the same columns")
        check_record(result.k_choice)


def _check_cv_scores(result: CVScores, selected: list[int], n: int) -> None:
    sizes, size = np.array(result.sizes), len(result.sizes)
    rising = _whole(sizes, size, 0, n) and size > 1 and bool((np.diff(sizes) > 0).all())
    _need(rising and sizes[0] == 0, f"the sizes must rise from 0 up to {n}", result.sizes)
    chosen = _count(result.n_chosen) and result.n_chosen in result.sizes[1:]
    _need(chosen, "'n_chosen' must be one of the sizes, but 0", result.n_chosen)
    check_scores("'order'", result.order, (), n)
    _need(list(result.order[: len(selected)]) == selected, "the selected must be first in 'order'")
    least = min(result.n_chosen, len(result.order))
    cut = least <= len(selected) <= result.n_chosen + 1  # a pair is not torn
    _need(cut, f"so many must be selected as 'n_chosen' says, {least}", len(selected))
    n_folds = len(result.scores)
    _need(n_folds > 1 and len(result.fold_orders) == n_folds, "there must be two folds or more")
    for number, (order, scores) in enumerate(
        zip(result.fold_orders, result.scores, strict=True), start=1
    ):
        check_scores(f"fold {number}", order, scores, n)
        _need(len(scores) == size, f"fold {number} must have {size} scores", len(scores))
    names = (result.criterion, *result.others)
    known = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    _need(known, "each criterion must be a text of its own", names)
    for name, scores in result.others.items():
        check_scores(name, (), scores, n)
        _need(len(scores) == size, f"{name} must have {size} scores", len(scores))
    whole = result.all_columns
    alike = whole is None or (len(whole) == n_folds and all(map(_number, whole)))
    _need(alike, f"'all_columns' must be {n_folds} finite numbers", whole)
    name, parameters = result.model["name"], result.model["parameters"]
    named = isinstance(name, str) and isinstance(parameters, Mapping)
    _need(named, "'model' must have a name and parameters", result.model)
    _need(isinstance(result.scoring, str), "'scoring' must be a text", result.scoring)


def _check_parts(result: Any, n_samples: float) -> None:
    parts, used = result.n_parts, result.n_samples_used
    _need(_count(parts, 1), "'n_parts' must be a whole number, 1 or more", parts)
    most = f" to {n_samples}" if n_samples < np.inf else " or more"
    _need(_count(used, parts, n_samples), f"'n_samples_used' must be {parts}{most}", used)


def _check_excerpt(excerpt: Any, selected: list[int], n_samples: int) -> None:
    rows = np.array(excerpt.rows)
    some = 1 <= rows.size <= n_samples and _whole(rows, rows.size, 0, n_samples - 1)
    _need(some, f"the excerpt's rows must be some of {n_samples}")
    maps = isinstance(excerpt.features, Mapping) and isinstance(excerpt.target, Mapping)
    _need(maps and set(excerpt.features) == set(selected), "the excerpt is of other columns")
    _need(excerpt.target, "the excerpt must have a target")
    for values in (*excerpt.features.values(), *excerpt.target.values()):
        numbers = all(value is None or _number(value) for value in values)  # None: a gap
        plain = numbers or all(isinstance(value, str) for value in values)
        _need(plain and len(values) == rows.size, "the excerpt must be a number, or a text, a row")


def _check_choice(result: KChoice) -> None:
    n, size = len(result.features), len(result.ks)
    rising = _whole(result.ks, size, 1, np.inf) and bool((np.diff(result.ks) > 0).all())
    _need(rising and size, "'ks' must be rising numbers")
    _need(_count(result.k, 1) and result.k in result.ks, "'k' must be one of 'ks'", result.k)
    known = plain(result.feature) in map(plain, result.features)  # as NaN is not in itself
    _need(known, "'feature' must be one of 'features'", result.feature)
    _need(_numbers(result.t, n, size), f"'t' must be {n} times {size} finite numbers")
    folds = result.mi.shape[-1]
    both = _numbers(result.mi, n, size, folds) and _numbers(result.mi_permuted, n, size, folds)
    _need(both and folds > 1, "'mi' and 'mi_permuted' must be finite numbers, two folds or more")


def _check_test(test: PermutationTest) -> None:
    _check_names(test.candidates, "candidates")
    _check_names(("", *test.given), "given")
    n, size = len(test.candidates), test.n_permutations
    _need(_numbers(test.observed, n), f"'observed' must be {n} finite numbers")
    _need(test.correction in ("max", None), "'correction' must be max or null", test.correction)
    width = n if test.correction is None else 1
    _need(_numbers(test.null, size, width), f"'null' must be rows of {width} finite numbers")
    asked = test.n_permutations_asked
    _need(_count(asked, size, 2**53), f"'n_permutations_asked' must be {size} or more", asked)
    for name in ("early_stopped", "sequential"):
        value = getattr(test, name)
        _need(isinstance(value, bool), f"{name!r} must be true or false", value)
    for place, second in test.followed.items():
        _need(_count(place, 0, n - 1), f"'followed' must be of candidates 0 to {n - 1}", place)
        pair = second.weaker is not None
        known = {*test.given, *(test.candidates[place] if pair else ())} - {second.weaker}
        names = (pair or second.columns) and set(second.columns) <= known
        _need(names and len(second.columns) <= 2, "it follows one or two columns", second.columns)
        seen = second.observed is None or _number(second.observed)
        _need(seen, "what a second test observed must be a finite number", second.observed)
        size = second.null.size
        some = _numbers(second.null, size) and 1 <= size <= asked
        _need(some, f"its permuted values must be 1 to {asked} finite numbers")
    among = test.n_candidates
    _need(_count(among, n, 2**53), f"'n_candidates' must be {n} or more", among)
    _need(among == n or test.correction, "screened candidates need a correction", among)
    level = test.alpha is None or (_number(test.alpha) and 0 < test.alpha < 1)
    _need(level, "'alpha' must be between 0 and 1", test.alpha)
    _need(isinstance(test.device, str), "'device' must be a text", test.device)
    if test.provenance is not None:
        _check_provenance(test.provenance)
    if test.provenance is not None or test.n_samples_used is not None:
        most = np.inf if test.provenance is None else test.provenance.n_samples
        _check_parts(test, most)
    else:
        _need(test.n_parts == 1, "'n_parts' without samples must be 1", test.n_parts)


def _check_relevance(test: RelevanceTest) -> None:
    n = len(test.features)
    for name in ("information", "chance"):
        _need(_numbers(getattr(test, name), n), f"{name!r} must be {n} finite numbers")
    _need(_number(test.alpha) and 0 < test.alpha < 1, "'alpha' must be between 0 and 1", test.alpha)
    for name in ("exceedances", "n_draws", "n_draws_asked"):
        known = _whole(getattr(test, name), n, 0, 2**53)
        _need(known, f"{name!r} must be {n} whole numbers, 0 or more")
    shared = test.shared
    _need(
        shared.shape == (n,) and shared.dtype == bool, f"'shared' must be {n} times true or false"
    )
    b, t, most = test.exceedances, test.n_draws, test.n_draws_asked
    _need((b <= t).all() and (t <= most).all(), "'exceedances' and 'n_draws' are out of range")
    ended = ~shared & (b == ENOUGH)
    _need((ended | (t == most)).all(), "'n_draws' must be all, or end with enough exceedances")
    _need((b[~shared] <= ENOUGH).all(), f"'exceedances' of a column alone are {ENOUGH} at most")
    _need(isinstance(test.device, str), "'device' must be a text", test.device)
    _check_parts(test, test.provenance.n_samples)


def _check_clusters(result: Any) -> None:
    n, k = len(result.features), len(result.clusters)
    _need(all(isinstance(name, str) for name in result.clusters), "'clusters' must be names")
    _need(_whole(result.labels, n, 0, k - 1), f"'labels' must be {n} numbers below {k}")
    medoids = _whole(result.medoids, k, 0, n - 1)
    medoids = medoids and result.labels[result.medoids].tolist() == list(range(k))
    _need(medoids, "'medoids' must be a column of each cluster")
    merged = result.children.ravel()
    tree = _whole(merged, 2 * n - 2, 0, np.inf) and np.unique(merged).size == merged.size
    tree = tree and bool((result.children < n + np.arange(n - 1)[:, None]).all())
    _need(tree, f"'children' must be a tree of {n} columns")
    alike = _numbers(result.similarities, n - 1) and bool((result.similarities <= 1 + 1e-9).all())
    _need(alike, f"'similarities' must be {n - 1} numbers, 1 at most")
    copies = isinstance(result.duplicates, Mapping) and all(
        _columns([j, *others], n) and np.unique(result.labels[[j, *others]]).size == 1
        for j, others in result.duplicates.items()
    )
    _need(copies, "'duplicates' must be columns of one cluster", result.duplicates)
    if result.cv_results is not None:
        size = result.cv_results["n_clusters"].size
        scores = all(_numbers(values, size) for values in result.cv_results.values())
        names = {"mean_test_score", "std_test_score", "standard_error"} <= set(result.cv_results)
        _need(scores and names and size, "'cv_results' must be scores of numbers of clusters")
        _need(k in result.cv_results["n_clusters"], f"'cv_results' must have tried {k} clusters")


def _check_names(names: tuple[Any, ...], what: str = "features") -> None:
    plain = all(isinstance(name, (str, int, float, tuple)) or name is None for name in names)
    _need(names and plain, f"{what!r} must be names or numbers")
    finite = all(abs(name) <= sys.float_info.max for name in names if isinstance(name, int))
    _need(finite, f"numbers of {what!r} must be such as a float can hold")
    hash(names)


def _check_provenance(known: Provenance) -> None:
    _need(
        isinstance(known.data, str),
        "the provenance's data must be a fingerprint",
        known.data,
    )
    _need(
        _count(known.n_samples, 1),
        "the provenance's n_samples must be a number",
        known.n_samples,
    )
    _need(
        _count(known.seed),
        "the provenance's seed must be a whole number, 0 or more",
        known.seed,
    )
    _need(
        _count(known.n_left_out, 0, 2**53),
        "the provenance's n_left_out must be a number",
        known.n_left_out,
    )
    _need(
        isinstance(known.by_changes, bool),
        "the provenance's by_changes must be true or false",
        known.by_changes,
    )
    columns: Any = known.by_order
    texts = isinstance(columns, tuple) and all(isinstance(name, str) for name in columns)
    _need(texts, "the provenance's by_order must be names of columns", columns)
    for name in ("command", "code"):
        value = getattr(known, name)
        _need(isinstance(value, str), f"the provenance's {name} must be a text", value)
    for name in ("parameters", "versions", "options"):
        value = getattr(known, name)
        texts = isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
        _need(texts, f"the provenance's {name} must be named values", value)
