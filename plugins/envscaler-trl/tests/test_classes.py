"""Classes driven as TRL drives them, without TRL: tools found on the type, instances reset again and again."""

import asyncio
import inspect
import json
import math
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from envscaler_trl import Environments, SpecEnvironment, environment_class, outcome

from envscaler import UsageError

Calls = Callable[[dict[str, Any]], list[tuple[str, dict[str, Any]]]]
ODD = """\
envscaler: 1
name: odd_names
title: Odd names
description: A counter with a tool whose parameters and texts are no Python.
states:
  counter:
    record: Counter
    single: true
    fields: {count: {type: int, default: 0}}
tools:
  put:
    kind: write
    description: |
      Set the counter to a number.

      Returns: nothing. Args: a number.
    params:
      value: {type: int, json: from, ge: 0, le: 9, description: "The number (choices: [1, 2])"}
      step_size: {type: int, json: step-size, default: 1}
    do: |
      counter.count = value * step_size
  look:
    kind: read
    description: Look at the counter.
    do: |
      return counter.count
initial_state:
  counter: {count: 5}
"""
TASK = {
    "id": "odd-1",
    "kind": "by_hand",
    "spec": {"name": "odd_names", "hash": ""},
    "seed": 0,
    "task": "Set the counter to twice 3.",
    "outcome": "answer",
    "goals": [{"expr": "final.counter.count == 6"}],
    "guards": [],
    "solution": [{"tool": "put", "arguments": {"from": 3, "step-size": 2}}],
}


@pytest.fixture(scope="module")
def environments(tasks: Path) -> Environments:
    return Environments(tasks)


@pytest.fixture
def odd(tmp_path: Path) -> type:
    (tmp_path / "odd_names.yaml").write_text(ODD, encoding="utf-8")
    return environment_class("odd_names", specs=tmp_path)


def tools(environment: Any) -> dict[str, Any]:
    """The tools that TRL finds."""
    names = [name for name, _ in inspect.getmembers(type(environment), inspect.isfunction)]
    return {n: getattr(environment, n) for n in names if n not in ("reset", "get_reward") and n[0] != "_"}


def test_reference_1_and_noop_0_on_one_instance(
    environments: Environments, scenarios: dict[str, Any], calls_of: Calls
) -> None:
    pool = {name: made() for name, made in environments.classes.items()}
    left_out = environments.left_out
    assert {scenarios[one]["kind"] for one in left_out} == {"missing_tool"}
    played = [one for one in scenarios if one not in left_out]
    assert len(played) >= 8
    for name in played * 2:
        environment = pool[scenarios[name]["spec"]["name"]]
        environment.reset(id=name, prompt=[{"role": "user", "content": "…"}], more={"any": "thing"})
        for tool, arguments in calls_of(scenarios[name]):
            tools(environment)[tool](**arguments)
        assert environment.get_reward() == environment.get_reward() == 1.0
        assert outcome(environment)["status"] == "finished"
        assert all(outcome(environment)["goals"])
        environment.reset(id=name)
        assert environment.get_reward() == 0.0


def test_a_wrong_call_is_told_and_the_end_is_the_end(
    environments: Environments, scenarios: dict[str, Any], calls_of: Calls
) -> None:
    one = next(one for one in scenarios.values() if one["spec"]["name"] == "bank" and one["kind"] == "long_context")
    bank = environments.classes["bank"]()
    bank.reset(id=one["id"])
    assert "account_id" in json.loads(bank.account_details(account="A-2001"))["error"]
    assert json.loads(bank.account_details(account_id=17))["success"] is False
    assert json.loads(bank.submit(answer=None, refusal="not_found"))["success"] is True
    for tool, arguments in calls_of(one):
        assert "over" in json.loads(tools(bank)[tool](**arguments))["error"]
    assert bank.get_reward() == 0.0


def test_numbers_as_text_are_taken_as_in_rollouts(
    environments: Environments, scenarios: dict[str, Any], calls_of: Calls
) -> None:
    one = next(one for one in scenarios.values() if one["spec"]["name"] == "bank" and one["kind"] == "long_context")
    bank = environments.classes["bank"]()
    bank.reset(id=one["id"])
    for tool, arguments in calls_of(one):
        tools(bank)[tool](**{name: str(value) for name, value in arguments.items()})
    assert bank.get_reward() == 1.0


def test_what_reset_adds_to_the_prompt(environments: Environments, scenarios: dict[str, Any]) -> None:
    (asked,) = [o for o in scenarios.values() if o["kind"] == "answer" and o["spec"]["name"] == "bank"]
    bank = environments.classes["bank"]()
    added = bank.reset(id=asked["id"], prompt=[{"role": "user", "content": asked["task"]}])
    assert all(f'"{slot}"' in added for slot in asked["answers"])
    assert asked["task"] in bank.reset(id=asked["id"])
    plain = next(o for o in scenarios.values() if o["kind"] == "distractors" and o["spec"]["name"] == "bank")
    assert bank.reset(id=plain["id"], prompt=[{"role": "user", "content": "…"}]) is None


def test_calls_have_a_limit(tasks: Path, scenarios: dict[str, Any]) -> None:
    bank = Environments(tasks, steps=2).classes["bank"]()
    bank.reset(id=next(name for name, one in scenarios.items() if one["spec"]["name"] == "bank"))
    assert [json.loads(bank.count_till())["success"] for _ in range(3)] == [
        True,
        True,
        False,
    ]
    assert (bank.get_reward(), outcome(bank)["status"]) == (0.0, "step_limit")


def test_an_episode_that_broke_has_no_reward(environments: Environments, scenarios: dict[str, Any]) -> None:
    bank = environments.classes["bank"]()
    bank.reset(id=next(name for name, one in scenarios.items() if one["spec"]["name"] == "bank"))
    bank._episode._scene.call = None
    bank.count_till()
    assert math.isnan(bank.get_reward())
    assert outcome(bank)["status"] == "infra_error"


def test_in_a_running_event_loop_as_in_notebooks(
    environments: Environments, scenarios: dict[str, Any], calls_of: Calls
) -> None:
    async def play() -> float:
        one = next(one for one in scenarios.values() if one["kind"] == "complete")
        environment = environments.classes[one["spec"]["name"]]()
        environment.reset(id=one["id"])
        for tool, arguments in calls_of(one):
            tools(environment)[tool](**arguments)
        return float(environment.get_reward())

    assert asyncio.run(play()) == 1.0


def test_rows_of_the_export(
    tasks: Path,
    scenarios: dict[str, Any],
    folder: Path,
    calls_of: Calls,
    envscaler: Callable[..., None],
) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    envscaler(
        "export",
        tasks,
        "--format",
        "rl-parquet",
        "-o",
        folder / "rl",
        "--split",
        "env:0.5",
    )
    from pyarrow.parquet import read_table

    environments = Environments(folder / "rl")
    files = [folder / "rl" / "train.parquet", folder / "rl" / "test.parquet"]
    rows = [row for file in files for row in read_table(file).to_pylist()]
    assert {row["id"] for row in rows} == set(scenarios)
    for row in rows:
        if row["id"] in environments.left_out:
            continue
        environment = environments.classes[row["environment"]]()
        environment.reset(**row)
        for tool, arguments in calls_of(scenarios[row["id"]]):
            tools(environment)[tool](**arguments)
        assert environment.get_reward() == 1.0


def test_a_conversation_by_a_tool(tasks: Path, scenarios: dict[str, Any], calls_of: Calls) -> None:
    environments = Environments(tasks, user="facts")
    one = next(o for o in scenarios.values() if o["spec"]["name"] == "bank" and o["kind"] == "missing_parameter")
    (row,) = [row for row in environments.rows() if row["id"] == one["id"]]
    assert row["prompt"][1]["content"] == one["user"]["opening"]
    assert "say_to_user" in row["prompt"][0]["content"]
    bank = environments.classes["bank"]()
    bank.reset(**row)
    told = " ".join(bank.say_to_user(message="What else do you want? Give me more detail.") for _ in range(20))
    assert any(fact["text"] in told for fact in one["user"]["facts"].values())
    assert bank.get_reward() == 0.0
    bank.reset(**row)
    for tool, arguments in calls_of(one):
        tools(bank)[tool](**arguments)
    assert bank.get_reward() == 1.0


def test_odd_parameters_and_texts(odd: Any) -> None:
    environment = odd()
    assert set(tools(environment)) == {"put", "look", "submit"}
    assert odd._source.notes["odd_names"] == ("put: the parameter step-size is called step_size",)
    assert list(inspect.signature(odd.put).parameters) == ["self", "from", "step_size"]
    text = inspect.getdoc(odd.put)
    assert text is not None
    assert text.count("Args:") == 1
    assert "Returns:" not in text
    assert "Elsewhere it is called step-size." in text
    for call in ({"from": 3, "step_size": 2}, {"from": 3, "step-size": 2}):
        environment.reset(scenario=json.dumps(TASK))
        environment.put(**call)
        assert environment.get_reward() == 1.0


def test_signatures(environments: Environments) -> None:
    bank = environments.classes["bank"]
    assert bank.__name__ == "BankEnvironment"
    found = inspect.signature(bank.freeze_account).parameters
    assert found["account_id"].annotation is str
    assert found["account_id"].default is inspect.Parameter.empty
    assert found["reason"].annotation == Literal["suspected_fraud", "court_order", "customer_request"]
    found = inspect.signature(bank.list_postings).parameters
    assert (found["limit"].annotation, found["limit"].default) == (int, 10)
    assert found["since"].annotation == str | None


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"id": "nothing"}, "not among 12 scenarios"),
        ({"task": "…"}, "no `id`"),
        ({"scenario": json.dumps(TASK)}, "no spec is called odd_names"),
    ],
)
def test_rows_that_are_none(environments: Environments, row: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        environments.classes["bank"]().reset(**row)


def test_a_row_of_another_spec(environments: Environments, scenarios: dict[str, Any]) -> None:
    other = next(name for name, one in scenarios.items() if one["spec"]["name"] == "tau2_mock")
    with pytest.raises(UsageError, match="for tau2_mock, not for bank"):
        environments.classes["bank"]().reset(id=other)
    hidden = next(iter(environments.left_out))
    with pytest.raises(UsageError, match="reveals tools"):
        environments.classes[scenarios[hidden]["spec"]["name"]]().reset(id=hidden)
    with pytest.raises(UsageError, match="before reset"):
        environments.classes["bank"]().get_reward()


def play(made: Any, name: str, calls: list[tuple[str, dict[str, Any]]]) -> float:
    """The reward of calls, in whichever process."""
    environment = made()
    environment.reset(id=name)
    for tool, arguments in calls:
        tools(environment)[tool](**arguments)
    return float(environment.get_reward())


def test_a_class_goes_through_pickle(environments: Environments, scenarios: dict[str, Any], calls_of: Calls) -> None:
    one = next(one for one in scenarios.values() if one["kind"] == "complete")
    text = pickle.dumps([environments.classes[one["spec"]["name"]], SpecEnvironment])
    made, bare = pickle.loads(text)  # noqa: S301 - our own
    assert bare is SpecEnvironment
    assert made is pickle.loads(text)[0]  # noqa: S301
    assert made is not environments.classes[one["spec"]["name"]]
    assert play(made, one["id"], calls_of(one)) == 1.0


def test_the_readme(tasks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python bank\n(.*?)```", text, re.S)
    monkeypatch.chdir(tasks.parent)
    exec(example, {})  # noqa: S102
