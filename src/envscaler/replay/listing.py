"""Which recordings belong to which spec of a folder: its `recordings.yaml`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envscaler.diagnostics import nearest
from envscaler.errors import ReplayFormatError

__all__ = ["LISTING", "Listed", "read_listing"]

LISTING = "recordings.yaml"

_KEYS = ("folder", "api", "known")
_FORM = "an entry is `SPEC: {folder: name}`, with `api:` and `known:` where they are needed"


@dataclass(frozen=True, slots=True)
class Listed:
    """A spec of a folder and its recordings: all `.jsonl` and `.jsonl.xz` files of ``folder``, of ``api`` if it is named.

    ``folder`` is relative to where recordings are kept; ``known`` lists the differences that are expected.
    """

    spec: Path
    folder: str
    api: str | None
    known: Path | None

    def files(self, recordings: Path) -> list[Path]:
        """The recordings, by name. Raises ReplayFormatError when there is none."""
        place = recordings / self.folder
        found = sorted([*place.glob("*.jsonl"), *place.glob("*.jsonl.xz")])
        if not found:
            raise ReplayFormatError(f"{place}: no recording (*.jsonl, *.jsonl.xz) of {self.spec.name}")
        return found


def read_listing(folder: Path) -> list[Listed]:
    """The entries of a folder's `recordings.yaml`, in order. Raises ReplayFormatError."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    path = folder / LISTING
    try:
        rows = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ReplayFormatError(f"{path}: no such file; it says which recordings belong to which spec") from None
    except (OSError, UnicodeDecodeError, YAMLError, RecursionError) as error:
        raise ReplayFormatError(f"{path}: {' '.join(str(error).split())}") from None
    if not isinstance(rows, Mapping):
        raise ReplayFormatError(f"{path}: {_FORM}")
    return list(_entries(path, rows))


def _entries(path: Path, rows: Mapping[Any, Any]) -> Iterator[Listed]:
    for name, row in rows.items():
        spec = path.parent / f"{name}.yaml"
        if not isinstance(row, Mapping) or "folder" not in row:
            raise ReplayFormatError(f"{path}: {name}: {_FORM}")
        for key, value in row.items():
            if key not in _KEYS:
                near = nearest(str(key), _KEYS)
                raise ReplayFormatError(f"{path}: {name}: no key {key!r}" + (f"; did you mean {near}?" if near else ""))
            if not isinstance(value, str):
                raise ReplayFormatError(f"{path}: {name}: {key} is a text")
        if not spec.is_file():
            near = nearest(str(name), [p.stem for p in path.parent.glob("*.yaml")])
            raise ReplayFormatError(
                f"{path}: no {spec.name} in {path.parent}" + (f"; did you mean {near}?" if near else "")
            )
        known = row.get("known")
        yield Listed(spec, row["folder"], row.get("api"), None if known is None else path.parent / known)
