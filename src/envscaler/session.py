"""The verbs of the pipeline, as plain functions over paths: check, compile, load, describe, replay and their like."""

from __future__ import annotations

import json
import keyword
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from envscaler.diagnostics import Diagnostic, nearest, one_of
from envscaler.errors import SpecError, UsageError

if TYPE_CHECKING:
    from envscaler.replay import Difference, Report
    from envscaler.runtime import Catalogue, Environment, ToolResult, Tools
    from envscaler.spec.checked import Checked

__all__ = [
    "CheckReport", "Compiled", "Described", "Formatted", "call", "check", "compile", "describe", "fmt", "grammar_card",
    "json_schema", "load", "new", "replay", "spec_files",
]  # fmt: skip

StrPath = str | os.PathLike[str]

_SUFFIXES = (".yaml", ".yml")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(slots=True)
class CheckReport:
    """What checking some files found. ``sources`` maps each path to its text, for excerpts; ``skipped`` are files in a
    folder that are not specs."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

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
    the check; ``failures`` what verifying the class found; ``source`` is the spec's text."""

    path: str
    source: str
    output: Path | None
    diagnostics: list[Diagnostic]
    failures: list[Diagnostic] = field(default_factory=list)


@dataclass(slots=True)
class Formatted:
    """One file before and after formatting; ``diagnostics`` say why it could not be."""

    path: Path
    before: str
    after: str
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        return self.before != self.after


def spec_files(paths: Iterable[StrPath]) -> tuple[list[Path], list[Path]]:
    """The spec files that ``paths`` (files and folders) mean, and files of folders left out as they are no specs.

    A folder means its YAML files, those of its folders included, that have a line beginning with `envscaler:`; hidden
    ones are left out. Raises UsageError for a path that does not exist, with the nearest that does.
    """
    specs: dict[Path, None] = {}
    skipped: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            found = list(_in_folder(path))
            if not found:
                raise UsageError(f"no YAML file in {path}")
            for file in found:
                if _is_spec(file):
                    specs[file] = None
                else:
                    skipped.append(file)
        else:
            specs[_existing(path)] = None
    return list(specs), skipped


def _in_folder(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        for name in sorted(files):
            if name.endswith(_SUFFIXES) and not name.startswith("."):
                yield Path(root, name)


def _is_spec(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            data = stream.read(2 << 20)
    except OSError:
        return True  # reading it again says why not
    return any(line.lstrip(b"\xef\xbb\xbf\"'").startswith(b"envscaler") for line in data.splitlines())


def _existing(path: Path) -> Path:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {_reason(error)}{_near(path)}") from None
    if not stat.S_ISREG(mode):
        raise UsageError(f"{path}: not a regular file")
    return path


def _near(path: Path) -> str:
    """A hint at what stands beside a path that does not exist."""
    try:
        names = [p.name for p in path.parent.iterdir() if p.is_dir() or p.suffix == path.suffix or not path.suffix]
    except (OSError, ValueError):
        return ""
    near = nearest(path.name, names)
    return f"; did you mean {path.parent / near}?" if near else ""


def _read(path: Path) -> tuple[str | None, list[Diagnostic]]:
    """A spec file's text, or None with the reason. Raises UsageError when it cannot be read at all."""
    from envscaler.spec.report import Report as Problems
    from envscaler.spec.scan import MAX_FILE, decode

    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_FILE + 1)
    except OSError as error:
        raise UsageError(f"{path}: {_reason(error)}") from None
    problems = Problems()
    return decode(str(path), data, problems), problems.items


def _reason(error: OSError | ValueError) -> str:
    return error.strerror.lower() if isinstance(error, OSError) and error.strerror else str(error)


def _checked(path: Path) -> Checked:
    from envscaler.spec.check import check_text
    from envscaler.spec.checked import Checked

    text, problems = _read(path)
    if text is None:
        return Checked(path=str(path), source="", spec=None, diagnostics=problems)
    return check_text(str(path), text)


def check(paths: Sequence[StrPath] | StrPath) -> CheckReport:
    """Check spec files and folders of them; all problems of all files, in order."""
    files, skipped = spec_files(_many(paths))
    report = CheckReport(skipped=[str(p) for p in skipped])
    for file in files:
        checked = _checked(file)
        report.sources[checked.path] = checked.source
        report.diagnostics += checked.diagnostics
    return report


def _many(paths: Sequence[StrPath] | StrPath) -> Sequence[StrPath]:
    return [paths] if isinstance(paths, (str, os.PathLike)) else paths


def _sound(path: StrPath) -> Checked:
    """The check of one spec that is wanted for use; raises SpecError."""
    checked = _checked(_existing(Path(path)))
    if not checked.ok:
        raise SpecError(checked.diagnostics)
    return checked


def compile(  # noqa: A001
    paths: Sequence[StrPath] | StrPath, output: StrPath | None = None, *, verify: bool = True
) -> Iterator[Compiled]:
    """Compile specs, each to a module of its own; what came of one is yielded before the next is begun.

    ``output``: a file (for one spec) or a folder; by default `build/NAME.py`. With ``verify`` the class is loaded, its
    initial state held against the rules and the spec's examples are run.
    """
    files, _ = spec_files(_many(paths))
    target = Path("build") if output is None else Path(output)
    to_file = target.suffix == ".py" and not target.is_dir()
    if to_file and len(files) > 1:
        raise UsageError(f"{target} is one file, but {len(files)} specs are to be compiled; name a folder")
    taken: dict[Path, Path] = {}
    for file in files:
        checked = _checked(file)
        if checked.spec is None or not checked.ok:
            yield Compiled(str(file), checked.source, None, checked.diagnostics)
            continue
        module = target if to_file else target / f"{checked.spec.name}.py"
        if module in taken:
            raise UsageError(f"{file} and {taken[module]} would both be compiled to {module}")
        taken[module] = file
        yield _compile(checked, module, verify)


def _compile(checked: Checked, module: Path, verify: bool) -> Compiled:
    from envscaler.compiler import compile_spec

    assert checked.spec is not None
    unit = compile_spec(checked)
    try:
        module.parent.mkdir(parents=True, exist_ok=True)
        _replace(module, unit.text)
    except OSError as error:
        raise UsageError(f"{module}: {_reason(error)}") from None
    result = Compiled(checked.path, checked.source, module, checked.diagnostics)
    if verify:
        from envscaler.compiler import load_class
        from envscaler.replay.examples import verify as verified

        result.failures = verified(checked.spec, load_class(unit))
    return result


def _replace(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old or the new one, never a part; a link keeps leading where it led."""
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        if path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def load(path: StrPath) -> type[Environment]:
    """The environment class of a spec, compiled in memory. Raises SpecError with all diagnostics."""
    from envscaler.compiler import compile_spec, load_class

    return load_class(compile_spec(_sound(path)))


@dataclass(frozen=True, slots=True)
class Described:
    """What an agent (or the simulated user) is told of an environment. ``kinds`` gives `read` or `write` by tool."""

    name: str
    title: str
    doc: str
    tools: Tools
    kinds: Mapping[str, str]

    def catalogue(self, provider: str = "mcp") -> Catalogue:
        """The tools in the form of `openai`, `openai-strict`, `anthropic` or `mcp`, with what is to be said of them."""
        name, _, strict = provider.partition("-")
        return self.tools.catalogue(name, strict == "strict")


def describe(spec: StrPath, actor: Literal["agent", "user"] = "agent") -> Described:
    """What ``actor`` sees of a spec's environment."""
    environment = load(spec)
    env = environment.new()
    tools = env.tools if actor == "agent" else env.user_tools
    kinds = {tool.name: tool.kind for tool in environment.tool_table}
    return Described(environment.name, environment.title, env.doc, tools, kinds)


def call(
    spec: StrPath,
    tool: str,
    arguments: str | Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
    state: StrPath | None = None,
    actor: Literal["agent", "user"] = "agent",
) -> tuple[ToolResult, list[dict[str, Any]]]:
    """Call one tool on a new environment: its result, and what it changed.

    ``state``: a JSON file to begin with instead of the spec's initial state. Raises StateError if it is not allowed.
    """
    environment = load(spec)
    env = environment.new(None if state is None else _json(Path(state)), seed=seed)
    result = env.call(tool, arguments, actor=actor)
    return result, env.diff()


def _json(path: Path) -> Any:
    try:
        return json.loads(_existing(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {_reason(error)}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON: {error}") from None


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
    text = render("scaffold/spec.yaml.j2", name=name, title=name.replace("_", " ").capitalize())
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError:
        raise UsageError(f"{target} exists; remove it or choose another name") from None
    except OSError as error:
        raise UsageError(f"{target}: {_reason(error)}") from None
    return target


def _as_name(text: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_0123456789")
    return f"; {name} would do" if name and not keyword.iskeyword(name) else ""


def fmt(paths: Sequence[StrPath] | StrPath, *, write: bool = True) -> Iterator[Formatted]:
    """Format spec files; with ``write`` those that change are written back."""
    from envscaler.spec.format import format_text

    for file in spec_files(_many(paths))[0]:
        text, problems = _read(file)
        if text is None:
            yield Formatted(file, "", "", problems)
            continue
        try:
            after = format_text(text, str(file))
        except SpecError as error:
            yield Formatted(file, text, text, list(error.diagnostics))
            continue
        result = Formatted(file, text, after)
        if write and result.changed:
            _replace(file, after)
        yield result


def json_schema() -> dict[str, Any]:
    """The JSON Schema of spec files, for editors."""
    from envscaler.spec.jsonschema import spec_schema

    return spec_schema()


def grammar_card() -> str:
    """The language on a page: forms, built-ins, pitfalls."""
    from envscaler.spec.card import card

    return card()


def replay(
    spec: StrPath,
    recordings: Sequence[StrPath] | StrPath,
    *,
    api: str | None = None,
    known: StrPath | None = None,
    seed: int = 0,
    tell: Callable[[Difference], None] | None = None,
) -> Report:
    """Run recorded calls against a spec and compare what they give; ``tell`` hears each difference as it is found.

    Raises ReplayFormatError where a recording cannot be read, UsageError when no case involves ``api``.
    """
    from envscaler.replay import read_cases, read_known
    from envscaler.replay import replay as run

    files = [_existing(Path(p)) for p in _many(recordings)]
    expected = read_known(_existing(Path(known))) if known is not None else []
    apis: set[str] = set()
    cases = (case for file in files for case in read_cases(file, api, apis))
    report = run(load(spec), cases, expected, seed, tell)
    if not report.cases:
        if api is None:
            raise UsageError("the recordings hold no case")
        near = nearest(api, apis)
        hint = f"; did you mean {near}?" if near else ""
        raise UsageError(f"no case involves {api}; recorded: {one_of(sorted(apis)) or 'no API by name'}{hint}")
    return report
