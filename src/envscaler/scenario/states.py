"""Initial states kept once each, by the hash of their content: in memory, or in a folder of plain JSON files.

Scenarios name a state by its hash, which `content_hash` makes. The order of records is content: tools may go by it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from envscaler.diagnostics import printable
from envscaler.errors import UsageError

__all__ = ["StateStore", "content_hash"]

_HASH: Final = re.compile(r"sha256:([0-9a-f]{64})")


def content_hash(state: Mapping[str, Any]) -> str:
    """`sha256:…` of a state in JSON form, its order included."""
    text = json.dumps(state, ensure_ascii=False, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


class StateStore:
    """States by content hash. Without a ``folder`` they live in memory, and go along when the store is pickled.

    Any number of threads and processes may share a folder: a file appears whole or not at all, is named by its content
    and is never written again.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = None if folder is None else Path(folder)
        self._texts: dict[str, str] = {}

    @classmethod
    def beside(cls, scenarios: str | os.PathLike[str]) -> StateStore:
        """The store of a file of scenarios: the folder FILE.states beside FILE.jsonl."""
        return cls(Path(scenarios).with_suffix(".states"))

    def put(self, state: Mapping[str, Any]) -> str:
        """Keep a state in JSON form; its hash, `sha256:…`. Raises UsageError for what is not JSON, or cannot be written."""
        try:
            found = content_hash(state)
            text = "" if found in self else _text(state)
        except (TypeError, ValueError, RecursionError) as error:
            raise UsageError(f"a state that is not JSON cannot be kept: {error}") from None
        if text and self.folder is None:
            self._texts[found] = text
        elif text and self.folder is not None:
            self._write(self.folder, found, text)
        return found

    def get(self, name: str) -> dict[str, Any]:
        """The state with that hash, fresh. Raises UsageError where there is none, or its file holds something else."""
        path = self._path(name)
        if path is None:
            text = self._texts.get(name)
            if text is None:
                raise UsageError(f"no state {name} among the {len(self._texts)} in memory")
            return json.loads(text)  # type: ignore[no-any-return]
        try:
            state = json.loads(path.read_bytes())
            same = isinstance(state, dict) and content_hash(state) == name
        except FileNotFoundError:
            raise UsageError(f"no state {name}: {path} does not exist") from None
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}: not JSON: {printable(str(error))}") from None
        if not same:
            raise UsageError(f"{path}: holds another state than its name says; it was changed since it was written")
        return state  # type: ignore[no-any-return]

    def __contains__(self, name: str) -> bool:
        path = self._path(name)
        return name in self._texts if path is None else path.exists()

    def __iter__(self) -> Iterator[str]:
        """The hashes of all states, sorted."""
        if self.folder is None:
            return iter(sorted(self._texts))
        names = (f"sha256:{file.stem}" for file in self.folder.glob("*.json"))
        return iter(sorted(filter(_HASH.fullmatch, names)))

    def _path(self, name: str) -> Path | None:
        found = _HASH.fullmatch(name)
        if found is None:
            raise UsageError(f'"{printable(name[:80])}" is not the hash of a state; expected sha256: and 64 digits')
        return None if self.folder is None else self.folder / f"{found[1]}.json"

    def _write(self, folder: Path, name: str, text: str) -> None:
        path = folder / f"{name.removeprefix('sha256:')}.json"
        temporary = folder / f".{path.name}.{os.getpid()}.{threading.get_ident()}"
        try:
            if path.exists():
                return
            folder.mkdir(parents=True, exist_ok=True)
            try:
                temporary.write_text(text, encoding="utf-8", newline="\n")
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from None


def _text(state: Mapping[str, Any]) -> str:
    """The state for people to read: each record on a line of its own."""
    parts = []
    for name, part in state.items():
        if isinstance(part, dict) and part and all(isinstance(record, dict) for record in part.values()):
            lines = ",\n".join(f"  {_line(key)}: {_line(record)}" for key, record in part.items())
            parts.append(f" {_line(name)}: {{\n{lines}\n }}")
        elif isinstance(part, list) and part:
            lines = ",\n".join(f"  {_line(record)}" for record in part)
            parts.append(f" {_line(name)}: [\n{lines}\n ]")
        else:
            parts.append(f" {_line(name)}: {_line(part)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
