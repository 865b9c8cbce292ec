"""What a location means: a file, the files of a folder, or those of a data set at Hugging Face."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from envscaler.errors import UsageError

__all__ = ["HUB", "Place", "places"]

HUB = "hf:"
"""What the name of a data set begins with, so that a mistyped path reaches no network."""


@dataclass(frozen=True, slots=True)
class Place:
    """A file to read, and what rows of it are said to be from."""

    path: Path
    label: str


def places(
    location: str, suffixes: Sequence[str], pattern: str | None = None, usual: str | None = None
) -> Iterator[Place]:
    """The files of a location in the order of their names, each fetched when it is asked for.

    ``pattern`` is matched on a file's name or path; without it, the files of a folder or data set are those with
    ``suffixes``, of these the ones that ``usual`` matches if there are such. Raises UsageError.
    """
    if location.startswith(HUB):
        from envscaler.builtin.sources.hub import fetched, listed

        for name in _wanted(listed(location), location, suffixes, pattern, usual):
            yield fetched(location, name)
        return
    path = Path(location)
    if not path.is_dir():
        if not path.exists():
            raise UsageError(f"{location}: no such file or directory{_perhaps(location)}")
        yield Place(path, location)
        return
    for name in _wanted(_files(path), location, suffixes, pattern, usual):
        yield Place(path / name, str(path / name))


def _perhaps(location: str) -> str:
    parts = location.split("/")
    named = len(parts) == 2 and all(parts) and not Path(parts[0]).exists()
    return f"; a data set at Hugging Face is written {HUB}{location}" if named else ""


def _files(folder: Path) -> list[str]:
    found = []
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(root, name).relative_to(folder).as_posix() for name in files if not name.startswith(".")]
    return sorted(found)


def _wanted(
    names: Sequence[str], location: str, suffixes: Sequence[str], pattern: str | None, usual: str | None
) -> list[str]:
    if pattern is not None:
        wanted = [name for name in names if fnmatch(name, pattern) or fnmatch(PurePosixPath(name).name, pattern)]
        what = f"file like {pattern}"
    else:
        wanted = [name for name in names if PurePosixPath(name).suffix.lower() in suffixes]
        wanted = [name for name in wanted if usual and fnmatch(PurePosixPath(name).name, usual)] or wanted
        what = f"{' or '.join(suffixes)} file"
    if not wanted:
        raise UsageError(f"{location}: no {what} there")
    return wanted
