"""Tables for a terminal or a file: plain text, as wide as the terminal, escaped."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

from envscaler.diagnostics import printable

__all__ = ["markdown", "table", "tool_table"]

_PLAIN_WIDTH = 100  # columns where there is no terminal, so that files and examples are alike everywhere


def tool_table(tools: Sequence[Mapping[str, Any]], kinds: Mapping[str, str]) -> str:
    """Name, kind, parameters and description of each tool; ``tools`` in MCP's form, ``kinds`` by name."""
    return table(
        ("Tool", "Kind", "Parameters", "Description"),
        [
            (t["name"], kinds.get(t["name"], ""), "\n".join(_parameters(t["inputSchema"])), t.get("description", ""))
            for t in tools
        ],
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[str] = ()) -> str:
    """A table under ``heads``, those in ``numbers`` to the right; a cell may have several lines."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in heads:
        made.add_column(head, justify="right" if head in numbers else "left")
    for row in rows:
        made.add_row(*(Text(printable(cell)) for cell in row))
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PLAIN_WIDTH
    console = Console(file=StringIO(), width=width, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(made)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()).strip("\n")


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[str] = ()) -> str:
    """The same as a table of Markdown."""
    rule = ["---:" if head in numbers else "---" for head in heads]
    lines = [heads, rule, *([printable(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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
