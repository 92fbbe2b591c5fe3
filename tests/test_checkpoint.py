"""Searches that are killed and go on: the same bits, or a clear refusal."""

import contextlib
import json
import os
import pickle
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest
from command import run_code
from sklearn.base import clone

from infosieve import MISelector
from infosieve._core.documents import restored
from infosieve.datasets import make_copies, make_friedman, make_xor
from infosieve.selection._checkpoint import _checksum
from infosieve.selection._search import Search

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
                del part["provenance"]["parameters"][name]
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
    assert again.provenance.seed == seed
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
        ({"criterion": "mi"}, "criterion was 'auto' and is 'mi'"),
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


def test_only_files_are_checkpoints(tmp_path, monkeypatch):
    """To open a pipe would be to wait for ever."""
    monkeypatch.setattr(Search, "_next", lambda *_: pytest.fail("work began"))
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    os.mkfifo("pipe")
    os.symlink("pipe", "link")
    os.symlink("/dev/null", "null")
    with socket.socket(socket.AF_UNIX) as there:
        there.bind("socket")
        for name, kind in (
            ("pipe", "a pipe"),
            ("link", "a pipe"),
            ("null", "a device"),
            ("socket", "a socket"),
            (".", "a directory"),
            ("", "a directory"),
        ):
            with pytest.raises(OSError, match=f"The checkpoint {name} is {kind}. Name a file"):
                MISelector(checkpoint=name).fit(*data())
    for wrong in (3, True, b"c.json"):
        with pytest.raises(TypeError, match="'checkpoint' parameter must be a path or None"):
            MISelector(checkpoint=wrong).fit(*data())


# What is no step, though its checksum is right.
IMPOSSIBLE = {
    "at `$[0].action`": lambda s: s[0].update(action="ad"),
    "at `$[1].action`": lambda s: s[1].update(action=["add"]),
    "at `$[0].features[0]`": lambda s: s[0].update(features=["X1"]),
    "at `$[0].gain`": lambda s: s[0].update(gain="much"),
    "`float` <= 1.0 - at `$[0].p_value`": lambda s: s[0].update(p_value=1.5),
    "`float` >= 0.0 - at `$[0].p_value`": lambda s: s[0].update(p_value=-0.1),
    "at `$[0].level`": lambda s: s[0].update(level=True),
    "at `$[0].n_candidates`": lambda s: s[0].update(n_candidates=2.5),
    "at `$[0].early_stopped`": lambda s: s[0].update(early_stopped=1),
    "at `$[0].sequential`": lambda s: s[0].update(sequential=None),
    "at `$[0].null[0]`": lambda s: s[0]["null"].__setitem__(0, None),
    "missing required field `gain` - at `$[0]`": lambda s: s[0].pop("gain"),
    "at `$[0].null`": lambda s: s[0].update(null=3),
    "at `$[0]`": lambda s: s.__setitem__(0, "add X4"),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The checkpoint of a finished search."""
    path = tmp_path_factory.mktemp("finished") / "c.json"
    MISelector(random_state=0, checkpoint=path).fit(*data())
    return json.loads(path.read_text())


def signed(document):
    """As text, with the checksum of whatever it holds."""
    content = {k: v for k, v in document.items() if not k.startswith(("schema", "checksum"))}
    with contextlib.suppress(TypeError):  # a value that is none has no checksum either
        document = document | {"checksum": _checksum(restored(content))}
    return json.dumps(document)


def refused(document, path, X=None, **options):
    """What a fit says of a document whose checksum is right; it must leave it alone."""
    text = signed(document)
    path.write_text(text)
    table, y = data()
    selector = MISelector(**{"random_state": 0} | options, checkpoint=path)
    with pytest.raises(ValueError) as caught:
        selector.fit(table if X is None else X, y)
    assert path.read_text() == text
    assert os.listdir(path.parent) == [path.name]
    said = str(caught.value)
    assert said.startswith(f"The checkpoint {path} ")
    assert "Nothing was overwritten: " in said
    return said


@pytest.mark.parametrize("message", IMPOSSIBLE)
def test_impossible_steps_are_refused(message, finished, tmp_path, monkeypatch):
    monkeypatch.setattr(Search, "_next", lambda *_: pytest.fail("work began"))
    document = json.loads(json.dumps(finished))
    IMPOSSIBLE[message](document["steps"])
    said = refused(document, tmp_path / "c.json")
    assert message in said
    assert "is damaged in its steps: " in said


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400])
def test_numbers_that_no_document_has_are_refused(value, finished, tmp_path):
    document = json.loads(json.dumps(finished))
    document["steps"][0].update(mi=value)
    assert "is beyond all numbers" in refused(document, tmp_path / "c.json")


@pytest.mark.parametrize("key", ["data", "n_samples", "seed", "parameters", "infosieve", "steps"])
def test_impossible_parts_are_refused(key, finished, tmp_path):
    possible = {"n_samples": -1, "infosieve": "x", "steps": []}
    for value in (None, -1, 1.5, "x", [], [1], {}, {"a": 1}, True, {"$mapping": 3}):
        if possible.get(key, ...) != value:
            for seed in (0, None):
                refused(finished | {key: value}, tmp_path / "c.json", random_state=seed)


SCRIPT = """
import os, signal, sys, warnings
warnings.simplefilter("ignore")
from infosieve import MISelector
from infosieve.datasets import make_copies
X, y = make_copies(60, 12, random_state=0, return_X_y=True)
left = int(sys.argv[2])
def count(frame, event, argument):
    global left
    left -= event == "call" and "infosieve" in frame.f_code.co_filename
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
sys.setprofile(count)
options = dict(random_state=0, alpha=0.2, n_permutations=99, max_features=5)
print(MISelector(**options, checkpoint=sys.argv[1]).fit(X, y).result_.to_json())
"""


def test_killed_for_real(tmp_path):
    """SIGKILL after so many calls of ours, and more each time, until a run comes through."""
    path = tmp_path / "c.json"
    kept = []
    for number in range(200):
        done = run_code(SCRIPT, path, int(100 * 1.1**number))
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
        kept.append(len(json.loads(path.read_text())["steps"]) if path.exists() else -1)
    assert {-1, 0, 1, 2} <= set(kept)
    assert kept == sorted(kept)
    X, y = make_copies(60, 12, random_state=0, return_X_y=True)
    whole = MISelector(random_state=0, alpha=0.2, n_permutations=99, max_features=5).fit(X, y)
    assert without_free(json.loads(done.stdout)) == content(whole)
    assert [p.name for p in tmp_path.iterdir() if not p.name.startswith(".")] == ["c.json"]


WAITING = """
import sys
from infosieve import MISelector
from infosieve.selection._search import Search
from infosieve.datasets import make_friedman
original = Search._take
def take(self, step):
    if len(self.path) == 1:
        print("has one step", flush=True)
        sys.stdin.read()  # until it is killed
    original(self, step)
Search._take = take
X, y = make_friedman(90, 7, random_state=4, return_X_y=True)
MISelector(random_state=0, checkpoint=sys.argv[1]).fit(X, y)
"""


def test_one_process_at_a_time(tmp_path):
    """The second is refused, and goes on once the first is killed."""
    path = tmp_path / "c.json"
    X, y = make_friedman(90, 7, random_state=4, return_X_y=True)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    first = subprocess.Popen([sys.executable, "-c", WAITING, path], **pipes)
    try:
        assert first.stdout.readline() == b"has one step\n"
        kept = path.read_bytes()
        selector = MISelector(random_state=0, checkpoint=path)
        message = f"The checkpoint {path} is in use by process {first.pid}. Wait until"
        with pytest.raises(OSError, match=message):
            selector.fit(X, y)
        assert path.read_bytes() == kept
    finally:
        first.kill()
        first.communicate()
    assert len(json.loads(kept)["steps"]) == 1
    whole = MISelector(random_state=0).fit(X, y)
    assert content(selector.fit(X, y)) == content(whole)
    assert os.listdir(tmp_path) == ["c.json"]


def test_one_process_fits_again_and_again(tmp_path):
    """Also after an error, and with copies of the estimator."""
    X, y = data()
    path = tmp_path / "c.json"
    selector = MISelector(random_state=0, checkpoint=path)
    with pytest.raises(ValueError, match="constant"):
        selector.fit(np.ones_like(X), y)
    path.unlink()
    first = content(selector.fit(X, y))
    for other in (selector, clone(selector), pickle.loads(pickle.dumps(selector))):
        assert content(other.fit(X, y)) == first
    assert os.listdir(tmp_path) == ["c.json"]
