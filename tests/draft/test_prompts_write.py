"""The prompts of planning and writing, as they are sent; `python -m pytest tests/draft --refresh-prompts` writes them anew."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from envscaler.draft.judging import judge
from envscaler.draft.parts import Parts
from envscaler.draft.planning import plan
from envscaler.draft.plans import Plan, Size
from envscaler.draft.replies import PartsReply
from envscaler.draft.writing import write
from envscaler.llm import Reply, Request
from envscaler.spec.card import card
from envscaler.spec.language import BUILTINS
from tests.assess.models import SHELF, replied, scripted
from tests.draft.mender import Mending, planned, sections

EXPECTED = Path(__file__).parent / "prompts"
NAMES = ("plan.states", "plan.again", "plan.tools", "write.states", "write.helpers", "write.tools", "write.again")


@pytest.fixture(scope="module")
def sent() -> dict[str, Request]:
    """One request of each prompt: a shelf of books is planned and written, each time with a mistake."""
    return dict(zip(NAMES, [*_planned(), *_written()], strict=False))


def _planned() -> Iterator[Request]:
    states = [
        {
            "name": "books",
            "record": "Book",
            "fields": [{"name": "title", "type": "str"}, {"name": "copies", "type": "int"}],
        }
    ]
    tools = [{"name": "find", "kind": "read", "description": "Find books.", "states": ["books"]}]
    requests: list[Request] = []

    def planner(request: Request) -> Reply:
        requests.append(request)
        text = request.messages[-1].content
        if "Plan 1 tools" in text:
            return replied("Tools", {"tools": tools})
        rules = [{"name": "few", "text": "Few copies of a book are lent.", "states": ["books"]}]
        return replied("States", {"states": states, "rules": rules if "not right yet" in text else []})

    with scripted(planner=planner) as (models, _):
        theme = planned({}, task="Is there a copy of Emma?").theme
        size = Size(collections=1, fields=2, rules=2, tools=1, reading=1.0)
        made = models.run(plan(theme, models.role("planner"), size))
    assert isinstance(made, Plan)
    yield from requests


def _written() -> Iterator[Request]:
    spec = sections(SHELF.replace("book.lent += 1", "book.lend += 1").replace("returns: [Emma]", "returns: [Anna]"))
    requests: list[Request] = []
    model = Mending(spec)

    def coder(request: Request) -> Reply:
        requests.append(request)
        return model(request)

    with scripted(coder=coder) as (models, _):
        models.run(write(planned(spec), models.role("coder")))
    yield from requests


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_is_as_expected(sent: dict[str, Request], name: str, request: pytest.FixtureRequest) -> None:
    whole = sent[name].messages
    text = "\n".join(f"== {m.role}\n{_without_card(m.content)}" for m in whole) + "\n"
    file = EXPECTED / f"{name}.txt"
    if request.config.getoption("--refresh-prompts", default=False):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def _without_card(text: str) -> str:
    """The card has tests of its own."""
    return text.replace(card(brief=True).strip(), "(the grammar card)")


def test_all_prompts_of_writing_begin_alike_and_ask_for_one_shape(sent: dict[str, Request]) -> None:
    """So that a provider keeps what they have in common."""
    writing = [sent[name] for name in NAMES if name.startswith("write")]
    assert len({r.messages[0].content for r in writing}) == 1
    assert len({str(r.tools) for r in writing}) == 1
    assert card(brief=True).strip() in writing[0].messages[0].content
    tools, again = (sent[name].messages[1].content for name in ("write.tools", "write.again"))
    declared = tools[: tools.index("Write these tools")]
    assert again.startswith(declared.rstrip())


def test_the_example_in_the_prompt_is_sound(sent: dict[str, Request]) -> None:
    system = sent["write.tools"].messages[0].content
    example = json.loads(system[system.index('{"states"') : system.index("\n\n- A parameter")])
    parts = Parts("example")
    for path, value in PartsReply.model_validate(example).parts().items():
        parts.put(path, value)
    judged = judge(parts, run=True)
    assert judged.all == ()
    assert judged.ran is not None


def test_the_brief_card_names_all_that_the_whole_one_names() -> None:
    brief = card(brief=True)
    assert all(f"`{name}" in brief for name in BUILTINS)
    assert len(brief) < 0.85 * len(card())


def test_a_template_of_ones_own_is_taken(tmp_path: Path) -> None:
    own = tmp_path / "prompts" / "draft"
    own.mkdir(parents=True)
    (own / "write.helpers.j2").write_text("My own words. Write the helpers of {{ theme.title }}.")
    said: list[str] = []
    model = Mending(sections(SHELF))

    def coder(request: Request) -> Any:
        said.append(request.messages[-1].content)
        return model(request)

    with scripted(coder=coder) as (models, _):
        models.run(write(planned(model.spec), models.role("coder"), folders=(str(tmp_path),)))
    assert "My own words. Write the helpers of A desk." in said
