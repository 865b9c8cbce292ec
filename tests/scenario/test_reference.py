"""The reference page of scenarios names what the code has: gates with their codes, kinds, reasons, modes."""

from __future__ import annotations

from pathlib import Path

from envscaler.scenario.kinds import GENERATORS
from envscaler.scenario.model import Scenario
from envscaler.scenario.proof.record import CODES, GATES
from envscaler.scenario.scoring import MODES

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "scenarios.md").read_text(encoding="utf-8")


def test_gates_with_their_codes() -> None:
    for gate, holds in GATES.items():
        codes = ", ".join(f"`{code}`" for code, of in CODES.items() if of == gate)
        assert f"| `{gate}` | {holds} | {codes} |" in PAGE


def test_kinds_modes_and_parts() -> None:
    names = [*GENERATORS, *MODES, *(name for name in Scenario.__dataclass_fields__ if name != "line")]
    assert [name for name in names if f"| `{name}` |" not in PAGE] == []
