"""The verb that has specs judged by assessors, one after the other or in several processes, once for each spec and setting."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envscaler import __version__
from envscaler.diagnostics import Diagnostic, Span
from envscaler.errors import EnvscalerError, LlmError, PluginError, SpecError, UsageError
from envscaler.plugin.records import Finding, Means, Subject, Verdict
from envscaler.session.files import StrPath, many, spec_files
from envscaler.session.pool import each
from envscaler.session.specs import checked_file
from envscaler.session.templates import template_folders

if TYPE_CHECKING:
    from envscaler.assess import Progress
    from envscaler.llm import Models
    from envscaler.plugin.manager import Plugins
    from envscaler.session.llm import LlmOptions

__all__ = ["Assessed", "assess", "report", "write_report"]

Settings = Mapping[str, Mapping[str, Any]]
"""By the name of an assessor what it is told."""


@dataclass(frozen=True, slots=True)
class Assessed:
    """What the assessors say of one spec. ``verdicts``: by assessor, in the order asked. ``problem``: why there is none,
    for a spec with errors, a file that cannot be read, or an assessor that failed;
    ``code`` is then the exit code that says so. ``source``: the spec's text."""

    path: str
    source: str = ""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    problem: str = ""
    code: int = 0

    def passes(self, threshold: float | None = None) -> bool:
        """Whether all assessors are content: each says `sound`, or, with a threshold, gives no lower a score."""
        if self.problem:
            return False
        found = self.verdicts.values()
        return all(v.sound if threshold is None else v.score >= threshold for v in found)

    @property
    def score(self) -> float:
        """The lowest of all; 0 where there is none."""
        return min((v.score for v in self.verdicts.values()), default=0.0)

    def problems(self) -> list[Diagnostic]:
        """The findings of all assessors as diagnostics of the spec."""
        return [f.diagnostic(self.path) for v in self.verdicts.values() for f in v.findings]


def assess(
    paths: Sequence[StrPath] | StrPath,
    assessors: Sequence[str] = ("fuzz",),
    *,
    settings: Settings | None = None,
    jobs: int = 1,
    run: StrPath | None = None,
    progress: Callable[[str, Progress], None] | None = None,
    llm: LlmOptions | None = None,
    tell: Callable[[str], None] | None = None,
) -> Iterator[Assessed]:
    """Have each spec judged by each assessor; what comes of one spec is yielded as soon as it and those before it are done.

    ``settings``: by assessor what it is told. ``jobs``: how many processes. ``run``: a folder in which what is done is
    kept, so that a run that was ended goes on where it was; a spec is judged anew when it, its settings or envscaler changed.
    ``progress`` hears how far the fuzzer is with which spec, in one process, and ``tell`` how far other assessors are.
    ``llm``: the language models, for assessors that ask any. Raises UsageError for an assessor that there is not and for
    settings that one refuses, LlmError when a model cannot be asked: with ``run``, what was finished is kept.
    """
    names = list(dict.fromkeys(assessors))
    if not names:
        raise UsageError("name at least one assessor")
    told = {name: dict((settings or {}).get(name, {})) for name in names}
    for name in settings or {}:
        if name not in told:
            raise UsageError(f"there are settings for {name}, which is not among the assessors: {', '.join(names)}")
    plugins = _plugins(names)
    for name in names:
        plugins.find("assessor", name)
    files, _ = spec_files(many(paths))
    units = [{"path": str(file), "assessors": names, "settings": told} for file in files]
    alone = jobs == 1
    function = partial(
        _assessed, progress=progress if alone else None, llm=llm, run=run, tell=tell if alone else None
    )  # fmt: skip
    return map(_read, map(json.loads, _done(function, units, jobs, run)))


def _plugins(names: Sequence[str]) -> Plugins:
    """What ships, and what is installed only where an assessor of theirs is asked for."""
    from envscaler.session.plugins import open_plugins

    shipped = open_plugins(third_parties=False)
    own = {offer.entry.name for offer in shipped.offers("assessor")}
    return shipped if own.issuperset(names) else open_plugins()


def _done(
    function: Callable[[dict[str, Any]], str], units: list[dict[str, Any]], jobs: int, run: StrPath | None
) -> Iterator[str]:
    """What comes of each unit, as JSON text: a journal does not keep the order of keys, and that of records matters."""
    if run is None:
        yield from each(function, units, jobs)
        return
    import os

    from envscaler.work import InProcess, Processes, Run

    keyed = [{**unit, "content": _content(Path(unit["path"])), "version": __version__} for unit in units]
    executor = InProcess() if jobs == 1 else Processes(jobs or os.cpu_count() or 1)
    with ExitStack() as stack:
        opened = stack.enter_context(Run.open(Path(run)))
        for outcome in opened.map(
            "assess", function, keyed, executor=executor, label=_label, retry_failed=True, ends=(LlmError,)
        ):
            if outcome.ok:
                yield outcome.result
            else:
                failed = {
                    "path": outcome.input["path"],
                    "problem": str(outcome.problem),
                    "code": EnvscalerError.exit_code,
                }
                yield json.dumps(failed)


def _label(unit: Mapping[str, Any]) -> str:
    return str(unit["path"])


def _content(file: Path) -> str:
    import hashlib

    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


# -- one spec, as JSON, for other processes and the journal


def _assessed(unit: Mapping[str, Any], **lent: Any) -> str:
    return json.dumps(_judged(unit, **lent))


def _judged(
    unit: Mapping[str, Any],
    progress: Callable[[str, Progress], None] | None = None,
    llm: LlmOptions | None = None,
    run: StrPath | None = None,
    tell: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    path = str(unit["path"])
    try:
        checked = checked_file(Path(path))
    except UsageError as error:
        return {"path": path, "problem": str(error), "code": error.exit_code}
    found: dict[str, Any] = {"path": checked.path, "source": checked.source}
    errors = [d for d in checked.diagnostics if d.severity == "error"]
    if not checked.ok:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        headline = errors[0].headline() if errors else "the spec has errors"
        return {**found, "problem": f"{headline}{more}", "code": SpecError.exit_code}
    from envscaler.compiler import compile_spec, load_class

    environment = load_class(compile_spec(checked, templates=template_folders()))
    plugins = _plugins(unit["assessors"])
    verdicts = {}
    with _means(llm, run, tell) as means:
        subject = Subject(checked.path, checked.source, checked, environment, means)
        for name in unit["assessors"]:
            assessor = plugins.assessor(name)
            if progress is not None and hasattr(assessor, "progress"):
                assessor.progress = partial(progress, checked.path)
            try:
                verdicts[name] = _plain(assessor.assess(subject, dict(unit["settings"][name])))
            except PluginError as error:
                return {**found, "problem": " ".join(str(error).split()), "code": error.exit_code}
    return {**found, "verdicts": verdicts}


@contextmanager
def _means(llm: LlmOptions | None, run: StrPath | None, tell: Callable[[str], None] | None) -> Iterator[Means]:
    """What assessors are lent: models, opened when one asks for them, and a journal where there is a run."""
    from envscaler.session.llm import LlmOptions, open_models

    with ExitStack() as stack:
        opened: list[Models] = []

        def models() -> Models:
            if not opened:
                opened.append(stack.enter_context(open_models(llm or LlmOptions(), run=run, tell=tell)))
            return opened[0]

        journal = None
        if run is not None:
            from envscaler.work import Run

            journal = stack.enter_context(Run.open(Path(run)))
        yield Means(models, journal, template_folders(), tell)


def _plain(verdict: Verdict) -> dict[str, Any]:
    return {
        "sound": verdict.sound,
        "score": verdict.score,
        "findings": [
            {
                "code": f.code, "title": f.title, "detail": f.detail, "help": f.help, "severity": f.severity,
                "script": f.script, "span": None if f.span is None else [
                    f.span.path, f.span.line, f.span.column, f.span.end_line, f.span.end_column
                ],
            }
            for f in verdict.findings
        ],
        "details": dict(verdict.details),
    }  # fmt: skip


def _read(found: Mapping[str, Any]) -> Assessed:
    verdicts = {name: _verdict(plain) for name, plain in found.get("verdicts", {}).items()}
    return Assessed(
        found["path"], found.get("source", ""), verdicts, found.get("problem", ""), found.get("code", 0)
    )  # fmt: skip


def _verdict(plain: Mapping[str, Any]) -> Verdict:
    findings = tuple(
        Finding(
            f["code"], f["title"], None if f["span"] is None else Span(*f["span"]), f["detail"], f["help"], f["severity"],
            f["script"],
        )
        for f in plain["findings"]
    )  # fmt: skip
    return Verdict(plain["sound"], plain["score"], findings, plain["details"])


# -- reports


def write_report(found: Sequence[Assessed], path: StrPath, form: str, *, threshold: float | None = None) -> None:
    """Write what was found to a file: ``form`` is `json`, `junit` or `html`. Raises UsageError when it cannot be written."""
    from envscaler.session.files import reason, replace_file

    target = Path(path)
    try:
        text = report(found, form, threshold=threshold)
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, text)
    except OSError as error:
        raise UsageError(f"{target}: {reason(error)}") from None


def report(found: Sequence[Assessed], form: str, *, threshold: float | None = None) -> str:
    """The text of a report. Raises UsageError for a form that there is not."""
    from envscaler.assess.reports import Judged, as_json, junit

    judged = [Judged(one.path, one.passes(threshold), one.score, one.verdicts, one.problem) for one in found]
    match form:
        case "json":
            return json.dumps(as_json(judged), indent=2) + "\n"
        case "junit":
            return junit(judged)
        case "html":
            from envscaler.assess.reports.page import page
            from envscaler.spec.check import check_text

            checked = {
                one.path: check_text(one.path, one.source, base=Path(one.path).parent) for one in found if one.verdicts
            }
            return page(judged, checked, template_folders())
    raise UsageError(f"no such form of reports: {form}; there are json, junit, html")
