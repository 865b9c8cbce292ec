"""The verbs about specs themselves: check, compile, format, begin a new one, the language as a schema and a card."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envscaler.diagnostics import Diagnostic
from envscaler.errors import SpecError, UsageError
from envscaler.session.files import StrPath, many, reason, replace_file, spec_files
from envscaler.session.packs import spec_path
from envscaler.session.pool import each
from envscaler.session.templates import template_folders

if TYPE_CHECKING:
    from envscaler.spec.checked import Checked

__all__ = [
    "CheckReport", "Compiled", "Formatted", "check", "checked_file", "compile", "fmt", "grammar_card", "json_schema", "new",
    "sound",
]  # fmt: skip

_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(slots=True)
class CheckReport:
    """What checking some files found. ``sources`` maps each path to its text, for excerpts; ``skipped`` are files in a
    folder that are not specs, ``unread`` says of each file that could not be read why."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    @property
    def errors(self) -> int:
        """How many of the diagnostics are errors."""
        return sum(d.severity == "error" for d in self.diagnostics)

    @property
    def warnings(self) -> int:
        """How many of the diagnostics are warnings."""
        return sum(d.severity == "warning" for d in self.diagnostics)


@dataclass(slots=True)
class Compiled:
    """One compiled spec. ``output`` is the module written, None when the spec has errors; ``diagnostics`` are those of
    the check; ``failures`` what verifying the class found; ``source`` is the spec's text; ``unread`` says why the file
    could not be read."""

    path: str
    source: str
    output: Path | None
    diagnostics: list[Diagnostic]
    failures: list[Diagnostic] = field(default_factory=list)
    unread: str = ""


@dataclass(slots=True)
class Formatted:
    """One file before and after formatting; ``diagnostics`` say why it could not be, ``unread`` why not even read."""

    path: Path
    before: str
    after: str
    diagnostics: list[Diagnostic] = field(default_factory=list)
    unread: str = ""

    @property
    def changed(self) -> bool:
        return self.before != self.after


def _read(path: Path) -> tuple[str | None, list[Diagnostic]]:
    """A spec file's text, or None with the reason. Raises UsageError when it cannot be read at all."""
    from envscaler.spec.report import Report as Problems
    from envscaler.spec.scan import MAX_FILE, decode

    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_FILE + 1)
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}") from None
    problems = Problems()
    return decode(str(path), data, problems), problems.items


def checked_file(path: Path) -> Checked:
    """The check of one file, whatever it found. Raises UsageError when the file cannot be read."""
    from envscaler.spec.check import check_text
    from envscaler.spec.checked import Checked

    text, problems = _read(path)
    if text is None:
        return Checked(path=str(path), source="", spec=None, diagnostics=problems)
    return check_text(str(path), text, base=path.parent)


def check(paths: Sequence[StrPath] | StrPath, *, jobs: int = 1) -> CheckReport:
    """Check spec files and folders of them, ``jobs`` at a time; all problems of all files, in order."""
    files, skipped = spec_files(many(paths))
    report = CheckReport(skipped=[str(p) for p in skipped])
    for found in each(_problems, files, jobs):
        if isinstance(found, str):
            report.unread.append(found)
        else:
            path, source, problems = found
            report.sources[path] = source
            report.diagnostics += problems
    return report


def _problems(file: Path) -> tuple[str, str, list[Diagnostic]] | str:
    """Path, text and diagnostics of a spec, or why it could not be read."""
    try:
        checked = checked_file(file)
    except UsageError as error:
        return str(error)
    return checked.path, checked.source, checked.diagnostics


def sound(path: StrPath) -> Checked:
    """The check of one spec that is wanted for use; raises SpecError."""
    checked = checked_file(spec_path(path))
    if not checked.ok:
        raise SpecError(checked.diagnostics)
    return checked


def compile(  # noqa: A001
    paths: Sequence[StrPath] | StrPath, output: StrPath | None = None, *, verify: bool = True, jobs: int = 1
) -> Iterator[Compiled]:
    """Compile specs, each to a module of its own, ``jobs`` at a time; what came of each is yielded in order.

    ``output``: a file (for one spec) or a folder; by default `build/NAME.py`. With ``verify`` the class is loaded, its
    initial state held against the rules and the spec's examples are run. Raises UsageError, after the others are written,
    for specs that would be written to one module.
    """
    files, _ = spec_files(many(paths))
    target = Path("build") if output is None else Path(output)
    to_file = target.suffix == ".py" and not target.is_dir()
    if to_file and len(files) > 1:
        raise UsageError(f"{target} is one file, but {len(files)} specs are to be compiled; name a folder")
    taken: dict[Path, str] = {}
    clashes = []
    for made in each(partial(_made, verify=verify, templates=template_folders()), files, jobs):
        output_file = None
        if made.module is not None:
            module = target if to_file else target / f"{made.name}.py"
            if module in taken:
                clashes.append(
                    f"{made.path} and {taken[module]} would both be compiled to {module}; only the second was"
                )
                continue
            taken[module] = made.path
            output_file = _written(module, made.module)
        yield Compiled(made.path, made.source, output_file, made.diagnostics, made.failures, made.unread)
    if clashes:
        raise UsageError("\n".join(clashes))


@dataclass(slots=True)
class _Made:
    """A spec compiled in memory; ``module`` is None when it has errors."""

    path: str
    source: str
    diagnostics: list[Diagnostic]
    name: str = ""
    module: str | None = None
    failures: list[Diagnostic] = field(default_factory=list)
    unread: str = ""


def _made(file: Path, verify: bool, templates: Sequence[str]) -> _Made:
    try:
        checked = checked_file(file)
    except UsageError as error:
        return _Made(str(file), "", [], unread=str(error))
    made = _Made(checked.path, checked.source, checked.diagnostics)
    if checked.spec is None or not checked.ok:
        return made
    from envscaler.compiler import compile_spec

    unit = compile_spec(checked, templates=templates)
    made.name, made.module = checked.spec.name, unit.text
    if verify:
        from envscaler.compiler import load_class
        from envscaler.replay.examples import verify as verified

        made.failures = verified(checked.spec, load_class(unit))
    return made


def _written(module: Path, text: str) -> Path:
    try:
        module.parent.mkdir(parents=True, exist_ok=True)
        replace_file(module, text)
    except OSError as error:
        raise UsageError(f"{module}: {reason(error)}") from None
    return module


def new(name: str, path: StrPath | None = None) -> Path:
    """Write a starter spec called ``name`` (by default to `NAME.yaml`) and return its path; never overwrites."""
    from envscaler.compiler.templates import render

    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise UsageError(
            f"{name!r} cannot name a spec: a letter, then letters, digits and _, all lower case, and no keyword of Python"
            f"{_as_name(name)}"
        )
    target = Path(f"{name}.yaml" if path is None else path)
    if target.is_dir():
        target = target / f"{name}.yaml"
    text = render("scaffold/spec.yaml.j2", template_folders(), name=name, title=name.replace("_", " ").capitalize())
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError:
        raise UsageError(f"{target} exists; remove it or choose another name") from None
    except OSError as error:
        raise UsageError(f"{target}: {reason(error)}") from None
    return target


def _as_name(text: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_0123456789")
    return f"; {name} would do" if name and not keyword.iskeyword(name) else ""


def fmt(paths: Sequence[StrPath] | StrPath, *, write: bool = True, jobs: int = 1) -> Iterator[Formatted]:
    """Format spec files, ``jobs`` at a time; with ``write`` those that change are written back."""
    for result in each(_formatted, spec_files(many(paths))[0], jobs):
        if write and result.changed:
            replace_file(result.path, result.after)
        yield result


def _formatted(file: Path) -> Formatted:
    from envscaler.spec.format import format_text

    try:
        text, problems = _read(file)
    except UsageError as error:
        return Formatted(file, "", "", unread=str(error))
    if text is None:
        return Formatted(file, "", "", problems)
    try:
        return Formatted(file, text, format_text(text, str(file)))
    except SpecError as error:
        return Formatted(file, text, text, list(error.diagnostics))


def json_schema() -> dict[str, Any]:
    """The JSON Schema of spec files, for editors."""
    from envscaler.spec.jsonschema import spec_schema

    return spec_schema()


def grammar_card() -> str:
    """The language on a page: forms, built-ins, pitfalls."""
    from envscaler.spec.card import card

    return card()
