"""The specs of a whole run: found, checked, counted, and copied into its folder, so that what is made of them stays true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from envscaler.errors import UsageError
from envscaler.session.files import StrPath, reason, replace_file, spec_files
from envscaler.session.pool import each
from envscaler.session.specs import CheckReport, checked_file

if TYPE_CHECKING:
    from envscaler.diagnostics import Diagnostic
    from envscaler.spec.checked import Checked

__all__ = ["SPECS", "Subject", "copy_specs", "read_specs"]

SPECS: Final = "specs"


@dataclass(frozen=True, slots=True)
class Subject:
    """A sound spec. ``file`` is where it was found, ``copy`` where it goes within the run; ``data`` is the file of its initial
    state, relative to it, where it has one. ``figures`` is what is counted of it."""

    file: Path
    copy: str
    name: str
    hash: str
    text: str
    data: str
    figures: dict[str, Any]


def read_specs(paths: Sequence[StrPath], folder: Path, jobs: int) -> tuple[tuple[Subject, ...], CheckReport]:
    """The specs that are meant, but for copies in ``folder``, and what checking them found.

    Raises UsageError for paths that are not there and for two specs of one name.
    """
    own = folder.resolve()
    found, skipped = spec_files(paths)
    files = [file for file in found if own not in file.resolve().parents]
    if not files:
        raise UsageError(f"{', '.join(map(str, paths))}: no spec there but what lies in {folder}")
    report = CheckReport(skipped=[str(path) for path in skipped])
    subjects: dict[str, Subject] = {}
    for seen in each(_seen, files, jobs):
        if isinstance(seen, str):
            report.unread.append(seen)
            continue
        path, source, problems, subject = seen
        report.sources[path] = source
        report.diagnostics += problems
        if subject is None:
            continue
        if subject.name in subjects:
            raise UsageError(f"{subject.file} and {subjects[subject.name].file} are both called {subject.name}")
        subjects[subject.name] = subject
    return tuple(subjects.values()), report


def _seen(file: Path) -> tuple[str, str, list[Diagnostic], Subject | None] | str:
    """Path, text and diagnostics of a spec, and the spec where it is sound; or why it could not be read."""
    try:
        checked = checked_file(file)
    except UsageError as error:
        return str(error)
    return checked.path, checked.source, checked.diagnostics, _subject(file, checked) if checked.ok else None


def _subject(file: Path, checked: Checked) -> Subject:
    from envscaler.pages import index_entry
    from envscaler.stats import count

    spec = checked.spec
    assert spec is not None
    data = _data(checked)
    entry, counted = index_entry(checked, ""), count(checked)
    figures = {
        "name": spec.name, "version": spec.version, "title": entry.title, "introduction": entry.introduction,
        "hash": spec.hash, "tools": counted.tools, "reads": counted.queries, "writes": counted.changes,
        "user_tools": counted.user_tools, "states": counted.states, "fields": counted.all_fields, "rules": counted.rules,
        "enforced": counted.enforced, "refusals": counted.refusals, "examples": counted.examples,
        "records": counted.records, "lines": counted.lines,
    }  # fmt: skip
    copy = f"{SPECS}/{spec.name}/{spec.name}.yaml" if data else f"{SPECS}/{spec.name}.yaml"
    return Subject(file, copy, spec.name, spec.hash, checked.source, data, figures)


def _data(checked: Checked) -> str:
    """The file that the initial state is in, as the spec says it; "" where the spec holds it."""
    from envscaler.spec import yamltree as y
    from envscaler.spec.report import Report

    spec = checked.spec
    assert spec is not None
    if "file" in spec.states:
        return ""
    document = y.parse_yaml(checked.path, checked.source, Report())
    initial = document.root.entries.get("initial_state") if document is not None else None
    entry = initial.value.entries.get("file") if initial and isinstance(initial.value, y.Mapping) else None
    return entry.value.text if entry is not None and isinstance(entry.value, y.Scalar) else ""


def copy_specs(subjects: Sequence[Subject], folder: Path) -> None:
    """Write the copies, the files of their initial states beside them. Raises UsageError, also for one that was changed since
    it was read."""
    for one in subjects:
        target = folder / one.copy
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            replace_file(target, one.text)
            if one.data:
                beside = target.parent / PurePosixPath(one.data)
                beside.parent.mkdir(parents=True, exist_ok=True)
                replace_file(beside, (one.file.parent / one.data).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"{target}: {reason(error)}") from None
        if one.data:
            spec = checked_file(target).spec
            if spec is None or spec.hash != one.hash:
                raise UsageError(f"{one.file} was changed while it was read; try again")
