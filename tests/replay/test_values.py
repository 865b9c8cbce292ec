"""Comparison, patches and hashes of JSON values."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.replay.values import ABSENT, Hasher, PatchError, at, mismatches, patched, short

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab/~", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~", max_size=2), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("expected", "got"),
    [(1, 1.0), (1.50, 1.5), ("a", "a"), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ([1, [2]], [1, [2.0]]), (None, None)],
)
def test_equal(expected: Any, got: Any) -> None:
    assert mismatches(expected, got) == []


@pytest.mark.parametrize(
    ("expected", "got", "path"),
    [
        (1, True, ""),
        (0, False, ""),
        (0, None, ""),
        ("1", 1, ""),
        ("a", "a ", ""),
        ({"a": {"b/c": [1, 2]}}, {"a": {"b/c": [1, 3]}}, "/a/b~1c/1"),
        ({"a": 1}, {}, "/a"),
        ({}, {"a": 1}, "/a"),
        ([1], [1, 2], "/1"),
        ([], {}, ""),
    ],
)
def test_different(expected: Any, got: Any, path: str) -> None:
    assert [m.path for m in mismatches(expected, got)] == [path]


def test_mismatches_are_in_order_and_bounded() -> None:
    found = mismatches({"a": [1, 2, 3], "b": 1}, {"a": [0, 2, 0], "b": 0})
    assert [m.path for m in found] == ["/a/0", "/a/2", "/b"]
    assert len(mismatches(list(range(100)), [None] * 100, limit=7)) == 7
    assert str(found[0]) == "/a/0: expected 1, got 0"
    assert str(mismatches({"a": 1}, {})[0]) == "/a: expected 1, got nothing"


def test_patch_shares_what_it_does_not_touch() -> None:
    document = {"a": {"x": [1, 2]}, "b": {"y": 1}}
    before = copy.deepcopy(document)
    after = patched(
        document,
        [
            {"op": "add", "path": "/a/x/-", "value": 3},
            {"op": "add", "path": "/a/x/0", "value": 0},
            {"op": "replace", "path": "/a/x/1", "value": 9},
            {"op": "remove", "path": "/a/x/2"},
            {"op": "add", "path": "/a/z~1", "value": {}},
            {"op": "add", "path": "/a/z~1/k", "value": 1},
        ],
    )
    assert after == {"a": {"x": [0, 9, 3], "z/": {"k": 1}}, "b": {"y": 1}}
    assert document == before
    assert after["b"] is document["b"]
    assert patched(document, [{"op": "replace", "path": "", "value": 1}]) == 1


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/no"},
        {"op": "replace", "path": "/no", "value": 1},
        {"op": "replace", "path": "/list/5", "value": 1},
        {"op": "replace", "path": "/list/1", "value": 1},
        {"op": "add", "path": "/list/x", "value": 1},
        {"op": "add", "path": "/one/two", "value": 1},
        {"op": "add", "path": "no", "value": 1},
        {"op": "add", "path": "/a"},
        {"op": "move", "path": "/a", "value": 1},
        {},
    ],
)
def test_bad_patches(operation: dict[str, Any]) -> None:
    with pytest.raises(PatchError, match="operation 0"):
        patched({"list": [1], "one": 1}, [operation])


def test_value_of_a_patch_is_not_shared_with_later_operations() -> None:
    value: dict[str, Any] = {"k": []}
    patch = [{"op": "add", "path": "/a", "value": value}, {"op": "add", "path": "/a/k/-", "value": 1}]
    assert patched({}, patch) == {"a": {"k": [1]}}
    assert value == {"k": []}


@given(JSON)
def test_hash_is_that_of_sorted_compact_json(value: Any) -> None:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert Hasher(value)(value) == digest
    assert Hasher({"other": {"k": 1}})(value) == digest


@given(JSON, JSON)
def test_no_mismatch_means_equal(left: Any, right: Any) -> None:
    if not mismatches(left, right):
        assert json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
    assert mismatches(left, copy.deepcopy(left)) == []


def test_at() -> None:
    document = {"a": [{"b/": 1}]}
    assert at(document, "/a/0/b~1") == 1
    assert at(document, "") is document
    assert at(document, "/a/1") is ABSENT
    assert at(document, "/a/0/b~1/c") is ABSENT


def test_short_texts_are_cut_in_the_middle() -> None:
    assert short({"a": 1}) == '{"a": 1}'
    assert short(ABSENT) == "nothing"
    cut = short("x" * 500 + "end")
    assert len(cut) < 130
    assert cut.endswith('end"')
