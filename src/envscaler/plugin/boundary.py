"""The one boundary behind which code of plugins runs: whatever it raises or gives wrongly becomes a PluginError."""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from envscaler.errors import EnvscalerError, PluginError
from envscaler.plugin.problems import Origin

__all__ = ["Boundary", "guarded", "said"]

T = TypeVar("T")
Check = Callable[["Boundary", str, Any], Any]


class Boundary:
    """Runs code of one plugin. EnvscalerErrors pass, being typed already; so does KeyboardInterrupt, being the user's."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin

    def run(self, doing: str, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        """``function(…)``; anything else that it raises, SystemExit too, becomes a PluginError saying ``doing``."""
        try:
            return function(*args, **kwargs)
        except (KeyboardInterrupt, EnvscalerError):
            raise
        except BaseException as error:
            raise self.failure(doing, said(error)) from error

    def each(self, doing: str, items: Iterable[T]) -> Iterator[T]:
        """The items one by one, each got behind the boundary; closing this closes the plugin's iterator."""
        iterator = self.run(doing, iter, items)
        end = object()
        try:
            while (item := self.run(doing, next, iterator, end)) is not end:
                yield cast(T, item)
        finally:
            close = getattr(iterator, "close", None)
            if callable(close):
                self.run(doing, close)

    async def wait(self, doing: str, awaitable: Awaitable[T]) -> T:
        """What ``awaitable`` gives, waited for behind the boundary. Being cancelled is no failure."""
        try:
            return await awaitable
        except (KeyboardInterrupt, EnvscalerError, asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException as error:
            raise self.failure(doing, said(error)) from error

    def expect(self, doing: str, value: Any, *wanted: type[Any]) -> Any:
        """``value`` if it is of one of the classes; else it is the plugin's failure."""
        if isinstance(value, wanted):
            return value
        names = " or ".join("None" if kind is type(None) else kind.__name__ for kind in wanted)
        raise self.failure(doing, f"gave {_shown(value)} where {names} is wanted")

    def failure(self, doing: str, reason: str) -> PluginError:
        """The error to raise for what the plugin did wrong."""
        return PluginError(f"{self.origin}: {doing}: {reason}")


def said(error: BaseException) -> str:
    """What was raised and where, in one line: ``KeyError: 'x' (thing.py:12)``."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # its own __str__ is third-party code too
        text = ""
    kind = type(error).__name__
    frames = [f for f in traceback.extract_tb(error.__traceback__)[1:] if "importlib" not in f.filename]
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return (f"{kind}: {text}" if text else kind) + place


def _shown(value: Any) -> str:
    return "None" if value is None else f"an object of {type(value).__name__}"


class _Guarded:
    """Stands for an object of a plugin: each of its methods runs behind the boundary, its result is looked at."""

    def __init__(self, target: Any, boundary: Boundary, what: str, checks: Mapping[str, Check]) -> None:
        self.__target = target
        self.__boundary = boundary
        self.__what = what
        self.__checks = checks

    def __getattr__(self, name: str) -> Any:
        boundary, doing = self.__boundary, f"{self.__what}, {name}"
        value = boundary.run(doing, getattr, self.__target, name)
        if not callable(value):
            return value
        check = self.__checks.get(name)

        def run(*args: Any, **kwargs: Any) -> Any:
            result = boundary.run(doing, value, *args, **kwargs)
            if inspect.isawaitable(result):
                return _awaited(boundary, doing, result, check)
            return result if check is None else check(boundary, doing, result)

        return run


async def _awaited(boundary: Boundary, doing: str, result: Awaitable[Any], check: Check | None) -> Any:
    value = await boundary.wait(doing, result)
    return value if check is None else check(boundary, doing, value)


def guarded(target: T, boundary: Boundary, what: str, checks: Mapping[str, Check]) -> T:
    """``target`` behind the boundary. ``what`` names it in messages; ``checks`` look at the results of methods."""
    missing = [name for name in checks if not callable(boundary.run(what, getattr, target, name, None))]
    if missing:
        raise boundary.failure(what, f"an object of {type(target).__name__} has no method {missing[0]}")
    return cast(T, _Guarded(target, boundary, what, checks))
