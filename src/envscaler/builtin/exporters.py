"""The exporters that ship. Naming one of them runs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from envscaler.plugin.entries import ExporterEntry

__all__ = ["EXPORTERS"]


def _made(module: str, name: str) -> Callable[[Mapping[str, Any]], Any]:
    def make(settings: Mapping[str, Any]) -> Any:
        return getattr(import_module(f"envscaler.export.{module}"), name)(settings)

    return make


EXPORTERS: tuple[ExporterEntry, ...] = (
    ExporterEntry("jsonl", "All of the trajectories, one in a line", _made("plain", "Jsonl")),
    ExporterEntry("openai", "OpenAI's fine-tuning: messages, tools, weights", _made("openai", "OpenAI")),
    ExporterEntry("trl", "TRL's SFTTrainer: messages and tools, safe from Arrow", _made("trl", "Trl")),
    ExporterEntry(
        "llama-factory", "LLaMA-Factory: sharegpt with tools, turn by turn", _made("llamafactory", "LlamaFactory")
    ),
    ExporterEntry("parquet", "Flat columns and JSON texts", _made("parquet", "Parquet")),
    ExporterEntry("rl-parquet", "Tasks for RL, from scenarios", _made("parquet", "RlParquet"), takes="scenarios"),
)
