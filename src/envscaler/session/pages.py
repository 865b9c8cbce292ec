"""The verb that writes HTML pages about specs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from envscaler.diagnostics import Diagnostic
from envscaler.errors import UsageError
from envscaler.session.files import StrPath, many, reason, replace_file, spec_files
from envscaler.session.specs import checked_file
from envscaler.session.templates import template_folders

__all__ = ["Paged", "docs"]

INDEX = "index.html"


@dataclass(slots=True)
class Paged:
    """A page that was written. ``path``: the spec, or the folder of an index; ``output`` is None when the spec has
    errors, and then ``diagnostics`` say which; ``source`` is its text."""

    path: str
    output: Path | None
    source: str = ""
    diagnostics: list[Diagnostic] = field(default_factory=list)


def docs(paths: Sequence[StrPath] | StrPath, output: StrPath | None = None) -> Iterator[Paged]:
    """Write a page for each spec, and for a folder or several specs an index; each is yielded when it is written.

    ``output``: a file (`*.html`, for one spec) or a folder; by default `build/NAME.html`, `build/index.html`.
    """
    from envscaler.pages import Entry, index_page, spec_page

    paths, folders = many(paths), template_folders()
    files, _ = spec_files(paths)
    target = Path("build") if output is None else Path(output)
    to_file = target.suffix in (".html", ".htm") and not target.is_dir()
    if to_file and len(files) > 1:
        raise UsageError(f"{target} is one file, but there are {len(files)} specs; name a folder")
    indexed = not to_file and (len(files) > 1 or any(Path(p).is_dir() for p in paths))
    entries: list[Entry] = []
    taken: dict[Path, Path] = {target / INDEX: Path("the index")} if indexed else {}
    for file in files:
        checked = checked_file(file)
        if checked.spec is None or not checked.ok:
            yield Paged(str(file), None, checked.source, checked.diagnostics)
            continue
        page = target if to_file else target / f"{checked.spec.name}.html"
        if page in taken:
            raise UsageError(f"{file} and {taken[page]} would both have the page {page}")
        taken[page] = file
        _write(page, spec_page(checked, folders))
        entries.append(Entry(page.name, checked))
        yield Paged(str(file), page, checked.source)
    if indexed and entries:
        _write(target / INDEX, index_page("Environments", entries, folders))
        yield Paged(", ".join(map(str, paths)), target / INDEX)


def _write(page: Path, text: str) -> None:
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        replace_file(page, text)
    except OSError as error:
        raise UsageError(f"{page}: {reason(error)}") from None
