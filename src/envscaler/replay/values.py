"""JSON values: compared path by path, patched without copying what stays, hashed as the recordings do."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envscaler.runtime import pointers

__all__ = ["ABSENT", "Hasher", "Mismatch", "PatchError", "at", "mismatches", "patched", "short"]


class _Absent:
    """Where one of two compared values has nothing."""

    def __repr__(self) -> str:
        return "nothing"


ABSENT = _Absent()


class PatchError(ValueError):
    """A patch names a place that its document does not have."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One place where two values differ; ``path`` is an RFC 6901 pointer, empty for the whole."""

    path: str
    expected: Any
    got: Any

    def __str__(self) -> str:
        return f"{self.path or 'the whole'}: expected {short(self.expected)}, got {short(self.got)}"


def short(value: Any, limit: int = 120) -> str:
    """The value as JSON on one line, cut in the middle when long."""
    text = "nothing" if value is ABSENT else json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= limit else f"{text[: limit * 2 // 3]} … {text[-limit // 3 :]}"


def mismatches(expected: Any, got: Any, limit: int = 20) -> list[Mismatch]:
    """The first ``limit`` places where ``got`` is not ``expected``: numbers by value, text exactly, order of keys free."""
    found: list[Mismatch] = []
    todo: list[tuple[str, Any, Any]] = [("", expected, got)]
    while todo and len(found) < limit:
        path, left, right = todo.pop()
        if left is right:
            continue
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            todo += _members(path, left, right)
        elif isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
            todo += [
                (f"{path}/{i}", left[i] if i < len(left) else ABSENT, right[i] if i < len(right) else ABSENT)
                for i in reversed(range(max(len(left), len(right))))
            ]
        elif not _same(left, right):
            found.append(Mismatch(path, left, right))
    return found


def _members(path: str, left: Mapping[str, Any], right: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    names = [*left, *(k for k in right if k not in left)]
    pairs = [(k, left.get(k, ABSENT), right.get(k, ABSENT)) for k in reversed(names)]
    return [(f"{path}/{pointers.escaped(k)}", a, b) for k, a, b in pairs if a is not b]


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right
    return type(left) is type(right) and bool(left == right)


def _parts(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise PatchError(f"{pointer!r} is not a JSON pointer")
    return pointers.parts(pointer)


def at(document: Any, pointer: str) -> Any:
    """What stands at ``pointer``, or ABSENT."""
    for part in _parts(pointer):
        if isinstance(document, Mapping) and part in document:
            document = document[part]
        elif isinstance(document, list) and part.isdecimal() and int(part) < len(document):
            document = document[int(part)]
        else:
            return ABSENT
    return document


def patched(document: Any, patch: Sequence[Mapping[str, Any]]) -> Any:
    """``document`` with an RFC 6902 patch (add, remove, replace) applied.

    The document is not changed: containers on the way to a change are copied, everything else is shared with it.
    """
    owned: dict[int, Any] = {}
    for number, operation in enumerate(patch):
        try:
            kind, parts = operation["op"], _parts(operation["path"])
            value = None if kind == "remove" else operation["value"]
            document = _apply(document, kind, parts, value, owned)
        except PatchError as error:
            raise PatchError(f"operation {number}: {error}") from None
        except (KeyError, IndexError, ValueError, TypeError, AttributeError):
            raise PatchError(f"operation {number} cannot be applied: {short(operation)}") from None
    return document


def _apply(document: Any, kind: str, parts: list[str], value: Any, owned: dict[int, Any]) -> Any:
    if kind not in ("add", "remove", "replace"):
        raise PatchError(f"op is {kind!r}; known: add, remove, replace")
    if not parts:
        return value
    root = place = _own(document, owned)
    for part in parts[:-1]:
        key: Any = int(part) if isinstance(place, list) else part
        place[key] = _own(place[key], owned)
        place = place[key]
    last = parts[-1]
    if isinstance(place, list):
        index = len(place) if last == "-" else int(last)
        _in_list(place, kind, index, value)
    elif kind == "remove":
        del place[last]
    else:
        if kind == "replace" and last not in place:
            raise KeyError(last)
        place[last] = value
    return root


def _in_list(place: list[Any], kind: str, index: int, value: Any) -> None:
    if not 0 <= index <= len(place):
        raise IndexError(index)
    if kind == "add":
        place.insert(index, value)
    elif kind == "remove":
        del place[index]
    else:
        place[index] = value


def _own(container: Any, owned: dict[int, Any]) -> Any:
    """A copy of ``container`` that this patch may change; ``owned`` keeps the copies, so that their ids stay theirs."""
    if id(container) in owned:
        return container
    copy = container.copy()
    owned[id(copy)] = copy
    return copy


class Hasher:
    """sha256 of states that share most of their records: the JSON text of shared records is made once.

    The form is `json.dumps(state, sort_keys=True, ensure_ascii=False, separators=(",", ":"))`.
    """

    def __init__(self, shared: Any) -> None:
        """``shared``: a state; what later states have in common with it, two levels down, is remembered."""
        self._parts: dict[str, tuple[Any, str, dict[str, tuple[Any, str]]]] = {}
        if isinstance(shared, dict):
            for name, part in shared.items():
                members = {k: (v, _member(k, v)) for k, v in part.items()} if isinstance(part, dict) else {}
                self._parts[name] = (part, _member(name, part), members)

    def __call__(self, state: Any) -> str:
        if isinstance(state, dict):
            text = "{" + ",".join([self._part(name, state[name]) for name in sorted(state)]) + "}"
        else:
            text = _dumps(state)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def _part(self, name: str, part: Any) -> str:
        known, text, members = self._parts.get(name, (None, "", {}))
        if part is known and part is not None:
            return text
        if not isinstance(part, dict):
            return _member(name, part)
        unknown = (ABSENT, "")
        texts = [
            pair[1] if (pair := members.get(k, unknown))[0] is v else _member(k, v) for k, v in sorted(part.items())
        ]
        return f"{_dumps(name)}:{{{','.join(texts)}}}"


def _member(name: str, value: Any) -> str:
    return f"{_dumps(name)}:{_dumps(value)}"


_dumps = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode
