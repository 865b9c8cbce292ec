"""A model that knows a spec by heart and answers the prompt of every stage of drafting from it; and a server that it is behind.

What it says depends on what it is asked, and on nothing else: a run that is ended and goes on comes to the same end.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from envscaler.assess.repair.edits import document
from envscaler.spec.entries import json_of
from tests.assess.models import SHELF
from tests.llm.server import Server, Step, text

GARDEN = Path(__file__).resolve().parents[2] / "docs" / "tutorial" / "garden.yaml"

_NUMBERED = re.compile(r"(?m)^- (\w+) \(")
_PART = re.compile(r"(?m)^((?:constants|types|states|rules|helpers|tools|initial_state)\.\w+|after_each|description):$")
_WANTED = re.compile(r"(?m)^- ((?:states|rules|tools)\.\w+): ")


@dataclass
class Knowing:
    """The model. ``idle``: tasks (a piece of their text) that need no world. ``wrong``: parts by path as they come at first; the
    right one comes when it is asked for again, or as an edit in repair. ``stubborn``: never the right one."""

    spec: str = SHELF
    idle: tuple[str, ...] = ()
    wrong: Mapping[str, Any] = field(default_factory=dict)
    stubborn: bool = False
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        found = document(self.spec, "spec.yaml")
        assert found is not None
        self.whole: dict[str, Any] = json_of(found.root)

    def __call__(self, system: str, user: str, first: str) -> Any:
        """What is said to a conversation: its system's message, the user's last and first one; the first is what is asked."""
        for begins, stage in _STAGES.items():
            if system.startswith(begins):
                self.asked.append(stage)
                return getattr(self, f"_{stage}")(user, first)
        raise AssertionError(f"a prompt that nobody knows: {system[:80]}")

    def _filter(self, user: str, first: str) -> Any:
        task = first.split("\n", 1)[1]
        return {"reason": "It is so.", "stateful": not any(piece in task for piece in self.idle)}

    def _infer(self, user: str, first: str) -> Any:
        mark = hashlib.blake2b(first.encode(), digest_size=4).hexdigest()
        return {
            "title": f"{self.whole['title']} {mark}",
            "name": f"{self.whole['name']}_{mark}",
            "summary": f"Where this is done: {first}",
            "introduction": f"{first} {self.whole['description']} " * 4,
            "usefulness": 8,
            "modelability": 9,
        }

    def _plan(self, user: str, first: str) -> Any:
        if user.startswith("This is not right yet"):
            return {"states": [], "rules": [], "tools": [], "drop": []}
        if "Plan what it keeps" in first:
            states = [
                {
                    "name": name, "record": state["record"], "single": "single" in state,
                    "fields": [{"name": key, "type": "str"} for key in state["fields"]],
                }
                for name, state in self.whole["states"].items()
            ]  # fmt: skip
            rules = [{"name": n, "text": r["text"], "states": [next(iter(self.whole["states"]))]} for n, r in
                     self.whole["rules"].items()]  # fmt: skip
            return {"states": states, "rules": rules}
        return {
            "tools": [
                {
                    "name": name, "kind": tool["kind"], "description": tool["description"],
                    "params": dict.fromkeys(tool.get("params", ()), "as it is called"),
                    "states": list(self.whole["states"]), "effects": "as it says",
                }
                for name, tool in self.whole["tools"].items()
            ]
        }  # fmt: skip

    def _write(self, user: str, first: str) -> Any:
        if "Write its states, rules" in first:
            keys = ("description", "clock", "constants", "types", "states", "rules", "initial_state")
            return self._parts({key: self.whole[key] for key in keys if key in self.whole})
        if "Write the helpers" in first:
            return self._parts({key: self.whole[key] for key in ("helpers", "after_each") if key in self.whole})
        if "Write these tools" in first:
            named = _NUMBERED.findall(first.split("Write these tools", 1)[1])
            return self._parts({"tools": {name: self.whole["tools"][name] for name in named}})
        return self._again([*_PART.findall(first), *_WANTED.findall(first)])

    def _parts(self, parts: dict[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(json.dumps(parts))
        for path, value in self.wrong.items():
            section, _, name = path.partition(".")
            if name in made.get(section, ()):
                made[section][name] = value
        return made

    def _again(self, paths: list[str]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for path in paths:
            section, _, name = path.partition(".")
            value = self.whole.get(section) if not name else self.whole.get(section, {}).get(name)
            if self.stubborn and path in self.wrong:
                value = self.wrong[path]
            if name:
                made.setdefault(section, {})[name] = value
            else:
                made[section] = value
        return made

    def _repair(self, user: str, first: str) -> Any:
        edits = []
        for path, value in self.wrong.items():
            section, _, name = path.partition(".")
            right = self.whole[section][name]
            differing = [key for key in value if value[key] != right.get(key)] if isinstance(value, dict) else []
            edits += [
                {"path": f"{path}.{key}", "text": right[key] if key == "do" else json.dumps(right[key])}
                for key in differing
            ]
        return {"reason": "", "edits": edits}


_STAGES = {
    "You sort tasks": "filter",
    "You think up environments": "infer",
    "You plan environments": "plan",
    "You write specs": "write",
    "You mend specs": "repair",
}


class ModelServer(Server):
    """The model behind a server. ``trouble`` may do something else than answer: it gets the number of the request, from 0.

    Each reply carries a number of its own as its reasoning, which envscaler keeps with it: `log` has the hash of every request
    with the number of its reply.
    """

    def __init__(self, model: Knowing) -> None:
        super().__init__()
        self.model = model
        self.trouble: Callable[[int], Step | None] = lambda number: None
        self.delay = 0.0
        self.log: list[tuple[str, str]] = []

    def step(self, body: dict[str, Any]) -> Step:
        with self.lock:
            number = len(self.log)
            digest = hashlib.blake2b(json.dumps(body, sort_keys=True).encode(), digest_size=12).hexdigest()
            self.log.append((digest, f"reply {number}"))
            trouble = self.trouble(number)
        if trouble is not None:
            return trouble
        said = [_content(message) for message in body["messages"] if message["role"] == "user"]
        system = next(_content(message) for message in body["messages"] if message["role"] == "system")
        reply = self.model(system, said[-1], said[0])
        return text(json.dumps(reply), reasoning=f"reply {number}", delay=self.delay)


def _content(message: Mapping[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())


@contextmanager
def serving(model: Knowing) -> Iterator[ModelServer]:
    """The server, running in a thread of this process."""
    server = ModelServer(model)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
