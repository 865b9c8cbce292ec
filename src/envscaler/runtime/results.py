"""What a tool call gives back, and the one exception with which a tool body refuses."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from envscaler.errors import ToolCallError

__all__ = ["Changed", "Failure", "Ok", "Refused", "ToolError", "ToolResult", "shape_error"]


class Failure(Exception):
    """A call is refused. Raised by generated code and by this package, caught by the call; never seen by callers.

    ``code``: refused, not_found, invalid_argument, unknown_tool, constraint, rule, limit, arithmetic, internal.
    ``line``: the spec's line when known better than by the traceback (0: not).
    """

    def __init__(self, code: str, message: str, rule: str | None = None, line: int = 0) -> None:
        self.code = code
        self.message = message
        self.rule = rule
        self.line = line

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class ToolError(NamedTuple):
    """Why a call failed. ``code`` is one of Failure's; ``rule`` names the rule that refused; ``cause`` is the
    exception behind an `internal` error. ``shape`` is the declared JSON form of errors, or None."""

    code: str
    message: str
    rule: str | None = None
    source: str = ""
    line: int = 0
    shape: Any = None
    cause: BaseException | None = None

    @property
    def where(self) -> str | None:
        """The place in the spec that refused, as ``path:line``, or None when there is none."""
        return f"{self.source}:{self.line}" if self.line else None


class ToolResult:
    """The outcome of a call: ``value`` when ``ok``, else ``error``. ``changed``: the state is not what it was before."""

    __slots__ = ()

    ok: bool
    value: Any
    error: ToolError | None
    changed: bool

    def __repr__(self) -> str:
        outcome = f"value={self.value!r}" if self.ok else f"error={self.error!r}"
        return f"ToolResult(ok={self.ok}, {outcome}, changed={self.changed})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ToolResult):
            return NotImplemented
        return (self.ok, self.value, self.error, self.changed) == (other.ok, other.value, other.error, other.changed)

    __hash__ = None  # type: ignore[assignment]

    def to_json(self) -> dict[str, Any]:
        """``{"success": true, "data": …}`` or ``{"success": false, "error": message}``."""
        if self.error is None:
            return {"success": True, "data": self.value}
        return {"success": False, "error": self.error.message}

    @property
    def output(self) -> Any:
        """What an agent is shown: the value, or the message in the declared form of errors."""
        if self.error is None:
            return self.value
        return self.error.message if self.error.shape is None else shape_error(self.error.shape, self.error.message)

    @property
    def text(self) -> str:
        """``output`` as text: text as it is, anything else as JSON."""
        output = self.output
        return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)

    def unwrap(self) -> Any:
        """The value; raises ToolCallError when the call failed."""
        if self.error is None:
            return self.value
        place = f" ({self.error.where})" if self.error.where else ""
        raise ToolCallError(f"{self.error.code}: {self.error.message}{place}") from self.error.cause


# One class for each outcome, with a slot only for what differs: Python makes such objects fastest.


class Ok(ToolResult):
    """A call that changed nothing."""

    __slots__ = ("value",)

    ok = True
    error = None
    changed = False


class Changed(ToolResult):
    """A call that changed the state."""

    __slots__ = ("value",)

    ok = True
    error = None
    changed = True


class Refused(ToolResult):
    """A call that failed."""

    __slots__ = ("error",)

    ok = False
    value = None
    changed = False


def shape_error(shape: Any, message: str) -> Any:
    """The declared form of errors with the message put where ``{message}`` stands."""
    if isinstance(shape, str):
        return shape.replace("{message}", message)
    if isinstance(shape, dict):
        return {k: shape_error(v, message) for k, v in shape.items()}
    return [shape_error(v, message) for v in shape] if isinstance(shape, list) else shape
