"""OpenAI's chat completions, at OpenAI or at any server that speaks them (vLLM, llama.cpp, Ollama)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envscaler.llm.backends import known_only
from envscaler.llm.backends.wire import Clients, guarded, key_in, key_variable, reading, sdk
from envscaler.llm.errors import ProtocolError
from envscaler.llm.messages import Finish, Message, Reply, Request, Tool, ToolCall, Usage
from envscaler.llm.replies import count

__all__ = ["OpenAIBackend", "make", "message_form", "reply_of"]

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


class OpenAIBackend:
    """One model of one server. ``identity`` names both."""

    free = False

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.name = "openai"
        self.model = settings["model"]
        self._address = settings.get("base_url")
        self.identity = f"openai/{self.model}{f' at {self._address}' if self._address else ''}"
        self._variable = key_variable(settings, "OPENAI_API_KEY")
        self._clients = Clients(self._client)

    def _client(self) -> Any:
        return sdk("openai").AsyncOpenAI(
            api_key=key_in(self._variable, self.identity),
            base_url=self._address or "https://api.openai.com/v1",
            max_retries=0,
        )

    async def attempt(self, request: Request) -> Reply:
        client = self._clients.get()
        call = client.chat.completions.create(
            model=self.model, timeout=request.timeout, **body(request, own=self._address is None)
        )
        answer = await guarded(sdk("openai"), call, request.timeout, self.identity, self._variable)
        return reading(reply_of, answer, self.identity)

    async def aclose(self) -> None:
        await self._clients.aclose()


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
