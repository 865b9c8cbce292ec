"""Tools, calls and results in the text form that `parsing` reads, for models that have no calls of their own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from envscaler.llm.messages import Message, Tool, ToolCall

__all__ = ["as_native", "as_text", "render_call", "render_more", "render_reply", "render_results", "render_tools"]

WRITTEN: Final = "text"
"""Under this name a message's ``opaque`` holds the text that a model wrote, where its parts do not say it."""

_HEAD: Final = """# Tools

You can call tools. Each line here is one: its name, what it does, and a JSON Schema of its arguments.

<tools>
"""
_MORE: Final = "From now on you can call these tools too, in the same way:\n\n<tools>\n"
# The result's tag is not named: small models then write results themselves.
_FOOT: Final = """
</tools>

To call a tool, write a JSON object with its name and its arguments between <tool_call> and </tool_call>:

<tool_call>
{"name": "NAME", "arguments": {"PARAMETER": "VALUE"}}
</tool_call>

Several calls stand one after the other and are run in that order. Stop after your calls: their results come in the next
message. A call inside <think>…</think> is not run."""


def render_tools(tools: Sequence[Tool]) -> str:
    """The catalogue, and how its tools are called, for a system message; empty without tools."""
    return _HEAD + _lines(tools) + _FOOT if tools else ""


def render_more(tools: Sequence[Tool]) -> str:
    """What a model is told of tools that come later; empty without tools."""
    return f"{_MORE}{_lines(tools)}\n</tools>" if tools else ""


def _lines(tools: Sequence[Tool]) -> str:
    return "\n".join(_json({"type": "function", "function": tool.to_json()}) for tool in tools)


def render_call(call: ToolCall) -> str:
    """A call; the parser reads the same name and arguments out of it."""
    return f'<tool_call>\n{{"name": {_json(call.name)}{_arguments(call.arguments)}}}\n</tool_call>'


def _arguments(text: str) -> str:
    """Arguments as they were written, where that is JSON which the parser gives back as it is; else as text of JSON."""
    if not text:
        return ""
    source = text if _stands_for_itself(text) else _json(text)
    return f', "arguments": {source}'


def _stands_for_itself(text: str) -> bool:
    if text[:1] in ('"', "n", " ", "\t", "\r", "\n") or text[-1:] in (" ", "\t", "\r", "\n"):
        return False
    try:
        json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return False
    return True


def render_reply(message: Message) -> str:
    """An assistant's message as text: thinking, content, calls."""
    parts = [f"<think>\n{message.reasoning}\n</think>"] if message.reasoning else []
    written = message.opaque.get(WRITTEN)
    if isinstance(written, str):
        return "\n\n".join([*parts, written])
    parts += [message.content] if message.content else []
    return "\n\n".join(parts) + "".join(
        ("\n" if parts or place else "") + render_call(call) for place, call in enumerate(message.tool_calls)
    )


def render_results(results: Sequence[Message]) -> str:
    """The results of calls, in order."""
    return "\n".join(f"<tool_response>\n{result.content}\n</tool_response>" for result in results)


def as_text(messages: Sequence[Message], tools: Sequence[Tool] = (), reasoning: bool = False) -> list[Message]:
    """A conversation for a model without calls of its own: tools in the system message, calls and results as text.

    Thinking is left out of what the model has said before, unless ``reasoning`` is to be kept.
    """
    catalogue = render_tools(tools)
    rendered: list[Message] = []
    if catalogue and not (messages and messages[0].role == "system"):
        rendered.append(Message("system", catalogue))
    results: list[Message] = []
    for place, message in enumerate(messages):
        if message.role == "tool":
            results.append(message)
            continue
        if results:
            rendered.append(Message("user", render_results(results)))
            results = []
        if message.role == "assistant":
            rendered.append(
                Message("assistant", render_reply(message if reasoning else replace(message, reasoning="")))
            )
        elif place == 0 and message.role == "system" and catalogue:
            rendered.append(Message("system", f"{message.content}\n\n{catalogue}"))
        else:
            rendered.append(message)
    if results:
        rendered.append(Message("user", render_results(results)))
    return rendered


def as_native(messages: Sequence[Message], reasoning: bool = True) -> list[Message]:
    """A conversation for a model with calls of its own. A result that answers no call, since none could be read, is told as a
    user's message: providers take results of calls only. Thinking is left in or taken out."""
    told = (Message("user", m.content) if m.role == "tool" and not m.tool_call_id else m for m in messages)
    return [m if reasoning or not m.reasoning else replace(m, reasoning="") for m in told]


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text
