"""What survives a crash: finished steps of a search, folds, or halves, whole after each of them.

Every random number belongs to the seed, a purpose and the given columns, so a search that knows
its first steps goes on exactly as it would have. So do halves, which have seeds of their own.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from infosieve._core.dialect import parameter
from infosieve._core.documents import dump, load, plain
from infosieve._core.files import InUseError, held, special, write_atomically
from infosieve._core.parameters import WITHOUT_EFFECT
from infosieve.results import Provenance, Step
from infosieve.results._base import plain_record
from infosieve.results._checks import ImpossibleError, check_fit, check_path, check_scores
from infosieve.results._selection import plain_step, restored_step
from infosieve.selection._one_by_one import ONE_BY_ONE
from infosieve.significance._permutation_test import MEASURED

_KINDS = {"data": str, "n_samples": int, "seed": int, "parameters": dict, "infosieve": str}
_WAY_OUT = "Nothing was overwritten: delete it to begin anew, or name another file."


@contextmanager
def claimed(path: Any) -> Iterator[None]:
    """A checkpoint for one run, as long as the context lasts; None is none.

    Parameters
    ----------
    path : path-like or None
    """
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


class Kept:
    """What is finished of one run, item by item, in a file.

    Parameters
    ----------
    path : path-like
    provenance : Provenance
        Data, parameters and seed of the run that is about to begin.
    any_seed : bool
        Whether the seed was not asked for: then that of the file is as good.
    n_columns : int
        Of the table.

    Attributes
    ----------
    provenance : Provenance
        The same, with the seed of the file where there is one.
    items : list
        Those that the file has.
    """

    # The document's schema and version, and what an item and several are called.
    _schema: ClassVar[str]
    _version: ClassVar[int]
    _item: ClassVar[str]
    _items: ClassVar[str]

    def __init__(
        self, path: str | os.PathLike[str], provenance: Provenance, any_seed: bool, n_columns: int
    ) -> None:
        self.path, self.n_columns = Path(path), n_columns
        self.provenance, self.items = provenance, list[Any]()
        if self.path.exists():
            content = self._read()
            if any_seed:
                self.provenance = provenance.with_seed(content["seed"])
            self._compare(content)
            self.items = self._checked(content[self._items])
        else:
            self.write([])

    def keep(self, items: Sequence[Any]) -> None:
        """Write the items so far, if the file has not all of them."""
        if len(items) > len(self.items):
            self.write(items)

    def write(self, items: Sequence[Any]) -> None:
        """The items so far, in place of those of before."""
        content = self._identity() | {self._items: [self._plain(item) for item in items]}
        content["checksum"] = _checksum(content)
        try:
            write_atomically(self.path, dump(self._schema, self._version, content))
        except OSError as error:
            raise OSError(
                error.errno,
                f"the checkpoint cannot be written ({error.strerror}); the {self._items} that an "
                "earlier one has are safe. Name another file, or make room",
                str(self.path),
            ) from error
        self.items = list(items)

    def _plain(self, item: Any) -> Any:
        """An item, as JSON holds it."""
        raise NotImplementedError

    def _restored(self, content: list[Any]) -> list[Any]:
        """The items of :meth:`_plain`; an ImpossibleError if no such run can have made them."""
        raise NotImplementedError

    def _identity(self) -> dict[str, Any]:
        parameters = {
            k: v for k, v in self.provenance.parameters.items() if k not in WITHOUT_EFFECT
        }
        return {
            "data": self.provenance.data,
            "n_samples": self.provenance.n_samples,
            "seed": self.provenance.seed,
            "parameters": parameters,
            "infosieve": self.provenance.versions["infosieve"],
        }

    def _read(self) -> dict[str, Any]:
        kinds = _KINDS | {self._items: list}
        try:
            text = self.path.read_text(encoding="utf-8")
            content = load(text, self._schema, self._version, {*kinds, "checksum"})
        except UnicodeDecodeError:
            raise self._damaged("it is no text") from None
        except ValueError as error:
            raise ValueError(
                f"The checkpoint {self.path} cannot be used: {error}. {_WAY_OUT}"
            ) from None
        if content.pop("checksum") != _checksum(content):
            raise self._damaged("its checksum is of another content")
        for name, kind in kinds.items():
            if type(content[name]) is not kind:
                raise self._damaged(f"{name!r} is of the wrong kind")
        if content["seed"] < 0:
            raise self._damaged("its seed is negative")
        return content

    def _checked(self, content: list[Any]) -> list[Any]:
        try:
            return self._restored(content)
        except ImpossibleError as error:
            raise self._damaged(str(error)) from None
        except (KeyError, TypeError) as error:
            what = f"a {self._item} lacks a part, or has one of the wrong kind"
            raise self._damaged(what) from error

    def _damaged(self, what: str) -> ValueError:
        return ValueError(f"The checkpoint {self.path} is damaged: {what}. {_WAY_OUT}")

    def _compare(self, content: Mapping[str, Any]) -> None:
        """Refuse the file of another search, naming the difference."""
        mine = self._identity()
        differences = []
        if content["data"] != mine["data"]:
            differences.append(
                f"the data are others (it has {content['n_samples']} samples of fingerprint "
                f"{content['data'][:8]}, these are {mine['n_samples']} of {mine['data'][:8]})"
            )
        for name in ("seed", "infosieve"):
            if content[name] != mine[name]:
                what = "the seed" if name == "seed" else "the version of infosieve"
                differences.append(f"{what} was {content[name]} and is {mine[name]}")
        theirs, ours = content["parameters"], mine["parameters"]
        for name in sorted({*theirs, *ours}):
            then, now = (json.dumps(plain(p.get(name)), sort_keys=True) for p in (theirs, ours))
            if then != now:
                differences.append(f"{name} was {theirs.get(name)!r} and is {ours.get(name)!r}")
        if differences:
            raise ValueError(
                f"The checkpoint {self.path} is of another run: {'; '.join(differences)}. Nothing "
                "was overwritten: run with what it was made with, delete it, or name another file."
            )


class Checkpoint(Kept):
    """The steps of one search in a file."""

    _schema, _version, _item, _items = "checkpoint", 2, "step", "steps"

    def known(self, candidates: Iterable[int]) -> list[Step]:
        """The steps that were finished, if they are about candidates."""
        others = {j for step in self.items for j in step.features}.difference(candidates)
        if others:
            raise self._damaged(f"column {min(others)} is constant, or a duplicate of another")
        return self.items

    def _plain(self, item: Step) -> dict[str, Any]:
        return plain_step(item)

    def _restored(self, content: list[Any]) -> list[Step]:
        restored = [restored_step(step) for step in content]
        check_path(restored, self.n_columns)
        check_fit(restored, self.provenance.parameters, self.n_columns)
        return restored


@dataclass(frozen=True, kw_only=True)
class Fold:
    """What is known without some samples: a ranking by a criterion, and scores on these samples.

    ``whole`` is the score of all columns, None where they were not tried.
    """

    criterion: str
    order: tuple[int, ...]
    scores: tuple[float, ...]
    whole: float | None


class CVCheckpoint(Kept):
    """The folds of a cross-validation in a file, and after them the steps of tests."""

    _schema, _version, _item, _items = "cv-checkpoint", 1, "fold or step", "parts"

    @property
    def folds(self) -> list[Fold]:
        return [item for item in self.items if isinstance(item, Fold)]

    @property
    def steps(self) -> list[Step]:
        return [item for item in self.items if isinstance(item, Step)]

    def _plain(self, item: Fold | Step) -> dict[str, Any]:
        if isinstance(item, Step):
            return {"step": plain_step(item)}
        return {
            "fold": plain_record(item) | {"order": list(item.order), "scores": list(item.scores)}
        }

    def _restored(self, content: list[Any]) -> list[Fold | Step]:
        folds = [_fold(part["fold"]) for part in content if "fold" in part]
        steps = [restored_step(part["step"]) for part in content if "step" in part]
        if [*map(tuple, content)] != [("fold",)] * len(folds) + [("step",)] * len(steps):
            raise ImpossibleError("folds come first, then steps")
        for number, fold in enumerate(folds, start=1):
            if fold.criterion not in (*MEASURED, *ONE_BY_ONE):
                raise ImpossibleError(f"fold {number} has no such criterion: {fold.criterion!r}")
            scores = [*fold.scores, *([] if fold.whole is None else [fold.whole])]
            check_scores(f"fold {number}", fold.order, scores, self.n_columns)
        check_path(steps, self.n_columns)
        check_fit(steps, self.provenance.parameters, self.n_columns)
        return [*folds, *steps]


def _fold(content: Mapping[str, Any]) -> Fold:
    tuples = {name: tuple(content[name]) for name in ("order", "scores")}
    return Fold(**{**content, **tuples})


def _checksum(content: Mapping[str, Any]) -> str:
    """Of a content, whatever the order of its keys."""
    text = json.dumps(plain({k: v for k, v in content.items() if k != "checksum"}), sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
