"""How commands print: text from specs escaped, expected errors as a line, broken pipes and Ctrl-C without noise."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import typer

from envscaler.cli import exits
from envscaler.cli.options import spread
from envscaler.diagnostics import printable
from envscaler.errors import EnvscalerError, SpecError
from envscaler.plugin.problems import PluginWarning

__all__ = ["boundary", "echo", "echo_json", "kept", "note"]


def echo(text: str) -> None:
    """Print to standard output, control characters escaped."""
    print(printable(text))


def note(text: str) -> None:
    """Print to standard error, control characters escaped."""
    print(printable(text), file=sys.stderr)


def echo_json(value: Any) -> None:
    """Print JSON for a program: ASCII, two spaces."""
    print(json.dumps(value, indent=2))


def boundary(command: Callable[..., int]) -> Callable[..., None]:
    """A command that returns its exit code, as typer wants it: ``EnvscalerError`` becomes a line and its exit code."""
    signature, gathered = spread(command)

    @functools.wraps(command)
    def run(**given: Any) -> None:
        try:
            with _warnings_as_lines():
                code = command(**gathered(given))
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

    run.__annotations__ = {name: one.annotation for name, one in signature.parameters.items()}
    run.__signature__ = signature  # type: ignore[attr-defined]
    return run


@contextlib.contextmanager
def kept(wanted: bool = True) -> Iterator[None]:
    """Around work that goes on where it was ended, if that is ``wanted``: Ctrl-C says so."""
    try:
        yield
    except KeyboardInterrupt:
        if wanted:
            note("interrupted: what is finished is kept, and the same command goes on")
        raise


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
