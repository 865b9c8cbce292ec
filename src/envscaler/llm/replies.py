"""What every reply goes through before anyone reads it: reasoning taken out of content, text made safe, the end judged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from envscaler.llm.errors import EmptyReplyError, ProtocolError, RefusedError, TruncatedError
from envscaler.llm.messages import Reply, ToolCall
from envscaler.llm.secrets import without_known

__all__ = ["accepted", "cleaned", "count", "split_reasoning"]

# Tags count only where a line begins, so that JSON, whose strings hold no line breaks, is never cut. An end tag without a
# beginning counts when it is alone on its line.
_TAG = re.compile(r"[^\S\n]*(?:<(think|thinking)>|</(?:think|thinking)>[^\S\n]*(?:\n|\Z))")
_TAG_IN_LINE = re.compile(f"^{_TAG.pattern}", re.MULTILINE)
_LINE_END = re.compile(r"[^\S\n]*\n?")
_SURROGATE = re.compile("[\ud800-\udfff]")


def split_reasoning(text: str) -> tuple[str, str]:
    """Content and reasoning of a text that mixes them by `<think>` tags.

    A block runs from a tag at the beginning of a line to its end tag, or to the end of the text where there is none.
    An end tag alone on a line without a beginning ends reasoning that began in the prompt (templates do that). The content
    holds no more reasoning: splitting it again gives it back.
    """
    kept: list[str] = []
    thoughts: list[str] = []
    place, fresh = 0, False  # after a tag, what follows begins a line
    while tag := (_TAG.match(text, place) if fresh else None) or _TAG_IN_LINE.search(text, place):
        kept.append(text[place : tag.start()])
        place, fresh = tag.end(), True
        if tag[1] is None:
            thoughts.append("".join(kept))
            kept = []
            continue
        end = text.find(f"</{tag[1]}>", place)
        if end < 0:
            thoughts.append(text[place:])
            place = len(text)
            break
        thoughts.append(text[place:end])
        rest = _LINE_END.match(text, end + len(tag[1]) + 3)
        place = rest.end() if rest else end
    if not thoughts:
        return text, ""
    kept.append(text[place:])
    stripped = (thought.strip() for thought in thoughts)
    return "".join(kept).strip(), "\n\n".join(thought for thought in stripped if thought)


def cleaned(reply: Reply) -> Reply:
    """The reply with reasoning apart, no lone surrogates, and no key that a server echoed."""
    message = reply.message
    content, thought = split_reasoning(message.content)
    reasoning = "\n\n".join(part for part in (message.reasoning, thought) if part)
    calls = tuple(ToolCall(_text(c.id), _text(c.name), _arguments(c.arguments)) for c in message.tool_calls)
    message = replace(
        message,
        content=_text(content),
        reasoning=_text(reasoning),
        tool_calls=calls,
        opaque=_everywhere(message.opaque),
    )
    return replace(reply, message=message, model=_text(reply.model))


def _text(text: str) -> str:
    return without_known(_SURROGATE.sub("\ufffd", text))


def _everywhere(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return {_text(str(key)): _everywhere(part) for key, part in value.items()}
    return [_everywhere(part) for part in value] if isinstance(value, (list, tuple)) else value


def _arguments(text: str) -> str:
    # In JSON a lone surrogate may stand as an escape, and means the same.
    return without_known(_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def accepted(reply: Reply) -> Reply:
    """The reply, if it ended as it should. Raises TruncatedError, RefusedError, EmptyReplyError …, which carry it."""
    if reply.finish == "length":
        raise TruncatedError(
            "the reply was cut off at the limit of tokens; raise max_tokens or ask for less", reply=reply
        )
    if reply.finish == "refusal":
        why = reply.content.strip()
        raise RefusedError(f"the model declined{': ' + why[:300] if why else ''}", reply=reply)
    if reply.finish == "other":
        raise ProtocolError("the reply ended for a reason that this version does not know", reply=reply)
    if not reply.content.strip() and not reply.tool_calls:
        raise EmptyReplyError("the reply is empty", reply=reply)
    return reply


def count(value: Any) -> int | None:
    """A number of tokens as a server gives it: a whole number that is none less than 0, else None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = int(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number < 1 << 53 else None
