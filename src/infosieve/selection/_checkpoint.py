"""A search that survives a crash: its steps on disk, whole after each of them.

Every random number belongs to the seed, a purpose and the given columns, so a search that knows
its first steps goes on exactly as it would have.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from infosieve._core.documents import dump, load, plain
from infosieve._core.files import InUseError, held, special, write_atomically
from infosieve._core.parameters import WITHOUT_EFFECT
from infosieve.results import Provenance, Step
from infosieve.results._checks import ImpossibleError, check_fit, check_path
from infosieve.results._selection import plain_step, restored_step

_KINDS = {"data": str, "n_samples": int, "seed": int, "parameters": dict, "infosieve": str}
_KINDS |= {"steps": list}
_WAY_OUT = "Nothing was overwritten: delete it to begin anew, or name another file."
_KEYS = {*_KINDS, "checksum"}


@contextmanager
def claimed(path: Any) -> Iterator[None]:
    """A checkpoint for one search, as long as the context lasts; None is none.

    Parameters
    ----------
    path : path-like or None
    """
    if path is None:
        yield
        return
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"The 'checkpoint' parameter must be a path or None. Got {path!r} instead.")
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


class Checkpoint:
    """The steps of one search in a file.

    Parameters
    ----------
    path : path-like
    provenance : Provenance
        Data, parameters and seed of the search that is about to begin.
    any_seed : bool
        Whether the seed was not asked for: then that of the file is as good.
    n_columns : int
        Of the table.

    Attributes
    ----------
    provenance : Provenance
        The same, with the seed of the file where there is one.
    steps : list of Step
        The steps that were finished.
    """

    def __init__(
        self, path: str | os.PathLike[str], provenance: Provenance, any_seed: bool, n_columns: int
    ) -> None:
        self.path = Path(path)
        self.provenance, self.steps = provenance, list[Step]()
        if self.path.exists():
            content = self._read()
            if any_seed:
                self.provenance = provenance.with_seed(content["seed"])
            self._compare(content)
            self.steps = self._checked(content["steps"], n_columns)
        else:
            self.write([])

    def known(self, candidates: Iterable[int]) -> list[Step]:
        """The steps that were finished, if they are about candidates."""
        others = {j for step in self.steps for j in step.features}.difference(candidates)
        if others:
            raise self._damaged(f"column {min(others)} is constant, or a duplicate of another")
        return self.steps

    def write(self, steps: Sequence[Step]) -> None:
        """Keep the steps so far."""
        content = self._identity() | {"steps": [plain_step(step) for step in steps]}
        content["checksum"] = _checksum(content)
        try:
            write_atomically(self.path, dump("checkpoint", 2, content))
        except OSError as error:
            raise OSError(
                error.errno,
                f"the checkpoint cannot be written ({error.strerror}); the steps that an earlier "
                "one has are safe. Name another file, or make room",
                str(self.path),
            ) from error

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
        try:
            content = load(self.path.read_text(encoding="utf-8"), "checkpoint", 2, _KEYS)
        except UnicodeDecodeError:
            raise self._damaged("it is no text") from None
        except ValueError as error:
            raise ValueError(
                f"The checkpoint {self.path} cannot be used: {error}. {_WAY_OUT}"
            ) from None
        if content.pop("checksum") != _checksum(content):
            raise self._damaged("its checksum is of another content")
        for name, kind in _KINDS.items():
            if type(content[name]) is not kind:
                raise self._damaged(f"{name!r} is of the wrong kind")
        if content["seed"] < 0:
            raise self._damaged("its seed is negative")
        return content

    def _checked(self, steps: Any, n_columns: int) -> list[Step]:
        """The steps, if such a search can have made them."""
        try:
            restored = [restored_step(step) for step in steps]
            check_path(restored, n_columns)
            check_fit(restored, self.provenance.parameters, n_columns)
        except ImpossibleError as error:
            raise self._damaged(str(error)) from None
        except (KeyError, TypeError) as error:
            raise self._damaged("a step lacks a part, or has one of the wrong kind") from error
        return restored

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


def _checksum(content: Mapping[str, Any]) -> str:
    """Of a content, whatever the order of its keys."""
    text = json.dumps(plain({k: v for k, v in content.items() if k != "checksum"}), sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
