"""Each test of each suite refuses a thing that breaks what it tests, and passes one that does not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest

from envscaler import resources, session
from envscaler import scenario as scenarios
from envscaler.agents import Turn
from envscaler.errors import SpecError, UsageError
from envscaler.llm.messages import Message, Reply, Request, Usage
from envscaler.plugin import BadRow, Finding, Judgement, Said, Task, Vectors, Verdict
from envscaler.scenario import Goal, Guard, Only, Scenario, Step
from envscaler.testing import Conformance
from envscaler.testing.run import suite


def known(settings: Mapping[str, Any]) -> None:
    if settings:
        raise UsageError("there are no settings")


class Assessor:
    def assess(self, subject: Any, settings: Any) -> Any:
        known(settings)
        return Verdict(True, 1.0, (Finding("x", "y", subject.checked.spec.tools["transfer"].span),))


class Checker:
    def __init__(self, settings: Any) -> None:
        known(settings)

    def on_call(self, event: Any) -> Any:
        return None if event.ok else Judgement("warn", f"{event.tool} failed")

    def on_end(self, event: Any) -> Any:
        return Judgement("pass")


class Source:
    def read(self, location: str, options: Any) -> Iterator[Any]:
        known(options)
        if not Path(location).exists():
            raise UsageError("not there")
        yield Task("Do it.", location, 1)
        yield BadRow(location, 2, "no text")


class Backend:
    name, model, identity, free = "x", "y", "x/y", True

    def __init__(self, settings: Any) -> None:
        pass

    async def attempt(self, request: Request) -> Any:
        return Reply(Message("assistant", "Hello."))

    async def aclose(self) -> None:
        pass


class Embedder:
    """Counts letters."""

    identity, near, batch, free = "x", 0.9, 8, True

    def __init__(self, settings: Any) -> None:
        known(settings)

    async def embed(self, texts: Any) -> Any:
        return Vectors([[text.count(letter) + 0.1 for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts])

    async def aclose(self) -> None:
        pass


class Agent:
    name = "x"

    def __init__(self, part: Any) -> None:
        known(part.settings)

    async def reply(self, messages: Any, tools: Any) -> Any:
        return Turn(Message("assistant", "Hello."))


class User:
    def __init__(self, part: Any) -> None:
        known(part.settings)

    async def open(self) -> Any:
        return Said("Hello.")

    async def answer(self, text: str) -> Any:
        return Said("Goodbye.", ends=True)


def sample(folder: Path) -> tuple[str, dict[str, Any]]:
    (folder / "x").write_text("", encoding="utf-8")
    return str(folder / "x"), {}


# Subclasses of the good ones: the test that must fail, and how it is broken.


def subclass(base: type, **methods: Any) -> type:
    return type(f"Bad{base.__name__}", (base,), methods)


def assess(give: Any) -> type:
    return subclass(Assessor, assess=lambda self, subject, settings: give(subject, settings))


def foreign(subject: Any, settings: Any) -> Verdict:
    span = subject.checked.spec.tools["transfer"].span
    return Verdict(True, 1.0, (Finding("x", "y", type(span)(span.path, 10**6, 1, 10**6, 2)),))


def fickle(subject: Any, settings: Any, seen: list[int] = []) -> Verdict:  # noqa: B006, the point of it
    seen.append(1)
    return Verdict(True, 1 / len(seen))


def meddle(subject: Any, settings: Any) -> Verdict:
    settings["done"] = True
    return Verdict(True, 1.0)


def write_to(event: Any) -> None:
    event.result["seen"] = True


SHARED: list[int] = []


def remember(self: Any, event: Any) -> Judgement:
    SHARED.append(1)
    return Judgement("warn", f"event {len(SHARED)}")


def rows(*given: Any) -> type:
    return subclass(Source, read=lambda self, location, options: iter(given))


async def silent(self: Any, request: Any) -> Reply:
    return Reply(Message("assistant", ""))


async def lost(self: Any, request: Any) -> Any:
    return "Hello."


async def miscounting(self: Any, request: Any) -> Reply:
    return Reply(Message("assistant", "Hello."), usage=Usage(tokens_in=-1))


class OneAtATime(Backend):
    def __init__(self, settings: Any) -> None:
        self.busy = False

    async def attempt(self, request: Request) -> Any:
        if self.busy:
            raise RuntimeError("busy")
        self.busy = True
        await asyncio.sleep(0.01)
        self.busy = False
        return Reply(Message("assistant", "Hello."))


class ClosedOnce(Backend):
    def __init__(self, settings: Any) -> None:
        self.open = True

    async def aclose(self) -> None:
        assert self.open, "closed already"
        self.open = False


def embeds(give: Any) -> type:
    async def embed(self: Any, texts: Any) -> Any:
        return Vectors(give(texts))

    return subclass(Embedder, embed=embed)


async def breaks_alone(self: Any, messages: Any, tools: Any) -> Any:
    if messages[1].content.startswith("Move"):  # the task is only said to one that is alone
        raise KeyError("x")
    return Turn(Message("assistant", "Hello."))


async def breaks_in_company(self: Any, messages: Any, tools: Any) -> Any:
    if not messages[1].content.startswith("Move"):
        raise KeyError("x")
    return Turn(Message("assistant", "Hello."))


async def another_word(self: Any, messages: Any, tools: Any) -> Any:
    SHARED.append(1)
    return Turn(Message("assistant", f"Word {len(SHARED)}."))


def says(*, first: Any = None, then: Any = None) -> type:
    async def open_(self: Any) -> Any:
        return first() if first else Said("Hello.")

    async def answer(self: Any, text: str) -> Any:
        return then() if then else Said("Goodbye.", ends=True)

    return subclass(User, open=open_, answer=answer)


def another() -> Said:
    SHARED.append(1)
    return Said(f"Word {len(SHARED)}.", ends=True)


class Generator:
    """Asks to block the active cards of a bank."""

    status, steps = "blocked", (0,)

    def generate(self, world: Any, state: Any, seed: int, tools: Any = ()) -> Iterator[Any]:
        for key, card in state["cards"].items():
            if card["status"] == "active":
                goal = Goal(f'final.cards["{key}"].status == "{self.status}"', steps=self.steps)
                step = Step("block_card", {"card_id": key}, {"card_id": scenarios.Source("task")})
                guard = Guard(Only(fields={"cards": {key: ("status",)}}))
                yield Scenario("x", world.ref, f"Block card {key}.", (goal,), (guard,), (step,), seed)


def generating(give: Any) -> type:
    return subclass(Generator, generate=give)


def forgetful(self: Any, world: Any, state: Any, seed: int, tools: Any = (), seen: list[int] = []) -> Iterator[Any]:  # noqa: B006
    seen.append(1)
    return (replace(one, seed=len(seen)) for one in Generator().generate(world, state, seed))


def spoiling(self: Any, world: Any, state: Any, seed: int, tools: Any = ()) -> Iterator[Any]:
    made = list(Generator().generate(world, state, seed))
    state["cards"].clear()
    return iter(made)


def choosy(self: Any, world: Any, state: Any, seed: int, tools: Any = ()) -> Iterator[Any]:
    if tools:
        raise RuntimeError("no wishes, please")
    return Generator().generate(world, state, seed)


BROKEN: dict[tuple[str, str], type] = {
    ("agent", "test_plays_alone"): subclass(Agent, reply=breaks_alone),
    ("agent", "test_plays_with_a_user"): subclass(Agent, reply=breaks_in_company),
    ("agent", "test_plays_the_same_twice"): subclass(Agent, reply=another_word),
    ("agent", "test_refuses_unknown_settings"): subclass(Agent, __init__=lambda self, part: None),
    ("user", "test_speaks_first"): says(first=lambda: Said("")),
    ("user", "test_answers"): says(then=lambda: Said(" ")),
    ("user", "test_does_not_talk_for_ever"): says(then=lambda: Said("Hm.")),
    ("user", "test_says_the_same_twice"): says(then=another),
    ("user", "test_refuses_unknown_settings"): subclass(User, __init__=lambda self, part: None),
    ("assessor", "test_gives_a_verdict"): assess(lambda subject, settings: True),
    ("assessor", "test_findings_point_into_the_spec"): assess(foreign),
    ("assessor", "test_not_sound_is_explained"): assess(lambda subject, settings: Verdict(False, 0.0)),
    ("assessor", "test_gives_the_same_twice"): assess(fickle),
    ("assessor", "test_leaves_the_subject_as_it_was"): assess(meddle),
    ("assessor", "test_refuses_unknown_settings"): assess(lambda subject, settings: Verdict(True, 1.0)),
    ("checker", "test_judges_every_event"): subclass(Checker, on_call=lambda self, e: e.arguments["x"]),
    ("checker", "test_an_episode_without_calls"): subclass(Checker, on_end=lambda self, e: 1 / e.steps),
    ("checker", "test_a_new_one_remembers_nothing"): subclass(Checker, on_call=remember),
    ("checker", "test_leaves_events_as_they_were"): subclass(Checker, on_call=lambda self, e: write_to(e)),
    ("checker", "test_refuses_unknown_settings"): subclass(Checker, __init__=lambda self, settings: None),
    ("source", "test_gives_tasks_and_bad_rows"): rows("a line"),
    ("source", "test_counts_are_right"): rows(Task("x", "f", 1)),
    ("source", "test_lines_go_up"): rows(Task("x", "f", 2), Task("x", "f", 1)),
    ("source", "test_reads_as_it_is_asked"): subclass(Source, read=lambda self, location, options: [Task("x", "f", 1)]),
    ("source", "test_gives_the_same_twice"): subclass(
        Source, read=lambda self, location, options, n=[0]: iter([Task("x", "f", n.append(0) or len(n))])
    ),
    ("source", "test_refuses_what_is_not_there"): rows(Task("x", "f", 1)),
    ("source", "test_refuses_unknown_options"): rows(Task("x", "f", 1)),
    ("embedder", "test_says_what_it_is"): subclass(Embedder, near=1.5),
    ("embedder", "test_gives_a_vector_for_each_text"): embeds(lambda texts: [[0.0]] * len(texts)),
    ("embedder", "test_no_texts_give_no_vectors"): embeds(lambda texts: [[1.0]] * max(1, len(texts))),
    ("embedder", "test_a_vector_is_its_text_s_alone"): embeds(lambda texts: [[1.0, n] for n in range(len(texts))]),
    ("embedder", "test_what_is_alike_is_near"): embeds(lambda texts: [[1.0, text == texts[1]] for text in texts]),
    ("embedder", "test_refuses_unknown_settings"): subclass(Embedder, __init__=lambda self, settings: None),
    ("generator", "test_gives_scenarios_as_it_is_asked"): generating(
        lambda self, world, state, seed, tools=(): list(Generator().generate(world, state, seed))
    ),
    ("generator", "test_gives_the_same_twice"): generating(forgetful),
    ("generator", "test_leaves_the_state_as_it_was"): generating(spoiling),
    ("generator", "test_can_be_written_down"): subclass(Generator, steps=[0]),
    ("generator", "test_takes_wished_tools"): generating(choosy),
    ("generator", "test_most_hold"): subclass(Generator, status="active"),
    ("backend", "test_says_what_it_is"): subclass(Backend, identity=""),
    ("backend", "test_being_made_asks_nobody"): ClosedOnce,
    ("backend", "test_replies"): subclass(Backend, attempt=silent),
    ("backend", "test_counts_tokens_or_says_none"): subclass(Backend, attempt=miscounting),
    ("backend", "test_many_at_once"): OneAtATime,
}
GOOD = {
    "agent": Agent, "assessor": Assessor, "checker": Checker, "source": Source, "backend": Backend,
    "embedder": Embedder, "generator": Generator, "user": User,
}  # fmt: skip


def of(kind: str, make: Any) -> type[Conformance]:
    more = {"sample": staticmethod(sample), "tasks": 1, "bad_rows": 1} if kind == "source" else {}
    return type("Suite", (suite(kind),), {"make": staticmethod(make), **more})


def test_every_test_has_something_that_breaks_it() -> None:
    assert set(BROKEN) == {(kind, test) for kind in GOOD for test in suite(kind).wanted()}


@pytest.mark.parametrize(("kind", "test"), BROKEN)
def test_it_refuses_what_breaks_it_and_nothing_else(kind: str, test: str) -> None:
    getattr(of(kind, GOOD[kind])(), test)()
    with pytest.raises((AssertionError, TypeError, KeyError, ZeroDivisionError, RuntimeError, AttributeError)):
        getattr(of(kind, BROKEN[kind, test])(), test)()


def test_a_reply_that_is_none() -> None:
    with pytest.raises((AssertionError, AttributeError)):
        of("backend", subclass(Backend, attempt=lost))().test_replies()  # type: ignore[attr-defined]


def test_what_cannot_be_tested_is_skipped() -> None:
    made = type("Suite", (suite("source"),), {"make": staticmethod(Source)})
    with pytest.raises(SkipTest, match="no sample"):
        made().test_lines_go_up()
    made = type("Suite", (suite("backend"),), {"make": staticmethod(Backend), "answers": False})
    with pytest.raises(SkipTest, match="llm check"):
        made().test_replies()


# -- folders


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    session.new("shop", tmp_path / "specs" / "shop.yaml")
    return tmp_path / "specs"


def outcomes(kind: str, folder: Path) -> set[str]:
    """The tests of the suite that fail for a folder."""
    failed = set()
    made = of(kind, lambda: folder)
    for test in made.wanted():
        try:
            getattr(made(), test)()
        except (AssertionError, SpecError):
            failed.add(test)
    return failed


def test_packs(pack: Path) -> None:
    shop = pack / "shop.yaml"
    text = shop.read_text(encoding="utf-8")
    assert outcomes("specs", pack) == set()
    shop.rename(pack / "store.yaml")
    assert outcomes("specs", pack) == {"test_files_are_called_like_their_specs"}
    (pack / "store.yaml").unlink()
    assert outcomes("specs", pack) == set(suite("specs").wanted())
    shop.write_text(text.replace("returns: Ladder is back.", "returns: Gone."), encoding="utf-8")
    assert outcomes("specs", pack) == {"test_examples_hold"}
    shop.write_text(
        text.partition("  take_back:")[0] + TAKE_BACK + "initial_state:" + text.partition("initial_state:")[2]
    )
    assert outcomes("specs", pack) == {"test_specs_have_examples"}
    shop.write_text(text.replace("title: str", "title: string"), encoding="utf-8")
    assert "test_specs_have_no_errors_or_warnings" in outcomes("specs", pack)


TAKE_BACK = """\
  take_back:
    kind: write
    description: Take an item back from whoever holds it.
    params:
      item_id: {ref: items, as: item, missing: "No item {item_id}."}
    do: |
      item.holder = None
      return f"{item.title} is back."
"""


def test_templates(tmp_path: Path) -> None:
    folder = tmp_path / "module"
    folder.mkdir()
    shipped = (resources.folder("templates") / "module" / "head.py.j2").read_text(encoding="utf-8")
    head = folder / "head.py.j2"
    head.write_text(shipped, encoding="utf-8")
    assert outcomes("templates", tmp_path) == set()
    head.rename(folder / "haed.py.j2")
    assert outcomes("templates", tmp_path) == {"test_each_stands_for_a_shipped_one"}
    (folder / "haed.py.j2").unlink()
    assert outcomes("templates", tmp_path) == set(suite("templates").wanted())
