"""Rows for SkyRL: the first messages, tools among them, and the scenario whole, so that a row needs nothing but its spec."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from envscaler.errors import UsageError
from envscaler.plugin import Splits

__all__ = ["SkyRLRows"]

_GROUP = 500  # rows that are held in memory
_INFO = ("scenario", "environment", "kind", "spec_hash", "split")


class SkyRLRows:
    """A Parquet file for each part of the data. Columns: `prompt`, `env_class`, `data_source`, `reward_spec` (`method` and
    `ground_truth`, the scenario as JSON with its state), `extra_info`. ``env_class``: the name under which the environment is
    registered."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        unknown = sorted(set(settings) - {"env_class"})
        if unknown:
            raise UsageError(f"skyrl has no setting {', '.join(unknown)}; it has env_class")
        self._env_class = settings.get("env_class", "envscaler")
        if not isinstance(self._env_class, str) or not self._env_class.strip():
            raise UsageError(f"env_class is a name, not {self._env_class!r}")
        _pyarrow()

    def write(self, splits: Splits[Any], folder: Path) -> Mapping[str, int]:
        """Write a file for each part; how many rows are in which."""
        return {
            (name := f"{split}.parquet"): _write(folder / name, (self.row(one, split, folder) for one in samples()))
            for split, samples in splits.items()
        }

    def row(self, sample: Any, split: str, folder: Path) -> dict[str, Any]:
        """The values of a row by column. The state, which the scenario names by its hash, is put into it."""
        one = sample.scenario
        scenario = one.to_json()
        if isinstance(scenario.get("state"), str):
            file = folder / "states" / f"{sample.state.removeprefix('sha256:')}.json"
            scenario["state"] = json.loads(file.read_text(encoding="utf-8"))
        values = (one.id, one.spec.name, one.kind, one.spec.hash, split)
        return {
            "prompt": sample.prompt,
            "env_class": self._env_class,
            "data_source": f"envscaler/{one.spec.name}",
            "reward_spec": {"method": "rule", "ground_truth": json.dumps(scenario, separators=(",", ":"))},
            "extra_info": dict(zip(_INFO, values, strict=True)),
        }


def _write(path: Path, rows: Iterator[dict[str, Any]]) -> int:
    arrow, parquet = _pyarrow()
    text = arrow.string()
    schema = arrow.schema(
        [
            ("prompt", arrow.list_(arrow.struct([("role", text), ("content", text)]))),
            ("env_class", text),
            ("data_source", text),
            ("reward_spec", arrow.struct([("method", text), ("ground_truth", text)])),
            ("extra_info", arrow.struct([(name, text) for name in _INFO])),
        ]
    )
    count = 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while group := list(islice(rows, _GROUP)):
            count += len(group)
            writer.write_table(arrow.Table.from_pylist(group, schema=schema))
    return count


def _pyarrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise UsageError("Parquet files need pyarrow: pip install 'envscaler-text[skyrl]'") from None
