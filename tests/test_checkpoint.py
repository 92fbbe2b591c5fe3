"""Searches that are killed and go on: the same bits, or a clear refusal."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from infosieve import MISelector
from infosieve.datasets import make_copies, make_friedman, make_xor
from infosieve.search import Search

SEARCHES = {
    "default": {},
    "backward": {"search": "forward-backward", "alpha": 0.3, "stop": "permutation"},
    "chapter": {"n_neighbors": "auto", "criterion": "mi", "stop": "permutation",
                "null": "global", "correction": None, "lookahead": 1},
    "no test": {"stop": None, "max_features": 4},
    "cv": {"resample": "cv", "n_neighbors": 4, "max_features": 2, "lookahead": 1},
}  # fmt: skip


def data():
    X, y = make_friedman(90, 7, random_state=4, return_X_y=True)
    return np.c_[X, X[:, 3] + 0.1 * X[:, 6]], y


def content(selector):
    """All of a result but the parameters that do not matter."""
    return without_free(json.loads(selector.result_.to_json()))


def without_free(document):
    for part in (document, document["k_choice"]):
        for name in ("checkpoint", "n_jobs"):
            if part is not None:
                del part["origin"]["parameters"][name]
    return document


class Killed(BaseException):
    pass


def killed_after(n_steps, monkeypatch):
    """Let a search die once so many steps have been written, before or while the next."""
    original = Search._take

    def take(self, step):
        if len(self.path) == n_steps:
            raise Killed
        original(self, step)

    monkeypatch.setattr(Search, "_take", take)


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_goes_on_with_the_same_bits(name, tmp_path, monkeypatch):
    X, y = data()
    options = SEARCHES[name] | {"random_state": 2, "n_permutations": 99}
    whole = MISelector(**options).fit(X, y)
    for n_steps in range(len(whole.result_.steps) + 1):
        path = tmp_path / f"{n_steps}.json"
        selector = MISelector(**options, checkpoint=path)
        with monkeypatch.context() as patch:
            killed_after(n_steps, patch)
            try:
                selector.fit(X, y)
                assert n_steps == len(whole.result_.steps)
            except Killed:
                assert len(json.loads(path.read_text())["steps"]) == n_steps
        again = MISelector(**options, checkpoint=path, n_jobs=2).fit(X, y)
        assert content(again) == content(whole)


def test_pairs_go_on_too(tmp_path, monkeypatch):
    X, y = make_xor(150, 6, flips=0, random_state=0, return_X_y=True)
    whole = MISelector(random_state=0).fit(X, y)
    assert len(whole.result_.steps[0].features) == 2
    path = tmp_path / "c.json"
    with monkeypatch.context() as patch:
        killed_after(1, patch)
        with pytest.raises(Killed):
            MISelector(random_state=0, checkpoint=path).fit(X, y)
    assert content(MISelector(random_state=0, checkpoint=path).fit(X, y)) == content(whole)


def test_without_a_seed_the_checkpoint_keeps_one(tmp_path, monkeypatch):
    X, y = data()
    path = tmp_path / "c.json"
    with monkeypatch.context() as patch:
        killed_after(1, patch)
        with pytest.raises(Killed):
            MISelector(checkpoint=path).fit(X, y)
    seed = json.loads(path.read_text())["seed"]
    again = MISelector(checkpoint=path).fit(X, y).result_
    assert again.origin.seed == seed
    whole = MISelector(random_state=seed).fit(X, y).result_
    assert again.steps == whole.steps


def test_what_is_finished_is_not_computed_again(tmp_path, monkeypatch):
    X, y = data()
    path = tmp_path / "c.json"
    first = MISelector(random_state=0, checkpoint=path).fit(X, y)
    kept = path.read_bytes()
    monkeypatch.setattr(Search, "_next", lambda *_: pytest.fail("computed again"))
    again = MISelector(random_state=0, checkpoint=path).fit(X, y)
    assert content(again) == content(first)
    assert path.read_bytes() == kept
    assert list(tmp_path.iterdir()) == [path]  # nothing is left beside it


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 0.1}, "alpha was 0.05 and is 0.1"),
        ({"criterion": "mi"}, "criterion was 'cmi' and is 'mi'"),
        ({"n_neighbors": 4}, r"n_neighbors was \(3, 15\) and is 4"),
        ({"random_state": 1}, "the seed was 0 and is 1"),
    ],
)
def test_a_checkpoint_of_other_parameters_is_refused(change, message, tmp_path):
    X, y = data()
    path = tmp_path / "c.json"
    MISelector(random_state=0, checkpoint=path).fit(X, y)
    kept = path.read_bytes()
    with pytest.raises(ValueError, match=message):
        MISelector(**{"random_state": 0} | change, checkpoint=path).fit(X, y)
    assert path.read_bytes() == kept


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    X, y = data()
    path = tmp_path / "c.json"
    MISelector(random_state=0, checkpoint=path).fit(X, y)
    with pytest.raises(ValueError, match=r"the data are others .it has 90 samples"):
        MISelector(random_state=0, checkpoint=path).fit(X[:80], y[:80])
    with pytest.raises(ValueError, match="the data are others"):
        MISelector(random_state=0, checkpoint=path).fit(X + 1e-9, y)


def test_damaged_checkpoints_are_reported_and_kept(tmp_path):
    X, y = data()
    path = tmp_path / "c.json"
    MISelector(random_state=0, checkpoint=path).fit(X, y)
    whole = path.read_bytes()
    digit = whole.index(b'"gain": 0.') + 11
    other = b"1" if whole[digit : digit + 1] != b"1" else b"2"
    damaged = [whole[:cut] for cut in (0, 1, 50, len(whole) // 2, len(whole) - 3)]
    damaged += [whole[:digit] + other + whole[digit + 1 :], b"\xff\xfe\x00", b"{}", b"null"]
    for text in damaged:
        path.write_bytes(text)
        with pytest.raises(ValueError, match="Nothing was overwritten"):
            MISelector(random_state=0, checkpoint=path).fit(X, y)
        assert path.read_bytes() == text


def test_places_that_cannot_be_written_are_refused_before_work_begins(tmp_path, monkeypatch):
    monkeypatch.setattr(Search, "_next", lambda *_: pytest.fail("work began"))
    X, y = data()
    with pytest.raises(OSError, match="checkpoint cannot be written"):
        MISelector(checkpoint=tmp_path / "no" / "c.json").fit(X, y)
    with pytest.raises(OSError):
        MISelector(checkpoint=tmp_path).fit(X, y)


SCRIPT = """
import sys, warnings
warnings.simplefilter("ignore")
from infosieve import MISelector
from infosieve.datasets import make_copies
X, y = make_copies(60, 12, random_state=0, return_X_y=True)
options = dict(random_state=0, alpha=0.2, n_permutations=99, max_features=5)
print("ready", flush=True)
print(MISelector(**options, checkpoint=sys.argv[1]).fit(X, y).result_.to_json())
"""


def test_killed_for_real(tmp_path):
    """SIGKILL at rising times after the start, until a run comes through."""
    path = str(tmp_path / "c.json")
    command = [sys.executable, "-c", SCRIPT, path]
    kills = 0
    for number in range(200):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        process.stdout.readline()
        try:
            out, _ = process.communicate(timeout=0.02 * 1.4**number)
            break
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            kills += 1
    assert kills >= 3
    X, y = make_copies(60, 12, random_state=0, return_X_y=True)
    whole = MISelector(random_state=0, alpha=0.2, n_permutations=99, max_features=5).fit(X, y)
    assert without_free(json.loads(out)) == content(whole)
    assert [p.name for p in tmp_path.iterdir() if not p.name.startswith(".")] == ["c.json"]
