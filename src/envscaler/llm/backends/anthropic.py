"""Anthropic's messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from envscaler.llm.backends import known_only
from envscaler.llm.backends.wire import Clients, guarded, key_in, key_variable, reading, sdk
from envscaler.llm.errors import ProtocolError
from envscaler.llm.messages import Finish, Message, Reply, Request, ToolCall, Usage
from envscaler.llm.replies import count

__all__ = ["AnthropicBackend", "make"]

_MAX_TOKENS = 8192  # the protocol wants a limit; enough for a plan or a module, and within every current model's own
_LONG = 4096  # characters; of less the provider keeps nothing
_FINISH: Mapping[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


def make(settings: Mapping[str, Any]) -> AnthropicBackend:
    """The backend of a role's settings. Raises UsageError for one that it does not know."""
    known_only(settings)
    return AnthropicBackend(settings)


class AnthropicBackend:
    """One of Anthropic's models. ``identity`` names it, and the address where that is another than Anthropic's."""

    free = False

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.name = "anthropic"
        self.model = settings["model"]
        self._address = settings.get("base_url")
        self.identity = f"anthropic/{self.model}{f' at {self._address}' if self._address else ''}"
        self._variable = key_variable(settings, "ANTHROPIC_API_KEY")
        self._clients = Clients(self._client)

    def _client(self) -> Any:
        return sdk("anthropic").AsyncAnthropic(
            api_key=key_in(self._variable, self.identity),
            base_url=self._address or "https://api.anthropic.com",
            max_retries=0,
        )

    async def attempt(self, request: Request) -> Reply:
        client = self._clients.get()
        call = client.messages.create(model=self.model, timeout=request.timeout, **body(request))
        answer = await guarded(sdk("anthropic"), call, request.timeout, self.identity, self._variable)
        return reading(reply_of, answer, self.identity)

    async def aclose(self) -> None:
        await self._clients.aclose()


def body(request: Request) -> dict[str, Any]:
    """A request in Anthropic's form: system apart, tool results as the user's, turns of one side joined."""
    plain: dict[str, Any] = {
        "max_tokens": _MAX_TOKENS if request.max_tokens is None else request.max_tokens,
        "messages": _turns(request.messages),
    }
    system = "\n\n".join(m.content for m in request.messages if m.role == "system" and m.content)
    if system:
        plain["system"] = system
    if request.tools:
        plain["tools"] = [
            {"name": t.name, "description": t.description, "input_schema": dict(t.parameters)} for t in request.tools
        ]
        plain["tool_choice"] = _choice(request.tool_choice)
    _mark(plain)
    if request.temperature is not None:
        plain["temperature"] = request.temperature
    return plain


def _mark(plain: dict[str, Any]) -> None:
    """Ask for the prompt to be kept where it is likely to come again: tools, which all episodes of an environment share, long
    words of the system, as those with a grammar, and a conversation under way, whose next request begins with this one."""
    kept = {"cache_control": {"type": "ephemeral"}}
    if plain.get("tools"):
        plain["tools"][-1] |= kept
    if len(plain.get("system", "")) >= _LONG:
        plain["system"] = [{"type": "text", "text": plain["system"], **kept}]
    turns = plain["messages"]
    if len(turns) > 1 and turns[-1]["content"][-1]["type"] in {"text", "tool_result"}:
        turns[-1]["content"][-1] |= kept


def _choice(choice: str) -> dict[str, str]:
    if choice in {"auto", "none"}:
        return {"type": choice}
    return {"type": "any"} if choice == "required" else {"type": "tool", "name": choice}


def _turns(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        blocks = list(_blocks(message))
        if not blocks:
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    return turns


def _blocks(message: Message) -> Iterator[dict[str, Any]]:
    if message.role == "tool":
        yield {
            "type": "tool_result",
            "tool_use_id": message.tool_call_id,
            "content": message.content,
            "is_error": message.is_error,
        }
        return
    yield from message.opaque.get("anthropic", ())
    if message.content.strip():
        yield {"type": "text", "text": message.content}
    for call in message.tool_calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call.arguments)}


def _input(arguments: str) -> dict[str, Any]:
    """Arguments as the protocol wants them back, an object; text that is none stands under a key of its own."""
    try:
        value = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"_not_an_object": arguments}


def reply_of(answer: Any, subject: str) -> Reply:
    """The reply in a message. Raises ProtocolError for what is none."""
    blocks = getattr(answer, "content", None)
    if not isinstance(blocks, list):
        raise ProtocolError(f"{subject}: the answer holds no content")
    text: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    kept: list[dict[str, Any]] = []
    for block in blocks:
        kind = getattr(block, "type", "")
        if kind == "text":
            text.append(block.text or "")
        elif kind == "tool_use":
            calls.append(ToolCall(str(block.id), str(block.name), _dumped(block.input)))
        elif kind in {"thinking", "redacted_thinking"}:
            thoughts.append(getattr(block, "thinking", None) or "")
            kept.append(block.model_dump(mode="json", exclude_none=True))
    message = Message(
        "assistant",
        "".join(text),
        "\n\n".join(t for t in thoughts if t),
        tuple(calls),
        opaque={"anthropic": kept} if kept else {},
    )
    finish: Finish = _FINISH.get(answer.stop_reason or ("tool_use" if calls else "end_turn"), "other")
    return Reply(message, finish, _usage(answer.usage), answer.model if isinstance(answer.model, str) else "")


def _dumped(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _usage(usage: Any) -> Usage:
    """Tokens in are the fresh ones, those read from the cache and those written to it, which Anthropic counts apart."""
    if usage is None:
        return Usage()
    fresh = count(usage.input_tokens)
    read = count(getattr(usage, "cache_read_input_tokens", None)) or 0
    written = count(getattr(usage, "cache_creation_input_tokens", None)) or 0
    total = None if fresh is None else fresh + read + written
    return Usage(total, count(usage.output_tokens), read, written)
