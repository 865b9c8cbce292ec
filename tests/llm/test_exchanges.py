"""A unit of work that was ended goes on with the replies that it has got, and is told the same of what it took."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import BaseModel

from envscaler.errors import BudgetError
from envscaler.llm import Models
from envscaler.llm.exchanges import Exchange, Exchanges
from tests.llm.conftest import Open
from tests.llm.server import Server, Step, text


class Plan(BaseModel):
    """A plan."""

    name: str


def asked(models: Models, exchanges: Exchanges, *said: str) -> tuple[list[str], list[Exchange]]:
    with exchanges.unit() as unit:
        found = [models.run(models.role("planner").structured(Plan, one)).value.name for one in said]
    return found, unit.made


def test_what_was_answered_is_not_asked_again_corrections_included(
    models: Open, server: Server, tmp_path: Path
) -> None:
    exchanges = Exchanges(tmp_path / "exchanges.sqlite")
    server.steps = [text("no plan"), text('{"name": "a"}'), text(""), text('{"name": "b"}')]
    first = asked(models(server.llm(backoff="0.01")), exchanges, "one", "two")
    assert first[0] == ["a", "b"]
    assert len(first[1]) == 3  # an empty reply is none
    assert server.seen == 4
    again = models(server.llm(backoff="0.01"), max_tokens=1)  # and nothing is paid that a limit could forbid
    assert asked(again, exchanges, "one", "two") == first
    assert server.seen == 4
    with pytest.raises(BudgetError):
        asked(again, exchanges, "three")


def test_equal_questions_of_a_unit_have_answers_of_their_own(models: Open, server: Server, tmp_path: Path) -> None:
    exchanges = Exchanges(tmp_path / "exchanges.sqlite")
    server.steps = [text('{"name": "a"}'), text('{"name": "b"}')]
    opened = models(server.llm())
    assert asked(opened, exchanges, "one", "one")[0] == ["a", "b"]
    assert asked(opened, exchanges, "one")[0] == ["a"]
    assert server.seen == 2


def test_threads_share_models_and_are_let_go(models: Open, server: Server) -> None:
    opened = models(server.llm(concurrency=2))
    server.otherwise = lambda said: Step(text=f"echo: {said}", delay=20.0 if said == "long" else 0.05)

    def chat(said: str) -> str:
        return opened.run(opened.role("planner").chat(said)).content

    ended: list[BaseException] = []

    def wait() -> None:
        try:
            chat("long")
        except CancelledError as error:
            ended.append(error)

    with opened.shared():
        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(chat, "abcdef")) == [f"echo: {one}" for one in "abcdef"]
        assert server.most_at_once == 2
        late = threading.Thread(target=wait)
        late.start()
        while server.seen < 7:
            pass
    late.join(2.0)
    assert len(ended) == 1
    assert opened.run(opened.role("planner").chat("g")).content == "echo: g"
