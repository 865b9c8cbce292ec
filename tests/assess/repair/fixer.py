"""A drafting model by rules: it sees what a model would see, the prompt, and answers from that alone."""

from __future__ import annotations

import re
from typing import Any

from envscaler.llm import Reply, Request
from tests.assess.models import replied
from tests.fixing import mended

_PROBLEM = re.compile(r"^\S+?:(\d+):(\d+): error\[([\w-]+)\] (.*)$")
_LINE = re.compile(r"^ *(\d+)\| (.*)$")


def fix(request: Request) -> Reply:
    """The edits that the help of each problem suggests."""
    text = next(m.content for m in request.messages if m.role == "user")
    told, _, shown = text.partition("\nThe lines:\n")
    lines = {int(m[1]): m[2] for row in shown.splitlines() if (m := _LINE.match(row))}
    edits = [edit for problem in _problems(told) if (edit := _edit(problem, lines)) is not None]
    return replied("Edits", {"reason": "as the help says", "edits": edits})


def _problems(told: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for row in told.splitlines():
        if match := _PROBLEM.match(row):
            line, column = int(match[1]), int(match[2])
            found.append({"line": line, "column": column, "code": match[3], "title": match[4], "help": "", "rest": []})
        elif found and row.startswith("  help: "):
            found[-1]["help"] = row.removeprefix("  help: ")
        elif found:
            found[-1]["rest"].append(row)
    return found


def _edit(problem: dict[str, Any], lines: dict[int, str]) -> dict[str, Any] | None:
    number, column = problem["line"], problem["column"]
    line = lines[number]
    marked = next((row for row in problem["rest"] if set(row.strip()) <= set("|^ ") and "^" in row), "^")
    wrong = line[column - 1 : column - 1 + marked.count("^")]
    if (right := mended(line, wrong, problem["help"], column - 1)) is not None:
        return _lines(number, right)
    if match := re.fullmatch(r"declare '(.*): (.*)'", problem["help"]):
        at = max(n for n, row in lines.items() if n < number and row.strip().startswith(f"{match[1]}:"))
        return _lines(at, re.sub(r":.*", f": {match[2]}", lines[at]))
    if "needs quotes" in problem["help"]:
        key, _, value = line.partition(": ")
        return _lines(number, f'{key}: "{value}"')
    if match := re.fullmatch(r"example of (\w+): result: expected (.*), got (.*)", problem["title"]):
        return _lines(number, line.replace(f"returns: {match[2]}", f"returns: {match[3]}"))
    if problem["code"] == "lends_too_many":  # a finding; the calls that show it say which tool it is
        tool = next(row for row in reversed(problem["rest"]) if row.strip()).split()[0]
        code = [row.strip() for n, row in sorted(lines.items()) if n in _body(tool, lines)]
        return {"path": f"tools.{tool}.do", "text": "\n".join(row.replace("+= 2", "+= 1") for row in code)}
    return None


def _body(tool: str, lines: dict[int, str]) -> range:
    first = next(n for n, row in lines.items() if row.startswith(f"  {tool}:"))
    do = next(n for n in lines if n > first and lines[n].strip() == "do: |")
    end = next(n for n in sorted(lines) if n > do and not lines[n].startswith("      "))
    return range(do + 1, end)


def _lines(number: int, text: str) -> dict[str, Any]:
    return {"first": number, "last": number, "text": text}
