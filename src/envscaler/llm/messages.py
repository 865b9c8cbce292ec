"""The chat form that every backend speaks: messages, tools, requests and replies, and their JSON."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from envscaler.errors import UsageError

__all__ = [
    "Finish", "Message", "Output", "Reply", "Request", "Role", "Tool", "ToolCall", "Usage", "as_messages", "as_tools",
    "canonical", "digest",
]  # fmt: skip

Role = Literal["system", "user", "assistant", "tool"]
Finish = Literal["stop", "tool_calls", "length", "refusal", "other"]

_ROLES = ("system", "user", "assistant", "tool")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call a model asks for. ``arguments`` is the JSON text as the model sent it, valid or not."""

    id: str
    name: str
    arguments: str

    def to_json(self) -> dict[str, str]:
        return {"id": self.id, "name": self.name, "arguments": self.arguments}


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. ``reasoning`` is apart from ``content``; a tool's result (role `tool`) names the call that it answers.

    ``opaque`` holds, by provider, what that provider wants back unread in the next request (signed thinking).
    """

    role: Role
    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    is_error: bool = False
    opaque: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A JSON object without the empty parts."""
        plain: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.reasoning:
            plain["reasoning"] = self.reasoning
        if self.tool_calls:
            plain["tool_calls"] = [call.to_json() for call in self.tool_calls]
        if self.tool_call_id:
            plain["tool_call_id"] = self.tool_call_id
        if self.is_error:
            plain["is_error"] = True
        if self.opaque:
            plain["opaque"] = dict(self.opaque)
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Message:
        """The message of a JSON object; calls may also be in OpenAI's form. Raises UsageError."""
        role = plain.get("role")
        if role not in _ROLES:
            raise UsageError(f"a message's role is one of {', '.join(_ROLES)}, not {role!r}")
        return cls(
            role=cast(Role, role),
            content=plain.get("content") or "",
            reasoning=plain.get("reasoning") or "",
            tool_calls=tuple(map(_call, plain.get("tool_calls") or ())),
            tool_call_id=plain.get("tool_call_id") or "",
            is_error=bool(plain.get("is_error", False)),
            opaque=plain.get("opaque") or {},
        )


def _call(plain: Mapping[str, Any]) -> ToolCall:
    inner = plain.get("function", plain)
    arguments = inner.get("arguments") or ""
    return ToolCall(
        id=plain.get("id") or "",
        name=inner.get("name") or "",
        arguments=arguments if isinstance(arguments, str) else json.dumps(arguments),
    )


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool on offer; ``parameters`` is a JSON Schema of an object."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}


@dataclass(frozen=True, slots=True)
class Output:
    """The shape that a structured call asks for: a name and a JSON Schema."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one attempt or of several; None is what nobody said. ``tokens_in`` counts cached ones too.

    ``cached`` were read from the provider's own prompt cache, ``cache_writes`` written to it.
    """

    tokens_in: int | None = None
    tokens_out: int | None = None
    cached: int = 0
    cache_writes: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _sum(self.tokens_in, other.tokens_in),
            _sum(self.tokens_out, other.tokens_out),
            self.cached + other.cached,
            self.cache_writes + other.cache_writes,
        )


def _sum(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else a + b


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: an assistant's message, why it ended, what it cost.

    ``model`` is the one that the server names. ``usage`` is that of this reply alone.
    """

    message: Message
    finish: Finish = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""

    @property
    def content(self) -> str:
        return self.message.content

    @property
    def reasoning(self) -> str:
        return self.message.reasoning

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return self.message.tool_calls

    def to_json(self) -> dict[str, Any]:
        usage = {
            "tokens_in": self.usage.tokens_in,
            "tokens_out": self.usage.tokens_out,
            "cached": self.usage.cached,
            "cache_writes": self.usage.cache_writes,
        }
        return {"message": self.message.to_json(), "finish": self.finish, "usage": usage, "model": self.model}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Reply:
        """The reply of a JSON object; all but the message may be left out, and `role` in it."""
        message = {"role": "assistant", **plain["message"]}
        calls = message.get("tool_calls")
        return cls(
            message=Message.from_json(message),
            finish=plain.get("finish") or ("tool_calls" if calls else "stop"),
            usage=Usage(**plain.get("usage", {})),
            model=plain.get("model", ""),
        )


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    ``tool_choice`` is `auto`, `none`, `required` or the name of a tool. ``output`` is set for structured calls, whose
    messages, tools and ``response_format`` (OpenAI's form) already say to the model what is wanted: a backend need not
    read it. ``sample`` tells equal questions apart that are to get answers of their own. ``timeout`` is in seconds.
    """

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    tool_choice: str = "auto"
    output: Output | None = None
    response_format: Mapping[str, Any] | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    timeout: float = 600.0
    sample: int = 0
    key: str = ""

    def __post_init__(self) -> None:
        if not self.key:
            object.__setattr__(self, "key", digest(self.content()))

    def content(self) -> dict[str, Any]:
        """What is asked, without how: the part that recordings are matched on."""
        plain: dict[str, Any] = {"messages": [message.to_json() for message in self.messages]}
        if self.tools:
            plain["tools"] = [tool.to_json() for tool in self.tools]
        if self.tool_choice != "auto":
            plain["tool_choice"] = self.tool_choice
        if self.output is not None:
            plain["output"] = {"name": self.output.name, "schema": dict(self.output.schema)}
        if self.sample:
            plain["sample"] = self.sample
        return plain

    def settings(self) -> dict[str, Any]:
        """How it is asked: what may change the reply besides the content."""
        return {"max_tokens": self.max_tokens, "temperature": self.temperature, "seed": self.seed}

    def asking(self, messages: Sequence[Message]) -> Request:
        """The same question with other messages, and a key of its own."""
        return replace(self, messages=tuple(messages), key="")


def canonical(value: Any) -> str:
    """JSON text in ASCII that is equal for equal values. Raises UsageError for what is not JSON."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"a request to a model holds what is not JSON: {error}") from None


def digest(value: Any) -> str:
    """The content hash of a JSON value, 40 hex digits."""
    return hashlib.blake2b(canonical(value).encode(), digest_size=20).hexdigest()


def as_messages(
    messages: str | Message | Mapping[str, Any] | Iterable[Message | Mapping[str, Any]],
) -> tuple[Message, ...]:
    """Messages from what is convenient to write: a text is what the user says."""
    if isinstance(messages, str):
        messages = Message("user", messages)
    if isinstance(messages, (Message, Mapping)):
        messages = [messages]
    return tuple(_encodable(m if isinstance(m, Message) else Message.from_json(m)) for m in messages)


def _encodable(message: Message) -> Message:
    """The message with lone surrogates, which no protocol carries, as U+FFFD."""
    if not _SURROGATE.search(message.content):
        return message
    return replace(message, content=_SURROGATE.sub("\ufffd", message.content))


def as_tools(tools: Iterable[Tool | Mapping[str, Any]]) -> tuple[Tool, ...]:
    """Tools from our own records or the forms of OpenAI, Anthropic and MCP, as `env.tools` gives them."""
    return tuple(t if isinstance(t, Tool) else _tool(t) for t in tools)


def _tool(plain: Mapping[str, Any]) -> Tool:
    inner = plain.get("function", plain)
    for key in ("parameters", "input_schema", "inputSchema"):
        if key in inner:
            return Tool(inner["name"], inner.get("description", ""), inner[key])
    return Tool(inner["name"], inner.get("description", ""))
