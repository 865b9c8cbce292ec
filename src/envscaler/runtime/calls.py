"""The end of a call: a value becomes a result and is committed, an exception becomes an error result and is undone."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from envscaler.diagnostics import nearest
from envscaler.runtime.reading import decode
from envscaler.runtime.results import Changed, Failure, Ok, Refused, ToolError, ToolResult
from envscaler.runtime.state import commit, rollback
from envscaler.runtime.values import clean_text, kind, show, shown

if TYPE_CHECKING:
    from envscaler.runtime.declared import Tool
    from envscaler.runtime.model import Model
    from envscaler.runtime.state import State

__all__ = ["call", "done", "failed"]


def done(state: State, value: Any) -> ToolResult:
    """Commit what the call wrote; its result. Failures of the commit are raised, for `failed`. A value that is a result
    already comes from a tool that has kept what it wrote."""
    if value.__class__ is Ok or value.__class__ is Changed:
        return value
    result = Changed() if state._dirty and commit(state) else Ok()
    result.value = value
    return result


def failed(state: State, problem: BaseException, name: str, actor: str = "") -> ToolResult:
    """Undo what the call wrote; its error result. Interrupts are raised again."""
    rollback(state)
    if not isinstance(problem, Exception):
        raise problem
    model = state._model
    tool = model.setups.get(name) if actor == "setup" else model.tools.get(name)
    cause: Exception | None = None
    if isinstance(problem, Failure):
        code, message = problem.code, problem.message
    elif isinstance(problem, TypeError) and model.loose:  # only an `any` value can be of the wrong type
        code, message = "arithmetic", f"A value is of another type than it should be: {str(problem)[:200]}."
        cause = problem
    else:
        code, message, cause = _words(problem)
    line = getattr(problem, "line", 0) or _line(model, problem.__traceback__) or (tool.line if tool is not None else 0)
    if cause is not None and line:
        cause.add_note(f"in {name}, {model.source}:{line}")
    return _error(model, tool, code, message, getattr(problem, "rule", None), line, cause)


def _error(
    model: Model,
    tool: Tool | None,
    code: str,
    message: str,
    rule: str | None = None,
    line: int = 0,
    cause: BaseException | None = None,
) -> ToolResult:
    if not clean_text(message):
        message = message.encode("utf-8", "backslashreplace").decode()
    shape = model.errors if tool is None or tool.errors is None else tool.errors
    result = Refused()
    result.error = ToolError(code, message, rule, model.source, line, shape, cause)
    return result


def _words(problem: Exception) -> tuple[str, str, Exception | None]:
    """Code, message and cause of an exception that Python raised in a body."""
    match problem:
        case ZeroDivisionError():
            return "arithmetic", "division by zero", None
        case OverflowError():
            return "arithmetic", "The result is too large.", None
        case KeyError() | IndexError():
            missing = show(problem.args[0]) if isinstance(problem, KeyError) and problem.args else "that position"
            return "not_found", f"There is nothing at {missing}.", None
        case UnicodeError():
            return "invalid_argument", "text is not valid Unicode", None
        case ValueError():
            return "arithmetic", str(problem)[:200] or "A value is out of range.", None
        case RecursionError() | MemoryError():
            return "limit", "The call needs too much memory.", None
    return "internal", f"The tool failed: {type(problem).__name__}.", problem


def _line(model: Model, trace: TracebackType | None) -> int:
    """The spec's line of the innermost frame that runs generated code."""
    line = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in model.files:
            line = model.lines.get(trace.tb_lineno, line)
        trace = trace.tb_next
    return line


def not_bound(state: State, problem: BaseException) -> bool:
    """Whether a call failed before the tool began: no such tool, or arguments other than its quick way takes."""
    if not isinstance(problem, TypeError | KeyError | AttributeError):  # the last: `get` of a list or text
        return False
    trace = problem.__traceback__
    inner = None if trace is None else trace.tb_next
    while inner is not None and inner.tb_frame.f_code in state._model.quick_codes:
        inner = inner.tb_next
    return inner is None


# -- the long way round, for everything but plain keyword arguments to a known tool


def call(state: State, name: Any, arguments: Any, actor: Any) -> ToolResult:
    """A call by name with whatever a model sent."""
    model = state._model
    runs = model.runs.get(actor) if actor.__class__ is str else None
    run = runs.get(name) if runs is not None and name.__class__ is str else None
    if run is None:
        return _error(model, None, "unknown_tool", model.unknown_tool.replace("{name}", _tool_name(name)))
    tool = model.tool(name, actor)
    assert tool is not None
    try:
        given = _mapping(arguments)
        _check_names(tool, given)
    except Failure as failure:
        return _error(model, tool, failure.code, failure.message, None, tool.line)
    try:
        return done(state, run(state, **given))
    except BaseException as problem:
        return failed(state, problem, name, actor)


def _tool_name(name: Any) -> str:
    if name.__class__ is str and name.isascii() and name.isprintable() and 0 < len(name) <= 64:
        return str(name)
    return shown(name)


def _mapping(arguments: Any) -> dict[str, Any]:
    if arguments is None:
        return {}
    if isinstance(arguments, str | bytes):
        try:
            arguments = decode(arguments) if arguments.strip() else {}
        except ValueError as error:
            raise Failure("invalid_argument", f"The arguments are not a JSON object: {str(error)[:200]}.") from None
        if arguments is None:
            return {}
    if not isinstance(arguments, Mapping):
        raise Failure("invalid_argument", f"The arguments must be a JSON object, not {kind(arguments)}.")
    try:
        return dict(arguments)
    except Exception:
        raise Failure("invalid_argument", "The arguments must be a JSON object.") from None


def _check_names(tool: Tool, given: Mapping[Any, Any]) -> None:
    known = {p.json: p for p in tool.params.values()}
    problems = []
    for key in given:
        if key.__class__ is not str or key not in known:
            text = shown(key) if key.__class__ is not str or not key.isascii() or len(key) > 64 else key
            hint = nearest(text, known) if key.__class__ is str and len(text) <= 64 else None
            problems.append(f"unknown argument {text}" + (f"; did you mean {hint}?" if hint else ""))
    if problems:
        raise Failure("invalid_argument", "; ".join(problems[:8]))
