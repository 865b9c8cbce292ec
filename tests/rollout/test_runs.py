"""`envscaler runs` beyond a list: what it compares is right, what it writes can be played and read, what it shows is text."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.rollout import Row, Trajectories
from envscaler.rollout.comparison import best_at, compare, pass_at, pass_hat
from envscaler.scenario.model import Goal, Scenario, SpecRef
from envscaler.scenario.reading import read_scenarios
from envscaler.session.rollouts import RolloutOptions, rollout
from tests.rollout.conftest import write_till
from tests.rollout.line import run


def ran(*words: object) -> str:
    said = run(*words)
    assert said.exit_code == 0, said.output
    return said.output


# -- estimators


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=7), st.data())
def test_estimators_are_means_over_all_ways_to_draw(rewards: list[float], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(rewards)))
    drawn = list(combinations(rewards, k))
    passed = (k, len(rewards), sum(reward >= 1 for reward in rewards))
    assert pass_at(*passed) == pytest.approx(sum(max(some) >= 1 for some in drawn) / len(drawn))
    assert pass_hat(*passed) == pytest.approx(sum(min(some) >= 1 for some in drawn) / len(drawn))
    assert best_at(k, rewards) == pytest.approx(sum(map(max, drawn)) / len(drawn))


def row(scenario: str, reward: float | None, agent: str = "a", sample: int = 0, spec_hash: str = "sha256:0") -> Row:
    return Row(
        f"{scenario}.{sample}", 1, scenario, "complete", "till", spec_hash, "non-conversation", agent, "", "", sample,
        "finished", "", reward, 3, 2, 0, 0, 0.1, "sha256:1",
    )  # fmt: skip


def test_each_scenario_counts_the_same_and_what_has_no_reward_counts_nowhere() -> None:
    rows = [row("s", 1.0, sample=n) for n in range(9)] + [row("t", 0.0), row("u", None)]
    (line,) = compare({"run": rows}).lines
    assert (line.scenarios, line.episodes, line.unscored, line.mean, line.steps) == (2, 10, 1, 0.5, 3.0)
    assert [(rate.k, rate.scenarios) for rate in line.rates] == [(1, 2), (2, 1), (4, 1), (8, 1)]
    assert line.interval is not None
    assert (line.interval.low, line.interval.high) == (0.0, 1.0)


def test_who_wins_which_scenario() -> None:
    first = [row("s", 1.0), row("t", 0.2), row("u", 0.5), row("v", 0.0), row("only here", 1.0)]
    second = [row("s", 0.5), row("t", 0.2), row("u", 0.0, spec_hash="sha256:9"), row("v", 0.1)]
    (duel,) = compare({"one": first, "other": second}).duels
    assert (duel.common, duel.wins, duel.ties, duel.losses, duel.changed) == (4, 2, 1, 1, 1)
    assert duel.difference == pytest.approx(-0.225)
    assert duel.interval.low <= duel.difference <= duel.interval.high
    assert compare({"one": first[4:], "other": second}).duels == ()


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    import random

    chance, held = random.Random(5), 0
    for _ in range(20):
        rows = [row(f"s{n}", float(chance.random() < 0.3)) for n in range(30)]
        interval = compare({"run": rows}).lines[0].interval
        held += interval is not None and interval.low <= 0.3 <= interval.high
    assert held >= 17


# -- commands, on one run in which each scenario is passed in half of the episodes


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, till_scenarios: str) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        file = write_till(folder, till_scenarios)
        for agent in ("reference", "noop"):
            rollout(file, "half", RolloutOptions(agent, samples=2))
        rollout(file, "good", RolloutOptions(samples=2))
    return folder


@pytest.fixture
def played(shared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(shared)
    return shared


def test_comparing(played: Path) -> None:
    said = ran("runs", "compare", "half", "good")
    assert "100.0 to 100.0" in said
    assert "B : C" in said
    plain = json.loads(ran("runs", "compare", "half", "good", "-k", "2", "--json"))
    found = {(side["run"], side["agent"]): side for side in plain["sides"]}
    assert found["half", "noop"]["mean"] == 0.0
    assert found["good", "reference"]["rates"] == [{"k": 2, "scenarios": 5, "some": 1.0, "all": 1.0, "best": 1.0}]
    assert [side["agent"] for side in plain["sides"]] == ["noop", "reference", "reference"]
    assert [(duel["wins"], duel["ties"], duel["losses"]) for duel in plain["duels"]] == [
        (0, 0, 5),
        (0, 0, 5),
        (0, 5, 0),
    ]
    assert "numbers with commas" in run("runs", "compare", "half", "-k", "two").output


def test_filtering_and_merging_lose_nothing(played: Path, tmp_path: Path) -> None:
    parts = [tmp_path / agent for agent in ("noop", "reference")]
    for part in parts:
        assert "10 trajectories" in ran("runs", "filter", "half", "--agent", part.name, "-o", part)
    merged = ran("runs", "merge", *parts, "good", "-o", tmp_path / "all")
    assert "20 trajectories and 0 set aside, 10 were there twice;" in merged
    with Trajectories.open("half") as before, Trajectories.open(tmp_path / "all") as after:
        assert list(before.each()) == list(after.each())
        one = after.rows()[0]
        assert after.tools(after.of(one).offers[0][1]) == before.tools(before.of(one).offers[0][1])
    assert "is there already" in run("runs", "merge", "half", "good", "-o", tmp_path / "all").output
    name = one.id
    assert "the coin is there" in ran("runs", "show", tmp_path / "all", name), "the scenarios are still found"


def test_rescoring(played: Path, tmp_path: Path) -> None:
    assert ran("runs", "rescore", "half") == "20 scored, mean 0.5000\n"
    changed = tmp_path / "till.yaml"
    changed.write_text(Path("specs/till.yaml").read_text().replace("MOST: 10", "MOST: 11"), encoding="utf-8")
    said = ran("runs", "rescore", "good", "--specs", changed)
    old = json.loads(Path("scenarios.jsonl").read_text().splitlines()[0])["spec"]["hash"]
    assert f"has changed: it was played with {old}, this is sha256:" in said
    assert "10 scored, mean 1.0000" in said
    wrong = tmp_path / "wrong"
    ran("runs", "filter", "good", "-o", wrong)
    lines = [json.loads(line) for line in (wrong / "trajectories.jsonl").read_text().splitlines()]
    lines[0]["reward"] = 0.5
    (wrong / "trajectories.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = run("runs", "rescore", wrong)
    assert told.exit_code == 1
    assert "1.0, was 0.5" in told.output
    assert len(told.output.splitlines()) == 2, "the others are as they were"


def test_scenarios_without_an_id_or_a_version_are_found_again(played: Path, tmp_path: Path) -> None:
    plain = json.loads(Path("scenarios.jsonl").read_text().splitlines()[0])
    del plain["id"], plain["spec"]["hash"]
    file = tmp_path / "unbound.jsonl"
    file.write_text(json.dumps(plain) + "\n", encoding="utf-8")
    ran("rollout", file, "-o", tmp_path / "run")
    assert ran("runs", "rescore", tmp_path / "run") == "1 scored, mean 1.0000\n"


def test_selecting_scenarios(played: Path, tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    assert "5 of 5 scenarios chosen; 0 never passed, 0 always;" in ran("runs", "select", "half", "-o", file)
    assert file.read_text() == Path("scenarios.jsonl").read_text(), "they are the same scenarios"
    assert "0 of 5 scenarios chosen; 0 never passed, 5 always;" in ran("runs", "select", "good", "-o", file)
    plain = json.loads(ran("runs", "select", "half", "--pass", "0.5:0.9", "-o", file, "--json"))
    assert {tuple(one.values()) for one in plain["chosen"].values()} == {(4, 2)}
    for wrong in ("0.9:0.1", "0.5", "a:b", "0:2"):
        assert "LOW:HIGH" in run("runs", "select", "half", "--pass", wrong, "-o", file).output


def test_states_go_along_with_the_scenarios_that_are_selected(played: Path, tmp_path: Path) -> None:
    from envscaler.scenario.states import StateStore
    from envscaler.session.specs import sound
    from tests.rollout.conftest import TILL

    spec = sound(TILL).spec
    assert spec is not None
    first = next(read_scenarios("scenarios.jsonl"))
    assert isinstance(first, Scenario)
    file = tmp_path / "with.jsonl"
    name = StateStore.beside(file).put(spec.initial_state)
    one = replace(first, state=name).named()
    file.write_text(json.dumps(one.to_json()) + "\n", encoding="utf-8")
    for agent in ("noop", "reference"):
        ran("rollout", file, "--agent", agent, "-o", tmp_path / "run")
    ran("runs", "select", tmp_path / "run", "-o", tmp_path / "chosen.jsonl")
    assert StateStore.beside(tmp_path / "chosen.jsonl").get(name) == StateStore.beside(file).get(name)
    assert "mean reward 1.0000" in ran("rollout", tmp_path / "chosen.jsonl", "-o", tmp_path / "again")


# -- the page


class Page(HTMLParser):
    """Tags, attributes and text; it is an error to leave a tag open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "link", "img", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_page_of_a_run(played: Path, tmp_path: Path) -> None:
    file = tmp_path / "run.html"
    assert ran("runs", "page", "half", "-o", file) == f"20 episodes; {file}\n"
    page = Page(file.read_text(encoding="utf-8"))
    episodes = [attrs["class"] for tag, attrs in page.tags if tag == "details" and "episode" in attrs["class"]]
    assert len(episodes) == 20
    assert sum("agent-0" in one for one in episodes) == 10, "a filter finds them"
    for words in ("Put a coin of 3 into the till.", "the coin is there", "coins / C-", "add_coin", "noop (10)"):
        assert words in page.text
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in page.tags}
    assert not any(attrs.get("href") or attrs.get("src") for _, attrs in page.tags), "it needs nothing else"
    assert f"3 episodes of 10; --episodes 10 shows all; {file}" in ran(
        "runs", "page", "half", "--agent", "noop", "--episodes", 3, "-o", file
    )


def test_nothing_on_the_page_is_markup_but_what_the_page_itself_has(till: Path) -> None:
    hostile = "\x1b[31m<script>alert(1)</script>\"'&</style>\u202e{{ 7 * 7 }}"
    ref = json.loads(till.read_text(encoding="utf-8").splitlines()[0])["spec"]
    one = Scenario(
        kind=hostile,
        spec=SpecRef(**ref),
        task=hostile,
        goals=(Goal("final.drawer.count == 3", hostile), Goal("final.drawer.open", hostile)),
        guards=(),
        solution=(),
    ).named()
    till.write_text(json.dumps(one.to_json()) + "\n", encoding="utf-8")
    call = ["add_coin", {"value": 3, "label": hostile}]
    moves = [[call, [hostile, {hostile: hostile}]], {"message": {"content": "", "reasoning": hostile}}, hostile]
    Path("moves.json").write_text(json.dumps(moves), encoding="utf-8")
    assert run("rollout", till, "--agent", "scripted", "--set", "agent.file=moves.json", "-o", "out").exit_code == 0
    run("rollout", till, "--agent", "noop", "-o", "out")
    ran("runs", "page", "out", "-o", "page.html")
    text = Path("page.html").read_text(encoding="utf-8")
    page = Page(text)
    assert "script" not in {tag for tag, _ in page.tags}
    assert page.text.count("<script>alert(1)</script>") > 10
    assert "{{ 7 * 7 }}" in page.text
    assert not {"\x1b", "\u202e"} & set(text)
    assert text.count("</style>") == 1
