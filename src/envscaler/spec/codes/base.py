"""What a diagnostic code's page holds."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Code", "complete"]


@dataclass(frozen=True, slots=True)
class Code:
    """A stable code: ``title`` names the problem, ``why`` gives the reason, ``bad`` and ``good`` are snippets of specs.

    Snippets hold only the sections that matter; `complete` makes them whole.
    """

    name: str
    title: str
    why: str
    bad: str
    good: str


_HEADER = {"envscaler": "1", "name": "snippet", "description": "A snippet."}
_TOOL = 'tools:\n  ping:\n    kind: read\n    description: Answer.\n    do: |\n      return "pong"\n'


def complete(snippet: str) -> str:
    """The snippet as a whole spec: header keys and a tool are put before and behind where it has none.

    One that begins with `-` or `%` is about the file as such and stays as it is.
    """
    if snippet.startswith(("-", "%")):
        return snippet
    keys = {line.split(":")[0] for line in snippet.splitlines() if line[:1].isalpha()}
    head = "".join(f"{key}: {value}\n" for key, value in _HEADER.items() if key not in keys)
    return head + snippet + ("" if "tools" in keys else _TOOL)
