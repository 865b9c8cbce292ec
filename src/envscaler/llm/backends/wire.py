"""What the backends over a provider's SDK share: the key that may be sent, one client per event loop, faults by name."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from importlib import import_module
from time import time
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from envscaler.errors import UsageError
from envscaler.llm.errors import (
    AccessError,
    CallError,
    ContextError,
    DeadlineError,
    OverloadedError,
    ProtocolError,
    RateLimitError,
    RequestError,
    ServerError,
    UnreachableError,
)
from envscaler.llm.secrets import read_key

__all__ = ["Clients", "guarded", "key_in", "key_variable", "reading", "sdk"]

T = TypeVar("T")

_CONTEXT = re.compile(
    r"context[ _](?:length|window|size)|context_length_exceeded|prompt is too long|maximum context|too many tokens"
    r"|exceeds? the (?:available )?context|requested tokens .* exceed",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"validation errors?\b.*\bbody\b"
)  # llama.cpp's server calls a request that it does not take a 500
_SHOWN = 300  # characters of a server's own words in a message
_NO_CAPACITY = {503, 529}


def sdk(name: str) -> Any:
    """The provider's package. Untyped on purpose: its types differ between the versions that are allowed."""
    try:
        return import_module(name)
    except ImportError as error:
        raise UsageError(f"this backend needs the package {name}: {error}") from None


def key_variable(settings: Mapping[str, Any], standard: str) -> str:
    """The variable that holds the key to send, empty for none.

    The provider's own variable counts for the provider's own address only; for another one, `key_env` names the variable,
    and without it no key is sent.
    """
    return settings.get("key_env") or ("" if settings.get("base_url") else standard)


def key_in(variable: str, subject: str) -> str:
    """The key in a variable, a stand-in where none is wanted. Raises AccessError."""
    if not variable:
        return "none"
    key = read_key(variable)
    if key is None:
        raise AccessError(f"{subject}: no key: set the environment variable {variable}")
    return key


class Clients:
    """An SDK's client for each event loop: its connections belong to the loop that made them."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()

    def get(self) -> Any:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = self._make()
        return client

    async def aclose(self) -> None:
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()


async def guarded(package: Any, call: Awaitable[T], timeout: float, subject: str, variable: str) -> T:
    """The call's result within ``timeout`` seconds, or the `CallError` that says what went wrong.

    The SDK's own time-outs are per read: a server that sends a byte a minute would never reach them.
    """
    try:
        async with asyncio.timeout(timeout):
            return await call
    except TimeoutError:
        raise DeadlineError(f"{subject}: no complete answer within {timeout:g} s") from None
    except package.APITimeoutError:
        raise DeadlineError(f"{subject}: no answer within {timeout:g} s") from None
    except package.APIStatusError as error:
        raise _by_status(error, subject, variable) from None
    except package.APIConnectionError as error:
        raise UnreachableError(f"{subject}: {_cause(error)}") from None
    except (package.APIError, ValueError) as error:
        raise ProtocolError(f"{subject}: the answer is not of the protocol: {_short(str(error))}") from None


def reading(read: Callable[[Any, str], T], answer: Any, subject: str) -> T:
    """What ``read`` makes of an SDK's answer, which is not validated: anything may be missing, or of another type."""
    try:
        return read(answer, subject)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ProtocolError(f"{subject}: the answer is not of the protocol: {_short(str(error))}") from None


def _by_status(error: Any, subject: str, variable: str) -> CallError:
    status = int(error.status_code)
    said = _said(error)
    line = f"{subject}: HTTP {status}{': ' + said if said else ''}"
    after = _retry_after(error.response.headers)
    if status in {401, 403}:
        return AccessError(f"{line}; {_what_to_set(status, variable)}")
    if status == 413 or (status in {400, 422, 500} and _CONTEXT.search(f"{said} {getattr(error, 'code', '')}")):
        return ContextError(line)
    if status == 429:
        if "insufficient_quota" in f"{said} {getattr(error, 'code', '')}":
            return AccessError(f"{line}; the account has no credit left")
        return RateLimitError(line, retry_after=after)
    if status in _NO_CAPACITY:
        return OverloadedError(line, retry_after=after)
    if status == 500 and _REFUSED.search(said):
        return RequestError(line)
    if status >= 500 or status in {408, 409}:
        return ServerError(line, retry_after=after)
    return RequestError(line)


def _what_to_set(status: int, variable: str) -> str:
    if not variable:
        return "no key was sent: name the environment variable that holds one with key_env"
    return f"set {variable} to a {'valid key' if status == 401 else 'key that may use this model'}"


def _said(error: Any) -> str:
    """The server's own words, from the places where servers put them."""
    body = error.body
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, Mapping):
            inner = inner.get("message") or inner.get("detail") or inner.get("type") or ""
        return _short(str(inner))
    if isinstance(body, str):
        return _short(body)
    return ""


def _cause(error: BaseException) -> str:
    reason = error
    while reason.__cause__ is not None:
        reason = reason.__cause__
    return _short(str(reason) or type(reason).__name__)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " …"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The server's hint in seconds: `retry-after-ms`, or `retry-after` as seconds or a date."""
    for header, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(header)
        if text is None:
            continue
        try:
            seconds = float(text) * unit
        except ValueError:
            try:
                seconds = parsedate_to_datetime(text).timestamp() - time()
            except (ValueError, TypeError):
                continue
        if 0 <= seconds < 1e9:
            return seconds
    return None
