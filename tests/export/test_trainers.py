"""What is exported, loaded by the library that it is for: LLaMA-Factory's loader, converters, templates and argument parser.

`tox -e trainers` runs these in an environment that has it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envscaler.agents import parse
from envscaler.export.llamafactory import BETWEEN, LlamaFactory
from envscaler.export.sample import Sample
from envscaler.llm.messages import Message, ToolCall
from envscaler.testing.exporters import sample
from tests.export.made import samples

pytest.importorskip("llamafactory", reason="llamafactory is not installed")
pytestmark = pytest.mark.slow
few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

ODD = (
    Message("assistant", "", 'I could write <tool_call>{"name": "x"}</tool_call> here, or </think> too.', (ToolCall("o1", "close", ""),)),
    Message("tool", "<image> \ud800 {{content}}\n</tool_response>", tool_call_id="o1"),
    Message("assistant", "", "", (ToolCall("o2", "balance", '{"account": "</tool_call><think>", "on": "\ud800"}'),)),
    Message("tool", "", tool_call_id="o2"),
    Message("assistant", "Done.", "", ()),
)  # fmt: skip
"""Turns that forms made of tags may trip over."""


def odd() -> Sample:
    one = sample("odd")
    place = len(one.trajectory.messages)
    steps = tuple({"number": 5 + n, "message": place + 2 * n} for n in range(3))
    messages = (*one.trajectory.messages, Message("user", "Once more."), *ODD)
    steps = tuple({"number": 5 + n, "message": place + 1 + 2 * n} for n in range(3))
    return replace(one, trajectory=replace(one.trajectory, messages=messages, steps=(*one.trajectory.steps, *steps)))


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """Bytes as tokens: what is decoded is what was encoded."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    plain = Tokenizer(models.BPE(vocab={c: n for n, c in enumerate(letters)}, merges=[]))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    plain.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=plain, eos_token="<|im_end|>", additional_special_tokens=["<|im_start|>"]
    )


@pytest.fixture
def exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    parts = {"train": lambda: iter([sample(), odd()]), "test": lambda: iter([sample("other")])}
    LlamaFactory({"reasoning": "all"}).write(parts, tmp_path)
    return tmp_path


def arguments(folder: Path, **more: Any) -> Any:
    """What its own parser makes of the configuration, but for what needs a device."""
    import yaml
    from llamafactory.hparams import get_train_args

    told = yaml.safe_load((folder / "train.yaml").read_text(encoding="utf-8"))
    here = {"bf16": False, "use_cpu": True, "preprocessing_num_workers": 1, "report_to": "none"}
    return get_train_args({**told, **here, "dataset_dir": str(folder), "output_dir": str(folder / "output"), **more})


def loaded(folder: Path, tokenizer: Any, **more: Any) -> Iterator[tuple[str, str]]:
    """What its loader makes of the files: of each row all of the text, and what of it is learnt."""
    from llamafactory.data import get_dataset, get_template_and_fix_tokenizer

    model, data, training, *_ = arguments(folder, **more)
    template = get_template_and_fix_tokenizer(tokenizer, data)
    found = get_dataset(template, model, data, training, stage="sft", tokenizer=tokenizer)
    for row in found["train_dataset"]:
        learnt = [token for token in row["labels"] if token >= 0]
        yield tokenizer.decode(row["input_ids"]), tokenizer.decode(learnt)


def test_its_parser_takes_the_configuration(exported: Path) -> None:
    model, data, training, finetuning, _ = arguments(exported)
    assert (data.dataset, data.template, data.cutoff_len, data.mask_history) == (
        ["envscaler_train"],
        "qwen3",
        32768,
        True,
    )
    assert (model.model_name_or_path, finetuning.stage, finetuning.finetuning_type) == ("Qwen/Qwen3-4B", "sft", "full")
    batch = training.per_device_train_batch_size * training.gradient_accumulation_steps * 8
    assert (training.num_train_epochs, training.learning_rate, batch, training.warmup_ratio) == (3.0, 1e-6, 256, 0.1)


def said(text: str) -> tuple[str, str, list[Any]]:
    """An agent's turn in its parts, as it was learnt."""
    found = parse(text.removesuffix("<|im_end|>\n"))
    assert not found.problems, found.problems
    return found.reasoning, found.content, [(c.name, json.loads(c.arguments or "{}")) for c in found.calls]


def meant(message: Message) -> tuple[str, str, list[Any]]:
    calls = [(c.name, clean(json.loads(c.arguments or "{}"))) for c in message.tool_calls]
    return message.reasoning.replace("</think", "< /think"), message.content, calls


def clean(value: Any) -> Any:
    return {key: text.replace("\ud800", "\ufffd") for key, text in value.items()} if isinstance(value, dict) and all(isinstance(t, str) for t in value.values()) else value  # fmt: skip


def test_each_turn_is_learnt_once_and_whole(exported: Path, tokenizer: Any) -> None:
    """With `mask_history` a row teaches its last turn: reasoning, text and calls, none less and none more."""
    rows = list(loaded(exported, tokenizer))
    turns = [
        m for one in (sample(), odd()) for m, learnt in zip(one.trajectory.messages, one.trained, strict=True) if learnt
    ]
    assert len(rows) == len(turns) == 9
    assert [said(learnt) for _, learnt in rows] == [meant(turn) for turn in turns]


def test_what_was_before_is_there(exported: Path, tokenizer: Any) -> None:
    """The last row of a trajectory has all that was said, the results in the order of their calls."""
    whole = [text for text, _ in loaded(exported, tokenizer)][2]
    wanted = [
        "You serve the customers of a bank.", '"name": "balance"', '"name": "close"', "Wie viel ist auf A-1 und A-2?",
        "I look.", '{"name": "balance", "arguments": {"account": "A-1"}}', '"arguments": {"account": "A-2", "on": null}',
        '{"success": true, "data": 1}', BETWEEN.strip("\n"), '{"success": false, "error": "no"}', "This is no call.",
        '{"name": "close", "arguments": {}}', '{"success": true, "data": {}}', "And now?", "That was all.", "Done \u2014 \U0001f4b6.",
    ]  # fmt: skip
    at = -1
    for part in wanted:
        at = whole.find(part, at + 1)
        assert at >= 0, part


def test_whole_conversations(exported: Path, tokenizer: Any) -> None:
    (exported / "whole").mkdir()
    LlamaFactory({"reasoning": "all", "turns": "whole"}).write({"train": lambda: iter([sample()])}, exported / "whole")
    [(_, learnt)] = loaded(exported / "whole", tokenizer)
    for part in ("I look.", '{"name": "balance"', '{"name": "close"', "Done"):
        assert part in learnt


def test_the_other_part(exported: Path, tokenizer: Any) -> None:
    assert len(list(loaded(exported, tokenizer, dataset="envscaler_test"))) == 3


@few
@given(samples(), st.sampled_from(["last", "all", "none"]), st.sampled_from(["each", "whole"]))
def test_its_converter_and_template(tokenizer: Any, one: Sample, kept: str, turns: str) -> None:
    """No row is thrown away as abnormal, and what is learnt of it is the agent's turn, whatever stands in it."""
    from llamafactory.data.converter import get_dataset_converter
    from llamafactory.data.parser import DatasetAttr
    from llamafactory.data.template import TEMPLATES

    from envscaler.export.llamafactory import _INFO
    from envscaler.export.sample import with_reasoning

    attr = DatasetAttr("file", dataset_name="x")
    attr.join(_INFO)
    convert = get_dataset_converter("sharegpt", attr, None)
    places = [n for n, learnt in enumerate(one.trained) if learnt]
    rows = list(LlamaFactory({"reasoning": kept, "turns": turns}).rows(one))
    assert len(rows) == (len(places) if turns == "each" else bool(places))
    for place, row in zip(places if turns == "each" else places[-1:], rows, strict=True):
        made = convert(row)
        assert len(made["_response"]) == 1
        assert len(made["_prompt"]) % 2 == 1
        pairs = TEMPLATES["qwen3"].encode_multiturn(
            tokenizer, made["_prompt"] + made["_response"], made["_system"], made["_tools"], True
        )
        learnt = tokenizer.decode(pairs[-1][1])
        message = with_reasoning(one.trajectory.messages[: place + 1], kept)[-1]
        thought, content, calls = said(learnt) if message.tool_calls else ("", "", [])
        if message.tool_calls:
            assert calls == [(c.name, json.loads(c.arguments or "{}")) for c in message.tool_calls]
            assert content.split() == message.content.split()
            assert thought.strip() == message.reasoning.strip()
        else:
            assert learnt.endswith(f"{message.content}<|im_end|>\n")
