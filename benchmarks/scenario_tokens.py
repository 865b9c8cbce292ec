"""Tokens of a scenario by models: real prompts on a shipped spec, counted by a real tokenizer, beside the paper's figure.

    python benchmarks/scenario_tokens.py [SPEC] [--count N]

The models are scripts that know a proved scenario: the author says its task, the solver makes the calls of its solution, one a
turn, the checker gives its goals. What is counted is what an OpenAI-compatible server would be sent and would send, every turn
of the solver with all that went before; with the o200k_base vocabulary by bpe-openai (`pip install bpe-openai`).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from envscaler.llm import Message, Models, Reply, Request, ToolCall, Usage
from envscaler.llm.costs import PAPER
from envscaler.llm.settings import Layer
from envscaler.scenario.llm.asking import Unusable
from envscaler.scenario.llm.authoring import AuthorSettings, author
from envscaler.scenario.model import Scenario
from envscaler.scenario.proof import ProofSettings, prove
from envscaler.scenario.reading import read_scenarios
from envscaler.scenario.states import StateStore
from envscaler.scenario.world import World
from envscaler.session.packs import spec_path
from envscaler.session.scenarios import BatchOptions, make_scenarios
from envscaler.session.specs import sound

_PER_MESSAGE = 4  # tokens of a message's frame
_STAGES = {"planner": "task", "agent": "solution", "coder": "checks"}


class Knowing:
    """A role that knows the scenario, and says how many tokens a server would count."""

    model, free = "o200k_base", True

    def __init__(self, role: str) -> None:
        import bpe_openai

        encoding = bpe_openai.get_encoding("o200k_base")
        self._count = lambda text: len(encoding.encode(text))
        self.name = self.role = role
        self.identity = f"{role}/o200k_base"
        self.scenario: Scenario | None = None
        self.turn = 0
        self.used: Counter[str] = Counter()

    async def attempt(self, request: Request) -> Reply:
        assert self.scenario is not None
        message = self._reply(self.scenario)
        self.turn += 1
        sent = sum(self._message(m) for m in request.messages)
        sent += sum(self._count(json.dumps(t.to_json())) + _PER_MESSAGE for t in request.tools)
        usage = Usage(sent, self._message(message))
        self.used.update(calls=1, sent=sent, got=usage.tokens_out or 0)
        return Reply(message, "tool_calls" if message.tool_calls else "stop", usage, self.model)

    def _message(self, message: Message) -> int:
        calls = sum(self._count(c.name) + self._count(c.arguments) for c in message.tool_calls)
        return self._count(message.content) + calls + _PER_MESSAGE

    def _reply(self, one: Scenario) -> Message:
        if self.role == "planner":
            facts = [{"name": f.name, "value": f.value, "text": f.text} for f in one.user.facts]
            return _called("Task", {"task": one.task, "facts": facts, "stop_when": one.user.stop_when})
        if self.role == "coder":
            return _called("Points", {"points": [{"text": g.text, "expr": g.expr} for g in one.goals]})
        if self.turn < len(one.solution):
            step = one.solution[self.turn]
            return _called(step.tool, dict(step.arguments))
        return Message("assistant", "All of it is done.")

    async def aclose(self) -> None:
        """Nothing is held."""


def _called(name: str, value: Any) -> Message:
    return Message("assistant", tool_calls=(ToolCall(f"c-{name}", name, json.dumps(value, ensure_ascii=False)),))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec", nargs="?", default="bank")
    parser.add_argument("--count", type=int, default=20)
    wanted = parser.parse_args()
    roles = {role: Knowing(role) for role in _STAGES}

    class Entry:
        def __init__(self, name: str) -> None:
            self.name = name

        def make(self, _: dict[str, Any]) -> Any:
            return roles[self.name]

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "known.jsonl"
        make_scenarios(wanted.spec, file, BatchOptions(count=wanted.count, seed=1, kinds=("complete",)))
        store = StateStore.beside(file)
        world = World.of(sound(spec_path(wanted.spec)))
        kept = 0
        with Models([Layer("here", {}, {r: {"model": f"{r}/o200k_base"} for r in roles})], Entry) as models:
            for turn, one in enumerate(read_scenarios(file)):
                assert isinstance(one, Scenario)
                for role in roles.values():
                    role.scenario, role.turn = one, 0
                kept += _written(world, one, store, models, turn)
    show(wanted.spec, kept, wanted.count, roles)


def _written(world: World, known: Scenario, store: StateStore, models: Models, turn: int) -> bool:
    assert isinstance(known.state, str)
    state = store.get(known.state)
    try:
        made = models.run(author(world, state, models, AuthorSettings(tries=1), seed=known.seed, turn=turn))
    except Unusable as problem:
        print(f"{known.id}: {problem.code}: {problem}", file=sys.stderr)
        return False
    from dataclasses import replace

    proof = prove(world, replace(made, state=known.state).named(), store, ProofSettings(elsewhere=False))
    if not proof.ok:
        print(f"{known.id}: {proof.reasons[0].code}: {proof.reasons[0].text}", file=sys.stderr)
    return proof.ok


def show(spec: str, kept: int, tried: int, roles: dict[str, Knowing]) -> None:
    print(f"{spec}: {kept} of {tried} kept; tokens for each that is kept (o200k_base)")
    print(f"{'':10}{'calls':>10}{'in':>10}{'out':>10}{'total':>10}{'paper':>12}")
    whole = 0.0
    for role, stage in _STAGES.items():
        used = roles[role].used
        total = (used["sent"] + used["got"]) / max(kept, 1)
        whole += total
        paper = f"{PAPER[stage].tokens:,.0f}" if stage in PAPER else ""
        row = (used["calls"] / max(kept, 1), used["sent"] / max(kept, 1), used["got"] / max(kept, 1), total)
        print(f"{stage:10}" + f"{row[0]:>10.1f}" + "".join(f"{n:>10,.0f}" for n in row[1:]) + f"{paper:>12}")
    paper = sum(PAPER[stage].tokens for stage in ("data", "task", "checks"))
    print(f"{'all':10}{'':30}{whole:>10,.0f}{paper:>12,.0f}   states are made without a model")


if __name__ == "__main__":
    main()
