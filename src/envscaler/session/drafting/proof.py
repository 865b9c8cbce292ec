"""The last stage of drafting: a draft is compiled, run, attacked and mended; and what is told of it in its manifest."""

from __future__ import annotations

import hashlib
import os
import queue
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from envscaler import __version__
from envscaler.diagnostics import printable
from envscaler.session.drafting.account import sums
from envscaler.work import WorkError
from envscaler.work.processes import Worker

if TYPE_CHECKING:
    from envscaler.assess.repair import RepairRound, Standing
    from envscaler.draft.themes import Theme
    from envscaler.llm import Models
    from envscaler.session.drafting.settings import Settings

__all__ = ["CHECKED", "SOUND", "VERDICTS", "Judges", "commented", "content", "manifest", "prove", "uncommented"]

VERDICTS: Final = ("unreadable", "invalid", "wrong", "findings", "sound")
"""What a draft can come to: it cannot be parsed; does not pass the check; its examples come out otherwise; it has findings."""

SOUND: Final = "sound"
CHECKED: Final = VERDICTS[2:]  # these pass the check

_OPEN: Final = "# open: "  # drafting says so of problems, at the top and above parts
_LINE: Final = re.compile(r"^[ \t]*# open:.*\n", re.MULTILINE)
_MOST: Final = 50  # open problems that are written down


def prove(
    name: str,
    text: str,
    settings: Settings,
    models: Models,
    judges: Judges,
    templates: tuple[str, ...],
    tell: Callable[[str, int], None],
) -> dict[str, Any]:
    """Compile a draft, run its examples, attack it, have it mended; what it is then, and what is still open, as JSON.

    Nobody is asked where there is nothing to mend, and nothing is mended where the role `coder` has no model. Raises LlmError
    when that cannot be asked.
    """
    from envscaler.assess.repair import RepairSettings, repair

    path, text = f"{name}.yaml", uncommented(text)

    def judging(text: str) -> Standing:
        return judges.judge(text, path, settings.seed, settings.calls, templates)

    if not settings.repairs or models.settings("coder") is None:
        return _result(judging(text), (), "not repaired")

    def told(made: RepairRound) -> None:
        tell(f"repair {made.number}: {made.standing.summary()}", len(made.standing.problems))

    done = repair(
        text, path, models, RepairSettings(rounds=settings.repairs), templates=templates, tell=told, judging=judging
    )  # fmt: skip
    if done.error is not None:
        raise done.error
    return _result(done.ended, done.rounds, done.stopped)


class Judges:
    """Processes that say how drafts stand. Not threads: whoever attacks an environment gives all of its process another time
    and other random numbers, and can end a call that would not end only where it has a process for itself."""

    def __init__(self, width: int) -> None:
        self._workers = [Worker(_judged, ()) for _ in range(min(width, os.cpu_count() or 1))]
        self._free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in self._workers:
            self._free.put(worker)

    def judge(self, text: str, path: str, seed: int, calls: int, templates: tuple[str, ...]) -> Standing:
        """How a text stands: its check, its examples, so many fuzzed calls. Raises WorkError when the process died of it."""
        worker = self._free.get()
        try:
            ended = worker.call((text, path, seed, calls, templates))
        finally:
            self._free.put(worker)
        if ended.raised is not None:
            raise ended.raised
        if ended.problem is not None:
            raise WorkError(str(ended.problem))
        found: Standing = ended.value
        return found

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.kill()


def _judged(job: tuple[str, str, int, int, tuple[str, ...]]) -> Standing:
    from envscaler.assess import FuzzSettings
    from envscaler.assess.repair import fuzzed
    from envscaler.assess.repair.standing import judge

    text, path, seed, calls, templates = job
    return judge(text, path, [fuzzed(FuzzSettings(seed=seed, calls=calls))] if calls else [], templates)


def _result(standing: Standing, rounds: Sequence[RepairRound], stopped: str) -> dict[str, Any]:
    return {
        "text": standing.text,
        "verdict": VERDICTS[standing.stage],
        "problems": [
            {
                "code": one.code,
                "line": one.span.line,
                "title": " ".join(one.title.split()),
                "detail": one.detail.strip(),
            }
            for one in standing.problems
        ],
        "repairs": {
            "rounds": len(rounds),
            "kept": [place for made in rounds for place in made.kept],
            "refused": sum(len(made.refused) for made in rounds),
            "stopped": stopped,
        },
    }


# -- what is written


def content(text: str) -> str:
    """The hash of a text, as a manifest gives it."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def commented(proof: Mapping[str, Any]) -> str:
    """The text of a spec that is not sound, its open problems as comments at the top; lines are those of the text with them."""
    problems = proof["problems"]
    more = [f"and {len(problems) - _MOST} more"] if len(problems) > _MOST else []
    count = sum(1 + sum(map(bool, one["detail"].split("\n"))) for one in problems[:_MOST]) + len(more)
    lines = [
        line
        for one in problems[:_MOST]
        for line in (f"line {one['line'] + count}: [{one['code']}] {one['title']}", *one["detail"].split("\n"))
        if line
    ]
    return "".join(f"{_OPEN}{printable(line)}".rstrip() + "\n" for line in [*lines, *more]) + str(proof["text"])


def uncommented(text: str) -> str:
    """The text without comments about open problems: what is open will be said anew."""
    return _LINE.sub("", text)


def manifest(
    name: str,
    theme: Theme | None,
    texts: Mapping[str, str],
    written: Mapping[str, Any],
    proof: Mapping[str, Any],
    spent: Mapping[str, Sequence[Mapping[str, Any]]],
    edited: Sequence[str],
) -> dict[str, Any]:
    """What is told of a spec: where it comes from, who made it, what that took, what it is. No times: it is the same however
    often the work was ended. ``texts``: of its files, for their hashes; ``spent``: by stage; ``edited``: by hand."""
    models = {line["role"]: line["model"] for lines in spent.values() for line in lines}
    origin = theme.origin if theme is not None else None
    return {
        "envscaler": __version__,
        "name": name,
        "title": theme.title if theme is not None else "",
        "verdict": proof["verdict"],
        "source": {
            "task": theme.task if theme is not None else None,
            "origin": None if origin is None else origin.model_dump(mode="json"),
        },
        "models": dict(sorted(models.items())),
        "stages": {stage: sums(lines) for stage, lines in spent.items()},
        "total": sums([line for lines in spent.values() for line in lines]),
        "hashes": {what: content(text) for what, text in texts.items()},
        "edited": list(edited),
        "tries": dict(written.get("parts", {})),
        "missing": list(written.get("missing", ())),
        "taken": list(written.get("taken", ())),
        "repairs": dict(proof["repairs"]),
        "problems": list(proof["problems"]),
    }
