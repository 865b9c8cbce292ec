"""The tools of an environment as a table for a terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

from envscaler.diagnostics import printable

__all__ = ["tool_table"]

_PLAIN_WIDTH = 100  # columns where there is no terminal, so that files and examples are alike everywhere


def tool_table(tools: Sequence[Mapping[str, Any]], kinds: Mapping[str, str]) -> str:
    """Name, kind, parameters and description of each tool; ``tools`` in MCP's form, ``kinds`` by name."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("Tool", "Kind", "Parameters", "Description", box=box.SIMPLE_HEAD, pad_edge=False)
    for tool in tools:
        name = tool["name"]
        cells = (name, kinds.get(name, ""), "\n".join(_parameters(tool["inputSchema"])), tool.get("description", ""))
        table.add_row(*(Text(printable(cell)) for cell in cells))
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PLAIN_WIDTH
    console = Console(file=StringIO(), width=width, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()).strip("\n")


def _parameters(schema: Mapping[str, Any]) -> list[str]:
    required = set(schema.get("required", ()))
    return [
        f"{name}{'' if name in required else '?'}: {_type(part)}" for name, part in schema.get("properties", {}).items()
    ]


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " | ".join(dict.fromkeys(_type(s) for s in schema[key]))
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return " | ".join(kind)
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("format", kind))
