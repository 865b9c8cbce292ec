"""The last stage of drafting: a draft is compiled, run, attacked and mended; and what is told of it in its manifest."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from envscaler import __version__
from envscaler.diagnostics import printable

if TYPE_CHECKING:
    from envscaler.assess.repair import RepairRound, Standing
    from envscaler.draft.themes import Theme
    from envscaler.llm import Models
    from envscaler.session.drafting_settings import Settings

__all__ = ["CHECKED", "SOUND", "VERDICTS", "commented", "content", "manifest", "prove", "uncommented"]

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
    templates: tuple[str, ...],
    tell: Callable[[str, int], None],
) -> dict[str, Any]:
    """Compile a draft, run its examples, attack it, have it mended; what it is then, and what is still open, as JSON.

    Nobody is asked where there is nothing to mend. Raises LlmError when the model of the role `coder` cannot be asked.
    """
    from envscaler.assess import FuzzSettings
    from envscaler.assess.repair import RepairSettings, fuzzed, repair
    from envscaler.assess.repair.standing import judge

    path, text = f"{name}.yaml", uncommented(text)
    attacks = [fuzzed(FuzzSettings(seed=settings.seed, calls=settings.calls))] if settings.calls else []
    if not settings.repairs:
        return _result(judge(text, path, attacks, templates), (), "not repaired")

    def told(made: RepairRound) -> None:
        tell(f"repair {made.number}: {made.standing.summary()}", len(made.standing.problems))

    done = repair(
        text, path, models, RepairSettings(rounds=settings.repairs), attacks=attacks, templates=templates, tell=told
    )  # fmt: skip
    if done.error is not None:
        raise done.error
    return _result(done.ended, done.rounds, done.stopped)


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
        "stages": {stage: _sums(lines) for stage, lines in spent.items()},
        "total": _sums([line for lines in spent.values() for line in lines]),
        "hashes": {what: content(text) for what, text in texts.items()},
        "edited": list(edited),
        "tries": dict(written.get("parts", {})),
        "missing": list(written.get("missing", ())),
        "taken": list(written.get("taken", ())),
        "repairs": dict(proof["repairs"]),
        "problems": list(proof["problems"]),
    }


def _sums(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Replies and tokens, and US dollars (None where a part of them is not known)."""
    from envscaler.llm.prices import NANO

    costs = [line["cost"] for line in lines]
    return {
        **{key: sum(line[key] for line in lines) for key in ("replies", "tokens_in", "tokens_out")},
        "cost": None if None in costs else sum(costs) / NANO,
    }
