"""Know, by attack, whether an environment is sound: properties, the fuzzer that tries to break them, what it reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envscaler.assess.findings import Actor, Call, FuzzFinding, FuzzReport, FuzzSettings, Progress
from envscaler.assess.reach import Coverage
from envscaler.lazy import public

if TYPE_CHECKING:
    from envscaler.assess.facts import Environmental
    from envscaler.assess.properties import PROPERTIES, Property
    from envscaler.spec.checked import Checked

__all__ = [
    "PROPERTIES", "Actor", "Call", "Coverage", "FuzzFinding", "FuzzReport", "FuzzSettings", "Progress", "Property", "fuzz",
]  # fmt: skip


__getattr__, __dir__ = public(__name__, {"envscaler.assess.properties": "PROPERTIES Property"})


def fuzz(
    environment: type[Environmental], checked: Checked | None = None, settings: FuzzSettings | None = None
) -> FuzzReport:
    """Attack an environment class with calls of all its tools; what was found and what was reached.

    ``environment``: a compiled class, or any that follows the runtime interface (`new`, `call`, `state`, `diff`,
    `snapshot`, `restore`, `fork`, `reset`, `tools`). ``checked``: the spec it was compiled from; without it the properties
    that need one are left out. The report is a function of the class, the spec and the settings, unless ``seconds`` ends it.
    Raises UsageError for settings that make no sense.
    """
    from envscaler.assess.fuzzer import fuzz as run

    return run(environment, checked, settings or FuzzSettings())
