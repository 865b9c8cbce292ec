"""Properties that are looked at twice: with few examples among the fast tests, at length among the slow ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy

Test = Callable[..., None]


def few_and_many(
    tested: Test, *strategies: SearchStrategy[Any], few: int, many: int = 100, **more: Any
) -> tuple[Test, Test]:
    """Two tests of one property: with ``few`` examples, and with ``many``, which is slow.

    ``more`` are other settings of Hypothesis, for both.
    """

    def with_examples(number: int) -> Test:
        return settings(max_examples=number, **more)(given(*strategies)(tested))

    return with_examples(few), pytest.mark.slow(with_examples(many))
