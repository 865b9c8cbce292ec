"""Tokens of a draft, from a task to a spec: real prompts, counted by a real tokenizer, by stage, beside the paper's Table 8.

    python benchmarks/draft_tokens.py [--batch N] [--sound]

The models are scripts. What they know is a shipped spec cut to the paper's size (18 tools, two examples for each); the
planner gives its plan, the coder its parts, with three mistakes: a misspelt field in a rule, another in a tool, a wrong
expected value; it mends them when told. What is counted is what an OpenAI-compatible server would be sent and would send,
tries included, with the o200k_base vocabulary, that of the paper's models (GPT-4.1), by bpe-openai (`pip install bpe-openai`).
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from tests.draft.mender import Mending, sections

from envscaler.draft.filtering import sieve
from envscaler.draft.inferring import infer
from envscaler.draft.judging import judge
from envscaler.draft.parts import Parts
from envscaler.draft.planning import plan
from envscaler.draft.plans import Size
from envscaler.draft.replies import PartsReply
from envscaler.draft.writing import WriteSettings, write
from envscaler.llm import Message, Models, Reply, Request, ToolCall, Usage
from envscaler.llm.costs import PAPER
from envscaler.llm.settings import Layer
from envscaler.plugin.records import Task
from envscaler.session.packs import spec_path

_PER_MESSAGE = 4  # tokens of a message's frame
RULES = 6
KEPT = ("customers", "accounts", "postings", "cards", "till")
TOOLS = 18
TASK = "I need to move 250 euros from my current account to savings before the 15th, and please freeze the card I lost."


# -- the spec


def cut(spec: dict[str, Any]) -> dict[str, Any]:
    """The spec with the kept states, what needs no other, three customers and what is theirs, and two sound examples a tool."""
    made = copy.deepcopy(spec)
    gone = set(made["states"]) - set(KEPT)
    for section in ("states", "initial_state"):
        made[section] = {k: v for k, v in made[section].items() if k in KEPT}
    state = made["initial_state"]
    state["customers"] = dict(list(state["customers"].items())[:3])
    for name, field, of in (("accounts", "customer_id", "customers"), ("postings", "account_id", "accounts"),
                            ("cards", "account_id", "accounts")):  # fmt: skip
        state[name] = {k: r for k, r in state[name].items() if r[field] in state[of]}
    for key in ("setup", "errors"):
        made.pop(key, None)
    while True:
        judged = _judged(made)
        words = {"setup", *gone}
        bad = {p for p in judged.errors if p.startswith(("tools.", "rules.", "helpers.", "types.", "constants."))}
        bad |= {
            f"{s}.{n}"
            for s in ("tools", "rules", "helpers")
            for n, v in made[s].items()
            if words & set(re.findall(r"\w+", json.dumps(v)))
        }
        if not bad:
            break
        for path in bad:
            section, _, name = path.partition(".")
            made[section].pop(name, None)
    differing = set(judged.ran.differing if judged.ran else ())
    for name, tool in made["tools"].items():
        holding = [e for i, e in enumerate(tool.get("examples", [])) if f"{name}.{i}" not in differing]
        works = [e for e in holding if "error" not in e][:1]
        tool["examples"] = works + [e for e in holding if "error" in e][:1]
    reads = [n for n, t in made["tools"].items() if t["kind"] == "read"]
    writes = [n for n, t in made["tools"].items() if t["kind"] == "write"][: TOOLS - len(reads)]
    made["tools"] = {n: t for n, t in made["tools"].items() if n in {*reads, *writes}}
    logic = json.dumps([made["tools"], made["helpers"]])
    cited = [n for n in made["rules"] if f'rule=\\"{n}' in logic or f'"rule": "{n}"' in logic]
    order = sorted(made["rules"], key=lambda n: (n not in cited, "it.balance" not in made["rules"][n].get("holds", "")))
    made["rules"] = {n: made["rules"][n] for n in order[: max(RULES, len(cited) + 1)]}
    for _ in range(5):  # what nothing uses any more
        judged = _judged(made)
        for path, problems in judged.warnings.items():
            section, _, name = path.partition(".")
            if section in ("helpers", "types", "constants", "rules") and any(d.code == "unused" for d in problems):
                made[section].pop(name, None)
    return made


def _judged(spec: dict[str, Any]) -> Any:
    parts = Parts("cut")
    for path, value in PartsReply.model_validate(spec).parts().items():
        parts.put(path, value)
    return judge(parts, run=True)


def wrong(spec: dict[str, Any]) -> dict[str, Any]:
    """With three mistakes."""
    made = copy.deepcopy(spec)
    rule = next(r for r in made["rules"].values() if "it.balance" in r.get("holds", ""))
    rule["holds"] = rule["holds"].replace("it.balance", "it.balanc", 1)
    names = list(made["tools"])
    tool = next(made["tools"][n] for n in names if ".status" in made["tools"][n]["do"])
    tool["do"] = tool["do"].replace(".status", ".state", 1)
    last = next(
        made["tools"][n]
        for n in reversed(names)
        if any(isinstance(e.get("returns"), dict) for e in made["tools"][n]["examples"])
    )
    example = next(e for e in last["examples"] if isinstance(e.get("returns"), dict))
    example["returns"] = {k: "2031-01-01" if isinstance(v, str) else 1 for k, v in example["returns"].items()}
    return made


# -- the models


class Script:
    """A role that knows the spec, and says how many tokens a server would count."""

    model, free = "o200k_base", True

    def __init__(self, role: str, answer: Any) -> None:
        import bpe_openai

        encoding = bpe_openai.get_encoding("o200k_base")
        self.count = lambda text: len(encoding.encode(text))
        self.name = role
        self.identity = f"{role}/o200k_base"
        self._answer = answer
        self.used: dict[str, Counter[str]] = {}
        self.stage = ""
        self.asked: list[tuple[str, int, int]] = []

    async def attempt(self, request: Request) -> Reply:
        name, value = self._answer(request)
        message = Message("assistant", tool_calls=(ToolCall("c", name, json.dumps(value, ensure_ascii=False)),))
        sent = sum(self.count(m.content) + _PER_MESSAGE for m in request.messages)
        sent += sum(self.count(json.dumps(t.to_json())) + _PER_MESSAGE for t in request.tools)
        got = sum(self.count(c.name) + self.count(c.arguments) for c in message.tool_calls) + _PER_MESSAGE
        stage = self.stage
        if self.stage == "write":
            text = request.messages[-1].content
            stage = "mend" if "not right yet" in text else "write"
        self.used.setdefault(stage, Counter()).update(calls=1, sent=sent, got=got)
        self.asked.append((stage, sent, got))
        return Reply(message, "tool_calls", Usage(sent, got), self.model)

    async def aclose(self) -> None:
        """Nothing is held."""


def planner(spec: dict[str, Any]) -> Any:
    def answer(request: Request) -> tuple[str, dict[str, Any]]:
        name = request.tools[0].name
        if name == "Verdict":
            return name, {
                "reason": "Moving money and freezing a card change the accounts that a bank keeps.",
                "stateful": True,
            }
        if name == "Theme":
            said = " ".join(spec["description"].split())
            return name, {"title": spec["title"], "name": spec["name"], "summary": said.split(". ")[0] + ".",
                          "introduction": said, "usefulness": 9, "modelability": 9}  # fmt: skip
        if name == "States":
            states = [
                {"name": n, "record": s["record"], "single": s.get("single", False), "description": s.get("description", ""),
                 "fields": [{"name": f, "type": _short(t), "description": f"The {f.replace('_', ' ')} of it."}
                            for f, t in s["fields"].items()]}
                for n, s in spec["states"].items()
            ]  # fmt: skip
            rules = [
                {"name": n, "text": r["text"], "enforced": not r.get("policy"), "states": ["accounts"]}
                for n, r in spec["rules"].items()
            ]
            return name, {"states": states, "rules": rules}
        tools = [
            {"name": n, "kind": t["kind"], "description": t["description"],
             "params": {p: f"{_short(v)}, the {p.replace('_', ' ')} that is meant" for p, v in t.get("params", {}).items()},
             "states": list(KEPT) if i == 0 else [k for k in KEPT if k in t["do"]] or ["accounts"], "effects": t["description"],
             "errors": re.findall(r'f?"([A-Z][^"]+)"', t["do"])[:4]}
            for i, (n, t) in enumerate(spec["tools"].items())
        ]  # fmt: skip
        return name, {"tools": tools}

    return answer


def _short(of: Any) -> str:
    if not isinstance(of, dict):
        return str(of)
    return (
        f"ref({of['ref']})"
        if "ref" in of
        else f"enum({', '.join(map(str, of['enum']))})"
        if "enum" in of
        else str(of.get("type", "list"))
    )


def coder(right: dict[str, Any], given: dict[str, Any]) -> Any:
    first = Mending(given)
    again = Mending(given)

    def answer(request: Request) -> tuple[str, dict[str, Any]]:
        text = request.messages[-1].content
        if "not right yet" not in text:
            call = first(request).tool_calls[0]
            return call.name, json.loads(call.arguments)
        faulty = re.findall(r"^([a-z_]+)\.(\w+):$", text.partition("not right yet")[2], re.M)
        made: dict[str, Any] = {}
        for section, name in faulty:
            made.setdefault(section, {})[name] = right[section][name]
        again.again.append(text)
        return "Parts", made

    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=WriteSettings().batch)
    parser.add_argument("--sound", action="store_true", help="without mistakes")
    wanted = parser.parse_args()
    right = cut(sections(spec_path("bank").read_text(encoding="utf-8")))
    given = right if wanted.sound else wrong(right)
    roles = {"planner": Script("planner", planner(right)), "coder": Script("coder", coder(right, given))}

    class Entry:
        def __init__(self, name: str) -> None:
            self.name = name

        def make(self, _: dict[str, Any]) -> Any:
            return roles[self.name]

    with Models([Layer("here", {}, {r: {"model": f"{r}/o200k_base"} for r in roles})], Entry) as models:
        draft = models.run(_whole(models, roles, wanted.batch, len(right["rules"])))
    fields = sum(len(s["fields"]) + (not s.get("single")) for s in right["states"].values())
    reads = sum(t["kind"] == "read" for t in right["tools"].values())
    print(f"{len(right['states'])} states, {fields} fields, {len(right['rules'])} rules, {len(right['helpers'])} helpers, "
          f"{len(right['tools'])} tools ({reads} reading), {roles['coder'].count(draft.text):,} tokens of YAML; "
          f"open problems: {len(draft.problems)}, missing: {len(draft.missing)}")  # fmt: skip
    show(roles)


async def _whole(models: Models, roles: dict[str, Script], batch: int, rules: int) -> Any:
    llm = models.role("planner")
    roles["planner"].stage = "discovery"
    await sieve(Task(TASK, "tasks.jsonl", 1), llm)
    theme = await infer(TASK, llm)
    roles["planner"].stage = "plan"
    made = await plan(theme, llm, Size(rules=rules))
    roles["coder"].stage = "write"
    return await write(made, models.role("coder"), WriteSettings(batch=batch))


def show(roles: dict[str, Script]) -> None:
    used: dict[str, Counter[str]] = {}
    for role in roles.values():
        for stage, counts in role.used.items():
            used.setdefault(stage, Counter()).update(counts)
    print(f"{'':16}{'calls':>8}{'in':>10}{'out':>10}{'total':>10}{'paper':>10}")
    construction: Counter[str] = Counter()
    for stage in ("discovery", "plan", "write", "mend"):
        counts = used.get(stage, Counter())
        _row(stage, counts, PAPER["discovery"].tokens if stage == "discovery" else None)
        if stage != "discovery":
            construction.update(counts)
    _row("construction", construction, PAPER["construction"].tokens)
    for stage, sent, got in [*roles["planner"].asked, *roles["coder"].asked]:
        print(f"  {stage:14}{'':8}{sent:>10,}{got:>10,}")


def _row(name: str, counts: Counter[str], paper: float | None) -> None:
    total = counts["sent"] + counts["got"]
    print(
        f"{name:16}{counts['calls']:>8}{counts['sent']:>10,}{counts['got']:>10,}{total:>10,}"
        + (f"{paper:>10,.0f}" if paper else "")
    )


if __name__ == "__main__":
    main()
