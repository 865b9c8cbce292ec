"""Tokens of the dual-agent loop: real prompts on a shipped spec, counted by a real tokenizer, beside the paper's figure.

    python benchmarks/dual_tokens.py [SPEC] [--rounds N]

The models are scripts: the tester makes the calls of the spec's examples, the checker gives a reason of usual length. What is
counted is what an OpenAI-compatible server would be sent and would send: messages, the schema of the reply, the call that
replies; with the o200k_base vocabulary, which is that of the models of the paper (GPT-4.1 and GPT-4.1-mini), by bpe-openai
(`pip install bpe-openai`; the vocabulary is in the package).
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from envscaler.assess.dual.loop import dual, reached
from envscaler.assess.dual.settings import DualSettings
from envscaler.llm import Message, Models, Reply, Request, ToolCall, Usage
from envscaler.llm.backends.scripted import ScriptedBackend
from envscaler.llm.costs import PAPER
from envscaler.llm.settings import Layer
from envscaler.plugin.records import Subject
from envscaler.session.judging import subject

_PER_MESSAGE = 4  # tokens of a message's frame, in and out of the tools' section alike
REASON = (
    "The code checks the arguments in the order shown, then books the amount and returns the new balance; the result and the "
    "listed changes are what these arguments give, and nothing else was touched."
)


class Counting:
    """A script that says how many tokens a server would count."""

    name, model, identity, free = "counting", "o200k_base", "counting/o200k_base", True

    def __init__(self, script: Any) -> None:
        import bpe_openai

        self._count = lambda text: len(bpe_openai.get_encoding("o200k_base").encode(text))
        self._script = ScriptedBackend(script)
        self.parts: Counter[str] = Counter()

    async def attempt(self, request: Request) -> Reply:
        reply = await self._script.attempt(request)
        system, user = (self._count(m.content) + _PER_MESSAGE for m in request.messages[:2])
        schema = sum(self._count(json.dumps(t.to_json())) + _PER_MESSAGE for t in request.tools)
        out = sum(self._count(c.arguments) + self._count(c.name) + _PER_MESSAGE for c in reply.tool_calls)
        self.parts.update(system=system, user=user, schema=schema, out=out)
        return Reply(reply.message, reply.finish, Usage(system + user + schema, out), self.model)

    async def aclose(self) -> None:
        """Nothing is held."""


def called(name: str, value: Any) -> Reply:
    return Reply(Message("assistant", tool_calls=(ToolCall("c", name, json.dumps(value)),)), "tool_calls")


def tester(judged: Subject) -> Any:
    """Makes the calls of the examples of the tools on offer, one that fails where a negative case is wanted."""
    spec = judged.checked.spec
    assert spec is not None
    calls: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for tool in spec.tools.values():
        for example in tool.examples:
            calls[tool.name, "negative" if example.error or example.rule else "positive"].append(dict(example.call))
    dice = random.Random(0)

    def reply(request: Request) -> Reply:
        text = request.messages[-1].content
        offered = [
            name for name in re.findall(r"^(\w+):$", text.split("\nSome of the state:")[0], re.M) if name in spec.tools
        ]
        wanted = "negative" if "Now a negative case" in text else "positive"
        tool = dice.choice(offered)
        arguments = dice.choice(calls[tool, wanted] or calls[tool, "positive"] or [{}])
        return called("Call", {"case": wanted, "tool": tool, "arguments": arguments})

    return reply


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec", nargs="?", default="bank")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--calls", type=int, default=2000, help="fuzzed calls beforehand")
    wanted = parser.parse_args()
    judged = subject(wanted.spec)
    backends = {
        "tester": Counting(tester(judged)),
        "judge": Counting(lambda _: called("Verdict", {"reason": REASON, "verdict": "pass", "cause": "none"})),
    }

    class Entry:
        def __init__(self, name: str) -> None:
            self.name = name

        def make(self, _: dict[str, Any]) -> Any:
            return backends[self.name]

    roles = {role: {"model": f"{role}/o200k_base"} for role in backends}
    with Models([Layer("here", {}, roles)], Entry) as models:
        settings = DualSettings(rounds=wanted.rounds, calls=wanted.calls)
        report = dual(judged, models, settings, coverage=reached(judged, wanted.calls, 0))
    show(wanted.spec, report, backends)


def show(spec: str, report: Any, backends: dict[str, Counting]) -> None:
    rounds = len(report.rounds)
    print(f"{spec}: {report.summary().title}")
    print(f"{'':10}{'system':>10}{'user':>10}{'schema':>10}{'in':>10}{'out':>10}{'total':>10}")
    for role, backend in backends.items():
        p = backend.parts
        row = (p["system"], p["user"], p["schema"], p["system"] + p["user"] + p["schema"], p["out"])
        print(f"{role:10}" + "".join(f"{n:>10,}" for n in (*row, row[3] + row[4])))
    used, paper = report.tester + report.judge, PAPER["assessment"]
    print(f"{rounds} rounds: {used.tokens_in:,} in + {used.tokens_out:,} out = {used.total:,} tokens (o200k_base)")
    print(
        f"the paper, 100 rounds: {paper.tokens_in:,.0f} in + {paper.tokens_out:,.0f} out = {paper.tokens:,.0f}; "
        f"{paper.tokens / used.total * 100 / (100 * 100 / rounds):.1f} times as many"
        if rounds == 100
        else f"the paper, 100 rounds: {paper.tokens:,.0f}"
    )


if __name__ == "__main__":
    main()
