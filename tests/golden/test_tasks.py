"""The words of tasks over the bank, for each style and each kind; with `--refresh-golden` they are written anew."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.scenario.hand import world
from tests.scenario.tasks import bank_plan, bank_question, bank_refusal

from envscaler.scenario.kinds import GENERATORS, common, distractors
from envscaler.scenario.model import Scenario
from envscaler.scenario.wording import styles, worded

EXPECTED = Path(__file__).parent / "expected"


def held(name: str, text: str, refresh: bool) -> None:
    file = EXPECTED / name
    if refresh:
        file.write_text(text, encoding="utf-8", newline="\n")
    assert text == file.read_text(encoding="utf-8")


def test_styles_are_as_expected(refresh: bool) -> None:
    parts = []
    for style in styles():
        told = worded(world(), bank_plan(), style, random.Random(style))
        parts += [f"== {style}", told.task]
    told = worded(world(), bank_plan(), "brief", random.Random("opening"))
    parts += ["== opening", told.opening, "== facts", *(f"{f.name}: {f.text}" for f in told.facts)]
    held("bank_styles.txt", "\n".join([*parts, ""]), refresh)


def test_kinds_are_as_expected(refresh: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(_world: Any, kind: str, seed: int, *more: object) -> random.Random:
        return random.Random(f"{kind}:{seed}:{more}")

    def once(made: Any) -> Any:
        return lambda *_: iter([made])

    for module in (common, distractors):
        monkeypatch.setattr(module, "rng_of", drawn)
    for name, made in (("plans", bank_plan()), ("refusals", bank_refusal()), ("questions", bank_question())):
        monkeypatch.setattr(common, name, once(made))
    parts = []
    for kind, (_, factory) in GENERATORS.items():
        for scenario in factory().generate(world(), world().environment.new().state, _SEEDS.get(kind, 1), ()):
            parts += [f"== {kind}", *_told(scenario)]
    assert list(dict.fromkeys(part[3:] for part in parts if part.startswith("== "))) == list(GENERATORS)
    held("bank_kinds.txt", "\n".join([*parts, ""]), refresh)


_SEEDS = {"distractors": 9}  # under which the record that the plan is about gets a twin


def _told(scenario: Scenario) -> Iterator[str]:
    yield scenario.task
    user = scenario.user
    if user.opening:
        yield f"-- opening: {user.opening}"
    yield f"-- unknown: {', '.join(user.unknown)}"
    yield f"-- content: {user.stop_when}"
    yield from (f"-- shown after {one.after}: {one.text}" for one in scenario.reveal)
    yield from (f"-- answer {one.name}: {one.type}" for one in scenario.answers)
    yield from (
        f"-- source {name}: {source.kind}"
        for s in scenario.solution
        for name, source in s.sources.items()
        if source.kind == "fact"
    )
