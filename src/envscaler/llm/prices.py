"""What tokens cost: from the settings, or from the maintained table of `genai-prices`; what is not known stays unknown."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from envscaler.llm.messages import Usage

__all__ = ["NANO", "Prices"]

NANO = 1_000_000_000  # costs are kept in billionths of a US dollar: exact enough for one token, and sums are exact


@dataclass(slots=True)
class Prices:
    """The prices of one role's model.

    ``provider`` is whose table to look in; ``address`` a server's, by which it may be known instead. ``price_in`` and
    ``price_out``, in US dollars for a million tokens, come before any table. ``tell`` hears, once, that a price is not
    known.
    """

    provider: str
    model: str
    address: str | None = None
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
        found = find_spec("genai_prices") is not None
        way = "" if found else "pip install 'envscaler[prices]', or "
        return f"no price is known for {self.model}, so that its cost is unknown: {way}set price_in and price_out"

    def _table(self, usage: Usage, served: str) -> int | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                table: Any = import_module("genai_prices")
        except ImportError:
            return None
        counted = table.Usage(
            input_tokens=usage.tokens_in,
            output_tokens=usage.tokens_out,
            cache_read_tokens=usage.cached,
            cache_write_tokens=usage.cache_writes,
        )
        whose = {"provider_api_url": self.address} if self.address else {"provider_id": self.provider}
        for model in dict.fromkeys((served, self.model)):
            try:
                price = table.calc_price(counted, model, **whose).total_price
            except (LookupError, ValueError):
                continue
            return round(Decimal(price) * NANO)
        return None
