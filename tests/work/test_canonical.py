"""Equal inputs have one hash, unequal ones do not; whatever a result holds, it reads back the same."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.errors import UsageError
from envscaler.work.canonical import digest, dumps, loads

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=8)
    | st.integers().map(lambda n: n << 16_000)
    | st.sampled_from(["$", "$int", "$float", "0x5", "nan"])
)
keys = st.text(st.characters(exclude_categories=("Cs",)), max_size=4) | st.sampled_from(
    ["$", "$int", "$float", "$$int"]
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=12
)


def same(a: Any, b: Any) -> bool:
    """Equality with types, NaN equal to itself, minus zero apart from zero."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return bool(a == b)


def joined(value: Any) -> Any:
    """Halves of a character that stand side by side are that character."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    if isinstance(value, list):
        return [joined(item) for item in value]
    return {key: joined(item) for key, item in value.items()} if isinstance(value, dict) else value


@given(values)
def test_what_is_written_reads_back(value: Any) -> None:
    text = dumps(value)
    assert text.isascii()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert same(loads(text), joined(value))


@given(st.dictionaries(keys, values, max_size=5), st.randoms())
def test_the_order_of_keys_does_not_count(value: dict[str, Any], chance: Any) -> None:
    items = list(value.items())
    chance.shuffle(items)
    assert digest("k", dict(items)) == digest("k", value)


@given(values, values)
def test_equal_hashes_mean_equal_values(a: Any, b: Any) -> None:
    assert (digest("k", a) == digest("k", b)) == same(joined(a), joined(b))


def test_a_hash_is_stable() -> None:
    """Journals outlive programs."""
    assert digest("assess", {"spec": "bank", "seed": 1}) == "a87247f836bc0ae05b9f06e27179d6e871ccc0bd"
    assert digest("assess", 1) != digest("prove", 1)


def test_the_path_of_what_is_not_json() -> None:
    with pytest.raises(UsageError, match=r"the value\.rows\[1\]\['a b'\] is an object of set"):
        dumps({"rows": [0, {"a b": set()}]})
    with pytest.raises(UsageError, match="nests too deeply"):
        deep: list[Any] = []
        for _ in range(100_000):
            deep = [deep]
        dumps(deep)
    with pytest.raises(UsageError, match="in halves"):
        dumps({"\ud83d\ude00": 1, "\U0001f600": 2})
