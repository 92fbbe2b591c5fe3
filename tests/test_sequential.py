"""Sequential tests: the rule and its p-values against their definition; what tests make of it."""

import json
import re
from collections import Counter
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infosieve import MISelector, PermutationTest, permutation_test
from infosieve._core.sequential import exceedances_allowed, sequential_rule
from infosieve._core.settings import level_share
from infosieve.significance._tested import Rule, compared, forward_stop_level, until_decided

# Those of first and later steps, of pairs, and of removals.
LEVELS = [0.0375, 0.0125, 0.0617, 0.075, 0.025, 0.1, 0.05]


def orders(n):
    """Which of n permuted values exceed the observed one: the probability of each sequence."""
    seen = Counter(
        tuple(rank > ranks[0] for rank in ranks[1:]) for ranks in permutations(range(n + 1))
    )
    total = sum(seen.values())
    return {exceeding: Fraction(times, total) for exceeding, times in seen.items()}


def played(exceeding, accepts, rejects):
    """The outcome of one sequence: passed or not, the permutation, the exceedances."""
    count = 0
    for t, exceeds in enumerate(exceeding, start=1):
        count += exceeds
        if accepts(t, count):
            return True, t, count
        if rejects(t, count):
            return False, t, count
    raise AssertionError("the last permutation decides")


def naive_rule(level, n):
    """The outcomes of the rule and their probabilities, by the definition."""
    drawn = orders(n)
    level = Fraction(str(level))
    most = max(b for b in range(-1, n) if Fraction(b + 1, n + 1) <= level)
    after, passing = Counter(), Counter()
    for exceeding, p in drawn.items():
        for t in range(1, n + 1):
            at = t, sum(exceeding[:t])
            after[at] += p
            passing[at] += p * (sum(exceeding) <= most)
    doubts = {at: 1 - passing[at] / after[at] for at in after}

    def rejects(t, count):
        return count > most or (count >= 3 and 1 - doubts[t, count] <= Fraction(1, 50))

    best = None
    for doubt in sorted({0, *(d for d in doubts.values() if d <= Fraction(1, 2))}):
        found = Counter()
        for exceeding, p in drawn.items():
            found[played(exceeding, lambda *at, d=doubt: doubts[at] <= d, rejects)] += p
        if best is None or sum(p for (passed, *_), p in found.items() if passed) <= level:
            best = found
    return best


def in_order(outcome):
    passed, t, count = outcome
    return (0, t, count) if passed else (1, -t, count)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("level", [0.13, 0.25, 0.26, 0.31, 0.45, 0.5, 0.55, 0.7, 0.83])
def test_the_rule_is_that_of_all_orders_of_ranks(n, level):
    if level < 1 / (n + 1):
        with pytest.raises(ValueError, match="No sequential test has a level of"):
            sequential_rule(level, n)
        return
    rule = sequential_rule(level, n)
    want = naive_rule(level, n)
    p = Fraction(0)
    for outcome in sorted(want, key=in_order):
        passed, t, count = outcome
        p += want[outcome]
        assert (count <= rule.accept[t]) == passed
        assert (count >= rule.reject[t]) == (not passed)
        found = rule.p_value(count, t)
        assert (found <= level) == passed
        if passed or p > level:
            assert found == pytest.approx(float(p), rel=1e-12)
    assert p == 1
    ends = {(t, count) for _, t, count in want}
    for t in range(n + 2):
        for count in range(n + 2):
            assert rule.possible(count, t) == ((t, count) in ends)
    assert rule.first_acceptance == min(t for passed, t, _ in want if passed)


def exact_outcomes(rule):
    """Probabilities of all outcomes in fractions, permutation by permutation, in their order."""
    going, found = {0: Fraction(1)}, {}
    for t in range(1, rule.n_permutations + 1):
        reached = Counter()
        for count, p in going.items():
            more = Fraction(count + 1, t + 1)
            reached[count + 1] += p * more
            reached[count] += p * (1 - more)
        going = {}
        for count, p in reached.items():
            if count <= rule.accept[t] or count >= rule.reject[t]:
                found[bool(count <= rule.accept[t]), t, count] = p
            else:
                going[count] = p
    assert not going
    return dict(sorted(found.items(), key=lambda item: in_order(item[0])))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [99, 199])
def test_p_values_are_exact(level, n):
    rule = sequential_rule(level, n)
    p, before = Fraction(0), 0.0
    for (passed, t, count), mass in exact_outcomes(rule).items():
        p += mass
        found = rule.p_value(count, t)
        assert rule.possible(count, t)
        assert (found <= level) == passed
        assert found >= before
        assert float(p) <= found * (1 + 1e-12)  # P(p <= u) <= u for every u
        if passed or p > level:
            assert found == pytest.approx(float(p), rel=1e-10)
        before = found
    assert p == 1


def test_the_table_of_the_docs_is_enumerated():
    how = (Path(__file__).parent.parent / "docs" / "how.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (0\.\d+) \| (\d+) \| (\d+) \| (0\.\d+) \|$", how, re.MULTILINE)
    assert len(rows) == 5
    at_first = forward_stop_level([], 0.05) * level_share(2, of_pairs=False)
    for level, first, mean, acceptance in rows:
        exact = at_first if level == f"{at_first:.4f}" else float(level)
        rule = sequential_rule(exact, 199)
        drawn = sum(mass * t for (_, t, _), mass in exact_outcomes(rule).items())
        assert rule.first_acceptance == int(first)
        assert round(float(drawn)) == int(mean)
        assert f"{rule.acceptance:.4f}" == acceptance


@pytest.mark.parametrize("n", [99, 199, 999])
@pytest.mark.parametrize("level", [*LEVELS, 0.03658, 0.2, 0.5, 0.9])
def test_the_total_acceptance_is_at_most_the_level(level, n):
    if n == 999 and level > 0.1:
        n = 399
    rule = sequential_rule(level, n)
    assert rule.acceptance <= level
    assert rule.acceptance >= min(level, (exceedances_allowed(level, n) + 1) / (n + 1)) - 0.001
    assert (np.diff(rule.accept) >= 0).all()
    assert (np.diff(rule.reject) >= 0).all()
    assert (rule.accept < rule.reject).all()
    assert rule.accept[-1] + 1 == rule.reject[-1]


def power(rule, u):
    """The probability to pass, where a permutation reaches the observed value with u."""
    going, passes = np.zeros(rule.reject[-1] + 2), 0.0
    going[0] = 1.0
    for t in range(1, rule.n_permutations + 1):
        going[1:] = going[1:] * (1 - u) + going[:-1] * u
        going[0] *= 1 - u
        passes += going[: rule.accept[t] + 1].sum()
        going[: rule.accept[t] + 1] = 0
        going[rule.reject[t] :] = 0
    return passes


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("u", [0.001, 0.01, 0.02, 0.03])
def test_little_power_is_lost(level, u):
    from scipy.stats import binom

    all_permutations = binom.cdf(exceedances_allowed(level, 199), 199, u)
    assert power(sequential_rule(level, 199), u) >= all_permutations - 0.025


@pytest.mark.parametrize(
    ("level", "first"), [(0.0375, 56), (0.075, 37), (0.05, 55), (0.0125, 110), (0.1, 28)]
)
def test_a_sure_test_ends_early(level, first):
    rule = sequential_rule(level, 199)
    assert rule.first_acceptance == first
    assert rule.p_value(0, first) == pytest.approx(1 / (first + 1))


def test_a_small_alpha_has_its_rule_at_once():
    rule = sequential_rule(0.0005, 19999)
    assert 0.0004999 < rule.acceptance <= 0.0005
    with pytest.raises(ValueError, match="use a number of permutations"):
        sequential_rule(1e-8, 10**9)
    with pytest.raises(ValueError, match="use a number of permutations"):
        sequential_rule(0.5, 20_000)


def test_one_chance_is_no_chance_to_end_early():
    rule = sequential_rule(0.005, 199)
    assert rule.first_acceptance == 199
    assert rule.p_value(0, 199) == 0.005
    assert (rule.reject == 1).all()


@given(st.lists(st.booleans(), min_size=59, max_size=59), st.integers(0, 58))
def test_one_exceedance_more_makes_no_outcome_more_extreme(exceeding, more):
    """So ties, which count as exceedances, make a test conservative."""
    rule = sequential_rule(0.1, 59)
    both = np.array([exceeding, exceeding]).T
    both[more, 1] = True
    times, counts = rule.endings(both)
    one, other = rule.p_values(counts, times)
    assert one <= other


@given(st.integers(0, 2**32 - 1), st.floats(0, 0.3), st.sampled_from([1, 2, 7, 32, 199]))
def test_blocks_do_not_matter(seed, u, size):
    values = (np.random.default_rng(seed).uniform(size=(199, 3)) < [u, 0, 0.5]).astype(float)

    def blocks(columns):
        for first in range(0, 199, size):
            yield values[first : first + size, columns]

    rule = sequential_rule(0.0375, 199)
    times, counts = rule.endings(values >= 0.5)
    observed = np.full(3, 0.5)
    null = until_decided(observed, blocks([0, 1, 2]), 0.0375, Rule(199, sequential=True))
    np.testing.assert_array_equal(null, values[: times.max()])
    record = PermutationTest(
        candidates=("a", "b", "c"),
        observed=observed,
        null=null,
        alpha=0.0375,
        sequential=True,
        early_stopped=len(null) < 199,
        n_permutations_asked=199,
    )
    np.testing.assert_array_equal(record.permutations_used, times)
    np.testing.assert_array_equal(record.exceedances, counts)
    for j in range(3):
        alone = compared(np.full(1, 0.5), blocks([j]), 0.0375, Rule(199, sequential=True))
        assert len(alone.null) == times[j]
        assert alone.counts == counts[j]
        assert alone.p_value == rule.p_value(counts[j], times[j]) == record.p_values[j]
        assert alone.early_stopped == (times[j] < 199)


def test_a_fixed_number_is_as_ever():
    values = np.zeros((199, 1))
    found = compared(np.full(1, 0.5), iter([values]), 0.05, Rule(199))
    assert (found.counts, found.p_value, found.early_stopped) == (0, 1 / 200, False)
    assert not found.sequential
    every = compared(np.full(1, 0.5), iter([values]), None, Rule(199, sequential=True))
    assert (len(every.null), every.p_value, every.sequential) == (199, 1 / 200, False)


def step(rng, level, u=None):
    """The p-value of a test of chance alone, or of a column that permutations reach with u."""
    u = rng.uniform() if u is None else u
    rule = sequential_rule(level, 199)
    times, counts = rule.endings(rng.uniform(size=(199, 1)) < u)
    return rule.p_value(int(counts[0]), int(times[0]))


@pytest.mark.parametrize("lookahead", [1, 2])
@pytest.mark.parametrize("relevant", [0, 1, 3])
def test_forward_stop_keeps_its_level(lookahead, relevant):
    """Sure columns first, then chance: the mean share of false ones is at most alpha."""
    rng, runs, alpha, false = np.random.default_rng(relevant), 2000, 0.05, 0.0
    for _ in range(runs):
        p_values, taken = [], 0
        while taken < 10:
            level = forward_stop_level(p_values, alpha)
            shares = [level_share(lookahead, of_pairs=pairs) for pairs in (False, True)]
            u = 0.0 if taken < relevant else None
            for share in shares[:lookahead]:
                p = step(rng, level * share, u)
                if p <= level * share:
                    break
            else:
                break
            p_values.append(p)
            taken += 1
        assert taken >= relevant
        false += (taken - relevant) / max(taken, 1)
    assert false / runs <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / runs)


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 4))
    return X, X[:, 0] + 0.5 * rng.normal(size=80)


def test_each_candidate_ends_by_itself():
    X, y = data()
    how = {"correction": None, "alpha": 0.05, "random_state": 3}
    together = permutation_test(X, y, [0, 1, 2, 3], **how)
    assert together.sequential
    assert not together.lower_limit
    for j in range(4):
        alone = permutation_test(X, y, j, **how)
        assert alone.p_value == together.p_values[j]
        assert alone.n_permutations == together.permutations_used[j]
        assert alone.exceedances[0] == together.exceedances[j]
    assert together.n_permutations == together.permutations_used.max()
    assert together.p_values[0] == pytest.approx(1 / 56)
    frame = together.to_frame()
    assert frame["permutations"].tolist() == together.permutations_used.tolist()
    fixed = permutation_test(X, y, [0, 1, 2, 3], n_permutations=199, **how)
    assert not fixed.sequential
    assert fixed.p_values[0] == 1 / 200
    assert permutation_test(X, y, 0, random_state=3).n_permutations == 199


def test_a_sequential_test_is_read_again_and_checked():
    X, y = data()
    found = permutation_test(X, y, [0, 1], alpha=0.05, random_state=0)
    again = PermutationTest.from_json(found.to_json())
    np.testing.assert_array_equal(again.p_values, found.p_values)
    assert "exact for such a test" in found._repr_html_()
    assert "≥" not in found._repr_html_()
    for changes in (
        {"sequential": 1},
        {"alpha": None},
        {"alpha": 1e300},
        {"null": found.null[:-1].tolist()},
        {"n_permutations_asked": 2**53},
    ):
        with pytest.raises(ValueError, match="damaged"):
            PermutationTest.from_json(json.dumps(json.loads(found.to_json()) | changes))
    with pytest.raises(ValueError, match="A sequential test has a level"):
        PermutationTest(candidates=("a",), observed=[0.0], null=[[1.0]], sequential=True)


@pytest.mark.parametrize("search", ["forward", "forward-backward"])
def test_steps_say_how_they_were_tested(search):
    X, y = data()
    result = MISelector(search=search, random_state=0).fit(X, y).result_
    for s in result.steps:
        assert s.sequential
        assert not s.lower_limit
        rule = sequential_rule(s.level, 199)
        assert s.p_value == rule.p_value(s.exceedances, s.n_permutations)
        assert s.significant == (s.action == "add")
    assert result.steps[0].n_permutations < 199
    assert result.steps[0].early_stopped
    fixed = MISelector(search=search, n_permutations=199, random_state=0).fit(X, y).result_
    assert [s.features for s in fixed.steps] == [s.features for s in result.steps]
    assert fixed.steps[0].p_value == 1 / 200
    assert not any(s.sequential for s in fixed.steps)
