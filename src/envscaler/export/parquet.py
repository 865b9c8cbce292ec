"""Flat Parquet files: a row for each trajectory (`parquet`), or for each task to be played (`rl-parquet`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

from envscaler.errors import UsageError
from envscaler.export.sample import REASONING, Sample, TaskSample, with_reasoning
from envscaler.export.writing import choice, json_text
from envscaler.plugin.records import Splits
from envscaler.plugin.settings import refuse_unknown

__all__ = ["Parquet", "RlParquet"]

T = TypeVar("T")
_GROUP: Final = 1000  # rows that are held in memory

_TRAJECTORY: Final = {
    "id": "string", "scenario": "string", "kind": "string", "environment": "string", "spec_hash": "string",
    "setting": "string", "agent": "string", "model": "string", "user": "string", "sample": "int64", "status": "string",
    "reward": "float64", "turns": "int64", "calls": "int64", "messages": "string", "tools": "string", "trained": "string",
    "trajectory": "string",
}  # fmt: skip
_TASK: Final = {
    "id": "string", "environment": "string", "spec_hash": "string", "kind": "string", "seed": "int64", "state": "string",
    "task": "string", "opening": "string", "prompt": "messages", "tools": "string", "goals": "string", "guards": "string",
    "facts": "string", "reveal": "string", "answers": "string", "outcome": "string", "scenario": "string",
}  # fmt: skip


class Parquet:
    """Columns of numbers and texts. ``messages``, ``tools``, ``trained`` are JSON texts, as `jsonl` has them, and
    ``trajectory`` is all that is left: steps, goals, costs. ``reward`` is null where a trajectory is not scored."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        refuse_unknown("parquet", settings, ("reasoning",))
        self._reasoning = choice(settings, "reasoning", REASONING, "all")
        _pyarrow()

    def write(self, splits: Splits[Sample], folder: Path) -> Mapping[str, int]:
        return _each(splits, folder, _TRAJECTORY, self.row)

    def row(self, sample: Sample) -> dict[str, Any]:
        """The values of a row by column."""
        one = sample.trajectory
        plain = one.to_json()
        messages = with_reasoning(one.messages, self._reasoning)
        offers = [{"step": step, "tools": [tool.to_json() for tool in tools]} for step, tools in sample.offers]
        apart = {"messages", "reward"}
        return {
            "id": one.id, "scenario": one.scenario, "kind": one.kind, "environment": one.spec["name"],
            "spec_hash": one.spec["hash"], "setting": one.setting, "agent": one.agent.name, "model": one.agent.model,
            "user": "" if one.user is None else one.user.name, "sample": one.sample, "status": one.status,
            "reward": one.reward, "turns": len(one.steps), "calls": one.calls,
            "messages": json_text([m.to_json() for m in messages]), "tools": json_text(offers),
            "trained": json_text(list(sample.trained)),
            "trajectory": json_text({key: value for key, value in plain.items() if key not in apart}),
        }  # fmt: skip


class RlParquet:
    """Tasks for a trainer that plays them itself. ``prompt`` are the first messages, role and content; ``state`` is the hash of
    the state, which lies beside in `states/`; goals, guards, facts, tools and the whole ``scenario``, its solution
    included, are JSON texts."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        refuse_unknown("rl-parquet", settings, ())
        _pyarrow()

    def write(self, splits: Splits[TaskSample], folder: Path) -> Mapping[str, int]:
        return _each(splits, folder, _TASK, self.row)

    def row(self, sample: TaskSample) -> dict[str, Any]:
        """The values of a row by column."""
        one = sample.scenario
        plain = one.to_json()
        return {
            "id": one.id, "environment": one.spec.name, "spec_hash": one.spec.hash, "kind": one.kind, "seed": one.seed,
            "state": sample.state, "task": one.task, "opening": one.user.opening,
            "prompt": [{"role": m.role, "content": m.content} for m in sample.messages],
            "tools": json_text([tool.to_json() for tool in sample.tools]), "goals": json_text(plain["goals"]),
            "guards": json_text(plain["guards"]), "facts": json_text(plain.get("user", {}).get("facts", {})),
            "reveal": json_text(plain.get("reveal", [])), "answers": json_text(plain.get("answers", {})),
            "outcome": one.outcome, "scenario": json_text(plain | {"state": sample.state}),
        }  # fmt: skip


def _each(
    splits: Splits[T], folder: Path, columns: Mapping[str, str], row: Callable[[T], dict[str, Any]]
) -> dict[str, int]:
    return {
        (name := f"{split}.parquet"): _write(folder / name, columns, map(row, samples()))
        for split, samples in splits.items()
    }


def _write(path: Path, columns: Mapping[str, str], rows: Iterable[dict[str, Any]]) -> int:
    arrow, parquet = _pyarrow()
    messages = arrow.list_(arrow.struct([("role", arrow.string()), ("content", arrow.string())]))
    schema = arrow.schema(
        [(name, messages if kind == "messages" else getattr(arrow, kind)()) for name, kind in columns.items()]
    )
    count, left = 0, iter(rows)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while group := list(islice(left, _GROUP)):
            count += len(group)
            writer.write_table(arrow.Table.from_pylist(group, schema=schema))
    return count


def _pyarrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise UsageError("Parquet files need pyarrow: pip install 'envscaler[parquet]'") from None
