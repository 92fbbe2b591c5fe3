"""Records as JSON, with a schema and its version. Never a pickle.

What a record may hold is what its fields are declared as: msgspec reads it so, and names the
field that is something else.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec
import numpy as np

T = TypeVar("T")
# Fields with bounds.
Count = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
PositiveNumber = Annotated[float, msgspec.Meta(gt=0)]
Probability = Annotated[float, msgspec.Meta(ge=0, le=1)]
# What arrays are declared to hold: the kinds of numpy that will do, and what becomes of them.
_ARRAYS: Mapping[Any, tuple[str, Any]] = {
    np.float64: ("iuf", np.float64),
    np.signedinteger: ("i", np.int64),
    np.bool_: ("b", np.bool_),
    Any: ("iuf", None),
}


def plain(value: Any, declared: Any = Any) -> Any:
    """What JSON can hold; read back by :func:`restored`.

    Records are mappings, and numbers, texts, truth values, lists, arrays and mappings of names are
    as in JSON. A field that is declared a tuple is a list; other tuples, other mappings, and
    numbers that JSON does not know are marked. What cannot be restored (an estimator among
    parameters, say) is kept as text.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if is_dataclass(value):
        record: Any = type(value)
        return {name: plain(getattr(value, name), kind) for name, kind in _declared(record)}
    if isinstance(value, (list, np.ndarray)):
        return [plain(v) for v in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, tuple):
        inside = _inside(declared, tuple)
        parts = [plain(v, inside[0] if inside else Any) for v in value]
        return parts if inside else {"$tuple": parts}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            inside = _inside(declared, Mapping)
            return {key: plain(v, inside[1] if inside else Any) for key, v in value.items()}
        return {"$mapping": [[plain(k), plain(v)] for k, v in value.items()]}
    return {"$text": str(value)}


@lru_cache(maxsize=64)
def _declared(record: type) -> list[tuple[str, Any]]:
    """The fields of a record, and what they are in JSON."""
    hints = get_type_hints(record)
    return [(f.name, f.metadata.get("json", hints[f.name])) for f in fields(record)]


def _inside(declared: Any, origin: Any) -> tuple[Any, ...]:
    """What a declared tuple or mapping holds; empty where none is declared."""
    kinds = (declared, *get_args(declared))  # those of a union, too
    return next((get_args(kind) for kind in kinds if get_origin(kind) is origin), ())


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
    """A JSON document of plain values."""
    head = {"schema": f"infosieve/{schema}", "schema_version": schema_version}
    return json.dumps({**head, **content}, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def load(
    text: str, schema: str, schema_version: int, names: set[str], needed: set[str]
) -> dict[str, Any]:
    """The content of a document, if it is one of this schema; what is not needed may be absent."""
    numbers: Any = {"parse_int": _whole, "parse_float": _number, "parse_constant": _number}
    try:
        document = json.loads(text, **numbers)
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
    missing = sorted(needed - set(document))
    if missing:
        raise ValueError(f"this document lacks {', '.join(map(repr, missing))}: it is damaged")
    try:
        return {name: restored(document[name]) for name in document if name in names}
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError("this document is damaged: a marked value in it is none") from error


def typed(content: Any, kind: type[T]) -> T:
    """A content as what it is declared to be; the error names the field that is something else."""
    try:
        return msgspec.convert(content, kind, dec_hook=_array)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None


def _array(kind: Any, value: Any) -> Any:
    """An array of finite numbers, or of truth values."""
    kinds, dtype = _ARRAYS[get_args(get_args(kind)[1])[0]]
    try:
        array = np.array(value)
    except ValueError:
        raise ValueError("Expected rows of one length") from None
    if array.size and array.dtype.kind not in kinds:
        raise ValueError("Expected an array of " + ("truth values" if kinds == "b" else "numbers"))
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError("Expected finite numbers")
    return array if dtype is None else array.astype(dtype)


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is beyond all numbers that documents have")
    return number


def _whole(text: str) -> int:
    _number(text)
    return int(text)
