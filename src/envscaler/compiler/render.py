"""From a plan to the text of its module: templates lay out, imports follow what is used, the source map comes last."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from envscaler.compiler import templates
from envscaler.compiler.literals import quoted
from envscaler.compiler.module_parts import ModulePlan
from envscaler.compiler.sourcemap import compact, line_map
from envscaler.trees import parsed

__all__ = ["render_module"]

_IMPORTS = (
    (("_json",), "import json as _json"),
    (("Any", "Literal"), "from typing import {names}"),
    ((), ""),
    (("_MISSING",), "from envscaler.runtime import MISSING as _MISSING"),
    (("_Changed",), "from envscaler.runtime import Changed as _Changed"),
    (
        ("Collection", "Environment", "Rule", "Single", "State", "Tool", "ToolResult", "Tools"),
        "from envscaler.runtime import {names}",
    ),
    (("_Failure",), "from envscaler.runtime import Failure as _Failure"),
    (("_Ok",), "from envscaler.runtime import Ok as _Ok"),
    (("_rt",), "from envscaler.runtime import builtins as _rt"),
    (("_commit",), "from envscaler.runtime import commit as _commit"),
    (("_failed",), "from envscaler.runtime import failed as _failed"),
    (("_s",), "from envscaler.runtime import shapes as _s"),
)


def render_module(plan: ModulePlan, folders: Sequence[str] = ()) -> tuple[str, dict[int, int]]:
    """The module's text, and for its lines the lines of the spec. ``folders``: of templates, before the shipped ones."""
    body = templates.render("module/body.py.j2", folders, plan=plan)
    tree = parsed(body)
    imports = _imports({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
    head = templates.render("module/head.py.j2", folders, plan=plan, imports=imports)
    offset = head.count("\n")
    lines = {generated + offset: line for generated, line in line_map(plan, tree).items()}
    text = head + body.rstrip("\n") + "\n" + _source_attribute(plan.spec_file, lines)
    return text, lines


def _imports(used: set[str]) -> list[str]:
    lines = []
    for names, line in _IMPORTS:
        present = [n for n in names if n in used]
        if len(present) > 2:  # in brackets with a last comma, which sorters of imports leave alone at any line length
            lines.append(line.format(names="(\n" + "".join(f"    {n},\n" for n in present) + ")"))
        elif not names or present:
            lines.append(line.format(names=", ".join(present)))
    return lines if lines[0] else lines[1:]


def _source_attribute(file: str, lines: dict[int, int]) -> str:
    """The last attribute of the class, so that writing it moves no other line."""
    if not lines:
        return f"    source = ({quoted(file)}, {{}})\n"
    return f"    source = (\n        {quoted(file)},\n        {{\n{compact(lines, indent=12)}\n        }},\n    )\n"
