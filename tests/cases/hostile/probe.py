"""Run in a process of its own: checks every hostile spec under an audit hook and prints what happened as JSON.

Warmed up on a harmless spec first, so that what the checker itself imports and opens is out of the way.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any

from envscaler.spec.check import check_text

_WATCHED = ("import", "open", "exec", "compile", "os.", "subprocess.", "socket.", "ctypes.", "pty.", "shutil.")
_AST_ONLY = ast.PyCF_ONLY_AST


def main() -> None:
    folder = Path(__file__).parent
    made = importlib.util.spec_from_file_location("texts", folder / "texts.py")
    assert made is not None
    assert made.loader is not None
    texts = importlib.util.module_from_spec(made)
    made.loader.exec_module(texts)
    cases = texts.every()
    warm = (folder.parents[1] / "spec" / "shed.yaml").read_text(encoding="utf-8")
    for text in (warm, texts.logic("return x.nope"), texts.described("*x"), texts.logic("return 1 +")):
        check_text("warm.yaml", text)
    events: list[str] = []
    watching = False
    compiled = builtins.compile

    def compile_(source: Any, filename: Any, mode: str, flags: int = 0, *rest: Any, **more: Any) -> Any:
        if not flags & _AST_ONLY:
            events.append("compile to a code object")
        return compiled(source, filename, mode, flags, *rest, **more)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and arguments[0] == "<unknown>":
            return  # Python's parser looks for the line of a syntax error in a file of that name
        if watching and event.startswith(_WATCHED) and event != "compile":
            events.append(f"{event} {arguments[:1]!r}"[:200])

    builtins.compile = compile_  # type: ignore[assignment]
    sys.addaudithook(hook)
    results = {}
    for name, make in cases.items():
        text = make()
        events.clear()
        print(name, file=sys.stderr, flush=True)  # the last one is the one that crashed
        start = time.process_time()
        watching = True
        diagnostics = check_text("hostile.yaml", text).diagnostics
        watching = False
        results[name] = {
            "seconds": time.process_time() - start,
            "errors": [d.headline()[:200] for d in diagnostics if d.severity == "error"],
            "events": sorted(set(events)),
        }
    print(json.dumps(results))


main()
