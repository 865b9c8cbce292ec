"""TRL itself, on a CPU: GRPO through the classes, with a model that samples and with one that says the reference calls; and
supervised training on the `trl` export."""

import inspect
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from envscaler_trl import Environments, outcome

for package in ("torch", "transformers", "datasets", "trl"):
    pytest.importorskip(package, reason=f"{package} is not installed: pip install '.[trl]' torch")

# ruff: noqa: E402
import torch
from datasets import load_dataset
from transformers import Qwen3ForCausalLM
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

sys.path.insert(0, str(Path(__file__).parent))
import tiny

Calls = Callable[[dict[str, Any]], list[tuple[str, dict[str, Any]]]]
PLAYED = {("bank", "distractors"), ("bank", "answer"), ("tau2_mock", "refusal"), ("tau2_mock", "complete")}


@pytest.fixture(scope="module")
def environments(tasks: Path) -> Environments:
    return Environments(tasks)


@pytest.fixture(scope="module")
def words(environments: Environments) -> Any:
    texts = [message["content"] for row in environments.dataset() for message in row["prompt"]]
    for made in environments.classes.values():
        texts += [json.dumps(get_json_schema(tool)) for tool in tools(made())]
    return tiny.tokenizer(texts)


def tools(environment: Any) -> list[Any]:
    """The tools that TRL finds."""
    names = [name for name, _ in inspect.getmembers(type(environment), inspect.isfunction)]
    return [getattr(environment, n) for n in names if n not in ("reset", "get_reward") and n[0] != "_"]


def grpo(folder: Path, **settings: Any) -> GRPOConfig:
    common = {
        "use_cpu": True, "bf16": False, "per_device_train_batch_size": 8, "num_generations": 4, "max_steps": 2,
        "learning_rate": 1e-3, "logging_steps": 1, "report_to": "none", "save_strategy": "no", "seed": 1,
        "gradient_checkpointing": False,
    }  # fmt: skip
    return GRPOConfig(str(folder), **(common | settings))


def call(name: str, arguments: dict[str, Any]) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def test_two_steps_with_a_model_that_samples(environments: Environments, words: Any, tmp_path: Path) -> None:
    rows = environments.dataset().filter(lambda row: row["environment"] == "tau2_mock")
    trainer = GRPOTrainer(
        model=Qwen3ForCausalLM(tiny.config(words)),
        args=grpo(tmp_path, max_completion_length=24),
        train_dataset=rows,
        processing_class=words,
        environment_factory=environments.classes["tau2_mock"],
    )
    trainer.train()
    logged = [line for line in trainer.state.log_history if "reward" in line]
    assert [line["rewards/Tau2MockEnvironment/mean"] for line in logged] == [0.0, 0.0]
    assert trainer.state.global_step == 2


def test_reference_1_and_noop_0_through_the_trainer(
    environments: Environments, words: Any, scenarios: dict[str, Any], calls_of: Calls, tmp_path: Path
) -> None:
    kinds = {(one["spec"]["name"], one["kind"]): one for one in scenarios.values()}
    chosen = [kinds[one] for one in PLAYED]
    rows = environments.dataset().filter(lambda row: row["id"] in {one["id"] for one in chosen})
    model = tiny.Scripted(tiny.config(words))
    model.words = words
    model.scripts = {one["task"]: [call(*c) for c in calls_of(one)] for one in chosen}
    before = {name: value.clone() for name, value in model.named_parameters()}
    ended: list[tuple[str, int, float, str]] = []

    def listen(environments: list[Any], completions: list[Any], id: list[str], **_: Any) -> list[None]:  # noqa: A002
        for environment, said, name in zip(environments, completions, id, strict=True):
            called = sum(len(message.get("tool_calls") or ()) for message in said)
            ended.append((name, called, environment.get_reward(), outcome(environment)["status"]))
        return [None] * len(id)

    trainer = GRPOTrainer(
        model=model,
        reward_funcs=listen,
        args=grpo(tmp_path, max_completion_length=16_000, per_device_train_batch_size=4, num_generations=2),
        train_dataset=rows,
        processing_class=words,
        environment_factory=environments.classes,
    )
    trainer.train()
    assert trainer.state.global_step == 2
    assert len(ended) == 8
    assert {name for name, *_ in ended} == {one["id"] for one in chosen}
    for name, called, reward, status in ended:
        assert called in (0, len(calls_of(scenarios[name])))
        assert (reward, status) == (float(called > 0), "finished")
    logged = [line for line in trainer.state.log_history if "reward" in line]
    assert [line["reward"] for line in logged] == [0.5, 0.5]
    assert all(math.isfinite(line["loss"]) and line["grad_norm"] > 0 for line in logged)
    assert all(line["tools/failure_frequency"] == 0 for line in logged)
    assert any(not torch.equal(value, before[name]) for name, value in model.named_parameters())


@pytest.fixture(scope="module")
def exported(tasks: Path, folder: Path, envscaler: Callable[..., None]) -> Path:
    """Reference solutions as rows for TRL, ten of them short."""
    envscaler("scenarios", "make", "tau2_mock", "-n", 10, "--seed", 5, "-o", folder / "ten.jsonl")
    for file in (folder / "ten.jsonl", tasks):
        envscaler("rollout", file, "--agent", "reference", "-o", folder / "run")
    envscaler("export", folder / "run", "--format", "trl", "--min-reward", 1, "-o", folder / "sft")
    return folder / "sft" / "train.jsonl"


def test_arguments_come_back_from_arrow_as_they_were(exported: Path, words: Any) -> None:
    plain = [json.loads(line) for line in exported.read_text(encoding="utf-8").splitlines()]
    loaded = load_dataset("json", data_files=str(exported), split="train")
    assert len(loaded) == len(plain) >= 8
    names, nested = set(), 0
    for row, one in zip(loaded, plain, strict=True):
        shown = words.apply_chat_template(row["messages"], tools=json.loads(row["tools"]), tokenize=False)
        for message in one["messages"]:
            for function in (call["function"] for call in message.get("tool_calls", ())):
                arguments = json.loads(function["arguments"])
                names.add((function["name"], *arguments))
                nested += any(isinstance(value, dict) for value in arguments.values())
                assert f'{{"name": "{function["name"]}", "arguments": {function["arguments"]}}}' in shown
    assert len(names) > 6  # calls of many forms: Arrow would mix their keys
    assert nested


def test_supervised_training_halves_the_loss(exported: Path, words: Any, tmp_path: Path) -> None:
    rows = load_dataset("json", data_files=str(exported), split="train")
    rows = rows.filter(lambda row: row["environment"] == "tau2_mock").select(range(8))
    torch.manual_seed(0)
    settings = SFTConfig(
        str(tmp_path), use_cpu=True, bf16=False, max_steps=40, per_device_train_batch_size=8, learning_rate=2e-2,
        logging_steps=1, report_to="none", save_strategy="no", assistant_only_loss=True, max_length=None,
        gradient_checkpointing=False,
    )  # fmt: skip
    model = Qwen3ForCausalLM(tiny.config(words))
    trainer = SFTTrainer(model=model, args=settings, train_dataset=rows, processing_class=words)
    trainer.train()
    losses = [line["loss"] for line in trainer.state.log_history if "loss" in line]
    assert len(losses) == 40
    assert losses[-1] < losses[0] / 2
