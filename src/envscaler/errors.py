"""The exception tree, with an exit code for each branch.

    EnvscalerError                 1   anything envscaler refuses or fails at
    ├── UsageError                 2   the command line or an argument of a public function is wrong
    ├── SpecError                  3   a spec does not pass `envscaler check`; carries the diagnostics
    ├── StateError                 4   a state handed to an environment breaks its types, references or rules
    ├── ToolCallError              1   the value of a failed tool call was asked for
    ├── PluginError                7   a plugin raised, or gave what its contract does not allow
    ├── ReplayFormatError          2   a recording cannot be read
    └── LlmError                   5   a language model could not be asked, or did not answer as asked; see llm/errors.py
        └── BudgetError            6   the next call would go past a limit on cost or tokens

Expected errors are shown as one line; anything else is a bug and keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from envscaler.diagnostics import Diagnostic

__all__ = [
    "EnvscalerError",
    "PluginError",
    "ReplayFormatError",
    "SpecError",
    "StateError",
    "ToolCallError",
    "UsageError",
]


class EnvscalerError(Exception):
    """Root of everything envscaler raises on purpose."""

    exit_code: ClassVar[int] = 1


class UsageError(EnvscalerError):
    """A command or a public function was used wrongly; the message says how to use it."""

    exit_code = 2


class ReplayFormatError(EnvscalerError):
    """A recording does not follow the documented format; the message names file and line."""

    exit_code = 2


class SpecError(EnvscalerError):
    """A spec has errors; ``diagnostics`` holds all of them, in file order."""

    exit_code = 3

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        errors = [d for d in self.diagnostics if d.severity == "error"]
        first = errors[0] if errors else self.diagnostics[0]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(f"{first.headline()}{more}")

    def __reduce__(self) -> tuple[type[SpecError], tuple[tuple[Diagnostic, ...]]]:
        return type(self), (self.diagnostics,)


class StateError(EnvscalerError):
    """A state is not one the spec allows; ``problems`` lists every reason as ``path: reason``."""

    exit_code = 4

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))

    def __reduce__(self) -> tuple[type[StateError], tuple[tuple[str, ...]]]:
        return type(self), (self.problems,)


class ToolCallError(EnvscalerError):
    """``ToolResult.unwrap()`` was called on a failed tool call."""


class PluginError(EnvscalerError):
    """Code of a plugin raised, ended the program, or gave what its contract does not allow; the message names the plugin
    and its distribution, ``__cause__`` is what was raised."""

    exit_code = 7


class LlmError(EnvscalerError):
    """A language model could not be asked or did not answer as asked; ``kind`` is stable and stands in the ledger."""

    exit_code = 5
    kind: ClassVar[str] = "llm"


class BudgetError(LlmError):
    """A limit on cost or tokens is reached: no further call is made, and what was finished is kept."""

    exit_code = 6
    kind = "budget"
