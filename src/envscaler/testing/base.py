"""What conformance suites have in common: they are plain classes, which pytest and `envscaler plugins --check` both run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, Self
from unittest import SkipTest

from envscaler.errors import EnvscalerError
from envscaler.plugin.entries import Entry
from envscaler.plugin.records import Subject

__all__ = ["Conformance", "example_calls", "not_run", "refused", "shipped", "subject_of", "want"]


class Conformance:
    """A suite: its methods `test_…` are the tests, their docstrings say what is wanted.

    ``make``: a staticmethod that makes what is tested, as the factory of its entry does.
    """

    make: Callable[..., Any]

    @classmethod
    def of(cls, entry: Entry) -> type[Self]:
        """The suite for an entry that a plugin offers."""
        return type(f"{cls.__name__}Of", (cls,), {"make": staticmethod(entry.factory)})  # type: ignore[attr-defined]

    @classmethod
    def wanted(cls) -> Mapping[str, str]:
        """What is wanted, by the name of the test."""
        found = (name for name in dir(cls) if name.startswith("test_"))
        return {name: " ".join((inspect.getdoc(getattr(cls, name)) or name).split()) for name in found}


def want(condition: object, otherwise: str) -> None:
    """The test fails with ``otherwise`` unless ``condition`` holds; said here, as plain assertions only speak in pytest."""
    if not condition:
        raise AssertionError(otherwise)


def not_run(reason: str) -> NoReturn:
    """The test cannot be made here; pytest takes it for skipped."""
    raise SkipTest(reason)


def refused(what: str, function: Callable[..., Any], *args: Any) -> None:
    """``function(…)`` must raise an EnvscalerError, as UsageError is one."""
    try:
        function(*args)
    except EnvscalerError:
        return
    except Exception as error:
        raise AssertionError(f"{what} must raise UsageError, not {type(error).__name__}: {error}") from error
    raise AssertionError(f"{what} must raise UsageError, but nothing was raised")


@cache
def shipped(name: str) -> Path:
    """A spec that ships, by name."""
    from envscaler.session.packs import spec_path

    return spec_path(name)


@cache
def subject_of(spec: Path) -> Subject:
    """The subject of a spec, made once."""
    from envscaler.session.judging import subject

    return subject(spec)


def example_calls(subject: Subject) -> list[tuple[str, Any]]:
    """The calls of a spec's examples in order, some of which fail; and some that no agent should make."""
    spec = subject.checked.spec
    assert spec is not None
    calls: list[tuple[str, Any]] = [
        (tool.name, dict(example.call))
        for tool in spec.tools.values()
        if tool.actor == "agent"
        for example in tool.examples
    ]
    first = next(iter(spec.tools))
    odd = ({"x": 1}, None, "{", '{"a": [1, null]}', {"\ud800": 1e400})
    return [*calls, ("no_such_tool", {"x": 1}), *((first, arguments) for arguments in odd)]
