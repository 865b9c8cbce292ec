"""Worlds for tool-using language-model agents: a typed YAML spec in, a fast and safe Python class out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envscaler.lazy import public

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
    from envscaler.session.episodes import Episodes

__all__ = [
    "Diagnostic",
    "Environment",
    "EnvscalerError",
    "Episodes",
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

# Nothing is imported before it is asked for: a compiled environment runs where the compiler's dependencies are not
# installed, and `envscaler --help` starts at once.
_OFFERED = {
    "envscaler.diagnostics": "Diagnostic Span",
    "envscaler.runtime": "Environment ToolResult",
    "envscaler.errors": "EnvscalerError PluginError ReplayFormatError SpecError StateError ToolCallError UsageError",
    "envscaler.session": "check compile load",
    "envscaler.session.episodes": "Episodes",
}
__getattr__, __dir__ = public(__name__, _OFFERED)
