"""Every diagnostic code with its page: the registry that the reference and the tests read."""

from __future__ import annotations

from typing import Final

from envscaler.spec.codes.base import Code, complete
from envscaler.spec.codes.logic import LOGIC
from envscaler.spec.codes.structure import STRUCTURE

__all__ = ["CODES", "Code", "complete"]

CODES: Final[dict[str, Code]] = {code.name: code for code in (*STRUCTURE, *LOGIC)}
