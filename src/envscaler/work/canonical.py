"""One text for equal inputs, and results as strict JSON text that reads back as what was written, whatever it holds.

NaN, infinities and integers of thousands of digits, which JSON or its readers do not carry, are written as objects with one
key: ``{"$float": "nan"}``, ``{"$int": "0x…"}``. An object with one key that begins with ``$`` gets one ``$`` more.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any, Final

from envscaler.errors import UsageError

__all__ = ["digest", "dumps", "loads"]

_LONG: Final = 4000  # bits; Python refuses to write integers of more than 4,300 digits
_MARK: Final = "$"


def dumps(value: Any) -> str:
    """ASCII JSON text with sorted keys. Tuples count as lists. Raises UsageError, with the path, for what is not JSON."""
    try:
        return json.dumps(_plain(value, "the value"), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except RecursionError:
        raise UsageError("the value nests too deeply to be written down") from None


def loads(text: str) -> Any:
    """The value of a text of `dumps`."""
    return json.loads(text, object_hook=_read)


def digest(kind: str, inputs: Any) -> str:
    """The content hash of a unit of work, 40 hex digits. Raises UsageError for inputs that are not JSON."""
    return hashlib.blake2b(dumps([kind, inputs]).encode("ascii"), digest_size=20).hexdigest()


def _plain(value: Any, path: str) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        number = int(value)
        return number if number.bit_length() <= _LONG else {"$int": hex(number)}
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": str(float(value))}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{path}[{place}]") for place, item in enumerate(value)]
    if isinstance(value, Mapping):
        return _object(value, path)
    raise UsageError(f"{path} is an object of {type(value).__name__}, which is not JSON")


def _object(value: Mapping[Any, Any], path: str) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise UsageError(f"{path} has the key {ascii(key)[:40]}; the keys of a JSON object are text")
        name = _text(key)
        if name in plain:
            raise UsageError(f"{path} has the key {ascii(key)[:40]} twice, once with its character in halves")
        plain[name] = _plain(item, f"{path}.{name}" if name.isidentifier() else f"{path}[{ascii(name)[:40]}]")
    if len(plain) == 1:
        [(name, item)] = plain.items()
        if name.startswith(_MARK):
            return {_MARK + name: item}
    return plain


def _text(value: str) -> str:
    """The text as plain str. Two halves of a character side by side are that character: in JSON they cannot be told apart."""
    text = str.__str__(value)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def _read(plain: dict[str, Any]) -> Any:
    if len(plain) != 1:
        return plain
    [(name, item)] = plain.items()
    if not name.startswith(_MARK):
        return plain
    if name == "$int":
        return int(item, 16)
    return float(item) if name == "$float" else {name[1:]: item}
