"""Whether a model can do what envscaler asks of it: a chat, a structured reply, a tool call, and an account of tokens."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from envscaler.errors import LlmError
from envscaler.llm.client import Answer, Llm
from envscaler.llm.errors import AccessError
from envscaler.llm.messages import Tool, Usage
from envscaler.llm.prices import NANO
from envscaler.texts import counted

__all__ = ["Verdict", "probe"]

_TOOL = Tool(
    "get_balance",
    "The balance of an account, in euros.",
    {
        "type": "object",
        "properties": {"account": {"type": "string", "description": "The account's name."}},
        "required": ["account"],
    },
)
_STAGE = "check"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One ability: whether it is there, in a line why (not), how long it took in seconds."""

    name: str
    ok: bool
    said: str
    seconds: float = 0.0


async def probe(llm: Llm) -> list[Verdict]:
    """The four verdicts, one after another; without access there is only the first."""
    verdicts: list[Verdict] = []
    usage, cost = Usage(0, 0), 0
    told = priced = True
    for name, ask in (("chat", _chat), ("structured call", _structured), ("tool call", _tool_call)):
        try:
            said, answer = await ask(llm)
        except LlmError as error:
            spent = getattr(error, "spent", None)
            verdicts.append(Verdict(name, False, " ".join(str(error).split()), spent.seconds if spent else 0.0))
            if isinstance(error, AccessError):
                return verdicts
            continue
        usage += answer.spent.usage
        cost += answer.spent.cost or 0
        priced = priced and answer.spent.cost is not None
        told = told and answer.reply.usage.tokens_in is not None and answer.reply.usage.tokens_out is not None
        verdicts.append(Verdict(name, not said.startswith("no"), said, answer.spent.seconds))
    if any(v.ok for v in verdicts):
        told = told and bool(usage.tokens_in) and bool(usage.tokens_out)
        price = f"${cost / NANO:.4f}" if priced else "price unknown"
        counted = f"{usage.tokens_in:,} tokens in, {usage.tokens_out:,} out, {price}"
        if not told:
            counted = "the server does not count tokens"
        verdicts.append(Verdict("usage", told, counted))
    return verdicts


async def _chat(llm: Llm) -> tuple[str, Answer]:
    answer = await llm.chat("Reply with one word: the capital of France.", max_tokens=_room(llm, 512), stage=_STAGE)
    return f"it said {_short(answer.content)!r}", answer


async def _structured(llm: Llm) -> tuple[str, Answer]:
    from pydantic import BaseModel, Field

    class Account(BaseModel):
        """A bank account."""

        owner: str
        balance: float = Field(ge=0)
        tags: list[str]

    text = "Extract the account: Ann has 12.50 euros, and her account is tagged `savings` and `new`."
    got = await llm.structured(Account, text, max_tokens=_room(llm, 1024), stage=_STAGE)
    again = got.spent.attempts - 1
    after = f" after {counted(again, 'correction')}" if again > 0 else ""
    return f"it gave {_short(got.value.model_dump_json())}{after}", Answer(got.reply, got.spent)


async def _tool_call(llm: Llm) -> tuple[str, Answer]:
    answer = await _balance(llm, "auto")
    if not answer.tool_calls:
        what = "text that asks for one" if _TOOL.name in answer.content else "text"
        return f"no tool call, but {what}: {_short(answer.content)!r}; {await _when_told(llm)}", answer
    call = answer.tool_calls[0]
    if call.name != _TOOL.name or _account(call.arguments) is None:
        return f"no right tool call, but {_short(call.name)}({_short(call.arguments)})", answer
    return f"it called {call.name}({_short(call.arguments)})", answer


async def _when_told(llm: Llm) -> str:
    """Whether it is the server that has no tool calls, or the model that does not choose them."""
    try:
        answer = await _balance(llm, _TOOL.name)
    except LlmError:
        return "told to call it, it does not either"
    if any(call.name == _TOOL.name for call in answer.tool_calls):
        return "told to call it, it does, and agents have to choose by themselves"
    return "told to call it, it does not either"


async def _balance(llm: Llm, choice: str) -> Answer:
    return await llm.chat(
        [
            {"role": "system", "content": "You answer questions about accounts. Use the tools; do not guess."},
            {"role": "user", "content": "How much is on the account `ann`?"},
        ],
        tools=[_TOOL],
        tool_choice=choice,
        max_tokens=_room(llm, 1024),
        stage=_STAGE,
    )


def _account(arguments: str) -> Any:
    try:
        plain = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return plain.get("account") if isinstance(plain, dict) else None


def _room(llm: Llm, least: int) -> int:
    """Room for a short answer; a role's own setting is kept (reasoning models need more)."""
    return llm.settings.max_tokens or least


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 100 else text[:97] + "..."
