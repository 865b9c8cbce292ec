"""OpenAI's chat completions, at OpenAI or at any server that speaks them (vLLM, llama.cpp, Ollama)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from envscaler.llm.backends import known_only
from envscaler.llm.backends.wire import Clients, guarded, key_in, key_variable, reading, sdk
from envscaler.llm.errors import ProtocolError
from envscaler.llm.messages import Finish, Message, Reply, Request, Tool, ToolCall, Usage
from envscaler.llm.replies import count

__all__ = ["OpenAIBackend", "Server", "make", "message_form", "reply_of"]

T = TypeVar("T")

_FINISH: Mapping[str, Finish] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "refusal",
}


def make(settings: Mapping[str, Any]) -> OpenAIBackend:
    """The backend of a role's settings. Raises UsageError for one that it does not know."""
    known_only(settings)
    return OpenAIBackend(settings)


class Server:
    """A model at a server of this form: its name, the server's address (None: OpenAI's own) and key, the connections to it."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.model: str = settings["model"]
        self.address: str | None = settings.get("base_url")
        self.identity = f"openai/{self.model}{f' at {self.address}' if self.address else ''}"
        self._variable = key_variable(settings, "OPENAI_API_KEY")
        self._clients = Clients(self._connect)

    def _connect(self) -> Any:
        return sdk("openai").AsyncOpenAI(
            api_key=key_in(self._variable, self.identity),
            base_url=self.address or "https://api.openai.com/v1",
            max_retries=0,
        )

    @property
    def client(self) -> Any:
        """The library's client, for this event loop."""
        return self._clients.get()

    async def answered(self, call: Any, seconds: float, read: Callable[[Any, str], T]) -> T:
        """What is read from the answer to a call; one attempt. Raises a CallError."""
        answer = await guarded(sdk("openai"), call, seconds, self.identity, self._variable)
        return reading(read, answer, self.identity)

    async def aclose(self) -> None:
        await self._clients.aclose()


class OpenAIBackend:
    """One model of one server. ``identity`` names both."""

    free = False

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.name = "openai"
        self._server = Server(settings)
        self.model = self._server.model
        self.identity = self._server.identity

    async def attempt(self, request: Request) -> Reply:
        call = self._server.client.chat.completions.create(
            model=self.model, timeout=request.timeout, **body(request, own=self._server.address is None)
        )
        return await self._server.answered(call, request.timeout, reply_of)

    async def aclose(self) -> None:
        await self._server.aclose()


def body(request: Request, own: bool) -> dict[str, Any]:
    """A request in OpenAI's form. ``own``: for OpenAI itself, where the limit of tokens has a new name."""
    plain: dict[str, Any] = {"messages": [message_form(m) for m in request.messages]}
    if request.tools:
        plain["tools"] = [_tool_form(tool) for tool in request.tools]
        choice = request.tool_choice
        if choice != "auto":
            named = choice not in {"none", "required"}
            plain["tool_choice"] = {"type": "function", "function": {"name": choice}} if named else choice
    if request.response_format is not None:
        plain["response_format"] = dict(request.response_format)
    if request.max_tokens is not None:
        plain["max_completion_tokens" if own else "max_tokens"] = request.max_tokens
    if request.temperature is not None:
        plain["temperature"] = request.temperature
    if request.seed is not None:
        plain["seed"] = request.seed
    return plain


def _tool_form(tool: Tool) -> dict[str, Any]:
    return {"type": "function", "function": tool.to_json()}


def message_form(message: Message) -> dict[str, Any]:
    """A message in OpenAI's form; reasoning is not sent back."""
    plain: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.role == "tool":
        plain["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        plain["content"] = message.content or None
        plain["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in message.tool_calls
        ]
    return plain


def reply_of(answer: Any, subject: str) -> Reply:
    """The reply in a chat completion. Raises ProtocolError for what is none."""
    choices = getattr(answer, "choices", None)
    if not isinstance(choices, list) or not choices or getattr(choices[0], "message", None) is None:
        raise ProtocolError(f"{subject}: the answer holds no choice")
    choice = choices[0]
    message = choice.message
    calls = tuple(_call(call) for call in message.tool_calls or () if getattr(call, "function", None) is not None)
    content = _plain(message.content)
    refusal = _plain(getattr(message, "refusal", None))
    reasoning = _plain(getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None))
    finish: Finish = _FINISH.get(choice.finish_reason or "stop", "other")
    if refusal:
        content, finish = refusal, "refusal"
    elif calls and finish == "stop":
        finish = "tool_calls"
    return Reply(Message("assistant", content, reasoning, calls), finish, _usage(answer.usage), _plain(answer.model))


def _call(call: Any) -> ToolCall:
    return ToolCall(_plain(call.id), _plain(call.function.name), _plain(call.function.arguments))


def _plain(value: Any) -> str:
    if isinstance(value, list):  # some servers send content as parts
        return "".join(_plain(part.get("text")) for part in value if isinstance(part, Mapping))
    return value if isinstance(value, str) else ""


def _usage(usage: Any) -> Usage:
    if usage is None:
        return Usage()
    details = getattr(usage, "prompt_tokens_details", None)
    cached = count(getattr(details, "cached_tokens", None)) or 0
    return Usage(count(usage.prompt_tokens), count(usage.completion_tokens), cached)
