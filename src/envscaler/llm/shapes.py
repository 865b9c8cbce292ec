"""Structured replies: how a pydantic model is asked for, how a reply becomes one, and what a wrong reply is told."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from envscaler.errors import UsageError
from envscaler.llm.errors import InvalidReplyError
from envscaler.llm.messages import Message, Output, Reply, Request, Tool
from envscaler.llm.replies import accepted
from envscaler.trees import ALONE

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["Shape", "corrected"]

M = TypeVar("M", bound="BaseModel")

_PROBLEMS = 10  # problems told to the model at once
_LONGEST = (
    24_000  # characters of a wrong reply that are shown to the model again; of a longer one only the problems are
)
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL)


@lru_cache(maxsize=128)
def _reader(model: type[BaseModel]) -> Any:
    """What instructor makes of a model, once for each."""
    import instructor

    with ALONE:  # a model is made, for which Python parses signatures
        return instructor.openai_schema(model)


class Shape(Generic[M]):
    """One pydantic model, and one way to ask for it: ``mode`` is `tools`, `json_schema`, `json` or `text`.

    The schema that a model sees and the reading of its reply are instructor's; its retries are not used, since they
    count no tokens of failed attempts and send back all of what was wrong.
    """

    def __init__(self, model: type[M], mode: str) -> None:
        self._model = model
        self._mode = mode
        self._reader = _reader(model)
        made = self._reader.openai_schema
        if made["parameters"].get("type") != "object":
            raise UsageError(f"{model.__name__} is not an object: structured replies are JSON objects")
        self._tool = Tool(made["name"], made["description"], made["parameters"])
        self.output = Output(made["name"], made["parameters"])

    def asked(self, request: Request) -> Request:
        """The request with this shape asked for. Its key stays that of the question alone."""
        if self._mode == "tools":
            return replace(request, tools=(self._tool,), tool_choice=self._tool.name)
        messages = _said_to(request.messages, self._instruction())
        form: dict[str, Any] | None = None
        if self._mode == "json_schema":
            schema = {"name": self._tool.name, "schema": dict(self._tool.parameters)}
            form = {"type": "json_schema", "json_schema": schema}
        elif self._mode == "json":
            form = {"type": "json_object"}
        return replace(request, messages=messages, response_format=form)

    def _instruction(self) -> str:
        return (
            f"Answer with one JSON object and nothing else: {self._tool.description}\n"
            f"It follows this JSON Schema:\n{json.dumps(self._tool.parameters)}"
        )

    def judge(self, reply: Reply) -> None:
        """Raise what is wrong with a reply; how it ended is looked at before what it says."""
        self.read(accepted(reply))

    def read(self, reply: Reply) -> M:
        """The model in a reply. Raises InvalidReplyError with the problems."""
        from pydantic import ValidationError

        text = self._text(reply)
        _strict(text, reply)
        try:
            value = self._reader.from_response(_completion(self._tool.name, text), mode=_tools_mode())
        except ValidationError as error:
            raise _invalid(_problems(error), reply) from None
        except Exception as error:  # instructor's own, which differ between its versions
            raise _invalid([" ".join(str(error).split())[:300]], reply) from None
        # instructor reads into a subclass of its own; nobody else is to see that.
        object.__setattr__(value, "__class__", self._model)
        found: M = value
        return found

    def _text(self, reply: Reply) -> str:
        """The JSON text of a reply: the one call's arguments, or the object in the content."""
        calls = reply.tool_calls
        if not calls:
            return _object_in(reply)
        if len(calls) > 1:
            raise _invalid([f"call {self._tool.name} once, not {len(calls)} times"], reply)
        if calls[0].name != self._tool.name:
            raise _invalid([f"call {self._tool.name}, not {calls[0].name[:60]!r}"], reply)
        return calls[0].arguments


def _object_in(reply: Reply) -> str:
    content = reply.content.strip()
    blocks = _FENCED.findall(content)
    if len(blocks) > 1:
        raise _invalid([f"the reply holds {len(blocks)} blocks of code: send one JSON object"], reply)
    if blocks:
        return _closed(str(blocks[0]).strip())
    start, end = content.find("{"), content.rfind("}") + 1
    if start < 0 or end <= start or "{" in content[end:]:
        raise _invalid(["the reply holds no JSON object"], reply)
    if content[:start].rstrip().endswith(("[", ",")) or content[end:].lstrip().startswith(("]", ",")):
        raise _invalid(["the reply is JSON, but not an object"], reply)  # an object in a list is not the reply
    return _closed(content[start:end])


def _closed(text: str) -> str:
    """The text up to where its object is closed, if only more closing brackets follow, as small models write them."""
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return text  # which is said where it is read
    return text[:end] if not text[end:].strip("]} \n\t") else text


def _strict(text: str, reply: Reply) -> None:
    """Hold text against JSON proper: pydantic's reader takes NaN and keeps the last of equal keys."""

    def no(name: str) -> Any:
        raise ValueError(f"{name} is not JSON")

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            keys = [key for key, _ in items]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise ValueError(f"the key {twice!r} stands twice in one object")
        return found

    def number(digits: str) -> float:
        value = float(digits)
        if value in (float("inf"), float("-inf")):
            raise ValueError(f"{digits[:20]} is beyond the range of numbers")
        return value

    try:
        value = json.loads(text, parse_constant=no, object_pairs_hook=pairs, parse_float=number)
    except (ValueError, RecursionError) as error:
        raise _invalid([f"not JSON: {str(error)[:200]}"], reply) from None
    if not isinstance(value, dict):
        raise _invalid(["the reply is JSON, but not an object"], reply)


def _completion(name: str, arguments: str) -> Any:
    """What instructor reads: a chat completion with one call."""
    from openai.types.chat import ChatCompletion

    call = {"id": "call", "type": "function", "function": {"name": name, "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    return ChatCompletion.model_validate(
        {"id": "", "object": "chat.completion", "created": 0, "model": "", "choices": [choice]}
    )


def _tools_mode() -> Any:
    from instructor import Mode

    return Mode.TOOLS


def _problems(error: Any) -> list[str]:
    found = []
    for one in error.errors(include_url=False):
        where = ".".join(map(str, one["loc"])) or "the object"
        given = "" if one["type"] in {"missing", "json_invalid"} else f" (got {_short(one['input'])})"
        found.append(f"{where}: {one['msg'][:200]}{given}")
    return found


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _invalid(problems: Sequence[str], reply: Reply) -> InvalidReplyError:
    shown = list(problems[:_PROBLEMS])
    if len(problems) > _PROBLEMS:
        shown.append(f"and {len(problems) - _PROBLEMS} more")
    return InvalidReplyError("; ".join(shown), reply=reply, problems=tuple(shown))


def corrected(messages: Sequence[Message], error: InvalidReplyError) -> tuple[Message, ...]:
    """The question again, with the last wrong reply and what is wrong with it.

    Earlier wrong replies are not in it, so that it does not grow with every correction.
    """
    lines = "\n".join(f"- {problem}" for problem in error.problems)
    told = f"That reply cannot be used:\n{lines}\nSend the whole reply again, corrected."
    wrong = _sent(error.reply)
    if not wrong or len(wrong) > _LONGEST:
        return _said_to(messages, f"An earlier reply could not be used:\n{lines}")
    return (*messages, Message("assistant", wrong), Message("user", told))


def _sent(reply: Reply | None) -> str:
    if reply is None:
        return ""
    return "\n".join(call.arguments for call in reply.tool_calls) or reply.content.strip()


def _said_to(messages: Sequence[Message], text: str) -> tuple[Message, ...]:
    """The messages with ``text`` at the end of what the user says last."""
    if messages and messages[-1].role == "user":
        last = messages[-1]
        return (*messages[:-1], replace(last, content=f"{last.content}\n\n{text}".strip()))
    return (*messages, Message("user", text))
