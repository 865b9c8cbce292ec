"""What each exit code means: one table for the commands, the help text and the reference."""

from __future__ import annotations

from typing import Final

__all__ = ["BUDGET", "FINDINGS", "INTERRUPTED", "LLM", "MEANINGS", "OK", "PLUGIN", "SPEC", "STATE", "USAGE"]

OK: Final = 0
FINDINGS: Final = 1
USAGE: Final = 2
SPEC: Final = 3
STATE: Final = 4
LLM: Final = 5
BUDGET: Final = 6
PLUGIN: Final = 7
INTERRUPTED: Final = 130

MEANINGS: Final = {
    OK: "done, and nothing to report",
    FINDINGS: "done, with findings: a tool call failed, a replay differs, an example fails, a file is not formatted, two "
    "specs differ, a spec does not pass its assessment",
    USAGE: "the command line is wrong, or a file cannot be read",
    SPEC: "a spec does not pass `envscaler check`",
    STATE: "a state breaks the types, references or rules of its spec",
    LLM: "a language model could not be asked, or did not answer as asked",
    BUDGET: "a limit on cost or tokens was reached; what was finished is kept",
    PLUGIN: "a plugin failed",
    INTERRUPTED: "interrupted by Ctrl-C",
}
