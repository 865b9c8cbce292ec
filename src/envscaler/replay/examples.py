"""A compiled class held against its own spec: the initial state obeys the rules, every example comes out as written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from envscaler.diagnostics import Diagnostic, Span
from envscaler.errors import StateError
from envscaler.replay.values import mismatches, short
from envscaler.spec.codes.base import Code
from envscaler.spec.model import Example, Spec, StateDef, ToolDef
from envscaler.spec.types import MISSING

if TYPE_CHECKING:
    from envscaler.runtime import Environment, ToolResult

__all__ = ["CODES", "INITIAL_STATE", "WRONG_EXAMPLE", "given_state", "laid_over", "verify"]

INITIAL_STATE = "initial-state"
WRONG_EXAMPLE = "example-differs"

_SHELF = """\
states:
  books:
    record: Book
    key: {name: book_id, make: "B-{n}"}
    fields: {title: str, copies: int}
rules:
  not_negative:
    text: There is no negative number of copies.
    each: books
    holds: |
      it.copies >= 0
tools:
  copies:
    kind: read
    description: How many copies of a book there are.
    params: {book_id: {ref: books, as: book}}
    do: |
      return book.copies
    examples:
      - {call: {book_id: B-1}, returns: %s}
initial_state:
  books:
    B-1: {title: Emma, copies: %s}
"""
CODES = {
    INITIAL_STATE: Code(
        INITIAL_STATE,
        "The initial state breaks a rule",
        "Rules hold before and after every call, so they must hold at the start. Each record that breaks one is named.",
        _SHELF % (-1, -1),
        _SHELF % (1, 1),
    ),
    WRONG_EXAMPLE: Code(
        WRONG_EXAMPLE,
        "An example comes out otherwise",
        "Examples are the tests of a spec. Each starts from the initial state (with `given` laid over it) and seed 0; result "
        "or error, the cited rule and the fields under `then` must be as written.",
        _SHELF % (2, 1),
        _SHELF % (1, 1),
    ),
}


def verify(spec: Spec, environment: type[Environment]) -> list[Diagnostic]:
    """What does not hold: the initial state's problems, or else every example that comes out otherwise."""
    try:
        environment.new()
    except StateError as error:
        start = Span(spec.path, 1, 1, 1, 2)
        return [
            Diagnostic(INITIAL_STATE, start, f"the initial state is not allowed: {problem}")
            for problem in error.problems
        ]
    return [
        _diagnostic(tool, example, problem)
        for tool in spec.tools.values()
        for example in tool.examples
        for problem in _run(spec, environment, tool, example)
    ]


def _diagnostic(tool: ToolDef, example: Example, problem: str) -> Diagnostic:
    title = f"example of {tool.name}: {problem}"
    return Diagnostic(WRONG_EXAMPLE, example.span, title, help="correct the example or the tool's logic")


def _run(spec: Spec, environment: type[Environment], tool: ToolDef, example: Example) -> Iterator[str]:
    try:
        env = begun(spec, environment, example)
    except StateError as error:
        yield f"`given` makes a state that is not allowed: {error.problems[0]}"
        return
    try:
        result = env.call(tool.name, dict(example.call), actor=tool.actor)
    except Exception as error:  # a compiled class never does; one that was derived from it may
        yield f"the call raised {type(error).__name__}: {short(str(error))}"
        return
    yield from _outcome(example, result)
    if example.then:
        yield from _after(spec, example.then, env.state)


def _outcome(example: Example, result: ToolResult) -> Iterator[str]:
    error = result.error
    if example.error is None and example.rule is None:
        if error is not None:
            cause = f" ({error.cause!r})" if error.cause is not None else ""
            yield f"expected {_expected(example)}, got error {short(error.message)}{cause}"
        elif example.returns is not MISSING:
            for place in mismatches(example.returns, result.value, 5):
                yield f"result{_dotted(place.path)}: expected {short(place.expected)}, got {short(place.got)}"
    elif error is None:
        yield f"expected error {short(example.error or example.rule)}, got {short(result.value)}"
    else:
        if example.error is not None and error.message != example.error:
            yield f"expected error {short(example.error)}, got {short(error.message)}"
        if example.rule is not None and error.rule != example.rule:
            yield f"expected rule {example.rule}, got {error.rule or 'none'} (error {short(error.message)})"


def _expected(example: Example) -> str:
    return "a result" if example.returns is MISSING else short(example.returns)


def _dotted(pointer: str) -> str:
    return f" at {pointer}" if pointer else ""


def begun(spec: Spec, environment: type[Environment], example: Example) -> Environment:
    """The episode that an example begins with. Raises StateError when what it gives is not allowed."""
    return environment.new(given_state(spec, example.given) if example.given else None, clock=example.at)


def given_state(spec: Spec, given: Mapping[str, Any]) -> dict[str, Any]:
    """The initial state with ``given`` laid over it: by state, then key, then field; null for a record removes it."""
    return laid_over(spec, spec.initial_state, given)


def laid_over(spec: Spec, state: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Any state in JSON form with what an example gives laid over it, as in `given_state`; neither is changed."""
    state = dict(state)
    for name, part in given.items():
        definition = spec.states.get(name)
        if definition is not None and definition.form == "flat" and isinstance(part, Mapping):
            state.update(part)
        elif definition is None or definition.single or not isinstance(part, Mapping):
            state[name] = _over(state.get(name), part)
        else:
            state[name] = _collection(definition, state.get(name), part)
    return state


def _collection(definition: StateDef, old: Any, part: Mapping[str, Any]) -> Any:
    records = _laid(_by_key(definition, old), part, definition.tree.nested if definition.tree else None)
    if definition.form != "list":
        return records
    assert definition.key is not None
    return [{definition.key.json: key, **record} for key, record in records.items()]


def _laid(old: Mapping[str, Any], part: Mapping[str, Any], nested: str | None) -> dict[str, Any]:
    """Records with ``part`` over them; in a nested tree those below a node are laid over one another, too."""
    records = {str(k): v for k, v in old.items()}
    for key, record in part.items():
        if record is None:
            records.pop(str(key), None)
            continue
        before = records.get(str(key))
        records[str(key)] = _over(before, record)
        if nested in record:
            below = before.get(nested, {}) if isinstance(before, Mapping) else {}
            records[str(key)][nested] = _laid(below, record[nested], nested)
    return records


def _over(old: Any, new: Any) -> Any:
    return {**old, **new} if isinstance(old, Mapping) and isinstance(new, Mapping) else new


def _by_key(definition: StateDef, part: Any) -> Mapping[str, Any]:
    """A collection's JSON as key -> record, whatever its form."""
    if isinstance(part, list) and definition.key is not None:
        return {str(record.get(definition.key.json)): record for record in part}
    return part or {}


def _after(spec: Spec, then: Mapping[str, Any], state: Mapping[str, Any]) -> Iterator[str]:
    """Every field that ``then`` lists and that is otherwise in ``state``; null for a record says that there is none."""
    for name, part in then.items():
        definition = spec.states.get(name)
        if definition is None or definition.single or not isinstance(part, Mapping):
            flat = definition is not None and definition.form == "flat"
            yield from _fields(name, part, state if flat else state.get(name))
            continue
        nested = definition.tree.nested if definition.tree else None
        yield from _records(name, part, _by_key(definition, state.get(name)), nested)


def _records(where: str, part: Mapping[str, Any], state: Mapping[str, Any], nested: str | None) -> Iterator[str]:
    records = {str(k): v for k, v in state.items()}
    for key, expected in part.items():
        yield from _fields(f"{where}[{key!r}]", expected, records.get(str(key)), nested)


def _fields(where: str, expected: Any, got: Any, nested: str | None = None) -> Iterator[str]:
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        if nested in expected:
            yield from _records(f"{where}.{nested}", expected[nested], got.get(nested, {}), nested)
            expected = {k: v for k, v in expected.items() if k != nested}
        got = {k: got[k] for k in expected if k in got}
    for place in mismatches(expected, got, 5):
        yield f"afterwards {where}{_dotted(place.path)}: expected {short(place.expected)}, got {short(place.got)}"
