"""Worlds for tool-using language-model agents: a typed YAML spec in, a fast and safe Python class out."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from envscaler.diagnostics import Diagnostic, Span
    from envscaler.errors import (
        EnvscalerError,
        PluginError,
        ReplayFormatError,
        SpecError,
        StateError,
        ToolCallError,
        UsageError,
    )
    from envscaler.runtime import Environment, ToolResult
    from envscaler.session import check, compile, load  # noqa: A004

# Public name -> module. Nothing is imported before it is asked for: a compiled environment runs where the
# compiler's dependencies are not installed, and `envscaler --help` starts at once.
_PUBLIC = {
    "Diagnostic": "envscaler.diagnostics",
    "Environment": "envscaler.runtime",
    "EnvscalerError": "envscaler.errors",
    "PluginError": "envscaler.errors",
    "ReplayFormatError": "envscaler.errors",
    "Span": "envscaler.diagnostics",
    "SpecError": "envscaler.errors",
    "StateError": "envscaler.errors",
    "ToolCallError": "envscaler.errors",
    "ToolResult": "envscaler.runtime",
    "UsageError": "envscaler.errors",
    "check": "envscaler.session",
    "compile": "envscaler.session",
    "load": "envscaler.session",
}

__all__ = [
    "Diagnostic",
    "Environment",
    "EnvscalerError",
    "PluginError",
    "ReplayFormatError",
    "Span",
    "SpecError",
    "StateError",
    "ToolCallError",
    "ToolResult",
    "UsageError",
    "__version__",
    "check",
    "compile",
    "load",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
