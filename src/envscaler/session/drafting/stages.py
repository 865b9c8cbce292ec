"""What each stage of drafting does with one unit of its input: a table of plain functions of the input and a model."""

from __future__ import annotations

from typing import Any, Final

from envscaler.session.drafting.proof import prove
from envscaler.session.drafting.work import Desk, Stage, Told, Unit

__all__ = ["FILTER", "INFER", "NAMES", "PLAN", "PROVE", "SELECT", "WRITE"]


def _filter(desk: Desk, unit: Unit) -> dict[str, Any]:
    from envscaler.draft.filtering import sieve
    from envscaler.draft.themes import Origin
    from envscaler.plugin.records import Task

    origin = Origin.model_validate(unit["origin"])
    task = Task(unit["task"], origin.file, origin.line)
    llm = desk.models.role("planner")
    made = sieve(task, llm, source=origin.source, folders=desk.templates, sample=desk.settings.sample)
    return desk.models.run(made).model_dump(mode="json")


def _infer(desk: Desk, unit: Unit) -> dict[str, Any]:
    from envscaler.draft.inferring import infer
    from envscaler.draft.themes import Origin

    origin = None if unit["origin"] is None else Origin.model_validate(unit["origin"])
    llm = desk.models.role("planner")
    made = infer(unit["task"], llm, origin=origin, folders=desk.templates, sample=desk.settings.sample)
    return desk.models.run(made).model_dump(mode="json")


def _select(desk: Desk, unit: Unit) -> dict[str, Any]:
    from envscaler.draft.embedding import opened, text_of
    from envscaler.draft.selecting import SelectSettings, select
    from envscaler.draft.themes import Theme
    from envscaler.session.plugins import open_plugins

    own = desk.settings
    themes = [Theme.model_validate(theme) for theme in unit["themes"]]
    embedding = opened(own.embedder, open_plugins(), desk.models)
    settings = SelectSettings(
        count=own.count,
        near=embedding.near if own.near is None else own.near,
        least_usefulness=own.least_usefulness,
        least_modelability=own.least_modelability,
        clusters=own.clusters,
        seed=own.seed,
    )

    async def vectors() -> list[list[float]]:
        try:
            return await embedding.vectors([text_of(theme) for theme in themes])
        finally:
            await embedding.aclose()

    return select(themes, desk.models.run(vectors()), settings).model_dump(mode="json")


def _plan(desk: Desk, unit: Unit) -> dict[str, Any]:
    from envscaler.draft.planning import plan
    from envscaler.draft.plans import Size
    from envscaler.draft.themes import Theme

    own = desk.settings
    size = Size(collections=own.collections, fields=own.fields, rules=own.rules, tools=own.tools, reading=own.reading)
    theme = Theme.model_validate(unit["theme"])
    llm = desk.models.role("planner")
    made = plan(theme, llm, size, tries=own.tries, folders=desk.templates, sample=own.sample)
    return desk.models.run(made).model_dump(mode="json")


def _write(desk: Desk, unit: Unit) -> dict[str, Any]:
    from envscaler.draft.plans import Plan
    from envscaler.draft.writing import Grown, WriteSettings, write

    name, own = str(unit["label"]), desk.settings

    def tell(grown: Grown) -> None:
        text = f"{grown.done} ({grown.written} of {grown.planned} tools)"
        desk.tell(Told("write", "grown", name, text, problems=grown.problems, spec=grown.text))

    made = desk.models.run(
        write(
            Plan.model_validate(unit["plan"]),
            desk.models.role("coder"),
            WriteSettings(batch=own.batch, tries=own.tries),
            folders=desk.templates,
            tell=tell,
            sample=own.sample,
        )
    )
    return {
        "text": made.text,
        "problems": [_said(d.headline()) for d in made.problems],
        "parts": dict(made.parts),
        "missing": list(made.missing),
        "taken": list(made.taken),
    }


def _said(headline: str) -> str:
    return " ".join(headline.split())


def _prove(desk: Desk, unit: Unit) -> dict[str, Any]:
    name = str(unit["label"])

    def tell(text: str, problems: int) -> None:
        desk.tell(Told("prove", "grown", name, text, problems=problems))

    return prove(name, unit["text"], desk.settings, desk.models, desk.judges, desk.templates, tell)


_SIZE: Final = ("collections", "fields", "rules", "tools", "reading", "tries", "sample")
_SELECTION: Final = ("count", "near", "least_usefulness", "least_modelability", "clusters", "embedder", "seed")

FILTER: Final = Stage("filter", "planner", ("sample",), _filter)
INFER: Final = Stage("infer", "planner", ("sample",), _infer)
SELECT: Final = Stage("select", "", _SELECTION, _select)
PLAN: Final = Stage("plan", "planner", _SIZE, _plan)
WRITE: Final = Stage("write", "coder", ("batch", "tries", "sample"), _write)
PROVE: Final = Stage("prove", "coder", ("repairs", "calls", "seed"), _prove)

NAMES: Final = ("tasks", *(stage.name for stage in (FILTER, INFER, SELECT, PLAN, WRITE, PROVE)))
"""The stages in their order; the first asks nobody."""
