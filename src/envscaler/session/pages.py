"""The verb that writes HTML pages about specs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from envscaler.diagnostics import Diagnostic
from envscaler.errors import UsageError
from envscaler.session.files import StrPath, many, reason, replace_file, spec_files
from envscaler.session.pool import each
from envscaler.session.specs import checked_file
from envscaler.session.templates import template_folders

if TYPE_CHECKING:
    from envscaler.pages import Entry

__all__ = ["Paged", "docs"]

INDEX = "index.html"


@dataclass(slots=True)
class Paged:
    """A page that was written. ``path``: the spec, or the paths of an index; ``output`` is None when the spec has
    errors, which ``diagnostics`` name, or could not be read, for the reason ``unread``; ``source`` is its text."""

    path: str
    output: Path | None
    source: str = ""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    unread: str = ""


def docs(paths: Sequence[StrPath] | StrPath, output: StrPath | None = None, *, jobs: int = 1) -> Iterator[Paged]:
    """Write a page for each spec, ``jobs`` at a time, and for a folder or several specs an index; yielded as written.

    ``output``: a file (`*.html`, for one spec) or a folder; by default `build/NAME.html`, `build/index.html`. Raises
    UsageError, after the others are written, for specs that would have the same page.
    """
    from envscaler.pages import index_page

    paths, folders = many(paths), template_folders()
    files, _ = spec_files(paths)
    target = Path("build") if output is None else Path(output)
    to_file = target.suffix in (".html", ".htm") and not target.is_dir()
    if to_file and len(files) > 1:
        raise UsageError(f"{target} is one file, but there are {len(files)} specs; name a folder")
    indexed = not to_file and (len(files) > 1 or any(Path(p).is_dir() for p in paths))
    entries, clashes = [], []
    taken = {target / INDEX: "the index"} if indexed else {}
    for made in each(partial(_made, folders=folders), files, jobs):
        page = None
        if made.entry is not None:
            page = target if to_file else target / made.entry.href
            if page in taken:
                clashes.append(f"{made.path} and {taken[page]} would both have the page {page}; only the second has")
                continue
            taken[page] = made.path
            _write(page, made.text)
            entries.append(made.entry)
        yield Paged(made.path, page, made.source, made.diagnostics, made.unread)
    if indexed and entries:
        _write(target / INDEX, index_page("Environments", entries, folders))
        yield Paged(", ".join(map(str, paths)), target / INDEX)
    if clashes:
        raise UsageError("\n".join(clashes))


@dataclass(slots=True)
class _Made:
    """The page of a spec in memory; ``entry`` is None when there is none."""

    path: str
    source: str
    diagnostics: list[Diagnostic]
    entry: Entry | None = None
    text: str = ""
    unread: str = ""


def _made(file: Path, folders: Sequence[str]) -> _Made:
    try:
        checked = checked_file(file)
    except UsageError as error:
        return _Made(str(file), "", [], unread=str(error))
    made = _Made(checked.path, checked.source, checked.diagnostics)
    if checked.spec is not None and checked.ok:
        from envscaler.pages import index_entry, spec_page

        made.entry = index_entry(checked, f"{checked.spec.name}.html")
        made.text = spec_page(checked, folders)
    return made


def _write(page: Path, text: str) -> None:
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        replace_file(page, text)
    except OSError as error:
        raise UsageError(f"{page}: {reason(error)}") from None
