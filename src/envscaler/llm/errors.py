"""What can go wrong between a request and an accepted reply, one class each, and which of it is worth another try.

    LlmError                       5
    ├── AccessError                5   no key, a wrong key, or no permission; the message says what to set
    ├── RequestError               5   the server says that the request is wrong; it would say so again
    │   └── ContextError           5   the request is longer than the model can read
    ├── RateLimitError           t 5   too many requests
    ├── OverloadedError          t 5   the service has no capacity (529, 503)
    ├── ServerError              t 5   the service failed (other 5xx)
    ├── UnreachableError         t 5   no connection, or it was dropped
    ├── DeadlineError            t 5   no complete answer in time
    ├── ProtocolError            t 5   an answer that is not of the provider's protocol
    ├── EmptyReplyError          t 5   a reply with neither text nor a tool call
    ├── TruncatedError             5   the reply was cut off at the limit of tokens
    ├── RefusedError               5   the model, or a filter before it, declined
    ├── InvalidReplyError          5   no reply of the asked shape, corrections included
    ├── RecordingError             5   a recording has no reply to this request
    ├── BackendError               5   a backend raised what no backend should
    └── BudgetError                6   the next call would go past a limit

Those with a t are tried again within the role's budget of attempts and time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from envscaler.errors import BudgetError, LlmError
from envscaler.llm.secrets import redact

if TYPE_CHECKING:
    from envscaler.llm.client import Spent
    from envscaler.llm.messages import Reply

__all__ = [
    "UNUSABLE",
    "AccessError",
    "BackendError",
    "BudgetError",
    "CallError",
    "ContextError",
    "DeadlineError",
    "EmptyReplyError",
    "InvalidReplyError",
    "LlmError",
    "OverloadedError",
    "ProtocolError",
    "RateLimitError",
    "RecordingError",
    "RefusedError",
    "RequestError",
    "ServerError",
    "TruncatedError",
    "UnreachableError",
]


class CallError(LlmError):
    """A call that failed.

    ``retry_after`` is the server's hint in seconds. ``reply`` is what came back, where a reply did: it was paid for, and
    a caller that can use a part of it may. ``spent`` is what the whole call used, once it is given up. Keys are taken
    out of the message here, for all of these classes.
    """

    transient: ClassVar[bool] = False
    most: ClassVar[int | None] = None  # attempts, where fewer than the role's setting make sense

    def __init__(self, message: str, *, retry_after: float | None = None, reply: Reply | None = None) -> None:
        super().__init__(redact(message))
        self.retry_after = retry_after
        self.reply = reply
        self.spent: Spent | None = None


class AccessError(CallError):
    """No key, a wrong key, or no permission for this model."""

    kind = "access"


class RequestError(CallError):
    """The server refuses the request as it stands: an unknown model, an option that it does not know."""

    kind = "request"


class ContextError(RequestError):
    """The request is longer than the model can read."""

    kind = "context_exceeded"


class RateLimitError(CallError):
    """Too many requests, or too many tokens, in a time."""

    kind = "rate_limit"
    transient = True


class OverloadedError(CallError):
    """The service has no capacity at the moment."""

    kind = "overloaded"
    transient = True


class ServerError(CallError):
    """The service failed."""

    kind = "server"
    transient = True


class UnreachableError(CallError):
    """No connection could be made, or it was dropped."""

    kind = "connection"
    transient = True


class DeadlineError(CallError):
    """No complete answer came within the role's `timeout`."""

    kind = "timeout"
    transient = True


class ProtocolError(CallError):
    """What came back is not what the provider's protocol promises."""

    kind = "protocol"
    transient = True


class EmptyReplyError(CallError):
    """The reply has neither text nor a tool call."""

    kind = "empty"
    transient = True
    most = 3


class TruncatedError(CallError):
    """The reply was cut off at the limit of tokens. ``reply`` holds the part."""

    kind = "truncated"


class RefusedError(CallError):
    """The model, or a filter before it, declined to answer."""

    kind = "refused"


class InvalidReplyError(CallError):
    """A structured call got no reply of the asked shape, after all corrections."""

    kind = "invalid_reply"

    def __init__(self, message: str, *, reply: Reply | None = None, problems: tuple[str, ...] = ()) -> None:
        super().__init__(message, reply=reply)
        self.problems = problems


class RecordingError(CallError):
    """A recording holds no reply to this request."""

    kind = "recording"


class BackendError(CallError):
    """A backend, as a rule a plugin's, raised what is no `CallError`, or gave what is no `Reply`."""

    kind = "backend"


UNUSABLE = (InvalidReplyError, TruncatedError, RefusedError, EmptyReplyError)
"""What a model can do wrong with a reply; all else that goes wrong is no fault of it."""
