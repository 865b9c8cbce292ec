"""Limits on what a run may spend, looked at before every attempt."""

from __future__ import annotations

from dataclasses import dataclass

from envscaler.errors import BudgetError
from envscaler.llm.ledger import Ledger
from envscaler.llm.prices import NANO

__all__ = ["Budget"]


@dataclass(frozen=True, slots=True)
class Budget:
    """``max_cost`` in US dollars and ``max_tokens``, in and out together, for all attempts in the ledger."""

    ledger: Ledger
    max_cost: float | None = None
    max_tokens: int | None = None

    def check(self) -> None:
        """Raise BudgetError when a limit is reached. Attempts under way are let finish, and may go past it."""
        if self.max_cost is None and self.max_tokens is None:
            return
        totals = self.ledger.totals()
        if self.max_cost is not None and totals.cost >= self.max_cost * NANO:
            raise BudgetError(
                f"the limit of ${self.max_cost:g} is reached (${totals.cost / NANO:.4f} spent); what was finished is "
                "kept: run the same again with a higher --max-cost to go on"
            )
        if self.max_tokens is not None and totals.tokens >= self.max_tokens:
            raise BudgetError(
                f"the limit of {self.max_tokens:,} tokens is reached ({totals.tokens:,} used); what was finished is "
                "kept: run the same again with a higher --max-tokens to go on"
            )
