"""JSON text of arguments: what is too deep does not depend on where it is read, and takes no time to refuse."""

from __future__ import annotations

import threading
import time

import pytest

from envscaler.runtime.reading import decode

DEEP = {"objects": '{"a":' * 10_001, "lists": "[" * 100_000, "just": "[" * 201 + "]" * 201}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_too_deep_reads_the_same_from_any_stack(text: str) -> None:
    told: list[str] = []

    def read(below: int = 0) -> None:
        if below:
            read(below - 1)
            return
        with pytest.raises(ValueError, match="it nests too deeply") as refused:
            decode(text)
        told.append(str(refused.value))

    read()
    read(300)
    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert told == ["it nests too deeply"] * 3


@pytest.mark.parametrize(
    "text", ["[" * 200 + "]" * 200, '{"a": "' + "[" * 999 + '"}', '["\\"[[[", ' + "[]," * 300 + "1]"]
)
def test_brackets_that_do_not_nest_are_taken(text: str) -> None:
    assert decode(text)
    assert decode(text.encode()) == decode(text)


@pytest.mark.parametrize(
    "text", ['"' + '\\"' * 500_000 + "[" * 300, '"' * 500_001 + "[" * 500, "[" * 300 + '"\\' * 300_000]
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    began = time.process_time()
    with pytest.raises(ValueError):
        decode(text)
    assert time.process_time() - began < 2
