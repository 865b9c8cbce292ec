"""The format of recordings, read: one case a line, states inline or in a file beside it, several APIs or one."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Literal

from envscaler.errors import ReplayFormatError
from envscaler.replay.values import PatchError, patched, short

__all__ = ["LONG_CONTEXT", "Call", "Case", "read_cases"]

LONG_CONTEXT = "long_context"

ErrorKind = Literal["returned", "raised", "soft", "validation", "crash", "unknown_tool"]
_KINDS = (None, "returned", "raised", "soft", "validation", "crash", "unknown_tool")


@dataclass(frozen=True, slots=True)
class Call:
    """One recorded call. ``number`` is its place in its case, from 1, calls of other APIs counted."""

    number: int
    tool: str
    arguments: Any
    result: Any
    error: str | None
    kind: ErrorKind | None
    actor: Literal["agent", "user"]


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a recording, narrowed to the API that is replayed.

    ``initial``: the state before; the same object for cases that share it. ``final``: the state after, sharing with
    ``initial`` what did not change, or None when the case does not record it. ``whole`` is the final state of all
    APIs and ``digest`` its recorded sha256, or None. ``long_context``: the original ran in its long form, which its
    states do not say. ``clock``: the episode's time, None for the spec's.
    """

    path: str
    line: int
    id: str
    initial: Any
    final: Any
    has_final: bool
    whole: Any
    digest: str | None
    calls: tuple[Call, ...]
    seed: int | None
    long_context: bool = False
    clock: str | None = None

    def in_long_form(self) -> Case:
        """The case with `long_context` in its states, for environments whose state says in which form they answer."""
        final = {**self.final, LONG_CONTEXT: True} if isinstance(self.final, Mapping) else self.final
        return replace(self, initial={**self.initial, LONG_CONTEXT: True}, final=final)


def read_cases(path: Path, api: str | None = None, apis: set[str] | None = None) -> Iterator[Case]:
    """The cases of a `.jsonl` or `.jsonl.xz` file, in order; with ``api``, those that involve it.

    ``apis``: a set that takes up the names of the APIs that calls are recorded of. Raises ReplayFormatError naming the
    file and line of what does not follow the format.
    """
    states = _States(path.parent)
    try:
        with _open(path) as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    case = _case(path, number, line, api, states, apis)
                    if case is not None:
                        yield case
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise ReplayFormatError(f"{path}: {error}") from None


def _open(path: Path) -> IO[str]:
    if path.name.endswith(".xz"):
        return lzma.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


class _States:
    """The states a file's cases begin with, each loaded and patched once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loaded: dict[str, Any] = {}

    def get(self, row: Mapping[str, Any]) -> Any:
        if "initial_state" in row:
            state, key = row["initial_state"], None
        else:
            key = row["initial_state_ref"]
            state = self._file(key)
        patch = row.get("initial_state_patch") or []
        if not patch:
            return state
        if key is None:
            return patched(state, patch)
        key += "\n" + json.dumps(patch, sort_keys=True)
        if key not in self._loaded:
            self._loaded[key] = patched(state, patch)
        return self._loaded[key]

    def _file(self, name: str) -> Any:
        if name not in self._loaded:
            file = (self._folder / name).resolve()
            if not file.is_relative_to(self._folder.resolve()):
                raise ValueError(f"initial_state_ref {name!r} is outside the recording's folder")
            self._loaded[name] = json.loads(file.read_text(encoding="utf-8"))
        return self._loaded[name]


def _case(path: Path, line: int, text: str, api: str | None, states: _States, apis: set[str] | None) -> Case | None:
    try:
        row = json.loads(text)
        if apis is not None:
            apis.update(call["class"] for call in row["calls"] if "class" in call)
        whole = states.get(row)
        if api is not None and api not in whole:
            return None
        has_final = "final_state_diff" in row
        after = patched(whole, row["final_state_diff"]) if has_final else None
        return Case(
            path=str(path),
            line=line,
            id=str(row["case_id"]),
            initial=whole if api is None else whole[api],
            final=after if api is None or after is None else after.get(api),
            has_final=has_final,
            whole=after,
            digest=row.get("final_state_sha256"),
            calls=tuple(_calls(row["calls"], api)),
            seed=_seed(row.get("random_seed"), api),
            long_context=row.get(LONG_CONTEXT) is True,
            clock=row.get("clock"),
        )
    except KeyError as error:
        raise ReplayFormatError(f"{path}:{line}: a case needs {error.args[0]!r}") from None
    except PatchError as error:
        raise ReplayFormatError(f"{path}:{line}: state patch: {error}") from None
    except (ValueError, TypeError, AttributeError, OSError) as error:
        raise ReplayFormatError(f"{path}:{line}: not a recorded case: {error}") from None
    except RecursionError:
        raise ReplayFormatError(f"{path}:{line}: nested too deeply") from None


def _calls(rows: list[Mapping[str, Any]], api: str | None) -> Iterator[Call]:
    for number, row in enumerate(rows, 1):
        owner = row.get("class")
        if api is None and owner is not None:
            raise ValueError(f"call {number} is of API {owner!r}: name the API to replay with --api")
        if api is not None and owner is not None and owner != api:
            continue
        kind = row.get("error_kind")
        if kind not in _KINDS:
            raise ValueError(
                f"call {number} has error_kind {short(kind)}; known: null, {', '.join(map(str, _KINDS[1:]))}"
            )
        actor: Literal["agent", "user"] = "user" if row.get("requestor") == "user" else "agent"
        yield Call(number, row["tool"], row.get("arguments"), row.get("result"), row.get("error"), kind, actor)


def _seed(value: Any, api: str | None) -> int | None:
    if isinstance(value, Mapping):
        value = value.get(api)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
