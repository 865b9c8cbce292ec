"""LLaMA-Factory's `sharegpt` form with tools, its `dataset_info.json` and a configuration to train with: `llama-factory`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from envscaler.errors import UsageError
from envscaler.export.sample import REASONING, Sample, with_reasoning
from envscaler.export.splits import TRAIN
from envscaler.export.writing import choice, json_text, thinking, write_lines
from envscaler.llm.messages import Message, Tool, ToolCall
from envscaler.plugin.records import Splits
from envscaler.plugin.settings import refuse_unknown

__all__ = ["BETWEEN", "LlamaFactory", "conversation"]

BETWEEN: Final = "\n</tool_response>\n<tool_response>\n"
"""Stands between the results of several calls of one turn."""

_TURNS: Final = ("each", "whole")
_INFO: Final = {
    "formatting": "sharegpt",
    "columns": {"messages": "conversations", "system": "system", "tools": "tools"},
    "tags": {
        "role_tag": "from", "content_tag": "value", "user_tag": "human", "assistant_tag": "gpt",
        "observation_tag": "observation", "function_tag": "function_call",
    },
}  # fmt: skip

_TRAINING: Final = """\
# llamafactory-cli train {file}
# What the paper trained with: full weights, 32K tokens, 3 epochs, a batch of 256 in all. The batch is
# per_device_train_batch_size x gradient_accumulation_steps x devices: with {devices} devices it is 256.
model_name_or_path: {model}
stage: sft
do_train: true
finetuning_type: full
dataset_dir: .
dataset: {dataset}
template: {template}
cutoff_len: 32768
mask_history: {masked}
per_device_train_batch_size: 1
gradient_accumulation_steps: 32
num_train_epochs: 3.0
learning_rate: 1.0e-6
lr_scheduler_type: cosine
warmup_ratio: 0.1
bf16: true
gradient_checkpointing: true
overwrite_cache: true
preprocessing_num_workers: 8
output_dir: output
save_strategy: epoch
logging_steps: 10
seed: 42
"""


class LlamaFactory:
    """Rows `{conversations, system, tools}`. ``turns=each``: a row for each turn of the agent that is to be learnt, which ends
    with it; trained with `mask_history`, the last turn alone counts, and each may keep its reasoning. ``turns=whole``: a row
    for each trajectory, all turns of which count. ``model`` and ``template`` go into the configuration.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        refuse_unknown("llama-factory", settings, ("reasoning", "turns", "model", "template", "name"))
        self._reasoning = choice(settings, "reasoning", REASONING, "last")
        self._turns = choice(settings, "turns", _TURNS, "each")
        self._named = {
            key: _word(key, settings.get(key, default))
            for key, default in (("name", "envscaler"), ("model", "Qwen/Qwen3-4B"), ("template", "qwen3"))
        }

    def write(self, splits: Splits[Sample], folder: Path) -> Mapping[str, int]:
        info, count = {}, {}
        for split, samples in splits.items():
            file = f"{split}.jsonl"
            count[file] = write_lines(folder / file, (row for sample in samples() for row in self.rows(sample)))
            info[f"{self._named['name']}_{split}"] = {"file_name": file, **_INFO}
        _written(folder / "dataset_info.json", json.dumps(info, indent=2) + "\n")
        _written(folder / "train.yaml", self._training())
        return count

    def _training(self) -> str:
        model, template = (json.dumps(self._named[key]) for key in ("model", "template"))
        dataset = json.dumps(f"{self._named['name']}_{TRAIN}")
        masked = "true" if self._turns == "each" else "false"
        return _TRAINING.format(
            file="train.yaml", devices=8, model=model, template=template, dataset=dataset, masked=masked
        )

    def rows(self, sample: Sample) -> Iterator[dict[str, Any]]:
        """The rows of a trajectory; none for one without a turn to learn."""
        messages, trained = sample.trajectory.messages, sample.trained
        places = [place for place, learnt in enumerate(trained) if learnt]
        for place in places if self._turns == "each" else places[-1:]:
            tools = sample.tools_at(place) if self._turns == "each" else sample.tools
            yield _row(with_reasoning(messages[: place + 1], self._reasoning), tools)


def _word(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise UsageError(f"{name} is a text in one line, not {value!r}")
    return value


def _written(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _row(messages: Sequence[Message], tools: Sequence[Tool]) -> dict[str, Any]:
    system = "\n\n".join(m.content for m in messages if m.role == "system")
    return {
        "conversations": conversation([m for m in messages if m.role != "system"]),
        "system": system,
        "tools": json_text([tool.to_json() for tool in tools]),
    }


def conversation(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Turns that alternate strictly, those of the world (`human`, `observation`) and those of the agent (`gpt`,
    `function_call`), the world's first.

    Results of the calls of one turn stand in one `observation`, in the order of the calls. A turn with text beside its calls
    is a `gpt` turn in which the calls are written out as the Qwen templates do, since `function_call` has no place for text;
    so is one whose reasoning speaks of calls in tags, which the library would take for those of the turn.
    """
    turns: list[dict[str, str]] = []
    for ours, group in _sides(messages):
        if ours and not len(turns) % 2:  # it begins with the agent's, or two of the agent's follow each other
            turns.append({"from": "human", "value": ""})
        turns.extend(_agents(group) if ours else [_worlds(group)])
    return turns


def _sides(messages: Sequence[Message]) -> Iterator[tuple[bool, list[Message]]]:
    """Messages in a row of the same side; each of the agent by itself."""
    group: list[Message] = []
    for message in messages:
        if message.role == "assistant":
            if group:
                yield False, group
            yield True, [message]
            group = []
        else:
            group.append(message)
    if group:
        yield False, group


def _agents(group: Sequence[Message]) -> Iterator[dict[str, str]]:
    for message in group:
        if not message.tool_calls:
            yield {"from": "gpt", "value": thinking(message) + message.content}
        elif message.content or "tool_call>" in message.reasoning:
            calls = "\n".join(f"<tool_call>\n{_call_text(call)}\n</tool_call>" for call in message.tool_calls)
            text = f"{message.content}\n" if message.content else ""
            yield {"from": "gpt", "value": f"{thinking(message)}{text}{calls}"}
        else:
            calls = f"[{', '.join(map(_call_text, message.tool_calls))}]"
            yield {"from": "function_call", "value": thinking(message) + calls}


def _call_text(call: ToolCall) -> str:
    """`{"name": …, "arguments": …}` in which no tag can be mistaken for one of the form."""
    try:
        arguments: Any = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = call.arguments
    text = json.dumps({"name": call.name, "arguments": arguments}, ensure_ascii=False)
    return (
        text.replace("<think", "\\u003cthink")
        .replace("</think", "\\u003c/think")
        .replace("tool_call>", "tool_call\\u003e")
    )


def _worlds(group: Sequence[Message]) -> dict[str, str]:
    results = [m.content for m in group if m.role == "tool"]
    said = [m.content for m in group if m.role != "tool"]
    text = "\n\n".join(part for part in (BETWEEN.join(results), *said) if part)
    return {"from": "observation" if results else "human", "value": text}
