"""What was estimated of what, and what p-values are not: sentences that all who tell it share.

Records come from above this package, so functions here take them as they are: by their fields.
"""

import math
import shlex
from collections import Counter
from collections.abc import Iterator
from typing import Any

from infosieve._core.parameters import stop_of
from infosieve.report._data import nats
from infosieve.report._parts import counted, listed, name_text
from infosieve.results._facts import alone

# Fewer groups are as few as that many samples.
_FEW = 30
# A column that tells so much of numbers, or such a share of what there is to know of classes, may
# be the target in other words.
_NEARLY_ALL, _SHARE = 1.5, 0.9
# Of classes with fewer samples each, it is not known how much there is to know.
_SEEN = 10
# Columns that are less similar are not redundant; about a target, the similarity of columns that
# follow each other is far below 1.
_ALIKE = {"supervised": 0.15, "unsupervised": 0.5}
# From such a share of samples on that share their categories with nobody, little can be seen.
_ALONE = 0.25
# Such a part of a gain is most of it.
_MOST_OF = 0.9
# Options whose names are not those of their parameters.
_OPTIONS = {"discrete_features": "--categorical", "discrete_target": "--categorical"}


def setting(known: Any, name: str, value: Any = ...) -> str:
    """A parameter, with a value or alone, in the words of whoever asked: of Python or a command.

    ``known`` is the provenance of a result, or None.
    """
    if known is None or not known.command:
        return name if value is ... else f"{name}={value!r}"
    option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
    if value is ... or value is True:
        return option
    return f"{option} {'none' if value is None else value}"


def selection_notes(result: Any) -> Iterator[str]:
    """Of a selection: a sentence each."""
    yield from unfinished(result)
    yield from nearly_the_target(result)
    yield from below_zero(result)
    yield from crowded_out(result)
    yield from fewer_columns(result)
    yield from default_judge(result)
    yield from estimated(result)
    yield from gaps(result)
    yield from of_columns_alone(result)


def unfinished(result: Any) -> Iterator[str]:
    """That a search was broken off."""
    if result.stop_reason == "interrupted":
        yield "Unfinished: the search was broken off, and columns that it would add are not here."


def nearly_the_target(result: Any) -> Iterator[str]:
    """Which columns alone tell nearly all: they may not be known before the target is."""
    targets = [*result.excerpt.target.values()]
    first = result.steps[0] if result.steps else None
    if first is None or first.action != "add" or len(first.features) != 1 or len(targets) != 1:
        return
    (values,) = targets
    limit = _NEARLY_ALL
    if any(isinstance(value, str) for value in values):
        counts = Counter(values).values()
        if len(counts) < 2 or min(counts) < _SEEN:
            return
        shares = [count / len(values) for count in counts]
        limit = -_SHARE * sum(share * math.log(share) for share in shares)
    if first.mi <= limit:
        return
    alone = {first.features[0]: first.mi}
    alone |= {j: mi for j, mi in enumerate(result.relevance) if mi > limit and j not in alone}
    some = listed([f"{name_text(result.features[j])} ({nats(alone[j])} nats)" for j in alone])
    tells, was, it = "alone tells", "Was it", "it"
    if len(alone) > 1:
        tells, was, it = "each tell", "Were they", "them"
    yield (
        f"{some} {tells} nearly all. {was} computed from the target, or measured after it? Then "
        f"leave {it} out."
    )


def below_zero(result: Any) -> Iterator[str]:
    """That columns which passed may add less than nothing, as estimates go."""
    if any(s.action == "add" and s.significant and s.gain <= 0 for s in result.steps):
        yield (
            "A column that passed may add less than zero here: with several columns selected, all "
            "estimates are too low, those of chance, too. It adds more than chance does."
        )


def crowded_out(result: Any) -> Iterator[str]:
    """That a search ended where samples have too few like them to show anything more."""
    last, n = result.steps[-1] if result.steps else None, result.provenance.n_samples
    if last is None or last.action != "stop" or last.singletons < _ALONE * n:
        return
    yield (
        f"Where the search ended, {last.singletons:,} of {n:,} samples share their categories with "
        "no other: what more columns tell can hardly be seen there. Join categories, or leave out "
        f"columns of many, to look further; {setting(result.provenance, 'stop', 'cv')} asks what "
        "predicts."
    )


def fewer_columns(result: Any) -> Iterator[str]:
    """With how many columns most of what they gain is there already."""
    scores = result.cv_scores
    if scores is None:
        return
    means = dict(zip(scores.sizes, scores.mean, strict=True))
    gain = means[scores.n_chosen] - scores.without
    enough = [n for n in scores.sizes if n and means[n] - scores.without >= _MOST_OF * gain]
    if gain > 0 and min(enough) < scores.n_chosen:
        n = min(enough)
        yield (
            f"At least {_MOST_OF:.0%} of what {scores.n_chosen:,} columns gain over none is there "
            f"with {counted(n, 'column')} ({scores.scoring} {means[n]:.3f})."
        )


def default_judge(result: Any) -> Iterator[str]:
    """That another model may want other columns than the one that judged by default."""
    known = result.provenance
    if result.cv_scores is not None and known.parameters.get("model", ...) is None:
        yield (
            "Nearest neighbours chose the number. Another model may want more columns, or fewer: "
            f"name yours ({setting(known, 'model')})."
        )


def estimated(result: Any) -> Iterator[str]:
    """How many candidates were estimated, and from which samples."""
    for size, what in ((1, "candidates"), (2, "pairs")):
        steps = [s for s in result.steps if len(s.features) == size and s.n_screened is not None]
        ranked = [s for s in steps if size == 1 and s.p_value is None]
        if ranked and result.cv_scores is not None:
            n = max(step.n_candidates for step in ranked)
            kept = max(step.n_screened for step in ranked)
            yield (
                "In most steps, only the candidates that were best in an earlier step were "
                f"estimated anew ({kept:,} of {n:,} at most)."
            )
            steps = [s for s in steps if s not in ranked]
        if steps:
            widest = max(steps, key=lambda step: step.n_candidates)
            permuted = widest.p_value is not None and not alone(result, widest)
            yield from _screened(widest.n_candidates, widest.n_screened, what, permuted)
    yield from _parts(result, any(step.p_value is not None for step in result.steps))


def of_columns_alone(result: Any) -> Iterator[str]:
    """That p-values do not allow for choosing the best of many."""
    chosen = [step.n_candidates for step in result.steps if alone(result, step)]
    if chosen:
        yield (
            f"With {setting(result.provenance, 'correction', None)} p is that of a column alone, "
            "not of the best of "
            f"{max(chosen):,} candidates: where nothing is informative, the best of many passes "
            "more often than its p says."
        )


def refused(result: Any) -> Iterator[str]:
    """Why a search went on without a column that was the best."""
    if any(step.action == "refuse" for step in result.steps):
        yield (
            "A refused column follows one or two of the selected ones along a curve, and does not "
            "pass beside these: the search went on without it."
        )


def alpha_of(result: Any) -> float | None:
    """The alpha of a selection, where its parameters have one."""
    alpha = result.provenance.parameters.get("alpha")
    return alpha if isinstance(alpha, float) and 0 < alpha < 1 else None


def rule_of_tests(result: Any) -> Any:
    """The rule that sets the levels of tests: after cross-validation, that of the default."""
    known = result.provenance.parameters
    stop = stop_of(known.get("stop"), known.get("n_features_to_select"))
    return "fdr" if stop == "cv" else stop


# What a column adds, where it is held against one selected column at a time: in sentences, and on
# an axis. A test asks what it adds to all of them.
_ONE_BY_ONE = {
    "cmim": (
        "to one selected before it, that to which it adds least",
        "adds to one of those before, at least (nats)",
    ),
    "jmi": (
        "to one selected before it, on average over these",
        "adds to one of those before, on average (nats)",
    ),
}


def added_to(result: Any) -> tuple[str, str]:
    """To what a step adds its gain: the end of a sentence, and the title of an axis."""
    untested = all(step.p_value is None for step in result.steps)
    criterion = result.criterion
    alone = "to those selected before it", "adds, given those before (nats)"
    return _ONE_BY_ONE.get(str(criterion), alone) if untested else alone


def target_name(known: Any) -> str | None:
    """The target of a test, by the command that asked for it; None where that does not say it."""
    try:
        given = shlex.split(known.command or "")
    except ValueError:  # a quote without an end, in a record that somebody wrote
        return None
    for i, one in enumerate(given):
        if one.startswith("--target="):
            return one.removeprefix("--target=")
        if one == "--target" and i + 1 < len(given):
            return given[i + 1]
    return None


def why_not_alpha(result: Any) -> str:
    """Why the level of a step is not alpha, as the end of a sentence; empty where all are."""
    known, alpha = result.provenance.parameters, alpha_of(result)
    tested = [s for s in result.steps if s.level is not None and s.action != "remove"]
    if alpha is None or all(abs(s.level - alpha) <= 1e-9 for s in tested):
        return ""
    reasons = []
    if rule_of_tests(result) == "fdr":
        rise = any(step.level > alpha for step in tested)
        after = "rise after small p-values" if rise else "begin below it, and rise later"
        reasons.append(f"levels {after} (the ForwardStop rule)")
    if known.get("lookahead") == 2:
        reasons.append("a quarter of each level is set aside for pairs of columns")
    return ", and ".join(reasons)


def last_level(result: Any) -> str:
    """Why the level that ended a search is not alpha, in a sentence; empty where it is."""
    last = result.steps[-1] if result.steps else None
    reasons = why_not_alpha(result)
    if last is None or last.action != "stop" or last.level is None or not reasons:
        return ""
    alpha = alpha_of(result)
    return f"What is allowed at the end is {last.level:.3g}, not alpha = {alpha:g}: {reasons}."


def test_notes(test: Any) -> Iterator[str]:
    """Of a permutation test: a sentence each."""
    pairs = any(isinstance(name, tuple) for name in test.candidates)
    what = "pairs" if pairs and "pairs" in _asked(test) else "candidates"
    yield from _screened(test.n_candidates, len(test.candidates), what, permuted=True)
    yield from _parts(test)
    yield from _left_out(test.provenance)
    if len(test.candidates) > 1 and test.correction is None:
        yield (
            "p is not corrected for the number of columns "
            f"({setting(test.provenance, 'correction', None)}): it is that of each "
            f"column alone, and the best of {len(test.candidates):,} has a small one more often "
            "than it says."
        )


def _asked(test: Any) -> set[str]:
    """The parameters of a test that are switched on."""
    known = {} if test.provenance is None else test.provenance.parameters
    return {name for name, value in known.items() if value is True}


def _screened(n: int, n_screened: int, what: str, permuted: bool) -> Iterator[str]:
    if n_screened < n:
        anew = ", in each permutation anew" if permuted else ""
        best = "the best" if n_screened == 1 else f"the {n_screened:,} best"
        verb = "was" if n_screened == 1 else "were"
        yield (
            f"To save time, {n:,} {what} were ranked by tables of counts, and {best} {verb} "
            f"estimated{anew}."
        )


def _left_out(known: Any) -> Iterator[str]:
    if known is not None and known.n_left_out:
        why = "without a target"
        if known.parameters.get("missing") == "drop":
            why += ", or with gaps,"
        were = "sample {} was" if known.n_left_out == 1 else "samples {} were"
        remain = "remains" if known.n_samples == 1 else "remain"
        yield (f"{known.n_left_out:,} {were.format(why)} left out; {known.n_samples:,} {remain}.")


def gaps(result: Any) -> Iterator[str]:
    """Samples that were left out, columns with gaps, and what gaps tell."""
    yield from _left_out(result.provenance)
    if result.missing:
        most = max(result.missing, key=lambda j: result.missing[j])
        share = result.missing[most] / result.provenance.n_samples
        columns = (
            "1 column has" if len(result.missing) == 1 else f"{len(result.missing):,} columns have"
        )
        name = f"{'most in ' if len(result.missing) > 1 else ''}{result.features[most]}"
        text = f"{share:.0%}"
        yield f"{columns} missing values: {name} ({'less than 1%' if text == '0%' else text})."
    for step in result.steps:
        if step.action == "add" and step.gap_gain is not None and step.gap_gain > 0.1 * step.gain:
            name = " and ".join(str(result.features[j]) for j in step.features)
            yield (
                f"{name}: that values are missing would tell {nats(step.gap_gain)} nats by itself; "
                f"the column adds {nats(step.gain)}."
            )


def _n_parts(result: Any) -> str:
    return "1 part" if result.n_parts == 1 else f"{result.n_parts:,} parts"


def _by_order(known: Any, one: str, several: str) -> Iterator[str]:
    if known.by_order:
        more = f" and {len(known.by_order) - 5:,} more" if len(known.by_order) > 5 else ""
        why = f"the column {one}" if len(known.by_order) == 1 else f"the columns {several}"
        yield f"No test can tell {', '.join(known.by_order[:5])}{more} from chance: {why}."


def _parts(result: Any, permuted: bool = True) -> Iterator[str]:
    """Which samples an estimate compares; ``permuted``: also what was permuted."""
    known = result.provenance
    groups = None if known is None else known.parameters.get("groups")
    if isinstance(groups, int):
        whole = ", and whole groups are permuted" if permuted else ""
        few = " So few groups show strong dependences only." if groups < _FEW else ""
        yield (
            "Rows of one group are not compared with each other: estimates are means over "
            f"{_n_parts(result)}, with rows of {groups:,} groups{whole}.{few}"
        )
        if result.n_parts > 1:
            yield (
                f"A column that is the same in all rows of a group has {groups:,} values at most, "
                "however many rows there are. Estimates depend on the order of the rows within "
                "groups: shuffle the rows to see how much."
            )
        same = "the same values in the same order in the groups"
        yield from _by_order(known, f"has {same}", f"have {same}")
        return
    if known is not None and known.parameters.get("series", False) is not False:
        apart = f" whose rows are {result.n_parts} apart" if result.n_parts > 1 else ""
        likewise = ", and surrogates are as persistent as their columns" if permuted else ""
        means = f"estimates are means over {_n_parts(result)}{apart}"
        if result.n_parts == 1:
            means = "neighbouring rows are compared, too"
        yield f"Rows are in order of time: {means}{likewise}."
        if known.by_changes:
            yield (
                "The target wanders, without returning to a mean: changes from row to row were "
                "measured, of all columns of numbers."
            )
        yield from _by_order(
            known, "repeats itself, as a calendar does", "repeat themselves, as a calendar does"
        )
        return
    if result.n_parts > 1 and result.n_samples_used is not None:
        size, more = divmod(result.n_samples_used, result.n_parts)
        sizes = f"{size:,} or {size + 1:,}" if more else f"{size:,}"
        known = result.provenance
        some = known is not None and known.n_samples > result.n_samples_used
        used = f" ({result.n_samples_used:,} of {known.n_samples:,})" if some else ""
        yield f"Estimates are means over {result.n_parts:,} parts of {sizes} samples{used}."


def cluster_notes(result: Any) -> Iterator[str]:
    """Of clusters: a sentence each."""
    left_out = _parameter(result, "categories")
    if isinstance(left_out, list) and left_out:
        names, one = [name_text(name) for name in left_out], len(left_out) == 1
        are = "is a category, and is" if one else "are categories, and are"
        yield f"Clusters are of numbers: {listed(names, 8)} {are} not among them."
    yield from weak_clusters(result)
    yield from _left_out(result.provenance)
    copies = [(j, i) for i, others in result.duplicates.items() for j in others]
    if copies:
        some = ", ".join(f"{result.features[j]} of {result.features[i]}" for j, i in copies[:5])
        more = f" and {len(copies) - 5:,} more" if len(copies) > 5 else ""
        what = "1 column is a copy" if len(copies) == 1 else f"{len(copies):,} columns are copies"
        known = {} if result.provenance is None else result.provenance.parameters
        scaled = known.get("scale", "standard") is not None
        kinds = "equal, shifted, scaled or negated" if scaled else "equal, shifted or negated"
        together = "Copies always stay together."
        if known.get("connectivity") is not None:
            together = (
                "These stay together; copies that no neighbours among them connect are not "
                "counted, and may be apart."
            )
        yield f"{what} ({kinds}): {some}{more}. {together}"
    if result.n_clusters_range is not None:
        low, high = result.n_clusters_range
        chosen = len(result.clusters)
        taken = "" if low <= chosen <= high else _more_error(result.cv_results, chosen)
        within = f"the scores of {low} to {high} clusters are within one standard error of the best"
        if low == high:
            yield f"No other number has a score within one standard error of that of {low}.{taken}"
        elif result.decided:
            yield f"T{within[1:]}.{taken}"
        else:
            yield (
                f"The data do not decide on the number: {within}.{taken} Other samples may lead to "
                "another number; pass the one that serves you."
            )


def _parameter(result: Any, name: str) -> Any:
    """A parameter of what was asked; None where it is not known."""
    return None if result.provenance is None else result.provenance.parameters.get(name)


def how_alike(result: Any) -> str:
    """What columns of a cluster have in common, as a remark; empty without a threshold."""
    threshold = _parameter(result, "similarity_threshold")
    if not isinstance(threshold, (int, float)) or not -1 <= threshold <= 1:
        return ""
    what = "similarity about the target"
    if _parameter(result, "similarity") == "unsupervised":
        ranks = _parameter(result, "correlation") == "spearman"
        what = "rank correlation" if ranks else "correlation"
    return f" ({what} of {threshold:g} or more)"


def weak_clusters(result: Any) -> Iterator[str]:
    """Clusters whose columns have little in common."""
    least = dict[int, float]()
    merges = zip(result.node_clusters[len(result.features) :], result.similarities, strict=True)
    for cluster, similarity in merges:
        if cluster is not None:
            least[cluster] = min(least.get(cluster, 1.0), float(similarity))
    enough = _ALIKE.get(str(_parameter(result, "similarity")), 0.0)
    weak = [cluster for cluster in sorted(least) if least[cluster] < enough]
    if not weak:
        return
    loosest = min(weak, key=lambda cluster: least[cluster])
    some = listed([name_text(name) for name in result.members[loosest]], 4)
    joined = f"{some} are joined at a similarity of {least[loosest]:.2f} only"
    if len(weak) == 1:
        yield f"{joined}: not all are redundant."
    else:
        yield f"{len(weak):,} clusters are loose: {joined}. Not all of their columns are redundant."


def _more_error(results: Any, chosen: int) -> str:
    """How much more error, 1 - score, so many clusters have than the best number."""
    scores = [float(score) for score in results["mean_test_score"]]
    own, best = scores[list(results["n_clusters"]).index(chosen)], max(scores)
    more = f"{100 * (best - own) / (1 - best):.0f} % more error" if best < 1 else "more error"
    return f" {chosen} have {more}."
