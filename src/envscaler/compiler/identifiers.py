"""Chooses the names of a generated module: none meets another, a local of the spec's logic, or Python's own."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable

__all__ = ["Identifiers", "upper_snake"]

_RESERVED = frozenset(dir(builtins)) | frozenset(keyword.kwlist) | {
    "Any", "Literal", "annotations", "Collection", "Environment", "Rule", "Single", "State", "Tool", "ToolResult", "Tools",
    "STATES",
}  # fmt: skip


class Identifiers:
    """Hands out module-level names. ``taken`` are those that logic uses for locals and constants."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken) | _RESERVED

    def claim(self, wanted: str) -> str:
        """``wanted``, or with as many underscores after it as make it unique."""
        while wanted in self._taken:
            wanted += "_"
        self._taken.add(wanted)
        return wanted


def upper_snake(name: str) -> str:
    """`PaymentMethod` gives `PAYMENT_METHOD`, a union without a name, `Card | Cash`, `CARD_OR_CASH`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.replace(" | ", "_or_")).upper()
