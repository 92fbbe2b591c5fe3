"""What survives a crash: finished steps of a search, folds, or halves, whole after each of them.

Every random number belongs to the seed, a purpose and the given columns, so a search that knows
its first steps goes on exactly as it would have. So do halves, which have seeds of their own.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypedDict

from infosieve._core.dialect import parameter
from infosieve._core.documents import Count, dump, load, plain, typed
from infosieve._core.files import InUseError, held, special, write_atomically
from infosieve._core.provenance import Provenance
from infosieve._core.settings import OF_NO_MATTER
from infosieve._executors import WorkersLostError
from infosieve.results import Step
from infosieve.results._base import need

# What became of parts that were finished where there was no checkpoint.
LOST = ", and are lost; a checkpoint would have kept them"
_WAY_OUT = "Nothing was overwritten: delete it to begin anew, or name another file."


@contextmanager
def claimed(path: Any) -> Iterator[None]:
    """A checkpoint for one run, as long as the context lasts; None is none."""
    if path is None:
        yield
        return
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{parameter('checkpoint')} must be a path or None. Got {path!r} instead.")
    kind = special(Path(path))
    if kind is not None:  # to read a pipe is to wait for ever
        raise OSError(f"The checkpoint {path} is {kind}. Name a file, or one that is yet to be.")
    try:
        with held(path):
            yield
    except InUseError as error:
        raise InUseError(
            f"The checkpoint {path} is in use by {error}. Wait until that has ended and run again "
            "to go on from there, or name another file."
        ) from None


def broken_off(error: BaseException, call: str, text: str, checkpoint: Any) -> BaseException:
    """What is raised where a call did not come to its end; the text says what was finished."""
    if checkpoint is not None:
        text += f"; the checkpoint {checkpoint} has them: run again to go on"
    if isinstance(error, KeyboardInterrupt):
        return KeyboardInterrupt(f"{call} was interrupted; {text}")
    return WorkersLostError(f"{error} {call} was ended; {text}.")


@dataclass(frozen=True, kw_only=True)
class Run:
    """What makes two runs one: a checkpoint of one of them does for the other."""

    data: str
    n_samples: int
    seed: Count
    parameters: dict[str, Any]
    infosieve: str


class Checkpoint:
    """What is finished of one run, item by item, in a file.

    Parameters
    ----------
    path : path-like
    provenance : Provenance
        Data, parameters and seed of the run that is about to begin.
    any_seed : bool
        Whether the seed was not asked for: then that of the file is as good.

    Attributes
    ----------
    provenance : Provenance
        The same, with the seed of the file where there is one.
    items : list
        Those that the file has.
    """

    # The document's schema and version, what items are called, and what they are.
    _schema: ClassVar[str]
    _version: ClassVar[int]
    _items: ClassVar[str]
    _kind: ClassVar[Any]

    def __init__(
        self, path: str | os.PathLike[str], provenance: Provenance, any_seed: bool
    ) -> None:
        self.path = Path(path)
        self.provenance, self.items = provenance, list[Any]()
        if not self.path.exists():
            self.write([])
            return
        run, items = self._read()
        if any_seed:
            self.provenance = provenance.with_seed(run.seed)
        self._compare(run, self._run())
        try:
            self.items = typed(items, list[self._kind])  # type: ignore[name-defined]
        except ValueError as error:
            raise self._unusable(f"is damaged in its {self._items}: {error}") from error

    def keep(self, items: Sequence[Any]) -> None:
        """Write the items so far, if the file has not all of them."""
        if len(items) > len(self.items):
            self.write(items)

    def write(self, items: Sequence[Any]) -> None:
        """The items so far, in place of those of before."""
        content = vars(self._run()) | {self._items: [plain(item, self._kind) for item in items]}
        content["checksum"] = _checksum(content)
        try:
            write_atomically(self.path, dump(self._schema, self._version, plain(content)))
        except OSError as error:
            raise OSError(
                error.errno,
                f"the checkpoint cannot be written ({error.strerror}); the {self._items} that an "
                "earlier one has are safe. Name another file, or make room",
                str(self.path),
            ) from error
        self.items = list(items)

    def _run(self) -> Run:
        known = self.provenance
        return Run(
            data=known.data,
            n_samples=known.n_samples,
            seed=known.seed,
            parameters={k: v for k, v in known.parameters.items() if k not in OF_NO_MATTER},
            infosieve=known.versions["infosieve"],
        )

    def _read(self) -> tuple[Run, Any]:
        """The run that the file is of, and its items."""
        try:
            text = self.path.read_text(encoding="utf-8")
            names = {*Run.__dataclass_fields__, self._items, "checksum"}
            content = load(text, self._schema, self._version, names, names)
            need(content["checksum"] == _checksum(content), "its checksum is of another content")
            return typed(content, Run), content[self._items]
        except ValueError as error:  # bytes that are no text, too
            raise self._unusable(f"cannot be used: {error}") from None

    def _unusable(self, what: str) -> ValueError:
        return ValueError(f"The checkpoint {self.path} {what}. {_WAY_OUT}")

    def _compare(self, theirs: Run, ours: Run) -> None:
        """Refuse the file of another run, naming the difference."""
        differences = []
        if theirs.data != ours.data:
            differences.append(
                f"the data are others (it has {theirs.n_samples} samples of fingerprint "
                f"{theirs.data[:8]}, these are {ours.n_samples} of {ours.data[:8]})"
            )
        then, now = (
            {"the seed": run.seed, "the version of infosieve": run.infosieve, **run.parameters}
            for run in (theirs, ours)
        )
        for name in dict.fromkeys([*then, *now]):
            before, after = then.get(name), now.get(name)
            if _text(before) != _text(after):
                differences.append(f"{name} was {before!r} and is {after!r}")
        if differences:
            raise ValueError(
                f"The checkpoint {self.path} is of another run: {'; '.join(differences)}. Nothing "
                "was overwritten: run with what it was made with, delete it, or name another file."
            )


class SearchCheckpoint(Checkpoint):
    """The steps of one search in a file."""

    _schema, _version, _items, _kind = "checkpoint", 2, "steps", Step


@dataclass(frozen=True, kw_only=True)
class Fold:
    """What is known without some samples: a ranking by a criterion, and scores on these samples.

    ``whole`` is the score of all columns, None where they were not tried.
    """

    criterion: str
    order: tuple[int, ...]
    scores: tuple[float, ...]
    whole: float | None


class Part(TypedDict, total=False):
    """Of a cross-validation, a fold or, after all folds, a step."""

    fold: Fold
    step: Step


class CVCheckpoint(Checkpoint):
    """The folds of a cross-validation in a file, and after them the steps of tests."""

    _schema, _version, _items, _kind = "cv-checkpoint", 1, "parts", Part

    @property
    def folds(self) -> list[Fold]:
        return [part["fold"] for part in self.items if "fold" in part]

    @property
    def steps(self) -> list[Step]:
        return [part["step"] for part in self.items if "step" in part]

    def write(self, items: Sequence[Fold | Step]) -> None:
        super().write([{"step" if isinstance(item, Step) else "fold": item} for item in items])


def _checksum(content: Mapping[str, Any]) -> str:
    """Of a content, whatever the order of its keys."""
    text = _text({k: v for k, v in content.items() if k != "checksum"})
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _text(value: Any) -> str:
    return json.dumps(plain(value), sort_keys=True)
