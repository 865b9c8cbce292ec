"""Logic is parsed by several threads at once."""

from __future__ import annotations

import ast
import gc
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import libcst as cst

from envscaler.trees import literal_value, parsed

SOURCE = "def f(a, b):\n    return [x * (a + b) for x in range(10) if x % 2 == (a, [b, {x: -x}])]\n" * 20


def give_way(phase: str, info: dict[str, int]) -> None:
    time.sleep(0.0001)


@contextmanager
def collecting() -> Iterator[None]:
    """What is collected in the midst of a parse lets the other threads run."""
    often = gc.get_threshold()
    gc.callbacks.append(give_way)
    gc.set_threshold(100)
    try:
        yield
    finally:
        gc.set_threshold(*often)
        gc.callbacks.remove(give_way)


def test_trees_are_whole() -> None:
    with collecting(), ThreadPoolExecutor(4) as pool:
        assert {len(tree.body) for tree in pool.map(parsed, [SOURCE] * 24)} == {20}


def test_literals_are_read_while_others_parse() -> None:
    literal = cst.SimpleString('"word"')
    with collecting(), ThreadPoolExecutor(4) as pool:
        tasks = [
            (pool.submit(parsed, SOURCE), pool.submit(lambda: {literal_value(literal) for _ in range(200)}))
            for _ in range(12)
        ]
        trees, values = zip(*tasks, strict=True)
        assert {len(tree.result().body) for tree in trees} == {20}
        assert [value.result() for value in values] == [{"word"}] * 12


def test_who_does_not_wait_is_no_harm() -> None:
    """Libraries parse signatures whenever they make a class."""
    with collecting(), ThreadPoolExecutor(4) as pool:
        tasks = [
            (pool.submit(parsed, SOURCE), pool.submit(lambda: [ast.parse("x", mode="eval") for _ in range(300)]))
            for _ in range(12)
        ]
        assert {len(ours.result().body) for ours, _ in tasks} == {20}
