"""What tokens cost: from the settings, or from the maintained table of `genai-prices`; what is not known stays unknown."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from envscaler.llm.messages import Usage

__all__ = ["NANO", "Prices"]

NANO = 1_000_000_000  # costs are kept in billionths of a US dollar: exact enough for one token, and sums are exact


@dataclass(slots=True)
class Prices:
    """The prices of one role's model.

    ``provider`` is whose table to look in, None for a server that is nobody's known one. ``price_in`` and ``price_out``,
    in US dollars for a million tokens, come before the table. ``tell`` hears, once, that a price is not known.
    """

    provider: str | None
    model: str
    price_in: float | None = None
    price_out: float | None = None
    free: bool = False
    tell: Callable[[str], None] | None = None
    _told: bool = field(default=False, repr=False)

    def cost(self, usage: Usage, served: str = "") -> int | None:
        """The cost of some usage, None if it is not known. ``served`` is the model that the server named."""
        if self.free:
            return 0
        tokens_in, tokens_out = usage.tokens_in, usage.tokens_out
        if tokens_in is None or tokens_out is None:
            return None
        if self.price_in is not None or self.price_out is not None:
            dollars = tokens_in * Decimal(str(self.price_in or 0)) + tokens_out * Decimal(str(self.price_out or 0))
            return round(dollars * NANO / 1_000_000)
        found = self._table(usage, served)
        if found is None and not self._told:
            self._told = True
            if self.tell is not None:
                self.tell(self.unknown())
        return found

    def known(self) -> bool:
        """Whether a price is known for this model."""
        return (
            self.free
            or self.price_in is not None
            or self.price_out is not None
            or self._table(Usage(1, 1), "") is not None
        )

    def unknown(self) -> str:
        """One line that says that the price is not known, and what to do."""
        return (
            f"no price is known for {self.model}: its cost is counted as unknown; set price_in and price_out to have it "
            "counted"
        )

    def _table(self, usage: Usage, served: str) -> int | None:
        if self.provider is None:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import genai_prices
        except ImportError:
            return None
        counted = genai_prices.Usage(
            input_tokens=usage.tokens_in,
            output_tokens=usage.tokens_out,
            cache_read_tokens=usage.cached,
            cache_write_tokens=usage.cache_writes,
        )
        for model in dict.fromkeys((served, self.model)):
            try:
                price = genai_prices.calc_price(counted, model, provider_id=self.provider).total_price
            except (LookupError, ValueError):
                continue
            return round(Decimal(price) * NANO)
        return None
