"""How commands print: text from specs escaped, expected errors as a line, broken pipes and Ctrl-C without noise."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, get_type_hints

import typer

from envscaler.cli import exits
from envscaler.diagnostics import printable
from envscaler.errors import EnvscalerError, SpecError
from envscaler.plugin.problems import PluginWarning

__all__ = ["boundary", "echo", "echo_json", "note"]

P = ParamSpec("P")


def echo(text: str) -> None:
    """Print to standard output, control characters escaped."""
    print(printable(text))


def note(text: str) -> None:
    """Print to standard error, control characters escaped."""
    print(printable(text), file=sys.stderr)


def echo_json(value: Any) -> None:
    """Print JSON for a program: ASCII, two spaces."""
    print(json.dumps(value, indent=2))


def boundary(command: Callable[P, int]) -> Callable[P, None]:
    """A command that returns its exit code, as typer wants it: ``EnvscalerError`` becomes a line and its exit code."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with _warnings_as_lines():
                code = command(*args, **kwargs)
            sys.stdout.flush()
        except EnvscalerError as error:
            note(_line(error))
            code = error.exit_code
        except KeyboardInterrupt:
            code = exits.INTERRUPTED
        except BrokenPipeError:
            # Whoever read has left. Python would complain again when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = exits.OK
        raise typer.Exit(code)

    _resolve(run, command)
    return run


def _resolve(run: Any, command: Callable[..., Any]) -> None:
    """Give ``run`` the annotations of ``command`` as they are meant: typer asks for them four times, and each time they would
    be made from text anew."""
    hints = get_type_hints(command, include_extras=True)
    found = inspect.signature(command)
    known = [one.replace(annotation=hints.get(name, one.annotation)) for name, one in found.parameters.items()]
    run.__annotations__ = hints
    run.__signature__ = found.replace(parameters=known, return_annotation=hints.get("return", found.return_annotation))


@contextlib.contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Each PluginWarning is printed as one line, once; other warnings are shown as they were."""
    shown: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", PluginWarning)
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if not issubclass(category, PluginWarning):
                others(message, category, *where, **more)
            elif str(message) not in shown:
                shown.add(str(message))
                note(f"envscaler: {' '.join(str(message).split())}")

        warnings.showwarning = show
        yield


def _line(error: EnvscalerError) -> str:
    more = " (`envscaler check` shows it in full)" if isinstance(error, SpecError) else ""
    first, *others = str(error).splitlines() or [""]
    return "\n".join([f"envscaler: {first}{more}", *(f"  {line}" for line in others)])
