"""A search that survives a crash: its steps on disk, whole after each of them.

Every random number belongs to a seed, a purpose and a step, so a search that knows its first
steps goes on exactly as it would have.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from infosieve._files import write_atomically
from infosieve._json import dump, load, plain
from infosieve.results import Origin, Step, plain_step, restored_step

# These do not change a result.
_FREE = ("checkpoint", "device", "executor", "n_jobs", "random_state", "verbose")
_KEYS = {"data", "n_samples", "seed", "parameters", "infosieve", "steps", "checksum"}


class Checkpoint:
    """The steps of one search in a file.

    Parameters
    ----------
    path : path-like
    origin : Origin
        Data, parameters and seed of the search that is about to begin.
    any_seed : bool
        Whether the seed was not asked for: then that of the file is as good.

    Attributes
    ----------
    origin : Origin
        The same, with the seed of the file where there is one.
    steps : list of Step
        The steps that were finished.
    """

    def __init__(self, path: str | os.PathLike[str], origin: Origin, any_seed: bool) -> None:
        self.path = Path(path)
        self.origin, self.steps = origin, list[Step]()
        if self.path.exists():
            content = self._read()
            if any_seed:
                self.origin = replace(origin, seed=content["seed"])
            self._compare(content)
            self.steps = [restored_step(step) for step in content["steps"]]
        else:
            self.write([])

    def write(self, steps: Sequence[Step]) -> None:
        """Keep the steps so far."""
        content = self._identity() | {"steps": [plain_step(step) for step in steps]}
        content["checksum"] = _checksum(content)
        try:
            write_atomically(self.path, dump("checkpoint", 1, content))
        except OSError as error:
            raise OSError(
                error.errno,
                f"the checkpoint cannot be written ({error.strerror}); the steps that an earlier "
                "one has are safe. Name another file, or make room",
                str(self.path),
            ) from error

    def _identity(self) -> dict[str, Any]:
        parameters = {k: v for k, v in self.origin.parameters.items() if k not in _FREE}
        return {
            "data": self.origin.data,
            "n_samples": self.origin.n_samples,
            "seed": self.origin.seed,
            "parameters": parameters,
            "infosieve": self.origin.versions["infosieve"],
        }

    def _read(self) -> dict[str, Any]:
        way_out = "Nothing was overwritten: delete it to begin anew, or name another file."
        try:
            content = load(self.path.read_text(encoding="utf-8"), "checkpoint", 1, _KEYS)
        except UnicodeDecodeError:
            raise ValueError(f"The checkpoint {self.path} is damaged. {way_out}") from None
        except ValueError as error:
            raise ValueError(
                f"The checkpoint {self.path} cannot be used: {error}. {way_out}"
            ) from None
        if content.pop("checksum") != _checksum(content):
            raise ValueError(f"The checkpoint {self.path} is damaged (checksum). {way_out}")
        return content

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
