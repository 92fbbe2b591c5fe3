"""Records as JSON: with a schema, its version, and where they come from. Never a pickle."""

import json
import math
import platform
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np

from infosieve._core.version import __version__

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "pandas")


@lru_cache(maxsize=1)
def versions() -> Mapping[str, str]:
    """The versions of what computes; looked up once, as it takes longer than a small fit."""
    ours = {"python": platform.python_version(), "infosieve": __version__}
    return ours | {name: version(name) for name in LIBRARIES}


def plain(value: Any) -> Any:
    """What JSON can hold; read back by :func:`restored`.

    Numbers, texts, truth values, lists, arrays and mappings of names are as in JSON; other
    mappings, tuples and numbers that JSON does not know are marked. What cannot be restored (an
    estimator among parameters, say) is kept as text.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, (list, np.ndarray)):
        return [plain(v) for v in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, tuple):
        return {"$tuple": [plain(v) for v in value]}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: plain(v) for key, v in value.items()}
        return {"$mapping": [[plain(k), plain(v)] for k, v in value.items()]}
    return {"$text": str(value)}


def restored(value: Any) -> Any:
    """What :func:`plain` made plain."""
    if isinstance(value, list):
        return [restored(v) for v in value]
    if isinstance(value, dict):
        if "$float" in value:
            return float(value["$float"])
        if "$tuple" in value:
            return tuple(restored(v) for v in value["$tuple"])
        if "$mapping" in value:
            return {restored(k): restored(v) for k, v in value["$mapping"]}
        if "$text" in value:
            return value["$text"]
        return {key: restored(v) for key, v in value.items()}
    return value


def dump(schema: str, schema_version: int, content: Mapping[str, Any]) -> str:
    """A JSON document."""
    head = {"schema": f"infosieve/{schema}", "schema_version": schema_version}
    body = {key: plain(value) for key, value in content.items()}
    return json.dumps(head | body, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def load(text: str, schema: str, schema_version: int, keys: set[str]) -> dict[str, Any]:
    """The content of a document, if it is one of this schema."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is no JSON, or a damaged file: {error}") from None
    found = document.get("schema") if isinstance(document, dict) else None
    if found != f"infosieve/{schema}":
        what = f"{found!r}" if found else "something else"
        raise ValueError(f"this is {what}, not a document of the schema 'infosieve/{schema}'")
    if document.get("schema_version") != schema_version:
        raise ValueError(
            f"this document has version {document.get('schema_version')!r} of its schema; this "
            f"infosieve reads version {schema_version}. Read it with the infosieve that wrote it."
        )
    missing = sorted(keys - set(document))
    if missing:
        raise ValueError(f"this document lacks {', '.join(map(repr, missing))}: it is damaged")
    try:
        return {key: restored(document[key]) for key in keys}
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError("this document is damaged: a marked value in it is none") from error
